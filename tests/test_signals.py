import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.errors import TargetError
from golden.gathering import Fold
from golden.signals import (
    Call,
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Marker,
    Message,
    Odd,
    Reasoning,
    Refusal,
    Result,
    RunningTokens,
    Score,
    Session,
    Signal,
    Text,
    Tokens,
    Whole,
)
from golden.sse import Event
from golden.transcript import Failure, Seen, Timing, ToolCall, Transcript, Turn, Usage, valid_score

PIECE = Event("piece", "")
STEP = [Call("find", {}, "1"), Result("found", "1"), Finish("tools")]


def folded(*signals: Signal, proven: bool = True, pending: bool = False, error: TargetError | None = None) -> Turn:
    """The turn of these signals, one an event, at 1, 2, 3… seconds."""
    fold = Fold("why?")
    for at, signal in enumerate(signals, start=1):
        fold.add(PIECE._replace(at=float(at)), [signal])
    return fold.close(float(len(signals) + 1), proven=proven, pending=pending, error=error)


def kinds(turn: Turn) -> list[str]:
    return [finding.kind for finding in turn.findings]


def test_a_turn_of_deltas_and_an_end_is_whole_and_has_no_findings() -> None:
    turn = folded(Text(""), Text("It is "), Text("5."), End())
    assert (turn.question, turn.answer, turn.final_text, turn.shown) == ("why?", "It is 5.", "It is 5.", ("It is 5.",))
    assert (turn.finish, turn.error, turn.findings) == ("finished", None, ())
    assert turn.timing == Timing(first_event_s=1, first_token_s=2, total_s=4)
    assert (turn.usage, turn.scores, turn.groundedness, turn.tool_calls) == (None, (), None, ())


def test_what_came_is_told_while_it_comes() -> None:
    fold = Fold("why?")
    assert (fold.events, fold.characters, fold.ended) == (0, 0, False)
    fold.add(PIECE, [Text("four"), Text("five!")])
    assert (fold.events, fold.characters) == (1, 9)
    fold.add(PIECE, [Message("a longer answer")])
    assert (fold.events, fold.characters, fold.ended) == (2, 15, False)
    fold.add(PIECE, [End()])
    assert fold.ended


# The answer


def test_the_last_full_message_is_the_answer_and_several_are_a_finding() -> None:
    turn = folded(Text("dra"), Message("draft"), Message("final"), Message("the end"), End())
    assert (turn.answer, turn.final_text) == ("the end", "the end")
    assert turn.shown == ("dra", "draft", "final", "the end")
    assert [(finding.kind, finding.message) for finding in turn.findings] == [
        ("messages", "more than one full message: the last one counts (2 times)")
    ]


def test_the_first_text_that_is_shown_is_the_first_token_be_it_a_whole_message() -> None:
    assert folded(CALL, Message(""), Message("x"), Text("y"), End()).timing.first_token_s == 3


def test_a_message_that_repeats_the_deltas_is_shown_once() -> None:
    turn = folded(Text("a"), Text("b"), Message("ab"), End())
    assert (turn.answer, turn.shown, turn.findings) == ("ab", ("ab",), ())


def test_an_empty_message_replaces_the_deltas_and_what_was_shown_stays() -> None:
    turn = folded(Text("gone"), Message(""), End())
    assert (turn.answer, turn.shown) == ("", ("gone",))
    assert turn.error == Failure(
        "empty", "the stream ended with no answer and no tool call; its first events are named piece"
    )


CALL = Call("look", {})


@pytest.mark.parametrize(
    ("signals", "answer", "final"),
    [
        ([Text("Let me see. "), CALL, Text("It is "), Text("5.")], "Let me see. It is 5.", "It is 5."),
        ([Text("One. "), CALL, Text("Two. "), CALL, Text("Three.")], "One. Two. Three.", "Three."),
        ([Text("Done?"), CALL], "Done?", ""),
        ([CALL, Text("5.")], "5.", "5."),
        ([CALL], "", ""),
        # a message that repeats what stood before the call, one that does not, one that came before the call
        ([Text("Let me see. "), CALL, Text("5."), Message("Let me see. 5.")], "Let me see. 5.", "5."),
        ([Text("Let me see. "), CALL, Text("5."), Message("5.")], "5.", "5."),
        ([CALL, Text("5."), Message("5.")], "5.", "5."),
        ([Text("5."), Message("5."), CALL], "5.", ""),
        ([Message("5."), CALL], "5.", ""),
        ([Message("4."), CALL, Message("5.")], "5.", "5."),
        ([Message("4."), CALL, Text("5.")], "4.", ""),
    ],
)
def test_final_text_is_the_part_of_the_answer_after_the_last_call(
    signals: list[Signal], answer: str, final: str
) -> None:
    turn = folded(*signals, End())
    assert (turn.answer, turn.final_text) == (answer, final)


