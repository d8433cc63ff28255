"""Settings and the selected cases → the plan of a run."""

from collections.abc import Mapping
from types import MappingProxyType

from golden.lexicon import Lexicon
from golden.plan import Plan
from golden.reader import Bounds
from golden.redaction import Secrets
from golden.result import GitResult
from golden.score import Scorer
from golden.scorers import load_scorers
from golden.selection import Selection
from golden.settings import Settings


def planned(
    options: Settings,
    selection: Selection,
    lexicon: Lexicon,
    secrets: Secrets,
    git: GitResult | None = None,
    known: Mapping[str, Scorer] = MappingProxyType({}),
) -> Plan:
    """Returns the plan.

    Args:
        options: of the run.
        selection: its cases.
        lexicon: the dialects that there are.
        secrets: what must not be written.
        git: the commit that is checked out, for the results.
        known: golden's own scorers, by the names that cases give them.

    Raises:
        UsageError: a scorer that a case names cannot be loaded.
    """
    return Plan(
        dialect=options.dialect,
        lexicon=lexicon,
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
        git=git,
        shard=selection.shard,
        suites=selection.suites,
        unselected=selection.unselected,
    )
