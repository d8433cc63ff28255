"""A suite file's bytes → the object that stands in them, with all that is wrong with it as JSON."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from golden.errors import Fault, SuiteError
from golden.wildcards import json_of

Place = tuple[str | int, ...]
"""The keys and indices that lead to a value."""

Position = tuple[int, int]
"""A line and a column, from 1."""

DEPTH = 100
"""How deep values may nest: far below what the recursion of Python and pydantic bears."""

_SHOWN = 60  # the most characters that a message shows of a value

TOO_DEEP = f"nested more than {DEPTH} deep"
"""The flaw of a document that is looked at no further."""

# Far more than people write.
_LARGEST = 32 * 1024**2
_PIECE = 64 * 1024


def read_bytes(path: str, follow_links: bool) -> bytes:
    """Reads a file.

    Raises:
        SuiteError: it cannot be read, or is far too large; or it is a link and none is to be followed.
    """
    try:
        if not follow_links and Path(path).is_symlink():
            raise fault(path, "a symbolic link", "suites that are links are not followed here: name the file itself")
        with Path(path).open("rb") as file:
            # In pieces, and so many: a device has no end.
            data = b"".join(islice(iter(partial(file.read, _PIECE), b""), _LARGEST // _PIECE + 1))
    except FileNotFoundError:
        raise fault(path, "no such file", "a relative path is taken from the current folder") from None
    except IsADirectoryError:
        raise fault(path, "a folder", "name the suite files in it") from None
    except (OSError, ValueError) as error:
        raise fault(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _LARGEST:
        raise fault(path, f"larger than {_LARGEST // 1024**2} MiB", "is it a suite? else split it")
    return data


def fault(place: str, problem: str, remedy: str = "") -> SuiteError:
    """Returns the error of one fault."""
    return SuiteError([Fault(place, problem, remedy)])


def decoded(path: str, data: bytes) -> str:
    """Returns a file's bytes as text, without a byte-order mark.

    Raises:
        SuiteError: they are not UTF-8.
    """
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        line, column = position(before, len(before))
        raise fault(f"{path}:{line}:{column}", f"not UTF-8: {error.reason}", "save the file as UTF-8") from None


def position(text: str, index: int) -> Position:
    """Returns where in a text a character stands."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def parsed(path: str, data: bytes) -> tuple[dict[str, Any], list[tuple[Place, str]]]:
    """Reads a file's bytes as a JSON object.

    Returns:
        (document, flaws): what is wrong with it as JSON, each with its place in the document.

    Raises:
        SuiteError: it is no JSON object.
    """
    repeated: list[tuple[object, list[str]]] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.append((value, [key for key, count in counts.items() if count > 1]))
        return value

    text = decoded(path, data)
    try:
        document = json.loads(text, object_pairs_hook=made) if text.strip() else None
    except json.JSONDecodeError as error:
        problem = f"no JSON: {error.msg[0].lower()}{error.msg[1:]}"
        remedy = "JSON has double quotes only, no comments, and no comma after the last item"
        raise fault(f"{path}:{error.lineno}:{error.colno}", problem, remedy) from None
    except RecursionError:
        raise fault(path, TOO_DEEP) from None
    except ValueError:
        raise fault(path, "a number has more digits than can be read") from None
    if not isinstance(document, dict):
        problem = f"expected an object, got {shown(document)}" if text.strip() else "empty"
        raise fault(path, problem, 'a suite is an object: {"cases": [...]}')
    return document, list(flaws(document, (), {id(value): keys for value, keys in repeated}))


def flaws(value: object, path: Place, repeated: Mapping[int, list[str]]) -> Iterator[tuple[Place, str]]:
    """What `json` lets pass: keys that come twice, numbers that are none, halves of surrogate pairs, any depth.

    Args:
        value: the value.
        path: where it stands; the places of its flaws begin with it.
        repeated: the keys that come twice in an object, by the object's `id()`.
    """
    if len(path) > DEPTH:
        yield path[:3], TOO_DEEP
    elif isinstance(value, dict):
        for key in repeated.get(id(value), ()):
            yield (*path, key), "the key comes twice"
        for key, item in value.items():
            yield from flaws(key, (*path, key), repeated)
            yield from flaws(item, (*path, key), repeated)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from flaws(item, (*path, index), repeated)
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, f"expected a finite number, got {shown(value)}"
    elif isinstance(value, str) and not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        yield path, f"half of a surrogate pair stands alone in {shown(value)}"


def shown(value: object) -> str:
    """A value as JSON writes it, wildcards too: short, and without characters that a terminal would obey."""
    text = json.dumps(value, ensure_ascii=False, default=json_of)
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
