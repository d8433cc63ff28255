import base64
import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from golden import jsonl
from golden.errors import RecordingError
from golden.recording import Called, Exchange, Ledger, Message, Recording
from golden.sse import Event
from golden.wire import Head, Reply
from tests.recordings import FOREIGN, RECORDING, lines

OWN: list[dict[str, Any]] = [*map(json.loads, jsonl.render(RECORDING).splitlines())]
META, USER, HEAD, CALL, TOKEN, DONE, END, FIRST, SECOND, ASSERTIONS = OWN


def test_a_recording_of_another_program_loads_as_it_is() -> None:
    read = jsonl.read(lines(*FOREIGN))
    (exchange,) = read.exchanges
    assert read.meta["agentVersion"] == "0.67.68"
    assert exchange.question == "set up a team"
    assert exchange.reply is None
    first, result = exchange.answer
    assert first.text == "Starting."
    assert [*first.calls] == [Called("call_1", "hire_agent", {"department": "engineering"})]
    assert first.ledger == Ledger(12345, 11000, 345, 234)
    assert (result.role, result.call_id, result.text) == ("toolResult", "call_1", "hired")
    assert [one["kind"] for one in read.assertions] == ["tool_called", "tool_call_arg_matches", "trace_max_turns"]


def test_parts_of_a_message_that_are_no_text_and_no_call_are_passed_over() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    read = jsonl.read(lines(META, {**USER, "content": parts}, ASSERTIONS))
    assert read.exchanges[0].question == "ab"


def test_what_was_not_asked_in_words_has_a_question_all_the_same() -> None:
    greeting = {"type": "turn", "turnIndex": 0, "role": "assistant", "content": [], "tokenLedger": {}}
    second = {**USER, "turnIndex": 1}
    read = jsonl.read(lines(META, greeting, second, {**second, "turnIndex": 2}, ASSERTIONS))
    assert [exchange.question for exchange in read.exchanges] == ["(no text)", "Is all well?\nIs all well?"]


def test_a_byte_order_mark_blank_lines_and_crlf_are_no_fault() -> None:
    text = "\ufeff" + "".join(f"{json.dumps(line)}\r\n\r\n" for line in OWN)
    assert jsonl.read(text) == RECORDING
    assert jsonl.read(" \t\n\n".join(["", *map(json.dumps, OWN), "\u00a0"])) == RECORDING


def test_bytes_that_are_not_utf_8_are_kept_exactly() -> None:
    raw = b'{"text": "\xff\xc3"}'
    event = Event("token", raw.decode(errors="replace"), "", 0.5, raw)
    (exchange,) = RECORDING.exchanges
    assert exchange.reply
    recording = replace(RECORDING, exchanges=(exchange._replace(reply=exchange.reply._replace(events=(event,))),))
    written = jsonl.render(recording)
    assert base64.b64encode(raw).decode() in written
    assert jsonl.read(written) == recording


def test_what_json_cannot_say_is_written_as_text() -> None:
    odd = Message("assistant", (Called("", "find", {"x": float("nan"), "y": ["\ud800", float("inf")]}),), Ledger())
    written = jsonl.render(Recording({}, (Exchange((odd,)),)))
    (call,) = jsonl.read(written).exchanges[0].answer[0].calls
    assert call.arguments == {"x": "nan", "y": ["\ufffd", "inf"]}


