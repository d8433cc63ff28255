import copy
import json
from collections.abc import Sequence
from math import comb
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden.change import MOST_TRIALS, CallChange, CaseChange, Change, CheckChange, Comparison, Trials
from golden.compare import chance, compare, regression_code
from golden.identity import unique_id
from golden.result import (
    CaseResult,
    CheckResult,
    GitResult,
    RunResult,
    ShardResult,
    Status,
    SuiteResult,
    TargetResult,
    TrialsResult,
    read,
    with_comparison,
    write,
)
from golden.transcript import Failure, Timing, ToolCall, Turn, Usage
from golden.verdict import pass_hat
from tests.values import judged, run_of, turn

STATUSES: tuple[Status, ...] = get_args(Status)
ASKS: dict[str, object] = {"expected_tools": ["look"], "required_phrases": ["well"]}
SWAPPED: dict[Change, Change] = {"regressed": "fixed", "fixed": "regressed", "new": "gone", "gone": "new"}


def case(
    case_id: str = "a", status: Status = "passed", trials: tuple[int, int] | None = None, **more: Any
) -> CaseResult:
    """A result with this status; `trials` are (passed, run)."""
    told = None if trials is None else TrialsResult(run=trials[1], passed=trials[0])
    update = {"case_id": case_id, "status": status, "passed": status == "passed", "trials": told, **more}
    result = judged(ASKS, turn(tool_calls=(ToolCall("look", {}),)))
    return result.model_copy(update={"attempts": result.attempts * (trials[1] if trials else 1), **update})


def changed(before: Sequence[CaseResult], after: Sequence[CaseResult], **info: Any) -> Comparison:
    return compare(run_of(*before), run_of(*after, **info))


def change_of(before: CaseResult, after: CaseResult) -> CaseChange:
    (only,) = changed([before], [after]).cases
    return only


# What becomes of a case

TRANSITIONS: dict[str, str] = {
    # before → passed, failed, error, skipped, not_run, absent
    "passed": "unchanged regressed regressed unchanged unchanged gone",
    "failed": "fixed still_failing still_failing unchanged unchanged gone",
    "error": "fixed still_failing still_failing unchanged unchanged gone",
    "skipped": "new new new unchanged unchanged gone",
    "not_run": "new new new unchanged unchanged gone",
    "absent": "new new new new new -",
}
AFTER = (*STATUSES, "absent")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (before, after, change)
        for before, row in TRANSITIONS.items()
        for after, change in zip(AFTER, row.split(), strict=True)
    ],
)
def test_each_status_becomes_each_other(before: Any, after: Any, change: str) -> None:
    sides = [[] if status == "absent" else [case(status=status)] for status in (before, after)]
    found = changed(*sides)
    assert [one.change for one in found.cases] == ([] if change == "-" else [change])
    assert [one.before and one.before.status for one in found.cases if before != "absent"] == [
        before for _ in found.cases if before != "absent"
    ]
    counts = found.counts
    assert counts.regressed == (change in ("regressed", "gone"))
    for name in ("fixed", "still_failing", "new", "unchanged"):
        assert getattr(counts, name) == (change == name)
    assert found.gone == (("a",) if change == "gone" else ())


IDS = st.sampled_from(["a", "B", "c", "é", "e\u0301x", "D"])
RESULTS = st.builds(
    case,
    IDS,
    st.sampled_from(STATUSES),
    st.none() | st.integers(1, 6).flatmap(lambda run: st.tuples(st.integers(0, run), st.just(run))),
    groundedness=st.none() | st.floats(0, 1),
    flaky=st.booleans(),
    model=st.sampled_from([None, "m", "n"]),
    checks=st.lists(
        st.builds(
            CheckResult,
            name=st.sampled_from("xy"),
            ok=st.sampled_from([True, False, None]),
            message=st.just("m"),
            turn=st.sampled_from([None, 0]),
        ),
        max_size=4,
    ).map(tuple),
    turns=st.lists(
        st.builds(
            lambda names: judged(ASKS, turn(tool_calls=tuple(ToolCall(name, {"n": n}) for name, n in names))).turns[0],
            st.lists(st.tuples(st.sampled_from("fg"), st.integers(0, 2)), max_size=5),
        ),
        max_size=2,
    ).map(tuple),
)
RUNS = st.lists(RESULTS, unique_by=lambda result: unique_id(result.case_id), max_size=5).map(lambda all_: run_of(*all_))


