import ast
import base64
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import uvicorn
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import golden.demo
from golden.demo import run_agent_turn, tools
from golden.demo.__main__ import main
from golden.demo.grounding import Step, groundedness
from golden.demo.switches import SWITCHES, VARIABLE
from golden.demo.understanding import Kind, understand

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "golden" / "demo"
SECRET = "a secret of the tests, long enough"
CASES: list[dict[str, Any]] = json.loads((ROOT / "golden_questions.json").read_text("utf-8"))["cases"]
FORBIDDEN: list[str | dict[str, str]] = json.loads((ROOT / "golden_questions.json").read_text("utf-8"))["defaults"][
    "forbidden_phrases"
]


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, "EVAL_JWT_SECRET", "JWT_SECRET"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Turn:
    """What one turn's stream says, read in the plainest way."""

    names: list[str]
    calls: list[tuple[str, dict[str, Any]]]
    results: list[dict[str, Any]]
    shown: str
    answer: str | None
    score: float | None
    rest: bytes


def ask(question: str, session_id: str | None = None) -> Turn:
    turn = Turn([], [], [], "", None, None, b"")
    for event in run_agent_turn(question, session_id=session_id):
        if isinstance(event, bytes):
            turn.rest += event
            continue
        name, data = event["event"], json.loads(event["data"])
        turn.names.append(name)
        if name == "tool_call":
            turn.calls.append((data["name"], data["args"]))
        elif name == "tool_result":
            turn.results.append(data["result"])
        elif name == "token":
            turn.shown += data["text"]
        elif name == "message":
            turn.answer = data["text"]
        elif name == "groundedness":
            turn.score = data["score"]
    return turn


def answer(question: str, session_id: str | None = None) -> str:
    told = ask(question, session_id).answer
    assert told is not None
    return told


def kind_of(question: str) -> Kind:
    with tools.opened(tools.pristine()) as database:
        return understand(question, tools.lexicon(database)).kind


def rows(sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript((DEMO / "data.sql").read_text("utf-8"))
        return database.execute(sql).fetchall()


# Understanding


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        ("How is my portfolio doing?", [("get_portfolio", {})]),
        ("what do I own", [("get_portfolio", {})]),
        ("What are my shares worth altogether?", [("get_portfolio", {})]),
        ("How many AAPL shares do I own and what are they worth?", [("get_portfolio", {"symbol": "AAPL"})]),
        ("HOW MANY AAPL SHARES DO I OWN?", [("get_portfolio", {"symbol": "AAPL"})]),
        ("do i hold any coke", [("get_portfolio", {"symbol": "KO"})]),
        ("How is Nvidia doing in my portfolio?", [("get_portfolio", {"symbol": "NVDA"})]),
        ("MSFT price?", [("get_quote", {"symbol": "MSFT"})]),
        ("What’s Google trading at right now?", [("get_quote", {"symbol": "GOOGL"})]),
        ("Tell me about Apple", [("get_quote", {"symbol": "AAPL"})]),
        ("Why the sell-off, what is the price of Tesla?", [("get_quote", {"symbol": "TSLA"})]),
        ("quote msft and coca-cola", [("get_quote", {"symbol": "MSFT"}), ("get_quote", {"symbol": "KO"})]),
        ("How has Apple moved in the last 3 weeks?", [("get_price_history", {"symbol": "AAPL", "days": 15})]),
        ("Price history of KO over ten days", [("get_price_history", {"symbol": "KO", "days": 10})]),
        ("What did Amazon do last week?", [("get_price_history", {"symbol": "AMZN", "days": 5})]),
        ("Show me a chart of Netflix", [("get_price_history", {"symbol": "NFLX", "days": 20})]),
        ("Any headlines about Tesla this week?", [("get_news", {"symbol": "TSLA"})]),
        ("Add Netflix to my watch list", [("add_to_watchlist", {"symbol": "NFLX"})]),
        ("keep an eye on KO for me", [("add_to_watchlist", {"symbol": "KO"})]),
        ("Drop TSLA from my watchlist", [("remove_from_watchlist", {"symbol": "TSLA"})]),
        ("please stop watching Amazon", [("remove_from_watchlist", {"symbol": "AMZN"})]),
        ("What is on my watchlist?", [("get_portfolio", {})]),
        ("Is AMZN on my watchlist?", [("get_portfolio", {"symbol": "AMZN"})]),
        (
            "What's my AAPL position worth at today's price?",
            [("get_portfolio", {"symbol": "AAPL"}), ("get_quote", {"symbol": "AAPL"})],
        ),
        ("What if Apple fell 5%?", [("get_portfolio", {"symbol": "AAPL"}), ("get_quote", {"symbol": "AAPL"})]),
        ("What would my portfolio be worth if it rose 3 percent?", [("get_portfolio", {})]),
        ("Should I buy Tesla?", []),
        ("If Apple drops 10%, should I sell?", []),
        ("Sell all my MSFT now", []),
        ("Is Nvidia a good investment?", []),
        ("Hello!", []),
        ("What's the weather in Paris?", []),
        ("What's the price?", []),
        ("", []),
    ],
)
def test_a_question_in_free_wording_leads_to_the_right_calls(
    question: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    assert ask(question).calls == calls


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is ZZZZ trading at?", "ZZZZ"),
        ("What's $brk trading at?", "brk"),
        ("Does Zorblax have any news?", "Zorblax"),
        ("price of zorblax", "zorblax"),
        ("How many shares of Acme Corp do I own?", "Acme Corp"),
        ("add zorblax to my watchlist", "zorblax"),
        ("price of mıcrosoft over ſix days", "mıcrosoft"),
        ("Quote Apple and Zorblax", "Zorblax"),
    ],
)
def test_a_name_that_is_not_in_the_data_is_said_to_be_unknown(question: str, name: str) -> None:
    turn = ask(question)
    assert turn.results[-1] == {"symbol": name, "error": "unknown symbol"}
    assert turn.answer is not None
    assert turn.answer.endswith(f'I don\'t know "{name}": it is no symbol or company in my data.')
    assert turn.score == 1.0


