import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.compare import compare
from golden.digest import digest
from golden.reports import View
from golden.reports.text import REPORT
from golden.result import CaseResult, CheckResult, ErrorResult, GitResult, SuiteResult
from golden.transcript import Failure, Timing, ToolCall, Usage
from tests.test_compare import case
from tests.test_reports import HOSTILE
from tests.values import columns, judged, run_of, turn

QUOTE: dict[str, object] = {"id": "quote", "expected_tools": ["get_quote"]}


def lines(
    before: Sequence[CaseResult], after: Sequence[CaseResult], detail: int = 0, color: bool = False, **info: Any
) -> list[str]:
    return [*digest(compare(run_of(*before, **info), run_of(*after)), detail, color)]


def told(before: Sequence[CaseResult], after: Sequence[CaseResult], detail: int = 0) -> list[str]:
    """What is said of the cases."""
    return lines(before, after, detail)[3:]


# What is said of a whole run

BEFORE = [
    judged(QUOTE, turn("It is 5.", tool_calls=(ToolCall("get_quote", {"symbol": "MSFT"}),), scores=(1.0,))),
    case("dropped"),
    case("wavers", trials=(3, 3)),
    case("worded"),
    case("asked", "failed", question="What?"),
    case("mended", "failed"),
    case("broken", "failed"),
    case("put-off"),
    case("late", "failed"),
    case("retried"),
    case("fine"),
    case("elsewhere"),
]
AFTER = [
    judged(
        QUOTE,
        turn(
            "There is news.",
            tool_calls=(ToolCall("get_news", {}), ToolCall("get_quotes", {"symbol": "MSFT"})),
            scores=(0.5,),
            timing=Timing(0.25, 0.75, 2.25),
            usage=Usage(3000, None),
        ),
    ).model_copy(update={"model": "m-2"}),
    case("wavers", "failed", trials=(2, 3)),
    case("worded", "failed", case_sha256="0" * 64),
    case("asked"),
    case("mended"),
    case("broken", "error", error=ErrorResult(kind="timeout", message="no end within 60 s\nhint: raise it")),
    case("put-off", "skipped"),
    case("late", "not_run"),
    case("retried", flaky=True),
    case("fine"),
    case("added", "failed"),
]


def test_what_changed_is_told_the_worst_first() -> None:
    git = GitResult(sha="0123456789abcdef", branch="main")
    before = run_of(*BEFORE, git=git, suites=(SuiteResult(path="suite.json", sha256="0" * 64),))
    after = run_of(*AFTER, unselected=("elsewhere",))
    assert (
        "\n".join(digest(compare(before, after), 0, False))
        == """\
golden: 4 regressed (1 gone, 1 likely noise, 1 whose case changed among them), 2
  fixed, 1 still failing, 1 new, 4 unchanged, 1 of the baseline left out
baseline of 2026-01-02T03:04:05+00:00, commit 0123456789ab on main
note: suite.json: other contents than in the baseline

REGRESSED  quote: passed -> failed
  expected_tools: holds -> fails: expected a call of get_quote; called:
    get_news, get_quotes
  called no more: get_quote({"symbol":"MSFT"})
  called now: get_news({})
  called now: get_quotes({"symbol":"MSFT"})
  model none -> m-2; grounded 1.00 -> 0.50; first token 0.50 s -> 0.75 s; total
    1.50 s -> 2.25 s; tokens none -> 3,000 in, ? out
GONE  dropped: passed
CASE CHANGED  worded: passed -> failed
  the case itself changed: the same answers may get another verdict
LIKELY NOISE  wavers: passed (3 of 3 trials) -> failed (2 of 3 trials)
  p 0.500 (Fisher's exact test, one-sided): so often chance alone does as much
NO VERDICT  put-off: passed -> skipped
NO VERDICT  late: failed -> not run
fixed  mended: failed -> passed
case changed  asked: failed -> passed
  the case itself changed: the same answers may get another verdict
new  added: failed
still failing  broken: failed -> error
flaky now  retried: passed -> passed"""
    )


def test_less_is_what_may_be_worse_and_more_is_what_else_differs() -> None:
    def labels(detail: int) -> list[str]:
        return [line.split("  ")[0] for line in told(BEFORE, AFTER, detail) if not line.startswith(" ")][1:]

    worse = ["REGRESSED", "GONE", "GONE", "CASE CHANGED", "LIKELY NOISE", "NO VERDICT", "NO VERDICT"]
    assert labels(-1) == worse
    assert labels(0) == labels(1) == [*worse, "fixed", "case changed", "new", "still failing", "flaky now"]
    more = told(BEFORE, AFTER, 1)
    assert more[more.index("still failing  broken: failed -> error") + 1] == "  timeout: no end within 60 s"


