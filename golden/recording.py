"""A recorded run of one case, as plain values: what was asked, what came and when, and what may be asked of it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from golden.payload import dump
from golden.transcript import Turn
from golden.wire import Reply

NOTHING = "(no text)"
"""The question of an exchange in which nothing was asked."""


class Called(NamedTuple):
    """A tool call in a message; `arguments` is text where they were no JSON."""

    id: str
    name: str
    arguments: object


class Ledger(NamedTuple):
    """What a message took, in tokens; None for a figure that the agent does not report."""

    input: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None
    output: int | None = None


class Message(NamedTuple):
    """One message of a conversation, a `turn` line of the file.

    Attributes:
        role: `user`, `assistant` or `toolResult`.
        content: texts and tool calls, in their order.
        ledger: what an assistant's message took.
        call_id: the call that a tool's result is of, "" where that is not known.
    """

    role: str
    content: tuple[str | Called, ...]
    ledger: Ledger | None = None
    call_id: str = ""

    @property
    def text(self) -> str:
        """Its texts, joined."""
        return "".join(item for item in self.content if isinstance(item, str))

    @property
    def calls(self) -> Iterator[Called]:
        """Its tool calls."""
        return (item for item in self.content if isinstance(item, Called))


class Heard(NamedTuple):
    """What came of one question: as it came, and as it was read."""

    reply: Reply
    turn: Turn


class Exchange(NamedTuple):
    """One question and what came of it; `reply` is None where a recording holds its messages alone."""

    messages: tuple[Message, ...]
    reply: Reply | None = None

    @property
    def question(self) -> str:
        """What was asked."""
        asked = "\n".join(each.text for each in self.messages if each.role == "user")
        return asked if asked.strip() else NOTHING

    @property
    def answer(self) -> tuple[Message, ...]:
        """The messages that came of it."""
        return tuple(each for each in self.messages if each.role != "user")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run of one case.

    Attributes:
        meta: what is known of the run, under the names of the file.
        exchanges: its questions with what came of each, in order.
        assertions: what may be asked of it where it stands alone; `assertions` judges them.
    """

    meta: Mapping[str, object]
    exchanges: tuple[Exchange, ...]
    assertions: tuple[Mapping[str, object], ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        return tuple(message for exchange in self.exchanges for message in exchange.messages)


def prompt_hash(system_prompt: str | None) -> str | None:
    """Returns how a recording names a system prompt, which may be no reader's business."""
    if system_prompt is None:
        return None
    return f"sha256:{hashlib.sha256(system_prompt.encode(errors='replace')).hexdigest()}"


def messages_of(turns: Sequence[Turn]) -> list[tuple[Message, ...]]:
    """Returns for each turn its messages: the question, the text before the calls with these, results, the rest.

    The ids of calls are counted, not the agent's: so a recording made anew differs where the run does.
    """
    told = []
    number = 0
    for turn in turns:
        calls = []
        results = []
        for call in turn.tool_calls:
            number += 1
            calls.append(Called(f"call_{number}", call.name, call.args))
            if call.result is not None:
                text = call.result if isinstance(call.result, str) else dump(call.result)
                results.append(Message("toolResult", _texts(text), call_id=f"call_{number}"))
        last = turn.final_text if calls else ""
        used = Ledger() if turn.usage is None else Ledger(input=turn.usage.input, output=turn.usage.output)
        first = Message("assistant", (*_texts(turn.answer.removesuffix(last)), *calls), Ledger() if last else used)
        rest = [Message("assistant", (last,), used)] if last else []
        told.append((Message("user", _texts(turn.question)), first, *results, *rest))
    return told


def _texts(text: str) -> tuple[str, ...]:
    return (text,) if text else ()
