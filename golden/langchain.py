"""Messages of LangChain as its servers stream them: in pieces, and whole, told again by their ids."""

from collections.abc import Iterator

from golden.fields import Body, ident, objects, text, text_at, used
from golden.payload import dump
from golden.signals import (
    Call,
    CallDone,
    CallPart,
    Error,
    Finish,
    Reasoning,
    Result,
    RunningTokens,
    Signal,
    Text,
    Tokens,
    Whole,
)

Signals = Iterator[Signal]

_THINKING = ("reasoning", "thinking", "redacted_thinking")
_REASONS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
_FINISHES: dict[str, Signal] = {
    "length": Finish("length"),
    "max_tokens": Finish("length"),
    "stop": Finish("stop"),
    "end_turn": Finish("stop"),
    "content_filter": Error("blocked: content_filter"),
}
_COUNTS = ("input_tokens", "output_tokens")


def message(value: object) -> Signals:
    """A message, or a piece of one, by itself."""
    if isinstance(value, dict):
        yield from _piece(value) if text_at(value, "type").endswith("Chunk") else messages(value)


def _piece(message: Body) -> Signals:
    part = text_at(message, "id")
    content, thinks = _content(message)
    if thinks:
        yield Reasoning()
    if content:
        yield Text(content, part)
    for piece in objects(message.get("tool_call_chunks")):
        index = piece.get("index")
        key = "" if index is None else f"{part}/{index}"
        yield CallPart(text(piece.get("args")), key, ident(piece.get("id")), text_at(piece, "name"), part)
    yield from used(message.get("usage_metadata"), *_COUNTS, part=part, kind=Tokens)
    if message.get("chunk_position") == "last" or _reason(message):
        yield CallDone(message=part)
        yield from _finish(message)


def messages(value: object, *, on_their_way: bool = False) -> Signals:
    """Whole messages, or one. What stands before the last human one is of earlier turns.

    Args:
        value: the messages.
        on_their_way: whether they are as far as they have come: calls whose arguments are no JSON may yet become it.
    """
    calls = ("tool_calls",) if on_their_way else ("tool_calls", "invalid_tool_calls")
    told = objects(value)
    asked = max((at for at, message in enumerate(told) if _role(message) in ("human", "user")), default=-1)
    for message in told[asked + 1 :]:
        yield from _whole(message, calls)
    if told:
        yield from _finish(told[-1])


def _whole(message: Body, calls: tuple[str, ...]) -> Signals:
    content, role, name = message.get("content"), _role(message), text_at(message, "name")
    part = text_at(message, "id") or dump([content, name, message.get("tool_calls"), message.get("tool_call_id")])
    plain, thinks = _content(message)
    if role == "remove":
        yield Whole("", part)
    elif role == "tool":
        is_plain = isinstance(content, list) and all(map(_is_text, content))
        yield Result(plain if is_plain else content, ident(message.get("tool_call_id")), name, part)
    elif role in ("ai", "assistant", "AIMessageChunk"):
        if thinks:
            yield Reasoning()
        yield Whole(plain, part)
        for at, call in enumerate(call for field in calls for call in objects(message.get(field))):
            yield Call(text_at(call, "name"), call.get("args"), ident(call.get("id")), part, at)
        yield from used(message.get("usage_metadata"), *_COUNTS, part=part, kind=RunningTokens)


def _content(message: Body) -> tuple[str, bool]:
    """A message's text, and whether there is reasoning in it."""
    content, kwargs = message.get("content"), message.get("additional_kwargs")
    thinks = isinstance(kwargs, dict) and bool(kwargs.get("reasoning_content"))
    if isinstance(content, str):
        return content, thinks
    blocks = content if isinstance(content, list) else []
    texts = (block if isinstance(block, str) else text_at(block, "text") for block in blocks if _is_text(block))
    return "".join(texts), thinks or any(text_at(block, "type") in _THINKING for block in blocks)


def _is_text(block: object) -> bool:
    return isinstance(block, str) or text_at(block, "type") == "text"


def _finish(message: Body) -> Signals:
    if finish := _FINISHES.get(_reason(message).lower()):
        yield finish


def _reason(message: Body) -> str:
    told = message.get("response_metadata")
    return next((reason for key in _REASONS if (reason := text_at(told, key))), "")


def _role(message: Body) -> str:
    return text_at(message, "type") or text_at(message, "role")