def test_what_differs_below_the_same_verdict_is_told_where_more_is_asked_for() -> None:
    def looked(**args: object) -> CaseResult:
        return judged({"expected_tools": ["look"]}, turn(tool_calls=(ToolCall("look", args),), scores=(1.0,)))

    before, after = [looked(n=1)], [looked(n=2)]
    assert told(before, after) == []
    assert told(before, after, 1) == [
        "same verdict  well: passed -> passed",
        '  called otherwise: look({"n":1}) -> ({"n":2})',
    ]
    lower = looked(n=1).model_copy(update={"groundedness": 0.5})
    assert "  grounded 1.00 -> 0.50" in told(before, [lower], 1)
    assert told(before, before, 1) == []


def test_where_nothing_changed_that_is_said() -> None:
    assert lines([case()], [case()])[0] == "golden: nothing regressed, nothing fixed, 1 unchanged"
    assert lines([], [])[0] == "golden: nothing regressed, nothing fixed"
    assert len(lines([case()], [case()])) == 2


def test_a_baseline_of_no_branch_and_one_of_no_commit_are_told_by_their_time() -> None:
    head = "baseline of 2026-01-02T03:04:05+00:00"
    assert lines([], [])[1] == head
    assert lines([], [], git=GitResult(sha="ab", branch=None))[1] == f"{head}, commit ab"


def test_a_check_that_is_undecided_on_both_sides_of_a_failure_is_told_and_others_are_not() -> None:
    def rows(*oks: bool | None) -> tuple[CheckResult, ...]:
        return tuple(CheckResult(name=f"c{at}", ok=ok, message="m", turn=at or None) for at, ok in enumerate(oks))

    before = [case(checks=rows(True, True, None, False))]
    after = [case("a", "failed", checks=rows(None, False, True, None))]
    assert told(before, after)[-2:] == ["  turn 2: c1: holds -> fails: m", "  turn 4: c3: fails -> undecided"]


def test_a_call_without_a_name_is_told_and_long_arguments_are_cut() -> None:
    before = judged(QUOTE, turn()).model_copy(update={"status": "passed"})
    after = judged(QUOTE, turn(tool_calls=(ToolCall("", {"x": "y" * 1000}),)))
    text = " ".join(line.strip() for line in told([before], [after]))
    assert 'called now: (no name)({"x":' in text
    assert 140 < text.count("y") <= 160


# How it is shown


def test_a_report_with_a_baseline_says_first_what_changed() -> None:
    before, after = run_of(*BEFORE), run_of(*AFTER)
    comparison = compare(before, after)
    report = REPORT.render(after, comparison, View())
    changes = "\n".join(digest(comparison, 0, False))
    assert report == f"{changes}\n\n{REPORT.render(after, None, View())}"


def test_colour_paints_labels_alone_and_only_where_it_is_asked_for() -> None:
    plain, painted = (lines(BEFORE, AFTER, 0, color) for color in (False, True))
    assert "\x1b" not in "".join(plain)
    assert painted[0].startswith("\x1b[31mgolden: ")
    assert [line for line in painted if "REGRESSED" in line] == ["\x1b[31mREGRESSED\x1b[0m  quote: passed -> failed"]
    assert lines([case()], [case()], color=True)[0].startswith("\x1b[32m")


TEXTS = st.text(st.sampled_from("ab -é漢📈\x1b\u202e\n") | st.characters(exclude_categories=["Cs"]), max_size=120)


@given(TEXTS, st.sampled_from([-1, 0, 1]))
@settings(deadline=None, max_examples=60)
def test_what_would_steer_a_terminal_is_shown_and_no_line_is_wider_than_80_columns(text: str, detail: int) -> None:
    text = HOSTILE + text
    given_ = turn(text, tool_calls=(ToolCall(text, {text: text}),))
    failed = Failure("agent", f"{text}\nhint: {text}")
    check = (CheckResult(name=text, ok=False, message=text, turn=1),)
    before = run_of(
        judged({"id": "a", "expected_tools": ["a"]}, turn()).model_copy(update={"status": "passed", "model": text}),
        case(text),
        started_at=text,
        git=GitResult(sha=text, branch=text),
        golden_version=text,
    )
    after = run_of(
        judged({"id": "a", "expected_tools": ["a"]}, given_).model_copy(update={"checks": check}),
        judged({"id": "b", "expected_tools": ["a"]}, turn("", error=failed)),
        case(f"{text}new"),
        suites=(SuiteResult(path=text, sha256=text),),
    )
    shown = "\n".join(digest(compare(before, after), detail, False))
    assert {char for char in shown if unicodedata.category(char) in ("Cc", "Zl", "Zp")} <= {"\n"}
    assert not {"\u202e", "\u200b", "\U000e0041"} & set(shown)
    assert max(map(columns, shown.splitlines())) <= 80


@pytest.mark.parametrize("detail", [-1, 0, 1])
def test_a_thousand_regressions_are_each_told(detail: int) -> None:
    ids = [f"case-{at}" for at in range(1000)]
    shown = lines([case(each) for each in ids], [case(each, "failed") for each in ids], detail)
    assert sum(line.startswith("REGRESSED") for line in shown) == 1000
