"""Turns, retries and trials, through the whole program (contract 2 to 4)."""

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from email.utils import formatdate
from itertools import chain, repeat

import pytest

from golden.result import TrialsResult, UsageResult
from tests.program import CASE, Program
from tests.scripted import Chunks, named, says
from tests.servers import ANSWER, Asked, Server, Step, chunked, whole

WELL, ILL = says("All is well."), says("Nothing is well.")
BROKEN: Chunks = [("error", {"message": "out of order"})]
# p passes, f fails, e errs
CAME = {"p": WELL, "f": ILL, "e": BROKEN}


def one_by_one(kinds: str) -> tuple[str, list[str]]:
    """An agent that comes to these, one a question, the last for good; and the questions that it was asked."""
    left: Iterator[str] = chain(kinds, repeat(kinds[-1]))
    asked: list[str] = []

    def answer(question: str) -> Chunks:
        asked.append(question)
        return CAME[next(left)]

    return named(answer), asked


def cases(*names: str, **fields: object) -> list[dict[str, object]]:
    return [{**CASE, "id": name, "question": name, **fields} for name in names]


def turns(*questions: str, **fields: object) -> dict[str, object]:
    return {"id": "talk", "turns": [{"question": question} for question in questions], **fields}


# Retries


def test_a_case_that_passes_on_its_second_try_is_flaky_and_keeps_both_tries(golden_run: Program) -> None:
    agent, asked = one_by_one("fp")
    ran = golden_run("--agent", agent, "--retries", 3)
    assert (ran.code, ran.case.status, ran.case.flaky, len(asked)) == (0, "passed", True, 2)
    assert (ran.run.summary.flaky, "flaky" in ran.out) == (1, True)
    assert ran.case.turns[0].answer == "All is well."
    (written,) = json.loads(ran.written)["results"]
    assert [(each["trial"], each["try"], each["status"]) for each in written["attempts"]] == [
        (1, 1, "failed"),
        (1, 2, "passed"),
    ]
    assert [each["checks"][0]["ok"] for each in written["attempts"]] == [False, True]
    assert written["trials"] is None


def test_a_pass_on_retry_is_a_failure_where_flaky_is_fail(golden_run: Program) -> None:
    ran = golden_run("--agent", one_by_one("fp")[0], "--retries", 1, "--flaky", "fail")
    assert (ran.code, ran.case.status, ran.case.flaky) == (1, "failed", True)
    assert [each.status for each in ran.case.attempts] == ["failed", "passed"]
    assert "it passed only on try 2" in ran.out


def test_a_pass_on_the_first_try_is_no_failure_where_flaky_is_fail(golden_run: Program) -> None:
    ran = golden_run("--agent", one_by_one("p")[0], "--retries", 1, "--flaky", "fail")
    assert (ran.code, ran.case.flaky, len(ran.case.attempts)) == (0, False, 1)


@pytest.mark.parametrize(
    ("kinds", "code", "status"), [("fff", 1, "failed"), ("eee", 3, "error"), ("efe", 1, "failed"), ("eep", 0, "passed")]
)
def test_every_try_at_a_case_is_kept(kinds: str, code: int, status: str, golden_run: Program) -> None:
    agent, asked = one_by_one(kinds)
    ran = golden_run("--agent", agent, "--retries", 2)
    assert (ran.code, ran.case.status, len(asked)) == (code, status, 3)
    names = {"p": "passed", "f": "failed", "e": "error"}
    assert [each.status for each in ran.case.attempts] == [names[kind] for kind in kinds]
    assert [each.error is not None for each in ran.case.attempts] == [kind == "e" for kind in kinds]


def test_a_failure_that_is_expected_is_not_tried_again(golden_run: Program) -> None:
    agent, asked = one_by_one("fp")
    ran = golden_run("--agent", agent, "--retries", 1, cases=[{**CASE, "xfail": "issue 7"}])
    assert (ran.code, ran.case.status, ran.case.xfailed, len(asked)) == (0, "passed", True, 1)
    assert [each.status for each in ran.case.attempts] == ["failed"]


# Trials


