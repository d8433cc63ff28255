import base64
import copy
import json
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.redaction import Secrets
from golden.reports import View
from golden.reports.text import REPORT
from golden.result import CaseResult, CheckResult, ErrorResult, write
from golden.score import judge, not_run, skipped
from golden.suite import Case, Suite
from golden.transcript import Failure, Finding, Seen, Timing, ToolCall, Transcript, Usage
from tests.values import covering, judged, run_of, turn

KINDS = (
    *("unreachable", "refused", "http", "redirect", "not_a_stream", "unknown_dialect"),
    *("cut", "too_large", "timeout", "stream_error", "agent", "empty"),
)

# One of each: all of them hold of `turn()` with a call of `a` and a score of 0.9, had it come whole.
EVERYTHING: dict[str, object] = {
    "expected_tools": ["a"],
    "forbidden_tools": ["b"],
    "forbidden_phrases": ["lost"],
    "required_phrases": ["well"],
    "groundedness_threshold": 0.5,
    "max_tool_calls": 1,
    "max_first_token_s": 1,
    "max_total_s": 2,
    "clean_stream": True,
}
GOOD = turn(tool_calls=(ToolCall("a", {}),), scores=(0.9,))


def well(**asked: object) -> tuple[Suite, Case]:
    case = Case.model_validate({"id": "well", "question": "Is all well?", **asked})
    return Suite(cases=[case]), case


# The verdict


def test_a_case_whose_every_check_holds_has_passed() -> None:
    result = judged(EVERYTHING, GOOD)
    assert (result.status, result.passed, result.error) == ("passed", True, None)
    assert (result.tool_ok, result.forbidden_ok, result.groundedness_ok) == (True, True, True)
    assert {check.name: check.ok for check in result.checks} == dict.fromkeys(EVERYTHING, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("expected_tools", ["x"]),
        ("forbidden_tools", ["a"]),
        ("forbidden_phrases", ["all"]),
        ("required_phrases", ["ill"]),
        ("groundedness_threshold", 0.95),
        ("max_tool_calls", 0),
        ("max_first_token_s", 0.1),
        ("max_total_s", 0.1),
    ],
)
def test_a_case_with_one_check_that_does_not_hold_has_failed(field: str, value: object) -> None:
    result = judged({**EVERYTHING, field: value}, GOOD)
    assert (result.status, result.passed, result.error) == ("failed", False, None)
    assert [check.name for check in result.checks if not check.ok] == [field]
    assert result.tool_ok is ("tool" not in field)
    assert result.forbidden_ok is (field != "forbidden_phrases")
    assert result.groundedness_ok is (field != "groundedness_threshold")


@pytest.mark.parametrize("kind", KINDS)
def test_no_check_of_an_answer_that_did_not_come_whole_holds(kind: str) -> None:
    failure = Failure(kind, "it broke\nhint: mend it")
    result = judged(EVERYTHING, turn("All is well, nothing lost", finish=None, error=failure, scores=(0.9,)))
    assert (result.status, result.passed) == ("error", False)
    assert result.error == ErrorResult(kind=kind, message="it broke\nhint: mend it")
    assert {(check.ok, check.message) for check in result.checks} == {(None, "undecided: it broke\nhint: mend it")}
    assert [check.name for check in result.checks] == [check.name for check in judged(EVERYTHING, GOOD).checks]
    assert (result.tool_ok, result.forbidden_ok, result.groundedness_ok) == (None, None, None)
    assert result.forbidden_hits == ()


def test_what_did_arrive_is_kept_where_the_answer_did_not_come_whole() -> None:
    cut = turn(
        "All is",
        tool_calls=(ToolCall("a", {"of": 1}, result=2),),
        scores=(0.9,),
        finish=None,
        error=Failure("cut", "it was cut"),
    )
    result = judged(EVERYTHING, cut)
    assert (result.turns[0].answer, result.turns[0].finish) == ("All is", None)
    assert (result.actual_tools, result.groundedness) == (("a",), 0.9)
    assert result.turns[0].error == result.error


