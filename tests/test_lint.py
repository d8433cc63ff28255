import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from golden.errors import Fault
from golden.expectation import Alternative, ToolExpectation
from golden.lint import lint
from golden.suite import Case, Suite
from golden.suite_file import load_suite

DEMO = Path(__file__).parents[1] / "golden_questions.json"


def either(*tools: str, **counts: Any) -> ToolExpectation:
    """An expectation of a call of one of these."""
    return ToolExpectation(any_of=[Alternative(tool=tool) for tool in tools], **counts)


A, B = ToolExpectation(tool="alpha"), ToolExpectation(tool="beta")


def suite_of(*cases: dict[str, Any], path: str | None = "s.json", **header: Any) -> Suite:
    """A suite of cases that ask different things and check something harmless, where they say nothing else."""
    plain = [
        {"id": f"c{i}", "max_tool_calls": 9} | ({} if "turns" in case else {"question": f"What is {i}?"}) | case
        for i, case in enumerate(cases)
    ]
    suite = Suite(cases=[Case.model_validate(case) for case in plain], **header)
    return suite if path is None else suite.read_from(path, "")


def told(*cases: dict[str, Any], called: Collection[str] | None = None, **header: Any) -> list[Fault]:
    return lint([suite_of(*cases, **header)], called)


def only(*cases: dict[str, Any], called: Collection[str] | None = None) -> tuple[str, str, str]:
    (fault,) = told(*cases, called=called)
    return fault


def field(*cases: dict[str, Any], called: Collection[str] | None = None) -> str:
    """The field of the only warning of `cases[0] "c0"`."""
    place = only(*cases, called=called)[0]
    assert place.startswith('s.json: cases[0] "c0": ')
    return place.removeprefix('s.json: cases[0] "c0": ')


def test_the_suite_of_the_demo_is_told_nothing() -> None:
    suite = load_suite(DEMO)
    tools = {tool for case in suite.cases for tool in case.expected_tools}
    assert lint([suite]) == lint([suite], tools) == []


# Phrases


def test_a_phrase_is_told_that_is_not_found_in_a_text_that_says_what_it_folds_to() -> None:
    assert only({"forbidden_phrases": ["fine", "＿x"]}) == (
        's.json: cases[0] "c0": forbidden_phrases[1]',
        '"＿x" folds to "_x", and is not found in a text that says just that',
        "write it without its rare characters",
    )


@pytest.mark.parametrize("phrase", ["**bold**", "get_quote", "“Buy” — now…", "10²", "__init__", "２＊３", "İstanbul"])
def test_a_phrase_of_marks_that_fold_away_is_told_nothing(phrase: str) -> None:
    assert told({"required_phrases": [phrase]}) == []


@pytest.mark.parametrize("phrase", [r"\bbuy\b", "(?i)buy", r"\d+ shares", "you should.*buy", r"buy\s*now", "(?:buy)"])
def test_a_phrase_that_looks_like_a_pattern_is_told_how_to_write_one(phrase: str) -> None:
    place, problem, remedy = only({"required_phrases": ["fine", ["also fine", phrase]]})
    assert place == 's.json: cases[0] "c0": required_phrases[1][1]'
    assert problem.endswith("is a phrase, and looks like a pattern: its signs are looked for as they stand")
    assert remedy.startswith('for a pattern write {"regex": "')
    assert told({"required_phrases": [{"regex": phrase}]}) == []


@pytest.mark.parametrize(
    "phrase", [r"C:\data", r"\beta", "**Done.** Next", "*Note.*", "why (?)", "a.b", "[x](y)", "$5?"]
)
def test_a_phrase_of_signs_that_are_text_is_told_nothing(phrase: str) -> None:
    assert told({"required_phrases": [phrase]}) == []


def test_a_forbidden_phrase_is_told_that_holds_another() -> None:
    assert only({"forbidden_phrases": ["Order placed today", "order  PLACED"]}) == (
        's.json: cases[0] "c0": forbidden_phrases[0]',
        '"Order placed today" adds nothing: it is found only where the forbidden "order  PLACED" is',
        "keep one of them",
    )


