import json
import re
import time
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden import reports
from golden.errors import UsageError
from golden.layout import PIECE
from golden.redaction import Secrets
from golden.reports import View
from golden.reports.text import REPORT
from golden.result import CaseResult, CheckResult, RunResult, TargetResult, UsageResult, read
from golden.score import not_run, skipped
from golden.suite import Case, Suite
from golden.transcript import Failure, Finding, Seen, Timing, ToolCall, Turn, Usage
from tests.values import columns, is_wide, judged, run_of, turn

GOOD: dict[str, object] = {"required_phrases": ["well"]}
BAD: dict[str, object] = {"required_phrases": ["ill"]}


def shown(*results: CaseResult, detail: int = 0, color: bool = False, **info: Any) -> str:
    return REPORT.render(run_of(*results, **info), None, View(detail=detail, color=color))


def lines(*results: CaseResult, detail: int = 0, **info: Any) -> list[str]:
    return shown(*results, detail=detail, **info).splitlines()


def stopped(case_id: str = "late", reason: str = "stopped by SIGINT", *turns: Turn) -> CaseResult:
    case = Case(id=case_id, question="And this?", required_phrases=["x"])
    return not_run(Suite(cases=[case]), case, None, reason, Secrets(), turns)


def left_out(case_id: str = "later", reason: str = "not yet") -> CaseResult:
    case = Case(id=case_id, question="And this?", required_phrases=["x"])
    return skipped(Suite(cases=[case]), case, reason, Secrets())


CUT = turn(
    "All is",
    finish=None,
    error=Failure("timeout", "no end within 60 s (--timeout), after 2 events\nhint: --timeout raises it"),
    timing=Timing(0.25, 0.5, 60),
    usage=Usage(1200, None),
    tool_calls=(ToolCall("get_mood", {}),),
    findings=(Finding("scores", "more than one groundedness score: the last one counts"),),
)
WRONG = turn(
    "I bought it for you, and I would buy more of it: everybody says that it can only go up from here.",
    tool_calls=(ToolCall("get_news", {"symbol": "MSFT"}), ToolCall("", {})),
    scores=(0.25,),
    usage=Usage(3000, 250),
)
ASKS: dict[str, object] = {
    "expected_tools": ["get_quote"],
    "forbidden_phrases": ["I bought"],
    "groundedness_threshold": 0.5,
}

WHOLE = (
    judged({"id": "well", **GOOD}, turn(scores=(0.875,))),
    judged({"id": "cut", **GOOD}, CUT),
    judged({"id": "quote", "question": "What is Microsoft trading at?", **ASKS}, WRONG),
    left_out(),
    stopped(),
)


def test_a_report_says_the_verdict_then_what_does_not_hold_then_the_rest() -> None:
    assert (
        shown(*WHOLE)
        == """\
golden: 1 of 5 cases failed, 1 could not be judged, 1 not run, 1 passed, 1
  skipped
call app:agent, dialect native

FAILED  quote
  asked: What is Microsoft trading at?
  groundedness_threshold: 0.5 expected; the score is 0.25
  forbidden_phrases: found "I bought" in: [I bought] it for you, and I would buy
    more of it:…
  expected_tools: expected a call of get_quote; called: get_news, (no name)
  answer: I bought it for you, and I would buy more of it: everybody says that
    it can only go up from here.

ERROR  cut
  asked: Is all well?
  timeout: no end within 60 s (--timeout), after 2 events
  hint: --timeout raises it
  called: get_mood
  answer: All is
  stream: more than one groundedness score: the last one counts

passed   well   1.50 s, grounded 0.88
skipped  later  not yet
not run  late   stopped by SIGINT

5 cases: 1 passed, 1 failed, 1 errors, 1 skipped, 1 not run; 2.50 s; first token
  0.50 s (p95 0.50 s); tokens 4,200 in, 250 out
"""
    )


