"""The pytest plugin: each test writes a project, has a pytest of its own run it, and looks at what came of it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from golden import jsonl
from tests.recordings import RECORDING, write
from tests.servers import ANSWER, Server, chunked

# Without what only costs time here.
_LEFT_OUT = ("anyio", "cacheprovider", "hypothesispytest", "langsmith_plugin", "pytest_cov")
PYTEST = [sys.executable, "-m", "pytest", *(f"-pno:{plugin}" for plugin in _LEFT_OUT)]
SECRET = "a-secret-of-the-environment"

INI = """
    [pytest]
    golden_suites = suite.yaml
    golden_agent = agent:answer
"""

AGENT = """
    import os

    def answer(question, model=None):
        if "crash" in question:
            raise ValueError("no way, " + os.environ["JWT_SECRET"])
        if "quote" in question:
            yield "tool_call", {"name": "get_quote", "args": {"symbol": "AAPL"}}
        yield "token", {"text": f"All is well: {model}."}
        yield "done", {}
"""

SUITE = """
    cases:
      - {id: good, question: Is all well?, required_phrases: [all is well], tags: [quick]}
      - {id: wrong, question: A quote!, expect: {tool: get_quote, params: {symbol: MSFT}}}
      - {id: crash, question: Do crash., required_phrases: [all is well]}
      - {id: later, question: Later?, required_phrases: [all is well], skip: not yet}
      - {id: known, question: Known?, required_phrases: [all is lost], xfail: being worked on}
      - {id: mended, question: Mended?, required_phrases: [all is well], xfail: it was broken, tags: [quick]}
