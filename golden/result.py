"""The results of a run, as they are written and read (contract 7)."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PlainSerializer, WrapValidator, model_validator

from golden.beside import Expected
from golden.change import MOST_TRIALS, Comparison
from golden.log import Entry, Log
from golden.shard import MOST
from golden.sse import whole

SCHEMA: Final = "golden.results/1"

Status = Literal["passed", "failed", "error", "skipped", "not_run"]

# The order in which a status decides the exit code, and the code.
_EXIT: tuple[tuple[Status, int], ...] = (("failed", 1), ("error", 3), ("not_run", 3))


class _Model(BaseModel):
    # Readers pass over keys that they do not know: a newer golden may have written them.
    # An agent's NaN is written as the text "NaN": the file itself is always JSON.
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, ser_json_inf_nan="strings")


Events: TypeAlias = Annotated[
    Sequence[Entry],
    WrapValidator(lambda given, read: given if isinstance(given, Log) else Log(read(given))),
    PlainSerializer(list, return_type=list[Entry]),
]


class CheckResult(_Model):
    """One check: `ok` is None where it is undecided, `turn` (0-based) None where it is about the whole case."""

    name: str
    ok: bool | None
    message: str
    turn: int | None


class ErrorResult(_Model):
    """Why there is no verdict, or why a turn has no complete answer."""

    kind: str
    message: str


class UsageResult(_Model):
    """Tokens as the agent reports them; None for a figure that it does not report."""

    input: int | None
    output: int | None


class TimingResult(_Model):
    """Seconds from the request."""

    first_event_s: FiniteFloat | None
    first_token_s: FiniteFloat | None
    total_s: FiniteFloat


class ToolCallResult(_Model):
    """One call; `args` is the raw text where it was not JSON."""

    name: str
    args: object
    result: object


class FindingResult(_Model):
    """Something odd about the stream."""

    kind: str
    message: str


class TurnResult(_Model):
    """One question and what came of it; `answer` holds at most 64 KiB of its `answer_chars` characters."""

    question: str
    answer: str
    answer_chars: int
    final_text: str
    finish: str | None
    tool_calls: tuple[ToolCallResult, ...]
    groundedness: float | None
    usage: UsageResult | None
    timing: TimingResult
    events: Events
    events_total: int
    findings: tuple[FindingResult, ...]
    error: ErrorResult | None


class AttemptResult(_Model):
    """One try at a case, and what it used."""

    trial: int
    try_: Annotated[int, Field(alias="try")]
    status: Status
    error: ErrorResult | None
    checks: tuple[CheckResult, ...]
    usage: UsageResult | None = None


class TrialsResult(_Model):
    """How many trials of a case ran, and how many passed."""

    run: Annotated[int, Field(ge=0, le=MOST_TRIALS)]
    passed: Annotated[int, Field(ge=0)]


class CaseResult(_Model):
    """A case's verdict with its evidence."""

    case_id: str
    suite: str | None
    line: int | None
    question: str
    status: Status
    passed: bool
    xfailed: bool = False
    tool_ok: bool | None = None
    forbidden_ok: bool | None = None
    groundedness_ok: bool | None = None
    expected_tools: tuple[str, ...] = ()
    actual_tools: tuple[str, ...] = ()
    groundedness: float | None = None
    groundedness_threshold: float | None = None
    forbidden_hits: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    expectations: tuple[Expected, ...] = ()
    turns: tuple[TurnResult, ...] = ()
    error: ErrorResult | None = None
    attempts: tuple[AttemptResult, ...] = ()
    flaky: bool = False
    trials: TrialsResult | None = None
    tags: tuple[str, ...] = ()
    model: str | None = None
    metadata: Mapping[str, object] = {}
    case_sha256: str | None = None
    change: Literal["regressed", "fixed", "still_failing", "new", "unchanged"] | None = None

    def __repr__(self) -> str:
        """Stands in failures of tests, where the whole would fill the screen."""
        return f"<CaseResult {self.case_id!r}: {self.status}>"


