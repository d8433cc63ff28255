"""A hand-written loop serves the broker through sse-starlette, in golden's own events."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator

import pytest
from fastapi import FastAPI
from sse_starlette import EventSourceResponse

from tests.producers import broker
from tests.producers.broker import Asked
from tests.program import Program
from tests.servers import under_uvicorn

APP = FastAPI()
KEPT: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)


@APP.post("/agent/chat")
async def chat(asked: Asked) -> EventSourceResponse:
    told = KEPT[asked.session_id]
    told.append(("user", asked.message))
    return EventSourceResponse(stream(told))


async def stream(told: list[tuple[str, str]]) -> AsyncIterator[dict[str, str]]:
    try:
        while told[-1][0] != "assistant":
            answer = ""
            for piece in broker.reply(told):
                if isinstance(piece, str):
                    answer += piece
                    yield event("token", text=piece)
                else:
                    args = json.loads("".join(piece.args))
                    yield event("tool_call", id=piece.id, name=piece.name, args=args)
                    yield event("tool_result", id=piece.id, result=broker.get_quote(**args))
                    yield event("usage", input=broker.USAGE[0], output=broker.USAGE[1])
            told.append(("assistant", answer) if answer else ("tool", ""))
        yield event("usage", input=broker.USAGE[0], output=broker.USAGE[1])
        yield event("done")
    except RuntimeError as error:
        yield event("error", message=str(error))


def event(name: str, /, **data: object) -> dict[str, str]:
    return {"event": name, "data": json.dumps(data)}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with under_uvicorn(APP) as url:
        yield url


@pytest.mark.parametrize("dialect", ["native", "auto"])
def test_sse_starlette_comes_to_the_verdicts(dialect: str, url: str, golden_run: Program) -> None:
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=broker.CASES)
    broker.agrees(ran, "native", tells_usage=True)
