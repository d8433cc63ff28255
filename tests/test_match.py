import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from math import inf, nan
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden import patterns
from golden.columns import bits, places_of
from golden.expectation import Alternative, ToolExpectation
from golden.match import first, in_order, matches, pair
from golden.outcome import ABSENT, Broken, Difference, Nearest, Order, Outcome
from golden.pairing import assigned
from golden.patterns import PatternTimeout
from golden.transcript import ToolCall
from golden.wildcards import EvalAny, EvalRegex

Expect = ToolExpectation
HOPELESS = "(a|aa)+$"
EVIL = "a" * 60 + "b"


def call(**args: object) -> ToolCall:
    return ToolCall("t", args)


def expect(**params: object) -> ToolExpectation:
    return ToolExpectation(tool="t", params=params)


def choice(*options: dict[str, object], min_count: int = 1) -> ToolExpectation:
    return ToolExpectation(any_of=[Alternative(tool="t", params=params) for params in options], min_count=min_count)


# --- what one call must be like ---------------------------------------------------------------------------------------

MATCHING: list[tuple[dict[str, object], dict[str, object]]] = [
    ({}, {"id": 1}),
    ({"id": 1}, {"id": 1, "more": 2}),
    ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}),
    ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}]}),
    ({"a": []}, {"a": []}),
    ({"a": {}}, {"a": {"b": 1}}),
    ({"n": 1}, {"n": 1.0}),
    ({"n": 0.0}, {"n": -0.0}),
    ({"n": 2**53}, {"n": float(2**53)}),
    ({"n": 10**400}, {"n": 10**400}),
    ({"n": nan}, {"n": float("nan")}),
    ({"n": inf}, {"n": inf}),
    ({"b": True, "c": False, "n": None}, {"b": True, "c": False, "n": None}),
    ({"x": EvalAny}, {"x": None}),
    ({"x": EvalAny}, {"x": {"deep": [1]}}),
    ({"x": [EvalAny, EvalAny]}, {"x": [None, []]}),
    ({"x": EvalRegex("^chart:")}, {"x": "chart:gdp"}),
    ({"x": EvalRegex("")}, {"x": ""}),
    ({"x": EvalRegex("b$")}, {"x": "ab"}),
    ({"$literal": {"$any": True}}, {"$any": True}),
    ({"a b": {"ü": 1}}, {"a b": {"ü": 1}}),
]

DIFFERING: list[tuple[dict[str, object], object, str, object, object]] = [
    ({"id": 1}, {}, "params.id", 1, ABSENT),
    ({"id": None}, {}, "params.id", None, ABSENT),
    ({"id": EvalAny}, {}, "params.id", EvalAny, ABSENT),
    ({"id": EvalRegex("")}, {}, "params.id", EvalRegex(""), ABSENT),
    ({"id": {"a": 1}}, {}, "params.id", {"a": 1}, ABSENT),
    ({"id": 1}, {"id": True}, "params.id", 1, True),
    ({"id": True}, {"id": 1}, "params.id", True, 1),
    ({"id": False}, {"id": 0.0}, "params.id", False, 0.0),
    ({"id": 0}, {"id": None}, "params.id", 0, None),
    ({"id": "1"}, {"id": 1}, "params.id", "1", 1),
    ({"id": "a"}, {"id": "A"}, "params.id", "a", "A"),
    ({"id": "e\u0301"}, {"id": "é"}, "params.id", "e\u0301", "é"),
    ({"n": 2**53 + 1}, {"n": float(2**53)}, "params.n", 2**53 + 1, float(2**53)),
    ({"n": 10**400}, {"n": inf}, "params.n", 10**400, inf),
    ({"x": EvalRegex("^chart:")}, {"x": "the chart:"}, "params.x", EvalRegex("^chart:"), "the chart:"),
    ({"x": EvalRegex("1")}, {"x": 1}, "params.x", EvalRegex("1"), 1),
    ({"x": [1, 2]}, {"x": [1]}, "params.x", [1, 2], [1]),
    ({"x": [1]}, {"x": [1, 2]}, "params.x", [1], [1, 2]),
    ({"x": []}, {"x": {}}, "params.x", [], {}),
    ({"x": {}}, {"x": []}, "params.x", {}, []),
    ({"x": {}}, {"x": None}, "params.x", {}, None),
    ({"x": 1}, {"x": [1]}, "params.x", 1, [1]),
    ({"x": [1, 2]}, {"x": [2, 1]}, "params.x[0]", 1, 2),
    ({"items": [1, 2, {"name": "a"}]}, {"items": [1, 2, {"name": "b"}]}, "params.items[2].name", "a", "b"),
    ({"a b": {"0": [[1]]}}, {"a b": {"0": [[2]]}}, 'params["a b"].0[0][0]', 1, 2),
    ({}, [1], "params", {}, [1]),
    ({}, None, "params", {}, None),
    ({"a": 1}, "text", "params", {"a": 1}, "text"),
]


