import json
from collections.abc import Callable
from itertools import combinations
from math import inf, nan
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.result import (
    AttemptResult,
    CaseResult,
    ErrorResult,
    GitResult,
    Quantiles,
    RunResult,
    Status,
    SuiteResult,
    TargetResult,
    TimingResult,
    TrialsResult,
    TurnResult,
    UsageResult,
    exit_code,
    read,
    write,
)
from golden.tally import spent, summarise
from golden.transcript import Failure, Finding, Seen, Timing, ToolCall, Usage
from tests.values import judged, run_of, turn

STATUSES: tuple[Status, ...] = get_args(Status)

FULL = turn(
    final_text="well.",
    tool_calls=(ToolCall("a", {"x": [1, None, 2.5, True]}, result={"y": "z"}),),
    scores=(0.25, 0.5),
    usage=Usage(3, None),
    events=(Seen(0.25, "tool_call", "call"), Seen(0.5, "", "")),
    events_total=2,
    findings=(Finding("scores", "two scores"),),
    error=Failure("cut", "it was cut"),
)
ASKED = {"expected_tools": ["a"], "groundedness_threshold": 0.5, "tags": ["t"], "metadata": {"m": 1}}


def case(status: Status, *turns: TurnResult, **fields: Any) -> CaseResult:
    return CaseResult(
        case_id="a",
        suite=None,
        line=None,
        question="?",
        status=status,
        passed=status == "passed",
        turns=turns,
        **fields,
    )


def attempt(usage: UsageResult | None) -> AttemptResult:
    return AttemptResult(trial=1, try_=1, status="passed", error=None, checks=(), usage=usage)


def timed(first_token_s: float | None = None, total_s: float = 0, *, error: ErrorResult | None = None) -> TurnResult:
    return TurnResult(
        question="?",
        answer="",
        answer_chars=0,
        final_text="",
        finish=None,
        tool_calls=(),
        groundedness=None,
        usage=None,
        timing=TimingResult(first_event_s=None, first_token_s=first_token_s, total_s=total_s),
        events=(),
        events_total=0,
        findings=(),
        error=error,
    )


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def loaded(text: str) -> dict[str, Any]:
    """The file as any other program reads it: RFC 8259, no more."""
    found: dict[str, Any] = json.loads(text.encode(), parse_constant=refuse)
    return found


# The file


def test_the_file_has_the_keys_of_the_contract_in_their_order() -> None:
    full = judged(ASKED, FULL).model_copy(update={"trials": TrialsResult(run=1, passed=0)})
    told = loaded(write(run_of(full, git=GitResult(sha="abc", branch=None))))
    assert list(told) == ["schema", "run", "summary", "comparison", "results"]
    assert told["schema"] == "golden.results/1"
    run = told["run"]
    assert " ".join(run) == ("started_at duration_s golden_version target suites git complete shard unselected")
    assert list(run["target"])[:3] == ["kind", "name", "dialect"]
    assert [list(suite) for suite in run["suites"]] == [["path", "sha256"]]
    assert list(run["git"]) == ["sha", "branch"]
    assert " ".join(told["summary"]) == (
        "total passed failed errors skipped not_run flaky all_passed pass_rate usage first_token_s total_s"
    )
    assert list(told["summary"]["usage"]) == ["input", "output"]
    assert list(told["summary"]["first_token_s"]) == list(told["summary"]["total_s"]) == ["p50", "p95"]
    (result,) = told["results"]
    assert " ".join(result) == (
        "case_id suite line question status passed xfailed tool_ok forbidden_ok groundedness_ok expected_tools "
        "actual_tools groundedness groundedness_threshold forbidden_hits checks expectations turns error attempts "
        "flaky trials tags model metadata case_sha256 change"
    )
    assert list(result["checks"][0]) == ["name", "ok", "message", "turn"]
    (told_turn,) = result["turns"]
    assert " ".join(told_turn) == (
        "question answer answer_chars final_text finish tool_calls groundedness usage timing events events_total "
        "findings error"
    )
    assert list(told_turn["tool_calls"][0]) == ["name", "args", "result"]
    assert list(told_turn["usage"]) == ["input", "output"]
    assert list(told_turn["timing"]) == ["first_event_s", "first_token_s", "total_s"]
    assert told_turn["events"] == [[0.25, "tool_call", "call"], [0.5, "", ""]]
    assert list(told_turn["findings"][0]) == ["kind", "message"]
    assert list(result["error"]) == list(told_turn["error"]) == ["kind", "message"]
    assert [list(attempt) for attempt in result["attempts"]] == [["trial", "try", "status", "error", "checks", "usage"]]
    assert list(result["trials"]) == ["run", "passed"]


