"""Secrets removed from events, also where one is spread over several of them."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from golden.payload import dump, parse
from golden.redaction import Secrets
from golden.sse import Event, whole


class _Slot(NamedTuple):
    """A text inside the data of an event: where it stands, and the path to it."""

    at: int
    event: Event
    holder: Any
    key: Any
    path: tuple[Hashable, ...]


# Deltas of one text stand at one place of events of one name; of dialects that name none, at one place.
_GROUPS: tuple[Callable[[_Slot], Hashable], ...] = (lambda slot: (slot.event.name, slot.path), lambda slot: slot.path)


def covered(events: Sequence[Event], secrets: Secrets) -> tuple[Event, ...]:
    """Returns the events with every secret covered, as far as this can know; what nothing is wrong with is unchanged.

    What stands at the same place of several events is looked at as one text, as deltas are.
    """
    bodies = [[_body(event)] for event in events]
    slots = [
        slot
        for at, (event, body) in enumerate(zip(events, bodies, strict=True))
        for slot in _slots(at, event, body, 0, ())
    ]
    changed: set[int] = set()
    for group in _GROUPS:
        together: defaultdict[Hashable, list[_Slot]] = defaultdict(list)
        for slot in slots:
            together[group(slot)].append(slot)
        for row in together.values():
            changed |= _cover(row, secrets)
    return tuple(
        _event(event, body[0], at in changed, secrets)
        for at, (event, body) in enumerate(zip(events, bodies, strict=True))
    )


def _body(event: Event) -> object:
    """The data of an event as JSON, or else as the text it is."""
    if event.data is None:
        return None
    value, _ = parse(event.data)
    return value if isinstance(value, (dict, list, str)) else _Bare(event.data)


class _Bare(str):
    """Data that is no JSON."""

    __slots__ = ()


def _slots(at: int, event: Event, holder: Any, key: Any, path: tuple[Hashable, ...]) -> Iterator[_Slot]:
    value = holder[key]
    if isinstance(value, str):
        yield _Slot(at, event, holder, key, path)
    elif isinstance(value, (dict, list)):
        for inner in value if isinstance(value, dict) else range(len(value)):
            yield from _slots(at, event, value, inner, (*path, inner))


def _cover(row: Sequence[_Slot], secrets: Secrets) -> set[int]:
    joined = "".join(slot.holder[slot.key] for slot in row)
    hidden = secrets.cover(joined)
    changed = set()
    start = 0
    for slot in row if hidden != joined else ():
        text = slot.holder[slot.key]
        part = hidden[start : start + len(text)]
        start += len(text)
        if part != text:
            slot.holder[slot.key] = type(text)(part)
            changed.add(slot.at)
    return changed


def _event(event: Event, body: object, is_changed: bool, secrets: Secrets) -> Event:
    name, id = secrets.cover(event.name), secrets.cover(event.id)
    data, raw = event.data, event.raw
    if not isinstance(body, _Bare) and (is_changed or secrets.cover_value(body) != body):
        data, raw = dump(secrets.cover_value(body)), None
    elif is_changed:
        data, raw = str(body), None
    if raw is not None:
        # Half of a surrogate pair stands for each byte that is not UTF-8: no secret holds one.
        hidden = secrets.cover(raw.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        data, raw = (data, raw) if hidden == raw else (hidden.decode(errors="replace"), hidden)
    elif data is not None:
        data = secrets.cover(whole(data))
    return Event(name, data, id, event.at, raw)