@pytest.mark.parametrize(
    ("kinds", "code", "status"),
    [("ppp", 0, "passed"), ("fpp", 1, "failed"), ("pfp", 1, "failed"), ("epp", 3, "error"), ("epf", 1, "failed")],
)
def test_all_trials_run_and_all_must_pass(kinds: str, code: int, status: str, golden_run: Program) -> None:
    agent, asked = one_by_one(kinds)
    ran = golden_run("--agent", agent, "--trials", 3)
    assert (ran.code, ran.case.status, len(asked)) == (code, status, 3)
    assert ran.case.trials == TrialsResult(run=3, passed=kinds.count("p"))
    assert [(each.trial, each.try_) for each in ran.case.attempts] == [(1, 1), (2, 1), (3, 1)]
    assert not ran.case.flaky


def test_what_all_tries_used_is_added_up(golden_run: Program) -> None:
    agent = named(lambda question: says("All is well.", ("usage", {"input": 7, "output": 2})))
    ran = golden_run("--agent", agent, "--trials", 3)
    assert ran.run.summary.usage == UsageResult(input=21, output=6)
    assert ran.case.turns[0].usage == UsageResult(input=7, output=2)


# Sessions and history


def test_each_try_at_each_case_has_a_session_of_its_own_and_its_turns_share_it(golden_run: Program) -> None:
    sessions: dict[str, list[str]] = {}

    def answer(question: str, session_id: str) -> Chunks:
        sessions.setdefault(session_id, []).append(question)
        return WELL

    talk, other = (turns(*asked, required_phrases=["well"]) for asked in (("one", "two"), ("three", "four")))
    assert golden_run("--agent", named(answer), "--trials", 2, cases=[talk, {**other, "id": "other"}]).code == 0
    assert sorted(sessions.values()) == [["one", "two"], ["one", "two"], ["three", "four"], ["three", "four"]]


def test_over_http_the_turns_of_a_try_are_posted_in_one_session(golden_run: Program) -> None:
    with Server(chunked(ANSWER)) as server:
        ran = golden_run(
            *("--base-url", server.url, "--no-auth", "--concurrency", 1, "--trials", 2),
            cases=[turns("one", "two", required_phrases=["well"]), CASE],
        )
    assert ran.code == 0
    posted = [json.loads(asked.body) for asked in server.asked]
    assert [body["message"] for body in posted] == ["one", "two", "one", "two", CASE["question"], CASE["question"]]
    first, second, third, fourth = (body["session_id"] for body in posted[:4])
    assert first == second != third == fourth
    assert "session_id" not in posted[4]  # one turn needs none


def test_an_agent_that_names_the_history_is_given_the_turns_before(golden_run: Program) -> None:
    given: list[tuple[str, list[dict[str, str]]]] = []

    def answer(question: str, history: list[dict[str, str]]) -> Chunks:
        given.append((question, history))
        return says(f"All is well with {question}.")

    ran = golden_run("--agent", named(answer), "--trials", 2, cases=[turns("one", "two", required_phrases=["well"])])
    assert ran.code == 0
    before = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "All is well with one."}]
    assert given == [("one", []), ("two", before)] * 2


# Turns


def by_question(**answers: Chunks) -> tuple[str, list[str]]:
    asked: list[str] = []

    def answer(question: str) -> Chunks:
        asked.append(question)
        return answers[question]

    return named(answer), asked


