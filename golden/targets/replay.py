"""Recordings: what a real run came to, to be scored again offline (contract 7). No socket is opened."""

import os
import shlex
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from golden.errors import RecordingError, TargetError
from golden.payload import dump
from golden.recording import Exchange, Message, Recording, prompt_hash
from golden.shelf import Shelf
from golden.sse import Event
from golden.targets import Factory, Spec
from golden.wire import Head, Reply, Request

_TURNS = Head(200, {}, "iterable")

# How many conversations are kept while they are in the middle: more than run at once, and few enough for any memory.
_OPEN = 64


class ReplayTarget:
    """Answers each case with the recording of its id, at the times at which it came.

    A recording is read in the dialect that it names, or in the one that the run names; one that holds turns alone, of
    another program perhaps, is read from these, and has no times.

    Args:
        path: a folder of recordings, or one.
        alone: each recording is judged by itself: nothing is known of what was to be asked, so nothing is compared.

    Raises:
        UsageError: no recording is there.
    """

    kind = "replay"

    def __init__(self, path: str | os.PathLike[str], *, alone: bool = False) -> None:
        self.name = os.fspath(path)
        self.shelf = Shelf(Path(path))
        self._alone = alone
        self._open: dict[tuple[str, str], Recording] = {}  # of conversations that have turns to come

    def open(self) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    async def ask(self, request: Request) -> AsyncGenerator[Reply, None]:
        recording = self.recording(request)
        exchange = recording.exchanges[len(request.history)]
        if exchange.reply is None:
            yield _from_turns(exchange)
        else:
            yield exchange.reply._replace(dialect=str(recording.meta.get("dialect") or ""))

    def recording(self, request: Request) -> Recording:
        """Returns the recording that answers a question; of one conversation it is read once.

        Raises:
            TargetError: there is none, it is malformed, or it is of another question, system prompt or number of turns.
        """
        path = self.shelf.find(request.case_id)
        if path is None:
            raise self._again(request, f"{self.name}: there is no recording of {request.case_id!r}")
        conversation = (request.session_id, request.case_id)
        recording = self._open.pop(conversation, None) if request.history else None
        try:
            recording = recording or self.shelf.read(path)
        except RecordingError as error:
            raise self._again(request, error.message) from None
        if len(request.history) + 1 < request.turns:
            self._open[conversation] = recording
            while len(self._open) > _OPEN:
                del self._open[next(iter(self._open))]
        for problem in () if self._alone else _drift(recording, request):
            raise self._again(request, f"{path}: {problem}")
        return recording

    def _again(self, request: Request, problem: str) -> TargetError:
        suite = [request.suite] if request.suite else []
        options = shlex.join([*suite, "--case", request.case_id, "--to", str(self.shelf.folder), "--overwrite"])
        return TargetError("recording", problem, hint=f"record it again: golden record {options}")


def _drift(recording: Recording, request: Request) -> Iterator[str]:
    """Says what is asked now, and was not when the recording was made."""
    asked, turn = recording.exchanges, len(request.history)
    if len(asked) != request.turns:
        yield f"it has {len(asked)} turns, and the case has {request.turns}"
    if turn < len(asked) and asked[turn].question != request.question:
        yield f"it answers {asked[turn].question!r:.200}, and the case asks {request.question!r:.200}"
    recorded, prompt = recording.meta.get("systemPromptHash"), prompt_hash(request.system_prompt)
    # Of other programs' recordings only what a suite says is compared: theirs may name an agent's own prompt.
    if recorded != prompt and (prompt is not None or "goldenVersion" in recording.meta):
        yield "it was made with another system prompt"


def _from_turns(exchange: Exchange) -> Reply:
    """The messages as golden's own events: so there is one reader of both."""
    events = [_event(*told) for message in exchange.answer for told in _told(message)]
    return Reply(_TURNS, (*events, _event("done", {})), 0.0, is_golden=True)


def _told(message: Message) -> Iterator[tuple[str, dict[str, object]]]:
    """The events of a message, as (name, data)."""
    if message.role == "toolResult":
        yield "tool_result", {"id": message.call_id, "result": message.text}
        return
    for item in message.content:
        if isinstance(item, str):
            yield "token", {"text": item}
        else:
            yield "tool_call", {"id": item.id, "name": item.name, "args": item.arguments}
    ledger = message.ledger
    if ledger is not None and (ledger.input is not None or ledger.output is not None):
        yield "usage", {"input": ledger.input, "output": ledger.output}


def _event(name: str, body: dict[str, object]) -> Event:
    return Event(name, dump(body))


def _target(spec: Spec) -> ReplayTarget:
    return ReplayTarget(spec.where, alone=spec.alone)


TARGET: Factory = _target
