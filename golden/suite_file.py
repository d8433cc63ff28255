"""Suite files: read, with all their faults at once and each in its place, and written."""

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from golden.document import TOO_DEEP, Place, Position, fault, parsed, read_bytes, shown
from golden.errors import Fault, SuiteError, did_you_mean
from golden.expectation import Alternative, ToolExpectation
from golden.identity import unique_id
from golden.part import SAME_FIELD, WRONG, Part, Spelled, spelled
from golden.phrase import TAGS, Pattern
from golden.suite import (
    CHECKS_NOTHING,
    SCORER,
    Case,
    Defaults,
    Header,
    Question,
    Suite,
    contradictions,
    derived_id,
    first_question,
    merged,
)
from golden.wildcards import EvalRegex

# What a validation error says that something else was expected, in our words: by its pattern or its kind.
_EXPECTED = {
    "": "what the schema says",
    SCORER: "MODULE:NAME",
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "int_type": "a whole number",
    "invalid-json-value": "what JSON can say",
    "less_than_equal": "at most {le:g}",
    "list_type": "a list",
    "model_type": "an object",
    "string_pattern_mismatch": "text that is not blank",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "text that is not empty",
    "string_type": "text",
    "too_short": "at least one item",
    "union_tag_invalid": 'a phrase or {{"regex": "..."}}',
}

_TOLD = {"finite_number", "string_unicode"}  # by `_flaws`

_Part = TypeVar("_Part", bound=Part)

_YAML = (".yaml", ".yml")

# The fields whose items are parts of their own.
_INNER: Mapping[str, type[Part]] = {
    "any_of": Alternative,
    "expect": ToolExpectation,
    "expect_first": ToolExpectation,
    "expect_order": ToolExpectation,
    "forbidden_phrases": Pattern,
    "required_phrases": Pattern,
    "turns": Question,
}

# What a text alone probably was to be in these.
_NAMED: Mapping[type[Part] | None, str] = {Alternative: "tool", ToolExpectation: "tool", Question: "question"}

# The ids that are taken in a run: by which case (how to name its place), and by which question.
_Ids = dict[str, tuple[Callable[[], str], object]]


class _Outline(Header):
    """A suite whose cases are yet to be looked at, each on its own."""

    defaults: Any = None
    cases: list[Any] = Field(min_length=1)

    synonyms: ClassVar = Suite.synonyms


def load_suite(path: str | PathLike[str], *, follow_links: bool = True) -> Suite:
    """Reads one suite file.

    Args:
        path: a JSON file; a YAML file where its name ends in `.yaml` or `.yml`.
        follow_links: whether the file may be a symbolic link.

    Raises:
        SuiteError: with every fault of the file.
    """
    return load_suites([path], follow_links=follow_links)[0]


def load_suites(paths: Iterable[str | PathLike[str]], *, follow_links: bool = True) -> list[Suite]:
    """Reads the suite files of one run, in which no two cases have the same id.

    Args:
        paths: JSON files, and YAML files by their names.
        follow_links: whether a file may be a symbolic link.

    Raises:
        SuiteError: with every fault of every file.
    """
    faults: list[Fault] = []
    suites: list[Suite] = []
    files: dict[Path, str] = {}
    ids: _Ids = {}
    for path in map(str, paths):
        try:
            data = read_bytes(path, follow_links)
            file = Path(path).resolve()
            if file in files:
                raise fault(path, f"the same file as {files[file]}", "name it once")
            files[file] = path
            document, flaws, positions = _parsed(path, data)
            suite = _File(path, document, positions).suite(flaws, ids)
            suites.append(suite.read_from(path, hashlib.sha256(data).hexdigest()))
        except SuiteError as error:
            faults += error.faults
    if faults:
        raise SuiteError(faults)
    return suites


def dump_suite(suite: Suite) -> str:
    """Writes a suite as JSON that reads back equal."""
    data = suite.model_dump(mode="json", exclude_defaults=True)
    first = ("id", "question", "turns")
    data["cases"] = [{name: case[name] for name in first if name in case} | case for case in data["cases"]]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _parsed(path: str, data: bytes) -> tuple[dict[str, Any], list[tuple[Place, str]], Mapping[Place, Position]]:
    if Path(path).suffix.lower() not in _YAML:
        return (*parsed(path, data), {})
    module = importlib.import_module("golden.yaml_document")  # its library loads only where a suite needs it
    document, flaws, positions = module.parsed(path, data)
    return document, flaws, positions