@pytest.mark.parametrize("pair", [["Don't", "don’t"], [{"regex": "x+"}, {"regex": "x+"}]])
def test_of_two_equal_forbidden_phrases_the_second_is_told(pair: list[object]) -> None:
    assert field({"forbidden_phrases": pair}) == "forbidden_phrases[1]"


def test_a_forbidden_phrase_of_a_turn_is_told_that_holds_one_of_its_case() -> None:
    turns = [{"question": "a"}, {"question": "b", "forbidden_phrases": ["sell", "buy now"]}]
    assert field({"forbidden_phrases": ["buy"], "turns": turns}) == "turns[1].forbidden_phrases[1]"


def test_forbidden_phrases_that_do_not_hold_one_another_are_told_nothing() -> None:
    turns = [{"question": q, "forbidden_phrases": ["buy", {"regex": "buy"}]} for q in "ab"]
    assert told({"forbidden_phrases": ["sell", "buy it"], "turns": turns}) == []


def test_a_required_phrase_is_told_that_holds_a_forbidden_one() -> None:
    assert only({"forbidden_phrases": ["buy"], "required_phrases": ["sell", "BUY or sell"]}) == (
        's.json: cases[0] "c0": required_phrases[1]',
        '"BUY or sell" is required, and where it is found the forbidden "buy" is found too',
        "keep one of them",
    )


@pytest.mark.parametrize("phrase", ["buy", {"regex": "buy"}])
def test_a_phrase_is_told_that_is_required_and_forbidden(phrase: object) -> None:
    case = {"forbidden_phrases": [phrase], "required_phrases": [["hold", phrase]]}
    assert field(case) == "required_phrases[0][1]"


def test_what_a_turn_requires_is_told_where_its_case_forbids_it() -> None:
    turns = [{"question": "a", "required_phrases": ["buy"]}]
    assert field({"forbidden_phrases": ["buy"], "turns": turns}) == "turns[0].required_phrases[0]"


def test_what_one_turn_forbids_another_turn_and_the_case_may_require() -> None:
    turns = [{"question": "a", "forbidden_phrases": ["buy"]}, {"question": "b", "required_phrases": ["buy"]}]
    assert told({"required_phrases": ["buy"], "turns": turns}) == []


# Patterns


@pytest.mark.parametrize(
    ("kind", "always"), [("forbidden_phrases", "always fails"), ("required_phrases", "always holds")]
)
def test_a_pattern_that_matches_the_empty_text_is_told(kind: str, always: str) -> None:
    assert only({kind: [{"regex": "(?:buy)*"}]}) == (
        f's.json: cases[0] "c0": {kind}[0]',
        f"/(?:buy)*/ matches the empty text, so it is found in any: the check {always}",
        "let it need at least one character",
    )


@pytest.mark.parametrize("regex", ["", "x*", "buy|", r"(\d+)?", "(?!.*buy)", ".*", "$", "(?i)sell?|"])
def test_a_pattern_that_is_found_in_any_text_is_told(regex: str) -> None:
    assert field({"forbidden_phrases": [{"regex": regex}]}) == "forbidden_phrases[0]"


@pytest.mark.parametrize(
    "regex",
    ["^$", "^(?!.*buy)", r"(?s)\A(?!.*\d)", "^.{0,500}$", "^$|error", "buy"],
)
def test_a_pattern_that_some_texts_lack_is_told_nothing(regex: str) -> None:
    assert told({"required_phrases": [{"regex": regex}]}) == []


def test_a_pattern_that_takes_too_long_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.05)
    assert told({"required_phrases": [{"regex": r"^$|^(?:.|\ue000)*(?:.|..)*[bc]$"}]}) == []


