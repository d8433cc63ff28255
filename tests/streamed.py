"""Streams of one dialect, written for a test."""

import json
from collections.abc import Mapping

from hypothesis import strategies as st

from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.sse import Event
from golden.transcript import Turn
from golden.wire import Ends, Head

Body = dict[str, object]

# Any JSON, with what agents really put in it.
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


def hostile(*words: str) -> st.SearchStrategy[Event]:
    """Events that hold anything at all, most of it under the keys and values that a dialect knows."""
    known = st.sampled_from(words)
    values = st.recursive(
        _LEAVES | known,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(known | st.text(max_size=3), inner, max_size=4),
        max_leaves=12,
    )
    data = st.none() | st.text() | values.map(json.dumps) | st.just("[DONE]")
    return st.builds(Event, known | st.text(max_size=5), data)


def typed(*bodies: Mapping[str, object]) -> list[Event]:
    """Events whose data is these bodies, without names."""
    return [Event("", json.dumps(body)) for body in bodies]


def turn_of(dialect: str, *events: Event | Mapping[str, object], ends: Ends = "chunked") -> Turn:
    """What a stream of these events gives."""
    reader = Reader("question", dialect, Bounds(), Lexicon())
    reader.open(Head(200, {"content-type": "text/event-stream"}, ends))
    for event in (event if isinstance(event, Event) else typed(event)[0] for event in events):
        name = f"event: {event.name}\n" if event.name else ""
        data = "" if event.data is None else f"data: {event.data}\n"
        reader.feed(f"{name}{data}\n".encode(errors="surrogatepass"), 0.5)
    return reader.close(1.0)


def kinds(turn: Turn) -> list[str]:
    return [finding.kind for finding in turn.findings]


def calls(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, call.args) for call in turn.tool_calls]
