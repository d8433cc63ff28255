"""Servers written as users write them give the right verdicts, and times that are real."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse as FastAPIEvents
from fastapi.sse import ServerSentEvent
from pydantic import BaseModel
from sse_starlette import EventSourceResponse

from tests import npm
from tests.program import Program
from tests.servers import App, under_hypercorn, under_uvicorn

EVENTS: list[tuple[str, dict[str, object]]] = [
    ("tool_call", {"name": "get_quote", "args": {"symbol": "ÅBC"}, "id": "1"}),
    ("tool_result", {"id": "1", "result": {"price": 12.5}}),
    ("token", {"text": "ÅBC is at "}),
    ("token", {"text": "$12.50 🙂"}),
    ("message", {"text": "ÅBC is at $12.50 🙂"}),
    ("groundedness", {"score": 0.95}),
    ("usage", {"input": 3, "output": 5}),
    ("done", {}),
]

CASES: list[dict[str, object]] = [
    {
        "id": "right",
        "question": "What is ÅBC at?",
        "expected_tools": ["get_quote"],
        "required_phrases": ["$12.50"],
        "forbidden_phrases": ["order placed"],
        "groundedness_threshold": 0.9,
        "clean_stream": True,
    },
    {"id": "wrong", "question": "What is ÅBC at?", "forbidden_phrases": ["åbc is at"]},
]


class Body(BaseModel):
    message: str


def handwritten() -> App:
    app = FastAPI()

    @app.post("/agent/chat")
    async def chat(body: Body) -> StreamingResponse:
        async def stream() -> AsyncIterator[str]:
            for name, data in EVENTS:
                yield f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
                await asyncio.sleep(0)

        return StreamingResponse(stream(), media_type="text/event-stream")

    return app


def fastapi_helper() -> App:
    app = FastAPI()

    @app.post("/agent/chat", response_class=FastAPIEvents)
    async def chat(body: Body) -> AsyncIterator[ServerSentEvent]:
        yield ServerSentEvent(comment="hello")
        for name, data in EVENTS[:-1]:
            yield ServerSentEvent(event=name, data=data)
        yield ServerSentEvent(event="done")  # on the wire a name without data

    return app


def sse_starlette() -> App:
    app = FastAPI()

    @app.post("/agent/chat")
    async def chat(body: Body) -> EventSourceResponse:
        async def stream() -> AsyncIterator[dict[str, str]]:
            for name, data in EVENTS:
                yield {"event": name, "data": json.dumps(data)}
                await asyncio.sleep(0.03)

        return EventSourceResponse(stream(), ping=0.01)  # CRLF, and pings between the events

    return app


NODE = """
const events = JSON.parse(process.argv[1]);
const server = require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => { body += piece; });
  request.on('end', () => {
    if (request.url !== '/agent/chat' || !JSON.parse(body).message) return response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    for (const [name, data] of events) response.write(`event: ${name}\\ndata: ${JSON.stringify(data)}\\n\\n`);
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
"""


@pytest.mark.parametrize(
    "serve",
    [
        lambda: under_uvicorn(handwritten()),
        lambda: under_hypercorn(handwritten()),
        lambda: under_uvicorn(fastapi_helper()),
        lambda: under_hypercorn(fastapi_helper()),
        lambda: under_uvicorn(sse_starlette()),
        lambda: under_hypercorn(sse_starlette()),
        lambda: npm.serving("-e", NODE, "--", json.dumps(EVENTS)),
    ],
    ids=[
        f"{app} under {server}"
        for app in ("hand-written", "FastAPI's helper", "sse-starlette")
        for server in ("uvicorn", "hypercorn")
    ]
    + ["node"],
)
def test_a_server_as_users_write_it_gets_the_right_verdicts(
    serve: Callable[[], AbstractContextManager[str]], golden_run: Program
) -> None:
    with serve() as url:
        ran = golden_run("--base-url", url, "--no-auth", cases=CASES)
    assert ran.statuses == ["passed", "failed"]
    assert ran.code == 1
    for result in ran.run.results:
        (turn,) = result.turns
        assert turn.answer == "ÅBC is at $12.50 🙂"
        assert [(call.name, call.args, call.result) for call in turn.tool_calls] == [
            ("get_quote", {"symbol": "ÅBC"}, {"price": 12.5})
        ]
        assert turn.groundedness == 0.95
        assert turn.usage is not None
        assert (turn.usage.input, turn.usage.output) == (3, 5)
        assert turn.error is None
    assert ran.run.results[1].forbidden_hits == ("åbc is at",)


def test_the_time_to_the_first_token_is_real(golden_run: Program) -> None:
    sent: dict[str, float] = {}
    app = FastAPI()

    @app.post("/agent/chat")
    async def chat(body: Body) -> StreamingResponse:
        start = time.monotonic()

        async def stream() -> AsyncIterator[str]:
            for at, name, text in ((0.2, "first", "All is "), (1.0, "last", "well.")):
                await asyncio.sleep(start + at - time.monotonic())
                sent[name] = time.monotonic() - start
                yield f'event: token\ndata: {{"text": "{text}"}}\n\n'
            yield "event: done\ndata: {}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    with under_uvicorn(app) as url:
        ran = golden_run("--base-url", url, "--no-auth")
    assert ran.code == 0
    timing = ran.case.turns[0].timing
    assert timing.first_token_s is not None
    # Against what the server's own clock says: a machine that is busy is late on both sides.
    assert sent["first"] <= timing.first_token_s < sent["first"] + 0.1
    assert sent["last"] <= timing.total_s < sent["last"] + 0.1
