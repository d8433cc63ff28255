"""Servers for tests: one that says exactly the bytes a test scripts, and the common servers around an app."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Semaphore, Thread
from typing import Any, Self

import hypercorn.asyncio
import hypercorn.config
import uvicorn

_PATIENCE_S = 20  # a hang of the server itself, and not of what is tested


class Act(Enum):
    """What a script may do besides sending bytes; a script that ends closes its connection."""

    HOLD = "keep the connection open until the client leaves"
    RESET = "break the connection (RST)"
    NEXT = "wait for the first byte of the connection's next request, then close without an answer to it"


Step = bytes | float | Act
"""Bytes to send, seconds to pause, or an act."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    head: bytes
    body: bytes


Script = Iterable[Step] | Callable[[Asked], AsyncIterator[Step]]
"""What is done after each request: the same steps each time, or an async generator that is told of the request."""


class Server:
    """Answers every connection's one request by its script, from a thread of its own, until it is left.

    Attributes:
        asked: every request, in the order they came.
        port: where it listens.
        url: the same, as a base URL.
    """

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self._script = script
        self._tls = tls
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._fault: BaseException | None = None
        self._came = Semaphore(0)
        self._thread = Thread(target=self._run, name="test server")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(_PATIENCE_S)
        assert not self._thread.is_alive(), "the test server hangs"
        if self._fault is not None:
            raise self._fault

    def wait_for(self, requests: int) -> None:
        """Waits until so many more requests have come."""
        for _ in range(requests):
            assert self._came.acquire(timeout=_PATIENCE_S), "no request came"

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            try:
                await self._answer(reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the client left, or the test is over
            except BaseException as fault:
                self._fault = fault
            finally:
                writer.transport.abort()
                connections.discard(task)

        server = await asyncio.start_server(connected, sock=self._socket, ssl=self._tls)
        await self._over.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections)
        await asyncio.sleep(0)  # aborted transports close their sockets in the next turn of the loop

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await _read(reader)
        self.asked.append(asked)
        self._came.release()
        async for step in self._script(asked) if callable(self._script) else _each(self._script):
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif step is Act.HOLD:
                await reader.read()
            elif step is Act.NEXT:
                await reader.read(1)
            elif step is Act.RESET:
                peer = writer.get_extra_info("socket")
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            else:
                assert not isinstance(step, Act)
                await asyncio.sleep(step)
        writer.close()
        await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, head, body)


async def _each(steps: Iterable[Step]) -> AsyncIterator[Step]:
    for step in steps:
        yield step


def head(status: str = "200 OK", kind: str = "text/event-stream", **headers: object) -> bytes:
    """The head of a reply; a header's name has `_` for `-`. Without a length or an encoding the close ends the body."""
    fields = {"content-type": kind, "connection": "close", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items() if value != ""]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def whole(body: bytes, status: str = "200 OK", kind: str = "text/event-stream", **headers: object) -> bytes:
    """A reply whose length is told."""
    return head(status, kind, content_length=len(body), **headers) + body


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; that of no bytes ends it."""
    return b"%x\r\n%b\r\n" % (len(data), data)


CHUNKED = head(transfer_encoding="chunked")


def chunked(*events: bytes) -> list[Step]:
    """A whole reply, each event a chunk."""
    return [CHUNKED, *map(chunk, events), chunk(b"")]


def event(name: str, data: str | None = "{}") -> bytes:
    """One event; with no data, a block that a browser does not see."""
    return f"event: {name}\n".encode() + (b"\n" if data is None else f"data: {data}\n\n".encode())


def tokens(*texts: str) -> bytes:
    """Text deltas. They may hold no quotes."""
    return b"".join(event("token", f'{{"text": "{text}"}}') for text in texts)


DONE = event("done")
ANSWER = tokens("All ", "is ", "well.") + DONE
"""The plainest whole answer."""


App = Callable[..., Any]


@contextmanager
def under_uvicorn(app: App) -> Iterator[str]:
    """Serves an ASGI app with uvicorn; gives its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    # asyncio does so for sockets that it made itself: else each reply waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    with listener, _running(lambda: server.run(sockets=[listener])):
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True


@contextmanager
def under_hypercorn(app: App) -> Iterator[str]:
    """Serves an ASGI app with hypercorn; gives its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config = hypercorn.config.Config()
    config.bind = [f"fd://{listener.detach()}"]  # hypercorn closes it
    config.errorlog = None
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    def run() -> None:
        with contextlib.closing(loop):
            loop.run_until_complete(hypercorn.asyncio.serve(app, config, shutdown_trigger=over.wait))

    with _running(run):
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            loop.call_soon_threadsafe(over.set)


@contextmanager
def _running(work: Callable[[], None]) -> Iterator[None]:
    thread = Thread(target=work, name="test server")
    thread.start()
    try:
        yield
    finally:
        thread.join(_PATIENCE_S)
        assert not thread.is_alive(), "the test server hangs"
