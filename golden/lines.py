"""Streams that are no server-sent events: bytes → one `Event` a line, or one a piece of text."""

import codecs

from golden.sse import Event


class Lines:
    """Reads a stream of lines (NDJSON, and the AI SDK's data stream). No bytes make it raise.

    A line ends at LF, with a CR before it or without. The last one may lack its end: `pending` says so, as a cut
    cannot be told from that.
    """

    def __init__(self) -> None:
        self.invalid_utf8 = False
        self._held: list[bytes] = []
        self._held_size = 0

    @property
    def pending(self) -> bool:
        """Whether a line has not ended."""
        return any(piece.strip() for piece in self._held)

    @property
    def size(self) -> int:
        """How many bytes the line that has not ended has."""
        return self._held_size

    def feed(self, piece: bytes, at: float) -> list[Event]:
        """Returns the lines that `piece`, which came `at` seconds after the request, completes."""
        lines, end, rest = piece.rpartition(b"\n")
        if not end:
            self._held.append(piece)
            self._held_size += len(piece)
            return []
        whole = b"".join((*self._held, lines))
        self._held, self._held_size = ([rest], len(rest)) if rest else ([], 0)
        return [self._event(line.removesuffix(b"\r"), at) for line in whole.split(b"\n") if line.strip()]

    def _event(self, line: bytes, at: float) -> Event:
        try:
            return Event("", line.decode(), "", at)
        except UnicodeDecodeError:
            self.invalid_utf8 = True
            return Event("", line.decode(errors="replace"), "", at, line)


class Pieces:
    """Reads plain text: each piece is an event, and a character that is cut in two waits for its end."""

    def __init__(self) -> None:
        self.invalid_utf8 = False
        self.size = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    @property
    def pending(self) -> bool:
        """Whether a character has not ended."""
        return bool(self._decoder.getstate()[0])

    def feed(self, piece: bytes, at: float) -> list[Event]:
        """Returns the text that `piece`, which came `at` seconds after the request, completes."""
        text = self._decoder.decode(piece)
        mended = text.encode(errors="surrogateescape").decode(errors="replace")
        self.invalid_utf8 = self.invalid_utf8 or mended != text
        raw = text.encode(errors="surrogateescape") if mended != text else None
        return [Event("", mended, "", at, raw)] if text else []
