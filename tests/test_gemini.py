import json
from typing import Any

import pytest
from hypothesis import given

from golden.dialects import Options, posting
from golden.dialects.gemini import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import Call, Error, Finish, Odd, Reasoning, Result, RunningTokens, Score, Signal, Text
from golden.sse import Event
from golden.transcript import Turn, Usage
from golden.wire import Ends, Head, Request
from tests import hostile

HEAD = Head(200, {}, "chunked")


def reply(*parts: object, finish: str | None = None, **fields: object) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts), "role": "model"}, **({"finishReason": finish} if finish else {})}
    return {"candidates": [candidate], **fields}


def one(body: object) -> list[Signal]:
    return list(read(Event("", json.dumps(body))))


def turn_of(*bodies: object, ends: Ends = "chunked", rest: bytes = b"") -> Turn:
    reader = Reader("why?", "gemini", Bounds(), Lexicon())
    reader.open(Head(200, {}, ends))
    for body in bodies:
        reader.feed(f"data: {json.dumps(body)}\r\n\r\n".encode(), 0.5)
    reader.feed(rest, 0.5)
    return reader.close(1.0)


def test_a_question_is_posted_to_the_model() -> None:
    post = request(Request("why?", "s"), Options())
    assert post.path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    assert post.body == {"contents": [{"role": "user", "parts": [{"text": "why?"}]}]}


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("m", "models/m"),
        ("models/m", "models/m"),
        ("tunedModels/m", "tunedModels/m"),
        ("a?b", "models/a%3Fb"),
        ("agent-1.5@x", "models/agent-1.5%40x"),
    ],
)
def test_the_model_stands_in_the_path(model: str, path: str) -> None:
    for post in (request(Request("", "s", model=model), Options(id="x")), request(Request("", "s"), Options(id=model))):
        assert post.path == f"/v1beta/{path}:streamGenerateContent?alt=sse"


def test_history_and_system_prompt_are_resent_and_a_turn_without_text_is_left_out() -> None:
    asked = Request("c?", "s", 3, (("a?", "a."), ("b?", "")), system_prompt="be kind")
    body: Any = posting(Lexicon().dialect("gemini"), Options(body={"generationConfig": {}}))(asked).body
    assert [(turn["role"], turn["parts"][0]["text"]) for turn in body["contents"]] == [
        ("user", "a?"),
        ("model", "a."),
        ("user", "b?"),
        ("user", "c?"),
    ]
    assert body["systemInstruction"] == {"parts": [{"text": "be kind"}]}
    assert body["generationConfig"] == {}


@pytest.mark.parametrize(
    ("data", "is_claimed"),
    [
        (reply({"text": "a"}), True),
        ({"candidates": []}, True),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, True),
        ({"candidates": None}, False),
        ({"usageMetadata": {"promptTokenCount": 1}}, False),
        ({"invocationId": "e", "author": "a", "content": {"parts": [{"text": "a"}]}, "usageMetadata": {}}, False),
        ({"text": '"candidates"'}, False),
        ("candidates", False),
    ],
)
def test_replies_are_claimed_and_nothing_else_is(data: object, is_claimed: bool) -> None:
    assert bool(claims(HEAD, Event("", json.dumps(data)))) == is_claimed
    assert claims(HEAD, Event("", None)) is None


@pytest.mark.parametrize(
    ("body", "signals"),
    [
        (reply({"text": "a"}, {"text": "b"}), [Text("a"), Text("b")]),
        (reply({"text": "a", "thought": True}), [Reasoning()]),
        (reply({"text": "", "thought": False, "thoughtSignature": "x"}), [Text("")]),
        (reply({"functionCall": {"name": "f", "args": {"x": 1}}}), [Call("f", {"x": 1})]),
        (reply({"functionCall": {"name": "f", "id": "i"}, "thought": True}), [Call("f", None, "i")]),
        (reply({"functionCall": {"name": "f", "args": '{"x": 1}'}}), [Call("f", '{"x": 1}')]),
        (reply({"functionCall": {}}), []),
        (reply({"functionResponse": {"name": "f", "response": {"r": 1}}}), [Result({"r": 1}, name="f")]),
        (
            reply({"executableCode": {"language": "PYTHON", "code": "1", "id": "i"}}),
            [Call("code_execution", {"language": "PYTHON", "code": "1"}, "i")],
        ),
        (
            reply({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}),
            [Result({"outcome": "OUTCOME_OK", "output": "1"}, name="code_execution")],
        ),
        (
            reply({"toolCall": {"toolType": "GOOGLE_MAPS", "args": {"x": 1}, "id": "i"}}),
            [Call("google_maps", {"x": 1}, "i")],
        ),
        (
            reply({"toolResponse": {"toolType": "GOOGLE_MAPS", "response": {"r": 1}, "id": "i"}}),
            [Result({"r": 1}, "i", "google_maps")],
        ),
        ({"candidates": [{"index": 1, "content": {"parts": [{"text": "zzz"}]}, "finishReason": "STOP"}]}, []),
        ({"candidates": [{"index": 0, "content": {"parts": None}, "finishReason": None}]}, []),
        ({"candidates": [{"content": None, "finishReason": "FINISH_REASON_UNSPECIFIED"}, None]}, []),
        ({"candidates": None, "promptFeedback": {"safetyRatings": []}}, []),
        (reply(finish="STOP"), [Finish("stop")]),
        (reply(finish="stop"), [Finish("stop")]),
        (reply(finish="MAX_TOKENS"), [Finish("length")]),
        (reply(finish="FUNCTION_CALL"), [Finish("tools")]),
        (reply(finish="RECITATION"), [Error("blocked: RECITATION")]),
        (
            {"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "no"}},
            [Error("blocked: OTHER: no")],
        ),
        ({"error": {"code": 503, "message": "boom", "status": "UNAVAILABLE"}}, [Error("boom")]),
        ({"error": {"code": 503, "status": "UNAVAILABLE"}}, [Error("UNAVAILABLE")]),
        ({"error": {}}, [Error("no message")]),
        ({"usageMetadata": {"promptTokenCount": 5}}, [RunningTokens(5, 0)]),
        (
            {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}},
            [RunningTokens(5, 5)],
        ),
        (
            {"usageMetadata": {"candidatesTokenCount": "2"}},
            [Odd("malformed", "the usage has counts that are no whole numbers")],
        ),
        (reply(groundedness=0.9), [Score(0.9)]),
        ({"candidates": [{"groundedness": {"score": 0.9}}]}, [Score(0.9)]),
    ],
)
def test_an_event_means(body: object, signals: list[Signal]) -> None:
    assert one(body) == signals


