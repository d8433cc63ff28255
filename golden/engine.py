"""The run: cases asked of a target, many at once, all of them accounted for in order."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from golden import score
from golden.blame import raised_at, told
from golden.errors import GoldenError, UsageError
from golden.plan import Job, Plan
from golden.result import CaseResult, RunInfo, RunResult, SuiteResult, TargetResult
from golden.tally import spent, summarise
from golden.tries import Ran, run_case
from golden.version import __version__
from golden.watch import Stop, Watch, is_cancelled
from golden.wire import Target

# So many cases in a row that could not connect or were refused, before any answer, and no further case starts.
_HOPELESS = 5
_HOPELESS_KINDS = frozenset({"unreachable", "refused"})

_LOG = logging.getLogger("golden")

# How long a target may take to close once the run was stopped.
_CLOSE_S = 0.5


class _Gate:
    """Whether a further case may start."""

    def __init__(self, plan: Plan) -> None:
        self.shut = ""
        self._plan = plan
        self._tokens = 0
        self._answered = False
        self._hopeless = 0

    def is_open(self, in_flight: int) -> bool:
        """While all that came were refusals, no more are in flight than may still be judged."""
        return not self.shut and (self._answered or not self._hopeless or self._hopeless + in_flight < _HOPELESS)

    def saw(self, result: CaseResult) -> None:
        self._answered = self._answered or any(turn.error is None for turn in result.turns)
        hopeless = result.error is not None and result.error.kind in _HOPELESS_KINDS and not self._answered
        self._hopeless = self._hopeless + 1 if hopeless else 0
        if self._hopeless >= _HOPELESS and result.error:
            self.shut = f"{_HOPELESS} cases in a row got no answer: {result.error.message}"
        elif self._plan.bail and result.status != "passed":
            self.shut = f"--bail: case {result.case_id!r} did not pass"
        self._tokens += spent(result)
        if self._plan.max_tokens is not None and self._tokens > self._plan.max_tokens and not self.shut:
            self.shut = f"--max-tokens: {self._tokens:,} were used, of {self._plan.max_tokens:,}"


Observer = Callable[[CaseResult], None]


async def run_jobs(
    jobs: Sequence[Job], target: Target | None, plan: Plan, stop: Stop, observe: Observer = lambda result: None
) -> RunResult:
    """Runs all jobs and returns a result for each, in their order, whatever happened.

    Args:
        jobs: the selected cases.
        target: where answers come from; None where every job is skipped.
        plan: how.
        stop: ends the run early when it is called; what was not judged by then is `not_run`.
        observe: told each result as it comes.
    """
    started, clock = datetime.now(UTC), time.monotonic()
    results = {
        at: score.skipped(job.suite, job.case, job.skip, plan.secrets)
        for at, job in enumerate(jobs)
        if job.skip is not None
    }
    for result in results.values():
        observe(result)
    waiting = deque(at for at in range(len(jobs)) if at not in results)
    read: dict[int, dict[str, str]] = {}  # for a case: its dialects, and how each was told
    gate = _Gate(plan)
    if target is not None:

        def settle(at: int, ran: Ran) -> None:
            results[at], read[at] = ran
            gate.saw(ran.result)
            observe(ran.result)

        async with _suite_timeout(plan, stop), _opened(target, plan, stop):
            await _run(jobs, waiting, target, plan, stop, gate, settle)
    for at in waiting:
        job = jobs[at]
        reason = stop.reason or gate.shut
        results[at] = score.not_run(job.suite, job.case, job.model(plan), reason, plan.secrets)
        observe(results[at])
    ordered = tuple(results[at] for at in range(len(jobs)))
    suites = {id(job.suite): SuiteResult(path=job.suite.path, sha256=job.suite.sha256) for job in jobs}
    info = RunInfo(
        started_at=started.isoformat(timespec="seconds"),
        duration_s=round(time.monotonic() - clock, 3),
        golden_version=__version__,
        target=None if target is None else _target(target, plan, [read[at] for at in sorted(read)]),
        suites=plan.suites or tuple(suites.values()),
        git=plan.git,
        complete=all(result.status != "not_run" for result in ordered),
        shard=plan.shard,
        unselected=plan.unselected,
    )
    return RunResult(run=info, summary=summarise(ordered), results=ordered)


def _target(target: Target, plan: Plan, read: Iterable[dict[str, str]]) -> TargetResult:
    reasons: dict[str, str] = {}
    for dialects in read:  # in suite order, whichever case came first
        for dialect, reason in dialects.items():
            reasons.setdefault(dialect, reason)
    return TargetResult(
        kind=target.kind,
        name=plan.secrets.cover(target.name),
        dialect=", ".join(reasons) or plan.dialect,
        reason=plan.secrets.cover("; ".join(reasons.values())),
    )


async def _run(
    jobs: Sequence[Job],
    waiting: deque[int],
    target: Target,
    plan: Plan,
    stop: Stop,
    gate: _Gate,
    settle: Callable[[int, Ran], None],
) -> None:
    """Runs the waiting jobs, many at once, and settles each; takes none while the gate is shut."""
    in_flight = 0
    pool = ThreadPoolExecutor(2, "golden-score")

    async def run(at: int) -> None:
        nonlocal in_flight
        ran = await run_case(jobs[at], target, plan, stop, pool)
        in_flight -= 1
        settle(at, ran)
        start()  # here, and not where all are waited for: a busy event loop would come to that milliseconds later

    def start() -> None:
        nonlocal in_flight
        if is_cancelled():  # a group that ends takes no more, whatever a target makes of being cancelled
            return
        while waiting and stop.reason is None and in_flight < plan.concurrency and gate.is_open(in_flight):
            in_flight += 1
            group.create_task(run(waiting.popleft()))

    try:
        async with asyncio.TaskGroup() as group:
            start()
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        # A pattern may still be at work where the run was stopped.
        pool.shutdown(wait=stop.reason is None, cancel_futures=True)


@asynccontextmanager
async def _suite_timeout(plan: Plan, stop: Stop) -> AsyncIterator[None]:
    if not plan.suite_timeout_s:
        yield
        return
    why = f"the suite time-out of {plan.suite_timeout_s:g} s was reached; --suite-timeout raises it, 0 is none"
    alarm = asyncio.get_running_loop().call_later(plan.suite_timeout_s, stop, why)
    try:
        yield
    finally:
        alarm.cancel()


@asynccontextmanager
async def _opened(target: Target, plan: Plan, stop: Stop) -> AsyncIterator[None]:
    """The target, open. Where the run is stopped, neither its opening nor its closing keeps the reports waiting."""
    stack = AsyncExitStack()
    async with Watch(stop):
        try:
            await stack.enter_async_context(target.open())
        except GoldenError:
            raise
        except Exception as error:  # whatever a target of the user's raises
            raise UsageError(f"the target cannot be opened: {told(error)}", hint=raised_at(error)) from error
    try:
        yield
    finally:
        closing = Watch(stop) if stop.reason is None else Watch(Stop(), _CLOSE_S)
        try:
            async with closing:
                await stack.aclose()
        except Exception as error:  # whatever a target of the user's raises: the results stand
            _LOG.warning("the target did not close well: %s", plan.secrets.cover(told(error)))