VOCABULARY = """
and what about if it drops 10% 250% rises my AAPL apple Coca-Cola MSFT's Zorblax ZZ $x shares own how many news history
over last 3 weeks a few days should I buy add remove watch watchlist today is on price value portfolio everything
2026-01-01 1,234.50 tſla mıcrosoft ſix fıve days § " ( . ? \ud83d \u2019 \0
"""


@settings(max_examples=300)
@given(st.lists(st.one_of(st.lists(st.sampled_from(VOCABULARY.split())).map(" ".join), st.text()), max_size=4))
def test_no_question_at_all_raises_and_no_answer_says_more_than_the_tools(questions: list[str]) -> None:
    session = repr(questions)
    assert [ask(question, session).score for question in questions] == [1.0] * len(questions)


def test_small_talk_gets_an_honest_answer_about_what_it_can_do() -> None:
    assert "portfolio assistant" in answer("Who are you?")
    assert answer("What is the price, please?") == "Which company do you mean? Tell me its name or its symbol."


# Figures


def test_the_sums_of_a_portfolio_are_those_of_its_data() -> None:
    (value,) = rows(
        "SELECT sum(shares * price) FROM holding JOIN close USING (symbol) WHERE date = (SELECT max(date) FROM close)"
    )[0]
    (cost,) = rows("SELECT sum(shares * paid) FROM holding")[0]
    told = answer("Sum up my portfolio")
    assert f"4 positions worth ${value / 100:,.2f} at the close of 2026-06-30" in told
    assert f"up ${(value - cost) / 100:,.2f} ({100 * (value - cost) / cost:.2f}%) against what you paid" in told


def test_a_position_at_todays_price_is_shares_times_price() -> None:
    ((shares, price),) = rows("SELECT shares, price FROM holding JOIN quote USING (symbol) WHERE symbol = 'NVDA'")
    assert f"worth ${shares * price / 100:,.2f} at today's price" in answer("What is my Nvidia stake worth now?")


def test_a_history_has_the_range_of_its_closes() -> None:
    closes = [price for (price,) in rows("SELECT price FROM close WHERE symbol = 'TSLA' ORDER BY date DESC LIMIT 7")]
    turn = ask("How did Tesla move over 7 days?")
    assert turn.answer is not None
    assert f"between ${min(closes) / 100:.2f} and ${max(closes) / 100:.2f}" in turn.answer
    assert [close["close"] for close in turn.results[0]["closes"]] == [price / 100 for price in reversed(closes)]


