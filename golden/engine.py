"""The run: cases asked of a target, many at once, each within its time, all of them accounted for in order."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from golden import refusal, score
from golden.blame import told
from golden.errors import AskAgain, GoldenError, TargetError
from golden.reader import Bounds, Reader
from golden.redaction import Secrets
from golden.result import CaseResult, GitResult, RunInfo, RunResult, SuiteResult, TargetResult, summarise
from golden.suite import Case, Suite
from golden.transcript import Transcript, Turn
from golden.version import __version__
from golden.watch import Stop, Watch
from golden.wire import Chunk, Head, Request, Target

# So many cases in a row that could not connect or were refused, before any answer, and no further case starts.
_HOPELESS = 5
_HOPELESS_KINDS = frozenset({"unreachable", "refused"})

_LOG = logging.getLogger("golden")

# A reply of so many bytes is judged in a millisecond: in a thread it would cost twice that.
_SHORT = 64 * 1024

# To be woken for a piece costs several times what reading it does. So where pieces come faster than this, golden lets
# some gather; those that were at hand, read together with one that was waited for, come faster still.
_PAUSE_S = 0.0035
_AT_HAND_S = 0.0002

# How long a target may take to close once the run was stopped.
_CLOSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is run.

    Attributes:
        dialect: a dialect's name, or `auto`.
        model: asked for where a case names none; the suite's where None.
        concurrency: cases in flight at once.
        timeout_s: for one turn, from the request to the end of its stream.
        idle_timeout_s: the longest silence on the connection.
        suite_timeout_s: for the whole run; 0 is none.
        bail: whether no further case starts after the first that does not pass.
        bounds: how much of a stream is read.
        secrets: what must not be written.
        git: the commit that is checked out, for the results.
    """

    dialect: str = "auto"
    model: str | None = None
    concurrency: int = 4
    timeout_s: float = 60
    idle_timeout_s: float = 30
    suite_timeout_s: float = 300
    bail: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    secrets: Secrets = field(default_factory=Secrets)
    git: GitResult | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A selected case; `skip` is why it is not asked, or None."""

    suite: Suite
    case: Case
    skip: str | None = None


def question(job: Job, plan: Plan) -> Request:
    """Returns a job's question: a case's own model and system prompt win over the run's, and that over the suite's."""
    suite, case = job.suite, job.case
    return Request(
        case.question,
        uuid4().hex,
        model=case.model or plan.model or suite.model,
        system_prompt=case.system_prompt or suite.system_prompt,
    )


async def ask(target: Target, request: Request, plan: Plan, case: Case, stop: Stop) -> tuple[Turn, Reader]:
    """Asks one question and reads what comes: Request → Head, Chunks → Turn. The reader tells which dialect it was."""
    again = ""
    while True:
        reader = Reader(request.question, plan.dialect, plan.bounds)
        if again:
            reader.note("asked_again", again)
        try:
            return await _asked_once(target, request, plan, case, stop, reader), reader
        except AskAgain as blocked:
            if stop.reason is not None:
                return reader.close(0.0, blocked), reader
            again = f"the question was asked twice: {blocked.message}"


async def _asked_once(target: Target, request: Request, plan: Plan, case: Case, stop: Stop, reader: Reader) -> Turn:
    error: TargetError | None = None
    refused: Head | None = None
    body = b""
    named = "--timeout" if case.timeout_s is None else "the case's timeout_s"
    watch = Watch(stop, case.timeout_s or plan.timeout_s, plan.idle_timeout_s, named)
    now = asyncio.get_running_loop().time
    try:
        async with watch, _reply(target, request) as reply:
            asked = now()
            while (piece := await _next(reply)) is not None:
                waited, watch.last = now() - asked, now()
                if isinstance(piece, Head):
                    reader.open(piece)
                    if not refusal.answers(piece):
                        refused = piece
                        watch.linger()
                elif refused:
                    body += piece.data
                    if len(body) >= refusal.BODY:
                        break
                else:
                    at = watch.last - watch.start if piece.at is None else piece.at
                    reader.feed(piece.data, round(at, 6))  # here, once a piece: its events share the one number
                    if reader.ended:
                        watch.linger()
                    elif _AT_HAND_S < waited < _PAUSE_S:
                        await asyncio.sleep(_PAUSE_S)
                asked = now()
    except TargetError as caught:
        if isinstance(caught, AskAgain) and not (reader.ended or refused):
            raise
        error = caught
    if refused:
        error = refusal.refusal(refused, body[: refusal.BODY], plan.secrets.cover)
    elif watch.fired and not reader.ended:
        error = TargetError("timeout", f"{watch.fired}, after {reader.came}")
    return reader.close(now() - watch.start, error)


@asynccontextmanager
async def _reply(target: Target, request: Request) -> AsyncIterator[AsyncIterator[Head | Chunk]]:
    try:
        reply = target.ask(request)
    except Exception as error:
        raise _fault(error) from error
    try:
        yield reply
    finally:
        if isinstance(reply, AsyncGenerator):
            await reply.aclose()


async def _next(reply: AsyncIterator[Head | Chunk]) -> Head | Chunk | None:
    try:
        return await anext(reply)
    except StopAsyncIteration:
        return None
    except Exception as error:
        raise _fault(error) from error


def _fault(error: Exception) -> TargetError:
    """Whatever a target raises is its fault, told apart from golden's own."""
    if isinstance(error, GoldenError):
        return error if isinstance(error, TargetError) else TargetError("agent", str(error))
    return TargetError("agent", f"the target raised {told(error)}")