def test_two_halves_of_a_character_in_two_deltas_come_out_whole() -> None:
    turn = folded(Text("up \ud83d"), Text("\udcc8!"), End())
    assert (turn.answer, turn.findings) == ("up 📈!", ())
    assert folded(Text("\ufffd \ud83d"), Text("\udcc8"), End()).findings == ()


def test_a_half_of_a_character_that_stays_alone_is_replaced_wherever_it_stands() -> None:
    turn = folded(
        Text("up \ud83d"),
        Call("get\ud83d", {"\udcc8": ["\ud83d", {"a": "\ud83d\udcc8"}, 1]}, "\ud83d"),
        Call("raw", "{\ud83d"),
        Result({"deep": ["\udcc8"]}, "\ud83d"),
        Result("lost", "\udcc8"),
        Score("\ud83d"),
        Odd("odd", "about \ud83d"),
        Text("down"),
        End(),
    )
    assert turn.answer == "up \ufffddown"
    assert turn.final_text == "down"
    assert turn.tool_calls == (
        ToolCall("get\ufffd", {"\ufffd": ["\ufffd", {"a": "📈"}, 1]}, True, {"deep": ["\ufffd"]}),
        ToolCall("raw", "{\ufffd", False),
    )
    assert turn.scores == ("\ufffd",)
    assert "surrogates" in kinds(turn)
    assert json.dumps(repr(turn), ensure_ascii=False).encode()  # nothing is left that cannot be written


# Tools


def test_results_find_their_calls_by_id_by_name_and_by_order() -> None:
    turn = folded(
        Call("a", 1, "id-1"),
        Call("b", 2, "id-2"),
        Call("b", 3),
        Call("c", 4),
        Call("d", 5),
        Result("by id", "id-2"),
        Result("by name", name="b"),
        Result("the first open one"),
        Result("the next"),
        Result("by name again", name="d"),
        Text("x"),
        End(),
    )
    assert [(call.name, call.result) for call in turn.tool_calls] == [
        ("a", "the first open one"),
        ("b", "by id"),
        ("b", "by name"),
        ("c", "the next"),
        ("d", "by name again"),
    ]
    assert turn.findings == ()


@pytest.mark.parametrize(
    "lost",
    [Result(1, "other"), Result(1, "id-1"), Result(1, name="other"), Result(1), Result(1, "other", "a"), Result(None)],
)
def test_a_result_with_no_open_call_is_a_finding(lost: Result) -> None:
    turn = folded(Call("a", {}, "id-1"), Result("the one", "id-1"), lost, End())
    assert turn.tool_calls == (ToolCall("a", {}, True, "the one"),)
    assert kinds(turn) == ["result_without_call"]
    assert (lost.id or lost.name or "no id, no name") in turn.findings[0].message


def test_a_result_before_its_call_is_a_finding() -> None:
    assert kinds(folded(Result(1, "x"), Call("a", {}, "x"), End())) == ["result_without_call"]


def test_a_null_result_is_a_result() -> None:
    turn = folded(Call("a", {}), Call("b", {}), Result(None), Result("second"), End())
    assert [call.result for call in turn.tool_calls] == [None, "second"]


def test_a_repeated_call_id_is_a_finding_and_results_go_to_the_calls_in_order() -> None:
    turn = folded(Call("a", {}, "x"), Call("b", {}, "x"), Result(1, "x"), Result(2, "x"), End())
    assert [call.result for call in turn.tool_calls] == [1, 2]
    assert [(finding.kind, finding.message) for finding in turn.findings] == [
        ("call_id_repeated", "the call id 'x' came before")
    ]


