"""What a case's answers come to: plain values, the same for every dialect and every target."""

from dataclasses import dataclass
from typing import NamedTuple


class Finding(NamedTuple):
    """Something odd about a stream that is worth saying.

    Attributes:
        kind: one of the names in `checks/stream.py` (which says what each breaks) or a dialect's own.
        message: what was seen, with how often.
    """

    kind: str
    message: str


class Failure(NamedTuple):
    """Why there is no complete answer.

    Attributes:
        kind: as `TargetError.kind`.
        message: for people.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call.

    Attributes:
        name: the tool, "" where the agent named none.
        args: the arguments, parsed; the raw text where `parsed` is false.
        parsed: whether the arguments were whole JSON.
        result: what the tool gave back, None where no result came.
    """

    name: str
    args: object
    parsed: bool = True
    result: object = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the agent reports them; None for a figure that it does not report."""

    input: int | None
    output: int | None


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the request: to the first event, to the first text shown, to the end. None: it never came."""

    first_event_s: float | None
    first_token_s: float | None
    total_s: float


class Seen(NamedTuple):
    """An event in the log: when it came, its name, and the signals it made ("" where it made none)."""

    at_s: float
    name: str
    signal: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and all that came of it.

    Attributes:
        question: what was asked.
        answer: the last full message, else the text deltas joined; reasoning is in neither.
        final_text: the part of the answer after the last tool call.
        shown: every text that a person saw, each once: the deltas joined, and messages that differ from them.
        finish: `finished`, `length` (cut by the model's limit), `waiting` (for an approval, or a tool that the client
            runs), or None where it did not end.
        tool_calls: in the order they were made.
        scores: every groundedness score that came, valid or not, in order.
        events: the first and the last thousand events.
        events_total: how many there were.
        findings: what was odd.
        error: why the answer is not complete, or None.
        session: the conversation's id, where the agent gave one, else "".
        answer_id: the answer's id, where the agent gave it one, else "".
    """

    question: str
    answer: str
    final_text: str
    shown: tuple[str, ...]
    finish: str | None
    tool_calls: tuple[ToolCall, ...]
    scores: tuple[object, ...]
    usage: Usage | None
    timing: Timing
    events: tuple[Seen, ...]
    events_total: int
    findings: tuple[Finding, ...]
    error: Failure | None
    session: str = ""
    answer_id: str = ""

    @property
    def groundedness(self) -> float | None:
        """The last score, where it is a number from 0 to 1; `scores` says what else it was."""
        return valid_score(self.scores[-1]) if self.scores else None


@dataclass(frozen=True, slots=True)
class Transcript:
    """All turns of one case, in order."""

    turns: tuple[Turn, ...]

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Every call of every turn, in order."""
        return tuple(call for turn in self.turns for call in turn.tool_calls)

    @property
    def error(self) -> Failure | None:
        """The first turn's failure, or None where every answer came whole."""
        return next((turn.error for turn in self.turns if turn.error), None)


def valid_score(score: object) -> float | None:
    """Returns a groundedness score as a number from 0 to 1, or None for anything else, booleans and NaN included."""
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
        return None
    return float(score)
