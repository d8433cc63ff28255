"""(expectations, calls) → which call satisfies which expectation, and where the nearest differs (contract 3).

All calls are compared at once: for each thing that an expectation asks there is one set of the calls that differ in it,
a number's bits. One by one, 2,000 calls and 200 expectations took a hundred times as long.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from golden.columns import Column, bits, lowest, places_of
from golden.expectation import Alternative, ToolExpectation
from golden.outcome import ABSENT, Broken, Difference, Nearest, Order, Outcome
from golden.pairing import assigned
from golden.patterns import PatternTimeout, search
from golden.transcript import ToolCall
from golden.wildcards import EvalAny, EvalRegex, Link, path_keys, path_text

_TOOL: Link = (None, "tool")
_PARAMS: Link = (None, "params")


def matches(expectation: ToolExpectation, call: ToolCall) -> Difference | None:
    """Returns None where the call matches, else its first difference from the alternative that it is nearest to.

    What stands higher is compared first, and patterns last.

    Raises:
        PatternTimeout: all else matches, and whether a pattern is found was not decided in time.
    """
    table = _tabled([call])
    judged = _judged(expectation, table)
    nearest = _nearest(judged, table, table.every & ~_matching(judged))
    return nearest and nearest.difference


def pair(expectations: Sequence[ToolExpectation], calls: Sequence[ToolCall]) -> tuple[Outcome, ...]:
    """Pairs as many calls as can be, each to at most one expectation.

    The order in which the expectations are written decides nothing.

    Returns:
        An outcome for each expectation, in their order.

    Raises:
        PatternTimeout: as `matches`, of any call.
    """
    table = _tabled(calls)
    judged = [_judged(expectation, table) for expectation in expectations]
    matching = list(map(_matching, judged))
    # Where not all can be met: first those that need the fewest, and of these always the same ones.
    ranked = sorted(range(len(expectations)), key=lambda index: _rank(expectations[index]))
    needs = [expectations[index].min_count for index in ranked]
    paired = dict(zip(ranked, assigned([matching[index] for index in ranked], needs, len(calls)), strict=True))

    def outcome(index: int, expectation: ToolExpectation) -> Outcome:
        lacking = paired[index].bit_count() < expectation.min_count
        count = matching[index].bit_count()
        within = expectation.max_count is None or count <= expectation.max_count
        nearest = _nearest(judged[index], table, table.every & ~matching[index]) if lacking else None
        return Outcome(expectation, within and not lacking, places_of(paired[index]), count, nearest)

    return tuple(outcome(index, expectation) for index, expectation in enumerate(expectations))


def in_order(expectations: Sequence[ToolExpectation], calls: Sequence[ToolCall]) -> Order:
    """Finds calls that match the expectations in this order; others may stand between.

    Raises:
        PatternTimeout: as `matches`, of any call.
    """
    # Each takes the first call after the one before that matches it. No choice does better: by induction none has its
    # calls earlier, so whatever follows in another choice stands late enough for this one too.
    table = _tabled(calls)
    late = table.every
    places: list[int] = []
    for expectation in expectations:
        judged = _judged(expectation, table)
        matching = _matching(judged)
        if not matching & late:
            earlier = matching & ~bits(places)
            return Order(tuple(places), lowest(earlier) if earlier else None, _nearest(judged, table, late))
        places.append(lowest(matching & late))
        late = late >> (places[-1] + 1) << (places[-1] + 1)
    return Order(tuple(places))


def first(expectation: ToolExpectation, calls: Sequence[ToolCall]) -> Difference | None:
    """Returns None where the first call matches, else its difference; where there is no call, one at `tool`.

    Raises:
        PatternTimeout: as `matches`.
    """
    return matches(expectation, calls[0]) if calls else Difference("tool", expectation.alternatives[0].tool, ABSENT)


class _Table(NamedTuple):
    """The calls, turned so that each question is asked of all of them at once; a set of calls is a number's bits."""

    calls: Sequence[ToolCall]
    every: int
    names: dict[str, int]
    args: Column


class _Beyond(NamedTuple):
    """What a strict object expects beside its keys: nothing."""

    keys: dict[str, object]


class _Test(NamedTuple):
    """One thing asked of the calls: where, what is expected there, and which calls differ in it."""

    link: Link
    want: object
    differ: int


class _Search(NamedTuple):
    """A pattern, and the calls that have a string there to look for it in."""

    link: Link
    want: EvalRegex
    column: Column
    calls: int


class _Judged(NamedTuple):
    """The calls beside one alternative: the tests, the calls that match, and what was not needed to know that."""

    tests: list[_Test]
    matching: int
    searches: list[_Search]


def _rank(expectation: ToolExpectation) -> tuple[int, str]:
    return expectation.min_count, repr(expectation)


def _tabled(calls: Sequence[ToolCall]) -> _Table:
    names: defaultdict[str, int] = defaultdict(int)
    for place, call in enumerate(calls):
        names[call.name] |= 1 << place
    args = Column({place: call.args for place, call in enumerate(calls) if call.parsed})
    return _Table(calls, (1 << len(calls)) - 1, names, args)


