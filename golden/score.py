"""(Case, Transcript) → Checks → CaseResult. Pure: no clock, no I/O, and nothing that goes in is changed."""

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from types import MappingProxyType
from typing import Never, cast

from golden.beside import Expected
from golden.blame import raised_at
from golden.checks import Check, Cover, families
from golden.errors import HINT
from golden.gathering import Fold
from golden.log import Log
from golden.outcome import Beside
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
from golden.suite import Case, Suite
from golden.tally import total_usage
from golden.transcript import Failure, Transcript, Turn

# The most of an answer that a results file holds, in bytes (contract 7).
_ANSWER = 64 * 1024

# The most of a message that is shown, in characters: an agent may say megabytes where it names a tool or reports an
# error. What is looked through for secrets is longer, so that none is cut in two at the end of what is shown.
_MESSAGE = 2000
_READ = 10_000

_TOOL_CHECKS = frozenset(
    {
        "expected_tools",
        "forbidden_tools",
        "expect",
        "expect_first",
        "expect_order",
        "expect_no_tool_call",
        "simulated_tools",
        "max_tool_calls",
    }
)

_NONE: Mapping[str, Never] = MappingProxyType({})

# What is read of a check that a scorer gives.
_FIELDS = (("name", str), ("ok", bool | None), ("message", str), ("turn", int | None))


Scorer = Callable[[Case, Transcript], Check | Iterable[Check]]
"""A check of a user's own. What it raises is told with the last line of its traceback."""


def score(case: Case, transcript: Transcript, secrets: Secrets, scorers: Mapping[str, Scorer] = _NONE) -> list[Check]:
    """Returns every check that the case asks for, of the whole and of each turn.

    Where an answer did not come whole nothing can be said of it: all its checks are undecided, so that a dead agent
    passes none of them, a forbidden phrase least of all (contract 4).

    Args:
        case: what is asked.
        transcript: what came.
        secrets: what no message may show.
        scorers: those that the case names, by their names.
    """
    failure = _failure(case, transcript)
    if failure is not None:
        return _undecided(case, failure.message, transcript.turns, secrets.cover)
    checks = [*_of_case(case, transcript.turns, secrets.cover), *_of_turns(case, transcript.turns, secrets.cover)]
    for name in case.scorers:  # last, and on a copy: what they do to it changes no other check
        checks += _scored(name, scorers[name], case.model_copy(deep=True), deepcopy(transcript), secrets.cover)
    return checks


def _of_case(case: Case, turns: Sequence[Turn], cover: Cover) -> Iterator[Check]:
    for family in families():
        yield from family(case, turns, cover)


def _of_turns(case: Case, turns: Sequence[Turn], cover: Cover) -> Iterator[Check]:
    for index, part in enumerate(case.turns):
        for family in families():
            for check in family(part, turns[index : index + 1], cover):
                yield replace(check, turn=index)


def _scored(name: str, scorer: Scorer, case: Case, transcript: Transcript, cover: Cover) -> list[Check]:
    try:
        came: object = scorer(case, transcript)
        checks: list[object] = [*came] if isinstance(came, Iterable) and not isinstance(came, str) else [came]
    except BaseException as error:  # it runs in a thread, so `SystemExit` ends nothing else either
        last = " ".join(traceback.format_exception_only(error)[-1][:_READ].split())
        return [Check(name, None, "; ".join(filter(None, (f"the scorer raised {last}", raised_at(error)))))]
    if not checks:
        return [Check(name, None, "the scorer gave no check")]
    return [_sound(name, check, cover) for check in checks]


def _sound(name: str, given: object, cover: Cover) -> Check:
    """The check that a scorer gave, or an undecided one that says why it is none."""
    if not isinstance(given, Check):
        return Check(name, None, f"the scorer gave a value of type {type(given).__name__}, which is no golden.Check")
    for field, kind in _FIELDS:
        if not isinstance(value := getattr(given, field), kind):
            wrong = f"the scorer gave a golden.Check whose `{field}` is a value of type {type(value).__name__}"
            return Check(name, None, wrong)
    return Check(cover(given.name), given.ok, given.message, given.turn)


def _undecided(case: Case, why: str, turns: Sequence[Turn] = (), cover: Cover = str) -> list[Check]:
    """The checks that the case asks, none of them decided but those of single turns whose answers came whole."""
    came = [at < len(turns) and turns[at].error is None for at in range(len(case.questions))]
    nothing = [Fold(question).close(0.0, proven=False, pending=False) for question in case.questions]
    given = [turns[at] if is_whole else nothing[at] for at, is_whole in enumerate(came)]
    of_case = [*_of_case(case, nothing, str), *(Check(name, None, "") for name in case.scorers)]
    return [
        check
        if check.turn is not None and is_of_turn and came[check.turn]
        else replace(check, ok=None, message=f"undecided: {why[:_READ]}", hits=())
        for is_of_turn, checks in ((False, of_case), (True, _of_turns(case, given, cover)))
        for check in checks
    ]


