import time
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.change import Baseline, Comparison
from golden.compare import compare
from golden.reports import View, load
from golden.reports.markdown import COMMENT, SMALLEST, SUMMARY, WHOLE, Frame, body
from golden.result import (
    CaseResult,
    CheckResult,
    ErrorResult,
    GitResult,
    Quantiles,
    RunResult,
    TargetResult,
    TrialsResult,
    UsageResult,
)
from golden.transcript import ToolCall
from golden.visible import unheeded
from tests.rendered import Page
from tests.test_bulletin import failed, unjudged
from tests.test_compare import case
from tests.test_markup import FRAGMENTS, HOSTILE
from tests.values import judged, run_of, turn

OURS = "https://github.com/o/r/actions/runs/1"
POSTED = Frame(marker="<!-- golden:report v1 key=support -->", advisory=True, url=OURS)
MAIN = GitResult(sha="3f1c2ab" + "0" * 33, branch="main")
HEAD = GitResult(sha="a1b2c3d" + "0" * 33, branch="topic")


def posted(
    now: list[CaseResult],
    before: list[CaseResult] | None = None,
    frame: Frame = POSTED,
    budget: int = COMMENT,
    **info: Any,
) -> str:
    run = run_of(*now, **info)
    changed = None if before is None else compare(run_of(*before, git=MAIN), run)
    return body(run, changed, budget=budget, frame=frame)


def answered(
    case_id: str, question: str, answer: str, trials: tuple[int, int] | None = None, **asks: Any
) -> CaseResult:
    """What an agent said, judged."""
    result = judged({"id": case_id, "question": question, **asks}, turn(answer, **CALLED)).model_copy(
        update={"suite": "suite.json"}
    )
    told = None if trials is None else TrialsResult(passed=trials[0], run=trials[1])
    return result.model_copy(update={"trials": told, "case_sha256": None})


CALLED = {"tool_calls": (ToolCall("get_order", {}),)}
REFUND = ("refund-window", "Can I send it back?")
SLOW = ("long-history", "What did I buy?")
BEFORE = [
    answered(*REFUND, "Within 30 days.", trials=(3, 3), required_phrases=["30 days"]),
    answered(*SLOW, "A cup.", trials=(3, 3), required_phrases=["cup"]),
    answered("order-lookup", "Where is it?", "Nowhere.", trials=(0, 3), required_phrases=["on its way"]),
    answered("gift-card", "What is left on it?", "Nothing.", trials=(0, 3), required_phrases=["10 €"]),
]
NOW = [
    answered(*REFUND, "Returns are possible\nwithin **two weeks**.", trials=(0, 3), required_phrases=["30 days"]),
    answered(*SLOW, "A saucer.", trials=(2, 3), required_phrases=["cup"]),
    answered("order-lookup", "Where is it?", "It is on its way.", trials=(3, 3), required_phrases=["on its way"]),
    answered("gift-card", "What is left on it?", "Nothing.", trials=(0, 3), required_phrases=["10 €"]),
    answered("new-one", "And?", "No.", trials=(0, 3), required_phrases=["yes"]),
]


def test_a_report_says_the_verdict_then_what_changed_then_what_was_said_then_what_was_known() -> None:
    marker, _, text = posted(NOW, BEFORE, git=HEAD, duration_s=134.2).partition("\n")
    assert marker == POSTED.marker
    assert (
        Page(text).read
        == """\
Golden questions: 1 regression, 1 likely noise, 1 failing without a baseline, 1 of 5 passed, \
1 fixed, 1 already failing (advisory)
Question | Expectation | Before | Now
🔻 regressed | refund-window | required_phrases: not in the answer: "30 days" | 3/3 | 0/3
🌗 likely noise | long-history | required_phrases: not in the answer: "cup" | 3/3 | 2/3
🔺 fixed | order-lookup | required_phrases holds | 0/3 | 3/3
🔸 no baseline | new-one | required_phrases: not in the answer: "yes" | – | 0/3
refund-window: what the agent said
Asked: Can I send it back?
Returns are possible
within **two weeks**.
required_phrases: not in the answer: "30 days"
Called: get_order
Again: golden run suite.json --case refund-window --agent app:agent
long-history: what the agent said
Asked: What did I buy?
A saucer.
required_phrases: not in the answer: "cup"
Called: get_order
Again: golden run suite.json --case long-history --agent app:agent
new-one: what the agent said
Asked: And?
No.
required_phrases: not in the answer: "yes"
Called: get_order
Again: golden run suite.json --case new-one --agent app:agent
1 already failing in the baseline
Question | Expectation | Before | Now
gift-card | required_phrases: not in the answer: "10 €" | 0/3 | 0/3
Commit a1b2c3d, asked at app:agent, baseline main 3f1c2ab of 2026-01-02 03:04. 5 questions, \
3 tries each, 2 min 14 s, first token 0.50 s (p95 0.50 s). \
Run and full report. golden 1.2.3"""
    )


