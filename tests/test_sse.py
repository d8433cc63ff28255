import base64
import json
import time
import tracemalloc
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource
from hypothesis import given
from hypothesis import strategies as st

from golden.sse import Decoder, Event, encode, whole

DATA = Path(__file__).parent / "data"
FRAMING = DATA / "streams" / "sse-framing"
VECTORS: list[dict[str, Any]] = json.loads((DATA / "sse_vectors.json").read_text("utf-8"))
PIECE = b"x" * 1024
BODIES = sorted(path.stem for path in FRAMING.glob("*.sse"))

# The samples whose last event has no blank line. Their expected files keep it; the standard, and golden, drop it.
UNFINISHED = {"no_final_blank_line", "no_final_newline"}

# What httpx-sse 0.4.3 does otherwise, by vector or sample: why, and what it reads.
PHANTOM = "a block with an id, a name or a retry but no data is an event with empty data"
BOM = "the byte-order mark is kept, so the first line is a field of no known name"
DIFFERENCES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "p-bom-leading": (BOM, []),
    "p-id-keepalive": (
        PHANTOM,
        [("message", "bread"), ("message", ""), ("message", ""), ("message", ""), ("message", "butter")],
    ),
    "p-retry-alone": (PHANTOM, [("message", ""), ("message", "honey")]),
    "p-event-no-data": (PHANTOM, [("preheat", ""), ("message", "kale")]),
    "event_without_data": (PHANTOM, [("ping", "")]),
    "id_and_retry": (PHANTOM, [("message", "")]),
    "bom": (BOM, [("message", '{"name":"get_quote","args":{"symbol":"AAPL"}}')]),
}


def pieces_of(vector: dict[str, Any]) -> list[bytes]:
    return [base64.b64decode(piece) for piece in vector["chunks_b64"]]


def body_of(vector: dict[str, Any]) -> bytes:
    return b"".join(pieces_of(vector))


def read(pieces: Iterable[bytes]) -> tuple[list[Event], Decoder]:
    decoder = Decoder()
    events = [event for piece in pieces for event in decoder.feed(piece, 0.0)]
    return events, decoder


def bytewise(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


def seen_by_a_browser(events: Iterable[Event]) -> list[tuple[str, str, str]]:
    return [(event.name or "message", event.data, event.id) for event in events if event.data is not None]


def expected_of(vector: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(event["event"], event["data"], event["id"]) for event in vector["events"]]


def named(vector: dict[str, Any]) -> str:
    return str(vector["name"])


@pytest.mark.parametrize("vector", VECTORS, ids=named)
@pytest.mark.parametrize("cut", ["as given", "whole", "byte by byte"])
def test_a_vector_is_read_as_the_standard_says(vector: dict[str, Any], cut: str) -> None:
    pieces = {"as given": pieces_of(vector), "whole": [body_of(vector)], "byte by byte": bytewise(body_of(vector))}[cut]
    events, decoder = read(pieces)
    assert seen_by_a_browser(events) == expected_of(vector)
    assert decoder.pending is vector["truncated"]


@pytest.mark.parametrize("vector", VECTORS, ids=named)
def test_what_follows_a_vector_is_read_as_if_it_came_alone(vector: dict[str, Any]) -> None:
    events, decoder = read([*pieces_of(vector), b"\n\nid: after\nevent: tail\ndata: fin\n\n"])
    # The unfinished line of a truncated vector is ended by the first LF of the tail, its block by the second.
    assert seen_by_a_browser(events)[-1] == ("tail", "fin", "after")
    assert len(seen_by_a_browser(events)) >= len(expected_of(vector)) + 1
    assert not decoder.pending


def expected_events(name: str) -> list[tuple[str, str]]:
    expected = json.loads((FRAMING / f"{name}.expected.json").read_text("utf-8"))
    events = [(event["event"] or "message", event["data"]) for event in expected["events"]]
    return events[:-1] if name in UNFINISHED else events


def cuts_of(name: str) -> list[bytes]:
    body = (FRAMING / f"{name}.sse").read_bytes()
    lines = (FRAMING / f"{name}.chunks.jsonl").read_text("utf-8").splitlines()
    chunks = [json.loads(line) for line in lines]
    pieces = [body[chunk["off"] : chunk["off"] + chunk["len"]] for chunk in chunks]
    assert b"".join(pieces) == body
    return pieces


@pytest.mark.parametrize("name", [name for name in BODIES if name != "huge_line"])
def test_a_framing_sample_is_read_with_its_own_cuts_and_with_any_other(name: str) -> None:
    body = (FRAMING / f"{name}.sse").read_bytes()
    for pieces in (cuts_of(name), [body], bytewise(body), [body[at : at + 7] for at in range(0, len(body), 7)]):
        events, decoder = read(pieces)
        assert [event[:2] for event in seen_by_a_browser(events)] == expected_events(name)
        assert decoder.pending is (name in UNFINISHED)
        assert decoder.invalid_utf8 is (name == "invalid_utf8")


def test_a_line_of_200_kb_is_read_whole() -> None:
    events, decoder = read([(FRAMING / "huge_line.sse").read_bytes()])
    assert [len(event.data or "") > 200_000 for event in events] == [False, True, True]
    assert not decoder.pending


def test_a_last_event_without_its_blank_line_is_no_event_but_pending() -> None:
    for name in UNFINISHED:
        events, decoder = read([(FRAMING / f"{name}.sse").read_bytes()])
        assert [event.name for event in events] == ["tool_call", "token", "token", "message"]
        assert decoder.pending


def httpx_sse_reads(pieces: list[bytes]) -> list[tuple[str, str]]:
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter(pieces))
    return [(event.event, event.data) for event in EventSource(response).iter_sse()]


