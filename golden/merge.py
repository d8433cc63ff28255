"""The results of shards → the results of the whole run (contract 2, `golden merge`)."""

import hashlib
from collections.abc import Callable, Iterable, Sequence

from golden.errors import UsageError
from golden.result import RunInfo, RunResult, ShardResult, with_comparison
from golden.tally import summarise
from golden.visible import excerpt

_SHOWN = 10  # the most names that a message lists
_LONGEST = 120  # the most characters that it shows of one

_HINT = "give what `golden run --shard I/N --json-out F` wrote for each I of one run, each once"

_Part = tuple[str, RunResult, ShardResult]

# What the parts of one run have in common; None where a part does not know. The target's name is not among it, as each
# part may ask a preview of its own, nor is the dialect: `auto` finds it in answers, and a part may have had none.
_COMMON: tuple[tuple[str, Callable[[RunInfo, ShardResult], str | None]], ...] = (
    ("versions of golden", lambda run, shard: run.golden_version),
    ("commits", lambda run, shard: run.git.sha if run.git else None),
    ("kinds of target", lambda run, shard: run.target.kind if run.target else None),
    ("suites", lambda run, shard: ", ".join(f"{one.path} ({(one.sha256 or '')[:12]})" for one in run.suites)),
    ("numbers of shards", lambda run, shard: str(shard.count)),
    ("selections", lambda run, shard: f"{len(shard.cases)} cases ({_digest(shard.cases)})"),
)


def merged(runs: Sequence[tuple[str, RunResult]]) -> RunResult:
    """Joins the results of all shards of a run.

    The whole began when its first part did and took as long as its longest, as parts run side by side. Its target is
    that of the first part that had answers to tell the dialect by.

    Args:
        runs: (name of the file, results), in any order.

    Raises:
        UsageError: with all that keeps them from being the parts of one run, each of its cases in one of them.
    """
    parts = [(name, run, shard) for name, run in runs if (shard := run.run.shard) is not None]
    others = [name for name, run in runs if run.run.shard is None]
    causes = [f"not results of a shard: {_listed(others)}"] if others else []
    causes += _unlike(parts)
    if len({(shard.count, shard.cases) for _, _, shard in parts}) == 1:
        causes += _gaps(parts)
    if causes or not parts:
        raise UsageError("\n".join(["these are not the shards of one run", *causes]), hint=_HINT)
    infos = [run.run for _, run, _ in parts]
    targets = [info.target for info in infos if info.target is not None]
    found = {result.case_id: result for _, run, _ in parts for result in run.results}
    results = tuple(found[case_id] for case_id in parts[0][2].cases)
    whole = {
        "started_at": min(info.started_at for info in infos),
        "duration_s": max(info.duration_s for info in infos),
        "target": max(targets, key=lambda target: target.reason != "", default=None),
        "git": next((info.git for info in infos if info.git is not None), None),
        "complete": all(info.complete for info in infos),
        "shard": None,
    }
    run = RunResult(run=infos[0].model_copy(update=whole), summary=summarise(results), results=results)
    return with_comparison(run, None)  # a part's own, with a baseline, knows nothing of the others


def _unlike(parts: Sequence[_Part]) -> Iterable[str]:
    """What the parts should have in common and have not."""
    for what, of in _COMMON:
        files: dict[str, list[str]] = {}
        for name, run, shard in parts:
            if (value := of(run.run, shard)) is not None:
                files.setdefault(value, []).append(name)
        if len(files) > 1:
            yield f"different {what}: {'; '.join(_in(value, names) for value, names in files.items())}"


def _gaps(parts: Sequence[_Part]) -> Iterable[str]:
    """What is missing, or there twice, in parts of one and the same whole."""
    _, _, whole = parts[0]
    selected = set(whole.cases)
    shards: dict[int, list[str]] = {}
    cases: dict[str, list[str]] = {}
    for name, run, shard in parts:
        shards.setdefault(shard.index, []).append(name)
        for result in run.results:
            cases.setdefault(result.case_id, []).append(name)
    faults = (
        ("missing shards", [f"{index}/{whole.count}" for index in range(1, whole.count + 1) if index not in shards]),
        ("shards given twice", [_in(f"{at}/{whole.count}", files) for at, files in shards.items() if files[1:]]),
        ("cases without a result", [excerpt(case_id, _LONGEST) for case_id in whole.cases if case_id not in cases]),
        ("cases with two results", [_in(case_id, files) for case_id, files in cases.items() if files[1:]]),
        ("cases not selected", [_in(case_id, files) for case_id, files in cases.items() if case_id not in selected]),
    )
    return (f"{what}: {_listed(names)}" for what, names in faults if names)


def _in(name: str, files: Sequence[str]) -> str:
    return f"{excerpt(name, _LONGEST)} in {_listed(files)}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(names).encode(errors="surrogatepass")).hexdigest()[:12]