def test_where_all_is_well_a_report_is_two_lines() -> None:
    fine = [case(f"c{at}") for at in range(44)]
    head, last = posted(fine, fine, git=HEAD).removeprefix(f"{POSTED.marker}\n").split("\n\n")
    assert head == "### Golden questions: no regression, all 44 passed (advisory)"
    assert Page(last).shown.startswith("Commit , asked at , baseline   of . 44 questions, 2.5 s, first token 0.50 s")
    assert last.count("\n") == 1
    assert len(posted(fine, frame=WHOLE).splitlines()) == 3
    assert "no baseline" in posted(fine, frame=WHOLE)


EVALS = "skipping evals: EVAL_JWT_SECRET not set"
LOCKED = "the server refused\nhint: the preview looks protected: give its bypass header"


@pytest.mark.parametrize(
    ("now", "sentence", "line"),
    [
        ([unjudged("a", "skipped", EVALS)] * 3, "skipped, nothing was asked", f"The reason: {EVALS}"),
        (
            [unjudged("a", "refused", LOCKED)],
            "the preview is protected, 1 could not be judged, 0 of 1 passed",
            "Most often: the server refused; the preview looks protected: give its bypass header",
        ),
        (
            [unjudged(f"e{at}") for at in range(44)],
            "most questions could not be judged, 44 could not be judged, 0 of 44 passed",
            "Most often: no end within 60 s",
        ),
        (
            [case("p"), unjudged("a", "not_run", "the suite time-out of 300 s was reached")],
            "1 not run, 1 of 2 passed",
            "Stopped early: the suite time-out of 300 s was reached",
        ),
    ],
)
def test_a_run_without_verdicts_is_told_in_one_line(now: list[CaseResult], sentence: str, line: str) -> None:
    head, why, _ = posted(now).removeprefix(f"{POSTED.marker}\n").split("\n\n")
    assert head == f"### Golden questions: {sentence} (advisory)"
    page = Page(why)
    lead, _, said = line.partition(": ")
    assert (page.shown, page.code) == (f"{lead}: \n", [said])


def test_a_report_on_a_commit_that_is_no_longer_the_head_is_one_line_that_says_so() -> None:
    text = posted(NOW, BEFORE, frame=POSTED._replace(head="9" * 40, commit="8" * 40))
    head, last = text.removeprefix(f"{POSTED.marker}\n").split("\n\n")
    assert head == "### Golden questions: outdated, the pull request is at <code>9999999</code> by now (advisory)"
    assert last.startswith("Commit <code>8888888</code>, asked at")


def test_who_asked_is_named() -> None:
    page = Page(posted([case("a")], frame=Frame(asked_by="octo-cat")))
    assert ", by , no baseline." in page.shown
    assert "octo-cat" in page.code


def test_a_comment_shows_ten_rows_and_five_answers_and_a_summary_all() -> None:
    many = [failed(f"c{at}") for at in range(30)]
    comment, summary = Page(posted(many)), Page(posted(many, frame=WHOLE, budget=SUMMARY))
    assert (comment.tags.count("tr"), comment.tags.count("details")) == (11, 5)
    assert "Left out: 20 of the table, 25 of the answers." in comment.shown
    assert (summary.tags.count("tr"), summary.tags.count("details")) == (31, 30)
    assert "Left out" not in summary.shown
    known = Page(posted(many, many))
    assert (known.tags.count("tr"), known.tags.count("details")) == (11, 1)
    assert "30 already failing in the baseline" in known.shown
    assert "Left out: 20 of those already failing." in known.shown


