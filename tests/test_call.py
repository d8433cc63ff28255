"""The in-process target: every shape of callable and chunk, and what agents do wrong."""

import asyncio
import functools
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import fastapi.sse
import httpx_sse
import pydantic
import pytest
import sse_starlette

from golden.agent_loop import Limits
from golden.errors import AskAgain, TargetError, UsageError
from golden.lexicon import Lexicon
from golden.sse import Decoder, Event
from golden.targets import Spec
from golden.targets.call import TARGET, InProcessTarget, encoded
from golden.wire import Chunk, Head, Request
from tests.agents import no_agent_is_left

QUICK = Limits(grace=0.1, thread=0.1)


@pytest.fixture(autouse=True)
def nothing_is_left(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No thread of a test outlives it, and asyncio has nothing to complain of."""
    yield
    no_agent_is_left()
    assert [record.getMessage() for record in caplog.get_records("call")] == []


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What a test's agent blocks on; it is let go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


async def answer(target: InProcessTarget, question: str = "hi", **more: Any) -> tuple[Head, bytes]:
    async with aclosing(target.ask(Request(question, "s1", **more))) as reply:
        head = await anext(reply)
        assert isinstance(head, Head)
        return head, b"".join([piece.data async for piece in reply if isinstance(piece, Chunk)])


def asked(agent: object, question: str = "hi", **more: Any) -> list[Event]:
    """The events that a decoder reads from an agent's whole answer."""

    async def main() -> tuple[Head, bytes]:
        target = InProcessTarget(agent, limits=QUICK)
        async with target.open():
            return await answer(target, question, **more)

    head, body = asyncio.run(main())
    assert head == Head(200, {}, "iterable")
    return [event._replace(at=0.0) for event in Decoder().feed(body, 0.0)]


def refused(agent: object) -> TargetError:
    with pytest.raises(TargetError) as caught:
        asked(agent)
    assert caught.value.kind == "agent"
    return caught.value


# Shapes of callables


def function(question: str) -> list[object]:
    return [("token", {"text": question}), ("done", None)]


def generator(question: str) -> Iterator[object]:
    yield from function(question)


async def coroutine_function(question: str) -> list[object]:
    return function(question)


async def async_generator(question: str) -> AsyncIterator[object]:
    for chunk in function(question):
        await asyncio.sleep(0)
        yield chunk


async def coroutine_of_async_generator(question: str) -> AsyncIterator[object]:
    return async_generator(question)


async def coroutine_of_generator(question: str) -> Iterator[object]:
    return generator(question)


def function_of_coroutine(question: str) -> object:
    return coroutine_function(question)


def function_of_async_generator(question: str) -> object:
    return async_generator(question)


def function_of_coroutine_of_coroutine(question: str) -> object:
    async def outer() -> object:
        return coroutine_function(question)

    return outer()


class Agent:
    def __call__(self, question: str) -> object:
        return function(question)


class GeneratorAgent:
    def __call__(self, question: str) -> Iterator[object]:
        yield from function(question)


class AsyncAgent:
    async def __call__(self, question: str) -> object:
        return function(question)


class AsyncGeneratorAgent:
    async def __call__(self, question: str) -> AsyncIterator[object]:
        for chunk in function(question):
            yield chunk

    def method(self, question: str) -> object:
        return function(question)


class Iterable:
    """An agent's answer that is no generator, and knows how to be iterated over only once."""

    def __init__(self, question: str) -> None:
        self.chunks = function(question)

    def __iter__(self) -> Iterator[object]:
        return iter(self.chunks)


class AsyncIterable:
    def __init__(self, question: str) -> None:
        self.chunks = iter(function(question))

    def __aiter__(self) -> "AsyncIterable":
        return self

    async def __anext__(self) -> object:
        for chunk in self.chunks:
            return chunk
        raise StopAsyncIteration


def three(first: str, second: str, question: str) -> object:
    return function(question)


@functools.wraps(async_generator)
def decorated(*args: Any, **kwargs: Any) -> object:
    return async_generator(*args, **kwargs)


@pytest.mark.parametrize(
    "agent",
    [
        function,
        generator,
        coroutine_function,
        async_generator,
        coroutine_of_async_generator,
        coroutine_of_generator,
        function_of_coroutine,
        function_of_async_generator,
        function_of_coroutine_of_coroutine,
        Agent(),
        GeneratorAgent(),
        AsyncAgent(),
        AsyncGeneratorAgent(),
        AsyncGeneratorAgent().method,
        Iterable,
        AsyncIterable,
        lambda question: function(question),
        lambda question: tuple(function(question)),
        lambda question: coroutine_function(question),
        functools.partial(three, "a", "b"),
        functools.partial(coroutine_function),
        functools.partial(AsyncAgent()),
        functools.partial(async_generator),
        decorated,
    ],
)
def test_every_shape_of_callable_gives_the_same_events(agent: object) -> None:
    assert asked(agent, "hi") == [Event("token", '{"text":"hi"}'), Event("done", None)]


def test_what_is_called_blocking_runs_in_a_thread_for_each_question_and_async_in_one_loop() -> None:
    threads: list[threading.Thread] = []
    loops: list[asyncio.AbstractEventLoop] = []

    def blocking(question: str) -> Iterator[object]:
        threads.append(threading.current_thread())
        yield "data: a\n\n"
        assert threading.current_thread() is threads[-1]

    async def asynchronous(question: str) -> AsyncIterator[object]:
        loops.append(asyncio.get_running_loop())
        yield "data: a\n\n"

    async def main() -> None:
        for agent in (blocking, asynchronous):
            target = InProcessTarget(agent)
            async with target.open():
                await answer(target)
                await answer(target)
        assert asyncio.get_running_loop() not in loops

    asyncio.run(main())
    assert len(set(threads)) == 2
    assert threading.main_thread() not in threads
    assert len(set(loops)) == 1


def test_a_client_that_belongs_to_its_loop_works_from_case_to_case() -> None:
    queue: asyncio.Queue[str] = asyncio.Queue()

    async def agent(question: str) -> AsyncIterator[object]:
        waiting = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        queue.put_nowait(question)
        yield ("token", await waiting)

    async def main() -> list[bytes]:
        target = InProcessTarget(agent)
        async with target.open():
            return [(await answer(target, question))[1] for question in ("a", "b", "c")]

    assert asyncio.run(main()) == [
        b"event: token\ndata: a\n\n",
        b"event: token\ndata: b\n\n",
        b"event: token\ndata: c\n\n",
    ]


@pytest.mark.parametrize("is_async", [False, True])
def test_the_context_of_the_caller_is_the_agents(is_async: bool) -> None:
    colour: ContextVar[str] = ContextVar("colour")

    def blocking(question: str) -> object:
        return [("token", colour.get())]

    async def asynchronous(question: str) -> object:
        return [("token", colour.get())]

    colour.set("red")
    assert asked(asynchronous if is_async else blocking) == [Event("token", "red")]


# What it is called with


def test_what_the_signature_names_is_passed_by_keyword() -> None:
    seen: list[object] = []

    def everything(question: str, session_id: str, *, history: object, model: object, system_prompt: object) -> object:
        seen.append((question, session_id, history, model, system_prompt))
        return []

    asked(everything, "q", history=(("a", "b"), ("c", "d")), model="m", system_prompt="p")
    asked(everything, "q")
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d"},
    ]
    assert seen == [("q", "s1", messages, "m", "p"), ("q", "s1", [], None, None)]


