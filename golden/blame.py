"""What an agent raised, and where in its own code."""

import threading
import traceback
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType

_STDLIB = str(Path(threading.__file__).parent)
_INSTALLED = ("site-packages", "dist-packages")
# How much of an exception's message is read. Much more than is shown: that is cut once its secrets are covered.
_READ = 10_000

_OURS = ("golden.agent_loop", "golden.channel", "golden.guarding", "golden.score", "golden.targets.")


def told(error: BaseException) -> str:
    """Returns an exception's type and message; of a group the first inside it too."""
    try:
        message = str(error)
    except BaseException:
        message = "its message cannot be shown"
    # On one line: a hint of golden's own would stand on the next.
    message = " ".join(message[:_READ].splitlines())
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return f"{text}: {told(error.exceptions[0])}" if isinstance(error, BaseExceptionGroup) else text


def raised_at(error: BaseException) -> str | None:
    """Returns where in the agent's own code an exception was raised, as a hint."""
    if isinstance(error, BaseExceptionGroup) and (found := raised_at(error.exceptions[0])):
        return found
    if where := place(reversed(list(traceback.walk_tb(error.__traceback__)))):
        return f"raised {where}"
    # Python itself may have made another of it, as of a StopIteration that leaves a coroutine.
    return raised_at(error.__cause__) if error.__cause__ else None


def place(frames: Iterable[tuple[FrameType, int]]) -> str:
    """Names the innermost frame that is neither installed nor of the standard library, else the innermost.

    Args:
        frames: (frame, line), from the inside out.
    """
    theirs = [
        (frame.f_code, line) for frame, line in frames if not frame.f_globals.get("__name__", "").startswith(_OURS)
    ]
    if not theirs:
        return ""
    code, line = next((one for one in theirs if not _is_installed(one[0].co_filename)), theirs[0])
    path = Path(code.co_filename)
    with suppress(OSError, ValueError):  # an agent may have removed the current folder
        path = path.relative_to(Path.cwd())
    return f"at {path}:{line} in {code.co_name}"


def _is_installed(file: str) -> bool:
    return file.startswith((_STDLIB, "<")) or any(folder in file for folder in _INSTALLED)
