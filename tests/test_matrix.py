"""Every field of a case: an agent that is broken in the one way it is there for, and what is seen of that."""

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest

from golden.checks import Check
from golden.suite import Case, Checks
from golden.transcript import Transcript
from tests.program import Outcome, Program
from tests.scripted import Chunks, named


def own(case: Case, transcript: Transcript) -> Check:
    answer = transcript.turns[0].answer
    return Check("own", answer.endswith("."), f"how it ends: {answer[-1:]}")


# What the agent calls, in this order: each for one of the fields.
CALLS: list[tuple[str, object]] = [
    ("search", {"text": "a"}),
    ("quote", {"symbol": "AAPL"}),
    ("open", {}),
    ("close", {}),
    ("trade", {}),
    ("look", {}),
]


def answer(
    calls: list[tuple[str, object]] = CALLS,
    text: str = "All is well.",
    *,
    simulated: bool = True,
    score: float = 0.9,
    late: float = 0,
    slow: float = 0,
    rest: Chunks | None = None,
) -> Callable[[str], Iterator[tuple[str, object]]]:
    """An agent that is well, save in what is given."""

    def answered(question: str) -> Iterator[tuple[str, object]]:
        for name, args in calls:
            yield "tool_call", {"name": name, "args": args, "id": name}
            yield "tool_result", {"id": name, "result": {"simulated": simulated}}
        time.sleep(late)  # that is how long it takes, not a wait of the test's
        yield "token", {"text": text}
        yield "groundedness", {"score": score}
        time.sleep(slow)
        yield from rest or []
        yield "done", {}

    return answered


def calling(name: str, args: object = None, *, instead_of: str) -> list[tuple[str, object]]:
    return [(name, args or {}) if called == instead_of else (called, given) for called, given in CALLS]


# Asked in every row: all of it holds of the agent that is well, and of a broken one all but the field of the row.
ASKED: dict[str, object] = {
    "expected_tools": ["look"],
    "forbidden_tools": ["delete"],
    "expect_order": [{"tool": "open"}, {"tool": "close"}],
    "simulated_tools": ["trade"],
    "forbidden_phrases": ["i bought"],
    "required_phrases": ["well"],
    "groundedness_threshold": 0.5,
    "max_tool_calls": 6,
    "max_first_token_s": 0.5,
    "max_total_s": 60,
    "clean_stream": True,
    "scorers": [named(own)],
}


class Row(NamedTuple):
    """How an agent is broken that one field is there for.

    Attributes:
        broken: the agent.
        evidence: what the check's message says of it.
        asked: the field, where it is asked in this row otherwise than in all; None leaves another out.
        well: the agent of which all holds.
    """

    broken: Callable[[str], Iterator[tuple[str, object]]]
    evidence: str
    asked: Mapping[str, object] = MappingProxyType({})
    well: Callable[[str], Iterator[tuple[str, object]]] = answer()


ROWS = {
    "expected_tools": Row(
        answer(calling("peek", instead_of="look")),
        "expected a call of look; called: search, quote, open, close, trade, peek",
    ),
    "forbidden_tools": Row(answer(calling("delete", instead_of="quote")), "forbidden, but called: delete"),
    "expect": Row(
        answer(calling("quote", {"symbol": "MSFT"}, instead_of="quote")),
        'the nearest call, 2nd, quote(symbol="MSFT"), differs at params.symbol: expected "AAPL", came "MSFT"',
        {"expect": {"tool": "quote", "params": {"symbol": "AAPL"}}},
    ),
    "expect_first": Row(
        answer(calling("search", {"text": "b"}, instead_of="search")),
        'the first call, search(text="b"), differs at params.text: expected "a", came "b"',
        {"expect_first": {"tool": "search", "params": {"text": "a"}}},
    ),
    "expect_order": Row(
        answer([CALLS[at] for at in (0, 1, 3, 2, 4, 5)]),
        "expected close after the 4th call, open(); the 3rd call matches, and came before",
    ),
    "expect_no_tool_call": Row(
        answer(CALLS[-1:]),
        "expected no tool call; called: look",
        {"expect_no_tool_call": True, "expected_tools": None, "expect_order": None},
        answer([]),
    ),
    "simulated_tools": Row(answer(simulated=False), 'trade gave {"simulated":false}'),
    "forbidden_phrases": Row(answer(text="I **bought** it. Well."), 'found "i bought" in: [I **bought]** it. Well.'),
    "required_phrases": Row(answer(text="All is lost."), 'not in the answer: "well"'),
    "groundedness_threshold": Row(answer(score=0.4), "0.5 expected; the score is 0.4"),
    "max_tool_calls": Row(answer([*CALLS, ("look", {})]), "7 calls, 6 allowed"),
    "max_first_token_s": Row(answer(late=0.6), "first token after "),
    "max_total_s": Row(answer(slow=0.6), "end after ", {"max_total_s": 0.5}),
    "clean_stream": Row(answer(rest=[("token", "{")]), "the data of `token` is not JSON"),
    "scorers": Row(answer(text="All is well!"), "how it ends: !"),
}