"""

OUTCOMES = {
    "good": "passed",
    "wrong": "failed",
    "crash": "failed",
    "later": "skipped",
    "known": "xfailed",
    "mended": "failed",
}

ONE = "cases: [{id: %s, question: Is all well?, required_phrases: [all is well]}]"


class Ran(NamedTuple):
    """What a pytest came to: its exit code, all it wrote, and of each test the outcome and what is said of it."""

    code: int
    text: str
    outcomes: dict[str, str]
    said: dict[str, str]


class Project:
    """A project in a folder of its own. A file's name has `__` for its dot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_") and not name.upper().endswith(("_PROXY", "JWT_SECRET"))
        }
        self.environ["JWT_SECRET"] = SECRET

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / name.replace("__", ".")).write_text(dedent(text), encoding="utf-8")

    def pytest(self, *arguments: str, cwd: str = ".") -> Ran:
        results = self.folder / "junit.xml"
        results.unlink(missing_ok=True)
        done = subprocess.run(
            [*PYTEST, f"--junitxml={results}", *arguments],
            cwd=self.folder / cwd,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        tests = ElementTree.parse(results).iter("testcase") if results.exists() else []  # noqa: S314  # pytest's own
        outcomes, said = {}, {}
        for test in tests:
            name = test.get("name", "")
            assert name not in outcomes, "collected twice"
            outcomes[name], said[name] = _outcome(test)
        return Ran(done.returncode, done.stdout, outcomes, said)


def _outcome(test: ElementTree.Element) -> tuple[str, str]:
    for kind, outcome in (("failure", "failed"), ("error", "error"), ("skipped", "skipped")):
        if (found := test.find(kind)) is not None:
            xfailed = found.get("type") == "pytest.xfail"
            return "xfailed" if xfailed else outcome, found.get("message", "") + "\n" + (found.text or "")
    return "passed", ""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write(agent__py=AGENT, suite__yaml=SUITE, pytest__ini=INI)
    return made


def test_each_case_is_a_test_and_its_outcome_is_the_verdict(project: Project) -> None:
    ran = project.pytest("-rs")
    assert ran.code == 1
    assert ran.outcomes == OUTCOMES
    assert "SKIPPED [1] suite.yaml: not yet" in ran.text
    assert "being worked on" in ran.said["known"]


def test_a_failure_shows_what_differed_and_nothing_of_golden_itself(project: Project) -> None:
    ran = project.pytest()
    assert 'expected get_quote(symbol="MSFT")' in ran.said["wrong"]
    assert 'differs at params.symbol: expected "MSFT", came' in ran.said["wrong"]
    assert "xfail: it passed, and is marked as known to fail: it was broken" in ran.said["mended"]
    assert "agent: the agent raised ValueError: no way, ███" in ran.said["crash"]
    assert "raised at agent.py:6 in answer" in ran.said["crash"]
    for said in (*ran.said.values(), ran.text):
        assert "Traceback" not in said
        assert "golden/" not in said
        assert SECRET not in said


@pytest.mark.parametrize(
    "files",
    [
        {"pytest__ini": "[pytest]\ngolden_suites = a.yaml b.json\ngolden_agent = agent:answer"},
        {"pytest__ini": "[pytest]\ngolden_suites =\n  a.yaml\n  ./more/../b.json\ngolden_agent = agent:answer"},
        {"pyproject__toml": '[tool.pytest.ini_options]\ngolden_suites = ["a.yaml", "b.json"]\n[tool.golden]\n%s'},
        {"pyproject__toml": '[tool.pytest.ini_options]\ngolden_suites = "a.yaml b.json"\n[tool.golden]\n%s'},
    ],
)
def test_the_ini_file_names_suites_in_each_of_its_forms(files: dict[str, str], project: Project) -> None:
    (project.folder / "pytest.ini").unlink()
    project.write(a__yaml=ONE % "a", b__json='{"cases": [{"id": "b", "question": "?", "required_phrases": ["well"]}]}')
    project.write(**{name: text.replace("%s", 'agent = "agent:answer"') for name, text in files.items()})
    assert project.pytest().outcomes == {"a": "passed", "b": "passed"}


TEST = "def test_other(): pass\n"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ([], [*OUTCOMES, "test_other"]),
        (["."], [*OUTCOMES, "test_other"]),
        (["test_it.py"], ["test_other"]),
        (["test_it.py", "--golden", "more.yaml"], ["test_other", "more"]),
        (["--golden", "more.yaml"], [*OUTCOMES, "more", "test_other"]),
        (["--golden", "suite.yaml", "--golden", "./suite.yaml"], [*OUTCOMES, "test_other"]),
        (["test_it.py", "--golden", "suite.yaml"], [*OUTCOMES, "test_other"]),
        (["suite.yaml"], [*OUTCOMES]),
        (["suite.yaml::good"], ["good"]),
        (["suite.yaml::good", "suite.yaml::known"], ["good", "known"]),
        (["-k", "quick"], ["good", "mended"]),
        (["-k", "other or quick"], ["good", "mended", "test_other"]),
        (["--ignore", "suite.yaml"], ["test_other"]),
        (["--deselect", "suite.yaml::good"], [*[*OUTCOMES][1:], "test_other"]),
    ],
)
def test_what_the_command_line_names_is_run_and_each_case_once(
    arguments: list[str], names: list[str], project: Project
) -> None:
    project.write(test_it__py=TEST, more__yaml=ONE % "more")
    ran = project.pytest(*arguments)
    assert sorted(ran.outcomes) == sorted(names)


def test_from_a_folder_below_the_suites_of_the_ini_file_are_run_too(project: Project) -> None:
    (project.folder / "below").mkdir()
    project.write(**{"below/test_it__py": TEST})
    assert project.pytest(cwd="below").outcomes == {**OUTCOMES, "test_other": "passed"}
    more = project.pytest("test_it.py", "--golden", "../suite.yaml", cwd="below")
    assert more.outcomes == {**OUTCOMES, "test_other": "passed"}


