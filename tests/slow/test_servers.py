"""Agent servers that take long to install serve the broker: `.ci/slow` runs these tests in an environment of theirs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer

import pytest

from tests.producers import broker
from tests.program import Program

HERE = Path(__file__).parent

_PATIENCE_S = 60
_RUNNING = re.compile(r"running on (http://127\.0\.0\.1:\d+)")

# No key is handed on, and nothing is said to anybody outside.
_ENVIRON = {
    "PATH": os.environ["PATH"],
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "1",
    "LANGSMITH_TRACING": "false",
    "OTEL_SDK_DISABLED": "true",
}


@contextmanager
def serving(folder: Path, *command: str) -> Iterator[str]:
    """Runs a module as a server, in a folder of its own; gives its base URL."""
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**_ENVIRON, "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        rest = Thread(target=process.stdout.read)  # what it says later must not stop it
        patience = Timer(_PATIENCE_S, process.kill)
        patience.start()
        said = ""
        try:
            for line in process.stdout:
                said += line
                if found := _RUNNING.search(line):
                    break
            else:
                pytest.fail(f"the server does not run:\n{said}")
            rest.start()
            yield found[1]
        finally:
            patience.cancel()
            process.kill()
            if rest.is_alive():
                rest.join()


@pytest.fixture(scope="module")
def adk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = ("google.adk.cli", "api_server", "--no-reload", "--no_use_local_storage", "--port", "0")
    with serving(tmp_path_factory.mktemp("adk"), *server, str(HERE / "agents")) as url:
        yield url


@pytest.fixture(scope="module")
def langgraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = ("langgraph_cli", "dev", "--no-reload", "--no-browser", "--port", "0", "--server-log-level", "INFO")
    with serving(tmp_path_factory.mktemp("langgraph"), *server, "--config", str(HERE / "langgraph.json")) as url:
        yield url


def run(golden_run: Program, url: str, dialect: str, more: str = "") -> None:
    Path("pyproject.toml").write_text(f'[tool.golden.dialects.{dialect}]\nid = "broker"\n{more}', encoding="utf-8")
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=broker.CASES)
    broker.agrees(ran, dialect, tells_usage=True)


def test_googles_adk_comes_to_the_verdicts(adk: str, golden_run: Program) -> None:
    run(golden_run, adk, "adk")


@pytest.mark.parametrize(
    "more",
    [
        "",
        'body = {stream_mode = "messages"}',
        'body = {stream_mode = "events"}',
        'body = {stream_mode = ["values", "messages-tuple"]}',
    ],
    ids=["golden's own modes", "messages", "events", "two at once"],
)
def test_langgraphs_development_server_comes_to_the_verdicts(more: str, langgraph: str, golden_run: Program) -> None:
    run(golden_run, langgraph, "langgraph", more)
