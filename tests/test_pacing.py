import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.pacing import paced
from tests.clock import run

MS = 0.001


async def body(*steps: bytes | float | Exception) -> AsyncGenerator[bytes, None]:
    """Gives bytes, waits seconds, raises."""
    for step in steps:
        if isinstance(step, bytes):
            yield step
        elif isinstance(step, Exception):
            raise step
        else:
            await asyncio.sleep(step)


async def came(pieces: AsyncIterator[bytes]) -> list[tuple[bytes, float]]:
    """What is given, and when, in seconds since the start."""
    now = asyncio.get_running_loop().time
    return [(piece, round(now(), 6)) async for piece in paced(pieces)]


STEPS = st.lists(st.binary(max_size=9) | st.sampled_from([0.0, MS, 2 * MS, 0.1]), max_size=30)


@given(STEPS)
def test_any_body_comes_whole_and_in_order(steps: list[bytes | float]) -> None:
    given_ = run(came(body(*steps)))
    assert b"".join(piece for piece, _ in given_) == b"".join(step for step in steps if isinstance(step, bytes))


def test_slow_pieces_come_when_they_come() -> None:
    assert run(came(body(b"a", 0.1, b"b", 0.2, b"c", 0.3))) == [
        (b"a", 0),
        (b"b", 0.1),
        (b"c", 0.3),
    ]


def test_what_is_at_hand_comes_joined_and_before_more_is_waited_for() -> None:
    assert run(came(body(0.1, b"a", b"b", b"c", 0.1, b"d", b"e"))) == [
        (b"abc", 0.1),
        (b"de", 0.2),
    ]


def test_the_first_piece_is_not_kept_waiting() -> None:
    assert run(came(body(MS, b"a", 0.1, b"b")))[0] == (b"a", MS)


async def socket(pieces: "asyncio.Queue[bytes]") -> AsyncGenerator[bytes, None]:
    """As a client reads a socket: what came meanwhile is at hand together."""
    while piece := await pieces.get():
        yield piece
        while not pieces.empty():
            if not (piece := pieces.get_nowait()):
                return
            yield piece


async def read(size: int, count: int, every_s: float) -> tuple[list[bytes], float]:
    """What is given of so many pieces sent at this rate, and when the last of it is, after it was sent."""
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in range(count):
        loop.call_at(number * every_s, pieces.put_nowait, b"x" * size)
    end = count * every_s
    loop.call_at(end, pieces.put_nowait, b"")
    given_ = [piece async for piece in paced(socket(pieces))]
    return given_, round(loop.time() - end, 6)


def test_small_pieces_that_come_fast_gather() -> None:
    given_, late_s = run(read(20, 1000, MS))
    assert b"".join(given_) == b"x" * 20_000
    assert 150 < len(given_) < 450
    assert late_s < 0.01


def test_large_pieces_that_come_fast_are_not_kept_waiting() -> None:
    given_, late_s = run(read(20_000, 100, MS))
    assert (len(given_), late_s) == (100, 0)


def test_what_came_before_an_error_is_given_first() -> None:
    given_: list[bytes] = []

    async def reading() -> None:
        async for piece in paced(body(0.1, b"a", b"b", OSError("cut"))):
            given_.append(piece)  # noqa: PERF401  # one by one: there is no list where it raises

    with pytest.raises(OSError, match="cut"):
        run(reading())
    assert given_ == [b"ab"]


def test_an_error_while_it_waits_comes_through() -> None:
    with pytest.raises(OSError, match="cut"):
        run(came(body(b"a", 0.1, OSError("cut"))))


class Undone:
    """A body that takes time to be undone, and says when it was."""

    def __init__(self) -> None:
        self.at = 0.0

    async def body(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            await asyncio.sleep(60)
            yield b"b"
        finally:
            await asyncio.sleep(1)
            self.at = asyncio.get_running_loop().time()


def test_a_body_that_is_left_while_it_waits_is_undone() -> None:
    source = Undone()

    async def leaving() -> None:
        async with aclosing(paced(source.body())) as pieces:
            async for piece in pieces:
                assert piece == b"a"
                break

    run(leaving())
    assert source.at == pytest.approx(1)


def test_a_body_that_is_cancelled_while_it_waits_is_undone() -> None:
    source = Undone()

    async def cancelling() -> None:
        async with asyncio.timeout(5):
            await came(source.body())

    with pytest.raises(TimeoutError):
        run(cancelling())
    assert source.at == pytest.approx(6)