def test_from_elsewhere_the_project_and_its_settings_are_found(project: Project) -> None:
    (project.folder / "elsewhere").mkdir()
    project.write(
        pyproject__toml='[tool.golden]\nmodel = "tiny"', **{"elsewhere/pyproject__toml": "[tool.golden]\nx = 1"}
    )
    project.write(suite__yaml="cases: [{id: tiny, question: '?', required_phrases: ['well: tiny']}]")
    assert project.pytest(str(project.folder), cwd="elsewhere").outcomes == {"tiny": "passed"}


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]])
def test_a_suite_of_another_folder_is_collected_beside_the_tests_of_testpaths(
    arguments: list[str], project: Project
) -> None:
    (project.folder / "tests").mkdir()
    project.write(pytest__ini=INI + "    testpaths = tests", **{"tests/test_it__py": TEST})
    assert project.pytest(*arguments).outcomes == {**OUTCOMES, "test_other": "passed"}


def test_collect_only_shows_the_cases_and_asks_nothing(project: Project) -> None:
    project.write(agent__py="raise SystemExit('imported')")
    ran = project.pytest("--collect-only", "-q")
    assert ran.code == 0
    assert [f"suite.yaml::{name}" for name in OUTCOMES] == ran.text.splitlines()[: len(OUTCOMES)]


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("cases: [{question: 1, expcet: x}]", ["suite.yaml:1", "expected text, got 1", "did you mean 'expect'?"]),
        (None, ["suite.yaml", "o such file"]),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["-n", "2"]])
def test_a_suite_that_cannot_be_loaded_is_an_error_of_the_collection(
    suite: str | None, said: list[str], arguments: list[str], project: Project
) -> None:
    (project.folder / "suite.yaml").unlink()
    if suite:
        project.write(suite__yaml=suite)
    project.write(test_it__py=TEST)
    ran = project.pytest(*arguments)
    assert ran.code != 0
    assert all(part in ran.text for part in said)
    assert "Traceback" not in ran.text
    assert ran.text.count("ERROR collecting suite.yaml") == 1


@pytest.mark.parametrize(
    ("ini", "arguments", "said"),
    [
        ("golden_agent = nowhere:answer", [], "importing 'nowhere' failed: ModuleNotFoundError"),
        ("golden_agent = agent:anwser", [], "did you mean 'answer'?"),
        ("golden_agent = agent:AGENT", [], "the agent must be callable, not str"),
        ("", [], "golden_agent = MODULE:NAME"),
        ("golden_agent = a:b\ngolden_asgi = a:b", [], "more than one target: golden_agent, golden_asgi"),
        ("golden_agent = a:b", ["--golden-base-url", "http://x?a"], "may not hold a password, a query"),
        ("golden_agent = agent:leak", [], "leak failed: ███"),
        ("golden_asgi = agent:unfit", [], "the app's start-up failed: not today, ███"),
    ],
)
def test_a_target_that_cannot_be_used_is_said_for_each_test_without_a_traceback(
    ini: str, arguments: list[str], said: str, project: Project
) -> None:
    project.write(
        agent__py=AGENT
        + """
    AGENT = "agent"

    def __getattr__(name):
        if name == "leak":
            raise ValueError("leak failed: " + os.environ["JWT_SECRET"])
        raise AttributeError(name)

    async def unfit(scope, receive, send):
        message = "not today, " + os.environ["JWT_SECRET"]
        await send({"type": "lifespan.startup.failed", "message": message})
    """,
        suite__yaml=ONE % "good",
        test_it__py="def test_it(golden_eval): golden_eval('?', expected_tools=['x'])",
        pytest__ini=f"[pytest]\ngolden_suites = suite.yaml\n{ini}",
    )
    ran = project.pytest(*arguments)
    assert ran.outcomes == {"good": "failed", "test_it": "failed"}
    for text in ran.said.values():
        assert said in text
        assert "golden/" not in text
    assert SECRET not in ran.text


# The fixture