class TargetResult(_Model):
    """Where the answers came from; `dialect` names what was read, `reason` how that was known."""

    kind: str
    name: str
    dialect: str
    reason: str = ""


class SuiteResult(_Model):
    """A suite that was run: its file and the hash of its bytes, None for a suite made in Python."""

    path: str | None
    sha256: str | None


class GitResult(_Model):
    """The commit that was checked out; `branch` is None where none was."""

    sha: str
    branch: str | None


class ShardResult(_Model):
    """Which part of a run this is, counted from 1; `cases` are the ids of all its parts, in suite order."""

    index: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1, le=MOST)]
    cases: tuple[str, ...]

    @model_validator(mode="after")
    def _is_a_part(self) -> Self:
        if self.index > self.count:
            raise ValueError(f"there is no part {self.index} of {self.count}")
        if len({*self.cases}) < len(self.cases):
            raise ValueError("a case is named twice")
        return self


class RunInfo(_Model):
    """The run itself; `complete` is false where golden stopped before every case was judged.

    `unselected` are the ids of the suites' cases that were not asked for.
    """

    started_at: str
    duration_s: FiniteFloat
    golden_version: str
    target: TargetResult | None
    suites: tuple[SuiteResult, ...]
    git: GitResult | None
    complete: bool
    shard: ShardResult | None = None
    unselected: tuple[str, ...] = ()


class Quantiles(_Model):
    """The median and the 95th percentile, in seconds; None where nothing was timed."""

    p50: FiniteFloat | None
    p95: FiniteFloat | None


class Summary(_Model):
    """The run in figures: total = passed + failed + errors + skipped + not_run."""

    total: int
    passed: int
    failed: int
    errors: int
    skipped: int
    not_run: int
    flaky: int
    all_passed: bool
    pass_rate: float | None
    usage: UsageResult | None
    first_token_s: Quantiles
    total_s: Quantiles


class RunResult(_Model):
    """A whole run. `results` stand in suite order, one for each selected case; `comparison` is with a baseline."""

    schema_: Annotated[Literal["golden.results/1"], Field(alias="schema")] = SCHEMA
    run: RunInfo
    summary: Summary
    comparison: Comparison | None = None
    results: tuple[CaseResult, ...]

    @property
    def all_passed(self) -> bool:
        """Whether every selected case passed or was skipped."""
        return self.summary.all_passed

    @property
    def exit_code(self) -> int:
        """0, 1 where a case failed, else 3 where one could not be judged."""
        return exit_code(self.results)


def exit_code(results: Sequence[CaseResult]) -> int:
    """The exit code that these results give (contract 2)."""
    return next((code for status, code in _EXIT if any(result.status == status for result in results)), 0)


def with_comparison(run: RunResult, comparison: Comparison | None) -> RunResult:
    """Returns the run with what its baseline says of it, or without any where that is None."""
    changes = {case.case_id: case.change for case in comparison.cases} if comparison else {}
    results = tuple(one.model_copy(update={"change": changes.get(one.case_id)}) for one in run.results)
    return run.model_copy(update={"comparison": comparison, "results": results})


def write(result: RunResult) -> str:
    """Returns the results as JSON: keys in the contract's order, a case a line, so that two files compare by line."""
    head = _json(result.model_copy(update={"results": ()}))
    return "".join([head.removesuffix("]}"), "\n", ",\n".join(map(_json, result.results)), "\n]}\n"])


def _json(model: _Model) -> str:
    try:
        return model.model_dump_json(by_alias=True)
    except ValueError:  # half of a surrogate pair: an exception's message, a path or a suite's metadata may hold one
        return type(model).model_validate(_whole(model.model_dump())).model_dump_json(by_alias=True)


def _whole(value: object) -> object:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, (list, tuple)) else value


def read(text: str) -> RunResult:
    """Reads what `write` wrote.

    Raises:
        ValueError: it is no results file of this schema.
    """
    # Not pydantic's own parser: it stops at 200 levels, and an agent's arguments alone may have as many.
    return RunResult.model_validate(json.loads(text, parse_constant=_finite, parse_float=_finite))


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text} is no finite number")
    return value
