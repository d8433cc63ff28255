"""One page that holds a run: it opens from a disk, asks no network, and shows what is hostile as text."""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import islice, product
from string import Template

from golden.change import Comparison
from golden.digest import label_of
from golden.fold import find, fold
from golden.patterns import PatternError, PatternTimeout, search
from golden.reports import Report, View
from golden.result import CaseResult, RunResult, Summary, with_comparison, write
from golden.visible import excerpt, visible

Spot = tuple[int, int]

_PAGE = files("golden.reports").joinpath("page")

# In the order in which they are read: all of them are one script.
_SCRIPTS = ("base", "plots", "calls", "case", "entries", "list", "filters", "top", "page")

_MOST_HITS = 20  # phrases are looked for, and so many hits of one in an answer marked

_MESSAGE = 200  # characters of a message in the list for browsers without scripts

# In JSON these stand in texts alone, so each may be an escape: no text ends the script that it stands in.
_ESCAPED = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}

# What the first line says, the worst first.
_VERDICTS = (
    ("failed", "failed", "failed"),
    ("error", "errors", "could not be judged"),
    ("not_run", "not_run", "not run"),
    ("passed", "passed", "passed"),
    ("skipped", "skipped", "skipped"),
)


def _render(run: RunResult, comparison: Comparison | None, view: View) -> str:
    style = _read("page.css")
    script = "\n".join(_read(f"{name}.js") for name in _SCRIPTS)
    tone, verdict = _verdict(run.summary)
    changes = {case.case_id: label_of(case) for case in comparison.cases} if comparison else {}
    extras = {
        "labels": [changes.get(result.case_id, "") for result in run.results],
        "hits": [*_hits(run.results)],
    }
    return Template(_read("page.html")).substitute(
        policy=(
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; "
            "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        title=f"{verdict} · golden",
        style=style,
        script=script,
        tone=tone,
        icon=tone,
        verdict=verdict,
        cases="\n".join(map(_plain, run.results)),
        results=_escaped(write(with_comparison(run, comparison)).rstrip("\n")),
        extras=_escaped(json.dumps(extras)),
    )


def _read(name: str) -> str:
    return _PAGE.joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _escaped(text: str) -> str:
    for character, written in _ESCAPED.items():
        text = text.replace(character, written)
    return text


def _verdict(summary: Summary) -> tuple[str, str]:
    for status, count, word in _VERDICTS:
        if number := getattr(summary, count):
            if number == summary.total:
                return status, f"All {number:,} cases {word}" if number > 1 else f"The one case {word}"
            return status, f"{number:,} of {summary.total:,} cases {word}"
    return "skipped", "No cases"


def _plain(result: CaseResult) -> str:
    wrong = next((f"{check.name}: {check.message}" for check in result.checks if check.ok is False), "")
    told = result.error.message if result.error else wrong
    status = result.status.replace("_", " ")
    return (
        f"<li><b>{status}</b> {escape(' '.join(filter(None, (visible(result.case_id), excerpt(told, _MESSAGE)))))}</li>"
    )


def _hits(results: Sequence[CaseResult]) -> Iterator[list[list[Spot]]]:
    """Where forbidden phrases stand in each answer of each result, in characters."""
    timely = True
    for result in results:
        told = "; ".join(check.message for check in result.checks if check.name == "forbidden_phrases")
        spots: list[list[Spot]] = [[] for _ in result.turns]
        for hit, (at, turn) in product(result.forbidden_hits[:_MOST_HITS], enumerate(result.turns)):
            if f"/{hit}/ in: " not in told:
                spots[at] += islice(_found(hit, turn.answer), _MOST_HITS)
            elif timely:
                try:
                    found = search(hit, turn.answer)
                except (PatternError, PatternTimeout):
                    timely = (
                        False  # it was found in time when the answer came: this is no such file, or no such machine
                    )
                else:
                    spots[at] += [found] if found else []
        yield [sorted(each) for each in spots]


def _found(phrase: str, answer: str) -> Iterator[Spot]:
    at = 0
    while spot := find(phrase, fold(answer[at:])):
        yield at + spot[0], at + spot[1]
        at += spot[1]


REPORT: Report = Report(suffix=".html", render=_render)
