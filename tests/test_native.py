import json
from pathlib import Path
from typing import Any

import pytest

from golden.dialects import Options
from golden.dialects.native import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import Call, End, Error, Message, Odd, Result, Score, Signal, Text, Tokens
from golden.sse import Event
from golden.transcript import Turn, Usage
from golden.wire import Ends, Head, Request

STREAMS = Path(__file__).parent / "data" / "streams" / "golden-native"
SAMPLES = sorted(path.stem for path in STREAMS.glob("*.sse"))


def turn_of(body: bytes, ends: Ends = "chunked") -> Turn:
    reader = Reader("why?", "native", Bounds(), Lexicon())
    reader.open(Head(200, {}, ends))
    reader.feed(body, 0.5)
    return reader.close(1.0)


def block(name: str, body: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(body)}\n\n".encode()


def one(name: str, data: object) -> tuple[Signal, ...]:
    return tuple(read(Event(name, data if isinstance(data, str) else json.dumps(data))))


# The samples


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gives_the_transcript_that_its_scenario_says(name: str) -> None:
    expected: dict[str, Any] = json.loads((STREAMS / f"{name}.expected.json").read_text("utf-8"))
    turn = turn_of((STREAMS / f"{name}.sse").read_bytes())
    assert [{"name": call.name, "args": call.args} for call in turn.tool_calls] == expected["tools"]
    assert turn.final_text == expected["answer"]
    assert turn.answer == expected.get("all_text", expected["answer"])
    assert turn.groundedness == expected.get("groundedness")
    assert turn.usage is expected["usage"] is None
    assert [call.result for call in turn.tool_calls] == [None] * len(expected["tools"])
    if expected["error"] is None:
        assert (turn.error, turn.finish) == (None, "finished")
    else:
        assert turn.error is not None
        assert turn.error.kind == "stream_error"
        assert expected["error"] in turn.error.message
    marked = name == "with_done"
    assert [finding.kind for finding in turn.findings] == ([] if marked or turn.error else ["end_not_marked"])


def test_a_sample_that_was_cut_is_told_from_a_whole_one_by_the_transport_alone() -> None:
    body = (STREAMS / "cut.sse").read_bytes()
    assert turn_of(body, "chunked").error is None
    cut = turn_of(body, "close")
    assert cut.error is not None
    assert cut.error.kind == "cut"
    assert cut.answer == "I’ve checked: your 42 AAPL "
    assert [call.name for call in cut.tool_calls] == ["get_portfolio", "get_quote"]


# One event, and what it means


@pytest.mark.parametrize(
    ("name", "data", "signals"),
    [
        ("token", {"text": "a"}, [Text("a")]),
        ("token", {"text": ""}, [Text("")]),
        ("message", {"text": "a", "more": 1}, [Message("a")]),
        ("tool_call", {"name": "a", "args": {"x": 1}, "id": "i"}, [Call("a", {"x": 1}, "i")]),
        ("tool_call", {"tool": "a", "arguments": {"x": 1}}, [Call("a", {"x": 1})]),
        ("tool_call", {"name": "a", "input": {"x": 1}}, [Call("a", {"x": 1})]),
        ("tool_call", {"name": "a", "tool": "b", "args": 1, "arguments": 2, "input": 3}, [Call("a", 1)]),
        ("tool_call", {"name": None, "tool": "b", "args": None, "input": {"x": 1}}, [Call("b", {"x": 1})]),
        ("tool_call", {"name": "a"}, [Call("a", {})]),
        ("tool_call", {"name": "a", "args": None}, [Call("a", {})]),
        ("tool_call", {"name": "a", "args": []}, [Call("a", [])]),
        ("tool_call", {"name": "a", "args": False}, [Call("a", False)]),
        ("tool_call", {"name": "a", "id": 7}, [Call("a", {}, "7")]),
        ("tool_call", {"name": "a", "id": 0}, [Call("a", {}, "0")]),
        ("tool_call", {"name": "a", "args": '{"x": 1}'}, [Call("a", '{"x": 1}')]),
        ("tool_call", {"name": "a", "args": ""}, [Call("a", "")]),
        ("tool_call", {"name": "a", "args": '"x"'}, [Call("a", '"x"')]),
        ("tool_call", {"name": "a", "args": '{"x": '}, [Call("a", '{"x": ')]),
        ("tool_call", {"name": "a", "args": '{"x": NaN}'}, [Call("a", '{"x": NaN}')]),
        ("tool_call", {"name": "a", "args": '{"x": "\ud83d"}'}, [Call("a", '{"x": "\ud83d"}')]),
        ("tool_call", {"args": {}}, [Call("", {})]),
        ("tool_call", {"name": 3}, [Call("", {})]),
        ("tool_call", {"name": ""}, [Call("", {})]),
        ("tool_result", {"id": "i", "result": {"x": 1}}, [Result({"x": 1}, "i")]),
        ("tool_result", {"name": "a", "result": None}, [Result(None, "", "a")]),
        ("tool_result", {"tool": "a", "name": 3}, [Result(None, "", "a")]),
        ("tool_result", {}, [Result(None)]),
        ("groundedness", {"score": 0.9}, [Score(0.9)]),
        ("groundedness", {"score": "high"}, [Score("high")]),
        ("groundedness", {"score": True}, [Score(True)]),
        ("groundedness", {"score": None}, [Score(None)]),
        ("groundedness", {"score": 1.7}, [Score(1.7)]),
        ("usage", {"input": 3, "output": 5}, [Tokens(3, 5)]),
        ("usage", {"input": 0}, [Tokens(0, None)]),
        ("usage", {"output": 2**53, "input": None}, [Tokens(None, 2**53)]),
        ("usage", {}, []),
        ("error", {"message": "boom"}, [Error("boom")]),
        ("error", {"message": ""}, [Error("no message")]),
        ("error", {"message": {"code": 3}}, [Error("no message")]),
        ("error", {}, [Error("no message")]),
        ("done", {}, [End()]),
        ("done", "", [End()]),
        ("done", "no json at all", [End()]),
        ("", "[DONE]", [End()]),
        ("anything", "[DONE]", [End()]),
        ("progress", {"text": "a"}, []),
        ("", {"text": "a"}, []),
        ("Token", {"text": "a"}, []),
    ],
)  # fmt: skip
def test_an_event_means_what_its_name_and_body_say(name: str, data: object, signals: list[Signal]) -> None:
    assert list(one(name, data)) == signals


