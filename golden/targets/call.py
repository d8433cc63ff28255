"""A callable in this process (contract 5)."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing
from functools import partial

from golden.agent_loop import LIMITS, AgentLoop, Asking, Limits, in_thread
from golden.channel import Channel
from golden.errors import TargetError, UsageError
from golden.loading import load_object
from golden.payload import dump
from golden.sse import Event, encode, whole
from golden.targets import Factory, Spec
from golden.wire import Chunk, Head, Request

Pieces = Channel[Head | Chunk]

_HEAD = Head(200, {}, "iterable")
_SHAPES = 'a chunk is {"event": …, "data": …}, an (event, data) pair, SSE text, or an object with `event` and `data`'


class InProcessTarget:
    """Asks a callable: a function, a coroutine function, a generator, an async generator, an object with `__call__`.

    It is called with the question. `session_id`, `history` (the turns before, as messages of `role` and `content`),
    `model` and `system_prompt` are passed by keyword where its signature names them (`**kwargs` names none); where no
    model or no system prompt is asked for, a default of its own stands.

    What is not `async` runs in a thread of its own for each question, what is in one event loop for the whole run.

    Args:
        agent: the callable. It gives an iterable or async iterable of chunks.
        name: what the results call it.
        limits: how long golden waits for what was told to end.

    Raises:
        UsageError: it is not callable, or not with a question alone.
    """

    kind = "call"

    def __init__(self, agent: object, *, name: str | None = None, limits: Limits = LIMITS) -> None:
        if not callable(agent):
            raise UsageError(
                f"the agent must be callable, not {type(agent).__name__}", hint="name the function, not what it returns"
            )
        self.name = name or str(getattr(agent, "__qualname__", type(agent).__qualname__))
        self._agent: Callable[..., object] = agent
        self._required = _keywords(agent)
        self._is_async = any(
            is_async(part)
            for part in (agent, agent.__call__)
            for is_async in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
        )
        self._grace = limits.thread
        # There is no disconnect to be told of: what is async is cancelled at once.
        self._loop = AgentLoop(limits._replace(disconnect=0.0))

    def open(self) -> AbstractAsyncContextManager[object]:
        return self._loop.open()

    async def ask(self, request: Request) -> AsyncGenerator[Head | Chunk, None]:
        call: Callable[[], object] = partial(self._agent, request.question, **self._offered(request))
        if not self._is_async:
            replies: list[object] = []
            async with aclosing(in_thread(partial(_drain, call, replies), grace=self._grace)) as pieces:
                async for piece in pieces:
                    yield piece
            if not replies:
                return
            call = replies.pop
        async with aclosing(self._loop.ask(partial(_drain_async, call))) as pieces:
            async for piece in pieces:
                yield piece

    def _offered(self, request: Request) -> dict[str, object]:
        offered = {
            "session_id": request.session_id,
            "history": [
                {"role": role, "content": text}
                for turn in request.history
                for role, text in zip(("user", "assistant"), turn, strict=True)
            ],
            "model": request.model,
            "system_prompt": request.system_prompt,
        }
        return {
            name: offered[name] for name, required in self._required.items() if required or offered[name] is not None
        }


def _keywords(agent: Callable[..., object]) -> dict[str, bool]:
    """Returns which of the four keywords the agent's signature names, and whether it cannot do without."""
    try:
        signature = inspect.signature(agent)
    except (ValueError, TypeError):  # what is written in C may have none
        return {}
    found = {
        name: parameter.default is parameter.empty
        for name, parameter in signature.parameters.items()
        if name in ("session_id", "history", "model", "system_prompt")
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    try:
        signature.bind("", **found)
    except TypeError as error:
        raise UsageError(
            f"the agent cannot be called with a question: {error}",
            hint="it takes the question, and where it likes `session_id`, `history`, `model` and `system_prompt`",
        ) from None
    return found


def _drain(call: Callable[[], object], replies: list[object], pieces: Pieces) -> None:
    """Calls the agent and puts its chunks; a reply that is asynchronous goes to `replies` instead, for the loop."""
    reply = call()
    if inspect.isawaitable(reply) or hasattr(reply, "__aiter__"):
        replies.append(reply)
        return
    chunks = _chunks(reply)
    pieces.put(_HEAD)
    try:
        for chunk in chunks:
            if room := _put(pieces, chunk):
                room.result()
    finally:
        if isinstance(chunks, Generator):
            chunks.close()


async def _drain_async(call: Callable[[], object], asking: Asking[Head | Chunk]) -> None:
    reply = call()
    while inspect.isawaitable(reply):
        reply = await reply
    chunks = aiter(reply) if isinstance(reply, AsyncIterable) else _each(_chunks(reply))
    asking.channel.put(_HEAD)
    try:
        async for chunk in chunks:
            if room := _put(asking.channel, chunk):
                await asyncio.wrap_future(room)
    finally:
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()


async def _each(chunks: Iterator[object]) -> AsyncGenerator[object, None]:
    for chunk in chunks:
        yield chunk


def _chunks(reply: object) -> Iterator[object]:
    if isinstance(reply, (str, bytes, bytearray, memoryview)):
        return iter((reply,))
    if isinstance(reply, Iterable) and not isinstance(reply, Mapping):
        return iter(reply)
    hint = "did it forget to `return` or `yield`?" if reply is None else f"`yield` its chunks; {_SHAPES}"
    raise TargetError("agent", f"the agent returned {_kind(reply)}, which is no iterable of chunks", hint=hint)


def _put(pieces: Pieces, chunk: object) -> Future[None] | None:
    data = encoded(chunk)
    return pieces.put(Chunk(data), len(data))


def encoded(chunk: object) -> bytes:
    """Returns a chunk of any shape (contract 5) as the bytes of an event stream.

    Raises:
        TargetError: it is of no such shape, or cannot be written.
    """
    match chunk:
        case str():
            return whole(chunk).encode()
        case bytes() | bytearray() | memoryview():
            return bytes(chunk)
        case Mapping() if "event" in chunk or "data" in chunk:
            return _event(chunk.get("event"), chunk.get("data"), chunk.get("id"))
        case [event, data]:
            return _event(event, data, None)
        case _ if hasattr(chunk, "event") and hasattr(chunk, "data"):
            data = chunk.data
            if hasattr(chunk, "raw_data"):  # FastAPI's: text in `data` is a JSON string there, and `raw_data` is text
                data = chunk.raw_data if data is None else _json(chunk.event, data)
            return _event(chunk.event, data, getattr(chunk, "id", None))
    keys = f" with the keys {', '.join(map(repr, chunk))}" if isinstance(chunk, Mapping) else ""
    raise TargetError("agent", f"the agent gave {_kind(chunk)}{keys}, which is no chunk", hint=_SHAPES)


def _event(name: object, data: object, id: object) -> bytes:
    if not isinstance(name, str | None):
        raise TargetError("agent", f"the agent named an event with {_kind(name)}, not with text", hint=_SHAPES)
    name, id = name or "", "" if id is None else str(id)
    for field, value in (("name", name), ("id", id)):
        if "\n" in value or "\r" in value:
            raise TargetError("agent", f"the agent gave an event whose {field} has a line break: {value!r}")
    if isinstance(data, (bytes, bytearray, memoryview)):
        return encode(Event(name, "", id, raw=bytes(data)))
    return encode(Event(name, data if isinstance(data, str | None) else _json(name, data), id))


def _json(name: object, data: object) -> str:
    try:
        return dump(data)
    except TypeError as error:
        raise TargetError("agent", f"the data of an event {name!r} cannot be written as JSON: {error}") from None


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _target(spec: Spec) -> InProcessTarget:
    return InProcessTarget(load_object(spec.where, option="--agent"), name=spec.where)


TARGET: Factory = _target
