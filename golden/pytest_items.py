"""Cases as pytest items, asked of one target that a session opens once."""

import asyncio
import logging
import os
import warnings
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import pytest

from golden.blame import told
from golden.errors import GoldenError, SuiteError, UsageError
from golden.identity import unique_id
from golden.lexicon import Lexicon
from golden.plan import Job
from golden.planning import planned
from golden.redaction import Secrets
from golden.reports import View
from golden.reports.text import case_text, tries_text
from golden.result import CaseResult
from golden.scorers import load_scorers
from golden.selection import Selection, selected
from golden.settings import TARGETS, Settings, settings
from golden.suite import Case, Suite
from golden.suite_file import load_suite
from golden.targeting import covered, known_secrets, target_of
from golden.tries import run_case
from golden.watch import Stop

T = TypeVar("T")

_LOG = logging.getLogger("golden")


class Session:
    """The target of a pytest session, open, and the event loop that it is asked in.

    The loop has a thread of its own, so that a test that is `async` itself may ask too.
    """

    def __init__(self, options: Settings, secrets: Secrets) -> None:
        lexicon = Lexicon(options.dialects)
        target = target_of(options, lexicon, secrets)
        self._target = target
        self._plan = planned(options, Selection([], None, (), []), lexicon, secrets)
        self._stack = AsyncExitStack()
        self._pool = ThreadPoolExecutor(2, "golden-score")
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="golden-pytest", daemon=True)
        self._thread.start()
        try:
            self._waited_for(self._stack.enter_async_context(target.open()))
        except BaseException:
            self.close()
            raise

    def result(self, job: Job) -> CaseResult:
        """Asks a case.

        Raises:
            UsageError: a scorer that it names cannot be loaded.
        """
        plan = replace(self._plan, scorers=load_scorers([job], isolated=False))
        return self._waited_for(run_case(job, self._target, plan, Stop(), self._pool)).result

    def close(self) -> None:
        """Closes the target. What it says of that is written with its secrets covered, and changes no outcome."""

        def say(message: Warning | str, *_: object) -> None:
            _LOG.warning("golden: %s", self._plan.secrets.cover(str(message)))

        with warnings.catch_warnings():
            warnings.showwarning = say  # type: ignore[assignment]  # it takes what that is called with
            try:
                self._waited_for(self._closed())
            except Exception as error:
                say(f"the target did not close well: {told(error)}")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _closed(self) -> None:
        let_go = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*let_go, return_exceptions=True)
        await self._stack.aclose()

    def _waited_for(self, work: Coroutine[Any, Any, T]) -> T:
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        finally:
            running.cancel()  # where it was interrupted


_SESSION = pytest.StashKey[Session]()
_SECRETS = pytest.StashKey[Secrets]()
_IDS = pytest.StashKey[dict[str, Path]]()

TRIES = "golden_tries"
"""The user property that tells how the tries at a case went."""


def ask(config: pytest.Config, job: Job) -> CaseResult:
    """Asks a case of the target of this process, which is opened where it is not yet.

    Raises:
        UsageError: the target, or a scorer that the case names, cannot be used. No secret is in it.
    """
    secrets = known_secrets(config.stash.setdefault(_SECRETS, Secrets()))
    with covered(secrets):
        if _SESSION not in config.stash:
            config.stash[_SESSION] = opened = Session(_settings(config), secrets)
            config.add_cleanup(opened.close)
        return config.stash[_SESSION].result(job)


def _settings(config: pytest.Config) -> Settings:
    """Those of `[tool.golden]`, with the target that the command line names, else the ini file."""
    by_option = {name: config.getoption(f"golden_{name}") for name in TARGETS}
    by_ini = {name: config.getini(f"golden_{name}") for name in TARGETS}
    is_option = any(by_option.values())
    given = {name: value for name, value in (by_option if is_option else by_ini).items() if value}
    if "replay" in given:
        given["replay"] = str((config.invocation_params.dir if is_option else config.rootpath) / given["replay"])
    if len(given) > 1:
        raise UsageError(f"more than one target: {', '.join(f'golden_{name}' for name in given)}", hint="give one")
    options = settings(given, start=config.rootpath)
    if all(getattr(options, name) is None for name in TARGETS):
        raise UsageError(
            "no target: where do the answers come from?",
            hint="golden_agent = MODULE:NAME, golden_asgi = MODULE:NAME, golden_base_url = URL or golden_replay = PATH "
            "in pytest's ini file",
        )
    return options.model_copy(update={"folder": str(config.rootpath)}) if given else options


def evaluation(node: pytest.Item) -> Callable[..., CaseResult]:
    """Returns what the fixture `golden_eval` gives a test."""

    def evaluate(question: str, **fields: Any) -> CaseResult:
        __tracebackhide__ = True
        try:
            case = Case(question=question, **fields)
            if case.skip is not None:
                pytest.skip(case.skip)
            result = ask(node.config, Job(Suite(cases=[case]), case))
        except GoldenError as error:
            raise error.with_traceback(None) from None
        if not result.passed:
            node.add_report_section("call", "golden", case_text(result, View()))
        _tell_tries(node, result)
        return result

    return evaluate


def _tell_tries(node: pytest.Item, result: CaseResult) -> None:
    """Has the session's end name what passed on retry only, and how many trials passed: pytest shows none of it."""
    if result.flaky or result.trials is not None:
        told = "flaky, " if result.flaky else ""
        node.user_properties.append((TRIES, f"{result.case_id}: {told}{tries_text(result)}"))


class CaseFailed(Exception):
    """A case that did not pass: its text is what there is to say."""


class SuiteFile(pytest.File):
    """A suite: its cases are its items."""

    def collect(self) -> Iterator["CaseItem"]:
        """Loads the suite; one that does not validate is a collection error."""
        try:
            suite = load_suite(os.path.relpath(self.path))
        except SuiteError as error:
            raise self.CollectError(str(error)) from None
        ids = self.config.stash.setdefault(_IDS, {})
        for job in selected([suite], Settings(), None, os.environ).jobs:
            if (other := ids.setdefault(unique_id(job.case.id), self.path)) != self.path:
                raise self.CollectError(f"{suite.path}: {job.case.id!r} is the id of a case of {other} too")
            item: CaseItem = CaseItem.from_parent(self, name=job.case.id, job=job)
            if job.skip is not None:
                item.add_marker(pytest.mark.skip(reason=job.skip))
            yield item


class CaseItem(pytest.Item):
    """A case."""

    def __init__(self, *, job: Job, **more: Any) -> None:
        super().__init__(**more)
        self._job = job
        self.extra_keyword_matches.update(job.case.tags)

    def runtest(self) -> None:
        """Asks the case.

        Raises:
            CaseFailed: it did not pass.
        """
        result = ask(self.config, self._job)
        _tell_tries(self, result)
        if result.xfailed:
            pytest.xfail(self._job.case.xfail or "")
        if not result.passed:
            raise CaseFailed(case_text(result, View()))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Shows what differed; of golden's own code there is nothing to see."""
        if isinstance(excinfo.value, CaseFailed | GoldenError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Returns where the case is: file, 0-based line (that of the file where its own is not known), and name."""
        return self.path, (self._job.case.line or 1) - 1, self.name