def test_a_call_without_a_name_and_one_with_broken_arguments_are_kept_and_named() -> None:
    turn = folded(Call("", {}), Call("b", '{"sym'), End())
    assert turn.tool_calls == (ToolCall("", {}), ToolCall("b", '{"sym', parsed=False))
    assert {finding.kind: finding.message for finding in turn.findings} == {
        "tool_without_name": "a tool call without a name",
        "args_not_json": "the arguments of `b` are not JSON",
    }


def test_a_piece_with_a_new_id_and_no_name_goes_on_with_the_call_of_its_key() -> None:
    turn = folded(CallPart('{"x"', "0", "a", "f"), CallPart(":1}", "0", "b"), CallDone(), End())
    assert (turn.tool_calls, turn.findings) == ((ToolCall("f", {"x": 1}),), ())


@pytest.mark.parametrize(
    ("pieces", "args", "parsed"),
    [
        (['{"x":1}', '{"x"', ":2}"], {"x": 2}, True),
        (['{"x":1}', '{"x"'], '{"x":1}{"x"', False),
        (["[]", "[]"], "[][]", False),
    ],
)
def test_arguments_that_come_whole_and_then_in_deltas_are_those_of_the_deltas(
    pieces: list[str], args: object, parsed: bool
) -> None:
    turn = folded(*(CallPart(piece, "0", "a", "f" if at == 0 else "") for at, piece in enumerate(pieces)), CallDone())
    assert turn.tool_calls == (ToolCall("f", args, parsed=parsed),)


def test_a_call_of_an_id_that_has_its_result_is_another_one_unless_it_is_told_again_as_it_was() -> None:
    def called(*args: object) -> list[object]:
        signals = [signal for each in args for signal in (CallDone("", "c", "f", each), Result("r", "c"))]
        again = [CallDone("", "c", "f", each) for each in args]
        turn = folded(*signals, *again, CallDone("", "c"), End())
        return [call.args for call in turn.tool_calls]

    assert called({"x": 1}, {"x": 2}) == [{"x": 1}, {"x": 2}]
    assert called({"x": 1}, '{"x": 1}') == [{"x": 1}]
    assert called({}, "") == [{}]
    assert called('{"x', '{"x') == ['{"x']
    unanswered = folded(CallDone("", "c", "f", {"x": 1}), CallDone("", "c", "f", {"x": 2}), End())
    assert [call.args for call in unanswered.tool_calls] == [{"x": 1}]


def test_many_calls_and_their_results_are_paired_in_linear_time() -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        fold = Fold("why?")
        for number in range(count):
            fold.add(PIECE, [Call("a", number, str(number))])
        for number in reversed(range(count)):
            fold.add(PIECE, [Result(number, str(number))])
        turn = fold.close(1.0, proven=True, pending=False)
        assert all(call.args == call.result for call in turn.tool_calls)
        return time.process_time() - started

    few, many = (min(seconds(count) for _ in range(3)) for count in (1_000, 8_000))
    assert many < 24 * few  # 8 times where it is linear, 64 where it is not


# Scores and usage


@pytest.mark.parametrize(
    ("score", "valid"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.5, 0.5),
        (-0.0, 0.0),
        (1.0000001, None),
        (-0.1, None),
        (float("nan"), None),
        (float("inf"), None),
        pytest.param(10**4000, None, id="huge"),
        (True, None),
        (False, None),
        ("0.9", None),
        (None, None),
        ([0.9], None),
        ({}, None),
    ],
)
def test_a_score_is_a_number_from_0_to_1_and_nothing_else(score: object, valid: float | None) -> None:
    assert valid_score(score) == valid
    turn = folded(Text("x"), Score(score), End())
    assert turn.groundedness == valid
    assert repr(turn.scores) == repr((score,))


def test_the_last_of_several_scores_counts_valid_or_not_and_several_are_a_finding() -> None:
    turn = folded(Text("x"), Score(0.9), Score("high"), End())
    assert (turn.scores, turn.groundedness) == ((0.9, "high"), None)
    assert kinds(turn) == ["scores"]
    assert folded(Text("x"), Score("high"), Score(0.9), End()).groundedness == 0.9


