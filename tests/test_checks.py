from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.checks import Check, families
from golden.suite import Checks
from golden.transcript import Finding, Timing, ToolCall, Turn
from tests.values import covering, turn

HOPELESS = r"(x+x+)+y"
LONG = "x" * 3000


def checks(*turns: Turn, cover: Callable[[str], str] = lambda text: text, **asked: Any) -> list[Check]:
    """Every check of these turns for what is asked."""
    expect = Checks.model_validate(asked)
    return [check for family in families() for check in family(expect, turns, cover)]


def check(*turns: Turn, cover: Callable[[str], str] = lambda text: text, **asked: Any) -> Check:
    (only,) = checks(*turns, cover=cover, **asked)
    return only


def calls(*names: str) -> Turn:
    return turn(tool_calls=tuple(ToolCall(name, {}) for name in names))


# What is asked


def test_what_is_not_asked_is_not_checked() -> None:
    assert checks(turn(), calls("a", "b")) == []


@pytest.mark.parametrize(
    "field",
    [
        "expected_tools",
        "forbidden_tools",
        "expect",
        "expect_order",
        "simulated_tools",
        "forbidden_phrases",
        "required_phrases",
    ],
)
def test_an_empty_list_checks_nothing(field: str) -> None:
    asked: dict[str, Any] = {field: []}
    assert checks(turn(), **asked) == []


@pytest.mark.parametrize("field", ["expect_no_tool_call", "clean_stream"])
def test_false_checks_nothing(field: str) -> None:
    asked: dict[str, Any] = {field: False}
    assert checks(turn(), **asked) == []


def test_all_that_is_asked_is_checked_in_the_same_order_each_time() -> None:
    asked: dict[str, Any] = {
        "expected_tools": ["a"],
        "forbidden_tools": ["b"],
        "expect": {"tool": "a"},
        "expect_order": [{"tool": "a"}],
        "simulated_tools": ["a"],
        "forbidden_phrases": ["c"],
        "required_phrases": ["d"],
        "groundedness_threshold": 0.5,
        "max_tool_calls": 3,
        "max_first_token_s": 1,
        "max_total_s": 1,
        "clean_stream": True,
    }
    names = [each.name for each in checks(turn(), **asked)]
    assert sorted(names) == sorted(asked)
    assert [each.name for each in checks(turn(), **asked)] == names


# Tools


@pytest.mark.parametrize(
    ("asked", "called", "ok", "message"),
    [
        ({"expected_tools": ["a"]}, ["a"], True, "called: a"),
        ({"expected_tools": ["b", "a"]}, ["a", "c", "b", "a"], True, "called: a, c, b, a"),
        ({"expected_tools": ["a", "b"]}, ["b"], False, "expected a call of a; called: b"),
        ({"expected_tools": ["a", "b"]}, [], False, "expected a call of a, b; no tool was called"),
        ({"expected_tools": ["get_quote"]}, ["Get_Quote"], False, "expected a call of get_quote; called: Get_Quote"),
        ({"expected_tools": ["(no name)"]}, [""], False, "expected a call of (no name); called: (no name)"),
        ({"forbidden_tools": ["a"]}, [], True, "none was called; no tool was called"),
        ({"forbidden_tools": ["a"]}, ["b"], True, "none was called; called: b"),
        ({"forbidden_tools": ["a", "b", "c"]}, ["c", "a"], False, "forbidden, but called: a, c"),
        ({"expect_no_tool_call": True}, [], True, "no tool was called"),
        ({"expect_no_tool_call": True}, ["a"], False, "expected no tool call; called: a"),
        ({"expect_no_tool_call": True}, [""], False, "expected no tool call; called: (no name)"),
        ({"max_tool_calls": 2}, ["a", "a"], True, "2 calls, 2 allowed; called: a, a"),
        ({"max_tool_calls": 2}, ["a", "b", "a"], False, "3 calls, 2 allowed; called: a, b, a"),
        ({"max_tool_calls": 0}, [], True, "0 calls, 0 allowed; no tool was called"),
        ({"max_tool_calls": 0}, ["a"], False, "1 calls, 0 allowed; called: a"),
    ],
)
def test_the_tools_that_were_called_are_judged_by_name_and_number(
    asked: dict[str, Any], called: list[str], ok: bool, message: str
) -> None:
    assert check(calls(*called), **asked) == Check(next(iter(asked)), ok, message)


