"""Headers of the command line, with values from the environment that are never written."""

import re
from collections.abc import Iterable, Mapping

from golden.errors import UsageError
from golden.redaction import Secrets

# Headers that say who asks: with one of them golden mints no token of its own.
AUTHORISING = frozenset({"authorization", "api-key", "cookie", "x-api-key"})

# They say where the question's body ends, which is not for options to say.
_FRAMING = frozenset({"connection", "content-length", "transfer-encoding"})

_SENSITIVE = re.compile(r"auth|cookie|key|pass|secret|session|token", re.IGNORECASE)
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
    """Reads `--header` options: `$NAME` in a value is taken from the environment, `$$` is a dollar.

    Args:
        given: the options.
        environ: the environment.
        secrets: takes every value from the environment, and what a header of a telling name holds.

    Raises:
        UsageError: a header of another form, a variable that is not set, or a value that no header can hold. The value
            is never shown.
    """

    def taken(hit: re.Match[str]) -> str:
        name = (hit[1] or "").strip("{}")
        if name == "$":
            return "$"
        value = environ.get(name, "").strip() if name else ""
        if not value:
            problem = f"${name} is not set, or empty" if name else "a lone $ names no variable"
            raise UsageError(f"--header: {problem}", hint="$NAME is taken from the environment, $$ is a dollar")
        secrets.add(value)
        return value

    pairs = []
    for header in given:
        name = header_name(header)
        if name in _FRAMING:
            raise UsageError(f"--header: golden sets {name!r} itself")
        value = _VARIABLE.sub(taken, header.partition(":")[2].strip())
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"--header: the value of {name!r} holds characters that no header can hold")
        if _SENSITIVE.search(name):
            secrets.add(value)
            secrets.add(value.rpartition(" ")[2])
        pairs.append((name, value))
    return tuple(pairs)
