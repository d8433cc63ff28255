"""How much of an answer its tools' results support."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

_FIGURE = r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?"
_CLAIMS = re.compile(
    r'"(?P<quote>[^"]+)"'
    r"|(?P<date>\b\d{4}-\d\d-\d\d\b)"
    rf"|(?P<figure>{_FIGURE})"
    # A capital that only opens a sentence is no name; a word in capitals is one anywhere.
    r"|(?P<name>(?:(?<=[^.!?:] )|(?<=\())[A-Z][\w&-]+(?: [A-Z][\w&-]+)*|\b[A-Z]{2,}\b)"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One figure worked out from two others, kept so that it can be worked out again.

    ``times`` is the product, ``changed by`` is ``left`` after a change of ``right`` percent; both to the cent.
    """

    left: Decimal
    operation: Literal["times", "changed by"]
    right: Decimal

    @property
    def figure(self) -> Decimal:
        """What it comes to."""
        factor = self.right if self.operation == "times" else 1 + self.right / 100
        return (self.left * factor).quantize(Decimal("0.01"))


def groundedness(
    answer: str, results: Iterable[Any], steps: Sequence[Step] = (), given: Collection[Decimal] = ()
) -> float:
    """The share of the different claims in ``answer`` that are supported, 0 to 1; 1 for an answer without claims.

    Claims are read from the text alone: figures, dates, names, and headlines in quotes. A figure counts by its amount,
    so that "down $1.20" claims 1.20. Supported are

    - a figure that stands in a result, was given by the question (``given``: a what-if's percentage), or is worked out
      by one of ``steps``, in order, from two figures that are themselves supported;
    - a date or a quoted headline that is a string in a result;
    - a name that stands, whole words, in a string of a result.

    It compares figures, not what is said of them: a right figure said of the wrong thing goes unseen.
    """
    values = list(_leaves(results))
    strings = [value for value in values if isinstance(value, str)]
    figures = {abs(Decimal(str(value))) for value in values if not isinstance(value, str)} | {abs(g) for g in given}
    for step in steps:
        if {abs(step.left), abs(step.right)} <= figures:
            figures.add(step.figure)

    def supported(kind: str | None, claim: str) -> bool:
        match kind:
            case "figure":
                return Decimal(claim.replace(",", "")) in figures
            case "name":
                return any(re.search(rf"(?<!\w){re.escape(claim)}(?!\w)", string) for string in strings)
            case _:
                return claim in strings

    claims = {(match.lastgroup, match[match.lastgroup or 0]) for match in _CLAIMS.finditer(answer)}
    return round(sum(supported(*claim) for claim in claims) / len(claims), 4) if claims else 1.0


def _leaves(value: Any) -> Iterator[str | int | float]:
    """The strings and numbers in a JSON value; keys and truth values are none."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value
    elif isinstance(value, Iterable):
        for part in value:
            yield from _leaves(part)