@pytest.mark.parametrize(("params", "args"), MATCHING)
def test_a_call_that_has_what_is_asked_matches(params: dict[str, object], args: dict[str, object]) -> None:
    assert matches(ToolExpectation(tool="t", params=params), ToolCall("t", args)) is None


@pytest.mark.parametrize(("params", "args", "path", "expected", "came"), DIFFERING)
def test_a_call_that_differs_is_told_by_path_and_values(
    params: dict[str, object], args: object, path: str, expected: object, came: object
) -> None:
    found = matches(ToolExpectation(tool="t", params=params), ToolCall("t", args))
    assert found is not None
    assert found == Difference(path, expected, came)
    assert type(found.came) is type(came)


def test_a_tool_is_its_exact_name() -> None:
    assert matches(Expect(tool="read"), ToolCall("Read", {})) == Difference("tool", "read", "Read")
    assert matches(Expect(tool="read"), ToolCall("", {})) == Difference("tool", "read", "")


@pytest.mark.parametrize("args", [{}, {"a": 1}, [], None, "text", 3])
def test_without_params_any_arguments_will_do(args: object) -> None:
    assert matches(Expect(tool="t"), ToolCall("t", args)) is None


@pytest.mark.parametrize("params", [None, {}, {"a": EvalAny}])
def test_arguments_that_did_not_parse_match_nothing(params: dict[str, object] | None) -> None:
    found = matches(Expect(tool="t", params=params), ToolCall("t", '{"a": 1', parsed=False))
    assert found == Difference("params", params, Broken('{"a": 1'))


@pytest.mark.parametrize(
    ("params", "args", "path"),
    [
        ({"a": 1}, {"b": 2, "a": 1}, "params.b"),
        ({}, {"b": 2}, "params.b"),
        (None, {"b": 2}, "params.b"),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, "params.a.c"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c d": 2}]}, 'params.a[0]["c d"]'),
    ],
)
def test_strict_allows_no_key_beyond_those_given_at_any_depth(
    params: dict[str, object] | None, args: dict[str, object], path: str
) -> None:
    assert matches(Expect(tool="t", params=params), ToolCall("t", args)) is None
    assert matches(Expect(tool="t", params=params, strict=True), ToolCall("t", args)) == Difference(path, ABSENT, 2)


@pytest.mark.parametrize(
    ("params", "args"), [(None, {}), ({"a": EvalAny}, {"a": {"b": 1}}), ({"a": {"b": [1]}}, {"a": {"b": [1.0]}})]
)
def test_strict_matches_what_has_the_given_keys_and_no_other(
    params: dict[str, object] | None, args: dict[str, object]
) -> None:
    assert matches(Expect(tool="t", params=params, strict=True), ToolCall("t", args)) is None


def test_what_is_expected_is_told_before_what_is_beyond_and_a_pattern_last() -> None:
    expectation = Expect(tool="t", params={"p": EvalRegex("a"), "deep": {"x": 1}, "flat": 2}, strict=True)
    args: dict[str, object] = {"more": 0, "p": "b", "deep": {"x": 0}, "flat": 0}
    paths = []
    for path, right in (("flat", 2), ("deep", {"x": 1}), ("more", None), ("p", "a")):
        found = matches(expectation, ToolCall("t", args))
        assert found is not None
        paths.append(found.path)
        args = {**args, path: right} if right else {key: value for key, value in args.items() if key != path}
    assert paths == ["params.flat", "params.deep.x", "params.more", "params.p"]
    assert matches(expectation, ToolCall("t", args)) is None


