"""JUnit XML, as CI systems read it: in the words that the schemas of Jenkins (junit-10) and Maven Surefire share."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import PurePath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from golden.change import Comparison
from golden.reports import Report, View
from golden.result import CaseResult, CheckResult, ErrorResult, RunResult, Summary
from golden.result import with_comparison as compared
from golden.tally import summarise
from golden.visible import excerpt, visible

_ANSWER = 2_000  # characters of each turn's answer

# What a status is called: neither schema has a word for a case that was not run, and it is not judged either.
_ELEMENTS = {"failed": "failure", "error": "error", "not_run": "error", "skipped": "skipped"}

_AGAIN = {"failed": "Failure", "error": "Error"}

# The order in which Surefire's schema has the elements of a case.
_ORDER = ("failure", "rerunFailure", "flakyFailure", "skipped", "error", "rerunError", "flakyError", "system-out")


def _render(run: RunResult, comparison: Comparison | None, view: View) -> str:
    results = compared(run, comparison).results
    root = Element("testsuites", {"name": "golden", **_counts(run.summary), "time": _seconds(run.run.duration_s)})
    for path, group in groupby(results, lambda result: result.suite):
        root.append(_suite(path, [*group], run))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _counts(summary: Summary) -> dict[str, str]:
    return {
        "tests": str(summary.total),
        "failures": str(summary.failed),
        "errors": str(summary.errors + summary.not_run),
    }


def _suite(path: str | None, results: Sequence[CaseResult], run: RunResult) -> Element:
    summary = summarise(results)
    suite = Element(
        "testsuite",
        {
            "name": visible(path or "golden"),
            **_counts(summary),
            "skipped": str(summary.skipped),
            "time": _seconds(sum(map(_took, results))),
            **_timestamp(run.run.started_at),
        },
    )
    properties = SubElement(suite, "properties")
    for name, value in _properties(results, summary, run):
        SubElement(properties, "property", {"name": name, "value": visible(value)})
    suite.extend(_case(result) for result in results)
    return suite


def _properties(results: Sequence[CaseResult], summary: Summary, run: RunResult) -> Iterator[tuple[str, str]]:
    yield "golden", run.run.golden_version
    if run.run.target is not None:
        yield "target", f"{run.run.target.kind} {run.run.target.name}"
        yield "dialect", run.run.target.dialect
    if models := [*dict.fromkeys(result.model for result in results if result.model)]:
        yield "model", ", ".join(models)
    if run.run.git is not None:
        yield "commit", run.run.git.sha
    for name in ("first_token_s", "total_s"):
        for quantile, seconds in getattr(summary, name):
            if seconds is not None:
                yield f"{name}.{quantile}", _seconds(seconds)


def _case(result: CaseResult) -> Element:
    # Jenkins reads what dots part as the packages of a class; others show the whole.
    path = visible(result.suite or "")
    named = path.removesuffix(PurePath(path).suffix).replace("/", ".").strip(".") or "golden"
    case = Element("testcase", {"name": visible(result.case_id), "classname": named, "time": _seconds(_took(result))})
    told = [*_tries(result)]
    if result.status in _ELEMENTS:
        told.append(_told(_ELEMENTS[result.status], result.status, result.error, result.checks, [*_asked(result)]))
    case.extend(sorted(told, key=lambda element: _ORDER.index(element.tag)))
    if output := [*_measured(result)]:
        SubElement(case, "system-out").text = "\n".join(map(visible, output))
    return case


def _told(
    tag: str, status: str, error: ErrorResult | None, checks: Sequence[CheckResult], evidence: Sequence[str] = ()
) -> Element:
    """What did not hold, or why there is no verdict; the evidence stands in the text alone."""
    failed = [check for check in checks if check.ok is False]
    lines = [f"{_turn(check.turn)}{check.name}: {check.message}" for check in failed]
    if error is not None:
        lines = [*error.message.split("\n"), *lines]
    kind = error.kind if error is not None else failed[0].name if failed else status
    element = Element(tag, {"message": visible(lines[0] if lines else status)})
    if tag != "skipped":
        element.set("type", visible(kind))
    text = "\n".join(visible(line) for line in (*lines, *evidence))
    if tag.startswith(("rerun", "flaky")):
        SubElement(element, "stackTrace").text = text
    elif tag != "skipped":
        element.text = text
    return element


def _tries(result: CaseResult) -> Iterator[Element]:
    """The tries that did not pass, beside the one that decided."""
    bad = [attempt for attempt in result.attempts if attempt.status in _AGAIN]
    decided = None if result.flaky else next((each for each in bad if each.status == result.status), None)
    for attempt in bad:
        if attempt is not decided:
            prefix = "flaky" if result.passed else "rerun"
            yield _told(f"{prefix}{_AGAIN[attempt.status]}", attempt.status, attempt.error, attempt.checks)


def _asked(result: CaseResult) -> Iterator[str]:
    """The questions and answers; a case that was never asked has its question alone."""
    if not result.turns:
        yield f"asked: {result.question}"
    for number, turn in enumerate(result.turns):
        which = _turn(number) if len(result.turns) > 1 else ""
        yield f"{which}asked: {turn.question}"
        yield f"{which}answer: {excerpt(turn.answer, _ANSWER) or '(empty)'}"


def _measured(result: CaseResult) -> Iterator[str]:
    """What neither schema has an attribute for."""
    figures = {
        "model": result.model,
        "change": result.change,
        "trials": result.trials and f"{result.trials.passed} of {result.trials.run} passed",
        "groundedness": result.groundedness,
        "called": ", ".join(name or "(no name)" for name in result.actual_tools) or None,
    }
    yield from (f"{name}: {value}" for name, value in figures.items() if value is not None)
    for number, turn in enumerate(result.turns):
        which = _turn(number) if len(result.turns) > 1 else ""
        if turn.timing.first_token_s is not None:
            yield f"{which}first token: {_seconds(turn.timing.first_token_s)} s"


def _turn(number: int | None) -> str:
    return "" if number is None else f"turn {number + 1}: "


def _took(result: CaseResult) -> float:
    return sum(turn.timing.total_s for turn in result.turns)


def _seconds(seconds: float) -> str:
    return f"{max(seconds, 0):.3f}"


def _timestamp(started_at: str) -> dict[str, str]:
    """The attribute where the time is one that both schemas take: a results file may hold any text."""
    with suppress(ValueError):
        return {"timestamp": datetime.fromisoformat(started_at).isoformat()}
    return {}


REPORT: Report = Report(suffix=".xml", render=_render)
