"""What many JSON values have at one path, kept so that a question is asked of all of them at once.

A set of values is a number: bit `n` stands for the value at place `n`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sized
from functools import cached_property


def bits(places: Iterable[int]) -> int:
    """Returns a set of places as a number."""
    number = 0
    for place in places:
        number |= 1 << place
    return number


def lowest(places: int) -> int:
    """Returns the lowest place of a set that has one."""
    return (places & -places).bit_length() - 1


def places_of(number: int) -> tuple[int, ...]:
    """Returns the places of a set, in their order."""
    found = []
    while number:
        found.append(lowest(number))
        number &= number - 1
    return tuple(found)


class Column:
    """The values at one path, by their places; a value that has nothing there is missing.

    Attributes:
        present: the places that have something.
        objects: the places that have an object.
        strings: each string, and the places that have it.
        texts: the places that have a string.
    """

    def __init__(self, values: Mapping[int, object]) -> None:
        self._parts: dict[str | int, Column] = {}
        self._objects: dict[int, dict[str, object]] = {}
        self._lists: dict[int, list[object]] = {}
        self._lengths: defaultdict[int, int] = defaultdict(int)
        self._scalars: defaultdict[object, int] = defaultdict(int)
        for place, value in values.items():
            if isinstance(value, dict):
                self._objects[place] = value
            elif isinstance(value, list):
                self._lists[place] = value
                self._lengths[len(value)] |= 1 << place
            else:
                self._scalars[_key(value)] |= 1 << place
        self.present = bits(values)
        self.objects = bits(self._objects)
        self.strings = {key: places for key, places in self._scalars.items() if isinstance(key, str)}
        self.texts = bits(place for place, value in values.items() if isinstance(value, str))

    def at(self, part: str | int) -> "Column":
        """Returns the column of a key of the objects, or of an index of the lists."""
        if part not in self._parts:
            if isinstance(part, int):
                values = {place: own[part] for place, own in self._lists.items() if part < len(own)}
            else:
                values = {place: own[part] for place, own in self._objects.items() if part in own}
            self._parts[part] = Column(values)
        return self._parts[part]

    def equal(self, scalar: object) -> int:
        """Returns the places of this string, number, boolean or null; numbers count by value, and NaN is itself."""
        return self._scalars.get(_key(scalar), 0)

    def as_long(self, items: Sized) -> int:
        """Returns the places that have a list of as many items."""
        return self._lengths.get(len(items), 0)

    def beyond(self, keys: Mapping[str, object]) -> int:
        """Returns the places that have an object with a key that is none of these."""
        found = 0
        for own, places in self._keys.items():
            if not own <= keys.keys():
                found |= places
        return found

    @cached_property
    def _keys(self) -> dict[frozenset[str], int]:
        keys: defaultdict[frozenset[str], int] = defaultdict(int)
        for place, own in self._objects.items():
            keys[frozenset(own)] |= 1 << place
        return keys


def _key(scalar: object) -> object:
    """What two scalars have in common that are the same: to Python `True` is 1, and NaN is not NaN."""
    return (type(scalar), str(scalar)) if isinstance(scalar, bool) or scalar != scalar else scalar