def test_one_of_several_alternatives_must_match() -> None:
    either = Expect(
        any_of=[Alternative(tool="a", params={"x": 1}), Alternative(tool="b", params={"y": 1}, strict=True)]
    )
    assert matches(either, ToolCall("a", {"x": 1})) is None
    assert matches(either, ToolCall("b", {"y": 1})) is None
    assert matches(either, ToolCall("b", {"y": 1, "z": 1})) == Difference("params.z", ABSENT, 1)
    assert matches(either, ToolCall("a", {"y": 1})) == Difference("params.x", 1, ABSENT)
    assert matches(either, ToolCall("c", {"y": 1})) == Difference("tool", "b", "c")


def test_the_difference_is_that_from_the_nearest_alternative() -> None:
    either = choice({"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 2})
    assert matches(either, call(a=1, b=3)) == Difference("params.b", 2, 3)
    assert matches(either, call(a=1, b=1)) == Difference("params.c", 1, ABSENT)
    assert matches(either, call(a=0, b=0)) == Difference("params.a", 1, 0)


def nested(depth: int, leaf: object) -> dict[str, object]:
    for level in range(depth):
        leaf = {"k": leaf} if level % 2 else {"k": [leaf]}
    return {"k": leaf}


@pytest.mark.parametrize("depth", [100, 200])
def test_deep_values_are_compared_to_the_bottom(depth: int) -> None:
    expectation = Expect(tool="t", params=nested(depth, EvalAny), strict=True)
    assert pair([expectation], [ToolCall("t", nested(depth, 1))])[0].met
    found = matches(Expect(tool="t", params=nested(depth, 1)), ToolCall("t", nested(depth, 2)))
    assert found is not None
    assert (found.expected, found.came, found.path.count("k")) == (1, 2, depth + 1)


def test_values_deeper_than_any_recursion_are_compared() -> None:
    depth = sys.getrecursionlimit() * 5
    found = matches(Expect(tool="t", params=nested(depth, 1)), ToolCall("t", nested(depth, 2)))
    assert found is not None
    assert found.expected == 1


def naive(want: object, got: object, strict: bool) -> int:
    """The differences, counted by the rules as they are written, each by each."""
    if want is EvalAny:
        return 0
    if isinstance(want, EvalRegex):
        return int(not (isinstance(got, str) and want.pattern in got))
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return 1
        missing = sum(key not in got for key in want)
        beyond = int(strict and any(key not in want for key in got))
        return missing + beyond + sum(naive(want[key], got[key], strict) for key in want if key in got)
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return 1
        return sum(naive(one, other, strict) for one, other in zip(want, got, strict=True))
    if isinstance(want, bool) or want is None or isinstance(want, str):
        return int(type(want) is not type(got) or want != got)
    if isinstance(got, bool) or not isinstance(got, (int, float)):
        return 1
    return int(not (want == got or (want != want and got != got)))


SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 2, nan, 2**53, 2**53 + 1, float(2**53), "", "a", "ab", "1"])
KEYS = st.sampled_from("xyz")


def values(leaves: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.dictionaries(KEYS, inner, max_size=3), st.lists(inner, max_size=2)),
        max_leaves=6,
    )


WANTS = values(st.one_of(SCALARS, st.just(EvalAny), st.sampled_from([EvalRegex("a"), EvalRegex("b"), EvalRegex("")])))
ARGS = st.dictionaries(KEYS, values(SCALARS), max_size=3)


@st.composite
def loosened(draw: st.DrawFn, value: object) -> object:
    """What matches `value`, or nearly."""
    how = draw(st.integers(0, 9))
    if how == 0:
        return draw(WANTS)
    if how == 1:
        return EvalAny
    if isinstance(value, dict):
        return {key: draw(loosened(part)) for key, part in value.items() if draw(st.integers(0, 3))}
    if isinstance(value, list):
        return [draw(loosened(part)) for part in value]
    return value


