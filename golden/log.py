"""The events of a turn as its results keep them: when each came and what it was, in little room."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

Entry = tuple[float, str, str]
"""When an event came, in seconds after the request; its name; the signals that it made."""


class Log(Sequence[Entry]):
    """Entries that are read as a tuple of them would be, in a tenth of its room: a run has many, mostly of few kinds.

    Args:
        entries: in their order.
        cover: covers secrets in names.
    """

    __slots__ = ("_kinds", "_times", "_which")

    def __init__(self, entries: Iterable[Entry], cover: Callable[[str], str] = str) -> None:
        rows = [*entries]
        kinds: dict[tuple[str, str], int] = {}
        self._which = array("I", [kinds.setdefault((name, signal), len(kinds)) for _, name, signal in rows])
        self._times = array("d", [at for at, _, _ in rows])
        self._kinds = [(cover(name), signal) for name, signal in kinds]

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[Entry]:
        for at, which in zip(self._times, self._which, strict=True):
            yield at, *self._kinds[which]

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, at: int | slice) -> Entry | tuple[Entry, ...]:
        if isinstance(at, slice):
            return tuple(self)[at]
        return self._times[at], *self._kinds[self._which[at]]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (Log, tuple)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(tuple(self))
