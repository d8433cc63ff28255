"""Recordings as files: one of another program, and lines to be changed by a test."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden.recording import Called, Exchange, Ledger, Message, Recording
from golden.sse import Event
from golden.wire import Head, Reply

FOREIGN: tuple[dict[str, Any], ...] = (
    {
        "type": "meta",
        "fixtureId": "team-building-empty",
        "agentVersion": "0.67.68",
        "recordedAt": "2026-04-20T21:14:00.000Z",
        "scenario": "empty company",
        "systemPromptHash": "sha256:00",
    },
    {"type": "turn", "turnIndex": 0, "role": "user", "content": [{"type": "text", "text": "set up a team"}]},
    {
        "type": "turn",
        "turnIndex": 1,
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Starting."},
            {"type": "toolCall", "id": "call_1", "name": "hire_agent", "arguments": {"department": "engineering"}},
        ],
        "tokenLedger": {"input": 12345, "cache_read": 11000, "cache_creation": 345, "output": 234},
    },
    {
        "type": "turn",
        "turnIndex": 2,
        "role": "toolResult",
        "toolUseId": "call_1",
        "content": [{"type": "text", "text": "hired"}],
    },
    {
        "type": "assertions",
        "assertions": [
            {"kind": "tool_called", "name": "hire_agent", "min_count": 1, "max_count": 5},
            {
                "kind": "tool_call_arg_matches",
                "name": "hire_agent",
                "arg_path": "department",
                "matches_regex": "^(engineering|design)$",
            },
            {"kind": "trace_max_turns", "max": 40},
        ],
    },
)

ANSWER = (
    Event("tool_call", '{"name": "find", "id": "1", "args": {"n": 1}}', "", 0.25),
    Event("token", '{"text": "All is well."}', "", 0.5),
    Event("done", "{}", "", 0.75),
)

RECORDING = Recording(
    {"fixtureId": "well", "goldenVersion": "1", "dialect": "native", "systemPromptHash": None, "model": None},
    (
        Exchange(
            (
                Message("user", ("Is all well?",)),
                Message("assistant", (Called("call_1", "find", {"n": 1}),), Ledger()),
                Message("assistant", ("All is well.",), Ledger(input=3, output=4)),
            ),
            Reply(Head(200, {"content-type": "text/event-stream"}, "chunked"), ANSWER, 1.5),
        ),
    ),
)
"""A recording of the case that `tests.program` asks."""


def lines(*given: Mapping[str, object]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in given)


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text(text, encoding="utf-8")
    return path
