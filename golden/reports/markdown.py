"""The report in Markdown, for a pull request's comment, a step summary and files: what changed first, in few lines."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from golden.bulletin import CHANGED, ERROR, FAILED, FIXED, GONE, KNOWN, NEW, NOISE, REGRESSED, SKIPPED, Item, bulletin
from golden.change import Comparison
from golden.errors import HINT
from golden.markup import block, code, link
from golden.reports import Report, View
from golden.result import CaseResult, RunResult, UsageResult

COMMENT = 60_000
SUMMARY = 900_000
"""Budgets in bytes: GitHub takes some more of either (65,536 characters, 1 MiB), and drops the whole beyond."""

SMALLEST = 8_000
"""The least budget: what is said of any run takes no more, and the rest is what there is room for."""

# They repeat what the word beside them says.
_SYMBOLS = {
    REGRESSED: "🔻",
    GONE: "🔻",
    FAILED: "🔻",
    ERROR: "🔸",
    CHANGED: "🔸",
    NOISE: "🌗",
    SKIPPED: "🔸",
    FIXED: "🔺",
    NEW: "🔸",
}
_NO_EXCERPT = (GONE, SKIPPED, FIXED, KNOWN)

_TARGETS = {"call": "--agent", "asgi": "--asgi", "http": "--base-url"}

# Characters that are shown of each.
_WHY = 200
_ANSWER = 2_000

_CHECKS = 5  # of one case, the most that its excerpt names
_TOOLS = 20

_LEFT_OUT = 200  # bytes kept for the line that says what was left out


class Frame(NamedTuple):
    """What stands around a report, where it is posted. Only golden's own words, save for the ids and names.

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


WHOLE = Frame(rows=None, excerpts=None)
"""The frame of what has room for all: a step summary, a file."""


class _Section(NamedTuple):
    """A part of a report that is filled as far as there is room.

    Attributes:
        head: what stands before the pieces.
        pieces: the first is the one that matters most.
        tail: what stands behind them.
        most: the most pieces, None for all.
        total: how many there are.
        name: what pieces that are left out are some of.
    """

    head: str
    pieces: Iterable[str]
    tail: str
    most: int | None
    total: int
    name: str


def body(run: RunResult, comparison: Comparison | None, *, budget: int, frame: Frame = WHOLE) -> str:
    """Returns the report, of at most `budget` bytes in UTF-8 (`SMALLEST` at the least), filled by priority.

    Nothing that a suite, an agent or a server said can become markup in it, nor a workflow command where it is printed.
    """
    told = bulletin(run, comparison)
    commit = frame.commit or (run.run.git.sha if run.run.git else "")
    advisory = " (advisory)" if frame.advisory else ""
    sentence = f"outdated, the pull request is at {code(frame.head[:7])} by now" if frame.head else told.sentence
    marker = f"{frame.marker}\n" if frame.marker else ""
    top = [f"{marker}### {frame.title}: {sentence}{advisory}"]
    if told.cause and not frame.head:
        lead, cause = told.cause
        top.append(f"{lead}: {code(cause, _WHY)}")
    last = " ".join(_metadata(run, comparison, commit, frame))
    if frame.head:
        return "\n\n".join((*top, last)) + "\n"
    room = budget - _size("\n\n".join((*top, last))) - _LEFT_OUT
    middle, left_out = _filled(_sections(run, comparison, told.items, frame), room)
    notes = [f"Left out: {', '.join(left_out)}."] if left_out else []
    return "\n\n".join((*top, *middle, *notes, last)) + "\n"


def _filled(sections: Iterable[_Section], room: int) -> tuple[list[str], list[str]]:
    """The sections, each with the pieces that there is room for; and what was left out."""
    filled, left_out = [], []
    for section in sections:
        left = room - _size(section.head + section.tail) - 3
        taken = []
        for piece in islice(section.pieces, section.most):
            if _size(piece) + 1 > left:
                break
            left -= _size(piece) + 1
            taken.append(piece)
        if taken:
            filled.append("\n".join(filter(None, (section.head, *taken, section.tail))).rstrip("\n"))
            room = left
        if len(taken) < section.total:
            left_out.append(f"{section.total - len(taken)} {section.name}")
    return filled, left_out


def _sections(run: RunResult, comparison: Comparison | None, items: Sequence[Item], frame: Frame) -> Iterator[_Section]:
    """What may be left out, in the order in which it is told and filled."""
    news = [item for item in items if item.kind != KNOWN]
    known = [item for item in items if item.kind == KNOWN]
    shown = [item.result for item in news if item.result and item.kind not in _NO_EXCERPT]
    head = _head(("", "Question", "Expectation", *(("Before", "Now") if comparison else ("Tries",))))
    yield _Section(head, map(_row, news), "", frame.rows, len(news), "of the table")
    yield _Section("", (_excerpt(run, result) for result in shown), "", frame.excerpts, len(shown), "of the answers")
    told = f"{len(known)} already failing in the baseline"
    head = f"<details><summary>{told}</summary>\n\n{_head(('Question', 'Expectation', 'Before', 'Now'))}"
    rows = (f"| {' | '.join(_cells(item))} |" for item in known)
    yield _Section(head, rows, "\n</details>", frame.rows, len(known), "of those already failing")
    notes = comparison.notes if comparison and news else ()
    yield _Section("", (f"- {code(note, _WHY)}" for note in notes), "", frame.rows, len(notes), "of the notes")


