"""Ollama's `/api/chat`: a JSON object a line, of which the last says `done`. `/api/generate` is read as well."""

from golden.dialects import LINES, Dialect, Options
from golden.fields import Body, failure, grounded, ident, messages, objects, opened, text, used
from golden.signals import Call, End, Finish, Odd, Reasoning, Result, Signal, Text
from golden.sse import Event
from golden.wire import Head, Post, Request

_MODEL = "llama3.2"

_REASONING = ("thinking", "reasoning_content", "reasoning")

_FINISHES = {"length": Finish("length"), "tool_calls": Finish("tools")}
_FINISHED = Finish("stop")


def claims(head: Head, event: Event) -> str | None:
    """A line with `done`, and with the `message` or the `response` of which it says so."""
    if event.data is None or '"done"' not in event.data:
        return None
    body, _ = opened(event)
    if body is None or not isinstance(body.get("done"), bool):
        return None
    found = next((key for key, kind in (("message", dict), ("response", str)) if isinstance(body.get(key), kind)), None)
    return f"a line with `done` and `{found}`" if found else None


def request(request: Request, options: Options) -> Post:
    body: Body = {"model": request.model or options.id or _MODEL, "messages": messages(request), "stream": True}
    return Post("/api/chat", body)


def read(event: Event) -> tuple[Signal, ...]:
    body, odd = opened(event)
    if body is None:
        return odd
    signals: list[Signal] = [*odd, *failure(body, "message", "response")]
    message = body.get("message")
    if isinstance(message, dict):
        _message(message, signals)
    if isinstance(response := body.get("response"), str):
        signals.append(Text(response))
    if body.get("thinking"):
        signals.append(Reasoning())
    if "groundedness" in (event.data or ""):
        signals += grounded(body, message)
    signals += used(body, "prompt_eval_count", "eval_count")
    if body.get("done") is True:
        signals += _FINISHES.get(text(body.get("done_reason")), _FINISHED), End()
    return tuple(signals)


def _message(message: Body, signals: list[Signal]) -> None:
    content = message.get("content")
    if message.get("role") == "tool":  # a server that runs the tools itself
        name = text(message.get("tool_name")) or text(message.get("name"))
        signals.append(Result(content, ident(message.get("tool_call_id")), name))
        return
    if isinstance(content, str):
        signals.append(Text(content))
    elif content is not None:
        signals.append(Odd("malformed", "the `content` of a message is no text"))
    if any(message.get(key) for key in _REASONING):
        signals.append(Reasoning())
    for call in objects(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict):
            signals.append(Call(text(function.get("name")), function.get("arguments"), ident(call.get("id"))))


DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, framings=("lines",), accepts=LINES, marker="end")
