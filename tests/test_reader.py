import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import dialects, lexicon
from golden.dialects import Dialect, native
from golden.errors import TargetError, UsageError
from golden.lexicon import Lexicon
from golden.reader import Bounds, Reader
from golden.transcript import Turn
from golden.wire import Ends, Head, Post

STREAMS = Path(__file__).parent / "data" / "streams"
FRAMING = sorted(path.stem for path in (STREAMS / "sse-framing").glob("*.sse"))
SAMPLES = [path.read_bytes() for path in sorted(STREAMS.glob("*/*.sse")) if path.stem != "huge_line"]
ENDS: list[Ends] = ["chunked", "length", "app", "iterable", "close"]
BOUNDS = Bounds()

TOKEN = b'event: token\ndata: {"text": "x"}\n\n'
DONE = b"event: done\n\n"


def read(
    pieces: Iterable[bytes], *, dialect: str = "auto", ends: Ends = "chunked", bounds: Bounds = BOUNDS
) -> tuple[Turn, Reader]:
    """Reads as a run does: what stops the reading becomes the turn's error."""
    reader = Reader("why?", dialect, bounds, Lexicon())
    reader.open(Head(200, {"content-type": "text/event-stream"}, ends))
    error = None
    at = 0.0
    try:
        for at, piece in enumerate(pieces):
            reader.feed(piece, float(at))
    except TargetError as caught:
        error = caught
    return reader.close(at + 1.0, error), reader


def cut(body: bytes, at: Iterable[int]) -> list[bytes]:
    return [
        body[start:end] for start, end in pairwise(sorted({0, len(body), *(place % (len(body) + 1) for place in at)}))
    ]


def timeless(turn: Turn) -> str:
    """All of a turn but when things came; as text, because a NaN equals nothing."""
    values = {name: getattr(turn, name) for name in Turn.__slots__ if name not in ("events", "timing")}
    return repr((values, [(seen.name, seen.signal) for seen in turn.events]))


# The framing samples


@pytest.mark.parametrize("name", FRAMING)
@pytest.mark.parametrize("ends", ENDS)
def test_a_framing_sample_gives_its_turn_whatever_its_framing(name: str, ends: Ends) -> None:
    expected = json.loads((STREAMS / "sse-framing" / f"{name}.expected.json").read_text("utf-8"))
    turn, reader = read([(STREAMS / "sse-framing" / f"{name}.sse").read_bytes()], ends=ends)
    unfinished = name in ("no_final_blank_line", "no_final_newline")
    assert [{"name": call.name, "args": call.args} for call in turn.tool_calls] == expected["tools"]
    if name == "huge_line":
        assert len(turn.answer) == expected["answer_len"]
    else:
        assert turn.answer == expected["answer"]
    assert turn.groundedness == (None if unfinished else expected.get("groundedness"))
    assert reader.dialect == "native"
    # The contract drops an unfinished last block and names it; without an end marker, that is an error.
    if unfinished:
        assert turn.error is not None
        assert (turn.error.kind, "cut inside an event" in turn.error.message) == ("cut", True)
    elif ends == "close" and name != "done_sentinel":
        assert turn.error is not None
        assert turn.error.kind == "cut"
    else:
        assert turn.error is None
    kinds = {finding.kind for finding in turn.findings} - {"end_not_marked"}
    assert kinds == {
        "event_without_data": {"event_without_data"},
        "invalid_utf8": {"not_utf8"},
    }.get(name, set())


def test_an_unfinished_block_after_the_end_marker_is_no_more_than_a_finding() -> None:
    turn, _ = read([TOKEN, DONE, b"data: more"])
    assert (turn.error, turn.finish) == (None, "finished")
    assert "after_end" in [finding.kind for finding in turn.findings]


def test_times_count_from_the_pieces_that_complete_the_events() -> None:
    turn, reader = read(
        [b": ping\n\n", b"event: tool_call\ndata: {}", b"\n\n", TOKEN[:9], TOKEN[9:], DONE, b": ping\n\n"]
    )
    assert reader.ended
    assert (turn.timing.first_event_s, turn.timing.first_token_s, turn.timing.total_s) == (2.0, 4.0, 5.0)
    assert [seen.at_s for seen in turn.events] == [2.0, 4.0, 5.0]


def test_what_has_come_is_told_in_words() -> None:
    reader = Reader("why?", "native", Bounds(), Lexicon())
    assert reader.came == "0 events, 0 characters of answer"
    reader.feed(TOKEN + TOKEN, 0.0)
    assert reader.came == "2 events, 2 characters of answer"
    assert not reader.ended