class _File:
    """One suite file on its way: what it holds, and what is wrong with it."""

    def __init__(self, path: str, document: dict[str, Any], positions: Mapping[Place, Position]) -> None:
        self._path = path
        self._document = document
        self._positions = positions
        self._faults: dict[Fault, None] = {}  # in order, each once
        self._defaults: dict[str, Any] = {}
        self._defaults_are_sound = True

    def suite(self, flaws: list[tuple[Place, str]], ids: _Ids) -> Suite:
        """Validates the whole.

        Args:
            flaws: of the document as JSON.
            ids: those taken in the run so far; this file's are added.

        Raises:
            SuiteError: with every fault.
        """
        for path, problem in flaws:
            self._add(path, problem)
        if any(problem == TOO_DEEP for _, problem in flaws):
            raise SuiteError([*self._faults])
        _, outline, _ = self._read(_Outline, self._document, ())
        if (defaults := outline.values.get("defaults")) is not None:
            _, read, faulty = self._read(Defaults, defaults, ("defaults",))
            self._defaults = {name: value for name, value in read.values.items() if name not in faulty}
            self._defaults_are_sound = not faulty
        listed = outline.values.get("cases")
        key = outline.written.get("cases", "")
        cases = [self._case(raw, (key, i), ids) for i, raw in enumerate(listed if isinstance(listed, list) else ())]
        if self._faults:
            raise SuiteError([*self._faults])
        return Suite.model_validate({**outline.values, "defaults": None, "cases": cases})

    def _case(self, raw: object, place: Place, ids: _Ids) -> Case | None:
        case, read, _ = self._read(Case, raw, place, self._defaults)
        if case is not None and place in self._positions:
            case.read_from(self._positions[place][0])
        turns = read.values.get("turns")
        parts = {place: merged(self._defaults, read.values)}
        for index, turn in enumerate(turns if isinstance(turns, list) else ()):
            parts[(*place, "turns", index)] = spelled(Question, turn).values if isinstance(turn, dict) else {}
        for at, values in parts.items():
            for problem in contradictions(values):
                self._add(at, problem, "keep one of them")
        if (case_id := _case_id(read.values)) is not None:
            given = "id" in read.values
            here = (partial(self._place, place), None if given else first_question(read.values))
            first = ids.setdefault(unique_id(case_id), here)
            if first is not here and not given and first[1] == here[1]:
                self._add(place, f"the same question as {first[0]()}", "give one of them an `id`")
            elif first is not here:
                taken = f"{shown(case_id)} is the id of {first[0]()} too"
                self._add((*place, "id") if given else place, taken, "give one of them another `id`")
        return case

    def _read(
        self, model: type[_Part], raw: object, place: Place, defaults: Mapping[str, Any] | None = None
    ) -> tuple[_Part | None, Spelled, set[str | int]]:
        """Validates one part of the document, telling what is wrong.

        Returns:
            (the part or None, its fields as they are written, the names of those at fault).
        """
        read = spelled(model, raw) if isinstance(raw, dict) else Spelled({}, {}, [])
        for key, other in read.twice:
            self._add((*place, key), SAME_FIELD.format(other), "keep one of them")
        try:
            values = merged(defaults or {}, read.values) if isinstance(raw, dict) else raw
            return model.model_validate(values), read, set()
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False)
        for error in errors:
            self._tell(error, model, place)
        return None, read, {error["loc"][0] if error["loc"] else "" for error in errors}

    def _tell(self, error: ErrorDetails, model: type[Part], place: Place) -> None:
        """Says a validation error in our words."""
        kind, context = error["type"], error.get("ctx", {})
        if kind in _TOLD:
            return
        path = tuple(part for part in error["loc"] if part not in TAGS)
        path = path[:1] if path[:1] == ("metadata",) else path  # below it pydantic names types too
        for step in path[:-1]:
            model = _INNER.get(str(step), model)
        if kind == WRONG:
            for problem, remedy, inner in context["flaws"]:
                if problem != CHECKS_NOTHING or self._defaults_are_sound:
                    self._add(self._written(self._written(place, path), inner, exact=True), problem, remedy)
        elif kind == "missing":
            self._add(self._written(place, path), "missing")
        elif kind == "extra_forbidden":
            self._add((*self._written(place, path[:-1]), path[-1]), "unknown field", _nearest(str(path[-1]), model))
        else:
            place = self._written(place, path)
            value = self._at(place)
            known = next(key for key in (context.get("pattern"), kind, "") if key in _EXPECTED)
            expected = _EXPECTED[known].format(**context)
            self._add(place, f"expected {expected}, got {shown(value)}", _remedy(kind, path, value))

    def _written(self, place: Place, path: Place, *, exact: bool = False) -> Place:
        """Where in the document the value at a path of fields stands: under the keys that are written there.

        Of two keys that mean one field that is the first, or, where it is `exact`, the one in the path.
        """
        part: Any = self._at(place)
        fields = True
        for step in path:
            if isinstance(part, dict) and isinstance(step, int):
                continue  # one expectation, where there may be a list
            if isinstance(part, dict):
                keys = (step,) if not fields or (exact and step in part) else (step, *_KEYS.get(step, ()))
                place = (*place, next((key for key in part if key in keys), step))
                part = part.get(place[-1])
                fields = fields and step not in _OPEN
            elif isinstance(part, list):
                place, part = (*place, step), part[int(step)]
        return place

    def _add(self, path: Place, problem: str, remedy: str = "") -> None:
        self._faults[Fault(self._place(path), problem, remedy)] = None

    def _place(self, path: Place) -> str:
        """Names a place: `file: cases[3] "case-id": field[0]`, with line and column behind the file where known."""
        parts = [":".join(map(str, (self._path, *self._position(path))))]
        if len(path) > 1 and path[0] in ("cases", "prompts") and isinstance(path[1], int):
            parts.append(f"{path[0]}[{path[1]}]{self._label(path)}")
            path = path[2:]
        elif len(path) > 1 and path[0] == "defaults":
            parts.append("defaults")
            path = path[1:]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in path)
        return ": ".join([*parts, steps.removeprefix(".")] if steps else parts)

    def _position(self, path: Place) -> tuple[int, ...]:
        """Where a place is, or what is around it where that is missing; () where no places are known."""
        around = (path[:length] for length in range(len(path), -1, -1))
        return next((self._positions[place] for place in around if place in self._positions), ())

    def _at(self, path: Place) -> object:
        part: Any = self._document
        for step in path:
            part = part[step]
        return part

    def _label(self, path: Place) -> str:
        raw = self._at(path[:2])
        case_id = _case_id(spelled(Case, raw).values) if isinstance(raw, dict) else None
        return "" if case_id is None else f" {shown(case_id)}"


