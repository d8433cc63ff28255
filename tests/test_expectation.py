import re
from typing import Any

import pytest
from pydantic import ValidationError

from golden.errors import SuiteError
from golden.expectation import Alternative, ToolExpectation
from golden.wildcards import EvalAny, EvalRegex


def faults(**fields: Any) -> list[tuple[str, str]]:
    with pytest.raises(SuiteError) as caught:
        ToolExpectation(**fields)
    return [(fault.place, fault.problem) for fault in caught.value.faults]


def test_an_expectation_is_one_alternative_or_several() -> None:
    one = Alternative(tool="t", params={"a": 1}, strict=True)
    assert ToolExpectation(tool="t", params={"a": 1}, strict=True).alternatives == (one,)
    assert ToolExpectation(any_of=[one, Alternative(tool="u")]).alternatives == (one, Alternative(tool="u"))


def test_a_call_is_expected_once_and_has_no_bound_where_nothing_else_is_said() -> None:
    expectation = ToolExpectation(tool="t")
    assert (expectation.min_count, expectation.max_count) == (1, None)
    assert (expectation.params, expectation.strict) == (None, False)


def test_wildcards_of_python_and_of_json_are_the_same() -> None:
    python = ToolExpectation(tool="t", params={"id": EvalAny, "names": [EvalRegex("^chart:")]})
    assert python.params == {"id": EvalAny, "names": [EvalRegex("^chart:")]}
    assert python == ToolExpectation(tool="t", params={"id": {"$any": True}, "names": [{"$regex": "^chart:"}]})


def test_a_literal_is_what_stands_in_it() -> None:
    literal = ToolExpectation(tool="t", params={"$literal": {"$any": True}})
    assert literal.params == {"$any": True}
    assert literal != ToolExpectation(tool="t", params={"id": {"$any": True}})


@pytest.mark.parametrize(
    "params",
    [None, {}, {"a": EvalAny, "b": [EvalRegex("x")]}, {"$literal": {"$x": 1}}, {"a": {"$literal": {"$any": 1}}}],
)
def test_what_is_dumped_is_read_back_equal(params: dict[str, Any] | None) -> None:
    expectation = ToolExpectation(any_of=[Alternative(tool="t", params=params)], min_count=0, max_count=3)
    assert ToolExpectation.model_validate(expectation.model_dump()) == expectation
    assert ToolExpectation.model_validate_json(expectation.model_dump_json(exclude_defaults=True)) == expectation


def test_params_are_a_copy_and_what_is_expected_does_not_change() -> None:
    params: dict[str, Any] = {"a": [1]}
    expectation = ToolExpectation(tool="t", params=params)
    params["a"].append(2)
    assert expectation.params == {"a": [1]}
    with pytest.raises(ValidationError, match="frozen"):
        expectation.tool = "u"


def test_both_spellings_are_read() -> None:
    data = {"anyOf": [{"tool": "t"}], "minCount": 0, "maxCount": 1}
    assert ToolExpectation.model_validate(data) == ToolExpectation(
        any_of=[Alternative(tool="t")], min_count=0, max_count=1
    )


@pytest.mark.parametrize(
    ("fields", "place", "problem"),
    [
        ({}, "", "it expects nothing"),
        ({"params": {}}, "", "it expects nothing"),
        ({"any_of": []}, ".any_of", "List should have at least 1 item"),
        ({"tool": "t", "any_of": [Alternative(tool="t")]}, "", "`any_of` stands beside `tool`, `params` or `strict`"),
        ({"params": {}, "any_of": [Alternative(tool="t")]}, "", "`any_of` stands beside `tool`, `params` or `strict`"),
        (
            {"strict": True, "any_of": [Alternative(tool="t")]},
            "",
            "`any_of` stands beside `tool`, `params` or `strict`",
        ),
        ({"any_of": [{"tool": "t", "min_count": 1}]}, ".any_of.0.min_count", "unknown field"),
        ({"tool": "t", "min_count": 2, "max_count": 1}, "", "`min_count` 2 is more than `max_count` 1"),
        ({"tool": " "}, ".tool", "String should match pattern"),
        ({"tool": "t", "params": {"a": [EvalRegex("(")]}}, ".params.a.0", "bad pattern: missing ) at position 1"),
        ({"tool": "t", "params": {"a": {"$any": 1}}}, ".params.a", "`$any` takes true, not 1"),
        ({"tool": "t", "params": EvalAny}, ".params", "Input should be a valid dictionary"),
        ({"tool": "t", "params": {"$any": True}}, ".params", "a wildcard stands for all arguments"),
        ({"tool": "t", "maxCount": 1, "max_count": 1}, ".max_count", "the same field as `maxCount`"),
    ],
)
def test_what_expects_nothing_that_can_be_is_refused(fields: dict[str, Any], place: str, problem: str) -> None:
    ((where, what),) = faults(**fields)
    assert where == f"ToolExpectation{place}"
    assert what.startswith(problem)


def test_all_faults_come_at_once() -> None:
    fields = {"tool": 3, "params": {"a": {"$x": 1}, "b": {"$any": 0}}, "minCount": -1, "min_count": 1, "max": 2}
    assert [place.removeprefix("ToolExpectation.") for place, _ in faults(**fields)] == [
        "min_count",
        "tool",
        "params.a",
        "params.b",
        "min_count",
        "max",
    ]


def test_a_pattern_that_is_no_text_is_refused_as_everything_else_is() -> None:
    with pytest.raises(SuiteError, match=r"params\.a: a pattern is a string, not int"):
        ToolExpectation(tool="t", params={"a": EvalRegex(5)})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [re.compile("^/"), {1}, object(), EvalRegex])
def test_what_json_cannot_say_is_refused_in_params(value: object) -> None:
    with pytest.raises(SuiteError, match=r"params\.path: JSON has no value like"):
        ToolExpectation(tool="rm", params={"path": value}, min_count=0, max_count=0)
