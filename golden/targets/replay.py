"""Recordings: what a real run came to, to be scored again offline (contract 7). No socket is opened."""

import os
import shlex
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from golden import dialects
from golden.errors import RecordingError, TargetError, UsageError
from golden.payload import dump
from golden.recording import Exchange, Message, Recording, Reply, prompt_hash
from golden.shelf import Shelf
from golden.sse import Event, encode
from golden.targets import Factory, Spec
from golden.wire import Chunk, Head, Request

_TURNS = Head(200, {}, "iterable", dialect="native")


class ReplayTarget:
    """Answers each case with the recording of its id, at the times at which it came.

    A recording is read in the dialect that it names; one that holds turns alone, of another program perhaps, is read
    from these, and has no times.

    Args:
        path: a folder of recordings, or one.
        dialect: read the events in this one, whatever the recordings name.
        alone: each recording is judged by itself: nothing is known of what was to be asked, so nothing is compared.

    Raises:
        UsageError: no recording is there.
    """

    kind = "replay"

    def __init__(self, path: str | os.PathLike[str], *, dialect: str = "auto", alone: bool = False) -> None:
        self.name = os.fspath(path)
        self.shelf = Shelf(Path(path))
        if dialect != "auto":
            dialects.load(dialect)
        self._dialect = dialect
        self._alone = alone

    def open(self) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    async def ask(self, request: Request) -> AsyncGenerator[Head | Chunk, None]:
        recording = self.recording(request)
        exchange = recording.exchanges[len(request.history)]
        reply = exchange.reply
        for piece in _from_turns(exchange) if reply is None else self._from_events(recording, reply):
            yield piece

    def recording(self, request: Request) -> Recording:
        """Returns the recording that answers a question.

        Raises:
            TargetError: there is none, it is malformed, or it is of another question, system prompt or number of turns.
        """
        path = self.shelf.find(request.case_id)
        if path is None:
            raise self._again(request, f"{self.name}: there is no recording of {request.case_id!r}")
        try:
            recording = self.shelf.read(path)
        except RecordingError as error:
            raise self._again(request, error.message) from None
        for problem in () if self._alone else _drift(recording, request):
            raise self._again(request, f"{path}: {problem}")
        return recording

    def _again(self, request: Request, problem: str) -> TargetError:
        options = shlex.join(["--case", request.case_id, "--to", str(self.shelf.folder), "--overwrite"])
        return TargetError("recording", problem, hint=f"record it again: golden record {options}")

    def _from_events(self, recording: Recording, reply: Reply) -> Iterator[Head | Chunk]:
        named = self._dialect if self._dialect != "auto" else str(recording.meta.get("dialect") or "")
        try:
            if named:
                dialects.load(named)
        except UsageError as error:
            raise TargetError("recording", f"recorded in a dialect that is not here: {error.message}") from None
        yield replace(reply.head, dialect=named, notes=reply.notes)
        last = ""
        for at, events in groupby(reply.events, attrgetter("at")):
            blocks = b""
            for event in events:
                if event.id != last:
                    blocks += encode(event) if event.id else b"id:\n" + encode(event)
                else:
                    blocks += encode(event._replace(id="") if last else event)
                last = event.id
            yield Chunk(blocks, at)
        yield Chunk(b"", reply.ended_s)


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


def _from_turns(exchange: Exchange) -> Iterator[Head | Chunk]:
    """The messages as golden's own events: so there is one reader of both."""
    yield _TURNS
    yield Chunk(b"".join(block for message in exchange.answer for block in _blocks(message)), 0.0)
    yield Chunk(encode(Event("done", "{}")), 0.0)


def _blocks(message: Message) -> Iterator[bytes]:
    if message.role == "toolResult":
        yield _block("tool_result", {"id": message.call_id, "result": message.text})
        return
    for item in message.content:
        if isinstance(item, str):
            yield _block("token", {"text": item})
        else:
            yield _block("tool_call", {"id": item.id, "name": item.name, "args": item.arguments})
    ledger = message.ledger
    if ledger is not None and (ledger.input is not None or ledger.output is not None):
        yield _block("usage", {"input": ledger.input, "output": ledger.output})


def _block(name: str, body: dict[str, object]) -> bytes:
    return encode(Event(name, dump(body)))


def _target(spec: Spec) -> ReplayTarget:
    return ReplayTarget(spec.where, dialect=spec.dialect, alone=spec.alone)


TARGET: Factory = _target
