"""Patterns of users, bounded in length, size and time: the one door to the `regex` package.

The package is loaded only when a pattern is compiled, so a suite without patterns does not pay for it. `re` cannot
serve: it knows no time-out, and it holds the interpreter's lock while it searches.
"""

import importlib
import re
from functools import lru_cache
from typing import Protocol

LONGEST = 4000
"""The most characters of a pattern."""

SECONDS = 1.0
"""The longest that one search may take. On POSIX the package counts the processor time of the whole process."""

# `regex` writes out every smallest count when it compiles: `((a{1000}){1000}){1000}` would fill the memory, and its
# time-out is for searching only.
_MOST_COPIES = 100_000

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)[,}]|.", re.DOTALL)


class PatternError(ValueError):
    """A pattern that cannot be used; the message says why and, where known, at which position."""


class PatternTimeout(Exception):
    """A search that was given up: whether the pattern matches is undecided."""


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...


class Pattern(Protocol):
    """A compiled pattern."""

    def search(self, string: str, *, timeout: float) -> _Match | None: ...


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> Pattern:
    """Compiles a pattern in the syntax of the `regex` package, which takes in that of `re`.

    Raises:
        PatternError: it is longer than 4,000 characters, too big when written out, or no pattern.
    """
    if len(text) > LONGEST:
        raise PatternError(f"a pattern has at most {LONGEST:,} characters, this one has {len(text):,}")
    if _copies(text) > _MOST_COPIES:
        raise PatternError(f"the counts in the pattern come to more than {_MOST_COPIES:,} repeated parts")
    regex = importlib.import_module("regex")
    try:
        compiled: Pattern = regex.compile(text)
    except regex.error as error:
        raise PatternError(f"bad pattern: {error.msg} at position {error.pos}") from None
    except RecursionError:
        raise PatternError("bad pattern: nested too deep") from None
    except Exception as error:  # flags that exclude each other, and whatever else the package's parser stumbles over
        raise PatternError(f"bad pattern: {error}") from None
    return compiled


def search(text: str, subject: str) -> tuple[int, int] | None:
    """Returns where the pattern `text` is first found in `subject`, as (start, end), or None where it is not.

    Other threads run on meanwhile.

    Raises:
        PatternError: as `compile_pattern`.
        PatternTimeout: it was not decided within a second, or within the memory that the package allows itself.
    """
    try:
        match = compile_pattern(text).search(subject, timeout=SECONDS)
    except (TimeoutError, MemoryError) as error:
        bound = f"{SECONDS:g} s" if isinstance(error, TimeoutError) else "the memory allowed"
        raise PatternTimeout(f"whether the pattern is found was not decided within {bound}") from None
    return None if match is None else match.span()


def _copies(text: str) -> int:
    """How many parts the pattern has when each smallest count is written out: near enough, for any text."""
    groups = [0]
    last = 0
    for token in _TOKEN.finditer(text):
        if token[0] == "(":
            groups.append(0)
        elif token[0] == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] += last
        elif token[1]:
            groups[-1] += last * (int(token[1]) - 1)
            last *= int(token[1])
        else:
            last = 1
            groups[-1] += 1
    return sum(groups)