def test_usage_is_added_and_a_figure_that_is_not_reported_stays_unknown() -> None:
    assert folded(Text("x"), Tokens(3, None), Tokens(4, 5), Tokens(None, 6), End()).usage == Usage(7, 11)
    assert folded(Text("x"), Tokens(None, 2), End()).usage == Usage(None, 2)
    assert folded(Text("x"), Tokens(None, None), End()).usage == Usage(None, None)


# The end


def test_an_end_that_was_not_marked_but_is_proven_is_a_finding() -> None:
    turn = folded(Text("x"), proven=True)
    assert (turn.finish, turn.error, kinds(turn)) == ("finished", None, ["end_not_marked"])
    assert turn.timing.total_s == 2


def test_where_the_close_of_the_connection_is_the_only_end_it_is_a_cut() -> None:
    turn = folded(Text("four"), proven=False)
    assert turn.finish is None
    assert turn.error == Failure(
        "cut", "the connection closed before the end was marked, after 1 events, 4 characters of answer"
    )
    assert folded(Text("four"), End(), proven=False).error is None


def test_a_block_without_its_blank_line_is_an_error_before_the_end_and_a_finding_after_it() -> None:
    before = folded(Text("four"), pending=True)
    assert before.error is not None
    assert before.error.kind == "cut"
    assert "cut inside an event" in before.error.message
    after = folded(Text("four"), End(), pending=True)
    assert (after.error, kinds(after)) == (None, ["after_end"])


def test_what_stopped_the_reading_is_the_error_before_the_end_and_a_finding_after_it() -> None:
    stopped = TargetError("timeout", "no end within 60 s", hint="--timeout")
    before = folded(Text("x"), error=stopped, pending=True)
    assert before.error == Failure("timeout", "no end within 60 s\nhint: --timeout")
    assert (before.answer, before.finish) == ("x", None)
    after = folded(Text("x"), End(), error=stopped)
    assert after.error is None
    assert after.findings == (("end_broken", "after the end marker: no end within 60 s"),)


@pytest.mark.parametrize("signals", [[], [End()], [Text(" \n"), End()], [Tokens(1, 1), Score(1)], [Result(1), End()]])
def test_a_stream_with_no_answer_and_no_tool_call_is_an_error(signals: list[Signal]) -> None:
    turn = folded(*signals)
    assert turn.error is not None
    assert turn.error.kind == "empty"
    assert turn.error.message.startswith("the stream ended with no answer and no tool call")
    assert turn.error.message.endswith("; its first events are named piece") == bool(signals)
    assert turn.finish is None


def test_an_empty_body_is_not_blamed_for_having_no_end_marker() -> None:
    assert kinds(folded()) == []


def test_an_empty_answer_after_a_tool_call_is_no_error() -> None:
    assert folded(CALL, End()).error is None


def test_the_first_error_of_the_agent_is_the_error_of_the_turn_whatever_ends_it() -> None:
    for ending in ([], [End()], [Error("again"), End()]):
        for proven in (True, False):
            turn = folded(Text("x"), Error("boom \ud83d"), Text("y"), *ending, proven=proven)
            assert turn.error == Failure("stream_error", "the agent reports an error: boom \ufffd")
            assert (turn.answer, turn.finish) == ("xy", None)
            assert "end_not_marked" not in kinds(turn)


@pytest.mark.parametrize("late", [Text("y"), Message("y"), CALL, Score(0), Tokens(1, 1), Error("y"), Odd("o", "p")])
def test_what_comes_after_the_end_is_a_finding_and_counts_for_nothing(late: Signal) -> None:
    turn = folded(Text("x"), End(), late, late)
    assert [(finding.kind, finding.message) for finding in turn.findings] == [
        ("after_end", "`piece` came after the end marker (2 times)")
    ]
    sound = folded(Text("x"), End())
    assert (turn.answer, turn.tool_calls, turn.scores, turn.usage, turn.error) == ("x", (), (), None, None)
    assert turn.timing.total_s == sound.timing.total_s == 2


