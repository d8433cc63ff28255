"""What became of tool expectations among the calls: plain values (contract 3)."""

from typing import Final, NamedTuple

from golden.expectation import ToolExpectation


class _Absent:
    __slots__ = ()


ABSENT: Final = _Absent()
"""In a difference: nothing came where something was expected, or the other way round."""


class Broken(NamedTuple):
    """In a difference: arguments that came and are not whole JSON."""

    text: object


class Difference(NamedTuple):
    """Where a call differs from what was expected.

    Attributes:
        path: such as `tool` or `params.items[2].name`.
        expected: the value expected there, or `ABSENT`.
        came: the value that came, `ABSENT` or `Broken`.
    """

    path: str
    expected: object
    came: object


class Nearest(NamedTuple):
    """A call that does not match: its 0-based place among the calls, and its first difference."""

    place: int
    difference: Difference


class Outcome(NamedTuple):
    """What became of an expectation.

    Attributes:
        met: whether it has the calls that it needs, and no more match than it allows.
        places: of the calls paired to it, at most the `min_count` that it needs.
        matching: how many calls match it, whatever they are paired to.
        nearest: where it lacks calls, of those that do not match the one with the fewest differences, then the first;
            one of another tool only where there is none of the right one.
    """

    expectation: ToolExpectation
    met: bool
    places: tuple[int, ...]
    matching: int
    nearest: Nearest | None

    @property
    def paired(self) -> int:
        """How many calls are paired to it."""
        return len(self.places)


class Beside(NamedTuple):
    """An expectation, and the calls that are shown beside it.

    Attributes:
        expectation: what is expected.
        met: whether it is met.
        places: of the calls that it has, else of the nearest one: 0-based, among the calls that are judged.
        path: where the nearest differs first; "" where these calls match, or there is none.
    """

    expectation: ToolExpectation
    met: bool
    places: tuple[int, ...] = ()
    path: str = ""


class Order(NamedTuple):
    """How far an order was kept.

    Attributes:
        places: of the calls that match, one for each expectation up to the first that is not met.
        earlier: the place of a call that matches that one, is not among them, and stands too early.
        nearest: the nearest to it of the calls that stand late enough.
    """

    places: tuple[int, ...]
    earlier: int | None = None
    nearest: Nearest | None = None