def test_one_turn_that_did_not_come_whole_leaves_the_whole_case_undecided() -> None:
    result = judged(EVERYTHING, GOOD, turn("", error=Failure("empty", "nothing came")))
    assert result.status == "error"
    assert {check.ok for check in result.checks} == {None}


def test_a_pattern_that_takes_too_long_makes_the_case_an_error_also_where_a_check_does_not_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.02)
    asked = {"forbidden_phrases": [{"regex": "(x+x+)+y"}], "required_phrases": ["z"]}
    result = judged(asked, turn("x" * 3000))
    assert (result.status, result.forbidden_ok) == ("error", None)
    assert result.error is not None
    assert result.error.kind == "undecided"
    assert result.error.message.startswith("forbidden_phrases: /(x+x+)+y/: whether the pattern is found")
    assert [check.ok for check in result.checks] == [None, False]


@pytest.mark.parametrize(
    ("asked", "three"),
    [
        ({"required_phrases": ["well"]}, (None, None, None)),
        ({"expected_tools": ["a"]}, (True, None, None)),
        ({"expected_tools": ["a"], "forbidden_tools": ["a"]}, (False, None, None)),
        ({"expect_no_tool_call": True}, (False, None, None)),
        ({"max_tool_calls": 1}, (True, None, None)),
        ({"expect": {"tool": "a"}}, (True, None, None)),
        ({"expect": {"tool": "b"}}, (False, None, None)),
        ({"expect_first": {"tool": "b"}}, (False, None, None)),
        ({"expect_order": [{"tool": "b"}]}, (False, None, None)),
        ({"simulated_tools": ["a"]}, (False, None, None)),
        ({"required_phrases": ["well"], "turns": [{"question": "?", "forbidden_tools": ["a"]}]}, (False, None, None)),
        ({"forbidden_phrases": ["lost"]}, (None, True, None)),
        ({"forbidden_phrases": ["all"]}, (None, False, None)),
        ({"groundedness_threshold": 0.9}, (None, None, True)),
        ({"groundedness_threshold": 0.91}, (None, None, False)),
    ],
)
def test_what_was_not_checked_is_neither_true_nor_false(
    asked: dict[str, object], three: tuple[bool | None, ...]
) -> None:
    result = judged({"question": None, **asked} if "turns" in asked else asked, GOOD)
    assert (result.tool_ok, result.forbidden_ok, result.groundedness_ok) == three


def test_forbidden_hits_are_the_phrases_as_the_suite_writes_them() -> None:
    asked = {"forbidden_phrases": ["ALL  is", "lost", {"regex": "w.ll"}]}
    assert judged(asked, GOOD).forbidden_hits == ("ALL  is", "w.ll")


@pytest.mark.parametrize(
    ("scores", "lowest"),
    [(((0.9,), (0.4,)), 0.4), (((0.9,), ()), 0.9), (((0.1, 0.9), ("x",)), 0.9), (((), ()), None), (((0,), (1,)), 0.0)],
)
def test_groundedness_is_the_lowest_of_the_turns(scores: tuple[tuple[object, ...], ...], lowest: float | None) -> None:
    result = judged({"groundedness_threshold": 0.5}, *(turn(scores=each) for each in scores))
    assert result.groundedness == lowest
    assert result.groundedness_threshold == 0.5


def test_a_run_case_has_one_attempt_with_its_checks() -> None:
    for turns in ((GOOD,), (turn("ill"),), (turn("", error=Failure("cut", "it was cut")),)):
        result = judged(EVERYTHING, *turns)
        (attempt,) = result.attempts
        assert (attempt.trial, attempt.try_) == (1, 1)
        assert (attempt.status, attempt.error, attempt.checks) == (result.status, result.error, result.checks)
        assert (result.flaky, result.trials, result.xfailed) == (False, None, False)


