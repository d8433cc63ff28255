r"""Server-sent events: bytes → `Event`, exact to the WHATWG standard, and `Event` → bytes.

The standard is HTML, section 9.2.6, "Interpreting an event stream". Two things are kept that it drops, because a
tester must speak of them: a block with a name and no data is an `Event` without data, and what is left without its
blank line at the end is `pending`. Reconnection (`retry`) is not read: golden never reconnects.
"""

import re
from typing import NamedTuple


class Event(NamedTuple):
    r"""One server-sent event as it arrived.

    Attributes:
        name: the `event` field, "" where the block names none (a browser calls that `message`).
        data: the `data` lines joined by LF, or None where the block had no `data` field.
        id: the last event id of the stream so far.
        at: seconds after the request.
        raw: the bytes of `data` where they are not UTF-8; `data` then holds U+FFFD for what is malformed.
    """

    name: str
    data: str | None
    id: str = ""
    at: float = 0.0
    raw: bytes | None = None


# Makes a NamedTuple in a third of the time that its own constructor takes: there is one for each token.
_new = tuple.__new__

# Blocks of one `data` line, by far the most, as (name, data, ""); of all others each line by itself, as ("", "", line).
_BLOCKS = re.compile(r"(?:event: (.+)\n)?data: (.+)\n\n|(.*)\n").findall

_CR = ord("\r")  # a number is found in bytes several times faster than a byte string


class Decoder:
    """Reads a stream that may be cut anywhere. No bytes make it raise.

    Lines are cut from the bytes and decoded after that: CR and LF are never part of a longer UTF-8 sequence, so this
    gives what decoding the whole stream first would give, and a line in many pieces is joined once.
    """

    def __init__(self) -> None:
        self.invalid_utf8 = False
        self._held: list[bytes] = []  # the pieces of a line that has not ended
        self._held_size = 0
        self._skip_lf = False  # a CR ended the last piece: an LF that follows belongs to it
        self._at_start = True
        self._name = ""
        self._data: list[str] = []
        self._data_size = 0
        self._other = False  # a line that makes no event: an id, or a field that no browser knows
        self._id = ""

    @property
    def pending(self) -> bool:
        """Whether a block is open: at the stream's end it was cut inside an event."""
        line = b"".join(self._held)
        if self._at_start:
            line = line.removeprefix(b"\xef\xbb\xbf")
        is_field = bool(line) and line[:1] != b":"
        return bool(self._data or self._name or self._other or is_field)

    @property
    def size(self) -> int:
        """At least how many bytes of data the event that is not complete yet has."""
        return max(self._held_size - len("data: "), self._data_size)

    def feed(self, piece: bytes, at: float) -> list[Event]:
        """Returns the events that `piece`, which came `at` seconds after the request, completes."""
        if self._skip_lf and piece:
            self._skip_lf = False
            if piece[:1] == b"\n":
                piece = piece[1:]
        if _CR in piece:
            self._skip_lf = piece[-1:] == b"\r"
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = piece.rfind(b"\n") + 1
        if not end:
            self._held.append(piece)
            self._held_size += len(piece)
            return []
        lines, rest = (piece, b"") if end == len(piece) else (piece[:end], piece[end:])
        if self._held:
            lines = b"".join((*self._held, lines))
            self._held = []
            self._held_size = 0
        if rest:
            self._held = [rest]
            self._held_size = len(rest)
        try:
            text = lines.decode()
        except UnicodeDecodeError:
            self.invalid_utf8 = True
            # Each malformed byte becomes one lone surrogate, which no well-formed input can hold: so the data's very
            # bytes can be had back when its event is complete.
            text = lines.decode(errors="surrogateescape")
        if self._at_start:
            self._at_start = False
            text = text.removeprefix("\ufeff")
        events: list[Event] = []
        for name, data, line in _BLOCKS(text):
            if data and not (self._data or self._name or self.invalid_utf8):
                events.append(_new(Event, (name, data, self._id, at, None)))
                self._other = False
                continue
            if data:
                self._name = name or self._name
                self._data.append(data)
            elif line:
                self._field(line)
                continue
            if self._data or self._name:
                events.append(self._event(at))
                self._data = []
                self._data_size = 0
                self._name = ""
            self._other = False
        return events

    def _field(self, line: str) -> None:
        field, _, value = line.partition(":")
        if value[:1] == " ":
            value = value[1:]
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
            self._data_size += len(value)
        elif field:
            self._other = True
            if field == "id" and "\0" not in value:
                self._id = _mended(value)

    def _event(self, at: float) -> Event:
        data = "\n".join(self._data) if self._data else None
        name = _mended(self._name)
        if data is None:
            return Event(name, None, self._id, at)
        raw = data.encode(errors="surrogateescape")
        mended = raw.decode(errors="replace")
        return Event(name, mended, self._id, at, raw if mended != data else None)


def _mended(text: str) -> str:
    return text.encode(errors="surrogateescape").decode(errors="replace")


def whole(text: str) -> str:
    """Returns `text` with the two halves of a surrogate pair as their character, and a half alone as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def encode(event: Event) -> bytes:
    """Returns the block that gives `event` back when it is read; line ends inside `data` become LF."""
    name, data, id, _, raw = event
    if data is not None and raw is None and not id and data.isascii() and name.isascii() and data.isprintable():
        return f"event: {name}\ndata: {data}\n\n".encode() if name else f"data: {data}\n\n".encode()  # by far the most
    lines = []
    if event.name:
        lines.append(b"event: " + whole(event.name).encode())
    if event.id:
        lines.append(b"id: " + whole(event.id).encode())
    if event.data is not None:
        raw = event.raw if event.raw is not None else whole(event.data).encode()
        lines += [b"data: " + line for line in raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")]
    return b"\n".join(lines) + b"\n\n"
