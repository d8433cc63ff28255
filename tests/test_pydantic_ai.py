import json

import pytest
from hypothesis import given

from golden.dialects import Options, pydantic_ai
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.sse import Event
from golden.transcript import Usage
from golden.wire import Head, Request
from tests.streamed import Body, hostile, kinds, turn_of

HEAD = Head(200, {}, "chunked")


def event(kind: str, **fields: object) -> Body:
    return {**fields, "event_kind": kind}


def part(kind: str, body: Body, index: int | None = 0) -> Body:
    return event(kind, part=body) if index is None else event(kind, part=body, index=index)


def text(content: str) -> Body:
    return {"part_kind": "text", "content": content}


def tool(args: object, id: str | None = "c1", kind: str = "tool-call") -> Body:
    return {"part_kind": kind, "tool_name": "look", "args": args, "tool_call_id": id}


def delta(content: object, index: int = 0) -> Body:
    return event("part_delta", index=index, delta={"part_delta_kind": "text", "content_delta": content})


def args(piece: object, index: int = 0) -> Body:
    return event("part_delta", index=index, delta={"part_delta_kind": "tool_call", "args_delta": piece})


def made(args: object, id: str = "c1", kind: str = "function_tool_call") -> Body:
    return event(kind, part=tool(args, id))


def given_back(content: object, id: str = "c1", key: str = "part") -> Body:
    return event("function_tool_result", **{key: {"tool_name": "look", "content": content, "tool_call_id": id}})


def over(output: object, **result: object) -> Body:
    return event("agent_run_result", result={"output": output, **result})


def test_a_question_is_posted_with_what_was_asked_for() -> None:
    post = pydantic_ai.request(Request("why?", "s"), Options())
    assert (post.path, post.body, dict(post.headers)) == ("/chat", {"prompt": "why?"}, {})
    post = pydantic_ai.request(Request("why?", "s", 2, (("q", "a"),), "small", "Be brief."), Options())
    assert post.body == {
        "prompt": "why?",
        "session_id": "s",
        "message_history": [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "q"}]},
            {"kind": "response", "parts": [{"part_kind": "text", "content": "a"}]},
        ],
        "model": "small",
        "system_prompt": "Be brief.",
    }


@pytest.mark.parametrize(
    ("seen", "claimed"),
    [
        (Event("", '{"event_kind": "part_start"}'), True),
        (Event("error", '{"event_kind": "error", "message": "x"}'), True),
        (Event("", '{"event_kind": "final_result"}'), True),
        (Event("", '{"event_kind": "invented"}'), False),
        (Event("part_start", '{"index": 0}'), False),
        (Event("part_start", None), False),
        (Event("", '["event_kind"]'), False),
    ],
)
def test_an_event_kind_shows_the_dialect(seen: Event, claimed: bool) -> None:
    assert bool(pydantic_ai.claims(HEAD, seen)) is claimed


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/x-ndjson", "{}\n{}"),
        ("application/jsonl", "{}\r\n{}\r\n"),
        ("text/event-stream", "data: {}\n\ndata: {}\n\n"),
        ("", "data: {}\r\n\r\n:\r\ndata: {}\r\n\r\n"),
    ],
)
@pytest.mark.parametrize("dialect", ["auto", "pydantic-ai"])
def test_a_reply_is_framed_as_its_head_says(content_type: str, body: str, dialect: str) -> None:
    reader = Reader("why?", dialect, Bounds(), Lexicon())
    reader.open(Head(200, {"content-type": content_type}, "chunked"))
    whole = body.replace("{}", json.dumps(part("part_start", text("hi"))), 1).replace("{}", json.dumps(over("hi")))
    reader.feed(whole.encode(), 0.5)
    turn = reader.close(1.0)
    assert (reader.dialect, turn.answer, turn.error, turn.findings) == ("pydantic-ai", "hi", None, ())


@pytest.mark.parametrize(
    ("events", "answer", "final"),
    [
        # all events; none at a part's end (version 0); the result alone; after a call; of an index that begins again
        ([part("part_start", text("a")), delta("b"), part("part_end", text("ab")), over("ab")], "ab", "ab"),
        ([part("part_start", text("")), delta("a"), delta("b"), over("ab")], "ab", "ab"),
        ([over("ab")], "ab", "ab"),
        ([part("part_start", text("a ")), made({}), given_back(5), over("b")], "a b", "b"),
        (
            [
                *(part("part_start", text("a ")), part("part_end", text("a "))),
                *(part("part_start", tool("{}"), 1), part("part_end", tool("{}"), 1), made("{}"), given_back(5)),
                *(part("part_start", text("b")), part("part_end", text("b")), over("b")),
            ],
            "a b",
            "b",
        ),
        # no index, and text that comes at the end of its part only
        ([part("part_start", text("a"), None), part("part_end", text("ab"), None), over("ab")], "ab", "ab"),
        ([part("part_start", text("")), part("part_end", text("ab")), over("ab")], "ab", "ab"),
        # what an output function made of it; what an output tool was given
        ([part("part_start", text("a")), over("A!")], "A!", "A!"),
        ([part("part_start", tool("{}")), made("{}", kind="output_tool_call"), over([5])], "[5]", "[5]"),
        # reasoning, and what says nothing
        (
            [
                part("part_start", {"part_kind": "thinking", "content": "hm"}),
                event("part_delta", index=0, delta={"part_delta_kind": "thinking", "content_delta": "hm"}),
                part("part_end", {"part_kind": "thinking", "content": "hm"}),
                *(part("part_start", text("a")), event("final_result"), event("invented"), over("a")),
            ],
            "a",
            "a",
        ),
    ],
)  # fmt: skip
def test_text_counts_once_however_often_it_is_told(events: list[Body], answer: str, final: str) -> None:
    turn = turn_of("pydantic-ai", *events)
    assert (turn.answer, turn.final_text, turn.error, turn.findings) == (answer, final, None, ())


