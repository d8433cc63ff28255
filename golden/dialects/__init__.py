"""How agents speak: one file a dialect, its name the file's, its one constant `DIALECT`."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from golden import loading
from golden.errors import TargetError
from golden.signals import Signal
from golden.sse import Event
from golden.wire import Head, Post, Request


@dataclass(frozen=True, slots=True)
class Dialect:
    """A translator between golden and one family of agents. It holds no state: gathering is the fold's work.

    Attributes:
        claims: (head, event) → why this event shows the dialect, or None.
        request: a turn's question → how it is posted.
        read: an event → what it means. Never raises.
    """

    claims: Callable[[Head, Event], str | None]
    request: Callable[[Request], Post]
    read: Callable[[Event], Sequence[Signal]]


@cache
def names() -> tuple[str, ...]:
    """Returns the dialects there are."""
    return tuple(loading.names(sys.modules[__name__]))


@cache
def load(name: str) -> Dialect:
    """Returns the dialect of that name.

    Raises:
        UsageError: there is none.
    """
    dialect = loading.load(sys.modules[__name__], name, "DIALECT")
    return cast("Dialect", dialect)


def posting(name: str, path: str | None = None) -> Callable[[Request], Post]:
    """Returns how questions are posted in a dialect: as `native` has them for `auto`, which only reads (contract 6).

    Args:
        name: the dialect, or `auto`.
        path: where to, in place of the dialect's own.

    Raises:
        UsageError: there is no such dialect.
    """
    request = load("native" if name == "auto" else name).request
    return request if path is None else lambda asked: replace(request(asked), path=path)


def detect(head: Head, event: Event) -> tuple[str, str] | None:
    """Tells the dialect from one event and the reply's head.

    Returns:
        The dialect's name and why it is that one; None where no dialect claims the event.

    Raises:
        TargetError: two claim it. A guess would be a verdict on a stream that was misread.
    """
    claims = [(name, reason) for name in names() if (reason := load(name).claims(head, event))]
    if len(claims) > 1:
        both = " and ".join(f"`{name}` ({reason})" for name, reason in claims)
        raise TargetError("unknown_dialect", f"more than one dialect claims this stream: {both}", hint="use --dialect")
    return claims[0] if claims else None
