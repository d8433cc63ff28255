"""Answers that are far too large: read to the cap in flat memory, and past it, with the caps raised, in linear time."""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.measure import GOLDEN, Cost, cost, held
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.wire import Head

# Twice as much takes twice the time, with room for a machine's noise; four times as much would be quadratic.
LINEAR = 2.6

MIB = 1024 * 1024
CHUNK = 1024
TOKEN = b'event: token\ndata: {"text":"some words "}\n\n'
ANSWER = 200_000_000
EVENT = 50_000_000


def tokens(size: int) -> Iterator[bytes]:
    for _ in range(size // CHUNK):
        yield TOKEN * (CHUNK // len(TOKEN))


def one_event(size: int) -> Iterator[bytes]:
    yield b'event: token\ndata: {"text":"'
    for _ in range(size // CHUNK):
        yield b"some words word " * (CHUNK // 16)
    yield b'"}\n\n'


BODIES = {"answer": tokens, "event": one_event}


class Handler(BaseHTTPRequestHandler):
    """`POST /answer/SIZE`: SIZE bytes in tokens. `POST /event/SIZE`: one event of SIZE bytes. In chunks of 1 KiB."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        _, kind, size = self.path.split("/")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with suppress(ConnectionError):  # golden has read enough
            for piece in BODIES[kind](int(size)):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            end = b"event: done\ndata: {}\n\n"
            self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(end), end))

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()


def at_the_cap(run: tuple[str, ...], kind: str, size: int) -> bool:
    ours = cost(*run, "--path", f"/{kind}/{size}", code=3)
    assert f"--max-{kind} reads more" in ours.output, ours.output
    return held(f"one {kind} of {size / 1e6:g} MB, read to the cap, memory", ours.memory_mb, 250, "MB")


def past_the_cap(run: tuple[str, ...], kind: str, size: int) -> bool:
    def asked(size: int) -> Cost:
        return cost(*run, "--path", f"/{kind}/{size}", "--max-answer", "300000000", "--max-event", "100000000")

    start, half, whole = asked(CHUNK), asked(size // 2), asked(size)
    times = f"{half.processor_s:.2f} s, {whole.processor_s:.2f} s, {whole.memory_mb:.0f} MB"
    print(f"          one {kind} of {size / 2e6:g} and {size / 1e6:g} MB: {times}")
    ratio = (whole.processor_s - start.processor_s) / (half.processor_s - start.processor_s)
    return held(f"one {kind} of {size / 1e6:g} MB against its half, processor time", ratio, LINEAR)


def line_s(size: int) -> float:
    """The processor time of one data line of `size` bytes in pieces of 1 KiB."""
    pieces = [b"data: ", *[b"x" * CHUNK] * (size // CHUNK), b"\n\n"]
    started = time.process_time()
    reader = Reader("", "native", Bounds(2 * size, 2 * size), Lexicon())
    reader.open(Head(200, {}, "chunked"))
    for piece in pieces:
        reader.feed(piece, 0.0)
    assert reader.close(0.0).events_total == 1
    return time.process_time() - started


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_const", const=4, default=1, help="a quarter of the sizes past the cap")
    part = parser.parse_args().quick
    # In turn: an allocator is faster at large blocks once it has had them.
    whole, half = map(min, zip(*((line_s(4 * MIB), line_s(2 * MIB)) for _ in range(20)), strict=True))
    ratio = whole / half
    ok = [held("a line of 4 MiB in pieces of 1 KiB against one of 2 MiB, processor time", ratio, LINEAR)]
    with tempfile.TemporaryDirectory() as folder, serving() as url:
        suite = Path(folder) / "suite.json"
        case = {"question": "How much?", "forbidden_phrases": ["no such words"]}
        suite.write_text(json.dumps({"cases": [case]}), encoding="utf-8")
        run = (GOLDEN, "run", str(suite), "--base-url", url, "--no-auth", "--timeout", "300")
        ok += [at_the_cap(run, "answer", ANSWER), at_the_cap(run, "event", EVENT)]
        ok += [past_the_cap(run, "answer", ANSWER // part), past_the_cap(run, "event", EVENT // part)]
    return all(ok)


if __name__ == "__main__":
    sys.exit(not main())