@pytest.mark.parametrize(
    ("name", "signals"),
    [("done", [End()]), ("error", [Error("no message")]), ("token", []), ("progress", [])],
)
def test_an_event_without_data_may_mark_the_end_or_say_that_the_agent_failed(name: str, signals: list[Signal]) -> None:
    assert list(read(Event(name, None))) == signals


@pytest.mark.parametrize(
    ("name", "data", "kind", "says"),
    [
        ("token", "not json", "not_json", "the data of `token` is not JSON: "),
        ("token", "", "not_json", "the data of `token` is not JSON"),
        ("message", '{"text": "a', "not_json", "the data of `message` is not JSON"),
        ("usage", "NaN", "not_json", "the data of `usage` is not JSON: NaN is not JSON"),
        ("token", ["a"], "malformed", "the data of `token` is no object"),
        ("token", '"a"', "malformed", "the data of `token` is no object"),
        ("groundedness", "0.9", "malformed", "the data of `groundedness` is no object"),
        ("token", {}, "malformed", "the data of `token` has no `text`"),
        ("token", {"text": None}, "malformed", "the data of `token` has no `text`"),
        ("message", {"text": 3}, "malformed", "the data of `message` has no `text`"),
        ("groundedness", {"value": 1}, "malformed", "the data of `groundedness` has no `score`"),
        ("usage", {"input": "3"}, "malformed", "the usage has counts that are no whole numbers"),
        ("usage", {"input": True}, "malformed", "the usage has counts that are no whole numbers"),
        ("usage", {"input": 1.5}, "malformed", "the usage has counts that are no whole numbers"),
        ("usage", {"input": -1, "output": 3}, "malformed", "the usage has counts that are no whole numbers"),
        ("usage", {"output": 2**53 + 1}, "malformed", "the usage has counts that are no whole numbers"),
    ],
)
def test_data_of_another_form_is_a_finding_and_nothing_else(name: str, data: object, kind: str, says: str) -> None:
    (odd,) = one(name, data)
    assert isinstance(odd, Odd)
    assert odd.kind == kind
    assert odd.message.startswith(says)


def test_nan_is_a_finding_beside_what_the_event_means() -> None:
    score, odd = one("groundedness", '{"score": NaN}')
    assert isinstance(score, Score)
    assert repr(score.score) == "nan"
    assert odd == Odd("not_json", "the data of `groundedness` is not JSON: NaN is not JSON")