ASKING = """
    import asyncio

    def test_sync(golden_eval):
        result = golden_eval("A quote!", expected_tools=["get_quote"], model="tiny")
        assert result.passed
        assert result.turns[0].answer == "All is well: tiny."

    def test_in_a_loop_that_runs(golden_eval):
        async def ask():
            return golden_eval("A quote!", expected_tools=["get_quote"])
        assert asyncio.run(ask()).passed

    def test_wrong(golden_eval):
        assert golden_eval("A quote!", expected_tools=["get_news"]).passed

    def test_expected_wrong(golden_eval):
        assert not golden_eval("A quote!", expected_tools=["get_news"]).passed

    def test_no_case(golden_eval):
        golden_eval("A quote!", expcted_tools=[])
"""


def test_a_test_may_ask_in_a_project_without_suites(project: Project) -> None:
    project.write(pytest__ini="[pytest]\ngolden_agent = agent:answer", test_it__py=ASKING)
    ran = project.pytest()
    assert ran.outcomes == {
        "test_sync": "passed",
        "test_in_a_loop_that_runs": "passed",
        "test_wrong": "failed",
        "test_expected_wrong": "passed",
        "test_no_case": "failed",
    }
    assert "expected_tools: expected a call of get_news; called: get_quote" in ran.text
    assert "SuiteError: Case.expcted_tools: unknown field" in ran.said["test_no_case"]
    assert "golden/" not in ran.text


def test_the_target_of_the_command_line_wins_over_that_of_the_ini_file(project: Project) -> None:
    project.write(suite__yaml=ONE % "good", pyproject__toml="[tool.golden]\nauth = false")
    with Server(chunked(ANSWER)) as server:
        assert project.pytest("--golden-base-url", server.url).outcomes == {"good": "passed"}
        assert len(server.asked) == 1


@pytest.mark.parametrize("way", [("golden_replay = kept", ""), ("golden_agent = no:agent", "--golden-replay=../kept")])
def test_recordings_are_a_target_too(way: tuple[str, str], project: Project) -> None:
    (project.folder / "elsewhere").mkdir()
    write(project.folder / "kept", "well", jsonl.render(RECORDING))
    project.write(pytest__ini=f"[pytest]\n{way[0]}", suite__yaml=ONE % "well")
    named = [option for option in way[1:] if option]
    ran = project.pytest(*named, "--golden", str(project.folder / "suite.yaml"), cwd="elsewhere")
    assert ran.outcomes == {"well": "passed"}


def test_settings_of_the_project_hold(project: Project) -> None:
    project.write(
        agent__py="""
            asked = set()

            def answer(question):
                yield "token", {"text": "All is well." if question in asked else "No."}
                yield "done", {}
                asked.add(question)

            def scorer(case, transcript):
                import golden
                return golden.Check(name="mine", ok=transcript.turns[0].answer != "All is well.", message="of my own")
        """,
        suite__yaml="""
            cases:
              - {id: second, question: a, required_phrases: [all is well]}
              - {id: never, question: b, required_phrases: [all is lost]}
              - {id: scored, question: c, scorers: ["agent:scorer"], retries: 0}
              - {id: again, question: c, scorers: ["agent:scorer"]}
              - {id: unknown, question: d, scorers: ["agent:screr"]}
        """,
        pyproject__toml="[tool.golden]\nretries = 1",
    )
    ran = project.pytest()
    assert ran.outcomes == {
        "second": "passed",
        "never": "failed",
        "scored": "passed",
        "again": "failed",
        "unknown": "failed",
    }
    assert "2 tries: failed, failed" in ran.said["never"]
    assert "mine: of my own" in ran.said["again"]
    assert "did you mean 'scorer'?" in ran.said["unknown"]
    project.write(pyproject__toml='[tool.golden]\nretries = 1\nflaky = "fail"')
    assert project.pytest().outcomes["second"] == "failed"


