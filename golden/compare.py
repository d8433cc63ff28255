"""(RunResult, RunResult) → Comparison. Pure."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import comb, isfinite, isnan

from golden.change import (
    Baseline,
    CallChange,
    CaseChange,
    Change,
    CheckChange,
    Comparison,
    Counts,
    Side,
    State,
    Tokens,
    Trials,
)
from golden.identity import unique_id
from golden.result import CaseResult, CheckResult, RunInfo, RunResult, ToolCallResult, exit_code
from golden.sse import whole
from golden.tally import total_usage

# The most of an earlier answer that is kept, in characters: it is there to be looked at.
_ANSWER = 4000

# A drop that chance brings about more often than this is not told from noise.
_P = 0.05

_STATES: Mapping[bool | None, State] = {True: "holds", False: "fails", None: "undecided"}
_JUDGED = ("passed", "failed", "error")
_BAD = ("failed", "error")


def compare(baseline: RunResult, run: RunResult) -> Comparison:
    """Says what became of each case of either run: each is in `cases` or `left_out`, once.

    A case is the same where its id is, whatever the case of its letters.
    """
    before = {unique_id(result.case_id): result for result in baseline.results}
    after = {unique_id(result.case_id): result for result in run.results}
    selectable = {*map(unique_id, (*run.run.unselected, *(run.run.shard.cases if run.run.shard else ())))}
    missing = [result for key, result in before.items() if key not in after]
    gone = [result for result in missing if unique_id(result.case_id) not in selectable]
    cases = (
        *(_case(before.get(key), result) for key, result in after.items()),
        *(CaseChange(result.case_id, "gone", _side(result), None, answers=_answers(result)) for result in gone),
    )
    git = baseline.run.git
    return Comparison(
        baseline=Baseline(
            started_at=baseline.run.started_at,
            golden_version=baseline.run.golden_version,
            sha=None if git is None else git.sha,
            branch=None if git is None else git.branch,
        ),
        counts=_counts(cases),
        gone=tuple(result.case_id for result in gone),
        left_out=tuple(result.case_id for result in missing if unique_id(result.case_id) in selectable),
        notes=tuple(_notes(baseline.run, run.run)),
        cases=cases,
    )


def regression_code(run: RunResult, comparison: Comparison) -> int:
    """The exit code where regressions alone count as failed: those that are gone too, errors as ever (contract 2)."""
    regressed = {case.case_id for case in comparison.cases if case.change == "regressed"}
    counted = [result for result in run.results if result.status != "failed" or result.case_id in regressed]
    return 1 if comparison.gone else exit_code(counted)


def _case(before: CaseResult | None, after: CaseResult) -> CaseChange:
    if before is None:
        return CaseChange(after.case_id, "new", None, _side(after))
    is_judged = before.status in _JUDGED and after.status in _JUDGED
    was, now = _side(before), _side(after)
    p = None if was.trials is None or now.trials is None else chance(was.trials, now.trials)
    return CaseChange(
        after.case_id,
        _change(before.status, after.status),
        was,
        now,
        case_changed=_asks(before) != _asks(after) or _differ(before.case_sha256, after.case_sha256),
        checks=tuple(_checks(before.checks, after.checks)) if is_judged else (),
        calls=tuple(_calls(_called(before), _called(after))) if is_judged else (),
        p=p,
        likely_noise=_is_noise(was.trials, now.trials, p),
        answers=_answers(before, after),
    )


def _change(before: str, after: str) -> Change:
    """A verdict where there was none is new; where there is none now, nobody knows that anything changed."""
    if after not in _JUDGED:
        return "unchanged"
    if before not in _JUDGED:
        return "new"
    if before in _BAD:
        return "still_failing" if after in _BAD else "fixed"
    return "regressed" if after in _BAD else "unchanged"


def chance(before: Trials, after: Trials) -> float:
    """The p of Fisher's exact test, one-sided, in the direction that the share of passed trials went; 1 for neither."""
    drop = before.passed * after.run - after.passed * before.run
    if drop == 0:
        return 1.0
    all_passed, all_run = before.passed + after.passed, before.run + after.run
    fewest, most = max(0, all_passed - before.run), min(after.run, all_passed)
    first, last = (fewest, after.passed) if drop > 0 else (after.passed, most)
    ways = one = comb(all_passed, first) * comb(all_run - all_passed, after.run - first)
    for k in range(first, last):  # each from the one before: from the start they would take a square of the time
        one = one * (all_passed - k) * (after.run - k) // ((k + 1) * (all_run - all_passed - after.run + k + 1))
        ways += one
    return ways / comb(all_run, after.run)


def _is_noise(before: Trials | None, after: Trials | None, p: float | None) -> bool:
    if before is None or after is None or p is None:
        return False
    is_drop = after.passed * before.run < before.passed * after.run
    return is_drop and p > _P and 2 * after.passed > after.run


def _asks(result: CaseResult) -> tuple[object, ...]:
    """What a result itself says of its case: older files have no hash of the whole."""
    return whole(result.question), result.expected_tools, result.groundedness_threshold


