"""Results → their figures: how many, how long, how many tokens."""

from collections import Counter
from collections.abc import Sequence
from math import ceil

from golden.result import CaseResult, Quantiles, Summary, UsageResult, exit_code


def summarise(results: Sequence[CaseResult]) -> Summary:
    """Counts the results and their timings."""
    count = Counter(result.status for result in results)
    judged = len(results) - count["skipped"]
    turns = [turn for result in results for turn in result.turns]
    return Summary(
        total=len(results),
        passed=count["passed"],
        failed=count["failed"],
        errors=count["error"],
        skipped=count["skipped"],
        not_run=count["not_run"],
        flaky=sum(result.flaky for result in results),
        all_passed=exit_code(results) == 0,
        pass_rate=count["passed"] / judged if judged else None,
        usage=total_usage([attempt.usage for result in results for attempt in result.attempts]),
        first_token_s=_quantiles([at for turn in turns if (at := turn.timing.first_token_s) is not None]),
        total_s=_quantiles([turn.timing.total_s for turn in turns if turn.error is None]),
    )


def spent(result: CaseResult) -> int:
    """How many tokens the agent says a case took, all tries together."""
    used = total_usage([attempt.usage for attempt in result.attempts])
    return 0 if used is None else (used.input or 0) + (used.output or 0)


def total_usage(usages: Sequence[UsageResult | None]) -> UsageResult | None:
    """Adds usages up; None where none was reported."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return UsageResult(input=_total([one.input for one in known]), output=_total([one.output for one in known]))


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _quantiles(times: list[float]) -> Quantiles:
    """By the nearest rank: each figure is one that was measured."""
    times.sort()
    p50, p95 = (times[ceil(len(times) * share) - 1] if times else None for share in (0.5, 0.95))
    return Quantiles(p50=p50, p95=p95)
