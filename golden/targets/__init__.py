"""Where answers come from: one file a kind of target, its one constant `TARGET`, which makes one from a `Spec`."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast
from urllib.parse import urlencode

from golden.dialects import Dialect, Opening, Options, headed
from golden.errors import TargetError
from golden.payload import dump, parse
from golden.redaction import Secrets
from golden.refusal import BODY, refusal
from golden.wire import Chunk, Head, Post, Request, Target

# The most of such a reply that is read, in bytes.
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Spec:
    """What a run says of its target.

    Attributes:
        where: MODULE:NAME, a base URL, or a path.
        dialect: how questions are posted.
        options: what is said of that dialect.
        headers: sent with each question; their values may be secrets.
        token: whether a JWT is minted for the questions.
        allow_hosts: where not empty, globs of which the host must match one.
        environ: the environment secrets are read from.
        secrets: takes each secret that must not be written.
        alone: whether there is no suite, and recordings are judged by themselves.
    """

    where: str
    dialect: Dialect
    options: Options = field(default_factory=Options)
    headers: tuple[tuple[str, str], ...] = ()
    token: bool = True
    allow_hosts: tuple[str, ...] = ()
    environ: dict[str, str] = field(default_factory=dict)
    secrets: Secrets = field(default_factory=Secrets)
    alone: bool = False


Factory = Callable[[Spec], Target]


def spoken(options: Options, path: str | None) -> Options:
    """Returns what is said of a dialect with another path, where one is given."""
    return options if path is None else replace(options, path=path)


def encoded(post: Post) -> tuple[bytes, str]:
    """Returns a body's bytes and their content type."""
    if post.form:
        return urlencode(cast("Mapping[str, str]", post.body)).encode(), "application/x-www-form-urlencoded"
    return dump(post.body).encode(), "application/json"


Send = Callable[[Post], AsyncGenerator[Head | Chunk, None]]
"""Sends one call and gives what comes: as a target does it, whatever the call is for."""


async def begun(
    send: Send, dialect: Dialect, options: Options, request: Request, cover: Callable[[str], str]
) -> tuple[Request, str]:
    """Opens the conversation of a first question, where the dialect has one opened.

    Returns:
        (the question in it, the conversation's id), the same question and "" where nothing was opened.

    Raises:
        TargetError: it was refused, or gives no id.
    """
    opening = dialect.opens(request, options) if dialect.opens and not request.history else None
    if opening is None:
        return request, ""
    async with aclosing(send(headed(opening.post, options))) as pieces:
        session = await _opened(pieces, opening, cover) or request.session_id
    return replace(request, session_id=session), session


async def ended(send: Send, dialect: Dialect, options: Options, request: Request) -> None:
    """Closes a conversation whose last question this was, where the dialect says how.

    Raises:
        TargetError: it could not be closed.
    """
    if dialect.closes:
        async with aclosing(send(headed(dialect.closes(request, options), options))) as pieces:
            async for _ in pieces:
                pass


async def _opened(reply: AsyncIterator[Head | Chunk], opening: Opening, cover: Callable[[str], str]) -> str:
    """Reads the reply to a call that opens a conversation, and returns the conversation's id."""
    head, body = Head(0, {}, "close"), b""
    async for piece in reply:
        if isinstance(piece, Head):
            head = piece
        elif len(body) < _LARGEST:
            body += piece.data
    if not 200 <= head.status < 300:
        raise refusal(head, body[:BODY], cover)
    value, _ = parse(body.decode(errors="replace"))
    try:
        return opening.session(value)
    except (LookupError, TypeError, ValueError):
        raise TargetError("http", f"the reply to {opening.post.path} names no conversation") from None