STREAMED = [part("part_start", tool('{"a"')), args(":1}"), part("part_end", tool('{"a":1}'))]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([*STREAMED, made('{"a":1}'), given_back(5)], [({"a": 1}, 5)]),
        ([*STREAMED[:2], made('{"a":1}'), given_back(5, key="result")], [({"a": 1}, 5)]),
        ([made('{"a":1}'), given_back(5)], [({"a": 1}, 5)]),
        (STREAMED[:2], [({"a": 1}, None)]),
        # arguments that are an object, whole or in pieces; none at all
        ([part("part_start", tool({"a": 1})), part("part_end", tool({"a": 1})), made({"a": 1})], [({"a": 1}, None)]),
        ([part("part_start", tool({})), args({"a": 1}), part("part_end", tool({"a": 1}))], [({"a": 1}, None)]),
        ([part("part_start", tool(None)), part("part_end", tool(None))], [({}, None)]),
        # an id that is always the same, as the test model has it
        ([*STREAMED, made("{}"), given_back(5), *STREAMED, made("{}"), given_back(6)], [({"a": 1}, 5), ({"a": 1}, 6)]),
        # a tool that the model's provider runs
        (
            [
                part("part_start", tool("{}", kind="builtin-tool-call")),
                part("part_end", tool("{}", kind="builtin-tool-call")),
                part("part_start", {**tool(None, kind="builtin-tool-return"), "content": 5}, 1),
                part("part_end", {**tool(None, kind="builtin-tool-return"), "content": 5}, 1),
                event("builtin_tool_result", result={**tool(None), "content": 5}),
            ],
            [({}, 5)],
        ),
    ],
)
def test_a_call_counts_once_however_it_is_told(events: list[Body], expected: list[tuple[object, object]]) -> None:
    turn = turn_of("pydantic-ai", *events, over("x"))
    assert [(call.args, call.result) for call in turn.tool_calls] == expected
    assert (turn.final_text, set(kinds(turn)) - {"call_id_repeated"}) == ("x", set())


@pytest.mark.parametrize(
    ("events", "finish"),
    [
        ([made("{}"), event("deferred_tool_requests", requests={}), over({"calls": [{}], "approvals": []})], "waiting"),
        ([made("{}"), event("deferred_tool_requests", requests={})], "waiting"),
        ([event("deferred_tool_requests"), event("deferred_tool_results"), over("x")], "finished"),
        ([over("x"), Event("", "[DONE]")], "finished"),
        ([part("part_start", text("x")), Event("", "[DONE]")], "finished"),
    ],
)
def test_a_run_may_wait(events: list[Body | Event], finish: str) -> None:
    turn = turn_of("pydantic-ai", *events)
    assert (turn.finish, turn.error) == (finish, None)


@pytest.mark.parametrize(
    ("result", "usage"),
    [
        ({"usage": {"input_tokens": 3, "output_tokens": 5, "requests": 2}}, Usage(3, 5)),
        ({"_state": {"usage": {"input_tokens": 3, "output_tokens": 5}}}, Usage(3, 5)),
        ({"usage": None}, None),
        ({}, None),
    ],
)
def test_usage_is_that_of_the_run(result: Body, usage: Usage | None) -> None:
    assert turn_of("pydantic-ai", over("x", **result)).usage == usage


def test_a_score_may_be_an_event_of_ones_own_or_in_the_runs_metadata() -> None:
    mine = event("custom", name="groundedness", score=0.5)
    assert turn_of("pydantic-ai", mine, event("custom", name="other", score=1), over("x")).groundedness == 0.5
    assert turn_of("pydantic-ai", over("x", metadata={"groundedness": 0.25})).groundedness == 0.25


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (event("error", message="boom"), "boom"),
        (event("error", error="boom"), "boom"),
        (Event("error", "boom"), "boom"),
        (Event("error", '{"message": "boom"}'), "boom"),
    ],
)
def test_an_error_is_whatever_the_route_sends(wrong: Body | Event, message: str) -> None:
    turn = turn_of("pydantic-ai", part("part_start", text("a")), wrong)
    assert turn.error is not None
    assert (turn.answer, turn.error.kind) == ("a", "stream_error")
    assert message in turn.error.message


def test_what_is_not_as_it_should_be_is_odd() -> None:
    turn = turn_of(
        "pydantic-ai", delta(None), event("part_delta", delta=None), Event("", "{"), Event("", " "), over("x")
    )
    assert kinds(turn) == ["malformed", "not_json"]


WORDS = (
    *pydantic_ai._READERS,
    *("event_kind", "part", "part_kind", "tool-call", "text", "content", "index", "delta", "part_delta_kind", "args"),
    *("tool_call", "tool_call_id", "tool_name", "result", "output", "usage", "metadata", "groundedness", "_state"),
)


@given(seen=hostile(*WORDS))
def test_no_event_makes_it_raise(seen: Event) -> None:
    pydantic_ai.claims(HEAD, seen)
    pydantic_ai.read(seen)
