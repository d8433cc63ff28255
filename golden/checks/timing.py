"""How long each turn may take."""

from collections.abc import Iterable, Sequence

from golden.checks import Check, Cover, Family
from golden.suite import Checks
from golden.transcript import Turn


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    for index, turn in enumerate(turns):
        for name, bound, took, what in (
            ("max_first_token_s", expect.max_first_token_s, turn.timing.first_token_s, "first token"),
            ("max_total_s", expect.max_total_s, turn.timing.total_s, "end"),
        ):
            if bound is None:
                continue
            if took is None:
                yield Check(name, False, f"{bound:g} s allowed; no text came at all", index)
            else:
                yield Check(name, took <= bound, f"{what} after {took:.3f} s, {bound:g} s allowed", index)


CHECK: Family = _check
