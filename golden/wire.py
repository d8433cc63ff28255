"""What crosses between golden and a target: one question out, the head of the reply and its bytes back."""

import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

# How a body shows that it ended: HTTP's last chunk or full length, an ASGI app's final message, an iterable's end.
# `close` is no proof: a connection that just closes cannot be told from one that was cut.
Ends = Literal["chunked", "length", "app", "iterable", "close"]


@dataclass(frozen=True, slots=True)
class Request:
    """One turn's question, as a case asks it.

    Attributes:
        question: the text.
        session_id: the conversation, fresh for each attempt at a case and the same for all its turns.
        turns: how many turns the case has: where it is one, the session need not be kept.
        history: the turns before, oldest first, as (question, answer).
        model: the model asked for, or None.
        system_prompt: the system prompt asked for, or None.
    """

    question: str
    session_id: str
    turns: int = 1
    history: tuple[tuple[str, str], ...] = ()
    model: str | None = None
    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """What is sent: a path below the base URL and a body, as JSON or, where `form`, as a form."""

    path: str
    body: object
    headers: Mapping[str, str] = field(default_factory=dict)
    form: bool = False
    method: str = "POST"


def address(base_url: str, path: str) -> str:
    """Returns where a path is below a base URL, whose own path is kept."""
    return f"{base_url.rstrip('/')}/{path.lstrip('/')}"


def is_loopback(host: str) -> bool:
    """Tells whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a reply.

    Attributes:
        status: in-process replies have 200.
        headers: names in lower case; in-process replies have none.
        ends: how the body shows that it ended.
        asked_again: why the question was sent twice, "" where it was sent once.
        session: the conversation's id, where the server gave one before the question, else "".
    """

    status: int
    headers: Mapping[str, str]
    ends: Ends
    asked_again: str = ""
    session: str = ""


class Chunk(NamedTuple):
    """Bytes of a body as they arrived, `at` seconds after the request, or None for: now."""

    data: bytes
    at: float | None = None


class Target(Protocol):
    """Where answers come from. A user's own target is any object of this shape.

    `open` is entered once a run, before the first question, and left after the last. `ask` yields one `Head`, then
    the body's `Chunk`s; it ends when the body has ended whole and raises `TargetError` for anything else. An async
    generator is closed early (`aclose`) when nobody wants the rest.
    """

    kind: str
    name: str

    def open(self) -> AbstractAsyncContextManager[object]: ...

    def ask(self, request: Request) -> AsyncIterator[Head | Chunk]: ...
