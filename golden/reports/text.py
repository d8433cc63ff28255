"""The report for people, on a terminal or in a CI log: the verdict first, then what does not hold and why."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from golden.change import Comparison
from golden.digest import digest
from golden.errors import HINT
from golden.layout import columns_of, labelled, painted, wrapped
from golden.reports import Report, View
from golden.result import CaseResult, RunResult, Summary, TurnResult
from golden.verdict import pass_hat
from golden.visible import excerpt, visible

_ANSWER = 300  # characters of an answer that a failure quotes

_COLORS = {"passed": "32", "failed": "31", "error": "35", "skipped": "33", "not_run": "33"}
# How many of the chances of a case with many trials are shown.
_CHANCES = 10

# Checks whose messages name all calls.
_NAMES_CALLS = frozenset({"expected_tools", "forbidden_tools", "expect_no_tool_call", "max_tool_calls"})

_LABELS = {"passed": "passed", "failed": "FAILED", "error": "ERROR", "skipped": "skipped", "not_run": "not run"}


def _render(run: RunResult, comparison: Comparison | None, view: View) -> str:
    changed = [*digest(comparison, view.detail, view.color), ""] if comparison else []
    return "\n".join([*changed, *_lines(run, view)]) + "\n"


def _lines(run: RunResult, view: View) -> Iterator[str]:
    for line in wrapped(_verdict(run.summary), ""):
        yield painted(line, "32" if run.all_passed else "31", view.color)
    if run.run.target is not None:
        target = run.run.target
        reason = f" ({target.reason})" if target.reason not in ("", "named") else ""
        yield from wrapped(visible(f"{target.kind} {target.name}, dialect {target.dialect}{reason}"), "")
    yield ""
    ordered = sorted(run.results, key=lambda result: ("failed", "error").index(result.status) if _bad(result) else 9)
    for result in ordered:
        if _bad(result):
            yield from _case(result, view)
            yield ""
    rest = [result for result in run.results if not _bad(result)]
    if view.detail >= 0:
        width = min(40, max((columns_of(visible(result.case_id)) for result in rest), default=0))
        for result in rest:
            yield from _line(result, width, view)
            if view.detail > 0:
                yield from _turns(result)
        if rest:
            yield ""
    yield from wrapped(_figures(run), "")
    tried = [one.trials for one in run.results if one.trials is not None and one.status != "not_run"]
    if tried:
        chances = [pass_hat(one.run, one.passed) for one in tried]
        known = [[chance for chance in each if chance is not None] for each in zip_longest(*chances)]
        mean = [sum(each) / len(each) for each in known]
        yield from wrapped(f"{len(tried)} cases with trials, on average: {_chances(mean)}", "")


def _bad(result: CaseResult) -> bool:
    return result.status in ("failed", "error")


def _verdict(summary: Summary) -> str:
    counts = (
        (summary.failed, "failed"),
        (summary.errors, "could not be judged"),
        (summary.not_run, "not run"),
        (summary.passed, "passed"),
        (summary.skipped, "skipped"),
    )
    if not summary.total:
        return "golden: no cases"
    (first, word), *others = [(count, word) for count, word in counts if count]
    flaky = [f"{summary.flaky} on retry only (flaky)"] if summary.flaky else []
    rest = [*(f"{count} {word}" for count, word in others), *flaky]
    return ", ".join([f"golden: {first} of {summary.total} cases {word}", *rest])


def case_text(result: CaseResult, view: View) -> str:
    """Returns what the report says of one case that did not pass."""
    return "\n".join(_case(result, view))


def _case(result: CaseResult, view: View) -> Iterator[str]:
    yield from _labelled(result, f"  {visible(result.case_id)}", view)
    several = [(which, turn.question) for which, turn in _numbered(result)] if len(result.turns) > 1 else []
    for which, asked in several or [("", result.question)]:
        yield from wrapped(f"{which}asked: {visible(asked)}", "  ")
    if tries := tries_text(result):
        yield from wrapped(tries, "  ")
    if result.error is not None:
        message, *hint = f"{result.error.kind}: {result.error.message}".rsplit(HINT, 1)
        for line in (message, *(f"hint: {text}" for text in hint)):
            yield from wrapped(visible(line), "  ")
    for check in result.checks:
        if check.ok is False:
            which = "" if check.turn is None or len(result.turns) < 2 else f"turn {check.turn + 1}: "
            yield from wrapped(visible(f"{which}{check.name}: {check.message}"), "  ")
    yield from _turns(result) if view.detail > 0 else _evidence(result)


def _evidence(result: CaseResult) -> Iterator[str]:
    told = any(check.ok is False and check.name in _NAMES_CALLS for check in result.checks)
    if result.actual_tools and not told:
        yield from wrapped(f"called: {visible(', '.join(map(_tool, result.actual_tools)))}", "  ")
    for which, turn in _numbered(result):
        if turn.answer or turn.error is None:
            yield from wrapped(f"{which}answer: {excerpt(turn.answer, _ANSWER) or '(empty)'}", "  ")
        if turn.findings:
            findings = "; ".join(visible(finding.message) for finding in turn.findings)
            yield from wrapped(f"{which}stream: {findings}", "  ")


def _turns(result: CaseResult) -> Iterator[str]:
    for which, turn in _numbered(result):
        if which and not _bad(result):
            yield from wrapped(f"{which}asked: {visible(turn.question)}", "  ")
        for call in turn.tool_calls:
            yield from wrapped(f"{which}called {visible(_tool(call.name))}({visible(repr(call.args))})", "  ")
        yield from wrapped(f"{which}answer: {visible(turn.answer) or '(empty)'}", "  ")
        for finding in turn.findings:
            yield from wrapped(f"{which}stream: {visible(finding.message)}", "  ")
        for at, name, signal in turn.events:
            seen = f"{excerpt(name, 40) or '(unnamed)'}  {excerpt(signal, 20) or '-'}"
            yield from wrapped(f"{at:9.3f} s  {seen}", "  ")


def _numbered(result: CaseResult) -> Iterator[tuple[str, TurnResult]]:
    """The turns, each with how a line names it: only where there are several."""
    for number, turn in enumerate(result.turns, start=1):
        yield f"turn {number}: " if len(result.turns) > 1 else "", turn


def tries_text(result: CaseResult) -> str:
    """Returns how the tries at a case went, "" where there was one."""
    if result.trials is not None:
        run, passed = result.trials.run, result.trials.passed
        chances = f"; {_chances(pass_hat(run, passed))}" if 0 < passed < run else ""
        return f"{passed} of {run} trials passed{chances}"
    if len(result.attempts) > 1:
        came = ", ".join(_LABELS[attempt.status].lower() for attempt in result.attempts)
        return f"{len(result.attempts)} tries: {came}"
    return ""


def _chances(chances: Sequence[float]) -> str:
    told = [f"pass^{k} {chance:.2f}" for k, chance in enumerate(chances, start=1)]
    return ", ".join(told if len(told) <= _CHANCES else [*told[: _CHANCES - 1], "…", told[-1]])


def _line(result: CaseResult, width: int, view: View) -> Iterator[str]:
    if result.status == "passed":
        took = sum(turn.timing.total_s for turn in result.turns)
        detail = f"{took:.2f} s"
        if result.groundedness is not None:
            detail += f", grounded {result.groundedness:.2f}"
        if result.xfailed:
            detail += f"; {result.checks[-1].message}"
        if tries := tries_text(result):
            detail += f"; flaky: {tries}" if result.flaky else f"; {tries}"
    else:
        detail = result.error.message if result.error else ""
    case_id = excerpt(result.case_id, 40)
    gap = " " * (9 - len(_LABELS[result.status]))
    return _labelled(result, f"{gap}{case_id}{' ' * (width - columns_of(case_id))}  {visible(detail)}", view)


def _labelled(result: CaseResult, text: str, view: View) -> Iterator[str]:
    return labelled(_LABELS[result.status], text, _COLORS[result.status], view.color)


def _tool(name: str) -> str:
    return name or "(no name)"


def _figures(run: RunResult) -> str:
    summary = run.summary
    counts = (
        f"{summary.total} cases: {summary.passed} passed, {summary.failed} failed, {summary.errors} errors, "
        f"{summary.skipped} skipped, {summary.not_run} not run"
    )
    parts = [counts, f"{run.run.duration_s:.2f} s"]
    if summary.first_token_s.p50 is not None:
        parts.append(f"first token {summary.first_token_s.p50:.2f} s (p95 {summary.first_token_s.p95:.2f} s)")
    if summary.usage is not None:
        parts.append(f"tokens {_count(summary.usage.input)} in, {_count(summary.usage.output)} out")
    return "; ".join(parts)


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


REPORT: Report = Report(suffix=".txt", render=_render)
