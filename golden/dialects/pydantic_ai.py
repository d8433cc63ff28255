"""pydantic-ai's own events, as `run_stream_events` gives them and a route of one's own sends them: SSE or lines."""

from collections.abc import Callable, Iterator

from golden.dialects import EVENT_STREAM, LINES, Dialect, Options
from golden.fields import Body, grounded, ident, lacking, objects, opened, said, score, text, used
from golden.payload import dump
from golden.signals import CallDone, CallPart, End, Error, Finish, Message, Reasoning, Result, Signal, Text, Whole
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`

# Events that show the dialect and mean nothing to a transcript.
_SILENT = frozenset(
    {"builtin_tool_call", "builtin_tool_result", "deferred_tool_results", "enqueued_messages", "final_result"}
)


def claims(head: Head, event: Event) -> str | None:
    body, _ = opened(event, named=True)
    kind = text((body or {}).get("event_kind"))
    return f"an `event_kind` of `{kind}`" if kind in _READERS or kind in _SILENT else None


def request(request: Request, options: Options) -> Post:
    """The route is its author's own: the names are those of pydantic-ai's arguments; `body` and `path` say others."""
    body: Body = {"prompt": request.question}
    if request.turns > 1:
        body["session_id"] = request.session_id
    if request.history:
        body["message_history"] = [message for turn in request.history for message in _messages(*turn)]
    if request.model is not None:
        body["model"] = request.model
    if request.system_prompt is not None:
        body["system_prompt"] = request.system_prompt
    return Post("/chat", body)


def _messages(question: str, answer: str) -> tuple[Body, Body]:
    """One turn, as `ModelMessagesTypeAdapter` reads it."""
    return (
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": question}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": answer}]},
    )


def read(event: Event) -> Signals:
    body, signals = opened(event, named=True)
    reader = None if body is None else _READERS.get(text(body.get("event_kind")) or event.name)
    return signals if body is None or reader is None else (*reader(body), *signals)


def _key(body: Body) -> str:
    return ident(body.get("index"))


def _call(part: Body) -> tuple[str, str, object]:
    return ident(part.get("tool_call_id")), text(part.get("tool_name")), part.get("args")


def _part_start(body: Body) -> Iterator[Signal]:
    """A part begins, often with its first piece; parts that the model's provider made itself come whole."""
    for part in objects(body.get("part")):
        kind = text(part.get("part_kind"))
        id, name, args = _call(part)
        if kind == "text" and text(part.get("content")):
            yield Text(text(part.get("content")), _key(body))
        elif kind.endswith("tool-call"):
            yield CallPart(text(args), _key(body), id, name)
        elif kind.endswith("tool-return"):
            yield Result(part.get("content"), id, name)
        elif kind == "thinking":
            yield Reasoning()


def _part_delta(body: Body) -> Signals:
    delta = body.get("delta")
    kind = delta.get("part_delta_kind") if isinstance(delta, dict) else None
    if isinstance(delta, dict) and kind == "tool_call":
        # Arguments that are an object are told whole as the part ends.
        id, name = ident(delta.get("tool_call_id")), text(delta.get("tool_name_delta"))
        return (CallPart(text(delta.get("args_delta")), _key(body), id, name),)
    if isinstance(delta, dict) and kind == "text" and isinstance(delta.get("content_delta"), str):
        return (_new(Text, (delta["content_delta"], _key(body))),)
    if kind in ("text", None):
        return (lacking("part_delta", "content_delta"),)
    return (Reasoning(),) if kind == "thinking" else ()


def _part_end(body: Body) -> Iterator[Signal]:
    """The whole part, told again; the next request to the model begins its parts at 0 again."""
    for part in objects(body.get("part")):
        if part.get("part_kind") == "text":
            yield Whole(text(part.get("content")), _key(body), closes=True)
        elif text(part.get("part_kind")).endswith("tool-call"):
            yield CallDone(_key(body), *_call(part))


def _tool_call(body: Body) -> Signals:
    """A call is made, known by its id from when the model wrote it."""
    return tuple(CallDone("", *_call(part)) for part in objects(body.get("part")))


def _tool_result(body: Body) -> Signals:
    parts = objects(body.get("part") or body.get("result"))  # version 1 has it as `result`
    return tuple(Result(part.get("content"), *_call(part)[:2]) for part in parts)


def _run_result(body: Body) -> Iterator[Signal]:
    """The run is over. What it gives is the text since the last call, an object, or the calls that wait."""
    yield CallDone()
    for result in objects(body.get("result")):
        output = result.get("output")
        if isinstance(output, str):
            yield Whole(output)
        elif isinstance(output, dict) and {"approvals", "calls"} <= output.keys():
            yield Finish("waiting")
        elif output is not None:
            yield Message(dump(output))
        states = [result, *objects(result.get("_state"))]  # version 1 has it there
        for usage in [usage for state in states for usage in objects(state.get("usage"))][:1]:
            yield from used(usage, "input_tokens", "output_tokens")
        yield from grounded(result.get("metadata"))
    yield End()


_READERS: dict[str, Callable[[Body], Signals]] = {
    "part_start": lambda body: tuple(_part_start(body)),
    "part_delta": _part_delta,
    "part_end": lambda body: tuple(_part_end(body)),
    "function_tool_call": _tool_call,
    "output_tool_call": _tool_call,
    "function_tool_result": _tool_result,
    "output_tool_result": _tool_result,
    # A handler of the agent's own may still give what they wait for.
    "deferred_tool_requests": lambda body: (Finish("tools"),),
    "agent_run_result": lambda body: tuple(_run_result(body)),
    "custom": lambda body: (score(body),) if body.get("name") == "groundedness" else (),
    "error": lambda body: (Error(said(body)),),
}

DIALECT: Dialect = Dialect(
    claims=claims, request=request, read=read, framings=("sse", "lines"), accepts=(EVENT_STREAM, *LINES)
)
