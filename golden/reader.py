"""One turn's reading: pieces of a body → events → signals → `Turn`. Live runs, replays and tests all read with it."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from golden import dialects
from golden.dialects import Framing
from golden.errors import TargetError, UsageError
from golden.gathering import Fold
from golden.lexicon import Lexicon, Reading
from golden.lines import Lines, Pieces
from golden.payload import parse
from golden.sse import Decoder, Event
from golden.transcript import Turn
from golden.visible import glimpse
from golden.wire import Head, Reply

# How much is read between two looks at the bounds, in bytes.
_SLICE = 64 * 1024

# How many pieces of a body are each looked at, to tell how it is framed, before that waits for the first line's end.
_FEW = 8

# How a line of JSON begins, or of a code and JSON; few texts do.
_MAY_BE_LINES = re.compile(rb"\{|[0-9a-z]:|[0-9a-z]?$")

_DECODERS: dict[Framing, Callable[[], Decoder | Lines | Pieces]] = {"sse": Decoder, "lines": Lines, "text": Pieces}


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of one turn's stream is read.

    Attributes:
        answer: bytes of the whole stream.
        event: bytes of one event's data.
    """

    answer: int = 8 * 1024 * 1024
    event: int = 4 * 1024 * 1024


def decoder(framing: Framing) -> Decoder | Lines | Pieces:
    """Returns what tells the events of a stream apart."""
    return _DECODERS[framing]()