def judge(
    suite: Suite,
    case: Case,
    model: str | None,
    transcript: Transcript,
    secrets: Secrets,
    scorers: Mapping[str, Scorer] = _NONE,
) -> CaseResult:
    """Returns the result of one try at a case: its verdict, and as evidence what came, secrets covered."""
    checks = score(case, transcript, secrets, scorers)
    undecided = next((check for check in checks if check.ok is None), None)
    failure = _failure(case, transcript)
    if failure is None and undecided is not None:
        failure = Failure("undecided", f"{undecided.name}: {undecided.message}")
    status: Status = "error" if failure else "passed" if all(check.ok for check in checks) else "failed"
    return _result(suite, case, status, model, failure, transcript.turns, checks, secrets)


def _failure(case: Case, transcript: Transcript) -> Failure | None:
    """The first turn's failure; of several turns it says which one, and that those after it were not asked."""
    failure = transcript.error
    if failure is None or len(case.questions) == 1:
        return failure
    at, of = len(transcript.turns), len(case.questions)
    message, *hint = failure.message.rsplit(HINT, 1)
    rest = "" if at == of else "; the turns after it were not asked"
    return failure._replace(message=HINT.join([f"turn {at} of {of}: {message}{rest}", *hint]))


def not_run(
    suite: Suite, case: Case, model: str | None, reason: str, secrets: Secrets, turns: Sequence[Turn] = ()
) -> CaseResult:
    """Returns the result of a case that golden stopped before it was judged, with what had come of it."""
    checks = _undecided(case, reason)
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
    shown = tuple(turn_result(turn, secrets) for turn in turns)
    usage = total_usage([turn.usage for turn in shown])
    attempt = AttemptResult(trial=1, try_=1, status=status, error=error, checks=rows, usage=usage)
    parts = (case, *case.turns)
    # One for the case, next to the lowest score of its turns: none where turns ask for different ones.
    asked = {part.groundedness_threshold for part in case.turns}
    shared = asked.pop() if len(asked) == 1 else None
    grounded = [turn.groundedness for turn in turns if turn.groundedness is not None]
    return CaseResult(
        case_id=case.id,
        suite=suite.path,
        line=case.line,
        question=cover(case.questions[0]),
        status=status,
        passed=status == "passed",
        tool_ok=_all_ok(rows, _TOOL_CHECKS),
        forbidden_ok=_all_ok(rows, {"forbidden_phrases"}),
        groundedness_ok=_all_ok(rows, {"groundedness_threshold"}),
        expected_tools=tuple(dict.fromkeys(cover(name) for part in parts for name in part.expected_tools)),
        actual_tools=tuple(cover(call.name) for turn in turns for call in turn.tool_calls),
        groundedness=min(grounded, default=None),
        groundedness_threshold=shared if case.groundedness_threshold is None else case.groundedness_threshold,
        forbidden_hits=tuple(dict.fromkeys(cover(hit) for check in checks for hit in check.hits)),
        checks=rows,
        expectations=tuple(_expected(check, one, secrets) for check in checks for one in check.beside),
        turns=shown,
        error=error,
        attempts=(attempt,) if turns else (),
        tags=tuple(map(cover, case.tags)),
        model=model and cover(model),
        metadata=cast("dict[str, object]", secrets.cover_value(case.metadata)),
        case_sha256=case.sha256(suite.system_prompt),
    )


def _expected(check: Check, one: Beside, secrets: Secrets) -> Expected:
    written = one.expectation.model_dump(mode="json", exclude_defaults=True)
    return Expected(
        check=check.name,
        turn=check.turn,
        expected=cast("dict[str, object]", secrets.cover_value(written)),
        met=None if check.ok is None else one.met,
        places=one.places,
        path=_short(secrets.cover(one.path)),
    )


def _all_ok(checks: Iterable[CheckResult], names: set[str] | frozenset[str]) -> bool | None:
    """False where one does not hold, None where none was asked or one is undecided, else True."""
    oks = [check.ok for check in checks if check.name in names]
    return False if False in oks else None if None in oks or not oks else True


def _error(failure: Failure | None, secrets: Secrets) -> ErrorResult | None:
    if failure is None:
        return None
    message, *hint = failure.message.rsplit(HINT, 1)  # it is short, and what to do must not be cut off
    shown = [_short(secrets.cover(part[:_READ])) for part in (message, *hint)]
    return ErrorResult(kind=failure.kind, message=HINT.join(shown))


def _short(covered: str) -> str:
    """A message of bounded length; it is covered before it is cut, so that no half of a secret is left."""
    return covered if len(covered) <= _MESSAGE else f"{covered[: _MESSAGE - 1]}…"


def turn_result(turn: Turn, secrets: Secrets) -> TurnResult:
    """Returns a turn as it is written, secrets covered."""
    cover = secrets.cover
    covered = cover(turn.answer)
    answer = _cut(covered)
    return TurnResult(
        question=cover(turn.question),
        answer=answer,
        answer_chars=len(covered),
        final_text=answer if turn.final_text == turn.answer else _cut(cover(turn.final_text)),
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
        events=Log(turn.events, cover),
        events_total=turn.events_total,
        findings=tuple(
            FindingResult(kind=finding.kind, message=_short(cover(finding.message))) for finding in turn.findings
        ),
        error=_error(turn.error, secrets),
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def _cut(text: str) -> str:
    return text if len(text) * 4 <= _ANSWER else text.encode()[:_ANSWER].decode(errors="ignore")