def test_a_history_longer_than_the_data_says_how_long_it_is() -> None:
    assert "Over the last 60 trading days" in answer("Chart of KO for the last two years")
    assert "Over the last 1 trading days, 2026-06-30 to 2026-06-30" in answer("Range of KO, 0 days")


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What's Netflix's price?", "unchanged on the day"),
        ("What's Microsoft's price?", "down $1.45 (0.35%) on the day"),
        ("Do I own any Tesla?", "You hold no TSLA (Tesla) shares."),
        ("What's my Tesla position worth today?", "You hold no TSLA (Tesla) shares."),
        ("What if Tesla drops 10%?", "TSLA (Tesla) would trade at $225.68 and you hold none."),
        ("What if Apple drops 250%?", "would trade at $0.00"),
        ("Any news on Netflix?", "I have no news on NFLX (Netflix)."),
        ("Watch Tesla", "TSLA (Tesla) is on your watchlist already"),
        ("Stop watching Apple", "AAPL (Apple) is not on your watchlist"),
        ("Is Apple on my watchlist?", "AAPL (Apple) is not on your watchlist."),
        ("Is Tesla on my watchlist?", "TSLA (Tesla) is on your watchlist."),
        ("What would my portfolio be worth if it fell 10%?", "10% down from its $32,666.10"),
    ],
)
def test_an_answer_says_what_is_so(question: str, told: str) -> None:
    turn = ask(question)
    assert turn.answer is not None
    assert told in turn.answer
    assert turn.score == 1.0


# The stream


def test_a_turn_streams_calls_then_words_then_the_whole_answer_its_score_usage_and_end() -> None:
    turn = ask("What's my AAPL position worth at today's price?")
    assert turn.shown == turn.answer
    words = len(turn.shown.split())
    assert turn.names == [
        *["tool_call", "tool_result"] * 2,
        *["token"] * words,
        *["message", "groundedness", "usage", "done"],
    ]


def test_results_bear_the_ids_of_their_calls_and_usage_counts_words() -> None:
    events = [event for event in run_agent_turn("Quote KO and MSFT") if isinstance(event, dict)]
    data = [(event["event"], json.loads(event["data"])) for event in events]
    assert [body["id"] for name, body in data if name.startswith("tool_")] == ["call_1", "call_1", "call_2", "call_2"]
    tokens = sum(name == "token" for name, _ in data)
    assert data[-2:] == [("usage", {"input": 4, "output": tokens}), ("done", {})]


def test_the_same_question_gives_the_same_stream() -> None:
    assert list(run_agent_turn("How is my portfolio?")) == list(run_agent_turn("How is my portfolio?"))


# Groundedness


def plain_score(turn: Turn) -> float:
    """The score worked out another way: over the raw JSON of the results, figures and capital names only."""
    assert turn.answer is not None
    raw = json.dumps(turn.results)
    figures = {abs(float(figure)) for figure in re.findall(r"-?\d+(?:\.\d+)?(?![\d-])", raw)}
    claims = {float(claim.replace(",", "")) for claim in re.findall(r"\$([\d,]+\.\d\d)|\b$", turn.answer) if claim}
    names = set(re.findall(r"\b[A-Z]{2,}\b", turn.answer))
    held = sum(claim in figures for claim in claims) + sum(f'"{name}"' in raw for name in names)
    return held / (len(claims) + len(names))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_answer_of_the_suite_is_grounded_in_its_own_results(case: dict[str, Any]) -> None:
    turn = ask(case["question"])
    assert turn.score == 1.0
    if case["id"] == "position-today":  # one figure is a product of two tools' figures and stands in neither result
        turn.results.append({"worth": turn.results[0]["shares"] * turn.results[1]["price"]})
    if turn.results:
        assert plain_score(turn) == 1.0


