"""The pytest plugin: suites collected as tests, a case an item, and the fixture `golden_eval` (contract 8).

Every pytest that has golden installed loads this: it imports pytest alone, and all else once a suite is collected.
"""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_TARGETS = ("agent", "asgi", "base_url", "replay")

_SUITES = pytest.StashKey[set[Path]]()
"""All suites that are named; only they are taken for suites."""

_WANTED = pytest.StashKey[dict[Path, None]]()
"""Those that are to be collected whatever pytest walks through, and are not yet; in order."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options and ini values; all other settings are those of `[tool.golden]`."""
    group = parser.getgroup("golden", "golden questions")
    group.addoption("--golden", action="append", default=[], metavar="FILE", help="collect the cases of this suite too")
    parser.addini("golden_suites", "suite files whose cases are collected", type="args", default=[])
    for name in _TARGETS:
        option = name.replace("_", "-")
        group.addoption(f"--golden-{option}", metavar="TARGET", help=f"the target, as of `golden run --{option}`")
        parser.addini(f"golden_{name}", f"the target, as of `golden run --{option}`")


def pytest_configure(config: pytest.Config) -> None:
    """Has suites collected: those of the ini file where the command line names no tests, those of `--golden` always."""
    folder = config.rootpath if config.inipath is None else config.inipath.parent
    by_ini = _absolute(folder, config.getini("golden_suites"))
    by_option = _absolute(config.invocation_params.dir, config.getoption("golden"))
    is_named = config.args_source is pytest.Config.ArgsSource.ARGS
    wanted = by_option if is_named else [*by_ini, *by_option]
    config.stash[_SUITES] = {*by_ini, *by_option}
    config.stash[_WANTED] = dict.fromkeys(wanted)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects a suite."""
    return _suite(file_path, parent) if file_path in parent.config.stash[_SUITES] else None


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Notes which suites are met; a folder that is named for one is met by nobody."""
    if isinstance(collector, pytest.File):
        collector.config.stash[_WANTED].pop(collector.path, None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the suites that were not met. As arguments of pytest they would come twice, or hide other tests."""
    for path in [*config.stash[_WANTED]]:
        if not config.hook.pytest_ignore_collect(collection_path=path, config=config):
            items += session.genitems(_suite(path, session))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the cases that were tried more than once, passed or not: to retry must never hide anything."""
    reports = [report for kind in ("passed", "failed", "xfailed") for report in terminalreporter.getreports(kind)]
    told = [text for report in reports for name, text in report.user_properties if name == "golden_tries"]
    if told:
        terminalreporter.section("golden: tries")
        for text in told:
            terminalreporter.line(text)


@pytest.fixture
def golden_eval(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Asks one question of the target: `golden_eval("What is AAPL at?", expected_tools=["get_quote"])`.

    It takes the fields of a case and returns its `CaseResult`; the test says what it makes of it. What did not hold is
    shown where the test fails.
    """
    evaluation: Callable[..., Any] = _items().evaluation(request.node)
    return evaluation


def _absolute(folder: Path, names: list[str]) -> list[Path]:
    try:
        return [Path(os.path.abspath(folder / name)) for name in names]  # noqa: PTH100  # a link is not followed
    except TypeError:
        raise pytest.UsageError("golden_suites: expected names of files") from None


def _suite(path: Path, parent: pytest.Collector) -> pytest.Collector:
    collector: pytest.Collector = _items().SuiteFile.from_parent(parent, path=path)
    return collector


def _items() -> ModuleType:
    # The one import inside a function: most runs of pytest collect no suite.
    from golden import pytest_items

    return pytest_items
