"""How a run is shown: one file a format, its one constant `REPORT`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from golden import loading
from golden.change import Comparison
from golden.result import RunResult


@dataclass(frozen=True, slots=True)
class View:
    """How much is shown, and how.

    Attributes:
        detail: -1 less, 0, 1 more.
        color: whether the terminal shows colours; they are never the only carrier.
    """

    detail: int = 0
    color: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A format: the suffix of its files, and how it is made. No console, no clock, no file.

    Attributes:
        render: (run, what its baseline says of it or None, view) → the text.
    """

    suffix: str
    render: Callable[[RunResult, Comparison | None, View], str]


def load(name: str) -> Report:
    """Returns the format of that name."""
    return cast("Report", loading.load(sys.modules[__name__], name, "REPORT"))


def by_suffix() -> dict[str, Report]:
    """Returns every format by the suffix of its files."""
    reports = [load(name) for name in loading.names(sys.modules[__name__])]
    return {report.suffix: report for report in reports}
