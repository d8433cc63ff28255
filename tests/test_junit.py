from pathlib import Path
from typing import Any

import junitparser
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from golden.reports import View, by_suffix
from golden.reports.junit import REPORT
from golden.result import CaseResult, CheckResult, ErrorResult, GitResult, Status, TargetResult, TrialsResult
from golden.transcript import Failure, Timing, ToolCall
from golden.verdict import Try, verdict
from golden.visible import visible
from tests.values import judged, run_of, turn

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))

FAILED = judged(
    {"id": "quote", "expected_tools": ["get_quote"], "forbidden_tools": ["get_news"]},
    turn("Nothing\nnew.", tool_calls=(ToolCall("get_news", {}),)),
    model="small",
).model_copy(update={"suite": "evals/market.v2.yaml"})
PASSED = judged({"id": "well", "required_phrases": ["well"]}, turn(scores=(0.875,)))
CUT = judged(
    {"id": "cut", "required_phrases": ["well"]},
    turn("All is", error=Failure("timeout", "no end within 60 s\nhint: --timeout"), timing=Timing(0.2, None, 60)),
)


def xml(*results: CaseResult, **info: Any) -> str:
    """The report of these results; it is valid."""
    text = REPORT.render(run_of(*results, **info), None, View())
    SCHEMA.assertValid(etree.fromstring(text.encode()))
    return text


def cases(*results: CaseResult) -> list[junitparser.TestCase]:
    """What a library reads of it."""
    return [case for suite in junitparser.JUnitXml.fromstring(xml(*results).encode()) for case in suite]


def never(status: Status, reason: str) -> CaseResult:
    error = ErrorResult(kind=status, message=reason)
    fields = {"case_id": status, "status": status, "passed": False, "groundedness": None, "error": error}
    return PASSED.model_copy(update={**fields, "turns": (), "checks": (), "attempts": ()})


def tried(*results: CaseResult, flaky: Any = "pass", trials: int = 1) -> CaseResult:
    return verdict([Try(1, number, result) for number, result in enumerate(results, start=1)], trials, flaky)


