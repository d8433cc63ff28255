"""The program `golden`: runs a command, shows what went wrong, and leaves with its exit code."""

import atexit
import gc
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import StringIO
from typing import NoReturn

import click

from golden.cli import cli
from golden.errors import GoldenError, Stopped
from golden.visible import unheeded, visible

# How long threads that are about to end are waited for.
_GRACE_S = 0.2


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and leaves with its exit code (contract 2); it does not return."""
    # A run makes many small objects that stay, and few cycles: to look for those as often as usual takes a tenth of it.
    gc.set_threshold(10_000)
    _ensure_streams()
    _leave(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = cli.main(args=arguments, prog_name="golden", standalone_mode=False)
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        click.echo(unheeded(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    except GoldenError as error:
        click.echo(unheeded("\n".join(map(visible, f"error: {error}".splitlines()))), err=True)
        return error.exit_code
    except click.Abort as error:  # what click makes of a KeyboardInterrupt
        click.echo("stopped", err=True)
        return Stopped.exit_code if isinstance(error.__cause__, Stopped) else 130
    except Exception:
        click.echo(unheeded(traceback.format_exc()), err=True, nl=False)
        click.echo("this is a fault of golden: please report it, with what stands above", err=True)
        return 70
    return code if isinstance(code, int) else 0


def _ensure_streams() -> None:
    """Gives the standard streams that the process was started without a place to go: nowhere."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115  # to the very end


def _leave(code: int) -> None:
    """Ends the process, also where an agent in it left a thread that blocks for ever.

    The interpreter waits for threads that are no daemons, and for those of executors; nothing of golden's is in them.
    """
    end = time.monotonic() + _GRACE_S
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        thread.join(max(0.0, end - time.monotonic()))
    leave: Callable[[int], NoReturn] = sys.exit
    if any(thread.is_alive() for thread in others):
        leave = os._exit
        atexit._run_exitfuncs()  # the agent's own: they would be passed over
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # an agent may have closed them, or put None there
            stream.flush()
    gc.freeze()  # the interpreter would look through all that is left once more
    leave(code)


if __name__ == "__main__":
    main()