@pytest.mark.parametrize(
    ("regex", "quote", "remedy"),
    [
        ("don't", "'", "write ['’]"),
        ('"buy"', '"', 'write ["“”]'),
        ("[a'] I['’]ve", "'", "write ['’]"),
        (r"can't|won\u2019t", "'", "write ['’]"),
    ],
)
def test_a_straight_quote_in_a_pattern_is_told(regex: str, quote: str, remedy: str) -> None:
    place, problem, told_remedy = only({"required_phrases": [{"regex": regex}]})
    assert place == 's.json: cases[0] "c0": required_phrases[0]'
    assert problem.endswith(f"has a straight {quote}, and the text it runs on may have a curly one")
    assert told_remedy == remedy


@pytest.mark.parametrize("regex", ["don['’]t", r"don['\u2019]t", "(?:'|’)", '(?:”|")', '["“”]buy["“”]', "don.t", "’"])
def test_a_pattern_that_reads_both_quotes_is_told_nothing(regex: str) -> None:
    assert told({"required_phrases": [{"regex": regex}]}) == []


def test_a_straight_quote_in_a_phrase_is_told_nothing() -> None:
    assert told({"required_phrases": ["don't", '"buy"']}) == []


# Tools


@pytest.mark.parametrize(
    ("expected", "where"),
    [
        ({"expected_tools": ["beta", "alpha"]}, "expected_tools[1]"),
        ({"expect": [B, A]}, "expect[1]"),
        ({"expect_first": A}, "expect_first"),
        ({"expect_order": [B, A]}, "expect_order[1]"),
        ({"turns": [{"question": "a", "expect_first": A}]}, "turns[0].expect_first"),
    ],
)
def test_a_tool_that_is_expected_and_forbidden_is_told(expected: dict[str, Any], where: str) -> None:
    place, problem, remedy = only({"forbidden_tools": ["alpha"], **expected})
    assert place == f's.json: cases[0] "c0": {where}'
    assert problem == '"alpha" is expected and forbidden: no answer passes'
    assert remedy == "keep one of them"


def test_an_expectation_is_told_all_of_whose_alternatives_are_forbidden() -> None:
    case = {"forbidden_tools": ["alpha", "beta"], "expect": [either("alpha", "beta")]}
    assert only(case)[1] == '"alpha" or "beta" is expected and forbidden: no answer passes'


@pytest.mark.parametrize(
    "case",
    [
        {"forbidden_tools": ["alpha"], "expect": [either("alpha", "beta")]},
        {"forbidden_tools": ["alpha"], "expect": [either("alpha", min_count=0, max_count=2)]},
        {"expected_tools": ["alpha"], "turns": [{"question": "a", "forbidden_tools": ["alpha"]}, {"question": "b"}]},
    ],
)
def test_an_expectation_that_can_be_met_is_told_nothing(case: dict[str, Any]) -> None:
    assert told(case) == []


def test_a_tool_that_no_other_case_names_is_told_with_the_nearest() -> None:
    cases = [{"expected_tools": ["get_quote"]}] * 2 + [{"expected_tools": ["get_quotes"]}] * 2
    assert only({"expected_tools": ["get_qoute"]}, *cases) == (
        's.json: cases[0] "c0": expected_tools[0]',
        'no other case names the tool "get_qoute"',
        "did you mean 'get_quote'?",
    )


@pytest.mark.parametrize("name", ["getQuote", "GET-QUOTE", "get_quot", "getquote", "get_quote_"])
def test_a_name_in_other_spelling_is_near(name: str) -> None:
    assert only({"expected_tools": ["get_quote"]}, {"expect_first": either(name)})[2] == "did you mean 'get_quote'?"


@pytest.mark.parametrize(
    "name",
    ["set_quote", "get_news", "get_quote_history", "quote", "get_qute_now", "tool_2", "get_portfolio", "gets_quotes"],
)
def test_a_name_of_another_tool_is_not_near(name: str) -> None:
    assert told({"expected_tools": ["get_quote", "tool_1"]}, {"expected_tools": [name]}) == []


def test_of_two_tools_that_are_near_one_another_the_later_is_told() -> None:
    (fault,) = told({"expected_tools": ["get_quote"]}, {"expected_tools": ["get_quotes"]})
    assert fault.place == 's.json: cases[1] "c1": expected_tools[0]'


