"""Suites → the cases of a run: what every option given lets through, in suite order (contract 2)."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from golden.errors import UsageError, did_you_mean
from golden.identity import unique_id
from golden.plan import Job
from golden.result import ShardResult, SuiteResult
from golden.settings import Settings
from golden.shard import holds, shard
from golden.suite import Case, Suite, unmet


class Selection(NamedTuple):
    """The cases of a run.

    Attributes:
        jobs: the cases.
        shard: the part of a larger run that they are, None where they are all of it.
        suites: the suites of that larger run, each that has a case in it.
        warnings: what was asked for and is not there.
        unselected: the ids of the cases that the options let not through.
    """

    jobs: list[Job]
    shard: ShardResult | None
    suites: tuple[SuiteResult, ...]
    warnings: list[str]
    unselected: tuple[str, ...] = ()


def selected(
    suites: Sequence[Suite], options: Settings, failed: Collection[str] | None, environ: Mapping[str, str]
) -> Selection:
    """Selects cases.

    Args:
        suites: all of the run.
        options: `case`, `tag`, `match` and `shard` are read.
        failed: the ids of `--failed`, None where it is not given.
        environ: what `requires_env` looks into.

    Raises:
        UsageError: nothing is selected, though a part of a run may be empty.
    """
    part = None if options.shard is None else shard(options.shard)
    warnings = []
    every: list[Job] = []
    unselected = []
    for suite in suites:
        unset = unmet(suite, environ)
        if unset:
            warnings.append(f"skipping evals: {', '.join(unset)} not set ({suite.path})")
        for case in suite.cases:
            skip = f"{', '.join(unset)} not set" if unset else case.skip
            if _lets_through(case, options, failed):
                every.append(Job(suite, case, skip))
            else:
                unselected.append(case.id)
    known = {case.id for suite in suites for case in suite.cases}
    warnings += [
        f"warning: no case is called {name!r}; {did_you_mean(name, known)}".removesuffix("; ")
        for name in options.case
        if name not in known
    ]
    if not every:
        hint = "--case, --tag, --match and --failed must all let a case through"
        raise UsageError("no case is selected", hint=hint if failed != [] else "every case passed there")
    ids = tuple(job.case.id for job in every)
    shards = None if part is None else ShardResult(index=part.index, count=part.count, cases=ids)
    ran = {id(job.suite): SuiteResult(path=job.suite.path, sha256=job.suite.sha256) for job in every}
    jobs = every if part is None else [job for job in every if holds(part, job.case.id)]
    return Selection(jobs, shards, tuple(ran.values()), warnings, tuple(unselected))


def _lets_through(case: Case, options: Settings, failed: Collection[str] | None) -> bool:
    words = [text.casefold() for text in (case.id, *case.questions, *case.tags)]
    return (
        (not options.case or case.id in options.case)
        and (not options.tag or bool({*options.tag} & {*case.tags}))
        and (not options.match or any(text.casefold() in word for text in options.match for word in words))
        and (failed is None or unique_id(case.id) in failed)
    )
