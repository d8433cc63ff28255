"""The Vercel AI SDK's UI message stream, version 5 and later: unnamed events, their `type` in kebab case."""

from collections.abc import Callable

from golden.dialects import Dialect, Options
from golden.fields import NO_MESSAGE, Body, grounded, ident, lacking, named_messages, objects, opened, score, text, used
from golden.signals import CallDone, CallPart, Error, Finish, Named, Reasoning, Result, Signal, Text
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`

_HEADER = "x-vercel-ai-ui-message-stream"

# Usage stands in the application's own metadata: under the keys of the SDK's documents, in the words of its versions.
_USAGES = ("totalUsage", "usage")
_COUNTS = (("inputTokens", "outputTokens"), ("promptTokens", "completionTokens"), ("input_tokens", "output_tokens"))


def claims(head: Head, event: Event) -> str | None:
    """The header is a claim, and so are the types. Mastra's are the same: its events have a `payload`."""
    if _HEADER in head.headers:
        return f"the header `{_HEADER}`"
    body, _ = opened(event)
    if body is None or "payload" in body or event.name not in ("", "message"):
        return None
    kind = text(body.get("type"))
    known = kind in _CLAIMED or (kind == "error" and "errorText" in body)
    return f"an event of type `{kind}`" if known else None


def request(request: Request, options: Options) -> Post:
    """As the SDK's own transport posts: the chat's id, and all messages so far."""
    told = [
        {"id": message["id"], "role": message["role"], "parts": [{"type": "text", "text": message["content"]}]}
        for message in named_messages(request)
    ]
    model = {} if request.model is None else {"model": request.model}
    return Post("/api/chat", {"id": request.session_id, "trigger": "submit-message", "messages": told, **model})


def read(event: Event) -> Signals:
    body, odd = opened(event)
    if body is None:
        return odd
    kind = body.get("type")
    if kind == "text-delta":
        delta = body.get("delta")
        return (_new(Text, (delta, "")) if isinstance(delta, str) else lacking(kind, "delta"), *odd)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return odd if reader is None else (*reader(body), *odd)


def _input_delta(body: Body) -> Signals:
    delta = body.get("inputTextDelta")
    if not isinstance(delta, str):
        return (lacking("tool-input-delta", "inputTextDelta"),)
    return (CallPart(delta, "", _id(body)),)


def _input(body: Body) -> Signals:
    """All of the input, after its deltas or in their place."""
    args = body.get("input")
    return (CallDone("", _id(body), text(body.get("toolName")), {} if args is None else args),)


def _input_error(body: Body) -> Signals:
    """Input that does not fit its tool. The SDK says so again as an output's error, which takes this one's place."""
    return (*_input(body), *_output_error(body))


def _output(body: Body) -> Signals:
    """A preliminary output is followed by another one."""
    return () if body.get("preliminary") is True else (Result(body.get("output"), _id(body)),)


def _output_error(body: Body) -> Signals:
    return (Result(text(body.get("errorText")) or "the tool failed", _id(body), part=_id(body)),)


def _finish(body: Body) -> Signals:
    """Streams that were merged finish more than once: [DONE] alone is the end. Version 5 gives no reason."""
    return (*_metadata(body), _FINISHES.get(text(body.get("finishReason")), Finish("stop")))


def _start(body: Body) -> Signals:
    """The message begins, under the id that clients tell it again by in later turns."""
    id = ident(body.get("messageId"))
    return (*((Named(id),) if id else ()), *_metadata(body))


def _metadata(body: Body) -> Signals:
    """The metadata of a message are merged, later ones over earlier ones."""
    metadata = body.get("messageMetadata")
    if not isinstance(metadata, dict):
        return ()
    usage = next((found for key in _USAGES for found in objects(metadata.get(key))), {})
    return (*(signal for keys in _COUNTS for signal in used(usage, *keys)), *grounded(metadata))


def _id(body: Body) -> str:
    return ident(body.get("toolCallId"))


_FINISHES: dict[str, Signal] = {
    "length": Finish("length"),
    "tool-calls": Finish("tools"),
    "content-filter": Error("blocked: content-filter"),
    "error": Error("its finish reason is `error`"),
}

_READERS: dict[str, Callable[[Body], Signals]] = {
    "start": _start,
    "message-metadata": _metadata,
    "reasoning-delta": lambda body: (Reasoning(),),
    "tool-input-start": lambda body: (CallPart("", "", _id(body), text(body.get("toolName"))),),
    "tool-input-delta": _input_delta,
    "tool-input-available": _input,
    "tool-input-error": _input_error,
    "tool-approval-request": lambda body: (Finish("waiting"),),
    "tool-output-available": _output,
    "tool-output-error": _output_error,
    "tool-output-denied": lambda body: (Result("the call was denied", _id(body)),),
    "data-groundedness": lambda body: (score(body.get("data")),),
    "error": lambda body: (Error(text(body.get("errorText")) or NO_MESSAGE),),
    "abort": lambda body: (Error(f"the answer was aborted: {text(body.get('reason')) or 'it does not say why'}"),),
    "finish": _finish,
}

# A `data-NAME` or an `error` may be anybody's.
_CLAIMED = {*_READERS, "start-step", "finish-step", "text-start", "text-delta", "text-end", "reasoning-start"} - {
    "data-groundedness",
    "error",
}

DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, marker="end")
