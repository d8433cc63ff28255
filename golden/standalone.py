"""Recordings that stand alone: each is a case, judged by its own assertions (contract 7)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from golden.assertions import Assertion, judge
from golden.checks import Check
from golden.errors import Fault, RecordingError, SuiteError
from golden.recording import Message, Recording, messages_of
from golden.score import Scorer
from golden.shelf import Shelf
from golden.suite import Case, Question, Suite
from golden.transcript import Transcript

_SCORER = "recording:assertions"


class _Asked(NamedTuple):
    """What a recording asks of itself; `messages` are None where they follow from its events."""

    assertions: Sequence[Assertion]
    messages: Sequence[Message] | None


def standalone(shelf: Shelf) -> tuple[Suite, dict[str, Scorer]]:
    """Returns the recordings as the cases of a suite, and the scorer that these name.

    Raises:
        SuiteError: a file has a name that no case can have.
    """
    asked: dict[str, _Asked] = {}
    cases = []
    for path in shelf.paths.values():
        questions: Sequence[str] = ("(the recording cannot be read)",)
        try:
            recording = shelf.read(path)
        except RecordingError:
            pass  # the run says so, of this case
        else:
            questions = [exchange.question for exchange in recording.exchanges]
            asked[path.stem] = _Asked(recording.assertions, _messages(recording))
        cases.append(_case(path.stem, questions, str(path)))
    return Suite(cases=cases), {_SCORER: lambda case, transcript: _checks(asked[case.id], transcript)}


def _case(case_id: str, questions: Sequence[str], path: str) -> Case:
    fields: Mapping[str, object] = {"question": questions[0]}
    if len(questions) > 1:
        fields = {"turns": [Question(question=question) for question in questions]}
    try:
        return Case(id=case_id, scorers=[_SCORER], **fields)  # type: ignore[arg-type]  # one of two fields
    except SuiteError as error:
        raise SuiteError([Fault(path, fault.problem, "give the file another name") for fault in error.faults]) from None


def _messages(recording: Recording) -> Sequence[Message] | None:
    return None if any(exchange.reply for exchange in recording.exchanges) else recording.messages


def _checks(asked: _Asked, transcript: Transcript) -> list[Check]:
    messages = asked.messages
    if messages is None:
        messages = [message for turn in messages_of(transcript.turns) for message in turn]
    return [Check(*outcome) for outcome in judge(asked.assertions, messages)] or [
        Check("assertions", None, "the recording checks nothing; name a suite")
    ]
