import json
from typing import Any

import pytest
from hypothesis import given

from golden.dialects import Options, posting
from golden.dialects.openai_chat import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.sse import Event
from golden.transcript import Turn, Usage
from golden.wire import Ends, Head, Request
from tests import hostile

HEAD = Head(200, {}, "chunked")
DONE = "[DONE]"


def chunk(delta: object = None, **fields: object) -> dict[str, Any]:
    """A chunk with one choice; `finish` is its reason, and other fields stand beside the choices."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": fields.pop("finish", None)}
    return {"object": "chat.completion.chunk", "choices": [choice], **fields}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(calls)})


def call(name: str | None = None, args: object = None, **fields: object) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": args}}


def turn_of(*datas: object, ends: Ends = "chunked", end: str = "\n\n") -> Turn:
    reader = Reader("why?", "openai-chat", Bounds(), Lexicon())
    reader.open(Head(200, {}, ends))
    for data in datas:
        reader.feed(f"data: {data if isinstance(data, str) else json.dumps(data)}{end}".encode(), 0.5)
    return reader.close(1.0)


def calls_of(*datas: object) -> list[tuple[str, object]]:
    turn = turn_of(*datas, chunk(finish="stop"), DONE)
    assert {finding.kind for finding in turn.findings} <= {"call_id_repeated", "waiting"}
    return [(call.name, call.args) for call in turn.tool_calls]


def kinds(turn: Turn) -> list[str]:
    return [finding.kind for finding in turn.findings]


# How a question is posted


def test_a_question_is_posted_as_a_message() -> None:
    post = request(Request("why?", "s"), Options())
    assert (post.path, post.form, post.headers) == ("/v1/chat/completions", False, {})
    assert post.body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "why?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_history_is_resent_and_model_and_system_prompt_have_their_places() -> None:
    asked = Request("b?", "s", 2, (("a?", "a."),), model="m", system_prompt="be kind")
    body: Any = request(asked, Options(id="support")).body
    assert body["model"] == "m"
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("system", "be kind"),
        ("user", "a?"),
        ("assistant", "a."),
        ("user", "b?"),
    ]


def test_an_agent_behind_the_protocol_is_asked_by_its_id_and_options_have_the_last_word() -> None:
    options = Options(
        path="/api/v1/chat", headers={"x": "y"}, body={"temperature": 0, "stream_options": None}, id="support"
    )
    post = posting(Lexicon().dialect("openai-chat"), options)(Request("why?", "s"))
    body: Any = post.body
    assert (post.path, post.headers, body["model"]) == ("/api/v1/chat", {"x": "y"}, "support")
    assert (body["temperature"], body["stream_options"]) == (0, None)


# What shows the dialect


@pytest.mark.parametrize(
    ("data", "is_claimed"),
    [
        (chunk(), True),
        ({"object": "chat.completion", "choices": [{"message": {"content": "a"}}]}, True),
        ({"object": "chat.completion.chunk", "choices": None}, True),
        ({"choices": [{"delta": {"content": "a"}}]}, True),
        ({"object": "", "choices": []}, False),
        ({"object": "text_completion", "choices": [{"text": "a"}]}, False),
        ({"type": "x", "text": '"choices"'}, False),
        (["choices"], False),
        (DONE, False),
        ('{"choices"', False),
    ],
)
def test_chunks_are_claimed_and_nothing_else_is(data: object, is_claimed: bool) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    assert bool(claims(HEAD, Event("", text))) == is_claimed


def test_an_event_without_data_is_not_claimed() -> None:
    assert claims(HEAD, Event("done", None)) is None


# Tool calls


QUOTE = '{"symbol": "AAPL"}'


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [calling(call("a", "{}", index=0)), calling(call("b", "{}", index=0))],
            [("a", {}), ("b", {})],
            id="one index for all, and no ids",
        ),
        pytest.param(
            [calling(call("a", QUOTE, index=0)), calling(call("a", '{"symbol": "MSFT"}', index=0))],
            [("a", {"symbol": "AAPL"}), ("a", {"symbol": "MSFT"})],
            id="one index and one name for all, and no ids",
        ),
        pytest.param(
            [calling(call("a", '{"x": 1}', index=0, id="i")), calling(call("a", '{"x": 2}', index=0, id="i"))],
            [("a", {"x": 1}), ("a", {"x": 2})],
            id="one index, one name and one id for all",
        ),
        pytest.param(
            [calling(call("a", "{}", id="i")), calling(call("b", "{}", id="i"))],
            [("a", {}), ("b", {})],
            id="one id for all, and no index",
        ),
        pytest.param(
            [calling(call("a", "{}", index=0, id="i")), calling(call("b", "{}", index=1, id="i"))],
            [("a", {}), ("b", {})],
            id="one id for all",
        ),
        pytest.param(
            [calling(call("a", QUOTE, index=0, id="i")), calling(call("a", QUOTE, index=0, id="i"))],
            [("a", {"symbol": "AAPL"})],
            id="a whole call told twice",
        ),
        pytest.param(
            [calling(call("a", "{}")), calling(call("b", "")), calling(call("c", QUOTE))],
            [("a", {}), ("b", {}), ("c", {"symbol": "AAPL"})],
            id="neither index nor id",
        ),
        pytest.param(
            [calling(call("a", "{}", id="i")), calling(call("b", "{", index=None)), calling(call(None, "}"))],
            [("a", {}), ("b", {})],
            id="a delta that says nothing belongs to the last",
        ),
        pytest.param(
            [
                calling(call("a", '{"x":', index=0, id="i"), call("b", '{"y":', index=0, id="j")),
                calling(call(None, "1}", index=0, id="i"), call(None, "2}", index=0, id="j")),
            ],
            [("a", {"x": 1}), ("b", {"y": 2})],
            id="one index for all, and deltas in turn that ids tell apart",
        ),
        pytest.param(
            [
                calling(call("a", "", index=0, id="i"), call("b", "", index=1, id="j")),
                calling(call(None, QUOTE, index=1), call(None, "{}", index=0)),
            ],
            [("a", {}), ("b", {"symbol": "AAPL"})],
            id="several in one delta, in any order",
        ),
        pytest.param(
            [calling(call("a", '{"sym', index=0)), calling(call("a", 'bol": "AAPL"}', index=0))],
            [("a", {"symbol": "AAPL"})],
            id="the name again with each delta, and no id",
        ),
        pytest.param(
            [calling(call("a", None, index=0, id=7)), calling(call(None, {"x": 1}, index=0))],
            [("a", {"x": 1})],
            id="arguments as an object after the name",
        ),
        pytest.param(
            [chunk({"function_call": {"name": "a", "arguments": "{"}}), chunk({"function_call": {"arguments": "}"}})],
            [("a", {})],
            id="the old form of a call",
        ),
        pytest.param(
            [calling(call("a", "{}", index=0, id="i")), calling({"index": 0, "id": "i", "function": None})],
            [("a", {})],
            id="a delta with no function",
        ),
        pytest.param(
            [calling(call("a", {"x": 1})), calling(call("b", {"x": 2}))],
            [("a", {"x": 1}), ("b", {"x": 2})],
            id="arguments as objects, and neither index nor id",
        ),
        pytest.param(
            [
                chunk(
                    {"tool_calls": [call("a", "{", index=0, id="i")], "function_call": {"name": "a", "arguments": "{"}}
                ),
                chunk(
                    {"tool_calls": [call("a", "}", index=0, id="i")], "function_call": {"name": "a", "arguments": "}"}}
                ),
            ],
            [("a", {})],
            id="both forms of a call beside one another",
        ),
        pytest.param(
            [chunk({"tool_calls": call("a", "{}", index=0)}), chunk({"tool_calls": None, "function_call": None})],
            [("a", {})],
            id="a call where a list is expected, and nulls",
        ),
        pytest.param(
            [
                calling(call("a", "{}", index=0, id="i")),
                chunk(finish="tool_calls"),
                calling(call("a", "{}", index=0, id="j")),
            ],
            [("a", {}), ("a", {})],
            id="a server that runs the tools itself, the same one twice",
        ),
        pytest.param(
            [
                calling(call("a", "{", index=0, id="i")),
                calling(call(None, "}", index=0)),
                {"choices": [{"message": {"content": "", "tool_calls": [call("a", "{}", id="i")]}}]},
            ],
            [("a", {})],
            id="the full message after the deltas",
        ),
        pytest.param(
            [
                calling(call("a", "{}", index=0), call("a", "{}", index=1)),
                {"choices": [{"message": {"content": "", "tool_calls": [call("a", "{}"), call("a", "{}")]}}]},
            ],
            [("a", {}), ("a", {})],
            id="the full message after the deltas, and no ids",
        ),
        pytest.param(
            [calling(call("a", "{", index=0, id="i")), calling(call(None, "}", index=0, id="j"))],
            [("a", {})],
            id="a new id with each delta",
        ),
    ],
)
def test_calls_are_told_apart_whatever_their_producer_leaves_out(
    chunks: list[object], expected: list[tuple[str, object]]
) -> None:
    assert calls_of(*chunks) == expected


def test_the_result_of_a_tool_that_the_server_ran_is_no_answer() -> None:
    result = chunk({"role": "tool", "tool_call_id": "i", "content": "42"})
    turn = turn_of(calling(call("a", "{}", index=0, id="i")), result, chunk({"content": "It is 42."}), DONE)
    assert [(call.name, call.result) for call in turn.tool_calls] == [("a", "42")]
    assert turn.answer == "It is 42."


# Texts, usage, errors, ends


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk({"content": "a"}), chunk({"content": "b"})],
        [chunk({"content": [{"type": "text", "text": "a"}, {"text": "b"}, {"type": "image"}, {"type": "thinking"}]})],
        [{"choices": [{"message": {"content": None, "tool_calls": [{"function": None}]}}]}, chunk({"content": "ab"})],
        [chunk({"content": "a", "reasoning_content": "hm"}), chunk({"content": "b", "reasoning": "hm"})],
        [chunk({"content": "a"}), chunk({"content": "b"}), {"choices": [{"message": {"content": "ab"}}]}],
        [{"choices": [{"message": {"content": "a"}}]}, {"choices": [{"message": {"content": "ab"}}]}],
        [{"choices": [{"index": 0, "delta": {"content": "ab"}, "message": {"content": "ab"}}]}],
        [{"choices": [{"delta": {"content": "ab"}}, {"index": 1, "delta": {"content": "zzz"}}]}, {"choices": None}],
        [chunk({"content": "ab"}), {"choices": [None, 1, {"index": 0}, {"index": 0, "delta": None}]}],
    ],
)  # fmt: skip
def test_a_text_is_read_once_in_whatever_form_it_comes(chunks: list[object]) -> None:
    turn = turn_of(*chunks, chunk(finish="stop"), DONE)
    assert (turn.answer, turn.shown, turn.findings, turn.error) == ("ab", ("ab",), (), None)


def test_a_refusal_is_shown_and_is_no_answer() -> None:
    parts = {"content": [{"type": "refusal", "refusal": "No."}]}
    for deltas in ([{"refusal": "N"}, {"refusal": "o."}], [parts]):
        turn = turn_of(*map(chunk, deltas), chunk(finish="stop"), DONE)
        assert (turn.answer, turn.shown, turn.error, turn.finish) == ("", ("No.",), None, "finished")
        assert [(finding.kind, finding.message) for finding in turn.findings] == [("refusal", "the model refuses: No.")]
        assert turn.timing.first_token_s == 0.5


@pytest.mark.parametrize(
    ("chunks", "usage"),
    [
        ([{"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}], Usage(5, 2)),
        ([chunk(usage={"prompt_tokens": 5, "completion_tokens": n}) for n in range(3)], Usage(5, 2)),
        ([{"choices": [{"index": 0, "delta": {}, "usage": {"prompt_tokens": 5}}]}], Usage(5, None)),
        ([chunk(usage=None), chunk(usage={}), chunk(usage=[])], None),
    ],
)
def test_usage_is_a_running_total_wherever_it_stands(chunks: list[object], usage: Usage | None) -> None:
    assert turn_of(chunk({"content": "a"}), *chunks, DONE).usage == usage


def test_counts_that_are_no_whole_numbers_are_a_finding() -> None:
    turn = turn_of(chunk({"content": "a"}, usage={"prompt_tokens": True, "completion_tokens": -1}), DONE)
    assert (turn.usage, kinds(turn)) == (None, ["malformed"])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'data: {"error": {"message": "boom"}}\n\n', "boom"),
        (b'data: {"error": {"error": {"detail": "boom"}}}\n\n', "boom"),
        (b'data: {"error": "boom"}\n\n', "boom"),
        (b'data: {"object": "error", "message": "boom", "code": 400}\n\n', "boom"),
        (b'event: error\ndata: {"detail": "boom"}\n\n', "boom"),
        (b"event: error\ndata: boom\n\n", "boom"),
        (b"event: error\n\n", "no message"),
        (b'data: {"error": {"code": 502}}\n\n', "no message"),
        (b'data: {"error": {}}\n\n', "no message"),
        (b'data: {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}\n\n', "blocked: content_filter"),
        (b'data: {"choices": [{"delta": {}, "finish_reason": "error"}]}\n\n', "the model stopped with an error"),
    ],
)
def test_an_error_is_read_in_whatever_form_it_comes(body: bytes, says: str) -> None:
    reader = Reader("why?", "openai-chat", Bounds(), Lexicon())
    reader.open(HEAD)
    reader.feed(body, 0.5)
    turn = reader.close(1.0)
    assert turn.error is not None
    assert (turn.error.kind, turn.error.message) == ("stream_error", f"the agent reports an error: {says}")


UNMARKED = "the stream ended without its end marker, after 2 events, 1 characters of answer"
CLOSED = "the connection closed before the end was marked, after 1 events, 1 characters of answer"


@pytest.mark.parametrize(
    ("datas", "ends", "error", "found"),
    [
        ([chunk(finish="stop"), DONE], "close", None, []),
        ([chunk(finish="stop"), DONE, DONE], "close", None, []),
        ([chunk(finish="stop")], "chunked", None, ["end_not_marked"]),
        ([chunk(finish="stop")], "close", None, ["end_not_marked"]),
        ([DONE], "chunked", None, []),
        ([chunk(finish="")], "chunked", UNMARKED, []),
        ([], "close", CLOSED, []),
    ],
)  # fmt: skip
def test_a_turn_is_whole_where_it_said_how_it_finishes(
    datas: list[object], ends: Ends, error: str | None, found: list[str]
) -> None:
    turn = turn_of(chunk({"content": "a"}), *datas, ends=ends)
    assert (turn.error and turn.error.message, kinds(turn)) == (error, found)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "finished"),
        ("eos", "finished"),
        ("length", "length"),
        ("tool_calls", "finished"),
    ],
)
def test_a_finish_reason_is_one_of_three_kinds(reason: str, finish: str) -> None:
    assert turn_of(chunk({"content": "a"}, finish=reason), DONE).finish == finish


@pytest.mark.parametrize("reason", ["tool_calls", "function_call", "stop"])
def test_calls_that_no_result_follows_wait_for_the_client(reason: str) -> None:
    asked = calling(call("a", "{}", id="1"))
    assert turn_of(asked, chunk(finish=reason), DONE).finish == "waiting"
    result = chunk({"role": "tool", "tool_call_id": "1", "content": "5"})
    assert turn_of(asked, result, chunk(finish=reason), DONE).finish == "finished"
    assert turn_of(asked, chunk({"content": "It is 5."}), chunk(finish="stop"), DONE).finish == "finished"


def test_groundedness_is_a_key_of_its_name_beside_the_choices() -> None:
    for extra in ({"groundedness": 0.9}, {"groundedness": {"score": 0.9}}, {"metadata": {"groundedness": 0.9}}):
        assert turn_of(chunk({"content": "a"}, **extra), DONE).scores == (0.9,)


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (Event("", "x"), ["not_json"]),
        (Event("message", "[]"), ["malformed"]),
        (Event("ping", "x"), []),
        (Event("", '{"a": NaN}'), ["not_json"]),
        (Event("", '{"choices": [{"delta": {"content": 1}}]}'), ["malformed"]),
    ],
)
def test_what_the_protocol_does_not_allow_is_odd(event: Event, found: list[str]) -> None:
    assert [getattr(signal, "kind", None) for signal in read(event)] == found


STREAMS = hostile.events(
    *("choices", "delta", "message", "content", "tool_calls", "function", "function_call", "arguments", "name", "id"),
    *("index", "finish_reason", "usage", "error", "object", "role", "refusal", "metadata", "groundedness", "type"),
    *("text", "tool", "stop", "prompt_tokens", "completion_tokens", "[DONE]"),
)


@given(STREAMS)
def test_no_event_makes_it_raise(stream: list[Event]) -> None:
    hostile.survived("openai-chat", stream)


@pytest.mark.parametrize(
    ("texts", "answer", "found"),
    [
        (["It", "It has", "It has shipped", "It has shipped."], "It has shipped.", ["cumulative"]),
        (["", "It", "It has", "", "It has shipped", "It has shipped."], "It has shipped.", ["cumulative"]),
        (["1", "12", "123"], "112123", []),  # too few to tell
        (["ha", "ha", "ha", "ha", "ha"], "hahahahaha", []),
        (["a", "ab", "abc", "abcd", "x"], "aababcabcdx", []),
    ],
)
def test_text_that_is_told_from_its_beginning_with_each_chunk_counts_once(
    texts: list[str], answer: str, found: list[str]
) -> None:
    turn = turn_of(*(chunk({"content": text}) for text in texts), chunk(finish="stop"), DONE)
    assert (turn.answer, turn.final_text, kinds(turn)) == (answer, answer, found)