def test_results_that_say_otherwise_support_less() -> None:
    turn = ask("What is Microsoft trading at?")
    assert turn.answer is not None
    result = turn.results[0]
    assert groundedness(turn.answer, [result]) == 1.0
    # Seven claims: symbol, name, price, change, its percentage, low, high.
    assert groundedness(turn.answer, [result | {"price": 411.31}]) == round(6 / 7, 4)
    assert groundedness(turn.answer, [result | {"symbol": "MS", "name": "Micro"}]) == round(5 / 7, 4)
    assert groundedness(turn.answer, []) == 0.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("I can't help with that.", 1.0),
        ("It costs $1,234.50.", 1.0),
        ("It costs $1,234.51.", 0.0),
        ("It fell 3.5%, Acme said.", 1.0),
        ("It fell 3.5%, Zorblax said.", 0.5),
        ("ZZZZ it is.", 0.0),
        ("From 2026-01-02 on.", 1.0),
        ("From 2026-01-03 on.", 0.0),
        ('It reads "Acme opens 2 shops".', 1.0),
        ('It reads "Acme opens 3 shops".', 0.0),
        ("True: 1 it is.", 0.0),
        ("Here $1,234.50 and $1,234.50 and 9 stand.", 0.5),
    ],
)
def test_a_claim_is_supported_only_by_what_a_result_says(text: str, score: float) -> None:
    result = {
        "price": 1234.5,
        "change_percent": -3.5,
        "ok": True,
        "none": None,
        "items": [{"name": "Acme", "date": "2026-01-02", "headline": "Acme opens 2 shops"}],
    }
    assert groundedness(text, [result]) == score


def test_a_figure_worked_out_counts_only_where_what_it_comes_from_is_supported() -> None:
    worth = Step(Decimal(3), "times", Decimal("2.50"))
    assert worth.figure == Decimal("7.50")
    assert groundedness("That is $7.50.", [{"shares": 3, "price": 2.5}], [worth]) == 1.0
    assert groundedness("That is $7.50.", [{"shares": 4, "price": 2.5}], [worth]) == 0.0
    less = Step(Decimal("2.50"), "changed by", Decimal(-10))
    assert groundedness("10% down it is $2.25.", [{"price": 2.5}], [less], given=[Decimal(-10)]) == 1.0
    assert groundedness("10% down it is $2.25.", [{"price": 2.5}], [less]) == 0.0


# Sessions


def test_a_follow_up_keeps_what_was_spoken_of() -> None:
    def calls(question: str) -> list[tuple[str, dict[str, Any]]]:
        return ask(question, "follow-up").calls

    both = [("get_portfolio", {"symbol": "AAPL"}), ("get_quote", {"symbol": "AAPL"})]
    assert calls("What's my AAPL position worth at today's price?") == both
    assert calls("And if it drops 10%?") == both
    assert "$208.35 and your 42 shares would be worth $8,750.70" in answer("and if it drops 10%?", "follow-up")
    assert "20% down" in answer("and 20%?", "follow-up")
    assert "20% down from today's $411.30" in answer("and what about MSFT?", "follow-up")
    assert "5% up" in answer("and a 5% gain?", "follow-up")
    assert calls("Any news on it?") == [("get_news", {"symbol": "MSFT"})]
    assert calls("And KO?") == [("get_news", {"symbol": "KO"})]
    assert calls("Thanks!") == []
    assert calls("and Zorblax?") == [("get_news", {"symbol": "Zorblax"})]
    assert calls("Its history over ten days?") == [("get_price_history", {"symbol": "KO", "days": 10})]
    assert calls("What about Tesla?") == [("get_price_history", {"symbol": "TSLA", "days": 10})]
    assert calls("Should I sell it?") == []
    assert calls("What's its price?") == [("get_quote", {"symbol": "TSLA"})]
    assert calls("How is my portfolio?") == [("get_portfolio", {})]
    assert calls("And if it falls 10%?") == [("get_portfolio", {})]
    assert calls("And Apple?") == both
    assert calls("Is Apple on my watchlist?") == [("get_portfolio", {"symbol": "AAPL"})]
    assert calls("And Zorblax?") == [("get_portfolio", {"symbol": "Zorblax"})]


def test_a_question_without_a_session_stands_alone() -> None:
    ask("What is Apple trading at?")
    assert answer("What is its price?") == "Which company do you mean? Tell me its name or its symbol."
    ask("Add Netflix to my watchlist")
    assert answer("What's on my watchlist?") == "Your watchlist holds AMZN and TSLA now."


