"""Pydantic AI serves the broker: over AG-UI, over the Vercel AI SDK's stream, and by events of its own."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
from ag_ui.core import Message, RunAgentInput, UserMessage
from pydantic import BaseModel, TypeAdapter
from pydantic_ai import Agent, AgentRunResult, AgentRunResultEvent
from pydantic_ai.messages import AgentStreamEvent, ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.ui import UIAdapter
from pydantic_ai.ui.ag_ui import AGUIAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from pydantic_ai.ui.vercel_ai.request_types import SubmitMessage, TextUIPart, UIMessage
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.producers import broker
from tests.program import Program
from tests.servers import under_uvicorn

_ROLES = {"user-prompt": "user", "text": "assistant", "tool-return": "tool"}


async def model(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    told = [
        (_ROLES[part.part_kind], str(getattr(part, "content", "")))
        for message in messages
        for part in message.parts
        if part.part_kind in _ROLES
    ]
    for piece in broker.reply(told):
        if isinstance(piece, str):
            yield piece
        else:
            yield {0: DeltaToolCall(name=piece.name, tool_call_id=piece.id)}
            for args in piece.args:
                yield {0: DeltaToolCall(json_args=args)}


AGENT = Agent(FunctionModel(stream_function=model), tools=[broker.get_quote])


async def ag_ui(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=AGENT)


async def vercel(request: Request) -> Response:
    return await VercelAIAdapter.dispatch_request(request, agent=AGENT, sdk_version=6)


class Prompt(BaseModel):
    prompt: str
    message_history: list[ModelMessage] = []


EVENTS: TypeAdapter[Any] = TypeAdapter(AgentStreamEvent | AgentRunResultEvent[str])


async def events(request: Request) -> Response:
    asked = Prompt.model_validate_json(await request.body())

    async def stream() -> AsyncIterator[dict[str, str]]:
        try:
            async with AGENT.run_stream_events(asked.prompt, message_history=asked.message_history) as events:
                async for event in events:
                    yield {"data": EVENTS.dump_json(event).decode()}
        except RuntimeError as error:
            yield {"event": "error", "data": str(error)}

    return EventSourceResponse(stream())


class OwnRoute:
    """A route of one's own: it takes what its author likes, keeps conversations, and streams as an adapter does."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter
        self._kept: dict[str, list[ModelMessage]] = {}

    async def __call__(self, request: Request) -> Response:
        asked = broker.Asked.model_validate_json(await request.body())
        adapter: UIAdapter[Any, Any, Any, None, str] = self._adapter(asked.message)

        async def keep(result: AgentRunResult[str]) -> None:
            self._kept[asked.session_id] = result.all_messages()

        history = self._kept.get(asked.session_id)
        return adapter.streaming_response(adapter.run_stream(message_history=history, on_complete=keep))


def over_ag_ui(message: str) -> AGUIAdapter[None, str]:
    told: list[Message] = [UserMessage(id=uuid4().hex, content=message)]
    run = RunAgentInput(thread_id="t", run_id="r", messages=told, state={}, tools=[], context=[], forwarded_props={})
    return AGUIAdapter(AGENT, run)


def over_vercel(message: str) -> VercelAIAdapter[None, str]:
    told = [UIMessage(id=uuid4().hex, role="user", parts=[TextUIPart(text=message)])]
    run = SubmitMessage(trigger="submit-message", id="t", messages=told)
    return VercelAIAdapter(AGENT, run, sdk_version=5)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    routes = {
        "/": ag_ui,
        "/api/chat": vercel,
        "/chat": events,
        "/own/ag-ui": OwnRoute(over_ag_ui).__call__,
        "/own/vercel": OwnRoute(over_vercel).__call__,
    }
    app = Starlette(routes=[Route(path, route, methods=["POST"]) for path, route in routes.items()])
    with under_uvicorn(app) as url:
        yield url


@pytest.mark.parametrize("dialect", ["ag-ui", "ai-sdk", "pydantic-ai"])
def test_pydantic_ai_comes_to_the_verdicts(dialect: str, url: str, golden_run: Program) -> None:
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=broker.CASES)
    broker.agrees(ran, dialect)


@pytest.mark.parametrize(("path", "dialect"), [("/own/ag-ui", "ag-ui"), ("/own/vercel", "ai-sdk")])
def test_a_route_of_ones_own_over_pydantic_ai_is_known_by_what_it_streams(
    path: str, dialect: str, url: str, golden_run: Program
) -> None:
    broker.agrees(golden_run("--base-url", url, "--no-auth", "--path", path, cases=broker.CASES), dialect)