@settings(deadline=None, max_examples=60)
@given(RUNS)
def test_a_run_compared_with_itself_is_unchanged_or_failing_still(run: RunResult) -> None:
    found = compare(run, run)
    for one, result in zip(found.cases, run.results, strict=True):
        assert one.change == ("still_failing" if result.status in ("failed", "error") else "unchanged")
        assert (one.before, one.checks, one.calls, one.case_changed) == (one.after, (), (), False)
        assert one.p in (None, 1.0)
        assert not one.likely_noise
    assert (found.gone, found.left_out) == ((), ())
    assert not run.run.complete or found.notes == ()


@settings(deadline=None, max_examples=60)
@given(RUNS, RUNS)
def test_each_case_of_either_run_appears_once(before: RunResult, after: RunResult) -> None:
    found = compare(before, after)
    ids = [unique_id(one.case_id) for one in found.cases]
    assert len(ids) == len({*ids})
    assert {*ids} == {unique_id(result.case_id) for run in (before, after) for result in run.results}
    counts = found.counts
    assert counts.regressed + counts.fixed + counts.still_failing + counts.new + counts.unchanged == len(ids)


@settings(deadline=None, max_examples=60)
@given(RUNS, RUNS)
def test_the_other_way_round_what_regressed_is_fixed_and_what_came_is_gone(before: RunResult, after: RunResult) -> None:
    there = {unique_id(one.case_id): one for one in compare(before, after).cases}
    back = {unique_id(one.case_id): one for one in compare(after, before).cases}
    assert there.keys() == back.keys()
    for key, one in there.items():
        other = back[key]
        assert (one.before, one.after) == (other.after, other.before)
        judged_twice = one.before and one.after and not {one.before.status, one.after.status} & {"skipped", "not_run"}
        if judged_twice or one.before is None or one.after is None:
            assert other.change == SWAPPED.get(one.change, one.change)
        assert (one.p, one.case_changed) == (other.p, other.case_changed)
        assert not (one.likely_noise and other.likely_noise)
        assert sorted((c.name, str(c.turn), c.before, c.after) for c in one.checks) == sorted(
            (c.name, str(c.turn), c.after, c.before) for c in other.checks
        )
        came, went = ([c.name for c in one.calls if c.change == what] for what in ("came", "went"))
        assert sorted(came) == sorted(c.name for c in other.calls if c.change == "went")
        assert sorted(went) == sorted(c.name for c in other.calls if c.change == "came")


@settings(deadline=None, max_examples=60)
@given(RUNS, RUNS)
def test_neither_run_is_changed_and_a_file_gives_the_same(before: RunResult, after: RunResult) -> None:
    kept = copy.deepcopy((before, after))
    found = compare(before, after)
    assert (before, after) == kept
    assert compare(read(write(before)), read(write(after))) == found
    assert read(write(with_comparison(after, found))).comparison == found


def test_the_order_is_that_of_the_run_and_then_of_what_is_gone() -> None:
    found = changed([case("x"), case("b"), case("y")], [case("c"), case("b"), case("a")])
    assert [one.case_id for one in found.cases] == ["c", "b", "a", "x", "y"]


def test_a_case_is_the_same_where_only_the_case_of_its_letters_differs() -> None:
    assert [one.change for one in changed([case("Caf\u00e9")], [case("CAFE\u0301")]).cases] == ["unchanged"]


def test_what_was_not_selected_or_is_in_another_shard_is_not_gone() -> None:
    shard = ShardResult(index=1, count=2, cases=("a", "c"))
    found = changed([case("a"), case("B"), case("c"), case("d")], [case("a")], unselected=("b",), shard=shard)
    assert (found.gone, found.left_out) == (("d",), ("B", "c"))
    assert found.counts.regressed == 1


# Tries


