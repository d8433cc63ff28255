"""The report for people, on a terminal or in a CI log: the verdict first, then what does not hold and why."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from golden.errors import HINT
from golden.reports import Report, View
from golden.result import CaseResult, RunResult, Summary, TurnResult
from golden.verdict import pass_hat
from golden.visible import excerpt, visible

_WIDTH = 80
_ANSWER = 300  # characters of an answer that a failure quotes

# What takes two columns (UAX #11: wide and full-width, emoji among them), by whole blocks.
_WIDE = (
    "\u1100-\u115f\u231a-\u23f3\u25fd-\u27bf\u2b1b-\u2b55\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f"
    "\uff01-\uff60\uffe0-\uffe6\U00016fe0-\U0001b2ff\U0001d300-\U0001d37f\U0001f000-\U0001faff\U00020000-\U0003fffd"
)
# What a line may be broken between; a word longer than a line is several.
_PIECE = re.compile(rf" +|[{_WIDE}]|[^ {_WIDE}]{{1,{_WIDTH - 4}}}")
_IS_WIDE = re.compile(f"[{_WIDE}]")

_COLORS = {"passed": "32", "failed": "31", "error": "35", "skipped": "33", "not_run": "33"}
# How many of the chances of a case with many trials are shown.
_CHANCES = 10

# Checks whose messages name all calls.
_NAMES_CALLS = frozenset({"expected_tools", "forbidden_tools", "expect_no_tool_call", "max_tool_calls"})

_LABELS = {"passed": "passed", "failed": "FAILED", "error": "ERROR", "skipped": "skipped", "not_run": "not run"}


def _render(run: RunResult, view: View) -> str:
    return "\n".join(_lines(run, view)) + "\n"


def _lines(run: RunResult, view: View) -> Iterator[str]:
    for line in _wrapped(_verdict(run.summary), ""):
        yield _paint(line, "32" if run.all_passed else "31", view)
    if run.run.target is not None:
        target = run.run.target
        reason = f" ({target.reason})" if target.reason not in ("", "named") else ""
        yield from _wrapped(visible(f"{target.kind} {target.name}, dialect {target.dialect}{reason}"), "")
    yield ""
    ordered = sorted(run.results, key=lambda result: ("failed", "error").index(result.status) if _bad(result) else 9)
    for result in ordered:
        if _bad(result):
            yield from _case(result, view)
            yield ""
    rest = [result for result in run.results if not _bad(result)]
    if view.detail >= 0:
        width = min(40, max((_columns(visible(result.case_id)) for result in rest), default=0))
        for result in rest:
            yield from _line(result, width, view)
            if view.detail > 0:
                yield from _turns(result)
        if rest:
            yield ""
    yield from _wrapped(_figures(run), "")
    tried = [one.trials for one in run.results if one.trials is not None and one.status != "not_run"]
    if tried:
        chances = [pass_hat(one.run, one.passed) for one in tried]
        known = [[chance for chance in each if chance is not None] for each in zip_longest(*chances)]
        mean = [sum(each) / len(each) for each in known]
        yield from _wrapped(f"{len(tried)} cases with trials, on average: {_chances(mean)}", "")


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
        yield from _wrapped(f"{which}asked: {visible(asked)}", "  ")
    if tries := tries_text(result):
        yield from _wrapped(tries, "  ")
    if result.error is not None:
        message, *hint = f"{result.error.kind}: {result.error.message}".rsplit(HINT, 1)
        for line in (message, *(f"hint: {text}" for text in hint)):
            yield from _wrapped(visible(line), "  ")
    for check in result.checks:
        if check.ok is False:
            which = "" if check.turn is None or len(result.turns) < 2 else f"turn {check.turn + 1}: "
            yield from _wrapped(visible(f"{which}{check.name}: {check.message}"), "  ")
    yield from _turns(result) if view.detail > 0 else _evidence(result)


def _evidence(result: CaseResult) -> Iterator[str]:
    told = any(check.ok is False and check.name in _NAMES_CALLS for check in result.checks)
    if result.actual_tools and not told:
        yield from _wrapped(f"called: {visible(', '.join(map(_tool, result.actual_tools)))}", "  ")
    for which, turn in _numbered(result):
        if turn.answer or turn.error is None:
            yield from _wrapped(f"{which}answer: {excerpt(turn.answer, _ANSWER) or '(empty)'}", "  ")
        if turn.findings:
            findings = "; ".join(visible(finding.message) for finding in turn.findings)
            yield from _wrapped(f"{which}stream: {findings}", "  ")


def _turns(result: CaseResult) -> Iterator[str]:
    for which, turn in _numbered(result):
        if which and not _bad(result):
            yield from _wrapped(f"{which}asked: {visible(turn.question)}", "  ")
        for call in turn.tool_calls:
            yield from _wrapped(f"{which}called {visible(_tool(call.name))}({visible(repr(call.args))})", "  ")
        yield from _wrapped(f"{which}answer: {visible(turn.answer) or '(empty)'}", "  ")
        for finding in turn.findings:
            yield from _wrapped(f"{which}stream: {visible(finding.message)}", "  ")
        for at, name, signal in turn.events:
            seen = f"{excerpt(name, 40) or '(unnamed)'}  {excerpt(signal, 20) or '-'}"
            yield from _wrapped(f"{at:9.3f} s  {seen}", "  ")


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
    return _labelled(result, f"{gap}{case_id}{' ' * (width - _columns(case_id))}  {visible(detail)}", view)


def _labelled(result: CaseResult, text: str, view: View) -> Iterator[str]:
    label = _LABELS[result.status]
    first, *others = _wrapped(f"{label}{text}", "")
    yield _paint(label, _COLORS[result.status], view) + first.removeprefix(label)
    yield from others


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


def _wrapped(text: str, indent: str) -> Iterator[str]:
    line, used = indent, len(indent)
    for piece in _PIECE.findall(text):
        columns = _columns(piece)
        if used + columns > _WIDTH:
            yield line.rstrip()
            line, used = f"{indent}  ", len(indent) + 2
            if piece[0] == " ":
                continue
        line += piece
        used += columns
    yield line.rstrip()


def _columns(text: str) -> int:
    return len(text) + len(_IS_WIDE.findall(text))


def _paint(text: str, code: str, view: View) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if view.color else text


REPORT: Report = Report(suffix=".txt", render=_render)
