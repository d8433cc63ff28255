"""`Suite` and `Case`: what is asked of an agent, and what must hold of its answers (contract 3)."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias
from unicodedata import normalize

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    PrivateAttr,
    Tag,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from golden.fold import fold
from golden.patterns import LONGEST, PatternError, compile_pattern

WRONG = "golden"
"""The type of those validation errors that are our own: `problem` and `remedy` are in their `ctx`."""

TAGS = ("<phrase>", "<pattern>", "<any>")
"""How pydantic names the kinds of phrase in the place of an error."""

CHECKS_NOTHING = "the case checks nothing"

# A default is added to the case's own value of these; of all others the case's value replaces it.
_ADDED = ("forbidden_phrases", "forbidden_tools")

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


def _wrong(problem: str, remedy: str = "") -> PydanticCustomError:
    template = "{problem}: {remedy}" if remedy else "{problem}"
    return PydanticCustomError(WRONG, template, {"problem": problem, "remedy": remedy})


def _sound_id(value: str) -> str:
    for pattern, problem in _ID_RULES:
        if pattern.search(value):
            raise _wrong(problem, "give the case another `id`")
    return value


def _sound_phrase(value: str) -> str:
    if not fold(value).text:
        raise _wrong("nothing is left of the phrase when it is folded", "white space and Markdown do not count")
    return value


def _sound_pattern(value: str) -> str:
    try:
        compile_pattern(value)
    except PatternError as error:
        raise _wrong(str(error)) from None
    return value


def _kind(value: object) -> str:
    return "<pattern>" if isinstance(value, dict | Pattern) else "<any>" if isinstance(value, list) else "<phrase>"


class Part(BaseModel):
    """Strict in its types, and read in both spellings: `max_tool_calls` and `maxToolCalls`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    synonyms: ClassVar[dict[str, str]] = {}

    @classmethod
    @cache
    def spellings(cls) -> dict[str, str]:
        """Every key that may be written, with the field that it means."""
        return {key: name for name in cls.model_fields for key in (name, to_camel(name))} | cls.synonyms

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return cls._settled(cls._fields(data))

    @classmethod
    def _fields(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        read = spelled(cls, data)
        for key, other in read.twice:
            raise _wrong(f"`{key}` and `{other}` are the same field", "keep one of them")
        return read.values

    @classmethod
    def _settled(cls, values: dict[str, Any]) -> dict[str, Any]:
        return values

    def __eq__(self, other: object) -> bool:
        """Two are equal when they say the same, wherever they were read from."""
        return type(self) is type(other) and self.__dict__ == other.__dict__


class Spelled(NamedTuple):
    """An object of a file under the names of its model's fields.

    Attributes:
        values: the fields; keys that mean none are among them as they are.
        written: for each field, the key that gave it.
        twice: keys passed over because another gave their field.
    """

    values: dict[str, Any]
    written: dict[str, str]
    twice: list[tuple[str, str]]


def spelled(model: type[Part], data: Mapping[str, Any]) -> Spelled:
    """Reads the keys of an object in either spelling."""
    names = model.spellings()
    read = Spelled({}, {}, [])
    for key, value in data.items():
        name = names.get(key, key)
        if name in read.written:
            read.twice.append((key, read.written[name]))
            continue
        read.written[name] = key
        read.values[name] = value
        if key == "timeoutMs" and type(value) in (int, float) and abs(value) < 1e300:
            read.values[name] = value / 1000
    return read


class Pattern(Part):
    """A pattern in place of a phrase. It is searched in the text as it was shown, without folding."""

    regex: Annotated[str, Field(max_length=LONGEST), AfterValidator(_sound_pattern)] = Field(
        description="A regular expression, in the syntax of Python's `regex` package."
    )


_Text: TypeAlias = Annotated[str, Field(pattern=r"\S")]
_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Seconds: TypeAlias = Annotated[float, Field(gt=0)]
_Phrase: TypeAlias = Annotated[str, AfterValidator(_sound_phrase), Field(min_length=1), Tag("<phrase>")]
_Pattern: TypeAlias = Annotated[Pattern, Tag("<pattern>")]
Phrase: TypeAlias = Annotated[_Phrase | _Pattern, Discriminator(_kind)]
Phrases: TypeAlias = Annotated[
    _Phrase | _Pattern | Annotated[list[Phrase], Field(min_length=1), Tag("<any>")], Discriminator(_kind)
]


class Checks(Part):
    """What may be asked of the answer to one question. An empty list checks nothing."""

    expected_tools: list[_Text] = Field(default=[], description="Each of these tools was called, in any order.")
    forbidden_tools: list[_Text] = Field(default=[], description="None of these tools was called.")
    expect_no_tool_call: bool = Field(default=False, description="No tool was called.")
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

    timeout_s: _Seconds | None = Field(default=None, description="Seconds for one turn, to the end of its stream.")
    model: _Text | None = Field(default=None, description="The model asked for.")
    system_prompt: str | None = Field(default=None, description="The system prompt asked for.")
    tags: list[_Text] = Field(default=[], description="Names to select cases by.")
    metadata: dict[str, JsonValue] = Field(default={}, description="Anything else; it is kept in the results.")
    skip: _Text | None = Field(default=None, description="Why the case is not run.")

    synonyms: ClassVar[dict[str, str]] = {"timeoutMs": "timeout_s"}


def derived_id(question: str) -> str:
    """Returns the id of a case that gives none."""
    question = normalize("NFC", question)
    name = re.sub(r"[\W_]+", "-", question.lower()).strip("-")
    if 0 < len(name) <= 60:
        return name
    return f"{name[:60]}-{hashlib.sha256(question.encode(errors='replace')).hexdigest()[:6]}"


def unique_id(case_id: str) -> str:
    """Returns what no two ids of a run may have in common: case does not count, as files are named after ids."""
    return normalize("NFC", normalize("NFC", case_id).casefold())


def merged(defaults: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a case's fields with the defaults where it has none; both under the fields' own names."""
    values = {**defaults, **case}
    for name in _ADDED:
        own, added = case.get(name), defaults.get(name)
        if isinstance(own, list) and isinstance(added, list):
            values[name] = own + [item for item in added if item not in own]
    return values


def contradiction(values: Mapping[str, object]) -> str:
    """Says what excludes what in the fields of a case, or ""."""
    if values.get("expect_no_tool_call") is True and values.get("expected_tools"):
        return "`expect_no_tool_call` and `expected_tools` exclude each other"
    return ""


class Case(Defaults):
    """One pinned behaviour: what is asked, and what must hold of the answer.

    `Case(question="What is AAPL at?", expected_tools=["get_quote"])`
    """

    question: _Text = Field(description="What is asked of the agent.")
    id: Annotated[
        str,
        AfterValidator(_sound_id),
        WithJsonSchema({"type": "string", "pattern": rf"^(?!\.){_IN_ID}{{1,120}}(?<![. ])$"}),
    ] = Field(
        default="", description="Unique in the run without regard to case; made from the question where it is left out."
    )

    synonyms: ClassVar[dict[str, str]] = {**Defaults.synonyms, "prompt": "question"}

    _line: int | None = PrivateAttr(None)

    @property
    def has_patterns(self) -> bool:
        """Whether a phrase of it is a pattern, which may take its time."""
        phrases = (*self.forbidden_phrases, *self.required_phrases)
        choices = (phrase if isinstance(phrase, list) else [phrase] for phrase in phrases)
        return any(isinstance(choice, Pattern) for each in choices for choice in each)

    @property
    def line(self) -> int | None:
        """Where the case begins in its file, where that is known."""
        return self._line

    @classmethod
    def _settled(cls, values: dict[str, Any]) -> dict[str, Any]:
        question = values.get("question")
        return {"id": derived_id(question), **values} if isinstance(question, str) else values

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if problem := contradiction(self.__dict__):
            raise _wrong(problem, "keep one of them")
        if all(getattr(self, name) == field.default for name, field in Checks.model_fields.items()):
            raise _wrong(CHECKS_NOTHING, "say what must hold, for example `expected_tools`")
        return self


def _given(part: Defaults | dict[str, Any]) -> dict[str, Any]:
    """The fields that a case or the defaults were given."""
    return Case._fields(part) if isinstance(part, dict) else part.model_dump(exclude_unset=True)


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
                raise _wrong(problem, "give one of them another `id`")
        return self


def unmet(suite: Suite, environ: Mapping[str, str]) -> list[str]:
    """Returns those names of `requires_env` that are unset or empty: where there is one, the suite is skipped."""
    return [name for name in suite.requires_env if not environ.get(name)]
