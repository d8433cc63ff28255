"""OpenAI's own client and golden read the same bytes alike."""

from collections import defaultdict

import pytest

from golden.payload import parse
from golden.sse import whole as joined
from tests.samples import Sample, samples
from tests.servers import Server, whole

openai = pytest.importorskip("openai")

# Where a producer leaves the protocol, the client joins what does not belong together: golden is held to its samples.
SAMPLES = [pytest.param(sample, id=sample.name) for sample in samples("openai-chat") if "quirks" not in sample.name]


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_official_client_reads_the_same(sample: Sample) -> None:
    texts: list[str] = []
    names: defaultdict[int, str] = defaultdict(str)
    args: defaultdict[int, str] = defaultdict(str)
    usage: tuple[int, int] | None = None
    error: str | None = None
    with (
        Server([whole(sample.body)]) as server,
        openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0) as client,
    ):
        asked = [{"role": "user", "content": "question"}]
        try:
            for chunk in client.chat.completions.create(model="m", messages=asked, stream=True):
                usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens) if chunk.usage else usage
                for choice in chunk.choices:
                    texts.append(choice.delta.content or "")
                    for call in choice.delta.tool_calls or ():
                        names[call.index] += call.function.name or ""
                        args[call.index] += call.function.arguments or ""
        except openai.APIError as raised:
            error = raised.message
    turn = sample.read()
    assert turn.answer == joined("".join(texts))
    assert [(call.name, call.args) for call in turn.tool_calls] == [
        (name, parse(joined(args[index]) or "{}")[0]) for index, name in names.items()
    ]
    assert (turn.usage and (turn.usage.input, turn.usage.output)) == usage
    if error is not None:
        assert turn.error is not None
        assert error in turn.error.message
