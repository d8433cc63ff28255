"""Turns, cases and runs made by hand: a test says what matters to it, the rest is plain."""

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from golden.redaction import Secrets
from golden.result import CaseResult, RunInfo, RunResult, SuiteResult, TargetResult
from golden.score import judge
from golden.suite import Case, Suite
from golden.tally import summarise
from golden.transcript import Timing, Transcript, Turn

_COLUMNS = {"Mn": 0, "Me": 0}

_TURN = Turn(
    question="Is all well?",
    answer="",
    final_text="",
    shown=(),
    finish="finished",
    tool_calls=(),
    scores=(),
    usage=None,
    timing=Timing(0.25, 0.5, 1.5),
    events=(),
    events_total=0,
    findings=(),
    error=None,
)


def turn(answer: str = "All is well.", **fields: Any) -> Turn:
    """A turn that gave this answer and showed nothing else."""
    shown = (answer,) if answer else ()
    return replace(_TURN, **{"answer": answer, "final_text": answer, "shown": shown, **fields})


def covering(*values: str) -> Secrets:
    secrets = Secrets()
    for value in values:
        secrets.add(value)
    return secrets


def judged(
    asked: Mapping[str, object],
    *turns: Turn,
    secrets: Secrets | None = None,
    model: str | None = None,
    suite: Mapping[str, object] | None = None,
) -> CaseResult:
    """The result of a case that asks this, given these turns."""
    case = Case.model_validate({"id": "well", "question": "Is all well?", **asked})
    transcript, secrets = Transcript(turns), secrets or Secrets()
    return judge(Suite.model_validate({**(suite or {}), "cases": [case]}), case, model, transcript, secrets)


def run_of(*results: CaseResult, **info: Any) -> RunResult:
    """A run that came to these results."""
    run = RunInfo(
        started_at="2026-01-02T03:04:05+00:00",
        duration_s=2.5,
        golden_version="1.2.3",
        target=TargetResult(kind="call", name="app:agent", dialect="native", reason="named"),
        suites=(SuiteResult(path="suite.json", sha256="f" * 64),),
        git=None,
        complete=all(result.status != "not_run" for result in results),
    )
    return RunResult(run=run.model_copy(update=info), summary=summarise(results), results=results)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_COLUMNS.get(unicodedata.category(character), 1 + is_wide(character)) for character in text)


def is_wide(character: str) -> bool:
    # Python calls what is not assigned full-width.
    return unicodedata.east_asian_width(character) in "WF" and unicodedata.category(character) != "Cn"