def _judged(expectation: ToolExpectation, table: _Table) -> list[_Judged]:
    return [_judge(alternative, table) for alternative in expectation.alternatives]


def _matching(judged: Sequence[_Judged]) -> int:
    matching = 0
    for each in judged:
        matching |= each.matching
    return matching


def _judge(alternative: Alternative, table: _Table) -> _Judged:
    tests, searches = _asked(alternative, table)
    matching = table.every
    for test in tests:
        matching &= ~test.differ
    # A pattern may take long: what is asked here is only whether it is found in the calls that match in all else.
    left = []
    for each in searches:
        test = _searched(each, matching)
        tests.append(test)
        left.append(each._replace(calls=each.calls & ~matching))
        matching &= ~test.differ
    return _Judged(tests, matching, left)


def _asked(alternative: Alternative, table: _Table) -> tuple[list[_Test], list[_Search]]:
    """What is asked of a call, in the order in which it is told: what stands higher first, patterns last."""
    tool, params, strict = alternative.tool, alternative.params, alternative.strict
    parsed = table.args.present
    tests = [
        _Test(_TOOL, tool, table.every & ~table.names.get(tool, 0)),
        _Test(_PARAMS, params, table.every & ~parsed),
    ]
    beyond: list[_Test] = []
    searches: list[_Search] = []
    # It grows while it is walked, in place of a recursion: nothing is nested too deep for it.
    todo: list[tuple[Link, object, Column, int]] = []
    if params is not None or strict:
        todo.append((_PARAMS, params or {}, table.args, parsed))
    for link, want, column, calls in todo:
        parts: Iterable[tuple[str | int, object]] = ()
        if isinstance(want, dict):
            fit, parts = column.objects, want.items()
            if strict:
                beyond.append(_Test(link, _Beyond(want), calls & column.beyond(want)))
        elif isinstance(want, list):
            fit, parts = column.as_long(want), enumerate(want)
        elif isinstance(want, EvalRegex):
            fit = column.texts
            searches.append(_Search(link, want, column, calls & fit))
        else:
            fit = column.present if want is EvalAny else column.equal(want)
        tests.append(_Test(link, want, calls & ~fit))
        if calls & fit:
            todo += [((link, part), value, column.at(part), calls & fit) for part, value in parts]
    return tests + beyond, searches


def _searched(asked: _Search, among: int) -> _Test:
    """Looks for a pattern in those calls of the search that are `among` these."""
    differ = 0
    for text, calls in asked.column.strings.items():
        if within := calls & asked.calls & among:
            try:
                hit = search(asked.want.pattern, text)
            except PatternTimeout as timeout:
                place = path_text(path_keys(asked.link))
                raise PatternTimeout(f"/{asked.want.pattern}/ at {place}: {timeout}") from None
            differ |= 0 if hit else within
    return _Test(asked.link, asked.want, differ)


def _nearest(judged: Sequence[_Judged], table: _Table, among: int) -> Nearest | None:
    """Of these calls, none of which matches, the one with the fewest differences, then the first."""
    of_the_tool = [among & ~each.tests[0].differ for each in judged]
    pools = of_the_tool if any(of_the_tool) else [among for _ in judged]
    found = []
    for index, (each, pool) in enumerate(zip(judged, pools, strict=True)):
        if pool:
            tests = list(each.tests)
            with suppress(PatternTimeout):  # the verdict stands without it
                tests += [_searched(asked, pool) for asked in each.searches]
            found.append((*_least(tests, pool), index, tests))
    if not found:
        return None
    _, place, _, tests = min(found)
    test = next(test for test in tests if test.differ >> place & 1)
    return Nearest(place, _difference(test, table.calls[place]))


def _least(tests: Sequence[_Test], pool: int) -> tuple[int, int]:
    """The least number of differences that a call of the pool has, and the first that has so few."""
    # All are counted at once: `digits[i]` is the i-th binary digit of every call's count.
    digits: list[int] = []
    for test in tests:
        carry = test.differ & pool
        for i, digit in enumerate(digits):
            digits[i], carry = digit ^ carry, digit & carry
        if carry:
            digits.append(carry)
    least = 0
    for i in reversed(range(len(digits))):
        if fewer := pool & ~digits[i]:
            pool = fewer
        else:
            least |= 1 << i
    return least, lowest(pool)


def _difference(test: _Test, call: ToolCall) -> Difference:
    keys = path_keys(test.link)
    came: Any = {"tool": call.name, "params": call.args if call.parsed else Broken(call.args)}
    for key in keys:
        came = came.get(key, ABSENT) if isinstance(came, dict) else came[key]
    if isinstance(test.want, _Beyond):
        key = next(key for key in came if key not in test.want.keys)
        return Difference(path_text((*keys, key)), ABSENT, came[key])
    return Difference(path_text(keys), test.want, came)