@pytest.mark.parametrize("name", [*map(named, VECTORS), *BODIES])
def test_httpx_sse_reads_the_same_but_for_the_known_differences(name: str) -> None:
    bodies = {named(vector): pieces_of(vector) for vector in VECTORS}
    pieces = bodies[name] if name in bodies else [(FRAMING / f"{name}.sse").read_bytes()]
    ours = [event[:2] for event in seen_by_a_browser(read(pieces)[0])]
    theirs = httpx_sse_reads(pieces)
    if name not in DIFFERENCES:
        assert theirs == ours
        return
    _, differing = DIFFERENCES[name]
    assert theirs != ours
    if name in bodies:
        assert theirs == differing
    elif name == "bom":
        assert theirs == differing + ours[1:]
    else:
        assert theirs == differing + ours


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"event: done\n\n", ["done"]),
        (b"event: done\ndata\n\n", []),
        (b"event\n\n", []),
        (b"event: a\nevent\n\n", []),
        (b"id: 3\n\nretry: 5\n\n: comment\n\n", []),
        (b"event: done\nid: 3\n\n", ["done"]),
    ],
)
def test_only_a_named_block_without_data_is_an_event_without_data(body: bytes, names: list[str]) -> None:
    events, _ = read([body])
    assert [event.name for event in events if event.data is None] == names


@pytest.mark.parametrize(
    "rest",
    [
        b"d", b"data", b"data: x", b"data: x\n", b"data\n", b"event: x\n", b"id: 3\n", b"retry: 5\n", b"no field\n",
        b"id: a\0b\n", b"event", b"data: x\n:", b"data: x\r", b": comment\ndata: x\n",
    ],
)  # fmt: skip
def test_any_field_of_a_block_without_its_blank_line_is_pending(rest: bytes) -> None:
    for start in (b"", b"\xef\xbb\xbf", b"data: before\n\n"):
        assert read([start + rest])[1].pending
        assert read(bytewise(start + rest))[1].pending


@pytest.mark.parametrize("rest", [b"", b"\n", b"\r", b"\r\n", b":", b": comment", b": comment\n", b"id: 3\n\n"])
def test_neither_blank_lines_nor_comments_are_pending(rest: bytes) -> None:
    for start in (b"", b"\xef\xbb\xbf", b"data: before\n\n"):
        assert not read([start + rest])[1].pending
        assert not read(bytewise(start + rest))[1].pending


def test_a_cr_ends_its_line_at_once_and_the_lf_that_follows_it_later_is_part_of_it() -> None:
    decoder = Decoder()
    assert decoder.feed(b"data: x\r", 1.0) == []
    assert decoder.feed(b"\r", 2.0) == [Event("", "x", "", 2.0)]
    assert decoder.feed(b"", 3.0) == []
    assert decoder.feed(b"\ndata: y\r\n\r", 4.0) == [Event("", "y", "", 4.0)]
    assert decoder.feed(b"\n", 5.0) == []
    assert not decoder.pending


def test_bytes_that_are_not_utf8_are_kept_beside_what_is_shown() -> None:
    events, decoder = read([b"id: \xff\nevent: n\xe9\ndata: caf\xe9\n\nevent: b\n\ndata: sound \xc3\xa9\n\n"])
    assert events == [
        Event("n\ufffd", "caf\ufffd", "\ufffd", raw=b"caf\xe9"),
        Event("b", None, "\ufffd"),
        Event("", "sound é", "\ufffd"),
    ]
    assert decoder.invalid_utf8


def test_a_literal_replacement_character_is_no_fault() -> None:
    events, decoder = read(["data: \ufffd\n\n".encode()])
    assert events == [Event("", "\ufffd")]
    assert not decoder.invalid_utf8


def test_a_cut_character_before_a_line_end_does_not_take_the_line_end_with_it() -> None:
    events, _ = read([b"data: a\xf0\x9f\ndata: b\n\n"])
    assert [event.data for event in events] == ["a\ufffd\nb"]


