"""What events mean, the same for every dialect, and the fold of signals into a `Turn`."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from golden.errors import TargetError
from golden.sse import Event, whole
from golden.transcript import Failure, Finding, Seen, Timing, ToolCall, Turn, Usage

# How many events the log keeps at each end (contract 7).
_LOG = 1000

# How deep arguments and results are kept. Readers of JSON stop at 200 levels, and results files add some of their own.
_DEEPEST = 150

_new = tuple.__new__  # see `sse`


class Text(NamedTuple):
    """A delta of the answer."""

    text: str


class Message(NamedTuple):
    """The full answer."""

    text: str


class Call(NamedTuple):
    """A whole tool call; `parsed` is false where `args` is text that is no JSON."""

    name: str
    args: object
    id: str = ""
    parsed: bool = True


class Result(NamedTuple):
    """What a tool gave back: for the call of that id, else the first open one of that name, else the first open one."""

    result: object
    id: str = ""
    name: str = ""


class Score(NamedTuple):
    """A groundedness score, valid or not."""

    score: object


class Tokens(NamedTuple):
    """Usage of one model call: figures of several calls are added."""

    input: int | None
    output: int | None


class Error(NamedTuple):
    """The agent says that it failed."""

    message: str


class End(NamedTuple):
    """The dialect's end marker."""


class Odd(NamedTuple):
    """A finding that the dialect itself makes."""

    kind: str
    message: str


Signal = Text | Message | Call | Result | Score | Tokens | Error | End | Odd