def test_a_suite_that_lacks_a_variable_is_skipped_and_no_target_is_looked_for(project: Project) -> None:
    project.write(suite__yaml="requires_env: [NOWHERE_SET]\n" + dedent(SUITE), agent__py="raise SystemExit")
    ran = project.pytest("-rs")
    assert ran.code == 0
    assert set(ran.outcomes.values()) == {"skipped"}
    assert "NOWHERE_SET not set" in ran.text


# Processes

APP = """
    import os

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            log("start")
            await send({"type": "lifespan.startup.complete"})
            await receive()
            log("stop")
            await send({"type": "lifespan.shutdown.complete"})
            return
        await receive()
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'data: {"text": "All is well."}\\nevent: token\\n\\n'})
        log("asked")

    def log(what):
        with open("log", "a") as file:
            file.write(f"{what} {os.getpid()}\\n")
"""


@pytest.mark.parametrize(("arguments", "processes"), [([], 1), (["-n", "2"], 2)])
def test_a_process_opens_one_target_and_closes_it(arguments: list[str], processes: int, project: Project) -> None:
    project.write(
        app__py=APP,
        suite__yaml="\n".join(["cases:", *(f"  - {{question: {n}?, max_tool_calls: 0}}" for n in "abcd")]),
        pytest__ini="[pytest]\ngolden_suites = suite.yaml\ngolden_asgi = app:app",
        test_it__py="def test_it(golden_eval): assert golden_eval('?', required_phrases=['well']).passed",
    )
    ran = project.pytest(*arguments)
    assert set(ran.outcomes.values()) == {"passed"}
    came: dict[str, list[str]] = {}
    for line in (project.folder / "log").read_text(encoding="utf-8").splitlines():
        what, process = line.split()
        came.setdefault(process, []).append(what)
    assert len(came) == processes
    for first, *asked, last in came.values():
        assert (first, last) == ("start", "stop")
        assert set(asked) == {"asked"}


@pytest.mark.parametrize("filters", ["default", "error::UserWarning"])
def test_an_app_that_does_not_stop_well_changes_no_outcome_and_tells_no_secret(filters: str, project: Project) -> None:
    stops = 'log("stop")\n            raise RuntimeError("stopped by " + os.environ["JWT_SECRET"])'
    project.write(
        app__py=APP.replace('log("stop")', stops),
        suite__yaml="cases: [{question: a?, max_tool_calls: 0}]",
        pytest__ini="[pytest]\ngolden_suites = suite.yaml\ngolden_asgi = app:app",
    )
    project.environ["PYTHONWARNINGS"] = filters
    ran = project.pytest()
    assert ran.code == 0
    assert ran.outcomes == {"a": "passed"}
    assert "RuntimeError: stopped by ███" in ran.text
    assert SECRET not in ran.text


def test_under_xdist_the_outcomes_are_the_same(project: Project) -> None:
    project.write(test_it__py=ASKING, more__yaml=ONE % "more")
    alone, spread = project.pytest("--golden", "more.yaml"), project.pytest("--golden", "more.yaml", "-n", "2")
    assert spread.outcomes == alone.outcomes
    assert {**OUTCOMES, "more": "passed"}.items() < alone.outcomes.items()
    assert spread.said["wrong"] == alone.said["wrong"]


