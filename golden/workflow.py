"""The step of a GitHub workflow that golden runs in: its summary, its annotations, and a log that obeys nobody else."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from golden.bulletin import FAILED, FIXED, GONE, REGRESSED, Item, bulletin
from golden.change import Comparison
from golden.output import agent_is_left
from golden.reports.markdown import SMALLEST, SUMMARY, WHOLE, Frame, body
from golden.result import RunResult
from golden.visible import excerpt, unheeded

# GitHub shows ten annotations of a kind and step, and 4,096 characters of each.
_MOST = 9
_MESSAGE = 1000

_ERRORS = (REGRESSED, GONE, FAILED)

Tell = Callable[[RunResult, Comparison | None], list[str]]
"""Tells the step of a run; returns what kept it from being told, for a warning each."""


@contextmanager
def step(environ: Mapping[str, str]) -> Iterator[Tell]:
    """Gives what tells the step of a run: the summary at once, the annotations when the block is left.

    In a workflow the runner obeys nothing that is printed in the block, whoever prints it. Where an agent is left
    behind that stays so until the step ends: it may print on.

    Args:
        environ: says whether this is a workflow, and where its summary and its files are.
    """
    here = Path.cwd()  # an agent in this process may go elsewhere
    workspace = Path(environ.get("GITHUB_WORKSPACE") or here)
    summary = environ.get("GITHUB_STEP_SUMMARY")
    is_workflow = environ.get("GITHUB_ACTIONS") == "true"
    own: list[str] = []

    def tell(run: RunResult, comparison: Comparison | None) -> list[str]:
        if is_workflow:
            own.extend(annotations(run, comparison, lambda suite: _in(workspace, here / suite)))
        return [*summarise(here / summary, run, comparison)] if summary else []

    if not is_workflow:
        yield tell
        return
    token = os.urandom(16).hex()
    _print(f"::stop-commands::{token}")
    try:
        yield tell
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # an agent may have closed them, or put None there
                stream.flush()
        again = [f"::stop-commands::{os.urandom(16).hex()}"] if agent_is_left() else []
        _print("", f"::{token}::", *own, *again)  # first the end of a line that somebody has left open


def annotations(run: RunResult, comparison: Comparison | None, file_of: Callable[[str], str | None]) -> list[str]:
    """Returns a command for each case that is not well, nine at most: those that fail this run as errors.

    Args:
        run: what is told.
        comparison: what its baseline says of it.
        file_of: a suite's path → the file in the repository that it is, None for none.
    """
    told = bulletin(run, comparison)
    items = [item for item in told.items if item.kind != FIXED]
    first = []
    if told.cause:
        lead, cause = told.cause
        first.append(command("warning", f"{lead}: {cause}", title=f"golden: {told.sentence}"))
    room = _MOST - len(first)
    shown = items if len(items) <= room else items[: room - 1]
    more = f"and {len(items) - len(shown)} more: the step's summary has them"
    rest = [command("warning", more, title="golden")] if len(shown) < len(items) else []
    return [*first, *(_annotation(item, file_of) for item in shown), *rest]


def command(name: str, message: str, **properties: object) -> str:
    """Returns a command for the runner, on one line. Properties that are None are left out."""
    given = ",".join(
        f"{key}={_escaped(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
        if value is not None
    )
    return f"::{name}{' ' if given else ''}{given}::{_escaped(message)}"


def _annotation(item: Item, file_of: Callable[[str], str | None]) -> str:
    result = item.result
    file = file_of(result.suite) if result and result.suite else None
    was = f"; {item.before} in the baseline" if item.before else ""
    message = f"{item.why} ({item.now}{was})" if item.why else f"{item.now}{was}"
    return command(
        "error" if item.kind in _ERRORS else "warning",
        message,
        file=file,
        line=result.line if result and file else None,
        title=f"golden: {item.case_id}: {item.kind}",
    )


def _escaped(text: str) -> str:
    return unheeded(excerpt(text, _MESSAGE)).replace("%", "%25")


def _in(workspace: Path, file: Path) -> str | None:
    """A file as the runner names it: by its path in the workspace."""
    path, root = Path(os.path.realpath(file)), os.path.realpath(workspace)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) and path.is_file() else None


def summarise(file: Path, run: RunResult, comparison: Comparison | None, frame: Frame = WHOLE) -> Iterator[str]:
    """Adds a report to the summary of a step; yields what kept it from being added."""
    try:
        with file.open("ab") as stream:
            before = b"\n\n" if stream.tell() else b""
            room = SUMMARY - stream.tell() - len(before)
            if room < SMALLEST:
                yield f"the step summary {file} is full: this run is not in it"
            else:
                stream.write(before + body(run, comparison, budget=room, frame=frame).encode())
    except (OSError, ValueError) as error:
        yield f"cannot write the step summary {file}: {getattr(error, 'strerror', None) or error}"


def _print(*lines: str) -> None:
    with suppress(OSError):
        os.write(2, "".join(f"{line}\n" for line in lines).encode())