def test_less_is_the_verdict_and_what_does_not_hold() -> None:
    quiet = lines(*WHOLE, detail=-1)
    assert quiet == lines(*WHOLE, detail=-2)
    assert [line for line in lines(*WHOLE) if line not in quiet] == [
        "passed   well   1.50 s, grounded 0.88",
        "skipped  later  not yet",
        "not run  late   stopped by SIGINT",
    ]


def test_more_is_each_cases_answer_calls_and_events() -> None:
    told = turn(
        tool_calls=(ToolCall("get_mood", {"of": "all"}), ToolCall("", "{", parsed=False)),
        findings=(Finding("scores", "two scores"),),
        events=(Seen(0.25, "tool_call", "call"), Seen(1.5, "", "text+end"), Seen(12.0, "ping", "")),
    )
    detail = [
        "  called get_mood({'of': 'all'})",
        "  called (no name)('{')",
        "  stream: two scores",
        "      0.250 s  tool_call  call",
        "      1.500 s  (unnamed)  text+end",
        "     12.000 s  ping  -",
    ]
    passed = lines(judged(GOOD, told), detail=1)
    calls, rest = detail[:2], detail[2:]
    assert passed[3:-3] == ["passed   well  1.50 s", *calls, "  answer: All is well.", *rest]
    failed = lines(judged(BAD, told), detail=1)
    assert failed[3:-3] == [
        "FAILED  well",
        "  asked: Is all well?",
        '  required_phrases: not in the answer: "ill"',
        *calls,
        "  answer: All is well.",
        *rest,
    ]


def test_the_whole_answer_is_shown_only_where_more_is_asked_for() -> None:
    answer = "x" * 300
    for more, cut in ((answer, answer), (answer + "y", "x" * 299 + "…")):
        assert f"answer:{cut}\n\n" in shown(judged(BAD, turn(more))).replace("\n    ", "")
    assert "xxxy\n" in shown(judged(BAD, turn(answer + "y")), detail=1)


def test_an_empty_answer_is_told_as_empty_where_it_was_judged() -> None:
    called = turn("", tool_calls=(ToolCall("a", {}),))
    assert "  answer: (empty)" in lines(judged(BAD, called))
    assert "  answer: (empty)" in lines(judged({"expected_tools": ["a"]}, called), detail=1)
    refused = turn("", error=Failure("unreachable", "no connection"))
    assert "answer" not in shown(judged(BAD, refused))


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([], "golden: no cases"),
        ([judged(GOOD, turn())] * 2, "golden: 2 of 2 cases passed"),
        ([left_out()] * 3, "golden: 3 of 3 cases skipped"),
        ([stopped(), judged(GOOD, turn())], "golden: 1 of 2 cases not run, 1 passed"),
        ([judged(GOOD, CUT), left_out()], "golden: 1 of 2 cases could not be judged, 1 skipped"),
        ([left_out(), judged(BAD, turn())], "golden: 1 of 2 cases failed, 1 skipped"),
    ],
)
def test_the_verdict_is_the_first_line_and_names_the_worst_first(results: list[CaseResult], verdict: str) -> None:
    for detail in (-1, 0, 1):
        assert lines(*results, detail=detail)[0] == verdict


def test_failures_stand_before_errors_and_each_in_suite_order() -> None:
    order = [("e1", CUT), ("f1", turn("x")), ("e2", CUT), ("p", turn()), ("f2", turn("x"))]
    results = [judged({"id": case_id, **GOOD}, given) for case_id, given in order]
    heads = [line.split()[1] for line in lines(*results) if line.startswith(("FAILED", "ERROR", "passed"))]
    assert heads == ["f1", "f2", "e1", "e2", "p"]


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("named", "call app:agent, dialect native"),
        ("", "call app:agent, dialect native"),
        ("an event named `token`", "call app:agent, dialect native (an event named `token`)"),
    ],
)
def test_where_the_answers_came_from_is_the_second_line(reason: str, line: str) -> None:
    target = TargetResult(kind="call", name="app:agent", dialect="native", reason=reason)
    assert lines(judged(GOOD, turn()), target=target)[1] == line
    assert lines(left_out(), target=None)[1] == ""


