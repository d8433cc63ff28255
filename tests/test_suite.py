from typing import Any

import pytest
from pydantic import ValidationError

from golden.suite import WRONG, Case, Checks, Defaults, Pattern, Suite, derived_id, unmet

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
        {"expect_no_tool_call": True},
        {"forbidden_phrases": ["a"]},
        {"required_phrases": [["a", {"regex": "b"}]]},
        {"groundedness_threshold": 0},
        {"max_tool_calls": 0},
        {"max_first_token_s": 0.5},
        {"max_total_s": 1},
        {"clean_stream": True},
    ],
)
def test_each_check_is_something_to_check(asked: dict[str, Any]) -> None:
    case = Case.model_validate({"question": "q", **asked})
    assert case.model_dump(exclude_unset=True) == {"id": "q", "question": "q", **asked}
    assert set(asked) <= set(Checks.model_fields)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"expected_tools": [], "forbidden_phrases": [], "expect_no_tool_call": False, "groundedness_threshold": None},
        {"timeout_s": 3, "model": "m", "tags": ["t"], "metadata": {"a": 1}, "skip": "why"},
    ],
)
def test_a_case_that_checks_nothing_is_refused(asked: dict[str, Any]) -> None:
    wrong = "the case checks nothing: say what must hold, for example `expected_tools`"
    assert problems(Case, {"question": "q", **asked}) == [((), wrong)]


def test_no_tool_call_and_tools_exclude_each_other() -> None:
    wrong = "`expect_no_tool_call` and `expected_tools` exclude each other: keep one of them"
    assert problems(Case, {**ASKED, "expect_no_tool_call": True}) == [((), wrong)]
    assert Case.model_validate({**ASKED, "expect_no_tool_call": False}).expected_tools == ["get_quote"]


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
    wrong = "`max_tool_calls` and `maxToolCalls` are the same field: keep one of them"
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


def test_our_own_faults_carry_the_remedy() -> None:
    with pytest.raises(ValidationError) as caught:
        Case(question="q")
    (error,) = caught.value.errors()
    assert error["type"] == WRONG
    assert error["ctx"]["remedy"] == "say what must hold, for example `expected_tools`"


def test_variables_that_are_unset_or_empty_are_unmet() -> None:
    suite = Suite(requires_env=["A", "B", "C"], cases=[Case(question="q", clean_stream=True)])
    assert unmet(suite, {"A": "1", "B": ""}) == ["B", "C"]
    assert unmet(suite, {"A": "1", "B": "2", "C": "3"}) == []