@pytest.mark.parametrize(
    ("before", "after", "p", "noise"),
    [
        ((3, 3), (2, 3), 0.5, True),
        ((3, 3), (1, 3), 0.2, False),
        ((3, 3), (0, 3), 0.05, False),
        ((3, 3), (3, 3), 1.0, False),
        ((10, 10), (6, 10), 210 * 1 / 4845, False),
        ((10, 10), (7, 10), 120 / 1140, True),
        ((2, 2), (1, 2), 0.5, False),
        ((0, 3), (3, 3), 0.05, False),
        ((1, 1), (100, 100), 1.0, False),
    ],
)
def test_a_drop_is_likely_noise_where_chance_explains_it_and_more_than_half_still_pass(
    before: tuple[int, int], after: tuple[int, int], p: float, noise: bool
) -> None:
    def of(trials: tuple[int, int]) -> CaseResult:
        return case(status="passed" if trials[0] == trials[1] else "failed", trials=trials)

    one = change_of(of(before), of(after))
    assert one.p == pytest.approx(p)
    assert one.likely_noise is noise
    assert changed([of(before)], [of(after)]).counts.likely_noise == noise


def test_without_trials_on_both_sides_nothing_is_tested() -> None:
    for before, after in ((None, (2, 3)), ((3, 3), None), (None, None)):
        one = change_of(case(trials=before), case(status="failed", trials=after))
        assert (one.change, one.p, one.likely_noise) == ("regressed", None, False)


TRIALS = st.integers(1, 7).flatmap(lambda run: st.builds(Trials, st.just(run), st.integers(0, run)))


@given(TRIALS, TRIALS)
def test_the_chance_is_that_of_all_ways_to_deal_the_passes_out(before: Trials, after: Trials) -> None:
    passed, run = before.passed + after.passed, before.run + after.run
    ways = {
        k: comb(after.run, k) * comb(before.run, passed - k) / comb(run, passed)
        for k in range(after.run + 1)
        if 0 <= passed - k <= before.run
    }
    drop = before.passed / before.run - after.passed / after.run
    expected = sum(way for k, way in ways.items() if (k <= after.passed if drop > 0 else k >= after.passed))
    same = before.passed * after.run == after.passed * before.run
    assert chance(before, after) == pytest.approx(1 if same else expected)
    assert chance(before, after) == pytest.approx(chance(after, before))


