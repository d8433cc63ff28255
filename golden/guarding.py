"""A dialect of another package, held to what golden's own keep: whatever it raises is the case's error, and its own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from golden.blame import raised_at, told
from golden.dialects import Dialect, Framing, Opening
from golden.errors import TargetError, UsageError
from golden.payload import dump
from golden.signals import Signal
from golden.sse import Event
from golden.wire import Post

_Given = TypeVar("_Given")


def guarded(name: str, dialect: object) -> Dialect:
    """Returns the dialect, made sound: what it raises, or gives that is none of what it should be, is a `TargetError`.

    Args:
        name: the dialect's.
        dialect: what its package has under that name.

    Raises:
        UsageError: it is no dialect.
    """
    if not isinstance(dialect, Dialect):
        raise UsageError(f"the dialect {name!r} is no `golden.dialects.Dialect`, but a {type(dialect).__name__}")
    if not dialect.framings or not set(dialect.framings) <= {*get_args(Framing)}:
        raise UsageError(f"the dialect {name!r} has the framings {dialect.framings!r}", hint="sse, lines, text")

    def guard(field: str, kinds: Any) -> Callable[..., Any]:
        call = getattr(dialect, field)
        return lambda *given: _sound(name, field, lambda: call(*given), kinds)

    def read(event: Event) -> Sequence[Signal]:
        signals = _sound(name, "read", lambda: tuple(dialect.read(event)), tuple)
        for signal in signals:
            if wrong := _wrong(signal):
                raise _fault(name, f"its `read` gave {wrong}")
        return signals

    return replace(
        dialect,
        claims=guard("claims", str | None),
        request=guard("request", Post),
        read=read,
        opens=guard("opens", Opening | None) if dialect.opens else None,
        closes=guard("closes", Post) if dialect.closes else None,
    )


def _sound(name: str, field: str, call: Callable[[], _Given], kinds: Any) -> _Given:
    try:
        given = call()
    except (Exception, SystemExit) as error:
        raise _fault(name, f"its `{field}` raised {told(error)}", raised_at(error)) from error
    if not isinstance(given, kinds):
        raise _fault(name, f"its `{field}` gave a value of type {type(given).__name__}")
    return given


def _fault(name: str, what: str, hint: str | None = None) -> TargetError:
    return TargetError("agent", f"the dialect {name!r} of another package is at fault: {what}", hint=hint)


def _kinds(hint: Any) -> Any:
    """What a field's value must be an instance of; None for what may be anything that JSON says."""
    return None if hint is object else str if get_origin(hint) is Literal else hint


_FIELDS = {kind: {field: _kinds(hint) for field, hint in get_type_hints(kind).items()} for kind in get_args(Signal)}


def _wrong(signal: Any) -> str:
    """What is wrong with a signal, "" where nothing is: the fold trusts its signals."""
    if type(signal) not in _FIELDS:
        return f"a value of type {type(signal).__name__}, which is no signal"
    for field, kinds in _FIELDS[type(signal)].items():
        value = getattr(signal, field)
        try:
            is_right = bool(dump(value)) if kinds is None else isinstance(value, kinds)
        except TypeError:
            is_right = False
        if not is_right:
            return f"a `{type(signal).__name__}` whose `{field}` is a value of type {type(value).__name__}"
    return ""
