"""The program `golden`: runs a command, shows what went wrong, and leaves with its exit code."""

import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence

import click

from golden.cli import cli
from golden.errors import GoldenError

# How long threads that are about to end are waited for.
_GRACE_S = 0.2


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and leaves with its exit code (contract 2); it does not return."""
    _leave(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = cli.main(args=arguments, prog_name="golden", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except GoldenError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("stopped before anything was judged", err=True)
        return 130
    except Exception:
        traceback.print_exc()
        click.echo("this is a fault of golden: please report it, with what stands above", err=True)
        return 70
    return code if isinstance(code, int) else 0


def _leave(code: int) -> None:
    """Ends the process, also where an agent in it left a thread that blocks for ever.

    The interpreter waits for such threads, daemons of an executor among them; nothing of golden's is in them.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    end = time.monotonic() + _GRACE_S
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in others):
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