TALK = by_question(
    one=says("Apple rose.", ("groundedness", {"score": 0.9}), calls=("quote",)),
    two=says("Pear fell.", ("groundedness", {"score": 0.4}), ("tool_result", {"result": 1, "name": "none"})),
    three=says("Plum held.", ("groundedness", {"score": 0.6}), calls=("news", "quote")),
)[0]


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ({"expected_tools": ["news", "quote"]}, [(None, True)]),
        ({"expected_tools": ["chart"]}, [(None, False)]),
        ({"expect": {"tool": "quote", "min_count": 2}}, [(None, True)]),
        ({"expect_first": {"tool": "quote"}}, [(None, True)]),
        ({"expect_first": {"tool": "news"}}, [(None, False)]),
        ({"expect_order": [{"tool": "quote"}, {"tool": "news"}, {"tool": "quote"}]}, [(None, True)]),
        ({"expect_order": [{"tool": "news"}, {"tool": "quote"}, {"tool": "quote"}]}, [(None, False)]),
        ({"max_tool_calls": 3}, [(None, True)]),
        ({"max_tool_calls": 2}, [(None, False)]),
        ({"forbidden_tools": ["news"]}, [(None, False)]),
        ({"forbidden_phrases": ["held"]}, [(None, False)]),
        ({"required_phrases": ["rose", "fell", "held"]}, [(None, True)]),
        ({"required_phrases": ["rose. pear"]}, [(None, False)]),
        ({"groundedness_threshold": 0.5}, [(0, True), (1, False), (2, True)]),
        ({"max_total_s": 60}, [(0, True), (1, True), (2, True)]),
        ({"max_first_token_s": 0.0000001}, [(0, False), (1, False), (2, False)]),
    ],
)
def test_what_a_case_asks_is_asked_of_the_whole_or_of_each_turn(
    asked: dict[str, object], holds: list[tuple[int | None, bool]], golden_run: Program
) -> None:
    ran = golden_run("--agent", TALK, cases=[turns("one", "two", "three", **asked)])
    assert [(check.name, check.turn, check.ok) for check in ran.case.checks] == [
        (next(iter(asked)), turn, ok) for turn, ok in holds
    ]
    assert ran.code == (0 if all(ok for _, ok in holds) else 1)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ({"expected_tools": ["quote"]}, [True, False, True]),
        ({"forbidden_tools": ["news"]}, [True, True, False]),
        ({"expect": {"tool": "news"}}, [False, False, True]),
        ({"expect_first": {"tool": "quote"}}, [True, False, False]),
        ({"expect_order": [{"tool": "news"}, {"tool": "quote"}]}, [False, False, True]),
        ({"expect_no_tool_call": True}, [False, True, False]),
        ({"max_tool_calls": 1}, [True, True, False]),
        ({"forbidden_phrases": ["held"]}, [True, True, False]),
        ({"required_phrases": ["rose"]}, [True, False, False]),
        ({"groundedness_threshold": 0.5}, [True, False, True]),
        ({"clean_stream": True}, [True, False, True]),
    ],
)
def test_what_a_turn_asks_is_asked_of_it_alone(
    asked: dict[str, object], holds: list[bool], golden_run: Program
) -> None:
    for at, ok in enumerate(holds):
        case = turns("one", "two", "three", max_total_s=60)
        case["turns"][at].update(asked)  # type: ignore[index]  # it is a list
        ran = golden_run("--agent", TALK, cases=[case])
        (check,) = (check for check in ran.case.checks if check.name != "max_total_s")
        assert (check.name, check.turn, check.ok) == (next(iter(asked)), at, ok)
        assert ran.code == (0 if ok else 1)


def test_the_turns_of_a_case_are_all_in_the_results(golden_run: Program) -> None:
    case = golden_run("--agent", TALK, cases=[turns("one", "two", "three", groundedness_threshold=0.3)]).case
    assert [each.answer for each in case.turns] == ["Apple rose.", "Pear fell.", "Plum held."]
    assert (case.question, case.groundedness, case.actual_tools) == ("one", 0.4, ("quote", "news", "quote"))


def test_a_turn_that_gets_no_answer_leaves_the_later_ones_unasked_and_says_so(golden_run: Program) -> None:
    agent, asked = by_question(one=WELL, two=BROKEN, three=WELL)
    case = turns("one", "two", required_phrases=["well"])
    case["turns"] = [*case["turns"], {"question": "three", "expect_no_tool_call": True}]  # type: ignore[misc]
    ran = golden_run("--agent", agent, cases=[case])
    assert (ran.code, ran.case.status, asked) == (3, "error", ["one", "two"])
    assert ran.case.error is not None
    assert ran.case.error.message.startswith("turn 2 of 3: the agent reports an error: out of order")
    assert ran.case.error.message.endswith("; the turns after it were not asked")
    assert {check.name: check.ok for check in ran.case.checks} == {
        "required_phrases": None,
        "expect_no_tool_call": None,
    }
    assert [each.answer for each in ran.case.turns] == ["All is well.", ""]


def test_the_last_turn_leaves_none_unasked_and_its_hint_stays_a_hint(golden_run: Program) -> None:
    async def script(asked: Asked) -> AsyncIterator[Step]:
        for step in chunked(ANSWER) if b"one" in asked.body else [whole(b"", "404 Not Found")]:
            yield step

    with Server(script) as server:
        ran = golden_run(
            *("--base-url", server.url, "--no-auth"), cases=[turns("one", "two", required_phrases=["well"])]
        )
    assert ran.case.error is not None
    assert ran.case.error.message == (
        "turn 2 of 2: the server answered 404\nhint: --path says where questions are posted"
    )


