"""Tries → the case's result (contract 4)."""

from itertools import combinations, product

import pytest

from golden.result import CaseResult, Status, TrialsResult, UsageResult
from golden.score import not_run
from golden.suite import Case, Suite
from golden.transcript import Failure, Usage
from golden.verdict import Try, expected_to_fail, pass_hat, verdict
from tests.values import covering, judged, turn

ASKED = {"required_phrases": ["well"]}

# p passed, f failed, e error, n stopped in flight, _ stopped before it began
STATUS: dict[str, Status] = {"p": "passed", "f": "failed", "e": "error", "n": "not_run", "_": "not_run"}


def came(kind: str, number: int) -> CaseResult:
    """The result of one try, whose answer says which it was."""
    if kind in "n_":
        case = Case.model_validate({"id": "well", "question": "Is all well?", **ASKED})
        turns = (turn(f"stopped {number}"),) if kind == "n" else ()
        return not_run(Suite(cases=[case]), case, None, "stopped by SIGINT", covering(), turns)
    error = Failure("cut", f"it was cut, {number}") if kind == "e" else None
    return judged(ASKED, turn(f"{'ill' if kind == 'f' else 'well'} {number}", error=error, usage=Usage(number, None)))


def retried(kinds: str) -> CaseResult:
    return verdict([Try(1, at, came(kind, at)) for at, kind in enumerate(kinds, start=1)], 1, "pass")


def tried(kinds: str, trials: int | None = None) -> CaseResult:
    tries = [Try(at, 1, came(kind, at)) for at, kind in enumerate(kinds, start=1)]
    return verdict(tries, trials or len(kinds), "pass")


def answer(result: CaseResult) -> str:
    return result.turns[0].answer if result.turns else ""


@pytest.mark.parametrize(
    ("kinds", "status", "evidence"),
    [
        ("p", "passed", "well 1"),
        ("f", "failed", "ill 1"),
        ("e", "error", "well 1"),
        ("n", "not_run", "stopped 1"),
        ("fp", "passed", "well 2"),
        ("ep", "passed", "well 2"),
        ("efep", "passed", "well 4"),
        ("ff", "failed", "ill 1"),
        ("ef", "failed", "ill 2"),
        ("fe", "failed", "ill 1"),
        ("eff", "failed", "ill 2"),
        ("ee", "error", "well 2"),
        ("fn", "failed", "ill 1"),
        ("en", "not_run", "stopped 2"),
        ("f_", "failed", "ill 1"),
        ("n_", "not_run", "stopped 1"),
    ],
)
def test_of_several_tries_the_first_that_passed_decides_else_one_that_failed(
    kinds: str, status: Status, evidence: str
) -> None:
    result = retried(kinds)
    assert (result.status, result.passed, answer(result)) == (status, status == "passed", evidence)
    assert result.flaky is (status == "passed" and len(kinds) > 1)
    assert result.trials is None


@pytest.mark.parametrize(
    ("kinds", "status", "evidence"),
    [
        ("ppp", "passed", "well 3"),
        ("pfp", "failed", "ill 2"),
        ("pff", "failed", "ill 2"),
        ("pep", "error", "well 2"),
        ("efp", "failed", "ill 2"),
        ("eee", "error", "well 1"),
        ("pn", "not_run", "stopped 2"),
        ("p_", "not_run", ""),
        ("en", "error", "well 1"),
        ("fn", "failed", "ill 1"),
        ("pf_", "failed", "ill 2"),
    ],
)
def test_of_trials_one_that_failed_decides_else_an_error(kinds: str, status: Status, evidence: str) -> None:
    result = tried(kinds, 3)
    assert (result.status, result.passed, answer(result)) == (status, status == "passed", evidence)
    assert result.flaky is False
    assert result.trials == TrialsResult(run=len(kinds.strip("n_")), passed=kinds.count("p"))


