"""What golden says to GitHub's runner: messages, and the summary of its step."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from golden.visible import visible

Level = Literal["error", "warning", "notice"]

SUMMARY_BYTES = 900_000
"""What golden puts into one step's summary at most: past 1 MiB the runner drops all of it."""

_MESSAGE = 4_000  # characters of a message that the runner keeps, nearly
_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}


def on_runner(environ: Mapping[str, str]) -> bool:
    """Tells whether golden's output is read by GitHub's runner."""
    return environ.get("GITHUB_ACTIONS") == "true"


def command(level: Level, message: str, **properties: object) -> str:
    """Returns the line that has the runner show a message; `properties` are `title`, `file`, `line` and their like."""
    shown = "\n".join(map(visible, message[:_MESSAGE].splitlines()))
    where = ",".join(f"{name}={_escaped(visible(str(value)), ':', ',')}" for name, value in properties.items())
    return f"::{level}{where and f' {where}'}::{_escaped(shown)}"


def summarise(environ: Mapping[str, str], render: Callable[[int], str]) -> None:
    """Adds a text to the summary of this step, where there is one and room in it.

    Args:
        environ: the environment.
        render: (a number of bytes) → a text that takes no more.
    """
    path = environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with suppress(OSError, ValueError), Path(path).open("a", encoding="utf-8", errors="replace") as file:
            room = SUMMARY_BYTES - file.tell()
            if room > 0:
                file.write(render(room))


def _escaped(text: str, *more: str) -> str:
    for character, code in {**_ESCAPES, **{one: f"%{ord(one):02X}" for one in more}}.items():
        text = text.replace(character, code)
    return text
