import json
from typing import Any

import pytest
from hypothesis import given

from golden.dialects import Options
from golden.dialects.ollama import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import Call, End, Error, Finish, Odd, Reasoning, Result, RunningTokens, Score, Signal, Text
from golden.sse import Event
from golden.transcript import Turn
from golden.wire import Head, Request
from tests import hostile

HEAD = Head(200, {"content-type": "application/x-ndjson"}, "chunked")
FINISHED = [Finish("stop"), End()]


def line(content: object = "", done: bool = False, **fields: object) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": content, **fields}, "done": done}


def turn_of(*lines: object, end: str = "\n", last: str = "\n") -> Turn:
    reader = Reader("why?", "auto", Bounds(), Lexicon())
    reader.open(HEAD)
    reader.feed((end.join(map(json.dumps, lines)) + last).encode(), 0.5)
    return reader.close(1.0)


def test_a_question_is_posted_with_all_that_was_said_before() -> None:
    assert request(Request("why?", "s"), Options()).body == {
        "model": "llama3.2",
        "messages": [{"role": "user", "content": "why?"}],
        "stream": True,
    }
    post = request(Request("b?", "s", 2, (("a?", "a."),), model="m", system_prompt="be kind"), Options(id="x"))
    body: Any = post.body
    assert (post.path, body["model"]) == ("/api/chat", "m")
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("system", "be kind"),
        ("user", "a?"),
        ("assistant", "a."),
        ("user", "b?"),
    ]
    other: Any = request(Request("", "s"), Options(id="x")).body
    assert other["model"] == "x"


@pytest.mark.parametrize(
    ("data", "is_claimed"),
    [
        (line("a"), True),
        ({"model": "m", "response": "a", "done": False}, True),
        ({"message": {}, "done": True}, True),
        ({"message": "a", "done": True}, False),
        ({"message": {"content": "a"}, "done": "no"}, False),
        ({"error": "boom"}, False),
        ({"event_kind": "part_delta", "delta": {"content_delta": "done"}}, False),
        ("done", False),
    ],
)
def test_lines_that_say_whether_they_are_the_last_are_claimed(data: object, is_claimed: bool) -> None:
    assert bool(claims(HEAD, Event("", json.dumps(data)))) == is_claimed
    assert claims(HEAD, Event("", None)) is None


@pytest.mark.parametrize(
    ("body", "signals"),
    [
        (line("a"), [Text("a")]),
        (line(None), []),
        (line(["a"]), [Odd("malformed", "the `content` of a message is no text")]),
        (line("", thinking="hm"), [Text(""), Reasoning()]),
        (line("a", reasoning_content="hm"), [Text("a"), Reasoning()]),
        (line("", tool_calls=[{"function": {"name": "f", "arguments": {"x": 1}}}]), [Text(""), Call("f", {"x": 1})]),
        (line("", tool_calls=[{"id": "i", "function": {"name": "f"}}]), [Text(""), Call("f", None, "i")]),
        (line("", tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]), [Text(""), Call("f", "{}")]),
        (line("", tool_calls=[None, {"function": None}]), [Text("")]),
        (line("42", role="tool", tool_name="f"), [Result("42", name="f")]),
        (line("", done=True), [Text(""), *FINISHED]),
        ({"done": True}, FINISHED),
        ({**line("", done=True), "done_reason": "length"}, [Text(""), Finish("length"), End()]),
        ({"done": True, "prompt_eval_count": 5, "eval_count": 2}, [RunningTokens(5, 2), *FINISHED]),
        ({"done": True, "eval_count": 2}, [RunningTokens(None, 2), *FINISHED]),
        ({"model": "m", "response": "a", "thinking": "hm", "done": False}, [Text("a"), Reasoning()]),
        ({"error": "boom"}, [Error("boom")]),
        ({"error": {"message": "boom"}}, [Error("boom")]),
        ({"error": {}}, [Error("no message")]),
        ({"error": {}, "message": {"content": "a"}}, [Text("a")]),
        ({**line("a"), "groundedness": 0.9}, [Text("a"), Score(0.9)]),
        (line("a", groundedness={"score": 0.9}), [Text("a"), Score(0.9)]),
        ([], [Odd("malformed", "the data of `message` is not what it should be")]),
    ],
)
def test_a_line_means(body: object, signals: list[Signal]) -> None:
    assert list(read(Event("", json.dumps(body)))) == signals


@pytest.mark.parametrize(("end", "last"), [("\n", "\n"), ("\r\n", "\r\n"), ("\n\n", "\n"), ("\n", "")])
def test_lines_end_as_they_like(end: str, last: str) -> None:
    turn = turn_of(line("a"), line("b"), line("", done=True), end=end, last=last)
    assert (turn.answer, turn.error, turn.findings) == ("ab", None, ())


def test_a_stream_without_its_last_line_was_cut_and_one_that_goes_on_is_odd() -> None:
    cut = turn_of(line("a")).error
    assert cut is not None
    assert cut.message == "the stream ended without its end marker, after 1 events, 1 characters of answer"
    assert [finding.kind for finding in turn_of(line("a", done=True), line("b")).findings] == ["after_end"]


STREAMS = hostile.events(
    *("message", "done", "content", "thinking", "tool_calls", "function", "name", "arguments", "id", "role", "tool"),
    *("error", "response", "done_reason", "prompt_eval_count", "eval_count", "groundedness", "tool_name"),
)


@given(STREAMS)
def test_no_line_makes_it_raise(stream: list[Event]) -> None:
    hostile.survived("ollama", stream)
