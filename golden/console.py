"""What golden says of itself: to people, on standard output and standard error; reports go elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from golden.result import CaseResult
from golden.visible import unheeded, visible


def warn(*lines: str) -> None:
    """Writes lines to standard error."""
    with suppress(OSError):  # nobody reads it, or the disk is full: the reports are what counts
        for line in lines:
            click.echo(unheeded(visible(line)), err=True)


def say(text: str) -> None:
    """Writes what was asked for to standard output."""
    with suppress(BrokenPipeError):  # whoever read it has read enough
        click.echo(unheeded(text))


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Callable[[CaseResult], None]]:
    """Tells people on standard error how far a run is: a bar on a terminal, a line a case elsewhere."""
    if quiet:
        yield lambda result: None
    elif sys.stderr.isatty():
        with click.progressbar(length=total, label="golden", file=sys.stderr) as bar:
            yield lambda result: bar.update(1)
    else:

        def tell(result: CaseResult) -> None:
            warn(f"{result.status} {result.case_id}")

        yield tell
