"""Dialects that are declared: a table of rules, JMESPath over each event's JSON (contract 6)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import jmespath
from jmespath import functions
from jmespath.exceptions import JMESPathError
from pydantic import AfterValidator, Field, JsonValue, model_validator

from golden.dialects import EVENT_STREAM, LINES, PLAIN, Dialect, Options
from golden.fields import NO_MESSAGE
from golden.part import Part, wrong
from golden.payload import parse
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Marker,
    Message,
    Odd,
    Reasoning,
    Result,
    Score,
    Session,
    Signal,
    Text,
    Tokens,
)
from golden.sse import Event
from golden.template import filled, given
from golden.visible import glimpse
from golden.wire import Head, Post, Request


class _Functions(functions.Functions):
    """What JMESPath has, and what protocols need that put JSON into text, or names into keys."""

    @functions.signature({"types": ["string"]})
    def _func_parse_json(self, text: str) -> object:
        return parse(text)[0]

    @functions.signature({"types": ["object"]})
    def _func_items(self, value: dict[str, object]) -> list[list[object]]:
        return [[key, item] for key, item in value.items()]


_OPTIONS = jmespath.Options(custom_functions=_Functions())


def _path(value: str) -> str:
    try:
        jmespath.compile(value)
    except JMESPathError as error:
        raise wrong(f"no JMESPath: {' '.join(str(error).split())}") from None
    return value


_Path = Annotated[str, Field(min_length=1), AfterValidator(_path)]


class Match(Part):
    """Which events are meant: of this name, and those of whose JSON this is true."""

    event: str | None = Field(default=None, description="The event's name; `message` is one that has none.")
    when: _Path | None = Field(default=None, description="JMESPath: what must be true of the event's JSON.")


class Rule(Match):
    """What an event means: each other field is a JMESPath to where the value stands."""

    each: _Path | None = Field(
        default=None, description="To a list: the rule is read for each `item` of it, beside the whole `event`."
    )
    text: _Path | None = None
    message: _Path | None = None
    reasoning: _Path | None = None
    tool: _Path | None = None
    args: _Path | None = None
    args_delta: _Path | None = None
    key: _Path | None = None
    id: _Path | None = None
    done: _Path | Literal[True] | None = None
    result: _Path | None = None
    groundedness: _Path | None = None
    input_tokens: _Path | None = None
    output_tokens: _Path | None = None
    error: _Path | None = None
    waiting: _Path | Literal[True] | None = None
    length: _Path | Literal[True] | None = None
    stop: _Path | Literal[True] | None = None
    end: _Path | Literal[True] | None = None

    @model_validator(mode="after")
    def _means(self) -> Self:
        if not self.model_fields_set - {*Match.model_fields, "each", "key", "id"}:
            raise wrong("the rule says nothing", "say where something stands: `text`, `tool`, `result`, `end`, …")
        return self


class Table(Part):
    """A declared dialect."""

    path: str = Field(default="/", description="Where questions are posted.")
    body: dict[str, JsonValue] | None = Field(default=None, description="The JSON that is posted.")
    form: dict[str, str] | None = Field(default=None, description="The form that is posted instead.")
    headers: dict[str, str] = Field(default={}, description="Sent with each question.")
    framing: Literal["sse", "lines"] = Field(default="sse", description="How events are told apart.")
    session: _Path | None = Field(
        default=None, description="Where a reply gives the conversation's id: no other is sent with the first question."
    )
    close: Annotated[str, Field(pattern=r"^[A-Z]+ /")] | None = Field(
        default=None, description="METHOD PATH: the call after the last turn."
    )
    groundedness: _Path | None = Field(default=None, description="Where any event may give a score.")
    detect: list[Match] = Field(default=[], description="Events that show this dialect.")
    rules: list[Rule] = Field(min_length=1, description="What events mean; each that matches applies.")

    @model_validator(mode="after")
    def _posts(self) -> Self:
        if self.body is not None and self.form is not None:
            raise wrong("`body` and `form` exclude each other", "keep one of them")
        return self


def declared(table: Table) -> Dialect:
    """Makes a dialect of a table."""
    rules = [_Rule(rule, table) for rule in table.rules]
    find_session = None if table.session is None else jmespath.compile(table.session)
    claim = [(_matcher(match), match) for match in table.detect]

    def read(event: Event) -> Sequence[Signal]:
        value, odd = _value(event)
        signals = [*odd, *(signal for rule in rules for signal in rule.signals(event, value))]
        if find_session is not None and isinstance(found := _search(find_session, value), str | int) and found != "":
            signals.append(Session(str(found)))
        # What the end marker's own event says besides belongs to the turn.
        return sorted(signals, key=lambda signal: isinstance(signal, End))

    def claims(head: Head, event: Event) -> str | None:
        value, _ = _value(event)
        for matches, match in claim:
            if matches(event, value):
                return " ".join(filter(None, (match.event and f"an event named `{match.event}`", match.when)))
        return None

    def request(request: Request, options: Options) -> Post:
        named = given(request, options.id)
        if table.session is not None and not request.history:
            named["session_id"] = None
        path = str(filled(table.path, named))
        if table.form is not None:
            return Post(path, filled(table.form, named), table.headers, form=True)
        body: object = {"message": "$question", "session_id": "$session_id"} if table.body is None else table.body
        return Post(path, filled(body, named), table.headers)

    def closes(request: Request, options: Options) -> Post:
        method, _, path = (table.close or "").partition(" ")
        return Post(str(filled(path, given(request, options.id))), {}, table.headers, method=method)

    accepts = (*LINES, PLAIN) if table.framing == "lines" else (EVENT_STREAM,)
    return Dialect(
        claims=claims,
        request=request,
        read=read,
        framings=(table.framing,),
        accepts=accepts,
        closes=closes if table.close else None,
        marker=_marker(table.rules),
        mints=True,
    )


def _marker(rules: Sequence[Rule]) -> Marker:
    if any(rule.end for rule in rules):
        return "end"
    return "finish" if any(rule.stop for rule in rules) else "none"


def search_path(path: str) -> Callable[[Event], object]:
    """Returns what finds the value at a path in an event's JSON, None where there is none.

    Raises:
        PydanticCustomError: it is no path.
    """
    found = jmespath.compile(_path(path))
    return lambda event: _search(found, _value(event)[0])


class _Rule:
    """A rule, compiled."""

    def __init__(self, rule: Rule, table: Table) -> None:
        self._matches = _matcher(rule)
        self._each = None if rule.each is None else jmespath.compile(rule.each)
        self._paths = {
            name: jmespath.compile(path)
            for name in Rule.model_fields.keys() - {*Match.model_fields, "each"}
            if isinstance(path := getattr(rule, name), str)
        }
        self._always = dict.fromkeys((name for name in Rule.model_fields if getattr(rule, name) is True), True)
        # An event that is named for nothing but failures is one, whether it says why or not.
        named = rule.model_fields_set == {"event", "error"} and rule.event != "message"
        self._fails = named and all(other is rule or other.event not in (None, rule.event) for other in table.rules)
        # A call whose arguments come in other events is only begun by the one that names it.
        self._begins = any(other.args_delta or (other.args and not other.tool) for other in table.rules)

    def signals(self, event: Event, value: object) -> Iterator[Signal]:
        """Gives what an event means by this rule."""
        if not self._matches(event, value):
            return
        if self._each is None:
            yield from self._of(value)
        elif isinstance(items := _search(self._each, value), list):
            for item in items:
                yield from self._of({"item": item, "event": value})

    def _of(self, value: object) -> Iterator[Signal]:
        found: dict[str, Any] = {
            name: item for name, path in self._paths.items() if (item := _search(path, value)) is not None
        }
        found |= self._always
        if self._fails and not found.get("error"):
            found["error"] = NO_MESSAGE
        for name, make in _SIGNALS:
            if name in found and (signal := make(found[name])) is not None:
                yield signal
        yield from self._call(found)
        counts = [_count(found.get(name)) for name in ("input_tokens", "output_tokens")]
        if counts != [None, None]:
            yield Tokens(counts[0], counts[1])
        if found.get("done"):
            yield CallDone()

    def _call(self, found: Mapping[str, Any]) -> Iterator[Signal]:
        key, id, name = (str(found.get(field, "")) for field in ("key", "id", "tool"))
        if "result" in found:
            if name and "args" in self._paths:
                yield CallDone(id=id, name=name, args=found.get("args", {}))
            yield Result(found["result"], id, name)
        elif isinstance(delta := found.get("args_delta"), str):
            yield CallPart(delta, key, id, name)
        elif "args" in found and (name or id or key):
            yield CallDone(key, id, name, found["args"])
        elif name:
            begins = self._begins and "args" not in self._paths
            yield CallPart("", key, id, name) if begins else CallDone(key, id, name, {})


def _text(kind: Callable[[str], Signal]) -> Callable[[Any], Signal | None]:
    def make(item: Any) -> Signal | None:
        if isinstance(item, str):
            return kind(item)
        return Odd("malformed", f"where text should stand is {glimpse(item, 60)}")

    return make


# In the order in which an event's signals are told.
_SIGNALS: tuple[tuple[str, Callable[[Any], Signal | None]], ...] = (
    ("reasoning", lambda item: Reasoning()),
    ("text", _text(Text)),
    ("message", _text(Message)),
    ("groundedness", Score),
    # `{}` is what JavaScript makes of an exception in JSON.
    ("error", lambda item: Error(item if isinstance(item, str) else str(item)) if item or item == {} else None),
    ("stop", lambda item: Finish("stop") if item else None),
    ("length", lambda item: Finish("length") if item else None),
    ("waiting", lambda item: Finish("waiting") if item else None),
    ("end", lambda item: End() if item else None),
)


def _count(item: object) -> int | None:
    return item if type(item) is int and 0 <= item < 2**53 else None


def _matcher(match: Match) -> Callable[[Event, object], bool]:
    when = None if match.when is None else jmespath.compile(match.when)

    def matches(event: Event, value: object) -> bool:
        if match.event is not None and match.event != (event.name or "message"):
            return False
        return when is None or bool(_search(when, value))

    return matches


def _search(path: Any, value: object) -> Any:
    try:
        return path.search(value, _OPTIONS)
    except (JMESPathError, RecursionError, ValueError, TypeError, OverflowError):
        return None  # a function of JMESPath that does not take such a value: it stands nowhere


def _value(event: Event) -> tuple[object, list[Signal]]:
    """The event's JSON; data that is none is the text itself."""
    if event.data is None:
        return None, []
    value, fault = parse(event.data)
    return (event.data, []) if fault and value is None else (value, [])
