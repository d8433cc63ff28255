"""The way back from an agent's thread to golden's event loop."""

import asyncio
import threading
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")

AGENT_THREADS = "golden-agent"
"""How the names of the threads begin that agents run in."""

# What waits to be read is bounded by its size; each piece counts for more than its bytes, so that empty ones end too.
_BOUND = 64 * 1024
_PIECE = 64

# A writer that is faster than this is left to gather some pieces: waking golden's loop costs as much as ten of them.
_PAUSE_S = 0.001


class Closed(OSError):
    """What a writer meets once nobody reads. An app meets it in `send`: real servers raise an `OSError` there too."""


class Channel(Generic[T]):
    """Pieces on their way from an agent's thread to golden's loop, in order and bounded.

    Golden's loop is woken once for all that came meanwhile, not once for each piece.
    """

    def __init__(self) -> None:
        self.open = True
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._lock = threading.Lock()
        self._reader_waits = False
        self._woken = 0.0
        self._rapid = False
        self._pieces: list[T] = []
        self._held = 0
        self._rooms: list[Future[None]] = []
        self._error: Exception | None = None

    def put(self, piece: T, size: int = 0) -> Future[None] | None:
        """Adds a piece of `size` bytes, from any thread.

        Returns:
            None, or what is to be waited for before the next piece: a reader that keeps up.

        Raises:
            Closed: nobody reads any more.
        """
        with self._lock:
            if not self.open:
                raise Closed("golden reads no further")
            self._pieces.append(piece)
            self._held += size + _PIECE
            room: Future[None] | None = None
            if self._held >= _BOUND:
                room = Future()
                self._rooms.append(room)
            self._wake()
        return room

    def end(self, error: Exception | None = None) -> None:
        """Says, from any thread, that no piece follows; the reader meets `error` there. The first end counts."""
        with self._lock:
            if self.open:
                self._error = error
                self._shut()
                self._wake()

    def close(self) -> bool:
        """Says that nobody reads any more; returns whether it had not ended yet."""
        with self._lock:
            was_open = self.open
            self._shut()
            self._pieces = []
        return was_open

    async def take(self) -> list[T]:
        """Returns all pieces that are here, waiting for the first; none at the end."""
        while True:
            with self._lock:
                if self._pieces:
                    pieces, self._pieces = self._pieces, []
                    self._held = 0
                    self._make_room()
                    return pieces
                if not self.open:
                    if self._error is not None:
                        raise self._error
                    return []
                self._ready.clear()
                self._reader_waits = not self._rapid
            if self._rapid:
                self._rapid = False
                await asyncio.sleep(_PAUSE_S)
            else:
                await self._ready.wait()
                now = self._loop.time()
                self._rapid = now - self._woken < _PAUSE_S
                self._woken = now

    def _wake(self) -> None:
        if self._reader_waits:
            self._reader_waits = False
            self._loop.call_soon_threadsafe(self._ready.set)

    def _shut(self) -> None:
        self.open = False
        self._make_room()

    def _make_room(self) -> None:
        rooms, self._rooms = self._rooms, []
        for room in rooms:
            resolve(room)


def resolve(future: Future[None]) -> None:
    """Lets whoever waits for `future` go on, if anyone still does."""
    with suppress(InvalidStateError):
        future.set_result(None)
