from typing import Any

import pytest
from pydantic import ValidationError

from golden.errors import Fault, SuiteError
from golden.expectation import ToolExpectation
from golden.phrase import Pattern
from golden.suite import Case, Checks, Defaults, Question, Suite, derived_id, unmet

ASKED = {"question": "What is AAPL at?", "expected_tools": ["get_quote"]}


def problems(model: type[Case | Suite], values: dict[str, Any]) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(values)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


def test_a_case_is_made_of_a_question_and_something_to_check() -> None:
    case = Case(question="What is AAPL at?", expected_tools=["get_quote"])
    assert case.id == "what-is-aapl-at"
    assert case.expected_tools == ["get_quote"]
    assert case.groundedness_threshold is None
    assert case.line is None


def test_a_suite_made_in_python_has_no_file() -> None:
    suite = Suite(cases=[Case(question="What is AAPL at?", max_tool_calls=0)])
    assert (suite.path, suite.sha256) == (None, None)


@pytest.mark.parametrize(
    "asked",
    [
        {"expected_tools": ["a"]},
        {"forbidden_tools": ["a"]},
        {"expect": [{"tool": "a", "min_count": 0, "max_count": 0}]},
        {"expect_first": {"tool": "a", "params": {"b": {"$any": True}}}},
        {"expect_order": [{"any_of": [{"tool": "a"}, {"tool": "b", "strict": True}]}]},
        {"expect_no_tool_call": True},
        {"simulated_tools": ["a"]},
        {"forbidden_phrases": ["a"]},
        {"required_phrases": [["a", {"regex": "b"}]]},
        {"groundedness_threshold": 0},
        {"max_tool_calls": 0},
        {"max_first_token_s": 0.5},
        {"max_total_s": 1},
        {"clean_stream": True},
        {"scorers": ["a:b"]},
    ],
)
def test_each_check_is_something_to_check(asked: dict[str, Any]) -> None:
    case = Case.model_validate({"question": "q", **asked})
    assert case.model_dump(exclude_unset=True) == {"id": "q", "question": "q", **asked}
    assert set(asked) <= {*Checks.model_fields, "scorers"}
    turns = [{"question": "q"}, {"question": "r", **asked}]
    if "scorers" not in asked:
        assert Case.model_validate({"turns": turns}).turns[1].model_dump(exclude_unset=True) == turns[1]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"expected_tools": [], "forbidden_phrases": [], "expect_no_tool_call": False, "groundedness_threshold": None},
        {"expect": [], "expect_first": None, "expect_order": [], "simulated_tools": [], "scorers": []},
        {"timeout_s": 3, "model": "m", "tags": ["t"], "metadata": {"a": 1}, "skip": "why", "xfail": "why"},
        {"retries": 2, "trials": 1},
    ],
)
def test_a_case_that_checks_nothing_is_refused(asked: dict[str, Any]) -> None:
    wrong = "the case checks nothing: say what must hold, for example `expected_tools`"
    assert problems(Case, {"question": "q", **asked}) == [((), wrong)]
    assert problems(Case, {"turns": [{"question": "q"}], **asked}) == [((), wrong)]


def test_a_case_that_asks_nothing_is_refused() -> None:
    wrong = "nothing is asked: give a `question`, or `turns`"
    assert problems(Case, {"id": "a", "clean_stream": True}) == [((), wrong)]


