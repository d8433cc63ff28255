"""What crosses between golden and a target: one question out, the head of the reply and its bytes back."""

import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from golden.sse import Event

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
        answer_ids: for each of the turns before, the id that the agent gave its answer, "" for none.
        case_id: the case that asks it.
        suite: the file of that case's suite, "" for none.
    """

    question: str
    session_id: str
    turns: int = 1
    history: tuple[tuple[str, str], ...] = ()
    model: str | None = None
    system_prompt: str | None = None
    answer_ids: tuple[str, ...] = ()
    case_id: str = ""
    suite: str = ""


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
    """Bytes of a body as they arrived, `at` seconds after the request, or None for: now.

    A body whose last piece has its own time ended then.
    """

    data: bytes
    at: float | None = None


class Reply(NamedTuple):
    """A whole reply as it came, its events told apart: what a recording gives instead of a head and chunks.

    Attributes:
        head: its head; `ends` says how the body showed that it ended.
        events: in the order and at the times they came.
        ended_s: when golden stopped listening, in seconds after the request.
        dialect: the one that it was read in, "" where that is not known.
        notes: findings that its events do not show, as (kind, message).
        is_golden: whether its events are golden's own, made of messages: they are `native`, whatever dialect is named.
    """

    head: Head
    events: tuple[Event, ...]
    ended_s: float
    dialect: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    is_golden: bool = False


class Target(Protocol):
    """Where answers come from. A user's own target is any object of this shape.

    `open` is entered once a run, before the first question, and left after the last. `ask` yields one `Head`, then
    the body's `Chunk`s, or else one `Reply`; it ends when the body has ended whole and raises `TargetError` for
    anything else. An async generator is closed early (`aclose`) when nobody wants the rest.
    """

    kind: str
    name: str

    def open(self) -> AbstractAsyncContextManager[object]: ...

    def ask(self, request: Request) -> AsyncIterator[Head | Chunk | Reply]: ...