def test_a_result_says_where_its_case_came_from() -> None:
    suite, case = well(expected_tools=["a"], tags=["t"], metadata={"owner": ["me", 1]}, model="own")
    suite.read_from("suite.json", "abc")
    result = judge(suite, case, "asked", Transcript((GOOD,)), Secrets())
    assert (result.case_id, result.suite, result.line, result.question) == ("well", "suite.json", None, "Is all well?")
    assert (result.tags, result.model, result.metadata) == (("t",), "asked", {"owner": ["me", 1]})
    assert (result.expected_tools, result.actual_tools) == (("a",), ("a",))


# Not run, skipped


def test_a_case_that_was_stopped_is_undecided_and_keeps_what_had_come() -> None:
    suite, case = well(**EVERYTHING)
    result = not_run(suite, case, "m", "stopped by SIGINT", Secrets(), (GOOD,))
    assert (result.status, result.passed, result.model) == ("not_run", False, "m")
    assert [each.status for each in result.attempts] == ["not_run"]
    assert result.error == ErrorResult(kind="not_run", message="stopped by SIGINT")
    assert {(check.ok, check.message) for check in result.checks} == {(None, "undecided: stopped by SIGINT")}
    assert (result.tool_ok, result.forbidden_ok, result.groundedness_ok) == (None, None, None)
    assert result.turns[0].answer == "All is well."


def test_a_case_that_never_started_has_no_turns() -> None:
    suite, case = well(**EVERYTHING)
    result = not_run(suite, case, None, "--bail", Secrets())
    assert (result.status, result.turns, result.attempts, result.model) == ("not_run", (), (), None)
    assert result.groundedness is None
    assert {check.ok for check in result.checks} == {None}
    assert len(result.checks) == len(judged(EVERYTHING, GOOD).checks)  # all that it asks is named


@pytest.mark.parametrize(("own", "model"), [("own", "own"), (None, "the suite's")])
def test_a_skipped_case_says_why_and_has_no_checks(own: str | None, model: str) -> None:
    case = Case.model_validate({"id": "well", "question": "?", "expected_tools": ["a"], "model": own})
    result = skipped(Suite(cases=[case], model="the suite's"), case, "not yet", Secrets())
    assert (result.status, result.passed, result.checks, result.attempts) == ("skipped", False, (), ())
    assert result.error == ErrorResult(kind="skipped", message="not yet")
    assert result.model == model


# The evidence


def test_a_turn_is_told_whole() -> None:
    told = judged(
        {"required_phrases": ["well"]},
        turn(
            final_text="well.",
            tool_calls=(ToolCall("a", {"x": [1, None]}, result={"y": True}), ToolCall("", "{", parsed=False)),
            scores=(0.25, 0.5),
            usage=Usage(3, None),
            timing=Timing(0.12345678, None, 1.99999999),
            events=(Seen(0.12345678, "tool_call", "call"), Seen(1, "", "text+text")),
            events_total=2,
            findings=(Finding("scores", "two scores"),),
        ),
    ).turns[0]
    assert (told.question, told.answer, told.answer_chars) == ("Is all well?", "All is well.", 12)
    assert (told.final_text, told.finish) == ("well.", "finished")
    assert [(call.name, call.args, call.result) for call in told.tool_calls] == [
        ("a", {"x": [1, None]}, {"y": True}),
        ("", "{", None),
    ]
    assert told.groundedness == 0.5
    assert told.usage is not None
    assert (told.usage.input, told.usage.output) == (3, None)
    assert (told.timing.first_event_s, told.timing.first_token_s, told.timing.total_s) == (0.123457, None, 2.0)
    assert told.events == ((0.12345678, "tool_call", "call"), (1.0, "", "text+text"))
    assert told.events_total == 2
    assert [(finding.kind, finding.message) for finding in told.findings] == [("scores", "two scores")]
    assert told.error is None


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("a" * 65_536, 65_536),
        ("a" * 65_537, 65_536),
        ("a" + "é" * 40_000, 1 + 32_767),
        ("💥" * 20_000, 16_384),
        ("aaa" + "💥" * 20_000, 3 + 16_383),
        ("", 0),
    ],
)
def test_an_answer_is_cut_at_64_kib_on_the_border_of_a_character(answer: str, kept: int) -> None:
    result = judged({"forbidden_phrases": ["lost"]}, turn(answer, error=Failure("cut", "it was cut")))
    told = result.turns[0]
    assert (told.answer, told.answer_chars) == (answer[:kept], len(answer))
    assert told.final_text == answer[:kept]


