"""The results file (contract 7)."""

from golden.reports import Report, View
from golden.result import RunResult, write


def _render(run: RunResult, view: View) -> str:
    return write(run)


REPORT: Report = Report(suffix=".json", render=_render)
