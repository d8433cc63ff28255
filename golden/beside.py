"""A tool expectation beside the calls: plain values, written to the results file as they are (contract 7)."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of tool calls, and the calls to show beside it.

    Attributes:
        check: whose it is: `expect`, `expect_first` or `expect_order`.
        turn: the 0-based turn it is about; None where it is about the whole case.
        expected: as a suite writes it.
        met: whether it is met; None where that is undecided.
        places: of the calls that it has, else of the nearest one: 0-based, among those of the turn or of the case.
        path: where the nearest differs first, such as `params.id`; "" where the calls match, or there is none.
    """

    check: str
    turn: int | None
    expected: Mapping[str, object]
    met: bool | None
    places: tuple[int, ...]
    path: str
