"""Headers that questions are sent with, with values that are never written."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from golden.errors import UsageError
from golden.redaction import TELLING, Secrets

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Names and values; as pairs, a name may come twice."""

# Headers that say who asks: with one of them golden mints no token of its own.
AUTHORISING = frozenset({"authorization", "api-key", "cookie", "x-api-key"})

# They say where the question's body ends, which is not for options to say.
_FRAMING = frozenset({"connection", "content-length", "transfer-encoding"})

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NAMED = re.compile(r"([A-Za-z]+ )?\$([A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})")
_VARIABLE = re.compile(r"\$(\$|[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})?")


def header_name(header: str) -> str:
    """Returns the lower-case name of a `Name: value` option.

    Raises:
        UsageError: it is not of that form.
    """
    name, colon, _ = header.partition(":")
    if not colon or not _NAME.fullmatch(name.strip()):
        raise UsageError("--header takes 'Name: value'", hint="for example --header 'Authorization: Bearer $TOKEN'")
    return name.strip().lower()


def without_secrets(header: str) -> str:
    """Returns a `Name: value` option to show: of the value no more than a scheme and the variable that it names."""
    header_name(header)
    name, _, value = map(str.strip, header.partition(":"))
    return f"{name}: {value if _NAMED.fullmatch(value) else '…'}"


def headers(given: Iterable[str], environ: Mapping[str, str], secrets: Secrets) -> tuple[tuple[str, str], ...]:
    """Reads `--header` options as `filled` does.

    Args:
        given: the options.
        environ: the environment.
        secrets: takes what must not be written.

    Raises:
        UsageError: a header of another form, or as in `filled`.
    """
    named = [(header_name(header), header.partition(":")[2].strip()) for header in given]
    return filled(named, environ, secrets, "--header")


def filled(
    given: Iterable[tuple[str, str]], environ: Mapping[str, str], secrets: Secrets, who: str
) -> tuple[tuple[str, str], ...]:
    """Returns headers, names in lower case: `$NAME` in a value is taken from the environment, `$$` is a dollar.

    Args:
        given: names and values.
        environ: the environment.
        secrets: takes every value from the environment, and what a header of a telling name holds.
        who: gave them, for the message.

    Raises:
        UsageError: a variable that is not set, or a name or value that no header can have. The value is never shown.
    """

    def taken(hit: re.Match[str]) -> str:
        name = (hit[1] or "").strip("{}")
        if name == "$":
            return "$"
        value = environ.get(name, "").strip() if name else ""
        if not value:
            problem = f"${name} is not set, or empty" if name else "a lone $ names no variable"
            raise UsageError(f"{who}: {problem}", hint="$NAME is taken from the environment, $$ is a dollar")
        secrets.add(value)
        return value

    return sendable([(name, _VARIABLE.sub(taken, value)) for name, value in given], secrets, who)


def authorised(authorize: Callable[[], Mapping[str, str]], secrets: Secrets) -> dict[str, str]:
    """Returns the headers that a question is authorised with, as they are now.

    Raises:
        UsageError: no request could be sent with them.
    """
    return dict(sendable(authorize(), secrets, "authorize"))


def sendable(given: Headers, secrets: Secrets, who: str = "headers") -> tuple[tuple[str, str], ...]:
    """Returns headers with their names in lower case.

    Args:
        given: the headers.
        secrets: takes what those of telling names hold: the whole value, and what stands behind its scheme.
        who: gave them, for the message.

    Raises:
        UsageError: no request could be sent with them. No value is shown.
    """
    pairs = []
    for pair in given.items() if isinstance(given, Mapping) else given:
        match pair:
            case (str(name), str(value)) if _NAME.fullmatch(name):
                pairs.append((name.lower(), value))
            case (str(name), str()):
                raise UsageError(f"{who}: {name!r} is no name of a header")
            case _:
                raise UsageError(f"{who}: expected pairs of a name and a value, both text")
    for name, value in pairs:
        if name in _FRAMING:
            raise UsageError(f"{who}: golden sets {name!r} itself")
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{who}: the value of {name!r} holds characters that no header can hold")
        if TELLING.search(name):
            secrets.add(value)
            secrets.add(value.rpartition(" ")[2])
    return tuple(pairs)
