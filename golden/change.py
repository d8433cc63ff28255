"""What became of each case since a baseline: plain values, written to the results file as they are (contract 7)."""

from dataclasses import dataclass
from typing import Literal

Change = Literal["regressed", "fixed", "still_failing", "new", "gone", "unchanged"]

State = Literal["holds", "fails", "undecided", "absent"]

MOST_TRIALS = 10_000
"""How often a case is tried at most: far more than tells two agents apart, and few enough to reckon with."""


@dataclass(frozen=True, slots=True)
class Trials:
    """How many trials ran, and how many passed."""

    run: int
    passed: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens as the agent reports them; None for a figure that it does not report."""

    input: int | None
    output: int | None


@dataclass(frozen=True, slots=True)
class Side:
    """A case in one of the two runs, by the try that decided.

    Attributes:
        groundedness: the lowest score of the turns.
        first_token_s: of the slowest turn; None where an answer did not come whole.
        total_s: of all turns together; None where an answer did not come whole.
        usage: of all turns together.
        error: why there is no verdict, as `kind: message`.
    """

    status: str
    error: str | None
    flaky: bool
    trials: Trials | None
    groundedness: float | None
    first_token_s: float | None
    total_s: float | None
    usage: Tokens | None
    model: str | None


@dataclass(frozen=True, slots=True)
class CheckChange:
    """A check that came out otherwise; `turn` is 0-based, None for the whole case; `message` is the later one."""

    name: str
    turn: int | None
    before: State
    after: State
    message: str


@dataclass(frozen=True, slots=True)
class CallChange:
    """A tool call that came, went, or has other arguments; those of a side that has no such call are None."""

    name: str
    change: Literal["came", "went", "changed"]
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class CaseChange:
    """One case, before and now.

    Attributes:
        before: None where the baseline does not have it.
        after: None where it is gone.
        case_changed: what is asked, or what must hold, is not what it was: the verdict may differ for that alone.
        checks: those that came out otherwise, where both runs judged the case.
        calls: the tool calls that did, likewise.
        p: with trials on both sides, how likely a difference as large this way is by chance alone.
        likely_noise: fewer trials passed, but no fewer than chance explains, and still more than half.
        answers: what the turns of the baseline answered, each at most 4,000 characters of it; none where this run
            answered the same.
    """

    case_id: str
    change: Change
    before: Side | None
    after: Side | None
    case_changed: bool = False
    checks: tuple[CheckChange, ...] = ()
    calls: tuple[CallChange, ...] = ()
    p: float | None = None
    likely_noise: bool = False
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that is compared with."""

    started_at: str
    golden_version: str
    sha: str | None
    branch: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many cases there are of each change.

    Attributes:
        regressed: those that are gone among them, and the likely noise.
        likely_noise: of the regressed.
        case_changed: of all, whatever became of them.
    """

    regressed: int
    likely_noise: int
    fixed: int
    still_failing: int
    new: int
    unchanged: int
    case_changed: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run and its baseline.

    Attributes:
        gone: the ids of the baseline that are in no suite of the run any more.
        left_out: the ids of the baseline that the run did not select, or another shard has.
        notes: what else differs between the two runs, and may be why.
        cases: each case of the run, in its order; then those that are gone, in the order of the baseline.
    """

    baseline: Baseline
    counts: Counts
    gone: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    cases: tuple[CaseChange, ...]
