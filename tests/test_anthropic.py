import pytest
from hypothesis import given

from golden.dialects import Options, anthropic
from golden.sse import Event
from golden.transcript import Usage
from golden.wire import Head, Request
from tests.streamed import Body, calls, hostile, kinds, turn_of

HEAD = Head(200, {}, "chunked")
START: Body = {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}
STOP: Body = {"type": "message_stop"}


def begins(block: Body, index: int | None = 0) -> Body:
    event: Body = {"type": "content_block_start", "content_block": block}
    return event if index is None else {**event, "index": index}


def tool(id: str | None = "t1", input: object = None, kind: str = "tool_use") -> Body:
    return {"type": kind, "id": id, "name": "look", "input": {} if input is None else input}


def delta(kind: str, text: object, index: int | None = 0) -> Body:
    field = {"text_delta": "text", "input_json_delta": "partial_json"}.get(kind, "thinking")
    event: Body = {"type": "content_block_delta", "delta": {"type": kind, field: text}}
    return event if index is None else {**event, "index": index}


def args(text: str, index: int | None = 0) -> Body:
    return delta("input_json_delta", text, index)


def ends(index: int | None = 0) -> Body:
    return {"type": "content_block_stop"} if index is None else {"type": "content_block_stop", "index": index}


def last(reason: object = "end_turn", **usage: object) -> Body:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def test_a_question_is_posted_with_its_history() -> None:
    post = anthropic.request(Request("why?", "s"), Options())
    alone = {"role": "user", "content": "why?"}
    assert (post.path, dict(post.headers)) == ("/v1/messages", {"anthropic-version": "2023-06-01"})
    assert post.body == {"model": "claude-haiku-4-5", "max_tokens": 4096, "messages": [alone], "stream": True}
    history = (("one?", "1"), ("two?", ""))
    post = anthropic.request(Request("why?", "s", 3, history, None, "Be brief."), Options(id="mine"))
    said = [{"role": role, "content": text} for role, text in (("user", "one?"), ("assistant", "1"), ("user", "two?"))]
    assert post.body == {
        "model": "mine", "max_tokens": 4096, "messages": [*said, alone], "stream": True, "system": "Be brief.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("event", "claimed"),
    [
        (Event("message_start", '{"message": {}}'), True),
        (Event("", '{"type": "message_start", "message": {}}'), True),
        (Event("", '{"type": "message_start"}'), False),
        (Event("error", '{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}'), True),
        (Event("error", '{"type": "error", "error": {"type": "x"}, "sequence_number": 0}'), False),
        (Event("error", '{"error": {"type": "x"}}'), False),
        (Event("ping", '{"type": "ping"}'), False),
        (Event("message_start", None), False),
        (Event("", "[]"), False),
    ],
)
def test_the_parts_of_a_message_show_the_dialect(event: Event, claimed: bool) -> None:
    assert bool(anthropic.claims(HEAD, event)) is claimed


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([begins(tool()), args(""), args('{"a"'), args(":1}"), ends()], [{"a": 1}]),
        ([begins(tool()), ends()], [{}]),
        ([begins(tool()), args('{"a":1}')], [{"a": 1}]),  # no stop
        ([begins(tool(input={"a": 1})), ends()], [{"a": 1}]),  # whole at once
        ([begins(tool(), None), args('{"a":1}', None), ends(None)], [{"a": 1}]),  # no index
        # an index that is always the same, with ids and without, and an id that is always the same
        ([begins(tool("a")), args('{"a":1}'), begins(tool("b")), args('{"a":2}')], [{"a": 1}, {"a": 2}]),
        ([begins(tool(None)), args('{"a":1}'), ends(), begins(tool(None)), ends()], [{"a": 1}, {}]),
        ([begins(tool("a"), 0), ends(0), begins(tool("a"), 1), args('{"a":1}', 1), ends(1)], [{}, {"a": 1}]),
        # at the same time, and among blocks of other types
        (
            [begins(tool("a"), 0), begins(tool("b"), 1), args("{}", 0), ends(0), args('{"a":1}', 1), ends(1)],
            [{}, {"a": 1}],
        ),
        ([begins({"type": "text", "text": ""}), ends(), begins(tool(), 1), ends(1)], [{}]),
    ],
)  # fmt: skip
def test_calls_of_many_servers(events: list[Body], expected: list[object]) -> None:
    turn = turn_of("anthropic", START, *events, last("tool_use"), STOP)
    assert calls(turn) == [("look", args) for args in expected]
    assert (turn.finish, turn.error, set(kinds(turn)) - {"call_id_repeated"}) == ("waiting", None, {"waiting"})


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ([{"type": "text", "text": '{"a":'}, {"type": "text", "text": "1}"}], '{"a":1}'),
        ([{"type": "web_search_result", "url": "u"}], [{"type": "web_search_result", "url": "u"}]),
        ({"type": "error", "error_code": "x"}, {"type": "error", "error_code": "x"}),
        ("plain", "plain"),
        ([], []),
    ],
)  # fmt: skip
def test_what_the_servers_own_tools_give_back_is_their_result(content: object, result: object) -> None:
    for use, back in (("mcp_tool_use", "mcp_tool_result"), ("server_tool_use", "web_search_tool_result")):
        turn = turn_of(
            "anthropic",
            *(START, begins(tool(kind=use)), args("{}"), ends()),
            *(begins({"type": back, "tool_use_id": "t1", "content": content}, 1), ends(1)),
            *(begins({"type": "text", "text": "5"}, 2), ends(2), last(), STOP),
        )
        assert (calls(turn), turn.tool_calls[0].result) == ([("look", {})], result)
        assert (turn.final_text, turn.finish, turn.findings) == ("5", "finished", ())