def test_a_case_of_one_turn_does_not_count_its_turns(golden_run: Program) -> None:
    ran = golden_run("--agent", one_by_one("e")[0])
    assert ran.case.error is not None
    assert ran.case.error.message.startswith("the agent reports")


def test_a_case_is_tried_again_from_its_first_turn(golden_run: Program) -> None:
    agent, asked = one_by_one("pepp")
    ran = golden_run("--agent", agent, "--retries", 1, cases=[turns("one", "two", required_phrases=["well"])])
    assert (ran.code, asked) == (0, ["one", "two", "one", "two"])
    assert [each.status for each in ran.case.attempts] == ["error", "passed"]


# Retry-After


def busy(*waits: str | Callable[[], str], status: str = "503 Service Unavailable") -> tuple[Server, list[float]]:
    """A server that refuses so often and says when to come back; then it answers. And when it was asked."""
    left = iter(waits)
    at: list[float] = []

    async def script(asked: Asked) -> AsyncIterator[Step]:
        at.append(time.monotonic())
        wait = next(left, None)
        told = wait() if callable(wait) else wait
        refused = [whole(b"busy", status, "text/plain", retry_after=told)]
        for step in chunked(ANSWER) if told is None else refused:
            yield step

    return Server(script), at


def in_a_second() -> str:
    """A date, in half a second to one and a half: it has whole seconds only."""
    return formatdate(time.time() + 1.5, usegmt=True)


@pytest.mark.parametrize(
    ("wait", "status", "least"),
    [("1", "429 Too Many Requests", 1), (in_a_second, "503 Service Unavailable", 0.5)],
    ids=["seconds", "date"],
)
def test_a_server_is_left_alone_as_long_as_it_says_and_that_is_not_the_agents_time(
    wait: str | Callable[[], str], status: str, least: float, golden_run: Program
) -> None:
    server, at = busy(wait, status=status)
    with server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--retries", 1)
    assert (ran.code, ran.case.flaky) == (0, True)
    assert at[1] - at[0] > least - 0.05
    assert ran.case.turns[0].timing.total_s < least - 0.05
    assert [each.error and each.error.kind for each in ran.case.attempts] == ["http", None]


@pytest.mark.parametrize(
    ("waits", "options"),
    [(["30"], []), (["30", "30"], ["--trials", 2]), (["0", "30"], ["--retries", 1])],
    ids=["without retries", "between trials", "after the last try"],
)
def test_a_server_is_not_waited_for_where_it_is_not_asked_again(
    waits: list[str], options: list[object], golden_run: Program
) -> None:
    server, at = busy(*waits)
    with server:
        ran = golden_run("--base-url", server.url, "--no-auth", *options)
    assert ran.run.run.duration_s < 10
    assert len(at) == len(ran.case.attempts) == len(waits)


def test_a_stop_ends_the_wait_for_a_server(golden_run: Program) -> None:
    server, at = busy("30")
    with server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--retries", 1, "--suite-timeout", 0.5)
    assert (ran.code, ran.case.status, len(at)) == (3, "not_run", 1)
    assert ran.run.run.duration_s < 5
    assert ran.case.error is not None
    assert "the suite time-out of 0.5 s was reached" in ran.case.error.message
    assert [each.status for each in ran.case.attempts] == ["error"]


# What stops a run


@pytest.mark.parametrize(
    ("kinds", "option", "statuses"),
    [
        ("fp", ["--retries", 1], ["passed", "passed"]),
        ("ff", ["--retries", 1], ["failed", "not_run"]),
        ("fp", ["--retries", 1, "--flaky", "fail"], ["failed", "not_run"]),
        ("fp", ["--trials", 2], ["failed", "not_run"]),
        ("ep", ["--trials", 2], ["error", "not_run"]),
    ],
)
def test_bail_waits_for_the_verdict_of_all_tries(
    kinds: str, option: list[object], statuses: list[str], golden_run: Program
) -> None:
    agent, asked = one_by_one(f"{kinds}p")
    ran = golden_run("--agent", agent, "--concurrency", 1, "--bail", *option, cases=cases("first", "second"))
    assert ran.statuses == statuses
    assert asked[:2] == ["first", "first"]
    assert ("second" in asked) == (statuses[1] != "not_run")