async def judge(
    job: Job, request: Request, turn: Turn, size: int, plan: Plan, stop: Stop, pool: Executor
) -> CaseResult:
    """Scores and judges what came. In a thread: a slow pattern, or a long answer, must not stop the run's clocks."""
    judging = partial(score.judge, job.suite, job.case, request.model, Transcript((turn,)), plan.secrets)
    if size <= _SHORT and not job.case.has_patterns and stop.reason is None:
        return judging()
    result = None
    async with Watch(stop):
        result = await asyncio.get_running_loop().run_in_executor(pool, judging)
    if result is None:
        return score.not_run(job.suite, job.case, request.model, stop.reason or "", plan.secrets, (turn,))
    return result


class _Gate:
    """Whether a further case may start."""

    def __init__(self, bail: bool) -> None:
        self.shut = ""
        self._bail = bail
        self.answered = False
        self._hopeless = 0

    def is_open(self, in_flight: int) -> bool:
        """While all that came were refusals, no more are in flight than may still be judged."""
        return not self.shut and (self.answered or not self._hopeless or self._hopeless + in_flight < _HOPELESS)

    def saw(self, result: CaseResult) -> None:
        self.answered = self.answered or result.status in ("passed", "failed")
        hopeless = result.error is not None and result.error.kind in _HOPELESS_KINDS and not self.answered
        self._hopeless = self._hopeless + 1 if hopeless else 0
        if self._hopeless >= _HOPELESS and result.error:
            self.shut = f"{_HOPELESS} cases in a row got no answer: {result.error.message}"
        elif self._bail and result.status != "passed":
            self.shut = f"--bail: case {result.case_id!r} did not pass"


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
    read: dict[int, tuple[str, str]] = {}  # for a case: its dialect, and how that was told
    gate = _Gate(plan.bail)
    if target is not None:
        judging = _results(jobs, waiting, target, plan, stop, gate)
        async with _suite_timeout(plan, stop), _opened(target, plan, stop), aclosing(judging) as judged:
            async for at, result, reader in judged:
                results[at] = result
                if reader.reason:
                    read[at] = reader.dialect, reader.reason
                gate.saw(result)
                observe(result)
    for at in waiting:
        job = jobs[at]
        model = question(job, plan).model
        results[at] = score.not_run(job.suite, job.case, model, stop.reason or gate.shut, plan.secrets)
        observe(results[at])
    ordered = tuple(results[at] for at in range(len(jobs)))
    suites = {id(job.suite): SuiteResult(path=job.suite.path, sha256=job.suite.sha256) for job in jobs}
    info = RunInfo(
        started_at=started.isoformat(timespec="seconds"),
        duration_s=round(time.monotonic() - clock, 3),
        golden_version=__version__,
        target=None if target is None else _target(target, plan, [read[at] for at in sorted(read)]),
        suites=tuple(suites.values()),
        git=plan.git,
        complete=all(result.status != "not_run" for result in ordered),
    )
    return RunResult(run=info, summary=summarise(ordered), results=ordered)


def _target(target: Target, plan: Plan, read: Iterable[tuple[str, str]]) -> TargetResult:
    reasons: dict[str, str] = {}
    for dialect, reason in read:  # in suite order, whichever case came first
        reasons.setdefault(dialect, reason)
    return TargetResult(
        kind=target.kind,
        name=plan.secrets.cover(target.name),
        dialect=", ".join(reasons) or plan.dialect,
        reason=plan.secrets.cover("; ".join(reasons.values())),
    )


async def _results(
    jobs: Sequence[Job], waiting: deque[int], target: Target, plan: Plan, stop: Stop, gate: _Gate
) -> AsyncGenerator[tuple[int, CaseResult, Reader], None]:
    """Asks and judges the waiting jobs, many at once, and yields each result; takes none while the gate is shut.

    A case that has its answer makes room for the next while it is judged, save where the next may depend on that.
    """
    asking: dict[asyncio.Task[tuple[Turn, Reader]], tuple[int, Request]] = {}
    judging: dict[asyncio.Task[CaseResult], tuple[int, Reader]] = {}
    pool = ThreadPoolExecutor(2, "golden-score")
    try:
        while True:
            while waiting and stop.reason is None and gate.is_open(len(asking) + len(judging)):
                apart = gate.answered and not plan.bail
                if (max if apart else sum)((len(asking), len(judging))) >= plan.concurrency:
                    break
                at = waiting.popleft()
                request = question(jobs[at], plan)
                task = asyncio.create_task(ask(target, request, plan, jobs[at].case, stop))
                asking[task] = at, request
            if not asking and not judging:
                return
            done, _ = await asyncio.wait([*asking, *judging], return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in asking if task in done]:
                at, request = asking.pop(task)
                turn, reader = task.result()
                judging[asyncio.create_task(judge(jobs[at], request, turn, reader.size, plan, stop, pool))] = at, reader
            for judged in [judged for judged in judging if judged in done]:
                at, reader = judging.pop(judged)
                yield at, judged.result(), reader
    finally:
        left = [*asking, *judging]
        for unfinished in left:
            unfinished.cancel()
        await asyncio.gather(*left, return_exceptions=True)
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
        await stack.enter_async_context(target.open())
    try:
        yield
    finally:
        closing = Watch(stop) if stop.reason is None else Watch(Stop(), _CLOSE_S)
        try:
            async with closing:
                await stack.aclose()
        except Exception as error:  # whatever a target of the user's raises: the results stand
            _LOG.warning("the target did not close well: %s", plan.secrets.cover(told(error)))
