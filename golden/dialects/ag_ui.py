"""AG-UI, as CopilotKit and others read it: unnamed events, their `type` in capitals."""

from collections.abc import Callable, Iterator

from golden.dialects import Dialect, Options
from golden.fields import NO_MESSAGE, Body, ident, lacking, named_messages, objects, opened, score, text, used
from golden.signals import CallDone, CallPart, End, Error, Finish, Named, Reasoning, Result, Signal, Text, Tokens, Whole
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`

# The calls that come in chunks, which nothing completes but the run's end.
_CHUNKS = "chunks"

_FAMILIES = ("RUN_", "STEP_", "TEXT_MESSAGE_", "TOOL_CALL_", "REASONING_", "THINKING_", "STATE_", "MESSAGES_SNAPSHOT")


def claims(head: Head, event: Event) -> str | None:
    """Types in capitals are no other protocol's; RAW and CUSTOM are too plain to go by."""
    body, _ = opened(event)
    kind = text((body or {}).get("type"))
    return f"an event of type `{kind}`" if kind.startswith(_FAMILIES) else None


def request(request: Request, options: Options) -> Post:
    """As its clients post: all messages so far, and every field, as servers want them all."""
    body: Body = {
        "threadId": request.session_id,
        "runId": f"{request.session_id}-run-{len(request.history) + 1}",
        "state": {},
        "messages": named_messages(request),
        "tools": [],
        "context": [],
        "forwardedProps": {} if request.model is None else {"model": request.model},
    }
    return Post("/", body)


def read(event: Event) -> Signals:
    if (event.data or "").strip() == "[DONE]":  # some servers end every stream so; it is none of the protocol's
        return ()
    body, odd = opened(event)
    if body is None:
        return odd
    kind = body.get("type")
    if kind == "TEXT_MESSAGE_CONTENT":
        delta, part = body.get("delta"), body.get("messageId")
        if isinstance(delta, str):
            return (_new(Text, (delta, part if isinstance(part, str) else "")), *odd)
        return (lacking(kind, "delta"), *odd)
    if not isinstance(kind, str):
        return (lacking("an event", "type"), *odd)
    reader = _READERS.get(kind)
    return odd if reader is None else (*reader(body), *odd)


def _text_start(body: Body) -> Signals:
    """A message begins, under the id that clients tell it again by in later turns."""
    id = ident(body.get("messageId"))
    return (Named(id),) if id and _is_answer(body) else ()


def _text_chunk(body: Body) -> Signals:
    """Stands for start, content and end; those after the first need not say whose they are."""
    delta = body.get("delta")
    is_text = isinstance(delta, str) and _is_answer(body)
    return (*_text_start(body), *((Text(text(delta), ident(body.get("messageId"))),) if is_text else ()))


def _is_answer(body: Body) -> bool:
    return body.get("role") in (None, "assistant")


def _args(body: Body) -> Signals:
    delta = body.get("delta")
    if not isinstance(delta, str):
        return (lacking("TOOL_CALL_ARGS", "delta"),)
    return (CallPart(delta, "", _id(body)),)


def _call_chunk(body: Body) -> Signals:
    """Stands for start, args and end: no event says that the call is complete."""
    return (CallPart(text(body.get("delta")), "", _id(body), text(body.get("toolCallName")), _CHUNKS),)


def _messages(body: Body) -> Signals:
    """All messages of the conversation: those after the last question are this turn's."""
    mine: list[Signal] = []
    for message in objects(body.get("messages")):
        role = message.get("role")
        if role == "user":
            mine.clear()
        elif role == "assistant":
            mine += _assistant(message)
        elif role == "tool":
            mine.append(Result(message.get("content"), _id(message)))
    return tuple(mine)


def _assistant(message: Body) -> Iterator[Signal]:
    content = message.get("content")
    if isinstance(content, str) and content:
        yield Whole(content, ident(message.get("id")), renamed=True)
        yield Named(ident(message.get("id")))
    for call in objects(message.get("toolCalls")):
        for function in objects(call.get("function")):
            yield CallDone("", ident(call.get("id")), text(function.get("name")), function.get("arguments") or {})


def _state(body: Body) -> Signals:
    """A change of the state in this turn; a snapshot may hold an earlier turn's score."""
    changes = [change for change in objects(body.get("delta")) if change.get("path") == "/groundedness"]
    return tuple(score(change["value"]) for change in changes if "value" in change)


def _custom(body: Body) -> Signals:
    name = body.get("name")
    if name == "groundedness":
        return (score(body.get("value")),)
    return (Finish("waiting"),) if name == "on_interrupt" else ()  # LangGraph's, before the protocol had one


def _finished(body: Body) -> Signals:
    """Usage is a list, one of each model; a run that says nothing of its outcome may wait all the same."""
    outcome = body.get("outcome")
    kind = outcome.get("type") if isinstance(outcome, dict) else outcome
    usage = [
        signal
        for each in objects(body.get("usage"))
        for signal in used(each, "inputTokens", "outputTokens", kind=Tokens)
    ]
    return (CallDone(message=_CHUNKS), *usage, _OUTCOMES.get(str(kind), Finish("stop")), End())


def _id(body: Body) -> str:
    return ident(body.get("toolCallId"))


_OUTCOMES: dict[str, Signal] = {"interrupt": Finish("waiting"), "cancelled": Error("the run was cancelled")}

_READERS: dict[str, Callable[[Body], Signals]] = {
    "TEXT_MESSAGE_START": _text_start,
    "TEXT_MESSAGE_CHUNK": _text_chunk,
    "TOOL_CALL_START": lambda body: (CallPart("", "", _id(body), text(body.get("toolCallName"))),),
    "TOOL_CALL_ARGS": _args,
    "TOOL_CALL_END": lambda body: (CallDone("", _id(body)),),
    "TOOL_CALL_CHUNK": _call_chunk,
    "TOOL_CALL_RESULT": lambda body: (Result(body.get("content"), _id(body)),),
    "MESSAGES_SNAPSHOT": _messages,
    "STATE_DELTA": _state,
    "CUSTOM": _custom,
    "REASONING_MESSAGE_CONTENT": lambda body: (Reasoning(),),
    "REASONING_MESSAGE_CHUNK": lambda body: (Reasoning(),),
    "THINKING_TEXT_MESSAGE_CONTENT": lambda body: (Reasoning(),),
    "RUN_ERROR": lambda body: (Error(text(body.get("message")) or NO_MESSAGE), End()),
    "RUN_FINISHED": _finished,
}

DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, marker="end")
