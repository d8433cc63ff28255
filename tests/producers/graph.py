"""The broker as a graph of LangGraph: a node that asks its model, and one that runs its tools."""

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tests.producers import broker

_USAGE = UsageMetadata(input_tokens=broker.USAGE[0], output_tokens=broker.USAGE[1], total_tokens=sum(broker.USAGE))
_ROLES = {"human": "user", "ai": "assistant", "tool": "tool"}


class Model(BaseChatModel):
    """A model that needs no key."""

    @property
    def _llm_type(self) -> str:
        return "broker"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("it streams")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in broker.reply([(_ROLES[message.type], message.text) for message in messages]):
            for message in _chunks(piece):
                yield ChatGenerationChunk(message=message)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=_USAGE, chunk_position="last"))


def _chunks(piece: str | broker.Call) -> list[AIMessageChunk]:
    if isinstance(piece, str):
        return [AIMessageChunk(content=piece)]
    calls = [
        tool_call_chunk(name=piece.name, args="", id=piece.id, index=0),
        *(tool_call_chunk(args=args, index=0) for args in piece.args),
    ]
    return [AIMessageChunk(content="", tool_call_chunks=[call]) for call in calls]


async def agent(state: MessagesState) -> dict[str, list[BaseMessage]]:
    return {"messages": [await Model().ainvoke(state["messages"])]}


BUILDER = StateGraph(MessagesState)
BUILDER.add_node("agent", agent)
BUILDER.add_node("tools", ToolNode([broker.get_quote]))
BUILDER.set_entry_point("agent")
BUILDER.add_conditional_edges("agent", tools_condition)
BUILDER.add_edge("tools", "agent")

GRAPH = BUILDER.compile()
