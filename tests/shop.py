"""The one suite that real servers are asked, whatever they speak, and what must come of it: a shop's assistant."""

from golden import HttpTarget, Suite, run_suite
from golden.result import CaseResult, TurnResult
from tests.program import Outcome

ORDER: dict[str, object] = {"number": 1042, "fields": ["state", "Größe 🙂"]}
WRONG = (
    'expected find_order(number=7); the nearest call, 1st, find_order(number=1042, fields=["state", "Größe 🙂"]), '
    "differs at params.number: expected 7, came 1042"
)
SHIPPED: dict[str, object] = {"number": 1042, "state": "shipped"}

CASES: list[dict[str, object]] = [
    {
        "id": "tool",
        "question": "Where is order 1042?",
        "expect": {"tool": "find_order", "params": ORDER, "strict": True},
        "forbidden_tools": ["cancel_order"],
        "required_phrases": ["let me look"],
    },
    {
        "id": "plain",
        "question": "What do you do?",
        "expect_no_tool_call": True,
        "required_phrases": ["nothing else"],
        "forbidden_phrases": ["recital"],  # it is thought, and never said
    },
    {
        "id": "turns",
        "turns": [
            {"question": "My name is Åsa.", "required_phrases": ["hello"]},
            {"question": "What is my name?", "required_phrases": ["you are Åsa"]},
        ],
        "max_tool_calls": 0,
    },
    {
        "id": "told",
        "question": "What were you told?",
        "model": "mock-1",
        "system_prompt": "Be brief.",
        "required_phrases": ["be brief", "I am mock-1"],
    },
    {"id": "error", "question": "Break.", "forbidden_phrases": ["order placed"]},
    {"id": "wrong", "question": "Where is order 1042?", "expect": {"tool": "find_order", "params": {"number": 7}}},
]

VERDICTS = {**dict.fromkeys(("tool", "plain", "turns", "told"), "passed"), "error": "error", "wrong": "failed"}


def judged(ran: Outcome, *, error: str) -> dict[str, CaseResult]:
    """Checks the verdicts and their evidence, `error` being part of what the server says; returns the results by id."""
    results = {result.case_id: result for result in ran.run.results}
    assert {name: result.status for name, result in results.items()} == VERDICTS
    assert ran.code == 1
    (plain,), turns, (told,) = (results[name].turns for name in ("plain", "turns", "told"))
    assert plain.answer == plain.final_text == "I look after orders – and nothing else 👩‍🚀."
    assert [turn.answer for turn in turns] == ["Hello, Åsa.", "You are Åsa."]
    assert told.answer == "Be brief. I am mock-1."
    assert {turn.finish for turn in (plain, *turns, told)} == {"finished"}
    assert [calls(turn) for turn in results["tool"].turns] == [[("find_order", ORDER)]]
    failed = results["error"].error
    assert failed is not None
    assert error in failed.message
    assert all(check.ok is None for check in results["error"].checks)
    assert [check.message for check in results["wrong"].checks if check.ok is False] == [WRONG]
    return results


def calls(turn: TurnResult) -> list[tuple[str, object]]:
    return [(call.name, call.args) for call in turn.tool_calls]


def told_apart(url: str, dialect: str, path: str | None = None) -> tuple[str, dict[str, str]]:
    """Asks the same in a dialect, and reads what comes without being told which it is.

    Returns:
        (the dialect that it is taken for, each case's status by its id).
    """
    suite = Suite.model_validate({"cases": CASES})
    ran = run_suite(suite, HttpTarget(url, dialect=dialect, path=path), dialect="auto")
    assert ran.run.target is not None
    return ran.run.target.dialect, {result.case_id: result.status for result in ran.results}