@pytest.mark.parametrize(
    ("asked", "ok", "message"),
    [
        ({"expect": [{"tool": "a"}, {"tool": "b"}]}, True, "all came: a; b"),
        ({"expect": {"tool": "c"}}, False, "expected c; the nearest call, 1st, a(x=1), differs at tool: "),
        ({"expect": [{"tool": "c"}, {"tool": "d"}]}, False, "expected c; "),
        ({"expect": {"tool": "c", "min_count": 0}}, True, "all came: c"),
        ({"expect": {"tool": "a", "max_count": 0, "min_count": 0}}, False, "expected at most 0 calls of a; 1 call"),
        ({"expect_first": {"tool": "a"}}, True, "the first call is a"),
        ({"expect_first": {"tool": "b"}}, False, "expected b as the first call; the first call, a(x=1), differs at "),
        ({"expect_order": [{"tool": "a"}, {"tool": "b"}]}, True, "in order: a, b"),
        ({"expect_order": [{"tool": "b"}, {"tool": "a"}]}, False, "expected a after the 2nd call, b(); the 1st call "),
        ({"expect_order": [{"tool": "a"}, {"tool": "a"}]}, False, "expected a after the 1st call, a(x=1); "),
    ],
)
def test_calls_are_matched_with_what_is_expected_of_them(asked: dict[str, Any], ok: bool, message: str) -> None:
    called = turn(tool_calls=(ToolCall("a", {"x": 1}), ToolCall("b", {})))
    found = check(called, **asked)
    assert (found.name, found.ok) == (next(iter(asked)), ok)
    assert found.message.startswith(message)


def test_every_expectation_that_is_not_met_is_told() -> None:
    message = check(calls("a"), expect=[{"tool": "c"}, {"tool": "a"}, {"tool": "d"}]).message
    assert "expected c; " in message
    assert "; expected d; " in message


@pytest.mark.parametrize("field", ["expect", "expect_first", "expect_order"])
def test_an_expectation_whose_pattern_takes_too_long_is_undecided(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.02)
    wanted: object = {"tool": "a", "params": {"x": {"$regex": HOPELESS}}}
    asked: dict[str, Any] = {field: [wanted] if field == "expect_order" else wanted}
    found = check(turn(tool_calls=(ToolCall("a", {"x": LONG}),)), **asked)
    assert (found.name, found.ok) == (field, None)
    assert "was not decided within 0.02 s" in found.message


SIMULATED = {"simulated": True, "order": 1}


@pytest.mark.parametrize(
    ("results", "ok", "told"),
    [
        ([], True, "0 calls, all simulated"),
        ([SIMULATED, SIMULATED], True, "2 calls, all simulated"),
        (['{"simulated": true}'], True, "1 calls, all simulated"),
        ([SIMULATED, {"simulated": False}], False, 'trade gave {"simulated":false}'),
        (['{"simulated": false}'], False, "trade gave"),
        ([{"simulated": 1}], False, 'trade gave {"simulated":1}'),
        ([{"simulated": "true"}], False, 'trade gave {"simulated":"true"}'),
        ([{"order": SIMULATED}], False, 'trade gave {"order":{"simulated":true,"order":1}}'),
        ([[SIMULATED]], False, 'trade gave [{"simulated":true,"order":1}]'),
        (["simulated: true"], False, 'trade gave "simulated: true"'),
        ([None], False, "trade gave no result"),
        ([{}, None], False, "trade gave {}; trade gave no result"),
        (["x" * 1000], False, f'trade gave "{"x" * 79}'),
    ],
)
def test_every_result_of_a_tool_that_must_only_pretend_says_so(results: list[object], ok: bool, told: str) -> None:
    made = turn(tool_calls=(*(ToolCall("trade", {}, result=result) for result in results), ToolCall("quote", {})))
    found = check(made, simulated_tools=["trade", "transfer"])
    assert (found.name, found.ok) == ("simulated_tools", ok)
    assert found.message.removeprefix("every result must say `simulated: true`; ").startswith(told)


def test_a_secret_in_a_result_is_covered_before_the_result_is_cut() -> None:
    secret = "an-example-of-a-secret"
    made = turn(tool_calls=(ToolCall("trade", {}, result="x" * 70 + secret),))
    assert "an-e" not in check(made, simulated_tools=["trade"], cover=covering(secret).cover).message


def test_the_tools_of_all_turns_count_together() -> None:
    assert check(calls("a"), calls("b"), expected_tools=["a", "b"]).ok
    assert check(calls("a"), calls("b"), max_tool_calls=1).ok is False


@pytest.mark.parametrize("asked", [{"expected_tools": ["get_portfolio"]}, {"forbidden_tools": ["get_portfolio"]}])
def test_a_secret_that_is_part_of_a_tools_name_does_not_change_the_verdict(asked: dict[str, Any]) -> None:
    plain, covered = (
        check(calls("get_portfolio"), cover=covering(*values).cover, **asked) for values in ((), ("portfolio",))
    )
    assert covered.ok == plain.ok


