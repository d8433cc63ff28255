"""How agents speak: one file a dialect, its name the file's, its one constant `DIALECT`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from golden.signals import Marker, Signal
from golden.sse import Event
from golden.template import filled, given
from golden.wire import Head, Post, Request

Framing = Literal["sse", "lines", "text"]

EVENT_STREAM = "text/event-stream"
LINES = (
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/json-lines",
)
PLAIN = "text/plain"

CONTENT_TYPES = (EVENT_STREAM, *LINES, PLAIN)
"""What may be an answer in a dialect that is yet to be told."""


@dataclass(frozen=True, slots=True)
class Options:
    """What `[tool.golden.dialects.NAME]` says of a dialect (contract 6).

    Attributes:
        path: where questions are posted, None for the dialect's own.
        headers: sent with each question, and what opens and closes its conversation.
        body: fields added to each question's body.
        id: of the assistant, app or agent that is asked, where the protocol names one.
        groundedness: a JMESPath into each event's JSON, where the score stands, "" for none.
    """

    path: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    id: str | None = None
    groundedness: str = ""


@dataclass(frozen=True, slots=True)
class Opening:
    """A call that opens a conversation, before its first question.

    Attributes:
        post: the call.
        session: its reply's JSON → the conversation's id, "" where it is golden's own; a `LookupError` where
            there is none.
    """

    post: Post
    session: Callable[[object], str]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A translator between golden and one family of agents. It holds no state: gathering is the fold's work.

    Attributes:
        claims: (head, event) → why this event shows the dialect, or None.
        request: a turn's question → how it is posted.
        read: an event → what it means. Never raises.
        framings: how its events may be told apart: server-sent events, lines, or plain text; the first where a reply's
            head does not tell.
        accepts: the content types that may be an answer in it.
        opens: a conversation's first question → the call before it, where the protocol has one.
        closes: a conversation's last question → the call after it, where there is one.
        marker: how the end of a turn is marked.
        mints: whether golden's own token is meant for its servers (contract 6).
    """

    claims: Callable[[Head, Event], str | None]
    request: Callable[[Request, Options], Post]
    read: Callable[[Event], Sequence[Signal]]
    framings: tuple[Framing, ...] = ("sse",)
    accepts: tuple[str, ...] = (EVENT_STREAM,)
    opens: Callable[[Request, Options], Opening | None] | None = None
    closes: Callable[[Request, Options], Post] | None = None
    marker: Marker = "none"
    mints: bool = False


def posting(dialect: Dialect, options: Options) -> Callable[[Request], Post]:
    """Returns how questions are posted in a dialect, with what its options add."""

    def post(request: Request) -> Post:
        own, named = dialect.request(request, options), given(request, options.id)
        added = filled(options.body, named)
        body = {**own.body, **added} if isinstance(own.body, dict) and isinstance(added, dict) else own.body
        path = own.path if options.path is None else str(filled(options.path, named))
        return headed(replace(own, path=path, body=body), options)

    return post


def headed(post: Post, options: Options) -> Post:
    """Returns what is sent with the headers that a dialect's options add."""
    both = (*post.headers.items(), *options.headers.items())
    return replace(post, headers={name.lower(): value for name, value in both})


def framing(head: Head) -> Framing:
    """Tells by a reply's head how it is framed. A `text` may yet be `lines`: its first line tells."""
    essence = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    if essence in LINES or "x-vercel-ai-data-stream" in head.headers:
        return "lines"
    return "text" if essence == PLAIN else "sse"
