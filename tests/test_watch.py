import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

import pytest

from golden.watch import Stop, Watch

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


def now() -> float:
    return asyncio.get_running_loop().time()


async def for_ever() -> None:
    await asyncio.Event().wait()


async def watched(watch: Callable[[], Watch], body: Callable[[Watch], Coroutine[Any, Any, None]]) -> tuple[str, float]:
    """Which bound the block met, and when it was left."""
    async with watch() as watching:
        await body(watching)
    return watching.fired, now()


# Bounds


def test_a_block_is_left_when_its_time_is_over() -> None:
    outcome = run(watched(lambda: Watch(Stop(), 60), lambda watch: for_ever()))
    assert outcome == ("no end within 60 s (--timeout)", 60)


def test_a_block_is_left_when_nothing_comes() -> None:
    outcome = run(watched(lambda: Watch(Stop(), 60, 30), lambda watch: for_ever()))
    assert outcome == ("nothing came for 30 s (--idle-timeout)", 30)


async def pieces(watch: Watch, *, count: int, each_s: float) -> None:
    for _ in range(count):
        await asyncio.sleep(each_s)
        watch.last = now()
    await for_ever()


def test_each_piece_ends_a_silence() -> None:
    outcome = run(watched(lambda: Watch(Stop(), 0, 30), lambda watch: pieces(watch, count=3, each_s=20)))
    assert outcome == ("nothing came for 30 s (--idle-timeout)", 90)


def test_pieces_for_ever_do_not_outlast_the_whole_time() -> None:
    outcome = run(watched(lambda: Watch(Stop(), 50, 30), lambda watch: pieces(watch, count=100, each_s=20)))
    assert outcome == ("no end within 50 s (--timeout)", 50)


@pytest.mark.parametrize(("total_s", "idle_s"), [(0, 0), (60, 0), (0, 30), (60, 30)])
def test_a_block_that_ends_in_time_met_no_bound(total_s: float, idle_s: float) -> None:
    outcome = run(watched(lambda: Watch(Stop(), total_s, idle_s), lambda watch: asyncio.sleep(29)))
    assert outcome == ("", 29)


def test_a_block_without_bounds_takes_as_long_as_it_takes() -> None:
    assert run(watched(lambda: Watch(Stop()), lambda watch: asyncio.sleep(10**6))) == ("", 10**6)


def test_a_bound_is_told_as_it_was_given() -> None:
    assert run(watched(lambda: Watch(Stop(), 0.25), lambda watch: for_ever()))[0] == "no end within 0.25 s (--timeout)"


# Lingering


@pytest.mark.parametrize("bounds", [(0, 0), (60, 0), (60, 30), (0, 5.25), (5.25, 0)])
def test_a_lingering_block_is_left_soon_and_that_is_no_bound_that_was_met(bounds: tuple[float, float]) -> None:
    async def lingering(watch: Watch) -> None:
        await asyncio.sleep(5)
        watch.linger()
        await asyncio.sleep(0.25)
        watch.linger()  # a second end marker does not begin it anew
        await for_ever()

    assert run(watched(lambda: Watch(Stop(), *bounds), lingering)) == ("", 5.5)


def test_a_lingering_block_may_end_earlier() -> None:
    async def lingering(watch: Watch) -> None:
        watch.linger()
        await asyncio.sleep(0.25)

    assert run(watched(lambda: Watch(Stop(), 60, 30), lingering)) == ("", 0.25)


# Stopping


def test_the_first_reason_to_stop_stands() -> None:
    stop = Stop()
    assert stop.reason is None
    stop("stopped by SIGINT")
    stop("the time is over")
    assert stop.reason == "stopped by SIGINT"


def test_what_watches_is_let_go_once_and_what_was_forgotten_is_not() -> None:
    stop, told = Stop(), list[str]()
    stop.watch(told.append)
    other = list[str]()
    forgotten = other.append
    stop.watch(forgotten)
    stop.forget(forgotten)
    stop.forget(forgotten)
    stop("over")
    stop("again")
    assert (told, other) == (["over"], [])