def test_a_default_stands_where_the_case_names_nothing() -> None:
    seen: list[object] = []

    def agent(question: str, model: str = "mine", system_prompt: str = "be brief") -> object:
        seen.append((model, system_prompt))
        return []

    asked(agent)
    asked(agent, model="theirs")
    asked(functools.partial(agent, model="bound"))
    assert seen == [("mine", "be brief"), ("theirs", "be brief"), ("bound", "be brief")]


def test_what_is_not_named_is_not_passed() -> None:
    def keywords(question: str, **others: object) -> object:
        assert others == {}
        return []

    def positional(question: str, session_id: str = "mine", /) -> object:
        assert session_id == "mine"
        return []

    for agent in (keywords, positional):
        assert asked(agent) == []


def test_a_callable_without_a_signature_gets_the_question_alone() -> None:
    class Odd:
        __signature__ = "none"

        def __call__(self, question: str) -> object:
            return [("token", question)]

    assert asked(Odd(), "q") == [Event("token", "q")]
    # iter() has none either: it makes an iterator of the question's letters.
    assert asked(iter, "data: x") == []


def test_what_cannot_be_called_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="the agent must be callable, not list"):
        InProcessTarget([])


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (lambda: None, "too many positional arguments"),
        (lambda question, database: [], "missing a required argument: 'database'"),
        (lambda *, session_id: [], "too many positional arguments"),
    ],
)
def test_what_cannot_be_called_with_a_question_is_a_usage_error(agent: object, why: str) -> None:
    with pytest.raises(UsageError, match=f"the agent cannot be called with a question: {why}") as caught:
        InProcessTarget(agent)
    assert caught.value.hint is not None


