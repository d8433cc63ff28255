"""Bytes → `Turn`, findings included, against `json.loads` on each payload alone, and httpx-sse's decoder with it.

Answers of 200 tokens in golden's own dialect and in two that others speak, as their producers write them.
"""

import argparse
import codecs
import gc
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from httpx_sse._decoders import SSEDecoder, SSELineDecoder

from benchmarks.measure import held
from benchmarks.server import EVENTS, TOKENS
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.wire import Head

ANSWERS = 50  # read in one go: a clock's smallest step is nothing beside it
HEAD = Head(200, {"content-type": "text/event-stream"}, "chunked")
BOUNDS, LEXICON = Bounds(), Lexicon()  # one of each serves a whole run
WORDS = [f"word{number} " for number in range(TOKENS)]


def unnamed(*bodies: object) -> list[bytes]:
    return [*(f"data: {json.dumps(body, separators=(',', ':'))}\n\n".encode() for body in bodies), b"data: [DONE]\n\n"]


def chunk(delta: object, finish: str | None = None, **more: object) -> dict[str, object]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    shared = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": "gpt-4o-mini"}
    return {**shared, "system_fingerprint": "fp_1", "choices": [choice], "usage": None, **more}


def call(name: str, arguments: str) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}


STREAMS: dict[str, list[bytes]] = {
    "native": EVENTS,
    "openai-chat": unnamed(
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": word}) for word in WORDS),
        chunk(call("get_quote", '{"symbol":"AAPL"}')),
        chunk({}, "stop"),
        chunk({}, choices=[], usage={"prompt_tokens": 9, "completion_tokens": 200, "total_tokens": 209}),
    ),
    "ai-sdk": unnamed(
        {"type": "start"},
        {"type": "start-step"},
        {"type": "tool-input-available", "toolCallId": "call_1", "toolName": "get_quote", "input": {"symbol": "AAPL"}},
        {"type": "tool-output-available", "toolCallId": "call_1", "output": {"price": 12.5}},
        {"type": "text-start", "id": "txt-0"},
        *({"type": "text-delta", "id": "txt-0", "delta": word} for word in WORDS),
        {"type": "text-end", "id": "txt-0"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop"},
    ),
}


def golden(dialect: str, pieces: Iterable[bytes]) -> None:
    reader = Reader("What is it?", dialect, BOUNDS, LEXICON)
    reader.open(HEAD)
    for at, piece in enumerate(pieces):
        reader.feed(piece, at)
    turn = reader.close(1.0)
    assert turn.error is None
    assert turn.answer.count("word") == TOKENS


def payloads_alone(payloads: Iterable[str]) -> None:
    for payload in payloads:
        json.loads(payload)


def httpx_sse(pieces: Iterable[bytes]) -> None:
    text = codecs.getincrementaldecoder("utf-8")("replace")
    lines = SSELineDecoder()
    events = SSEDecoder()
    for piece in pieces:
        for line in lines.decode(text.decode(piece)):
            event = events.decode(line)
            if event is not None and event.data != "[DONE]":
                json.loads(event.data)


def best(readers: Sequence[Callable[[], None]], repeats: int) -> list[float]:
    """The least processor time of each reader, the readers in turn."""
    times = [[0.0] * repeats for _ in readers]
    for repeat in range(repeats):
        for index, read in enumerate(readers):
            started = time.process_time()
            for _ in range(ANSWERS):
                read()
            times[index][repeat] = time.process_time() - started
    return [min(each) for each in times]


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--quick", action="store_const", const=10, dest="repeats", help="ten repeats")
    repeats = parser.parse_args().repeats
    gc.set_threshold(10_000)  # for all readers, as the program does
    ok = []
    for dialect, events in STREAMS.items():
        payloads = [data for event in events if (data := event.decode().partition("data: ")[2]) != "[DONE]\n\n"]
        for how, pieces in (("the whole body at once", [b"".join(events)]), ("event by event", events)):
            readers = partial(golden, dialect, pieces), partial(payloads_alone, payloads), partial(httpx_sse, pieces)
            ours, least, decoded = best(readers, repeats)
            print(f"          {dialect}, {how}: {ours / ANSWERS / len(events) * 1e6:.2f} µs an event")
            ok += [
                held(f"{dialect}, {how}, against json.loads alone", ours / least, 5),
                held(f"{dialect}, {how}, against httpx-sse and json.loads", ours / decoded, 1),
            ]
    return all(ok)


if __name__ == "__main__":
    sys.exit(not main())