class Reader:
    """Reads one reply.

    Args:
        question: what was asked.
        dialect: the dialect's name, or `auto` to tell it from the head and the first events.
        bounds: how much is read.
        lexicon: the dialects that there are.

    Attributes:
        dialect: the dialect's name; `auto` until it is told.
        reason: why it is that one, "" until then.
        framing: how events are told apart.
        kept: takes the events as they are told apart, where it is a list.
    """

    def __init__(self, question: str, dialect: str, bounds: Bounds, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self.dialect = dialect
        self.reason = "" if dialect == "auto" else "named"
        self.kept: list[Event] | None = None
        self._dialect = None if dialect == "auto" else lexicon.dialect(dialect)
        self._read = None if dialect == "auto" else lexicon.reading(dialect)
        self.framing: Framing = "sse" if self._dialect is None else self._dialect.framings[0]
        self._head = Head(0, {}, "close")
        self._bounds = bounds
        self._size = 0
        self._decoder = decoder(self.framing)
        self._fold = Fold(question)
        self._unclaimed: list[Event] = []
        self._held: list[tuple[bytes, float]] | None = None  # the beginning of a body that is text, or lines

    def open(self, head: Head) -> None:
        """Takes the reply's head, before its body."""
        self._head = head
        told = dialects.framing(head)
        if head.ends != "iterable" and (self._dialect is None or told in self._dialect.framings):
            self.framing = told
            self._decoder = decoder(told)
            self._held = [] if self._dialect is None and told == "text" else None
        self._fold.session = head.session
        if head.asked_again:
            self.note("asked_again", f"the question was sent twice: {head.asked_again}")

    def replay(self, reply: Reply) -> None:
        """Takes a whole reply of a recording, whose events were told apart when they came.

        Raises:
            TargetError: as `feed` does, or the dialect that it was recorded in is not known.
        """
        self._head = reply.head
        for kind, message in reply.notes:
            self.note(kind, message)
        named = "native" if reply.is_golden else reply.dialect if self.dialect == "auto" else "auto"
        if named not in ("", "auto"):
            try:
                self._speak(named, "as recorded")
            except UsageError as error:
                raise TargetError("recording", f"recorded in a dialect that is not here: {error.message}") from None
        self.framing = dialects.framing(reply.head) if self._dialect is None else self._dialect.framings[0]
        # In characters, not bytes, which are no fewer: what was recorded within its bounds is always read within them.
        sizes = [len(event.data or "") for event in reply.events]
        self._size = sum(sizes)
        if self._size > self._bounds.answer:
            self._too_large("answer", self._bounds.answer)
        if max(sizes, default=0) > self._bounds.event:
            self._too_large("event", self._bounds.event)
        self._take(reply.events)

    def note(self, kind: str, message: str) -> None:
        """Adds a finding about how the turn was asked."""
        self._fold.findings.note(kind, message)

    @property
    def accepted(self) -> Collection[str]:
        """The content types that may be an answer."""
        return dialects.CONTENT_TYPES if self._dialect is None else self._dialect.accepts

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
        room = self._bounds.answer - self._size
        if len(piece) > room:
            if room:
                self.feed(piece[:room], at)  # what ended before the bound counts, wherever pieces are cut
            self._size += len(piece) - room
            self._too_large("answer", self._bounds.answer)
        self._size += len(piece)
        if self._held is None:
            self._decode(piece, at)
            return
        self._held.append((piece, at))
        # Looked at only where that may tell: pieces may be single bytes.
        if len(self._held) < _FEW or b"\n" in piece or self._size > _SLICE:
            self._frame(whole=self._size > _SLICE)

    def _frame(self, *, whole: bool) -> None:
        """Tells text from lines that are sent as text, by the first line, and reads what was held back for that.

        Args:
            whole: whether it is told now, from as much as there is.
        """
        held = self._held or []
        line, end, _ = b"".join(piece for piece, _ in held).lstrip().partition(b"\n")
        may_be_lines = _MAY_BE_LINES.match(line)
        if may_be_lines and not end and not whole:
            return
        self._held = None
        event = Event("", line.decode(errors="replace").removesuffix("\r"))
        if may_be_lines and self._lexicon.detect(self._head, event, "lines"):
            self.framing = "lines"
            self._decoder = decoder("lines")
        for piece, at in held:
            self._decode(piece, at)

    def _decode(self, piece: bytes, at: float) -> None:
        most = self._bounds.event
        events = self._decoder.feed(piece, at)
        if self._size <= most:  # no event needs to be measured
            self._take(events)
            return
        sizes = [len(event.raw or (event.data or "").encode()) for event in events]
        large = next((index for index, size in enumerate(sizes) if size > most), None)
        self._take(events[:large])
        if large is not None or self._decoder.size > most:
            self._too_large("event", most)

    def _take(self, events: Sequence[Event]) -> None:
        if self.kept is not None:
            self.kept += events
        waiting, read, add = iter(events), self._read, self._fold.add
        while read is None and (event := next(waiting, None)):
            read = self._detect(event)
        if read is not None:
            for event in waiting:
                add(event, read(event))

    def close(self, at: float, error: TargetError | None = None) -> Turn:
        """Ends the reading, `at` seconds after the request, and returns the turn; `error` is what cut it short."""
        try:
            if self._held is not None:
                self._frame(whole=True)
            pending = self._decoder.pending
            if pending and isinstance(self._decoder, Lines) and self._head.ends != "close" and error is None:
                # A line at the proven end of a body needs no line end of its own.
                pending = False
                self._decode(b"\n", at)
        except TargetError as late:
            pending, error = self._decoder.pending, error or late
        if self._unclaimed and error is None:
            error = _unknown_dialect(self._unclaimed, self._lexicon)
        for event in self._unclaimed:
            self._fold.add(event, ())
        return self._fold.close(
            at,
            proven=self._head.ends != "close",
            pending=pending,
            marker="none" if self._dialect is None else self._dialect.marker,
            invalid_utf8=self._decoder.invalid_utf8,
            error=error,
        )

    def _detect(self, event: Event) -> Reading | None:
        self._unclaimed.append(event)
        found = self._lexicon.detect(self._head, event, self.framing)
        if found is None:
            return None
        read = self._speak(*found)
        earlier, self._unclaimed = self._unclaimed, []
        for one in earlier:
            self._fold.add(one, read(one))
        return read

    def _speak(self, dialect: str, reason: str) -> Reading:
        self._dialect, self._read = self._lexicon.dialect(dialect), self._lexicon.reading(dialect)
        self.dialect, self.reason = dialect, reason
        return self._read

    def _too_large(self, what: str, bound: int) -> None:
        raise TargetError(
            "too_large",
            f"the {what} is larger than the {bound:,} bytes that are read, after {self.came}",
            hint=f"--max-{what} reads more",
        )


def _unknown_dialect(events: list[Event], lexicon: Lexicon) -> TargetError:
    first = events[0]
    body, _ = parse(first.data or "")
    keys = "data that is no JSON object"
    if isinstance(body, dict):
        keys = f"the keys {', '.join(glimpse(key, 42) for key in list(body)[:10])}"
    return TargetError(
        "unknown_dialect",
        f"no dialect knows this stream: its first event is named {first.name or 'message'!r} and has {keys}",
        hint=f"known: {', '.join(lexicon.names())}; --dialect names one, [tool.golden.dialects.NAME] declares one",
    )
