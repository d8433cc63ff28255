"""Results → a baseline, or why they make none."""

from golden.errors import UsageError
from golden.result import RunResult, with_comparison
from golden.visible import excerpt

_SHOWN = 10  # the most ids that a message lists


def blessed(name: str, run: RunResult) -> RunResult:
    """Returns results as a baseline: without what an older one said of them.

    Args:
        name: of their file.
        run: what stands in it.

    Raises:
        UsageError: a case has no verdict that a later one can be compared with, or they are a part of a run.
    """
    if run.run.shard is not None:
        part = f"shard {run.run.shard.index}/{run.run.shard.count} of a run"
        raise UsageError(f"{name}: {part}: a baseline has all cases", hint="`golden merge` joins the shards first")
    lacking = [one for one in run.results if one.status in ("error", "not_run")]
    if lacking:
        ids = ", ".join(f"{excerpt(one.case_id, 120)} ({one.status.replace('_', ' ')})" for one in lacking[:_SHOWN])
        more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
        raise UsageError(
            f"{name}: not blessed: {len(lacking)} of {len(run.results)} cases have no verdict: {ids}{more}",
            hint="run them again (`golden run`), then bless the results of that",
        )
    return with_comparison(run, None)
