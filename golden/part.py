"""The base of what a suite is made of: strict in its types, read in both spellings of its fields."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from golden.errors import Fault, SuiteError

WRONG = "golden"
"""The type of those validation errors that are our own: their `ctx` has the `flaws`."""


Flaw = tuple[str, str, tuple[str | int, ...]]
"""(problem, remedy or "", the path from what is validated to where it stands)."""


def wrong(problem: str, remedy: str = "") -> PydanticCustomError:
    """Returns an error that says what is wrong with a value in our words."""
    return wrongs([(problem, remedy, ())])


def wrongs(flaws: Iterable[Flaw]) -> PydanticCustomError:
    """Returns one error for several flaws of a value: pydantic takes one of each validator."""
    told = tuple(flaws)
    text = "; ".join(f"{problem}: {remedy}" if remedy else problem for problem, remedy, _ in told)
    return PydanticCustomError(WRONG, "{text}", {"text": text, "flaws": told})


SAME_FIELD = "the same field as `{}`, which is given too"
"""What is wrong with a field that is given in two spellings."""


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


class Part(BaseModel):
    """Strict in its types, and read in both spellings: `max_tool_calls` and `maxToolCalls`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    synonyms: ClassVar[dict[str, str]] = {}

    def __init__(self, **fields: Any) -> None:
        """Makes one of its fields; what is wrong with them is a `SuiteError`, with every fault."""
        try:
            super().__init__(**fields)
        except ValidationError as invalid:
            raise SuiteError(faults_of(type(self).__name__, invalid)) from None

    # Else pydantic would call it for the parts of parts too, and stop at the first fault.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

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
        read = spelled(cls, data)
        if read.twice:
            raise cls._faulty(data, read)
        return cls._settled(read.values)

    @classmethod
    def _faulty(cls, data: object, read: Spelled) -> ValidationError:
        """Says which fields are given twice, and all else that is wrong."""
        errors = [InitErrorDetails(type=_twice(read), loc=(), input=data)]
        try:
            cls.model_validate(read.values)
        except ValidationError as invalid:
            for error in invalid.errors(include_url=False):
                kind, context = error["type"], error.get("ctx", {})
                told = PydanticCustomError(WRONG, "{text}", context) if kind == WRONG else kind
                errors.append(InitErrorDetails(type=told, loc=error["loc"], input=error["input"], ctx=context))
        return ValidationError.from_exception_data(cls.__name__, errors)

    @classmethod
    def fields_of(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what an object gives, under the names of the fields.

        Raises:
            PydanticCustomError: two of its keys are one field.
        """
        read = spelled(cls, data)
        if read.twice:
            raise _twice(read)
        return read.values

    @classmethod
    def _settled(cls, values: dict[str, Any]) -> dict[str, Any]:
        return values

    def __eq__(self, other: object) -> bool:
        """Two are equal when they say the same, wherever they were read from."""
        return type(self) is type(other) and self.__dict__ == other.__dict__


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


def _twice(read: Spelled) -> PydanticCustomError:
    return wrongs((SAME_FIELD.format(other), "keep one of them", (key,)) for key, other in read.twice)


def faults_of(place: str, invalid: ValidationError) -> list[Fault]:
    """Says what is wrong with a part that stands at this place."""
    return [*_faults(place, invalid)]


def _faults(name: str, invalid: ValidationError) -> Iterator[Fault]:
    for error in invalid.errors(include_url=False):
        flaws = error["ctx"]["flaws"] if error["type"] == WRONG else [_flaw(error)]
        for problem, remedy, path in flaws:
            yield Fault(".".join(map(str, (name, *error["loc"], *path))), problem, remedy)


def _flaw(error: ErrorDetails) -> Flaw:
    words = {"extra_forbidden": "unknown field", "missing": "missing"}
    is_reason = error["loc"][-1:] in (("skip",), ("xfail",)) and isinstance(error["input"], bool)
    problem = words.get(error["type"], f"{error['msg']}, got {error['input']!r:.80}")
    return problem, "give the reason, as text" if is_reason else "", ()