def test_what_else_differs_from_the_baseline_is_told_where_something_changed() -> None:
    for now, told in ((failed(), True), (case("a"), False)):
        run = run_of(now, golden_version="9.9.9")
        page = Page(body(run, compare(run_of(case("a")), run), budget=COMMENT))
        assert ("the baseline is of golden 1.2.3, this run of 9.9.9" in page.code) == told


def test_an_answer_of_several_turns_is_told_with_its_questions_and_an_error_with_what_to_do() -> None:
    one, two = (failed().turns[0].model_copy(update={"question": f"Question {at}?"}) for at in "12")
    several = failed("s", *"abcdefg", turns=(one, two))
    cut = unjudged("e", message="no end\nhint: --timeout raises it", turns=(), checks=(), actual_tools=())
    page = Page(posted([case("p"), several, cut]))
    assert "\n1. Question 1?\nAll is well.\n\n2. Question 2?\nAll is well.\n" in page.code
    assert {"a: not a", "e: not e"} <= {*page.code}
    assert page.tags.count("pre") == 1
    assert "f: not f" not in page.code
    assert "and 2 more" in page.shown
    assert "timeout: no end; --timeout raises it" in page.code


def test_how_to_ask_again_is_a_command_that_a_shell_takes() -> None:
    odd = failed("it's $(id)").model_copy(update={"suite": "my suite.yaml"})
    for kind, option in (("call", "--agent"), ("asgi", "--asgi"), ("http", "--base-url"), ("other", "")):
        target = TargetResult(kind=kind, name="https://p.example/a b", dialect="native")
        asked = f" {option} 'https://p.example/a b'" if option else ""
        again = f"""golden run 'my suite.yaml' --case 'it'"'"'s $(id)'{asked}"""
        assert again in Page(posted([odd], target=target)).code
    assert "golden run --case a" in Page(posted([failed().model_copy(update={"suite": None})], target=None)).code


def test_a_run_says_what_it_took() -> None:
    flaky = case("f", flaky=True)
    run = run_of(flaky, duration_s=134.4)
    summary = run.summary.model_copy(update={"usage": UsageResult(input=1200, output=None)})
    assert (
        ". 1 questions, 1 passed on a retry only, 2 min 14 s, first token 0.50 s (p95 0.50 s), tokens 1,200 in."
        in Page(body(run.model_copy(update={"summary": summary}), None, budget=COMMENT)).shown
    )
    nothing = run.summary.model_copy(
        update={"usage": UsageResult(input=None, output=None), "first_token_s": Quantiles(p50=None, p95=None)}
    )
    assert "2 min 14 s. golden" in body(run.model_copy(update={"summary": nothing}), None, budget=COMMENT)


# Text of others

PLAIN = case("p")
(ANSWERED,) = PLAIN.turns


def hostile(texts: list[str]) -> tuple[RunResult, Comparison]:
    """A run and its comparison, which say these texts wherever others have a say."""
    said = cycle(texts)

    def result(status: str, **more: Any) -> CaseResult:
        turns = tuple(ANSWERED.model_copy(update={"question": next(said), "answer": next(said)}) for _ in range(2))
        fields = {
            "case_id": next(said),
            "status": status,
            "question": next(said),
            "suite": next(said),
            "checks": tuple(CheckResult(name=next(said), ok=False, message=next(said), turn=None) for _ in range(2)),
            "turns": turns,
            "actual_tools": (next(said), next(said)),
            "error": ErrorResult(kind=next(said), message=next(said)),
            "model": next(said),
        }
        return PLAIN.model_copy(update={**fields, **more})

    before = [result(status) for status in ("passed", "passed", "failed", "failed", "passed", "passed")]
    statuses = ("failed", "error", "passed", "failed", "skipped")
    now = [result(status, case_id=was.case_id) for status, was in zip(statuses, before, strict=False)]
    run = run_of(
        *now,
        *(result("failed"), result("not_run"), PLAIN),
        golden_version=next(said),
        target=TargetResult(kind="http", name=next(said), dialect=next(said), reason=next(said)),
        git=GitResult(sha=next(said), branch=next(said)),
    )
    changed = compare(run_of(*before), run)
    baseline = Baseline(next(said), next(said), next(said), next(said))
    return run, Comparison(
        **{**{name: getattr(changed, name) for name in changed.__slots__}, "baseline": baseline, "notes": (next(said),)}
    )