def test_an_event_that_means_nothing_is_a_finding_after_the_end_only() -> None:
    fold = Fold("why?")
    fold.add(Event("progress", "{}"), [])
    fold.add(PIECE, [Text("x")])
    fold.add(PIECE, [End()])
    assert kinds(fold.close(1.0, proven=True, pending=False)) == []
    fold.add(Event("", "{}"), [])
    assert [finding.message for finding in fold.close(1.0, proven=True, pending=False).findings] == [
        "`message` came after the end marker"
    ]


def test_a_second_end_marker_says_no_more() -> None:
    assert kinds(folded(Text("x"), End(), End())) == []
    assert kinds(folded(Text("x"), End(), Odd("odd", "?"), End())) == ["after_end"]


def test_text_after_the_end_is_in_no_answer_and_is_shown_all_the_same() -> None:
    turn = folded(Text("x"), End(), Text("y"), Message("z"))
    assert (turn.answer, turn.final_text, turn.shown) == ("x", "x", ("x", "yz"))


def test_an_event_without_data_is_a_finding_whatever_it_means() -> None:
    fold = Fold("why?")
    fold.add(PIECE, [Text("x")])
    fold.add(Event("done", None), [End()])
    turn = fold.close(1.0, proven=True, pending=False)
    assert [(finding.kind, finding.message) for finding in turn.findings] == [
        ("event_without_data", "`done` has no data: a browser's EventSource does not see it")
    ]


def test_bytes_that_are_not_utf8_are_a_finding() -> None:
    fold = Fold("why?")
    fold.add(PIECE, [Text("x"), End()])
    assert kinds(fold.close(1.0, proven=True, pending=False, invalid_utf8=True)) == ["not_utf8"]


def test_a_finding_says_how_often_and_quotes_the_first() -> None:
    turn = folded(Odd("odd", "first"), Odd("odd", "second"), Odd("other", "third"), Text("x"), End())
    assert [(finding.kind, finding.message) for finding in turn.findings] == [
        ("odd", "first (2 times)"),
        ("other", "third"),
    ]


# The log


def test_the_log_names_each_event_and_what_it_meant() -> None:
    fold = Fold("why?")
    fold.add(Event("a", "", at=0.5), [])
    fold.add(Event("", "", at=1.5), [Text("x"), Odd("o", "p")])
    fold.add(Event("b", "", at=2.5), [End()])
    fold.add(Event("c", "", at=3.5), [Text("late")])
    turn = fold.close(4.0, proven=True, pending=False)
    assert turn.events == (Seen(0.5, "a", ""), Seen(1.5, "", "text+odd"), Seen(2.5, "b", "end"), Seen(3.5, "c", "text"))
    assert turn.events_total == 4


@pytest.mark.parametrize(("count", "kept"), [(1000, 1000), (1001, 1001), (2000, 2000), (2500, 2000)])
def test_the_log_keeps_the_first_and_the_last_thousand_events(count: int, kept: int) -> None:
    fold = Fold("why?")
    for number in range(count):
        fold.add(Event(str(number), ""), [Text("x")])
    turn = fold.close(1.0, proven=True, pending=False)
    assert (len(turn.events), turn.events_total) == (kept, count)
    names = [int(seen.name) for seen in turn.events]
    assert names == [*range(min(count, 1000)), *range(max(count - 1000, 1000), count)]


# A case's transcript


def test_a_transcript_holds_all_calls_in_order_and_the_first_failure() -> None:
    first = folded(Call("a", {}), Text("x"), End())
    broken = folded(Call("b", {}), Error("boom"))
    other = folded(Error("later"))
    transcript = Transcript((first, broken, other))
    assert [call.name for call in transcript.tool_calls] == ["a", "b"]
    assert transcript.error == broken.error
    assert Transcript((first,)).error is None
    assert Transcript(()).error is None


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(st.characters()), children, max_size=3),
    max_leaves=6,
)
WORDS = st.text(st.characters(), max_size=3)
SIGNALS = st.one_of(
    st.builds(Text, WORDS),
    st.builds(Message, WORDS),
    st.builds(Call, WORDS, ANY, st.sampled_from(["", "1", "2"]), st.booleans()),
    st.builds(Result, ANY, st.sampled_from(["", "1", "3"]), WORDS),
    st.builds(Score, ANY),
    st.builds(Tokens, st.none() | st.integers(0), st.none() | st.integers(0)),
    st.builds(Error, WORDS),
    st.builds(End),
    st.builds(Odd, WORDS, WORDS),
)


