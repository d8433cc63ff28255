"""The tool calls of one turn: their arguments joined and parsed once, each with its result."""

from collections import defaultdict, deque
from collections.abc import Iterable

from golden.findings import Findings
from golden.payload import parse
from golden.sse import whole
from golden.transcript import ToolCall

# How deep arguments and results are kept. Readers of JSON stop at 200 levels, and results files add some of their own.
_DEEPEST = 150

# So many calls of one id are looked at to tell another one from one that is told again.
_SAME = 50


class _Open:
    """A tool call on its way, or complete."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.args: object = None  # where they came whole
        self.parsed: bool | None = None  # None until they are complete
        self.result: object = None
        self.answered = False

    def is_whole_before(self, name: str, args: str) -> bool:
        """Whether a piece that says a name begins another call, where keys and ids are all the same or missing.

        Some say the name again with each delta, so one that is the same says so only where the call came whole.
        """
        if not name or not self.name:
            return False
        pieces = [piece for piece in self.pieces if piece]
        return name != self.name or (bool(args) and len(pieces) == 1 and isinstance(parse(pieces[0])[0], dict))

    def has(self, name: str, args: str) -> bool:
        """Whether this is the call of that name and arguments."""
        return name == self.name and parse(args) == parse("".join(self.pieces))

    def complete(self, args: object) -> None:
        """Takes the arguments, or makes them of the deltas: joined first, then parsed once."""
        if isinstance(args, str) or args is None:
            text = "".join(self.pieces) if args is None else args
            value, fault = parse(whole(text) or "{}")
            if fault and args is None and (again := self._told_again()) is not None:
                value, fault = again, ""
            args, self.parsed = (text, False) if fault else (value, True)
        else:
            self.parsed = True
        self.args = args

    def _told_again(self) -> object:
        """The arguments where the call began with them whole, and then told them in deltas; None where it did not."""
        pieces = [piece for piece in self.pieces if piece]
        is_whole = len(pieces) > 1 and isinstance(parse(pieces[0])[0], dict)
        again, fault = parse(whole("".join(pieces[1:]))) if is_whole else (None, "")
        return None if fault else again


class Calls:
    """Takes calls, pieces of calls and results, in whatever order and with whatever ids they come.

    Args:
        findings: takes what is odd about them.

    Attributes:
        results: how many calls have one.
    """

    def __init__(self, findings: Findings) -> None:
        self.results = 0
        self._findings = findings
        self._calls: list[_Open] = []
        self._coming: dict[tuple[str, str], _Open] = {}  # by key, by id: those whose arguments are on their way
        self._messages: defaultdict[str, list[_Open]] = defaultdict(list)
        self._open: defaultdict[tuple[str, str], deque[_Open]] = defaultdict(deque)  # by id, by name, and all
        self._told: defaultdict[str, deque[_Open]] = defaultdict(lambda: deque(maxlen=_SAME))  # by id: the last ones
        self._answered: dict[tuple[str, str], _Open] = {}  # by the result's part, by id: the last one

    def __len__(self) -> int:
        """How many calls there are."""
        return len(self._calls)

    @property
    def unanswered(self) -> bool:
        """Whether one has no result."""
        return not all(item.answered for item in self._calls)

    def close(self) -> tuple[ToolCall, ...]:
        """Returns the calls, in the order in which they began."""
        for item in self._calls:
            if not item.name:
                self._findings.note("tool_without_name", "a tool call without a name")
            if item.parsed is None:
                item.complete(None)
                self._findings.note("call_not_closed", f"the call of `{item.name}` was not closed")
            elif not item.parsed:
                self._findings.note("args_not_json", f"the arguments of `{item.name}` are not JSON")
        return tuple(
            ToolCall(self._findings.mended(item.name), mend(item.args), bool(item.parsed), mend(item.result))
            for item in self._calls
        )

    def part(self, args: str, key: str, id: str, name: str, message: str) -> None:
        """Takes a `CallPart`."""
        item = self._on_its_way(key, id, name)
        if item is not None and item.is_whole_before(name, args):
            if id and id == item.id and item.has(name, args):
                return  # told again
            item = None
        if item is None:
            item = self._begin(message)
            before = self._coming.pop(("key", key), None)  # what comes last stands last
            self._coming["key", key] = item
            if before is not None and before.id in ("", id):  # nothing tells it from the new one any more
                self._complete([before], None)
        self._tell(item, id, name)
        item.pieces.append(args)

    def done(self, key: str, id: str, name: str, args: object, message: str) -> None:
        """Takes a `CallDone`."""
        if not (key or id or name):
            self._complete([item for item in self._coming.values() if message in ("", item.message)], None)
            return
        item = self._on_its_way(key, id, name)
        if item is None:
            if (id and not key and self._is_told_again(id, args)) or not (id or name or args is not None):
                return  # told again, or a block that is no call
            item = self._begin(message)
        self._tell(item, id, name)
        self._complete([item], args)

    def call(self, name: str, args: object, id: str, message: str, at: int) -> None:
        """Takes a `Call`."""
        told = self._messages[message] if message else []
        item = told[at] if 0 <= at < len(told) else None
        if item and id and item.id not in ("", id):
            item = next((other for other in told if other.id == id), None)
        item = item or self._begin(message)
        self._tell(item, id, name)
        self._complete([item], {} if args is None else args)

    def result(self, result: object, id: str, name: str, part: str) -> None:
        """Takes a `Result`."""
        if part and ("part", part) in self._answered:
            self._answered["part", part].result = result
            return
        way = ("id", id) if id else ("name", name) if name else ("", "")
        waiting = self._open.get(way, deque())
        while waiting and waiting[0].answered:
            waiting.popleft()
        if not waiting:
            before = self._answered.get(way)
            if before is None or before.result != result:  # else it is told again
                whose = id or name or "no id, no name"
                self._findings.note("result_without_call", f"a tool result has no call: {whose}")
            return
        item = waiting[0]
        item.answered, item.result = True, result
        self.results += 1
        if id:
            self._answered["id", id] = item
        if part:
            self._answered["part", part] = item

    def _on_its_way(self, key: str, id: str, name: str) -> _Open | None:
        """The call that a piece belongs to.

        A key may come again with another id: that is another call if it is named. Some make a new id for each piece.
        """
        if key:
            item = self._coming.get(("key", key))
            another = item is not None and id and item.id and id != item.id
            return self._coming.get(("id", id), None if name else item) if another else item
        if id:
            return self._coming.get(("id", id))
        last = next(reversed(self._coming.values()), None)
        return None if last is None or (name and last.name) else last

    def _is_told_again(self, id: str, args: object) -> bool:
        """Whether a call is one that came: the id did, and what has a result already is told again as it was."""
        told = self._told.get(id)
        if not told:
            return False
        value, fault = parse(whole(args) or "{}") if isinstance(args, str) else (args, "")
        value = args if fault else value
        return args is None or not told[-1].answered or any(value == item.args for item in told)

    def _begin(self, message: str) -> _Open:
        item = _Open(message)
        self._calls.append(item)
        if message:
            self._messages[message].append(item)
        self._open["", ""].append(item)
        return item

    def _tell(self, item: _Open, id: str, name: str) -> None:
        """Takes a call's id and name where they are new: some producers send them late, some again with each piece."""
        if id and not item.id:
            if ("id", id) in self._open:
                self._findings.note("call_id_repeated", f"the call id {id!r} came before")
            item.id = id
            self._open["id", id].append(item)
            self._told[id].append(item)
            if item.parsed is None:
                self._coming["id", id] = item
        if name and not item.name:
            item.name = name
            self._open["name", name].append(item)

    def _complete(self, items: Iterable[_Open], args: object) -> None:
        done = set(items)
        for item in done:
            item.complete(args)
        if self._coming:
            self._coming = {way: item for way, item in self._coming.items() if item not in done}


def mend(value: object, depth: int = 0) -> object:
    """The same as `whole` for every text inside a JSON value; what is nested too deep to be read again is left out."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, (list, dict)) and depth == _DEEPEST:
        return "(nested too deep)"
    if isinstance(value, list):
        return [mend(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {whole(key): mend(item, depth + 1) for key, item in value.items()}
    return value