def test_a_phrase_far_behind_the_cut_is_found_all_the_same() -> None:
    result = judged({"forbidden_phrases": ["lost"]}, turn("é" * 100_000 + " all lost"))
    assert result.forbidden_hits == ("lost",)
    assert "lost" not in result.turns[0].answer


# Purity


def test_nothing_that_goes_in_is_changed_and_no_clock_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    args: dict[str, object] = {"key-s3cret": ["s3cret-value", {"deep": [1, 2.5, None, True]}]}
    given = turn(
        "s3cret-value is well",
        tool_calls=(ToolCall("a", args, result=[args]),),
        scores=(["s3cret-value"], 0.9),
        findings=(Finding("scores", "s3cret-value"),),
    )
    transcript = Transcript((given,))
    suite, case = well(**EVERYTHING, metadata={"a": {"b": ["s3cret-value"]}})
    before = copy.deepcopy((transcript, suite, case))

    def no_clock() -> float:
        raise AssertionError("scoring reads a clock")

    for name in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, name, no_clock)
    results = []
    for _ in range(2):
        secrets = covering("s3cret-value")
        results.append(judge(suite, case, None, transcript, secrets))
    monkeypatch.undo()
    assert results[0] == results[1]
    assert (transcript, suite, case) == before
    assert given.tool_calls[0].args is args


# Secrets


SPELLED: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in a URL": lambda text: quote(text, safe=""),
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON inside JSON": lambda text: json.dumps(json.dumps(text))[3:-3],
    "in base64": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
}
SECRETS = st.text(st.sampled_from("QWXZYKJV/+\"'\\ %é"), min_size=8, max_size=16).filter(
    lambda text: text == text.strip()
)
PADS = st.text("abc ", max_size=90)


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value, its keys among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def everywhere(text: str, secrets: Secrets, status: str) -> CaseResult:
    """A result with this text in every place where an agent or a suite can put it."""
    suite, case = well(
        expected_tools=[text],
        forbidden_tools=[text],
        forbidden_phrases=[text, {"regex": "."}],
        required_phrases=[text + "x"],
        groundedness_threshold=0.5,
        clean_stream=True,
        tags=[text],
        metadata={text: [text]},
        question=text,
    )
    failure = Failure("agent", text) if status == "error" else None
    given = turn(
        text,
        question=text,
        final_text=text,
        shown=(text, f"more {text}"),
        tool_calls=(ToolCall(text, {text: [text, {"deep": (text, 1)}]}, result={text: text}), ToolCall(text, text)),
        scores=({text: text}, text),
        events=(Seen(1.0, text, "text"),),
        findings=(Finding("not_json", text), Finding("scores", text)),
        error=failure,
    )
    if status == "not_run":
        return not_run(suite, case, text, text, secrets, (given,))
    return judge(suite, case, text, Transcript((given,)), secrets)