# Groundedness


@pytest.mark.parametrize(
    ("scores", "ok", "came"),
    [
        ((), False, "no score came in the stream"),
        ((0.9,), True, "the score is 0.9"),
        ((0.8,), True, "the score is 0.8"),
        ((0.7999999999,), False, "the score is 0.7999999999"),
        ((0.0,), False, "the score is 0.0"),
        ((0,), False, "the score is 0.0"),
        ((1,), True, "the score is 1.0"),
        ((1.0,), True, "the score is 1.0"),
        (("0.9",), False, 'the score is a text: "0.9"'),
        (("high",), False, 'the score is a text: "high"'),
        ((True,), False, "the score is a boolean: true"),
        ((False,), False, "the score is a boolean: false"),
        ((None,), False, "the score is no number: null"),
        ((1.7,), False, "the score is not a number from 0 to 1: 1.7"),
        ((2,), False, "the score is not a number from 0 to 1: 2"),
        ((-0.1,), False, "the score is not a number from 0 to 1: -0.1"),
        ((float("nan"),), False, "the score is not a number from 0 to 1: NaN"),
        ((float("inf"),), False, "the score is not a number from 0 to 1: Infinity"),
        ((10**4000,), False, f"the score is not a number from 0 to 1: 1{'0' * 79}"),
        (([0.9],), False, "the score is no number: [0.9]"),
        (({"a": 1},), False, 'the score is no number: {"a":1}'),
        ((0.1, 0.9), True, "the score is 0.9"),
        ((0.9, 0.1), False, "the score is 0.1"),
        ((0.9, "high"), False, 'the score is a text: "high"'),
        (("high", 0.9), True, "the score is 0.9"),
        (("x" * 1000,), False, f'the score is a text: "{"x" * 79}'),
    ],
)
def test_the_last_score_must_be_a_number_and_reach_the_threshold(
    scores: tuple[object, ...], ok: bool, came: str
) -> None:
    found = check(turn(scores=scores), groundedness_threshold=0.8)
    assert found == Check("groundedness_threshold", ok, f"0.8 expected; {came}", turn=0)


def test_a_threshold_of_0_still_wants_a_score() -> None:
    assert check(turn(scores=(0,)), groundedness_threshold=0).ok
    assert check(turn(), groundedness_threshold=0).ok is False


def test_a_score_just_under_the_threshold_is_not_told_as_equal_to_it() -> None:
    message = check(turn(scores=(2 / 3,)), groundedness_threshold=0.666667).message
    assert message == "0.666667 expected; the score is 0.6666666666666666"


def test_each_turn_has_a_threshold_and_a_place_of_its_own() -> None:
    found = checks(turn(scores=(0.9,)), turn(scores=(0.2,)), turn(), groundedness_threshold=0.5)
    assert [(each.turn, each.ok) for each in found] == [(0, True), (1, False), (2, False)]


@pytest.mark.parametrize("pad", range(60, 82))
def test_a_secret_in_a_score_is_covered_before_the_score_is_cut(pad: int) -> None:
    secret = 'it\'s "QUOTED"/\\'
    scores: tuple[object, ...] = ("a" * pad + secret,)
    message = check(turn(scores=scores), groundedness_threshold=0.5, cover=covering(secret).cover).message
    assert not set("QUOTED'\\/") & set(message.partition("text: ")[2])


# Phrases: folding


@pytest.mark.parametrize(
    "shown",
    [
        "So I don't sell-off 20 GET_QUOTE now.",
        "So I don’t sell-off 20 get_quote now.",  # curly quotes
        "So I don´t sell-off 20 get_quote now.",  # an acute accent
        "So I don't sell–off 20 get_quote now.",  # other dashes
        "So I don't sell—off 20 get_quote now.",
        "So I don't sell−off 20 get_quote now.",
        "So I don't\u00a0sell-off\u202f20\u00a0get_quote now.",  # no-break spaces
        "So I do\u200bn't se\u00adll-off 2\u20600 get_\ufeffquote now.",  # zero-width characters
        "So I ｄｏｎ＇ｔ ｓｅｌｌ－ｏｆｆ ２０ ｇｅｔ＿ｑｕｏｔｅ now.",  # full-width letters
        "So I don't\nsell-off\r\n   20\tget_quote now.",  # line wraps
        "So I **don't** _sell-off_ ***20*** `get_quote` now.",  # emphasis
        "So I DON'T Sell-Off 20 Get_Quote now.",  # case
    ],
)
def test_a_forbidden_phrase_is_found_however_it_is_written(shown: str) -> None:
    found = check(turn(shown), forbidden_phrases=["don't sell-off 20 get_quote"])
    assert (found.name, found.ok, found.hits) == ("forbidden_phrases", False, ("don't sell-off 20 get_quote",))
    assert check(turn(shown), required_phrases=["DON’T  SELL—OFF 20 `get_quote`"]).ok