# Shapes of chunks


@dataclass
class Mine:
    event: str | None
    data: object
    id: str | None = None


class Pair(NamedTuple):
    event: str
    data: object


class Model(pydantic.BaseModel):
    text: str


@pytest.mark.parametrize(
    ("chunk", "event"),
    [
        ({"event": "token", "data": {"text": "é"}}, Event("token", '{"text":"\\u00e9"}')),
        ({"event": "token", "data": "as it is"}, Event("token", "as it is")),
        ({"event": "token", "data": "two\nlines"}, Event("token", "two\nlines")),
        ({"event": "token", "data": [1, True, None]}, Event("token", "[1,true,null]")),
        ({"event": "token", "data": 0}, Event("token", "0")),
        ({"event": "token", "data": ""}, Event("token", "")),
        ({"event": "token", "data": b"raw"}, Event("token", "raw")),
        ({"event": "token", "data": Model(text="a")}, Event("token", '{"text":"a"}')),
        ({"event": "done", "data": None}, Event("done", None)),
        ({"event": "done"}, Event("done", None)),
        ({"data": "[DONE]"}, Event("", "[DONE]")),
        ({"event": None, "data": "x"}, Event("", "x")),
        ({"event": "token", "data": "x", "id": "7"}, Event("token", "x", "7")),
        ({"event": "token", "data": "x", "id": 7, "retry": 5}, Event("token", "x", "7")),
        (("token", {"text": "a"}), Event("token", '{"text":"a"}')),
        (["token", "a"], Event("token", "a")),
        ((None, "a"), Event("", "a")),
        (Pair("token", "a"), Event("token", "a")),
        ("event: token\ndata: a\n\n", Event("token", "a")),
        ("event: token\r\ndata: é\r\n\r\n", Event("token", "é")),
        (b"event: token\ndata: a\n\n", Event("token", "a")),
        (bytearray(b"data: a\n\n"), Event("", "a")),
        (memoryview(b"data: a\n\n"), Event("", "a")),
        (Mine("token", {"a": 1}), Event("token", '{"a":1}')),
        (Mine("token", "a", "7"), Event("token", "a", "7")),
        (Mine(None, "a"), Event("", "a")),
        (Mine("done", None), Event("done", None)),
        (sse_starlette.ServerSentEvent("a", event="token", id="7"), Event("token", "a", "7")),
        (sse_starlette.ServerSentEvent(event="done"), Event("done", None)),
        (sse_starlette.JSONServerSentEvent({"text": "a"}, event="token"), Event("token", '{"text":"a"}')),
        (httpx_sse.ServerSentEvent("token", "a", "7"), Event("token", "a", "7")),
        (httpx_sse.ServerSentEvent(data="a"), Event("message", "a")),
        (fastapi.sse.ServerSentEvent(data={"text": "a"}, event="token"), Event("token", '{"text":"a"}')),
        (fastapi.sse.ServerSentEvent(data=Model(text="a"), event="token", id="7"), Event("token", '{"text":"a"}', "7")),
        (fastapi.sse.ServerSentEvent(data="hello"), Event("", '"hello"')),
        (fastapi.sse.ServerSentEvent(raw_data="hello"), Event("", "hello")),
        (fastapi.sse.ServerSentEvent(event="done"), Event("done", None)),
    ],
)
def test_every_shape_of_chunk_is_read_as_the_event_it_stands_for(chunk: object, event: Event) -> None:
    async def agent(question: str) -> AsyncIterator[object]:
        yield chunk

    assert asked(lambda question: [chunk]) == [event]
    assert asked(agent) == [event]


