"""Where agents run: the channel, the thread a question has, the loop all share, and what is done when it is blocked."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from golden.agent_loop import AgentLoop, AgentWarning, Asking, Limits, in_thread
from golden.blame import place, raised_at, told
from golden.channel import Channel, Closed, resolve
from golden.errors import AskAgain, TargetError, UsageError
from tests.agents import no_agent_is_left

QUICK = Limits(grace=0.1, disconnect=0.0, background=0.1, start=0.2, stop=0.2)
PATIENT = QUICK._replace(grace=5.0, background=5.0, start=5.0, stop=5.0)

Work = Callable[[Asking[str]], Coroutine[Any, Any, None]]


@pytest.fixture(autouse=True)
def nothing_is_left(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No thread of a test outlives it, and asyncio has nothing to complain of."""
    yield
    no_agent_is_left()
    assert [record.getMessage() for record in caplog.get_records("call") if record.name != "root"] == []


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What a test's agent blocks on; it is let go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


async def read(loop: AgentLoop, work: Work) -> list[str]:
    async with aclosing(loop.ask(work)) as pieces:
        return [piece async for piece in pieces]


async def judged(loop: AgentLoop, work: Work, timeout: float) -> str:
    """What golden's engine does of it: asks again what is to be asked again."""
    while True:
        try:
            async with asyncio.timeout(timeout):
                return "".join(await read(loop, work))
        except AskAgain:
            continue
        except TimeoutError:
            return "time-out"


async def says_hello(asking: Asking[str]) -> None:
    await asyncio.sleep(0.01)
    asking.channel.put("hello")


# The channel


def test_pieces_come_in_order_and_in_batches() -> None:
    async def main() -> None:
        channel: Channel[int] = Channel()

        def write() -> None:
            for number in range(1000):
                channel.put(number)
            channel.end()

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        assert await channel.take() == list(range(1000))
        assert await channel.take() == []

    asyncio.run(main())


def test_a_fast_writer_wakes_golden_seldom() -> None:
    async def main() -> None:
        channel: Channel[int] = Channel()

        def write() -> None:
            for number in range(5000):
                room = channel.put(number)
                if room is not None:
                    room.result()
            channel.end()

        thread = threading.Thread(target=write)
        thread.start()
        read: list[int] = []
        batches = 0
        while batch := await channel.take():
            read += batch
            batches += 1
        thread.join()
        assert read == list(range(5000))
        assert batches < 500

    asyncio.run(main())


def test_a_full_channel_holds_its_writer_until_it_is_read() -> None:
    async def main() -> None:
        channel: Channel[bytes] = Channel()
        assert channel.put(b"a", 40_000) is None
        rooms = [channel.put(b"b", 40_000), channel.put(b"c", 40_000)]
        assert [room is not None and room.done() for room in rooms] == [False, False]
        assert await channel.take() == [b"a", b"b", b"c"]
        assert [room is not None and room.done() for room in rooms] == [True, True]
        assert channel.put(b"d", 40_000) is None

    asyncio.run(main())


def test_pieces_without_bytes_fill_it_too() -> None:
    async def main() -> None:
        channel: Channel[bytes] = Channel()
        assert any(channel.put(b"") for _ in range(2000))

    asyncio.run(main())


def test_a_closed_channel_lets_its_writer_go_with_an_os_error() -> None:
    async def main() -> None:
        channel: Channel[bytes] = Channel()
        room = channel.put(b"a", 100_000)
        assert room is not None
        assert channel.close() is True
        assert room.done()
        with pytest.raises(OSError, match="golden reads no further"):
            channel.put(b"b")
        channel.end(TargetError("agent", "too late"))
        assert await channel.take() == []
        assert channel.close() is False

    asyncio.run(main())


def test_an_error_stands_after_the_pieces_before_it_and_the_first_end_counts() -> None:
    async def main() -> None:
        channel: Channel[str] = Channel()
        channel.put("a")
        channel.end(TargetError("cut", "first"))
        channel.end(TargetError("cut", "second"))
        with pytest.raises(Closed):
            channel.put("b")
        assert await channel.take() == ["a"]
        with pytest.raises(TargetError, match="first"):
            await channel.take()

    asyncio.run(main())


def test_who_no_longer_waits_is_not_disturbed() -> None:
    async def main() -> None:
        channel: Channel[bytes] = Channel()
        room = channel.put(b"a", 100_000)
        assert room is not None
        room.cancel()
        await channel.take()
        resolve(room)
        assert room.cancelled()

    asyncio.run(main())


# A thread for each question


