"""Google's ADK, `/run_sse`: partial events are deltas, and an event that is not partial tells all again.

The body just ends: ADK itself sends no end marker.
"""

import re
from collections.abc import Iterator
from urllib.parse import quote

from golden.dialects import Dialect, Opening, Options
from golden.fields import NO_MESSAGE, Body, grounded, ident, objects, opened, text_at, used
from golden.signals import Call, Error, Finish, Reasoning, Result, Signal, Text, Tokens, Whole
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = Iterator[Signal]

_USER = "golden"

# Calls that the framework itself makes to ask the person: for an approval, for credentials, for an answer.
_ASKS = "adk_request_"
_WAITS = ("requestedToolConfirmations", "requestedAuthConfigs")
_COUNTS = ("promptTokenCount", "candidatesTokenCount")

_CAPITAL = re.compile("[A-Z]")


def claims(head: Head, event: Event) -> str | None:
    """Every event of a run says whose it is; the last frame of a run that failed has another shape."""
    if event.name or not event.data or ('"invocation' not in event.data and '"error_details"' not in event.data):
        return None
    body, _ = opened(event)
    if body is None:
        return None
    if _get(body, "invocationId") is not None and "author" in body:
        return "data with an invocation and its author"
    return "data with `error_details`" if {"error", "error_details"} <= body.keys() else None


def request(request: Request, options: Options) -> Post:
    body: Body = {
        "appName": options.id or "agent",
        "userId": _USER,
        "sessionId": request.session_id,
        "newMessage": {"role": "user", "parts": [{"text": request.question}]},
        "streaming": True,
    }
    return Post("/run_sse", body)


def opens(request: Request, options: Options) -> Opening:
    """The session must be there before the first question."""
    app, session = (quote(name, safe="") for name in (options.id or "agent", request.session_id))
    return Opening(Post(f"/apps/{app}/users/{_USER}/sessions/{session}", {}), lambda reply: "")


def read(event: Event) -> tuple[Signal, ...]:
    body, odd = opened(event)
    if body is None or event.name:
        return odd
    if "error" in body and _get(body, "invocationId") is None:
        return (Error(text_at(body, "error") or NO_MESSAGE), *odd)
    return (*_event(body), *odd)


def _event(body: Body) -> Signals:
    parts = objects(_get(body.get("content"), "parts")) if body.get("author") != "user" else []
    # Nothing but its agent tells an event's text from another's: every event may have an id of its own.
    part = f"{text_at(body, 'branch')}/{text_at(body, 'author')}"
    if any(piece.get("thought") is True for piece in parts):
        yield Reasoning()
    texts = [text for piece in parts if piece.get("thought") is not True and (text := text_at(piece, "text"))]
    if body.get("partial") is True:  # its calls are on their way, its usage is told again
        yield from (Text(text, part) for text in texts)
    else:
        yield from _whole(body, parts, Whole("".join(texts), part, closes=True) if texts else None)
    yield from _ending(body)


def _whole(body: Body, parts: list[Body], text: Whole | None) -> Signals:
    for piece in parts:
        if text and text_at(piece, "text") and piece.get("thought") is not True:
            yield text
            text = None
        call, response = _get(piece, "functionCall"), _get(piece, "functionResponse")
        if isinstance(call, dict) and not text_at(call, "name").startswith(_ASKS):
            yield Call(text_at(call, "name"), call.get("args"), ident(call.get("id")))
        if isinstance(response, dict) and not text_at(response, "name").startswith(_ASKS):
            yield Result(response.get("response"), ident(response.get("id")), text_at(response, "name"))
    usage = _get(body, "usageMetadata")
    counts = {key: _get(usage, key) for key in _COUNTS}
    yield from used(counts, *_COUNTS, kind=Tokens)
    actions = body.get("actions")
    yield from grounded(_get(body, "customMetadata"), _get(actions, "stateDelta"))
    if _get(body, "longRunningToolIds") or any(_get(actions, waits) for waits in _WAITS):
        yield Finish("waiting")


def _ending(body: Body) -> Signals:
    """A model's own limit comes as an error too, with the text that there is."""
    code, message = _get(body, "errorCode"), _get(body, "errorMessage")
    if "MAX_TOKENS" in (code, _get(body, "finishReason")):
        yield Finish("length")
    elif code or message:
        yield Error(message if isinstance(message, str) and message else str(code))


def _get(value: object, name: str) -> object:
    """What a field holds. Routes that write ADK's events by themselves spell it as Python does: `function_call`."""
    if not isinstance(value, dict):
        return None
    return value.get(name, value.get(_CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)))


DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, opens=opens)
