"""One question asked of a target, and what comes read: Request → Head, Chunks → Turn."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from golden import refusal
from golden.blame import told
from golden.errors import AskAgain, GoldenError, TargetError
from golden.plan import Plan
from golden.reader import Reader
from golden.transcript import Turn
from golden.visible import glimpse
from golden.watch import Stop, Watch, is_cancelled
from golden.wire import Chunk, Head, Reply, Request, Target

# To be woken for a piece costs several times what reading it does. So where pieces come faster than this, golden lets
# some gather; those that were at hand, read together with one that was waited for, come faster still.
_PAUSE_S = 0.0035
_AT_HAND_S = 0.0002


class Asked(NamedTuple):
    """What came of one question.

    Attributes:
        turn: all of it.
        size: how many bytes the reply had.
        dialect: the dialect's name; `auto` where it was not told.
        reason: why it is that one, "" where it was not told.
        retry_after_s: how long the server wants to be left alone, None where it does not say.
        reply: as it came, where it is to be recorded.
    """

    turn: Turn
    size: int
    dialect: str
    reason: str
    retry_after_s: float | None
    reply: Reply | None = None


async def ask(target: Target, request: Request, plan: Plan, timeout_s: float | None, stop: Stop) -> Asked:
    """Asks one question and reads what comes, within the case's own time where it has one."""
    again = ""
    while True:
        reader = Reader(request.question, plan.dialect, plan.bounds, plan.lexicon)
        if plan.record is not None:
            reader.kept = []
        if again:
            reader.note("asked_again", again)
        try:
            return await _asked_once(target, request, plan, timeout_s, stop, reader)
        except AskAgain as blocked:
            if stop.reason is not None:
                return Asked(reader.close(0.0, blocked), reader.size, reader.dialect, reader.reason, None)
            again = f"the question was asked twice: {blocked.message}"


async def _asked_once(
    target: Target, request: Request, plan: Plan, timeout_s: float | None, stop: Stop, reader: Reader
) -> Asked:
    error: TargetError | None = None
    head: Head | None = None
    refused: Head | None = None
    ended_s: float | None = None
    body = b""
    named = "--timeout" if timeout_s is None else "the case's timeout_s"
    watch = Watch(stop, timeout_s or plan.timeout_s, plan.idle_timeout_s, named)
    now = asyncio.get_running_loop().time
    try:
        async with watch, _reply(target, request) as reply:
            asked = now()
            while (piece := await _next(reply, head is not None)) is not None:
                waited, watch.last = now() - asked, now()
                if isinstance(piece, Head):
                    head = piece
                    reader.open(piece)
                    if not refusal.answers(piece, reader.accepted):
                        refused = piece
                        watch.linger()
                elif isinstance(piece, Reply):
                    head, ended_s = piece.head, piece.ended_s
                    refused = None if head.status == 200 else head
                    if not refused:
                        reader.replay(piece)
                elif refused:
                    body += piece.data
                    if len(body) >= refusal.BODY:
                        break
                else:
                    at = watch.last - watch.start if piece.at is None else piece.at
                    reader.feed(piece.data, round(at, 6))  # here, once a piece: its events share the one number
                    if reader.ended:
                        watch.linger()
                    elif _AT_HAND_S < waited < _PAUSE_S:
                        await asyncio.sleep(_PAUSE_S)
                asked = now()
    except TargetError as caught:
        if isinstance(caught, AskAgain) and not (reader.ended or refused):
            raise
        error = caught
    if refused:
        error = refusal.refusal(refused, body[: refusal.BODY], plan.secrets.cover, next(iter(reader.accepted)))
    elif watch.fired and not reader.ended:
        error = TargetError("timeout", f"{watch.fired}, after {reader.came}")
    ended_s = round(now() - watch.start, 6) if ended_s is None else ended_s
    turn = reader.close(ended_s, error)
    wait = refusal.retry_after_s(refused, time.time()) if refused else None
    came = None
    if reader.kept is not None and head is not None:
        came = Reply(head, tuple(reader.kept), ended_s, reader.dialect)
    return Asked(turn, reader.size, reader.dialect, reader.reason, wait, came)


@asynccontextmanager
async def _reply(target: Target, request: Request) -> AsyncIterator[AsyncIterator[Head | Chunk | Reply]]:
    with blamed:
        reply = target.ask(request)
    try:
        yield reply
    finally:
        if isinstance(reply, AsyncGenerator):
            with blamed:
                await reply.aclose()


async def _next(reply: AsyncIterator[Head | Chunk | Reply], is_open: bool) -> Head | Chunk | Reply | None:
    with blamed:
        try:
            piece: object = await anext(reply)
        except StopAsyncIteration:
            return None
    if isinstance(piece, Head) or (not is_open and isinstance(piece, Reply)):
        return piece
    if is_open and isinstance(piece, Chunk) and isinstance(piece.data, bytes):
        return piece
    raise TargetError("agent", f"the target gave {glimpse(piece, 60)}, not a Head and then Chunks of bytes")


class _Blamed:
    """Whatever a target raises in it is the target's fault, told apart from golden's own: a `TargetError`."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, TargetError):
            return
        is_its_own = isinstance(error, asyncio.CancelledError) and not is_cancelled()
        if is_its_own or isinstance(error, Exception | SystemExit):
            what = str(error) if isinstance(error, GoldenError) else f"the target raised {told(error)}"
            raise TargetError("agent", what) from error


blamed = _Blamed()  # it keeps nothing: one serves all, each piece of a stream is taken in it
