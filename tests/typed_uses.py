"""The public API as people call it: mypy reads this, and test_library runs it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, assert_type

import golden


class Kept:
    """A target of one's own."""

    kind = "kept"
    name = "an answer that was kept"

    def open(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def ask(self, request: golden.Request) -> AsyncIterator[golden.Head | golden.Chunk]:
        yield golden.Head(200, {"content-type": "text/event-stream"}, "iterable")
        yield golden.Chunk(b'event: tool_call\ndata: {"name": "find", "args": {"number": 1042}}\n\n')
        yield golden.Chunk(b'event: token\ndata: {"text": "It has shipped."}\n\nevent: done\ndata: {}\n\n')


async def app(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]) -> None:
    """An ASGI app that answers nothing."""


def brief(case: golden.Case, transcript: golden.Transcript) -> Iterator[golden.Check]:
    """A check of one's own."""
    for index, turn in enumerate(transcript.turns):
        yield golden.Check(name="brief", ok=len(turn.answer) < 50, message="under 50 characters", turn=index)


def suite() -> golden.Suite:
    found = golden.ToolExpectation(tool="find", params={"number": golden.EvalAny})
    one = golden.Case(question="Where is it?", expect=found, scorers=[f"{__name__}:brief"])
    assert_type(one.expect, list[golden.ToolExpectation])
    turns = [golden.Question(question="Where is it?", expect=found), golden.Question(question="Thanks.")]
    return golden.Suite(
        cases=[
            one,
            golden.Case(id="order", question="Where is it?", expect=[found], expect_order=[found], max_tool_calls=1),
            golden.Case(id="first", question="Where is it?", expect_first=found, required_phrases=["it", ["a", "has"]]),
            golden.Case(id="turns", turns=turns, forbidden_phrases=["gone"], metadata={"ticket": 218}),
        ]
    )


def targets() -> list[golden.Target]:
    return [
        Kept(),
        golden.InProcessTarget(lambda question: [("token", {"text": question})]),
        golden.AsgiTarget(app, path="/ask", headers=[("x-team", "evals")]),
        golden.HttpTarget("http://127.0.0.1:1", headers={"x-team": "evals"}, authorize=lambda: {"authorization": "me"}),
    ]


async def answers(target: golden.Target) -> list[golden.CaseResult]:
    found = golden.ToolExpectation(tool="find", params={"number": 1042})
    report = golden.run_suite(suite(), target, concurrency=2, match=["where"], flaky="fail")
    assert_type(report, golden.RunResult)
    assert_type(golden.evaluate(target, "Where is it?", expect=found, retries=1), golden.CaseResult)
    again = await golden.run_suite_async([suite()], target, timeout=20)
    return [*report.results, *again.results, await golden.evaluate_async(target, "Where is it?", expect=found)]


def refused(target: golden.Target) -> None:
    """What mypy must refuse: an `ignore` that it does not need is an error to it."""
    golden.Case(question="Where is it?", expect=42)  # type: ignore[arg-type]
    golden.Case(question=42, expected_tools=["find"])  # type: ignore[arg-type]
    golden.Case(question="Where is it?", expcet=[])  # type: ignore[call-arg]
    golden.ToolExpectation(tool=None, min_count="1")  # type: ignore[arg-type]
    golden.run_suite(suite(), target, concurency=2)  # type: ignore[call-arg]
    golden.run_suite(suite(), target, timeout="2")  # type: ignore[arg-type]
    golden.run_suite("suite.json", target)  # type: ignore[arg-type]
    golden.evaluate(lambda question: [], "Where is it?")  # type: ignore[arg-type]
