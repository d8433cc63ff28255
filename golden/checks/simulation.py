"""Tools that must only pretend: nothing was done for real."""

from collections.abc import Iterable, Sequence

from golden.checks import Check, Cover, Family
from golden.payload import dump, parse
from golden.suite import Checks
from golden.transcript import ToolCall, Turn

# How much of a result is shown.
_RESULT = 80


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    if not expect.simulated_tools:
        return
    calls = [call for turn in turns for call in turn.tool_calls if call.name in expect.simulated_tools]
    real = [call for call in calls if not _simulated(call.result)]
    stray = next(
        (finding for turn in turns for finding in turn.findings if finding.kind == "result_without_call"), None
    )
    if stray and not real:
        yield Check("simulated_tools", None, f"whether every result was simulated cannot be told: {stray.message}")
        return
    if real:
        told = "; ".join(f"{call.name} gave {_told(call, cover)}" for call in real)
        message = f"every result must say `simulated: true`; {told}"
    else:
        message = f"{len(calls)} calls, all simulated"
    yield Check("simulated_tools", not real, message)


def _simulated(result: object) -> bool:
    if isinstance(result, str):  # many agents stream a result as text that is JSON
        result, _ = parse(result)
    return isinstance(result, dict) and result.get("simulated") is True


def _told(call: ToolCall, cover: Cover) -> str:
    return "no result" if call.result is None else cover(dump(call.result))[:_RESULT]


CHECK: Family = _check
