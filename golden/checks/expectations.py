"""Which calls were made, with which arguments and in which order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from golden.checks import Check, Cover, Family
from golden.expectation import ToolExpectation
from golden.match import first, in_order, pair
from golden.mismatch import describe, not_first, out_of_order, unpaired
from golden.patterns import PatternTimeout
from golden.suite import Checks
from golden.transcript import Turn


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    calls = [call for turn in turns for call in turn.tool_calls]

    def paired() -> Iterator[str]:
        return (unpaired(outcome, calls, cover) for outcome in pair(expect.expect, calls))

    def led(wanted: ToolExpectation) -> Iterator[str]:
        difference = first(wanted, calls)
        yield not_first(wanted, difference, calls, cover) if difference else ""

    def ordered() -> Iterator[str]:
        yield out_of_order(expect.expect_order, in_order(expect.expect_order, calls), calls, cover)

    if expect.expect:
        yield _decided("expect", paired, f"all came: {'; '.join(describe(one, cover) for one in expect.expect)}")
    if expect.expect_first is not None:
        yield _decided(
            "expect_first",
            partial(led, expect.expect_first),
            f"the first call is {describe(expect.expect_first, cover)}",
        )
    if expect.expect_order:
        wanted = ", ".join(describe(one, cover) for one in expect.expect_order)
        yield _decided("expect_order", ordered, f"in order: {wanted}")


def _decided(name: str, problems: Callable[[], Iterator[str]], held: str) -> Check:
    try:
        found = [problem for problem in problems() if problem]
    except PatternTimeout as timeout:
        return Check(name, None, str(timeout))
    return Check(name, not found, "; ".join(found) or held)


CHECK: Family = _check