@pytest.mark.parametrize(
    ("data", "message", "kind"),
    [("it broke", "it broke", "not_json"), ('"boom"', '"boom"', "malformed"), ("", "no message", "not_json")],
)
def test_an_error_event_is_an_error_whatever_its_data(data: str, message: str, kind: str) -> None:
    error, odd = one("error", data)
    assert error == Error(message)
    assert isinstance(odd, Odd)
    assert odd.kind == kind


# Whole streams


def test_every_kind_of_event_comes_together_in_one_turn() -> None:
    turn = turn_of(
        block("token", {"text": "Let me see. "})
        + block("tool_call", {"name": "look", "args": {"x": 1}, "id": "1"})
        + block("tool_call", {"tool": "find", "input": "{}", "id": "2"})
        + block("tool_result", {"id": "2", "result": [1]})
        + block("tool_result", {"id": "1", "result": "ok"})
        + block("usage", {"input": 10, "output": 2})
        + block("token", {"text": "It is 5."})
        + block("groundedness", {"score": 1})
        + block("usage", {"input": 20, "output": 3})
        + block("progress", {"pct": 100})
        + block("message", {"text": "Let me see. It is 5."})
        + b"event: done\n\n"
    )
    assert [(call.name, call.args, call.result) for call in turn.tool_calls] == [
        ("look", {"x": 1}, "ok"),
        ("find", {}, [1]),
    ]
    assert (turn.answer, turn.final_text, turn.groundedness) == ("Let me see. It is 5.", "It is 5.", 1.0)
    assert turn.usage == Usage(30, 5)
    assert [finding.kind for finding in turn.findings] == ["event_without_data"]
    assert (turn.finish, turn.error, turn.events_total) == ("finished", None, 12)


@pytest.mark.parametrize("end", [b"event: done\n\n", b"data: [DONE]\n\n", b"event: done\ndata: {}\n\n"])
def test_a_marked_end_stands_also_where_the_connection_just_closes(end: bytes) -> None:
    turn = turn_of(block("token", {"text": "x"}) + end, "close")
    assert (turn.error, turn.finish) == (None, "finished")


def test_the_sentinel_of_other_apis_after_done_is_a_second_end_marker() -> None:
    turn = turn_of(block("token", {"text": "x"}) + block("done", {}) + b"data: [DONE]\n\n")
    assert turn.findings == ()


def test_a_failed_agent_is_an_error_also_where_it_ends_in_good_order() -> None:
    turn = turn_of(block("token", {"text": "x"}) + b"event: error\n\n" + block("done", {}))
    assert turn.error is not None
    assert turn.error.message == "the agent reports an error: no message"


# Telling the dialect, and asking


@pytest.mark.parametrize(
    "name", ["token", "message", "tool_call", "tool_result", "groundedness", "usage", "error", "done"]
)
def test_an_event_of_a_native_name_is_claimed(name: str) -> None:
    assert claims(Head(200, {}, "close"), Event(name, None)) == f"an event named `{name}`"


@pytest.mark.parametrize("name", ["", "Token", "ping", "message_start"])
def test_an_event_of_another_name_is_not_claimed(name: str) -> None:
    assert claims(Head(200, {}, "close"), Event(name, '{"text": "x"}')) is None


@pytest.mark.parametrize(
    ("data", "claimed"),
    [
        ('{"message": "no"}', True),
        ("{}", True),
        ("no", True),
        ('{"error": "E", "message": "no"}', False),
        ('{"type": "error", "message": "no"}', False),
    ],
)
def test_an_error_that_says_more_than_ours_is_anybodys(data: str, claimed: bool) -> None:
    assert bool(claims(Head(200, {}, "close"), Event("error", data))) == claimed


def test_a_question_is_posted_with_no_more_than_was_asked_for() -> None:
    post = request(Request("why?", "session"), Options())
    assert (post.path, post.body, dict(post.headers)) == ("/agent/chat", {"message": "why?"}, {})


def test_session_model_and_system_prompt_are_posted_where_they_are_set() -> None:
    post = request(
        Request("why?", "session", turns=2, history=(("q", "a"),), model="small", system_prompt=""), Options()
    )
    assert post.body == {"message": "why?", "session_id": "session", "model": "small", "system_prompt": ""}


@pytest.mark.parametrize("data", [None, "", "{", "[]", '"x"', '{"a": ' * 300 + "1" + "}" * 300])
def test_a_tool_call_that_cannot_be_read_is_a_call_all_the_same(data: str | None) -> None:
    signals = read(Event("tool_call", data))
    assert [signal for signal in signals if isinstance(signal, Call)] == [Call("", data or "")]
