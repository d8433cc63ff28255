"""Anthropic's Messages API, and the many servers and gateways that speak it."""

from collections.abc import Callable, Iterator

from golden.dialects import Dialect, Options
from golden.fields import Body, ident, lacking, messages, objects, opened, said, text, used
from golden.payload import dump
from golden.signals import CallDone, CallPart, End, Error, Finish, Reasoning, Refusal, Result, Signal, Text
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`

# What each event holds that no other dialect's event of such a type does.
_HOLDS = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
    "content_block_stop": "index",
    "message_delta": "delta",
}

_FINISHES: dict[str, Finish] = {
    "max_tokens": Finish("length"),
    "model_context_window_exceeded": Finish("length"),
    "tool_use": Finish("tools"),
    "pause_turn": Finish("waiting"),
}


def claims(head: Head, event: Event) -> str | None:
    body, _ = opened(event, named=True)
    if body is None:
        return None
    kind = text(body.get("type")) or event.name
    # An error names its own type, and is not numbered as those of OpenAI's responses are.
    wrong = any("type" in error for error in objects(body.get("error"))) and "sequence_number" not in body
    mine = _HOLDS.get(kind) in body or (wrong and body.get("type") == "error")
    return f"an event of type `{kind}`" if mine else None


def request(request: Request, options: Options) -> Post:
    body: Body = {
        "model": request.model or options.id or "claude-haiku-4-5",
        "max_tokens": 4096,
        "messages": messages(request, system=False),
        "stream": True,
    }
    if request.system_prompt is not None:
        body["system"] = request.system_prompt
    return Post("/v1/messages", body, {"anthropic-version": "2023-06-01"})


def read(event: Event) -> Signals:
    body, signals = opened(event, named=True)
    if body is None:
        return (CallDone(), End()) if event.name == "message_stop" else signals
    reader = _READERS.get(text(body.get("type")) or event.name)
    return signals if reader is None else (*reader(body), *signals)


def _key(body: Body) -> str:
    return ident(body.get("index"))


def _start(body: Body) -> Iterator[Signal]:
    """The message begins: its count of output tokens is of the first few, `message_delta` has them all."""
    for message in objects(body.get("message")):
        for usage in objects(message.get("usage")):
            yield from used(usage, "input_tokens", "")


def _block_start(body: Body) -> Iterator[Signal]:
    for block in objects(body.get("content_block")):
        kind = text(block.get("type"))
        if kind == "text" and text(block.get("text")):
            yield Text(text(block.get("text")))
        elif kind.endswith("tool_use"):
            # An empty object stands for what is to come; some servers, and calls that code makes, have it whole here.
            args = dump(block["input"]) if block.get("input") else ""
            yield CallPart(args, _key(body), ident(block.get("id")), text(block.get("name")))
        elif kind.endswith("tool_result"):
            yield Result(_given(block.get("content")), ident(block.get("tool_use_id")))
        elif kind.endswith("thinking"):
            yield Reasoning()


def _given(content: object) -> object:
    """What a tool gave back: blocks that are text alone are that text."""
    blocks = objects(content)
    is_text = bool(blocks) and all(block.get("type") == "text" for block in blocks)
    return "".join(text(block.get("text")) for block in blocks) if is_text else content


def _block_delta(body: Body) -> Signals:
    delta = body.get("delta")
    kind = delta.get("type") if isinstance(delta, dict) else None
    field = _DELTAS.get(kind) if isinstance(kind, str) else ""
    if field is None:  # citations, signatures, and what is yet to be invented
        return ()
    piece = delta.get(field) if isinstance(delta, dict) else None
    if not isinstance(piece, str):
        return (lacking("content_block_delta", field or "text"),)
    if kind == "text_delta":
        return (_new(Text, (piece, "")),)
    return (CallPart(piece, _key(body)),) if kind == "input_json_delta" else (Reasoning(),)


_DELTAS = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}


def _message_delta(body: Body) -> Iterator[Signal]:
    yield from used(body.get("usage"), "input_tokens", "output_tokens")
    for delta in objects(body.get("delta")):
        if reason := text(delta.get("stop_reason")):
            if reason == "refusal":
                details = next(iter(objects(delta.get("stop_details"))), {})
                yield Refusal(text(details.get("explanation")) or "it does not say why")
            yield _FINISHES.get(reason, Finish("stop"))


_READERS: dict[str, Callable[[Body], Signals]] = {
    "message_start": lambda body: tuple(_start(body)),
    "content_block_start": lambda body: tuple(_block_start(body)),
    "content_block_delta": _block_delta,
    "content_block_stop": lambda body: (CallDone(_key(body)),),
    "message_delta": lambda body: tuple(_message_delta(body)),
    "message_stop": lambda body: (CallDone(), End()),
    "error": lambda body: (Error(said(body.get("error") or body)),),
}

DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, marker="end")
