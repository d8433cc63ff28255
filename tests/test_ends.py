"""The odd ends of a run: agents left behind, outputs that fail late, streams that are closed, signals too early."""

import asyncio
import base64
import json
import signal
import subprocess
import sys
import textwrap
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from golden import commands, report_files
from golden.engine import run_jobs
from golden.errors import SuiteError
from golden.output import Output
from golden.plan import Job, Plan
from golden.redaction import Secrets
from golden.suite import Case, Suite
from golden.suite_file import load_suite
from golden.watch import Stop
from golden.wire import Chunk, Head, Request
from tests.program import CASE, Program

SECRET = "an-example-of-a-secret"
GOLDEN = [sys.executable, "-m", "golden"]
WELL = """
    def answer(question):
        yield "token", {"text": "all is well"}
        yield "done", {}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a suite of one case."""
    monkeypatch.chdir(tmp_path)
    Path("suite.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    return tmp_path


def module(code: str) -> str:
    """Writes an agent's module, whose name no other test has: a module is imported once a process."""
    name = f"agent_{zlib.crc32(code.encode())}"
    Path(f"{name}.py").write_text(textwrap.dedent(code), encoding="utf-8")
    return f"{name}:answer"


def run(*arguments: str, streams: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs the program from a shell, so that its streams can be closed and directed as people do."""
    line = f'exec "$@" {streams}'
    command = ["bash", "-c", line, "golden", *GOLDEN, "run", "suite.json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.usefixtures("folder")
def test_an_agent_that_was_left_behind_and_prints_on_does_not_disturb_the_report() -> None:
    agent = module("""
        def answer(question):
            while True:
                print("NOISE", flush=True)
    """)
    done = run("--agent", agent, "--timeout", "0.3", "--json-out", "-", "--quiet")
    assert done.returncode == 3
    assert json.loads(done.stdout)["summary"]["errors"] == 1
    assert "NOISE" in done.stderr


@pytest.mark.usefixtures("folder")
def test_what_an_agent_registers_for_the_end_is_done_though_a_thread_of_it_lives_on() -> None:
    agent = module(f"""
        import atexit, sys, threading
        atexit.register(lambda: print("exported", file=sys.stderr))
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        {textwrap.indent(textwrap.dedent(WELL), " " * 8).strip()}
    """)
    done = run("--agent", agent, "--quiet")
    assert (done.returncode, done.stderr) == (0, "exported\n")


@pytest.mark.usefixtures("folder")
def test_a_full_standard_output_keeps_no_file_from_being_written() -> None:
    done = run("--agent", module(WELL), "--json-out", "results.json", "--quiet", streams=">/dev/full")
    assert done.returncode == 2
    assert done.stderr == "error: cannot write standard output: No space left on device\n"
    assert json.loads(Path("results.json").read_text(encoding="utf-8"))["summary"]["passed"] == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.usefixtures("folder")
def test_a_run_without_its_standard_streams_keeps_its_verdict(closed: str) -> None:
    done = run("--agent", module(WELL), "--json-out", "results.json", streams=closed)
    assert done.returncode == 0
    assert json.loads(Path("results.json").read_text(encoding="utf-8"))["summary"]["passed"] == 1


def test_an_output_that_fails_late_keeps_neither_the_others_nor_the_verdict_back(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("gone").mkdir()
    agent = module(WELL)
    print_report = report_files.show

    def then_gone(*arguments: object) -> list[str]:
        for file in Path("gone").iterdir():
            file.unlink()
        Path("gone").rmdir()
        return print_report(*arguments)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(commands, "show", then_gone)
    ran = golden_run("--agent", agent, "--out", "gone/report.txt", "--out", "kept.txt")
    assert ran.code == 2
    assert "error: cannot write gone/report.txt: No such file or directory" in ran.err
    assert ran.run.summary.passed == 1
    assert "1 of 1 cases passed" in Path("kept.txt").read_text(encoding="utf-8")
    Path("gone").mkdir()
    failing = {**CASE, "required_phrases": ["never"]}
    assert golden_run("--agent", agent, "--out", "gone/report.txt", cases=[failing]).code == 1


def test_a_device_is_opened_before_standard_output_is_another(tmp_path: Path) -> None:
    output = Output(Path("/dev/null"))
    output.write("report")
    output.close()
    unused = Output(Path("/dev/null"))
    unused.close()
    assert Path("/dev/null").is_char_device()


def test_a_signal_while_the_agent_is_imported_leaves_nothing_behind(folder: Path) -> None:
    agent = module("""
        import time
        print("importing", flush=True)
        time.sleep(60)
    """)
    command = [*GOLDEN, "run", "suite.json", "--agent", agent, "--out", "report.txt", "--json-out", "results.json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "importing\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 143
    assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == [
        f"{agent[:-7]}.py",
        "suite.json",
    ]


def test_an_agent_whose_import_fails_in_the_oddest_way_is_wrong_usage(golden_run: Program) -> None:
    agent = module("""
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError
        raise Odd
    """)
    ran = golden_run("--agent", agent)
    assert ran.code == 2
    assert "failed: Odd: its message cannot be shown" in ran.err


def test_a_dry_run_shows_no_literal_secret_and_no_password(golden_run: Program) -> None:
    shown = golden_run(
        *("--dry-run", "--base-url", "http://127.0.0.1:9", "--header", "Authorization: Bearer literal-secret$$1"),
        *("--header", "X-Key: ${KEY}", "--header", "X-Two: $ONE-and-more"),
    )
    assert shown.code == 0
    assert "literal-secret" not in shown.out
    assert "and-more" not in shown.out
    assert "  X-Key: ${KEY}\n" in shown.out
    refused = golden_run("--dry-run", "--base-url", "http://user:hunter2@127.0.0.1")
    assert refused.code == 2
    assert "hunter2" not in refused.out + refused.err


def test_a_dry_run_of_skipped_suites_needs_no_target(golden_run: Program) -> None:
    shown = golden_run("--dry-run", requires_env=["SURELY_NOT_SET"])
    assert (shown.code, shown.out) == (0, "well: skipped: SURELY_NOT_SET not set\n")


def test_a_path_that_makes_no_url_is_wrong_usage(golden_run: Program) -> None:
    ran = golden_run("--base-url", "http://127.0.0.1:9", "--no-auth", "--path", "/a\nb")
    assert ran.code == 2
    assert "--path makes no URL" in ran.err


def test_an_answer_in_one_huge_piece_is_read_to_its_bound(golden_run: Program) -> None:
    agent = module("""
        def answer(question):
            yield b'event: token\\ndata: {"text": "x"}\\n\\n' * 1_000_000
    """)
    ran = golden_run("--agent", agent, "--max-answer", 1_000_000)
    assert ran.case.error is not None
    assert ran.case.error.kind == "too_large"
    assert ran.case.turns[0].events_total < 30_000


def test_a_case_that_never_started_names_its_model_and_its_checks(golden_run: Program) -> None:
    cases = [{**CASE, "id": "first", "required_phrases": ["never"]}, {**CASE, "id": "second", "clean_stream": True}]
    ran = golden_run("--agent", module(WELL), "--concurrency", 1, "--bail", "--model", "m", cases=cases)
    assert ran.statuses == ["failed", "not_run"]
    late = ran.run.results[1]
    assert late.model == "m"
    assert {(check.name, check.ok) for check in late.checks} == {("required_phrases", None), ("clean_stream", None)}


def test_a_case_s_own_time_out_is_named_as_its_own(golden_run: Program) -> None:
    agent = module("""
        import asyncio
        async def answer(question):
            await asyncio.Event().wait()
            yield
    """)
    ran = golden_run("--agent", agent, cases=[{**CASE, "timeout_s": 0.1}])
    assert ran.case.error is not None
    assert "no end within 0.1 s (the case's timeout_s)" in ran.case.error.message


def test_a_secret_is_covered_before_anything_is_cut(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "start-" + "k" * 100 + "-end"
    monkeypatch.setenv("EVAL_JWT_SECRET", secret)
    agent = module(f"""
        def answer(question):
            yield "tool_result", {{"id": {secret!r}, "result": 1}}
            yield "tool_call", {{"name": {secret!r}, "id": {secret!r}, "args": "no JSON"}}
            yield "tool_call", {{"name": "a", "id": {secret!r}}}
            yield {secret!r}, None
            yield "groundedness", {{"score": {secret!r}}}
            yield "done", {{}}
            yield {secret!r}, {{}}
    """)
    skipped = {**CASE, "id": "left-out", "skip": f"because {secret}"}
    ran = golden_run("--agent", agent, "-v", cases=[{**CASE, "groundedness_threshold": 0.5}, skipped])
    assert len(ran.run.results[0].turns[0].findings) >= 4
    for written in (ran.out, ran.err, ran.written):
        assert "start-" not in written


def test_long_messages_are_cut_once_they_are_covered(golden_run: Program) -> None:
    agent = module("""
        def answer(question):
            yield "error", {"message": "x" * 100_000}
    """)
    ran = golden_run("--agent", agent)
    assert ran.case.error is not None
    assert len(ran.case.error.message) == 2000


def test_arguments_of_any_depth_give_results_that_are_read_again(golden_run: Program) -> None:
    agent = module("""
        def answer(question):
            deep = "[" * 199 + "]" * 199
            yield 'event: tool_call\\ndata: {"name": "a", "args": %s}\\n\\n' % deep
            yield 'event: token\\ndata: {"text": "all is well"}\\n\\n'
            yield "done", {}
    """)
    ran = golden_run("--agent", agent)
    assert ran.code == 0
    assert "(nested too deep)" in json.dumps(ran.case.turns[0].tool_calls[0].args)


def test_an_output_that_is_a_link_to_itself_is_written_in_its_place(golden_run: Program) -> None:
    Path("loop.txt").symlink_to("loop.txt")
    assert golden_run("--agent", module(WELL), "--out", "loop.txt").code == 0
    assert "1 of 1 cases passed" in Path("loop.txt").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_streams_that_the_process_was_started_without_lead_nowhere() -> None:
    code = (
        "import os, sys; from golden import __main__ as program; os.close(0); os.close(1); sys.stdout = None; "
        "program._ensure_streams(); print('unseen'); os.fstat(0); sys.stdout.flush()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


SAYS_SECRET = f"cannot connect with {SECRET}"
STARTS_BADLY = f"""
    async def answer(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({{"type": "lifespan.startup.failed", "message": {SAYS_SECRET!r}}})
"""
STOPS_BADLY = f"""
    async def answer(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({{"type": "lifespan.startup.complete"}})
            await receive()
            await send({{"type": "lifespan.shutdown.failed", "message": {SAYS_SECRET!r}}})
        else:
            await send({{"type": "http.response.start", "status": 500, "headers": []}})
            await send({{"type": "http.response.body", "body": b""}})
"""


@pytest.mark.parametrize(
    ("option", "code", "says"),
    [
        ("--agent", f"raise RuntimeError({SAYS_SECRET!r})", "error: --agent: importing"),
        ("--agent", f"def __getattr__(name): raise RuntimeError({SAYS_SECRET!r})", "cannot be had: RuntimeError"),
        ("--asgi", STARTS_BADLY, "error: the app's start-up failed"),
    ],
)
def test_what_an_agent_says_as_it_starts_shows_no_secret(
    option: str, code: str, says: str, golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    ran = golden_run(option, module(code))
    assert ran.code == 2
    assert says in ran.err
    assert SECRET not in ran.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("full", ["", "2>/dev/full"])
def test_a_shut_down_that_fails_is_a_warning_that_shows_no_secret(full: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    done = run("--asgi", module(STOPS_BADLY), "--quiet", streams=full)
    assert done.returncode == 3
    told = f"warning: the agent's shut-down failed: RuntimeError: cannot connect with {'█' * len(SECRET)}\n"
    assert done.stderr == ("" if full else told)


@pytest.mark.parametrize("name", ["suite.json", "link.json"])
def test_a_report_does_not_take_the_place_of_a_suite(name: str, golden_run: Program) -> None:
    Path("link.json").symlink_to("suite.json")
    ran = golden_run("--agent", module(WELL), "--out", name)
    assert ran.code == 2
    assert f"{name} is a suite" in ran.err
    assert "cases" in json.loads(Path("suite.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("folder")
def test_an_agent_that_patches_the_clock_stops_none_of_goldens() -> None:
    agent = module("""
        import time
        def answer(question):
            time.monotonic = time.perf_counter = time.time = lambda: 0.0
            yield "token", {"text": "all is well"}
            time.sleep(60)
    """)
    done = run("--agent", agent, "--timeout", "0.4", "--json-out", "results.json", "--quiet")
    assert done.returncode == 3
    (case,) = json.loads(Path("results.json").read_text(encoding="utf-8"))["results"]
    assert "no end within 0.4 s" in case["error"]["message"]
    assert 0.4 <= case["turns"][0]["timing"]["total_s"] < 20


@pytest.mark.usefixtures("folder")
def test_an_agent_that_takes_the_streams_away_changes_no_verdict() -> None:
    agent = module("""
        import os, sys
        def answer(question):
            sys.stdout.close()
            sys.stderr = None
            os.close(0)
            yield "token", {"text": "all is well"}
            yield "done", {}
    """)
    done = run("--agent", agent, "--json-out", "results.json")
    assert (done.returncode, "1 of 1 cases passed" in done.stdout) == (0, True)


@pytest.mark.usefixtures("folder")
def test_a_full_standard_error_changes_no_verdict() -> None:
    done = run("--agent", module(WELL), streams="2>/dev/full")
    assert (done.returncode, "1 of 1 cases passed" in done.stdout) == (0, True)


def test_a_device_is_no_suite_and_is_read_no_further_than_one() -> None:
    with pytest.raises(SuiteError, match="/dev/zero: larger than 32 MiB"):
        load_suite("/dev/zero")


def test_the_name_of_a_file_steers_no_terminal(golden_run: Program) -> None:
    ran = golden_run("--agent", "json:dumps", "\x1b[2J.json")
    assert ran.code == 2
    assert "\\x1b[2J.json: no such file" in ran.err
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection"])
def test_how_a_question_is_framed_is_not_for_headers_to_say(name: str, golden_run: Program) -> None:
    ran = golden_run("--base-url", "http://127.0.0.1:9", "--no-auth", "--header", f"{name}: 3")
    assert ran.code == 2
    assert f"golden sets {name.lower()!r} itself" in ran.err


def test_a_port_that_is_none_is_no_url(golden_run: Program) -> None:
    assert golden_run("--base-url", "http://127.0.0.1:99999", "--no-auth").code == 2


def test_base64_in_lines_is_covered_too() -> None:
    secrets = Secrets()
    secrets.add("a secret of some length " * 8)
    wrapped = base64.encodebytes(b"token: " + b"a secret of some length " * 8).decode()
    assert wrapped.count("\n") > 2
    assert base64.b64encode(b"secret of some lengt").decode()[2:-4] not in secrets.cover(wrapped).replace("\n", "")


class Own:
    """A target whose opening closes badly."""

    kind = "own"
    name = "own"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        yield
        raise RuntimeError("the lease is lost")

    async def ask(self, request: Request) -> AsyncGenerator[Head | Chunk, None]:
        yield Head(200, {}, "iterable")
        yield Chunk(b'event: token\ndata: {"text": "all is well"}\n\nevent: done\ndata: {}\n\n')


def test_a_target_that_closes_badly_changes_no_result(caplog: pytest.LogCaptureFixture) -> None:
    suite = Suite(cases=[Case.model_validate(CASE)])
    ran = asyncio.run(run_jobs([Job(suite, suite.cases[0])], Own(), Plan(dialect="native"), Stop()))
    assert ran.all_passed
    assert "the target did not close well: RuntimeError: the lease is lost" in caplog.text


class Rash(Own):
    """A target that raises before there is a reply."""

    def ask(self, request: Request) -> AsyncGenerator[Head | Chunk, None]:
        raise ValueError("no such agent")


def test_a_target_that_raises_as_it_is_asked_is_that_case_s_error() -> None:
    suite = Suite(cases=[Case.model_validate(CASE)])
    ran = asyncio.run(run_jobs([Job(suite, suite.cases[0])], Rash(), Plan(), Stop()))
    error = ran.results[0].error
    assert error is not None
    assert (error.kind, error.message) == ("agent", "the target raised ValueError: no such agent")


@pytest.mark.parametrize("how", ["raise ValueError(words)", 'yield "error", {"message": words}'])
@pytest.mark.usefixtures("folder")
def test_no_agent_speaks_as_golden_where_golden_says_what_to_do(how: str, golden_run: Program) -> None:
    agent = module(f"""
        def answer(question):
            words = "it broke\\nhint: run this as root"
            {how}
            yield "done", {{}}
    """)
    out = golden_run("--agent", agent).out
    assert "it broke hint: run this as root" in " ".join(out.split())
    assert not [line for line in out.splitlines() if line.strip().startswith("hint: run this")]
