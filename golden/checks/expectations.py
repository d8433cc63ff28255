"""Which calls were made, with which arguments and in which order."""

from collections.abc import Iterable, Sequence

from golden.checks import Check, Cover, Family
from golden.expectation import ToolExpectation
from golden.match import first, in_order, pair
from golden.mismatch import describe, not_first, out_of_order, unpaired
from golden.outcome import Beside, Nearest
from golden.patterns import PatternTimeout
from golden.suite import Checks
from golden.transcript import ToolCall, Turn

Judged = tuple[str, tuple[Beside, ...]]
"""What is said, and each expectation with the calls that are shown beside it."""


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    calls = [call for turn in turns for call in turn.tool_calls]
    for name, wanted, judge in (
        ("expect", expect.expect, _paired),
        ("expect_first", [expect.expect_first] if expect.expect_first else [], _led),
        ("expect_order", expect.expect_order, _ordered),
    ):
        if not wanted:
            continue
        try:
            message, beside = judge(wanted, calls, cover)
        except PatternTimeout as timeout:
            yield Check(name, None, str(timeout), beside=tuple(Beside(one, met=False) for one in wanted))
        else:
            yield Check(name, all(one.met for one in beside), message, beside=beside)


def _paired(wanted: Sequence[ToolExpectation], calls: Sequence[ToolCall], cover: Cover) -> Judged:
    outcomes = pair(wanted, calls)
    problems = filter(None, (unpaired(outcome, calls, cover) for outcome in outcomes))
    beside = (
        Beside(one.expectation, one.met, one.places) if one.places else _near(one.expectation, one.met, one.nearest)
        for one in outcomes
    )
    held = f"all came: {'; '.join(describe(one, cover) for one in wanted)}"
    return "; ".join(problems) or held, tuple(beside)


def _led(wanted: Sequence[ToolExpectation], calls: Sequence[ToolCall], cover: Cover) -> Judged:
    (one,) = wanted
    difference = first(one, calls)
    if difference is None:
        return f"the first call is {describe(one, cover)}", (Beside(one, True, (0,)),)
    nearest = Nearest(0, difference) if calls else None
    return not_first(one, difference, calls, cover), (_near(one, False, nearest),)


def _ordered(wanted: Sequence[ToolExpectation], calls: Sequence[ToolCall], cover: Cover) -> Judged:
    order = in_order(wanted, calls)
    kept = [Beside(one, True, (place,)) for one, place in zip(wanted, order.places, strict=False)]
    missed = [_near(one, False, None if at else order.nearest) for at, one in enumerate(wanted[len(kept) :])]
    held = f"in order: {', '.join(describe(one, cover) for one in wanted)}"
    return out_of_order(wanted, order, calls, cover) or held, (*kept, *missed)


def _near(wanted: ToolExpectation, met: bool, nearest: Nearest | None) -> Beside:
    return Beside(wanted, met, (nearest.place,), nearest.difference.path) if nearest else Beside(wanted, met)


CHECK: Family = _check
