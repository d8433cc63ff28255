import gc
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from golden.__main__ import _run
from golden.compare import compare
from golden.reports import View
from golden.reports.html import REPORT
from golden.result import CaseResult, GitResult
from tests.browser import Open, Page, browser
from tests.program import CASE, Outcome, Program
from tests.values import run_of

# The same examples at every run, however busy the machine is.
settings.register_profile(
    "golden", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("golden")
# Tests run as on a desk, also in a workflow: else each run would write into its step's summary and stop its commands.
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
    os.environ.pop(name, None)


def pytest_collection_finish() -> None:
    """Leaves out what the libraries are made of where cycles are looked for: some tests do that often."""
    gc.collect()
    gc.freeze()


# What would steer a run from outside.
_UNSET = [
    *("EVAL_JWT_SECRET", "JWT_SECRET", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *(name for scheme in ("HTTP", "HTTPS", "ALL", "NO") for name in (f"{scheme}_PROXY", f"{scheme}_PROXY".lower())),
]


@pytest.fixture
def golden_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    """`golden run` in this process, in a folder of its own and with no secret and no proxy set."""
    monkeypatch.chdir(tmp_path)
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object, cases: list[dict[str, object]] | None = None, **suite: object) -> Outcome:
        Path("suite.json").write_text(json.dumps({**suite, "cases": cases or [CASE]}), encoding="utf-8")
        file = Path("results.json")
        file.unlink(missing_ok=True)
        code = _run(["run", "suite.json", "--json-out", str(file), *map(str, arguments)])
        out, err = capfd.readouterr()
        return Outcome(code, out, err, file.read_text(encoding="utf-8") if file.exists() else "")

    return run


@pytest.fixture(scope="session")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser's one page, for all tests of this process."""
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def opened(window: Page, tmp_path: Path) -> Iterator[Open]:
    """Opens the report of these results. Whatever a test does with it, nothing was asked for and nothing complained."""
    file = tmp_path / "report.html"

    def open_page(
        *results: CaseResult, before: Sequence[CaseResult] = (), address: str = "", width: int = 1280
    ) -> Page:
        run = run_of(*results, git=GitResult(sha="3f2a9c81" * 5, branch="fix"))
        changed = compare(run_of(*before), run) if before else None
        file.write_text(REPORT.render(run, changed, View()), encoding="utf-8")
        window.look(width, 900)
        window.open(f"{file.as_uri()}{address}")
        return window

    yield open_page
    assert {request.partition("#")[0] for request in window.requests} == {file.as_uri()}
    assert window.complaints == []
