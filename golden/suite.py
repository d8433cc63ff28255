"""`Suite` and `Case`: what is asked of an agent, and what must hold of its answers (contract 3)."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self, TypeAlias, cast
from unicodedata import normalize

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from golden.change import MOST_TRIALS
from golden.expectation import Expectations, OneCall
from golden.identity import unique_id
from golden.part import Part, spelled, wrong, wrongs
from golden.phrase import Pattern, Phrase, Phrases
from golden.wildcards import EvalRegex

CHECKS_NOTHING = "the case checks nothing"

# A default is added to the case's own value of these; of all others the case's value replaces it.
_ADDED = ("forbidden_phrases", "forbidden_tools")

# Where a case says one of a row, the defaults say none of it.
_SET_ASIDE = (("expect", "expect_first", "expect_order", "expect_no_tool_call"), ("retries", "trials"))

# What may change and leave a case the same: another model is another agent, which is what a baseline is for.
_NOT_ASKED = ("id", "tags", "skip", "model")

# Of each row one field at most may say something.
_EXCLUDE = (
    ("expect", "expect_first", "expect_no_tool_call"),
    ("expect_no_tool_call", "expected_tools"),
    ("expect_no_tool_call", "expect_order"),
    ("question", "turns"),
    ("retries", "trials"),
)
# What says nothing: one try is what there is anyway.
_NOTHING: Mapping[str, object] = {"retries": 0, "trials": 1}
_NEVER = object()

SCORER = r"^[^:\s]+:[^:\s]+$"
"""What the name of a scorer looks like."""

_IN_ID = r'[^\x00-\x1f\x7f-\x9f/\\:*?"<>|]'
_ID_RULES = [
    (re.compile(pattern), f"an id {rule}")
    for pattern, rule in (
        (r"\A\Z|\A(?s:.{121})", "has 1 to 120 characters"),
        (r"[\x00-\x1f\x7f-\x9f]", "has no control characters"),
        (r'[/\\:*?"<>|]', 'has none of / \\ : * ? " < > |'),
        (r"\A\.|[. ]\Z", "does not start with a dot or end in a dot or a space"),
        (r"(?i)\A(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|\Z)", "is not the name of a Windows device"),
    )
]


def _sound_id(value: str) -> str:
    for pattern, problem in _ID_RULES:
        if pattern.search(value):
            raise wrong(problem, "give the case another `id`")
    return value


_Text: TypeAlias = Annotated[str, Field(pattern=r"\S")]
_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Seconds: TypeAlias = Annotated[float, Field(gt=0)]


class Checks(Part):
    """What may be asked of the answer to one question. An empty list checks nothing."""

    expected_tools: list[_Text] = Field(default=[], description="Each of these tools was called, in any order.")
    forbidden_tools: list[_Text] = Field(default=[], description="None of these tools was called.")
    expect: Expectations = Field(
        default=cast("Any", []),
        description="One or a list of tool expectations: each has calls of its own that match, in any order.",
    )
    expect_first: OneCall | None = Field(default=None, description="The first call matches this.")
    expect_order: list[OneCall] = Field(
        default=[], description="Some calls match these in this order; others may stand between."
    )
    expect_no_tool_call: bool = Field(default=False, description="No tool was called.")
    simulated_tools: list[_Text] = Field(
        default=[], description="Every result of these tools says `simulated: true`: nothing was done for real."
    )
    forbidden_phrases: list[Phrase] = Field(default=[], description="None of these is in anything shown to the person.")
    required_phrases: list[Phrases] = Field(
        default=[], description="Each of these appears in the answer; of a list within the list, at least one."
    )
    groundedness_threshold: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="The stream's groundedness score is present and at least this."
    )
    max_tool_calls: _Count | None = Field(default=None, description="At most so many tool calls.")
    max_first_token_s: _Seconds | None = Field(default=None, description="At most so many seconds to the first text.")
    max_total_s: _Seconds | None = Field(default=None, description="At most so many seconds to the end of the stream.")
    clean_stream: bool = Field(default=False, description="The stream itself is sound.")


class Defaults(Checks):
    """What the cases of a suite may have in common: all but what tells one from another."""

    scorers: list[Annotated[str, Field(pattern=SCORER)]] = Field(
        default=[], description="Checks of your own, as MODULE:NAME."
    )
    retries: _Count | None = Field(default=None, description="More tries where the case does not pass.")
    trials: int | None = Field(default=None, ge=1, le=MOST_TRIALS, description="Tries, all of which must pass.")
    timeout_s: _Seconds | None = Field(default=None, description="Seconds for one turn, to the end of its stream.")
    model: _Text | None = Field(default=None, description="The model asked for.")
    system_prompt: str | None = Field(default=None, description="The system prompt asked for.")
    tags: list[_Text] = Field(default=[], description="Names to select cases by.")
    metadata: dict[str, JsonValue] = Field(default={}, description="Anything else; it is kept in the results.")
    skip: _Text | None = Field(default=None, description="Why the case is not run.")
    xfail: _Text | None = Field(default=None, description="Why the case is known to fail; it passes when it does.")

    synonyms: ClassVar[dict[str, str]] = {"timeoutMs": "timeout_s"}


def derived_id(question: str) -> str:
    """Returns the id of a case that gives none."""
    question = normalize("NFC", question)
    name = re.sub(r"[\W_]+", "-", question.lower()).strip("-")
    if 0 < len(name) <= 60:
        return name
    return f"{name[:60]}-{hashlib.sha256(question.encode(errors='replace')).hexdigest()[:6]}"


def merged(defaults: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a case's fields with the defaults where it has none; both under the fields' own names."""
    for names in _SET_ASIDE:
        if any(name in case and case[name] != _NOTHING.get(name, _NEVER) for name in names):
            defaults = {name: value for name, value in defaults.items() if name not in names}
    values = {**defaults, **case}
    for name in _ADDED:
        own, added = case.get(name), defaults.get(name)
        if isinstance(own, list) and isinstance(added, list):
            values[name] = own + [item for item in added if _raw(item) not in map(_raw, own)]
    return values


