"""A compressed body → its bytes, in bounded steps."""

import zlib
from collections.abc import Iterator

from golden.errors import TargetError

# A step of decompression: a small body that unfolds to gigabytes is met piece by piece.
_STEP = 64 * 1024


class _Plain:
    def feed(self, piece: bytes) -> Iterator[bytes]:
        yield piece

    def close(self) -> None:
        pass


class _Inflate:
    """gzip and deflate in bounded steps, over members that follow one another."""

    def __init__(self) -> None:
        self._start = b""
        self._stream: zlib._Decompress | None = None

    def feed(self, piece: bytes) -> Iterator[bytes]:
        if self._stream is None:
            self._start += piece
            if len(self._start) < 2:  # two bytes tell the format
                return
            piece = self._start
            self._stream = zlib.decompressobj(_wbits(piece))
        part = b""
        # A step that is full may hold more back, with all of its input read.
        while piece or (len(part) == _STEP and not self._stream.eof):
            if self._stream.eof:
                self._stream = zlib.decompressobj(_wbits(piece))
            try:
                part = self._stream.decompress(piece, _STEP)
            except zlib.error as error:
                raise TargetError("cut", f"the compressed body is broken: {error}") from None
            piece = self._stream.unconsumed_tail or self._stream.unused_data
            if part:
                yield part

    def close(self) -> None:
        if self._start if self._stream is None else not self._stream.eof:
            raise TargetError("cut", "the compressed body ended before its own end")


def _wbits(start: bytes) -> int:
    """The format that a body's first bytes show: gzip or zlib by their headers, else deflate with no header."""
    is_zlib = start[0] & 0x0F == zlib.DEFLATED and int.from_bytes(start[:2], "big") % 31 == 0
    return zlib.MAX_WBITS | 32 if is_zlib or start[:1] == b"\x1f" else -zlib.MAX_WBITS


def unpacker(encoding: str) -> _Plain | _Inflate:
    """Returns what unpacks a body of this content encoding.

    Raises:
        TargetError: it is one that golden does not read.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return _Plain()
    if name in ("gzip", "x-gzip", "deflate"):
        return _Inflate()
    raise TargetError(
        "not_a_stream",
        f"the body is encoded as {encoding.strip()!r}, which golden did not ask for and does not read",
        hint="no compression of event streams: it also holds tokens back",
    )
