"""(RunResult, Comparison) → what of a run people must hear first: one sentence, and the cases worth a look. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from golden.change import CaseChange, Comparison, Side
from golden.digest import label_of
from golden.errors import HINT
from golden.refusal import PROTECTED
from golden.result import CaseResult, RunResult

REGRESSED, GONE, CHANGED, NOISE, SKIPPED, FIXED, NEW = (
    "regressed",
    "gone",
    "case changed",
    "likely noise",
    "skipped now",
    "fixed",
    "no baseline",
)
FAILED, ERROR, KNOWN = "failed", "no verdict", "already failing"

KINDS = (REGRESSED, GONE, FAILED, ERROR, CHANGED, NOISE, SKIPPED, FIXED, NEW, KNOWN)
"""What an item may be, in the order in which they are told."""

# Of the labels of the digest. What was new or edited is told only where it is not well.
_KINDS: Mapping[str, str] = {
    "REGRESSED": REGRESSED,
    "GONE": GONE,
    "CASE CHANGED": CHANGED,
    "LIKELY NOISE": NOISE,
    "fixed": FIXED,
    "still failing": KNOWN,
}

_OUTAGES: Mapping[str, str] = {
    "protected": "the preview is protected",
    "unreachable": "the agent cannot be reached",
    "refused": "the agent refuses the questions",
}

_BAD = ("failed", "error")
_STATES: Mapping[str, str] = {
    "passed": "1/1",
    "failed": "0/1",
    "error": "error",
    "skipped": "skipped",
    "not_run": "not run",
}

# So few errors of a kind that says little of the others are told one by one, even where they are most.
_FEW = 3


class Item(NamedTuple):
    """A case that is told. Its texts are of others: of the suite, the agent, the server.

    Attributes:
        kind: one of `KINDS`.
        before: how many of its tries passed in the baseline, or what else it was there; "" without a baseline.
        now: the same of this run.
        why: what does not hold, or did not.
        result: None where the case is gone.
    """

    kind: str
    case_id: str
    before: str
    now: str
    why: str
    result: CaseResult | None


class Bulletin(NamedTuple):
    """What is told of a run.

    Attributes:
        sentence: the verdict.
        cause: why there is none for most cases, or for some: a sentence's beginning, and what others said. None for
            a run that has all its verdicts.
        items: the cases worth a look, the worst first. Where most are in error none of those is among them: what they
            have in common is the `cause`.
    """

    sentence: str
    cause: tuple[str, str] | None
    items: tuple[Item, ...]


def bulletin(run: RunResult, comparison: Comparison | None) -> Bulletin:
    """Returns what is told of a run, and of what its baseline says of it."""
    outage = _outage(run)
    told = [item for item in _items(run, comparison) if not outage or item.result is None or not _is_error(item)]
    items = tuple(sorted(told, key=lambda item: KINDS.index(item.kind)))
    sentence = ", ".join(_parts(run, comparison, outage, Counter(item.kind for item in items)))
    return Bulletin(sentence, _cause(run, outage), items)


def _is_error(item: Item) -> bool:
    return item.result is not None and item.result.status == "error"


def _outage(run: RunResult) -> str:
    """What most cases have in common, where most are in error; else ""."""
    summary = run.summary
    if summary.errors <= summary.passed + summary.failed:
        return ""
    errors = [result.error for result in run.results if result.status == "error" and result.error]
    kinds = Counter("protected" if PROTECTED in error.message else error.kind for error in errors)
    ((kind, _),) = kinds.most_common(1) or [("", 0)]
    return _OUTAGES.get(kind, "most questions could not be judged" if summary.errors > _FEW else "")


def _parts(run: RunResult, comparison: Comparison | None, outage: str, of: Counter[str]) -> Iterator[str]:
    """The verdict, the worst first."""
    summary = run.summary
    judged = summary.total - summary.skipped
    if not judged and not of:
        yield "skipped, nothing was asked" if summary.total else "no questions"
        return
    if outage:
        yield outage
    failures = of[NEW] if comparison else summary.failed
    worse = (
        (of[REGRESSED] + of[GONE], "regression" if of[REGRESSED] + of[GONE] == 1 else "regressions"),
        (of[CHANGED], "with the case changed"),
        (of[NOISE], "likely noise"),
        (of[SKIPPED], "skipped that had a verdict"),
        (failures, "failing without a baseline" if comparison else "failed"),
    )
    told = [f"{count} {what}" for count, what in worse if count]
    yield from told or (["no regression"] if comparison and not outage else [])
    if summary.errors:
        yield f"{summary.errors} could not be judged"
    if summary.not_run:
        yield f"{summary.not_run} not run"
    if judged:
        yield f"all {judged} passed" if summary.passed == judged else f"{summary.passed} of {judged} passed"
    rest = ((of[FIXED], FIXED), (of[KNOWN], KNOWN), (summary.skipped - of[SKIPPED], "skipped"))
    yield from (f"{count} {what}" for count, what in rest if count)


def _cause(run: RunResult, outage: str) -> tuple[str, str] | None:
    """Why the most of those without a verdict have none."""
    summary = run.summary
    why = (
        (bool(outage), "error", "Most often"),
        (summary.not_run > 0, "not_run", "Stopped early"),
        (0 < summary.total == summary.skipped, "skipped", "The reason"),
    )
    for holds, status, lead in why:
        if holds:
            messages = [result.error.message for result in run.results if result.status == status and result.error]
            return (lead, Counter(messages).most_common(1)[0][0].replace(HINT, "; ")) if messages else None
    return None


def _items(run: RunResult, comparison: Comparison | None) -> Iterator[Item]:
    changes = {case.case_id: case for case in comparison.cases} if comparison else {}
    for result in run.results:
        change = changes.get(result.case_id)
        if kind := _kind(result, change, is_compared=comparison is not None):
            before = _before(change.before if change else None) if comparison else ""
            yield Item(kind, result.case_id, before, _now(result), _why(result, change), result)
    for change in changes.values():
        if change.after is None:
            yield Item(GONE, change.case_id, _before(change.before), "gone", "in no suite of this run", None)


def _kind(result: CaseResult, change: CaseChange | None, *, is_compared: bool) -> str:
    """What a case is told as, "" where it is not."""
    is_bad = result.status in _BAD
    if not is_compared:
        return {"failed": FAILED, "error": ERROR}.get(result.status, "")
    label = label_of(change) if change else "new"
    if label == "new":
        return NEW if is_bad else ""
    if label == "NO VERDICT" and change and change.before:
        return SKIPPED if result.status == "skipped" and change.before.status != "not_run" else ""
    if label == "case changed" and change:
        return {"still_failing": KNOWN, "fixed": CHANGED}.get(change.change, NEW if is_bad else "")
    return _KINDS.get(label, "")


def _before(side: Side | None) -> str:
    if side is None:
        return "–"
    if side.trials:
        return f"{side.trials.passed}/{side.trials.run}"
    return "on a retry" if side.flaky else _STATES.get(side.status, "?")


def _now(result: CaseResult) -> str:
    if result.trials:
        return f"{result.trials.passed}/{result.trials.run}"
    if result.status in ("passed", "failed") and len(result.attempts) > 1:
        passed = sum(attempt.status == "passed" for attempt in result.attempts)
        return f"{passed}/{len(result.attempts)}"
    return _STATES[result.status]


def _why(result: CaseResult, change: CaseChange | None) -> str:
    """What does not hold; of a case that passes, what did not hold before."""
    lead = "the case itself changed; " if change and change.case_changed else ""
    if result.error is not None and result.status != "passed":
        error = result.error
        return f"{lead}{error.kind}: {error.message.partition(HINT)[0]}"
    if result.status == "passed":
        return lead + _mended(change)
    return lead + _first([f"{check.name}: {check.message}" for check in result.checks if check.ok is False])


def _mended(change: CaseChange | None) -> str:
    was = change.before.error if change and change.before else None
    mended = [f"{check.name} holds" for check in (change.checks if change else ()) if check.before == "fails"]
    return f"was an error: {was.partition(HINT)[0]}" if was else _first(mended)


def _first(messages: Iterable[str]) -> str:
    first, *others = [*messages] or [""]
    return f"{first} (and {len(others)} more)" if others else first