@given(st.lists(SIGNALS), st.booleans(), st.booleans())
def test_no_signals_make_the_fold_raise_and_all_it_says_can_be_written(
    signals: list[Signal], proven: bool, pending: bool
) -> None:
    turn = folded(*signals, proven=proven, pending=pending)
    assert (turn.finish is None) == (turn.error is not None)
    assert turn.answer == "" or turn.answer in turn.shown
    assert turn.final_text in turn.answer or "\ufffd" in turn.final_text
    assert repr(turn).encode()
    for text in (turn.answer, turn.final_text, *turn.shown, *(message for _, message in turn.findings)):
        assert text.encode() or text == ""


# How a dialect marks the end, and how the turn ends


@pytest.mark.parametrize(
    ("marker", "signals", "proven", "error", "found"),
    [
        ("none", [Text("a")], True, None, ["end_not_marked"]),
        ("none", [Text("a"), Finish("stop")], False, "the connection closed before the end was marked", []),
        ("end", [], True, "the stream ended with no answer", []),
        ("end", [Text("a")], True, "the stream ended without its end marker, after 1 events", []),
        ("end", [Text("a")], False, "the connection closed before the end was marked, after 1 events", []),
        ("end", [Text("a"), Finish("stop")], False, None, ["end_not_marked"]),
        ("end", [Text("a"), Finish("stop"), End()], False, None, []),
        ("finish", [Text("a")], True, "the stream ended without its end marker, after 1 events", []),
        ("finish", [Text("a"), Finish("stop")], False, None, []),
        ("finish", [Text("a"), Finish("stop"), Tokens(1, 1)], False, None, []),
        # What goes on after that was not at its end.
        ("finish", [Text("a"), Finish("stop"), Text("b")], True, None, ["end_not_marked"]),
        ("finish", [Text("a"), Finish("stop"), Text("b")], False, "the connection closed before the end", []),
        ("finish", [Text("a"), Finish("stop"), Text("b"), Finish("stop")], True, None, []),
        ("finish", [Text("a"), Finish("stop"), Text("b"), Finish("stop")], False, "the connection closed before", []),
        ("end", [Text("a"), Finish("stop"), Text("b"), Finish("stop")], False, "the connection closed before", []),
        ("end", [*STEP, Text("a")], True, "the stream ended without its end marker, after 4 events", []),
        ("end", [*STEP, Reasoning()], True, "the stream ended without its end marker, after 4 events", []),
        ("end", [*STEP, Text("a"), Finish("stop")], False, None, ["end_not_marked"]),
        ("end", STEP, True, None, ["end_not_marked"]),
        ("end", STEP, False, "the connection closed before the end was marked, after 3 events", []),
        ("end", [STEP[0], Finish("tools"), STEP[1]], True, "the stream ended without its end marker", []),
    ],
)
def test_what_ends_a_stream_is_what_marks_the_end_of_its_dialect(
    marker: Marker, signals: list[Signal], proven: bool, error: str | None, found: list[str]
) -> None:
    fold = Fold("why?")
    for signal in signals:
        fold.add(PIECE, [signal])
    turn = fold.close(9.0, proven=proven, pending=False, marker=marker)
    assert kinds(turn) == found
    assert (turn.error and turn.error.message[: len(error or "")]) == error


def test_what_breaks_after_a_turn_said_how_it_finishes_is_no_more_than_a_finding_where_that_marks_the_end() -> None:
    fold = Fold("why?")
    fold.add(PIECE, [Text("a"), Finish("length")])
    turn = fold.close(1.0, proven=False, pending=True, marker="finish", error=TargetError("cut", "gone"))
    assert (turn.error, turn.finish, kinds(turn)) == (None, "length", ["after_end", "end_broken", "length"])