@pytest.mark.parametrize("kinds", ["".join(mix) for size in (1, 2, 3) for mix in product("pfen", repeat=size)])
def test_whatever_came_is_kept_and_only_what_was_judged_passes(kinds: str) -> None:
    for result in (retried(kinds), tried(kinds, 3)):
        assert [each.status for each in result.attempts] == [STATUS[kind] for kind in kinds]
        assert result.passed is (result.status == "passed")
    assert retried(kinds).passed is ("p" in kinds)
    assert tried(kinds, 3).passed is (set(kinds) == {"p"})


def test_attempts_are_numbered_as_they_were_made_with_what_each_came_to_and_used() -> None:
    first, second = retried("ep").attempts
    assert [(each.trial, each.try_) for each in (first, second)] == [(1, 1), (1, 2)]
    assert first.error is not None
    assert (first.error.message, [check.ok for check in first.checks]) == ("it was cut, 1", [None])
    assert (second.error, [check.ok for check in second.checks]) == (None, [True])
    assert [each.usage for each in (first, second)] == [UsageResult(input=number, output=None) for number in (1, 2)]
    assert [(each.trial, each.try_) for each in tried("pfp").attempts] == [(1, 1), (2, 1), (3, 1)]


def test_what_never_began_is_no_attempt() -> None:
    assert [each.status for each in retried("f_").attempts] == ["failed"]


# What a pass on retry counts as


def test_a_pass_on_retry_counts_as_failed_where_that_is_asked_for() -> None:
    tries = [Try(1, 1, came("f", 1)), Try(1, 2, came("p", 2))]
    result = verdict(tries, 1, "fail")
    assert (result.status, result.passed, result.flaky) == ("failed", False, True)
    *others, last = result.checks
    assert {check.ok for check in others} == {True}
    assert (last.name, last.ok, last.turn) == ("flaky", False, None)
    assert last.message == "it passed only on try 2, and --flaky is `fail`"


@pytest.mark.parametrize("kinds", ["p", "f", "ff", "e", "fn"])
def test_what_did_not_pass_on_retry_is_what_it_was(kinds: str) -> None:
    tries = [Try(1, at, came(kind, at)) for at, kind in enumerate(kinds, start=1)]
    assert verdict(tries, 1, "fail") == verdict(tries, 1, "pass")


# What is known to fail


@pytest.mark.parametrize(
    ("kind", "status", "xfailed", "message"),
    [
        ("f", "passed", True, "it failed, as expected: issue 7"),
        ("p", "failed", False, "it passed, and is marked as known to fail: issue 7"),
    ],
)
def test_a_failure_that_is_expected_passes_and_a_pass_that_is_not_fails(
    kind: str, status: Status, xfailed: bool, message: str
) -> None:
    result = expected_to_fail(came(kind, 1), "issue 7")
    assert (result.status, result.passed, result.xfailed) == (status, xfailed, xfailed)
    phrases, known = result.checks
    assert (phrases.name, phrases.ok) == ("required_phrases", kind == "p")  # what did not hold is still told
    assert (known.name, known.ok, known.message, known.turn) == ("xfail", xfailed, message, None)
    assert [each.status for each in result.attempts] == [STATUS[kind]]


@pytest.mark.parametrize("kind", ["e", "n", "_"])
def test_what_was_not_judged_is_no_failure_that_was_expected(kind: str) -> None:
    result = came(kind, 1)
    assert expected_to_fail(result, "issue 7") == result


# pass^k


@pytest.mark.parametrize("run", range(1, 8))
def test_pass_hat_is_the_share_of_all_choices_of_k_tries_that_all_passed(run: int) -> None:
    for passed in range(run + 1):
        tries = [True] * passed + [False] * (run - passed)
        chosen = [[all(choice) for choice in combinations(tries, k)] for k in range(1, run + 1)]
        assert pass_hat(run, passed) == [sum(choices) / len(choices) for choices in chosen]


def test_pass_hat_of_no_tries_says_nothing() -> None:
    assert pass_hat(0, 0) == []
