"""The AI SDK's UI message stream: what is posted, other producers of it, and hostile events."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.dialects import Options
from golden.dialects.ai_sdk import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Named,
    Odd,
    Result,
    RunningTokens,
    Score,
    Signal,
    Text,
)
from golden.sse import Event
from golden.transcript import Turn
from golden.wire import Head, Request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HEAD = Head(200, {"content-type": "text/event-stream"}, "chunked")
TYPES = ["text-delta", "tool-input-delta", "tool-input-available", "tool-output-available", "finish", "start", "error"]


def one(**body: object) -> tuple[Signal, ...]:
    return read(Event("", json.dumps(body)))


def turn_of(*events: Mapping[str, object], ending: str = "[DONE]") -> Turn:
    reader = Reader("why?", "auto", Bounds(), Lexicon())
    reader.open(HEAD)
    for event in (*map(json.dumps, events), *([ending] if ending else [])):
        reader.feed(f"data: {event}\n\n".encode(), 0.5)
    return reader.close(1.0)


START: dict[str, object] = {"type": "start"}
FINISH: dict[str, object] = {"type": "finish"}
CALL: dict[str, object] = {"type": "tool-input-available", "toolCallId": "1", "toolName": "a", "input": {"x": 1}}
OUTPUT: dict[str, object] = {"type": "tool-output-available", "toolCallId": "1", "output": {"y": 2}}
TEXT: dict[str, object] = {"type": "text-delta", "id": "0", "delta": "Hi."}


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        (
            Request("why?", "s"),
            {
                "id": "s",
                "trigger": "submit-message",
                "messages": [{"id": "s-0", "role": "user", "parts": [{"type": "text", "text": "why?"}]}],
            },
        ),
        (
            Request("why?", "s", 3, (("a", "b"), ("c", "")), "m", "be kind"),
            {
                "id": "s",
                "trigger": "submit-message",
                "model": "m",
                "messages": [
                    {"id": f"s-{number}", "role": role, "parts": [{"type": "text", "text": text}]}
                    for number, role, text in [
                        (0, "system", "be kind"),
                        (1, "user", "a"),
                        (2, "assistant", "b"),
                        (3, "user", "c"),
                        (4, "user", "why?"),
                    ]
                ],
            },
        ),
        (
            Request("why?", "s", 2, (("a", "b"),), answer_ids=("m",)),
            {
                "id": "s",
                "trigger": "submit-message",
                "messages": [
                    {"id": id, "role": role, "parts": [{"type": "text", "text": text}]}
                    for id, role, text in [("s-0", "user", "a"), ("m", "assistant", "b"), ("s-2", "user", "why?")]
                ],
            },
        ),
    ],
)
def test_a_question_is_posted_with_all_messages_so_far(asked: Request, body: object) -> None:
    post = request(asked, Options())
    assert (post.path, post.body) == ("/api/chat", body)


@pytest.mark.parametrize(
    ("body", "signals"),
    [
        ({"type": "text-delta", "delta": "a"}, [Text("a")]),
        ({"type": "text-delta", "id": "0"}, [Odd("malformed", "`text-delta` has no `delta`")]),
        ({"type": "tool-input-start", "toolCallId": "1", "toolName": "a"}, [CallPart("", "", "1", "a")]),
        ({"type": "tool-input-delta", "inputTextDelta": "{"}, [CallPart("{")]),
        ({"type": "tool-input-delta"}, [Odd("malformed", "`tool-input-delta` has no `inputTextDelta`")]),
        ({"type": "tool-input-available", "toolCallId": "1", "toolName": "a"}, [CallDone("", "1", "a", {})]),
        (
            {"type": "tool-input-error", "toolCallId": "1", "toolName": "a", "input": "{", "errorText": "bad"},
            [CallDone("", "1", "a", "{"), Result("bad", "1", part="1")],
        ),
        ({"type": "tool-output-available", "toolCallId": "1", "output": 1, "preliminary": True}, []),
        ({"type": "tool-output-error", "toolCallId": "1"}, [Result("the tool failed", "1", part="1")]),
        ({"type": "tool-output-denied", "toolCallId": "1"}, [Result("the call was denied", "1")]),
        ({"type": "tool-approval-request", "toolCallId": "1"}, [Finish("waiting")]),
        ({"type": "data-groundedness", "data": 0.5}, [Score(0.5)]),
        ({"type": "data-groundedness", "data": {}}, [Score(None)]),
        ({"type": "data-status", "data": 0.5}, []),
        ({"type": "message-metadata", "messageMetadata": {"groundedness": {"score": 1}}}, [Score(1)]),
        ({"type": "start", "messageMetadata": {"usage": {"promptTokens": 1}}}, [RunningTokens(1, None)]),
        ({"type": "start", "messageId": "m"}, [Named("m")]),
        (
            {"type": "start", "messageMetadata": {"usage": {"inputTokens": True, "outputTokens": -1}}},
            [Odd("malformed", "the usage has counts that are no whole numbers")],
        ),
        ({"type": "start", "messageMetadata": None}, []),
        ({"type": "finish", "finishReason": "error"}, [Error("its finish reason is `error`")]),
        ({"type": "finish", "finishReason": "stop"}, [Finish("stop")]),
        ({"type": "finish", "finishReason": "content-filter"}, [Error("blocked: content-filter")]),
        ({"type": "error"}, [Error("no message")]),
        ({"type": "abort"}, [Error("the answer was aborted: it does not say why")]),
        ({"type": ["finish"]}, []),
        ({"type": "source-url", "url": "u"}, []),
    ],
)
def test_an_event_means_what_the_protocol_says(body: dict[str, object], signals: list[Signal]) -> None:
    assert [*one(**body)] == signals


@pytest.mark.parametrize(
    ("event", "signals"),
    [
        (Event("", None), []),
        (Event("", " [DONE] "), [End()]),
        (Event("", "{"), ["not_json"]),
        (Event("", "[]"), ["malformed"]),
        (Event("groundedness", "0.5"), []),
        (Event("", '{"type": "data-groundedness", "data": NaN}'), ["Score", "not_json"]),
    ],
)
def test_what_is_no_object_is_said(event: Event, signals: list[Any]) -> None:
    came = [signal.kind if isinstance(signal, Odd) else signal for signal in read(event)]
    assert [type(one).__name__ if isinstance(one, Score) else one for one in came] == signals


@pytest.mark.parametrize(
    ("events", "finish"),
    [
        ([START, TEXT, FINISH], "finished"),
        ([START, CALL, OUTPUT, FINISH], "finished"),
        ([START, CALL, FINISH], "waiting"),
        ([START, CALL, TEXT, FINISH], "finished"),  # a producer that streams no outputs
        ([START, CALL, {"type": "finish", "finishReason": "tool-calls"}], "waiting"),
        ([START, CALL, OUTPUT, {"type": "finish", "finishReason": "tool-calls"}], "finished"),  # the limit of steps
        ([START, CALL, {"type": "tool-approval-request", "toolCallId": "1"}, FINISH], "waiting"),
        ([START, TEXT, {"type": "finish", "finishReason": "length"}], "length"),
        ([START, TEXT, FINISH, {"type": "finish", "finishReason": "length"}], "length"),  # merged streams
    ],
)
def test_a_turn_ends_as_its_finish_and_its_calls_say(events: list[dict[str, object]], finish: str) -> None:
    turn = turn_of(*events)
    assert (turn.finish, turn.error) == (finish, None)


def test_a_stream_with_no_end_marker_is_whole_where_it_says_how_it_finished() -> None:
    turn = turn_of(START, TEXT, FINISH, ending="")
    assert (turn.error, [finding.kind for finding in turn.findings]) == (None, ["end_not_marked"])
    cut = turn_of(START, TEXT, ending="")
    assert cut.error is not None
    assert (cut.error.kind, cut.answer) == ("cut", "Hi.")


def test_outputs_are_counted_once_and_input_that_is_told_again_is_one_call() -> None:
    part = {"type": "tool-input-delta", "toolCallId": "1", "inputTextDelta": '{"x": 1}'}
    early = {**OUTPUT, "output": 0, "preliminary": True}
    turn = turn_of(START, part, CALL, CALL, early, OUTPUT, OUTPUT, TEXT, FINISH)
    assert [(call.name, call.args, call.result) for call in turn.tool_calls] == [("a", {"x": 1}, {"y": 2})]
    assert turn.findings == ()


def test_an_error_of_the_input_that_is_told_again_in_other_words_is_one_result() -> None:
    wrong = {**CALL, "type": "tool-input-error", "errorText": "bad"}
    again = {"type": "tool-output-error", "toolCallId": "1", "errorText": "bad (reference 7)"}
    turn = turn_of(START, wrong, again, TEXT, FINISH)
    assert [(call.name, call.args, call.result) for call in turn.tool_calls] == [("a", {"x": 1}, "bad (reference 7)")]
    assert turn.findings == ()


@pytest.mark.parametrize(
    ("head", "data", "claimed"),
    [
        ({"x-vercel-ai-ui-message-stream": "v1"}, "anything", True),
        ({}, '{"type": "start"}', True),
        ({}, '{"type": "start", "runId": "1", "from": "AGENT", "payload": {}}', False),
        ({}, '{"type": "error", "error": {"message": "no"}}', False),
        ({}, '{"type": "error", "errorText": "no"}', True),
        ({}, '{"type": "data-status", "data": {}}', False),
        ({}, '{"type": ["start"]}', False),
        ({}, "[]", False),
    ],
)
def test_the_header_and_the_types_are_claims(head: dict[str, str], data: str, claimed: bool) -> None:
    assert bool(claims(Head(200, head, "chunked"), Event("", data))) == claimed


@given(
    st.sampled_from(TYPES), st.dictionaries(st.sampled_from(["delta", "input", "messageMetadata", "toolCallId"]), JSON)
)
def test_no_event_makes_it_raise(kind: str, body: dict[str, object]) -> None:
    event = Event("", json.dumps({**body, "type": kind}))
    claims(HEAD, event)
    read(event)


@given(st.one_of(JSON.map(json.dumps), st.text()))
def test_no_data_makes_it_raise(data: str) -> None:
    claims(HEAD, Event("", data))
    read(Event("", data))
