"""The texts of one turn: deltas joined, what is told again counted once, and what a person saw of it all."""

from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

from golden.findings import Findings
from golden.sse import whole

# So many pieces, each of which begins with all of the one before and goes on, are no deltas: words are not like that.
_GROWS = 4


class Texts:
    """Takes texts as they come.

    Args:
        findings: takes what is odd about them.

    Attributes:
        deltas: what the answer is joined from. A delta without a part may be appended as it is.
        part: the one that was named last, "" for none: a delta without a name is its own.
    """

    def __init__(self, findings: Findings) -> None:
        self.deltas: list[str] = []
        self.part = ""
        self._findings = findings
        self._starts: list[int] = []  # where in the deltas another part begins
        self._parts: defaultdict[str, list[int]] = defaultdict(list)  # for a part: at which of these starts it does
        self._messages: list[str] = []
        self._refusals: list[str] = []
        self._replaced: list[str] = []
        self._late: list[str] = []
        self._deltas_at_call = 0
        self._messages_at_call = 0

    @property
    def characters(self) -> int:
        """How much of an answer has come."""
        return max(sum(map(len, self.deltas)), len(self._messages[-1]) if self._messages else 0)

    def call_begins(self) -> None:
        """A tool call begins here: what follows may be the final text."""
        self._deltas_at_call = len(self.deltas)
        self._messages_at_call = len(self._messages)

    def delta(self, text: str, part: str) -> None:
        """Takes a `Text`."""
        if part and part != self.part:
            self.turn_to(part)
        self.deltas.append(text)

    def turn_to(self, part: str) -> None:
        """What comes from here on is of this part, "" for none."""
        self.part = part
        if part:
            self._parts[part].append(len(self._starts))
        self._starts.append(len(self.deltas))

    def whole(self, text: str, part: str, closes: bool, renamed: bool) -> None:
        """Takes a `Whole`."""
        if renamed and part not in self._parts and self._came(text):
            return
        own = self._own(part) if part else [*range(self._deltas_at_call, len(self.deltas))]
        before = "".join(self.deltas[at] for at in own)
        if not own or whole(text).startswith(whole(before)):
            if rest := whole(text)[len(whole(before)) :] if own else text:
                self.delta(rest, part)
        else:
            self._replaced.append(before)
            for at in own:
                self.deltas[at] = ""
            self.deltas[own[0]] = text
        if closes:
            self._parts.pop(part, None)
            if part and self.part == part:
                self.turn_to("")

    def message(self, text: str) -> None:
        """Takes a `Message`."""
        if self._messages:
            self._findings.note("messages", "more than one full message: the last one counts")
        self._messages.append(text)

    def refusal(self, text: str) -> None:
        """Takes a `Refusal`."""
        self._refusals.append(text)

    def late(self, text: str) -> None:
        """Takes a text that came after the end: it is in no answer, but a person may have seen it."""
        self._late.append(text)

    def close(self) -> "Told":
        """Returns what it all comes to."""
        self._keep_the_last_of_all()
        mended = self._findings.mended
        deltas = mended("".join(self.deltas))
        messages = [mended(message) for message in self._messages]
        answer = messages[-1] if messages else deltas
        refusal = mended("".join(self._refusals))
        if refusal:
            self._findings.note("refusal", f"the model refuses: {' '.join(refusal.splitlines())}")
        seen = (deltas, *map(mended, self._replaced), *messages, refusal, mended("".join(self._late)))
        shown = tuple(dict.fromkeys(text for text in seen if text))
        return Told(answer, self._final(answer), refusal, shown)

    def _keep_the_last_of_all(self) -> None:
        """Some producers send all of the text so far in place of each delta: the last one is the text."""
        for start, end in pairwise((0, *self._starts, len(self.deltas))):
            count, last = 0, ""
            for text in filter(None, self.deltas[start:end]):
                if text == last or not text.startswith(last):
                    break
                count, last = count + 1, text
            else:
                if count >= _GROWS:
                    self._findings.note("cumulative", "each piece of text repeats all before it: the last one counts")
                    self.deltas[start:end] = [*[""] * (end - start - 1), last]

    def _final(self, answer: str) -> str:
        before = whole("".join(self.deltas[: self._deltas_at_call]))
        if not self._messages:
            return whole("".join(self.deltas[self._deltas_at_call :]))
        if before and answer.startswith(before):
            return answer[len(before) :]
        return answer if len(self._messages) > self._messages_at_call else ""

    def _own(self, part: str) -> list[int]:
        """Which of the deltas are a part's own."""
        ends = (*self._starts[1:], len(self.deltas))
        return [at for start in self._parts.get(part, ()) for at in range(self._starts[start], ends[start])]

    def _came(self, text: str) -> bool:
        """Whether a part has this very text."""
        parts = ("".join(self.deltas[at] for at in self._own(part)) for part in self._parts)
        return any(whole(part).strip() == whole(text).strip() for part in parts)


class Told(NamedTuple):
    """What the texts of a turn come to.

    Attributes:
        answer: the last full message, else the deltas joined.
        final: the answer's part after the last tool call.
        refusal: what the model said in its place.
        shown: everything that a person saw, also what was replaced later.
    """

    answer: str
    final: str
    refusal: str
    shown: tuple[str, ...]
