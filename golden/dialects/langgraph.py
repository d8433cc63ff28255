"""LangGraph's server: an event's name is the stream mode. Several modes tell the same messages again, by their ids.

The bodies of runs just end: only older servers send an `end`.
"""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from golden.dialects import Dialect, Opening, Options
from golden.fields import NO_MESSAGE, Body, grounded, malformed, not_json, objects, said, text_at
from golden.langchain import message, messages
from golden.payload import parse
from golden.signals import End, Error, Finish, Signal
from golden.sse import Event
from golden.wire import Head, Post, Request

Signals = Iterator[Signal]

# Text, calls, results and usage as they come; interrupts; what the graph itself writes. `values` would say no more.
_ASKED = ["messages-tuple", "updates", "custom"]


def claims(head: Head, event: Event) -> str | None:
    """The reply's header names the run. Of the events' names, `metadata` is LangServe's too: it counts no attempts."""
    if "/runs/" in head.headers.get("content-location", ""):
        return "the header `content-location` of a run"
    name = event.name.partition("|")[0]
    if name not in _MODES and name not in ("metadata", "messages/metadata"):
        return None
    value, _ = parse(event.data or "")
    named = f"an event named `{event.name}`"
    if name == "metadata":
        return f"{named} of a run" if isinstance(value, dict) and {"run_id", "attempt"} <= value.keys() else None
    if name.startswith("messages"):
        return named if isinstance(value, dict if name == "messages/metadata" else list) else None
    return named if name in ("updates", "values") and isinstance(value, dict) else None


def request(request: Request, options: Options) -> Post:
    """A single turn has no thread. What a graph makes configurable is its own; these two names are its templates'."""
    body: Body = {
        "assistant_id": options.id or "agent",
        "input": {"messages": [{"role": "user", "content": request.question}]},
        "stream_mode": _ASKED,
    }
    wanted = {"model": request.model, "system_prompt": request.system_prompt}
    if configurable := {name: value for name, value in wanted.items() if value is not None}:
        body["config"] = {"configurable": configurable}
    thread = f"/threads/{quote(request.session_id, safe='')}" if request.turns > 1 else ""
    return Post(f"{thread}/runs/stream", body)


def opens(request: Request, options: Options) -> Opening | None:
    return Opening(Post("/threads", {}), _thread) if request.turns > 1 else None


def _thread(reply: object) -> str:
    found = text_at(reply, "thread_id")
    if not found:
        raise LookupError("thread_id")
    return found


def read(event: Event) -> tuple[Signal, ...]:
    name = event.name.partition("|")[0]  # what follows names a subgraph
    if name == "end":
        return (End(),)
    reader = _MODES.get(name)
    if reader is None:
        return ()
    value, fault = parse(event.data or "")
    odd = (not_json(event, fault),) if fault else ()
    if name == "error":
        told = said(value)
        return (Error((event.data or NO_MESSAGE) if told == NO_MESSAGE else told), *odd)
    if not isinstance(value, list if name.startswith("messages") else dict):
        return odd or (malformed(event),)
    return (*reader(value), *odd)


def _tuple(value: list[object]) -> Signals:
    """A piece of a message with what is known of its node; a message that did not stream comes whole."""
    return message(value[0] if value else None)


def _updates(value: Body) -> Signals:
    for node, update in value.items():
        if node == "__interrupt__":
            yield Finish("waiting")
        for state in objects(update):
            yield from messages(state.get("messages"))


def _state(value: Body) -> Signals:
    yield from messages(value.get("messages"))
    if "__interrupt__" in value:
        yield Finish("waiting")


def _langchain(value: Body) -> Signals:
    """LangChain's own events: of models and tools, and what the nodes of the graph put out."""
    data = value.get("data")
    if not isinstance(data, dict):
        return
    chunk, output = data.get("chunk"), data.get("output")
    match value.get("event"):
        case "on_chat_model_stream":
            yield from message(chunk)
        case "on_chat_model_end" | "on_tool_end":
            yield from messages(output)
        case "on_chain_stream" if isinstance(chunk, dict):
            yield from _state(chunk) if "messages" in chunk else _updates(chunk)
        case "on_custom_event" if value.get("name") == "groundedness":
            yield from grounded({"groundedness": data})


_MODES: dict[str, Callable[[Any], Signals]] = {
    "messages": _tuple,
    "messages/partial": lambda value: messages(value, on_their_way=True),
    "messages/complete": messages,
    "updates": _updates,
    "values": _state,
    "events": _langchain,
    "custom": grounded,
    "error": lambda value: iter(()),
}

DIALECT: Dialect = Dialect(claims=claims, request=request, read=read, opens=opens)