def _case_id(values: Mapping[str, object]) -> str | None:
    """The id that a case gives or that its question makes; None where neither is text."""
    case_id, question = values.get("id"), first_question(values)
    if isinstance(case_id, str):
        return case_id
    return derived_id(question) if case_id is None and question is not None else None


# What stands in these is not ours: its keys are no fields.
_OPEN = ("metadata", "params")


# For each field, every key that may stand for it.
_KEYS: dict[object, list[str]] = {}
for _model in (Suite, Case, Question, ToolExpectation):
    for _spelling, _name in _model.spellings().items():
        _KEYS.setdefault(_name, []).append(_spelling)


def _nearest(key: str, model: type[Part]) -> str:
    owners: tuple[tuple[type[Part], str], ...] = (
        (ToolExpectation, "a tool expectation, beside `tool` or `any_of`"),
        (Case, "a case"),
        (Suite, "the suite itself"),
    )
    for other, owner in owners:
        if key in other.spellings():
            return f"it belongs in {owner}"
    return did_you_mean(key, model.spellings())


def _remedy(kind: str, path: Place, value: object) -> str:
    field = next((step for step in reversed(path) if isinstance(step, str)), "")
    name = _NAMED.get(_INNER.get(field))
    if isinstance(value, EvalRegex) and _INNER.get(field) is Pattern:
        return f"write {shown({'regex': value.pattern})}"
    if isinstance(value, str) and (kind == "list_type" or (kind == "model_type" and name)):
        item = {name: value} if name else value
        return f"write {shown([item] if kind == 'list_type' else item)}"
    return "give the reason, as text" if path in (("skip",), ("xfail",)) and isinstance(value, bool) else ""


def _key(key: str) -> str:
    return key if key.isidentifier() else shown(key)