def test_arguments_in_pieces_by_path_are_a_call_that_matches_no_arguments() -> None:
    pieces = [
        reply({"functionCall": {"name": "f", "id": "i", "willContinue": True}}),
        reply({"functionCall": {"partialArgs": [{"jsonPath": "$.x", "stringValue": "a"}], "willContinue": True}}),
        reply({"functionCall": {}}, finish="STOP"),
    ]
    turn = turn_of(*pieces)
    assert [(call.name, call.args, call.parsed) for call in turn.tool_calls] == [("f", "(in pieces)", False)]
    assert {finding.kind for finding in turn.findings} == {"malformed", "args_not_json", "waiting"}


def test_a_finish_reason_marks_the_end_and_what_follows_it_still_counts() -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2}
    pieces = reply({"text": "a"}, finish="STOP"), reply({"text": "b"}, finish="STOP", usageMetadata=usage)
    turn = turn_of(*pieces)
    assert (turn.answer, turn.usage, turn.finish, turn.error, turn.findings) == (
        "ab",
        Usage(5, 2),
        "finished",
        None,
        (),
    )


def test_a_finish_reason_on_every_event_is_no_sign_that_the_last_one_came() -> None:
    turn = turn_of(reply({"text": "a"}, finish="STOP"), reply({"text": "b"}, finish="STOP"), ends="close")
    assert turn.error is not None
    assert (turn.error.kind, turn.answer, turn.finish) == ("cut", "ab", None)


def test_a_stream_without_a_finish_reason_was_cut_and_its_running_usage_is_no_total() -> None:
    for ends in ("chunked", "close"):
        turn = turn_of(reply({"text": "a"}, usageMetadata={"promptTokenCount": 5}), ends=ends)
        assert turn.error is not None
        assert (turn.error.kind, turn.usage) == ("cut", None)


def test_a_block_that_was_cut_after_the_end_is_a_finding() -> None:
    turn = turn_of(reply({"text": "a"}, finish="STOP"), rest=b"data: {")
    assert (turn.error, [finding.kind for finding in turn.findings]) == (None, ["after_end"])


@pytest.mark.parametrize(
    ("event", "signals"),
    [
        (Event("", "[DONE]"), ["End"]),
        (Event("error", None), ["Error"]),
        (Event("error", "boom"), ["Error"]),
        (Event("error", '{"message": "boom"}'), ["Error"]),
        (Event("ping", None), []),
        (Event("ping", "x"), []),
        (Event("", "x"), ["Odd"]),
        (Event("", "[]"), ["Odd"]),
    ],
)
def test_what_is_no_reply_is_read_for_what_it_says(event: Event, signals: list[str]) -> None:
    assert [type(signal).__name__ for signal in read(event)] == signals


STREAMS = hostile.events(
    *("candidates", "content", "parts", "text", "thought", "functionCall", "functionResponse", "name", "args", "id"),
    *("index", "finishReason", "STOP", "usageMetadata", "promptTokenCount", "candidatesTokenCount", "error"),
    *("promptFeedback", "blockReason", "groundedness", "partialArgs", "willContinue", "executableCode", "toolCall"),
    *("codeExecutionResult", "toolResponse", "toolType", "finishMessage", "thoughtsTokenCount"),
)


@given(STREAMS)
def test_no_event_makes_it_raise(stream: list[Event]) -> None:
    hostile.survived("gemini", stream)
