"""Lines of text for a terminal: broken at 80 columns, painted where colour is asked for."""

import re
from collections.abc import Iterator

from golden.visible import unheeded

WIDTH = 80

# What takes two columns (UAX #11: wide and full-width, emoji among them), by whole blocks.
_WIDE = (
    "\u1100-\u115f\u231a-\u23f3\u25fd-\u27bf\u2b1b-\u2b55\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f"
    "\uff01-\uff60\uffe0-\uffe6\U00016fe0-\U0001b2ff\U0001d300-\U0001d37f\U0001f000-\U0001faff\U00020000-\U0003fffd"
)
# What a line may be broken between; a word longer than a line is several.
PIECE = re.compile(rf" +|[{_WIDE}]|[^ {_WIDE}]{{1,{WIDTH - 4}}}")
_IS_WIDE = re.compile(f"[{_WIDE}]")


def wrapped(text: str, indent: str) -> Iterator[str]:
    """Breaks a text into lines; those after the first are indented further."""
    line, used = indent, len(indent)
    for piece in PIECE.findall(text):
        columns = columns_of(piece)
        if used + columns > WIDTH:
            yield unheeded(line.rstrip())
            line, used = f"{indent}  ", len(indent) + 2
            if piece[0] == " ":
                continue
        line += piece
        used += columns
    yield unheeded(line.rstrip())


def labelled(label: str, text: str, code: str, color: bool) -> Iterator[str]:
    """The same behind a label, which alone is painted."""
    first, *others = wrapped(f"{label}{text}", "")
    yield painted(label, code, color) + first.removeprefix(label)
    yield from others


def columns_of(text: str) -> int:
    """Returns how many columns a text takes."""
    return len(text) + len(_IS_WIDE.findall(text))


def painted(text: str, code: str, color: bool) -> str:
    """Returns the text in the colour of that code, or as it is."""
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
