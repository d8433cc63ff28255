"""LangGraph serves the broker: through routes as users write them, and over AG-UI."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from tests.producers import broker, graph
from tests.producers.broker import Asked
from tests.program import Program
from tests.servers import App, under_uvicorn

# What ag-ui-langgraph asks LangGraph for.
pytestmark = pytest.mark.filterwarnings("ignore:`get_config_jsonschema` is deprecated:DeprecationWarning")

GRAPH = graph.BUILDER.compile(checkpointer=InMemorySaver())


def given(asked: Asked) -> tuple[Any, RunnableConfig]:
    return {"messages": [("user", asked.message)]}, {"configurable": {"thread_id": asked.session_id}}


async def modes(asked: Asked) -> AsyncIterator[str]:
    """The graph's stream as it is, each mode under its name."""
    try:
        async for mode, data in GRAPH.astream(*given(asked), stream_mode=["messages", "updates"]):
            yield f"event: {mode}\ndata: {json.dumps(data, default=BaseMessage.model_dump)}\n\n"
    except RuntimeError as error:
        yield f"event: error\ndata: {json.dumps({'error': type(error).__name__, 'message': str(error)})}\n\n"


async def home_grown(asked: Asked) -> AsyncIterator[str]:
    """What a page needs of the graph's events."""
    try:
        async for event in GRAPH.astream_events(*given(asked), version="v2"):
            data = event["data"]
            told: dict[str, object] | None = None
            match event["event"]:
                case "on_chat_model_stream":
                    told = {"type": "token", "content": data["chunk"].text}
                case "on_tool_start":
                    told = {"type": "tool", "id": event["run_id"], "name": event["name"], "input": data["input"]}
                case "on_tool_end":
                    told = {"type": "tool_end", "id": event["run_id"], "output": data["output"].content}
            if told is not None:
                yield f"data: {json.dumps(told)}\n\n"
        yield 'data: {"type": "end"}\n\n'
    except RuntimeError as error:
        yield f"data: {json.dumps({'type': 'error', 'detail': str(error)})}\n\n"


TABLE = """
[tool.golden.dialects.home-grown]
path = "/ask"
rules = [
  {when = "type == 'token'", text = "content"},
  {when = "type == 'tool'", tool = "name", args = "input", id = "id"},
  {when = "type == 'tool_end'", result = "output", id = "id"},
  {when = "type == 'error'", error = "detail"},
  {when = "type == 'end'", end = true},
]
"""


def app() -> App:
    app = FastAPI()
    add_langgraph_fastapi_endpoint(app, LangGraphAgent(name="broker", graph=GRAPH), "/")

    def serve(path: str, stream: Callable[[Asked], AsyncIterator[str]]) -> None:
        @app.post(path)
        async def chat(asked: Asked) -> StreamingResponse:
            return StreamingResponse(stream(asked), media_type="text/event-stream")

    serve("/agent/chat", modes)
    serve("/ask", home_grown)
    return app


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with under_uvicorn(app()) as url:
        yield url


@pytest.mark.parametrize(
    ("dialect", "spoken", "tells_usage"),
    [("auto", "langgraph", True), ("home-grown", "home-grown", False), ("ag-ui", "ag-ui", True)],
)
def test_langgraph_comes_to_the_verdicts(
    dialect: str, spoken: str, tells_usage: bool, url: str, golden_run: Program
) -> None:
    Path("pyproject.toml").write_text(TABLE, encoding="utf-8")
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=broker.CASES)
    broker.agrees(ran, spoken, tells_usage=tells_usage)