def test_a_question_that_was_sent_twice_is_a_finding() -> None:
    reader = Reader("why?", "native", BOUNDS, Lexicon())
    reader.open(Head(200, {}, "chunked", "the connection was closed"))
    reader.feed(TOKEN + DONE, 0.0)
    (finding, _) = reader.close(1.0).findings
    assert finding == ("asked_again", "the question was sent twice: the connection was closed")


def test_a_large_piece_is_read_no_further_than_its_bound() -> None:
    turn, _ = read([TOKEN * 100_000], bounds=Bounds(answer=200_000))
    assert turn.error is not None
    assert turn.error.kind == "too_large"
    assert 100_000 < turn.events_total * len(TOKEN) <= 200_000
    assert read([TOKEN * 5_000 + DONE])[0].answer == "x" * 5_000


def test_a_reply_whose_head_never_came_is_a_cut() -> None:
    turn = Reader("why?", "native", BOUNDS, Lexicon()).close(1.0)
    assert turn.error is not None
    assert (turn.error.kind, turn.question, turn.timing.total_s) == ("cut", "why?", 1.0)


# Which dialect it is


def test_a_dialect_that_is_named_is_not_told() -> None:
    turn, reader = read([b'data: {"text": "x"}\n\n', TOKEN, DONE], dialect="native")
    assert (reader.dialect, reader.reason, turn.answer) == ("native", "named", "x")


def test_a_dialect_of_no_known_name_is_an_error_of_whoever_named_it() -> None:
    with pytest.raises(UsageError, match=r"no dialect is called 'klingon'\nhint: known: .*native"):
        Reader("why?", "klingon", Bounds(), Lexicon())


def test_auto_tells_native_by_its_first_event_and_says_why() -> None:
    _, reader = read([])
    assert (reader.dialect, reader.reason) == ("auto", "")
    turn, reader = read([TOKEN, DONE])
    assert (reader.dialect, reader.reason) == ("native", "an event named `token`")
    assert (turn.answer, turn.error) == ("x", None)


def test_events_before_the_one_that_tells_the_dialect_are_read_too() -> None:
    turn, reader = read([b"data: {}\n\n", b"event: ping\n\n", TOKEN, b"data: [DONE]\n\n"])
    assert reader.reason == "an event named `token`"
    assert [(seen.at_s, seen.name, seen.signal) for seen in turn.events] == [
        (0.0, "", ""),
        (1.0, "ping", ""),
        (2.0, "token", "text"),
        (3.0, "", "end"),
    ]
    assert (turn.error, turn.timing.first_event_s) == (None, 0.0)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'data: {"type": "begin", "id": 7}\n\n', "its first event is named 'message' and has the keys 'type', 'id'"),
        (b"event: a\ndata: hi\n\nevent: b\n\n", "its first event is named 'a' and has data that is no JSON object"),
        (b"event: a\n\n", "its first event is named 'a' and has data that is no JSON object"),
    ],
)  # fmt: skip
def test_a_stream_that_no_dialect_knows_is_an_error_that_names_its_first_event(body: bytes, says: str) -> None:
    turn, reader = read([body])
    assert reader.dialect == "auto"
    assert turn.error is not None
    assert turn.error.kind == "unknown_dialect"
    assert turn.error.message.startswith(f"no dialect knows this stream: {says}")
    assert "native" in turn.error.message.partition("hint: known: ")[2]
    assert turn.events_total == len(turn.events) == body.count(b"\n\n")


def test_a_stream_that_no_dialect_knows_and_that_was_stopped_says_what_stopped_it() -> None:
    reader = Reader("why?", "auto", Bounds(), Lexicon())
    reader.feed(b"data: hi\n\n", 0.0)
    turn = reader.close(1.0, TargetError("timeout", "too late"))
    assert turn.error is not None
    assert (turn.error.kind, turn.error.message, turn.events_total) == ("timeout", "too late", 1)


