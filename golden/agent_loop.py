"""Where agents run, apart from golden's own event loop.

Golden's clocks must hold whatever an agent does. So blocking code has a daemon thread for each question, and what is
asynchronous shares one event loop in a daemon thread for the whole run: an agent's clients belong to the loop they were
made in and must go on working from case to case. Neither a thread nor a blocked loop can be killed: what blocks for
ever is left behind, and where it is the shared loop, a fresh one takes its place.
"""

import asyncio
import sys
import threading
import traceback
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from golden.blame import place, raised_at, told
from golden.channel import AGENT_THREADS, Channel, resolve
from golden.errors import AskAgain, TargetError, UsageError

T = TypeVar("T")
R = TypeVar("R")


class Limits(NamedTuple):
    """How long golden waits for an agent, in seconds.

    Attributes:
        grace: for what was told to end; after it the agent is left behind, or its loop found blocked.
        thread: the same, for a thread of one question: nothing but that question waits for it.
        disconnect: between telling an app that its client left and cancelling it.
        background: at the end of the run, for what goes on after an answer was complete.
        start: for the start-up of an app.
        stop: for its shut-down.
    """

    grace: float = 0.5
    thread: float = 0.25
    disconnect: float = 0.05
    background: float = 5.0
    start: float = 30.0
    stop: float = 10.0


LIMITS = Limits()


class AgentWarning(UserWarning):
    """Something is wrong with the agent that changes no verdict."""


async def in_thread(work: Callable[[Channel[T]], None], *, grace: float) -> AsyncGenerator[T, None]:
    """Runs `work` in a daemon thread of its own, in the caller's context, and yields what it puts into the channel.

    Closed early, it waits `grace` seconds for `work` to notice at its next piece.

    Raises:
        TargetError: `work` raised, whatever it was.
    """
    channel: Channel[T] = Channel()
    done: Future[None] = Future()

    def run() -> None:
        try:
            work(channel)
        except BaseException as error:
            channel.end(raised(error))
        else:
            channel.end()
        resolve(done)

    threading.Thread(target=copy_context().run, args=(run,), name=AGENT_THREADS, daemon=True).start()
    try:
        while pieces := await channel.take():
            for piece in pieces:
                yield piece
    finally:
        if channel.close():
            await _settled([done], grace)


class Asking(Generic[T]):
    """One question in the agents' loop.

    Attributes:
        channel: takes the pieces of the answer.
        state: what the start-up gave.
        gone: set when golden wants no more.
        done: nothing of it runs any more.
        left: it was told to end, and the loop has heard it.
    """

    def __init__(self, work: Callable[["Asking[T]"], Coroutine[Any, Any, None]], state: Any, patience: float) -> None:
        self.channel: Channel[T] = Channel()
        self.state = state
        self.gone = asyncio.Event()
        self.done: Future[None] = Future()
        self.left = False
        self._work = work
        self._patience = patience

    # The two that follow run in the agents' loop, in this order.

    def begin(self) -> None:
        _ASKING.set(self)
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(lambda _: resolve(self.done))

    def leave(self) -> None:
        self.left = True
        self.gone.set()
        asyncio.get_running_loop().call_later(self._patience, self._task.cancel)

    async def _run(self) -> None:
        try:
            if self.channel.open:
                await self._work(self)
        except BaseException as error:
            self.channel.end(raised(error))
        else:
            self.channel.end()


_ASKING: ContextVar[Asking[Any]] = ContextVar("golden_asking")


class _LoopThread:
    """An event loop in a daemon thread."""

    def __init__(self, context: AbstractAsyncContextManager[object], limits: Limits) -> None:
        self.asked: set[Asking[Any]] = set()  # something of them still runs
        self.guilty: Asking[Any] | None = None  # who blocked the loop; it is given up
        self.place = ""
        self.finished: Future[None] = Future()
        self._context = context
        self._limits = limits
        self._state: object = None
        self._owners: WeakKeyDictionary[asyncio.Future[Any], Asking[Any]] = WeakKeyDictionary()
        self._stopping = False
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._loop.set_task_factory(self._new_task)
        self._thread = threading.Thread(target=self._run, name=f"{AGENT_THREADS}-loop", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # asyncio lets these two out of the loop where a task of the agent's own raises them: they end nothing here.
        with suppress(SystemExit, KeyboardInterrupt), self._runner:
            while not self._stopping:
                with suppress(SystemExit, KeyboardInterrupt):
                    self._loop.run_forever()
        resolve(self.finished)

    def _new_task(
        self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, R] | Generator[Any, None, R], **options: Any
    ) -> asyncio.Future[R]:
        task = asyncio.Task(coro, loop=loop, **options)
        asking = _ASKING.get(None)
        if asking is not None:
            self._owners[task] = asking
        return task

    async def start(self) -> None:
        self._state = await self._call(self._context.__aenter__(), self._limits.start)

    async def end(self) -> None:
        """Lets what goes on after complete answers end, then shuts down; neither for long."""
        limits = self._limits
        await _settled([asking.done for asking in self.asked if not asking.left], limits.background)
        try:
            await self._call(self._context.__aexit__(None, None, None), limits.stop)
        except TimeoutError:
            warnings.warn(f"the agent's shut-down took longer than {limits.stop:g} s", AgentWarning, stacklevel=2)
        except Exception as error:
            warnings.warn(f"the agent's shut-down failed: {told(error)}", AgentWarning, stacklevel=2)

    def stop(self) -> None:
        """Ends the loop and cancels what is in it, at once or when it is no longer blocked."""

        def stop() -> None:
            self._stopping = True
            self._loop.stop()

        self._loop.call_soon_threadsafe(stop)

    async def _call(self, coro: Coroutine[Any, Any, R], limit: float) -> R:
        async with asyncio.timeout(limit):
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coro, self._loop))

    def ask(self, work: Callable[[Asking[T]], Coroutine[Any, Any, None]]) -> Asking[T]:
        asking = Asking(work, self._state, self._limits.disconnect)
        self.asked.add(asking)
        asking.done.add_done_callback(lambda _: self.asked.discard(asking))
        self._loop.call_soon_threadsafe(asking.begin)
        return asking

    async def leave(self, asking: Asking[Any], *, cancelled: bool) -> None:
        """Ends what still runs of a question. A loop that does not hear it of a cancelled one is given up."""
        if not asking.channel.close():
            return
        self._loop.call_soon_threadsafe(asking.leave)
        if self.guilty is None:
            await _settled([asking.done], self._limits.disconnect + self._limits.grace)
            if cancelled and not asking.left:
                self._give_up(asking)

    def _give_up(self, first: Asking[Any]) -> None:
        """Finds who blocks the loop, or takes it to be who noticed `first`; all others are to be asked again."""
        if self.guilty is not None:
            return
        frame = sys._current_frames().get(self._thread.ident or 0)
        self.place = place(traceback.walk_stack(frame)) if frame else ""
        running = asyncio.current_task(self._loop)
        self.guilty = first if running is None else self._owners.get(running, first)
        for asking in list(self.asked):
            if asking is not self.guilty:
                self._loop.call_soon_threadsafe(asking.leave)
                asking.channel.end(AskAgain(self.place))
                resolve(asking.done)