class _Open:
    """A tool call on its way."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.result: object = None
        self.answered = False


class Fold:
    """Gathers one turn's signals. Nothing that an agent can send makes it raise.

    Args:
        question: what was asked.
    """

    def __init__(self, question: str) -> None:
        self._question = question
        self._texts: list[str] = []
        self._messages: list[str] = []
        self._late: list[str] = []
        self._calls: list[_Open] = []
        self._open: defaultdict[tuple[str, str], deque[_Open]] = defaultdict(deque)  # by id, by name, and all
        self._texts_at_call = 0  # how many deltas came before the last call
        self._messages_at_call = 0
        self._scores: list[object] = []
        self._usage: Usage | None = None
        self._error: Failure | None = None
        self._odd: dict[str, tuple[str, int]] = {}  # kind → first message, how often
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
        return max(sum(map(len, self._texts)), len(self._messages[-1]) if self._messages else 0)

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
            self._texts.append(text)
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
            if self.ended:
                if isinstance(signal, Text | Message):
                    self._late.append(signal.text)  # in no answer, but a person may have seen it
                self._after_end(event)
            elif isinstance(signal, Text):
                self._shown(signal.text, event.at)
                self._texts.append(signal.text)
            elif isinstance(signal, End):
                self._end_s = event.at
            else:
                if isinstance(signal, Message):
                    self._shown(signal.text, event.at)
                _FOLD[type(signal)](self, *signal)
        if event.data is None:
            self.note("event_without_data", f"`{event.name}` has no data: a browser's EventSource does not see it")
        return "+".join(type(signal).__name__ for signal in signals).lower()

    def close(
        self, at: float, *, proven: bool, pending: bool, invalid_utf8: bool = False, error: TargetError | None = None
    ) -> Turn:
        """Returns the turn.

        Args:
            at: when the reading stopped, in seconds after the request.
            proven: whether the transport proves that the body ended where it did.
            pending: whether a block was left without its blank line.
            invalid_utf8: whether bytes came that are not UTF-8.
            error: what stopped the reading, if anything did. After the end marker it is no more than a finding.
        """
        if invalid_utf8:
            self.note("not_utf8", "bytes that are not UTF-8 were read as U+FFFD")
        if self.ended:
            if pending:
                self.note("after_end", "a block without its blank line after the end marker")
            if error is not None:
                self.note("end_broken", f"after the end marker: {error.message}")
        elif self._error is None:
            self._error = self._incomplete(proven, pending, error)
        deltas = self._mended("".join(self._texts))
        messages = [self._mended(message) for message in self._messages]
        answer = messages[-1] if messages else deltas
        calls = tuple(
            ToolCall(self._mended(item.call.name), _mend(item.call.args), item.call.parsed, _mend(item.result))
            for item in self._calls
        )
        if self._error is None and not answer.strip() and not calls:
            names = ", ".join(dict.fromkeys(seen.name or "message" for seen in self._first[:20]))
            came = f"; its first events are named {names}" if names else ""
            self._error = Failure("empty", f"the stream ended with no answer and no tool call{came}")
        shown = tuple(dict.fromkeys(text for text in (deltas, *messages, self._mended("".join(self._late))) if text))
        return Turn(
            question=self._question,
            answer=answer,
            final_text=self._final(answer),
            shown=shown,
            finish=None if self._error else "finished",
            tool_calls=calls,
            scores=tuple(map(_mend, self._scores)),
            usage=self._usage,
            timing=Timing(self._first_event_s, self._first_token_s, at if self._end_s is None else self._end_s),
            events=(*self._first, *self._last),
            events_total=self._events,
            findings=tuple(
                Finding(kind, whole(message) if count == 1 else f"{whole(message)} ({count} times)")
                for kind, (message, count) in self._odd.items()
            ),
            error=self._error,
        )

    def _incomplete(self, proven: bool, pending: bool, error: TargetError | None) -> Failure | None:
        came = f"{self._events} events, {self.characters} characters of answer"
        if error is not None:
            return Failure(error.kind, str(error))
        if pending:
            return Failure("cut", f"the stream was cut inside an event, before its end was marked, after {came}")
        if not proven:
            return Failure("cut", f"the connection closed before the end was marked, after {came}")
        if self._events:
            self.note("end_not_marked", "the stream ended with no end marker")
        return None

    def _final(self, answer: str) -> str:
        if not self._calls:
            return answer
        before = whole("".join(self._texts[: self._texts_at_call]))
        if not self._messages:
            return whole("".join(self._texts[self._texts_at_call :]))
        if before and answer.startswith(before):
            return answer[len(before) :]
        return answer if len(self._messages) > self._messages_at_call else ""

    def _mended(self, text: str) -> str:
        mended = whole(text)
        if mended.count("\ufffd") > text.count("\ufffd"):
            self.note("surrogates", "half of a surrogate pair stands alone")
        return mended

    def _shown(self, text: str, at: float) -> None:
        if self._first_token_s is None and text:
            self._first_token_s = at

    def _message(self, text: str) -> None:
        if self._messages:
            self.note("messages", "more than one full message: the last one counts")
        self._messages.append(text)

    def _call(self, name: str, args: object, id: str, parsed: bool) -> None:
        if not name:
            self.note("tool_without_name", "a tool call without a name")
        if not parsed:
            self.note("args_not_json", f"the arguments of `{name}` are not JSON")
        if id and ("id", id) in self._open:
            self.note("call_id_repeated", f"the call id {id!r} came before")
        item = _Open(Call(name, args, id, parsed))
        self._calls.append(item)
        for key in (("id", id), ("name", name), ("", "")):
            self._open[key].append(item)
        self._texts_at_call = len(self._texts)
        self._messages_at_call = len(self._messages)

    def _result(self, result: object, id: str, name: str) -> None:
        waiting = self._open.get(("id", id) if id else ("name", name) if name else ("", ""), deque())
        while waiting and waiting[0].answered:
            waiting.popleft()
        if not waiting:
            self.note("result_without_call", f"a tool result has no call: {id or name or 'no id, no name'}")
            return
        waiting[0].answered = True
        waiting[0].result = result

    def _score(self, score: object) -> None:
        if self._scores:
            self.note("scores", "more than one groundedness score: the last one counts")
        self._scores.append(score)

    def _tokens(self, input: int | None, output: int | None) -> None:
        before = self._usage or Usage(None, None)
        self._usage = Usage(_sum(before.input, input), _sum(before.output, output))

    def _failed(self, message: str) -> None:
        if self._error is None:
            # On one line: a hint of golden's own would stand on the next.
            told = " ".join(self._mended(message).splitlines())
            self._error = Failure("stream_error", f"the agent reports an error: {told}")

    def note(self, kind: str, message: str) -> None:
        """Adds a finding; of several of one kind the first is told, with how many there were."""
        first, count = self._odd.get(kind, (message, 0))
        self._odd[kind] = (first, count + 1)

    def _after_end(self, event: Event) -> None:
        self.note("after_end", f"`{event.name or 'message'}` came after the end marker")


# Not of the instance: a fold that held its own methods would wait for the garbage collector with all that it gathered.
_FOLD: dict[type, Callable[..., None]] = {
    Message: Fold._message,
    Call: Fold._call,
    Result: Fold._result,
    Score: Fold._score,
    Tokens: Fold._tokens,
    Error: Fold._failed,
    Odd: Fold.note,
}


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def _mend(value: object, depth: int = 0) -> object:
    """The same as `whole` for every text inside a JSON value; what is nested too deep to be read again is left out."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, (list, dict)) and depth == _DEEPEST:
        return "(nested too deep)"
    if isinstance(value, list):
        return [_mend(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {whole(key): _mend(item, depth + 1) for key, item in value.items()}
    return value
