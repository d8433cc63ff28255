"""Settings and the selected cases → the plan of a run."""

from collections.abc import Mapping
from types import MappingProxyType

from golden.checkout import checked_out
from golden.plan import Plan
from golden.reader import Bounds
from golden.redaction import Secrets
from golden.score import Scorer
from golden.scorers import load_scorers
from golden.selection import Selection
from golden.settings import Settings


def planned(
    options: Settings, selection: Selection, secrets: Secrets, known: Mapping[str, Scorer] = MappingProxyType({})
) -> Plan:
    """Returns the plan.

    Args:
        options: of the run.
        selection: its cases.
        secrets: what must not be written.
        known: golden's own scorers, by the names that cases give them.

    Raises:
        UsageError: a scorer that a case names cannot be loaded.
    """
    return Plan(
        dialect=options.dialect,
        model=options.model,
        concurrency=options.concurrency,
        timeout_s=options.timeout,
        idle_timeout_s=options.idle_timeout,
        suite_timeout_s=options.suite_timeout,
        retries=options.retries,
        trials=options.trials,
        flaky=options.flaky,
        bail=options.bail,
        max_tokens=options.max_tokens,
        bounds=Bounds(options.max_answer, options.max_event),
        secrets=secrets,
        scorers=load_scorers(selection.jobs, isolated=options.isolated, known=known),
        git=checked_out(),
        shard=selection.shard,
        suites=selection.suites,
    )
