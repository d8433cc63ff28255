"""Gemini's `streamGenerateContent` with `alt=sse`: each event is a `GenerateContentResponse`.

The answer is the first candidate. Calls come whole, usage is a running total, and a finish reason is all that marks the
end; some producers have one on every event, and some tell the usage after it.
"""

from collections.abc import Iterator
from urllib.parse import quote

from golden.dialects import Dialect, Options
from golden.fields import Body, failure, grounded, ident, objects, opened, text, used
from golden.signals import Call, Error, Finish, Odd, Reasoning, Result, Signal, Text
from golden.sse import Event
from golden.wire import Head, Post, Request

_MODEL = "gemini-2.5-flash"

_FINISHES = {"STOP": Finish("stop"), "MAX_TOKENS": Finish("length"), "FUNCTION_CALL": Finish("tools")}
_NO_REASON = ("FINISH_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED")
_OUTPUTS = ("candidatesTokenCount", "thoughtsTokenCount")

_CODE = "code_execution"


def claims(head: Head, event: Event) -> str | None:
    """`candidates`, or the feedback that stands in their place."""
    if event.data is None or ('"candidates"' not in event.data and '"promptFeedback"' not in event.data):
        return None
    body, _ = opened(event)
    kinds = {"candidates": list, "promptFeedback": dict}
    found = next((key for key, kind in kinds.items() if body is not None and isinstance(body.get(key), kind)), None)
    return f"JSON with `{found}`" if found else None


def request(request: Request, options: Options) -> Post:
    model = request.model or options.id or _MODEL
    path = quote(model if "/" in model else f"models/{model}")
    # A turn that was no more than tool calls has no text, and the protocol takes no empty one.
    turns = [turn for pair in request.history for turn in zip(("user", "model"), pair, strict=True) if turn[1]]
    turns.append(("user", request.question))
    body: Body = {"contents": [{"role": role, "parts": [{"text": words}]} for role, words in turns]}
    if request.system_prompt is not None:
        body["systemInstruction"] = {"parts": [{"text": request.system_prompt}]}
    return Post(f"/v1beta/{path}:streamGenerateContent?alt=sse", body)


def read(event: Event) -> tuple[Signal, ...]:
    body, odd = opened(event)
    if body is None:
        return odd
    signals: list[Signal] = [*failure(body, "candidates", whole=event.name == "error")]
    feedback = body.get("promptFeedback")
    if isinstance(feedback, dict):
        _blocked(feedback.get("blockReason"), feedback.get("blockReasonMessage"), signals)
    candidates = [one for one in objects(body.get("candidates")) if one.get("index") in (0, None)]
    for candidate in candidates:
        content = candidate.get("content")
        for part in objects(content.get("parts")) if isinstance(content, dict) else ():
            _part(part, signals)
        _finish(candidate, signals)
    if isinstance(usage := body.get("usageMetadata"), dict):
        signals += _tokens(usage)
    if "groundedness" in (event.data or ""):
        signals += grounded(body, *candidates)
    return (*signals, *odd)


def _part(part: Body, signals: list[Signal]) -> None:
    if isinstance(words := part.get("text"), str):
        signals.append(Reasoning() if part.get("thought") is True else Text(words))
    if isinstance(call := part.get("functionCall"), dict) and call:
        _call(text(call.get("name")), call, signals)
    if isinstance(response := part.get("functionResponse"), dict):
        signals.append(Result(response.get("response"), ident(response.get("id")), text(response.get("name"))))
    # What Google runs itself.
    if isinstance(code := part.get("executableCode"), dict):
        signals.append(Call(_CODE, {key: value for key, value in code.items() if key != "id"}, ident(code.get("id"))))
    if isinstance(outcome := part.get("codeExecutionResult"), dict):
        result = {key: value for key, value in outcome.items() if key != "id"}
        signals.append(Result(result, ident(outcome.get("id")), _CODE))
    if isinstance(tool := part.get("toolCall"), dict):
        _call(text(tool.get("toolType")).lower(), tool, signals)
    if isinstance(came := part.get("toolResponse"), dict):
        signals.append(Result(came.get("response"), ident(came.get("id")), text(came.get("toolType")).lower()))


def _call(name: str, call: Body, signals: list[Signal]) -> None:
    if call.get("partialArgs") is None and not call.get("willContinue"):
        signals.append(Call(name, call.get("args"), ident(call.get("id"))))
        return
    signals.append(Odd("malformed", "arguments that come in pieces by path are not read"))
    if name:
        signals.append(Call(name, "(in pieces)", ident(call.get("id"))))


def _finish(candidate: Body, signals: list[Signal]) -> None:
    reason = text(candidate.get("finishReason")).upper()
    if finish := _FINISHES.get(reason):
        signals.append(finish)
    else:
        _blocked(reason, candidate.get("finishMessage"), signals)


def _blocked(reason: object, message: object, signals: list[Signal]) -> None:
    """All other reasons say that there is no whole answer: safety, recitation, a malformed call."""
    if isinstance(reason, str) and reason and reason not in _NO_REASON:
        signals.append(Error(f"blocked: {reason}: {message}" if isinstance(message, str) else f"blocked: {reason}"))


def _tokens(usage: Body) -> Iterator[Signal]:
    """A count that is left out is 0 (proto3). Thoughts are output too, and counted apart."""
    counts = [count for key in _OUTPUTS if (count := usage.get(key)) is not None]
    are_counts = all(type(count) is int and count >= 0 for count in counts)
    output = sum(counts) if are_counts else -1  # type: ignore[arg-type]  # each is an int: checked above
    yield from used({"input": usage.get("promptTokenCount", 0), "output": output}, "input", "output")


DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, marker="finish")
