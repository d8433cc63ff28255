"""Bounds in time: for a turn, for the silence on its connection, and for the whole run."""

import asyncio
from collections.abc import Callable

# After the end marker, and for the text of a refusal, golden listens on this long: what comes after the end is a
# finding, and what never ends is no time-out.
LINGER_S = 0.5


class Stop:
    """Says that the run is over, and why; what waits at that moment is let go."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._waiting: set[Callable[[str], None]] = set()

    def __call__(self, reason: str) -> None:
        """Stops the run. The first reason stands."""
        if self.reason is None:
            self.reason = reason
            for let_go in tuple(self._waiting):
                let_go(reason)

    def watch(self, let_go: Callable[[str], None]) -> None:
        """Calls `let_go` when the run stops: at once where it has."""
        self._waiting.add(let_go)
        if self.reason is not None:
            let_go(self.reason)

    def forget(self, let_go: Callable[[str], None]) -> None:
        """Takes `watch` back."""
        self._waiting.discard(let_go)


class Watch:
    """Bounds its `async with` block in time and leaves it where a bound is met; `fired` then says which.

    One timer that looks again when it is due, not one that is set anew at each piece: streams have many pieces.
    """

    def __init__(self, stop: Stop, total_s: float = 0, idle_s: float = 0, named: str = "--timeout") -> None:
        self.fired = ""
        self._loop = asyncio.get_running_loop()
        self.start = self.last = self._loop.time()
        self._stop = stop
        self._end = self.start + total_s if total_s else None
        self._late = f"no end within {total_s:g} s ({named})"
        self._idle_s = idle_s
        self._scope = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> "Watch":
        await self._scope.__aenter__()
        self._look()
        self._stop.watch(self._fire)
        return self

    async def __aexit__(self, *raised: object) -> bool:
        self._stop.forget(self._fire)
        if self._timer is not None:
            self._timer.cancel()
        try:
            await self._scope.__aexit__(*raised)  # type: ignore[arg-type]  # the three of any __aexit__, passed on
        except TimeoutError:
            return True
        return False

    def linger(self) -> None:
        """Leaves the block soon, whatever comes."""
        if not self._late:
            return
        self._late = ""
        self._idle_s = 0
        self._end = self._loop.time() + LINGER_S
        if self._timer is not None:
            self._timer.cancel()
        self._look()

    def _look(self) -> None:
        now = self._loop.time()
        idle_end = self.last + self._idle_s if self._idle_s else None
        if self._end is not None and now >= self._end:
            self._fire(self._late)
        elif idle_end is not None and now >= idle_end:
            self._fire(f"nothing came for {self._idle_s:g} s (--idle-timeout)")
        else:
            due = min((end for end in (self._end, idle_end) if end is not None), default=None)
            self._timer = None if due is None else self._loop.call_at(due, self._look)

    def _fire(self, why: str) -> None:
        if self._scope.when() is None:  # the first bound that is met stands
            self.fired = why
            self._scope.reschedule(self._loop.time())


def is_cancelled() -> bool:
    """Tells whether this task is asked to end. A `CancelledError` where it is not is somebody's own: no reason to."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
