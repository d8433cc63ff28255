"""Checks of a user's own, loaded by name (contract 8)."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import cast

from golden.errors import UsageError
from golden.loading import load_object
from golden.plan import Job
from golden.score import Scorer


def load_scorers(
    jobs: Iterable[Job], *, isolated: bool, known: Mapping[str, Scorer] = MappingProxyType({})
) -> dict[str, Scorer]:
    """Imports every scorer that a case which is asked names, each once.

    Args:
        jobs: the cases.
        isolated: whether scorers are refused, as where other people's suites are run.
        known: golden's own, by the names that cases give them.

    Raises:
        UsageError: one cannot be loaded or called, or none may be.
    """
    scorers: dict[str, Scorer] = {**known}
    for job in jobs:
        for name in job.case.scorers if job.skip is None else ():
            if name in known:
                continue
            if isolated:
                raise UsageError(
                    f"case {job.case.id!r} names the scorer {name}, and --isolated runs no code of a suite's",
                    hint="select other cases, or leave --isolated out where you trust the suite",
                )
            if name not in scorers:
                scorer = load_object(name, option=f"the scorer of case {job.case.id!r}")
                if not callable(scorer):
                    raise UsageError(f"the scorer {name} cannot be called: it is {type(scorer).__name__}")
                scorers[name] = cast("Scorer", scorer)
    return scorers
