"""A recording ⇄ the lines of its file (contract 7)."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import cast

from golden.assertions import fault
from golden.errors import RecordingError
from golden.payload import parse
from golden.recording import Called, Exchange, Ledger, Message, Recording
from golden.sse import Event, whole
from golden.wire import Ends, Head, Reply

_Line = dict[str, object]

ROLES = ("user", "assistant", "toolResult")
ENDS = ("chunked", "length", "app", "iterable", "close")

# What JSON numbers hold exactly everywhere, and more than any clock of a run shows.
MOST = 2**53
LONGEST_S = 1e9

_BREAK = re.compile(r"[\n\r\0]")

_new = tuple.__new__  # see `sse`


def render(recording: Recording) -> str:
    """Returns the lines of a recording."""
    return "".join(
        f"{json.dumps(_written(line), ensure_ascii=False, allow_nan=False, separators=(',', ':'))}\n"
        for line in _lines(recording)
    )


def read(text: str) -> Recording:
    """Reads the lines of a recording.

    Raises:
        RecordingError: it is none; the message begins with the number of the line.
    """
    return _Reading().read(text)


def read_meta(line: str) -> Mapping[str, object]:
    """Reads the first line alone.

    Raises:
        RecordingError: it is no `meta` line.
    """
    meta, _ = parse(line)
    return _meta(meta, 1)


def _meta(line: object, number: int) -> Mapping[str, object]:
    if not isinstance(line, dict) or line.get("type") != "meta":
        raise RecordingError(f"line {number}: expected the `meta` line first")
    return {key: value for key, value in line.items() if key != "type"}


def _written(value: object) -> object:
    """What JSON can say of a value: half a surrogate pair is U+FFFD, NaN and the infinities are their names."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {whole(str(key)): _written(item) for key, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, (list, tuple)) else value


def _lines(recording: Recording) -> Iterator[_Line]:
    yield {"type": "meta", **recording.meta}
    index = 0
    for exchange in recording.exchanges:
        reply = exchange.reply
        for message in exchange.messages:
            if reply is not None and message.role == "assistant":
                yield from _replied(reply, index)
                reply = None
            yield _turn(message, index)
            index += 1
    yield {"type": "assertions", "assertions": recording.assertions}


def _replied(reply: Reply, index: int) -> Iterator[_Line]:
    head = reply.head
    yield {"type": "head", "turnIndex": index, "status": head.status, "headers": head.headers}
    for event in reply.events:
        line: _Line = {"type": "event", "turnIndex": index, "at": event.at}
        if event.name:
            line["event"] = event.name
        if event.id:
            line["id"] = event.id
        if event.raw is not None:
            line["data64"] = b64encode(event.raw).decode()
        elif event.data is not None:
            line["data"] = event.data
        yield line
    notes = [{"kind": kind, "message": message} for kind, message in reply.notes]
    found = {"findings": notes} if notes else {}
    yield {"type": "end", "turnIndex": index, "at": reply.ended_s, "by": head.ends, **found}


def _turn(message: Message, index: int) -> _Line:
    content: list[_Line] = [
        {"type": "text", "text": item} if isinstance(item, str) else {"type": "toolCall", **item._asdict()}
        for item in message.content
    ]
    line: _Line = {"type": "turn", "turnIndex": index, "role": message.role}
    if message.role == "toolResult":
        line["toolUseId"] = message.call_id
    line["content"] = content
    if message.ledger is not None:
        line["tokenLedger"] = message.ledger._asdict()
    return line


