"""What a run is to do: the selected cases, and how."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from golden.lexicon import Lexicon
from golden.reader import Bounds
from golden.recording import Heard
from golden.redaction import Secrets
from golden.result import GitResult, ShardResult, SuiteResult
from golden.score import Scorer
from golden.suite import Case, Suite

Record: TypeAlias = Callable[["Job", "Plan", Sequence[Heard]], None]
"""Keeps what came of a case, of the try that gave its verdict. It raises nothing, and runs in a thread."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is run.

    Attributes:
        dialect: a dialect's name, or `auto`.
        lexicon: the dialects that there are.
        model: asked for where a case names none; the suite's where None.
        concurrency: cases in flight at once.
        timeout_s: for one turn, from the request to the end of its stream.
        idle_timeout_s: the longest silence on the connection.
        suite_timeout_s: for the whole run; 0 is none.
        retries: more tries for a case that did not pass and says nothing else of it.
        trials: tries at a case that says nothing else of it, all of which must pass.
        flaky: what a case that passed only on retry counts as.
        bail: whether no further case starts after the first that does not pass.
        max_tokens: no further case starts once the agent has reported more; None is no bound.
        bounds: how much of a stream is read.
        secrets: what must not be written.
        scorers: those that cases name, by their names.
        git: the commit that is checked out, for the results.
        shard: which part of a run this is, for the results.
        suites: those that cases were selected from, for the results; where None, those of the cases.
        unselected: the ids of their other cases, for the results.
        record: keeps each case that answered; None where none is to be kept.
    """

    dialect: str = "auto"
    lexicon: Lexicon = field(default_factory=Lexicon)
    model: str | None = None
    concurrency: int = 4
    timeout_s: float = 60
    idle_timeout_s: float = 30
    suite_timeout_s: float = 300
    retries: int = 0
    trials: int = 1
    flaky: Literal["pass", "fail"] = "pass"
    bail: bool = False
    max_tokens: int | None = None
    bounds: Bounds = field(default_factory=Bounds)
    secrets: Secrets = field(default_factory=Secrets)
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    git: GitResult | None = None
    shard: ShardResult | None = None
    suites: tuple[SuiteResult, ...] | None = None
    unselected: tuple[str, ...] = ()
    record: Record | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A selected case; `skip` is why it is not asked, or None."""

    suite: Suite
    case: Case
    skip: str | None = None

    def model(self, plan: Plan) -> str | None:
        """The model that is asked for: a case's own wins over the run's, and that over the suite's."""
        return self.case.model or plan.model or self.suite.model

    def tries(self, plan: Plan) -> tuple[int, int]:
        """How many trials there are, and how many tries at each: what the case says wins over the run."""
        retries = plan.retries if self.case.retries is None else self.case.retries
        trials = plan.trials if self.case.trials is None else self.case.trials
        if self.case.retries:
            trials = 1
        elif (self.case.trials or 1) > 1:
            retries = 0
        return trials, retries + 1
