"""Whole runs, recorded and replayed: other framings than server-sent events, conversations, readers that get better."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from golden import jsonl
from golden.lexicon import _TABLES
from golden.result import CaseResult
from tests.program import Program
from tests.samples import STREAMS
from tests.scripted import named

TALK: dict[str, object] = {"id": "talk", "turns": [{"question": "one"}, {"question": "two"}], "max_tool_calls": 9}
ONE: dict[str, object] = {"id": "one", "question": "one", "max_tool_calls": 9}

App = Callable[[Any, Any, Any], Awaitable[None]]


def app(kind: str, *pieces: bytes) -> App:
    """Answers every question with these pieces, and opens threads."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError("no lifespan here")
        await receive()
        is_opening = scope["path"] == "/threads"
        sent = b"application/json" if is_opening else kind.encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", sent)]})
        for piece in [b'{"thread_id": "T1"}'] if is_opening else pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})

    return answer


def evidence(case: CaseResult) -> tuple[object, ...]:
    turns = [(*turn.model_dump().items(),) for turn in case.turns]
    return case.status, case.checks, turns


def body(name: str) -> bytes:
    return (STREAMS / name).read_bytes()


LINES = body("ollama-ndjson-spec/tools.2_answer.ndjson")
TEXT = (b"all is\r\nwell \xff\xc3", b"\xa9 \n\n{", b"}")
PLAIN = body("langgraph-server/plain.messages-tuple.sse")


@pytest.mark.parametrize(
    ("kind", "pieces", "dialect", "told", "case"),
    [
        ("text/plain", TEXT, "auto", "text", ONE),
        ("application/x-ndjson", (LINES[:70], LINES[70:]), "auto", "ollama", ONE),
        ("text/plain", (LINES[:-1],), "auto", "ollama", ONE),
        ("text/event-stream", (PLAIN,), "langgraph", "langgraph", TALK),
    ],
)
def test_events_of_any_framing_are_replayed_as_they_were_told_apart(
    kind: str, pieces: tuple[bytes, ...], dialect: str, told: str, case: dict[str, object], golden_run: Program
) -> None:
    asked = ("--asgi", named(app(kind, *pieces)), "--no-auth", "--dialect", dialect)
    live = golden_run(*asked, "--record", "kept", cases=[case])
    assert live.statuses == ["passed"], live.out
    kept = jsonl.read((Path("kept") / f"{case['id']}.jsonl").read_text(encoding="utf-8"))
    assert kept.meta["dialect"] == told
    assert len(kept.exchanges) == len(live.case.turns)  # what opened the conversation is no answer
    again = golden_run("--replay", "kept", cases=[case])
    assert evidence(again.case) == evidence(live.case)
    assert again.run.run.target
    assert again.run.run.target.dialect == told


def test_bytes_of_a_text_that_are_not_utf_8_are_kept(golden_run: Program) -> None:
    golden_run("--asgi", named(app("text/plain", *TEXT)), "--no-auth", "--record", "kept", cases=[ONE])
    (exchange,) = jsonl.read(Path("kept/one.jsonl").read_text(encoding="utf-8")).exchanges
    assert exchange.reply
    raw = b"".join(event.raw or (event.data or "").encode() for event in exchange.reply.events)
    assert raw == b"".join(TEXT)


SOUND = "[tool.golden.dialects.copy]\n" + (_TABLES / "dify.toml").read_text(encoding="utf-8")
PLANTED = SOUND.replace('args = "data.inputs"', 'args = "data.input"')
ASKED: dict[str, object] = {
    "id": "one",
    "question": "one",
    "expect": {"tool": "get_quote", "params": {"symbol": "AAPL"}},
}


def test_a_bug_of_a_reader_is_seen_and_its_mending_too_through_old_recordings(golden_run: Program) -> None:
    assert PLANTED != SOUND
    answer = body("dify-spec/chatflow.tools.sse")

    def agent(question: str) -> list[bytes]:
        return [answer]

    def ran(table: str, *options: str) -> CaseResult:
        Path("pyproject.toml").write_text(table, encoding="utf-8")
        return golden_run(*options, cases=[ASKED]).case

    live = ("--agent", named(agent), "--dialect", "copy")
    first = ran(SOUND, *live, "--record", "old")
    assert first.status == "passed", first.checks
    misread = ran(PLANTED, "--replay", "old")
    assert misread.status == "failed"
    assert "expected get_quote" in misread.checks[0].message
    assert evidence(ran(PLANTED, *live, "--record", "misread"))[:2] == evidence(misread)[:2]
    for recordings in ("old", "misread"):
        mended = ran(SOUND, "--replay", recordings)
        assert [call.args for call in mended.turns[0].tool_calls] == [call.args for call in first.turns[0].tool_calls]
        assert mended.status == "passed"