@pytest.mark.parametrize("text", ["event: token\ndata: a\n\n", b"event: token\ndata: a\n\n"])
def test_text_that_is_returned_whole_is_one_chunk(text: object) -> None:
    async def agent(question: str) -> object:
        return text

    assert asked(lambda question: text) == asked(agent) == [Event("token", "a")]


def test_text_may_be_cut_anywhere() -> None:
    assert asked(lambda question: ["event: to", b"ken\nda", "", "ta: a", "\n\n"]) == [Event("token", "a")]


def test_a_comment_of_sse_starlette_is_no_event() -> None:
    assert asked(lambda question: [sse_starlette.ServerSentEvent(comment="ping")]) == []


def test_lone_halves_of_a_surrogate_pair_are_written() -> None:
    assert encoded(("token", {"text": "\ud83d"})) == b'event: token\ndata: {"text":"\\ud83d"}\n\n'
    assert encoded("data: \ud83d\n\n").decode() == "data: \ufffd\n\n"


def test_a_chunk_is_written_when_it_comes_whatever_becomes_of_it_later() -> None:
    def agent(question: str) -> Iterator[object]:
        chunk = {"event": "token", "data": {"text": ""}}
        for letter in "ab":
            chunk["data"] = {"text": letter}
            yield chunk

    assert [event.data for event in asked(agent)] == ['{"text":"a"}', '{"text":"b"}']


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (None, "the agent returned None, which is no iterable of chunks"),
        (7, "the agent returned a value of type int, which is no iterable of chunks"),
        ({"event": "token", "data": 1}, "the agent returned a value of type dict, which is no iterable of chunks"),
        (Mine("token", 1), "the agent returned a value of type Mine, which is no iterable of chunks"),
        ([7], "the agent gave a value of type int, which is no chunk"),
        ([None], "the agent gave None, which is no chunk"),
        ([("a", "b", "c")], "the agent gave a value of type tuple, which is no chunk"),
        (
            [{"type": "token", "text": "a"}],
            "the agent gave a value of type dict with the keys 'type', 'text', which is no chunk",
        ),
        ([(7, "a")], "the agent named an event with a value of type int, not with text"),
        ([("a\nb", "a")], "the agent gave an event whose name has a line break: 'a\\nb'"),
        ([("a\rb", "a")], "the agent gave an event whose name has a line break: 'a\\rb'"),
        ([{"data": "a", "id": "1\n2"}], "the agent gave an event whose id has a line break: '1\\n2'"),
    ],
)
def test_nonsense_is_an_error_that_names_it(reply: object, message: str) -> None:
    async def agent(question: str) -> object:
        return reply

    for error in (refused(lambda question: reply), refused(agent)):
        assert error.message == message
    assert refused(lambda question: None).hint == "did it forget to `return` or `yield`?"


def test_data_that_json_cannot_say_is_an_error_that_names_the_event() -> None:
    error = refused(lambda question: [("token", {"text": object()})])
    assert error.message.startswith("the data of an event 'token' cannot be written as JSON: ")


# What agents do wrong


def fails_at_once(question: str) -> object:
    raise ValueError("boom")


def fails_later(question: str) -> Iterator[object]:
    yield "data: a\n\n"
    raise SystemExit(3)


async def fails_in_the_loop(question: str) -> AsyncIterator[object]:
    yield "data: a\n\n"
    raise KeyboardInterrupt


async def stops_oddly(question: str) -> object:
    raise StopAsyncIteration("boom")


