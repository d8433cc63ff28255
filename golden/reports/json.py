"""The results file (contract 7)."""

from golden.change import Comparison
from golden.reports import Report, View
from golden.result import RunResult, with_comparison, write


def _render(run: RunResult, comparison: Comparison | None, view: View) -> str:
    return write(with_comparison(run, comparison) if comparison else run)


REPORT: Report = Report(suffix=".json", render=_render)
