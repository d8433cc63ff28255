"""Events that no agent should send: any JSON of a dialect's own field names, any text, and none."""

import json
from collections.abc import Sequence

from hypothesis import strategies as st

from golden.gathering import Fold
from golden.lexicon import Lexicon
from golden.sse import Event
from golden.transcript import Turn
from golden.wire import Head

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)


def events(*fields: str, names: Sequence[str] = ("", "error", "done", "x")) -> st.SearchStrategy[list[Event]]:
    """Streams whose JSON has these fields, and these texts as values, wherever it likes."""
    value = st.recursive(
        _LEAVES | st.sampled_from([0, *fields]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(fields), inner, max_size=4),
        max_leaves=16,
    )
    data = st.builds(json.dumps, value) | st.text() | st.none()
    return st.lists(st.builds(Event, st.sampled_from(names), data), max_size=4)


def survived(dialect: str, stream: list[Event]) -> Turn:
    """The turn of a stream that is claimed and read event by event."""
    known = Lexicon().dialect(dialect)
    fold = Fold("why?")
    for event in stream:
        known.claims(Head(200, {}, "chunked"), event)
        fold.add(event, known.read(event))
    return fold.close(1.0, proven=True, pending=False, marker=known.marker)