@pytest.mark.parametrize(
    ("usage", "figures"),
    [
        (None, "first token 0.50 s (p95 0.50 s)"),
        (Usage(0, 0), "tokens 0 in, 0 out"),
        (Usage(None, 1234567), "tokens ? in, 1,234,567 out"),
    ],
)
def test_the_last_lines_are_the_runs_figures(usage: Usage | None, figures: str) -> None:
    text = " ".join(shown(judged(GOOD, turn(usage=usage))).rpartition("\n\n")[2].split())
    assert text.startswith("1 cases: 1 passed, 0 failed, 0 errors, 0 skipped, 0 not run; 2.50 s; ")
    assert text.endswith(figures)


def test_where_nothing_was_timed_no_times_are_told() -> None:
    assert lines(left_out())[-1] == "1 cases: 0 passed, 0 failed, 0 errors, 1 skipped, 0 not run; 2.50 s"


def test_what_was_called_is_told_once_and_only_where_something_was() -> None:
    called = turn(tool_calls=(ToolCall("a", {}), ToolCall("", {})))
    assert "  called: a, (no name)" in lines(judged(BAD, called))
    assert shown(judged({"max_tool_calls": 1}, called)).count("called:") == 1
    assert "called" not in shown(judged(BAD, turn()))


def test_a_result_of_others_that_gives_no_reason_is_shown_without_one() -> None:
    assert "skipped  later" in lines(left_out().model_copy(update={"error": None}))


def test_a_reason_that_is_long_is_told_to_its_end() -> None:
    reason = "the suite time-out of 300 s was reached; --suite-timeout raises it, 0 is none"
    for result in (stopped("a" * 40, reason), left_out("a" * 40, reason)):
        assert reason in " ".join(shown(result).split())


# Colour


