"""The page as text: that it holds the results whole, and that nothing in it ends what it stands in."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.compare import compare
from golden.reports import View
from golden.reports.html import REPORT
from golden.result import CaseResult, RunResult, read, with_comparison, write
from golden.transcript import ToolCall
from tests.program import Program
from tests.test_reports import CUT, WHOLE, left_out, stopped
from tests.values import judged, run_of, turn

GOOD: dict[str, object] = {"required_phrases": ["well"]}
BAD: dict[str, object] = {"required_phrases": ["ill"]}

FRAGMENTS = [
    "</script>",
    "<!--",
    "<script>",
    "-->",
    "</style>",
    "</noscript>",
    "<",
    "&lt;",
    "\u2028",
    "\u2029",
    "]]>",
    "$",
]


class Elements(HTMLParser):
    """The elements of a page: of each its name, its attributes, and the text right behind its start."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data

    def text(self, **wanted: str) -> str:
        """The text of the one element that has these attributes."""
        rows = zip(self.texts, self.attributes, strict=True)
        (found,) = [text for text, own in rows if wanted.items() <= own.items()]
        return found


def page(run: RunResult, baseline: RunResult | None = None) -> str:
    return REPORT.render(run, compare(baseline, run) if baseline else None, View())


def extras(*results: CaseResult, baseline: RunResult | None = None) -> dict[str, Any]:
    """What is told beside the results."""
    told: dict[str, Any] = json.loads(Elements(page(run_of(*results), baseline)).text(id="extras"))
    return told


hostile = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=5)), max_size=6).map("".join)
PLAIN = Elements(page(run_of(judged(BAD, turn("a")))))


@settings(deadline=None, max_examples=60)
@given(hostile, hostile, hostile)
def test_the_page_holds_the_results_whole_and_no_text_of_others_is_markup(asked: str, answer: str, name: str) -> None:
    result = judged(BAD, turn(answer, tool_calls=(ToolCall(name, {name: answer}),)))
    told = {"case_id": asked, "question": asked, "suite": name, "tags": (asked,), "metadata": {answer: name}}
    run = run_of(result.model_copy(update=told))
    shown = Elements(page(run))
    assert shown.tags == PLAIN.tags
    assert shown.attributes == PLAIN.attributes
    assert read(shown.text(id="results")) == read(write(run))


def test_the_results_in_the_page_have_what_the_baseline_says() -> None:
    baseline, run = run_of(judged(GOOD, turn())), run_of(judged(BAD, turn()))
    held = read(Elements(page(run, baseline)).text(id="results"))
    assert held == read(write(with_comparison(run, compare(baseline, run))))
    assert held.results[0].change == "regressed"


def test_each_case_has_the_label_under_which_the_digest_tells_it() -> None:
    before = run_of(*(judged({"id": name, **GOOD}, turn()) for name in ("same", "worse", "gone")))
    after = (judged({"id": "same", **GOOD}, turn()), judged({"id": "worse", **GOOD}, turn("Ill.")))
    assert extras(*after)["labels"] == ["", ""]
    assert extras(*after, baseline=before)["labels"] == ["", "REGRESSED"]


@pytest.mark.parametrize(
    ("phrases", "answer", "spots"),
    [
        (["lost"], "All is lost, **lost**!", [[7, 11], [15, 19]]),
        (["lost", "all"], "All is lost.", [[0, 3], [7, 11]]),
        ([{"regex": r"l[o0]st\b"}], "🙂 all is l0st", [[9, 13]]),
        (["lost"], "All is well.", []),
    ],
)
def test_where_forbidden_phrases_stand_in_an_answer_is_told(
    phrases: list[object], answer: str, spots: list[object]
) -> None:
    both = extras(judged({"forbidden_phrases": phrases}, turn(answer), turn("All.")))
    assert extras(judged({"forbidden_phrases": phrases}, turn(answer)))["hits"] == [[spots]]
    assert both["hits"][0][0] == spots


def test_a_phrase_in_a_text_that_was_replaced_later_is_not_marked_in_the_answer() -> None:
    replaced = turn("All is well.", shown=("Order placed.", "All is well."))
    for phrase in ("order placed", {"regex": "Order placed"}):
        assert extras(judged({"forbidden_phrases": [phrase]}, replaced))["hits"] == [[[]]]


