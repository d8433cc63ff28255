"""The run: order, concurrency, what stops it, and who is to blame for what."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from golden import score
from golden.engine import Observer, run_jobs
from golden.errors import AskAgain, TargetError, UsageError
from golden.plan import Job, Plan
from golden.result import CaseResult, RunResult
from golden.suite_file import load_suites
from golden.watch import Stop, Watch
from golden.wire import Chunk, Head, Request, Target
from tests.program import CASE
from tests.servers import ANSWER, DONE, tokens

HEAD = Head(200, {}, "iterable")

Answer = Callable[[Request], AsyncIterator[Head | Chunk]]


class Own:
    """A target as a user writes one."""

    kind = "own"
    name = "a target of ours"

    def __init__(self, answer: Answer) -> None:
        self.asked: list[str] = []
        self.opened = 0
        self._answer = answer

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self.opened += 1
        yield
        self.opened -= 1

    async def ask(self, request: Request) -> AsyncIterator[Head | Chunk]:
        self.asked.append(request.question)
        async for piece in self._answer(request):
            yield piece


async def well(request: Request) -> AsyncIterator[Head | Chunk]:
    yield HEAD
    yield Chunk(ANSWER)


async def refusing(request: Request) -> AsyncIterator[Head | Chunk]:
    yield Head(401, {"content-type": "application/json"}, "length")
    yield Chunk(b'{"detail": "bad token"}')


async def unreachable(request: Request) -> AsyncIterator[Head | Chunk]:
    if request.question:
        raise TargetError("unreachable", "no connection to the agent")
    yield HEAD


async def failing(request: Request) -> AsyncIterator[Head | Chunk]:
    yield HEAD
    yield Chunk(tokens("Nothing is well.") + DONE)


async def hanging(request: Request) -> AsyncIterator[Head | Chunk]:
    yield HEAD
    yield Chunk(tokens("All is "))
    await asyncio.Event().wait()


def by_question(**answers: Answer) -> Own:
    """Answers each question its own way, every other well."""

    def answer(request: Request) -> AsyncIterator[Head | Chunk]:
        return answers.get(request.question, well)(request)

    return Own(answer)


def jobs_of(tmp_path: Path, *names: str, **fields: object) -> list[Job]:
    """A case for each name, which is its id and its question."""
    cases = [{**CASE, "id": name, "question": name, **fields} for name in names]
    file = tmp_path / "suite.json"
    file.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    (suite,) = load_suites([str(file)], follow_links=True)
    return [Job(suite, case, case.skip) for case in suite.cases]


def run(
    jobs: list[Job],
    target: Target | None,
    plan: Plan | None = None,
    stop: Stop | None = None,
    observe: Observer = lambda result: None,
) -> RunResult:
    return asyncio.run(run_jobs(jobs, target, plan or Plan(concurrency=1), stop or Stop(), observe))


def statuses(result: RunResult) -> list[str]:
    summary = result.summary
    parts = (summary.passed, summary.failed, summary.errors, summary.skipped, summary.not_run)
    assert summary.total == sum(parts) == len(result.results)
    return [each.status for each in result.results]


def errors(result: RunResult) -> list[str]:
    return [each.error.message if each.error else "" for each in result.results]


# Order and concurrency


def test_results_stand_in_suite_order_whatever_order_they_finished_in(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    finished: list[str] = []
    turns = {name: asyncio.Event() for name in names}

    async def in_turn(request: Request) -> AsyncIterator[Head | Chunk]:
        await turns[request.question].wait()
        yield HEAD
        yield Chunk(ANSWER)

    def observe(result: CaseResult) -> None:
        finished.append(result.case_id)
        if len(finished) < len(names):
            turns[names[-1 - len(finished)]].set()

    turns["d"].set()
    result = run(jobs_of(tmp_path, *names), Own(in_turn), Plan(concurrency=4), observe=observe)
    assert finished == ["d", "c", "b", "a"]
    assert [each.case_id for each in result.results] == names
    assert statuses(result) == ["passed"] * 4


def test_as_many_cases_are_in_flight_as_the_concurrency_says(tmp_path: Path) -> None:
    in_flight = most = 0
    together = asyncio.Barrier(8)  # only eight at once get past it

    async def counted(request: Request) -> AsyncIterator[Head | Chunk]:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await together.wait()
        in_flight -= 1
        yield HEAD
        yield Chunk(ANSWER)

    jobs = jobs_of(tmp_path, *(f"case {number}" for number in range(16)))
    result = run(jobs, Own(counted), Plan(concurrency=8, timeout_s=10))
    assert statuses(result) == ["passed"] * 16
    assert most == 8


def test_every_case_has_a_session_of_its_own(tmp_path: Path) -> None:
    sessions = []

    async def noting(request: Request) -> AsyncIterator[Head | Chunk]:
        sessions.append(request.session_id)
        yield HEAD
        yield Chunk(ANSWER)

    run(jobs_of(tmp_path, "a", "b", "c"), Own(noting))
    assert len(set(sessions)) == 3


def test_a_skipped_case_is_not_asked_and_a_run_of_them_needs_no_target(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, "a", "b", skip="not today")
    result = run(jobs, None)
    assert statuses(result) == ["skipped", "skipped"]
    assert errors(result) == ["not today", "not today"]
    assert result.exit_code == 0
    assert result.run.target is None
    assert result.run.complete
    own = Own(well)
    mixed = run([jobs[0], Job(jobs[1].suite, jobs[1].case)], own)
    assert statuses(mixed) == ["skipped", "passed"]
    assert own.asked == ["b"]


# What stops a run


def test_after_bail_every_case_is_in_the_results_and_none_was_started(tmp_path: Path) -> None:
    own = by_question(b=failing)
    seen: list[str] = []
    result = run(
        jobs_of(tmp_path, "a", "b", "c", "d"),
        own,
        Plan(concurrency=1, bail=True),
        observe=lambda each: seen.append(each.case_id),
    )
    assert statuses(result) == ["passed", "failed", "not_run", "not_run"]
    assert errors(result)[2:] == ["--bail: case 'b' did not pass"] * 2
    assert own.asked == ["a", "b"]
    assert seen == ["a", "b", "c", "d"]
    assert not result.run.complete
    assert result.exit_code == 1


def test_bail_lets_what_is_in_flight_end(tmp_path: Path) -> None:
    failed = asyncio.Event()

    async def after_it(request: Request) -> AsyncIterator[Head | Chunk]:
        await failed.wait()
        yield HEAD
        yield Chunk(ANSWER)

    result = run(
        jobs_of(tmp_path, "a", "b", "c"),
        by_question(a=failing, b=after_it),
        Plan(concurrency=2, bail=True),
        observe=lambda each: failed.set(),
    )
    assert statuses(result) == ["failed", "passed", "not_run"]


def test_the_suites_time_out_leaves_the_rest_not_run_and_keeps_what_had_come(tmp_path: Path) -> None:
    own = by_question(b=hanging)
    result = run(jobs_of(tmp_path, "a", "b", "c"), own, Plan(concurrency=1, suite_timeout_s=0.3))
    assert statuses(result) == ["passed", "not_run", "not_run"]
    assert errors(result)[1:] == ["the suite time-out of 0.3 s was reached; --suite-timeout raises it, 0 is none"] * 2
    assert result.results[1].turns[0].answer == "All is "
    assert [check.ok for check in result.results[1].checks] == [None]
    assert own.asked == ["a", "b"]
    assert result.exit_code == 3


def test_a_suite_time_out_of_0_is_none(tmp_path: Path) -> None:
    assert statuses(run(jobs_of(tmp_path, "a"), Own(well), Plan(suite_timeout_s=0))) == ["passed"]


def test_a_stop_lets_go_of_what_is_in_flight(tmp_path: Path) -> None:
    stop = Stop()
    result = run(
        jobs_of(tmp_path, "a", "b", "c", "d"),
        by_question(b=hanging, c=hanging),
        Plan(concurrency=3),
        stop,
        observe=lambda each: stop("stopped by SIGINT"),
    )
    assert statuses(result) == ["passed", "not_run", "not_run", "not_run"]
    assert set(errors(result)[1:]) == {"stopped by SIGINT"}
    assert result.results[1].turns[0].answer == "All is "
    stop("a later reason")
    assert stop.reason == "stopped by SIGINT"


def test_a_run_that_is_stopped_while_its_target_opens_asks_nothing(tmp_path: Path) -> None:
    class Slow(Own):
        @asynccontextmanager
        async def open(self) -> AsyncIterator[None]:
            await asyncio.Event().wait()
            yield

    own = Slow(well)
    result = run(jobs_of(tmp_path, "a", "b"), own, Plan(suite_timeout_s=0.2))
    assert statuses(result) == ["not_run", "not_run"]
    assert own.asked == []


@pytest.mark.parametrize("early", [True, False], ids=["while cases run", "before it closes"])
def test_a_target_that_does_not_close_keeps_no_report_of_a_stopped_run_waiting(early: bool, tmp_path: Path) -> None:
    class Sticky(Own):
        @asynccontextmanager
        async def open(self) -> AsyncIterator[None]:
            yield
            await asyncio.Event().wait()

    answer = hanging if early else well
    result = run(jobs_of(tmp_path, "a"), Sticky(answer), Plan(suite_timeout_s=0.3))
    assert statuses(result) == ["not_run" if early else "passed"]
    assert result.run.duration_s < 5


def test_no_turn_is_asked_once_the_run_is_over(tmp_path: Path) -> None:
    stop = Stop()

    async def stopping(request: Request) -> AsyncIterator[Head | Chunk]:
        yield HEAD
        yield Chunk(ANSWER)
        stop("stopped by SIGINT")

    (job,) = jobs_of(tmp_path, "a", question=None, turns=[{"question": "one"}, {"question": "two"}])
    own = Own(stopping)
    result = run([job], own, stop=stop)
    assert (statuses(result), errors(result)) == (["not_run"], ["stopped by SIGINT"])
    assert own.asked == ["one"]
    assert [turn.answer for turn in result.results[0].turns] == ["All is well."]


def test_a_target_is_open_while_it_is_asked_and_closed_after(tmp_path: Path) -> None:
    opened = []

    async def noting(request: Request) -> AsyncIterator[Head | Chunk]:
        opened.append(own.opened)
        yield HEAD
        yield Chunk(ANSWER)

    own = Own(noting)
    run(jobs_of(tmp_path, "a", "b"), own)
    assert opened == [1, 1]
    assert own.opened == 0


# The gate


@pytest.mark.parametrize("hopeless", [refusing, unreachable])
@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_after_five_cases_with_no_hope_no_further_one_starts(
    hopeless: Answer, concurrency: int, tmp_path: Path
) -> None:
    own = Own(hopeless)
    jobs = jobs_of(tmp_path, *(f"case {number}" for number in range(12)))
    result = run(jobs, own, Plan(concurrency=concurrency))
    # What was in flight when the first refusal came is asked; no case starts beyond what may still be judged.
    asked = max(5, concurrency)
    assert statuses(result) == ["error"] * asked + ["not_run"] * (12 - asked)
    assert len(own.asked) == asked
    assert errors(result)[-1].startswith("5 cases in a row got no answer: ")
    assert errors(result)[0].partition("\n")[0] in errors(result)[-1]


def test_an_answer_before_them_keeps_the_gate_open(tmp_path: Path) -> None:
    own = by_question(first=failing, **{f"case {number}": refusing for number in range(7)})
    result = run(jobs_of(tmp_path, "first", *(f"case {number}" for number in range(7))), own)
    assert statuses(result) == ["failed"] + ["error"] * 7


def test_five_in_a_row_are_five_without_another_between_them(tmp_path: Path) -> None:
    async def broken(request: Request) -> AsyncIterator[Head | Chunk]:
        yield Head(500, {}, "length")

    names = [f"case {number}" for number in range(10)]
    answers: dict[str, Answer] = {name: broken if name == "case 4" else refusing for name in names}
    result = run(jobs_of(tmp_path, *names), by_question(**answers))
    assert statuses(result) == ["error"] * 10
    assert "in a row" not in errors(result)[-1]


# Times


def test_a_targets_own_times_are_taken(tmp_path: Path) -> None:
    async def timed(request: Request) -> AsyncIterator[Head | Chunk]:
        yield HEAD
        yield Chunk(tokens("All is "), 2.0)
        yield Chunk(tokens("well.") + DONE, 3.5)

    timing = run(jobs_of(tmp_path, "a"), Own(timed)).results[0].turns[0].timing
    assert (timing.first_event_s, timing.first_token_s, timing.total_s) == (2.0, 2.0, 3.5)


def test_the_head_of_a_reply_ends_a_silence(tmp_path: Path) -> None:
    async def late(request: Request) -> AsyncIterator[Head | Chunk]:
        await asyncio.sleep(0.6)
        yield HEAD
        await asyncio.sleep(0.6)
        yield Chunk(ANSWER)

    assert errors(run(jobs_of(tmp_path, "a"), Own(late), Plan(idle_timeout_s=1))) == [""]


def test_a_watch_without_bounds_lingers_all_the_same() -> None:
    async def lingering() -> Watch:
        async with Watch(Stop()) as watch:
            watch.linger()
            watch.linger()
            await asyncio.Event().wait()
        return watch

    assert asyncio.run(lingering()).fired == ""


def test_the_first_bound_that_is_met_is_the_one_that_is_told() -> None:
    async def late() -> Watch:
        stop = Stop()
        async with Watch(stop, 0.01) as watch:
            try:
                await asyncio.Event().wait()
            finally:
                stop("stopped by SIGINT")
        return watch

    assert asyncio.run(late()).fired == "no end within 0.01 s (--timeout)"


# Who is to blame


def test_what_a_target_raises_is_its_cases_error_and_the_rest_go_on(tmp_path: Path) -> None:
    async def raising(request: Request) -> AsyncIterator[Head | Chunk]:
        yield HEAD
        yield Chunk(tokens("All is "))
        raise ZeroDivisionError("of its own")

    async def misused(request: Request) -> AsyncIterator[Head | Chunk]:
        if request.question:
            raise UsageError("not so", hint="but so")
        yield HEAD

    result = run(jobs_of(tmp_path, "a", "b", "c"), by_question(a=raising, b=misused))
    assert statuses(result) == ["error", "error", "passed"]
    assert errors(result)[:2] == ["the target raised ZeroDivisionError: of its own", "not so\nhint: but so"]
    assert {each.error.kind for each in result.results if each.error} == {"agent"}
    assert result.results[0].turns[0].answer == "All is "


def test_what_a_target_raises_after_the_end_marker_is_a_finding(tmp_path: Path) -> None:
    async def raising(request: Request) -> AsyncIterator[Head | Chunk]:
        yield HEAD
        yield Chunk(ANSWER)
        raise ZeroDivisionError("too late")

    result = run(jobs_of(tmp_path, "a"), Own(raising))
    assert statuses(result) == ["passed"]
    assert [finding.kind for finding in result.results[0].turns[0].findings] == ["end_broken"]


def test_a_question_that_another_one_stopped_is_asked_again_from_the_start(tmp_path: Path) -> None:
    tries: list[str] = []

    async def stopped_once(request: Request) -> AsyncIterator[Head | Chunk]:
        tries.append(request.session_id)
        yield HEAD
        if len(tries) == 1:
            yield Chunk(tokens("What came of it is gone. "))
            raise AskAgain("agent.py:1")
        yield Chunk(ANSWER)

    result = run(jobs_of(tmp_path, "a"), Own(stopped_once))
    assert statuses(result) == ["passed"]
    assert result.results[0].turns[0].answer == "All is well."
    assert len(tries) == 2


def test_a_question_that_another_one_stopped_after_its_answer_is_not_asked_again(tmp_path: Path) -> None:
    async def stopped_late(request: Request) -> AsyncIterator[Head | Chunk]:
        yield HEAD
        yield Chunk(ANSWER)
        raise AskAgain("agent.py:1")

    own = Own(stopped_late)
    result = run(jobs_of(tmp_path, "a"), own)
    assert statuses(result) == ["passed"]
    assert own.asked == ["a"]


def test_a_question_is_not_asked_again_once_the_run_is_over(tmp_path: Path) -> None:
    stop = Stop()

    async def stopping(request: Request) -> AsyncIterator[Head | Chunk]:
        yield HEAD
        stop("stopped by SIGINT")
        raise AskAgain("agent.py:1")

    own = Own(stopping)
    assert statuses(run(jobs_of(tmp_path, "a"), own, stop=stop)) == ["not_run"]
    assert own.asked == ["a"]


def test_a_target_may_give_any_asynchronous_iterator(tmp_path: Path) -> None:
    class Pieces:
        def __init__(self) -> None:
            self._left: list[Head | Chunk] = [HEAD, Chunk(ANSWER)]

        def __aiter__(self) -> "Pieces":
            return self

        async def __anext__(self) -> Head | Chunk:
            if not self._left:
                raise StopAsyncIteration
            return self._left.pop(0)

    class Plain(Own):
        def ask(self, request: Request) -> AsyncIterator[Head | Chunk]:
            return Pieces()

    assert errors(run(jobs_of(tmp_path, "a"), Plain(well))) == [""]


def test_a_fault_of_golden_is_not_put_on_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(score, "score", broken)
    with pytest.raises(ZeroDivisionError, match="ours"):
        run(jobs_of(tmp_path, "a", "b"), by_question(b=hanging), Plan(concurrency=2))


def test_an_undecided_check_makes_a_case_an_error(tmp_path: Path) -> None:
    result = run(jobs_of(tmp_path, "a"), Own(unreachable))
    assert statuses(result) == ["error"]
    assert [check.message for check in result.results[0].checks] == ["undecided: no connection to the agent"]


def test_the_run_says_what_it_was(tmp_path: Path) -> None:
    result = run(jobs_of(tmp_path, "a"), Own(well))
    assert result.run.target is not None
    assert (result.run.target.kind, result.run.target.name) == ("own", "a target of ours")
    assert (result.run.target.dialect, result.run.target.reason) == ("native", "an event named `token`")
    named = run(jobs_of(tmp_path, "a"), Own(well), Plan(dialect="native"))
    assert named.run.target is not None
    assert named.run.target.reason == "named"
    (suite,) = result.run.suites
    assert suite.path == str(tmp_path / "suite.json")
    assert suite.sha256 == hashlib.sha256((tmp_path / "suite.json").read_bytes()).hexdigest()