def test_two_tools_that_one_case_names_are_two() -> None:
    both = {"expected_tools": ["get_quote"], "forbidden_tools": ["get_quotes"]}
    assert told(both, {"expected_tools": ["get_quote"]}) == []


@pytest.mark.parametrize("check", ["forbidden_tools", "simulated_tools"])
def test_a_tool_that_is_misspelled_where_no_call_is_needed_is_told_though_all_cases_name_it(check: str) -> None:
    cases: list[dict[str, Any]] = [{check: ["get_qoute"]}, {check: ["get_qoute"], "expected_tools": ["get_quote"]}]
    assert only({check: ["get_qoute"]}, {**cases[1], check: []}) == (
        f's.json: cases[0] "c0": {check}[0]',
        'no other case expects the tool "get_qoute"',
        "did you mean 'get_quote'? a misspelled tool is never called, so the check would always hold",
    )
    assert only(*cases)[0] == f's.json: cases[0] "c0": {check}[0]'


def test_a_tool_that_is_forbidden_everywhere_and_near_none_is_told_nothing() -> None:
    cases: list[dict[str, Any]] = [{"forbidden_tools": ["place_order"], "expected_tools": ["get_quote"]}] * 2
    assert told(*cases) == told(*cases, called=["get_quote"]) == []


def test_a_tool_that_another_suite_names_is_known() -> None:
    one = suite_of({"expected_tools": ["get_quote"]}, {"question": "a", "expected_tools": ["get_quotes"]})
    two = suite_of(
        {"question": "b", "expected_tools": ["get_quotes"]}, {"question": "c", "expected_tools": ["get_quote"]}
    )
    assert len(lint([one])) == 1
    assert lint([one, two]) == []


def test_a_tool_that_was_called_is_known() -> None:
    cases = [{"expected_tools": ["get_quote"]}, {"expected_tools": ["get_quotes"]}]
    assert told(*cases, called=["get_quotes", "get_quote"]) == []


def test_a_tool_that_was_never_called_and_no_other_case_names_is_told() -> None:
    assert only({"expected_tools": ["history"]}, called=["get_quote"]) == (
        's.json: cases[0] "c0": expected_tools[0]',
        'no other case names the tool "history", and no call of it is in the results',
        "",
    )
    assert only({"expected_tools": ["gets_quotes"]}, called=["get_quote"])[2] == "did you mean 'get_quote'?"
    assert only({"forbidden_tools": ["history"]}, called=[]) == (
        's.json: cases[0] "c0": forbidden_tools[0]',
        'no other case expects the tool "history", and no call of it is in the results',
        "a misspelled tool is never called, so the check would always hold",
    )


# The case


@pytest.mark.parametrize("threshold", [0, 0.0])
def test_a_threshold_of_0_is_told(threshold: float) -> None:
    assert only({"groundedness_threshold": threshold}) == (
        's.json: cases[0] "c0": groundedness_threshold',
        "every score is at least 0: all that is asked is that a valid one comes",
        "raise it, or leave it out to check no groundedness",
    )
    assert told({"groundedness_threshold": 0.01}) == []


def test_the_checks_of_a_turn_are_told_in_their_place() -> None:
    turns = [{"question": "a"}, {"question": "b", "groundedness_threshold": 0}]
    assert field({"turns": turns}) == "turns[1].groundedness_threshold"


def test_a_skipped_case_is_told_with_its_reason() -> None:
    assert only({"skip": "no key", "turns": [{"question": "a"}]}, {}) == (
        's.json: cases[0] "c0": skip',
        'the case never runs: "no key"',
        "remove it when its reason is gone",
    )


def test_a_suite_whose_cases_are_all_skipped_is_told_once() -> None:
    assert only({"skip": "no key"}, {"skip": "flaky"}, {"skip": "no key"}) == (
        "s.json",
        "every case is skipped: nothing of the suite runs",
        "remove `skip` where its reason is gone",
    )


