from typing import Any

import pytest

from golden.assertions import fault, judge
from golden.recording import Called, Message

TALK = (
    Message("user", ("Set up a team.",)),
    Message(
        "assistant", ("Hiring ", Called("1", "hire", {"who": {"name": "Ada"}, "tags": ["a", "b"], "n": 3}), "now.")
    ),
    Message("toolResult", ("hired Ada",), call_id="1"),
    Message("assistant", (Called("2", "fire", {}), Called("3", "hire", "no JSON"), "Done.")),
)


def assertion(kind: str, **fields: object) -> dict[str, object]:
    return {"kind": kind, **fields}


@pytest.mark.parametrize(
    ("asked", "ok", "said"),
    [
        (assertion("tool_called", name="hire"), True, "'hire' was called 2 times"),
        (assertion("tool_called", name="fly"), False, "'fly' was called 0 times, expected at least 1"),
        (assertion("tool_called", name="fly", min_count=0), True, ""),
        (assertion("tool_called", name="hire", min_count=3), False, "expected at least 3"),
        (assertion("tool_called", name="hire", min_count=1, max_count=1), False, "2 times, expected 1 to 1"),
        (assertion("tool_called", name="hire", max_count=None, order=None), True, ""),
        (assertion("tool_called", name="hire", order=0), True, ""),
        (assertion("tool_called", name="hire", order=2), True, ""),
        (assertion("tool_called", name="hire", order=1), False, "call 1 (counted from 0) is 'fire', expected 'hire'"),
        (assertion("tool_called", name="hire", order=3), False, "call 3 (counted from 0) is none: there are 3"),
        (assertion("no_tool_called", name="fly"), True, ""),
        (assertion("no_tool_called", name="fire"), False, "'fire' was called 1 times, expected none"),
        (assertion("message_contains_substring", role="assistant", substring="Hiring now."), True, ""),
        (assertion("message_contains_substring", role="assistant", substring="hiring"), False, "no message of"),
        (assertion("message_contains_substring", role="user", substring="Done."), False, "no message of 'user'"),
        (assertion("message_contains_substring", role="toolResult", substring="Ada"), True, ""),
        (
            assertion("tool_call_arg_matches", name="hire", arg_path="who.name", matches_regex="^A"),
            True,
            "an argument 'who.name' of 'hire' matches /^A/",
        ),
        (assertion("tool_call_arg_matches", name="hire", arg_path="tags.1", matches_regex="b"), True, ""),
        (assertion("tool_call_arg_matches", name="hire", arg_path="tags.2", matches_regex="b"), False, "there is None"),
        (assertion("tool_call_arg_matches", name="hire", arg_path="tags.²", matches_regex="b"), False, "there is None"),
        (assertion("tool_call_arg_matches", name="hire", arg_path="n", matches_regex="3"), False, "there is 3, None"),
        (assertion("tool_call_arg_matches", name="fly", arg_path="n", matches_regex="3"), False, "no call of it"),
        (assertion("trace_max_turns", max=4), True, "there are 4 turns, at most 4 expected"),
        (assertion("trace_max_turns", max=3), False, "there are 4 turns, at most 3 expected"),
    ],
)
def test_each_kind_holds_where_it_should(asked: dict[str, object], ok: bool, said: str) -> None:
    assert fault(asked) == ""
    (outcome,) = judge([asked], TALK)
    assert (outcome.kind, outcome.ok) == (asked["kind"], ok)
    assert said in outcome.message


def test_a_pattern_that_is_not_decided_in_time_leaves_the_assertion_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.01)
    asked = assertion("tool_call_arg_matches", name="find", arg_path="q", matches_regex="(a|a|b)*(a|a)*$")
    (outcome,) = judge([asked], [Message("assistant", (Called("", "find", {"q": "a" * 5000 + "!"}),))])
    assert outcome.ok is None
    assert "not decided" in outcome.message


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (3, "an assertion is an object"),
        ({}, "None is no kind of assertion: expected one of tool_called, "),
        ({"kind": ["tool_called"]}, "['tool_called'] is no kind of assertion"),
        (assertion("tool_caled"), "did you mean 'tool_called'?"),
        (assertion("tool_called"), "`name` of tool_called: expected text, got None"),
        (
            assertion("tool_called", name="a", min_count=-1),
            "`min_count` of tool_called: expected a whole number from 0",
        ),
        (assertion("tool_called", name="a", order=True), "`order` of tool_called: expected a whole number from 0"),
        (assertion("trace_max_turns", max="4"), "`max` of trace_max_turns: expected a whole number from 0, got '4'"),
        (
            assertion("tool_call_arg_matches", name="a", arg_path="b", matches_regex="("),
            "`matches_regex` of tool_call_arg_matches: bad pattern",
        ),
    ],
)
def test_what_is_wrong_with_an_assertion_is_said(asked: Any, said: str) -> None:
    assert said in fault(asked)