def test_colour_is_used_only_where_it_is_asked_for_and_carries_nothing_alone() -> None:
    plain, painted = shown(*WHOLE), shown(*WHOLE, color=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", painted) == plain
    for line in painted.splitlines():
        codes = re.findall(r"\x1b\[(\d+)m", line)
        assert codes in ([], ["31", "0"], ["32", "0"], ["33", "0"], ["35", "0"])
    for label in ("FAILED", "ERROR", "passed", "skipped", "not run"):
        assert re.search(rf"^\x1b\[\d+m{label}\x1b\[0m ", painted, re.MULTILINE)


def test_the_verdict_is_green_only_where_all_passed() -> None:
    assert shown(judged(GOOD, turn()), color=True).startswith("\x1b[32mgolden: 1 of 1 cases passed\x1b[0m\n")
    assert shown(stopped(), color=True).startswith("\x1b[31mgolden: 1 of 1 cases not run\x1b[0m\n")


# What is shown is never obeyed

HOSTILE = "a\x1b[31mb\nFORGED golden: all passed\r\x9b2J\x07\x00\u202ec\u2028FORGED\u200b\U000e0041\x85FORGED"


def with_target(**fields: str) -> Callable[[str], RunResult]:
    target = {"kind": "call", "name": "app:agent", "dialect": "native", "reason": "named", **fields}
    return lambda text: run_of(
        judged(GOOD, turn()), target=TargetResult(**{key: value or text for key, value in target.items()})
    )


def with_result(**fields: Any) -> Callable[[str], RunResult]:
    return lambda text: run_of(judged(BAD, turn()).model_copy(update=dict.fromkeys(fields, text)))


def with_turn(asked: dict[str, object], fields: Callable[[str], dict[str, Any]]) -> Callable[[str], RunResult]:
    return lambda text: run_of(judged(asked, turn(**fields(text))))


def with_check(text: str) -> RunResult:
    check = CheckResult(name=text, ok=False, message=text, turn=None)
    return run_of(judged(BAD, turn()).model_copy(update={"checks": (check,)}))


PLACES: dict[str, Callable[[str], RunResult]] = {
    "target kind": with_target(kind=""),
    "target name": with_target(name=""),
    "dialect": with_target(dialect=""),
    "reason": with_target(reason=""),
    "failed id": with_result(case_id=True),
    "passed id": lambda text: run_of(judged(GOOD, turn()).model_copy(update={"case_id": text})),
    "question": with_result(question=True),
    "model": with_result(model=True),
    "check": with_check,
    "answer": with_turn(BAD, lambda text: {"answer": text}),
    "passed answer": with_turn(GOOD, lambda text: {"answer": f"{text} well"}),
    "called": with_turn(BAD, lambda text: {"tool_calls": (ToolCall(text, {}),)}),
    "arguments": with_turn(BAD, lambda text: {"tool_calls": (ToolCall("a", {text: [text]}, result=text),)}),
    "tools": with_turn({"expected_tools": ["a"]}, lambda text: {"tool_calls": (ToolCall(text, text),)}),
    "phrase": with_turn({"forbidden_phrases": ["golden"]}, lambda text: {"answer": text}),
    "score": with_turn({"groundedness_threshold": 1}, lambda text: {"scores": (text,)}),
    "finding": with_turn({"clean_stream": True}, lambda text: {"findings": (Finding("not_json", text),)}),
    "finding of a passed case": with_turn(GOOD, lambda text: {"findings": (Finding("scores", text),)}),
    "event": with_turn(BAD, lambda text: {"events": (Seen(0, text, text),)}),
    "error": with_turn(BAD, lambda text: {"error": Failure("agent", text)}),
    "error kind": with_turn(BAD, lambda text: {"error": Failure(text, "x")}),
    "hint": with_turn(BAD, lambda text: {"error": Failure("agent", f"{text}\nhint: {text}")}),
    "not run": lambda text: run_of(stopped("late", text)),
    "skipped": lambda text: run_of(left_out("later", text)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("detail", [-1, 0, 1])
def test_what_would_steer_a_terminal_is_shown_and_not_obeyed(place: str, detail: int) -> None:
    half = "" if "answer" in place or place == "phrase" else "\ud83d"  # answers are whole when they are scored
    text = REPORT.render(PLACES[place](HOSTILE + half), None, View(detail=detail))
    assert {char for char in text if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")} == {"\n"}
    assert not {"\u202e", "\u200b", "\U000e0041"} & set(text)
    assert text.encode()
    assert not [line for line in text.split("\n") if line.strip().startswith("FORGED")]
    assert max(map(columns, text.splitlines())) <= 80


def test_of_the_line_breaks_in_an_error_only_the_one_before_goldens_hint_is_obeyed() -> None:
    failure = Failure("agent", "it raised Oops: one\ntwo\nhint: forged\nhint: raised at app.py:3")
    assert lines(judged(BAD, turn("", error=failure)))[5:7] == [
        r"  agent: it raised Oops: one\ntwo\nhint: forged",
        "  hint: raised at app.py:3",
    ]


# Columns

WORDS = st.text(
    st.one_of(st.sampled_from("abc   -é漢字仮名한글ＡＢ📈💥✅"), st.characters(exclude_categories=["Cs"])), max_size=300
)


@given(WORDS, st.sampled_from([-1, 0, 1]))
@settings(deadline=None, max_examples=60)
def test_no_line_is_wider_than_80_columns(text: str, detail: int) -> None:
    given = turn(
        text,
        tool_calls=(ToolCall(text, {text: text}),),
        findings=(Finding("not_json", text),),
        events=(Seen(0.5, text, "text"),),
    )
    name = {"case_id": text[:120] or "a", "question": text}
    run = run_of(
        judged(BAD, given).model_copy(update=name),
        judged(BAD, turn(text, error=Failure("agent", f"{text}\nhint: {text}"))).model_copy(update=name),
        judged({"clean_stream": True}, turn(text)).model_copy(update=name),
        stopped("a", text).model_copy(update=name),
        left_out("a", text).model_copy(update=name),
        target=TargetResult(kind="http", name=text, dialect="native", reason=text),
    )
    report = REPORT.render(run, None, View(detail=detail))
    assert [line for line in report.splitlines() if columns(line) > 80] == []
    assert not re.search(r" $", report, re.MULTILINE)


@pytest.mark.parametrize("word", ["a" * 1000, "漢" * 500, "https://example.org/" + "x/" * 300, "é" * 1000])
def test_a_word_longer_than_a_line_is_broken_and_nothing_of_it_is_lost(word: str) -> None:
    report = shown(judged(BAD, turn(word)), detail=1)
    assert word in report.replace("\n    ", "")
    assert max(map(columns, report.splitlines())) <= 80


def test_text_is_broken_at_spaces_and_between_wide_characters_only() -> None:
    mixed = "naïve-café Straße_mit_Ümläuten, ZIGZAG don’t " * 10
    report = shown(judged(BAD, turn(mixed.strip())), detail=1)
    assert mixed.strip() in report.replace("\n    ", " ")
    wide = "漢字" * 100
    first = next(line for line in lines(judged(BAD, turn(wide)), detail=1) if line.startswith("  answer:"))
    assert columns(first) == 80


def test_every_wide_character_is_known() -> None:
    wide = filter(is_wide, map(chr, range(0x110000)))
    assert [hex(ord(char)) for char in wide if len(PIECE.findall(char * 2)) != 2] == []


def test_the_lines_of_passed_cases_stand_in_columns() -> None:
    results = [judged({"id": case_id, **GOOD}, turn()) for case_id in ("a", "a" * 120, "漢字", "é")]
    assert [line for line in lines(*results) if line.startswith("passed")] == [
        f"passed   a{' ' * 39}  1.50 s",
        f"passed   {'a' * 39}…  1.50 s",
        f"passed   漢字{' ' * 36}  1.50 s",
        f"passed   é{' ' * 39}  1.50 s",
    ]


def test_an_id_of_any_length_is_shown_whole_where_the_case_did_not_pass() -> None:
    assert "a" * 76 in shown(judged({"id": "a" * 76, **BAD}, turn()))
    report = shown(judged({"id": "a" * 120, **BAD}, turn()))
    assert "a" * 120 in report.replace("\n  ", "")


def test_a_thousand_cases_are_shown_fast_and_in_order() -> None:
    results = [
        judged({"id": f"case-{at}", **(GOOD if at % 3 else BAD)}, turn("All is well. " * 20)) for at in range(1000)
    ]
    run = run_of(*results)
    begin = time.process_time()
    text = REPORT.render(run, None, View())
    assert time.process_time() - begin < 1
    assert re.findall(r"^(?:passed|FAILED) +case-(\d+)", text, re.MULTILINE) == [
        *(str(at) for at in range(1000) if not at % 3),
        *(str(at) for at in range(1000) if at % 3),
    ]


# The rib


def test_a_report_is_found_by_its_name_and_by_its_suffix() -> None:
    found = reports.by_suffix()
    assert {suffix: report.suffix for suffix, report in found.items()} == {
        name: name for name in (".html", ".json", ".txt")
    }
    assert reports.load("text") is REPORT is found[".txt"]
    with pytest.raises(UsageError, match="no report is called 'pdf'"):
        reports.load("pdf")


@pytest.mark.parametrize("view", [View(), View(detail=1, color=True), View(detail=-1)])
def test_the_json_report_is_the_results_file_whatever_is_shown(view: View) -> None:
    run = run_of(*WHOLE)
    text = reports.load("json").render(run, None, view)
    assert read(text) == run
    assert json.loads(text)["schema"] == "golden.results/1"


def test_rendering_changes_nothing_and_gives_the_same_each_time() -> None:
    run = run_of(*WHOLE)
    before = run.model_dump_json()
    for name in ("text", "json"):
        assert reports.load(name).render(run, None, View(detail=1)) == reports.load(name).render(
            run, None, View(detail=1)
        )
    assert run.model_dump_json() == before


def test_usage_read_from_a_file_of_others_may_be_unknown() -> None:
    run = run_of(judged(GOOD, turn()))
    summary = run.summary.model_copy(update={"usage": UsageResult(input=None, output=None)})
    assert "tokens ? in, ? out" in " ".join(
        REPORT.render(run.model_copy(update={"summary": summary}), None, View()).split()
    )
