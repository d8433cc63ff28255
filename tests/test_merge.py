from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.errors import UsageError
from golden.merge import merged
from golden.result import (
    CaseResult,
    GitResult,
    RunResult,
    ShardResult,
    Status,
    SuiteResult,
    TargetResult,
    read,
    write,
)
from golden.shard import Shard, holds
from golden.tally import summarise
from tests.values import judged, run_of, turn

STATUSES: tuple[Status, ...] = get_args(Status)
CASE = judged({"expected_tools": ["a"]}, turn())
HINT = "give what `golden run --shard I/N --json-out F` wrote for each I of one run, each once"
MAIN = GitResult(sha="abc", branch="main")


def case(case_id: str, status: Status = "passed") -> CaseResult:
    return CASE.model_copy(update={"case_id": case_id, "status": status, "passed": status == "passed"})


def part(index: int, count: int, cases: Sequence[str], *results: CaseResult, **info: Any) -> RunResult:
    """The results of one shard; `cases` are those of all."""
    return run_of(*results, shard=ShardResult(index=index, count=count, cases=tuple(cases)), **info)


def two(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, RunResult]]:
    """Two shards that differ in what they say of the run."""
    return [
        ("1.json", part(1, 2, "ab", case("a"), **first)),
        ("2.json", part(2, 2, "ab", case("b"), **second)),
    ]


def refused(runs: Sequence[tuple[str, RunResult]]) -> list[str]:
    with pytest.raises(UsageError) as caught:
        merged(runs)
    assert caught.value.hint == HINT
    head, *causes = caught.value.message.split("\n")
    assert head == "these are not the shards of one run"
    return causes


# What is joined


@given(
    st.lists(
        st.tuples(st.text(min_size=1), st.sampled_from(STATUSES)),
        unique_by=lambda named: named[0],
        max_size=12,
    ),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_a_run_that_is_split_by_shards_and_merged_is_the_same_run(
    cases: list[tuple[str, Status]], count: int, random: Any
) -> None:
    whole = run_of(*(case(case_id, status) for case_id, status in cases), git=MAIN)
    ids = [case_id for case_id, _ in cases]
    parts = []
    for index in range(1, count + 1):
        held = [result for result in whole.results if holds(Shard(index, count), result.case_id)]
        random.shuffle(held)
        parts.append((f"{index}.json", part(index, count, ids, *held, git=MAIN)))
    random.shuffle(parts)
    assert merged(parts) == whole
    assert merged([(name, read(write(run))) for name, run in parts]) == read(write(whole))


def test_one_part_of_one_is_the_whole() -> None:
    assert merged([("1.json", part(1, 1, "ab", case("a"), case("b")))]) == run_of(case("a"), case("b"))


def test_an_empty_part_with_no_target_is_fine() -> None:
    runs = [
        ("1.json", part(1, 2, "a", target=None, duration_s=0)),
        ("2.json", part(2, 2, "a", case("a"))),
    ]
    assert merged(runs) == run_of(case("a"))


def test_a_run_in_which_no_part_had_a_target_has_none() -> None:
    assert merged(two({"target": None}, {"target": None})).run.target is None


def test_results_stand_in_suite_order_whatever_the_order_of_the_files() -> None:
    runs = [
        ("2.json", part(2, 2, "cab", case("b"), case("c"))),
        ("1.json", part(1, 2, "cab", case("a", "failed"))),
    ]
    whole = merged(runs)
    assert [result.case_id for result in whole.results] == ["c", "a", "b"]
    assert whole.summary == summarise(whole.results)
    assert (whole.summary.total, whole.summary.failed, whole.exit_code) == (3, 1, 1)


@pytest.mark.parametrize("turned", [False, True])
def test_the_whole_began_with_its_first_part_and_took_as_long_as_its_longest(turned: bool) -> None:
    runs = two(
        {"started_at": "2026-01-02T03:04:05+00:00", "duration_s": 9},
        {"started_at": "2026-01-02T03:04:04+00:00", "duration_s": 1},
    )
    run = merged(runs[::-1] if turned else runs).run
    assert (run.started_at, run.duration_s) == ("2026-01-02T03:04:04+00:00", 9)


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True), (False, False)])
def test_the_whole_is_complete_when_every_part_is(first: bool, second: bool) -> None:
    assert merged(two({"complete": first}, {"complete": second})).run.complete == (first and second)


def test_the_whole_is_no_shard() -> None:
    assert merged(two({}, {})).run.shard is None


def test_the_target_is_that_of_the_first_part_that_could_tell_the_dialect() -> None:
    def asked(name: str, dialect: str, reason: str) -> dict[str, TargetResult]:
        return {"target": TargetResult(kind="http", name=name, dialect=dialect, reason=reason)}

    told = asked("https://two.example", "native", "an event of its own")
    assert merged(two(asked("https://one.example", "auto", ""), told)).run.target == told["target"]
    same = asked("https://one.example", "native", "an event of its own")
    assert merged(two(same, told)).run.target == same["target"]


@pytest.mark.parametrize(("first", "second"), [(MAIN, None), (None, MAIN), (MAIN, MAIN)])
def test_a_part_that_does_not_know_its_commit_is_no_other_commit(first: object, second: object) -> None:
    assert merged(two({"git": first}, {"git": second})).run.git == MAIN


