"""How grounded the agent itself says its answer is."""

from collections.abc import Iterable, Sequence

from golden.checks import Check, Cover, Family
from golden.payload import dump
from golden.suite import Checks
from golden.transcript import Turn


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    threshold = expect.groundedness_threshold
    if threshold is None:
        return
    for index, turn in enumerate(turns):
        ok = turn.groundedness is not None and turn.groundedness >= threshold
        yield Check("groundedness_threshold", ok, f"{threshold} expected; {_came(turn, cover)}", index)


def _came(turn: Turn, cover: Cover) -> str:
    if not turn.scores:
        return "no score came in the stream"
    if turn.groundedness is not None:
        return f"the score is {turn.groundedness}"
    score = turn.scores[-1]
    return f"the score is {_KINDS.get(type(score), 'no number')}: {cover(dump(score))[:80]}"


_KINDS: dict[type, str] = {
    bool: "a boolean",
    str: "a text",
    float: "not a number from 0 to 1",
    int: "not a number from 0 to 1",
}

CHECK: Family = _check
