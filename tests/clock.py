"""An event loop whose clock jumps to what is due next: an hour passes at once, and every time is exact."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Jump(selectors.SelectSelector):
    """Does not wait: its clock jumps to when something is due."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing is due: it would wait for ever"
        self.now += max(timeout, 0)
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    """An event loop in which an hour passes at once; it remembers its timers."""

    def __init__(self) -> None:
        self.jump = Jump()
        self.timers: list[asyncio.TimerHandle] = []
        super().__init__(self.jump)

    def time(self) -> float:
        return self.jump.now

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = super().call_at(when, callback, *args, context=context)
        self.timers.append(timer)
        return timer


def run(program: Coroutine[Any, Any, T]) -> T:
    """Runs a program; it must leave no timer behind."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        result = runner.run(program)
        loop = runner.get_loop()
        assert isinstance(loop, Loop)
        assert [timer for timer in loop.timers if not timer.cancelled() and timer.when() > loop.time()] == []
        return result
