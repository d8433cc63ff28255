"""Checks of a user's own (contract 8)."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden.checks import Check
from golden.suite import Case
from golden.transcript import Transcript
from tests.program import CASE, Outcome, Program
from tests.scripted import Chunks, named, says

SECRET = "an-example-of-a-secret"
WELL = named(lambda question: says("All is well.", calls=("look",)))


def scored(golden_run: Program, *scorers: object, agent: str = WELL, **fields: object) -> Outcome:
    """Runs a case whose only checks are these scorers, and what else it asks."""
    case = {"id": "well", "question": "Is all well?", "scorers": [named(each) for each in scorers], **fields}
    return golden_run("--agent", agent, cases=[case])


def told(ran: Outcome) -> list[tuple[str, bool | None, str, int | None]]:
    return [(check.name, check.ok, check.message, check.turn) for check in ran.case.checks]


def short(case: Case, transcript: Transcript) -> Check:
    answer = transcript.turns[-1].answer
    return Check(name="short", ok=len(answer) < 20, message=f"{len(answer)} characters")


def test_a_check_of_a_scorer_is_a_check_like_any_other(golden_run: Program) -> None:
    ran = scored(golden_run, short, required_phrases=["well"])
    assert (ran.code, ran.case.status) == (0, "passed")
    assert told(ran)[1:] == [("short", True, "12 characters", None)]


def test_a_check_of_a_scorer_that_does_not_hold_fails_the_case_and_is_told(golden_run: Program) -> None:
    ran = scored(golden_run, short, agent=named(lambda question: says("All is well. " * 9)))
    assert (ran.code, ran.case.status, ran.case.error) == (1, "failed", None)
    assert told(ran) == [("short", False, "117 characters", None)]
    assert "short: 117 characters" in ran.out


def test_a_scorer_may_give_several_checks_in_any_iterable_and_a_case_may_have_several_scorers(
    golden_run: Program,
) -> None:
    def each(case: Case, transcript: Transcript) -> Iterator[Check]:
        for index, turn in enumerate(transcript.turns):
            yield Check("ends", turn.answer.endswith("."), turn.answer, turn=index)

    def both(case: Case, transcript: Transcript) -> list[Check]:
        return [Check("a", True, ""), Check("b", False, "no b")]

    ran = scored(golden_run, each, both, short)
    assert [(name, ok, turn) for name, ok, _, turn in told(ran)] == [
        ("ends", True, 0),
        ("a", True, None),
        ("b", False, None),
        ("short", True, None),
    ]
    assert ran.code == 1


def test_a_scorer_is_given_the_case_and_all_that_came(golden_run: Program) -> None:
    given: list[tuple[Case, Transcript]] = []

    def noting(case: Case, transcript: Transcript) -> Check:
        given.append((case, transcript))
        return Check("noted", True, "")

    turns = [{"question": "one"}, {"question": "two"}]
    ran = scored(golden_run, noting, question=None, turns=turns, metadata={"most": 3}, model="m")
    assert ran.code == 0
    ((case, transcript),) = given
    assert (case.id, case.questions, case.metadata, case.model) == ("well", ("one", "two"), {"most": 3}, "m")
    assert [turn.answer for turn in transcript.turns] == ["All is well.", "All is well."]
    assert [call.name for call in transcript.tool_calls] == ["look", "look"]


# What a scorer may do wrong


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("raised", "last"),
    [
        (ValueError("of its own\nin two lines"), "ValueError: of its own in two lines"),
        (SystemExit(0), "SystemExit: 0"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (Unspeakable(), "tests.test_scorers.Unspeakable: <exception str() failed>"),
    ],
    ids=lambda raised: type(raised).__name__,
)
def test_a_scorer_that_raises_leaves_its_check_undecided_and_the_case_an_error(
    raised: BaseException, last: str, golden_run: Program
) -> None:
    def broken(case: Case, transcript: Transcript) -> Check:
        raise raised

    ran = scored(golden_run, broken, short, required_phrases=["well"])
    assert (ran.code, ran.case.status) == (3, "error")
    phrases, check, other = ran.case.checks
    assert (phrases.ok, check.ok, other.ok) == (True, None, True)
    assert check.name == named(broken)
    assert check.message.startswith(f"the scorer raised {last}; raised at {__file__}:")
    assert check.message.endswith(" in broken")
    assert ran.case.error is not None
    assert (ran.case.error.kind, ran.case.error.message) == ("undecided", f"{check.name}: {check.message}")


def test_a_scorer_that_raises_after_its_first_check_has_given_none(golden_run: Program) -> None:
    def halting(case: Case, transcript: Transcript) -> Iterator[Check]:
        yield Check("first", True, "")
        raise ZeroDivisionError

    ran = scored(golden_run, halting)
    assert (ran.code, [check.ok for check in ran.case.checks]) == (3, [None])
    assert "the scorer raised ZeroDivisionError" in ran.case.checks[0].message


def test_a_scorer_that_takes_other_arguments_is_told_without_a_place_in_golden(golden_run: Program) -> None:
    def alone() -> Check:
        raise NotImplementedError

    (check,) = scored(golden_run, alone).case.checks
    assert check.ok is None
    assert check.message.startswith("the scorer raised TypeError: ")
    assert "takes 0 positional arguments" in check.message
    assert "raised at" not in check.message


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "the scorer gave a value of type NoneType, which is no golden.Check"),
        (True, "the scorer gave a value of type bool, which is no golden.Check"),
        ("it is fine", "the scorer gave a value of type str, which is no golden.Check"),
        ({"name": "a"}, "the scorer gave a value of type str, which is no golden.Check"),
        ([Odd()], "the scorer gave a value of type Odd, which is no golden.Check"),
        ([], "the scorer gave no check"),
        ((), "the scorer gave no check"),
        (Check("a", 1, ""), "the scorer gave a golden.Check whose `ok` is a value of type int"),  # type: ignore[arg-type]
        (Check(1, True, ""), "the scorer gave a golden.Check whose `name` is a value of type int"),  # type: ignore[arg-type]
        (Check("a", True, None), "the scorer gave a golden.Check whose `message` is a value of type NoneType"),  # type: ignore[arg-type]
        (Check("a", True, "", "one"), "the scorer gave a golden.Check whose `turn` is a value of type str"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_check_is_undecided_and_named(given: object, message: str, golden_run: Program) -> None:
    ran = scored(golden_run, lambda case, transcript: given)
    assert (ran.code, ran.case.status) == (3, "error")
    assert [(check.ok, check.message) for check in ran.case.checks] == [(None, message)]


def test_a_check_that_a_scorer_leaves_undecided_makes_the_case_an_error(golden_run: Program) -> None:
    ran = scored(golden_run, lambda case, transcript: Check("judge", None, "the judge is away"))
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.message == "judge: the judge is away"


def test_hits_of_a_scorer_are_not_taken_for_forbidden_phrases(golden_run: Program) -> None:
    check = Check("own", False, "", hits=None)  # type: ignore[arg-type]  # a scorer may give anything
    ran = scored(golden_run, lambda case, transcript: check)
    assert (ran.code, ran.case.forbidden_hits, ran.case.forbidden_ok) == (1, (), None)


def test_a_scorer_may_take_its_time_without_stopping_the_clocks_of_the_run(golden_run: Program) -> None:
    over = threading.Event()

    def slow(case: Case, transcript: Transcript) -> Check:
        over.wait(20)
        return Check("late", True, "")

    ran = golden_run("--agent", WELL, "--suite-timeout", 0.3, cases=[{**CASE, "scorers": [named(slow)]}])
    over.set()
    assert (ran.code, ran.statuses) == (3, ["not_run"])
    assert ran.case.turns[0].answer == "All is well."
    assert ran.run.run.duration_s < 5


# When it runs


@pytest.mark.parametrize(("options", "runs"), [([], 1), (["--trials", 3], 3), (["--retries", 2], 3)])
def test_a_scorer_runs_once_for_each_try(options: list[object], runs: int, golden_run: Program) -> None:
    ran_for: list[str] = []

    def noting(case: Case, transcript: Transcript) -> Check:
        ran_for.append(case.id)
        return Check("noted", False, "")

    golden_run("--agent", WELL, *options, cases=[{**CASE, "scorers": [named(noting)]}])
    assert ran_for == ["well"] * runs


def test_a_scorer_is_not_asked_of_an_answer_that_did_not_come(golden_run: Program) -> None:
    given: list[Transcript] = []

    def noting(case: Case, transcript: Transcript) -> Check:
        given.append(transcript)
        return Check("noted", True, "")

    def silent(question: str) -> Chunks:
        return [("error", {"message": "out of order"})]

    ran = scored(golden_run, noting, agent=named(silent))
    assert (ran.code, given) == (3, [])
    assert [(check.name, check.ok) for check in ran.case.checks] == [(named(noting), None)]
    assert ran.case.checks[0].message.startswith("undecided: ")


def test_a_scorer_that_several_cases_name_is_asked_of_each(golden_run: Program) -> None:
    cases: list[dict[str, object]] = [{"question": each, "scorers": [named(short)]} for each in "ab"]
    ran = golden_run("--agent", WELL, cases=cases)
    assert [[check.ok for check in each.checks] for each in ran.run.results] == [[True], [True]]


def test_a_scorer_among_the_defaults_is_asked_of_each_case(golden_run: Program) -> None:
    cases: list[dict[str, object]] = [{"question": "a"}, {"question": "b", "scorers": [], "max_tool_calls": 1}]
    ran = golden_run("--agent", WELL, cases=cases, defaults={"scorers": [named(short)]})
    assert [[check.name for check in each.checks] for each in ran.run.results] == [["short"], ["max_tool_calls"]]


# What is loaded


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "no_such_module:score",
            "error: the scorer of case 'well': importing 'no_such_module' failed: ",
        ),
        ("json:dumbs", "error: the scorer of case 'well': 'json' has no 'dumbs'\nhint: did you mean 'dumps'?"),
        ("json:__name__", "error: the scorer json:__name__ cannot be called: it is str"),
        ("leaves:score", "error: the scorer of case 'well': importing 'leaves' failed: SystemExit: 3"),
    ],
)
def test_a_scorer_that_cannot_be_loaded_is_wrong_usage_before_anything_is_asked(
    name: str, said: str, golden_run: Program
) -> None:
    Path("leaves.py").write_text("raise SystemExit(3)", encoding="utf-8")
    asked: list[str] = []
    ran = golden_run("--agent", named(asked.append), cases=[CASE | {"id": "first"}, {**CASE, "scorers": [name]}])
    assert (ran.code, asked, ran.written) == (2, [], "")
    assert said in ran.err


def test_a_scorer_of_a_case_that_is_not_asked_is_not_loaded(golden_run: Program) -> None:
    case: dict[str, object] = {**CASE, "scorers": ["no_such_module:score"]}
    cases = [CASE, {**case, "id": "skipped", "skip": "not yet"}, {**case, "id": "left-out"}]
    ran = golden_run("--agent", WELL, "--case", "well", "--case", "skipped", cases=cases)
    assert (ran.code, ran.statuses) == (0, ["passed", "skipped"])


def test_an_isolated_run_refuses_scorers_before_any_is_loaded(golden_run: Program) -> None:
    Path("other_peoples_scorer.py").write_text("raise SystemExit('loaded')", encoding="utf-8")
    name = "other_peoples_scorer:score"
    cases = [CASE, {**CASE, "id": "b", "scorers": [name]}]
    ran = golden_run("--agent", WELL, "--isolated", cases=cases)
    assert (ran.code, ran.written) == (2, "")
    assert f"case 'b' names the scorer {name}, and --isolated runs no code of a suite's\nhint: " in ran.err
    assert golden_run("--agent", WELL, "--isolated").code == 0


# Secrets


def test_no_secret_that_a_scorer_says_is_shown(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)

    def telling(case: Case, transcript: Transcript) -> list[Check]:
        return [Check(f"name {SECRET}", False, f"message {SECRET}", 0), Check("open", None, SECRET)]

    def raising(case: Case, transcript: Transcript) -> Check:
        raise ValueError(SECRET)

    ran = scored(golden_run, telling, raising)
    assert ran.code == 3
    assert len(ran.case.checks) == 3
    assert "name █" in ran.out + json.dumps(ran.written, ensure_ascii=False)
    for shown in (ran.out, ran.err, ran.written):
        assert SECRET not in shown


def test_what_a_scorer_does_to_what_it_is_given_changes_no_other_check_and_no_evidence(golden_run: Program) -> None:
    def rude(case: Case, transcript: Transcript) -> Check:
        args = transcript.tool_calls[0].args
        assert isinstance(args, dict)
        args.clear()
        return Check("rude", True, "")

    agent = named(lambda question: [("tool_call", {"name": "a", "args": {"x": 1}}), *says("All is well.")])
    ran = scored(golden_run, rude, agent=agent, expect={"tool": "a", "params": {"x": 1}})
    assert (ran.code, ran.case.turns[0].tool_calls[0].args) == (0, {"x": 1})
