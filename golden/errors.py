"""Every error that a user can meet: whose fault it is stands in the type, the exit code in the class."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

HINT = "\nhint: "
"""What stands before a hint where it follows a message."""


class GoldenError(Exception):
    """The base of all errors that golden raises on purpose.

    Args:
        message: what is wrong and where, one cause, in lower case.
        hint: what to do next; shown on a line of its own.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}{HINT}{self.hint}"


class UsageError(GoldenError):
    """An option, a configuration file or a call that cannot be obeyed. Nothing was sent."""


class Fault(NamedTuple):
    """One thing wrong with a file.

    Attributes:
        place: where: `file`, `file:line:column`, or `file: cases[3] "id": field`.
        problem: what was expected and what stands there.
        remedy: what to do; empty where the problem says it.
    """

    place: str
    problem: str
    remedy: str = ""


class SuiteError(GoldenError):
    """A suite file that does not validate, with all its faults at once."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = tuple(faults)
        lines = [f"{place}: {problem}" + (f"\n  hint: {remedy}" if remedy else "") for place, problem, remedy in faults]
        super().__init__("\n".join(lines))


class TargetError(GoldenError):
    """No complete answer: the agent or its server is at fault. In a case it becomes that case's error.

    Args:
        kind: what happened, as the results name it: `unreachable`, `refused`, `http`, `redirect`, `not_a_stream`,
            `unknown_dialect`, `cut`, `too_large`, `timeout`, `stream_error`, `agent`, `empty`, `recording`.
    """

    exit_code = 3

    def __init__(self, kind: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class RecordingError(GoldenError):
    """A recording that cannot be read, with the line that is wrong. In a case it becomes that case's error."""

    exit_code = 3


class AskAgain(TargetError):
    """Another case blocked the event loop that this one ran in: this one is to be asked again, its clocks set anew."""

    def __init__(self, where: str) -> None:
        super().__init__(
            "agent",
            "another case blocked the event loop that the agent runs in",
            hint=f"it stood {where or 'still'}: await there, or use a thread (`asyncio.to_thread`)",
        )


class Stopped(KeyboardInterrupt):
    """SIGTERM, where there is nothing yet to report: it unwinds like SIGINT, so that what was begun is cleaned up."""

    exit_code = 143


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns a hint that names the nearest known name, "" where none is near."""
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else ""