@st.composite
def asked(draw: st.DrawFn, calls: Sequence[ToolCall]) -> Alternative:
    seed = draw(st.sampled_from([each.args for each in calls] or [{}]))
    params = draw(st.one_of(st.none(), loosened(seed), st.dictionaries(KEYS, WANTS, max_size=2)))
    return Alternative(
        tool=draw(st.sampled_from("ttu")),
        params=params if isinstance(params, dict) else None,
        strict=draw(st.booleans()),
    )


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[ToolExpectation], list[ToolCall]]:
    """A few expectations, and calls that some of them match."""
    calls = draw(
        st.lists(st.builds(ToolCall, st.sampled_from("ttu"), ARGS, st.sampled_from([True] * 5 + [False])), max_size=5)
    )
    counts = st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(3, 4)))
    expectations = []
    for _ in range(draw(st.integers(0, 4))):
        few, most = draw(counts)
        if draw(st.booleans()):
            one = draw(asked(calls))
            expectations.append(
                Expect(tool=one.tool, params=one.params, strict=one.strict, min_count=few, max_count=most)
            )
        else:
            any_of = draw(st.lists(asked(calls), min_size=1, max_size=3))
            expectations.append(Expect(any_of=any_of, min_count=few, max_count=most))
    return expectations, calls


def distances(expectation: ToolExpectation, came: ToolCall) -> tuple[bool, int]:
    """Whether the tool is another one, and how many differences there are; the best of the alternatives."""

    def distance(one: Alternative) -> tuple[bool, int]:
        other = one.tool != came.name
        if not came.parsed:
            return other, 1 + other
        if one.params is None and not one.strict:
            return other, int(other)
        return other, naive(one.params or {}, came.args, one.strict) + other

    return min(map(distance, expectation.alternatives))


MATCH = (False, 0)


@given(scenes())
def test_what_matches_is_what_a_naive_matcher_says(scene: tuple[list[ToolExpectation], list[ToolCall]]) -> None:
    expectations, calls = scene
    for expectation, outcome in zip(expectations, pair(expectations, calls), strict=True):
        far = [distances(expectation, each) for each in calls]
        assert [matches(expectation, each) is None for each in calls] == [each == MATCH for each in far]
        assert outcome.matching == far.count(MATCH)
        others = [each for each in far if each != MATCH]
        if outcome.paired == expectation.min_count or not others:
            assert outcome.nearest is None
        else:
            assert outcome.nearest is not None
            assert outcome.nearest.place == far.index(min(others))
            assert repr(outcome.nearest.difference) == repr(matches(expectation, calls[outcome.nearest.place]))


# --- pairing ----------------------------------------------------------------------------------------------------------


def best(rows: Sequence[frozenset[int]]) -> int:
    """The size of the best pairing of copies to calls, by trying all."""
    if not rows:
        return 0
    without = best(rows[1:])
    return max([without, *(1 + best([row - {taken} for row in rows[1:]]) for taken in rows[0])])


@given(scenes())
def test_the_pairing_is_the_best_of_all_and_so_is_the_verdict(
    scene: tuple[list[ToolExpectation], list[ToolCall]],
) -> None:
    expectations, calls = scene
    outcomes = pair(expectations, calls)
    rows = [
        frozenset(place for place, each in enumerate(calls) if distances(expectation, each) == MATCH)
        for expectation in expectations
    ]

    def copies(counts: list[int]) -> list[frozenset[int]]:
        return [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]

    needed = copies([expectation.min_count for expectation in expectations])
    paired = [outcome.paired for outcome in outcomes]
    assert sum(paired) == best(copies(paired)) == best(needed)
    assert all(outcome.paired <= outcome.expectation.min_count for outcome in outcomes)
    within = [
        expectation.max_count is None or len(row) <= expectation.max_count
        for expectation, row in zip(expectations, rows, strict=True)
    ]
    assert all(outcome.met for outcome in outcomes) == (best(needed) == len(needed) and all(within))
    for outcome, fits in zip(outcomes, within, strict=True):
        assert outcome.met == (fits and outcome.paired == outcome.expectation.min_count)


@given(scenes(), st.randoms(use_true_random=False))
def test_the_order_of_the_expectations_decides_nothing(
    scene: tuple[list[ToolExpectation], list[ToolCall]], random: Random
) -> None:
    expectations, calls = scene
    shuffled = random.sample(expectations, len(expectations))
    assert sorted(map(repr, pair(shuffled, calls))) == sorted(map(repr, pair(expectations, calls)))


def test_a_call_is_given_up_to_whom_it_alone_serves() -> None:
    wide, narrow = choice({"id": 1}, {"id": 2}), expect(id=1)
    for order in permutations([wide, narrow]):
        assert all(outcome.met for outcome in pair(order, [call(id=1), call(id=2)]))
        (unmet,) = [outcome for outcome in pair(order, [call(id=1)]) if not outcome.met]
        assert unmet == Outcome(wide, False, (), 1, None)


