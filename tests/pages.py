"""Results that make a page worth looking at."""

from typing import Any

from golden.result import CaseResult
from golden.transcript import Failure, Finding, Seen, Timing, ToolCall, Turn, Usage
from tests.test_reports import left_out, stopped
from tests.values import judged, turn

EVENTS = (
    Seen(0.25, "tool_call", "call"),
    Seen(0.9, "tool_result", "result"),
    Seen(1.0, "token", "text"),
    Seen(1.05, "token", "text"),
    Seen(1.1, "done", "end"),
)


def case(case_id: str, answer: str = "All is well.", status: str = "passed", **more: Any) -> CaseResult:
    """A result with this id whose answer is asked to be well, or to be ill."""
    fields = {key: more.pop(key) for key in [*more] if key not in Turn.__dataclass_fields__}
    asks = {"id": case_id, "required_phrases": ["well" if status == "passed" else "ill"], **fields}
    return judged(asks, turn(answer, **more))


def quote(kind: str, other: str, answer: str, score: float, **more: Any) -> CaseResult:
    """A case that expects a call that opens a panel, and one of `get_quote`: what was opened, and what was called."""
    call = ToolCall("exec_ui", {"kind": kind, "id": 12345678901234567890, "extra": [1, 2]}, result={"ok": True})
    expected = {"tool": "exec_ui", "params": {"kind": "openPanel", "id": {"$any": True}}}
    asked = {
        "id": "quote",
        "question": "Open the chart, please.",
        "expect": expected,
        "expected_tools": ["get_quote"],
        "forbidden_phrases": ["order placed"],
        "groundedness_threshold": 0.8,
        "tags": ["ui"],
    }
    came = turn(
        answer,
        question="Open the chart, please.",
        tool_calls=(call, ToolCall(other, {"symbol": "MSFT"})),
        scores=(score,),
        timing=Timing(0.25, 1.0, 1.1),
        events=EVENTS,
        events_total=5,
        usage=Usage(1200, 30),
        **more,
    )
    return judged(asked, came, model="m-1")


BETTER = quote("openPanel", "get_quote", "Here it is.", 0.9)
WORSE = quote(
    "openFile", "get_news", "Order placed, and order placed again.", 0.25, findings=(Finding("scores", "several"),)
)
MIXED = (
    case("well", tags=["smoke", "slow"], question="Is all well?"),
    case("ill", status="failed", tags=["smoke"], question="Is it raining in Lisbon?"),
    case("cut", "All is", error=Failure("cut", "the stream was cut\nhint: try it again"), finish=None),
    left_out(),
    stopped(),
)


EVIL = (
    "<script>window.hit=1</script><img src=x onerror='window.hit=1'></style></script><!--<script>"
    '<svg/onload=window.hit=1></noscript>" onmouseover="window.hit=1" \u202eexe.gnp\u2066 \x1b[31m\U000e0041'
)


def evil() -> CaseResult:
    call = ToolCall(EVIL, {EVIL: EVIL, "__proto__": {"x": 1}}, result={EVIL: [EVIL]})
    came = turn(
        EVIL,
        tool_calls=(call,),
        findings=(Finding("odd", EVIL),),
        events=(Seen(0.1, EVIL, "text"),),
        events_total=1,
        error=Failure("stream_error", EVIL),
    )
    asked = {"question": EVIL, "forbidden_phrases": ["script"], "tags": [EVIL, "__proto__"], "metadata": {EVIL: EVIL}}
    return judged(asked, came, model=EVIL).model_copy(update={"case_id": EVIL, "suite": EVIL, "status": "failed"})
