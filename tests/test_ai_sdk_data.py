"""The AI SDK's data stream: what is posted, other producers of it, how it is told from text, and hostile lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.dialects import Options
from golden.dialects.ai_sdk_data import claims, read, request
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Odd,
    Reasoning,
    Result,
    RunningTokens,
    Score,
    Signal,
    Text,
    Tokens,
)
from golden.sse import Event
from golden.transcript import Turn, Usage
from golden.wire import Ends, Head, Request

PLAIN = {"content-type": "text/plain; charset=utf-8"}


def turn_of(
    *lines: str, headers: dict[str, str] = PLAIN, ends: Ends = "chunked", size: int = 0, last: str = "\n"
) -> tuple[Turn, str]:
    """The turn that these lines give, and the dialect that they were told to be in."""
    body = ("\n".join(lines) + last).encode()
    reader = Reader("why?", "auto", Bounds(), Lexicon())
    reader.open(Head(200, headers, ends))
    for at in range(0, len(body), size or len(body)):
        reader.feed(body[at : at + (size or len(body))], 0.5)
    return reader.close(1.0), reader.dialect


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        (Request("why?", "s"), {"id": "s", "messages": [{"role": "user", "content": "why?"}]}),
        (
            Request("why?", "s", 3, (("a", "b"), ("c", "")), "m", "be kind"),
            {
                "id": "s",
                "model": "m",
                "messages": [
                    {"role": "system", "content": "be kind"},
                    {"role": "user", "content": "a"},
                    {"role": "assistant", "content": "b"},
                    {"role": "user", "content": "c"},
                    {"role": "user", "content": "why?"},
                ],
            },
        ),
    ],
)
def test_a_question_is_posted_with_all_messages_so_far(asked: Request, body: object) -> None:
    post = request(asked, Options())
    assert (post.path, post.body) == ("/api/chat", body)


@pytest.mark.parametrize(
    ("line", "signals"),
    [
        ('0:"a: b"', [Text("a: b")]),
        ("0:{}", ["malformed"]),
        ('0:"a', ["not_json"]),
        ('g:"a"', [Reasoning()]),
        ('3:"no"', [Error("no")]),
        ("3:null", [Error("no message")]),
        ('9:{"toolCallId":"1","toolName":"a"}', [CallDone("", "1", "a", {})]),
        ("9:[]", ["malformed"]),
        ('b:{"toolCallId":"1","toolName":"a"}', [CallPart("", "", "1", "a")]),
        ('c:{"toolCallId":"1","argsTextDelta":"{"}', [CallPart("{", "", "1")]),
        ("c:{}", ["malformed"]),
        ('a:{"toolCallId":"1","result":2}', [Result(2, "1")]),
        ('2:[{"groundedness":0.5},1,{"b":2}]', [Score(0.5)]),
        ('8:[{"groundedness":{"score":1}}]', [Score(1)]),
        ("2:{}", ["malformed"]),
        ("2:[NaN]", ["not_json"]),
        ('e:{"finishReason":"length"}', [Finish("length")]),
        (
            'e:{"finishReason":"stop","usage":{"promptTokens":1,"completionTokens":2}}',
            [Finish("stop"), Tokens(1, 2)],
        ),
        ('e:{"usage":{"promptTokens":null,"completionTokens":-1}}', [Finish("stop"), "malformed"]),
        ('d:{"finishReason":"error"}', [Error("its finish reason is `error`"), End()]),
        (
            'd:{"finishReason":"tool-calls","usage":{"promptTokens":1}}',
            [Finish("tools"), RunningTokens(1, None), End()],
        ),
        ('h:{"url":"u"}', []),
        ("z:oh", []),
        ("hello", ["malformed"]),
        ("data: 1", ["malformed"]),
    ],
)
def test_a_line_means_what_the_protocol_says(line: str, signals: list[Signal | str]) -> None:
    assert [signal.kind if isinstance(signal, Odd) else signal for signal in read(Event("", line))] == signals


def test_usage_of_steps_is_added_and_that_of_the_turn_takes_its_place() -> None:
    step = 'e:{"finishReason":"stop","usage":{"promptTokens":1,"completionTokens":2}}'
    total = 'd:{"finishReason":"stop","usage":{"promptTokens":9,"completionTokens":null}}'
    assert turn_of('0:"a"', step, step)[0].usage == Usage(2, 4)
    assert turn_of('0:"a"', step, step, total)[0].usage == Usage(9, 4)
    assert turn_of('0:"a"', total)[0].usage == Usage(9, None)


def test_a_stream_that_does_not_say_how_it_finished_is_cut() -> None:
    turn, _ = turn_of('0:"a"')
    assert turn.error is not None
    assert turn.error.kind == "cut"


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize(
    ("lines", "dialect", "answer"),
    [
        (['f:{"messageId":"m"}', '0:"Hi."', "d:{}"], "ai-sdk-data", "Hi."),
        (["", '2:[{"a":1}]', '0:"Hi."', "d:{}"], "ai-sdk-data", "Hi."),
        (["0: at first, hi."], "text", "0: at first, hi."),
        (['0:"hi', 'there"'], "text", '0:"hi\nthere"'),
        (['{"a": 1}'], "text", '{"a": 1}'),
        (["5"], "text", "5"),
        (["Hi.", '0:"Hi."'], "text", 'Hi.\n0:"Hi."'),
    ],
)
def test_it_is_told_from_text_by_its_first_line(lines: list[str], dialect: str, answer: str, size: int) -> None:
    turn, told = turn_of(*lines, size=size, last="")
    assert (told, turn.answer, turn.error) == (dialect, answer, None)


def test_text_whose_first_line_has_no_end_is_not_held_back_for_ever() -> None:
    line = '0:"' + "a" * 100_000
    turn, told = turn_of(line, size=1000, last="")
    assert (told, turn.answer, turn.error) == ("text", line, None)


def test_the_header_tells_it_whatever_the_content_type() -> None:
    turn, told = turn_of(
        '0:"Hi."', "d:{}", headers={"content-type": "text/event-stream", "x-vercel-ai-data-stream": "v1"}
    )
    assert (told, turn.answer, turn.error) == ("ai-sdk-data", "Hi.", None)


@given(st.text(max_size=3), st.text() | st.builds(json.dumps, st.recursive(st.none() | st.text(), st.lists)))
def test_no_line_makes_it_raise(code: str, data: str) -> None:
    event = Event("", f"{code}:{data}")
    claims(Head(200, {}, "chunked"), event)
    read(event)


@given(
    st.sampled_from("0234589abcdefgh"),
    st.dictionaries(st.sampled_from(["toolCallId", "argsTextDelta", "args", "usage", "finishReason"]), st.integers()),
)
def test_no_value_makes_it_raise(code: str, value: object) -> None:
    read(Event("", f"{code}:{json.dumps(value)}"))
    read(Event("", f"{code}:{json.dumps([value])}"))
    read(Event("", f"{code}:{json.dumps({'usage': value, 'finishReason': value})}"))