def test_a_long_chain_of_calls_is_passed_on() -> None:
    chain = [choice({"id": i}, {"id": i + 1}) for i in range(50)]
    calls = [call(id=i) for i in range(1, 51)]
    for order in (chain, chain[::-1]):
        assert all(outcome.met for outcome in pair(order, calls))
        assert sum(outcome.met for outcome in pair(order, calls[:-1])) == 49


def test_two_expectations_never_share_a_call() -> None:
    same = expect(id=1)
    assert sorted(outcome.met for outcome in pair([same, same], [call(id=1)])) == [False, True]
    assert [outcome.paired for outcome in pair([same, same], [call(id=1), call(id=1)])] == [1, 1]


def test_min_count_calls_are_paired_to_one_expectation() -> None:
    twice = Expect(tool="t", params={"id": 1}, min_count=2)
    calls = [call(id=1), call(id=1)]
    assert pair([twice], calls) == (Outcome(twice, True, (0, 1), 2, None),)
    assert pair([twice], calls[1:]) == (Outcome(twice, False, (0,), 1, None),)
    outcomes = pair([twice, expect(id=1)], calls)
    assert [(outcome.met, outcome.paired) for outcome in outcomes] == [(False, 1), (True, 1)]


def test_a_min_count_beyond_all_calls_takes_those_there_are() -> None:
    assert pair([Expect(tool="t", min_count=10**12)], [call(), call()])[0].paired == 2


def test_a_min_count_of_none_is_met_by_no_call() -> None:
    never = Expect(tool="t", min_count=0, max_count=0)
    assert pair([never], []) == (Outcome(never, True, (), 0, None),)
    assert pair([never], [call()]) == (Outcome(never, False, (), 1, None),)


def test_max_count_bounds_the_calls_that_match_though_others_have_them() -> None:
    at_most = Expect(tool="t", min_count=1, max_count=2)
    rest = Expect(tool="t", params={"id": 1}, min_count=2)
    calls = [call(id=1), call(id=1), call(id=2)]
    assert [outcome.met for outcome in pair([at_most, rest], calls)] == [False, True]
    assert [outcome.met for outcome in pair([at_most], calls[1:])] == [True]


def test_the_nearest_call_has_the_fewest_differences_then_is_the_first() -> None:
    calls = [call(a=0, b=0), ToolCall("u", {"a": 1, "b": 1}), call(a=1, b=0), call(a=0, b=1)]
    (outcome,) = pair([expect(a=1, b=1)], calls)
    assert outcome.nearest == Nearest(2, Difference("params.b", 1, 0))
    (outcome,) = pair([expect(a=1, b=1)], calls[:2])
    assert outcome.nearest == Nearest(0, Difference("params.a", 1, 0))


def test_where_the_tool_was_never_called_the_nearest_is_of_another_tool() -> None:
    calls = [ToolCall("read", {"id": 2}), ToolCall("exec-ui", {"id": 1})]
    (outcome,) = pair([Expect(tool="exec_ui", params={"id": 1})], calls)
    assert outcome.nearest == Nearest(1, Difference("tool", "exec_ui", "exec-ui"))


def test_the_nearest_of_alternatives_is_told_of_the_right_tool() -> None:
    either = Expect(any_of=[Alternative(tool="u"), Alternative(tool="t", params={"a": 1, "b": 1})])
    (outcome,) = pair([either], [ToolCall("v", {}), call(a=0, b=0)])
    assert outcome.nearest == Nearest(1, Difference("params.a", 1, 0))


def test_patterns_count_in_what_is_nearest() -> None:
    calls = [call(path="bar", mode="r"), call(path="foo.ts", mode="r")]
    (outcome,) = pair([expect(path=EvalRegex("^foo"), mode="w")], calls)
    assert outcome.nearest == Nearest(1, Difference("params.mode", "w", "r"))


def test_a_pattern_that_is_not_found_counts_once() -> None:
    calls = [call(path="bar", mode="w"), call(path="foo", mode="r")]
    (outcome,) = pair([expect(path=EvalRegex("^foo"), mode="w")], calls)
    assert outcome.nearest == Nearest(0, Difference("params.path", EvalRegex("^foo"), "bar"))