def test_a_pattern_is_searched_in_the_text_as_it_was_shown() -> None:
    shown = "We **Bought** it"
    assert check(turn(shown), forbidden_phrases=[{"regex": "bought"}]).ok
    assert check(turn(shown), forbidden_phrases=[{"regex": "We bought"}]).ok
    found = check(turn(shown), forbidden_phrases=[{"regex": r"\*\*B\w+"}])
    assert (found.ok, found.hits) == (False, (r"\*\*B\w+",))
    assert found.message == r"found /\*\*B\w+/ in: We [**Bought]** it"


# Phrases: where they are looked for


def test_a_forbidden_phrase_that_was_not_shown_holds() -> None:
    found = check(turn("hold"), forbidden_phrases=["sell", {"regex": "b.y"}])
    assert found == Check("forbidden_phrases", True, "none of 2 was shown")


def test_a_forbidden_phrase_is_found_in_text_that_a_message_replaced() -> None:
    replaced = turn("I will not.", shown=("I bought it.", "I will not."))
    assert check(replaced, forbidden_phrases=["i bought"]).message == 'found "i bought" in: [I bought] it.'
    assert check(replaced, required_phrases=["i bought"]).ok is False


def test_a_phrase_that_was_shown_many_times_is_one_hit() -> None:
    repeated = turn("buy buy", shown=("buy, buy", "now buy", "buy buy"))
    found = check(repeated, repeated, forbidden_phrases=["buy"])
    assert (found.hits, found.message) == (("buy",), 'found "buy" in: [buy], buy')


def test_every_forbidden_phrase_that_was_shown_is_told() -> None:
    found = check(turn("Buy and sell."), forbidden_phrases=["sell", "hold", {"regex": "B.y"}])
    assert found.hits == ("sell", "B.y")
    assert found.message == 'found "sell" in: Buy and [sell].; /B.y/ in: [Buy] and sell.'


def test_forbidden_phrases_are_looked_for_in_every_turn_and_required_ones_in_any() -> None:
    turns = turn("one"), turn("two")
    assert check(*turns, forbidden_phrases=["two"]).hits == ("two",)
    assert check(*turns, required_phrases=["one", "two"]).ok
    assert check(*turns, required_phrases=["one two"]).ok is False


@pytest.mark.parametrize(
    ("required", "ok", "message"),
    [
        (["a"], True, "all 1 are in the answer"),
        (["a", "b"], True, "all 2 are in the answer"),
        (["x", "a", {"regex": "y+"}], False, 'not in the answer: "x"; /y+/'),
        ([["x", "b"]], True, "all 1 are in the answer"),
        ([["x", {"regex": "B"}]], True, "all 1 are in the answer"),
        ([["x", {"regex": "b"}]], False, 'not in the answer: "x" or /b/'),
        ([["x", "y"], "z"], False, 'not in the answer: "x" or "y"; "z"'),
    ],
)
def test_each_required_phrase_or_one_of_its_list_is_in_the_answer(
    required: list[object], ok: bool, message: str
) -> None:
    assert check(turn("A B"), required_phrases=required) == Check("required_phrases", ok, message)


def test_nothing_is_in_an_empty_answer() -> None:
    assert check(turn(""), required_phrases=["a"]).ok is False
    assert check(turn(""), forbidden_phrases=["a"]).ok


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("", "", "[HIT]"),
        ("b" * 40, "a" * 40, f"{'b' * 40}[HIT]{'a' * 40}"),
        ("b" * 41, "a" * 41, f"…{'b' * 40}[HIT]{'a' * 40}…"),
        ("\n", "\n", "\n[HIT]\n"),
    ],
)
def test_a_hit_is_shown_with_the_text_around_it(before: str, after: str, shown: str) -> None:
    assert check(turn(f"{before}HIT{after}"), forbidden_phrases=["hit"]).message == f'found "hit" in: {shown}'


SECRET = 'S3CR3T/VAL"É'
FORMS = [SECRET, "S3CR3T%2FVAL%22%C3%89", r"S3CR3T\/VAL\"\u00C9"]


