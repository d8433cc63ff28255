"""AG-UI: what is posted, other producers of it, and hostile events."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.dialects import Options
from golden.dialects.ag_ui import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import CallDone, CallPart, End, Error, Finish, Odd, Reasoning, Result, Score, Signal, Text, Tokens
from golden.sse import Event
from golden.transcript import Turn, Usage
from golden.wire import Head, Request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HEAD = Head(200, {"content-type": "text/event-stream"}, "chunked")

Body = dict[str, Any]


def turn_of(*events: Body) -> Turn:
    reader = Reader("why?", "auto", Bounds(), Lexicon())
    reader.open(HEAD)
    for event in ({"type": "RUN_STARTED"}, *events):
        reader.feed(f"data: {json.dumps(event)}\r\n\r\n".encode(), 0.5)
    return reader.close(1.0)


FINISHED: Body = {"type": "RUN_FINISHED"}


def text(delta: str, message: str = "m") -> Body:
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": delta}


def call(id: str = "1", name: str = "a", args: str = "{}") -> list[Body]:
    return [
        {"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": args},
        {"type": "TOOL_CALL_END", "toolCallId": id},
    ]


def result(content: object = "ok", id: str = "1") -> Body:
    return {"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": id, "content": content}


def snapshot(*messages: Body) -> Body:
    return {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u", "role": "user", "content": "why?"}, *messages]}


def said(content: str | None, id: str = "m", *calls: str) -> Body:
    functions = [{"id": name, "type": "function", "function": {"name": "a", "arguments": "{}"}} for name in calls]
    return {"id": id, "role": "assistant", "content": content, "toolCalls": functions or None}


def test_a_question_is_posted_with_all_messages_so_far_and_every_field() -> None:
    assert request(Request("why?", "s"), Options()).body == {
        "threadId": "s",
        "runId": "s-run-1",
        "state": {},
        "messages": [{"id": "s-0", "role": "user", "content": "why?"}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }
    post = request(Request("why?", "s", 3, (("a", "b"), ("c", "")), "m", "be kind"), Options())
    assert post.path == "/"
    body: Any = post.body
    assert (body["threadId"], body["runId"], body["forwardedProps"]) == ("s", "s-run-3", {"model": "m"})
    assert [(each["id"], each["role"], each["content"]) for each in body["messages"]] == [
        ("s-0", "system", "be kind"),
        ("s-1", "user", "a"),
        ("s-2", "assistant", "b"),
        ("s-3", "user", "c"),
        ("s-4", "user", "why?"),
    ]


@pytest.mark.parametrize(
    "told",
    [
        [{"type": "TEXT_MESSAGE_START", "messageId": "m"}, text("Well.")],
        [{"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "Well."}],
        [
            {"type": "TEXT_MESSAGE_START", "messageId": "l", "role": "assistant"},
            text("Well.", "l"),
            snapshot(said("Well.")),
        ],
        [snapshot(said("Well."), said(None, "l", "1"))],
        [
            *({"type": "TEXT_MESSAGE_START", "messageId": id} for id in ("l", "m")),
            text("Well."),
            {"type": "TEXT_MESSAGE_START", "messageId": "u", "role": "user"},
        ],
    ],
    ids=["start", "chunk", "renamed in a snapshot", "snapshot", "last"],
)
def test_an_answer_is_told_again_by_the_id_that_the_agent_gave_it(told: list[Body]) -> None:
    turn = turn_of(*told, FINISHED)
    assert (turn.answer, turn.answer_id) == ("Well.", "m")
    asked = Request("and?", "s", 3, (("a", "b"), ("why?", turn.answer)), answer_ids=("", turn.answer_id))
    body: Any = request(asked, Options()).body
    assert [each["id"] for each in body["messages"]] == ["s-0", "s-1", "s-2", "m", "s-4"]


@pytest.mark.parametrize(
    ("body", "signals"),
    [
        (text("a"), [Text("a", "m")]),
        ({"type": "TEXT_MESSAGE_CONTENT", "delta": "a"}, [Text("a")]),
        ({"type": "TEXT_MESSAGE_CONTENT", "delta": None}, ["malformed"]),
        ({"type": "TEXT_MESSAGE_CHUNK", "role": "user", "delta": "a"}, []),
        ({"type": "TEXT_MESSAGE_CHUNK"}, []),
        ({"type": "TOOL_CALL_ARGS", "toolCallId": "1"}, ["malformed"]),
        ({"type": "TOOL_CALL_ARGS", "delta": "{"}, [CallPart("{")]),
        ({"type": "TOOL_CALL_END"}, [CallDone()]),
        ({"type": "TOOL_CALL_CHUNK", "toolCallName": "a"}, [CallPart("", "", "", "a", "chunks")]),
        (result(), [Result("ok", "1")]),
        ({"type": "REASONING_MESSAGE_CHUNK", "delta": "a"}, [Reasoning()]),
        ({"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "a"}, [Reasoning()]),
        ({"type": "REASONING_ENCRYPTED_VALUE", "encryptedValue": "a"}, []),
        ({"type": "MESSAGES_SNAPSHOT", "messages": None}, []),
        ({"type": "MESSAGES_SNAPSHOT", "messages": [1, {"role": "assistant", "toolCalls": [1, {}]}]}, []),
        ({"type": "CUSTOM", "name": "groundedness", "value": 0.5}, [Score(0.5)]),
        ({"type": "CUSTOM", "name": "groundedness", "value": {}}, [Score(None)]),
        ({"type": "CUSTOM", "name": "on_interrupt", "value": "?"}, [Finish("waiting")]),
        ({"type": "CUSTOM", "name": ["x"]}, []),
        ({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/groundedness", "value": 1}, 2]}, [Score(1)]),
        ({"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/groundedness"}]}, []),
        ({"type": "STATE_SNAPSHOT", "snapshot": {"groundedness": 1}}, []),  # may be an earlier turn's
        ({"type": "RUN_ERROR"}, [Error("no message"), End()]),
        ({"type": "RUN_FINISHED", "outcome": "interrupt"}, [CallDone(message="chunks"), Finish("waiting"), End()]),
        (
            {"type": "RUN_FINISHED", "outcome": {"type": "cancelled"}},
            [CallDone(message="chunks"), Error("the run was cancelled"), End()],
        ),
        (
            {"type": "RUN_FINISHED", "usage": [{"inputTokens": 1}, {"outputTokens": True}, 3]},
            [CallDone(message="chunks"), Tokens(1, None), "malformed", Finish("stop"), End()],
        ),
        ({"type": "RAW", "event": {}}, []),
        ({"type": 1}, ["malformed"]),
    ],
)
def test_an_event_means_what_the_protocol_says(body: Body, signals: list[Signal | str]) -> None:
    came = [signal.kind if isinstance(signal, Odd) else signal for signal in read(Event("", json.dumps(body)))]
    assert came == signals


@pytest.mark.parametrize(
    ("event", "kinds"),
    [
        (Event("", None), []),
        (Event("", "[DONE]"), []),
        (Event("", "{"), ["not_json"]),
        (Event("message", "[]"), ["malformed"]),
        (Event("groundedness", "0.5"), []),
        (Event("", '{"type": "STATE_SNAPSHOT", "snapshot": NaN}'), ["not_json"]),
    ],
)
def test_what_is_no_event_is_said(event: Event, kinds: list[str]) -> None:
    assert [signal.kind for signal in read(event) if isinstance(signal, Odd)] == kinds


@pytest.mark.parametrize(
    ("events", "answer", "calls"),
    [
        pytest.param([text("Hi."), snapshot(said("Hi."))], "Hi.", [], id="a snapshot repeats it"),
        pytest.param([text("Hi."), snapshot(said("Hi.", "other"))], "Hi.", [], id="under another name"),
        pytest.param([text("Hi"), snapshot(said("Hi there"))], "Hi there", [], id="and goes on"),
        pytest.param([text("Hi."), snapshot(said("Ho."))], "Ho.", [], id="and replaces it"),
        pytest.param([snapshot(said("old"), {"role": "user"}, said("new", "n"))], "new", [], id="an earlier turn's"),
        pytest.param([snapshot(), text("Hi."), snapshot(said("Hi."))], "Hi.", [], id="one before, one after"),
        pytest.param(
            [
                {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "Hi"},
                {"type": "TEXT_MESSAGE_CHUNK", "delta": " there"},
                snapshot(said("Hi there")),
            ],
            "Hi there",
            [],
            id="after chunks without names",
        ),
        pytest.param(
            [*call(), result(), text("Hi."), snapshot(said(None, "c", "1"), {**result(), "role": "tool"}, said("Hi."))],
            "Hi.",
            [("a", {}, "ok")],
            id="its calls and results too",
        ),
        pytest.param(
            [*call("1", "a"), *call("1", "b"), text("Hi.")],
            "Hi.",
            [("a", {}, None), ("b", {}, None)],
            id="ids repeated",
        ),
        pytest.param(
            [*call("", "a"), *call("", "b"), result("x", ""), result("y", ""), text("Hi.")],
            "Hi.",
            [("a", {}, "x"), ("b", {}, "y")],
            id="ids missing",
        ),
        pytest.param([*call(args=""), text("Hi.")], "Hi.", [("a", {}, None)], id="no arguments"),
    ],
)
def test_nothing_is_counted_twice(events: list[Body], answer: str, calls: list[tuple[str, object, object]]) -> None:
    turn = turn_of(*events, FINISHED)
    assert (turn.answer, turn.error) == (answer, None)
    assert [(each.name, each.args, each.result) for each in turn.tool_calls] == calls
    assert {finding.kind for finding in turn.findings} <= {"call_id_repeated"}


def test_a_call_in_chunks_is_complete_without_an_end_and_one_that_was_started_is_not() -> None:
    chunks: list[Body] = [
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "1", "toolCallName": "a", "delta": '{"x"'},
        {"type": "TOOL_CALL_CHUNK", "delta": ": 1}"},
    ]
    turn = turn_of(*chunks, text("Hi."), FINISHED)
    assert ([each.args for each in turn.tool_calls], turn.findings) == ([{"x": 1}], ())
    for events, kind in ((chunks[:1], "args_not_json"), (call()[:2], "call_not_closed")):
        assert [finding.kind for finding in turn_of(*events, text("Hi."), FINISHED).findings] == [kind]


@pytest.mark.parametrize(
    ("events", "finish"),
    [
        ([text("Hi.")], "finished"),
        ([*call(), result()], "finished"),
        ([*call()], "waiting"),  # a tool of the front end's
        ([*call(), text("Hi.")], "finished"),  # a producer that streams no results
        ([{"type": "CUSTOM", "name": "on_interrupt", "value": "?"}], "waiting"),
    ],
)
def test_a_run_that_finished_waits_where_a_call_has_no_result(events: list[Body], finish: str) -> None:
    turn = turn_of(*events, {"type": "RUN_FINISHED", "outcome": {"type": "success"}, "usage": [{"inputTokens": 1}] * 2})
    assert (turn.finish, turn.error, turn.usage) == (finish, None, Usage(2, None))


@pytest.mark.parametrize(
    ("data", "claimed"),
    [
        ('{"type": "RUN_STARTED"}', True),
        ('{"type": "STATE_SNAPSHOT"}', True),
        ('{"type": "CUSTOM", "name": "a"}', False),
        ('{"type": "start"}', False),
        ('{"type": ["RUN_STARTED"]}', False),
        ("[]", False),
    ],
)
def test_types_in_capitals_are_claims(data: str, claimed: bool) -> None:
    assert bool(claims(HEAD, Event("", data))) == claimed


@given(
    st.sampled_from(
        ["TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "MESSAGES_SNAPSHOT", "STATE_DELTA", "RUN_FINISHED", "CUSTOM"]
    ),
    st.dictionaries(st.sampled_from(["delta", "messages", "usage", "outcome", "value", "toolCallId"]), JSON),
    st.lists(st.dictionaries(st.sampled_from(["role", "content", "toolCalls", "path", "op"]), JSON | st.just("tool"))),
)
def test_no_event_makes_it_raise(kind: str, body: Body, messages: list[Body]) -> None:
    for each in ({**body, "type": kind}, {"type": kind, "messages": messages, "delta": messages}):
        event = Event("", json.dumps(each))
        claims(HEAD, event)
        read(event)


@given(JSON.map(json.dumps) | st.text())
def test_no_data_makes_it_raise(data: str) -> None:
    claims(HEAD, Event("", data))
    read(Event("", data))