@pytest.mark.parametrize("right", range(1, 8))
def test_one_difference_less_is_nearer(right: int) -> None:
    names = "abcdefgh"
    calls = [call(**dict.fromkeys(names[:has], 1)) for has in (0, right, right - 1, right)]
    (outcome,) = pair([expect(**dict.fromkeys(names, 1))], calls)
    assert outcome.nearest is not None
    assert outcome.nearest.place == 1


def test_who_needs_fewer_calls_is_served_first() -> None:
    few, many = Expect(tool="t", params={"b": 1}), Expect(tool="t", params={"a": 1}, min_count=2)
    for order in permutations([few, many]):
        outcomes = {outcome.expectation.min_count: outcome for outcome in pair(order, [call(a=1, b=1)])}
        assert outcomes[1].met
        assert outcomes[2].paired == 0


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[frozenset[int]], list[int], int]:
    """Rows of columns, what each needs, and how many columns there are."""
    columns = draw(st.integers(0, 12))
    masks = draw(st.lists(st.integers(0, (1 << columns) - 1), max_size=8))
    rows = [frozenset(column for column in range(columns) if mask >> column & 1) for mask in masks]
    return rows, [draw(st.integers(0, 3)) for _ in rows], columns


def kuhn(copies: Sequence[frozenset[int]]) -> int:
    """The size of the best pairing, as the textbook finds it."""
    taken: dict[int, int] = {}

    def served(copy: int, seen: set[int]) -> bool:
        for column in copies[copy] - seen:
            seen.add(column)
            if column not in taken or served(taken[column], seen):
                taken[column] = copy
                return True
        return False

    return sum(served(copy, set()) for copy in range(len(copies)))


@settings(max_examples=300)
@given(graphs())
def test_columns_are_assigned_as_well_as_can_be(graph: tuple[list[frozenset[int]], list[int], int]) -> None:
    rows, needs, columns = graph
    held = assigned([bits(row) for row in rows], needs, columns)
    counts = [own.bit_count() for own in held]
    assert all(set(places_of(own)) <= row for own, row in zip(held, rows, strict=True))
    assert sum(held).bit_count() == sum(counts), "no column is held twice"
    assert all(count <= need for count, need in zip(counts, needs, strict=True))

    def copies(each: Sequence[int]) -> list[frozenset[int]]:
        return [row for row, count in zip(rows, each, strict=True) for _ in range(count)]

    assert sum(counts) == kuhn(copies(counts)) == kuhn(copies(needs))
    for end in range(len(rows)):  # a row that was served keeps what it has
        first_rows = assigned([bits(row) for row in rows[:end]], needs[:end], columns)
        assert [own.bit_count() for own in first_rows] == counts[:end]


def test_nothing_is_paired_with_nothing() -> None:
    assert pair([], []) == ()
    assert pair([], [call()]) == ()
    assert pair([Expect(tool="t")], []) == (Outcome(Expect(tool="t"), False, (), 0, None),)


# --- patterns that are not decided ------------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.05)


@pytest.mark.usefixtures("hasty")
def test_a_pattern_that_is_not_decided_leaves_the_check_undecided() -> None:
    expectation = expect(id=1, text=EvalRegex(HOPELESS))
    undecided = [call(id=1, text=EVIL)]
    with pytest.raises(PatternTimeout, match=r"^/\(a\|aa\)\+\$/ at params\.text: whether the pattern is found was not"):
        pair([expectation], undecided)
    with pytest.raises(PatternTimeout):
        matches(expectation, undecided[0])
    with pytest.raises(PatternTimeout):
        in_order([expectation], undecided)


@pytest.mark.usefixtures("hasty")
def test_a_pattern_does_not_matter_where_something_else_differs() -> None:
    expectation = expect(text=EvalRegex(HOPELESS), id=1)
    calls = [call(id=2, text=EVIL), call(text=EVIL)]
    assert pair([expectation], calls)[0].nearest == Nearest(0, Difference("params.id", 1, 2))
    assert matches(expectation, calls[1]) == Difference("params.id", 1, ABSENT)
    found = pair([expect(text=EvalRegex(HOPELESS), more=EvalRegex("x"))], [call(text=EVIL, more=1)])
    assert found[0].nearest == Nearest(0, Difference("params.more", EvalRegex("x"), 1))


# --- order, and the first ---------------------------------------------------------------------------------------------


