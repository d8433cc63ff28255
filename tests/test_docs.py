"""Every fenced block of README.md and of docs/ is run, as a reader would run it.

A document is followed from its first block to its last, in a folder of its own that begins as a clone does: with
`pyproject.toml`, `golden_questions.json` and `.venv`. A block behind a line that ends in "`FILE`:" is that file, and a
later block must use it. What is done with any other is told by its language:

- `console`: each line behind `$ ` is run by bash. What it prints, progress left out, must be what stands below it:
  there `...` stands for anything, and a time in seconds for any other. Port 8400 is a free one. A command that ends in
  `&` is a server: the reader goes on when it has printed what stands below it, and `kill %1` stops it. What makes the
  environment and what runs the tests is left to `.ci/run`, which is compared with the README below. `pip install -e .`
  is done without pip: what `pyproject.toml` says of entry points is then found.
- `python`: a script, with an `assert` in it. `json` and `yaml`: a suite, or fields of a case; behind "The same in
  YAML:" it says what the block before it says. `yaml` with `jobs`: a workflow, whose `golden` commands must be some, or
  which uses our action with inputs that it has; with `script`s, jobs of GitLab's, likewise.
  `toml`: a configuration. `sse`: a stream, whole and sound, in a dialect that golden tells; one that names
  groundedness has a score.
- `py`: a piece of an agent for a framework that is not there to run it; it is Python. `ts`: the same in TypeScript.
- `text`: a drawing; there is nothing to run.
"""

import ast
import difflib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
import pytest
from click.testing import CliRunner
from pydantic import BaseModel

import golden
from golden.bulletin import KINDS as TOLD
from golden.checks.stream import UNSOUND
from golden.cli import cli
from golden.declared import Rule, Table
from golden.demo.__main__ import main as demo
from golden.demo.switches import SWITCHES
from golden.dialects import Dialect, Options
from golden.expectation import ToolExpectation
from golden.gathering import FINISHES
from golden.lexicon import Lexicon, built_in
from golden.reader import Bounds, Reader
from golden.reports import by_suffix
from golden.result import AttemptResult, CaseResult, RunInfo, Status, Summary, TurnResult
from golden.settings import settings
from golden.signals import Signal
from golden.suite import Case, Checks, Suite
from golden.suite_file import load_suite
from golden.template import given
from golden.wire import Head, Request
from golden.yaml_document import parsed
from tests.test_house import FILES, FLOORS
from tests.workflows import ACTION, load

ROOT = Path(__file__).parents[1]
DOCUMENTS = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))}

