"""A captured body → what a dialect makes of it, event by event: for people who are getting their rules right."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from golden.errors import TargetError
from golden.lexicon import Lexicon, Reading
from golden.payload import dump
from golden.reader import Bounds, Reader, decoder
from golden.redaction import Secrets
from golden.result import TurnResult
from golden.score import turn_result
from golden.signals import Signal
from golden.sse import Event
from golden.visible import excerpt, visible
from golden.wire import Head

_DATA = 100  # the most characters of an event's data that the text shows


class Heard(NamedTuple):
    """What was made of a body.

    Attributes:
        dialect: the dialect's name, `auto` where none was told.
        reason: how it was told.
        events: each with what it means.
        turn: what they come to.
    """

    dialect: str
    reason: str
    events: list[tuple[Event, Sequence[Signal]]]
    turn: TurnResult


def heard(body: bytes, head: Head, dialect: str, lexicon: Lexicon) -> Heard:
    """Reads a body as a run does.

    Args:
        body: the bytes.
        head: of the reply that it was the body of.
        dialect: the dialect's name, or `auto`.
        lexicon: the dialects that there are.
    """
    reader = Reader("(a captured body)", dialect, Bounds(answer=len(body) + 1, event=len(body) + 1), lexicon)
    error: TargetError | None = None
    try:
        reader.open(head)
        reader.feed(body, 0.0)
    except TargetError as caught:
        error = caught
    turn = turn_result(reader.close(0.0, error), Secrets())
    read = None if reader.dialect == "auto" else lexicon.reading(reader.dialect)
    events = [(event, _signals(read, event)) for event in decoder(reader.framing).feed(body, 0.0)]
    return Heard(reader.dialect, reader.reason, events, turn)


def _signals(read: Reading | None, event: Event) -> Sequence[Signal]:
    try:
        return read(event) if read else ()
    except TargetError:  # of a dialect that is at fault: the turn's error says so
        return ()


def as_json(heard: Heard) -> str:
    """Writes it as one JSON object."""
    return dump(
        {
            "dialect": heard.dialect,
            "reason": heard.reason,
            "events": [
                {
                    "event": event.name,
                    "data": event.data,
                    "id": event.id,
                    "signals": [{"signal": _name(signal), **signal._asdict()} for signal in signals],
                }
                for event, signals in heard.events
            ],
            "turn": heard.turn.model_dump(mode="json", by_alias=True),
            "findings": [finding.model_dump(mode="json") for finding in heard.turn.findings],
        }
    )


def as_text(heard: Heard) -> Iterator[str]:
    """Writes it in lines: the events, then the turn."""
    turn = heard.turn
    yield f"dialect {heard.dialect} ({visible(heard.reason) or 'no event shows one'})"
    yield ""
    for event, signals in heard.events:
        data = "(no data)" if event.data is None else excerpt(event.data, _DATA)
        yield f"{visible(event.name) or '(unnamed)'}  {data}"
        for signal in signals:
            yield f"  → {_name(signal)} {excerpt(dump(signal._asdict()), _DATA)}"
    yield ""
    for call in turn.tool_calls:
        yield f"called {visible(call.name)}({excerpt(dump(call.args), _DATA)}) = {excerpt(dump(call.result), _DATA)}"
    yield f"answer: {visible(turn.answer) or '(empty)'}"
    if turn.groundedness is not None:
        yield f"groundedness: {turn.groundedness:g}"
    if turn.usage is not None:
        yield f"tokens: {turn.usage.input} in, {turn.usage.output} out"
    if turn.error is None:
        yield f"finish: {turn.finish}"
    else:
        yield "error: " + "\n  ".join(map(visible, turn.error.message.splitlines()))
    for finding in turn.findings:
        yield f"finding: {visible(finding.message)}"


def _name(signal: Signal) -> str:
    return type(signal).__name__.lower()