def _raw(phrase: object) -> object:
    return phrase.model_dump() if isinstance(phrase, Pattern) else phrase


def contradictions(values: Mapping[str, object]) -> Iterator[str]:
    """Says what excludes what in the fields of a case or a turn."""
    for names in _EXCLUDE:
        said = [f"`{name}`" for name in names if values.get(name) and values[name] != _NOTHING.get(name)]
        if len(said) > 1:
            yield f"{' and '.join(said)} exclude each other"


class Question(Checks):
    """One turn of several: what is asked, and what must hold of the answer to it."""

    question: _Text = Field(description="What is asked of the agent.")

    synonyms: ClassVar[dict[str, str]] = {"prompt": "question"}

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        _agreed(self)
        return self


class Case(Defaults):
    """One pinned behaviour: what is asked, and what must hold of the answer.

    `Case(question="What is AAPL at?", expected_tools=["get_quote"])`
    """

    question: _Text | None = Field(default=None, description="What is asked of the agent.")
    turns: Annotated[list[Question], Field(min_length=1)] = Field(
        default=[], description="Instead of `question`: the turns of one conversation."
    )
    id: Annotated[
        str,
        AfterValidator(_sound_id),
        WithJsonSchema({"type": "string", "pattern": rf"^(?!\.){_IN_ID}{{1,120}}(?<![. ])$"}),
    ] = Field(
        default="", description="Unique in the run without regard to case; made from the question where it is left out."
    )

    synonyms: ClassVar[dict[str, str]] = {**Defaults.synonyms, "prompt": "question"}

    _line: int | None = PrivateAttr(None)
    _text: str = PrivateAttr("")

    def sha256(self, system_prompt: str | None) -> str:
        """Returns the SHA-256 of what is asked, with that prompt where the case has none, and of what must hold."""
        if not self._text:
            # Without defaults: a field that a later golden adds changes no hash.
            told = self.model_dump(mode="json", exclude={*_NOT_ASKED}, exclude_defaults=True)
            self._text = json.dumps(told, sort_keys=True)
        prompt = self.system_prompt if self.system_prompt is not None else system_prompt
        return hashlib.sha256(json.dumps([self._text, prompt]).encode()).hexdigest()

    @property
    def has_patterns(self) -> bool:
        """Whether it looks for a pattern, which may take its time."""
        return _has_patterns(self)

    @property
    def questions(self) -> tuple[str, ...]:
        """What is asked, turn by turn."""
        return (self.question,) if self.question is not None else tuple(turn.question for turn in self.turns)

    @property
    def line(self) -> int | None:
        """Where the case begins in its file, where that is known."""
        return self._line

    def read_from(self, line: int) -> None:
        """Notes where the case was read from."""
        self._line = line

    @classmethod
    def _settled(cls, values: dict[str, Any]) -> dict[str, Any]:
        question = first_question(values)
        return values if question is None else {"id": derived_id(question), **values}

    @model_validator(mode="after")
    def _asks(self) -> Self:
        _agreed(self)
        if not self.questions:
            raise wrong("nothing is asked", "give a `question`, or `turns`")
        parts: tuple[Checks, ...] = (self, *self.turns)
        if not any(map(_checks, parts)) and not self.scorers:
            raise wrong(CHECKS_NOTHING, "say what must hold, for example `expected_tools`")
        return self


