"""Comparison → lines for people: what changed, the worst first."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from golden.change import CallChange, CaseChange, Comparison, Side
from golden.errors import HINT
from golden.layout import labelled, painted, wrapped
from golden.payload import dump
from golden.visible import excerpt, visible

_ARGUMENTS = 160  # characters of a call's arguments that are shown
_RED, _GREEN, _YELLOW = "31", "32", "33"


class _Group(NamedTuple):
    """Cases that are told under one label.

    Attributes:
        color: of the label.
        detail: from how much that is shown they are told.
        evidence: whether it is told what else of them changed.
    """

    color: str
    detail: int
    evidence: bool


# In the order in which they are told: what is sure comes first.
_GROUPS = {
    "REGRESSED": _Group(_RED, -1, True),
    "GONE": _Group(_RED, -1, False),
    "CASE CHANGED": _Group(_YELLOW, -1, True),
    "LIKELY NOISE": _Group(_YELLOW, -1, True),
    "NO VERDICT": _Group(_YELLOW, -1, False),
    "fixed": _Group(_GREEN, 0, True),
    "case changed": _Group(_YELLOW, 0, True),
    "new": _Group(_YELLOW, 0, False),
    "still failing": _Group(_YELLOW, 0, False),
    "flaky now": _Group(_YELLOW, 0, False),
    "same verdict": _Group(_YELLOW, 1, True),
}


def label_of(case: CaseChange) -> str:
    """Returns the label a case is told under, "" for none. One whose text changed is never told as if the agent had."""
    if case.before is None or case.after is None:
        return "new" if case.before is None else "GONE"
    if case.case_changed:
        return "CASE CHANGED" if case.change == "regressed" else "case changed"
    if case.change == "unchanged":
        if case.before.status != case.after.status and case.after.status in ("skipped", "not_run"):
            return "NO VERDICT"
        if case.after.flaky and not case.before.flaky:
            return "flaky now"
        is_same = not case.checks and not case.calls and case.before.groundedness == case.after.groundedness
        return "" if is_same else "same verdict"
    if case.change == "regressed":
        return "LIKELY NOISE" if case.likely_noise else "REGRESSED"
    return case.change.replace("_", " ")


def digest(comparison: Comparison, detail: int, color: bool) -> Iterator[str]:
    """Says what changed since the baseline: the counts, what else differs, then the cases that are not as they were.

    Args:
        comparison: of the run and its baseline.
        detail: -1 less, 0, 1 more.
        color: whether labels are painted.
    """
    counts = comparison.counts
    for line in wrapped(_head(comparison), ""):
        yield painted(line, _RED if counts.regressed else _GREEN, color)
    baseline = comparison.baseline
    commit = f", commit {baseline.sha[:12]}" if baseline.sha else ""
    branch = f" on {baseline.branch}" if baseline.sha and baseline.branch else ""
    yield from wrapped(visible(f"baseline of {baseline.started_at}{commit}{branch}"), "")
    for note in comparison.notes:
        yield from wrapped(visible(f"note: {note}"), "")
    cases: dict[str, list[CaseChange]] = {}
    for case in comparison.cases:
        cases.setdefault(label_of(case), []).append(case)
    told = [
        (label, case) for label, group in _GROUPS.items() if group.detail <= detail for case in cases.get(label, ())
    ]
    if told:
        yield ""
    for label, case in told:
        yield from labelled(label, f"  {visible(case.case_id)}: {_went(case)}", _GROUPS[label].color, color)
        for line in _evidence(case) if _GROUPS[label].evidence or detail > 0 else ():
            yield from wrapped(line, "  ")


def _head(comparison: Comparison) -> str:
    counts = comparison.counts
    of = [
        (len(comparison.gone), "gone"),
        (counts.likely_noise, "likely noise"),
        (_changed_and_regressed(comparison.cases), "whose case changed"),
    ]
    among = ", ".join(f"{count} {what}" for count, what in of if count)
    parts = [
        (counts.regressed, f"regressed ({among} among them)" if among else "regressed"),
        (counts.fixed, "fixed"),
        (counts.still_failing, "still failing"),
        (counts.new, "new"),
        (counts.unchanged, "unchanged"),
        (len(comparison.left_out), "of the baseline left out"),
    ]
    told = ", ".join(f"{count} {what}" for count, what in parts if count)
    nothing = "" if counts.regressed or counts.fixed else "nothing regressed, nothing fixed"
    return f"golden: {', '.join(filter(None, (nothing, told)))}"


def _changed_and_regressed(cases: Iterable[CaseChange]) -> int:
    return sum(case.case_changed and case.change == "regressed" for case in cases)


def _went(case: CaseChange) -> str:
    """What it was and what it is: `passed -> failed`."""
    return " -> ".join(_state(side) for side in (case.before, case.after) if side is not None)


def _state(side: Side) -> str:
    trials = f" ({side.trials.passed} of {side.trials.run} trials)" if side.trials else ""
    return f"{side.status.replace('_', ' ')}{trials}"


def _evidence(case: CaseChange) -> Iterator[str]:
    if case.case_changed:
        yield "the case itself changed: the same answers may get another verdict"
    if case.p is not None and case.p < 1:
        yield f"p {case.p:.3f} (Fisher's exact test, one-sided): so often chance alone does as much"
    if case.after and case.after.status == "error" and case.after.error:
        yield visible(case.after.error.rsplit(HINT, 1)[0])
    for check in case.checks:
        if "fails" in (check.before, check.after):
            which = "" if check.turn is None else f"turn {check.turn + 1}: "
            states = f"{check.before} -> {check.after}"
            yield visible(f"{which}{check.name}: {states}" + (f": {check.message}" if check.after == "fails" else ""))
    yield from map(_call, case.calls)
    if case.before and case.after and (figures := [*_figures(case.before, case.after)]):
        yield "; ".join(figures)


def _call(call: CallChange) -> str:
    name = visible(call.name) or "(no name)"
    if call.change == "changed":
        return f"called otherwise: {name}({_arguments(call.before)}) -> ({_arguments(call.after)})"
    if call.change == "went":
        return f"called no more: {name}({_arguments(call.before)})"
    return f"called now: {name}({_arguments(call.after)})"


def _arguments(args: object) -> str:
    return excerpt(dump(args), _ARGUMENTS)


def _figures(before: Side, after: Side) -> Iterator[str]:
    """What was measured and is not the same, before and now."""
    figures: tuple[tuple[str, Callable[[Side], object]], ...] = (
        ("model", lambda side: None if side.model is None else visible(side.model)),
        ("grounded", lambda side: _rounded(side.groundedness, "")),
        ("first token", lambda side: _rounded(side.first_token_s, " s")),
        ("total", lambda side: _rounded(side.total_s, " s")),
        ("tokens", lambda side: side.usage and f"{_count(side.usage.input)} in, {_count(side.usage.output)} out"),
    )
    for what, of in figures:
        was, now = of(before), of(after)
        if was != now:
            yield f"{what} {was or 'none'} -> {now or 'none'}"


def _rounded(number: float | None, unit: str) -> str | None:
    return None if number is None else f"{number:.2f}{unit}"


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"
