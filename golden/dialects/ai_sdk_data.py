"""The Vercel AI SDK's older data stream, version 4 and before: lines of a code, a colon and JSON."""

import re
from collections.abc import Callable, Iterator

from golden.dialects import EVENT_STREAM, PLAIN, Dialect, Options
from golden.fields import NO_MESSAGE, Body, grounded, ident, messages, objects, text, used
from golden.payload import parse
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Odd,
    Reasoning,
    Result,
    RunningTokens,
    Signal,
    Text,
    Tokens,
)
from golden.sse import Event
from golden.visible import glimpse
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`

_HEADER = "x-vercel-ai-data-stream"

# The frames of the protocol, each with the kind of JSON that it has.
_FRAME = re.compile(r'[03g]:"|[28]:\[|[9abcdefhijk]:\{')


def claims(head: Head, event: Event) -> str | None:
    """The header is a claim, and so is any frame of the protocol."""
    if _HEADER in head.headers:
        return f"the header `{_HEADER}`"
    line = event.data or ""
    if event.name or not _FRAME.match(line) or parse(line[2:])[1]:
        return None
    return f"a line that begins with `{line[:3]}`"


def request(request: Request, options: Options) -> Post:
    """As the SDK's own hook posts: the chat's id, and all messages so far."""
    model = {} if request.model is None else {"model": request.model}
    return Post("/api/chat", {"id": request.session_id, "messages": messages(request), **model})


def read(event: Event) -> Signals:
    data = event.data
    if data is None:
        return ()
    code, colon, rest = data.partition(":")
    if not colon or len(code) != 1:
        return (Odd("malformed", f"a line is no frame: {glimpse(data, 40)}"),)
    reader = _READERS.get(code)
    if reader is None and code != "0":
        return ()
    value, fault = parse(rest)
    if fault and value is None:
        return (Odd("not_json", f"a line of code `{code}` is not JSON: {fault}"),)
    if reader is None:
        return (_new(Text, (value, "")),) if isinstance(value, str) else (_malformed("0"),)
    signals = reader(value)
    return (*signals, Odd("not_json", f"a line of code `{code}` is not JSON: {fault}")) if fault else signals


def _of(code: str, read: Callable[[Body], Signals]) -> Callable[[object], Signals]:
    """A frame whose JSON is an object."""
    return lambda value: read(value) if isinstance(value, dict) else (_malformed(code),)


def _delta(body: Body) -> Signals:
    delta = body.get("argsTextDelta")
    return (CallPart(delta, "", _id(body)),) if isinstance(delta, str) else (_malformed("c"),)


def _call(body: Body) -> Signals:
    """All of the arguments, after their deltas or in their place."""
    args = body.get("args")
    return (CallDone("", _id(body), text(body.get("toolName")), {} if args is None else args),)


def _error(value: object) -> Signals:
    return (Error(value if isinstance(value, str) and value else NO_MESSAGE),)


def _data(value: object) -> Signals:
    """The application's own data, and annotations of the message: a list of whatever it likes."""
    if not isinstance(value, list):
        return (Odd("malformed", "a line of data is no list"),)
    return tuple(signal for item in objects(value) for signal in grounded(item))


def _step(body: Body) -> Signals:
    """A step's end says how the turn ends, too, where no other follows."""
    return (_finish(body), *_used(body, Tokens))


def _end(body: Body) -> Signals:
    """The turn's end: its usage is that of all steps."""
    return (_finish(body), *_used(body, RunningTokens), End())


def _finish(body: Body) -> Signal:
    return _FINISHES.get(text(body.get("finishReason")), Finish("stop"))


def _used(body: Body, kind: type[Tokens] | type[RunningTokens]) -> Iterator[Signal]:
    return used(body.get("usage"), "promptTokens", "completionTokens", kind=kind)


def _id(body: Body) -> str:
    return ident(body.get("toolCallId"))


def _malformed(code: str) -> Odd:
    return Odd("malformed", f"a line of code `{code}` does not hold what it should")


_FINISHES: dict[str, Signal] = {
    "length": Finish("length"),
    "tool-calls": Finish("tools"),
    "content-filter": Error("blocked: content-filter"),
    "error": Error("its finish reason is `error`"),
}

_READERS: dict[str, Callable[[object], Signals]] = {
    "2": _data,
    "3": _error,
    "8": _data,
    "9": _of("9", _call),
    "a": _of("a", lambda body: (Result(body.get("result"), _id(body)),)),
    "b": _of("b", lambda body: (CallPart("", "", _id(body), text(body.get("toolName"))),)),
    "c": _of("c", _delta),
    "d": _of("d", _end),
    "e": _of("e", _step),
    "g": lambda value: (Reasoning(),),
}

DIALECT: Dialect = Dialect(
    claims=claims, request=request, read=read, framings=("lines",), accepts=(PLAIN, EVENT_STREAM), marker="end"
)
