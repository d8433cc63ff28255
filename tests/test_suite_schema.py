from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic.alias_generators import to_camel

from golden.expectation import Alternative, ToolExpectation
from golden.suite import Case, Checks, Defaults, Question, Suite
from golden.suite_schema import suite_schema
from tests.suites import CASE, faults, in_json, parts, spelled

SCHEMA = Draft202012Validator(suite_schema())
CALL = {"tool": "t"}


@given(st.data())
def test_the_schema_accepts_what_the_loader_accepts(data: st.DataObject) -> None:
    SCHEMA.validate(in_json(data.draw(spelled(data.draw(parts())))))


def test_the_schema_is_one_and_describes_every_field() -> None:
    schema: Any = suite_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    models = {name: part for name, part in schema["$defs"].items() if name != "JsonValue"}
    for name, part in {"Suite": schema, **models}.items():
        assert part["additionalProperties"] is False
        for field, described in part["properties"].items():
            assert described["description"], f"{name}.{field}"


@pytest.mark.parametrize("model", [Case, Defaults, Question, ToolExpectation, Alternative])
def test_the_schema_has_both_spellings_of_every_field(model: type[Checks] | type[Alternative]) -> None:
    schema: Any = suite_schema()
    fields = set(model.model_fields)
    assert fields | set(map(to_camel, fields)) <= set(schema["$defs"][model.__name__]["properties"])
    assert {"question", "prompt", "id", "timeoutMs"} <= set(schema["$defs"]["Case"]["properties"])
    assert {"cases", "prompts"} <= set(schema["properties"])


@pytest.mark.parametrize(
    "fields",
    [
        {"expect": CALL},
        {"expect": [CALL, {"anyOf": [CALL], "minCount": 0, "maxCount": 2}]},
        {"expect_first": {"any_of": [{"tool": "t", "params": {"a": {"$any": True}}, "strict": True}]}},
        {"expectOrder": [CALL]},
        {"expect_first": None, "clean_stream": True},
        {"retries": 1, "trials": 1, "simulatedTools": ["t"]},
    ],
)
def test_the_schema_and_the_loader_accept(fields: dict[str, Any]) -> None:
    document = {"cases": [{"question": "q", **fields}, {"turns": [{"prompt": "p", "max_total_s": 1}], **fields}]}
    if "expect_first" in fields:
        document["cases"][1] = {"turns": [{"prompt": "p", **fields}]}
    if "retries" in fields:
        document["cases"].pop()
    SCHEMA.validate(document)
    Suite.model_validate(document)


NO_EXPECTATIONS: list[Any] = [
    {},
    None,
    "t",
    {"tool": ""},
    {"tool": "t", "any_of": [CALL]},
    {"tool": "t", "anyOf": [CALL]},
    {"any_of": []},
    {"any_of": [CALL], "anyOf": [CALL]},
    {"any_of": [{"tool": "t", "min_count": 1}]},
    {"any_of": [{}]},
    {"any_of": CALL},
    {"any_of": [CALL], "strict": True},
    {"any_of": [CALL], "params": {}},
    {"tool": "t", "min_count": -1},
    {"tool": "t", "min_count": 1, "minCount": 1},
    {"tool": "t", "params": []},
    {"tool": "t", "strict": 1},
    {"tool": "t", "parms": {}},
    [CALL, "t"],
]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"cases": []},
        {"cases": [CASE], "prompts": [CASE]},
        {"cases": [{"id": "x", "clean_stream": True}]},
        {"cases": [{**CASE, "prompt": "x"}]},
        {"cases": [{**CASE, "max_tool_calls": 1, "maxToolCalls": 1}]},
        {"cases": [{**CASE, "timeout_s": 1, "timeoutMs": 1}]},
        {"cases": [{**CASE, "expected_tools": "x"}]},
        {"cases": [{**CASE, "expected_tools": [""]}]},
        {"cases": [{**CASE, "groundedness_threshold": 1.1}]},
        {"cases": [{**CASE, "timeoutMs": 0}]},
        {"cases": [{**CASE, "skip": True}]},
        {"cases": [{**CASE, "xfail": True}]},
        {"cases": [{**CASE, "scorers": ["module.name"]}]},
        {"cases": [{**CASE, "retries": -1}]},
        {"cases": [{**CASE, "trials": 0}]},
        {"cases": [{**CASE, "forbidden_phrases": [{"regexp": "x"}]}]},
        {"cases": [{**CASE, "forbidden_phrases": [["x"]]}]},
        {"cases": [{**CASE, "required_phrases": [[]]}]},
        {"cases": [CASE], "defaults": {"id": "x"}},
        {"cases": [CASE], "defaults": {"turns": [{"question": "x"}]}},
        {"cases": [CASE], "version": 2},
        {"cases": [CASE], "unknown": 2},
        {"cases": [{**CASE, "turns": [{"question": "x"}]}]},
        {"cases": [{"prompt": "q", "clean_stream": True, "turns": [{"question": "x"}]}]},
        {"cases": [{"clean_stream": True, "turns": []}]},
        {"cases": [{"clean_stream": True, "turns": {"question": "x"}}]},
        {"cases": [{"clean_stream": True, "turns": [{"question": "x"}, {}]}]},
        {"cases": [{"clean_stream": True, "turns": [{"question": "x", "prompt": "x"}]}]},
        {"cases": [{"clean_stream": True, "turns": [{"question": "x", "retries": 1}]}]},
        {"cases": [{"clean_stream": True, "turns": [{"question": "x", "id": "x"}]}]},
        *({"cases": [{**CASE, "id": case_id}]} for case_id in ("", "x" * 121, "a/b", ".a", "a.", "a ")),
        *({"cases": [{**CASE, "expect": expect}]} for expect in NO_EXPECTATIONS),
        {"cases": [{**CASE, "expect_first": [CALL]}]},
        {"cases": [{**CASE, "expect_first": {"tool": "t", "min_count": 1}}]},
        {"cases": [{**CASE, "expectFirst": {"tool": "t", "maxCount": 1}}]},
        {"cases": [{**CASE, "expect_order": [{"tool": "t", "minCount": 1}]}]},
        {"cases": [{**CASE, "expect_order": CALL}]},
        {
            "cases": [
                {"clean_stream": True, "turns": [{"question": "x", "expect_first": {"tool": "t", "max_count": 1}}]}
            ]
        },
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(tmp_path: Any, document: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(document)
    assert faults(tmp_path, document)