def test_what_watches_after_the_stop_is_let_go_at_once() -> None:
    stop, told = Stop(), list[str]()
    stop("over")
    stop.watch(told.append)
    assert told == ["over"]


def test_a_block_that_begins_after_the_stop_is_left_at_its_first_wait() -> None:
    stop, reached = Stop(), []
    stop("stopped by SIGTERM")

    async def body(watch: Watch) -> None:
        reached.append("begun")
        await for_ever()
        reached.append("ended")

    assert run(watched(lambda: Watch(stop, 60, 30), body)) == ("stopped by SIGTERM", 0)
    assert reached == ["begun"]


def test_a_stop_leaves_every_block_at_once() -> None:
    stop = Stop()

    async def several() -> list[tuple[str, float]]:
        asyncio.get_running_loop().call_later(5, stop, "stopped by SIGINT")
        blocks = [watched(lambda: Watch(stop, 60, 30), lambda watch: for_ever()) for _ in range(3)]
        return await asyncio.gather(*blocks)

    assert run(several()) == [("stopped by SIGINT", 5)] * 3


def test_a_stop_after_the_block_changes_nothing() -> None:
    stop = Stop()

    async def late() -> Watch:
        async with Watch(stop, 60, 30) as watch:
            await asyncio.sleep(1)
        stop("stopped by SIGINT")
        await asyncio.sleep(100)
        return watch

    assert run(late()).fired == ""


@pytest.mark.parametrize("stop_first", [True, False])
def test_of_two_bounds_that_are_met_at_once_the_first_is_told(*, stop_first: bool) -> None:
    stop = Stop()

    async def at_once() -> str:
        loop = asyncio.get_running_loop()
        async with Watch(stop, 60) as watch:
            loop.call_at(59.999 if stop_first else 60.001, stop, "stopped by SIGINT")
            # All that is due by the time that the loop looks again is run in one go, in its order.
            loop.call_at(59.9, setattr, jump_of(loop), "now", 61.0)
            await for_ever()
        return watch.fired

    assert run(at_once()) == ("stopped by SIGINT" if stop_first else "no end within 60 s (--timeout)")


def jump_of(loop: asyncio.AbstractEventLoop) -> Jump:
    assert isinstance(loop, Loop)
    return loop.jump


# What the block raises


@pytest.mark.parametrize("error", [TimeoutError("of its own"), ValueError("no"), asyncio.CancelledError("by itself")])
def test_what_the_block_raises_passes_through(error: BaseException) -> None:
    async def raising(watch: Watch) -> None:
        await asyncio.sleep(1)
        raise error

    with pytest.raises(type(error)) as caught:
        run(watched(lambda: Watch(Stop(), 60, 30), raising))
    assert caught.value is error


def test_a_timeout_inside_the_block_is_no_bound_of_the_block() -> None:
    async def impatient(watch: Watch) -> None:
        async with asyncio.timeout(1):
            await for_ever()

    with pytest.raises(TimeoutError):
        run(watched(lambda: Watch(Stop(), 60, 30), impatient))


def test_a_block_that_cleans_up_when_it_is_left_is_waited_for() -> None:
    async def tidy(watch: Watch) -> None:
        try:
            await for_ever()
        finally:
            await asyncio.sleep(2)

    assert run(watched(lambda: Watch(Stop(), 60), tidy)) == ("no end within 60 s (--timeout)", 62)


@pytest.mark.parametrize("stopped", [False, True])
def test_a_task_that_is_cancelled_from_outside_stays_cancelled(*, stopped: bool) -> None:
    stop = Stop()

    async def outside() -> bool:
        task = asyncio.create_task(watched(lambda: Watch(stop, 60, 30), lambda watch: for_ever()))
        await asyncio.sleep(1)
        task.cancel()
        if stopped:
            stop("stopped by SIGINT")
        await asyncio.wait([task])
        return task.cancelled()

    assert run(outside())