def test_an_event_counts_from_the_piece_that_completes_it() -> None:
    decoder = Decoder()
    decoder.feed(b"data: x\n", 1.0)
    assert [event.at for event in decoder.feed(b"\ndata: y\n\nda", 2.0)] == [2.0, 2.0]


# Text of every kind that matters here, without what a name cannot hold.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12)
EVENTS = st.lists(
    st.builds(
        Event,
        name=TEXT,
        data=st.one_of(st.none(), st.lists(TEXT, max_size=4).map("\n".join)),
        id=TEXT.filter(lambda text: text and "\0" not in text),
        at=st.just(0.0),
        raw=st.none(),
    ).filter(lambda event: event.data is not None or event.name),
    max_size=6,
)


@given(EVENTS)
def test_what_is_encoded_is_read_back_equal(events: list[Event]) -> None:
    read_back, decoder = read([b"".join(map(encode, events))])
    assert read_back == events
    assert not decoder.pending


@given(st.binary(max_size=40).filter(lambda raw: b"\r" not in raw))
def test_data_of_any_bytes_is_encoded_as_those_bytes(raw: bytes) -> None:
    events, _ = read([encode(Event("bytes", "", raw=raw))])
    assert [event.raw if event.raw is not None else (event.data or "").encode() for event in events] == [raw]
    assert read([encode(event) for event in events])[0] == events


def test_line_ends_inside_data_become_lf() -> None:
    assert encode(Event("", "a\r\nb\rc\n")) == b"data: a\ndata: b\ndata: c\ndata: \n\n"


def test_surrogate_halves_are_made_whole_when_they_are_written() -> None:
    assert encode(Event("\ud83d", "\ud83d\udcc8 \udcc8", "\ud83d")) == (
        "event: \ufffd\nid: \ufffd\ndata: 📈 \ufffd\n\n".encode()
    )
    assert whole("sound 📈") == "sound 📈"


STREAM_BYTES = st.lists(
    st.sampled_from(
        [
            b"data", b"event", b"id", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\0", b"\xff",
            b"\xf0\x9f", b"\x8d\x9c", "é".encode(), b"x", b"data: x\n", b"event: y\n", b"retry: 1", "\u2028".encode(),
        ]
    ),
    max_size=30,
).map(b"".join)  # fmt: skip


@given(STREAM_BYTES, st.lists(st.integers(0, 200), max_size=8))
def test_any_cut_gives_the_same_events(body: bytes, at: list[int]) -> None:
    edges = sorted({0, len(body), *(place for place in at if place < len(body))})
    once, decoder = read([body])
    again, other = read([body[start:end] for start, end in pairwise(edges)])
    assert again == once
    assert (other.pending, other.invalid_utf8) == (decoder.pending, decoder.invalid_utf8)


@given(st.one_of(st.binary(), STREAM_BYTES))
def test_decoding_line_by_line_is_decoding_the_whole_stream_first(body: bytes) -> None:
    events, decoder = read([body])
    decoded, _ = read([body.decode(errors="replace").encode()])
    assert [event._replace(raw=None) for event in events] == decoded
    assert decoder.invalid_utf8 or all(event.raw is None for event in events)


@given(st.binary())
def test_no_bytes_make_the_decoder_raise(body: bytes) -> None:
    _, decoder = read(bytewise(body))
    assert decoder.size <= len(body)
    assert decoder.pending in (True, False)


def test_the_size_of_what_is_held_grows_with_the_data_and_falls_with_its_event() -> None:
    decoder = Decoder()
    decoder.feed(b"data: 12345", 0.0)
    assert decoder.size == 5
    decoder.feed(b"\ndata: 678\ndata:9\ndata: ", 0.0)
    assert decoder.size == 9
    decoder.feed(b"\n\n", 0.0)
    assert decoder.size == 0


def test_a_line_of_4_mib_in_pieces_of_1_kib_is_read_in_linear_time() -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        decoder = Decoder()
        for _ in range(size // 1024):
            decoder.feed(PIECE, 0.0)
            assert decoder.size <= size
        decoder.feed(b"\n\n", 0.0)
        return time.process_time() - started

    short, long = (min(seconds(size) for _ in range(3)) for size in (1024 * 1024, 4 * 1024 * 1024))
    assert long < 10 * short  # 4 times where it is linear, 16 where it is not


def test_a_long_line_in_small_pieces_takes_little_more_memory_than_its_bytes() -> None:
    tracemalloc.start()
    try:
        decoder = Decoder()
        decoder.feed(b"data: ", 0.0)
        for _ in range(1024):
            decoder.feed(PIECE[:-1], 0.0)  # a new object each time, as from a socket
        held, _ = tracemalloc.get_traced_memory()
        assert held < 1.3 * 1024 * 1024
        decoder.feed(b"\n\n", 0.0)
        left, _ = tracemalloc.get_traced_memory()
        assert left < 100_000
    finally:
        tracemalloc.stop()