def test_the_file_has_the_types_of_the_contract() -> None:
    told = loaded(write(run_of(judged(ASKED, FULL))))
    (result,) = told["results"]
    assert (result["status"], result["passed"], result["xfailed"], result["flaky"]) == ("error", False, False, False)
    assert [result[key] for key in ("tool_ok", "forbidden_ok", "groundedness_ok")] == [None, None, None]
    assert (result["expected_tools"], result["actual_tools"], result["forbidden_hits"]) == (["a"], ["a"], [])
    assert (result["groundedness"], result["groundedness_threshold"]) == (0.5, 0.5)
    assert result["turns"][0]["tool_calls"] == [
        {"name": "a", "args": {"x": [1, None, 2.5, True]}, "result": {"y": "z"}}
    ]
    assert result["turns"][0]["usage"] == {"input": 3, "output": None}
    assert result["turns"][0]["timing"] == {"first_event_s": 0.25, "first_token_s": 0.5, "total_s": 1.5}
    assert result["attempts"][0]["try"] == 1
    assert result["trials"] is None
    assert (result["tags"], result["model"], result["metadata"]) == (["t"], None, {"m": 1})
    assert told["run"]["git"] is None
    assert told["summary"]["pass_rate"] == 0


def test_the_file_is_a_case_a_line_and_ends_in_a_line_break() -> None:
    text = write(run_of(*(case(status) for status in STATUSES)))
    head, *cases, end = text.split("\n")[:-1]
    assert head.endswith('"results":[')
    assert [json.loads(line.removesuffix(","))["status"] for line in cases] == list(STATUSES)
    assert end == "]}"
    assert text.endswith("]}\n")


def test_a_run_of_no_cases_is_written_and_read_as_well() -> None:
    empty = run_of(target=None)
    assert read(write(empty)) == empty
    assert loaded(write(empty))["results"] == []


def with_a_new_key(value: object) -> object:
    """The same with a key that nobody knows in every object, save the free ones."""
    if isinstance(value, list):
        return [with_a_new_key(item) for item in value]
    if isinstance(value, dict):
        free = ("args", "result", "metadata")
        return {"new": [1]} | {key: item if key in free else with_a_new_key(item) for key, item in value.items()}
    return value


def test_keys_that_are_not_known_are_passed_over_wherever_they_stand() -> None:
    run = run_of(judged(ASKED, FULL), case("skipped"), git=GitResult(sha="abc", branch="main"))
    assert read(json.dumps(with_a_new_key(json.loads(write(run))))) == run


def test_keys_that_have_a_default_may_be_missing() -> None:
    told = loaded(write(run_of(case("passed"))))
    told["results"] = [
        {key: told["results"][0][key] for key in ("case_id", "suite", "line", "question", "status", "passed")}
    ]
    assert read(json.dumps(told)) == run_of(case("passed"))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", "null", write(run_of()).replace("results/1", "results/2"), write(run_of())[:-3]],
)
def test_what_is_no_results_file_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # json's or pydantic's
        read(text)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