def _head(names: Sequence[str]) -> str:
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def _row(item: Item) -> str:
    return f"| {_SYMBOLS[item.kind]} {item.kind} | {' | '.join(_cells(item))} |"


def _cells(item: Item) -> list[str]:
    before = [item.before] if item.before else []
    now = f"**{item.now}**" if item.kind == REGRESSED else item.now
    return [code(item.case_id), code(item.why, _WHY) if item.why else "", *before, now]


def _excerpt(run: RunResult, result: CaseResult) -> str:
    """What was asked and came, what does not hold of it, and how to ask again."""
    what = "what the agent said" if result.status == "failed" else "why there is no verdict"
    parts = [f"<details><summary>{code(result.case_id)}: {what}</summary>", f"Asked: {code(result.question, _WHY)}"]
    if said := _said(result):
        parts.append(block(said, _ANSWER))
    if result.error is not None:
        message = result.error.message.replace(HINT, "; ")
        parts.append(f"Error: {code(f'{result.error.kind}: {message}', _WHY * 2)}")
    failed = [f"{check.name}: {check.message}" for check in result.checks if check.ok is False]
    if failed:
        more = [f"- and {len(failed) - _CHECKS} more"] if len(failed) > _CHECKS else []
        parts.append("\n".join([*(f"- {code(text, _WHY * 2)}" for text in failed[:_CHECKS]), *more]))
    if result.actual_tools:
        parts.append(f"Called: {code(', '.join(result.actual_tools[:_TOOLS]), _WHY)}")
    parts.append(f"Again: {code(_command(run, result), _WHY * 2)}")
    return "\n\n".join([*parts, "</details>\n"])


def _said(result: CaseResult) -> str:
    """The answer; of several turns each with its question."""
    if len(result.turns) < 2:
        return "".join(turn.answer for turn in result.turns)
    turns = (f"{at}. {turn.question}\n{turn.answer}" for at, turn in enumerate(result.turns, start=1))
    return "\n\n".join(turns)


def _command(run: RunResult, result: CaseResult) -> str:
    target = run.run.target
    option = _TARGETS.get(target.kind) if target else None
    asked = [option, target.name] if option and target else []
    return shlex.join(["golden", "run", *([result.suite] if result.suite else []), "--case", result.case_id, *asked])


def _metadata(run: RunResult, comparison: Comparison | None, commit: str, frame: Frame) -> Iterator[str]:
    """What was asked of what, against what, and what it took: a line of sentences."""
    info, summary = run.run, run.summary
    of = [f"Commit {code(commit[:7])}"] if commit else []
    if info.target:
        of.append(f"asked at {code(info.target.name)}" if of else f"Asked at {code(info.target.name)}")
    if frame.asked_by:
        of.append(f"by {code(frame.asked_by)}")
    of.append(_baseline(comparison) if comparison else "no baseline")
    yield f"{', '.join(of)}."
    tries = {result.trials.run if result.trials else 1 for result in run.results if result.attempts}
    each = f", {tries.pop()} tries each" if len(tries) == 1 and tries != {1} else ""
    flaky = f", {summary.flaky} passed on a retry only" if summary.flaky else ""
    took = [f"{summary.total} questions{each}{flaky}", _duration(info.duration_s)]
    if summary.first_token_s.p50 is not None and summary.first_token_s.p95 is not None:
        took.append(f"first token {summary.first_token_s.p50:.2f} s (p95 {summary.first_token_s.p95:.2f} s)")
    if summary.usage is not None and (tokens := _tokens(summary.usage)):
        took.append(f"tokens {tokens}")
    yield f"{', '.join(took)}."
    if frame.url:
        yield f"{link('Run and full report', frame.url)}."
    yield f"golden {code(info.golden_version, 40)}"


def _baseline(comparison: Comparison) -> str:
    before = comparison.baseline
    names = [code(name[:most]) for name, most in ((before.branch, 40), (before.sha, 7)) if name]
    return f"baseline {' '.join([*names, 'of', code(before.started_at[:16].replace('T', ' '))])}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{seconds:.1f} s"


def _tokens(usage: UsageResult) -> str:
    return " and ".join(
        f"{count:,} {what}" for count, what in ((usage.input, "in"), (usage.output, "out")) if count is not None
    )


def _size(text: str) -> int:
    return len(text.encode())


def _render(run: RunResult, comparison: Comparison | None, view: View) -> str:
    return body(run, comparison, budget=SUMMARY)


REPORT: Report = Report(suffix=".md", render=_render)
