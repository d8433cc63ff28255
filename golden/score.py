"""(Case, Transcript) → Checks → CaseResult. Pure: no clock, no I/O, and nothing that goes in is changed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

from golden.checks import Check, families
from golden.redaction import Secrets
from golden.result import (
    AttemptResult,
    CaseResult,
    CheckResult,
    ErrorResult,
    FindingResult,
    Status,
    TimingResult,
    ToolCallResult,
    TurnResult,
    UsageResult,
)
from golden.signals import Fold
from golden.suite import Case, Suite
from golden.transcript import Failure, Transcript, Turn

# The most of an answer that a results file holds, in bytes (contract 7).
_ANSWER = 64 * 1024

# The most of a message that is shown, in characters: an agent may say megabytes where it names a tool or reports an
# error. What is looked through for secrets is longer, so that none is cut in two at the end of what is shown.
_MESSAGE = 2000
_READ = 10_000

_TOOL_CHECKS = frozenset({"expected_tools", "forbidden_tools", "expect_no_tool_call", "max_tool_calls"})


def score(case: Case, transcript: Transcript, secrets: Secrets) -> list[Check]:
    """Returns every check that the case asks for.

    Where an answer did not come whole nothing can be said of it: all its checks are undecided, so that a dead agent
    passes none of them, a forbidden phrase least of all (contract 4).
    """
    if transcript.error is not None:
        return _undecided(case, len(transcript.turns), transcript.error.message)
    return [check for family in families() for check in family(case, transcript.turns, secrets.cover)]


def _undecided(case: Case, turns: int, why: str) -> list[Check]:
    """The checks that the case asks of so many turns, none of them decided."""
    nothing = [Fold(case.question).close(0.0, proven=False, pending=False)] * turns
    checks = [check for family in families() for check in family(case, nothing, str)]
    return [replace(check, ok=None, message=f"undecided: {why[:_READ]}", hits=()) for check in checks]


def judge(suite: Suite, case: Case, model: str | None, transcript: Transcript, secrets: Secrets) -> CaseResult:
    """Returns a case's result: its verdict, and as evidence what came and how each check went, secrets covered."""
    checks = score(case, transcript, secrets)
    undecided = next((check for check in checks if check.ok is None), None)
    failure = transcript.error
    if failure is None and undecided is not None:
        failure = Failure("undecided", f"{undecided.name}: {undecided.message}")
    status: Status = "error" if failure else "passed" if all(check.ok for check in checks) else "failed"
    return _result(suite, case, status, model, failure, transcript.turns, checks, secrets)


def not_run(
    suite: Suite, case: Case, model: str | None, reason: str, secrets: Secrets, turns: Sequence[Turn] = ()
) -> CaseResult:
    """Returns the result of a case that golden stopped before it was judged, with what had come of it."""
    checks = _undecided(case, 1, reason)
    return _result(suite, case, "not_run", model, Failure("not_run", reason), turns, checks, secrets)


def skipped(suite: Suite, case: Case, reason: str, secrets: Secrets) -> CaseResult:
    """Returns the result of a case that is not asked, with the reason."""
    return _result(suite, case, "skipped", case.model or suite.model, Failure("skipped", reason), (), (), secrets)


def _result(
    suite: Suite,
    case: Case,
    status: Status,
    model: str | None,
    failure: Failure | None,
    turns: Sequence[Turn],
    checks: Sequence[Check],
    secrets: Secrets,
) -> CaseResult:
    cover = secrets.cover
    rows = tuple(
        CheckResult(name=check.name, ok=check.ok, message=_short(cover(check.message)), turn=check.turn)
        for check in checks
    )
    error = _error(failure, secrets)
    ran = status in ("passed", "failed", "error")
    grounded = [turn.groundedness for turn in turns if turn.groundedness is not None]
    return CaseResult(
        case_id=case.id,
        suite=suite.path,
        line=case.line,
        question=cover(case.question),
        status=status,
        passed=status == "passed",
        tool_ok=_all_ok(rows, _TOOL_CHECKS),
        forbidden_ok=_all_ok(rows, {"forbidden_phrases"}),
        groundedness_ok=_all_ok(rows, {"groundedness_threshold"}),
        expected_tools=tuple(map(cover, case.expected_tools)),
        actual_tools=tuple(cover(call.name) for turn in turns for call in turn.tool_calls),
        groundedness=min(grounded, default=None),
        groundedness_threshold=case.groundedness_threshold,
        forbidden_hits=tuple(cover(hit) for check in checks for hit in check.hits),
        checks=rows,
        turns=tuple(_turn(turn, secrets) for turn in turns),
        error=error,
        attempts=(AttemptResult(trial=1, try_=1, status=status, error=error, checks=rows),) if ran else (),
        tags=tuple(map(cover, case.tags)),
        model=model and cover(model),
        metadata=cast("dict[str, object]", secrets.cover_value(case.metadata)),
    )


def _all_ok(checks: Iterable[CheckResult], names: set[str] | frozenset[str]) -> bool | None:
    """False where one does not hold, None where none was asked or one is undecided, else True."""
    oks = [check.ok for check in checks if check.name in names]
    return False if False in oks else None if None in oks or not oks else True


def _error(failure: Failure | None, secrets: Secrets) -> ErrorResult | None:
    if failure is None:
        return None
    message, *hint = failure.message.rsplit("\nhint: ", 1)  # it is short, and what to do must not be cut off
    shown = [_short(secrets.cover(part[:_READ])) for part in (message, *hint)]
    return ErrorResult(kind=failure.kind, message="\nhint: ".join(shown))


def _short(covered: str) -> str:
    """A message of bounded length; it is covered before it is cut, so that no half of a secret is left."""
    return covered if len(covered) <= _MESSAGE else f"{covered[: _MESSAGE - 1]}…"


def _turn(turn: Turn, secrets: Secrets) -> TurnResult:
    cover = secrets.cover
    name = cache(cover)  # a stream has few names and many events
    answer = cover(turn.answer)
    return TurnResult(
        question=cover(turn.question),
        answer=answer.encode()[:_ANSWER].decode(errors="ignore"),
        answer_chars=len(answer),
        final_text=cover(turn.final_text).encode()[:_ANSWER].decode(errors="ignore"),
        finish=turn.finish,
        tool_calls=tuple(
            ToolCallResult(
                name=cover(call.name), args=secrets.cover_value(call.args), result=secrets.cover_value(call.result)
            )
            for call in turn.tool_calls
        ),
        groundedness=turn.groundedness,
        usage=None if turn.usage is None else UsageResult(input=turn.usage.input, output=turn.usage.output),
        timing=TimingResult(
            first_event_s=_rounded(turn.timing.first_event_s),
            first_token_s=_rounded(turn.timing.first_token_s),
            total_s=round(turn.timing.total_s, 6),
        ),
        events=tuple([(at, name(event), signal) for at, event, signal in turn.events]),
        events_total=turn.events_total,
        findings=tuple(
            FindingResult(kind=finding.kind, message=_short(cover(finding.message))) for finding in turn.findings
        ),
        error=_error(turn.error, secrets),
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
