"""The dialects that a run knows by name: files, tables that come with golden, other packages', and declared ones."""

import importlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field, JsonValue, ValidationError, field_validator

from golden import dialects, loading
from golden.dialects import Dialect, Framing, Options
from golden.errors import Fault, TargetError, UsageError, did_you_mean
from golden.fields import score
from golden.guarding import guarded
from golden.part import Part, faults_of
from golden.payload import parse
from golden.signals import Score, Signal
from golden.sse import Event
from golden.wire import Head

_TABLES = Path(dialects.__file__).parent

Reading: TypeAlias = Callable[[Event], Sequence[Signal]]
"""What reads a dialect's events."""


class _Options(Part):
    """What `[tool.golden.dialects.NAME]` may say of a dialect that there is."""

    path: str | None = None
    headers: dict[str, str] = Field(default={})
    body: dict[str, JsonValue] = Field(default={})
    id: str | None = Field(default=None, min_length=1)
    groundedness: str = ""

    @field_validator("groundedness")
    @classmethod
    def _compiles(cls, value: str) -> str:
        if value:
            importlib.import_module("golden.declared").search_path(value)
        return value


class Lexicon:
    """Dialects by name.

    Args:
        said: for each name what `[tool.golden.dialects.NAME]` says.

    Raises:
        UsageError: with everything that is wrong in these tables.
    """

    def __init__(self, said: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._declared: dict[str, Dialect] = {}
        self._options: dict[str, Options] = {}
        faults: list[Fault] = []
        for name, table in (said or {}).items():
            place = f"[tool.golden.dialects.{name}]"
            try:
                if "rules" not in table and not _is_there(name):
                    faults.append(Fault(place, _no_dialect(name), "a dialect of your own has `rules`"))
                elif "rules" not in table:
                    self._loaded(name)
                    self._options[name] = Options(**_Options.model_validate(table).__dict__)
                elif name in built_in():
                    faults.append(Fault(place, "golden has a dialect of this name", "call yours otherwise"))
                else:
                    self._declared[name] = _declared(table)
                    self._options[name] = Options(
                        headers=table.get("headers", {}), groundedness=table.get("groundedness") or ""
                    )
            except ValidationError as invalid:
                faults += faults_of(place, invalid)
        if faults:
            lines = (f"{place}: {problem}" + (f"; {remedy}" if remedy else "") for place, problem, remedy in faults)
            raise UsageError("\n".join(lines))

    def names(self) -> list[str]:
        """Returns the names: golden's own, then those that the configuration declares, or names of other packages."""
        return [*dict.fromkeys((*built_in(), *self._options))]

    def dialect(self, name: str) -> Dialect:
        """Returns the dialect of that name; for `auto`, which only reads, the one that questions are posted in.

        Raises:
            UsageError: there is none.
        """
        name = "native" if name == "auto" else name
        return self._declared.get(name) or self._loaded(name)

    def options(self, name: str) -> Options:
        """Returns what is said of a dialect."""
        return self._options.get("native" if name == "auto" else name, Options())

    def reading(self, name: str) -> Reading:
        """Returns what reads a dialect's events, and the score of each.

        That is the one where the options say, else the dialect's own, else that of an event named `groundedness`.
        """
        read = self.dialect(name).read
        path = self.options(name).groundedness
        if name == "native" and not path:  # it has such events itself
            return read
        find = importlib.import_module("golden.declared").search_path(path) if path else None

        def reading(event: Event) -> Sequence[Signal]:
            signals = read(event)
            if find is not None and (placed := find(event)) is not None:
                # First: what stands in the end marker's own event belongs to the turn.
                return (Score(placed), *(signal for signal in signals if not isinstance(signal, Score)))
            if event.name == "groundedness" and not any(isinstance(signal, Score) for signal in signals):
                named = score(parse(event.data or "")[0])
                return signals if named.score is None else (*signals, named)
            return signals

        return reading

    def detect(self, head: Head, event: Event, framing: Framing) -> tuple[str, str] | None:
        """Tells the dialect from one event and the reply's head.

        Returns:
            The dialect's name and why it is that one; None where no dialect of this framing claims the event.

        Raises:
            TargetError: two claim it. A guess would be a verdict on a stream that was misread.
        """
        claims = [
            (name, reason)
            for name in self.names()
            if framing in (dialect := self.dialect(name)).framings and (reason := dialect.claims(head, event))
        ]
        if len(claims) > 1:
            both = " and ".join(f"`{name}` ({reason})" for name, reason in claims)
            raise TargetError(
                "unknown_dialect", f"more than one dialect claims this stream: {both}", hint="use --dialect"
            )
        return claims[0] if claims else None

    def _loaded(self, name: str) -> Dialect:
        if not _is_there(name):
            hint = did_you_mean(name, self.names()) or f"known: {', '.join(self.names())}"
            raise UsageError(_no_dialect(name), hint=hint)
        return _load(name)


@cache
def built_in() -> tuple[str, ...]:
    """Returns the names of golden's own dialects."""
    files = (name.replace("_", "-") for name in loading.names(dialects))
    return tuple(sorted([*files, *(table.stem for table in _TABLES.glob("*.toml"))]))


def _is_there(name: str) -> bool:
    return name in built_in() or name in loading.others(dialects)


def _no_dialect(name: str) -> str:
    return f"no dialect is called {name!r}"


@cache
def _load(name: str) -> Dialect:
    table = _TABLES / f"{name}.toml"
    if name in built_in() and table.is_file():
        return replace(_declared(tomllib.loads(table.read_text(encoding="utf-8"))), mints=False)
    if name in built_in():
        dialect: Dialect = loading.load(dialects, name.replace("-", "_"), "DIALECT")
        return dialect
    return guarded(name, loading.load(dialects, name, "DIALECT"))


def _declared(table: Mapping[str, Any]) -> Dialect:
    declared = importlib.import_module("golden.declared")  # its library loads only where a table is read
    dialect: Dialect = declared.declared(declared.Table.model_validate(table))
    return dialect
