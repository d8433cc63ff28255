"""Pieces of a body, however small they come → fewer and larger ones, each as soon as it is worth being woken for."""

import asyncio
import random
import types
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

T = TypeVar("T")

# To be woken for a piece costs several times what reading it does. So where one comes sooner than this after golden
# began to wait for it, those that follow are left to gather about as long, unless they are this many bytes anyway. Not
# exactly: streams that were read at the same moment once would be for ever after, and wait for one another.
_PAUSE_S = 0.003
_ENOUGH = 16 * 1024


async def paced(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yields the same bytes in the same order: what is at hand is joined, and given before more is waited for.

    Whoever leaves early closes it (`aclose`): it may be in the middle of waiting.
    """
    now = asyncio.get_running_loop().time
    held: list[bytes] = []
    gathered = _ENOUGH  # the first piece is not kept waiting
    while True:
        # Only whether the step to the next piece waits tells that no more is at hand. So it is begun by hand, and what
        # is held is given while it waits.
        step = cast("Coroutine[Any, Any, bytes]", anext(pieces))
        try:
            waits = step.send(None)
        except StopIteration as done:
            held.append(done.value)
            continue
        except Exception as end:  # the body's, or what broke it: after all that came before
            if held:
                yield b"".join(held)
            if isinstance(end, StopAsyncIteration):
                return
            raise
        if held:
            piece = b"".join(held)
            gathered = len(piece)
            try:
                yield piece
            except GeneratorExit:
                with suppress(asyncio.CancelledError):
                    await _rest(step, step.throw(asyncio.CancelledError()))
                raise
        asked = now()
        try:
            held = [await _rest(step, waits)]
        except StopAsyncIteration:
            return
        if now() - asked < _PAUSE_S and gathered < _ENOUGH:
            await asyncio.sleep(random.uniform(0.5, 1.5) * _PAUSE_S)  # noqa: S311  # no secret


@types.coroutine
def _rest(step: Coroutine[Any, Any, T], waits: object) -> Generator[object, Any, T]:
    """What is left of a coroutine that waits already: as `yield from` does it (PEP 380), from the second step on."""
    while True:
        try:
            answer = yield waits
        except BaseException as error:
            resume = partial(step.throw, error)
        else:
            resume = partial(step.send, answer)
        try:
            waits = resume()
        except StopIteration as done:
            return cast("T", done.value)