def test_a_project_that_uses_nothing_of_golden_pays_for_nothing(project: Project) -> None:
    project.write(
        pytest__ini="[pytest]",
        test_it__py="""
            import sys

            def test_it():
                assert "golden.pytest_plugin" in sys.modules
                assert not {"pydantic", "httpx", "click", "regex", "jwt", "golden.pytest_items"} & {*sys.modules}
        """,
    )
    assert project.pytest("-p", "no:xdist").outcomes == {"test_it": "passed"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--markers"], ["--fixtures"]])
def test_what_pytest_tells_of_itself_it_tells(arguments: list[str], project: Project) -> None:
    ran = project.pytest(*arguments)
    assert ran.code == 0
    for option in ("--golden=FILE", "--golden-base-url=TARGET", "golden_suites (args)"):
        assert (option in ran.text) == (arguments == ["--help"])


HANGS = """
    import asyncio, threading

    def blocked(question):
        print("asked", flush=True)
        threading.Event().wait()

    async def waiting(question):
        print("asked", flush=True)
        await asyncio.Event().wait()
"""


@pytest.fixture
def hanging(project: Project, request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str]"]:
    project.write(agent__py=HANGS, pytest__ini=INI.replace("answer", request.param))
    command = [*PYTEST, "-s", "suite.yaml::good"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=project.folder, env=project.environ, stdout=pipe, stderr=subprocess.STDOUT, text=True
    ) as running:
        yield running
        running.kill()


@pytest.mark.parametrize("hanging", ["blocked", "waiting"], indirect=True)
def test_an_interrupt_ends_it_soon(hanging: "subprocess.Popen[str]") -> None:
    assert hanging.stdout is not None
    assert any("asked" in line for line in hanging.stdout)
    hanging.send_signal(signal.SIGINT)
    began = time.monotonic()
    rest, _ = hanging.communicate(timeout=20)
    assert time.monotonic() - began < 4
    assert hanging.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in rest
    assert "pending" not in rest
    assert "Traceback" not in rest


COUNTING = """
    import itertools
    numbers = itertools.count()

    def answer(question):
        yield "token", {"text": "All is well." if next(numbers) % 2 else "Nothing is."}
        yield "done", {}
"""


@pytest.mark.parametrize("more", [[], ["-n", "2"]])
def test_what_was_tried_more_than_once_is_named_at_the_end(more: list[str], project: Project) -> None:
    case = "{id: %s, question: Well?, required_phrases: [all is well], %s}"
    suite = f"cases: [{case % ('wavering', 'retries: 1')}]"
    project.write(agent__py=COUNTING, suite__yaml=suite)
    ran = project.pytest(*more)
    assert (ran.code, ran.outcomes) == (0, {"wavering": "passed"})
    assert "wavering: flaky, 2 tries: failed, passed" in ran.text
    project.write(suite__yaml=f"cases: [{case % ('measured', 'trials: 2')}]")
    ran = project.pytest(*more)
    assert (ran.code, ran.outcomes) == (1, {"measured": "failed"})
    assert "measured: 1 of 2 trials passed; pass^1 0.50" in ran.text


def test_a_case_that_a_test_skips_is_not_asked(project: Project) -> None:
    test = """
        def test_it(golden_eval):
            assert golden_eval("Do crash.", required_phrases=["all is well"], skip="not now").passed
    """
    project.write(test_it__py=test, pytest__ini=INI.replace("golden_suites = suite.yaml", ""))
    ran = project.pytest("-rs")
    assert (ran.code, ran.outcomes) == (0, {"test_it": "skipped"})
    assert "not now" in ran.text


def test_an_id_is_unique_in_all_suites_of_a_session(project: Project) -> None:
    project.write(other__yaml=ONE % "GOOD", pytest__ini=INI.replace("suite.yaml", "suite.yaml other.yaml"))
    ran = project.pytest()
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert "is the id of a case of" in ran.text


def test_a_folder_is_no_suite_and_is_not_passed_over(project: Project) -> None:
    (project.folder / "evals").mkdir()
    (project.folder / "evals" / "a.yaml").write_text(ONE % "one", encoding="utf-8")
    project.write(test_it__py="def test_it(): pass", pytest__ini=INI.replace("suite.yaml", "evals"))
    ran = project.pytest()
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert "a folder" in ran.text


def test_names_of_suites_that_are_no_names_are_wrong_usage(project: Project) -> None:
    (project.folder / "pytest.ini").unlink()
    project.write(pyproject__toml='[tool.pytest.ini_options]\ngolden_suites = ["a.yaml", 5]\n')
    ran = project.pytest()
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "INTERNALERROR" not in ran.text