CALL = {"tool": "t"}
SAID: dict[str, Any] = {
    "expect": CALL,
    "expect_first": CALL,
    "expect_no_tool_call": True,
    "expect_order": [CALL],
    "expected_tools": ["t"],
    "question": "q",
    "retries": 1,
    "trials": 2,
    "turns": [{"question": "q"}],
}
SILENT: dict[str, Any] = {
    "expect": [],
    "expect_first": None,
    "expect_no_tool_call": False,
    "expect_order": [],
    "expected_tools": [],
    "retries": 0,
    "trials": 1,
}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expect", "expect_first"),
        ("expect", "expect_no_tool_call"),
        ("expect_first", "expect_no_tool_call"),
        ("expect_no_tool_call", "expected_tools"),
        ("expect_no_tool_call", "expect_order"),
        ("question", "turns"),
        ("retries", "trials"),
    ],
)
def test_what_excludes_what_is_refused_where_both_say_something(one: str, other: str) -> None:
    case = {"id": "a", "question": "q", "max_total_s": 9}
    if other == "turns":
        del case["question"]
    wrong = f"`{one}` and `{other}` exclude each other: keep one of them"
    assert problems(Case, {**case, one: SAID[one], other: SAID[other]}) == [((), wrong)]
    for name, silent in ((one, other), (other, one)):
        if silent in SILENT:
            made = Case.model_validate({**case, name: SAID[name], silent: SILENT[silent]})
            assert (bool(getattr(made, name)), getattr(made, silent)) == (True, SILENT[silent])
    if one in Checks.model_fields:
        turn = {"question": "q", one: SAID[one], other: SAID[other]}
        assert problems(Case, {"id": "a", "turns": [turn]}) == [(("turns", 0), wrong)]


@pytest.mark.parametrize(
    "both",
    [
        ["expect", "expect_order", "expected_tools"],
        ["expect_first", "expect_order", "expected_tools"],
    ],
)
def test_what_a_case_may_ask_of_tools_together_is_taken(both: list[str]) -> None:
    case = Case.model_validate({"question": "q", **{name: SAID[name] for name in both}})
    assert all(getattr(case, name) for name in both)


def test_one_expectation_may_stand_without_a_list() -> None:
    alone = Case.model_validate({"question": "q", "expect": CALL})
    assert alone == Case.model_validate({"question": "q", "expect": [CALL]})
    made = ToolExpectation(tool="t")
    assert Case.model_validate({"question": "q", "expect": made}) == Case(question="q", expect=[made]) == alone


@pytest.mark.parametrize("field", ["expect_first", "expect_order"])
@pytest.mark.parametrize("count", [{"min_count": 1}, {"maxCount": None}])
def test_an_expectation_of_one_call_takes_no_counts(field: str, count: dict[str, Any]) -> None:
    call = {**CALL, **count}
    for made in (call, ToolExpectation.model_validate(call)):
        ((_, problem),) = problems(Case, {"question": "q", field: made if field == "expect_first" else [made]})
        assert "has no place here: this is about one call: `expect` takes it" in problem


def test_what_is_asked_is_the_question_or_that_of_each_turn() -> None:
    turns = [{"prompt": "What is AAPL at?", "clean_stream": True}, {"question": "And MSFT?"}]
    case = Case.model_validate({"turns": turns})
    assert (case.id, case.question) == ("what-is-aapl-at", None)
    assert case.questions == ("What is AAPL at?", "And MSFT?")
    assert Case.model_validate({**case.model_dump(), "id": "what-is-aapl-at"}) == case
    assert Case(question="q", clean_stream=True).questions == ("q",)
    assert Case(turns=[Question(question="First?", clean_stream=True)]).id == "first"


PATTERN: dict[str, Any] = {"regex": "a+"}
WILD: dict[str, Any] = {"tool": "t", "params": {"a": [{"b": {"$regex": "a+"}}]}}


@pytest.mark.parametrize(
    ("asked", "has_patterns"),
    [
        ({"forbidden_phrases": [PATTERN]}, True),
        ({"required_phrases": ["a", ["b", PATTERN]]}, True),
        ({"expect": [CALL, WILD]}, True),
        ({"expect_first": WILD}, True),
        ({"expect_order": [{"any_of": [CALL, WILD]}]}, True),
        ({"expect": [{"tool": "t", "params": {"a": {"$any": True}, "b": {"$literal": {"$regex": "a+"}}}}]}, False),
        ({"required_phrases": ["a", ["b"]], "metadata": {"regex": "a+"}}, False),
    ],
)
def test_a_case_knows_whether_it_looks_for_patterns(asked: dict[str, Any], has_patterns: bool) -> None:
    assert Case.model_validate({"question": "q", **asked}).has_patterns is has_patterns
    checks = {name: value for name, value in asked.items() if name != "metadata"}
    assert Case.model_validate({"turns": [{"question": "q", **checks}]}).has_patterns is has_patterns


