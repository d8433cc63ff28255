"""A YAML suite's bytes → the object that stands in them, and where in the file each of its values stands.

YAML 1.2, core schema. The library tells what it meets, event by event, and only that: values are made here, so that
depth and aliases are bounded first and no tag constructs anything.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import TagToken

from golden.document import DEPTH, TOO_DEEP, Place, Position, decoded, flaws, position, shown
from golden.errors import Fault, SuiteError
from golden.wildcards import EvalAny, EvalRegex

_Item = tuple[Position, Any]  # an event of the library, and where it counts as standing

_UNFOLDED = 100_000  # the most values that all aliases of a file may stand for
_ANY, _REGEX = "!EvalAny", "!EvalRegex"
_SUITE = "a suite is an object that holds `cases`"
_SYNTAX = "indent with spaces, not tabs; text that holds `: ` or ` #`, or begins with a mark, goes in quotes"

# What YAML lets stand, without the three that YAML 1.1 and the library take for line ends.
_UNPRINTABLE = re.compile(r"[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")  # as JSON escapes one character

# The core schema (YAML 1.2.2, 10.3.2). A plain scalar that is none of these is a string.
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def _whole(text: str, base: int) -> int:
    value = int(text, base)
    str(value)  # hexadecimal has no bound, but no message could show it
    return value


_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], float]], ...] = (
    (re.compile(r"[-+]?[0-9]+"), partial(_whole, base=10)),
    (re.compile(r"0o[0-7]+"), partial(_whole, base=8)),
    (re.compile(r"0x[0-9a-fA-F]+"), partial(_whole, base=16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), lambda text: float(text.replace(".", ""))),
)


def parsed(path: str, data: bytes) -> tuple[dict[str, Any], list[tuple[Place, str]], dict[Place, Position]]:
    """Reads a file's bytes as a YAML mapping.

    Returns:
        (document, flaws, positions): the document holds what JSON can say, and `EvalAny` and `EvalRegex`; its flaws are
        as in JSON; positions tells where a value stands: its key in a mapping, itself in a list.

    Raises:
        SuiteError: it is none, or holds what a suite may not: with all faults up to where it cannot be read on.
    """
    reader = _Reader(path, decoded(path, data))
    return reader.document(), reader.flaws, reader.positions


class _Scanner(Scanner):
    """Ends a tag where YAML 1.2 does (6.9.1): also before the marks of flow collections."""

    def scan_tag(self) -> Any:
        length = 1
        while (end := self.reader.peek(length)) not in "\0 \r\n,[]{}<":
            length += 1
        if length == 1 or end not in ",[]{}":
            return super().scan_tag()
        start = self.reader.get_mark()
        handle, _, suffix = self.reader.prefix(length).rpartition("!")
        self.reader.forward(length)
        return TagToken((f"{handle}!", suffix), start, self.reader.get_mark())


class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self.flaws: list[tuple[Place, str]] = []
        self.positions: dict[Place, Position] = {}
        self._path = path
        self._faults: dict[tuple[Position, str, str], None] = {}  # each once, however many aliases lead to it
        self._here: Position = (1, 1)  # what was read last
        self._items = self._unfolded(self._events(text))

    def document(self) -> dict[str, Any]:
        next(self._items)  # the stream begins
        at, event = next(self._items)
        if isinstance(event, events.StreamEndEvent):
            self._stop(at, "empty", _SUITE)
        if event.version not in (None, (1, 2)):
            self._stop(at, "expected YAML 1.2, got {}.{}".format(*event.version), "leave the `%YAML` line out")
        at, event = next(self._items)
        self.positions[()] = at
        root = self._value(at, event, ())
        if not isinstance(root, dict):
            self._stop(at, f"expected an object, got {shown(root)}", _SUITE)
        next(self._items)  # the document ends
        at, event = next(self._items)
        if not isinstance(event, events.StreamEndEvent):
            self._stop(at, "a second document begins", "a suite is one document: give each a file")
        if self._faults:
            self._refuse()
        return root

    def _value(self, at: Position, event: Any, place: Place) -> object:
        if len(place) > DEPTH:
            self._stop(at, TOO_DEEP)
        value: object
        if isinstance(event, events.SequenceStartEvent):
            value = self._list(place)
        elif isinstance(event, events.MappingStartEvent):
            value = self._object(place)
        else:
            value = self._scalar(at, event)
            self.flaws += flaws(value, place, {})
        return value if event.tag is None else self._tagged(at, event, value)

    def _list(self, place: Place) -> list[object]:
        values: list[object] = []
        while not isinstance((item := next(self._items))[1], events.CollectionEndEvent):
            inner = (*place, len(values))
            self.positions[inner] = item[0]
            values.append(self._value(*item, inner))
        return values

    def _object(self, place: Place) -> dict[str, object]:
        values: dict[str, object] = {}
        while not isinstance((item := next(self._items))[1], events.CollectionEndEvent):
            key = self._key(*item, place)
            inner = (*place, key)
            if key in values:
                self.flaws.append((inner, "the key comes twice"))
            self.positions[inner] = item[0]
            values[key] = self._value(*next(self._items), inner)
            self.flaws += flaws(key, inner, {})
        return values

    def _key(self, at: Position, event: Any, place: Place) -> str:
        if isinstance(event, events.ScalarEvent) and event.tag is None:
            key = self._scalar(at, event)
            if key == "<<" and event.style is None:
                self._add(at, "merge keys are refused", "write the fields out, or use `defaults`")
        else:
            inner = (*place, str(at))  # no such place is in the document, which is refused
            self.positions[inner] = at
            key = self._value(at, event, inner)
        if isinstance(key, str):
            return key
        self._add(at, f"expected text as a key, got {shown(key)}", "put it in quotes")
        return shown(key)

    def _scalar(self, at: Position, event: Any) -> object:
        text: str = event.value
        if event.style == '"':
            return _SURROGATES.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        if event.style is not None or event.tag is not None:
            return text
        if text in _WORDS:
            return _WORDS[text]
        for pattern, number in _NUMBERS:
            if pattern.fullmatch(text):
                try:
                    return number(text)
                except ValueError:
                    self._add(at, "a number has more digits than can be read")
                    break
        return text

    def _tagged(self, at: Position, event: Any, value: object) -> object:
        if event.tag == _ANY:
            if value == "":
                return EvalAny
            self._add(at, f"`{_ANY}` takes nothing, not {shown(value)}", "write the tag alone")
        elif event.tag == _REGEX:
            if isinstance(value, str) and (value or event.style is not None):
                return EvalRegex(value)
            came = "nothing" if value == "" else shown(value)
            self._add(at, f"`{_REGEX}` takes a pattern, which is a string, not {came}", f'as in `{_REGEX} "^chart:"`')
        else:
            name = shown(event.tag.replace("tag:yaml.org,2002:", "!!"))
            self._add(at, f"the tag {name} is refused", f'the tags of a suite are `{_ANY}` and `{_REGEX} "pattern"`')
        return value

    def _unfolded(self, stream: Iterator[Any]) -> Iterator[_Item]:
        """The events, with what an alias stands for in its place."""
        log: list[_Item] = []  # what stands in anchors
        spans: dict[str, list[int]] = {}  # for each anchor, where in the log it begins, and ends once it has
        nest: list[list[int]] = []  # for each node that is open, its span; empty where it has no anchor
        unfolded = 0
        for event in stream:
            self._here = at = (event.start_mark.line + 1, event.start_mark.column + 1)
            items = [(at, event)]
            if isinstance(event, events.AliasEvent):
                span = spans.get(event.anchor, [])
                if len(span) == 2:
                    unfolded += span[1] - span[0]
                    if unfolded > _UNFOLDED:
                        self._stop(at, f"aliases stand for more than {_UNFOLDED:,} values", "write the values out")
                    (_, first), *others = log[slice(*span)]
                    items = [(at, first), *others]
                else:
                    problem = "stands inside its own anchor" if span else "has no anchor before it"
                    self._add(at, f"the alias {shown(event.anchor)} {problem}")
                    items = [(at, events.ScalarEvent(None, None, None, ""))]
            elif isinstance(event, events.NodeEvent):
                nest.append([len(log)] if event.anchor else [])
                if event.anchor:
                    spans[event.anchor] = nest[-1]
            if any(nest):
                log += items
            if isinstance(event, events.ScalarEvent | events.CollectionEndEvent) and (span := nest.pop()):
                span.append(len(log))
            yield from items

    def _events(self, text: str) -> Iterator[Any]:
        if wrong := _UNPRINTABLE.search(text):
            at, code = position(text, wrong.start()), f"{ord(wrong[0]):04X}"
            self._stop(at, f"U+{code} cannot stand in YAML as it is", f'in double quotes it is written "\\u{code}"')
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner = _Scanner
        try:
            yield from yaml.parse(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            told = ": ".join(part for part in (error.context, error.problem) if part)
            told = re.sub(r"\(('[^']+'),\)", r"\1", told)  # the library shows some names as tuples
            self._stop((mark.line + 1, mark.column + 1), f"no YAML: {told}", _SYNTAX)
        except AssertionError:  # what the library says to a version that it does not know
            self._stop(self._here, "expected YAML 1.2", "leave the `%YAML` line out")
        except (ValueError, OverflowError):  # as it makes the character of an escape
            self._stop(self._here, "no YAML: an escape that follows here names no character")

    def _add(self, at: Position, problem: str, remedy: str = "") -> None:
        self._faults[at, problem, remedy] = None

    def _stop(self, at: Position, problem: str, remedy: str = "") -> NoReturn:
        self._add(at, problem, remedy)
        self._refuse()

    def _refuse(self) -> NoReturn:
        for place, problem in self.flaws:
            self._add(self.positions[place], problem)
        raise SuiteError([Fault(f"{self._path}:{at[0]}:{at[1]}", *told) for at, *told in sorted(self._faults)])
