"""OpenAI's chat completions, as streamed by OpenAI and by the many servers and gateways that speak like it.

Chunks follow the types of the official client. One choice is the answer: the first. A call's arguments come in deltas
that its index tells apart, its id where every index is the same, and its place in the stream where there is neither.
"""

from golden.dialects import Dialect, Options
from golden.fields import Body, failure, grounded, ident, messages, objects, opened, text, used
from golden.signals import Call, CallDone, CallPart, Error, Finish, Odd, Reasoning, Refusal, Result, Signal, Text, Whole
from golden.sse import Event
from golden.wire import Head, Post, Request

_MODEL = "gpt-4o-mini"

# Deltas have a part so that a producer's full `message` is told from what came before it.
_PART = "0"

_FINISHES: dict[str, Signal] = {
    "length": Finish("length"),
    "max_tokens": Finish("length"),
    "model_length": Finish("length"),  # Mistral
    "tool_calls": Finish("tools"),
    "function_call": Finish("tools"),
    "content_filter": Error("blocked: content_filter"),
    "error": Error("the model stopped with an error"),  # OpenRouter
    "abort": Error("the model's work was aborted"),  # vLLM, SGLang
    "insufficient_system_resource": Error("stopped: insufficient_system_resource"),  # DeepSeek
}
_FINISHED = Finish("stop")

_new = tuple.__new__  # see `sse`


def claims(head: Head, event: Event) -> str | None:
    """The `object` of a chunk; some producers leave it out or empty, and their choices have a `delta` all the same."""
    if event.data is None or '"choices"' not in event.data:
        return None
    body, _ = opened(event)
    if body is None or "choices" not in body:
        return None
    kind = body.get("object")
    if isinstance(kind, str) and kind.startswith("chat.completion"):
        return f"a JSON object with `object` {kind!r}"
    has_delta = any("delta" in choice for choice in objects(body["choices"]))
    return "JSON with a `delta` in its `choices`" if has_delta else None


def request(request: Request, options: Options) -> Post:
    body: Body = {
        "model": request.model or options.id or _MODEL,
        "messages": messages(request),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return Post("/v1/chat/completions", body)


def read(event: Event) -> tuple[Signal, ...]:
    name, data = event.name, event.data or ""
    body, odd = opened(event)
    if body is None:
        return odd
    if (content := _only_content(body)) is not None and not (name or odd or "groundedness" in data):
        return (_new(Text, (content, _PART)),)
    is_error = name == "error" or body.get("object") == "error"  # vLLM's is the whole object
    signals: list[Signal] = [*failure(body, "choices", whole=is_error)]
    usage = body.get("usage")
    for choice in objects(body.get("choices")):
        if choice.get("index") in (0, None, "0"):
            _choice(choice, signals)
            usage = usage or choice.get("usage")  # Moonshot
    signals += used(usage, "prompt_tokens", "completion_tokens")
    if "groundedness" in data:
        signals += grounded(body, body.get("metadata"))
    return (*signals, *odd)


def _only_content(body: Body) -> str | None:
    """By far the most chunks are one delta of text and nothing beside it; all others are read with more care."""
    choices = body.get("choices")
    if type(choices) is not list or len(choices) != 1 or body.get("usage") or "error" in body:
        return None
    choice = choices[0]
    if type(choice) is not dict or choice.get("index") or choice.get("finish_reason") or "usage" in choice:
        return None
    delta = choice.get("delta")
    if type(delta) is dict and len(delta) == 1 and type(content := delta.get("content")) is str:
        return content
    return None


def _choice(choice: Body, signals: list[Signal]) -> None:
    delta, message = choice.get("delta"), choice.get("message")
    if isinstance(delta, dict):
        _delta(delta, signals)
    elif isinstance(message, dict):
        _message(message, signals)
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason:
        signals += CallDone(), _FINISHES.get(reason, _FINISHED)


def _delta(delta: Body, signals: list[Signal]) -> None:
    content = delta.get("content")
    if delta.get("role") in ("tool", "function"):  # a server that runs the tools itself
        signals.append(Result(content, ident(delta.get("tool_call_id")), text(delta.get("name"))))
        return
    if isinstance(content, str):
        signals.append(Text(content, _PART))
    elif content is not None:
        _parts(content, signals)
    if delta.get("reasoning_content") or delta.get("reasoning") or delta.get("thinking"):
        signals.append(Reasoning())
    if isinstance(refusal := delta.get("refusal"), str):
        signals.append(Refusal(refusal))
    calls = objects(delta.get("tool_calls"))
    for call in calls:
        _call(ident(call.get("index")), ident(call.get("id")), call.get("function"), signals)
    if not calls and delta.get("function_call"):  # where both stand they are the same call
        _call("function_call", "", delta["function_call"], signals)


def _parts(content: object, signals: list[Signal]) -> None:
    """Content as typed parts (Mistral)."""
    parts = objects(content)
    if not parts and content != []:
        signals.append(Odd("malformed", "the `content` of a choice is neither text nor parts"))
    for part in parts:
        if part.get("type") in ("text", "output_text", None):
            signals.append(Text(text(part.get("text")), _PART))
        elif part.get("type") in ("thinking", "reasoning"):
            signals.append(Reasoning())
        elif isinstance(refusal := part.get("refusal"), str):
            signals.append(Refusal(refusal))


def _call(key: str, id: str, function: object, signals: list[Signal]) -> None:
    if not isinstance(function, dict):
        function = {}
    name, args = text(function.get("name")), function.get("arguments")
    if args is None or isinstance(args, str):
        signals.append(CallPart(args or "", key, id, name))
    elif key or not name:
        signals.append(CallDone(key, id, name, args))
    else:
        signals.append(Call(name, args, id))


def _message(message: Body, signals: list[Signal]) -> None:
    """The full message so far: it repeats what came in deltas."""
    if isinstance(content := message.get("content"), str):
        signals.append(Whole(content, _PART))
    for at, call in enumerate(objects(message.get("tool_calls"))):
        function = call.get("function")
        if isinstance(function, dict):
            id, args = ident(call.get("id")), function.get("arguments")
            key = "" if id else str(at)  # by its place it is the one that is on its way
            signals.append(CallDone(key, id, text(function.get("name")), {} if args is None else args))


DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, marker="end")
