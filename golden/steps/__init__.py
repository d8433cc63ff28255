"""What the steps of a workflow do that takes more than a command: one file a step, `python -m golden.steps.NAME`.

A step is told what it needs by its environment, and tells later steps by its outputs. One that finds nothing to do, or
may not do it, says so in the log and has no outputs: the steps that need them are then skipped, the job stays green.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from golden.errors import GoldenError, UsageError
from golden.event import REPOSITORY
from golden.exchange import Again, Calls, Refused
from golden.github import GitHub
from golden.redaction import Secrets
from golden.visible import unheeded
from golden.workflow import command

Environ = Mapping[str, str]
Result = TypeVar("Result")


class NothingToDo(Exception):
    """Why a step has nothing to do; it is no fault of anybody's."""


def lead(step: Callable[[Environ], Mapping[str, str]]) -> None:
    """Takes a step: sets the outputs that it returns, or says why there are none.

    Args:
        step: (the environment) → its outputs, each a line of characters that were looked at.
    """
    try:
        outputs = step(os.environ)
    except NothingToDo as reason:
        _say(command("notice", str(reason), title="golden"))
    except GoldenError as error:
        _say(command("warning", "; ".join(filter(None, (error.message, error.hint))), title="golden"))
    else:
        lines = "".join(f"{name}={value}\n" for name, value in outputs.items())
        with Path(os.environ.get("GITHUB_OUTPUT", os.devnull)).open("a", encoding="utf-8") as file:
            file.write(lines)
        _say(unheeded(lines.rstrip()))


def repository_of(environ: Environ) -> str:
    """Returns OWNER/NAME of the repository that the workflow runs in.

    Raises:
        UsageError: there is none.
    """
    name = environ.get("GITHUB_REPOSITORY", "")
    if not REPOSITORY.fullmatch(name):
        raise UsageError("GITHUB_REPOSITORY is not OWNER/NAME", hint="steps are run by GitHub's runner, which sets it")
    return name


def asked(environ: Environ, work: Callable[[], Calls[Result]], what: str, permission: str) -> Result:
    """Has GitHub do a piece of work.

    Args:
        environ: with GITHUB_TOKEN.
        work: as `settled` takes it.
        what: is not to be had where GitHub refuses, for the message.
        permission: that it takes.

    Raises:
        UsageError: GitHub does not do it.
    """
    token, secrets = environ.get("GITHUB_TOKEN", ""), Secrets()
    secrets.add(token)
    with GitHub(token, environ, secrets.cover) as github:
        try:
            return github.done(work)
        except Refused as refused:
            # Its own words are those of comments.
            why = str(refused) if isinstance(refused, Again) else "GitHub does not say so, or the token may not ask"
            raise UsageError(f"{what}: {why}", hint=f"the job needs `permissions: {permission}`") from None


def _say(text: str) -> None:
    print(text)  # noqa: T201  # the log is where the runner reads commands