def test_the_same_commit_under_another_branch_is_the_same_commit() -> None:
    assert merged(two({"git": MAIN}, {"git": GitResult(sha="abc", branch=None)})).run.git == MAIN


# What is refused


def test_results_of_no_shard_are_refused_by_name() -> None:
    whole = run_of(case("a"))
    assert refused([("a.json", whole), ("b.json", whole)]) == ["not results of a shard: a.json, b.json"]
    mixed = refused([("a.json", whole), ("1.json", part(1, 1, "a", case("a")))])
    assert mixed == ["not results of a shard: a.json"]


def test_no_results_at_all_are_refused() -> None:
    assert refused([]) == []


def test_a_shard_that_is_missing_is_named_with_its_cases() -> None:
    runs = [("2.json", part(2, 3, "abc", case("b")))]
    assert refused(runs) == ["missing shards: 1/3, 3/3", "cases without a result: a, c"]


def test_a_case_that_is_missing_from_its_shard_is_named() -> None:
    assert refused([("1.json", part(1, 1, "ab", case("a")))]) == ["cases without a result: b"]


def test_the_same_shard_twice_is_refused_with_both_files_and_its_cases() -> None:
    runs = [*two({}, {}), ("again.json", part(2, 2, "ab", case("b")))]
    assert refused(runs) == [
        "shards given twice: 2/2 in 2.json, again.json",
        "cases with two results: b in 2.json, again.json",
    ]


def test_a_case_in_two_shards_is_refused_with_both_files() -> None:
    runs = [("1.json", part(1, 2, "ab", case("a"), case("b"))), ("2.json", part(2, 2, "ab", case("b")))]
    assert refused(runs) == ["cases with two results: b in 1.json, 2.json"]


def test_a_case_that_was_not_selected_is_refused() -> None:
    assert refused([("1.json", part(1, 1, "a", case("a"), case("x")))]) == ["cases not selected: x in 1.json"]


def test_of_many_names_ten_are_shown() -> None:
    ids = [f"case-{at}" for at in range(25)]
    shown = ", ".join(ids[:10])
    assert refused([("1.json", part(1, 1, ids))]) == [f"cases without a result: {shown} and 15 more"]
    shown = ", ".join(ids[:9])
    assert refused([("1.json", part(1, 1, ids[:9]))]) == [f"cases without a result: {shown}"]


def test_what_would_steer_a_terminal_is_shown_as_an_escape() -> None:
    assert refused([("1.json", part(1, 1, ["\x1b[2J"]))]) == [r"cases without a result: \x1b[2J"]


def test_an_endless_id_is_cut() -> None:
    (cause,) = refused([("1.json", part(1, 1, ["x" * 10_000]))])
    assert len(cause) < 200


SUITE = SuiteResult(path="suite.json", sha256="f" * 64)
OTHER = SuiteResult(path="other.json", sha256=None)


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        ({}, {"golden_version": "1.2.4"}, "versions of golden: 1.2.3 in 1.json; 1.2.4 in 2.json"),
        ({"git": MAIN}, {"git": GitResult(sha="def", branch="main")}, "commits: abc in 1.json; def in 2.json"),
        (
            {},
            {"target": TargetResult(kind="http", name="app:agent", dialect="native")},
            "kinds of target: call in 1.json; http in 2.json",
        ),
        (
            {},
            {"suites": (SUITE.model_copy(update={"sha256": "e" * 64}),)},
            "suites: suite.json (ffffffffffff) in 1.json; suite.json (eeeeeeeeeeee) in 2.json",
        ),
        (
            {},
            {"suites": (SUITE, OTHER)},
            "suites: suite.json (ffffffffffff) in 1.json; suite.json (ffffffffffff), other.json () in 2.json",
        ),
    ],
    ids=["version", "commit", "target", "bytes of a suite", "suites"],
)
def test_parts_of_different_runs_are_refused(first: dict[str, Any], second: dict[str, Any], cause: str) -> None:
    assert refused(two(first, second)) == [f"different {cause}"]


def test_parts_of_another_number_or_selection_are_refused() -> None:
    runs = [("1.json", part(1, 2, "ab", case("a"))), ("2.json", part(2, 3, "ac", case("c")))]
    number, selection = refused(runs)
    assert number == "different numbers of shards: 2 in 1.json; 3 in 2.json"
    assert selection.startswith("different selections: 2 cases (")


def test_the_same_cases_in_another_order_are_another_selection() -> None:
    runs = [("1.json", part(1, 2, "ab", case("a"))), ("2.json", part(2, 2, "ba", case("b")))]
    (selection,) = refused(runs)
    assert selection.startswith("different selections: ")


def test_all_that_is_wrong_is_said_at_once() -> None:
    runs = [
        ("whole.json", run_of(case("a"))),
        ("1.json", part(1, 3, "abc", case("a"), case("a"))),
        ("2.json", part(2, 3, "abc", case("b"), golden_version="2")),
    ]
    assert refused(runs) == [
        "not results of a shard: whole.json",
        "different versions of golden: 1.2.3 in 1.json; 2 in 2.json",
        "missing shards: 3/3",
        "cases without a result: c",
        "cases with two results: a in 1.json, 1.json",
    ]
