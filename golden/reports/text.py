"""The report for people, on a terminal or in a CI log: the verdict first, then what does not hold and why."""

import textwrap
from collections.abc import Iterator

from golden.reports import Report, View
from golden.result import CaseResult, RunResult, Summary
from golden.visible import excerpt, visible

_WIDTH = 80
_ANSWER = 300  # characters of an answer that a failure quotes

_COLORS = {"passed": "32", "failed": "31", "error": "35", "skipped": "33", "not_run": "33"}
_LABELS = {"passed": "passed", "failed": "FAILED", "error": "ERROR", "skipped": "skipped", "not_run": "not run"}


def _render(run: RunResult, view: View) -> str:
    return "\n".join(_lines(run, view)) + "\n"


def _lines(run: RunResult, view: View) -> Iterator[str]:
    yield _paint(_verdict(run.summary), "32" if run.all_passed else "31", view)
    if run.run.target is not None:
        target = run.run.target
        reason = f" ({visible(target.reason)})" if target.reason not in ("", "named") else ""
        yield from _wrapped(f"{target.kind} {visible(target.name)}, dialect {target.dialect}{reason}", "")
    yield ""
    ordered = sorted(run.results, key=lambda result: ("failed", "error").index(result.status) if _bad(result) else 9)
    for result in ordered:
        if _bad(result):
            yield from _case(result, view)
            yield ""
    rest = [result for result in run.results if not _bad(result)]
    if view.detail >= 0:
        width = min(40, max((len(visible(result.case_id)) for result in rest), default=0))
        for result in rest:
            yield _line(result, width, view)
            if view.detail > 0:
                yield from _turns(result)
        if rest:
            yield ""
    yield from _wrapped(_figures(run), "")


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
    (first, word), *others = [(count, word) for count, word in counts if count]
    return f"golden: {first} of {summary.total} cases {word}" + "".join(f", {count} {word}" for count, word in others)


def _case(result: CaseResult, view: View) -> Iterator[str]:
    yield f"{_paint(_LABELS[result.status], _COLORS[result.status], view)}  {visible(result.case_id)}"
    yield from _wrapped(f"asked: {visible(result.question)}", "  ")
    if result.error is not None:
        for line in f"{result.error.kind}: {result.error.message}".splitlines():
            yield from _wrapped(visible(line), "  ")
    for check in result.checks:
        if check.ok is False:
            yield from _wrapped(f"{check.name}: {visible(check.message)}", "  ")
    yield from _turns(result) if view.detail > 0 else _evidence(result)


def _evidence(result: CaseResult) -> Iterator[str]:
    if result.actual_tools and result.tool_ok is not False:  # else the check's message names them
        yield from _wrapped(f"called: {visible(', '.join(result.actual_tools))}", "  ")
    for turn in result.turns:
        if turn.answer:
            yield from _wrapped(f"answer: {excerpt(turn.answer, _ANSWER)}", "  ")
        if turn.findings:
            yield from _wrapped("stream: " + "; ".join(visible(finding.message) for finding in turn.findings), "  ")


def _turns(result: CaseResult) -> Iterator[str]:
    for turn in result.turns:
        yield from _wrapped(f"answer: {visible(turn.answer)}", "  ")
        for call in turn.tool_calls:
            yield from _wrapped(f"called {visible(call.name)}({visible(repr(call.args))})", "  ")
        for finding in turn.findings:
            yield from _wrapped(f"stream: {visible(finding.message)}", "  ")
        for at, name, signal in turn.events:
            yield f"  {at:9.3f} s  {visible(name) or '(unnamed)'}  {signal or '-'}"


def _line(result: CaseResult, width: int, view: View) -> str:
    label = _paint(f"{_LABELS[result.status]:8}", _COLORS[result.status], view)
    if result.status == "passed":
        took = sum(turn.timing.total_s for turn in result.turns)
        detail = f"{took:.2f} s"
        if result.groundedness is not None:
            detail += f", grounded {result.groundedness:.2f}"
    else:
        detail = result.error.message if result.error else ""
    return f"{label} {excerpt(result.case_id, 40):{width}}  {excerpt(detail, _WIDTH)}".rstrip()


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


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    ) or [indent]


def _paint(text: str, code: str, view: View) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if view.color else text


REPORT: Report = Report(suffix=".txt", render=_render)
