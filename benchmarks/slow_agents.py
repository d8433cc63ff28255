"""Agents that take half a second for an answer, in each shape that golden asks in-process."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

TAKES_S = 0.5
EVENTS = ('event: token\ndata: {"text":"slow "}\n\n', 'event: token\ndata: {"text":"answer"}\n\n', "event: done\n\n")


def blocking(question: str) -> Iterator[str]:
    for event in EVENTS:
        time.sleep(TAKES_S / len(EVENTS))
        yield event


async def asynchronous(question: str) -> AsyncIterator[str]:
    for event in EVENTS:
        await asyncio.sleep(TAKES_S / len(EVENTS))
        yield event


async def _chat(request: Request) -> StreamingResponse:
    return StreamingResponse(asynchronous(""), media_type="text/event-stream")


app = Starlette(routes=[Route("/agent/chat", _chat, methods=["POST"])])
