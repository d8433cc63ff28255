"""One turn's reading: pieces of a body → events → signals → `Turn`. Live runs, replays and tests all read with it."""

from dataclasses import dataclass

from golden import dialects
from golden.errors import TargetError
from golden.payload import parse
from golden.signals import Fold
from golden.sse import Decoder, Event
from golden.transcript import Turn
from golden.wire import Head

# How much is read between two looks at the bounds, in bytes.
_SLICE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of one turn's stream is read.

    Attributes:
        answer: bytes of the whole stream.
        event: bytes of one event's data.
    """

    answer: int = 8 * 1024 * 1024
    event: int = 4 * 1024 * 1024


class Reader:
    """Reads one reply.

    Args:
        question: what was asked.
        dialect: the dialect's name, or `auto` to tell it from the head and the first events.
        bounds: how much is read.

    Attributes:
        dialect: the dialect's name; `auto` until it is told.
        reason: why it is that one, "" until then.
        kept: takes the events as they are framed, where it is a list.
    """

    def __init__(self, question: str, dialect: str, bounds: Bounds) -> None:
        self.dialect = dialect
        self.reason = "" if dialect == "auto" else "named"
        self.kept: list[Event] | None = None
        self._dialect = None if dialect == "auto" else dialects.load(dialect)
        self._head = Head(0, {}, "close")
        self._bounds = bounds
        self._size = 0
        self._decoder = Decoder()
        self._fold = Fold(question)
        self._unclaimed: list[Event] = []

    def open(self, head: Head) -> None:
        """Takes the reply's head, before its body."""
        self._head = head
        if head.dialect:
            self.dialect, self.reason = head.dialect, "as recorded"
            self._dialect = dialects.load(head.dialect)
        for kind, message in head.notes:
            self.note(kind, message)
        if head.asked_again:
            self.note("asked_again", f"the question was sent twice: {head.asked_again}")

    def note(self, kind: str, message: str) -> None:
        """Adds a finding about how the turn was asked."""
        self._fold.note(kind, message)

    @property
    def ended(self) -> bool:
        """Whether the dialect's end marker came."""
        return self._fold.ended

    @property
    def size(self) -> int:
        """How many bytes have come."""
        return self._size

    @property
    def came(self) -> str:
        """What has come so far, in words."""
        return f"{self._fold.events + len(self._unclaimed)} events, {self._fold.characters} characters of answer"

    def feed(self, piece: bytes, at: float) -> None:
        """Takes a piece of the body that came `at` seconds after the request.

        Raises:
            TargetError: the stream or an event of it is larger than is read, or two dialects claim it.
        """
        if len(piece) > _SLICE:  # a piece may be as large as an agent in this process likes
            for start in range(0, len(piece), _SLICE):
                self.feed(piece[start : start + _SLICE], at)
            return
        self._size += len(piece)
        if self._size > self._bounds.answer:
            self._too_large("answer", self._bounds.answer)
        most = self._bounds.event
        may_be_large = self._size > most  # before that no event needs to be measured
        events = self._decoder.feed(piece, at)
        if self.kept is not None:
            self.kept += events
        for event in events:
            if may_be_large and event.data is not None and len(event.raw or event.data.encode()) > most:
                self._too_large("event", most)
            if self._dialect is None:
                self._detect(event)
            else:
                self._fold.add(event, self._dialect.read(event))
        if may_be_large and self._decoder.size > most:
            self._too_large("event", most)

    def close(self, at: float, error: TargetError | None = None) -> Turn:
        """Ends the reading, `at` seconds after the request, and returns the turn; `error` is what cut it short."""
        if self._unclaimed and error is None:
            error = _unknown_dialect(self._unclaimed)
        for event in self._unclaimed:
            self._fold.add(event, ())
        return self._fold.close(
            at,
            proven=self._head.ends != "close",
            pending=self._decoder.pending,
            invalid_utf8=self._decoder.invalid_utf8,
            error=error,
        )

    def _detect(self, event: Event) -> None:
        self._unclaimed.append(event)
        found = dialects.detect(self._head, event)
        if found is None:
            return
        self.dialect, self.reason = found
        self._dialect = dialects.load(self.dialect)
        for earlier in self._unclaimed:
            self._fold.add(earlier, self._dialect.read(earlier))
        self._unclaimed = []

    def _too_large(self, what: str, bound: int) -> None:
        raise TargetError(
            "too_large",
            f"the {what} is larger than the {bound:,} bytes that are read, after {self.came}",
            hint=f"--max-{what} reads more",
        )


def _unknown_dialect(events: list[Event]) -> TargetError:
    first = events[0]
    body, _ = parse(first.data or "")
    keys = "data that is no JSON object"
    if isinstance(body, dict):
        keys = f"the keys {', '.join(repr(key[:40]) for key in list(body)[:10])}"
    return TargetError(
        "unknown_dialect",
        f"no dialect knows this stream: its first event is named {first.name or 'message'!r} and has {keys}",
        hint=f"known: {', '.join(dialects.names())}; --dialect names one",
    )
