"""The tries at a case → its result. Pure."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from golden.result import CaseResult, CheckResult, TrialsResult


class Try(NamedTuple):
    """One try: which, both counted from 1, and what it came to."""

    trial: int
    number: int
    result: CaseResult


def expected_to_fail(result: CaseResult, reason: str) -> CaseResult:
    """Returns the result of a case that is known to fail: a failure is a pass, and a pass a failure."""
    if result.status not in ("passed", "failed"):
        return result
    passed = result.status == "failed"
    message = f"it failed, as expected: {reason}" if passed else f"it passed, and is marked as known to fail: {reason}"
    return _turned(result, passed, "xfail", message).model_copy(update={"xfailed": passed})


def verdict(tries: Sequence[Try], trials: int, flaky: Literal["pass", "fail"]) -> CaseResult:
    """Returns a case's result of all tries at it, with the evidence of the one that decides (contract 4).

    Args:
        tries: at least one, in order; the last may have been stopped.
        trials: how many there were to be: where more than one, all must pass.
        flaky: what a case that passed on a later try counts as.
    """
    decider = deciding(tries, trials)
    attempts = tuple(
        row.model_copy(update={"trial": each.trial, "try_": each.number})
        for each in tries
        for row in each.result.attempts
    )
    judged = [each.result.passed for each in tries if each.result.status != "not_run"]
    is_flaky = decider.result.passed and decider.number > 1
    result = decider.result.model_copy(
        update={
            "attempts": attempts,
            "flaky": is_flaky,
            "trials": TrialsResult(run=len(judged), passed=sum(judged)) if trials > 1 else None,
        }
    )
    if is_flaky and flaky == "fail":
        return _turned(result, False, "flaky", f"it passed only on try {decider.number}, and --flaky is `fail`")
    return result


def pass_hat(run: int, passed: int) -> list[float]:
    """Returns for each k up to `run` the chance that k tries in a row all pass, estimated from `passed` of them.

    The unbiased estimate C(passed, k) / C(run, k) of Yao et al., "tau-bench" (2024), section 3.
    """
    chances = []
    good = ways = 1  # each from the one before: from the start they would take a square of the time
    for k in range(run):
        good, ways = good * (passed - k) // (k + 1), ways * (run - k) // (k + 1)
        chances.append(good / ways)
    return chances


def deciding(tries: Sequence[Try], trials: int) -> Try:
    """Returns the try that gives a case its verdict: of those that decide, the first."""
    # The first try with the first of these statuses that any has; else the last. A run that was stopped leaves a try
    # out: where the others decide all the same, they do.
    statuses = ("failed", "error", "not_run") if trials > 1 else ("passed", "failed", "not_run")
    return next((each for status in statuses for each in tries if each.result.status == status), tries[-1])


def _turned(result: CaseResult, passed: bool, name: str, message: str) -> CaseResult:
    row = CheckResult(name=name, ok=passed, message=message, turn=None)
    status = "passed" if passed else "failed"
    return result.model_copy(update={"status": status, "passed": passed, "checks": (*result.checks, row)})
