"""Where reports go: files whose places are taken before a run, and standard output."""

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO

from golden import reports
from golden.change import Comparison
from golden.errors import UsageError
from golden.output import Output
from golden.reports import Report, View
from golden.result import RunResult
from golden.visible import unheeded

Place = tuple[Report, Output]


def places(out: Sequence[str], json_out: str | None, suites: Iterable[str], stack: ExitStack) -> list[Place]:
    """Takes the places of report files, until `stack` is left.

    Args:
        out: the files, their formats by suffix; `-` is standard output, and none of these.
        json_out: one that is JSON whatever its suffix.
        suites: the files of suites, which none may be.
        stack: of the block in which they are written.

    Raises:
        UsageError: a format that is not known, the same file twice, a suite, or a place that cannot be written.
    """
    taken = {os.path.realpath(suite) for suite in suites}
    formats = reports.by_suffix()
    wanted = [(Path(name), Path(name).suffix) for name in out if name != "-"]
    if json_out is not None and json_out != "-":
        wanted.append((Path(json_out), ".json"))
    if [*out, json_out].count("-") > 1:
        raise UsageError("standard output is named twice: it holds one report")
    outputs: dict[Path, Place] = {}
    for path, suffix in wanted:
        if suffix not in formats:
            raise UsageError(f"--out {path}: no report has the suffix {suffix!r}", hint=f"known: {', '.join(formats)}")
        place = Path(os.path.realpath(path))
        if str(place) in taken:
            raise UsageError(f"{path} is a suite: a report would take its place")
        if place in outputs:
            raise UsageError(f"{path} is named twice as an output")
        outputs[place] = (formats[suffix], stack.enter_context(closing(Output(path))))
    return list(outputs.values())


def write(places: Iterable[Place], result: RunResult, changed: Comparison | None) -> list[str]:
    """Writes each file, whatever becomes of the others; returns what kept any from being written."""
    problems = []
    for report, output in places:
        try:
            output.write(report.render(result, changed, View()))
        except UsageError as error:
            problems.append(error.message)
    return problems


def show(report: Report, result: RunResult, changed: Comparison | None, detail: int, stdout: IO[str]) -> list[str]:
    """Writes the report that standard output holds; returns what kept it from being written."""
    try:
        stdout.write(unheeded(report.render(result, changed, View(detail=detail, color=stdout.isatty()))))
        stdout.flush()
    except BrokenPipeError:
        pass  # the verdict does not hang on who reads it
    except OSError as error:
        return [f"cannot write standard output: {error.strerror}"]
    return []
