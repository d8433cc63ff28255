"""Which tools were called, by name and number."""

from collections.abc import Iterable, Sequence

from golden.checks import Check, Cover, Family
from golden.suite import Checks
from golden.transcript import Turn


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    called = [call.name for turn in turns for call in turn.tool_calls]
    came = f"called: {', '.join(name or '(no name)' for name in called)}" if called else "no tool was called"
    if expect.expected_tools:
        missing = [name for name in expect.expected_tools if name not in called]
        message = f"expected a call of {', '.join(missing)}; {came}" if missing else came
        yield Check("expected_tools", not missing, message)
    if expect.forbidden_tools:
        wrong = [name for name in expect.forbidden_tools if name in called]
        if wrong:
            yield Check("forbidden_tools", False, f"forbidden, but called: {', '.join(wrong)}")
        elif "" in called:
            yield Check(
                "forbidden_tools", None, f"a call has no name that could be read, it may be of any tool; {came}"
            )
        else:
            yield Check("forbidden_tools", True, f"none was called; {came}")
    if expect.expect_no_tool_call:
        yield Check("expect_no_tool_call", not called, f"expected no tool call; {came}" if called else came)
    if expect.max_tool_calls is not None:
        message = f"{len(called)} calls, {expect.max_tool_calls} allowed; {came}"
        yield Check("max_tool_calls", len(called) <= expect.max_tool_calls, message)


CHECK: Family = _check