def test_a_report_is_this() -> None:
    assert by_suffix()[".xml"] is REPORT
    assert (
        xml(FAILED, PASSED, git=GitResult(sha="a1b2c3", branch=None))
        == """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="golden" tests="2" failures="1" errors="0" time="2.500">
  <testsuite name="evals/market.v2.yaml" tests="1" failures="1" errors="0" skipped="0" time="1.500" \
timestamp="2026-01-02T03:04:05+00:00">
    <properties>
      <property name="golden" value="1.2.3" />
      <property name="target" value="call app:agent" />
      <property name="dialect" value="native" />
      <property name="model" value="small" />
      <property name="commit" value="a1b2c3" />
      <property name="first_token_s.p50" value="0.500" />
      <property name="first_token_s.p95" value="0.500" />
      <property name="total_s.p50" value="1.500" />
      <property name="total_s.p95" value="1.500" />
    </properties>
    <testcase name="quote" classname="evals.market.v2" time="1.500">
      <failure message="expected_tools: expected a call of get_quote; called: get_news" type="expected_tools">\
expected_tools: expected a call of get_quote; called: get_news
forbidden_tools: forbidden, but called: get_news
asked: Is all well?
answer: Nothing\\nnew.</failure>
      <system-out>model: small
called: get_news
first token: 0.500 s</system-out>
    </testcase>
  </testsuite>
  <testsuite name="golden" tests="1" failures="0" errors="0" skipped="0" time="1.500" \
timestamp="2026-01-02T03:04:05+00:00">
    <properties>
      <property name="golden" value="1.2.3" />
      <property name="target" value="call app:agent" />
      <property name="dialect" value="native" />
      <property name="commit" value="a1b2c3" />
      <property name="first_token_s.p50" value="0.500" />
      <property name="first_token_s.p95" value="0.500" />
      <property name="total_s.p50" value="1.500" />
      <property name="total_s.p95" value="1.500" />
    </properties>
    <testcase name="well" classname="golden" time="1.500">
      <system-out>groundedness: 0.875
first token: 0.500 s</system-out>
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_failure_error_and_skipped_are_told_apart_and_what_was_not_run_is_no_pass() -> None:
    results = (FAILED, CUT, never("skipped", "not yet"), never("not_run", "stopped by SIGINT"), PASSED)
    told = [
        [(type(one).__name__, one.type, one.message) for one in case.result] if case.result else []
        for case in cases(*results)
    ]
    assert told == [
        [("Failure", "expected_tools", "expected_tools: expected a call of get_quote; called: get_news")],
        [("Error", "timeout", "no end within 60 s")],
        [("Skipped", None, "not yet")],
        [("Error", "not_run", "stopped by SIGINT")],
        [],
    ]
    (first, second) = junitparser.JUnitXml.fromstring(xml(*results).encode())
    assert [first.tests, first.failures, first.errors, first.skipped] == [1, 1, 0, 0]
    assert [second.tests, second.failures, second.errors, second.skipped] == [4, 0, 2, 1]
    assert "no end within 60 s\nhint: --timeout\nasked: Is all well?\nanswer: All is</error>" in xml(CUT)
    assert "target" not in xml(never("skipped", "not yet"), target=None)
    assert ">stopped by SIGINT\nasked: Is all well?</error>" in xml(never("not_run", "stopped by SIGINT"))


def test_tries_that_did_not_pass_are_flaky_or_rerun_elements_beside_the_one_that_decided() -> None:
    def elements(result: CaseResult) -> list[tuple[str, str]]:
        case = etree.fromstring(xml(result).encode()).find(".//testcase")
        assert case is not None
        return [(str(one.tag), one.get("type", "")) for one in case if one.tag != "system-out"]

    assert elements(tried(CUT, FAILED, PASSED)) == [("flakyFailure", "expected_tools"), ("flakyError", "timeout")]
    assert elements(tried(CUT, FAILED, PASSED, flaky="fail")) == [
        ("failure", "flaky"),
        ("rerunFailure", "expected_tools"),
        ("rerunError", "timeout"),
    ]
    assert elements(tried(CUT, FAILED)) == [("failure", "expected_tools"), ("rerunError", "timeout")]
    assert elements(tried(CUT, CUT)) == [("error", "timeout"), ("rerunError", "timeout")]
    assert elements(tried(PASSED, FAILED, FAILED, trials=3)) == [
        ("failure", "expected_tools"),
        ("rerunFailure", "expected_tools"),
    ]
    assert "trials: 1 of 3 passed" in xml(tried(PASSED, FAILED, FAILED, trials=3))
    assert "<stackTrace>no end within 60 s\nhint: --timeout</stackTrace>" in xml(tried(CUT, PASSED))


def test_each_turn_has_its_answer_and_its_first_token() -> None:
    both = judged({"required_phrases": ["ill"]}, turn("One."), turn("Two.", question="And now?"))
    (case,) = cases(both)
    assert case.result[0].text.endswith(
        "\nturn 1: asked: Is all well?\nturn 1: answer: One.\nturn 2: asked: And now?\nturn 2: answer: Two."
    )
    assert case.system_out == "turn 1: first token: 0.500 s\nturn 2: first token: 0.500 s"


@settings(max_examples=60)
@given(st.text(st.characters(), min_size=1), st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_a_results_file_says_is_valid_xml_that_shows_what_xml_forbids(text: str, number: float) -> None:
    hostile = FAILED.model_copy(
        update={
            "case_id": text,
            "suite": text,
            "model": text,
            "actual_tools": (text,),
            "checks": (CheckResult(name=text, ok=False, message=text, turn=None),),
            "turns": (turn_of(text, number),),
            "trials": TrialsResult(run=1, passed=0),
        }
    )
    target = TargetResult(kind=text, name=text, dialect=text)
    written = xml(hostile, target=target, started_at=text, duration_s=number, golden_version=text)
    assert junitparser.JUnitXml.fromstring(written.encode()).failures == 1
    (case,) = cases(hostile)
    assert case.name == visible(text)


def turn_of(text: str, number: float) -> Any:
    (one,) = FAILED.turns
    timing = one.timing.model_copy(update={"first_token_s": number, "total_s": number})
    return one.model_copy(update={"answer": text, "question": text, "timing": timing})
