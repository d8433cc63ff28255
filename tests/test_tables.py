"""Dialects that are tables of rules: those that come with golden, and what the rules can say."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from golden.declared import Table, declared
from golden.dialects import Dialect, Options
from golden.errors import TargetError
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Message,
    Reasoning,
    Result,
    Score,
    Session,
    Signal,
    Text,
    Tokens,
)
from golden.sse import Event
from golden.wire import Head, Request
from tests.samples import Sample, samples
from tests.streamed import Body, hostile, kinds, turn_of

HEAD = Head(200, {}, "chunked")
FIRST = Request("why?", "s", 2, system_prompt="Be kind.")
SECOND = Request("so?", "s", 2, (("why?", "because"),))
HISTORY = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}]


def ruled(*rules: dict[str, Any], **table: Any) -> Dialect:
    return declared(Table.model_validate({"rules": list(rules), **table}))


def meant(dialect: Dialect, data: object, name: str = "") -> list[Signal]:
    return [*dialect.read(Event(name, data if isinstance(data, str) else json.dumps(data)))]


# What rules can say


@pytest.mark.parametrize(
    ("rule", "data", "signals"),
    [
        ({"each": "parts", "text": "item.t"}, {"parts": [{"t": "a"}, {}, {"t": "b"}]}, [Text("a"), Text("b")]),
        ({"each": "parts", "result": "item", "id": "event.id"}, {"parts": [1], "id": "x"}, [Result(1, "x")]),
        ({"each": "parts", "text": "item"}, {"parts": None}, []),
        ({"each": "parts", "text": "item"}, {"parts": "ab"}, []),
        (
            {"each": "items(parse_json(input))", "tool": "item[0]", "args": "item[1]", "id": "item[0]"},
            {"input": '{"a": {"x": 1}, "b": {}}'},
            [CallDone("", "a", "a", {"x": 1}), CallDone("", "b", "b", {})],
        ),
        ({"each": "items(parse_json(input))", "text": "item[0]"}, {"input": 5}, []),
        ({"each": "items(input)", "text": "item[0]"}, {"input": []}, []),
        ({"args_delta": "a", "key": "k", "tool": "t"}, {"a": "{", "k": 0, "t": "f"}, [CallPart("{", "0", "", "f")]),
        ({"args": "a", "key": "k", "tool": "t"}, {"a": {}, "k": 0, "t": "f"}, [CallDone("0", "", "f", {})]),
        ({"args": "a", "key": "k"}, {"a": {}, "k": 0}, [CallDone("0", "", "", {})]),
        ({"args": "a", "tool": "t"}, {"t": "f"}, [CallDone("", "", "f", {})]),
        ({"done": "last"}, {"last": True}, [CallDone()]),
        ({"done": "last"}, {"last": False}, []),
        ({"done": True}, {}, [CallDone()]),
        ({"length": "reason == 'length'"}, {"reason": "length"}, [Finish("length")]),
        ({"length": "reason == 'length'"}, {"reason": "stop"}, []),
        ({"stop": True}, {}, [Finish("stop")]),
        ({"error": "e"}, {"e": {}}, [Error("{}")]),
        ({"error": "e"}, {"e": ""}, []),
        ({"end": True, "stop": True}, {}, [Finish("stop"), End()]),
    ],
)
def test_a_rule_says(rule: dict[str, Any], data: object, signals: list[Signal]) -> None:
    assert meant(ruled(rule), data) == signals


def test_a_call_that_is_named_before_its_arguments_is_begun_and_completed() -> None:
    rules = ({"when": "t", "tool": "t", "id": "i"}, {"args_delta": "d", "id": "i"}, {"done": "last"})
    dialect = ruled(*rules)
    assert meant(dialect, {"t": "f", "i": 1}) == [CallPart("", "", "1", "f")]
    assert meant(dialect, {"d": "{}", "i": 1}) == [CallPart("{}", "", "1", "")]


@pytest.mark.parametrize(
    "rule", [{"each": "a"}, {"when": "a", "key": "b"}, {"text": "a["}, {"each": "a.", "text": "b"}]
)
def test_a_rule_that_says_nothing_or_no_path_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ruled(rule)


@pytest.mark.parametrize(
    ("rule", "marker"), [({"end": True}, "end"), ({"stop": "a"}, "finish"), ({"length": True}, "none")]
)
def test_the_rules_say_what_marks_the_end(rule: dict[str, Any], marker: str) -> None:
    assert ruled(rule).marker == marker


def test_the_first_question_names_no_session_that_the_reply_is_to_give() -> None:
    own = ruled({"text": "t"}, body={"id": "$session_id", "q": "$question"}, path="/$session_id/x")
    given_back = ruled({"text": "t"}, body={"id": "$session_id", "q": "$question"}, session="id")
    assert own.request(FIRST, Options()).body == {"id": "s", "q": "why?"}
    assert own.request(FIRST, Options()).path == "/s/x"
    assert given_back.request(FIRST, Options()).body == {"q": "why?"}
    assert given_back.request(SECOND, Options()).body == {"id": "s", "q": "so?"}


# The tables that come with golden


@pytest.mark.parametrize("name", ["dify", "langserve", "mastra"])
def test_no_token_of_goldens_own_goes_to_them(name: str) -> None:
    assert not Lexicon().dialect(name).mints


@pytest.mark.parametrize(
    ("name", "options", "path", "first", "second"),
    [
        (
            "dify",
            Options(),
            "/v1/chat-messages",
            {"query": "why?", "inputs": {}, "response_mode": "streaming", "user": "golden"},
            {"query": "so?", "inputs": {}, "response_mode": "streaming", "user": "golden", "conversation_id": "s"},
        ),
        (
            "mastra",
            Options(id="broker"),
            "/api/agents/broker/stream",
            {
                "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "why?"}],
                "memory": {"thread": "s", "resource": "golden"},
            },
            {
                "messages": [*HISTORY, {"role": "user", "content": "so?"}],
                "memory": {"thread": "s", "resource": "golden"},
            },
        ),
        (
            "langserve",
            Options(),
            "/stream_events",
            {
                "input": {"input": "why?", "chat_history": []},
                "config": {"configurable": {"session_id": "s"}},
                "kwargs": {},
            },
            {
                "input": {"input": "so?", "chat_history": HISTORY},
                "config": {"configurable": {"session_id": "s"}},
                "kwargs": {},
            },
        ),
    ],
)
def test_a_question_is_posted(name: str, options: Options, path: str, first: Body, second: Body) -> None:
    dialect = Lexicon().dialect(name)
    for request, body in ((FIRST, first), (SECOND, second)):
        post = dialect.request(request, options)
        assert (post.path, post.body, post.form) == (path, body, False)


def mastra(type: str, **payload: object) -> Body:
    return {"type": type, "runId": "r", "from": "AGENT", "payload": payload}


@pytest.mark.parametrize(
    ("data", "signals"),
    [
        (mastra("text-delta", text="a"), [Text("a")]),
        (mastra("reasoning-delta", text="a"), [Reasoning()]),
        (mastra("tool-call", toolName="f", args={"x": 1}, toolCallId="i"), [CallDone("", "i", "f", {"x": 1})]),
        (mastra("tool-call", toolName="f", toolCallId="i"), [CallDone("", "i", "f", {})]),
        (mastra("tool-result", result={"y": 1}, toolCallId="i"), [Result({"y": 1}, "i")]),
        (mastra("tool-error", error={"cause": {"message": "no"}}, toolCallId="i"), [Result("no", "i")]),
        (mastra("tool-error", error="no", toolCallId="i"), [Result("no", "i")]),
        ({"type": "data-groundedness", "data": {"score": 0.5}}, [Score(0.5)]),
        ({"type": "data-groundedness", "data": 0.5}, [Score(0.5)]),
        (mastra("tool-call-approval"), [Finish("waiting")]),
        (mastra("finish", stepResult={"reason": "length"}), [Finish("length")]),
        (mastra("finish", stepResult={"reason": "content-filter"}), [Error("blocked: content-filter")]),
        (mastra("finish", output={"usage": {"inputTokens": 1, "outputTokens": 2}}), [Tokens(1, 2)]),
        (mastra("error", error={"message": "no"}), [Error("no")]),
        (mastra("error", error={}), [Error("no message")]),
        (mastra("finish", stepResult={"reason": "error"}), [Error("its finish reason is `error`")]),
        (mastra("finish", stepResult={"reason": "tool-calls"}), [Finish("stop")]),
        (mastra("tripwire"), [Error("tripwire")]),
        ("[DONE]", [End()]),
        (mastra("step-finish", output={"text": "a"}), []),
    ],
)
def test_an_event_of_mastra_means(data: object, signals: list[Signal]) -> None:
    assert meant(Lexicon().dialect("mastra"), data) == signals


def dify(event: str, **fields: object) -> Body:
    return {"event": event, "conversation_id": "c", **fields}


@pytest.mark.parametrize(
    ("data", "signals"),
    [
        (dify("message", answer="a"), [Text("a")]),
        (dify("agent_message", answer=""), [Text("")]),
        (dify("message_replace", answer="a"), [Message("a")]),
        (dify("agent_thought", id="t", tool="", tool_input="", observation=""), []),
        (
            dify("agent_thought", id="t", tool="f", tool_input='{"f": {"x": 1}}', observation='{"f": "1"}'),
            [CallDone("", "t:f", "f", {"x": 1}), Result("1", "t:f")],
        ),
        (
            dify("node_finished", data={"node_type": "tool", "id": "n", "title": "f", "outputs": {"text": "1"}}),
            [CallDone("", "n", "f", {}), Result("1", "n")],
        ),
        (dify("node_finished", data={"node_type": "llm", "id": "n"}), []),
        (dify("workflow_paused"), [Finish("waiting")]),
        (dify("error", code="c", message="no"), [Error("no")]),
        (dify("error", message=""), [Error("no message")]),
        (dify("workflow_finished", data={"status": "failed", "error": "no"}), [Error("no")]),
        (dify("workflow_finished", data={"status": "failed"}), [Error("the workflow failed")]),
        (dify("workflow_finished", data={"status": "succeeded"}), []),
        (dify("message_end", metadata={"groundedness": {"score": 0.5}}), [Score(0.5), Finish("stop")]),
        (dify("message_end", metadata={"usage": {"prompt_tokens": 1}}), [Finish("stop"), Tokens(1, None)]),
    ],
)
def test_an_event_of_dify_means(data: object, signals: list[Signal]) -> None:
    assert meant(Lexicon().dialect("dify"), data) == [*signals, Session("c")]


def test_what_follows_the_end_of_a_dify_message_is_no_finding() -> None:
    after = (dify("workflow_finished"), dify("tts_message", audio=""))
    turn = turn_of("dify", dify("message", answer="a"), dify("message_end"), *after, ends="close")
    assert (turn.answer, turn.error, kinds(turn), turn.session) == ("a", None, [], "c")
    cut = turn_of("dify", dify("message", answer="a")).error
    assert cut is not None
    assert cut.kind == "cut"


def piece(content: object = "", **fields: object) -> Body:
    return {"type": "AIMessageChunk", "content": content, **fields}


CHUNK = piece("a", tool_call_chunks=[{"name": "f", "args": None, "id": "i", "index": 0}])
BLOCKS = piece([{"type": "text", "text": "a"}, {"type": "thinking"}])


@pytest.mark.parametrize(
    ("data", "name", "signals"),
    [
        ({"event": "on_chat_model_stream", "data": {"chunk": CHUNK}}, "data", [Text("a"), CallPart("", "0", "i", "f")]),
        (CHUNK, "data", [Text("a"), CallPart("", "0", "i", "f")]),
        (
            {"ops": [{"path": "/logs/model/streamed_output/-", "value": CHUNK}]},
            "data",
            [Text("a"), CallPart("", "0", "i", "f")],
        ),
        (BLOCKS, "data", [Reasoning(), Text("a")]),
        (
            piece(chunk_position="last", usage_metadata={"input_tokens": 1, "output_tokens": 2}),
            "data",
            [Tokens(1, 2), CallDone()],
        ),
        (piece(response_metadata={"finish_reason": "length"}), "data", [Finish("length")]),
        ({"event": "on_chain_stream", "data": {"chunk": CHUNK}}, "data", []),
        (
            {"event": "on_tool_end", "data": {"output": {"type": "tool", "content": "1", "tool_call_id": "i"}}},
            "data",
            [Result("1", "i")],
        ),
        ({"ops": [{"path": "/logs/f/final_output", "value": {"output": "1"}}]}, "data", []),
        ({"output": "a"}, "data", [Message("a")]),
        ('"a"', "data", [Text("a")]),
        ({"event": "on_custom_event", "name": "groundedness", "data": {"score": 1}}, "data", [Score(1)]),
        ({"status_code": 500, "message": "no"}, "error", [Error("no")]),
        ("", "end", [End()]),
        (CHUNK, "metadata", []),
    ],
)
def test_an_event_of_langserve_means(data: object, name: str, signals: list[Signal]) -> None:
    assert [signal for signal in meant(Lexicon().dialect("langserve"), data, name) if signal != Text("")] == signals


@pytest.mark.parametrize(
    ("event", "dialect"),
    [
        (Event("metadata", '{"run_id": "r"}'), "langserve"),
        (Event("metadata", '{"run_id": "r", "attempt": 1}'), "langgraph"),
        (Event("data", '{"event": "on_chain_start", "run_id": "r"}'), "langserve"),
        (Event("data", '{"ops": []}'), "langserve"),
        (Event("error", '{"status_code": 500, "message": "Internal Server Error"}'), "langserve"),
        (Event("", json.dumps(mastra("start"))), "mastra"),
        (Event("", json.dumps(dify("message"))), "dify"),
        (Event("", '{"event": "message"}'), None),
        (Event("", '{"type": "start", "payload": {}}'), None),
    ],
)
def test_an_event_shows_its_dialect(event: Event, dialect: str | None) -> None:
    found = Lexicon().detect(HEAD, event, "sse")
    assert (found and found[0]) == dialect


WORDS = """event data ops path value chunk content text type tool_call_chunks args name id index output usage_metadata
payload toolCallId toolName error message answer conversation_id agent_thought tool_input observation node_finished
metadata AIMessageChunk on_chat_model_stream on_tool_end finish tool-call"""


@pytest.mark.parametrize("name", ["dify", "langserve", "mastra"])
@given(event=hostile(*WORDS.split()))
def test_no_event_makes_it_raise(name: str, event: Event) -> None:
    dialect = Lexicon().dialect(name)
    dialect.claims(HEAD, event)
    dialect.read(event)


NATIVE = """
rules = [
  {event = "token", text = "text"},
  {event = "message", message = "text"},
  {event = "tool_call", tool = "name || tool", args = "not_null(args, arguments, input)", id = "id"},
  {event = "tool_result", result = "result", id = "id", tool = "name || tool"},
  {event = "groundedness", groundedness = "score"},
  {event = "usage", input_tokens = "input", output_tokens = "output"},
  {event = "error", error = "message"},
  {event = "done", end = true},
  {when = "@ == '[DONE]'", end = true},
]
"""


@pytest.mark.parametrize("sample", samples("native"), ids=lambda sample: sample.name)
def test_a_table_of_nine_rules_reads_what_the_native_dialect_reads(sample: Sample) -> None:
    built_in = sample.read(dialect="native")
    table = tomllib.loads(NATIVE)
    if "end_not_marked" in kinds(built_in):  # what native agents may leave out, and others may not
        table["rules"] = [rule for rule in table["rules"] if "end" not in rule]
    reader = Reader("question", "mine", Bounds(), Lexicon({"mine": table}))
    reader.open(sample.head)
    reader.feed(sample.body, 0.5)
    by_table = reader.close(1.0, None if sample.is_whole else TargetError("cut", "the connection broke"))
    assert built_in.answer or built_in.error
    for field in ("answer", "final_text", "finish", "tool_calls", "scores", "usage", "timing", "error", "findings"):
        assert getattr(by_table, field) == getattr(built_in, field), field