SECONDS = st.floats(0, 1e6)
TURNS = st.builds(
    turn,
    st.text(),
    question=st.text(),
    final_text=st.text(),
    finish=st.sampled_from(["finished", None]),
    tool_calls=st.lists(st.builds(ToolCall, st.text(), JSON, result=JSON), max_size=2).map(tuple),
    scores=st.lists(JSON, max_size=2).map(tuple),
    usage=st.none() | st.builds(Usage, st.none() | st.integers(0, 2**53), st.none() | st.integers(0, 2**53)),
    timing=st.builds(Timing, st.none() | SECONDS, st.none() | SECONDS, SECONDS),
    events=st.lists(st.builds(Seen, SECONDS, st.text(), st.text()), max_size=2).map(tuple),
    events_total=st.integers(0, 10**9),
    findings=st.lists(st.builds(Finding, st.text(), st.text()), max_size=2).map(tuple),
    error=st.none() | st.builds(Failure, st.text(), st.text()),
)


@given(st.lists(TURNS, min_size=1, max_size=2), st.dictionaries(st.text(), JSON, max_size=2))
@settings(max_examples=60)
def test_what_is_written_is_read_equal(turns: list[Any], metadata: dict[str, object]) -> None:
    run = run_of(judged({**ASKED, "metadata": metadata}, *turns), case("not_run"))
    assert read(write(run)) == run
    loaded(write(run))


def test_what_is_nested_as_deep_as_arguments_may_be_is_written_and_read_equal() -> None:
    args: object = "the bottom"
    for _ in range(200):
        args = [args]
    run = run_of(judged(ASKED, turn(tool_calls=(ToolCall("a", args, result={"r": args}),))))
    assert read(write(run)) == run


@pytest.mark.parametrize(("number", "written"), [(nan, "NaN"), (inf, "Infinity"), (-inf, "-Infinity")])
def test_a_number_that_json_cannot_say_is_written_as_text(number: float, written: str) -> None:
    call = ToolCall("a", {"x": [number, {"y": number}]}, result=number)
    text = write(run_of(judged(ASKED, turn(tool_calls=(call,), scores=(number,)))))
    (told,) = loaded(text)["results"][0]["turns"][0]["tool_calls"]
    assert (told["args"], told["result"]) == ({"x": [written, {"y": written}]}, written)
    assert write(read(text)) == text


def test_an_integer_of_any_size_is_written_as_it_is() -> None:
    call = ToolCall("a", {"x": 10**400}, result=-(2**70))
    run = run_of(judged(ASKED, turn(tool_calls=(call,))))
    assert read(write(run)) == run


HALF = "half \ud83d, whole \ud83d\udca5, \udcff"
MENDED = "half \ufffd, whole 💥, \ufffd"


def in_an_error(text: str) -> RunResult:
    return run_of(judged(ASKED, turn("", error=Failure("agent", text))))


def in_metadata(text: str) -> RunResult:
    return run_of(case("passed", metadata={text: [{"deep": text}, (text,), 1, 2.5, None, True]}))


def in_a_path(text: str) -> RunResult:
    return run_of(case("passed"), suites=(SuiteResult(path=text, sha256=None),))


def in_a_target(text: str) -> RunResult:
    return run_of(case("passed"), target=TargetResult(kind="call", name=text, dialect="native", reason=text))


def in_arguments(text: str) -> RunResult:
    return run_of(judged(ASKED, turn(tool_calls=(ToolCall("a", {text: [text, nan]}, result=text),))))


@pytest.mark.parametrize("place", [in_an_error, in_metadata, in_a_path, in_a_target, in_arguments])
def test_half_of_a_surrogate_pair_never_reaches_the_file(place: Callable[[str], RunResult]) -> None:
    text = write(place(HALF))
    assert text.encode()
    assert text == write(place(MENDED))
    loaded(text)


# The figures