@pytest.mark.parametrize(
    ("signals", "finish"),
    [
        ([Text("a")], "finished"),
        ([CALL], "finished"),
        ([CALL, Finish("stop")], "waiting"),
        ([CALL, Finish("stop"), Text(" ")], "waiting"),
        ([CALL, Text("a"), Finish("stop")], "finished"),
        ([CALL, Result(1), Finish("stop")], "finished"),
        ([CALL, Text("a"), Finish("tools")], "waiting"),
        ([CALL, Result(1), Finish("tools")], "finished"),
        ([Text("a"), Finish("tools")], "finished"),
        ([CALL, Finish("tools"), Text("a"), Finish("stop")], "finished"),
        ([CALL, Finish("stop"), Finish("length")], "length"),
        ([CALL, Result(1), Finish("waiting"), Text("a"), Finish("stop")], "waiting"),
        ([Finish("waiting"), Finish("length")], "waiting"),
        ([CALL, Finish("tools"), Error("boom")], None),
    ],
)
def test_a_turn_finishes_as_it_says_and_as_its_calls_stand(signals: list[Signal], finish: str | None) -> None:
    turn = folded(*signals, End())
    assert (turn.finish, kinds(turn)) == (finish, [finish] if finish in ("length", "waiting") else [])


# Texts that are told again


@pytest.mark.parametrize(
    ("signals", "answer", "shown"),
    [
        ([Text("a", "1"), Whole("ab", "1")], "ab", ("ab",)),
        ([Text("a", "1"), Text("b"), Whole("abc", "1")], "abc", ("abc",)),
        ([Text("a", "1"), Text("x", "2"), Text("b", "1"), Whole("ab", "1"), Whole("xy", "2")], "axby", ("axby",)),
        ([Text("a", "1"), Text("x", "2"), Text("b", "1"), Whole("no", "1")], "nox", ("nox", "ab")),
        ([Text("a", "1"), Whole("a", "1", closes=True), Text("b"), Whole("a", "1")], "aba", ("aba",)),
        ([Text("a", "1"), Whole("a", "1", closes=True), Whole("a", "1")], "aa", ("aa",)),
        ([Whole("a", "1"), Whole("a", "2")], "aa", ("aa",)),
        ([Text("a", "1"), Whole("a", "2", renamed=True)], "a", ("a",)),
        ([Text("a", "1"), Whole("b", "2", renamed=True)], "ab", ("ab",)),
        ([Text("a ", "1"), CALL, Text("b"), Whole("bc")], "a bc", ("a bc",)),
        ([Text("a "), CALL, Whole("b")], "a b", ("a b",)),
        ([Text("\ud83d", "1"), Text("\udcc8", "1"), Whole("📈", "1")], "📈", ("📈",)),
        ([Whole("", "1"), Whole("a", "1"), Whole("", "1"), Text("b")], "b", ("b", "a")),
    ],
)
def test_a_text_that_is_told_again_counts_once(signals: list[Signal], answer: str, shown: tuple[str, ...]) -> None:
    turn = folded(*signals, End())
    assert (turn.answer, turn.shown) == (answer, shown)


def test_a_refusal_is_shown_and_is_no_answer_and_is_not_empty() -> None:
    turn = folded(Reasoning(), Refusal("No"), Refusal("."), Session("s"), End())
    assert (turn.answer, turn.shown, turn.error, turn.timing.first_token_s) == ("", ("No.",), None, 2)
    assert ([finding.message for finding in turn.findings], turn.session) == (["the model refuses: No."], "s")
    assert folded(Text("a"), End(), Refusal("No.")).shown == ("a", "No.")


