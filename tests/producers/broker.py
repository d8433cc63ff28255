"""One agent and one suite: whichever framework serves the agent, the suite comes to the same verdicts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import uuid4

from pydantic import BaseModel, Field

from tests.program import Outcome
from tests.samples import plain

USAGE = 3, 5
"""Tokens in and out of each call of the model, where its framework has it say so."""


class Asked(BaseModel):
    """What golden posts where no dialect is named."""

    message: str
    session_id: str = Field(default_factory=lambda: uuid4().hex)


class Call(NamedTuple):
    """A call of a tool, its arguments as a model streams them: in pieces of JSON."""

    id: str
    name: str
    args: tuple[str, ...]


def get_quote(symbol: str) -> dict[str, object]:
    """What a share is at."""
    return {"symbol": symbol, "price": 12.5}


def reply(told: Sequence[tuple[str, str]]) -> Iterator[str | Call]:
    """What the agent's model says next: text in pieces, or a call.

    Args:
        told: the conversation so far as (role, text), the roles being `user`, `assistant` and `tool`.

    Raises:
        RuntimeError: it is asked to.
    """
    role, text = told[-1]
    if role == "tool":
        yield from ("ÅBC is at ", "$12.50 🙂")
    elif text == "What is ÅBC at?":
        yield Call("call-1", "get_quote", ('{"symbol": "', "ÅBC", '"}'))
    elif text == "And before?":
        yield "Before: "
        yield "; ".join(f"{role}: {text}" for role, text in told[:-1] if role != "tool" and text)
    elif text == "Break.":
        yield "All is "
        raise RuntimeError("the exchange is closed")
    else:
        yield from ("Hello! ", "Ask me for a quote.")


ASKED: dict[str, object] = {
    "question": "What is ÅBC at?",
    "expect": {"tool": "get_quote", "params": {"symbol": "ÅBC"}, "strict": True},
    "max_tool_calls": 1,
    "required_phrases": ["$12.50"],
    "forbidden_phrases": ["order placed"],
}

CASES: list[dict[str, object]] = [
    {"id": "tool", **ASKED},
    {"id": "plain", "question": "Hello!", "expect_no_tool_call": True, "required_phrases": ["ask me"]},
    {
        "id": "talk",
        "turns": [
            ASKED,
            {"question": "And before?", "expect_no_tool_call": True, "required_phrases": ["user: what is"]},
        ],
    },
    {"id": "broken", "question": "Break.", "forbidden_phrases": ["order placed"]},
    {"id": "wrong", "question": "What is ÅBC at?", "forbidden_tools": ["get_quote"], "required_phrases": ["$99"]},
]

_QUOTE = "ÅBC is at $12.50 🙂"


def agrees(ran: Outcome, dialect: str, *, tells_usage: bool = False) -> None:
    """Asserts that the suite came to what it must: the verdicts, and what they rest on.

    Args:
        ran: the run of it.
        dialect: the one that the streams were to be read in.
        tells_usage: whether the stream tells `USAGE`.
    """
    target = ran.run.run.target
    assert target is not None
    assert target.dialect == dialect
    tool, hello, talk, broken, wrong = ran.run.results
    assert ran.statuses == ["passed", "passed", "passed", "error", "failed"], ran.out
    assert ran.code == 1
    for turn in (tool.turns[0], talk.turns[0], wrong.turns[0]):
        calls = [(call.name, call.args, plain(call.result)) for call in turn.tool_calls]
        assert calls == [("get_quote", {"symbol": "ÅBC"}, get_quote("ÅBC"))]
        assert (turn.answer, turn.final_text, turn.finish) == (_QUOTE, _QUOTE, "finished")
        if tells_usage:  # of two calls of the model
            assert turn.usage is not None
            assert (turn.usage.input, turn.usage.output) == (2 * USAGE[0], 2 * USAGE[1])
    assert hello.turns[0].answer == "Hello! Ask me for a quote."
    assert talk.turns[1].answer == f"Before: user: What is ÅBC at?; assistant: {_QUOTE}"
    assert broken.error is not None
    assert "the exchange is closed" in broken.error.message
    assert broken.turns[0].answer == "All is "
    failed = {check.name for check in wrong.checks if check.ok is False}
    assert failed == {"forbidden_tools", "required_phrases"}