@pytest.mark.parametrize(
    ("question", "case_id"),
    [
        ("What is 2 plus 2?", "what-is-2-plus-2"),
        ("  ¿Qué  compré_hoy? ", "qué-compré-hoy"),
        ("Cafe\u0301", "café"),
        ("日本語は？", "日本語は"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "-c508e7"),
        ("???", "-a03b22"),
    ],
)
def test_an_id_is_made_of_the_question(question: str, case_id: str) -> None:
    assert derived_id(question) == case_id
    assert Case(question=question, clean_stream=True).id == case_id


@pytest.mark.parametrize(
    "case_id", ["a", "A b", "x" * 120, "-a", "_", "a.b", "console", "com", "com10", "é", " a", "a;b"]
)
def test_an_id_that_can_name_a_file_is_taken(case_id: str) -> None:
    assert Case(id=case_id, question="q", clean_stream=True).id == case_id


@pytest.mark.parametrize(
    ("case_id", "rule"),
    [
        ("", "has 1 to 120 characters"),
        ("x" * 121, "has 1 to 120 characters"),
        ("x\n" * 61, "has 1 to 120 characters"),
        ("a\tb", "has no control characters"),
        ("a\x7f", "has no control characters"),
        ("a\n", "has no control characters"),
        *((f"a{char}b", 'has none of / \\ : * ? " < > |') for char in '/\\:*?"<>|'),
        (".a", "does not start with a dot or end in a dot or a space"),
        ("a.", "does not start with a dot or end in a dot or a space"),
        ("a ", "does not start with a dot or end in a dot or a space"),
        *(
            (name, "is not the name of a Windows device")
            for name in ("con", "NUL", "Aux.b", "com1", "LPT9 .c", "COM²", "CONIN$")
        ),
    ],
)
def test_an_id_that_cannot_name_a_file_is_refused(case_id: str, rule: str) -> None:
    assert problems(Case, {**ASKED, "id": case_id}) == [(("id",), f"an id {rule}: give the case another `id`")]


def test_an_id_made_of_a_question_obeys_the_rules_too() -> None:
    assert problems(Case, {"question": "NUL?", "clean_stream": True})[0][0] == ("id",)


def test_ids_differ_in_more_than_case_and_composition() -> None:
    cases = [{**ASKED, "id": "Café"}, {**ASKED, "id": "other"}, {**ASKED, "id": "CAFE\u0301"}]
    wrong = "cases[2] has the id of cases[0], 'CAFE\u0301': give one of them another `id`"
    assert problems(Suite, {"cases": cases}) == [((), wrong)]


def test_the_defaults_are_merged_into_each_case_and_gone() -> None:
    suite = Suite.model_validate(
        {
            "defaults": {
                "expectedTools": ["a"],
                "forbidden_phrases": ["x", {"regex": "y"}],
                "forbidden_tools": ["b"],
                "groundedness_threshold": 0.5,
                "timeoutMs": 1500,
                "tags": ["all"],
                "skip": "not yet",
            },
            "cases": [
                {"prompt": "one"},
                {
                    "question": "two",
                    "expected_tools": [],
                    "forbiddenPhrases": ["z", "x"],
                    "forbidden_tools": [],
                    "groundedness_threshold": None,
                    "tags": ["own"],
                    "skip": None,
                },
                Case(question="three", clean_stream=True),
            ],
        }
    )
    one, two, three = suite.cases
    assert suite.defaults is None
    assert (one.expected_tools, one.forbidden_tools, one.groundedness_threshold) == (["a"], ["b"], 0.5)
    assert (one.forbidden_phrases, one.timeout_s, one.tags, one.skip) == (
        ["x", Pattern(regex="y")],
        1.5,
        ["all"],
        "not yet",
    )
    assert (two.expected_tools, two.forbidden_tools, two.groundedness_threshold) == ([], ["b"], None)
    assert (two.forbidden_phrases, two.timeout_s, two.tags, two.skip) == (
        ["z", "x", Pattern(regex="y")],
        1.5,
        ["own"],
        None,
    )
    assert (three.expected_tools, three.clean_stream) == (["a"], True)


