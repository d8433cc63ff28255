"""The `langgraph` dialect: what LangGraph's server is asked, and what its stream modes say, alone and together."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.dialects import Options, langgraph
from golden.gathering import Fold
from golden.payload import dump
from golden.signals import End, Error, Finish, Score, Signal
from golden.sse import Event
from golden.transcript import Turn
from golden.wire import Head, Request

HEAD = Head(200, {}, "chunked")
HUMAN = {"type": "human", "id": "h", "content": "why?"}
STOP = {"finish_reason": "STOP"}
REASONED = {"type": "reasoning", "reasoning": "hm"}


def event(name: str, data: object) -> Event:
    return Event(name, data if isinstance(data, str) or data is None else json.dumps(data), "", 0.5)


def read(name: str, data: object) -> list[Signal]:
    return list(langgraph.DIALECT.read(event(name, data)))


def turn(*events: tuple[str, object]) -> Turn:
    fold = Fold("why?")
    for name, data in events:
        fold.add(event(name, data), read(name, data))
    return fold.close(1.0, proven=True, pending=False)


def piece(id: str | None, content: object = "", **more: object) -> tuple[str, object]:
    return "messages", [{"type": "AIMessageChunk", "id": id, "content": content, **more}, {"langgraph_node": "agent"}]


def whole(id: str | None, content: object = "", *calls: dict[str, object], **more: object) -> dict[str, object]:
    return {"type": "ai", "id": id, "content": content, "tool_calls": list(calls), **more}


def call(name: str, args: object, id: str | None = None) -> dict[str, object]:
    return {"name": name, "args": args, "id": id}


def part(args: str | None, index: int | None = 0, name: str | None = None, id: str | None = None) -> dict[str, object]:
    return {"name": name, "args": args, "id": id, "index": index}


def result(id: str | None, call_id: str | None, content: object = "42", name: str = "a") -> dict[str, object]:
    return {"type": "tool", "id": id, "tool_call_id": call_id, "content": content, "name": name, "status": "success"}


def updates(*messages: object) -> tuple[str, object]:
    return "updates", {"agent": {"messages": list(messages)}}


def values(*messages: object) -> tuple[str, object]:
    return "values", {"messages": [HUMAN, *messages]}


def calls(came: Turn) -> list[tuple[str, Any, Any]]:
    return [(one.name, one.args, one.result) for one in came.tool_calls]


def kinds(came: Turn) -> set[str]:
    return {finding.kind for finding in came.findings} - {"end_not_marked"}


def test_a_single_turn_is_posted_without_a_thread() -> None:
    request = Request("why?", "s", model="m", system_prompt="p")
    post = langgraph.DIALECT.request(request, Options(id="broker"))
    assert post.path == "/runs/stream"
    assert post.body == {
        "assistant_id": "broker",
        "input": {"messages": [{"role": "user", "content": "why?"}]},
        "stream_mode": ["messages-tuple", "updates", "custom"],
        "config": {"configurable": {"model": "m", "system_prompt": "p"}},
    }
    assert langgraph.opens(request, Options()) is None


def test_several_turns_are_posted_to_a_thread_that_is_opened_first() -> None:
    request = Request("why?", "thread/1", turns=2, history=(("a", "b"),))
    opening = langgraph.opens(request, Options())
    assert opening is not None
    assert (opening.post.path, opening.post.body) == ("/threads", {})
    assert opening.session({"thread_id": "t"}) == "t"
    for reply in ({"thread_id": 3}, None):
        with pytest.raises(LookupError):
            opening.session(reply)
    post = langgraph.DIALECT.request(request, Options())
    assert post.path == "/threads/thread%2F1/runs/stream"
    body = post.body
    assert isinstance(body, dict)
    assert body["assistant_id"] == "agent"
    assert body["input"] == {"messages": [{"role": "user", "content": "why?"}]}


@pytest.mark.parametrize(
    ("name", "data", "claimed"),
    [
        ("metadata", {"run_id": "r", "attempt": 1}, True),
        ("metadata", {"run_id": "r"}, False),  # LangServe's
        ("metadata", "?", False),
        ("messages", [{}, {}], True),
        ("messages", {}, False),
        ("messages/partial", [], True),
        ("messages/metadata", {}, True),
        ("messages/metadata", [], False),
        ("updates|tools:1", {}, True),
        ("values", {}, True),
        ("values", 3, False),
        ("events", {"event": "on_chain_start"}, False),
        ("custom", {}, False),
        ("error", {"error": "E", "message": "m"}, False),
        ("", {"run_id": "r", "attempt": 1}, False),
    ],
)
def test_what_is_claimed(name: str, data: object, claimed: bool) -> None:
    assert bool(langgraph.claims(HEAD, event(name, data))) is claimed
    run = Head(200, {"content-location": "/threads/t/runs/r"}, "chunked")
    assert langgraph.claims(run, event(name, data))


STREAMED = [
    piece("m1", "Let me see. "),
    piece("m1", tool_call_chunks=[part("", name="a", id="c1")]),
    piece("m1", tool_call_chunks=[part('{"x":'), part("", 1, "b", "c2")]),
    piece("m1", tool_call_chunks=[part("1}"), part("{}", 1)], usage_metadata={"input_tokens": 20, "output_tokens": 12}),
    piece("m1", chunk_position="last"),
    ("messages", [result("t1", "c1"), {}]),
    ("messages", [result("t2", "c2", "7", "b"), {}]),
    piece("m2", [REASONED]),
    piece("m2", [{"type": "text", "text": "It "}, "is "]),
    piece("m2", "42.", usage_metadata={"input_tokens": 50, "output_tokens": 28}),
    piece("m2", response_metadata={"finish_reason": "stop"}),
]
FIRST = whole("m1", "Let me see. ", call("a", {"x": 1}, "c1"), call("b", {}, "c2"))
FIRST["usage_metadata"] = {"input_tokens": 20, "output_tokens": 12}
SECOND = whole("m2", [REASONED, {"type": "text", "text": "It is 42."}])
SECOND["usage_metadata"] = {"input_tokens": 50, "output_tokens": 28}
RESULTS = (result("t1", "c1"), result("t2", "c2", "7", "b"))
TWICE = [one for one in STREAMED for _ in range(2) if one not in (STREAMED[5], STREAMED[6])]
LANGCHAIN = [
    ("events", {"event": "on_chat_model_end", "data": {"output": FIRST}}),
    ("events", {"event": "on_tool_end", "data": {"output": RESULTS[0]}}),
    ("events", {"event": "on_chain_stream", "data": {"chunk": {"tools": {"messages": [*RESULTS]}}}}),
    ("events", {"event": "on_chat_model_stream", "data": {"chunk": {**SECOND, "content": [REASONED]}}}),
    ("events", {"event": "on_chat_model_end", "data": {"output": {**SECOND, "type": "AIMessageChunk"}}}),
    ("events", {"event": "on_chain_stream", "data": {"chunk": {"messages": [SECOND]}}}),
]


@pytest.mark.parametrize(
    "events",
    [
        STREAMED,
        [
            *STREAMED[:5],
            updates(FIRST),
            values(FIRST),
            *STREAMED[5:7],
            values(FIRST, *RESULTS),
            *STREAMED[7:],
            updates(SECOND),
            values(FIRST, *RESULTS, SECOND),
            updates(None),
            ("updates", {"agent": None}),
        ],
        [
            updates(FIRST),
            ("updates|tools:1", {"tools": [{"messages": RESULTS[0]}, {"messages": [RESULTS[1]]}]}),
            ("updates", {"agent": {"messages": SECOND}}),
        ],
        [values(), values(FIRST), values(FIRST, *RESULTS), values(FIRST, *RESULTS, SECOND)],
        [
            ("messages/partial", [whole("m1", "Let me ", call("a", {}, "c1"))]),
            ("messages/partial", [FIRST]),
            ("messages/complete", [*RESULTS]),
            ("messages/metadata", {}),
            ("messages/partial", [whole("m2", "It ")]),
            ("messages/partial", [SECOND]),
        ],
        [
            *STREAMED,
            ("values", {"messages": [whole("old", "Earlier."), HUMAN, FIRST, *RESULTS, SECOND]}),
        ],
        LANGCHAIN,
        [*TWICE, values(FIRST, *RESULTS, SECOND)],
    ],
    ids=["tuple", "combined", "updates", "values", "messages", "earlier turns", "events", "two modes that stream"],
)
def test_every_mode_and_all_together_give_the_same_turn(events: list[tuple[str, object]]) -> None:
    came = turn(("metadata", {"run_id": "r", "attempt": 1}), *events)
    assert (came.answer, came.error) == ("Let me see. It is 42.", None)
    assert calls(came) == [("a", {"x": 1}, "42"), ("b", {}, "7")]
    assert came.usage is not None
    assert (came.usage.input, came.usage.output) == (70, 40)
    assert came.finish == "finished"
    assert kinds(came) == set()


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # The same index for all, whole in one piece; none at all; no ids either.
        ([piece("m", tool_call_chunks=[part("{}", 0, "a", "1"), part("{}", 0, "b", "2")])], ["a", "b"]),
        ([piece("m", tool_call_chunks=[part("{}", None, "a", "1"), part("{}", None, "b", "2")])], ["a", "b"]),
        ([piece("m", tool_call_chunks=[part("{}", None, "a"), part("{}", None, "b")])], ["a", "b"]),
        # The ids of all calls are the same, or missing, and the message is told again.
        ([updates(whole("m", "", call("a", {}, "x"), call("b", {}, "x")))] * 2, ["a", "b"]),
        ([updates(whole("m", "", call("a", {}), call("b", {})))] * 2, ["a", "b"]),
        ([updates(whole(None, "", call("a", {}), call("a", {})))] * 2, ["a", "a"]),
        ([updates(whole("m", "", call("a", {}, "x"))), updates(whole("n", "", call("a", {}, "x")))], ["a", "a"]),
        # An index that does not start at none, as where text is the first block.
        ([piece("m", tool_call_chunks=[part("{}", 1, "a", "1")]), updates(whole("m", "", call("a", {}, "1")))], ["a"]),
    ],
)
def test_calls_are_counted_once_whatever_their_index_and_ids(
    events: list[tuple[str, object]], expected: list[str]
) -> None:
    came = turn(*events, piece("m", chunk_position="last"), piece("z", "done"))
    assert [one.name for one in came.tool_calls] == expected
    assert kinds(came) <= {"call_id_repeated"}


def test_a_call_whose_arguments_are_no_json_is_told_once() -> None:
    bad = {"name": "b", "args": '{"y": nope}', "id": "2"}
    streamed = piece("m", tool_call_chunks=[part('{"y": nope}', 0, "b", "2"), part("{}", 1, "a", "1")])
    told = whole("m", "", call("a", {}, "1"), invalid_tool_calls=[bad])
    came = turn(streamed, updates(told), values(told))
    assert [(one.name, one.args, one.parsed) for one in came.tool_calls] == [
        ("b", '{"y": nope}', False),
        ("a", {}, True),
    ]
    assert kinds(came) == {"args_not_json"}
    mended = whole("m", "", call("a", {}, "1"), call("b", {}, "2"))
    assert kinds(turn(("messages/partial", [told]), ("messages/partial", [mended]))) == set()


def test_a_message_that_a_node_rewrites_or_removes_takes_its_text_with_it() -> None:
    came = turn(piece("m", "secret"), updates(whole("m", "I may not say.")), piece("n", "!"))
    assert came.answer == "I may not say.!"
    assert "secret" in came.shown
    assert turn(piece("m", "x"), updates({"type": "remove", "id": "m"}), piece("n", "y")).answer == "y"


def test_two_models_at_the_same_time_are_told_apart() -> None:
    came = turn(
        piece("m", tool_call_chunks=[part('{"x":', 0, "a", "1")]),
        piece("n", tool_call_chunks=[part("{}", 0, "b", "2")]),
        piece("n", response_metadata={"stop_reason": "tool_use"}),
        piece("m", tool_call_chunks=[part("2}", 0)]),
        piece("m", chunk_position="last"),
    )
    assert calls(came) == [("a", {"x": 2}, None), ("b", {}, None)]
    assert kinds(came) == set()


@pytest.mark.parametrize(
    ("events", "finish"),
    [
        ([piece("m", "x", response_metadata={"finish_reason": "length"})], "length"),
        ([updates(whole("m", "x", response_metadata={"stop_reason": "max_tokens"}))], "length"),
        ([piece("m", response_metadata={"finish_reason": "length"}), piece("n", "x"), STREAMED[-1]], "finished"),
        ([updates(whole("m", "", call("a", {}))), ("updates", {"__interrupt__": [{"value": "ok?"}]})], "waiting"),
        ([("values", {"messages": [whole("m", "", call("a", {}))], "__interrupt__": []})], "waiting"),
        ([("updates", {"__interrupt__": []}), values(whole("m", "", call("a", 1), response_metadata=STOP))], "waiting"),
    ],
)  # fmt: skip
def test_how_a_turn_ends(events: list[tuple[str, object]], finish: str) -> None:
    assert turn(*events).finish == finish


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("error", {"error": "RuntimeError", "message": "it broke"}, [Error("it broke")]),
        ("error", {"error": "RuntimeError"}, [Error("RuntimeError")]),
        ("error", '"it broke"', [Error("it broke")]),
        ("error", "{}", [Error("{}")]),
        ("end", None, [End()]),
        ("end", "null", [End()]),
        ("custom", {"groundedness": 0.9}, [Score(0.9)]),
        ("custom|sub:1", {"groundedness": {"score": 0.9}}, [Score(0.9)]),
        ("custom", {"progress": 1}, []),
        ("events", {"event": "on_custom_event", "name": "groundedness", "data": {"score": 1}}, [Score(1)]),
        ("events", {"event": "on_chat_model_stream", "data": None}, []),
        ("updates", {"__interrupt__": None}, [Finish("waiting")]),
        ("debug", "?", []),
        ("feedback", {"url": "x"}, []),
        ("metadata", {"run_id": "r"}, []),
    ],
)
def test_what_the_other_events_say(name: str, data: object, expected: list[Signal]) -> None:
    assert read(name, data) == expected


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [("values", "[]", "malformed"), ("messages", "{}", "malformed"), ("updates", "{", "not_json"),
     ("values", '{"messages": [], "x": NaN}', "not_json"), ("messages/partial", "null", "malformed")],
)  # fmt: skip
def test_what_no_mode_says_is_odd(name: str, data: object, kind: str) -> None:
    assert kinds(turn((name, data))) == {kind}


def test_content_of_a_tool_that_is_no_text_is_kept() -> None:
    image = [{"type": "image", "url": "u"}]
    texts = [{"type": "text", "text": "4"}, "2"]
    came = turn(updates(whole("m", "", call("a", {}, "1"), call("b", {}, "2"))), updates(result("r", "1", image)))
    assert calls(came)[0][2] == image
    assert calls(turn(updates(whole("m", "", call("a", {}, "1")), result(None, "1", texts))))[0][2] == "42"


KEYS = """messages type id content tool_calls tool_call_chunks args index name usage_metadata data chunk output
event response_metadata finish_reason additional_kwargs invalid_tool_calls input_tokens text"""
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5)
    | st.sampled_from(["ai", "tool", "human", "remove", "AIMessageChunk", "on_chat_model_end", "on_chain_stream"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(KEYS.split()),
        inner,
        max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(langgraph._MODES)), JSON | st.text()), max_size=4))
def test_nothing_makes_it_raise(events: list[tuple[str, object]]) -> None:
    turn(*((name, data if isinstance(data, str) else dump(data)) for name, data in events))
    for name, data in events:
        langgraph.claims(HEAD, event(name, dump(data)))
