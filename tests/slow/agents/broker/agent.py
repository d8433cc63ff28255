"""The broker as an agent of Google's ADK."""

import json
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai.types import Content, FunctionCall, GenerateContentResponseUsageMetadata, Part

from tests.producers import broker

_USAGE = GenerateContentResponseUsageMetadata(
    prompt_token_count=broker.USAGE[0], candidates_token_count=broker.USAGE[1]
)


class Model(BaseLlm):
    """A model that needs no key."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        whole = ""
        for piece in broker.reply([_told(content) for content in llm_request.contents]):
            if isinstance(piece, str):
                whole += piece
                yield _response(Part(text=piece), partial=True)
            else:
                call = FunctionCall(name=piece.name, args=json.loads("".join(piece.args)))
                yield _response(Part(function_call=call), usage_metadata=_USAGE)
        if whole:
            yield _response(Part(text=whole), usage_metadata=_USAGE)


def _response(part: Part, **more: object) -> LlmResponse:
    return LlmResponse(content=Content(role="model", parts=[part]), **more)


def _told(content: Content) -> tuple[str, str]:
    parts = content.parts or []
    if any(part.function_response for part in parts):
        return "tool", ""
    return "user" if content.role == "user" else "assistant", "".join(part.text or "" for part in parts)


root_agent = LlmAgent(name="broker", model=Model(model="broker"), tools=[broker.get_quote])