TOOL_DEFAULTS: list[dict[str, Any]] = [
    {"expect": [CALL], "expect_order": [CALL]},
    {"expect_first": CALL, "expect_order": [CALL]},
    {"expect_no_tool_call": True},
]


@pytest.mark.parametrize("defaults", TOOL_DEFAULTS)
@pytest.mark.parametrize(
    "own",
    [
        {"expect": {"tool": "own"}},
        {"expectFirst": {"tool": "own"}},
        {"expect_order": [{"tool": "own"}]},
        {"expectNoToolCall": True},
        {"expect": []},
        {"expect_first": None},
        {"expect_order": []},
        {"expect_no_tool_call": False},
    ],
)
def test_what_a_case_expects_sets_aside_all_that_the_defaults_expect(
    defaults: dict[str, Any], own: dict[str, Any]
) -> None:
    case = {"question": "q", "max_total_s": 9, **own}
    for given in (defaults, Defaults.model_validate(defaults)):
        for made in (case, Case.model_validate(case)):
            suite = Suite.model_validate({"defaults": given, "cases": [made]})
            assert suite == Suite.model_validate({"cases": [case]})


@pytest.mark.parametrize("defaults", TOOL_DEFAULTS)
def test_a_case_that_expects_nothing_of_its_own_has_what_the_defaults_expect(defaults: dict[str, Any]) -> None:
    suite = Suite.model_validate({"defaults": defaults, "cases": [{"question": "q", "forbidden_tools": ["x"]}]})
    assert suite == Suite.model_validate({"cases": [{"question": "q", "forbidden_tools": ["x"], **defaults}]})


def test_the_defaults_of_a_case_of_turns_are_the_cases_own() -> None:
    suite = Suite.model_validate(
        {"defaults": {"expect": CALL, "xfail": "known", "retries": 2}, "cases": [{"turns": [{"question": "q"}]}]}
    )
    (case,) = suite.cases
    assert (case.expect, case.turns[0].expect) == ([ToolExpectation(tool="t")], [])
    assert (case.xfail, case.retries, case.trials) == ("known", 2, None)


def test_a_case_that_is_tried_in_one_way_sets_the_other_way_of_the_defaults_aside() -> None:
    cases = [{**ASKED, "id": "a", "trials": 3}, {**ASKED, "id": "b"}]
    suite = Suite.model_validate({"defaults": {"retries": 2}, "cases": cases})
    assert [(case.retries, case.trials) for case in suite.cases] == [(None, 3), (2, None)]


def test_a_pattern_of_the_defaults_that_a_case_has_too_is_not_added_again() -> None:
    case = {**ASKED, "forbidden_phrases": [PATTERN]}
    for given in (case, Case.model_validate(case)):
        suite = Suite.model_validate({"defaults": {"forbidden_phrases": [PATTERN, "b"]}, "cases": [given]})
        assert suite.cases[0].forbidden_phrases == [Pattern(regex="a+"), "b"]


def test_a_case_may_leave_all_its_checks_to_the_defaults() -> None:
    suite = Suite(defaults=Defaults(clean_stream=True), cases=[{"question": "q"}])  # type: ignore[list-item]  # as in a file
    assert suite.cases == [Case(question="q", clean_stream=True)]


@pytest.mark.parametrize("cases", [None, {}, "q"])
def test_defaults_without_a_list_of_cases_are_no_crash(cases: object) -> None:
    assert problems(Suite, {"defaults": {"clean_stream": True}, "cases": cases}) == [
        (("cases",), "Input should be a valid list")
    ]


def test_faults_of_the_defaults_are_in_their_place() -> None:
    (fault,) = problems(Suite, {"defaults": {"max_tool_calls": "3"}, "cases": [ASKED]})
    assert fault[0] == ("defaults", "max_tool_calls")


@pytest.mark.parametrize("identity", ["id", "question"])
def test_what_tells_a_case_from_another_is_no_default(identity: str) -> None:
    assert identity not in Defaults.model_fields