def test_the_suites_time_out_leaves_what_was_not_judged_not_run(golden_run: Program) -> None:
    async def answer(question: str) -> AsyncIterator[tuple[str, object]]:
        await asyncio.sleep(0.5)  # that is how long a case takes, not a wait of the test's
        for chunk in WELL:
            yield chunk

    names = [f"case {number}" for number in range(10)]
    ran = golden_run("--agent", named(answer), "--concurrency", 2, "--suite-timeout", 1, cases=cases(*names))
    assert ran.code == 3
    assert ran.run.run.duration_s < 1.5
    assert [each.case_id for each in ran.run.results] == names
    judged = ran.statuses.index("not_run")
    assert 2 <= judged <= 4
    assert ran.statuses == ["passed"] * judged + ["not_run"] * (10 - judged)
    assert {each.error.message for each in ran.run.results[judged:] if each.error} == {
        "the suite time-out of 1 s was reached; --suite-timeout raises it, 0 is none"
    }


@pytest.mark.parametrize(
    ("kinds", "option", "status"),
    [("p", ["--trials", 3], "not_run"), ("f", ["--retries", 3], "failed"), ("f", ["--trials", 3], "failed")],
)
def test_a_case_that_a_signal_stopped_between_its_tries_has_not_passed(
    kinds: str, option: list[object], status: str, golden_run: Program
) -> None:
    left = iter(kinds)
    over = threading.Event()

    def answer(question: str) -> Iterator[tuple[str, object]]:
        kind = next(left, None)
        if kind is None:
            yield "token", {"text": "All is "}
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(20)
        else:
            yield from CAME[kind]

    ran = golden_run("--agent", named(answer), "--concurrency", 1, *option, cases=cases("first", "second"))
    over.set()
    assert ran.code == 130
    assert ran.statuses == [status, "not_run"]
    first = ran.run.results[0]
    assert [each.status for each in first.attempts] == ["passed" if kinds == "p" else "failed", "not_run"]
    assert not first.passed
    if status == "not_run":
        assert first.turns[0].answer == "All is "  # what had come of the one in flight


def test_no_case_starts_once_more_tokens_were_used_than_are_allowed(golden_run: Program) -> None:
    agent = named(lambda question: says("All is well.", ("usage", {"input": 600, "output": 50})))
    options = ["--agent", agent, "--concurrency", 1, "--trials", 2, "--max-tokens"]
    three = cases("a", "b", "c")
    ran = golden_run(*options, 1299, cases=three)
    assert (ran.code, ran.statuses) == (3, ["passed", "not_run", "not_run"])
    assert [each.error.message for each in ran.run.results if each.error] == [
        "--max-tokens: 1,300 were used, of 1,299"
    ] * 2
    assert "--max-tokens: 1,300 were used, of 1,299" in ran.out
    assert golden_run(*options, 1300, cases=three).statuses == ["passed", "passed", "not_run"]
    assert golden_run(*options, 3900, cases=three).code == 0


# Whose word counts


@pytest.mark.parametrize(
    ("options", "fields", "tries"),
    [
        ([], {}, 1),
        (["--retries", 2], {}, 3),
        (["--trials", 2], {}, 2),
        ([], {"retries": 1}, 2),
        ([], {"trials": 3}, 3),
        (["--retries", 2], {"retries": 0}, 1),
        (["--retries", 2], {"retries": 1}, 2),
        (["--trials", 3], {"trials": 1}, 1),
        (["--trials", 3], {"retries": 1}, 2),
        (["--retries", 2], {"trials": 2}, 2),
        (["--trials", 3], {"retries": 0}, 3),
    ],
)
def test_what_a_case_says_of_its_tries_wins_over_the_options(
    options: list[object], fields: dict[str, object], tries: int, golden_run: Program
) -> None:
    agent, asked = one_by_one("f")
    ran = golden_run("--agent", agent, *options, cases=[{**CASE, **fields}])
    assert len(asked) == len(ran.case.attempts) == tries
    shown = golden_run("--agent", agent, "--dry-run", *options, cases=[{**CASE, **fields}]).out
    assert shown.startswith(
        "well:" if tries == 1 else f"well ({tries} trials):" if ran.case.trials else f"well (up to {tries} tries):"
    )


@pytest.mark.parametrize(("option", "field", "status"), [("60", 0.1, "error"), ("0.1", 60, "passed")])
def test_a_cases_own_time_out_wins_over_the_options(
    option: str, field: float, status: str, golden_run: Program
) -> None:
    async def answer(question: str) -> AsyncIterator[tuple[str, object]]:
        await asyncio.sleep(0.3)  # longer than the shorter time-out
        for chunk in WELL:
            yield chunk

    ran = golden_run("--agent", named(answer), "--timeout", option, cases=[{**CASE, "timeout_s": field}])
    assert ran.case.status == status