def recurses(question: str) -> object:
    return recurses(question)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (fails_at_once, "the agent raised ValueError: boom"),
        (fails_later, "the agent raised SystemExit: 3"),
        (fails_in_the_loop, "the agent raised KeyboardInterrupt"),
        (stops_oddly, "the agent raised StopAsyncIteration: boom"),
        (recurses, "the agent raised RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_what_it_raises_is_the_cases_error_with_its_place(agent: Callable[[str], object], message: str) -> None:
    error = refused(agent)
    assert error.message.startswith(message)
    assert error.hint is not None
    assert error.hint.startswith("raised at tests/test_call.py:")
    assert error.hint.endswith(f" in {agent.__name__}")


def test_one_agent_that_raises_ends_no_other_case() -> None:
    def agent(question: str) -> object:
        return fails_later(question) if question == "bad" else function(question)

    async def main() -> list[object]:
        target = InProcessTarget(agent)
        async with target.open():
            tasks = [answer(target, question) for question in ("a", "bad", "b", "bad")]
            return list(await asyncio.gather(*tasks, return_exceptions=True))

    kinds = [type(result).__name__ for result in asyncio.run(main())]
    assert kinds == ["tuple", "TargetError", "tuple", "TargetError"]


def test_a_blocked_callable_times_out_and_the_others_answer(release: threading.Event) -> None:
    def agent(question: str) -> object:
        if question == "block":
            release.wait()
        return function(question)

    async def judged(target: InProcessTarget, question: str) -> str:
        try:
            async with asyncio.timeout(0.2):
                await answer(target, question)
        except TimeoutError:
            return "time-out"
        return "answered"

    async def main() -> list[str]:
        target = InProcessTarget(agent, limits=Limits(grace=0.02, thread=0.02))
        async with target.open():
            return list(await asyncio.gather(*(judged(target, question) for question in ("a", "block", "b", "c"))))

    assert asyncio.run(main()) == ["answered", "time-out", "answered", "answered"]


def test_a_blocked_loop_is_one_time_out_and_the_others_answer_on_a_fresh_one(release: threading.Event) -> None:
    waiting = threading.Semaphore(0)

    async def agent(question: str) -> AsyncIterator[object]:
        if question == "block":
            for _ in range(3):
                while not waiting.acquire(blocking=False):
                    await asyncio.sleep(0)
            release.wait()
        waiting.release()
        await asyncio.sleep(0.01)
        yield ("token", question)

    async def judged(target: InProcessTarget, question: str) -> str:
        while True:
            try:
                async with asyncio.timeout(0.3):
                    return (await answer(target, question))[1].decode()
            except AskAgain:
                continue
            except TimeoutError:
                return "time-out"

    async def main() -> list[str]:
        target = InProcessTarget(agent, limits=Limits(grace=0.05, thread=0.05))
        async with target.open():
            return list(await asyncio.gather(*(judged(target, question) for question in ("block", "a", "b", "c"))))

    read = ["time-out", *(f"event: token\ndata: {name}\n\n" for name in "abc")]
    assert asyncio.run(main()) == read


# When golden has enough


def test_a_generator_that_is_left_early_is_closed_in_its_own_thread() -> None:
    closed: list[bool] = []

    def agent(question: str) -> Iterator[object]:
        thread = threading.current_thread()
        try:
            while True:
                yield "data: a\n\n"
        finally:
            closed.append(threading.current_thread() is thread)

    async def main() -> None:
        target = InProcessTarget(agent)
        async with target.open(), aclosing(target.ask(Request("hi", "s1"))) as reply:
            assert await anext(reply) == Head(200, {}, "iterable")
            assert await anext(reply) == Chunk(b"data: a\n\n")
        assert closed == [True]

    asyncio.run(main())


@pytest.mark.parametrize("swallows", [False, True])
def test_an_async_generator_that_is_left_early_is_closed_in_its_loop(swallows: bool) -> None:
    closed: list[bool] = []

    async def agent(question: str) -> AsyncGenerator[object, None]:
        loop = asyncio.get_running_loop()
        try:
            while True:
                yield "data: a\n\n"
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    if not swallows:
                        raise
        finally:
            closed.append(asyncio.get_running_loop() is loop)

    async def main() -> None:
        target = InProcessTarget(agent, limits=Limits(grace=5, thread=5))
        async with target.open():
            async with aclosing(target.ask(Request("hi", "s1"))) as reply:
                assert await anext(reply) == Head(200, {}, "iterable")
                assert await anext(reply) == Chunk(b"data: a\n\n")
            assert closed == [True]

    asyncio.run(main())


def test_a_chunk_that_is_nonsense_closes_the_generator_that_gave_it() -> None:
    closed: list[str] = []

    def agent(question: str) -> Iterator[object]:
        try:
            yield 7
        finally:
            closed.append("generator")

    async def async_agent(question: str) -> AsyncIterator[object]:
        try:
            yield 7
        finally:
            closed.append("async generator")

    refused(agent)
    refused(async_agent)
    assert closed == ["generator", "async generator"]


@pytest.mark.parametrize("is_async", [False, True])
def test_an_agent_that_never_stops_is_held_back_when_golden_reads_no_further(is_async: bool) -> None:
    made = 0

    def blocking(question: str) -> Iterator[object]:
        nonlocal made
        while True:
            made += 1
            yield b"x" * 10_000

    async def asynchronous(question: str) -> AsyncIterator[object]:
        for chunk in blocking(question):
            yield chunk

    async def main() -> None:
        target = InProcessTarget(asynchronous if is_async else blocking)
        async with target.open(), aclosing(target.ask(Request("hi", "s1"))) as reply:
            for _ in range(100):
                await anext(reply)
            await asyncio.sleep(0.05)
            # 64 KiB in the channel, as much in the batch that is being read
            assert made < 100 + 20

    asyncio.run(main())


@pytest.mark.parametrize("is_async", [False, True])
def test_a_long_answer_comes_whole_and_in_order(is_async: bool) -> None:
    def blocking(question: str) -> Iterator[object]:
        for number in range(5000):
            yield f"data: {number}\n\n"

    async def asynchronous(question: str) -> AsyncIterator[object]:
        for chunk in blocking(question):
            yield chunk

    events = asked(asynchronous if is_async else blocking)
    assert [event.data for event in events] == [str(number) for number in range(5000)]


@pytest.mark.parametrize("is_async", [False, True])
def test_pieces_are_seen_when_they_are_given(is_async: bool) -> None:
    def blocking(question: str) -> Iterator[object]:
        time.sleep(0.2)
        yield ("token", "first")
        time.sleep(0.3)
        yield ("token", "last")

    async def asynchronous(question: str) -> AsyncIterator[object]:
        await asyncio.sleep(0.2)
        yield ("token", "first")
        time.sleep(0.3)  # an agent that blocks its loop is still seen in time
        yield ("token", "last")

    async def main() -> list[float]:
        target = InProcessTarget(asynchronous if is_async else blocking)
        now = asyncio.get_running_loop().time
        async with target.open():
            start = now()
            async with aclosing(target.ask(Request("hi", "s1"))) as reply:
                return [now() - start async for piece in reply if isinstance(piece, Chunk)]

    expected = [pytest.approx(0.2, abs=0.1), pytest.approx(0.5, abs=0.1)]
    # The best of three: what else the machine does can only delay.
    assert any(asyncio.run(main()) == expected for _ in range(3))


def test_forty_blocking_questions_at_once_take_the_time_of_one() -> None:
    def agent(question: str) -> object:
        time.sleep(0.2)
        return function(question)

    async def main() -> float:
        target = InProcessTarget(agent)
        now = asyncio.get_running_loop().time
        async with target.open():
            start = now()
            await asyncio.gather(*(answer(target) for _ in range(40)))
            return now() - start

    assert asyncio.run(main()) < 1


# By name


def test_an_agent_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent_by_name.py").write_text("def agent(question):\n    yield 'token', question\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    target = TARGET(Spec("agent_by_name:agent", Lexicon().dialect("auto")))
    assert (target.kind, target.name) == ("call", "agent_by_name:agent")
    with pytest.raises(UsageError, match="--agent: 'agent_by_name' has no 'agents'"):
        TARGET(Spec("agent_by_name:agents", Lexicon().dialect("auto")))


def test_a_target_is_named_after_its_agent() -> None:
    assert InProcessTarget(function).name == "function"
    assert InProcessTarget(Agent()).name == "Agent"
    assert InProcessTarget(function, name="mine").name == "mine"


@pytest.mark.parametrize("agent", ["sleeps", "spins", "sleeps_in_the_loop", "spins_in_the_loop"])
def test_what_blocks_for_ever_does_not_keep_the_process_from_ending(agent: str) -> None:
    script = """
import asyncio, contextlib, sys, time
from golden.agent_loop import Limits
from golden.targets.call import InProcessTarget
from golden.wire import Request

def sleeps(question): time.sleep(1e9)

def spins(question):
    while True: pass

async def sleeps_in_the_loop(question): time.sleep(1e9)

async def spins_in_the_loop(question):
    while True: pass

async def main():
    target = InProcessTarget(globals()[sys.argv[1]], limits=Limits(grace=0.05, thread=0.05))
    async with target.open():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1), contextlib.aclosing(target.ask(Request("hi", "s1"))) as reply:
                await anext(reply)
        print("the case is over")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script, agent], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("the case is over\n", "")
