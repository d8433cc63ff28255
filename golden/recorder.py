"""What came of a case → its recording on the disk, with no secret in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from golden import jsonl, score
from golden.covering import covered
from golden.payload import dump
from golden.plan import Job, Plan
from golden.reader import Bounds, Reader
from golden.recording import Exchange, Heard, Recording, messages_of, prompt_hash
from golden.redaction import Secrets
from golden.shelf import Shelf
from golden.suite import Case
from golden.transcript import Finding, Transcript, Turn
from golden.version import __version__
from golden.wire import Head, Reply

# What a recording keeps of the head of a reply: cookies and request ids are no reader's business.
_HEADERS = ("content-type", "x-vercel-ai-")

# What was read once within the bounds of its run is read again whole.
_ALL = Bounds(2**63, 2**63)

# A case names the version of its agent in its `metadata`, in one of these keys.
_VERSIONS = ("agentVersion", "agent_version")


class Recorder:
    """Writes a recording of each case that answered.

    Args:
        shelf: where to.
        overwrite: whether a recording that is there is replaced.

    Attributes:
        written: the ids of the cases that were recorded.
        kept: the ids of those whose recording was there, and stays.
        problems: why others were not recorded, as (case id, reason).
    """

    def __init__(self, shelf: Shelf, overwrite: bool) -> None:
        self.written: list[str] = []
        self.kept: list[str] = []
        self.problems: list[tuple[str, str]] = []
        self._shelf = shelf
        self._overwrite = overwrite

    def record(self, job: Job, plan: Plan, heard: Sequence[Heard]) -> None:
        """Records one case; called from several threads."""
        case = job.case
        if len(heard) < len(case.questions) or any(one.turn.error for one in heard):
            self.problems.append((case.id, "it did not answer"))
        elif not self._overwrite and self._shelf.find(case.id) is not None:
            self.kept.append(case.id)
        else:
            try:
                self._shelf.write(case.id, jsonl.render(recording(job, plan, heard)))
                self.written.append(case.id)
            except _Unfit as unfit:
                self.problems.append((case.id, str(unfit)))
            except OSError as error:
                self.problems.append((case.id, f"it cannot be written: {error.strerror}"))


class _Unfit(Exception):
    """Why a run cannot be recorded."""


def recording(job: Job, plan: Plan, heard: Sequence[Heard]) -> Recording:
    """Returns the recording of a case, with its secrets covered, read once more to see that it replays as it ran."""
    case, secrets = job.case, plan.secrets
    if any(secrets.cover(text) != text for text in (case.id, *case.questions)):
        raise _Unfit("its id or its question holds a secret")
    if len(spoken := dict.fromkeys(one.reply.dialect for one in heard)) > 1:
        raise _Unfit(f"its turns came in several dialects: {', '.join(spoken)}")
    replies = [_covered(one.reply, secrets) for one in heard]
    turns = [_read(one.turn.question, reply, plan) for one, reply in zip(heard, replies, strict=True)]
    for turn in turns:
        if any(secrets.cover(text) != text for text in _texts(turn)):
            raise _Unfit("a secret is spread over several of its events, and cannot be removed")
    notes = [_unseen(one.turn, turn, secrets) for one, turn in zip(heard, turns, strict=True)]
    _compare(case, [one.turn for one in heard], turns, notes, secrets)
    noted = [reply._replace(notes=found) for reply, found in zip(replies, notes, strict=True)]
    exchanges = tuple(map(Exchange, messages_of(turns), noted))
    meta = {name: secrets.cover_value(value) for name, value in _meta(job, plan, heard[0].reply.dialect).items()}
    return Recording(meta, exchanges)


def agent_version(case: Case) -> str | None:
    """Returns the version of the agent that a case is about, None where it names none."""
    return next((version for key in _VERSIONS if isinstance(version := case.metadata.get(key), str)), None)


def _meta(job: Job, plan: Plan, dialect: str) -> Mapping[str, object]:
    case, suite = job.case, job.suite
    version = agent_version(case)
    return {
        "fixtureId": case.id,
        **({} if version is None else {"agentVersion": version}),
        "scenario": suite.description,
        "recordedAt": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "systemPromptHash": prompt_hash(suite.system_prompt if case.system_prompt is None else case.system_prompt),
        "goldenVersion": __version__,
        "dialect": dialect,
        "model": job.model(plan),
    }


def _covered(reply: Reply, secrets: Secrets) -> Reply:
    head = reply.head
    headers = {name: secrets.cover(value) for name, value in head.headers.items() if name.startswith(_HEADERS)}
    return reply._replace(head=Head(head.status, headers, head.ends), events=covered(reply.events, secrets))


def _read(question: str, reply: Reply, plan: Plan) -> Turn:
    reader = Reader(question, "auto", _ALL, plan.lexicon)
    reader.replay(reply)
    return reader.close(reply.ended_s)


def _texts(turn: Turn) -> Iterator[str]:
    yield from (turn.answer, turn.final_text, *turn.shown)
    for call in turn.tool_calls:
        yield from (call.name, dump(call.args), dump(call.result))


def _unseen(ran: Turn, read: Turn, secrets: Secrets) -> tuple[tuple[str, str], ...]:
    """The findings of a run that its events alone do not show."""
    seen = {finding.kind for finding in read.findings}
    return tuple((finding.kind, secrets.cover(finding.message)) for finding in ran.findings if finding.kind not in seen)


def _compare(
    case: Case,
    ran: Sequence[Turn],
    read: Sequence[Turn],
    notes: Sequence[tuple[tuple[str, str], ...]],
    secrets: Secrets,
) -> None:
    # Not the scorers: they may take long, or ask others.
    asked = case.model_copy(update={"scorers": []})
    noted = [
        replace(turn, findings=(*turn.findings, *(Finding(*each) for each in found)))
        for turn, found in zip(read, notes, strict=True)
    ]
    before = score.score(asked, Transcript(tuple(ran)), secrets)
    after = score.score(asked, Transcript(tuple(noted)), secrets)
    other = [one.name for one, now in zip(before, after, strict=False) if one.ok != now.ok]
    if other or any(turn.error for turn in read):
        why = ", ".join(dict.fromkeys(other)) or str(next(turn.error for turn in read if turn.error))
        raise _Unfit(f"read again, with its secrets covered, it is judged otherwise: {why}")