def test_retries_beside_trials_are_a_usage_error(golden_run: Program) -> None:
    agent, asked = one_by_one("p")
    ran = golden_run("--agent", agent, "--retries", 1, "--trials", 2)
    assert (ran.code, asked) == (2, [])
    assert "retries and trials exclude each other" in ran.err
    ran = golden_run("--agent", agent, cases=[{**CASE, "retries": 1, "trials": 2}])
    assert (ran.code, asked) == (2, [])
    assert "`retries` and `trials` exclude each other" in ran.err


@pytest.mark.parametrize(
    ("kinds", "status", "xfailed", "passed"),
    [("fpf", "passed", True, 1), ("ppp", "failed", False, 3), ("pep", "error", False, 2)],
)
def test_what_is_known_to_fail_is_judged_by_all_its_trials(
    kinds: str, status: str, xfailed: bool, passed: int, golden_run: Program
) -> None:
    agent, asked = one_by_one(kinds)
    ran = golden_run("--agent", agent, "--trials", 3, cases=[{**CASE, "xfail": "issue 7"}])
    assert (ran.case.status, ran.case.xfailed, len(asked)) == (status, xfailed, 3)
    assert ran.case.trials == TrialsResult(run=3, passed=passed)


def test_a_case_s_own_tries_set_those_of_the_defaults_aside(golden_run: Program) -> None:
    agent, asked = one_by_one("p")
    ran = golden_run("--agent", agent, cases=[{**CASE, "trials": 2}], defaults={"retries": 1})
    assert (ran.code, len(asked)) == (0, 2)


@pytest.mark.parametrize(
    ("kinds", "flaky", "status"),
    [("ep", "pass", "failed"), ("ep", "fail", "failed"), ("ef", "pass", "passed"), ("ef", "fail", "passed")],
)
def test_what_is_known_to_fail_and_passes_on_retry_has_failed_whatever_counts_as_flaky(
    kinds: str, flaky: str, status: str, golden_run: Program
) -> None:
    agent, _ = one_by_one(kinds)
    options = ["--agent", agent, "--retries", 1, "--flaky", flaky]
    ran = golden_run(*options, cases=[{**CASE, "xfail": "issue 7"}])
    assert (ran.case.status, ran.case.xfailed, ran.case.flaky) == (status, status == "passed", False)


def test_a_turn_that_came_whole_keeps_its_own_checks_where_a_later_one_errs(golden_run: Program) -> None:
    def answer(question: str) -> Chunks:
        return says("you should buy") if question == "one" else BROKEN

    turn = {"forbidden_phrases": ["buy"]}
    case = {"id": "talk", "turns": [{**turn, "question": "one"}, {**turn, "question": "two"}], "max_tool_calls": 3}
    ran = golden_run("--agent", named(answer), cases=[case])
    assert (ran.code, ran.case.status) == (3, "error")
    assert [(check.name, check.ok, check.turn) for check in ran.case.checks] == [
        ("max_tool_calls", None, None),
        ("forbidden_phrases", False, 0),
        ("forbidden_phrases", None, 1),
    ]
    assert 'turn 1: forbidden_phrases: found "buy"' in ran.out


def test_refusals_after_an_answer_do_not_end_the_run(golden_run: Program) -> None:
    async def answering(asked: Asked) -> AsyncIterator[Step]:
        for step in [whole(ANSWER)] if json.loads(asked.body)["message"] == "one" else [whole(b"no", "403 Forbidden")]:
            yield step

    talks = [{**turns("one", "two", clean_stream=True), "id": f"talk {number}"} for number in range(7)]
    with Server(answering) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, cases=talks)
    assert ran.statuses == ["error"] * 7


def test_the_chance_of_a_run_of_passes_is_of_the_cases_whose_trials_ran(golden_run: Program) -> None:
    agent, _ = one_by_one("ppfp")
    ran = golden_run("--agent", agent, "--trials", 2, "--concurrency", 1, "--bail", cases=cases("a", "b", "c"))
    assert ran.statuses == ["passed", "failed", "not_run"]
    assert "2 cases with trials, on average: pass^1 0.75, pass^2 0.50" in ran.out
