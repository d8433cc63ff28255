"""golden in a step of a GitHub workflow: its summary, its annotations, and what the runner obeys in its log."""

import json
import os
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from golden.__main__ import _run
from golden.channel import AGENT_THREADS
from golden.compare import compare
from golden.reports import View, load
from golden.reports.markdown import SMALLEST, SUMMARY
from golden.result import CaseResult
from golden.visible import excerpt, unheeded
from golden.workflow import annotations, command, step
from tests.program import CASE, Program
from tests.rendered import Page
from tests.runner import COMMANDS, Command, obeyed
from tests.test_bulletin import PASSED, failed, unjudged
from tests.test_compare import case
from tests.test_markdown import hostile
from tests.test_markup import HOSTILE
from tests.values import run_of

# Each form of each command: first in a line, behind white space, after a carriage return, in the old form in mid-line.
FORMS = [
    form.format(name)
    for name in (*COMMANDS, *map(str.upper, COMMANDS))
    for form in (
        "::{}::evil",
        "  \t\u3000::{} file=a,line=1::evil",
        "x\r::{}::evil",
        "so: ##[{}]evil",
        "##[{} a=b;c=d]evil",
    )
]
EVIL = "\n".join(FORMS)


def noisy(question: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Prints every command, by every way out of the process that golden has a say in, and answers with them."""
    print(EVIL)
    print(EVIL, file=sys.stderr)
    os.write(1, f"{EVIL}\n".encode())
    os.write(2, f"{EVIL}\n".encode())
    subprocess.run(["printf", "%s\\n", EVIL], check=True)  # noqa: S607  # wherever it is
    warnings.warn(EVIL, stacklevel=1)
    *answer, end = evil(question)
    yield from answer
    sys.stdout.write("::error::left in the buffer")
    sys.stderr.write("::error::left in the buffer")
    yield end


def evil(question: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Answers with every command."""
    yield "tool_call", {"name": EVIL, "args": {EVIL: EVIL}}
    if question.startswith("fails"):
        yield "error", {"message": EVIL}
    yield "message", {"text": EVIL}
    yield "done", {}


@pytest.fixture
def workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A step's environment; gives the file of its summary."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    return summary


def in_a_process(folder: Path, *arguments: str, **suite: object) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a run whose prints pytest does not catch."""
    (folder / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    command = [sys.executable, "-m", "golden", "run", "suite.json", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUNBUFFERED": ""}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# The log


def test_the_runner_obeys_golden_alone_whatever_an_agent_prints_and_says(workflow: Path) -> None:
    assert [len(obeyed(form)) for form in FORMS] == [1] * len(FORMS)
    asks = {"##[error]id": f"fails {EVIL}", "##[debug]well": EVIL}
    cases = [{"id": name, "question": asked, "required_phrases": [f"no {EVIL}"]} for name, asked in asks.items()]
    agent = ("--agent", "tests.test_workflow:noisy", "--concurrency", "1", "-vvq")  # progress would end the last line
    code, out, err = in_a_process(workflow.parent, *agent, cases=cases)
    assert code == 1
    assert "evil" in out
    assert obeyed(out) == []
    assert err.count(EVIL) > 4
    stopped, *told = obeyed(err)
    assert re.fullmatch(r"[0-9a-f]{32}", stopped.message)
    assert [(each.name, each.properties.get("title")) for each in told] == [
        ("error", "golden: \\u0023#[debug]well: failed"),
        ("warning", "golden: \\u0023#[error]id: no verdict"),
    ]
    assert Page(workflow.read_text(encoding="utf-8")).faults == []


@pytest.mark.parametrize("arguments", [["--json-out", "-"], ["-q"], ["--dry-run"]])
def test_the_runner_obeys_nothing_of_what_was_said_in_any_form_of_the_report(
    golden_run: Program, workflow: Path, arguments: list[str]
) -> None:
    target = ("--agent", "tests.test_workflow:evil")
    ran = golden_run(*target, *arguments, cases=[{"id": "##[add-mask]a", "question": EVIL, "required_phrases": ["x"]}])
    assert "evil" in ran.out
    assert obeyed(ran.out) == []
    assert {each.name for each in obeyed(ran.err)} <= {"stop-commands", "error"}


@pytest.mark.parametrize("is_left", [True, False])
def test_while_an_agent_is_left_behind_the_runner_goes_on_obeying_nothing(
    workflow: Path, capfd: pytest.CaptureFixture[str], is_left: bool
) -> None:
    end = threading.Event()
    agent = threading.Thread(target=end.wait, name=f"{AGENT_THREADS}-left", daemon=True)
    with step(os.environ) as tell:
        if is_left:
            agent.start()
        assert tell(run_of(failed()), None) == []
        os.write(2, b"an open line")
    os.write(2, b"::error::later\n")
    end.set()
    told = [each.name if each.message != "later" else "later" for each in obeyed(capfd.readouterr().err)]
    assert told == ["stop-commands", "error", "stop-commands" if is_left else "later"]


@pytest.mark.parametrize("detail", [-1, 0, 1])
def test_the_runner_obeys_nothing_of_a_text_report(detail: int) -> None:
    run, changed = hostile(["::error::evil", "x ::error::evil", "##[error]evil", f"{'x ' * 38}::error::evil", EVIL])
    for comparison in (None, changed):
        assert obeyed(load("text").render(run, comparison, View(detail=detail))) == []


def test_outside_of_a_workflow_no_command_is_printed(golden_run: Program) -> None:
    assert (
        "::" not in golden_run("--agent", "tests.test_workflow:evil", cases=[{**CASE, "required_phrases": ["x"]}]).err
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "suite.json"],
        ["run", "--##[error]evil"],
        ["run", "--trials", "##[error]evil"],
        ["run", "\n::error::evil"],
        ["check", "a\r::error::evil"],
    ],
)
def test_the_runner_obeys_nothing_in_a_message_of_goldens(
    arguments: list[str], capfd: pytest.CaptureFixture[str], workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workflow.parent)
    suite = {"id": "##[error]evil", "question": "Well?", "expected_tools": ["a", "a"], "forbidden_phrases": ["b", "b"]}
    Path("suite.json").write_text(json.dumps({"cases": [suite]}), encoding="utf-8")
    assert _run(arguments) in (0, 2)
    err = capfd.readouterr().err
    assert "evil" in err
    assert obeyed(err) == []


# Annotations


def in_repository(suite: str) -> str | None:
    return None if suite.startswith("/") else f"evals/{suite}"


@pytest.mark.parametrize("inside", [True, False])
def test_a_case_is_annotated_where_it_stands_in_the_workspace(
    golden_run: Program, workflow: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    Path("evals").mkdir()
    monkeypatch.chdir("evals")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(workflow.parent if inside else workflow.parent / "evals/none"))
    Path("s, 50%.yaml").write_text(
        "cases:\n- id: bad\n  question: Well?\n  required_phrases: [ill]\n", encoding="utf-8"
    )
    ran = golden_run("s, 50%.yaml", "--agent", "tests.test_workflow:evil", "--case", "bad")
    _, told = obeyed(ran.err)
    where = {"file": "evals/s, 50%.yaml", "line": "2"} if inside else {}
    assert told.properties == {**where, "title": "golden: bad: failed"}


def test_each_kind_is_told_in_its_own_words_the_worst_first() -> None:
    place = {"suite": "a.yaml", "line": 7}
    now = [
        *PASSED,
        failed("r", trials=(0, 3), **place),
        failed("n", trials=(2, 3), suite="/elsewhere/b.yaml", line=3),
        case("fixed"),
        failed("known"),
        unjudged("e", message="no end\nhint: more time"),
    ]
    before = [
        *PASSED,
        case("r", trials=(3, 3)),
        case("n", trials=(3, 3)),
        failed("fixed"),
        failed("known"),
        case("gone"),
    ]
    run = run_of(*now)
    assert obeyed("\n".join(annotations(run, compare(run_of(*before), run), in_repository))) == [
        Command(
            "error",
            "x: not x (0/3; 3/3 in the baseline)",
            {"file": "evals/a.yaml", "line": "7", "title": "golden: r: regressed"},
        ),
        Command("error", "in no suite of this run (gone; 1/1 in the baseline)", {"title": "golden: gone: gone"}),
        Command("warning", "x: not x (2/3; 3/3 in the baseline)", {"title": "golden: n: likely noise"}),
        Command("warning", "timeout: no end (error; – in the baseline)", {"title": "golden: e: no baseline"}),
        Command("warning", "x: not x (0/1; 0/1 in the baseline)", {"title": "golden: known: already failing"}),
    ]
    assert [each.name for each in obeyed("\n".join(annotations(run, None, in_repository)))] == ["error"] * 3 + [
        "warning"
    ]


@pytest.mark.parametrize(
    ("results", "last"),
    [
        ([failed(f"f{at}") for at in range(9)], "golden: f8: failed"),
        ([failed(f"f{at}") for at in range(10)], "golden"),
        ([*(failed(f"f{at}") for at in range(1000)), unjudged("z", "not_run", "stopped by SIGTERM")], "golden"),
    ],
)
def test_there_are_nine_annotations_at_most(results: list[CaseResult], last: str) -> None:
    told = obeyed("\n".join(annotations(run_of(*results), None, in_repository)))
    assert len(told) == 9
    assert told[-1].properties["title"] == last
    assert last != "golden" or f"and {len(results) - 8} more: the step's summary has them" == told[-1].message


def test_what_most_cases_have_in_common_is_one_annotation() -> None:
    run = run_of(*(unjudged(f"e{at}", "unreachable", "no connection") for at in range(44)))
    (only,) = obeyed("\n".join(annotations(run, None, in_repository)))
    assert only == Command(
        "warning",
        "Most often: no connection",
        {"title": "golden: the agent cannot be reached, 44 could not be judged, 0 of 44 passed"},
    )
    assert annotations(run_of(*PASSED), None, in_repository) == []


@given(HOSTILE, HOSTILE)
def test_a_command_is_one_line_and_says_what_it_was_given(message: str, value: str) -> None:
    written = command("error", message, title=value, file=None)
    (only,) = obeyed(written)
    assert len(re.split(r"[\r\n]", written)) == 1
    assert (only.name, only.message) == ("error", unheeded(excerpt(message, 1000)))
    title = unheeded(excerpt(value, 1000)).rstrip()  # the runner strips the end of the last property
    assert only.properties == ({"title": title} if title else {})


# The summary


def test_a_run_is_added_to_the_summary(golden_run: Program, workflow: Path) -> None:
    workflow.write_text("- before", encoding="utf-8")
    ran = golden_run("--agent", "tests.test_workflow:evil")
    before, headline, *_ = workflow.read_text(encoding="utf-8").split("\n\n")
    assert (ran.code, before, headline) == (1, "- before", "### Golden questions: 1 failed, 0 of 1 passed")
    assert Page(workflow.read_text(encoding="utf-8")).faults == []


def test_a_summary_is_written_wherever_it_is_asked_for(golden_run: Program, workflow: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    golden_run("--agent", "tests.test_workflow:evil")
    assert workflow.read_text(encoding="utf-8").startswith("### Golden questions: 1 failed")


def test_all_that_is_in_a_summary_counts_against_its_budget(golden_run: Program, workflow: Path) -> None:
    for size, fits in ((SUMMARY - SMALLEST - 2, True), (SUMMARY - SMALLEST - 1, False)):
        workflow.write_bytes(b"x" * size)
        ran = golden_run("--agent", "tests.test_workflow:evil")
        assert (workflow.stat().st_size > size) == fits
        assert workflow.stat().st_size <= SUMMARY
        assert (f"warning: the step summary {workflow} is full: this run is not in it\n" in ran.err) == (not fits)


@pytest.mark.parametrize("place", ["", "none/summary.md", "nul\0"])
def test_a_summary_that_cannot_be_written_is_a_warning_and_changes_nothing(
    golden_run: Program, workflow: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ, "GITHUB_STEP_SUMMARY": str(workflow.parent / place)})
    ran = golden_run("--agent", "tests.test_workflow:evil")
    assert (ran.code, ran.out.splitlines()[0]) == (1, "golden: 1 of 1 cases failed")
    assert "warning: cannot write the step summary" in ran.err
    assert ran.statuses == ["failed"]
