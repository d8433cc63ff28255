"""The preview workflow, run: its scripts by the runner's shell, against a preview and a GitHub on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golden.result import write
from golden.starter import start
from tests.expressions import filled
from tests.github import HEAD, PREFIX, REPOSITORY, TOKEN, GitHub, Pull, Served
from tests.previews import EN_DASH, HOST, URL, Event, deployment, dispatch, preview
from tests.servers import ANSWER, Server, chunked
from tests.values import judged, run_of, turn
from tests.workflows import WORKFLOWS, Files, Job, Runner, check_out, load

WORKFLOW = WORKFLOWS / "golden-preview.yml"
# The steps behind the choice.
AFTER = ("Find the baseline", "Fetch the baseline", "Ask", "Comment", "Keep the results")

SECRET = "a-secret-of-previews"
BYPASS = "let-me-through"
SECRETS = {"EVAL_JWT_SECRET": SECRET, "VERCEL_AUTOMATION_BYPASS_SECRET": BYPASS}
VARIABLES = {"GOLDEN_ALLOW_HOST": "shop-*-acme.vercel.app *.previews.example.com"}

WELL: dict[str, Any] = {"id": "well", "question": "Is all well?", "required_phrases": ["all is well"]}
REFUND: dict[str, Any] = {"id": "refund", "question": "Any refund?", "required_phrases": ["30 days"]}

_TOUCH = "open('PWNED', 'w')"
QUESTIONS: Files = {
    "golden_questions.json": json.dumps({"cases": [WELL, REFUND]}),
    # What whoever opens a pull request may put beside the questions.
    "golden/__init__.py": _TOUCH,
    "sitecustomize.py": _TOUCH,
    "json.py": _TOUCH,
    "pyproject.toml": '[tool.golden]\nagent = "sitecustomize:x"\nheader = ["x-steal: $EVAL_JWT_SECRET"]\n',
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    with served.running():
        yield served


def environ(served: Served, github: GitHub) -> dict[str, str]:
    served.github = github
    return {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_API_URL": f"{served.url}{PREFIX}", "TOKEN": TOKEN}


def run(
    folder: Path, event: Event, questions: Files = QUESTIONS, workflow: Any = None, **given: Any
) -> tuple[Runner, Job]:
    given = {"secrets": SECRETS, "variables": VARIABLES, **given}
    runner = Runner(folder, event, {"main": {}, HEAD: questions}, **given)
    return runner, runner.run(workflow or load(WORKFLOW))["golden"]


def kept_baseline() -> dict[str, dict[str, str]]:
    """The baseline of run 41, in which both cases passed."""
    answered = turn("All is well. You have 30 days.")
    return {"golden-baseline@41": {"baseline.json": write(run_of(judged(WELL, answered), judged(REFUND, answered)))}}


def artifact(run_id: int, created_at: str, **said: Any) -> dict[str, Any]:
    made = {"id": run_id, "repository_id": 1, "head_repository_id": 1, "head_branch": "main", **said}
    return {"name": "golden-baseline", "expired": False, "created_at": created_at, "workflow_run": made}


def test_a_failing_run_leaves_the_job_green_and_the_comment_red(served: Served, tmp_path: Path) -> None:
    github = GitHub(
        pulls={7: Pull(7, [HEAD], is_fork=True)},
        artifacts=[artifact(40, "2026-03-01T03:00:00Z"), artifact(41, "2026-03-02T03:00:00Z")],
    )
    with preview(chunked(ANSWER), tmp_path) as (server, trusted):
        around = {**environ(served, github), **trusted}
        event = deployment(environment=f"Preview {EN_DASH} shop")
        variables = {**VARIABLES, "GOLDEN_ENVIRONMENT": "Preview - shop"}
        runner, job = run(tmp_path, event, environ=around, kept=kept_baseline(), variables=variables)
    ask = job.steps["Ask"]
    assert (job.result, ask.outcome, ask.conclusion) == ("success", "failure", "success"), job.log
    (body,) = github.bodies()
    assert "1 regression" in body.splitlines()[1]
    assert "refund" in runner.summary
    assert runner.checked_out == [("main", "runner"), (HEAD, "questions")]
    assert "--constraint runner/constraints.txt ./runner" in runner.installed
    assert runner.kept["golden-results"].keys() == {"results.html", "results.json", "results.xml"}
    # The preview was asked with a token and the bypass, and neither is told anywhere.
    assert len(server.asked) == 2
    for asked in server.asked:
        assert asked.headers["host"] == HOST
        assert asked.headers["authorization"].startswith("Bearer ey")
        assert asked.headers["x-vercel-protection-bypass"] == BYPASS
        assert "x-steal" not in asked.headers
    told = job.log + body + runner.summary + "".join(runner.kept["golden-results"].values())
    for secret in (SECRET, BYPASS, TOKEN, server.asked[0].headers["authorization"].removeprefix("Bearer ")):
        assert secret not in told
    # Nothing that stands beside the questions was run.
    assert [*tmp_path.rglob("PWNED")] == []


def test_what_golden_init_writes_answers_a_dispatch_of_vercel_s(served: Served, tmp_path: Path) -> None:
    assert list(start(tmp_path / "project"))
    workflow = load(tmp_path / "project/.github/workflows/golden-preview.yml")
    (install,) = [step for step in workflow["jobs"]["golden"]["steps"] if "GOLDEN" in step.get("env", {})]
    install["env"]["GOLDEN"] = "golden-questions==1.2.3"
    github = GitHub()
    with preview(chunked(ANSWER), tmp_path) as (server, trusted):
        around = {**environ(served, github), **trusted}
        questions = {"golden_questions.json": json.dumps({"cases": [WELL]})}
        secrets = {"EVAL_JWT_SECRET": SECRET}
        runner, job = run(tmp_path, dispatch(), questions, workflow, environ=around, secrets=secrets)
    assert (job.result, job.steps["Ask"].outcome) == ("success", "success"), job.log
    assert "::notice title=golden::no baseline" in job.steps["Find the baseline"].log
    assert "all 1 passed" in github.bodies()[0].splitlines()[1]
    assert "x-vercel-protection-bypass" not in server.asked[0].headers
    assert runner.checked_out == [(HEAD, "questions")]
    assert runner.installed == "-m pip install golden-questions==1.2.3\n"


@pytest.mark.parametrize(
    "event",
    [
        deployment("pending"),
        deployment("failure"),
        deployment("inactive"),
        deployment(environment="Production"),
        deployment(environment=f"Production {EN_DASH} shop"),
        dispatch("success", "production"),
    ],
)
def test_what_is_no_preview_that_is_ready_starts_no_step(event: Event, tmp_path: Path) -> None:
    _, job = run(tmp_path, event)
    assert job.result == "skipped"


INJECTING = f'{URL}/"; touch PWNED; echo "$(touch PWNED)`touch PWNED`'


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (deployment(environment_url="", target_url=""), "::warning title=golden::the deployment has no URL"),
        (deployment(environment_url=INJECTING), "::warning title=golden::the deployment's URL cannot be asked"),
        (
            deployment(environment_url="https://shop.evil.example"),
            "::warning title=golden::the host shop.evil",
        ),
    ],
)
def test_a_preview_that_may_not_be_asked_is_not_and_the_log_says_why(event: Event, said: str, tmp_path: Path) -> None:
    _, job = run(tmp_path, event)
    assert job.result == "success"
    chosen = job.steps["Choose the preview"]
    assert chosen.log.startswith(said)
    assert chosen.outputs == {}
    assert {step.outcome for name, step in job.steps.items() if name in AFTER} == {"skipped"}
    assert [*tmp_path.rglob("PWNED")] == []


def test_only_another_event_of_the_same_preview_takes_the_place_of_a_run_that_asks() -> None:
    group = load(WORKFLOW)["jobs"]["golden"]["concurrency"]["group"]

    def of(event: Event) -> str:
        return filled(group, {"github": {"event_name": event[0], "event": event[1]}})

    others = [
        deployment("pending"),
        deployment("failure", environment_url=URL),
        deployment(environment_url="https://docs-git-topic-acme.vercel.app"),
        dispatch(url="https://docs-git-topic-acme.vercel.app", git={"sha": "b2" * 20}),
    ]
    assert len({of(event) for event in [deployment(), *others]}) == 1 + len(others)
    assert (
        of(deployment()) == of(dispatch("ready")) == of(dispatch("success")) == f"golden-preview-{HEAD}-{URL}-success"
    )


def test_the_action_asks_what_it_is_told_to_and_is_green_where_a_case_fails(served: Served, tmp_path: Path) -> None:
    github = GitHub()
    runner = Runner(tmp_path, ("push", {}), environ=environ(served, github))
    workspace = tmp_path / "work"
    check_out({"evals/a.json": json.dumps({"cases": [REFUND]})}, workspace, HEAD)
    with Server(chunked(ANSWER)) as server:
        inputs = {"suites": "a.json", "working-directory": "evals", "base-url": server.url}
        job, outputs = runner.action({**inputs, "options": "--no-auth --retries 1"}, workspace)
    assert (job.result, len(server.asked)) == ("success", 2), job.log
    assert outputs == {"url": server.url, "outcome": "failure"}
    assert runner.kept["golden-results"].keys() == {"golden-results.html", "golden-results.json", "golden-results.xml"}
    assert "--constraint" in runner.installed
    assert "1 failed" in github.bodies()[0].splitlines()[1]