def _differ(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def _side(result: CaseResult) -> Side:
    turns = result.turns if all(turn.error is None for turn in result.turns) else ()
    first_tokens = [turn.timing.first_token_s for turn in turns if turn.timing.first_token_s is not None]
    usage = total_usage([turn.usage for turn in result.turns])
    return Side(
        status=result.status,
        error=None if result.error is None else f"{result.error.kind}: {result.error.message}",
        flaky=result.flaky,
        trials=None if result.trials is None else Trials(result.trials.run, result.trials.passed),
        groundedness=result.groundedness,
        first_token_s=max(first_tokens, default=None),
        total_s=round(sum(turn.timing.total_s for turn in turns), 6) if turns else None,
        usage=None if usage is None else Tokens(usage.input, usage.output),
        model=result.model,
    )


def _answers(result: CaseResult, but: CaseResult | None = None) -> tuple[str, ...]:
    """What was answered, cut; nothing where the other answered the same."""
    answers = [turn.answer for turn in result.turns]
    if but is not None and answers == [turn.answer for turn in but.turns]:
        return ()
    return tuple(answer[:_ANSWER] for answer in answers)


def _checks(before: Sequence[CheckResult], after: Sequence[CheckResult]) -> Iterator[CheckChange]:
    was, now = _rows(before), _rows(after)
    for key in {**now, **was}:
        one, other = _state(was.get(key)), _state(now.get(key))
        if one != other:
            row = now.get(key) or was[key]
            yield CheckChange(row.name, row.turn, one, other, row.message)


def _state(check: CheckResult | None) -> State:
    return "absent" if check is None else _STATES[check.ok]


def _rows(checks: Sequence[CheckResult]) -> dict[tuple[str, int | None, int], CheckResult]:
    """Checks by what tells them apart: name, turn, and which of those that have both in common."""
    seen: Counter[tuple[str, int | None]] = Counter()
    rows = {}
    for check in checks:
        rows[(check.name, check.turn, seen[check.name, check.turn])] = check
        seen[check.name, check.turn] += 1
    return rows


_Calls = list[tuple[str, object, str]]


def _called(result: CaseResult) -> _Calls:
    """Each call: its name, its arguments as a file has them, and the same as a text that equals where they do."""
    calls: list[ToolCallResult] = [call for turn in result.turns for call in turn.tool_calls]
    plain = [(whole(call.name), _plain(call.args)) for call in calls]
    return [(name, args, json.dumps(_by_value(args), sort_keys=True)) for name, args in plain]


def _calls(before: _Calls, after: _Calls) -> Iterator[CallChange]:
    """Calls that are equal are the same one; of the others those of one name are, in their order."""
    was, now = _without(before, after), _without(after, before)
    others: defaultdict[str, _Calls] = defaultdict(list)
    for call in now:
        others[call[0]].append(call)
    for name, args, _ in was:
        if others[name]:
            yield CallChange(name, "changed", args, others[name].pop(0)[1])
        else:
            yield CallChange(name, "went", args, None)
    left = {id(call) for calls in others.values() for call in calls}
    for call in now:
        if id(call) in left:
            yield CallChange(call[0], "came", None, call[1])


def _without(calls: _Calls, others: _Calls) -> _Calls:
    """The calls without those that have an equal of their own among the others."""
    equals = Counter((name, key) for name, _, key in others)
    left = []
    for call in calls:
        equals[call[0], call[2]] -= 1
        if equals[call[0], call[2]] < 0:
            left.append(call)
    return left


def _plain(value: object) -> object:
    """A value as it is read again from a results file."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {whole(key): _plain(item) for key, item in value.items()}
    return [*map(_plain, value)] if isinstance(value, (list, tuple)) else value


def _by_value(value: object) -> object:
    """The same with numbers by their value: 1.0 is 1."""
    if isinstance(value, dict):
        return {key: _by_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [*map(_by_value, value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _counts(cases: Sequence[CaseChange]) -> Counts:
    of = Counter(case.change for case in cases)
    return Counts(
        regressed=of["regressed"] + of["gone"],
        likely_noise=sum(case.likely_noise and case.change == "regressed" for case in cases),
        fixed=of["fixed"],
        still_failing=of["still_failing"],
        new=of["new"],
        unchanged=of["unchanged"],
        case_changed=sum(case.case_changed for case in cases),
    )


def _notes(before: RunInfo, after: RunInfo) -> Iterator[str]:
    was, now = ({one.path: one.sha256 for one in info.suites if one.path is not None} for info in (before, after))
    yield from (f"{path}: other contents than in the baseline" for path in now if _differ(was.get(path), now[path]))
    yield from (f"{path}: not among the suites of the baseline" for path in now if path not in was)
    yield from (f"{path}: a suite of the baseline, and none of this run" for path in was if path not in now)
    if before.golden_version != after.golden_version:
        yield f"the baseline is of golden {before.golden_version}, this run of {after.golden_version}"
    if before.target and after.target:
        for what in ("kind", "dialect"):
            one, other = getattr(before.target, what), getattr(after.target, what)
            if one != other:
                yield f"another {what} of target than in the baseline: {one} there, {other} here"
    if not before.complete:
        yield "the baseline is not complete: some of its cases were not run"
    if before.unselected or before.shard:
        yield "the baseline holds a part of its cases only: what it left out is new here"