@given(st.lists(HOSTILE, min_size=21, max_size=21))
@settings(deadline=None, max_examples=60)
def test_no_text_of_others_becomes_markup_or_a_command(texts: list[str]) -> None:
    run, changed = hostile([f"EVIL{text}EVIL" for text in texts])
    for comparison in (changed, None):
        for frame in (
            WHOLE._replace(url=OURS, asked_by=texts[0], commit=texts[1]),
            POSTED._replace(marker="", head=texts[2]),
        ):
            text = body(run, comparison, budget=COMMENT, frame=frame)
            assert len(text.encode()) <= COMMENT
            assert unheeded(text) == text
            for filtered in (False, True):
                page = Page(text, filtered)
                assert page.faults == []
                assert page.links == [OURS]
                assert "EVIL" not in page.shown
                assert page.tags.count("details") == page.tags.count("summary")


def thousand(text: str) -> list[CaseResult]:
    one = failed("c", *(text[:500] for _ in range(9)), question=text, actual_tools=(text,) * 30)
    one = one.model_copy(update={"turns": (one.turns[0].model_copy(update={"answer": text}),), "suite": text[:99]})
    return [one.model_copy(update={"case_id": f"{at}{text[:115]}"}) for at in range(1000)]


@pytest.mark.parametrize(
    "text", ["@" * 5000, "&<>" * 2000, "\n" * 5000, "📈" * 5000, "".join(FRAGMENTS) * 10, "All is ill. " * 50]
)
def test_a_thousand_failing_cases_fit_each_budget_and_nothing_is_cut_in_two(text: str) -> None:
    many = thousand(text)
    start = time.process_time()
    for budget, frame in ((SUMMARY, WHOLE), (COMMENT, POSTED._replace(marker="")), (SMALLEST, WHOLE)):
        for before in (None, many):
            written = posted(many, before, frame, budget)
            assert len(written.encode()) <= budget
            is_filled = before is None and budget == SUMMARY
            assert len(written.encode()) > budget * 0.9 or not is_filled
            page = Page(written)
            assert page.faults == []
            assert "Left out: " in page.shown or (before and budget == SUMMARY)
            assert page.tags.count("td") % page.tags.count("th") == 0
    assert time.process_time() - start < 4


def test_no_budget_is_exceeded_by_a_byte() -> None:
    run = run_of(*(failed(f"c{at}") for at in range(100)), *(failed(f"k{at}") for at in range(100)))
    changed = compare(run_of(*(case(f"c{at}") for at in range(100)), *(failed(f"k{at}") for at in range(100))), run)
    sizes = {}
    for budget in range(SMALLEST, SMALLEST + 1000, 7):
        sizes[budget] = len(body(run, changed, budget=budget).encode())
    assert all(budget - 400 < size <= budget for budget, size in sizes.items())


@pytest.mark.parametrize("text", ["@" * 5000, "\U000e0041" * 5000])
def test_what_is_said_of_any_run_fits_the_least_budget(text: str) -> None:
    names = {"git": GitResult(sha=text, branch=text), "golden_version": text}
    target = TargetResult(kind="http", name=text, dialect=text)
    run = run_of(*(unjudged("a", "refused", text), failed("b"), unjudged("c", text, text)), target=target, **names)
    changed = compare(run_of(case("a"), case("b"), git=names["git"]), run)
    frame = POSTED._replace(asked_by=text, url=f"{OURS}/attempts/2#summary", commit=text)
    assert len(body(run, changed, budget=0, frame=frame).encode()) < SMALLEST


def test_the_report_of_a_file_is_the_whole() -> None:
    run = run_of(*NOW)
    assert load("markdown").render(run, None, View()) == body(run, None, budget=SUMMARY)