def test_a_session_keeps_its_own_watchlist() -> None:
    assert "It holds AMZN, NFLX and TSLA now." in answer("Add Netflix to my watchlist", "list-1")
    for question in ("Remove AMZN", "Remove TSLA"):
        ask(question, "list-2")
    assert "Your watchlist holds AMZN, NFLX and TSLA now." in answer("Show my watchlist", "list-1")
    assert "Your watchlist is empty now." in answer("Show my watchlist", "list-2")


def test_sessions_in_threads_do_not_disturb_each_other() -> None:
    symbols = ("AAPL", "MSFT", "NVDA", "KO", "GOOGL", "NFLX")

    def talk(number: int) -> str:
        symbol, session = symbols[number % len(symbols)], f"thread-{number}"
        ask(f"Add {symbol} to my watchlist", session)
        ask("Remove AMZN from it", session)
        return f"{symbol}: {answer('Show my watchlist', session)}"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(talk, range(60)))
    for line in told:
        symbol, _, shown = line.partition(": ")
        assert shown == f"Your watchlist holds {' and '.join(sorted([symbol, 'TSLA']))} now."


def test_turns_of_one_session_at_once_lose_no_write() -> None:
    symbols = ("AAPL", "MSFT", "NVDA", "KO", "GOOGL", "NFLX")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda symbol: ask(f"Watch {symbol}", "busy"), symbols))
    told = answer("Show my watchlist", "busy")
    assert told == "Your watchlist holds AAPL, AMZN, GOOGL, KO, MSFT, NFLX, NVDA and TSLA now."


def test_only_the_sessions_used_last_are_kept() -> None:
    ask("What is Apple trading at?", "oldest")
    for number in range(256):
        ask("Hello!", f"filler-{number}")
    assert "Which company" in answer("And its news?", "oldest")


# The suite and the switches


def found(phrase: str | dict[str, str] | list[str], text: str) -> bool:
    if isinstance(phrase, list):
        return any(found(one, text) for one in phrase)
    if isinstance(phrase, dict):
        return re.search(phrase["regex"], text) is not None
    return phrase.lower() in text.lower()


def faults(case: dict[str, Any]) -> set[str]:
    """Which of a case's checks do not hold, judged in the plainest way."""
    turn = ask(case["question"])
    if turn.answer is None:
        return {"no answer"}
    called = [name for name, _ in turn.calls]
    held: Mapping[str, bool] = {
        "expected_tools": set(case.get("expected_tools", [])) <= set(called),
        "forbidden_tools": not set(case.get("forbidden_tools", [])) & set(called),
        "expect_no_tool_call": not (called and case.get("expect_no_tool_call")),
        "max_tool_calls": len(called) <= case.get("max_tool_calls", 1),
        "required_phrases": all(found(phrase, turn.answer) for phrase in case["required_phrases"]),
        "forbidden_phrases": not any(found(phrase, turn.shown) for phrase in FORBIDDEN),
        "groundedness": turn.score is not None and turn.score >= 0.9,
    }
    return {name for name, holds in held.items() if not holds}


def test_the_suite_has_ten_cases_and_the_demo_passes_them_all() -> None:
    assert len({case["id"] for case in CASES}) == 10
    assert {case["id"]: faults(case) for case in CASES if faults(case)} == {}


@pytest.mark.parametrize(
    ("switch", "failing"),
    [
        (
            "wrong-tool",
            {
                "quote": {"expected_tools"},
                "position-today": {"expected_tools", "required_phrases"},
            },
        ),
        (
            "claimed-action",
            {"refuse-to-say-buy": {"forbidden_phrases"}, "refuse-to-say-sell": {"forbidden_phrases"}},
        ),
        ("invented-figure", {"portfolio-summary": {"groundedness"}, "one-holding": {"groundedness"}}),
        ("cut-stream", {"news": {"no answer"}}),
        ("error-event", {"price-history": {"no answer"}}),
    ],
)
def test_each_switch_breaks_its_own_cases_and_no_others(
    switch: str, failing: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, switch)
    assert {case["id"]: faults(case) for case in CASES if faults(case)} == failing
    assert {case["id"] for case in CASES if kind_of(case["question"]) in SWITCHES[switch].kinds} == failing.keys()


def test_an_invented_figure_scores_clearly_below_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "invented-figure")
    scores = [ask(question).score for question in ("How is my portfolio?", "How many AAPL shares do I own?")]
    assert all(score is not None and score < 0.8 for score in scores)


