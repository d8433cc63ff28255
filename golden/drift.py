"""Where suites and recordings have parted, told without a run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from golden.errors import TargetError
from golden.identity import unique_id
from golden.plan import Job, Plan
from golden.recorder import agent_version
from golden.shelf import Shelf
from golden.suite import Suite
from golden.targets.replay import ReplayTarget
from golden.tries import request
from golden.visible import visible

_SHOWN = 5  # the most names that a warning lists


def faults(jobs: Iterable[Job], target: ReplayTarget) -> Iterator[tuple[Job, TargetError]]:
    """Yields each case that a replay would make an error of, with that error."""
    plan = Plan()
    for job in jobs:
        history: tuple[tuple[str, str], ...] = ()
        try:
            for question in job.case.questions:
                target.recording(request(job, plan, question, "", history))
                history = (*history, (question, ""))
        except TargetError as error:
            yield job, error


def warnings(suites: Sequence[Suite], jobs: Iterable[Job], shelf: Shelf, plan: Plan) -> Iterator[str]:
    """Says which recordings no case uses, and which were made with another model or another version of the agent.

    Args:
        suites: all that may use them.
        jobs: the cases that are asked.
        shelf: the recordings.
        plan: says which model is asked for.
    """
    used = {unique_id(case.id) for suite in suites for case in suite.cases}
    if unused := [path.name for case_id, path in shelf.paths.items() if case_id not in used]:
        yield f"{shelf.path}: no case uses {_listed(unused)}"
    others: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for job in jobs:
        named_by = {"model": job.model(plan), "agentVersion": agent_version(job.case)}
        path = shelf.find(job.case.id) if any(named_by.values()) else None
        meta = {} if path is None else shelf.meta(path)
        for key, named in named_by.items():
            if named is not None and key in meta and meta[key] != named:
                others[key, str(meta[key] or "none"), named].append(job.case.id)
    for (key, recorded, named), ids in others.items():
        what = "the model" if key == "model" else "version"
        yield f"{shelf.path}: recorded with {what} {recorded!r}, and the suite names {named!r}: {_listed(ids)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(visible, names[:_SHOWN])) + more