@given(st.lists(st.sampled_from(STATUSES)))
def test_the_counts_add_up_and_decide_the_exit_code(statuses: list[Status]) -> None:
    results = [case(status) for status in statuses]
    summary = summarise(results)
    assert summary.total == len(statuses)
    assert summary.total == summary.passed + summary.failed + summary.errors + summary.skipped + summary.not_run
    counts = (summary.passed, summary.failed, summary.errors, summary.skipped, summary.not_run)
    assert counts == tuple(map(statuses.count, STATUSES))
    assert summary.all_passed == ({*statuses} <= {"passed", "skipped"}) == (exit_code(results) == 0)


@pytest.mark.parametrize(
    "statuses", [mix for size in range(len(STATUSES) + 1) for mix in combinations(STATUSES, size)], ids="-".join
)
def test_every_mix_of_verdicts_has_its_exit_code(statuses: tuple[Status, ...]) -> None:
    code = 1 if "failed" in statuses else 3 if {"error", "not_run"} & {*statuses} else 0
    for order in (statuses, statuses[::-1]):
        run = run_of(*(case(status) for status in order))
        assert (run.exit_code, run.all_passed) == (code, code == 0)


@pytest.mark.parametrize(
    ("statuses", "rate"),
    [
        ([], None),
        (["skipped", "skipped"], None),
        (["passed", "skipped"], 1),
        (["passed", "failed", "error", "not_run", "skipped"], 0.25),
        (["failed"], 0),
    ],
)
def test_the_pass_rate_is_of_what_was_to_be_judged(statuses: list[Status], rate: float | None) -> None:
    assert summarise([case(status) for status in statuses]).pass_rate == rate


def test_flaky_cases_are_counted_beside_their_verdict() -> None:
    summary = summarise([case("passed", flaky=True), case("failed", flaky=True), case("passed")])
    assert (summary.flaky, summary.passed, summary.failed) == (2, 2, 1)


@given(st.lists(st.integers(0, 50).map(float), min_size=1, max_size=60))
def test_quantiles_are_times_that_were_measured_by_the_nearest_rank(times: list[float]) -> None:
    summary = summarise([case("passed", *(timed(seconds, seconds + 100) for seconds in times))])

    def least(share: int) -> float:
        return min(time for time in times if 100 * sum(other <= time for other in times) >= share * len(times))

    assert summary.first_token_s == Quantiles(p50=least(50), p95=least(95))
    assert summary.total_s == Quantiles(p50=least(50) + 100, p95=least(95) + 100)


def test_where_nothing_was_timed_there_are_no_quantiles() -> None:
    summary = summarise([case("skipped"), case("error", timed(None, 9, error=ErrorResult(kind="cut", message="")))])
    assert summary.first_token_s == summary.total_s == Quantiles(p50=None, p95=None)


def test_a_turn_that_did_not_come_whole_has_no_total() -> None:
    cut = timed(0.5, 60, error=ErrorResult(kind="timeout", message=""))
    summary = summarise([case("error", cut), case("passed", timed(0.5, 1))])
    assert (summary.total_s.p95, summary.first_token_s.p95) == (1, 0.5)


@pytest.mark.parametrize(
    ("usages", "total"),
    [
        ([], None),
        ([None, None], None),
        ([(1, 2), None, (3, 4)], (4, 6)),
        ([(1, None), (3, 4)], (4, 4)),
        ([(None, None)], (None, None)),
        ([(0, None), (0, None)], (0, None)),
    ],
)
def test_usage_is_added_up_and_what_nobody_reports_stays_unknown(
    usages: list[tuple[int | None, int | None] | None], total: tuple[int | None, int | None] | None
) -> None:
    told = [attempt(None if usage is None else UsageResult(input=usage[0], output=usage[1])) for usage in usages]
    expected = None if total is None else UsageResult(input=total[0], output=total[1])
    assert summarise([case("passed", attempts=(one,)) for one in told]).usage == expected
    one_case = case("passed", attempts=tuple(told))  # of several tries each counts
    assert summarise([one_case]).usage == expected
    assert spent(one_case) == sum(figure or 0 for figure in total or ())
