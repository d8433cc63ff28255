"""One case: its questions asked in turn, scored, and tried again where that is asked for."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from golden import score
from golden.asking import Asked, ask, blamed
from golden.errors import TargetError
from golden.plan import Job, Plan
from golden.recording import Heard
from golden.result import CaseResult
from golden.transcript import Transcript
from golden.verdict import Try, deciding, expected_to_fail, verdict
from golden.watch import Stop, Watch
from golden.wire import Request, Target

_LOG = logging.getLogger("golden")

# Replies of so many bytes are judged in a millisecond: in a thread it would cost twice that.
_SHORT = 64 * 1024


class Ran(NamedTuple):
    """A case's result, and for each dialect that its streams were read in how that was told."""

    result: CaseResult
    dialects: dict[str, str]


def request(
    job: Job,
    plan: Plan,
    question: str,
    session_id: str,
    history: tuple[tuple[str, str], ...],
    answer_ids: tuple[str, ...] = (),
) -> Request:
    """Returns one question of a case as it is asked, `history` being the turns before it."""
    suite, case = job.suite, job.case
    return Request(
        question,
        session_id,
        turns=len(case.questions),
        history=history,
        answer_ids=answer_ids,
        model=job.model(plan),
        system_prompt=suite.system_prompt if case.system_prompt is None else case.system_prompt,
        case_id=case.id,
        suite=suite.path or "",
    )


async def run_case(job: Job, target: Target, plan: Plan, stop: Stop, pool: Executor) -> Ran:
    """Asks, scores, and tries again: Job → CaseResult."""
    trials, _ = job.tries(plan)
    tries: list[Try] = []
    came: list[list[Asked]] = []
    dialects: dict[str, str] = {}
    async for each, asked in _tries(job, target, plan, stop, pool):
        tries.append(each)
        came.append(asked)
        for one in asked:
            if one.reason:
                dialects.setdefault(one.dialect, one.reason)
    decider = tries.index(deciding(tries, trials))
    if plan.record is not None and tries[decider].result.status != "not_run":
        heard = [Heard(one.reply, one.turn) for one in came[decider] if one.reply is not None]
        await asyncio.get_running_loop().run_in_executor(pool, plan.record, job, plan, heard)
    if job.case.xfail is None:
        return Ran(verdict(tries, trials, plan.flaky), dialects)
    result = verdict(tries, trials, "pass").model_copy(update={"flaky": False})
    return Ran(expected_to_fail(result, plan.secrets.cover(job.case.xfail)), dialects)


async def _tries(
    job: Job, target: Target, plan: Plan, stop: Stop, pool: Executor
) -> AsyncGenerator[tuple[Try, list[Asked]], None]:
    """Each trial, and its tries up to the first that needs no other; those after a stop are one that was not run."""
    trials, most = job.tries(plan)
    enough = {"passed"} if job.case.xfail is None else {"passed", "failed"}
    for trial in range(1, trials + 1):
        for number in range(1, most + 1):
            if stop.reason is not None and (trial, number) != (1, 1):
                left_out = score.not_run(job.suite, job.case, job.model(plan), stop.reason, plan.secrets)
                yield Try(trial, number, left_out), []
                return
            asked = await _asked(job, target, plan, stop)
            result = await _judged(job, asked, plan, stop, pool)
            yield Try(trial, number, result), asked
            if result.status in enough:
                break
            if number < most and (wait := asked[-1].retry_after_s):
                async with Watch(stop):
                    await asyncio.sleep(wait)


async def _asked(job: Job, target: Target, plan: Plan, stop: Stop) -> list[Asked]:
    """Asks the questions of a case in one fresh conversation; those after one that got no answer are not asked."""
    asked: list[Asked] = []
    session_id = uuid4().hex
    for question in job.case.questions:
        history = tuple((one.turn.question, one.turn.answer) for one in asked)
        asking = request(job, plan, question, session_id, history, tuple(one.turn.answer_id for one in asked))
        asked.append(await ask(target, asking, plan, job.case.timeout_s, stop))
        session_id = asked[-1].turn.session or session_id
        if asked[-1].turn.error is not None or stop.reason is not None:
            break
    if leave := getattr(target, "leave", None):
        async with Watch(stop):
            try:
                with blamed:
                    await leave(replace(asking, session_id=session_id))
            except TargetError as error:
                _LOG.warning("the conversation was not closed: %s", plan.secrets.cover(error.message))
    return asked


async def _judged(job: Job, asked: list[Asked], plan: Plan, stop: Stop, pool: Executor) -> CaseResult:
    """Scores what came. In a thread: a slow pattern, or a long answer, must not stop the run's clocks."""
    suite, case, model = job.suite, job.case, job.model(plan)
    turns = tuple(one.turn for one in asked)
    judging = partial(score.judge, suite, case, model, Transcript(turns), plan.secrets, plan.scorers)
    is_short = sum(one.size for one in asked) <= _SHORT and not case.has_patterns and not case.scorers
    if is_short and stop.reason is None:
        return judging()
    result = None
    async with Watch(stop):
        result = await asyncio.get_running_loop().run_in_executor(pool, judging)
    return result or score.not_run(suite, case, model, stop.reason or "", plan.secrets, turns)
