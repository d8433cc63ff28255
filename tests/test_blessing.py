import pytest

from golden.blessing import blessed
from golden.compare import compare
from golden.errors import UsageError
from golden.result import ShardResult, Status, with_comparison
from tests.test_compare import case
from tests.values import run_of


def test_a_run_with_a_verdict_for_each_case_is_a_baseline_whatever_the_verdict() -> None:
    run = run_of(case("a"), case("b", "failed"), case("c", "skipped"))
    assert blessed("r.json", run) == run


def test_what_an_older_baseline_said_is_left_out() -> None:
    run = run_of(case("a"))
    assert blessed("r.json", with_comparison(run, compare(run, run))) == run


@pytest.mark.parametrize("status", ["error", "not_run"])
def test_a_case_without_a_verdict_is_refused_by_name(status: Status) -> None:
    with pytest.raises(UsageError) as caught:
        blessed("r.json", run_of(case("a"), case("b", status)))
    name = status.replace("_", " ")
    assert caught.value.message == f"r.json: not blessed: 1 of 2 cases have no verdict: b ({name})"
    assert caught.value.hint == "run them again (`golden run`), then bless the results of that"


def test_of_many_without_a_verdict_ten_are_named() -> None:
    with pytest.raises(UsageError, match=r"11 of 11 cases have no verdict: c0 \(error\), .*c9 \(error\) and 1 more\n"):
        blessed("r.json", run_of(*(case(f"c{at}", "error") for at in range(11))))


def test_a_part_of_a_run_is_refused() -> None:
    run = run_of(case("a"), shard=ShardResult(index=1, count=2, cases=("a", "b")))
    with pytest.raises(UsageError, match="shard 1/2 of a run: a baseline has all cases\nhint: `golden merge`"):
        blessed("r.json", run)
