"""`/eval SHA`, the canary and the night, run: their scripts by the runner's shell, against a GitHub on loopback."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from golden.result import read
from tests.github import HEAD, PREFIX, REPOSITORY, TOKEN, GitHub, Pull, Served
from tests.previews import Event, comment
from tests.workflows import ROOT, SHA, WORKFLOWS, Files, Job, Runner, load

# The questions of the default branch, and its canary.
HERE: Files = {name: (ROOT / name).read_text("utf-8") for name in ("golden_questions.json", "golden_canary.json")}

# A fork's: one holds of the demo agent, one does not; what stands beside them is not run.
THEIRS: Files = {
    "golden_questions.json": json.dumps(
        {
            "cases": [
                {"id": "holds", "question": "What is Microsoft trading at?", "expected_tools": ["get_quote"]},
                {"id": "does-not", "question": "Any news on Tesla?", "expected_tools": ["get_quote"]},
            ]
        }
    ),
    "golden/__init__.py": "open('PWNED', 'w')",
    "golden/demo.py": "open('PWNED', 'w')",
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    with served.running():
        yield served


def run(name: str, folder: Path, event: Event, **given: Any) -> tuple[Runner, dict[str, Job]]:
    runner = Runner(folder, event, {SHA: HERE, HEAD: THEIRS}, **given)
    return runner, runner.run(load(WORKFLOWS / f"golden-{name}.yml"))


def environ(served: Served, github: GitHub) -> dict[str, str]:
    served.github = github
    there = {"GITHUB_API_URL": f"{served.url}{PREFIX}", "GITHUB_SERVER_URL": "https://github.com"}
    return {"GITHUB_REPOSITORY": REPOSITORY, "TOKEN": TOKEN, **there}


def test_a_maintainer_s_eval_comments_and_sets_the_status_of_the_commit(served: Served, tmp_path: Path) -> None:
    github = GitHub(pulls={7: Pull(7, [HEAD], is_fork=True)}, writers={"ada": "write"})
    given: dict[str, Any] = {"secrets": {"EVAL_JWT_SECRET": "an-eval-only-secret"}, "environ": environ(served, github)}
    runner, jobs = run("eval", tmp_path, comment(f"/eval {HEAD}\r\nLooks harmless."), **given)
    assert {name: job.result for name, job in jobs.items()} == dict.fromkeys(jobs, "success"), jobs
    assert jobs["eval"].steps["Ask"].outcome == "failure"
    assert runner.checked_out == [(SHA, "."), (SHA, "runner"), (HEAD, "questions"), (SHA, ".")]
    (body,) = github.bodies()
    assert "key=fork-eval" in body.splitlines()[0]
    assert "1 of 2" in body.splitlines()[1]
    assert "by <code>ada</code>" in body.splitlines()[-1]
    assert github.statuses == [
        (
            HEAD,
            {
                "state": "failure",
                "context": "golden/eval",
                "description": "1 of 2 passed, 1 failed",
                "target_url": f"https://github.com/{REPOSITORY}/actions/runs/42",
            },
        )
    ]
    assert [*tmp_path.rglob("PWNED")] == []


@pytest.mark.parametrize(
    ("event", "starts"),
    [
        (comment("Nice work!"), False),
        (comment(f"/eval {HEAD}", pull_request=None), False),
        (comment(f"/eval {HEAD}", login="mallory"), True),
    ],
)
def test_no_other_comment_has_anything_evaluated(event: Event, starts: bool, served: Served, tmp_path: Path) -> None:
    github = GitHub(writers={"ada": "write", "mallory": "read"})
    _, jobs = run("eval", tmp_path, event, environ=environ(served, github))
    assert jobs["gate"].result == ("success" if starts else "skipped"), jobs["gate"].log
    assert [jobs["eval"].result, jobs["comment"].result] == ["skipped", "skipped"]
    assert github.writes == []


@pytest.mark.parametrize(
    ("secret", "broken", "result"),
    [("a-canary-s-secret", "", "success"), ("a-canary-s-secret", "wrong-tool", "failure"), ("", "", "success")],
)
def test_a_canary_that_fails_is_a_failed_check_and_one_without_its_secret_is_skipped(
    secret: str, broken: str, result: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"secrets": {"EVAL_JWT_SECRET": secret}, "environ": {"GOLDEN_DEMO_BREAK": broken}}
    runner, jobs = run("canary", tmp_path, ("pull_request", {"number": 7}), **given)
    (job,) = jobs.values()
    assert job.result == result, job.log
    assert job.steps["Unit tests"].outcome == "success"
    log = job.steps["Canary"].log
    assert (re.search("^::warning .*EVAL_JWT_SECRET not set$", log, re.MULTILINE) is not None) is (not secret)
    assert ("canary-answers" in unescape(runner.summary)) is bool(broken)


def test_the_night_keeps_its_results_as_the_baseline_also_where_a_case_fails(tmp_path: Path) -> None:
    given: dict[str, Any] = {"secrets": {"EVAL_JWT_SECRET": "a-night-s-secret"}}
    runner, jobs = run("nightly", tmp_path, ("schedule", {}), environ={"GOLDEN_DEMO_BREAK": "wrong-tool"}, **given)
    (job,) = jobs.values()
    assert job.result == "failure"
    baseline = read(runner.kept["golden-baseline"]["baseline.json"])
    assert (baseline.summary.total, baseline.summary.failed) == (13, 4)
    assert runner.kept["golden-results"].keys() == {"results.html", "results.json", "results.xml"}
    assert "quote" in runner.summary
