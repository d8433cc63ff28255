"""What a case may ask of its answers: one file a family of fields, its one constant `CHECK`."""

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from golden import loading
from golden.outcome import Beside
from golden.suite import Checks
from golden.transcript import Turn


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold.

    Attributes:
        name: the field that asks for it.
        ok: whether it holds; None where it is undecided, because there was no answer to judge.
        message: what was expected, what came, and where.
        turn: the 0-based turn it is about, None where it is about the whole case.
        hits: the forbidden phrases that were found, as the suite writes them.
        beside: the tool expectations that it is about, each with the calls to show beside it.
    """

    name: str
    ok: bool | None
    message: str
    turn: int | None = None
    hits: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()


Cover = Callable[[str], str]
"""Covers the secrets in a text and keeps its length, so that an excerpt may be cut from what it returns."""

Family = Callable[[Checks, Sequence[Turn], Cover], Iterable[Check]]
"""(what is asked, the turns it is asked of, cover) → checks, none for what is not asked. Pure."""


@cache
def families() -> tuple[Family, ...]:
    """Returns every family, by the names of their files."""
    rib = sys.modules[__name__]
    return tuple(importlib.import_module(f"{__name__}.{name}").CHECK for name in loading.names(rib))