@pytest.mark.parametrize("spelled", SPELLED)
@given(secret=SECRETS, before=PADS, after=PADS, status=st.sampled_from(["judged", "error", "not_run"]))
@settings(max_examples=40)
def test_no_form_of_a_secret_is_in_a_result_or_a_report(
    spelled: str, secret: str, before: str, after: str, status: str
) -> None:
    form = SPELLED[spelled](secret)
    run = run_of(everywhere(f"{before}{form}{after}x", covering(secret), status))
    written = write(run)
    for text in strings(json.loads(written)):
        assert form not in text
        assert secret not in text
    assert form not in written
    for detail in (0, 1):
        assert form not in REPORT.render(run, None, View(detail=detail)).replace("\n    ", "")


def test_a_number_that_is_a_secret_is_covered_in_arguments_and_results() -> None:
    secrets = covering("12345678")
    given = turn(tool_calls=(ToolCall("a", {"pin": 12345678}, result=[12345678.5]),))
    call = judged({"expected_tools": ["a"]}, given, secrets=secrets).turns[0].tool_calls[0]
    assert (call.args, call.result) == ({"pin": "█" * 8}, ["█" * 8 + ".5"])


def test_a_secret_in_a_cases_id_stays_as_results_are_joined_by_ids() -> None:
    assert (
        judged({"id": "portfolio", "expected_tools": ["a"]}, GOOD, secrets=covering("portfolio")).case_id == "portfolio"
    )


def test_a_secret_on_the_border_of_the_64_kib_shows_no_half() -> None:
    answer = "a" * 65_530 + "QWERTZUIOP" + "a" * 100
    result = judged({"forbidden_phrases": ["lost"]}, turn(answer), secrets=covering("QWERTZUIOP"))
    assert set(result.turns[0].answer) == {"a", "█"}


def test_a_check_is_told_with_its_place() -> None:
    result = judged({"groundedness_threshold": 0.5}, GOOD, turn())
    assert result.checks == (
        CheckResult(name="groundedness_threshold", ok=True, message="0.5 expected; the score is 0.9", turn=0),
        CheckResult(
            name="groundedness_threshold", ok=False, message="0.5 expected; no score came in the stream", turn=1
        ),
    )


LONG_SECRET = "QWERTZUIOPASDFGHJKLYXCVBNM"


@pytest.mark.parametrize("before", [0, 1990, 1998, 2010, 9990, 20_000])
def test_a_message_is_short_and_ends_in_no_half_of_a_secret(before: int) -> None:
    text = f"{'a' * before}{LONG_SECRET}{'a' * 20_000}"
    found = (Finding("not_json", text), Finding("scores", text))
    asked = {"clean_stream": True, "expected_tools": ["x"]}
    secrets = covering(LONG_SECRET)
    called = (ToolCall(text, {}),)
    failed = judged(asked, turn(findings=found, tool_calls=called), secrets=secrets)
    broken = judged(asked, turn(findings=found, error=Failure("agent", text)), secrets=secrets)
    messages = [
        *(check.message for result in (failed, broken) for check in result.checks),
        *(finding.message for result in (failed, broken) for finding in result.turns[0].findings),
        *(error.message for error in (broken.error, broken.turns[0].error) if error),
    ]
    assert len(messages) == 10
    assert {len(message) for message in messages} == {2000}
    assert {message[-1] for message in messages} == {"…"}
    assert not any(set(LONG_SECRET) & set(message) for message in messages)


def test_a_message_of_the_longest_length_is_whole() -> None:
    for size, end in ((2000, "a"), (2001, "…")):
        result = judged({"clean_stream": True}, turn("", error=Failure("agent", "a" * size)))
        assert result.error is not None
        assert (len(result.error.message), result.error.message[-1]) == (2000, end)


def test_what_to_do_is_not_cut_off_behind_a_long_message() -> None:
    failure = Failure("http", f"{'x' * 50_000}\nhint: mend it")
    result = judged({"expected_tools": ["a"]}, turn(error=failure))
    assert result.error is not None
    assert result.error.message.endswith("…\nhint: mend it")
    assert len(result.error.message) < 2100