def test_work_runs_in_a_daemon_thread_of_its_own_with_the_context_of_its_caller() -> None:
    colour: ContextVar[str] = ContextVar("colour")
    seen: list[tuple[threading.Thread, str]] = []

    def work(channel: Channel[str]) -> None:
        seen.append((threading.current_thread(), colour.get()))
        channel.put("a")

    async def main() -> None:
        for name in ("red", "blue"):
            colour.set(name)
            async with aclosing(in_thread(work, grace=1)) as pieces:
                assert [piece async for piece in pieces] == ["a"]

    asyncio.run(main())
    (first, red), (second, blue) = seen
    assert (red, blue) == ("red", "blue")
    assert first is not second
    assert first.daemon
    assert first is not threading.main_thread()


class Custom(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [
        ValueError("boom"),
        SystemExit(3),
        KeyboardInterrupt("boom"),
        GeneratorExit("boom"),
        StopIteration("boom"),
        asyncio.CancelledError("boom"),
        RecursionError("boom"),
        Custom("boom"),
        ExceptionGroup("many", [ValueError("boom")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_work_raises_is_an_error_of_the_agent_and_ends_nothing_else(error: BaseException) -> None:
    def blocking(channel: Channel[str]) -> None:
        channel.put("before")
        raise error

    async def asynchronous(asking: Asking[str]) -> None:
        asking.channel.put("before")
        raise error

    async def collect(pieces: AsyncGenerator[str, None]) -> tuple[list[str], TargetError | None]:
        got = []
        async with aclosing(pieces):
            try:
                async for piece in pieces:
                    got.append(piece)  # noqa: PERF401  # what came before the error counts
            except TargetError as caught:
                return got, caught
        return got, None

    async def main() -> None:
        loop = AgentLoop(PATIENT)
        async with loop.open():
            for pieces in (in_thread(blocking, grace=1), loop.ask(asynchronous)):
                got, caught = await collect(pieces)
                assert got == ["before"]
                assert caught is not None
                assert caught.kind == "agent"
                # Python itself makes a RuntimeError of a StopIteration that leaves a coroutine.
                assert type(error).__name__ in caught.message
                assert caught.message.startswith("the agent raised ")
                assert caught.hint is not None
                assert caught.hint.startswith("raised at tests/test_agent_loop.py:")
            assert await read(loop, says_hello) == ["hello"]

    asyncio.run(main())


def test_a_thread_that_blocks_for_ever_is_left_behind_within_the_grace(release: threading.Event) -> None:
    def work(channel: Channel[str]) -> None:
        channel.put("a")
        release.wait()
        channel.put("never read")

    async def main() -> float:
        pieces = in_thread(work, grace=0.05)
        now = asyncio.get_running_loop().time
        async with aclosing(pieces):
            assert await anext(pieces) == "a"
            start = now()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await anext(pieces)
        return now() - start

    assert asyncio.run(main()) < 1


# The loop that all share


def test_all_questions_of_a_run_share_one_loop_in_a_daemon_thread() -> None:
    seen: list[tuple[asyncio.AbstractEventLoop, threading.Thread, str]] = []
    colour: ContextVar[str] = ContextVar("colour")

    async def work(asking: Asking[str]) -> None:
        seen.append((asyncio.get_running_loop(), threading.current_thread(), colour.get()))
        asking.channel.put("a")

    async def main() -> None:
        loop = AgentLoop(PATIENT)
        async with loop.open():
            for name in ("red", "blue"):
                colour.set(name)
                assert await read(loop, work) == ["a"]
            assert seen[0][0] is not asyncio.get_running_loop()

    asyncio.run(main())
    (first, thread, red), (second, _, blue) = seen
    assert first is second
    assert first.is_closed()
    assert thread.daemon
    assert (red, blue) == ("red", "blue")


def test_it_can_be_opened_once_more_and_without_a_question() -> None:
    loop = AgentLoop(PATIENT)

    async def main(ask: bool) -> None:
        async with loop.open():
            if ask:
                assert await read(loop, says_hello) == ["hello"]

    for ask in (True, False, True):
        asyncio.run(main(ask))


def test_what_is_left_early_is_told_so_and_cancelled() -> None:
    told_so = []

    async def work(asking: Asking[str]) -> None:
        asking.channel.put("a")
        try:
            await asyncio.sleep(60)
        finally:
            told_so.append(asking.gone.is_set())

    async def main() -> None:
        loop = AgentLoop(PATIENT)
        async with loop.open():
            async with aclosing(loop.ask(work)) as pieces:
                assert await anext(pieces) == "a"
            assert told_so == [True]

    asyncio.run(main())


def test_who_does_not_let_himself_be_cancelled_is_left_running_until_the_end() -> None:
    cancelled = []

    async def work(asking: Asking[str]) -> None:
        asking.channel.put("a")
        for _ in range(2):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(True)

    async def main() -> None:
        loop = AgentLoop(QUICK)
        async with loop.open():
            async with aclosing(loop.ask(work)) as pieces:
                assert await anext(pieces) == "a"
            assert cancelled == [True]
            assert await read(loop, says_hello) == ["hello"]

    asyncio.run(main())
    assert cancelled == [True, True]


def test_work_that_goes_on_after_its_answer_is_waited_for_at_the_end() -> None:
    done = []

    async def work(asking: Asking[str]) -> None:
        asking.channel.put("a")
        asking.channel.end()
        await asyncio.sleep(0.05)
        done.append(True)

    async def main() -> None:
        loop = AgentLoop(PATIENT)
        async with loop.open():
            assert await read(loop, work) == ["a"]
            assert done == []
        assert done == [True]

    asyncio.run(main())


def test_work_that_never_ends_after_its_answer_does_not_keep_golden() -> None:
    async def work(asking: Asking[str]) -> None:
        asking.channel.put("a")
        asking.channel.end()
        await asyncio.sleep(60)

    async def main() -> float:
        loop = AgentLoop(QUICK)
        now = asyncio.get_running_loop().time
        async with loop.open():
            assert await read(loop, work) == ["a"]
            start = now()
        return now() - start

    assert asyncio.run(main()) < 2


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt()], ids=["SystemExit", "KeyboardInterrupt"])
def test_a_task_of_the_agents_own_cannot_end_the_loop(error: BaseException) -> None:
    async def exits() -> None:
        raise error

    async def work(asking: Asking[str]) -> None:
        await asyncio.create_task(exits())

    async def main() -> None:
        loop = AgentLoop(PATIENT)
        async with loop.open():
            with pytest.raises(TargetError, match=f"the agent raised {type(error).__name__}"):
                await read(loop, work)
            assert await read(loop, says_hello) == ["hello"]

    asyncio.run(main())


# A blocked loop


def test_of_four_cases_the_one_that_blocks_times_out_and_the_three_others_answer(release: threading.Event) -> None:
    asked: list[asyncio.AbstractEventLoop] = []

    async def blocks(asking: Asking[str]) -> None:
        while len(asked) < 3:
            await asyncio.sleep(0)
        release.wait()

    async def answers(asking: Asking[str]) -> None:
        asked.append(asyncio.get_running_loop())
        asking.channel.put("hel")
        await asyncio.sleep(0.02)
        asking.channel.put("lo")

    async def main() -> list[str]:
        loop = AgentLoop(QUICK)
        async with loop.open():
            cases = [judged(loop, work, 0.3) for work in (answers, blocks, answers, answers)]
            first = await asyncio.gather(*cases)
            return [*first, await judged(loop, answers, 0.3)]

    assert asyncio.run(main()) == ["hello", "time-out", "hello", "hello", "hello"]
    assert len(set(asked)) == 2


def test_the_others_say_where_the_loop_was_blocked(release: threading.Event) -> None:
    started = threading.Event()

    async def blocks(asking: Asking[str]) -> None:
        release.wait()

    async def sleeps(asking: Asking[str]) -> None:
        started.set()
        await asyncio.sleep(60)

    async def main() -> AskAgain:
        loop = AgentLoop(QUICK)
        async with loop.open():
            victim = asyncio.create_task(read(loop, sleeps))
            while not started.is_set():
                await asyncio.sleep(0.001)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await read(loop, blocks)
            with pytest.raises(AskAgain) as caught:
                await victim
            return caught.value

    error = asyncio.run(main())
    line = blocks.__code__.co_firstlineno + 1
    assert error.kind == "agent"
    assert error.message == "another case blocked the event loop that the agent runs in"
    assert error.hint is not None
    assert error.hint.startswith(f"it stood at tests/test_agent_loop.py:{line} in blocks: ")


@pytest.mark.parametrize("how", ["itself", "in a task of its own", "in a task group"])
def test_the_guilty_one_is_found_though_another_timed_out_first(release: threading.Event, how: str) -> None:
    async def wait() -> None:
        release.wait()

    async def blocks(asking: Asking[str]) -> None:
        await asyncio.sleep(0)
        if how == "itself":
            await wait()
        elif how == "in a task of its own":
            await asyncio.create_task(wait())
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(wait())
        asking.channel.put("after all")

    async def main() -> tuple[list[str], str]:
        loop = AgentLoop(QUICK)
        async with loop.open():
            guilty = asyncio.create_task(judged(loop, blocks, 10))
            others = await asyncio.gather(*(judged(loop, says_hello, 0.1) for _ in range(3)))
            assert not guilty.done()
            release.set()
            return list(others), await guilty

    # Blocked for long is not blocked for ever: who comes back has answered.
    assert asyncio.run(main()) == (["hello"] * 3, "after all")


def test_the_guilty_one_times_out_in_its_own_time(release: threading.Event) -> None:
    async def blocks(asking: Asking[str]) -> None:
        release.wait()

    async def main() -> list[str]:
        loop = AgentLoop(QUICK)
        async with loop.open():
            guilty = asyncio.create_task(judged(loop, blocks, 0.5))
            other = await judged(loop, says_hello, 0.1)
            assert not guilty.done()
            return [other, await guilty]

    assert asyncio.run(main()) == ["hello", "time-out"]


def test_where_no_task_blocks_it_is_taken_to_be_who_timed_out_first(release: threading.Event) -> None:
    async def blocks(asking: Asking[str]) -> None:
        asyncio.get_running_loop().call_soon(release.wait)
        await asyncio.sleep(60)

    async def main() -> list[str]:
        loop = AgentLoop(QUICK)
        async with loop.open():
            return list(await asyncio.gather(judged(loop, blocks, 0.1), judged(loop, says_hello, 5)))

    assert asyncio.run(main()) == ["time-out", "hello"]


def test_who_leaves_for_a_reason_of_its_own_is_not_asked_again(release: threading.Event) -> None:
    async def blocks(asking: Asking[str]) -> None:
        release.wait()

    async def work(asking: Asking[str]) -> None:
        asking.channel.put("enough")
        await asyncio.sleep(60)

    async def main() -> None:
        loop = AgentLoop(QUICK)
        async with loop.open():
            async with aclosing(loop.ask(work)) as pieces:
                assert await anext(pieces) == "enough"
                guilty = asyncio.create_task(judged(loop, blocks, 0.5))
                await asyncio.sleep(0.05)
            assert await guilty == "time-out"
            assert await read(loop, says_hello) == ["hello"]

    asyncio.run(main())


def test_an_abandoned_loop_runs_nobodys_work_twice(release: threading.Event) -> None:
    begun = []
    finished = []

    async def blocks(asking: Asking[str]) -> None:
        begun.append("blocks")
        release.wait()

    async def work(asking: Asking[str]) -> None:
        begun.append("work")
        await asyncio.sleep(0.01)
        finished.append("work")
        asking.channel.put("hello")

    async def main() -> list[str]:
        loop = AgentLoop(QUICK)
        async with loop.open():
            answers = await asyncio.gather(judged(loop, blocks, 0.1), judged(loop, work, 0.2))
            release.set()
            return list(answers)

    assert asyncio.run(main()) == ["time-out", "hello"]
    for thread in threading.enumerate():
        if thread.name == "golden-agent-loop":
            thread.join(10)
    # The one that waited behind was never begun on the loop that was blocked.
    assert begun == ["blocks", "work"]
    assert finished == ["work"]


# What is prepared


class Prepared:
    """Counts how often it is entered and left."""

    def __init__(self) -> None:
        self.entered: list[asyncio.AbstractEventLoop] = []
        self.left: list[asyncio.AbstractEventLoop] = []

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[str]:
        self.entered.append(asyncio.get_running_loop())
        yield f"state {len(self.entered)}"
        self.left.append(asyncio.get_running_loop())


def test_it_is_prepared_once_a_run_in_its_own_loop_and_again_in_a_fresh_one(release: threading.Event) -> None:
    prepared = Prepared()

    async def state(asking: Asking[str]) -> None:
        asking.channel.put(str(asking.state))

    async def blocks(asking: Asking[str]) -> None:
        release.wait()

    async def main() -> list[str]:
        loop = AgentLoop(QUICK._replace(start=5), prepared)
        async with loop.open():
            await loop.start()
            first = await asyncio.gather(*(judged(loop, state, 5) for _ in range(3)))
            await judged(loop, blocks, 0.05)
            return [*first, await judged(loop, state, 5)]

    assert asyncio.run(main()) == ["state 1"] * 3 + ["state 2"]
    assert len(set(prepared.entered)) == 2
    assert prepared.left == prepared.entered[1:]


def test_what_cannot_be_prepared_is_a_usage_error_at_the_start_and_the_cases_error_later() -> None:
    class Fails(nullcontext[None]):
        async def __aenter__(self) -> None:
            raise UsageError("no database", hint="start it")

    async def main() -> None:
        loop = AgentLoop(PATIENT, Fails)
        async with loop.open():
            with pytest.raises(UsageError, match="no database"):
                await loop.start()
            with pytest.raises(TargetError, match="no database") as caught:
                await read(loop, says_hello)
            assert (caught.value.kind, caught.value.hint) == ("agent", "start it")

    asyncio.run(main())


def test_a_preparation_that_takes_too_long_is_a_usage_error(release: threading.Event) -> None:
    @asynccontextmanager
    async def blocks() -> AsyncIterator[None]:
        release.wait()
        yield

    async def main() -> None:
        loop = AgentLoop(QUICK._replace(start=0.05), blocks)
        async with loop.open():
            with pytest.raises(UsageError, match=r"the agent's start-up took longer than 0\.05 s"):
                await loop.start()

    asyncio.run(main())


@pytest.mark.parametrize("how", ["raises", "hangs", "blocks"])
def test_a_shut_down_that_fails_is_a_warning(release: threading.Event, how: str) -> None:
    @asynccontextmanager
    async def prepare() -> AsyncIterator[None]:
        yield
        if how == "raises":
            raise ValueError("cannot close")
        if how == "hangs":
            await asyncio.sleep(60)
        release.wait()

    async def main() -> None:
        loop = AgentLoop(QUICK._replace(stop=0.05), prepare)
        async with loop.open():
            assert await read(loop, says_hello) == ["hello"]

    words = "failed: ValueError: cannot close" if how == "raises" else r"took longer than 0\.05 s"
    with pytest.warns(AgentWarning, match=f"the agent's shut-down {words}"):
        asyncio.run(main())


def test_a_run_that_is_cancelled_at_its_end_leaves_no_loop_running() -> None:
    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        yield
        await asyncio.sleep(60)

    async def main() -> None:
        loop = AgentLoop(PATIENT, slow)
        async with asyncio.timeout(0.2), loop.open():
            assert await read(loop, says_hello) == ["hello"]

    with pytest.raises(TimeoutError):
        asyncio.run(main())


# Whom to blame


def raises(error: BaseException) -> None:
    raise error


def test_an_exception_is_told_by_its_type_its_message_and_the_first_inside_it() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert told(ValueError("boom")) == "ValueError: boom"
    assert told(ValueError()) == "ValueError"
    assert told(Mute()) == "Mute: its message cannot be shown"
    inner = ExceptionGroup("two", [ValueError("boom"), KeyError("k")])
    assert told(ExceptionGroup("one", [inner])) == (
        "ExceptionGroup: one (1 sub-exception): ExceptionGroup: two (2 sub-exceptions): ValueError: boom"
    )


def test_the_place_is_the_innermost_line_of_the_agents_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def caught(call: Callable[[], object]) -> BaseException:
        with pytest.raises(BaseException) as raised:  # noqa: PT011  # of whatever type
            call()
        return raised.value

    own = caught(lambda: raises(ValueError()))
    assert raised_at(own) == f"raised at tests/test_agent_loop.py:{raises.__code__.co_firstlineno + 1} in raises"
    assert raised_at(BaseExceptionGroup("one", [own])) == raised_at(own)
    deeper = caught(lambda: Path("no such file").read_text(encoding="utf-8"))
    assert "tests/test_agent_loop.py" in str(raised_at(deeper))
    assert raised_at(ValueError("never raised")) is None
    # Where nothing is the agent's own, the innermost line is better than none.
    assert deeper.__traceback__ is not None
    assert deeper.__traceback__.tb_next is not None
    assert deeper.__traceback__.tb_next.tb_next is not None
    installed = deeper.with_traceback(deeper.__traceback__.tb_next.tb_next)
    assert "pathlib" in str(raised_at(installed))
    monkeypatch.chdir(tmp_path)
    assert f"raised at {__file__}" in str(raised_at(own))
    tmp_path.rmdir()
    assert f"raised at {__file__}" in str(raised_at(own))
    assert place([]) == ""


def test_what_has_an_agents_error_already_keeps_it() -> None:
    async def work(asking: Asking[str]) -> None:
        raise TargetError("cut", "as it is")

    async def main() -> None:
        loop = AgentLoop(PATIENT, lambda: nullcontext())
        async with loop.open():
            with pytest.raises(TargetError, match="as it is") as caught:
                await read(loop, work)
            assert caught.value.kind == "cut"

    asyncio.run(main())


def _is_a_context(context: AbstractAsyncContextManager[object]) -> None:
    """For mypy: what `open` gives is what a target's `open` gives."""


_is_a_context(AgentLoop(QUICK).open())
