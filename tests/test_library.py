"""The calls for Python: what they give, what they refuse, and where they may be called."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import golden
from golden.redaction import VARIABLES
from tests import typed_uses
from tests.agents import no_agent_is_left
from tests.servers import ANSWER, Act, Asked, Server, Step, chunked, event

WELL: dict[str, Any] = {"required_phrases": ["all is well"]}


def well(question: str, model: str | None = None) -> Iterator[tuple[str, object]]:
    yield "token", {"text": f"All is well, {model}."}
    yield "usage", {"input": 3, "output": 4}
    yield "done", {}


def case(case_id: str = "well", **fields: Any) -> golden.Case:
    return golden.Case(**{"id": case_id, "question": f"Is {case_id} well?", **WELL, **fields})


def suite(*cases: golden.Case, **fields: Any) -> golden.Suite:
    return golden.Suite(cases=[*cases] or [case()], **fields)


def app(log: list[str]) -> Callable[..., Any]:
    """An ASGI app that waits as many seconds as the question says, and logs when it starts and stops."""

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                log.append((await receive())["type"])
                await send({"type": f"lifespan.{step}.complete"})
            return
        await receive()
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": ANSWER})

    return asked


# What is given


def test_a_report_has_the_verdicts_in_order_and_says_what_the_program_would_exit_with() -> None:
    report = golden.run_suite(suite(case(), case("lost", required_phrases=["lost"])), golden.InProcessTarget(well))
    assert [(result.case_id, result.status) for result in report.results] == [("well", "passed"), ("lost", "failed")]
    assert (report.all_passed, report.exit_code) == (False, 1)
    assert report.results[1].checks[0].message == 'not in the answer: "lost"'
    assert report.run.target is not None
    assert (report.run.target.kind, report.run.target.name) == ("call", "well")
    report = golden.run_suite(suite(), golden.InProcessTarget(well))
    assert (report.all_passed, report.exit_code) == (True, 0)


def test_a_suite_of_a_file_is_run_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(
        "cases: [{question: Is all well?, required_phrases: [all is well]}]", encoding="utf-8"
    )
    report = golden.run_suite(golden.load_suite("suite.yaml"), golden.InProcessTarget(well))
    assert report.all_passed
    assert [(one.path, len(one.sha256 or "")) for one in report.run.suites] == [("suite.yaml", 64)]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({}, ["a", "b", "c"]),
        ({"case": ["a", "c"]}, ["a", "c"]),
        ({"tag": ["slow"]}, ["b", "c"]),
        ({"match": ["IS B"]}, ["b"]),
        ({"tag": ["slow"], "case": ["a", "b"]}, ["b"]),
        ({"shard": "1/1"}, ["a", "b", "c"]),
    ],
)
def test_the_cases_of_several_suites_are_selected_as_on_the_command_line(
    options: dict[str, Any], ids: list[str]
) -> None:
    suites = [suite(case("a"), case("b", tags=["slow"])), suite(case("c", tags=["slow"]))]
    report = golden.run_suite(suites, golden.InProcessTarget(well), **options)
    assert [result.case_id for result in report.results] == ids


def test_shards_part_the_cases_between_them() -> None:
    cases = suite(*map(case, "abcdefgh"))
    parts = [golden.run_suite(cases, golden.InProcessTarget(well), shard=f"{index}/3") for index in (1, 2, 3)]
    assert sorted(result.case_id for part in parts for result in part.results) == [*"abcdefgh"]
    assert all(part.run.shard is not None for part in parts)


def fails_first() -> Callable[[str], list[tuple[str, object]]]:
    asked: set[str] = set()

    def answer(question: str) -> list[tuple[str, object]]:
        text = "All is well." if question in asked else "No."
        asked.add(question)
        return [("token", {"text": text}), ("usage", {"input": 10, "output": 0}), ("done", {})]

    return answer


@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        ({}, ["failed", "failed"]),
        ({"retries": 1}, ["passed", "passed"]),
        ({"retries": 1, "flaky": "fail"}, ["failed", "failed"]),
        ({"trials": 2}, ["failed", "failed"]),
        ({"bail": True, "concurrency": 1}, ["failed", "not_run"]),
        ({"max_tokens": 9, "concurrency": 1}, ["failed", "not_run"]),
        ({"max_answer": 8}, ["error", "error"]),
    ],
)
def test_an_option_does_what_it_does_on_the_command_line(options: dict[str, Any], statuses: list[str]) -> None:
    report = golden.run_suite(suite(case("a"), case("b")), golden.InProcessTarget(fails_first()), **options)
    assert [result.status for result in report.results] == statuses


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ({"timeout": 0.05}, "error", "no end within 0.05 s"),
        ({"idle_timeout": 0.05}, "error", "nothing came for 0.05 s"),
        ({"suite_timeout": 0.05}, "not_run", "the suite time-out of 0.05 s was reached"),
    ],
)
def test_a_bound_in_time_holds(options: dict[str, Any], status: str, said: str) -> None:
    report = golden.run_suite(suite(case(question="3600")), golden.InProcessTarget(waiting), **options)
    assert report.results[0].status == status
    assert report.results[0].error is not None
    assert said in report.results[0].error.message


def test_the_model_of_a_case_wins_over_that_of_the_call_and_that_over_the_suite_s() -> None:
    cases = suite(case("a", model="own"), case("b"), model="of-the-suite")
    target = golden.InProcessTarget(well)
    asked = [golden.run_suite(cases, target, model="of-the-call"), golden.run_suite(cases, target)]
    assert [[result.model for result in report.results] for report in asked] == [
        ["own", "of-the-call"],
        ["own", "of-the-suite"],
    ]
    assert asked[1].results[1].turns[0].answer == "All is well, of-the-suite."


def test_a_suite_that_lacks_a_variable_is_skipped_and_its_target_left_alone() -> None:
    class Shut(typed_uses.Kept):
        def open(self) -> Any:
            raise AssertionError("opened")

    report = golden.run_suite(suite(requires_env=["NOWHERE_SET"]), Shut())
    assert [result.status for result in report.results] == ["skipped"]
    assert report.exit_code == 0


def test_one_question_is_evaluated_by_the_fields_of_a_case() -> None:
    target = golden.InProcessTarget(well)
    result = golden.evaluate(target, "Is all well?", model="tiny", expect_no_tool_call=True, **WELL)
    assert result.passed
    assert (result.case_id, result.question, result.model) == ("is-all-well", "Is all well?", "tiny")
    assert [check.name for check in result.checks] == ["required_phrases", "expect_no_tool_call"]
    assert golden.evaluate(target, "?", id="x", xfail="known", required_phrases=["lost"]).xfailed
    assert golden.evaluate(golden.InProcessTarget(fails_first()), "?", retries=1, **WELL).flaky


def test_what_mypy_reads_of_the_api_runs() -> None:
    kept, *others = typed_uses.targets()
    results = asyncio.run(typed_uses.answers(kept))
    assert [result.status for result in results] == ["passed"] * 9
    assert any(check.name == "brief" and check.ok for check in results[0].checks)
    assert [target.kind for target in others] == ["call", "asgi", "http"]


# What is refused


def refusal(call: Callable[[], object], kind: type[golden.GoldenError] = golden.UsageError) -> str:
    with pytest.raises(golden.GoldenError) as caught:
        call()
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"retires": 1}, "`retires`: there is no such option\nhint: did you mean 'retries'?"),
        ({"agent": "a:b"}, "`agent`: there is no such option"),
        ({"folder": "."}, "`folder`: there is no such option"),
        ({"retries": "1"}, "`retries`: input should be a valid integer"),
        ({"concurrency": 0, "timeout": -1}, "`concurrency`: input should be greater than or equal to 1\n`timeout`"),
        ({"retries": 1, "trials": 2}, "retries and trials exclude each other"),
        ({"case": "well"}, "`case`: input should be a valid list"),
        ({"case": ["wel"]}, "no case is selected"),
        ({"shard": "2/1"}, "takes I/N, not '2/1'"),
        ({"dialect": "klingon"}, "no dialect is called 'klingon'"),
    ],
)
def test_an_option_that_cannot_be_obeyed_is_refused(options: dict[str, Any], said: str) -> None:
    assert said in refusal(lambda: golden.run_suite(suite(), golden.InProcessTarget(well), **options))


def test_what_is_no_suite_and_no_target_is_refused() -> None:
    target: Any = golden.InProcessTarget(well)
    run: Any = golden.run_suite
    assert "a golden.Suite, not str" in refusal(lambda: run("suite.yaml", target))
    assert "a golden.Suite, not Case" in refusal(lambda: run([suite(), case()], target))
    assert "no case is selected" in refusal(lambda: run([], target))
    assert "function has no `kind`" in refusal(lambda: run(suite(), well))
    assert "NoneType has no `kind`" in refusal(lambda: run(suite(), None))
    assert "str has no `kind`" in refusal(lambda: golden.evaluate("http://127.0.0.1", "?", **WELL))  # type: ignore[arg-type]
    assert "'well' is the id of two cases" in refusal(lambda: run([suite(case("WELL")), suite(case("well"))], target))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "the case checks nothing"),
        ({"expcet": 1}, "Case.expcet: unknown field"),
        ({"question": 5, **WELL}, "Case.question"),
        ({"expected_tools": "find"}, "Case.expected_tools"),
        ({"id": "a/b", **WELL}, "Case.id"),
        ({"expect": golden.EvalAny}, "Case.expect"),
    ],
)
def test_fields_that_make_no_case_are_refused(fields: dict[str, Any], said: str) -> None:
    fields = {"question": "Is all well?", **fields}
    assert said in refusal(lambda: golden.evaluate(golden.InProcessTarget(well), **fields), golden.SuiteError)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: golden.InProcessTarget(42), "the agent must be callable, not int"),
        (lambda: golden.InProcessTarget(no_agent_is_left), "cannot be called with a question"),
        (lambda: golden.AsgiTarget(42), "the app must be callable, not int"),
        (lambda: golden.AsgiTarget(well, headers={"naïve": "x"}), "as an ASGI 3 app"),
        (lambda: golden.AsgiTarget(typed_uses.app, headers={"naïve": "x"}), "headers: 'naïve' is no name of a header"),
        (lambda: golden.AsgiTarget(typed_uses.app, dialect="klingon"), "no dialect is called 'klingon'"),
        (lambda: golden.HttpTarget("ftp://host"), "is no http or https URL"),
        (lambda: golden.HttpTarget(None), "is no http or https URL"),  # type: ignore[arg-type]
        (lambda: golden.HttpTarget("http://host", path="\n"), "makes no URL"),
        (lambda: golden.HttpTarget("http://host", dialect="klingon"), "no dialect is called 'klingon'"),
        (lambda: golden.HttpTarget("http://host", headers=[("host: x", "x")]), "is no name of a header"),
        (lambda: golden.HttpTarget("http://host", headers=[("x-key", "a-secret\n")]), "the value of 'x-key' holds"),
        (lambda: golden.HttpTarget("http://host", headers=[("content-length", "1")]), "golden sets 'content-length'"),
        (lambda: golden.HttpTarget("http://host", headers=[("x", 1)]), "expected pairs"),  # type: ignore[list-item]
        (lambda: golden.HttpTarget("http://host", headers="x: y"), "expected pairs"),  # type: ignore[arg-type]
    ],
)
def test_a_target_that_cannot_be_made_is_refused_and_shows_no_secret(make: Callable[[], object], said: str) -> None:
    text = refusal(make)
    assert said in text
    assert "a-secret" not in text


def test_an_app_that_cannot_start_is_refused_with_its_secrets_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[0], "a-secret-of-the-environment")

    async def unfit(scope: Any, receive: Any, send: Any) -> None:
        message = f"no way, {os.environ[VARIABLES[0]]}"
        await send({"type": "lifespan.startup.failed", "message": message})

    text = refusal(lambda: golden.evaluate(golden.AsgiTarget(unfit), "?", **WELL))
    assert text == f"the app's start-up failed: no way, {'█' * 27}"


def test_a_scorer_that_is_not_there_is_refused() -> None:
    said = refusal(lambda: golden.evaluate(golden.InProcessTarget(well), "?", scorers=["tests.typed_uses:breif"]))
    assert "did you mean 'brief'?" in said


# What is no exception


def test_a_server_that_is_not_there_is_the_error_of_the_case_and_its_cause_is_told() -> None:
    with Server([]) as server:
        url = server.url
    result = golden.evaluate(golden.HttpTarget(url), "?", **WELL)
    assert result.error is not None
    assert result.error.kind == "unreachable"
    assert "Connect call failed" in result.error.message or "refused" in result.error.message


@pytest.mark.parametrize(
    ("authorize", "said"),
    [
        (lambda: [][0], "the target raised IndexError"),
        (lambda: {"x y": "z"}, "authorize: 'x y' is no name of a header"),
        (lambda: {"authorization": "a-secret\n"}, "authorize: the value of 'authorization' holds"),
    ],
)
@pytest.mark.parametrize("over", ["http", "asgi"])
def test_what_cannot_be_authorised_is_the_error_of_the_case(over: str, authorize: Callable[[], Any], said: str) -> None:
    target: golden.Target
    if over == "asgi":
        target = golden.AsgiTarget(app([]), authorize=authorize)
    else:
        target = golden.HttpTarget("http://127.0.0.1:1", authorize=authorize)
    result = golden.evaluate(target, "?", **WELL)
    assert result.error is not None
    assert result.error.kind == "agent"
    assert said in result.error.message
    assert "a-secret" not in result.model_dump_json()


def test_what_headers_hold_is_covered_in_the_results() -> None:
    async def echo(asked: Asked) -> AsyncIterator[Step]:
        said = f"{asked.headers['authorization']} {asked.headers['x-key']} {asked.headers['x-team']}"
        for step in chunked(event("token", f'{{"text": "{said}"}}'), event("done")):
            yield step

    with Server(echo) as server:
        target = golden.HttpTarget(
            server.url,
            headers={"X-Key": "key-of-mine", "x-team": "evals"},
            authorize=lambda: {"authorization": "me-self"},
        )
        result = golden.evaluate(target, "?", **WELL)
    assert result.turns[0].answer == "███████ ███████████ evals"


# Where it is called


class Bare:
    """The least that is a target: no more than the protocol has."""

    kind = "bare"
    name = "the least"

    def __init__(self) -> None:
        self.opened = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self.opened += 1
        yield

    async def ask(self, request: golden.Request) -> AsyncIterator[golden.Head | golden.Chunk]:
        yield golden.Head(200, {}, "iterable")
        yield golden.Chunk(ANSWER)


def test_a_target_of_ones_own_is_opened_once_a_run() -> None:
    target = Bare()
    assert golden.run_suite(suite(case("a"), case("b")), target).all_passed
    assert target.opened == 1


async def waiting(question: str) -> list[tuple[str, object]]:
    await asyncio.sleep(float(question))
    return [("token", {"text": "All is well."}), ("done", {})]


@pytest.fixture(params=["call", "async call", "asgi", "http"])
def target(request: pytest.FixtureRequest) -> Iterator[golden.Target]:
    """Targets that take as long for an answer as the question says, where they can."""

    async def script(asked: Asked) -> AsyncIterator[Step]:
        for step in chunked(ANSWER):
            yield step

    if request.param == "http":
        with Server(script) as server:
            yield golden.HttpTarget(server.url)
    elif request.param == "asgi":
        yield golden.AsgiTarget(app([]))
    else:
        yield golden.InProcessTarget(well if request.param == "call" else waiting)
    no_agent_is_left()


def test_a_target_serves_one_run_after_another(target: golden.Target) -> None:
    async def again() -> list[bool]:
        return [(await golden.evaluate_async(target, "0", **WELL)).passed for _ in range(2)]

    assert [golden.evaluate(target, "0", **WELL).passed for _ in range(2)] == [True, True]
    assert asyncio.run(again()) == [True, True]
    assert golden.run_suite(suite(case("0", question="0"), case("1", question="0.01")), target).all_passed


def test_a_target_serves_runs_that_overlap_in_one_loop_and_in_threads(target: golden.Target) -> None:
    questions = ["0", "0.02", "0.05", "0.01"]

    async def at_once() -> list[golden.CaseResult]:
        return await asyncio.gather(*(golden.evaluate_async(target, question, **WELL) for question in questions))

    with ThreadPoolExecutor(4) as pool:
        results = [
            *asyncio.run(at_once()),
            *pool.map(lambda question: golden.evaluate(target, question, **WELL), questions),
        ]
    assert [(result.status, result.error) for result in results] == [("passed", None)] * 8


def test_an_app_is_started_once_for_runs_that_overlap() -> None:
    log: list[str] = []
    target = golden.AsgiTarget(app(log))

    async def at_once() -> None:
        await asyncio.gather(*(golden.evaluate_async(target, "?", **WELL) for _ in range(3)))

    asyncio.run(at_once())
    assert log == ["lifespan.startup", "lifespan.shutdown"]


def test_where_a_loop_runs_the_call_waits_in_a_thread_that_sees_the_same_context(target: golden.Target) -> None:
    seen: list[str] = []
    variable: ContextVar[str] = ContextVar("variable", default="unset")

    def looks(question: str) -> Iterator[tuple[str, object]]:
        seen.append(variable.get())
        return well(question)

    async def notebook() -> tuple[golden.CaseResult, golden.RunResult]:
        variable.set("set")
        golden.evaluate(golden.InProcessTarget(looks), "?", **WELL)
        refusal(lambda: golden.run_suite(suite(), target, case=["nobody"]))
        return golden.evaluate(target, "0", **WELL), golden.run_suite(suite(case(question="0")), target)

    result, report = asyncio.run(notebook())
    assert result.passed
    assert report.all_passed
    assert seen == ["set"]


def test_a_run_that_is_cancelled_leaves_its_target_fit_for_another() -> None:
    hangs = True

    async def script(asked: Asked) -> AsyncIterator[Step]:
        for step in [Act.HOLD] if hangs else chunked(ANSWER):
            yield step

    async def cancelled(target: golden.Target, server: Server) -> None:
        running = asyncio.create_task(golden.run_suite_async(suite(case("a"), case("b")), target))
        await asyncio.to_thread(server.wait_for, 2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with Server(script) as server:
        target = golden.HttpTarget(server.url)
        asyncio.run(cancelled(target, server))
        hangs = False
        assert golden.evaluate(target, "?", **WELL).passed


HANGS = """
    import asyncio, golden, threading

    def blocked(question):
        print("asked", flush=True)
        threading.Event().wait()

    async def waiting(question):
        print("asked", flush=True)
        await asyncio.Event().wait()

    def ask(agent):
        return golden.evaluate(golden.InProcessTarget(agent), "?", expected_tools=["x"])

    def notebook(agent):
        async def cell():
            return ask(agent)

        # Not `asyncio.run`, which keeps the first interrupt to itself until the loop turns.
        asyncio.new_event_loop().run_until_complete(cell())
