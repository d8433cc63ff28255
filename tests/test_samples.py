"""Every sample gives its transcript: whole, byte by byte, cut anywhere, and told from all others."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from golden import dialects
from golden.lexicon import Lexicon, built_in
from golden.reader import Bounds, Reader, decoder
from golden.sse import Event, whole
from golden.transcript import Turn
from golden.wire import Head
from tests.samples import Sample, plain, samples

# The finishes that the captures' protocols name → golden's.
FINISHES = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "incomplete:max_output_tokens": "length",
    "interrupt": "waiting",
    "tool-calls": "waiting",
    "tool_calls": "waiting",
    "tool_use": "waiting",
}

LEXICON = Lexicon()

# Model APIs, which leave calls to the client.
MODELS = ("anthropic", "gemini", "ollama", "openai-chat", "openai-responses")

NO_END = "stream ended without its end marker"

# This endpoint tells its output alone, and the preamble that the other endpoints tell is none of it.
NOT_IN_THE_BYTES = {"langserve/preamble.stream"}

ALL = [pytest.param(sample, id=sample.name) for sample in samples()]


def fault(turn: Turn, expected: str | None) -> str | None:
    """A turn's error: as it is expected where it says that, in the captures' one sentence where it was cut."""
    if turn.error is None:
        return None
    message = turn.error.message
    return expected if expected and (expected in message or (expected, turn.error.kind) == (NO_END, "cut")) else message


def results(turn: Turn, expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What tools gave back. Of an error no more is expected than a part of what is said."""
    came = [{"name": call.name, "result": plain(call.result)} for call in turn.tool_calls if call.result is not None]
    for index, one in enumerate(expected[: len(came)]):
        if "error" in one and one["error"] in str(came[index]["result"]):
            came[index] = {"name": came[index]["name"], "error": one["error"]}
    return came


def told(turn: Turn, expected: dict[str, Any]) -> dict[str, Any]:
    """What a turn says of everything that is expected of it."""
    usage = turn.usage
    came: dict[str, Any] = {
        "tools": [{"name": call.name, "args": call.args} for call in turn.tool_calls],
        "answer": turn.final_text,
        "all_text": turn.answer,
        "usage": None if usage is None else {"input": usage.input, "output": usage.output},
        "error": fault(turn, expected["error"]),
        "tool_results": results(turn, expected.get("tool_results", [])),
        "groundedness": turn.groundedness,
    }
    return {name: came[name] for name in came if name in expected}


def asked(sample: Sample) -> dict[str, Any]:
    """What is expected, in the form in which `told` has it."""
    expected = sample.expected
    wanted = {**expected, "all_text": expected.get("all_text", expected["answer"])}
    wanted["tools"] = [{"name": one["name"], "args": one.get("args_raw", one["args"])} for one in expected["tools"]]
    if isinstance(wanted["all_text"], list):
        wanted["all_text"] = "".join(wanted["all_text"])
    if wanted["usage"] is not None:
        wanted["usage"] = {key: wanted["usage"][key] for key in ("input", "output")}
    if "tool_results" in wanted:
        wanted["tool_results"] = [
            {**one, "result": plain(one["result"])} if "result" in one else one for one in wanted["tool_results"]
        ]
    if sample.name in NOT_IN_THE_BYTES:
        del wanted["all_text"]
    return wanted


def finish(sample: Sample) -> str:
    """How the turn ends: as its protocol says, which may have no word for calls that are left to the client."""
    expected = sample.expected
    leaves_calls = expected["tools"] and not expected.get("tool_results") and not expected["answer"]
    silent = "waiting" if leaves_calls and sample.dialect in MODELS else "finished"
    return FINISHES.get(expected["finish"], silent)


@pytest.mark.parametrize("sample", ALL)
def test_a_sample_gives_its_transcript(sample: Sample) -> None:
    wanted = asked(sample)
    for turn in (sample.read(), sample.read(dialect=sample.dialect)):
        came = told(turn, wanted)
        assert came == {name: wanted[name] for name in came}
        if turn.error is None and isinstance(sample.expected.get("finish"), str):
            assert turn.finish == finish(sample)


def turn_of(sample: Sample, *pieces: bytes) -> Turn:
    """A sample's turn; of plain text every piece is an event, so its log is no part of it."""
    turn = sample.read(*pieces)
    return replace(turn, events=(), events_total=0) if sample.dialect == "text" else turn


@pytest.mark.parametrize("sample", ALL)
def test_a_sample_gives_the_same_turn_however_it_is_cut(sample: Sample) -> None:
    at_once = turn_of(sample)
    assert turn_of(sample, *(sample.body[at : at + 1] for at in range(len(sample.body)))) == at_once
    random = Random(sample.name)  # noqa: S311  # no secret: places to cut at
    for _ in range(3):
        places = sorted(random.sample(range(len(sample.body) + 1), min(5, len(sample.body))))
        assert turn_of(sample, *(sample.body[a:b] for a, b in pairwise([0, *places, len(sample.body)]))) == at_once


@pytest.mark.parametrize("sample", ALL)
def test_exactly_one_dialect_claims_a_sample_with_and_without_its_headers(sample: Sample) -> None:
    bare = sample.head.__class__(200, {"content-type": sample.head.headers.get("content-type", "")}, "chunked")
    for head in (sample.head, bare):
        framing = framed(sample, head)
        if framing not in LEXICON.dialect(sample.dialect).framings:
            continue  # nothing but the header tells how it is framed
        first = next(filter(None, claimed(head, decoder(framing).feed(sample.body + b"\n", 0.0), framing)), set())
        assert first <= {sample.dialect}  # the first event that is claimed decides
        assert first or not sample.expected["tools"]


def framed(sample: Sample, head: Head) -> dialects.Framing:
    reader = Reader("question", "auto", Bounds(), LEXICON)
    reader.open(head)
    reader.feed(sample.body, 0.0)
    return reader.framing


def claimed(head: Head, events: Iterable[Event], framing: dialects.Framing) -> Iterator[set[str]]:
    """For each event those that claim it."""
    known = {name: dialect for name in built_in() if framing in (dialect := LEXICON.dialect(name)).framings}
    for event in events:
        yield {name for name, dialect in known.items() if dialect.claims(head, event)}


@pytest.mark.parametrize("sample", ALL)
def test_a_sample_that_is_cut_is_no_more_than_its_bytes_hold(sample: Sample) -> None:
    whole_turn = sample.read(dialect=sample.dialect)
    step = max(1, len(sample.body) // 60)
    for end in range(0, len(sample.body), step):
        turn = sample.read(sample.body[:end], dialect=sample.dialect)
        assert len(turn.tool_calls) <= len(whole_turn.tool_calls)
        if turn.error is None:
            assert len(whole(turn.answer)) <= len(whole_turn.answer)


def test_every_dialect_has_samples() -> None:
    assert {sample.dialect for sample in samples()} >= set(built_in()) - {"text"}, json.dumps(built_in())
