"""Wildcards in the expected arguments of a tool call, and how JSON writes them (contract 3).

A value is what JSON can say, with `EvalAny` and `EvalRegex` among it. In a value a key that begins with `$` is data;
where it is written, `{"$literal": …}` stands around it.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

# Far more than people write, and far less than takes long.
_LARGEST = 100_000

_WORD = re.compile(r"[\w$-]+")

_JSON = (dict, list, str, int, float, bool, type(None))

_TAKES = {"$any": "true", "$regex": "a pattern, which is a string", "$literal": "any value"}
_KINDS: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}

Link: TypeAlias = tuple["Link | None", str | int]
"""A path into a value: the path to the place around (None is the value itself), and the last key or index."""

_Step: TypeAlias = Callable[[object, bool], tuple[object, bool]]


@final
class _Any:
    __slots__ = ()

    def __repr__(self) -> str:
        return "EvalAny"

    def __reduce__(self) -> str:  # a copy, and what comes out of a pickle, is this same one
        return "EvalAny"


EvalAny: Final = _Any()
"""Matches any value that is present, null included."""


@dataclass(frozen=True, slots=True)
class EvalRegex:
    """Matches a string in which the pattern is found."""

    pattern: str


class WildcardError(ValueError):
    """Wildcards that are written wrong, or that JSON has no words for; all of one value at once.

    Attributes:
        faults: for each, the keys and indices that lead to it, and what is wrong.
    """

    def __init__(self, faults: list[tuple[tuple[str | int, ...], str]]) -> None:
        super().__init__("; ".join(f"{path_text(('params', *keys))}: {problem}" for keys, problem in faults))
        self.faults = faults


def value_of(written: object, check: Callable[[str], object]) -> object:
    """Reads a value as a suite writes it: `{"$any": true}` and the like become what they stand for.

    `EvalAny` and `EvalRegex` may stand in it already. What is given is not changed.

    Args:
        written: the value.
        check: called with each pattern; a `ValueError` that it raises says why the pattern cannot be used.

    Raises:
        WildcardError: a wildcard is malformed, a pattern cannot be used, or a key begins with `$` and is no wildcard.
    """

    def read(value: object, literal: bool) -> tuple[object, bool]:
        if not literal and (marks := _marks(value)):
            value, literal = _wildcard(value, marks[0])
        if literal and (value is EvalAny or isinstance(value, EvalRegex)):
            raise ValueError("a wildcard cannot stand in `$literal`")
        if isinstance(value, EvalRegex):
            check(_pattern(value.pattern))
        elif value is not EvalAny and not isinstance(value, _JSON):
            raise ValueError(f"JSON has no value like {value!r:.60}; `EvalRegex` holds a pattern")
        return value, literal

    return _rebuilt(written, read)


def _pattern(given: object) -> str:
    if isinstance(given, str):
        return given
    raise ValueError(f"a pattern is a string, not {type(given).__name__}")  # as all that is wrong with a value


def json_of(value: object) -> object:
    """Writes a value as JSON, so that `value_of` reads it back.

    Raises:
        WildcardError: a wildcard stands below a key that begins with `$`, where JSON has no words for it.
    """
    return _rebuilt(value, _written)


def path_keys(link: Link | None) -> tuple[str | int, ...]:
    """Returns the keys and indices of a path, from the outside in."""
    keys: list[str | int] = []
    while link is not None:
        link, key = link
        keys.append(key)
    return tuple(reversed(keys))


def path_text(keys: Iterable[str | int]) -> str:
    """Spells a path, as in `params.items[2].name`."""
    return "".join(map(_step_text, keys)).removeprefix(".")


def key_text(key: str) -> str:
    """Spells a key: as it is where it is a word, else in quotes."""
    return key if _WORD.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _step_text(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _WORD.fullmatch(key) else f"[{key_text(key)}]"


def _marks(value: object) -> list[str]:
    return [key for key in value if str(key).startswith("$")] if isinstance(value, dict) else []


def _wildcard(value: Any, mark: str) -> tuple[object, bool]:
    if mark not in _TAKES:
        known = ", ".join(f"`{name}`" for name in _TAKES)
        raise ValueError(f"`{mark}` is none of {known}; where it is data, put its object into `$literal`")
    if len(value) > 1:
        raise ValueError(f"`{mark}` stands alone in its object; where it is data, put the object into `$literal`")
    body = value[mark]
    if mark == "$literal":
        return body, True
    if mark == "$any" and body is True:
        return EvalAny, False
    if mark == "$regex" and isinstance(body, str):
        return EvalRegex(body), False
    came = _KINDS.get(type(body)) or json.dumps(body, default=repr)
    raise ValueError(f"`{mark}` takes {_TAKES[mark]}, not {came}")


def _written(value: object, literal: bool) -> tuple[object, bool]:
    written: object = None
    if value is EvalAny:
        written = {"$any": True}
    elif isinstance(value, EvalRegex):
        written = {"$regex": value.pattern}
    elif not literal and _marks(value):
        return {"$literal": value}, True
    if written is None:
        return value, literal
    if literal:
        raise ValueError("a wildcard cannot stand below a key that begins with `$`")
    return written, True


def _rebuilt(root: object, step: _Step) -> object:
    """A copy of a value of any depth, made of what `step` makes of each part, from the outside in.

    `step` takes a part and whether it is literal, and returns what stands in its place, and whether that is. A value
    inside itself, which Python can build and no file holds, has too many parts.
    """
    top: Any = [root]
    faults: list[tuple[tuple[str | int, ...], str]] = []
    todo: list[tuple[Any, Any, Link | None, bool]] = [(top, 0, None, False)]
    seen = 0
    while todo:
        into, key, link, literal = todo.pop()
        seen += 1
        if seen > _LARGEST:
            raise WildcardError([(path_keys(link), f"more than {_LARGEST:,} parts")])
        try:
            value, literal = step(into[key], literal)
        except ValueError as error:
            faults.append((path_keys(link), str(error)))
            continue
        parts: Iterable[str | int] = ()
        if isinstance(value, dict):
            value = dict(value)
            parts = value
        elif isinstance(value, list):
            value = list(value)
            parts = range(len(value))
        into[key] = value
        todo += reversed([(value, part, (link, part), literal) for part in parts])
    if faults:
        raise WildcardError(faults)
    return top[0]