@dataclass(slots=True, eq=False)
class _Runs:
    """Those that overlap in one event loop of golden's: they share the agents' loop."""

    count: int = 0
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    threads: list[_LoopThread] = field(default_factory=list)


class AgentLoop:
    """The event loop that asynchronous agents run in.

    Args:
        limits: how long golden waits.
        prepare: makes what is entered in the loop before the first question and left after the last; its value is each
            question's `state`. A `UsageError` it raises says why the agent cannot start.
    """

    def __init__(
        self, limits: Limits, prepare: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    ) -> None:
        self._limits = limits
        self._prepare = prepare
        self._open: dict[asyncio.AbstractEventLoop, _Runs] = {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Holds for one run, or several that overlap, and leaves no loop running but those that are blocked."""
        here = asyncio.get_running_loop()
        runs = self._open.setdefault(here, _Runs())
        runs.count += 1
        try:
            yield
        finally:
            runs.count -= 1
            if not runs.count:
                del self._open[here]
                await self._close(runs.threads)

    async def _close(self, threads: Sequence[_LoopThread]) -> None:
        try:
            if threads and threads[-1].guilty is None:
                await threads[-1].end()
        finally:
            for thread in threads:
                thread.stop()
        await _settled([thread.finished for thread in threads], self._limits.grace)

    async def start(self) -> _LoopThread:
        """Starts the loop where there is none, or none that is not blocked.

        Raises:
            UsageError: the agent cannot start, or does not in time.
        """
        runs = self._open[asyncio.get_running_loop()]
        async with runs.starting:
            if runs.threads and runs.threads[-1].guilty is None:
                return runs.threads[-1]
            thread = _LoopThread(self._prepare(), self._limits)
            try:
                await thread.start()
            except BaseException as error:
                thread.stop()
                if not isinstance(error, TimeoutError):
                    raise
                raise UsageError(
                    f"the agent's start-up took longer than {self._limits.start:g} s",
                    hint="it runs once, before the first question",
                ) from None
            runs.threads.append(thread)
            return thread

    async def ask(self, work: Callable[[Asking[T]], Coroutine[Any, Any, None]]) -> AsyncGenerator[T, None]:
        """Runs `work` as a task of the loop, in the caller's context, and yields what it puts into the channel.

        Raises:
            TargetError: `work` raised, whatever it was, or a fresh loop could not be started.
            AskAgain: another question blocked the loop. Where this one was cancelled because of it, it stands in the
                place of `CancelledError`.
        """
        try:
            thread = await self.start()
        except UsageError as error:
            raise TargetError("agent", error.message, hint=error.hint) from None
        asking = thread.ask(work)
        try:
            while pieces := await asking.channel.take():
                for piece in pieces:
                    yield piece
        except asyncio.CancelledError:
            await thread.leave(asking, cancelled=True)
            if thread.guilty not in (None, asking):
                raise AskAgain(thread.place) from None
            raise
        finally:
            await thread.leave(asking, cancelled=False)


def raised(error: BaseException, who: str = "the agent") -> TargetError:
    """Returns a case's error for whatever `who` raised; what is one already stays as it is."""
    if isinstance(error, TargetError):
        return error
    return TargetError("agent", f"{who} raised {told(error)}", hint=raised_at(error))


async def _settled(futures: Iterable[Future[None]], limit: float) -> None:
    waiting = [asyncio.wrap_future(future) for future in futures]
    if waiting:
        try:
            await asyncio.wait(waiting, timeout=limit)
        finally:
            for future in waiting:
                future.cancel()