def test_both_spellings_of_a_field_are_read_but_not_together() -> None:
    assert Case.model_validate({"prompt": "q", "maxToolCalls": 1, "timeoutMs": 250}) == Case(
        question="q", max_tool_calls=1, timeout_s=0.25
    )
    assert Suite.model_validate({"prompts": [ASKED], "requiresEnv": ["A"]}).requires_env == ["A"]
    turn = {"prompt": "q", "expectFirst": {"anyOf": [CALL]}, "simulatedTools": ["t"]}
    assert Case.model_validate({"turns": [turn]}) == Case.model_validate(
        {"turns": [{"question": "q", "expect_first": {"any_of": [CALL]}, "simulated_tools": ["t"]}]}
    )
    wrong = "the same field as `maxToolCalls`, which is given too: keep one of them"
    case = {"question": "q", "maxToolCalls": 1, "max_tool_calls": 1}
    assert problems(Case, case) == [((), wrong)]
    assert problems(Suite, {"defaults": {"clean_stream": True}, "cases": [case]}) == [((), wrong)]


def test_a_time_in_milliseconds_that_is_no_number_is_left_for_the_message() -> None:
    for value in (True, "1", None, 10**400):
        case = {**ASKED, "timeoutMs": value}
        if value is None:
            assert Case.model_validate(case).timeout_s is None
        else:
            assert problems(Case, case)[0][0] == ("timeout_s",)


@pytest.mark.parametrize("values", ["text", [1]])
def test_what_is_no_object_is_no_case(values: Any) -> None:
    assert problems(Case, values)[0][0] == ()


@pytest.mark.parametrize("phrase", ["", " ", "**", "\u200b", "`_`"])
def test_a_phrase_of_which_nothing_is_left_is_refused(phrase: str) -> None:
    for field in ("forbidden_phrases", "required_phrases"):
        (fault,) = problems(Case, {"question": "q", field: [phrase]})
        assert fault[0] == (field, 0, "<phrase>")


def test_a_pattern_that_does_not_compile_is_refused_with_the_position() -> None:
    (fault,) = problems(Case, {"question": "q", "required_phrases": [["a", {"regex": "a(b"}]]})
    assert fault == (
        ("required_phrases", 0, "<any>", 1, "<pattern>", "regex"),
        "bad pattern: missing ) at position 3",
    )


def test_equality_is_of_what_is_said() -> None:
    case = Case(question="q", clean_stream=True)
    suite = Suite(cases=[case])
    assert suite == Suite(cases=[Case(question="q", id="q", clean_stream=True)]).read_from("a.json", "0" * 64)
    assert suite != Suite(cases=[Case(question="q", id="p", clean_stream=True)])
    assert case != suite


def test_a_part_made_in_python_tells_all_its_faults() -> None:
    with pytest.raises(SuiteError) as caught:
        Case(question="q")
    assert caught.value.faults == (
        Fault("Case", "the case checks nothing", "say what must hold, for example `expected_tools`"),
    )
    with pytest.raises(SuiteError) as caught:
        Case(question="q", prompt="p", maxTotalS=-1, turns=[{"question": "a", "prompt": "b", "x": 1}])  # type: ignore[call-arg,list-item]  # as in a file
    assert [fault.place for fault in caught.value.faults] == [
        "Case.prompt",
        "Case.max_total_s",
        "Case.turns.0.prompt",
        "Case.turns.0.x",
    ]


def test_variables_that_are_unset_or_empty_are_unmet() -> None:
    suite = Suite(requires_env=["A", "B", "C"], cases=[Case(question="q", clean_stream=True)])
    assert unmet(suite, {"A": "1", "B": ""}) == ["B", "C"]
    assert unmet(suite, {"A": "1", "B": "2", "C": "3"}) == []


@pytest.mark.parametrize("field", ["skip", "xfail"])
def test_a_reason_that_is_no_text_is_asked_for_in_python_too(field: str) -> None:
    given: dict[str, Any] = {field: True}
    with pytest.raises(SuiteError) as caught:
        Case(question="q", clean_stream=True, **given)
    assert [fault.remedy for fault in caught.value.faults] == ["give the reason, as text"]