def test_the_chance_of_as_many_trials_as_there_may_be_is_told_at_once() -> None:
    run = MOST_TRIALS
    assert chance(Trials(run, run // 2 + 100), Trials(run, run // 2)) == pytest.approx(0.080735, abs=1e-6)
    chances = pass_hat(run, run - 1)
    assert chances == pytest.approx([(run - k) / run for k in range(1, run + 1)])


def test_a_drop_that_is_none_of_the_verdict_is_no_regression() -> None:
    found = changed([case(status="failed", trials=(4, 5))], [case(status="failed", trials=(3, 5))])
    assert (found.cases[0].change, found.cases[0].likely_noise) == ("still_failing", True)
    assert found.counts.likely_noise == 0


# The case itself


def test_a_case_whose_text_changed_is_said() -> None:
    def asked(**fields: object) -> CaseResult:
        return judged({**ASKS, **fields}, turn(tool_calls=(ToolCall("look", {}),)))

    plain = asked()
    others = (
        asked(required_phrases=["ill"]),
        asked(question="And now?"),
        asked(xfail="known"),
        asked(metadata={"a": 1}),
    )
    for other in others:
        assert change_of(plain, other).case_changed
    assert not any(change_of(plain, other).case_changed for other in (asked(tags=["t"]), asked(model="m"), asked()))
    prompts = [judged(ASKS, turn(), suite={"system_prompt": text}) for text in ("Be kind.", "Be brief.")]
    assert change_of(*prompts).case_changed
    assert changed(prompts[:1], prompts[1:]).counts.case_changed == 1


@pytest.mark.parametrize("name", ["question", "expected_tools", "groundedness_threshold"])
def test_a_file_without_hashes_is_told_apart_by_what_it_says(name: str) -> None:
    old = case(case_sha256=None)
    other = {"question": "What?", "expected_tools": ("other",), "groundedness_threshold": 0.5}[name]
    assert not change_of(old, case()).case_changed
    assert change_of(old.model_copy(update={name: other}), case()).case_changed


# Checks


def row(name: str, ok: bool | None, message: str = "", at: int | None = None) -> CheckResult:
    return CheckResult(name=name, ok=ok, message=message, turn=at)


def test_the_checks_that_came_out_otherwise_are_told() -> None:
    before = (row("a", True), row("a", False, "old"), row("b", False), row("c", True, at=1), row("gone", True, "was"))
    after = (
        row("a", True),
        row("a", True, "new"),
        row("b", None, "why"),
        row("c", False, "bad", at=1),
        row("new", False),
    )
    assert change_of(case(checks=before), case(checks=after)).checks == (
        CheckChange("a", None, "fails", "holds", "new"),
        CheckChange("b", None, "fails", "undecided", "why"),
        CheckChange("c", 1, "holds", "fails", "bad"),
        CheckChange("new", None, "absent", "fails", ""),
        CheckChange("gone", None, "holds", "absent", "was"),
    )


@pytest.mark.parametrize("status", ["skipped", "not_run"])
def test_where_a_side_was_not_judged_no_check_and_no_call_is_compared(status: Status) -> None:
    one = change_of(case(), case(status=status, checks=(), turns=()))
    assert (one.checks, one.calls) == ((), ())


# Calls


def calls(before: Sequence[ToolCall], after: Sequence[ToolCall]) -> list[tuple[str, str, object, object]]:
    sides = [judged(ASKS, turn(tool_calls=tuple(made))) for made in (before, after)]
    return [(one.change, one.name, one.before, one.after) for one in change_of(*sides).calls]


def test_the_calls_that_came_went_or_have_other_arguments_are_told() -> None:
    before = [ToolCall("f", {"n": 1}), ToolCall("f", {"n": 2}), ToolCall("g", {}), ToolCall("f", {"n": 3})]
    after = [
        ToolCall("f", {"n": 3}),
        ToolCall("f", {"n": 4}),
        ToolCall("h", [1]),
        ToolCall("f", {"n": 1}),
        ToolCall("f", 5),
    ]
    assert calls(before, after) == [
        ("changed", "f", {"n": 2}, {"n": 4}),
        ("went", "g", {}, None),
        ("came", "h", None, [1]),
        ("came", "f", None, 5),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"n": 1}, {"n": 1.0}, True),
        ({"n": True}, {"n": 1}, False),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}, True),
        ([1, 2], [2, 1], False),
        (float("nan"), float("nan"), True),
        (float("inf"), float("-inf"), False),
        ("\ud83d", "\ufffd", True),
        ({"\ud83d": 1}, {"\ufffd": 1}, True),
        (None, {}, False),
    ],
)
def test_arguments_are_compared_by_value_and_as_a_file_has_them(one: object, other: object, same: bool) -> None:
    assert (calls([ToolCall("f", one)], [ToolCall("f", other)]) == []) is same


def test_what_a_file_cannot_hold_is_told_as_the_file_has_it() -> None:
    odd = {"x": [float("nan"), float("inf"), float("-inf")]}
    assert calls([], [ToolCall("f", odd)]) == [("came", "f", None, {"x": ["NaN", "Infinity", "-Infinity"]})]


def test_the_calls_of_all_turns_are_compared_together() -> None:
    turns = [turn(tool_calls=(ToolCall(name, {}),)) for name in "fg"]
    asked = {"question": None, "turns": [{"question": "One?", "required_phrases": ["well"]}, {"question": "Two?"}]}
    assert change_of(judged(asked, *turns), judged(asked, *turns[::-1])).calls == ()
    assert change_of(judged(asked, *turns), judged(asked, turns[0], turns[0])).calls == (
        CallChange("g", "went", {}, None),
        CallChange("f", "came", None, {}),
    )


# Figures


def side(*turns: Turn, **fields: Any) -> Any:
    asked = {"question": None, "turns": [{"question": "One?", "required_phrases": ["well"]}] * len(turns)}
    result = judged(asked, *turns).model_copy(update=fields)
    return change_of(result, result).after


def test_the_figures_are_those_of_the_whole_case() -> None:
    told = side(
        turn(timing=Timing(0.1, 0.2, 1.5), usage=Usage(3, 4), scores=(0.5,)),
        turn(timing=Timing(0.1, 0.4, 2.0), usage=Usage(None, 4), scores=(0.25,)),
        turn(timing=Timing(0.1, None, 0.5)),
        model="m",
        flaky=True,
    )
    assert (told.first_token_s, told.total_s, told.groundedness) == (0.4, 4.0, 0.25)
    assert (told.usage.input, told.usage.output, told.model, told.flaky, told.error) == (3, 8, "m", True, None)