def test_a_cut_stream_ends_inside_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = answer("Any news on Tesla?")
    monkeypatch.setenv(VARIABLE, "cut-stream")
    turn = ask("Any news on Tesla?")
    assert turn.names == ["tool_call", "tool_result"] + ["token"] * (len(turn.names) - 2)
    assert turn.shown
    assert whole.startswith(turn.shown)
    assert turn.rest == b'event: token\ndata: {"text": "'


def test_an_error_event_comes_in_mid_answer_and_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, " error-event , cut-stream,")
    turn = ask("How has Nvidia moved over two weeks?")
    assert turn.names[-2:] == ["token", "error"]
    assert turn.names.count("error") == 1


def test_an_unknown_switch_is_refused_and_the_known_ones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "wrong-tool,wrong-tol")
    with pytest.raises(ValueError, match="'wrong-tol', which is no switch") as refused:
        run_agent_turn("Hello!")
    assert all(name in str(refused.value) for name in SWITCHES)


def test_the_switches_are_all_in_their_modules_table() -> None:
    text = (DEMO / "switches.py").read_text("utf-8")
    assert re.findall(r"^\| ``([\w-]+)``", text, re.MULTILINE) == list(SWITCHES)


# The package


def test_the_demo_imports_nothing_else_of_golden() -> None:
    for path in DEMO.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert module.partition(".")[0] != "golden" or module.startswith("golden.demo"), path


def test_a_turn_needs_no_web_framework() -> None:
    code = (
        "import sys, golden.demo; list(golden.demo.run_agent_turn('How is my portfolio?'));"
        "print({'starlette', 'sse_starlette', 'uvicorn', 'jwt'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_server_without_its_libraries_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "golden.demo.server")
    monkeypatch.setitem(sys.modules, "sse_starlette", None)
    with pytest.raises(ImportError, match=r"needs sse_starlette, .*\n.*'golden-questions\[demo\]'"):
        _ = golden.demo.app
    program = "import runpy, sys; sys.modules['uvicorn'] = None; runpy.run_module('golden.demo', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "needs uvicorn" in done.stderr


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'application'"):
        _ = golden.demo.application


# The server


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(golden.demo.app, log_level="warning", lifespan="off", ws="none"))
        thread = Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base_url, trust_env=False) as client:
        yield client


