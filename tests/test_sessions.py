"""Conversations that are opened before their first question and closed after their last, over HTTP and in process."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from golden.calls import Calls
from golden.dialects import ai_sdk_data, pydantic_ai
from golden.errors import TargetError
from golden.findings import Findings
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.sse import Event
from golden.targets.asgi import AsgiTarget
from golden.targets.http import HttpTarget
from golden.transcript import ToolCall
from golden.wire import Head
from tests.program import Outcome, Program
from tests.samples import STREAMS
from tests.servers import Act, Asked, Server, Step, head, whole

PLAIN = (STREAMS / "langgraph-server" / "plain.messages-tuple.sse").read_bytes()
HUGE = b'{"thread_id": "T1", "more": "' + b"x" * (2 << 20) + b'"}'
TALK: dict[str, object] = {"id": "talk", "turns": [{"question": "one"}, {"question": "two"}], "max_tool_calls": 0}


def answering(opened: bytes, status: str = "200 OK") -> Any:
    async def script(asked: Asked) -> AsyncIterator[Step]:
        if asked.path == "/threads":
            yield whole(opened, status, "application/json")
        else:
            yield whole(PLAIN)

    return script


def talked(golden_run: Program, server: Server, *options: object, case: dict[str, object] | None = None) -> Outcome:
    return golden_run("--base-url", server.url, "--no-auth", *options, cases=[case or TALK])


def test_a_thread_is_opened_once_and_all_turns_are_asked_in_it(golden_run: Program) -> None:
    with Server(answering(b'{"thread_id": "T1"}')) as server:
        ran = talked(golden_run, server, "--dialect", "langgraph")
    assert ran.code == 0, ran.out
    assert [asked.path for asked in server.asked] == ["/threads", "/threads/T1/runs/stream", "/threads/T1/runs/stream"]
    assert all(turn.answer for turn in ran.case.turns)


@pytest.mark.parametrize(
    ("opened", "status", "said"),
    [
        (b"{}", "200 OK", "names no conversation"),
        (b"no", "500 Broken", "the server answered 500"),
        (HUGE, "200 OK", "names no"),
    ],
)
def test_a_thread_that_cannot_be_opened_is_the_cases_error(
    opened: bytes, status: str, said: str, golden_run: Program
) -> None:
    with Server(answering(opened, status)) as server:
        ran = talked(golden_run, server, "--dialect", "langgraph")
    assert (ran.code, ran.case.status) == (3, "error")
    assert said in ran.out


class App:
    """An app that opens threads, answers in them, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError("no lifespan here")
        self.asked.append((scope["method"], scope["path"]))
        await receive()
        is_opening = scope["path"] == "/threads"
        kind = b"application/json" if is_opening else b"text/event-stream"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        body = b'{"thread_id": "T1"}' if is_opening else PLAIN
        await send({"type": "http.response.body", "body": body})


def test_an_app_in_this_process_opens_threads_too() -> None:
    from golden import Case, Question, Suite, run_suite

    app = App()
    case = Case(turns=[Question(question="one"), Question(question="two")], max_tool_calls=0)
    report = run_suite(Suite(cases=[case]), AsgiTarget(app, dialect="langgraph"))
    assert report.all_passed
    assert app.asked == [("POST", path) for path in ("/threads", *["/threads/T1/runs/stream"] * 2)]


SUPPORT = """
[tool.golden.dialects.support]
path = "/ask"
form = {q = "$question", s = "$session_id"}
close = "DELETE /talks/$session_id"
rules = [{event = "delta", text = "t"}, {event = "end", end = true}]
"""
SAID = b'event: delta\ndata: {"t": "well"}\n\nevent: end\ndata: {}\n\n'


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_conversation_is_closed_after_its_last_turn(
    is_closed: bool, golden_run: Program, caplog: pytest.LogCaptureFixture
) -> None:
    async def script(asked: Asked) -> AsyncIterator[Step]:
        yield whole(SAID) if asked.method == "POST" else whole(b"") if is_closed else Act.RESET

    Path("pyproject.toml").write_text(SUPPORT, encoding="utf-8")
    with Server(script) as server, caplog.at_level(logging.WARNING, "golden"):
        ran = talked(golden_run, server, "--dialect", "support")
    assert (ran.code, [asked.method for asked in server.asked]) == (0, ["POST", "POST", "DELETE"])
    sent = server.asked[0].body.decode()
    assert sent.startswith("q=one&s=")
    assert server.asked[-1].path == f"/talks/{sent.partition('s=')[2]}"
    assert ("the conversation was not closed" in caplog.text) is not is_closed


def test_what_opens_and_closes_a_conversation_has_the_headers_of_its_dialect(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "a hidden key")
    header = 'headers = {X-Api-Key = "$AGENT_KEY"}\n'
    tables = SUPPORT.replace("rules", f"{header}rules") + f"[tool.golden.dialects.langgraph]\n{header}"
    Path("pyproject.toml").write_text(tables, encoding="utf-8")
    echo = b'event: delta\ndata: {"t": "a hidden key"}\n\nevent: error\ndata: {"message": "a hidden key"}\n\n'

    async def script(asked: Asked) -> AsyncIterator[Step]:
        yield whole(b'{"thread_id": "T1"}' if asked.path == "/threads" else echo)

    for name in ("langgraph", "support"):
        with Server(script) as server:  # neither is asked with a token of golden's own: the header authorises
            ran = golden_run("--base-url", server.url, "--dialect", name, cases=[TALK])
        assert len(server.asked) == 2, ran.out
        assert {asked.headers["x-api-key"] for asked in server.asked} == {"a hidden key"}
        assert not any("authorization" in asked.headers for asked in server.asked)
        assert "█" * len("a hidden key") in ran.written
        assert "a hidden key" not in ran.out + ran.written