def test_a_question_that_was_asked_before_is_told_with_the_first_case() -> None:
    (fault,) = told({"question": "How's Cafe\u0301?"}, {"question": " how's\nCAFÉ? "})
    assert fault == (
        's.json: cases[1] "c1"',
        'asks the same as s.json: cases[0] "c0"',
        "one case can hold the checks of both",
    )


def test_a_question_that_another_suite_asks_is_told() -> None:
    one, two = suite_of({}), suite_of({}, path="t.json")
    assert [fault[:2] for fault in lint([one, two])] == [
        ('t.json: cases[0] "c0"', 'asks the same as s.json: cases[0] "c0"')
    ]


def test_the_same_turns_are_told_and_others_are_not() -> None:
    one, two, three = ({"turns": [{"question": q} for q in turns]} for turns in ("ab", "ac", "ab"))
    (fault,) = told(one, two, three)
    assert fault.place == 's.json: cases[2] "c2"'


@pytest.mark.parametrize("other", [{"model": "m2"}, {"system_prompt": ""}])
def test_a_question_to_another_model_or_after_another_prompt_is_another(other: dict[str, Any]) -> None:
    header = {"model": "m", "system_prompt": "Be brief."}
    same = {"question": "x"}
    assert told(same, {**same, **other}, **header) == []
    assert len(told(same, {**same, **header}, **header)) == 1


# Places


def test_what_many_cases_have_in_common_is_told_once() -> None:
    shared = {"groundedness_threshold": 0}
    assert [fault.problem.partition(" (")[2] for fault in told(*[shared] * 2)] == ["and in 1 other place)"]
    assert [fault.problem.partition(" (")[2] for fault in told(*[shared] * 3)] == ["and in 2 other places)"]
    assert len(lint([suite_of(shared), suite_of({"question": "a", **shared})])) == 2


def test_warnings_stand_in_the_order_of_the_cases() -> None:
    cases: list[dict[str, Any]] = [
        {"groundedness_threshold": 0},
        {"required_phrases": [{"regex": "x*"}]},
        {"skip": "later"},
    ]
    assert [fault.place[:17] for fault in told(*cases)] == [f"s.json: cases[{i}] " for i in range(3)]


def test_a_place_has_the_line_where_it_is_known() -> None:
    suite = suite_of({"groundedness_threshold": 0})
    suite.cases[0]._line = 12
    assert lint([suite])[0].place == 's.json:12: cases[0] "c0": groundedness_threshold'


def test_a_suite_that_is_no_file_has_places_too() -> None:
    assert told({"groundedness_threshold": 0}, path=None)[0].place == 'suite: cases[0] "c0": groundedness_threshold'


def test_what_would_steer_a_terminal_is_shown_escaped() -> None:
    (fault,) = told({"required_phrases": [{"regex": "\x1b*"}]})
    assert "\x1b" not in fault.problem
    assert fault.problem.startswith(r"/\u001b*/ matches")


def test_a_thousand_cases_with_many_defaults_take_little_time() -> None:
    shared = {
        "forbidden_phrases": [f"never say {i} again" for i in range(30)],
        "forbidden_tools": [f"forbidden_{word}" for word in ("order", "transfer", "sale", "loan")],
    }
    suite = suite_of(*({**shared, "expected_tools": [f"tool_{chr(97 + i % 26)}"]} for i in range(1000)))
    begin = time.process_time()
    assert lint([suite], ["tool_a"]) == []
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("case", "place", "problem"),
    [
        ({"expect": {"tool": "a", "min_count": 0}}, "expect[0]", "`min_count: 0` alone"),
        ({"max_tool_calls": 0, "expected_tools": ["a"]}, '"c0"', "no call is allowed, and one is expected"),
        (
            {"question": None, "expect_no_tool_call": True, "turns": [{"question": "q", "expect": {"tool": "a"}}]},
            '"c0"',
            "no call is allowed, and one is expected",
        ),
    ],
)
def test_what_holds_always_or_never_is_told(case: dict[str, object], place: str, problem: str) -> None:
    (fault,) = told(case)
    assert fault.place.endswith(place)
    assert fault.problem.startswith(problem)