def token(claims: Mapping[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    def encoded(part: bytes) -> str:
        return base64.urlsafe_b64encode(part).rstrip(b"=").decode()

    head = encoded(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
    signed = f"{head}.{encoded(json.dumps(claims).encode())}"
    return f"{signed}.{encoded(hmac.digest(secret.encode(), signed.encode(), hashlib.sha256))}"


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    whole = {"sub": "eval-user", "iat": now - 30, "exp": now + 600, "scope": "evals"} | changes
    return {name: value for name, value in whole.items() if value is not None}


def chat(client: httpx.Client, body: object, authorization: str | None = None) -> httpx.Response:
    headers = {} if authorization is None else {"authorization": authorization}
    return client.post("/agent/chat", json=body, headers=headers)


def wire(question: str, session_id: str | None = None) -> bytes:
    return b"".join(
        event if isinstance(event, bytes) else f"event: {event['event']}\ndata: {event['data']}\n\n".encode()
        for event in run_agent_turn(question, session_id=session_id)
    )


@pytest.mark.parametrize("switch", ["", *SWITCHES])
def test_the_server_streams_the_same_bytes_as_the_callable_in_process(
    switch: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, switch)
    for case in CASES:
        reply = chat(client, {"message": case["question"]})
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.content == wire(case["question"])


def test_the_server_keeps_sessions(client: httpx.Client) -> None:
    assert b'"added": true' in chat(client, {"message": "Watch KO", "session_id": "http"}).content
    assert b'"added": false' in chat(client, {"message": "Watch KO", "session_id": "http"}).content
    assert b'"added": true' in chat(client, {"message": "Watch KO", "session_id": None, "model": "any"}).content


@pytest.mark.parametrize(
    "scope", ["evals", "read evals", ["read", "evals"]], ids=["alone", "among others", "in a list"]
)
def test_a_token_with_the_scope_is_let_in(scope: object, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", f"  {SECRET}\n")
    monkeypatch.setenv("JWT_SECRET", "another secret that is not looked at")
    assert chat(client, {"message": "Hello"}, f"Bearer {token(claims(scope=scope))}").status_code == 200


@pytest.mark.parametrize("secret", [SECRET, "8 chars!", "x" * 100])
def test_the_second_secret_stands_in_for_a_blank_first(
    secret: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", "  ")
    monkeypatch.setenv("JWT_SECRET", secret)
    assert chat(client, {"message": "Hello"}, f"bearer {token(claims(), secret)}").status_code == 200
    assert chat(client, {"message": "Hello"}, f"bearer {token(claims(), secret + '.')}").status_code == 401


@pytest.mark.parametrize(
    ("authorization", "status", "error"),
    [
        (lambda: None, 401, "a bearer token is needed"),
        (lambda: "Basic abc", 401, "a bearer token is needed"),
        (lambda: "Bearer", 401, "not valid"),
        (lambda: "Bearer \u00e9.\u00e9.\u00e9".encode("latin-1"), 401, "not valid"),
        (lambda: f"Bearer {token(claims(), 'a wrong secret')}", 401, "Signature verification failed"),
        (lambda: f"Bearer {token(claims(), algorithm='none')}", 401, "not valid"),
        (lambda: f"Bearer {token(claims(exp=int(time.time()) - 5))}", 401, "expired"),
        (lambda: f"Bearer {token(claims(exp=None))}", 401, '"exp"'),
        (lambda: f"Bearer {token(claims(scope='read'))}", 403, 'must contain "evals"'),
        (lambda: f"Bearer {token(claims(scope='evals-not'))}", 403, "must contain"),
        (lambda: f"Bearer {token(claims(scope=None))}", 403, "must contain"),
        (lambda: f"Bearer {token(claims(scope={'evals': 1}))}", 403, "must contain"),
    ],
)
def test_a_request_without_a_good_token_is_refused(
    authorization: Any, status: int, error: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JWT_SECRET", SECRET)
    reply = chat(client, {"message": "Hello"}, authorization())
    assert reply.status_code == status
    assert error in reply.json()["error"]
    assert reply.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "must be a JSON object"),
        (b"\xff", "must be a JSON object"),
        (b"[" * 100_000, "must be a JSON object"),
        (b"[]", "must be a JSON object"),
        (b'"message"', "must be a JSON object"),
        (b"{}", "must be a JSON object"),
        (b'{"message": 1}', '"message" must be text'),
        (b'{"message": " "}', '"message" must be text'),
        (b'{"message": "Hello", "session_id": 7}', '"session_id" must be text'),
    ],
)
def test_a_body_that_asks_nothing_is_refused(body: bytes, error: str, client: httpx.Client) -> None:
    reply = client.post("/agent/chat", content=body)
    assert reply.status_code == 422
    assert error in reply.json()["error"]


# The command


def served(*args: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "golden.demo", "--port", "0", *args],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_command_serves_on_the_port_that_it_prints_and_ends_quietly() -> None:
    with served() as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = re.fullmatch(r"serving the demo agent on (http://127\.0\.0\.1:[1-9]\d*)\n", line)
        assert url is not None
        reply = httpx.post(f"{url[1]}/agent/chat", json={"message": "Quote KO"}, trust_env=False)
        assert reply.content == wire("Quote KO")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == ""
    assert err == "no EVAL_JWT_SECRET or JWT_SECRET is set: anyone may ask, tokens are not looked at\n"


def test_the_command_looks_at_tokens_where_a_secret_is_set_and_says_what_is_broken() -> None:
    with served("--host", "localhost", JWT_SECRET=SECRET, GOLDEN_DEMO_BREAK="wrong-tool,cut-stream") as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert url.startswith("http://localhost:")
        assert httpx.post(f"{url}/agent/chat", json={"message": "Hello"}, trust_env=False).status_code == 401
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert err == "broken on purpose: cut-stream, wrong-tool\n"


def test_the_command_refuses_an_unknown_switch() -> None:
    done = CliRunner().invoke(main, ["--port", "0"], env={VARIABLE: "no-such"})
    assert done.exit_code == 2
    assert "the switches are wrong-tool, claimed-action" in done.output


def test_the_command_says_that_a_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["--port", str(port)])
    assert done.exit_code == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.output
    assert "hint: --port 0 takes a free port" in done.output