@pytest.mark.parametrize(
    ("headers", "problem"),
    [('{x = "$NOT_SET"}', "$NOT_SET is not set, or empty"), ('{"x y" = "z"}', "'x y' is no name of a header")],
)
def test_a_header_of_a_dialect_that_cannot_be_sent_is_wrong_usage(
    headers: str, problem: str, golden_run: Program
) -> None:
    Path("pyproject.toml").write_text(f"[tool.golden.dialects.langgraph]\nheaders = {headers}\n", encoding="utf-8")
    ran = golden_run("--base-url", "http://127.0.0.1:9", "--dialect", "langgraph")
    assert (ran.code, f"error: [tool.golden.dialects.langgraph].headers: {problem}" in ran.err) == (2, True)


def test_a_dry_run_shows_the_whole_conversation_and_no_secret(golden_run: Program) -> None:
    tables = (
        f'{SUPPORT}headers = {{x-key = "hidden"}}\n[tool.golden.dialects.anthropic]\nheaders = {{X-Key = "$KEY"}}\n'
    )
    Path("pyproject.toml").write_text(tables, encoding="utf-8")

    def shown(name: str) -> list[str]:
        return golden_run(
            "--dry-run", "--base-url", "http://a.example", "--dialect", name, cases=[TALK]
        ).out.splitlines()

    assert shown("langgraph")[1:4] == [
        "  POST http://a.example/threads",
        "  {}",
        "  POST http://a.example/threads/(a fresh session)/runs/stream (turn 1 of 2)",
    ]
    assert shown("support")[4:] == [
        "  POST http://a.example/ask (turn 2 of 2)",
        "  x-key: …",
        '  {"q":"two","s":"(a fresh session)"} (as a form)',
        "  DELETE http://a.example/talks/(a fresh session)",
        "  x-key: …",
        "  {}",
    ]
    *_, version, key, body = shown("anthropic")
    assert (version, key) == ("  anthropic-version: 2023-06-01", "  x-key: $KEY")
    assert '{"role":"assistant","content":"(its answer)"},{"role":"user","content":"two"}' in body


def test_an_app_in_this_process_is_told_of_the_end_too() -> None:
    from golden import Case, Suite, run_suite

    app = App()
    table = {"rules": [{"event": "x", "end": True}], "close": "DELETE /talks"}
    dialect = Lexicon({"mine": table}).dialect("mine")
    run_suite(Suite(cases=[Case(question="q", max_tool_calls=0)]), AsgiTarget(app, dialect=dialect))
    assert app.asked == [("POST", "/"), ("DELETE", "/talks")]


def test_a_line_that_is_too_large_is_an_error(golden_run: Program) -> None:
    async def script(asked: Asked) -> AsyncIterator[Step]:
        yield head(kind="application/x-ndjson")
        yield b'{"message": {"content": "' + b"x" * 5000

    with Server(script) as server:
        case: dict[str, object] = {"id": "q", "question": "q", "max_tool_calls": 0}
        ran = talked(golden_run, server, "--dialect", "ollama", "--max-event", 1000, case=case)
    assert ran.case.error is not None
    assert ran.case.error.kind == "too_large"


def test_two_that_claim_the_last_line_are_not_guessed_between() -> None:
    table = {"framing": "lines", "detect": [{"when": "mine"}], "rules": [{"text": "mine"}]}
    reader = Reader("q", "auto", Bounds(), Lexicon({"one": table, "two": table}))
    reader.open(Head(200, {"content-type": "application/x-ndjson"}, "chunked"))
    reader.feed(b'{"mine": "a"}', 0.1)
    turn = reader.close(0.2)
    assert turn.error is not None
    assert "more than one dialect claims this stream" in turn.error.message


def test_odd_ends_of_dialects() -> None:
    assert ai_sdk_data.DIALECT.read(Event("x", None)) == ()
    result = {"event_kind": "agent_run_result", "result": {"output": None}}
    assert pydantic_ai.DIALECT.read(Event("", json.dumps(result)))
    assert Lexicon({"ai-sdk": {"groundedness": ""}}).options("ai-sdk").groundedness == ""
    calls = Calls(Findings())
    calls.call("a", {}, "", "m", 0)
    calls.call("a", {"x": 1}, "1", "m", 0)
    assert calls.close() == (ToolCall("a", {"x": 1}),)


def test_an_unreachable_server_leaves_a_conversation_unopened() -> None:
    async def main() -> None:
        target = HttpTarget("http://127.0.0.1:9", dialect="langgraph")
        from golden.wire import Request

        async with target.open():
            with pytest.raises(TargetError):
                await anext(target.ask(Request("q", "s", turns=2)))

    asyncio.run(main())
