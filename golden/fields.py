"""What stands in the fields of an event's JSON, whatever an agent puts there: dialects read by these."""

from collections.abc import Iterator
from itertools import chain, repeat

from golden.payload import parse
from golden.signals import End, Error, Odd, RunningTokens, Score, Signal, Tokens
from golden.sse import Event
from golden.wire import Request

Body = dict[str, object]

NO_MESSAGE = "no message"

# What an event without data says by its name.
_BARE: dict[str, tuple[Signal, ...]] = {"error": (Error(NO_MESSAGE),), "done": (End(),)}

# What JSON numbers hold exactly everywhere; a larger count is no count.
_MOST_TOKENS = 2**53

_MESSAGES = ("message", "detail", "error", "type", "status")


def messages(request: Request, *, system: bool = True) -> list[dict[str, str]]:
    """Returns a conversation as messages of a role and a content, this turn's question last.

    Answers that are empty (a turn was no more than tool calls) are left out: model APIs refuse them.

    Args:
        request: the turn's.
        system: whether the system prompt is the first of them.
    """
    return [{"role": role, "content": content} for role, content, _ in _told(request, system)]


def named_messages(request: Request) -> list[dict[str, str]]:
    """Returns the same, each with its `id`: an agent that keeps the conversation itself knows its answers by theirs."""
    return [
        {"id": id or f"{request.session_id}-{number}", "role": role, "content": content}
        for number, (role, content, id) in enumerate(_told(request, True))
    ]


def _told(request: Request, system: bool) -> Iterator[tuple[str, str, str]]:
    """Each message's role, content and, where the agent gave it one, id."""
    if system and request.system_prompt is not None:
        yield "system", request.system_prompt, ""
    ids = chain(request.answer_ids, repeat(""))
    for (question, answer), id in zip(request.history, ids, strict=False):
        yield "user", question, ""
        if answer.strip():
            yield "assistant", answer, id
    yield "user", request.question, ""


def opened(event: Event, *, named: bool = False) -> tuple[Body | None, tuple[Signal, ...]]:
    """Returns an event's JSON object and what is odd about it; without one, None and what it means all the same.

    Args:
        event: the event.
        named: whether the dialect names its events: else one with a name is the server's own, in a form of its own.
    """
    data = event.data or ""
    value, fault = parse(data)
    if isinstance(value, dict):
        return value, (not_json(event, fault),) if fault else ()
    name = event.name
    if not data.strip():
        return None, _BARE.get(name, ())
    if data.strip() == "[DONE]":
        return None, (End(),)
    if name == "error":
        return None, (Error(data),)
    if name not in ("", "message") and not named:
        return None, ()
    return None, (not_json(event, fault) if fault else malformed(event),)


def not_json(event: Event, fault: str) -> Odd:
    """Says that an event's data is not JSON."""
    return Odd("not_json", f"the data of `{event.name or 'message'}` is not JSON: {fault}")


def malformed(event: Event) -> Odd:
    """Says that an event's data is JSON of another kind than it should be."""
    return Odd("malformed", f"the data of `{event.name or 'message'}` is not what it should be")


def lacking(what: str, field: str) -> Odd:
    """Says that a field is not there, or not what it should be."""
    return Odd("malformed", f"`{what}` has no `{field}`")


def objects(value: object) -> list[Body]:
    """Returns the objects of a list; an object alone counts as a list of it, and anything else as none."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    return [value] if isinstance(value, dict) else []


def text(value: object) -> str:
    """Returns a text, "" for anything else."""
    return value if isinstance(value, str) else ""


def text_at(value: object, key: str) -> str:
    """Returns the text that a field of an object holds, "" where it holds none."""
    return text(value.get(key)) if isinstance(value, dict) else ""


def ident(value: object) -> str:
    """Returns an id or an index as text, "" where there is none."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int and abs(value) <= _MOST_TOKENS else ""


def failure(body: Body, *answers: str, whole: bool = False) -> tuple[Error, ...]:
    """Returns the error that an object tells of, if it does.

    Args:
        body: the object.
        answers: the fields of an answer. Beside none of them `{}` is an error too: what JavaScript makes of an
            exception in JSON.
        whole: whether it is one itself, where it has none in it.
    """
    error = body.get("error")
    if error or (error == {} and not any(body.get(field) for field in answers)):
        return (Error(said(error)),)
    return (Error(said(body)),) if whole else ()


def said(error: object) -> str:
    """Returns what an error says: it is a text, or an object with one somewhere."""
    while isinstance(error, dict):
        error = next((found for key in _MESSAGES if (found := error.get(key))), None)
    return error if isinstance(error, str) and error else NO_MESSAGE


def used(
    usage: object,
    input: str,
    output: str,
    *,
    part: str = "",
    kind: type[Tokens] | type[RunningTokens] = RunningTokens,
) -> Iterator[Signal]:
    """Gives what an object says of usage under these keys; nothing, where it says nothing."""
    if not isinstance(usage, dict):
        return
    given = [usage.get(key) for key in (input, output)]
    counts = [count for count in given if type(count) is int and 0 <= count <= _MOST_TOKENS]
    if len(counts) < sum(count is not None for count in given):
        yield Odd("malformed", "the usage has counts that are no whole numbers")
    elif counts:
        yield kind(given[0], given[1], part)


def score(value: object) -> Score:
    """Returns a score that stands alone, or as `score` in an object."""
    return Score(value.get("score") if isinstance(value, dict) else value)


def grounded(*bodies: object) -> Iterator[Score]:
    """Gives the score under the name `groundedness`, in the first of the objects that has one."""
    for body in bodies:
        if isinstance(body, dict) and (found := body.get("groundedness")) is not None:
            yield score(found)
            return