def test_an_order_may_have_other_calls_between() -> None:
    calls = [call(id=i) for i in (9, 1, 9, 2, 1, 3)]
    assert in_order([expect(id=1), expect(id=2), expect(id=3)], calls) == Order((1, 3, 5))
    assert in_order([], calls) == Order(())


def test_an_order_that_is_not_kept_names_the_call_that_stands_too_early_and_the_nearest_after() -> None:
    calls = [call(id=3), call(id=1), call(id=2)]
    nearest = Nearest(2, Difference("params.id", 3, 2))
    assert in_order([expect(id=1), expect(id=3)], calls) == Order((1,), 0, nearest)
    assert in_order([expect(id=2), expect(id=3)], calls) == Order((2,), 0, None)
    assert in_order([expect(id=4)], calls) == Order((), None, Nearest(0, Difference("params.id", 4, 3)))


def test_an_order_takes_no_call_twice() -> None:
    assert in_order([expect(id=1), expect(id=1)], [call(id=1)]) == Order((0,))
    assert in_order([expect(id=1)], []) == Order(())


@given(scenes())
def test_an_order_is_kept_where_any_choice_of_calls_keeps_it(
    scene: tuple[list[ToolExpectation], list[ToolCall]],
) -> None:
    expectations, calls = scene

    def kept(some: Sequence[ToolExpectation]) -> bool:
        return any(
            all(distances(one, each) == MATCH for one, each in zip(some, chosen, strict=True))
            for chosen in combinations(calls, len(some))
        )

    order = in_order(expectations, calls)
    longest = max(length for length in range(len(expectations) + 1) if kept(expectations[:length]))
    assert len(order.places) == longest
    assert list(order.places) == sorted(set(order.places))
    assert all(distances(expectations[i], calls[place]) == MATCH for i, place in enumerate(order.places))


def test_the_first_call_is_the_one_that_counts() -> None:
    assert first(expect(id=1), [call(id=1), call(id=2)]) is None
    assert first(expect(id=1), [call(id=2), call(id=1)]) == Difference("params.id", 1, 2)
    assert first(expect(id=1), []) == Difference("tool", "t", ABSENT)


# --- size -------------------------------------------------------------------------------------------------------------

CALLS, EXPECTATIONS = 2000, 200


def panel(i: int) -> dict[str, object]:
    return {"kind": "openPanel", "params": {"id": i, "component": f"chart:{i}", "tags": ["a", {"n": i}]}}


WIDE: dict[str, object] = {"kind": "openPanel", "params": {"id": EvalAny, "tags": ["a", {"n": EvalAny}]}}
SHAPES: list[tuple[str, Callable[[int], ToolExpectation], int]] = [
    ("all match all", lambda i: choice(WIDE, min_count=10), CALLS),
    ("one call too few", lambda i: choice(WIDE, min_count=10 + (i == 0)), CALLS),
    ("each wants all", lambda i: choice(WIDE, min_count=CALLS), CALLS),
    ("none match", lambda i: choice({"kind": "openFile", "params": {"id": -1 - i, "tags": [i]}}), 0),
    ("no such tool", lambda i: Expect(tool=f"u{i}", params=panel(i)), 0),
    ("a chain", lambda i: choice(panel(i), panel(i + 1)), EXPECTATIONS),
    ("a chain backwards", lambda i: choice(panel(EXPECTATIONS - i), panel(EXPECTATIONS - i - 1)), EXPECTATIONS),
    ("two to a call", lambda i: choice(panel(i // 2), panel(i // 2)), EXPECTATIONS // 2),
    ("strict", lambda i: Expect(tool="t", params=panel(i), strict=True), EXPECTATIONS),
    ("a pattern", lambda i: choice({"kind": EvalRegex(f"^open.{{{i}}}")}), EXPECTATIONS),
]


@pytest.mark.parametrize(("make", "most"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_2000_calls_pair_with_200_expectations_within_a_second(
    make: Callable[[int], ToolExpectation], most: int
) -> None:
    calls = [ToolCall("t", panel(i)) for i in range(CALLS)]
    expectations = [make(i) for i in range(EXPECTATIONS)]
    start = time.process_time()
    outcomes = pair(expectations, calls)
    assert time.process_time() - start < 1
    paired = sum(outcome.paired for outcome in outcomes)
    needed = sum(expectation.min_count for expectation in expectations)
    assert paired == (6 if make is SHAPES[-1][1] else min(most, needed))