# Each of these lines in place of those of `OWN`, and what is said.
FAULTS: dict[str, tuple[list[Any], str]] = {
    "an empty file": ([], "line 1: the file is empty, expected a `meta` line"),
    "no meta": (OWN[1:], "line 1: expected the `meta` line first"),
    "two metas": ([META, META, *OWN[1:]], "line 2: a second `meta` line"),
    "no assertions": (OWN[:-1], "line 9: the file ends here, expected an `assertions` line as its last"),
    "something behind": ([*OWN, USER], "line 11: nothing stands behind the `assertions` line"),
    "no turn": ([META, ASSERTIONS], "line 2: expected a `turn` line before the assertions"),
    "assertions of no list": ([META, USER, {**ASSERTIONS, "assertions": {}}], "line 3: `assertions`: expected a list"),
    "an unknown line": ([META, {"type": "note"}], "line 2: 'note' is no type of a line"),
    "a line that is no object": ([META, [1]], "line 2: expected an object"),
    "half a line": (
        ["\n".join([*map(json.dumps, OWN[:-1]), '{"type": "asser'])],
        "line 10: no JSON: EOF while parsing a string at line 1 column 15",
    ),
    "NaN": ([META, '{"type": "event", "at": NaN}'], "line 2: no JSON: NaN is not JSON"),
    "nested too deep": ([META, "[" * 300 + "]" * 300], "line 2: no JSON: nested more than 200 deep"),
    "a number of 5,000 digits": ([META, '{"at": ' + "9" * 5000 + "}"], "line 2: no JSON: number out of range"),
    "a gap": ([META, USER, {**FIRST, "turnIndex": 2}], "line 3: `turnIndex`: expected 1, got 2"),
    "a repeat": ([META, USER, {**FIRST, "turnIndex": 0}], "line 3: `turnIndex`: expected 1, got 0"),
    "an index that is true": ([META, USER, {**FIRST, "turnIndex": True}], "expected 1, got True"),
    "an index that is none": ([META, {**USER, "turnIndex": "0"}], "expected 0, got '0'"),
    "a role that is none": ([META, {**USER, "role": "system"}], "`role`: expected one of user, assistant, toolResult"),
    "no ledger": ([META, USER, {**FIRST, "tokenLedger": None}], "line 3: an assistant's turn has a `tokenLedger`"),
    "a ledger of text": (
        [META, USER, {**FIRST, "tokenLedger": {"input": "3"}}],
        "line 3: `tokenLedger.input`: expected a whole number or null, got '3'",
    ),
    "content that is text": ([META, {**USER, "content": "hi"}], "line 2: `content`: expected a list, got 'hi'"),
    "a part that is text": ([META, {**USER, "content": ["hi"]}], "each part of `content` is an object, got 'hi'"),
    "a text that is none": ([META, {**USER, "content": [{"type": "text"}]}], "`text`: expected text, got None"),
    "an unknown kind": (
        [META, USER, {**ASSERTIONS, "assertions": [{"kind": "tool_caled"}]}],
        "line 3: 'tool_caled' is no kind of assertion",
    ),
    "an event with no head": ([META, USER, TOKEN], "line 3: expected a `head` line before the events"),
    "an event of another turn": ([META, USER, HEAD, {**TOKEN, "turnIndex": 2}], "`turnIndex`: expected 1, got 2"),
    "an event of nothing": ([META, USER, HEAD, {"type": "event", "turnIndex": 1, "at": 0}], "has a name or data"),
    "an event that forges one": ([META, USER, HEAD, {**TOKEN, "event": "a\ndata: b"}], "has a line break"),
    "an event of a number": ([META, USER, HEAD, {**TOKEN, "data": 1}], "`event`, `id` and `data` of an event are text"),
    "data64 that is none": ([META, USER, HEAD, {**TOKEN, "data": None, "data64": "?"}], "`data64` is no base64"),
    "two kinds of data": ([META, USER, HEAD, {**TOKEN, "data64": "aGk="}], "an event has `data` or `data64`, not both"),
    "a time that is text": ([META, USER, HEAD, {**TOKEN, "at": "0"}], "line 4: `at`: expected seconds from 0, got '0'"),
    "a time before the request": ([META, USER, HEAD, {**TOKEN, "at": -1}], "expected seconds from 0, got -1"),
    "a time beyond all time": ([META, USER, HEAD, {**END, "at": 10**400}], "expected seconds from 0, got 1000"),
    "a time of infinity": ([META, USER, HEAD, '{"type": "end", "turnIndex": 1, "at": 1e999, "by": "app"}'], "line 4"),
    "an end with no head": ([META, USER, END], "line 3: expected a `head` line"),
    "an end by nothing": ([META, USER, HEAD, {**END, "by": "luck"}], "`by`: expected one of chunked, length"),
    "findings that are none": ([META, USER, HEAD, {**END, "findings": 1}], "`findings`: expected a list"),
    "a finding that is none": ([META, USER, HEAD, {**END, "findings": [1]}], "a finding is an object, got 1"),
    "no end": ([META, USER, HEAD, TOKEN, FIRST], "line 5: the reply before this turn has no `end` line"),
    "no end at all": ([META, USER, HEAD, TOKEN, ASSERTIONS], "line 5: the reply before this line has no `end` line"),
    "a reply with no turn": ([META, USER, HEAD, END, ASSERTIONS], "line 5: expected the assistant's turn of the reply"),
    "a reply before the person's turn": (
        [META, USER, HEAD, END, {**USER, "turnIndex": 1}],
        "line 5: expected the assistant's turn of the reply above, got one of user",
    ),
    "two heads": ([META, USER, HEAD, HEAD], "line 4: a second reply to one question"),
    "two replies": (
        [META, USER, HEAD, END, FIRST, {**HEAD, "turnIndex": 2}],
        "line 6: a second reply to one question",
    ),
    "a head of another turn": ([META, USER, {**HEAD, "turnIndex": 0}], "`turnIndex`: expected 1, got 0"),
    "a status of text": ([META, USER, {**HEAD, "status": "200"}], "`status`: expected a number from 0 to 999"),
    "a status beyond all": ([META, USER, {**HEAD, "status": 10**9}], "`status`: expected a number from 0 to 999"),
    "headers that are none": ([META, USER, {**HEAD, "headers": []}], "`headers`: expected an object of texts"),
    "a header that is no text": ([META, USER, {**HEAD, "headers": {"a": 1}}], "`headers`: expected an object of texts"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_malformed_recording_is_an_error_with_its_line(name: str) -> None:
    given_lines, said = FAULTS[name]
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in given_lines)
    with pytest.raises(RecordingError) as caught:
        jsonl.read(text)
    assert said in caught.value.message
    assert caught.value.message.startswith("line ")
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("cut", range(1, 20))
def test_half_a_file_is_an_error_wherever_it_was_cut(cut: int) -> None:
    text = jsonl.render(RECORDING)
    with pytest.raises(RecordingError, match="line"):
        jsonl.read(text[: len(text) * cut // 20])


# As the decoder of streams gives them: no line ends in names, no half of a surrogate pair anywhere.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), max_size=6)
TIMES = st.floats(0, 1e6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=4,
)
COUNTS = st.none() | st.integers(0, 2**53)
NOTES = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)


@st.composite
def events(draw: st.DrawFn) -> Event:
    name, id, at = draw(NAME), draw(NAME), draw(TIMES)
    if raw := draw(st.none() | st.binary(min_size=1, max_size=6)):
        return Event(name, raw.decode(errors="replace"), id, at, raw)
    return Event(name, draw(st.none() | TEXT) if name else draw(TEXT), id, at)


MADE_EVENTS = st.lists(events(), max_size=3).map(tuple)
HEADS = st.builds(
    Head,
    st.integers(0, 999),
    st.dictionaries(st.sampled_from(["content-type", "x-a"]), TEXT),
    st.sampled_from(["chunked", "length", "app", "iterable", "close"]),
)
REPLIES = st.builds(Reply, HEADS, MADE_EVENTS, TIMES, st.just(""), NOTES, st.just(False))
PARTS = st.lists(TEXT | st.builds(Called, TEXT, TEXT, VALUES), max_size=3).map(tuple)
LEDGERS = st.builds(Ledger, COUNTS, COUNTS, COUNTS, COUNTS)
ASKED = st.builds(Message, st.just("user"), PARTS, st.none(), st.just(""))
SAID = st.builds(Message, st.just("assistant"), PARTS, LEDGERS, st.just(""))
GOT = st.builds(Message, st.just("toolResult"), PARTS, st.none(), TEXT)


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    rest = draw(st.lists(SAID | GOT, max_size=2))
    return Exchange((draw(ASKED), draw(SAID), *rest), draw(st.none() | REPLIES))


META_VALUES = st.dictionaries(TEXT.filter(lambda key: key != "type"), VALUES, max_size=3)
ASKED_OF_ITSELF = st.lists(
    st.builds(lambda name: {"kind": "no_tool_called", "name": name}, TEXT)
    | st.builds(lambda most: {"kind": "trace_max_turns", "max": most}, st.integers(0, 9)),
    max_size=2,
).map(tuple)
RECORDINGS = st.builds(
    Recording, META_VALUES, st.lists(exchanges(), min_size=1, max_size=2).map(tuple), ASKED_OF_ITSELF
)


# Many parts are made of each: on a machine with more to do that takes as long as it takes.
PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@PATIENT
@given(RECORDINGS)
def test_what_is_written_is_read_back_equal(recording: Recording) -> None:
    assert jsonl.read(jsonl.render(recording)) == recording


@given(st.lists(st.sampled_from([*OWN, *FOREIGN]).map(dict) | st.dictionaries(st.sampled_from([*END]), VALUES)))
def test_no_lines_raise_anything_but_an_error_of_a_recording(some: list[dict[str, Any]]) -> None:
    with suppress(RecordingError):
        jsonl.read(lines(*some))


def test_the_first_line_alone_says_what_a_recording_is() -> None:
    assert jsonl.read_meta(json.dumps(META))["goldenVersion"] == "1"
    with pytest.raises(RecordingError, match="line 1: expected the `meta` line first"):
        jsonl.read_meta(json.dumps(USER))
