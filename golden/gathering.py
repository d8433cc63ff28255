"""The signals of one turn → its `Turn`: deltas joined, results paired with their calls, what is odd said."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from golden.calls import Calls, mend
from golden.errors import TargetError
from golden.findings import Findings
from golden.signals import (
    Call,
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Marker,
    Message,
    Named,
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
from golden.texts import Texts
from golden.transcript import Failure, Seen, Timing, Turn, Usage

# How many events the log keeps at each end (contract 7).
_LOG = 1000

FINISHES = {
    "length": "the answer ends by the model's own limit of length",
    "waiting": "the turn waits: for an approval, or for a tool that the client runs",
}

# What a person sees.
_SHOWN = (Text, Whole, Message, Refusal)

_NONE = Usage(None, None)

_new = tuple.__new__  # see `sse`


class Fold:
    """Gathers one turn's signals. Nothing that an agent can send makes it raise.

    Args:
        question: what was asked.
    """

    def __init__(self, question: str) -> None:
        self._question = question
        self.findings = Findings()
        self._texts = Texts(self.findings)
        self._deltas = self._texts.deltas
        self._calls = Calls(self.findings)
        self._scores: list[object] = []
        self._usage: dict[str, Usage] = {}  # by part
        self._is_running = False  # whether that of no part is a running total
        self._finish = ""
        self._thoughts = 0
        self._came_by_finish = (0, 0, 0, 0)  # deltas, thoughts, calls, results when it last said how the turn finishes
        self._went_on = False  # whether more of a turn came after it was said to be over
        self.session = ""
        self._answer_id = ""
        self._error: Failure | None = None
        self._first_event_s: float | None = None
        self._first_token_s: float | None = None
        self._end_s: float | None = None
        self._first: list[Seen] = []
        self._last: deque[Seen] = deque(maxlen=_LOG)
        self._events = 0

    @property
    def ended(self) -> bool:
        """Whether the end marker came."""
        return self._end_s is not None

    @property
    def characters(self) -> int:
        """How much of an answer has come, for messages about an answer that did not come whole."""
        return self._texts.characters

    @property
    def events(self) -> int:
        """How many events have come."""
        return self._events

    def add(self, event: Event, signals: Sequence[Signal]) -> None:
        """Takes one event with what it means."""
        at = event.at
        if self._first_event_s is None:
            self._first_event_s = at
        self._events += 1
        if len(signals) == 1 and type(signal := signals[0]) is Text and self._end_s is None:  # by far the most
            text = signal.text
            if self._first_token_s is None and text:
                self._first_token_s = at
            if signal.part and signal.part != self._texts.part:
                self._texts.turn_to(signal.part)
            self._deltas.append(text)
            kinds = "text"
        else:
            kinds = self._each(event, signals)
        seen = _new(Seen, (at, event.name, kinds))
        if self._events <= _LOG:
            self._first.append(seen)
        else:
            self._last.append(seen)

    def _each(self, event: Event, signals: Sequence[Signal]) -> str:
        if self.ended and not signals:
            self._after_end(event)
        for signal in signals:
            if isinstance(signal, End):
                self._end_s = event.at if self._end_s is None else self._end_s
            elif self.ended:
                if isinstance(signal, _SHOWN):
                    self._texts.late(signal.text)
                self._after_end(event)
            else:
                if self._first_token_s is None and isinstance(signal, _SHOWN) and signal.text:
                    self._first_token_s = event.at
                _FOLD[type(signal)](self, *signal)
        if event.data is None:
            self.findings.note(
                "event_without_data", f"`{event.name}` has no data: a browser's EventSource does not see it"
            )
        return "+".join(type(signal).__name__ for signal in signals).lower()

    def close(
        self,
        at: float,
        *,
        proven: bool,
        pending: bool,
        marker: Marker = "none",
        invalid_utf8: bool = False,
        error: TargetError | None = None,
    ) -> Turn:
        """Returns the turn.

        Args:
            at: when the reading stopped, in seconds after the request.
            proven: whether the transport proves that the body ended where it did.
            pending: whether a block was left without its blank line.
            marker: how the dialect marks the end.
            invalid_utf8: whether bytes came that are not UTF-8.
            error: what stopped the reading, if anything did. After the end marker it is no more than a finding.
        """
        if invalid_utf8:
            self.findings.note("not_utf8", "bytes that are not UTF-8 were read as U+FFFD")
        cut: Failure | None = None
        is_proven = proven and not pending and error is None
        is_marked = marker == "finish" and self._is_finished() and (is_proven or not self._went_on)
        if self.ended or is_marked:
            if pending:
                self.findings.note("after_end", "a block without its blank line after the end marker")
            if error is not None:
                self.findings.note("end_broken", f"after the end marker: {error.message}")
        elif self._error is None:
            cut = self._error = self._incomplete(proven, pending, marker, error)
        told = self._texts.close()
        calls = self._calls.close()
        final_text = told.final if calls else told.answer
        finish = self._finished(final_text)
        if self._error is None and finish in FINISHES:
            self.findings.note(finish, FINISHES[finish])
        if self._error is None and not (told.answer + told.refusal).strip() and not calls and finish != "waiting":
            names = ", ".join(dict.fromkeys(seen.name or "message" for seen in self._first[:20]))
            came = f"; its first events are named {names}" if names else ""
            self._error = Failure("empty", f"the stream ended with no answer and no tool call{came}")
        return Turn(
            question=self._question,
            answer=told.answer,
            final_text=final_text,
            shown=told.shown,
            finish=None if self._error else finish,
            tool_calls=calls,
            scores=tuple(map(mend, self._scores)),
            usage=self._used(is_cut=cut is not None),
            timing=Timing(self._first_event_s, self._first_token_s, at if self._end_s is None else self._end_s),
            events=(*self._first, *self._last),
            events_total=self._events,
            findings=self.findings.all(),
            error=self._error,
            session=self.session,
            answer_id=self._answer_id,
        )

    def _incomplete(self, proven: bool, pending: bool, marker: Marker, error: TargetError | None) -> Failure | None:
        came = f"{self._events} events, {self.characters} characters of answer"
        if error is not None:
            return Failure(error.kind, str(error))
        if pending:
            return Failure("cut", f"the stream was cut inside an event, before its end was marked, after {came}")
        is_to_go_on = self._went_on or (self._finish == "tools" and self._calls.results and not self._calls.unanswered)
        said = bool(self._finish) if marker == "finish" else marker == "end" and self._is_finished()
        if not proven and (marker != "end" or is_to_go_on or not said):
            return Failure("cut", f"the connection closed before the end was marked, after {came}")
        if marker != "none" and not said and self._events:
            return Failure("cut", f"the stream ended without its end marker, after {came}")
        if self._events:
            self.findings.note("end_not_marked", "the stream ended with no end marker")
        return None

    def _finished(self, final_text: str) -> str:
        if self._finish == "tools" or (self._finish == "stop" and not final_text.strip()):
            return "waiting" if self._calls.unanswered else "finished"
        return self._finish if self._finish in FINISHES else "finished"

    def _used(self, *, is_cut: bool) -> Usage | None:
        """All that was used. A running total is none where the turn was cut, or failed before it had any output."""
        if self._is_running and (is_cut or (self._error and self._usage[""].output is None)):
            del self._usage[""]
        return reduce(_added, self._usage.values()) if self._usage else None

    def _text(self, text: str, part: str) -> None:
        self._texts.delta(text, part)

    def _whole(self, *whole: Any) -> None:
        self._texts.whole(*whole)

    def _message(self, text: str) -> None:
        self._texts.message(text)

    def _refused(self, text: str) -> None:
        self._texts.refusal(text)

    def _thought(self) -> None:
        self._thoughts += 1

    def _call_part(self, *part: Any) -> None:
        self._begun(Calls.part, part)

    def _call_done(self, *done: Any) -> None:
        self._begun(Calls.done, done)

    def _call(self, *call: Any) -> None:
        self._begun(Calls.call, call)

    def _begun(self, take: Callable[..., None], signal: tuple[Any, ...]) -> None:
        before = len(self._calls)
        take(self._calls, *signal)
        if len(self._calls) > before:
            self._texts.call_begins()

    def _result(self, *result: Any) -> None:
        self._calls.result(*result)

    def _score(self, score: object) -> None:
        if self._scores:
            self.findings.note("scores", "more than one groundedness score: the last one counts")
        self._scores.append(score)

    def _tokens(self, input: int | None, output: int | None, part: str) -> None:
        self._usage[part] = _added(self._usage.get(part, _NONE), Usage(input, output))

    def _running_tokens(self, input: int | None, output: int | None, part: str) -> None:
        before = self._usage.get(part, _NONE)
        self._usage[part] = Usage(before.input if input is None else input, before.output if output is None else output)
        self._is_running = self._is_running or not part

    def _is_finished(self) -> bool:
        """Whether it was said how the turn finishes, and nothing of it came since: many agents finish each step."""
        deltas, *others = self._came_by_finish
        return bool(self._finish) and self._came()[1:] == (*others,) and not any(self._deltas[deltas:])

    def _came(self) -> tuple[int, int, int, int]:
        return len(self._deltas), self._thoughts, len(self._calls), self._calls.results

    def _finish_as(self, kind: str) -> None:
        # Where a turn that was to stop went on, it says so with every event: that is no sign of its end any more.
        self._went_on = self._went_on or (self._finish in ("stop", "length") and not self._is_finished())
        self._came_by_finish = self._came()
        if self._finish != "waiting":
            self._finish = kind

    def _session(self, id: str) -> None:
        self.session = id

    def _named(self, id: str) -> None:
        self._answer_id = id

    def _failed(self, message: str) -> None:
        if self._error is None:
            # On one line: a hint of golden's own would stand on the next.
            told = " ".join(self.findings.mended(message).splitlines())
            self._error = Failure("stream_error", f"the agent reports an error: {told}")

    def _odd(self, kind: str, message: str) -> None:
        self.findings.note(kind, message)

    def _after_end(self, event: Event) -> None:
        self.findings.note("after_end", f"`{event.name or 'message'}` came after the end marker")


# Not of the instance: a fold that held its own methods would wait for the garbage collector with all that it gathered.
_FOLD: dict[type, Callable[..., None]] = {
    Text: Fold._text,
    Whole: Fold._whole,
    Message: Fold._message,
    Refusal: Fold._refused,
    Reasoning: Fold._thought,
    CallPart: Fold._call_part,
    CallDone: Fold._call_done,
    Call: Fold._call,
    Result: Fold._result,
    Score: Fold._score,
    Tokens: Fold._tokens,
    RunningTokens: Fold._running_tokens,
    Finish: Fold._finish_as,
    Session: Fold._session,
    Named: Fold._named,
    Error: Fold._failed,
    Odd: Fold._odd,
}


def _added(one: Usage, other: Usage) -> Usage:
    return Usage(_sum(one.input, other.input), _sum(one.output, other.output))


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