def first_question(values: Mapping[str, Any]) -> str | None:
    """Returns what the fields of a case ask first, None where that is no text."""
    question = values.get("question")
    turns = values.get("turns")
    if question is None and isinstance(turns, list) and turns:
        turn = turns[0]
        question = turn.question if isinstance(turn, Question) else None
        if isinstance(turn, dict):
            question = spelled(Question, turn).values.get("question")
    return question if isinstance(question, str) else None


def _agreed(part: Checks) -> None:
    if problems := [*contradictions(part.__dict__)]:
        raise wrongs((problem, "keep one of them", ()) for problem in problems)


def _checks(part: Checks) -> bool:
    return any(getattr(part, name) != field.default for name, field in Checks.model_fields.items())


def _has_patterns(value: object) -> bool:
    if isinstance(value, Pattern):
        return True
    if isinstance(value, Part):
        value = [*value.__dict__.values()]
    elif isinstance(value, dict):
        value = [*value.values()]
    return any(map(_has_patterns, value)) if isinstance(value, list) else isinstance(value, EvalRegex)


def _given(part: Defaults | dict[str, Any]) -> dict[str, Any]:
    """The fields that a case or the defaults were given."""
    return (
        Case.fields_of(part)
        if isinstance(part, dict)
        else {name: getattr(part, name) for name in part.model_fields_set}
    )


class Header(Part):
    """What a suite says beside its cases."""

    version: int = Field(default=1, ge=1, le=1, description="The version of this format.")
    description: str | None = Field(default=None, description="What the suite is for.")
    model: _Text | None = Field(default=None, description="The model, where neither a case nor `--model` names one.")
    system_prompt: str | None = Field(default=None, description="The system prompt asked for, where a case has none.")
    requires_env: list[_Text] = Field(
        default=[], description="Variables of the environment; where one is unset or empty the suite is skipped."
    )


class Suite(Header):
    """A file of cases. Each case holds its merged values: `defaults` are read, merged, and gone.

    `Suite(cases=[Case(question="What is AAPL at?", expected_tools=["get_quote"])])`
    """

    defaults: Annotated[Defaults | None, AfterValidator(lambda _: None)] = Field(
        default=None, description="What each case has where it says nothing else.", exclude=True
    )
    cases: list[Case] = Field(min_length=1, description="The cases.")

    synonyms: ClassVar[dict[str, str]] = {"prompts": "cases"}

    _path: str | None = PrivateAttr(None)
    _sha256: str | None = PrivateAttr(None)

    @property
    def path(self) -> str | None:
        """The file, as it was named; None for a suite made in Python."""
        return self._path

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of the file's bytes, in hexadecimal; None for a suite made in Python."""
        return self._sha256

    def read_from(self, path: str, sha256: str) -> Self:
        """Notes where the suite was read from, and returns it."""
        self._path, self._sha256 = path, sha256
        return self

    @classmethod
    def _settled(cls, values: dict[str, Any]) -> dict[str, Any]:
        cases = values.get("cases")
        if not values.get("defaults") or not isinstance(cases, list):
            return values
        try:
            defaults = _given(Defaults.model_validate(values["defaults"]))
        except ValidationError:
            return values  # the field's own validation says the same, in its place
        return {
            **values,
            "cases": [merged(defaults, _given(case)) if isinstance(case, dict | Case) else case for case in cases],
        }

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        seen: dict[str, int] = {}
        for index, case in enumerate(self.cases):
            if (first := seen.setdefault(unique_id(case.id), index)) != index:
                problem = f"cases[{index}] has the id of cases[{first}], {case.id!r}"
                raise wrong(problem, "give one of them another `id`")
        return self


def unmet(suite: Suite, environ: Mapping[str, str]) -> list[str]:
    """Returns those names of `requires_env` that are unset or empty: where there is one, the suite is skipped."""
    return [name for name in suite.requires_env if not environ.get(name)]