@given(
    st.sampled_from(FORMS),
    st.sampled_from(FORMS),
    st.integers(0, 60),
    st.integers(0, 60),
    st.booleans(),
)
def test_the_text_around_a_hit_never_shows_a_part_of_a_secret(
    left: str, right: str, before: int, after: int, as_pattern: bool
) -> None:
    text = f"{left}{'a' * before} hit {'a' * after}{right}"
    phrase: object = {"regex": " hit "} if as_pattern else "hit"
    message = check(turn(text), forbidden_phrases=[phrase], cover=covering(SECRET).cover).message
    context = message.partition(" in: ")[2]
    assert set(context) <= set("ahit …[]█")


def test_a_hit_inside_a_secret_is_covered() -> None:
    message = check(turn("the QWERTZUI key"), forbidden_phrases=["ert"], cover=covering("QWERTZUI").cover).message
    assert message == 'found "ert" in: the ██[███]███ key'


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"forbidden_phrases": ["no", {"regex": HOPELESS}]}, "forbidden_phrases"),
        ({"required_phrases": [["no", {"regex": HOPELESS}]]}, "required_phrases"),
    ],
)
def test_a_pattern_that_takes_too_long_is_undecided_and_named(
    asked: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.02)
    message = f"/{HOPELESS}/: whether the pattern is found was not decided within 0.02 s"
    assert check(turn(LONG), **asked) == Check(name, None, message)


# Timing


@pytest.mark.parametrize(
    ("asked", "timing", "ok", "message"),
    [
        ({"max_first_token_s": 0.5}, Timing(0.1, 0.5, 9), True, "first token after 0.500 s, 0.5 s allowed"),
        ({"max_first_token_s": 0.5}, Timing(0.1, 0.75, 9), False, "first token after 0.750 s, 0.5 s allowed"),
        ({"max_first_token_s": 0.5}, Timing(0.1, None, 0.2), False, "0.5 s allowed; no text came at all"),
        ({"max_total_s": 2}, Timing(None, None, 2.0), True, "end after 2.000 s, 2 s allowed"),
        ({"max_total_s": 2}, Timing(None, None, 2.25), False, "end after 2.250 s, 2 s allowed"),
    ],
)
def test_a_turn_takes_no_longer_than_it_may(asked: dict[str, Any], timing: Timing, ok: bool, message: str) -> None:
    assert check(turn(timing=timing), **asked) == Check(next(iter(asked)), ok, message, turn=0)


def test_both_bounds_hold_for_each_turn() -> None:
    slow = turn(timing=Timing(1, 1, 1))
    found = checks(turn(), slow, max_first_token_s=0.75, max_total_s=1.25)
    assert [(each.name, each.turn, each.ok) for each in found] == [
        ("max_first_token_s", 0, True),
        ("max_total_s", 0, False),
        ("max_first_token_s", 1, False),
        ("max_total_s", 1, True),
    ]


# The stream


@pytest.mark.parametrize(
    "kind", ["after_end", "args_not_json", "end_not_marked", "not_json", "not_utf8", "result_without_call"]
)
def test_a_stream_that_is_not_sound_says_what_is_wrong_with_it(kind: str) -> None:
    findings = Finding(kind, "this is odd"), Finding("scores", "this is not"), Finding("not_json", "and this")
    found = checks(turn(), turn(findings=findings), clean_stream=True)
    assert found == [
        Check("clean_stream", True, "the stream was sound", turn=0),
        Check("clean_stream", False, "this is odd; and this", turn=1),
    ]


@pytest.mark.parametrize("kind", ["event_without_data", "messages", "scores", "call_id_repeated", "malformed"])
def test_what_is_merely_odd_leaves_a_stream_sound(kind: str) -> None:
    assert check(turn(findings=(Finding(kind, "odd"),)), clean_stream=True).ok


def test_findings_break_nothing_where_a_clean_stream_is_not_asked_for() -> None:
    assert checks(turn(findings=(Finding("not_json", "odd"),))) == []


def test_a_call_without_a_name_leaves_it_undecided_whether_a_forbidden_tool_was_called() -> None:
    assert check(calls(""), forbidden_tools=["delete_all"]).ok is None
    assert check(calls("", "delete_all"), forbidden_tools=["delete_all"]).ok is False


@pytest.mark.parametrize(("result", "ok"), [({"simulated": True}, None), ({"simulated": False}, False)])
def test_a_result_that_has_no_call_leaves_it_undecided_whether_all_was_simulated(
    result: object, ok: bool | None
) -> None:
    stray = (Finding("result_without_call", "a tool result has no call: 1"),)
    told = turn(tool_calls=(ToolCall("buy", {}, result=result),), findings=stray)
    assert check(told, simulated_tools=["buy"]).ok is ok
