"""OpenAI's Responses API, and the many servers and gateways that speak it."""

from collections.abc import Callable, Iterator

from golden.dialects import Dialect, Options
from golden.fields import Body, ident, lacking, messages, objects, opened, said, text, used
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Message,
    Reasoning,
    Refusal,
    Result,
    Signal,
    Text,
    Whole,
)
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = tuple[Signal, ...]

_new = tuple.__new__  # see `sse`

# The tools that the server itself runs. Any other waits for the client, or an item follows that is its output.
_HOSTED = ("code_interpreter_call", "file_search_call", "image_generation_call", "mcp_call", "web_search_call")

# What an item is called with, where it has no `arguments`, and what it gives back.
_INPUTS = ("input", "action", "actions", "queries", "code", "operation", "revised_prompt")
_OUTPUTS = ("output", "error", "results", "outputs")


def claims(head: Head, event: Event) -> str | None:
    body, _ = opened(event, named=True)
    kind = "" if body is None else text(body.get("type")) or event.name
    # Others have events of type `error` too: these are numbered.
    mine = kind.startswith("response.") or (kind == "error" and body is not None and "sequence_number" in body)
    return f"an event of type `{kind}`" if mine else None


def request(request: Request, options: Options) -> Post:
    """Resends the history: not all servers keep responses, and none goes on from one whose calls have no output."""
    body: Body = {
        "model": request.model or options.id or "gpt-5.4-mini",
        "input": messages(request, system=False),
        "stream": True,
    }
    if request.system_prompt is not None:
        body["instructions"] = request.system_prompt
    return Post("/v1/responses", body)


def read(event: Event) -> Signals:
    body, signals = opened(event, named=True)
    if body is None:
        return signals
    kind = text(body.get("type")) or event.name
    if kind.startswith("response.reasoning"):
        return (Reasoning(), *signals)
    reader = _READERS.get(kind)
    return signals if reader is None else (*reader(body), *signals)


def _part(body: Body, index: object = None) -> str:
    """A text's name. Some gateways leave out the indices, of some events or all; some make new ids for each event."""
    return f"{ident(body.get('output_index')) or 0}:{ident(body.get('content_index') if index is None else index) or 0}"


def _delta(body: Body) -> Signals:
    delta = body.get("delta")
    if not isinstance(delta, str):
        return (lacking("response.output_text.delta", "delta"),)
    return (_new(Text, (delta, _part(body))),)


def _whole(body: Body, content: object) -> Signals:
    return tuple(Whole(text(part["text"]), _part(body)) for part in _texts(content))


def _texts(content: object) -> list[Body]:
    return [part for part in objects(content) if part.get("type") == "output_text" and text(part.get("text"))]


def _arguments(body: Body) -> Signals:
    return (CallPart(text(body.get("delta")), _key(body, body.get("item_id"))),)


def _key(body: Body, id: object) -> str:
    return ident(body.get("output_index")) or ident(id)


def _is_call(item: Body) -> bool:
    return text(item.get("type")).endswith("_call") or item.get("type") == "mcp_approval_request"


def _call(item: Body) -> tuple[str, str, object]:
    """A call's id, name and arguments, None for those that came as deltas; what is no JSON stands under its field."""
    inputs = {field: item[field] for field in _INPUTS if item.get(field) is not None}
    arguments = item.get("arguments") or inputs or None
    name = text(item.get("name")) or text(item.get("type")).removesuffix("_call")
    return ident(item.get("call_id")) or ident(item.get("id")), name, arguments


def _item(body: Body, *, done: bool) -> Iterator[Signal]:
    for item in objects(body.get("item")):
        id, name, arguments = _call(item)
        key = _key(body, item.get("id"))
        if _is_call(item):
            yield CallDone(key, id, name, arguments) if done else CallPart(text(arguments), key, id, name)
        if done:
            yield from [Result(item[field], id) for field in _OUTPUTS if item.get(field) is not None][:1]
        for index, part in enumerate(_texts(item.get("content"))):
            yield Whole(text(part["text"]), _part(body, index), closes=done)


def _ended(body: Body) -> Iterator[Signal]:
    """The whole response, told again: what came of it before counts once."""
    response = next(iter(objects(body.get("response"))), {})
    output = objects(response.get("output"))
    # Each is known by its id; the last one completes those whose own end was left out.
    yield from (CallDone("", *call) for call in map(_call, filter(_is_call, output)) if call[0])
    yield CallDone()
    if answer := "".join(text(part["text"]) for item in output for part in _texts(item.get("content"))):
        yield Message(answer)
    yield from used(response.get("usage"), "input_tokens", "output_tokens")
    status = text(response.get("status")) or text(body.get("type")).removeprefix("response.")
    reason = "".join(text(details.get("reason")) for details in objects(response.get("incomplete_details")))
    if response.get("error") or status in ("failed", "cancelled"):
        yield Error(said(response.get("error") or f"the response is {status}"))
    elif reason == "max_output_tokens":
        yield Finish("length")
    elif reason or status == "incomplete":
        yield Error(f"the response is incomplete: {reason or 'it does not say why'}")
    elif _waits(output):
        yield Finish("waiting")
    elif not output:  # some gateways leave it out
        yield Finish("stop")
    yield End()


def _waits(output: list[Body]) -> bool:
    answered = {_call(item)[0] for item in output if not _is_call(item)}
    answered |= {ident(item.get("approval_request_id")) for item in output}
    return any(_is_call(item) and item.get("type") not in _HOSTED and _call(item)[0] not in answered for item in output)


_READERS: dict[str, Callable[[Body], Signals]] = {
    "response.output_text.delta": _delta,
    "response.output_text.done": lambda body: _whole(body, {**body, "type": "output_text"}),
    "response.content_part.added": lambda body: _whole(body, body.get("part")),
    "response.content_part.done": lambda body: _whole(body, body.get("part")),
    "response.refusal.delta": lambda body: (Refusal(text(body.get("delta"))),),
    "response.function_call_arguments.delta": _arguments,
    "response.mcp_call_arguments.delta": _arguments,
    "response.output_item.added": lambda body: tuple(_item(body, done=False)),
    "response.output_item.done": lambda body: tuple(_item(body, done=True)),
    "response.completed": lambda body: tuple(_ended(body)),
    "response.incomplete": lambda body: tuple(_ended(body)),
    "response.failed": lambda body: tuple(_ended(body)),
    "error": lambda body: (Error(said(body.get("error") or body)),),
}

DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, marker="end")
