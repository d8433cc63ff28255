"""golden's own dialect: named events with small JSON objects (contract 6)."""

from collections.abc import Callable

from golden.dialects import Dialect, Options
from golden.fields import NO_MESSAGE, Body, not_json, used
from golden.payload import parse
from golden.signals import Call, End, Error, Message, Odd, Result, Score, Signal, Text, Tokens
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`


def claims(head: Head, event: Event) -> str | None:
    """Any of the native event names is a claim; an unnamed event is not a `message` of ours.

    An `error` is every dialect's: of ours it says a `message` and nothing more.
    """
    if event.name == "error" and event.data is not None:
        body, _ = parse(event.data)
        if isinstance(body, dict) and body.keys() - {"message"}:
            return None
    return f"an event named `{event.name}`" if event.name in _READERS else None


def request(request: Request, options: Options) -> Post:
    body: Body = {"message": request.question}
    if request.turns > 1:
        body["session_id"] = request.session_id
    if request.model is not None:
        body["model"] = request.model
    if request.system_prompt is not None:
        body["system_prompt"] = request.system_prompt
    return Post("/agent/chat", body)


def read(event: Event) -> Signals:
    name, data = event.name, event.data
    if name == "done" or data == "[DONE]":
        return (End(),)
    reader = _READERS.get(name)
    if reader is None:
        return ()
    if data is None:
        return tuple(unread("") for unread in _UNREAD.get(name, ()))
    value, fault = parse(data)
    if not isinstance(value, dict):
        odd = not_json(event, fault) if fault else _malformed(name, "is no object")
        return (*(unread(data) for unread in _UNREAD.get(name, ())), odd)
    signals = reader(value)
    return (*signals, not_json(event, fault)) if fault else signals


def _malformed(name: str, problem: str) -> Odd:
    return Odd("malformed", f"the data of `{name}` {problem}")


def _token(body: Body) -> Signals:
    text = body.get("text")
    return (_new(Text, (text, "")),) if isinstance(text, str) else (_malformed("token", "has no `text`"),)


def _message(body: Body) -> Signals:
    text = body.get("text")
    return (Message(text),) if isinstance(text, str) else (_malformed("message", "has no `text`"),)


def _tool_call(body: Body) -> Signals:
    args = next((body[key] for key in ("args", "arguments", "input") if body.get(key) is not None), {})
    return (Call(_name(body), args, _id(body)),)


def _tool_result(body: Body) -> Signals:
    return (Result(body.get("result"), _id(body), _name(body)),)


def _groundedness(body: Body) -> Signals:
    return (Score(body["score"]),) if "score" in body else (_malformed("groundedness", "has no `score`"),)


def _error(body: Body) -> Signals:
    message = body.get("message")
    return (Error(message if isinstance(message, str) and message else NO_MESSAGE),)


def _name(body: Body) -> str:
    return next((name for key in ("name", "tool") if isinstance(name := body.get(key), str)), "")


def _id(body: Body) -> str:
    value = body.get("id")
    return "" if value is None else str(value)


_READERS: dict[str, Callable[[Body], Signals]] = {
    "token": _token,
    "message": _message,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "groundedness": _groundedness,
    "usage": lambda body: tuple(used(body, "input", "output", kind=Tokens)),
    "error": _error,
    "done": lambda body: (End(),),
}

# What an event says whose data is not as it should be: an agent that fails may have no more to say, and a call that
# cannot be read is a call all the same.
_UNREAD: dict[str, tuple[Callable[[str], Signal], ...]] = {
    "error": (lambda data: Error(data or NO_MESSAGE),),
    "tool_call": (lambda data: Call("", data),),
}

DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, mints=True)