class _Reading:
    """One file on its way; whatever is wrong names its line."""

    def __init__(self) -> None:
        self._number = 0
        self._exchanges: list[Exchange] = []
        self._messages: list[Message] = []  # of the exchange that is open
        self._index = 0  # of the next turn
        self._reply: Reply | None = None  # of the exchange that is open
        self._head: Head | None = None  # of the reply that is open
        self._waits = False  # a reply is whole, and its turn has not come
        self._events: list[Event] = []
        self._names = set[str]()  # of events, that are as they should be

    def read(self, text: str) -> Recording:
        meta: Mapping[str, object] | None = None
        assertions: tuple[Mapping[str, object], ...] | None = None
        for number, written in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
            if not written or written.isspace():
                continue
            line, problem = parse(written)
            self._number = number
            if assertions is not None:
                raise self._wrong("nothing stands behind the `assertions` line")
            if problem:
                raise self._wrong(f"no JSON: {problem}")
            if not isinstance(line, dict):
                raise self._wrong("expected an object")
            kind = line.get("type")
            if meta is None:
                meta = _meta(line, number)
                continue
            if kind == "event":
                self._event(line)
            elif kind == "turn":
                self._turn(line)
            elif kind == "head":
                self._begin(line)
            elif kind == "end":
                self._end(line)
            elif kind == "assertions":
                assertions = self._assertions(line)
            elif kind == "meta":
                raise self._wrong("a second `meta` line")
            else:
                raise self._wrong(f"{kind!r:.80} is no type of a line")
        if meta is None:
            raise RecordingError("line 1: the file is empty, expected a `meta` line")
        if assertions is None:
            raise self._wrong("the file ends here, expected an `assertions` line as its last")
        self._close()
        return Recording(meta, tuple(self._exchanges), assertions)

    def _event(self, line: _Line) -> None:
        index, at, name, data = line.get("turnIndex"), line.get("at"), line.get("event") or "", line.get("data")
        if (  # by far the most
            type(data) is str
            and type(at) is float
            and 0 <= at <= LONGEST_S
            and type(name) is str
            and name in self._names
            and type(index) is int
            and index == self._index
            and self._head is not None
            and "id" not in line
            and "data64" not in line
        ):
            self._events.append(_new(Event, (name, data if data.isascii() else whole(data), "", at, None)))
            return
        self._is_here(line)
        id, raw = line.get("id") or "", None
        if "data64" in line:
            data, raw = self._bytes(line)
        if not isinstance(name, str) or not isinstance(id, str) or not (data is None or isinstance(data, str)):
            raise self._wrong("`event`, `id` and `data` of an event are text")
        if _BREAK.search(name) or (id and _BREAK.search(id)):
            raise self._wrong("the name or the id of an event has a line break")
        if not name and data is None:
            raise self._wrong("an event has a name or data")
        if data and not data.isascii():
            data = whole(data)
        self._events.append(Event(whole(name), data, id and whole(id), self._seconds(at), raw))
        self._names.add(whole(name))

    def _bytes(self, line: _Line) -> tuple[str, bytes]:
        if line.get("data") is not None:
            raise self._wrong("an event has `data` or `data64`, not both")
        try:
            raw = b64decode(str(line["data64"]), validate=True)
        except ValueError:
            raise self._wrong("`data64` is no base64") from None
        return raw.decode(errors="replace"), raw

    def _begin(self, line: _Line) -> None:
        if self._head is not None or self._reply is not None:
            raise self._wrong("a second reply to one question")
        self._at_index(line)
        status, headers = line.get("status"), line.get("headers")
        if type(status) is not int or not 0 <= status <= 999:
            raise self._wrong(f"`status`: expected a number from 0 to 999, got {status!r:.80}")
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise self._wrong("`headers`: expected an object of texts")
        self._head = Head(status, {name.lower(): value for name, value in headers.items()}, "close")
        self._events = []

    def _end(self, line: _Line) -> None:
        self._is_here(line)
        head, by, at = cast("Head", self._head), line.get("by"), self._seconds(line.get("at"))
        if by not in ENDS:
            raise self._wrong(f"`by`: expected one of {', '.join(ENDS)}, got {by!r:.80}")
        found = line.get("findings", [])
        if not isinstance(found, list):
            raise self._wrong("`findings`: expected a list")
        notes = tuple(
            (self._text(self._part(finding, "a finding"), "kind"), self._text(finding, "message")) for finding in found
        )
        self._reply = Reply(Head(head.status, head.headers, cast("Ends", by)), tuple(self._events), at, notes=notes)
        self._head, self._waits = None, True

    def _turn(self, line: _Line) -> None:
        if self._head is not None:
            raise self._wrong("the reply before this turn has no `end` line")
        self._at_index(line)
        role = line.get("role")
        if role not in ROLES:
            raise self._wrong(f"`role`: expected one of {', '.join(ROLES)}, got {role!r:.80}")
        if self._waits and role != "assistant":
            raise self._wrong(f"expected the assistant's turn of the reply above, got one of {role}")
        self._waits = False
        if role == "user" and any(message.role != "user" for message in self._messages):
            self._close()
        content = line.get("content")
        if not isinstance(content, list):
            raise self._wrong(f"`content`: expected a list, got {content!r:.80}")
        call_id = self._text(line, "toolUseId", "") if role == "toolResult" else ""
        items = (self._item(self._part(part, "each part of `content`")) for part in content)
        ledger = self._ledger(line) if role == "assistant" else None
        told = tuple(item for item in items if item is not None)
        self._messages.append(Message(role, told, ledger, call_id))
        self._index += 1

    def _item(self, part: _Line) -> str | Called | None:
        """A part of a message; None for kinds that are no text and no call, as thinking and images."""
        if part.get("type") == "text":
            return self._text(part, "text")
        if part.get("type") == "toolCall":
            return Called(self._text(part, "id", ""), self._text(part, "name"), part.get("arguments"))
        return None

    def _ledger(self, line: _Line) -> Ledger:
        written = line.get("tokenLedger")
        if not isinstance(written, dict):
            raise self._wrong("an assistant's turn has a `tokenLedger`: an object")
        counts = [written.get(name) for name in Ledger._fields]
        for name, count in zip(Ledger._fields, counts, strict=True):
            if count is not None and not (type(count) is int and 0 <= count <= MOST):
                raise self._wrong(f"`tokenLedger.{name}`: expected a whole number or null, got {count!r:.80}")
        return Ledger._make(cast("list[int | None]", counts))

    def _assertions(self, line: _Line) -> tuple[Mapping[str, object], ...]:
        if self._head is not None:
            raise self._wrong("the reply before this line has no `end` line")
        if self._waits:
            raise self._wrong("expected the assistant's turn of the reply above")
        if not self._index:
            raise self._wrong("expected a `turn` line before the assertions")
        written = line.get("assertions")
        if not isinstance(written, list):
            raise self._wrong("`assertions`: expected a list")
        for problem in filter(None, map(fault, written)):
            raise self._wrong(problem)
        return tuple(written)

    def _close(self) -> None:
        """Ends the exchange that is open."""
        self._exchanges.append(Exchange(tuple(self._messages), self._reply))
        self._messages, self._reply = [], None

    def _is_here(self, line: _Line) -> None:
        if self._head is None:
            raise self._wrong("expected a `head` line before the events of a reply and its end")
        if line.get("turnIndex") != self._index:
            self._at_index(line)

    def _at_index(self, line: _Line) -> None:
        index = line.get("turnIndex")
        if type(index) is not int or index != self._index:
            raise self._wrong(f"`turnIndex`: expected {self._index}, got {index!r:.80}")

    def _seconds(self, at: object) -> float:
        if type(at) not in (int, float) or not 0 <= cast("float", at) <= LONGEST_S:
            raise self._wrong(f"`at`: expected seconds from 0, got {at!r:.80}")
        return float(cast("float", at))

    def _part(self, value: object, what: str) -> _Line:
        if not isinstance(value, dict):
            raise self._wrong(f"{what} is an object, got {value!r:.80}")
        return value

    def _text(self, part: _Line, name: str, default: str | None = None) -> str:
        value = default if part.get(name) is None else part[name]
        if not isinstance(value, str):
            raise self._wrong(f"`{name}`: expected text, got {value!r:.80}")
        return whole(value)

    def _wrong(self, problem: str) -> RecordingError:
        return RecordingError(f"line {self._number}: {problem}")
