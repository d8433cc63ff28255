"""The calls for Python: suites run, and single questions evaluated, with no command line (contract 8)."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from golden.engine import run_jobs
from golden.errors import UsageError, did_you_mean
from golden.identity import unique_id
from golden.lexicon import Lexicon
from golden.planning import planned
from golden.result import CaseResult, RunResult
from golden.selection import selected
from golden.settings import validated
from golden.suite import Case, Suite
from golden.targeting import covered, known_secrets
from golden.watch import Stop
from golden.wire import Target

T = TypeVar("T")


class RunOptions(TypedDict, total=False):
    """The options of `golden run` that a call takes, by their long names with `-` as `_` (contract 2)."""

    case: list[str]
    tag: list[str]
    match: list[str]
    shard: str
    dialect: str
    concurrency: int
    timeout: float
    idle_timeout: float
    max_answer: int
    max_event: int
    suite_timeout: float
    retries: int
    flaky: Literal["pass", "fail"]
    trials: int
    bail: bool
    max_tokens: int
    model: str


async def run_suite_async(suite: Suite | Sequence[Suite], target: Target, **options: Unpack[RunOptions]) -> RunResult:
    """Asks the cases of one suite, or of several, and returns what came of each.

    `report = await golden.run_suite_async(suite, golden.HttpTarget("http://127.0.0.1:8400"), retries=1)`

    Args:
        suite: what is asked.
        target: where answers come from.
        options: as those of `golden run`.

    Raises:
        UsageError: an option, a scorer or the target cannot be used, no case is selected, or two have the same id.
    """
    for name in options.keys() - RunOptions.__optional_keys__:
        hint = did_you_mean(name, RunOptions.__optional_keys__)
        raise UsageError(f"`{name}`: there is no such option", hint=hint or None)
    chosen = validated(options)
    selection = selected(_suites(suite), chosen, None, os.environ)
    _check(target)
    # A target of golden's own knows the secrets that it sends.
    secrets = known_secrets(getattr(target, "secrets", None))
    asked = target if any(job.skip is None for job in selection.jobs) else None
    with covered(secrets):
        return await run_jobs(selection.jobs, asked, planned(chosen, selection, Lexicon(), secrets), Stop())


def run_suite(suite: Suite | Sequence[Suite], target: Target, **options: Unpack[RunOptions]) -> RunResult:
    """The same for code that is not `async`, and in a notebook, whose event loop runs already.

    `report = golden.run_suite(golden.load_suite("golden_questions.json"), golden.InProcessTarget(answer))`
    """
    return _waited_for(lambda: run_suite_async(suite, target, **options))


async def evaluate_async(target: Target, question: str, *, dialect: str = "auto", **fields: Any) -> CaseResult:
    """Asks one question and returns what came of it.

    `result = await golden.evaluate_async(target, "What is AAPL at?", expected_tools=["get_quote"])`

    Args:
        target: where the answer comes from.
        question: what is asked.
        dialect: how the agent speaks.
        fields: those of a case: what must hold, `retries`, `timeout_s` and so on.

    Raises:
        SuiteError: the fields make no case.
        UsageError: the target cannot be used.
    """
    suite = Suite(cases=[Case(question=question, **fields)])
    run = await run_suite_async(suite, target, dialect=dialect)
    return run.results[0]


def evaluate(target: Target, question: str, *, dialect: str = "auto", **fields: Any) -> CaseResult:
    """The same for code that is not `async`, and in a notebook.

    `result = golden.evaluate(target, "What is 2 plus 2?", expect_no_tool_call=True)`
    """
    return _waited_for(lambda: evaluate_async(target, question, dialect=dialect, **fields))


def _suites(given: object) -> list[Suite]:
    suites: list[Suite] = []
    for suite in given if isinstance(given, list | tuple) else [given]:
        if not isinstance(suite, Suite):
            hint = "`golden.load_suite` reads one from its file"
            raise UsageError(f"a suite is a golden.Suite, not {type(suite).__name__}", hint=hint)
        suites.append(suite)
    ids = Counter(unique_id(case.id) for suite in suites for case in suite.cases)
    if twice := [case_id for case_id, count in ids.items() if count > 1]:
        raise UsageError(
            f"{twice[0]!r} is the id of two cases", hint="an id is unique in the run, in any case of letters"
        )
    return suites


def _check(target: object) -> None:
    missing = [name for name in ("kind", "name", "open", "ask") if not hasattr(target, name)]
    if missing:
        raise UsageError(
            f"the target is no golden.Target: {type(target).__name__} has no `{missing[0]}`",
            hint="`golden.InProcessTarget` makes one of a callable, `golden.HttpTarget` of a URL",
        )


def _waited_for(work: Callable[[], Coroutine[object, object, T]]) -> T:
    done: list[T] = []
    tasks: list[asyncio.Task[None] | None] = []

    async def run() -> None:  # it returns nothing: Python 3.11 spells out what a finished task returns
        tasks.append(asyncio.current_task())
        done.append(await work())

    loop = None
    with suppress(RuntimeError):  # and no more stands in here: whatever is raised would have this for its context
        loop = asyncio.get_running_loop()
    if loop is None:
        asyncio.run(run())
    else:
        with ThreadPoolExecutor(1, "golden-run") as pool:  # this thread's loop runs, and cannot run another
            waiting = pool.submit(copy_context().run, asyncio.run, run())
            try:
                waiting.result()
            except KeyboardInterrupt:
                for task in filter(None, tasks):
                    task.get_loop().call_soon_threadsafe(task.cancel)
                raise
    return done[0]