def run(golden_run: Program, agent: object, asked: dict[str, object]) -> Outcome:
    return golden_run("--agent", named(agent), cases=[{"id": "well", **asked}])


def test_every_check_of_a_case_has_a_row() -> None:
    assert set(ROWS) == {*Checks.model_fields, "scorers"}
    assert set(OTHERS) == set(Case.model_fields) - set(ROWS)


@pytest.mark.parametrize("place", ["case", "turn"])
@pytest.mark.parametrize("field", ROWS)
def test_an_agent_that_is_broken_in_one_way_fails_the_one_check_that_is_there_for_it(
    field: str, place: str, golden_run: Program
) -> None:
    row = ROWS[field]
    whole = {name: value for name, value in {**ASKED, **row.asked}.items() if value is not None}
    others = {name: value for name, value in whole.items() if name != field}
    asked: dict[str, object] = {"question": "Is all well?", **whole}
    if place == "turn" and field in Checks.model_fields:
        asked = {"turns": [{"question": "Is all well?", field: whole[field]}], **others}
    well = run(golden_run, row.well, asked)
    assert (well.code, {check.ok for check in well.case.checks}) == (0, {True})
    broken = run(golden_run, row.broken, asked)
    (failed,) = (check for check in broken.case.checks if not check.ok)
    assert (broken.code, failed.name) == (1, "own" if field == "scorers" else field)
    assert row.evidence in failed.message
    assert len(broken.case.checks) == len(whole)
    assert run(golden_run, row.broken, {"question": "Is all well?", **others}).code == 0  # nothing else sees it


# The other fields: what is seen where a case has one, and where it has not


class Seen(NamedTuple):
    """What an agent was asked, and what the run came to. It is wrong the first time, and right from then on."""

    asked: list[tuple[str, str | None, str | None]]
    ran: Outcome


def seen(golden_run: Program, fields: dict[str, object], takes: float = 0) -> Seen:
    asked: list[tuple[str, str | None, str | None]] = []

    def answered(question: str, model: str | None = None, system_prompt: str | None = None) -> Chunks:
        asked.append((question, model, system_prompt))
        time.sleep(takes)
        return [("token", {"text": "All is lost." if len(asked) == 1 else "All is well."}), ("done", {})]

    case = {"question": "Is all well?", "required_phrases": ["well"], **fields}
    given = {name: value for name, value in case.items() if value is not None}
    return Seen(asked, golden_run("--agent", named(answered), cases=[given]))


def statuses(seen: Seen) -> list[str]:
    return [each.status for each in seen.ran.case.attempts]


OTHERS: dict[str, tuple[object, Callable[[Seen], object], object, object]] = {
    "question": (
        "Are you well?",
        lambda seen: seen.asked,
        [("Are you well?", None, None)],
        [("Is all well?", None, None)],
    ),
    "turns": (
        [{"question": "one"}, {"question": "two"}],
        lambda seen: [question for question, *_ in seen.asked],
        ["one", "two"],
        ["Is all well?"],
    ),
    "id": ("mine", lambda seen: seen.ran.case.case_id, "mine", "is-all-well"),
    "retries": (1, statuses, ["failed", "passed"], ["failed"]),
    "trials": (
        2,
        lambda seen: (statuses(seen), seen.ran.case.status),
        (["failed", "passed"], "failed"),
        (["failed"], "failed"),
    ),
    "timeout_s": (0.2, lambda seen: seen.ran.case.error and seen.ran.case.error.kind, "timeout", None),
    "model": ("m", lambda seen: (seen.asked[0][1], seen.ran.case.model), ("m", "m"), (None, None)),
    "system_prompt": ("Be brief.", lambda seen: seen.asked[0][2], "Be brief.", None),
    "tags": (["t"], lambda seen: seen.ran.case.tags, ("t",), ()),
    "metadata": ({"owner": "me"}, lambda seen: seen.ran.case.metadata, {"owner": "me"}, {}),
    "skip": ("not yet", lambda seen: (seen.ran.case.status, len(seen.asked)), ("skipped", 0), ("failed", 1)),
    "xfail": ("issue 7", lambda seen: (seen.ran.code, seen.ran.case.xfailed), (0, True), (1, False)),
}


@pytest.mark.parametrize("field", OTHERS)
def test_every_other_field_of_a_case_is_obeyed(field: str, golden_run: Program) -> None:
    value, look, obeyed, otherwise = OTHERS[field]
    fields = {"turns": value, "question": None} if field == "turns" else {field: value}
    takes = 0.4 if field == "timeout_s" else 0
    assert look(seen(golden_run, fields, takes)) == obeyed
    assert look(seen(golden_run, {}, takes)) == otherwise