def test_an_answer_that_did_not_come_whole_has_no_times() -> None:
    told = side(turn(), turn(error=Failure("cut", "the body broke off")))
    assert (told.first_token_s, told.total_s, told.usage) == (None, None, None)
    assert told.error == "cut: turn 2 of 2: the body broke off"
    assert side(turn(), turns=()).total_s is None


# The runs


def test_what_else_differs_between_the_runs_is_noted() -> None:
    before = run_of(
        case(),
        suites=tuple(SuiteResult(path=f"{name}.json", sha256=name) for name in "abc"),
        git=GitResult(sha="f" * 40, branch="main"),
        target=TargetResult(kind="http", name="there", dialect="native"),
        complete=False,
        unselected=("x",),
    )
    suites = (
        SuiteResult(path="a.json", sha256="a"),
        SuiteResult(path="b.json", sha256="B"),
        SuiteResult(path="d.json", sha256="d"),
        SuiteResult(path=None, sha256=None),
    )
    after = run_of(case(), golden_version="2.0.0", suites=suites)
    found = compare(before, after)
    assert found.notes == (
        "b.json: other contents than in the baseline",
        "d.json: not among the suites of the baseline",
        "c.json: a suite of the baseline, and none of this run",
        "the baseline is of golden 1.2.3, this run of 2.0.0",
        "another kind of target than in the baseline: http there, call here",
        "the baseline is not complete: some of its cases were not run",
        "the baseline holds a part of its cases only: what it left out is new here",
    )
    assert (found.baseline.sha, found.baseline.branch, found.baseline.golden_version) == ("f" * 40, "main", "1.2.3")
    assert compare(after, before.model_copy(update={"run": before.run.model_copy(update={"target": None})})).notes


# The exit code


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ([("a", "passed")], [("a", "passed")], 0),
        ([("a", "passed")], [("a", "failed")], 1),
        ([("a", "passed")], [("a", "error")], 3),
        ([("a", "failed")], [("a", "failed")], 0),
        ([("a", "error")], [("a", "error")], 3),
        ([("a", "failed")], [("a", "not_run")], 3),
        ([], [("a", "failed")], 0),
        ([("a", "skipped")], [("a", "failed")], 0),
        ([("a", "passed")], [], 1),
        ([("a", "passed"), ("b", "passed")], [("a", "error"), ("b", "failed")], 1),
    ],
)
def test_only_a_regression_counts_as_failed_and_an_error_as_ever(
    before: list[tuple[str, Status]], after: list[tuple[str, Status]], code: int
) -> None:
    runs = [run_of(*(case(*each) for each in side_)) for side_ in (before, after)]
    assert regression_code(runs[1], compare(*runs)) == code


def test_likely_noise_is_a_regression_for_the_exit_code() -> None:
    runs = [run_of(case(trials=(3, 3))), run_of(case(status="failed", trials=(2, 3)))]
    found = compare(*runs)
    assert found.cases[0].likely_noise
    assert regression_code(runs[1], found) == 1


# In the file


def test_each_result_says_its_change_and_the_file_the_rest() -> None:
    run = run_of(case("b", "failed"), case("n"))
    found = compare(run_of(case("b"), case("g")), run)
    told = json.loads(write(with_comparison(run, found)))
    assert [result["change"] for result in told["results"]] == ["regressed", "new"]
    assert told["comparison"]["gone"] == ["g"]
    assert told["comparison"]["counts"]["regressed"] == 2
    assert with_comparison(with_comparison(run, found), None) == run


def test_the_answers_of_the_baseline_are_kept_where_this_run_gave_others() -> None:
    texts = ("All is well.", "All is lost.", "x" * 5000, "x" * 5000 + "y")
    one, other, long, longer = (judged(ASKS, turn(text)) for text in texts)
    assert change_of(one, one).answers == ()
    assert change_of(one, other).answers == ("All is well.",)
    assert change_of(long, longer).answers == ("x" * 4000,)
    (gone,) = changed([one], []).cases
    assert gone.answers == ("All is well.",)
