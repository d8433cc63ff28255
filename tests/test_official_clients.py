"""The vendors' own clients and golden read the same bytes alike."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
import pytest
from openai.types.responses import ResponseFunctionToolCall
from openai.types.responses.response_output_item import McpCall

from golden.payload import parse
from golden.sse import whole as joined
from tests.samples import Sample, samples
from tests.servers import Asked, Server, Step, whole


@dataclass(slots=True)
class Read:
    """What a client makes of a stream.

    Attributes:
        text: the answer.
        calls: each call's name and arguments.
        usage: tokens in and out, None where none are told.
        error: what it raises, or is told, "" for nothing.
    """

    text: str = ""
    calls: list[tuple[str, object]] = field(default_factory=list)
    usage: tuple[int, int] | None = None
    error: str = ""


ASKED: Any = [{"role": "user", "content": "question"}]


def openai_chat(client: openai.OpenAI) -> Read:
    read = Read()
    names: defaultdict[int, str] = defaultdict(str)
    args: defaultdict[int, str] = defaultdict(str)
    try:
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            if chunk.usage:
                read.usage = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
            for choice in chunk.choices:
                read.text += choice.delta.content or ""
                for call in choice.delta.tool_calls or ():
                    assert call.function is not None
                    names[call.index] += call.function.name or ""
                    args[call.index] += call.function.arguments or ""
    except openai.APIError as raised:
        read.error = raised.message
    read.calls = [(name, arguments(args[index])) for index, name in names.items()]
    return read


def openai_responses(client: openai.OpenAI) -> Read:
    read = Read()
    try:
        for event in client.responses.create(model="m", input="question", stream=True):
            if event.type == "response.output_text.delta":
                read.text += event.delta
            elif event.type == "response.output_item.done":
                if isinstance(event.item, ResponseFunctionToolCall | McpCall):
                    read.calls.append((event.item.name, arguments(event.item.arguments)))
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                usage, error = event.response.usage, event.response.error
                read.usage = (usage.input_tokens, usage.output_tokens) if usage else None
                read.error = error.message if error else read.error
            elif event.type == "error":
                read.error = event.message
    except openai.APIError as raised:
        read.error = raised.message
    return read


def anthropic_messages(client: anthropic.Anthropic) -> Read:
    read = Read()
    with client.messages.stream(model="m", max_tokens=9, messages=ASKED) as stream:
        try:
            stream.until_done()
        except anthropic.APIStatusError as raised:
            body: Any = raised.body
            read.error = body["error"]["message"]
        message = stream.current_message_snapshot
    read.text = "".join(block.text for block in message.content if block.type == "text")
    read.calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    read.usage = message.usage.input_tokens, message.usage.output_tokens
    return read


def arguments(json: str) -> object:
    return parse(joined(json) or "{}")[0]


# Where a producer leaves the protocol, the client joins what does not belong together: golden is held to its samples.
SAMPLES = {
    sample.name: sample
    for dialect in ("openai-chat", "openai-responses", "anthropic")
    for sample in samples(dialect)
    if sample.is_whole and "quirks" not in sample.name
}

Reader = Callable[[Sample], Read]


@pytest.fixture(scope="module")
def read_by_client() -> Iterator[Reader]:
    """Has the client of a sample's dialect read it, from a server that has each sample below its name."""

    async def script(asked: Asked) -> AsyncIterator[Step]:
        yield whole(SAMPLES["/".join(asked.path.split("/")[1:3])].body)

    with (
        Server(script) as server,
        openai.OpenAI(api_key="none", max_retries=0) as one,
        anthropic.Anthropic(api_key="none", max_retries=0) as other,
    ):

        def read(sample: Sample) -> Read:
            url = f"{server.url}/{sample.name}"
            if sample.dialect == "anthropic":
                return anthropic_messages(other.with_options(base_url=url))
            client = one.with_options(base_url=f"{url}/v1")
            return openai_chat(client) if sample.dialect == "openai-chat" else openai_responses(client)

        yield read


@pytest.mark.parametrize("sample", [pytest.param(sample, id=name) for name, sample in SAMPLES.items()])
def test_the_official_client_reads_the_same(sample: Sample, read_by_client: Reader) -> None:
    read, turn = read_by_client(sample), sample.read()
    assert turn.answer == joined(read.text)
    assert [(call.name, call.args) for call in turn.tool_calls] == read.calls
    if turn.error is None:
        assert (turn.usage and (turn.usage.input, turn.usage.output)) == read.usage
        assert not read.error
    elif turn.error.kind == "stream_error":
        assert read.error
        assert read.error in turn.error.message