# Calls on their way, complete, and told again


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        # keys tell calls apart that are on their way at once; without, a piece belongs to the last
        ([CallPart("{", "0", "", "a"), CallPart("[", "1", "", "b"), CallPart("}", "0"), CallPart("]", "1")],
         [("a", {}), ("b", [])]),
        ([CallPart("", "", "", "a"), CallPart("{}"), CallPart("", "", "", "b"), CallPart("[]")],
         [("a", {}), ("b", [])]),
        # a key that comes again: with another id, another name, or after a whole call
        ([CallPart("{}", "0", "x", "a"), CallPart("[", "0", "y", "a"), CallPart("]", "0", "y")],
         [("a", {}), ("a", [])]),
        ([CallPart("{}", "0", "", "a"), CallPart("[]", "0", "", "b")], [("a", {}), ("b", [])]),
        ([CallPart("{}", "0", "", "a"), CallPart("{}", "0", "", "a")], [("a", {}), ("a", {})]),
        ([CallPart("{}", "0", "x", "a"), CallPart("{}", "0", "x", "a")], [("a", {})]),
        # all arguments at last, by id or by key; a block that is no call; a call that is told again
        ([CallPart("{", "0", "x", "a"), CallDone("0", "", "", {"y": 1}), CallDone("", "x", "a", {})],
         [("a", {"y": 1})]),
        ([CallDone("0"), CallDone("", "x", "a"), CallDone("", "x", "a", {"y": 1})], [("a", {})]),
        # whole calls: new ones, and those of a message, by their ids or by where they stand
        ([Call("a", "[1]", "x"), Call("a", None, "x")], [("a", [1]), ("a", {})]),
        ([Call("a", {}, "", "m"), Call("b", {}, "", "m", 1), Call("a", {"y": 1}, "", "m")],
         [("a", {"y": 1}), ("b", {})]),
        ([CallPart("", "0", "x", "a", "m"), CallPart("", "1", "y", "b", "m"), Call("b", [], "y", "m", 0)],
         [("a", {}), ("b", [])]),
        ([Call("a", {}, "x", "m"), Call("a", {}, "x", "n"), Call("a", {}, "y", "m", -1)],
         [("a", {}), ("a", {}), ("a", {})]),
    ],
)  # fmt: skip
def test_a_call_counts_once_however_it_comes(signals: list[Signal], expected: list[tuple[str, object]]) -> None:
    turn = folded(*signals, CallDone(), End())
    assert [(call.name, call.args) for call in turn.tool_calls] == expected
    assert {*kinds(turn)} <= {"call_id_repeated"}


def test_calls_of_one_message_are_completed_together() -> None:
    turn = folded(CallPart("{", "0", "", "a", "m"), CallPart("{", "1", "", "b", "n"), CallDone(message="m"), End())
    assert [finding.message for finding in turn.findings] == [
        "the arguments of `a` are not JSON",
        "the call of `b` was not closed",
    ]


def test_a_result_that_is_told_again_takes_its_own_place() -> None:
    calls = (Call("a", {}, "x"), Call("a", {}, "x"))
    turn = folded(*calls, Result(1, "x", part="r"), Result(2, "x", part="r"), Result(3, "x"), Result(3, "x"), End())
    assert ([call.result for call in turn.tool_calls], kinds(turn)) == ([2, 3], ["call_id_repeated"])
    assert kinds(folded(CALL, Result(1), Result(1), End())) == ["result_without_call"]


# Usage


@pytest.mark.parametrize(
    ("signals", "usage"),
    [
        ([Tokens(1, 2), Tokens(3, None)], Usage(4, 2)),
        ([Tokens(1, 2, "a"), Tokens(3, 4, "b"), Tokens(1, 1, "a")], Usage(5, 7)),
        ([Tokens(1, 2, "a"), Tokens(3, 4, "b"), RunningTokens(1, 9, "a")], Usage(4, 13)),
        ([RunningTokens(5, None), RunningTokens(None, 2), RunningTokens(6, None)], Usage(6, 2)),
        ([Tokens(1, 2), Tokens(3, 4), RunningTokens(9, None)], Usage(9, 6)),  # the total of all steps
    ],
)
def test_usage_is_added_or_a_running_total_for_each_part(signals: list[Signal], usage: Usage) -> None:
    assert folded(Text("a"), *signals, End()).usage == usage


def test_a_running_total_of_a_turn_that_was_cut_or_had_no_output_is_no_total() -> None:
    assert folded(Text("a"), RunningTokens(5, 2), proven=False).usage is None
    assert folded(Text("a"), Tokens(1, 1, "m"), RunningTokens(5, 2), proven=False).usage == Usage(1, 1)
    assert folded(Text("a"), Tokens(1, 1), proven=False).usage == Usage(1, 1)
    assert folded(RunningTokens(5, None), Error("boom"), End()).usage is None
    assert folded(RunningTokens(5, 2), Error("boom"), End()).usage == Usage(5, 2)
