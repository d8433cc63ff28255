"""20,000 recordings of 200 events, scored again: `golden run --replay` against the plainest loop, each as a process."""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import GOLDEN, HERE, PYTHON, held, in_turn, processor_ratio
from golden.jsonl import render
from golden.recording import Called, Exchange, Ledger, Message, Recording, prompt_hash
from golden.sse import Event
from golden.wire import Head, Reply

EVENTS = 200


def recording(number: int) -> Recording:
    """A recording as golden makes it: a call with its result, tokens, a score, usage and the end."""
    words = [*(f"word{(7 * at + number) % 4999} " for at in range(EVENTS - 6)), "in the end"]
    first = [
        ("tool_call", {"id": "1", "name": "get_quote", "args": {"symbol": f"S{number}"}}),
        ("tool_result", {"id": "1", "result": {"price": number}}),
    ]
    last: list[tuple[str, object]] = [
        ("groundedness", {"score": 0.95}),
        ("usage", {"input": 10, "output": 200}),
        ("done", {}),
    ]
    told = [*first, *(("token", {"text": word}) for word in words), *last]
    events = [Event(name, json.dumps(data), "", round(0.01 * at, 6)) for at, (name, data) in enumerate(told)]
    head = Head(200, {"content-type": "text/event-stream; charset=utf-8"}, "chunked")
    meta = {
        "fixtureId": f"case-{number}",
        "scenario": "",
        "recordedAt": "2026-01-02T03:04:05.678Z",
        "systemPromptHash": prompt_hash(None),
        "goldenVersion": "0.1.0",
        "dialect": "native",
        "model": None,
    }
    messages = (
        Message("user", (f"What is quote {number}?",)),
        Message("assistant", (Called("call_1", "get_quote", {"symbol": f"S{number}"}),), Ledger()),
        Message("toolResult", (f'{{"price":{number}}}',), call_id="call_1"),
        Message("assistant", ("".join(words),), Ledger(input=10, output=200)),
    )
    return Recording(meta, (Exchange(messages, Reply(head, tuple(events), 0.01 * EVENTS)),))


def suite(cases: int) -> dict[str, object]:
    case = {
        "expected_tools": ["get_quote"],
        "forbidden_phrases": ["you should buy", "guaranteed return"],
        "required_phrases": ["in the end"],
        "groundedness_threshold": 0.8,
    }
    return {
        "version": 1,
        "cases": [{"id": f"case-{number}", "question": f"What is quote {number}?", **case} for number in range(cases)],
    }


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--quick", action="store_const", const=2000, dest="cases", help="2,000 of them")
    given = parser.parse_args()
    cases, pairs = given.cases, given.pairs
    with tempfile.TemporaryDirectory() as folder:
        kept, file = Path(folder) / "kept", Path(folder) / "suite.json"
        kept.mkdir()
        for number in range(cases):
            (kept / f"case-{number}.jsonl").write_text(render(recording(number)), encoding="utf-8")
        file.write_text(json.dumps(suite(cases)), encoding="utf-8")
        golden = (GOLDEN, "run", str(file), "--replay", str(kept), "--isolated", "--suite-timeout", "0")
        plain = (PYTHON, str(HERE / "plain_replay.py"), str(kept), str(file))
        costs = in_turn(golden, plain, pairs)
    for ours, theirs in costs:
        print(
            f"          golden {ours.processor_s:.2f} s, {ours.memory_mb:.0f} MB; "
            f"plain {theirs.processor_s:.2f} s, {theirs.memory_mb:.0f} MB"
        )
    return all(
        [
            held(f"{cases:,} recordings of {EVENTS} events, processor time", processor_ratio(costs), 3),
            held("most resident memory", median(ours.memory_mb for ours, _ in costs), 75 + 0.02 * cases, "MB"),
        ]
    )


if __name__ == "__main__":
    sys.exit(not main())
