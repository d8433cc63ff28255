import json
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from golden import jsonl
from golden.assertions import KINDS
from golden.recording import Recording
from golden.recording_schema import recording_schema
from tests.recordings import FOREIGN
from tests.test_jsonl import ASSERTIONS, CALL, END, FIRST, HEAD, META, PATIENT, RECORDINGS, TOKEN, USER

SCHEMA = Draft202012Validator(recording_schema())
RESULT = FOREIGN[3]


def accepts(line: object) -> bool:
    return not [*SCHEMA.iter_errors(line)]


@PATIENT
@given(RECORDINGS)
def test_the_schema_accepts_each_line_that_golden_writes(recording: Recording) -> None:
    assert all(map(accepts, map(json.loads, jsonl.render(recording).split("\n")[:-1])))


def test_the_schema_is_one_and_accepts_recordings_of_other_programs() -> None:
    Draft202012Validator.check_schema(recording_schema())
    assert all(map(accepts, FOREIGN))
    assert accepts({**USER, "content": [{"type": "thinking", "thinking": "hm"}]})
    assert accepts({**TOKEN, "event": None, "id": None, "more": 1})


@pytest.mark.parametrize(
    "line",
    [
        [],
        {},
        {**META, "type": "metadata"},
        {**USER, "turnIndex": -1},
        {**USER, "role": "system"},
        {**USER, "content": "text"},
        {**USER, "content": [{"type": "text"}]},
        {**USER, "content": [{"type": "toolCall", "id": "1"}]},
        {key: value for key, value in FIRST.items() if key != "tokenLedger"},
        {**FIRST, "tokenLedger": {"input": 1.5}},
        {**RESULT, "toolUseId": 3},
        {**HEAD, "status": 1000},
        {**HEAD, "headers": {"a": 1}},
        {**CALL, "event": "a\nb"},
        {**CALL, "at": -1},
        {"type": "event", "turnIndex": 1, "at": 0, "data": None},
        {**TOKEN, "data64": "aGk="},
        {**END, "by": "magic"},
        {**END, "findings": [{"kind": "odd"}]},
        {**ASSERTIONS, "assertions": [{"kind": "guessed"}]},
        {**ASSERTIONS, "assertions": [{"kind": "trace_max_turns", "max": -1}]},
        {**ASSERTIONS, "assertions": [{"kind": "tool_called", "name": "a", "min_count": "1"}]},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(line: Any) -> None:
    assert not accepts(line)


@pytest.mark.parametrize("name", KINDS)
def test_the_schema_asks_of_an_assertion_what_the_reader_asks(name: str) -> None:
    held = KINDS[name].fields
    whole = {"kind": name, **{field: "a" if kind is str else 1 for field, kind in held.items()}}
    assert accepts({**ASSERTIONS, "assertions": [whole]})
    for field in held:
        without = {key: value for key, value in whole.items() if key != field}
        assert accepts({**ASSERTIONS, "assertions": [without]}) == (field not in KINDS[name].needed)
