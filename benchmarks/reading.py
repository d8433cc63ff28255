"""Bytes → `Turn`, findings included, against `json.loads` on each payload alone, and httpx-sse's decoder with it."""

import argparse
import codecs
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence

from httpx_sse._decoders import SSEDecoder, SSELineDecoder

from benchmarks.measure import held
from benchmarks.server import EVENTS, TOKENS
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.wire import Head

ANSWERS = 50  # read in one go: a clock's smallest step is nothing beside it
PAYLOADS = [event.decode().partition("data: ")[2] for event in EVENTS]
HEAD = Head(200, {"content-type": "text/event-stream"}, "chunked")


def golden(pieces: Iterable[bytes]) -> None:
    reader = Reader("What is it?", "native", Bounds(), Lexicon())
    reader.open(HEAD)
    for at, piece in enumerate(pieces):
        reader.feed(piece, at)
    turn = reader.close(1.0)
    assert turn.error is None
    assert turn.answer.count("word") == TOKENS


def payloads_alone(pieces: Iterable[bytes]) -> None:
    for payload in PAYLOADS:
        json.loads(payload)


def httpx_sse(pieces: Iterable[bytes]) -> None:
    text = codecs.getincrementaldecoder("utf-8")("replace")
    lines = SSELineDecoder()
    events = SSEDecoder()
    for piece in pieces:
        for line in lines.decode(text.decode(piece)):
            event = events.decode(line)
            if event is not None:
                json.loads(event.data)


def best(readers: Sequence[Callable[[Iterable[bytes]], None]], pieces: Sequence[bytes], repeats: int) -> list[float]:
    """The least processor time of each reader, the readers in turn."""
    times = [[0.0] * repeats for _ in readers]
    for repeat in range(repeats):
        for index, read in enumerate(readers):
            started = time.process_time()
            for _ in range(ANSWERS):
                read(pieces)
            times[index][repeat] = time.process_time() - started
    return [min(each) for each in times]


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--quick", action="store_const", const=10, dest="repeats", help="ten repeats")
    repeats = parser.parse_args().repeats
    ok = []
    for how, pieces in (("the whole body at once", [b"".join(EVENTS)]), ("event by event", EVENTS)):
        ours, least, decoded = best((golden, payloads_alone, httpx_sse), pieces, repeats)
        print(f"          {how}: {ours / ANSWERS / len(EVENTS) * 1e6:.2f} µs an event")
        ok += [
            held(f"{how}, against json.loads alone", ours / least, 5),
            held(f"{how}, against httpx-sse and json.loads", ours / decoded, 1),
        ]
    return all(ok)


if __name__ == "__main__":
    sys.exit(not main())
