"""What GitHub's runner obeys in the log of a step, and how it shows it.

After actions/runner: `ProcessInvoker` (lines end at LF, CR or both, in each stream), `ActionCommand` (how a command is
read) and `ActionCommandManager` (which are known, and what `stop-commands` stops).
"""

import re
from dataclasses import dataclass, field

COMMANDS = (
    *("add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "internal-set-repo-path"),
    *("notice", "remove-matcher", "save-state", "set-env", "set-output", "stop-commands", "warning"),
)

_DATA = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))
_OLD = (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%25", "%"))


@dataclass(frozen=True, slots=True)
class Command:
    """One that was obeyed."""

    name: str
    message: str
    properties: dict[str, str] = field(default_factory=dict)


def obeyed(stream: str) -> list[Command]:
    """Every command of a stream that the runner obeys, in order."""
    found = []
    known = {*COMMANDS}
    resumed_by = ""
    for line in re.split(r"\r\n|\r|\n", stream):
        command = _new(line, known) or _old(line, known)
        if command is None:
            continue
        if resumed_by:
            if command.name.lower() == resumed_by:
                known.discard(resumed_by)
                resumed_by = ""
            continue
        if command.name.lower() == "stop-commands":
            resumed_by = command.message.lower()
            known.add(resumed_by)
        found.append(command)
    return found


def _new(line: str, known: set[str]) -> Command | None:
    """`::name key=value,key=value::message`, behind any white space."""
    line = line.lstrip()
    head, separator, message = line[2:].partition("::")
    name, _, given = head.partition(" ")
    if not line.startswith("::") or not separator or name.lower() not in known:
        return None
    return Command(name, _read(message, _DATA), _properties(given, ",", _PROPERTY))


def _old(line: str, known: set[str]) -> Command | None:
    """`##[name key=value;key=value]message`, anywhere in the line."""
    _, prefix, rest = line.partition("##[")
    head, separator, message = rest.partition("]")
    name, _, given = head.partition(" ")
    if not prefix or not separator or name.lower() not in known:
        return None
    return Command(name, _read(message, _OLD), _properties(given, ";", _OLD))


def _properties(given: str, separator: str, escapes: tuple[tuple[str, str], ...]) -> dict[str, str]:
    pairs = (part.partition("=") for part in given.strip().split(separator))
    return {name: _read(value, escapes) for name, _, value in pairs if name and value}


def _read(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for written, meant in escapes:
        text = text.replace(written, meant)
    return text