"""


@pytest.mark.parametrize("call", ["ask(blocked)", "ask(waiting)", "notebook(waiting)"])
def test_an_interrupt_ends_a_call_soon(call: str) -> None:
    code = f"{dedent(HANGS)}\ntry:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "asked\n"
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        rest, _ = run.communicate(timeout=20)
    assert time.monotonic() - began < 4
    assert rest == "interrupted\n"
    assert run.returncode == 0


class Odd:
    """A target that is none in one way or another."""

    kind = "odd"
    name = "odd"

    def __init__(self, *pieces: Any, opens: bool = True) -> None:
        self.pieces = pieces
        self.opens = opens

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        if not self.opens:
            raise LookupError("no door")
        yield

    async def ask(self, request: golden.Request) -> AsyncIterator[Any]:
        for piece in self.pieces:
            if isinstance(piece, BaseException):
                raise piece
            yield piece


HEAD = golden.Head(200, {}, "iterable")


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ((golden.Chunk(b"x"),), "the target gave Chunk"),
        ((5,), "the target gave 5"),
        ((HEAD, golden.Chunk("text")), "the target gave Chunk"),  # type: ignore[arg-type]
        ((HEAD, SystemExit(3)), "the target raised SystemExit: 3"),
        ((HEAD, asyncio.CancelledError()), "the target raised CancelledError"),
    ],
)
def test_what_a_target_gives_that_is_no_piece_is_its_cases_error(pieces: tuple[object, ...], message: str) -> None:
    result = golden.evaluate(Odd(*pieces), "q", clean_stream=True)
    assert (result.status, result.error and result.error.kind) == ("error", "agent")
    assert result.error
    assert result.error.message.startswith(message)


class Unruly:
    """A target that answers, and raises `error` where it is told to; the question says where."""

    kind = "unruly"
    name = "unruly"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        yield

    def ask(self, request: golden.Request) -> AsyncIterator[Any]:
        if request.question == "asked":
            raise self.error
        return self._answer(request.question)

    async def _answer(self, question: str) -> AsyncIterator[Any]:
        yield HEAD
        try:
            yield golden.Chunk(b'event: token\ndata: {"text": "Well."}\n\n')
            if question == "left":
                yield "no chunk"
            yield golden.Chunk(b"event: done\ndata: {}\n\n")
        finally:
            if question == "left":
                raise self.error

    async def leave(self, request: golden.Request) -> None:
        if request.question == "closed":
            raise self.error


@pytest.mark.parametrize("error", [OSError("of its own"), SystemExit(3), asyncio.CancelledError("of its own")])
def test_what_a_target_raises_is_its_cases_error_wherever_it_does(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    cases = [
        case(question, question=question, required_phrases=["well"])
        for question in ("asked", "left", "closed", "nowhere")
    ]
    run = golden.run_suite(suite(*cases), Unruly(error), concurrency=1)
    assert [result.status for result in run.results] == ["error", "error", "passed", "passed"]
    for result in run.results[:2]:
        assert result.error
        assert result.error.kind == "agent"
        assert result.error.message.startswith(f"the target raised {type(error).__name__}")
    (logged,) = [record.getMessage() for record in caplog.records]
    assert logged.startswith(f"the conversation was not closed: the target raised {type(error).__name__}")


class Deaf(Unruly):
    """Has its first question's run cancelled, and goes on where it is cancelled itself."""

    def __init__(self, cancel: Callable[[], object]) -> None:
        self.cancel = cancel

    async def _answer(self, question: str) -> AsyncIterator[Any]:
        yield HEAD
        self.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        yield golden.Chunk(b'event: token\ndata: {"text": "Well."}\n\nevent: done\ndata: {}\n\n')


@pytest.mark.filterwarnings("error")
def test_a_run_that_is_cancelled_starts_nothing_more_whatever_its_target_does() -> None:
    cases = [case(f"n{number}") for number in range(9)]

    async def cancelled() -> None:
        task = asyncio.current_task()
        assert task
        await golden.run_suite_async(suite(*cases), Deaf(task.cancel), concurrency=1)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_a_target_that_cannot_be_opened_is_a_usage_error_that_says_where() -> None:
    with pytest.raises(golden.UsageError, match="the target cannot be opened: LookupError: no door") as caught:
        golden.evaluate(Odd(opens=False), "q", clean_stream=True)
    assert caught.value.hint is not None
    assert "test_library.py" in caught.value.hint