_BLOCK = re.compile(
    r"(?:(?:`(?P<file>[\w.-]+)`|(?P<same>The same in YAML)):\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(r"(?P<command>(?:[^\n]*\\\n)*[^\n]*)\n?(?P<output>.*)", re.DOTALL)

_HELP = re.compile(r"^\$ (?P<program>.*) --help\n(?:(?!\$ |```).*\n)*", re.MULTILINE)

PROGRAMS: dict[str, click.Command] = {"golden": cli, "python -m golden.demo": demo}

# How a script or a suite uses a file: it imports it, has it imported, or opens it.
_NAMED = r"\b(?:import|from) {0}\b|\b{0}:\w|\"{0}\."

# What `.ci/run` does in its own way, and which is not done again while it runs.
_SET_UP = re.compile(r"(python3 -m venv|\.venv/bin/pip install|\.venv/bin/pytest)\b[^&]*(&& )?")
_SHORT = {"--quiet": "-q", "--constraint": "-c", "--editable": "-e"}

_PROGRESS = re.compile(r"^(passed|failed|error|skipped|not_run) \S+\n", re.MULTILINE)
_TIME = re.compile(r"\b\d+\.\d+ ?s\b")

# Longer than any step takes: whatever has not ended by then hangs.
_PATIENCE_S = 60


class Block(NamedTuple):
    """A fenced block: its language, its text, the file that it is ("" for none), and whether it repeats another."""

    kind: str
    text: str
    file: str
    is_same: bool


def blocks(page: str) -> list[Block]:
    return [
        Block(hit["kind"], hit["text"], hit["file"] or "", hit["same"] is not None) for hit in _BLOCK.finditer(page)
    ]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what stands below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        hit = _COMMAND.match(part)
        assert hit
        yield hit["command"], hit["output"]


class Newcomer:
    """Whoever follows one document: a folder, a shell's variables and last exit code, and the servers that run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._variables = ""
        self._code = 0
        self._servers: list[subprocess.Popen[str]] = []
        self._said: Suite | Case | None = None
        self.unused: set[str] = set()
        (folder / ".venv").symlink_to(sys.prefix)
        for name in ("pyproject.toml", "golden_questions.json"):
            (folder / name).write_bytes((ROOT / name).read_bytes())
        self._environ = {
            "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"])),
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
            "PYTEST_ADDOPTS": "-p no:langsmith_plugin",  # it comes with LangGraph, and takes long to load
            **{name: value for name, value in os.environ.items() if name.startswith("COV")},
        }

    def follow(self, block: Block) -> None:
        if block.file:
            (self._folder / block.file).write_text(block.text, encoding="utf-8")
        before = self._said
        self._use(block.text, _NAMED)
        if block.file and block.kind != "toml":  # every later run reads a configuration
            self.unused.add(block.file)
        else:
            KINDS[block.kind](self, block.text)
        assert not block.is_same or self._said == before, block.text

    def _use(self, text: str, named: str) -> None:
        self.unused -= {file for file in self.unused if re.search(named.format(Path(file).stem), text)}

    def console(self, text: str) -> None:
        for command, expected in commands(text):
            self._use(command, r"\b{}\b")
            if to_run := _SET_UP.sub("", command).replace("8400", str(self._port)):
                self._step(to_run, expected)

    def _step(self, command: str, expected: str) -> None:
        if command == "kill %1":
            self.close()
        elif command == "pip install -e .":
            self._install()
        elif command.startswith(("export ", "unset ")):
            self._variables += f"{command}\n"
        else:
            self._run(command, expected)

    def _install(self) -> None:
        """Puts the folder on the path, as an installed package that adds its entry points."""
        project = tomllib.loads((self._folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        info = self._folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        (info / "METADATA").write_text(head, encoding="utf-8")
        groups = [
            f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in members.items())
            for group, members in project["entry-points"].items()
        ]
        (info / "entry_points.txt").write_text("".join(groups), encoding="utf-8")
        self._environ["PYTHONPATH"] = str(self._folder)

    def _run(self, command: str, expected: str) -> None:
        serves = command.endswith("&")
        process = subprocess.Popen(
            ["bash", "-c", f"{self._variables}(exit {self._code})\n{command.removesuffix('&')}"],  # noqa: S607
            cwd=self._folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        if serves:
            self._servers.append(process)
        printed = ""
        with killed_when_it_hangs(process):
            for line in process.stdout or ():
                printed += line.replace(str(self._port), "8400")
                if serves and matches(expected, printed):
                    break
            if not serves:
                process.communicate()
                self._code = process.returncode
        compare(command, expected, printed)

    def close(self) -> None:
        """Stops the servers."""
        for process in self._servers:
            os.killpg(process.pid, signal.SIGTERM)
            with killed_when_it_hangs(process):
                process.communicate()
        self._servers = []

    def python(self, text: str) -> None:
        assert "assert " in text, "a script asserts what it shows"
        script = text.replace("8400", str(self._port))
        done = subprocess.run(
            [sys.executable, "-"], input=script, cwd=self._folder, env=self._environ, text=True, capture_output=True
        )
        assert done.returncode == 0, done.stderr

    def json(self, text: str) -> None:
        self._suite(json.loads(text), "suite.json", text)

    def yaml(self, text: str) -> None:
        value, _, _ = parsed("suite.yaml", text.encode())
        if "jobs" in value:
            follow_steps([step for job in value["jobs"].values() for step in job["steps"]])
        elif all(isinstance(job, dict) and "script" in job for job in value.values()):
            follow_steps([{"run": line} for job in value.values() for line in job["script"]])
        else:
            self._suite(value, "suite.yaml", text)

    def _suite(self, value: dict[str, Any], name: str, text: str) -> None:
        if {"cases", "prompts"} & value.keys():
            file = self._folder / name
            file.write_text(text, encoding="utf-8")
            self._said = load_suite(file)
        else:
            self._said = Case.model_validate(value if "turns" in value else {"question": "Is all well?", **value})

    def toml(self, text: str) -> None:
        file = self._folder / "configuration.toml"
        file.write_text(text, encoding="utf-8")
        options = settings({}, file)
        if "[project]" not in text:  # else it is of a package, which is not there yet
            Lexicon(options.dialects)

    def sse(self, text: str) -> None:
        reader = Reader("", "auto", Bounds(), Lexicon())
        reader.open(Head(200, {}, "chunked"))
        reader.feed(f"{text}\n".encode(), 0.1)
        turn = reader.close(0.1)
        assert (turn.error, turn.findings) == (None, ())
        assert (turn.groundedness is not None) == ("groundedness" in text)

    def py(self, text: str) -> None:
        compile(text, "py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    def drawing(self, text: str) -> None:
        pass


@contextmanager
def killed_when_it_hangs(process: subprocess.Popen[str]) -> Iterator[None]:
    impatience = threading.Timer(_PATIENCE_S, os.killpg, (process.pid, signal.SIGKILL))
    impatience.start()
    try:
        yield
    finally:
        impatience.cancel()


KINDS: dict[str, Callable[[Newcomer, str], None]] = {
    "console": Newcomer.console,
    "json": Newcomer.json,
    "py": Newcomer.py,
    "python": Newcomer.python,
    "sse": Newcomer.sse,
    "text": Newcomer.drawing,
    "toml": Newcomer.toml,
    "ts": Newcomer.drawing,
    "yaml": Newcomer.yaml,
}


def follow_steps(steps: list[dict[str, Any]]) -> None:
    """Has each `golden` command of a CI's steps parsed: that it runs is shown elsewhere on the page."""
    lines = [line for step in steps for line in step.get("run", "").splitlines() if line.startswith("golden ")]
    uses = [step for step in steps if "/.github/actions/golden@" in step.get("uses", "")]
    assert lines or uses
    for _, name, *arguments in map(shlex.split, lines):
        cli.commands[name].make_context(name, arguments, parent=click.Context(cli, **cli.context_settings))
    for step in uses:
        assert step["with"].keys() <= load(ACTION)["inputs"].keys()


def free_port() -> int:
    """A port that is free, and below those that the system gives to whoever asks for any."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def settled(text: str) -> str:
    """A text without what differs from run to run and machine to machine."""
    lines = _TIME.sub("0.00 s", _PROGRESS.sub("", text)).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def matches(expected: str, printed: str) -> bool:
    pattern = re.escape(settled(expected)).replace(re.escape("..."), ".*?")
    return re.fullmatch(pattern, settled(printed), re.DOTALL) is not None


def compare(command: str, expected: str, printed: str) -> None:
    if not matches(expected, printed):
        differences = difflib.ndiff(settled(expected).splitlines(), settled(printed).splitlines())
        pytest.fail("\n".join((f"$ {command}", *differences)), pytrace=False)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_block_of_a_document_does_what_it_says(name: str, tmp_path: Path) -> None:
    with closing(Newcomer(tmp_path)) as newcomer:
        for block in blocks(DOCUMENTS[name].read_text(encoding="utf-8")):
            newcomer.follow(block)
        assert newcomer.unused == set(), "a later block uses each file"


def test_no_block_is_overlooked_and_each_kind_is_met() -> None:
    kinds = set()
    for path in DOCUMENTS.values():
        page = path.read_text(encoding="utf-8")
        found = blocks(page)
        assert 2 * len(found) == len(re.findall(r"^\s*(?:```|~~~)", page, re.MULTILINE)), path
        kinds |= {block.kind for block in found}
        for kind, text, *_ in found:
            assert kind != "console" or text.startswith("$ "), text
            assert kind != "text" or path.name == "ARCHITECTURE.md", text
    assert kinds == KINDS.keys()


def with_help(page: str) -> str:
    """The page with what each `--help` in it prints today."""
    return _HELP.sub(lambda hit: f"$ {hit['program']} --help\n{help_of(hit['program'])}", page)


def help_of(program: str) -> str:
    name = next(name for name in PROGRAMS if program.startswith(name))
    arguments = [*program.removeprefix(name).split(), "--help"]
    return CliRunner().invoke(PROGRAMS[name], arguments, prog_name=name, terminal_width=78).output


def test_the_page_of_commands_shows_the_help_of_each() -> None:
    page = DOCUMENTS["docs/command.md"].read_text(encoding="utf-8")
    assert page == with_help(page), "`python -m tests.test_docs` puts the help of today in"
    for program in (*PROGRAMS, *(f"golden {name}" for name in cli.commands)):
        assert f"$ {program} --help\n" in page


def test_ci_does_what_the_readme_says() -> None:
    done = [
        " ".join(_SHORT.get(word, word) for word in shlex.split(line, comments=True))
        for line in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    ]
    page = DOCUMENTS["README.md"].read_text(encoding="utf-8")
    said = [command for block in blocks(page) for command, _ in commands(block.text) if _SET_UP.match(command)]
    assert len(said) == 2
    for step in " && ".join(said).split(" && "):
        words = " ".join(shlex.split(step))
        assert any(line.startswith(words) for line in done), f"`.ci/run` has no `{words}`"


def test_every_link_leads_somewhere() -> None:
    for path in [*DOCUMENTS.values(), *ROOT.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)]*)\)", path.read_text(encoding="utf-8")):
            file, _, heading = target.partition("#")
            page = (path.parent / file if file else path).resolve()
            assert page.is_file(), f"{path.name}: {target}"
            heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert not heading or heading in {head.lower().replace(" ", "-") for head in heads}, (
                f"{path.name}: {target}"
            )


def table(document: str, head: str) -> dict[str, str]:
    """The rows below each table head `head`: each name in a row's first column, and its second column."""
    page = DOCUMENTS[document].read_text(encoding="utf-8")
    rows: dict[str, str] = {}
    for found in re.findall(rf"^\| {re.escape(head)} \|.*\n\|[ |-]+\n((?:\|.*\n)+)", page, re.MULTILINE):
        for row in found.splitlines():
            names, second = row.split(" | ")[:2]
            rows |= {name: second.strip(" |") for name in re.findall(r"`([^`]+)`", names)}
    return rows


def names_of(*models: type[BaseModel]) -> set[str]:
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def first_arguments(*functions: str) -> set[str]:
    """Every text that golden's own code gives as the first argument to one of these."""
    calls = [
        node for path in FILES for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)
    ]
    return {
        call.args[0].value
        for call in calls
        if (getattr(call.func, "id", "") or getattr(call.func, "attr", "")) in functions
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def test_the_page_of_suites_has_every_field() -> None:
    assert table("docs/suites.md", "field").keys() == names_of(Suite, Case)
    assert table("docs/suites.md", "of an expectation").keys() == names_of(ToolExpectation)


def test_the_pages_of_dialects_have_every_name_option_and_field() -> None:
    assert table("docs/dialects.md", "name").keys() == {*built_in()}
    assert table("docs/dialects.md", "option").keys() == {field.name for field in fields(Options)}
    assert table("docs/dialects.md", "stands for").keys() == {f"${name}" for name in given(Request("", ""), None)}
    assert table("docs/dialects/your-own.md", "of a table").keys() == names_of(Table)
    assert table("docs/dialects/your-own.md", "of a rule").keys() == names_of(Rule)
    assert table("docs/dialects/adding.md", "of a dialect").keys() == {field.name for field in fields(Dialect)}
    assert table("docs/dialects/adding.md", "signal").keys() == {signal.__name__ for signal in get_args(Signal)}
    page = DOCUMENTS["docs/dialects.md"].read_text(encoding="utf-8")
    for name, its in re.findall(r"^\| `([\w-]+)` \|.*\]\((dialects/[\w-]+\.md)\) \|$", page, re.MULTILINE):
        assert f"`{name}`" in DOCUMENTS[f"docs/{its}"].read_text(encoding="utf-8"), name


def test_the_page_for_python_has_every_public_name() -> None:
    assert table("docs/python.md", "name").keys() == {*golden.__all__}


def test_the_page_of_verdicts_has_every_check_kind_and_finding() -> None:
    assert table("docs/verdicts.md", "check").keys() == names_of(Checks)
    assert table("docs/verdicts.md", "status").keys() == set(get_args(Status))
    assert table("docs/verdicts.md", "kind").keys() == first_arguments("TargetError", "Failure")
    findings = table("docs/verdicts.md", "finding")
    assert findings.keys() == first_arguments("note", "Odd") | FINISHES.keys()
    assert {name for name, breaks in findings.items() if breaks == "yes"} == UNSOUND


def test_the_page_of_verdicts_has_every_key_of_a_results_file() -> None:
    models: dict[str, type[BaseModel]] = {
        "`run`": RunInfo,
        "`summary`": Summary,
        "each of `results`": CaseResult,
        "each of `turns`": TurnResult,
        "each of `attempts`": AttemptResult,
    }
    for head, model in models.items():
        assert table("docs/verdicts.md", f"of {head}").keys() == names_of(model), head


def test_the_page_of_reports_has_every_kind_and_every_suffix() -> None:
    assert table("docs/reports.md", "in the table").keys() == {*TOLD}
    assert table("docs/reports.md", "suffix").keys() == by_suffix().keys()


def test_the_page_of_commands_has_every_switch_of_the_demo() -> None:
    assert table("docs/command.md", "switch").keys() == SWITCHES.keys()


def test_the_map_of_the_house_has_every_module_on_its_floor() -> None:
    page = DOCUMENTS["docs/ARCHITECTURE.md"].read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert {name: int(floor) for floor, row in rows for name in re.findall(r"`(\w+)/?`", row)} == FLOORS


if __name__ == "__main__":
    page = DOCUMENTS["docs/command.md"]
    page.write_text(with_help(page.read_text(encoding="utf-8")), encoding="utf-8")
