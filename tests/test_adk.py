"""The `adk` dialect: what Google's ADK is asked, and what its events say."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.dialects import Options, adk
from golden.gathering import Fold
from golden.payload import dump
from golden.signals import End, Error, Finish, Score, Signal
from golden.sse import Event
from golden.transcript import Turn
from golden.wire import Head, Post, Request

SNAKE = {"invocation_id": "e-1", "author": "broker"}
USAGE = {"promptTokenCount": 50, "candidatesTokenCount": 28}
HEAD = Head(200, {}, "chunked")


def told(*parts: object, **more: object) -> dict[str, object]:
    return {"invocationId": "e-1", "author": "broker", "content": {"role": "model", "parts": list(parts)}, **more}


def partial(text: str, **more: object) -> dict[str, object]:
    return told({"text": text}, partial=True, **more)


def call(name: str, args: object = None, id: str | None = None) -> dict[str, object]:
    return {"functionCall": {"name": name, "args": args, "id": id}}


def response(name: str, result: object, id: str | None = None) -> dict[str, object]:
    return {"functionResponse": {"name": name, "response": result, "id": id}}


def event(data: object, name: str = "") -> Event:
    return Event(name, data if isinstance(data, str) or data is None else json.dumps(data), "", 0.5)


def read(data: object) -> list[Signal]:
    return list(adk.DIALECT.read(event(data)))


def turn(*events: object) -> Turn:
    fold = Fold("why?")
    for data in events:
        fold.add(event(data), read(data))
    return fold.close(1.0, proven=True, pending=False)


def calls(came: Turn) -> list[tuple[str, Any, Any]]:
    return [(one.name, one.args, one.result) for one in came.tool_calls]


def kinds(came: Turn) -> set[str]:
    return {finding.kind for finding in came.findings} - {"end_not_marked"}


@pytest.mark.parametrize("turns", [1, 2])
def test_a_session_is_opened_and_a_question_posted_to_it(turns: int) -> None:
    request = Request("why?", "s/1", turns=turns, history=(("a", "b"),), model="m", system_prompt="p")
    opening = adk.opens(request, Options(id="my app"))
    assert opening.post == Post("/apps/my%20app/users/golden/sessions/s%2F1", {})
    assert opening.session({"id": "s/1"}) == ""
    post = adk.DIALECT.request(request, Options())
    assert post == Post(
        "/run_sse",
        {
            "appName": "agent",
            "userId": "golden",
            "sessionId": "s/1",
            "newMessage": {"role": "user", "parts": [{"text": "why?"}]},
            "streaming": True,
        },
    )


@pytest.mark.parametrize(
    ("data", "name", "claimed"),
    [
        (told(), "", True),
        ({"invocation_id": "e-1", "author": "broker"}, "", True),
        ({"error": "E: x", "error_details": {}}, "", True),
        ({"error": "E: x"}, "", False),
        ({"invocationId": "e-1"}, "", False),
        ({"author": "broker"}, "", False),
        (told(), "data", False),
        ('"invocationId"', "", False),
        (None, "", False),
    ],
)
def test_what_is_claimed(data: object, name: str, claimed: bool) -> None:
    assert bool(adk.claims(HEAD, event(data, name))) is claimed


def test_text_calls_results_and_usage_are_counted_once() -> None:
    came = turn(
        partial("Let me "),
        partial("see. ", usageMetadata={"promptTokenCount": 1, "candidatesTokenCount": 1}),
        told(call("a", {"x": 0}), partial=True),
        told(
            {"text": "hm", "thought": True}, {"text": "Let me see. "}, call("a", {"x": 1}, "1"), call("b", None, "2"),
            usageMetadata={"promptTokenCount": 20, "candidatesTokenCount": 12},
        ),
        told(response("b", {"result": 7}, "2"), response("a", {"y": 42}, "1")),
        partial("It is "),
        told({"text": "hm", "thought": True}, partial=True),
        partial("42."),
        told({"text": "It is 42."}, partial=False, finishReason="STOP", usageMetadata=USAGE),
    )  # fmt: skip
    assert (came.answer, came.final_text) == ("Let me see. It is 42.", "It is 42.")
    assert calls(came) == [("a", {"x": 1}, {"y": 42}), ("b", {}, {"result": 7})]
    assert came.usage is not None
    assert (came.usage.input, came.usage.output, came.finish, kinds(came)) == (70, 40, "finished", set())


def test_two_agents_at_the_same_time_are_told_apart() -> None:
    one, two = {"branch": "p.one", "author": "one"}, {"branch": "p.two", "author": "two"}
    events = [partial("a", **one), partial("b", **two), partial("c", **one)]
    came = turn(*events, told({"text": "ac"}, **one), told({"text": "b"}, **two), told({"text": "!"}, **one))
    assert came.answer == "abc!"


def test_what_a_model_says_at_last_takes_the_place_of_its_deltas() -> None:
    came = turn(partial("secret"), told({"text": "I may not say."}))
    assert (came.answer, "secret" in came.shown) == ("I may not say.", True)


def test_events_spelled_as_python_does_are_read_too() -> None:
    came = turn(
        {**SNAKE, "content": {"parts": [{"function_call": {"name": "a", "args": {}}}]}},
        {**SNAKE, "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 4}},
        {**SNAKE, "content": {"parts": [{"function_response": {"name": "a", "response": {"y": 1}}}]}},
        {**SNAKE, "error_code": "E", "error_message": None, "content": None},
    )
    assert calls(came) == [("a", {}, {"y": 1})]
    assert came.usage is not None
    assert (came.usage.input, came.usage.output) == (3, 4)
    assert came.error is not None
    assert came.error.message.endswith(": E")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (told(finishReason="MAX_TOKENS"), [Finish("length")]),
        (told(errorCode="MAX_TOKENS", errorMessage="too long"), [Finish("length")]),
        (told(errorCode="SAFETY", errorMessage="blocked"), [Error("blocked")]),
        (told(errorCode="SAFETY"), [Error("SAFETY")]),
        (told(errorMessage="blocked"), [Error("blocked")]),
        ({"error": "E: it broke", "error_details": {}}, [Error("E: it broke")]),
        ({"error": None}, [Error("no message")]),
        (told(longRunningToolIds=["1"]), [Finish("waiting")]),
        (told(call("adk_request_x"), actions={"requestedToolConfirmations": {"1": {}}}), [Finish("waiting")]),
        (told(response("adk_request_confirmation", {})), []),
        (told(longRunningToolIds=[], actions={"requestedAuthConfigs": {}}), []),
        (told(customMetadata={"groundedness": 0.9}), [Score(0.9)]),
        (told(actions={"stateDelta": {"groundedness": {"score": 0.8}}}), [Score(0.8)]),
        (told({"text": "q"}, author="user"), []),
        ("[DONE]", [End()]),
        (None, []),
    ],
)  # fmt: skip
def test_what_the_other_events_say(data: object, expected: list[Signal]) -> None:
    assert read(data) == expected


@pytest.mark.parametrize(("data", "kind"), [("3", "malformed"), ("{", "not_json"), ('{"author": NaN}', "not_json")])
def test_what_is_no_event_is_odd(data: str, kind: str) -> None:
    assert kinds(turn(data)) == {kind}


KEYS = """content parts text thought partial functionCall functionResponse name args id response usageMetadata
promptTokenCount actions stateDelta customMetadata groundedness errorCode error author branch"""
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS.split()),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(st.lists(JSON | st.text(), max_size=4))
def test_nothing_makes_it_raise(events: list[object]) -> None:
    turn(*(data if isinstance(data, str) else dump(data) for data in events))
    for data in events:
        adk.claims(HEAD, event(dump(data)))