def test_a_pattern_that_takes_too_long_is_given_up_and_so_are_all_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.02)
    result = judged({"forbidden_phrases": [{"regex": "lost"}]}, turn("x" * 3000 + "lost"))
    message = "found /(x+x+)+y/ in: [x]; /lost/ in: [lost]"
    slow = result.model_copy(
        update={
            "forbidden_hits": ("(x+x+)+y", "lost"),
            "checks": tuple(row.model_copy(update={"message": message}) for row in result.checks),
        }
    )
    assert extras(slow, result)["hits"] == [[[]], [[]]]
    assert extras(result)["hits"] == [[[[3000, 3004]]]]


@pytest.mark.parametrize(
    ("results", "verdict", "tone"),
    [
        (WHOLE, "1 of 5 cases failed", "failed"),
        ((judged(GOOD, turn()), judged(GOOD, CUT)), "1 of 2 cases could not be judged", "error"),
        ((judged(GOOD, turn()), stopped()), "1 of 2 cases not run", "not_run"),
        ((judged(GOOD, turn()), left_out()), "1 of 2 cases passed", "passed"),
        ((judged(GOOD, turn()), judged(GOOD, turn())), "All 2 cases passed", "passed"),
        ((left_out(),), "The one case skipped", "skipped"),
        ((), "No cases", "skipped"),
    ],
)
def test_the_verdict_is_in_the_title_and_the_first_heading(
    results: tuple[CaseResult, ...], verdict: str, tone: str
) -> None:
    shown = page(run_of(*results))
    assert f"<title>{verdict} · golden</title>" in shown
    assert f"<span>{verdict}</span></h1>" in shown
    assert f'data-tone="{tone}"' in shown


def test_without_scripts_there_is_a_list_of_cases_and_verdicts() -> None:
    shown = page(run_of(*WHOLE, judged({"id": "a&b", "question": "?", **BAD}, turn("\u202e<b>"))))
    assert re.findall("<li>(.*)</li>", shown) == [
        "<b>passed</b> well",
        "<b>error</b> cut no end within 60 s (--timeout), after 2 events\\nhint: --timeout raises it",
        "<b>failed</b> quote groundedness_threshold: 0.5 expected; the score is 0.25",
        "<b>skipped</b> later not yet",
        "<b>not run</b> late stopped by SIGINT",
        "<b>failed</b> a&amp;b required_phrases: not in the answer: &quot;ill&quot;",
    ]


def test_the_policy_of_the_page_allows_its_own_style_and_script_and_nothing_else() -> None:
    policy = next(own["content"] for own in PLAIN.attributes if own.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives.pop("default-src") == "'none'"
    for kind in ("style-src", "script-src"):
        assert re.fullmatch(r"'sha256-[\w+/]{43}='", directives.pop(kind))
    assert directives == {
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }


def shades(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(color: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_colour_of_a_text_stands_out_from_what_it_stands_on_in_both_schemes() -> None:
    style = files("golden.reports").joinpath("page/page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert shades(light).keys() == shades(dark).keys()
    for scheme in (shades(light), shades(dark)):
        grounds = {name: scheme[name] for name in ("page", "card", "sunk")}
        pairs = [(ink, ground) for ink in ("ink", "hush", "link", "good", "bad", "fault", "warn") for ground in grounds]
        pairs += [(kind, f"{kind}-wash") for kind in ("good", "bad", "fault", "warn", "info")]
        pairs += [(ink, f"{kind}-wash") for ink in ("ink", "hush") for kind in ("bad", "fault", "warn")]
        pairs += [("page", "ink")]
        for ink, ground in pairs:
            one, other = sorted((luminance(scheme[ink]), luminance(scheme[ground])))
            assert (other + 0.05) / (one + 0.05) >= 4.5, (ink, ground)
        for ground in grounds:  # of a border that tells a control: WCAG 1.4.11
            one, other = sorted((luminance(scheme["edge"]), luminance(scheme[ground])))
            assert (other + 0.05) / (one + 0.05) >= 3, ("edge", ground)


def test_a_run_writes_the_page_by_its_suffix(golden_run: Program) -> None:
    asked: dict[str, object] = {"question": "What is Microsoft trading at?", "expected_tools": ["get_quote"]}
    ran = golden_run("--agent", "golden.demo:run_agent_turn", "--out", "report.html", cases=[asked])
    assert ran.code == 0
    shown = Path("report.html").read_text(encoding="utf-8")
    assert read(Elements(shown).text(id="results")).results == ran.run.results
