"""What events mean, the same for every dialect: plain values, gathered into a turn by `gathering`.

A dialect says what each event means by itself; which of them belong together is told by the names in them.
"""

from typing import Literal, NamedTuple

# How a dialect marks the end of a turn. `end`: by its end marker; a turn without one is whole if it said how it
# finishes. `finish`: by saying how it finishes, and more may follow. `none`: by nothing, the transport proves it.
Marker = Literal["end", "finish", "none"]


class Text(NamedTuple):
    """A delta of the answer.

    Attributes:
        text: the delta.
        part: names the text that it belongs to, where one may be told again: "" for the one that was named last.
    """

    text: str
    part: str = ""


class Whole(NamedTuple):
    """The full text of a part, as far as it has come: what came of it before is repeated in it, or replaced.

    Attributes:
        text: all of it.
        part: which, as in `Text`; "" is all text since the last call.
        closes: whether the part is complete: what follows under its name is another one.
        renamed: whether the part may have come before under another name: then the same text is the same part.
    """

    text: str
    part: str = ""
    closes: bool = False
    renamed: bool = False


class Message(NamedTuple):
    """The full answer of the turn."""

    text: str


class Refusal(NamedTuple):
    """A delta of what the model says in place of an answer: a person sees it, and it is in no answer."""

    text: str


class Reasoning(NamedTuple):
    """What the model thinks: never part of the answer."""


class CallPart(NamedTuple):
    """A piece of a tool call on its way: the call begins where none of its key and id is open.

    Attributes:
        args: a delta of the arguments, as JSON text.
        key: what tells it from calls that are on their way at the same time (an index, a block), "" where nothing does.
        id: the call's, "" where the piece does not say.
        name: the tool's, "" where the piece does not say.
        message: what the call is part of, where its calls are completed together or told again.
    """

    args: str = ""
    key: str = ""
    id: str = ""
    name: str = ""
    message: str = ""


class CallDone(NamedTuple):
    """A tool call is complete. It is a new one where none of its key and id is on its way, and none of its id came.

    With no key, id and name, all calls on their way are complete: those of the message, or all that there are.

    Attributes:
        key: as in `CallPart`.
        id: the call's.
        name: the tool's, "" where it was said before.
        args: all of the arguments, parsed or as JSON text; `None` where the deltas are all of them.
        message: as in `CallPart`.
    """

    key: str = ""
    id: str = ""
    name: str = ""
    args: object = None
    message: str = ""


class Call(NamedTuple):
    """A whole tool call: a new one, or one of a message that may tell it again.

    Attributes:
        name: the tool's.
        args: all of the arguments, parsed or as JSON text; told again, they take the place of those before.
        id: the call's, "" where it has none.
        message: which message. Its calls are told apart by their ids, else by where they stand.
        at: where the call stands among the calls of its message.
    """

    name: str
    args: object = None
    id: str = ""
    message: str = ""
    at: int = 0


class Result(NamedTuple):
    """What a tool gave back: for the call of that id, else the first open one of that name, else the first open one.

    Attributes:
        result: the value.
        id: the call's.
        name: the tool's.
        part: names the result, where it may be told again: it then takes the place of what it was before.
    """

    result: object
    id: str = ""
    name: str = ""
    part: str = ""


class Score(NamedTuple):
    """A groundedness score, valid or not."""

    score: object


class Tokens(NamedTuple):
    """Usage of one more model call: added to what its part has. `part` names a call that may tell its usage again."""

    input: int | None
    output: int | None
    part: str = ""


class RunningTokens(NamedTuple):
    """Usage so far, of the turn or of the call that `part` names: each figure takes the place of what was there."""

    input: int | None
    output: int | None
    part: str = ""


class Error(NamedTuple):
    """The agent says that it failed."""

    message: str


class Finish(NamedTuple):
    """How the turn ends.

    Attributes:
        kind: `waiting`: for an approval, or for a tool that the client runs, whatever is said after it; `length`: by
            the model's own limit; `tools`: so that tools be run, and it waits where a call has no result; `stop`: no
            more is to be said, and it waits where a call has no result and no text came after it.
    """

    kind: Literal["stop", "tools", "length", "waiting"]


class Session(NamedTuple):
    """The conversation's id, where it is the agent that gives it."""

    id: str


class Named(NamedTuple):
    """The id that the agent gives its answer: it knows the answer by that where it is told again in later turns."""

    id: str


class End(NamedTuple):
    """The dialect's end marker; a second one right after it says no more."""


class Odd(NamedTuple):
    """A finding that the dialect itself makes."""

    kind: str
    message: str


Signal = (
    Text
    | Whole
    | Message
    | Refusal
    | Reasoning
    | CallPart
    | CallDone
    | Call
    | Result
    | Score
    | Tokens
    | RunningTokens
    | Error
    | Finish
    | Session
    | Named
    | End
    | Odd
)
