"""SIGINT and SIGTERM: before and after the questions they end the command at once, between them they end the run."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Self

from golden.errors import Stopped

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

# A signal that follows the first is not waited for only after this: some senders send each twice, and the reports of a
# run that was stopped are written by then.
_PATIENCE_S = 2.0


class Interrupts:
    """Holds the handlers of both signals while its `with` block runs. A signal that is ignored stays so.

    Attributes:
        caught: the signal that ended the run, 0 for none.
    """

    def __init__(self) -> None:
        self.caught = 0
        self._at = 0.0
        self._end: Callable[[str], object] | None = None

    def __enter__(self) -> Self:
        self._before = {number: signal.getsignal(number) for number in _SIGNALS}
        for number, before in self._before.items():
            if before is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before or signal.SIG_DFL)

    @contextmanager
    def ending(self, end: Callable[[str], object]) -> Iterator[None]:
        """Has a signal call `end` with its name, and no more than that, while the block runs."""
        self._end = end
        try:
            yield
        finally:
            self._end = None

    def _handle(self, number: int, frame: object) -> None:
        now = monotonic()  # as it was when golden was loaded: an agent may patch the module
        if self._end is None or (self.caught and now - self._at > _PATIENCE_S):
            raise Stopped if number == signal.SIGTERM else KeyboardInterrupt
        if not self.caught:
            self.caught, self._at = number, now
            self._end(f"stopped by {signal.Signals(number).name}")