def test_only_text_is_answer() -> None:
    turn = turn_of(
        "anthropic",
        *(START, {"type": "ping"}, begins({"type": "thinking", "thinking": "a"}), delta("thinking_delta", "b")),
        *(delta("signature_delta", "s"), ends(), begins({"type": "redacted_thinking", "data": "x"}, 1), ends(1)),
        *(begins({"type": "text", "text": "It "}, 2), delta("text_delta", "is.", 2), delta("citations_delta", {}, 2)),
        *(begins({"type": "invented", "text": "no"}, 3), {"type": "invented", "text": "no"}, ends(3), last(), STOP),
    )
    assert (turn.answer, turn.shown, turn.error, turn.findings) == ("It is.", ("It is.",), None, ())


@pytest.mark.parametrize(
    ("usages", "usage"),
    [
        ([{"output_tokens": 5}], Usage(3, 5)),
        ([{"input_tokens": 4, "output_tokens": 2}, {"input_tokens": 4, "output_tokens": 7}], Usage(4, 7)),
        ([{"input_tokens": None, "output_tokens": 5}], Usage(3, 5)),
        ([{}], Usage(3, None)),
    ],
)
def test_usage_is_a_running_total(usages: list[Body], usage: Usage) -> None:
    turn = turn_of("anthropic", START, delta("text_delta", "x"), *(last(**each) for each in usages), STOP)
    assert turn.usage == usage


@pytest.mark.parametrize(
    ("events", "finish", "error", "findings"),
    [
        ([last("max_tokens"), STOP], "length", None, ["length"]),
        ([last("model_context_window_exceeded"), STOP], "length", None, ["length"]),
        ([last("pause_turn"), STOP], "waiting", None, ["waiting"]),
        ([last("stop_sequence"), STOP], "finished", None, []),
        ([last(None), last("invented"), STOP], "finished", None, []),
        ([last(), Event("message_stop", None)], "finished", None, ["event_without_data"]),
        ([last(), STOP, Event("", "[DONE]")], "finished", None, []),
        ([Event("", "[DONE]")], "finished", None, []),
        ([last()], "finished", None, ["end_not_marked"]),
        ([], None, "without its end marker", []),
        ([{"type": "error", "error": {"type": "api_error", "message": "boom"}}], None, "boom", []),
        ([Event("error", '{"type": "error", "error": {"type": "overloaded_error"}}')], None, "overloaded_error", []),
        ([Event("error", "boom")], None, "boom", []),
        ([Event("", "{"), STOP], "finished", None, ["not_json"]),
        ([{"type": "content_block_delta", "delta": {"type": "text_delta"}}, STOP], "finished", None, ["malformed"]),
        ([{"type": "content_block_delta", "delta": None}, STOP], "finished", None, ["malformed"]),
    ],
)
def test_how_a_turn_ends(
    events: list[Body | Event], finish: str | None, error: str | None, findings: list[str]
) -> None:
    turn = turn_of("anthropic", START, delta("text_delta", "x"), *events)
    assert (turn.finish, turn.error is None, kinds(turn)) == (finish, error is None, findings)
    assert turn.error is None or str(error) in turn.error.message


@pytest.mark.parametrize("details", [{"type": "refusal", "explanation": "No."}, None])
def test_a_refusal_is_said_and_is_no_error(details: object) -> None:
    refused: Body = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    turn = turn_of("anthropic", START, refused, STOP)
    assert (turn.answer, turn.finish, turn.error, kinds(turn)) == ("", "finished", None, ["refusal"])


WORDS = (
    *anthropic._READERS,
    *("type", "index", "delta", "text", "text_delta", "input_json_delta", "partial_json", "content_block", "tool_use"),
    *(
        "mcp_tool_result",
        "content",
        "id",
        "name",
        "input",
        "usage",
        "input_tokens",
        "stop_reason",
        "refusal",
        "message",
    ),
)


@given(event=hostile(*WORDS))
def test_no_event_makes_it_raise(event: Event) -> None:
    anthropic.claims(HEAD, event)
    anthropic.read(event)