@pytest.fixture
def second_dialect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[None]:
    """A second member of the rib, as if its file stood in the folder: it claims whatever is named `token`."""
    (tmp_path / "echo.py").write_text(
        "from golden.dialects import Dialect, native\n"
        "DIALECT = Dialect(lambda head, event: 'a token' if event.name == 'token' else None,\n"
        "    native.request, lambda event: ())\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(tmp_path)])
    lexicon.built_in.cache_clear()
    yield
    monkeypatch.undo()
    lexicon.built_in.cache_clear()
    lexicon._load.cache_clear()


@pytest.mark.usefixtures("second_dialect")
def test_a_new_dialect_is_one_new_file() -> None:
    assert {"echo", "native"} <= {*Lexicon().names()}
    echo = Lexicon().dialect("echo")
    assert isinstance(echo, Dialect)
    assert echo.request == native.request


@pytest.mark.usefixtures("second_dialect")
def test_a_stream_that_two_dialects_claim_is_not_guessed_at() -> None:
    turn, reader = read([b"event: hello\n\n", TOKEN, DONE])
    assert reader.dialect == "auto"
    assert turn.error is not None
    assert turn.error.kind == "unknown_dialect"
    assert turn.error.message == (
        "more than one dialect claims this stream: `echo` (a token) and `native` (an event named `token`)\n"
        "hint: use --dialect"
    )
    assert [seen.name for seen in turn.events] == ["hello", "token"]
    assert read([TOKEN, DONE], dialect="native")[0].error is None


def test_every_dialect_is_whole() -> None:
    for name in Lexicon().names():
        dialect = Lexicon().dialect(name)
        assert isinstance(dialect, Dialect)
        assert isinstance(Post("/", {}), Post)


# Bounds


def test_without_bounds_of_ones_own_8_mib_and_events_of_4_mib_are_read() -> None:
    assert (BOUNDS.answer, BOUNDS.event) == (8_388_608, 4_194_304)


@pytest.mark.parametrize("text", ["x" * 50, "é" * 25, "📈" * 12 + "xx", "\ufffd" * 16 + "xx"])
@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("space", ["", " "])
def test_an_event_is_measured_in_bytes_of_its_data_however_it_is_cut(
    text: str, step: int, over: int, space: str
) -> None:
    body = f"id: 1234567\nevent: hello\ndata:{space}{text}{'y' * over}\nid: 12345678901\n\n".encode()
    pieces = [body[at : at + step] for at in range(0, len(body), step)]
    turn, _ = read(pieces, dialect="native", bounds=Bounds(event=50))
    assert turn.error is not None
    assert turn.error.kind == ("too_large" if over else "empty")
    if over:
        assert turn.error.message == (
            "the event is larger than the 50 bytes that are read, after 0 events, 0 characters of answer\n"
            "hint: --max-event reads more"
        )


def test_bytes_that_are_not_utf8_are_measured_as_they_came() -> None:
    body = b"data: " + b"\xff" * 50 + b"\n\n"
    for over, kind in ((b"", "empty"), (b"y", "too_large")):
        turn, _ = read([body.replace(b"\n\n", over + b"\n\n")], dialect="native", bounds=Bounds(event=50))
        assert turn.error is not None
        assert turn.error.kind == kind


def test_an_event_of_many_lines_is_measured_while_it_grows() -> None:
    reader = Reader("why?", "native", Bounds(event=1000), Lexicon())
    line = b"data: " + b"x" * 100 + b"\n"
    for _ in range(10):
        reader.feed(line, 0.0)
    with pytest.raises(TargetError, match="the event is larger than the 1,000 bytes"):
        reader.feed(line, 0.0)


@pytest.mark.parametrize("start", [b"data: ", b": ", b"event: ", b"id: ", b""])
def test_a_line_that_never_ends_is_not_held_for_ever(start: bytes) -> None:
    turn, _ = read([start, *[b"x" * 100] * 100], dialect="native", bounds=Bounds(event=1000))
    assert turn.error is not None
    assert (turn.error.kind, "--max-event" in turn.error.message) == ("too_large", True)


def test_an_answer_that_is_too_large_is_an_error_with_what_came_of_it() -> None:
    turn, _ = read([TOKEN] * 100, bounds=Bounds(answer=10 * len(TOKEN)))
    assert turn.error is not None
    came = "10 events, 10 characters of answer"
    assert turn.error.message == (
        f"the answer is larger than the {10 * len(TOKEN)} bytes that are read, after {came}\n"
        "hint: --max-answer reads more"
    )
    assert turn.answer == "x" * 10
    assert read([TOKEN] * 9 + [DONE], bounds=Bounds(answer=10 * len(TOKEN)))[0].error is None


def test_too_much_after_the_end_marker_is_no_more_than_a_finding() -> None:
    turn, _ = read([TOKEN, DONE, b": ping\n" * 100], bounds=Bounds(answer=100))
    assert turn.error is None
    assert ["the answer is larger" in finding.message for finding in turn.findings] == [False, True]


# Any bytes


PLACES = st.lists(st.integers(0, 10_000), max_size=12)
SAMPLE = st.sampled_from(SAMPLES)
BOUND = st.sampled_from([BOUNDS, Bounds(answer=60), Bounds(answer=200)])


@given(SAMPLE, PLACES, st.sampled_from(ENDS), st.sampled_from(["auto", "native"]), BOUND)
def test_any_cut_of_a_sample_gives_the_same_turn(
    body: bytes, at: list[int], ends: Ends, dialect: str, bounds: Bounds
) -> None:
    once, whole = read([body], ends=ends, dialect=dialect, bounds=bounds)
    again, reader = read(cut(body, at), ends=ends, dialect=dialect, bounds=bounds)
    assert timeless(again) == timeless(once)
    assert (reader.dialect, reader.reason) == (whole.dialect, whole.reason)


# Parts of which sound and broken streams are made.
PARTS = st.sampled_from(
    [
        TOKEN,
        DONE,
        *(b"data: [DONE]\n\n", b"event: token\n", b"event: error\n\n", b": ping\n\n", b"data: ", b"{", b"}"),
        *(b"\n", b"\r\n", b"\r", b"\n\n", b"\xff", b"\xef\xbb\xbf", b"\xf0\x9f", b"\0"),
        *(b'{"text": "\\ud83d"}', b'{"text": "\\udcc8"}'),
        b'event: tool_call\ndata: {"name": "a", "args": "{", "id": 1}\n\n',
        b'event: tool_call\ndata: {"tool": 3, "args": "{\\"a\\": \\"\\ud83d\\"}", "id": [null]}\n\n',
        b"event: tool_call\ndata: [1]\n\n",
        b'event: tool_result\ndata: {"id": 1, "result": {"a": NaN}}\n\n',
        b'event: groundedness\ndata: {"score": NaN}\n\n',
        b'event: groundedness\ndata: {"score": ' + b"9" * 400 + b"}\n\n",
        b'event: groundedness\ndata: {"score": "\\udcc8"}\n\n',
        b'event: usage\ndata: {"input": ' + b"9" * 400 + b"}\n\n",
        b'event: usage\ndata: {"input": 1, "output": 2}\n\n',
        b'event: message\ndata: {"text": "y"}\n\n',
        b"event: message\ndata: null\n\n",
        b"event: token\ndata: 1e999\n\n",
        b"event: token\ndata: " + b'{"text":' * 300 + b"\n\n",
        b'event: error\ndata: {"message": "boom"}\n\n',
    ]
)
BODIES = st.one_of(st.binary(), st.lists(PARTS, max_size=20).map(b"".join))


@given(BODIES, PLACES, st.sampled_from(ENDS), st.sampled_from(["auto", "native"]), BOUND)
def test_any_cut_of_any_bytes_gives_the_same_turn(
    body: bytes, at: list[int], ends: Ends, dialect: str, bounds: Bounds
) -> None:
    once, _ = read([body], ends=ends, dialect=dialect, bounds=bounds)
    assert timeless(read(cut(body, at), ends=ends, dialect=dialect, bounds=bounds)[0]) == timeless(once)


def assert_sound(turn: Turn) -> None:
    assert (turn.finish is None) == (turn.error is not None)
    assert turn.groundedness is None or 0 <= turn.groundedness <= 1
    assert json.dumps(repr(turn), ensure_ascii=False).encode()


@given(BODIES, st.sampled_from(ENDS), st.integers(1, 200), st.integers(1, 200))
def test_no_bytes_raise_out_of_the_reader_save_at_its_bounds(body: bytes, ends: Ends, event: int, answer: int) -> None:
    assert_sound(read([body], ends=ends)[0])
    turn, _ = read([body], ends=ends, bounds=Bounds(answer=answer, event=event))
    assert_sound(turn)
    if len(body) > answer and not any(seen.signal == "end" for seen in turn.events):
        assert turn.error is not None


@given(SAMPLE, st.data())
def test_no_damage_to_a_sample_raises_out_of_the_reader(body: bytes, data: st.DataObject) -> None:
    damaged = bytearray(body)
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(damaged)))
        taken = data.draw(st.integers(0, 5))
        damaged[place : place + taken] = data.draw(st.one_of(st.binary(max_size=4), PARTS))
    assert_sound(read([bytes(damaged)])[0])


@pytest.mark.parametrize(
    "name", ["golden-native/tools", "golden-native/with_done", "sse-framing/lf", "sse-framing/crlf"]
)
@pytest.mark.parametrize("ends", ["chunked", "close"])
def test_a_stream_cut_at_any_byte_gives_no_more_than_its_bytes_hold(name: str, ends: Ends) -> None:
    body = (STREAMS / f"{name}.sse").read_bytes()
    whole, _ = read([body], dialect="native")
    deltas = whole.shown[0]
    before = 0
    for length in range(len(body)):
        turn, _ = read([body[:length]], dialect="native", ends=ends)
        assert_sound(turn)
        assert turn.tool_calls == whole.tool_calls[: len(turn.tool_calls)]
        assert deltas.startswith(turn.answer)
        assert turn.scores in ((), whole.scores)
        assert turn.events_total >= before
        before = turn.events_total
        # Between events, and nowhere else, a proven end makes a short stream look whole.
        ended = body[:length].endswith((b"\n\n", b"\r\n\r\n", b"\r\n\r"))
        if turn.error is None:
            assert ended
            assert ends == "chunked"
