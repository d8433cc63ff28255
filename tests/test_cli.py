"""The command line: exit codes, options, what is written where, and signals, through the real program."""

import asyncio
import importlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from golden import commands, result
from golden.__main__ import _run, main
from tests.program import CASE, Program
from tests.runner import obeyed
from tests.servers import ANSWER, CHUNKED, Act, Asked, Server, Step, chunk, chunked, tokens, whole

GOLDEN = [sys.executable, "-m", "golden"]

# Modules of agents: each test that loads one in this process names it after itself, for a module is imported once.
WELL = """
    def answer(question):
        yield "event: token\\ndata: {\\"text\\": \\"All is well.\\"}\\n\\n"
        yield "event: done\\ndata: {}\\n\\n"
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(chunked(ANSWER)) as running:
        yield running


def module(name: str, code: str) -> str:
    Path(f"{name}.py").write_text(textwrap.dedent(code), encoding="utf-8")
    return f"{name}:answer"


def cases(*names: str, **fields: object) -> list[dict[str, object]]:
    return [{**CASE, "id": name, "question": f"Is {name} well?", **fields} for name in names]


# Exit codes


def test_0_is_every_case_passed_or_skipped(golden_run: Program, server: Server) -> None:
    ran = golden_run("--base-url", server.url, "--no-auth", cases=[CASE, *cases("later", skip="not yet")])
    assert ran.code == 0
    assert ran.statuses == ["passed", "skipped"]
    assert ran.run.all_passed
    assert "golden: 1 of 2 cases passed, 1 skipped" in ran.out


def test_1_is_a_case_that_failed_and_an_error_does_not_hide_it(golden_run: Program) -> None:
    async def script(asked: Asked) -> AsyncIterator[Step]:
        if b"broken" in asked.body:
            return
        for step in chunked(ANSWER):
            yield step

    suite = [*cases("broken"), *cases("wrong", required_phrases=["all is lost"])]
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", cases=suite)
    assert ran.code == 1
    assert ran.statuses == ["error", "failed"]
    assert not ran.run.all_passed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--no-such-option"], "No such option"),
        (["--concurrency", "many"], "'many' is not a valid integer"),
        (["--concurrency", "0", "--agent", "a:b"], "--concurrency: input should be greater than or equal to 1"),
        (["--timeout", "-1", "--agent", "a:b"], "--timeout: input should be greater than 0"),
        (["--dialect", "klingon", "--base-url", "http://127.0.0.1:1"], "no dialect is called 'klingon'"),
        (["--header", "no colon", "--base-url", "http://127.0.0.1:1"], "--header takes 'Name: value'"),
        (["--header", "x: $NOT_SET_ANYWHERE", "--base-url", "http://127.0.0.1:1"], "$NOT_SET_ANYWHERE is not set"),
        (["--agent", "no_such_module:answer"], "--agent: importing 'no_such_module' failed"),
        (["--agent", "json:nothing"], "--agent: 'json' has no 'nothing'"),
        (["--agent", "json"], "--agent takes MODULE:NAME"),
        (["--case", "nobody", "--agent", "json:dumps"], "no case is selected"),
        (["another.json", "--agent", "json:dumps"], "another.json"),
    ],
)
def test_2_is_wrong_usage(arguments: list[str], said: str, golden_run: Program) -> None:
    ran = golden_run(*arguments)
    assert ran.code == 2
    assert said in ran.err
    assert ran.written == ""


def test_3_is_a_case_that_could_not_be_judged(golden_run: Program) -> None:
    with Server([whole(b"", "500 Internal Server Error")]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.statuses == ["error"]


def test_3_is_a_case_that_was_not_run(golden_run: Program, server: Server) -> None:
    ran = golden_run("--base-url", server.url, "--no-auth", "--suite-timeout", "0.000001", cases=cases("a", "b"))
    assert ran.code == 3
    assert set(ran.statuses) == {"not_run"}


def test_70_is_a_fault_of_golden_with_its_traceback(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> int:
        raise ZeroDivisionError("ours\n::error::evil")

    monkeypatch.setattr(commands, "_selected", broken)
    ran = golden_run("--agent", "json:dumps")
    assert ran.code == 70
    assert "Traceback" in ran.err
    assert "ZeroDivisionError: ours" in ran.err
    assert "this is a fault of golden: please report it" in ran.err
    assert obeyed(ran.err) == []


def test_130_is_an_interrupt_before_anything_was_sent(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "_selected", interrupted)
    ran = golden_run("--agent", "json:dumps")
    assert ran.code == 130
    assert ran.err.endswith("stopped\n")


def started(*arguments: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    command = [*GOLDEN, "run", "suite.json", "--json-out", "results.json", *arguments]
    return subprocess.Popen(command, stdout=stdout, stderr=stderr, text=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_run_and_what_had_finished_is_in_the_reports(
    number: signal.Signals, code: int, golden_run: Program
) -> None:
    second_has_begun = asyncio.Event()

    async def script(asked: Asked) -> AsyncIterator[Step]:
        yield CHUNKED
        if b"first" in asked.body:
            await second_has_begun.wait()
            yield chunk(ANSWER) + chunk(b"")
        else:
            yield chunk(tokens("All is "))
            second_has_begun.set()
            yield Act.HOLD

    suite = cases("first", "second", "third", "fourth")
    Path("suite.json").write_text(json.dumps({"cases": suite}), encoding="utf-8")
    with Server(script) as server:
        process = started("--base-url", server.url, "--no-auth", "--concurrency", "2")
        server.wait_for(3)  # the third starts when the first is judged
        sent = time.monotonic()
        process.send_signal(number)
        out, _ = process.communicate(timeout=20)
        took = time.monotonic() - sent
    assert process.returncode == code
    assert took < 2
    ran = result.read(Path("results.json").read_text(encoding="utf-8"))
    assert [each.status for each in ran.results] == ["passed", "not_run", "not_run", "not_run"]
    assert {each.error.message for each in ran.results[1:] if each.error} == {f"stopped by {number.name}"}
    assert ran.results[1].turns[0].answer == "All is "
    assert not ran.run.complete
    assert "golden: 3 of 4 cases not run, 1 passed" in out


def test_a_signal_ends_a_run_whose_agent_blocks_for_ever(golden_run: Program) -> None:
    blocking = """
        import sys, time
        def answer(question):
            print("asked", file=sys.stderr, flush=True)
            while True:
                time.sleep(60)
    """
    Path("suite.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    process = started("--agent", module("blocking_agent", blocking))
    assert process.stderr is not None
    assert process.stderr.readline() == "asked\n"
    sent = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 143
    assert time.monotonic() - sent < 2
    assert json.loads(Path("results.json").read_text(encoding="utf-8"))["summary"]["not_run"] == 1


# The target


def test_two_targets_are_a_usage_error(golden_run: Program) -> None:
    ran = golden_run("--agent", "json:dumps", "--base-url", "http://127.0.0.1:1")
    assert ran.code == 2
    assert "more than one target: --agent, --base-url" in ran.err
    assert "--agent MODULE:NAME, --asgi MODULE:NAME, --base-url URL, --replay PATH" in ran.err


def test_no_target_is_a_usage_error_that_lists_them(golden_run: Program) -> None:
    ran = golden_run()
    assert ran.code == 2
    assert "no target" in ran.err
    assert "--agent MODULE:NAME, --asgi MODULE:NAME, --base-url URL, --replay PATH" in ran.err


def test_a_suite_whose_needs_are_not_met_is_skipped_before_a_target_is_looked_for(golden_run: Program) -> None:
    ran = golden_run(requires_env=["GOLDEN_TEST_UNSET", "GOLDEN_TEST_UNSET_TOO"], cases=cases("a", "b"))
    assert ran.code == 0
    assert ran.statuses == ["skipped", "skipped"]
    assert "skipping evals: GOLDEN_TEST_UNSET, GOLDEN_TEST_UNSET_TOO not set" in ran.err
    assert ran.run.run.target is None


def test_the_configuration_names_the_target_and_the_command_line_wins(golden_run: Program, server: Server) -> None:
    Path("pyproject.toml").write_text(
        f'[tool.golden]\nbase_url = "{server.url}"\nauth = false\npath = "/configured"\ntag = ["a"]\n', encoding="utf-8"
    )
    tagged = [*cases("one", tags=["a"]), *cases("two", tags=["b"])]
    assert golden_run(cases=tagged).statuses == ["passed"]
    assert golden_run("--path", "/given", "--tag", "b", "--case", "two", cases=tagged).statuses == ["passed"]
    assert [asked.path for asked in server.asked] == ["/configured", "/given"]
    ran = golden_run("--agent", "json:dumps", "--dry-run", cases=tagged)
    assert ran.code == 0
    assert "call json:dumps" in ran.out
    isolated = golden_run("--isolated", cases=tagged)
    assert isolated.code == 2
    assert "no target" in isolated.err


def test_a_configuration_may_be_named_and_its_suites_are_relative_to_it(
    golden_run: Program, server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "golden.toml").write_text(
        f'[tool.golden]\nbase_url = "{server.url}"\nauth = false\nsuites = ["own.json"]\njson_out = "own.out.json"\n',
        encoding="utf-8",
    )
    (folder / "own.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    assert _run(["run", "--config", "elsewhere/golden.toml"]) == 0
    assert result.read((folder / "own.out.json").read_text(encoding="utf-8")).summary.passed == 1


def test_modules_of_a_configuration_are_relative_to_it(golden_run: Program, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.golden]\nagent = "configured_agent:answer"\n', encoding="utf-8")
    module("configured_agent", WELL)
    below = tmp_path / "below"
    below.mkdir()
    (below / "golden_questions.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    done = subprocess.run([*GOLDEN, "run"], cwd=below, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[tool.golden]\nconcurency = 3",
            "[tool.golden] concurency: there is no such option; did you mean 'concurrency'?",
        ),
        ("[tool.golden]\nconcurrency = true", "[tool.golden] concurrency: input should be a valid integer"),
        ("[tool.golden]\nagent = 'a:b'\nasgi = 'a:b'", "more than one target: --agent, --asgi"),
        ("[tool]\ngolden = 3", "[tool.golden] is no table"),
        ("[tool", "pyproject.toml"),
    ],
)
def test_a_configuration_that_cannot_be_obeyed_is_a_usage_error(text: str, said: str, golden_run: Program) -> None:
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    ran = golden_run()
    assert ran.code == 2
    assert said in ran.err


# Which cases

CHOICE: list[dict[str, object]] = [
    {**CASE, "id": "quote-apple", "question": "What is Apple at?", "tags": ["market", "quote"]},
    {**CASE, "id": "quote-tesla", "question": "What is TESLA at?", "tags": ["market", "quote"]},
    {**CASE, "id": "news", "question": "Any news on Apple?", "tags": ["market"]},
    {**CASE, "id": "holding", "question": "What do I own?", "tags": ["Portfolio"]},
]


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ([], ["quote-apple", "quote-tesla", "news", "holding"]),
        (["--case", "news"], ["news"]),
        (["--case", "holding", "--case", "news"], ["news", "holding"]),
        (["--tag", "quote"], ["quote-apple", "quote-tesla"]),
        (["--tag", "quote", "--tag", "Portfolio"], ["quote-apple", "quote-tesla", "holding"]),
        (["--tag", "quot"], []),
        (["--match", "tesla"], ["quote-tesla"]),
        (["-k", "APPLE"], ["quote-apple", "news"]),
        (["-k", "portfolio"], ["holding"]),
        (["-k", "own", "-k", "news"], ["news", "holding"]),
        (["-k", "apple", "--tag", "quote"], ["quote-apple"]),
        (["-k", "apple", "--tag", "quote", "--case", "news"], []),
    ],
)
def test_cases_are_chosen_by_id_tag_and_text(options: list[str], chosen: list[str], golden_run: Program) -> None:
    ran = golden_run("--agent", "json:dumps", "--dry-run", *options, cases=CHOICE)
    assert ran.code == (0 if chosen else 2)
    assert re.findall(r"^(\S+): ", ran.out, re.MULTILINE) == chosen
    assert chosen or "no case is selected" in ran.err


def test_a_case_that_is_not_known_is_warned_of(golden_run: Program) -> None:
    ran = golden_run(
        "--agent", "json:dumps", "--dry-run", "--case", "new", "--case", "news", "--case", "?", cases=CHOICE
    )
    assert ran.code == 0
    assert "warning: no case is called 'new'; did you mean 'news'?" in ran.err
    assert "warning: no case is called '?'\n" in ran.err


@pytest.mark.parametrize("option", ["-x", "--bail"])
def test_bail_starts_no_case_after_the_first_that_does_not_pass(
    option: str, golden_run: Program, server: Server
) -> None:
    suite = [*cases("one"), *cases("two", required_phrases=["all is lost"]), *cases("three", "four")]
    ran = golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, option, cases=suite)
    assert ran.code == 1
    assert ran.statuses == ["passed", "failed", "not_run", "not_run"]
    assert len(server.asked) == 2
    assert ran.err.splitlines()[-1] == "not_run four"


# A dry run


def test_a_dry_run_shows_what_would_be_sent_and_no_secret(
    golden_run: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "hidden value")
    options = ["--header", "X-Key: Key $AGENT_KEY", "--header", "X-Plain: hidden too", "--path", "/api/chat"]
    suite = [CASE, *cases("later", skip="not yet")]
    ran = golden_run("--base-url", server.url, *options, "--dry-run", cases=suite, model="m")
    assert ran.code == 0
    assert f"  POST {server.url}/api/chat" in ran.out
    assert "X-Key: Key $AGENT_KEY" in ran.out
    assert "X-Plain: …" in ran.out
    assert '{"message":"Is all well?","model":"m"}' in ran.out
    assert "later: skipped: not yet" in ran.out
    assert "hidden" not in ran.out + ran.err
    assert server.asked == []
    assert ran.written == ""


@pytest.mark.parametrize("path", ["chat", "/chat", "//chat"])
def test_a_dry_run_shows_the_url_that_a_run_asks(path: str, golden_run: Program, server: Server) -> None:
    options = ["--base-url", f"{server.url}/api/", "--path", path, "--no-auth"]
    shown = golden_run(*options, "--dry-run").out
    assert golden_run(*options).code == 0
    assert f"  POST {server.url}{server.asked[0].path}\n" in shown


@pytest.mark.parametrize(("option", "shown"), [("--agent", "call "), ("--asgi", "POST /agent/chat of ")])
def test_a_dry_run_loads_no_target(option: str, shown: str, golden_run: Program) -> None:
    name = module("never_loaded", "raise SystemExit('loaded')")
    ran = golden_run(option, name, "--dry-run")
    assert ran.code == 0
    assert shown + name in ran.out


# Reports


def test_results_go_to_standard_output_in_place_of_the_text(golden_run: Program, server: Server) -> None:
    ran = golden_run("--base-url", server.url, "--no-auth", "--json-out", "-")
    assert ran.code == 0
    assert result.read(ran.out).summary.passed == 1
    assert ran.err == "passed well\n"


def test_reports_are_written_by_suffix(golden_run: Program, server: Server) -> None:
    ran = golden_run("--base-url", server.url, "--no-auth", "--out", "one.txt", "--out", "two.json", "--out", "-")
    assert ran.code == 0
    assert Path("one.txt").read_text(encoding="utf-8").startswith("golden: 1 of 1 cases passed")
    assert Path("two.json").read_text(encoding="utf-8") == ran.written
    assert ran.out.startswith("golden: 1 of 1 cases passed")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "report.pdf"], "no report has the suffix '.pdf'"),
        (["--out", "report"], "no report has the suffix ''"),
        (["--out", "nowhere/report.txt"], "cannot write nowhere/report.txt"),
        (["--out", "folder.txt"], "cannot write folder.txt: it is a folder"),
        (["--json-out", "nowhere/results.json"], "cannot write nowhere/results.json"),
        (["--out", "a.txt", "--out", "./a.txt"], "a.txt is named twice as an output"),
        (["--json-out", "-", "--out", "-"], "standard output is named twice"),
        (["--out", "-", "--out", "-"], "standard output is named twice"),
    ],
)
def test_an_output_that_cannot_be_written_is_found_before_anything_is_sent(
    options: list[str], said: str, golden_run: Program, server: Server
) -> None:
    Path("folder.txt").mkdir()
    ran = golden_run("--base-url", server.url, "--no-auth", *options)
    assert ran.code == 2
    assert said in ran.err
    assert server.asked == []
    assert sorted(file.name for file in Path().iterdir()) == ["folder.txt", "suite.json"]


def test_quiet_shows_less_and_verbose_the_answers_and_events(golden_run: Program, server: Server) -> None:
    usual = golden_run("--base-url", server.url, "--no-auth")
    quiet = golden_run("--base-url", server.url, "--no-auth", "-q")
    verbose = golden_run("--base-url", server.url, "--no-auth", "-v")
    assert usual.err == verbose.err == "passed well\n"
    assert "passed   well" in usual.out
    assert "All is well." not in usual.out
    assert quiet.err == ""
    assert "passed   well" not in quiet.out
    assert "golden: 1 of 1 cases passed" in quiet.out
    assert "answer: All is well." in verbose.out
    assert verbose.out.count(" token  text") == 3


def test_an_agent_that_prints_does_not_disturb_standard_output(golden_run: Program) -> None:
    printing = """
        import subprocess, sys
        print("loaded")
        def answer(question):
            print("asked")
            subprocess.run([sys.executable, "-c", "print('of a subprocess')"], check=True)
            yield {"event": "token", "data": {"text": "All is well."}}
            yield {"event": "done", "data": {}}
    """
    Path("suite.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    command = [*GOLDEN, "run", "suite.json", "--agent", module("printing_agent", printing), "--json-out", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert result.read(done.stdout).summary.passed == 1
    assert sorted(done.stderr.splitlines()) == ["asked", "loaded", "of a subprocess", "passed well"]


def test_a_terminal_gets_a_bar_and_colours(golden_run: Program, server: Server) -> None:
    Path("suite.json").write_text(json.dumps({"cases": cases("a", "b")}), encoding="utf-8")
    command = [*GOLDEN, "run", "suite.json", "--base-url", server.url, "--no-auth"]
    terminal, other = pty.openpty()
    with subprocess.Popen(command, stdout=other, stderr=other, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(other)
        shown = b"".join(read_all(terminal)).decode()
    assert process.returncode == 0
    assert "100%" in shown
    assert "\x1b[32mgolden: 2 of 2 cases passed\x1b[0m" in shown


def read_all(terminal: int) -> Iterator[bytes]:
    with open(terminal, "rb", buffering=0) as file:  # a descriptor has no path
        while True:
            try:
                yield file.read(65536)
            except OSError:  # a terminal whose other end is closed
                return


@pytest.mark.parametrize("gone", ["stdout", "stderr"])
def test_a_reader_that_has_gone_is_no_fault(gone: str, golden_run: Program, server: Server) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    Path("suite.json").write_text(json.dumps({"cases": cases("a", "b")}), encoding="utf-8")
    process = started("--base-url", server.url, "--no-auth", **{gone: writing})
    os.close(writing)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0  # the verdict does not hang on who reads it
    assert json.loads(Path("results.json").read_text(encoding="utf-8"))["summary"]["passed"] == 2
    assert (out or err).startswith("golden: 2 of 2 cases passed" if gone == "stderr" else "passed ")


# The commands


@pytest.mark.parametrize("command", [["-m", "golden", "run"], ["-m", "golden.run"]])
def test_the_program_is_started_in_either_way(command: list[str], golden_run: Program, server: Server) -> None:
    Path("suite.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    arguments = [*command, "suite.json", "--base-url", server.url, "--no-auth"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("golden: 1 of 1 cases passed")
    assert done.stderr == "passed well\n"


def test_importing_golden_run_runs_nothing() -> None:
    assert importlib.import_module("golden.run").main is main


def test_the_console_script_is_the_program() -> None:
    script = Path(sys.executable).with_name("golden")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("golden, version ")


def test_a_suite_may_be_named_by_an_option_too(golden_run: Program, server: Server) -> None:
    Path("more.json").write_text(json.dumps({"cases": cases("more")}), encoding="utf-8")
    ran = golden_run("--golden", "more.json", "--base-url", server.url, "--no-auth")
    assert [each.case_id for each in ran.run.results] == ["well", "more"]


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["check", "-h"], ["schema", "--help"]])
def test_help_shows_an_example_for_each_command(command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(command) == 0
    shown = capfd.readouterr().out
    assert ("Example: golden " in shown) == (len(command) > 1)


def test_a_command_that_is_none_is_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["walk"]) == 2
    assert "No such command 'walk'" in capfd.readouterr().err


def test_check_tells_how_many_cases_a_suite_has(golden_run: Program, capfd: pytest.CaptureFixture[str]) -> None:
    Path("golden_questions.json").write_text(json.dumps({"cases": cases("a", "b")}), encoding="utf-8")
    assert _run(["check"]) == 0
    assert capfd.readouterr().out == "golden_questions.json: 2 cases\n"
    Path("wrong.json").write_text('{"cases": [{"question": 3}]}', encoding="utf-8")
    assert _run(["check", "wrong.json"]) == 2
    assert "wrong.json" in capfd.readouterr().err


@pytest.mark.parametrize(("kind", "field"), [("suite", "cases"), ("results", "summary")])
def test_schema_prints_a_json_schema(kind: str, field: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["schema", kind]) == 0
    assert field in json.loads(capfd.readouterr().out)["properties"]


# Git


def test_the_commit_that_is_checked_out_is_in_the_results(golden_run: Program, server: Server) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    on_branch = golden_run("--base-url", server.url, "--no-auth").run.run.git
    subprocess.run([*git, "checkout", "-q", "--detach"], check=True)
    detached = golden_run("--base-url", server.url, "--no-auth").run.run.git
    assert on_branch is not None
    assert detached is not None
    assert re.fullmatch("[0-9a-f]{40}", on_branch.sha)
    assert on_branch.branch == "trunk"
    assert detached.sha == on_branch.sha
    assert detached.branch is None


def test_no_repository_is_no_commit(
    golden_run: Program, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert golden_run("--base-url", server.url, "--no-auth").run.run.git is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert golden_run("--base-url", server.url, "--no-auth").run.run.git is None


def test_the_signals_are_left_as_they_were(golden_run: Program, server: Server) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    golden_run("--base-url", server.url, "--no-auth")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
