"""Suite files: read, with all their faults at once and each in its place, and written."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from golden.document import TOO_DEEP, Place, fault, parsed, read_bytes, shown
from golden.errors import Fault, SuiteError, did_you_mean
from golden.suite import (
    CHECKS_NOTHING,
    TAGS,
    WRONG,
    Case,
    Defaults,
    Header,
    Part,
    Pattern,
    Spelled,
    Suite,
    contradiction,
    derived_id,
    merged,
    spelled,
    unique_id,
)

# What a validation error says that something else was expected, in our words.
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "int_type": "a whole number",
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

# The ids that are taken in a run: by which case, and by which question.
_Ids = dict[str, tuple[str, object]]


class _Outline(Header):
    """A suite whose cases are yet to be looked at, each on its own."""

    defaults: Any = None
    cases: list[Any] = Field(min_length=1)

    synonyms: ClassVar = Suite.synonyms


def load_suite(path: str | PathLike[str], *, follow_links: bool = True) -> Suite:
    """Reads one suite file.

    Args:
        path: a JSON file.
        follow_links: whether the file may be a symbolic link.

    Raises:
        SuiteError: with every fault of the file.
    """
    return load_suites([path], follow_links=follow_links)[0]


def load_suites(paths: Iterable[str | PathLike[str]], *, follow_links: bool = True) -> list[Suite]:
    """Reads the suite files of one run, in which no two cases have the same id.

    Args:
        paths: JSON files.
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
            document, flaws = parsed(path, data)
            suite = _File(path, document).suite(flaws, ids)
            suites.append(suite.read_from(path, hashlib.sha256(data).hexdigest()))
        except SuiteError as error:
            faults += error.faults
    if faults:
        raise SuiteError(faults)
    return suites


def dump_suite(suite: Suite) -> str:
    """Writes a suite as JSON that reads back equal."""
    data = suite.model_dump(mode="json", exclude_defaults=True)
    data["cases"] = [{"id": case.pop("id"), "question": case.pop("question"), **case} for case in data["cases"]]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


class _File:
    """One suite file on its way: what it holds, and what is wrong with it."""

    def __init__(self, path: str, document: dict[str, Any]) -> None:
        self._path = path
        self._document = document
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
        if problem := contradiction(merged(self._defaults, read.values)):
            self._add(place, problem, "keep one of them")
        if (case_id := _case_id(read.values)) is not None:
            given = "id" in read.values
            here = (self._place(place), None if given else read.values["question"])
            first = ids.setdefault(unique_id(case_id), here)
            if first is not here and not given and first[1] == here[1]:
                self._add(place, f"the same question as {first[0]}", "give one of them an `id`")
            elif first is not here:
                taken = f"{shown(case_id)} is the id of {first[0]} too"
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
            self._add((*place, key), f"the same field as `{other}`, which is given too", "keep one of them")
        try:
            values = merged(defaults or {}, read.values) if isinstance(raw, dict) else raw
            return model.model_validate(values), read, set()
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False)
        for error in errors:
            self._tell(error, model, place, read.written)
        return None, read, {error["loc"][0] if error["loc"] else "" for error in errors}

    def _tell(self, error: ErrorDetails, model: type[Part], place: Place, written: Mapping[str, str]) -> None:
        """Says a validation error in our words."""
        kind, context = error["type"], error.get("ctx", {})
        inner = [part for part in error["loc"] if part not in TAGS]
        if inner:
            inner[0] = written.get(str(inner[0]), inner[0])
        place = (*place, *inner)
        if kind in _TOLD or (context.get("problem") == CHECKS_NOTHING and not self._defaults_are_sound):
            return
        if kind == WRONG:
            self._add(place, context["problem"], context["remedy"])
        elif kind == "missing":
            self._add(place, "missing")
        elif kind == "extra_forbidden":
            self._add(place, "unknown field", _nearest(str(inner[-1]), model if len(inner) == 1 else Pattern))
        else:
            value = self._at(place)
            expected = _EXPECTED.get(kind, "what the schema says").format(**context)
            self._add(place, f"expected {expected}, got {shown(value)}", _remedy(kind, inner, value))

    def _add(self, path: Place, problem: str, remedy: str = "") -> None:
        self._faults[Fault(self._place(path), problem, remedy)] = None

    def _place(self, path: Place) -> str:
        """Names a place: `file: cases[3] "case-id": field[0]`."""
        parts = [self._path]
        if len(path) > 1 and path[0] in ("cases", "prompts") and isinstance(path[1], int):
            parts.append(f"{path[0]}[{path[1]}]{self._label(path)}")
            path = path[2:]
        elif len(path) > 1 and path[0] == "defaults":
            parts.append("defaults")
            path = path[1:]
        steps = "".join(f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in path)
        return ": ".join([*parts, steps.removeprefix(".")] if steps else parts)

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
    case_id, question = values.get("id"), values.get("question")
    if isinstance(case_id, str):
        return case_id
    return derived_id(question) if case_id is None and isinstance(question, str) else None


def _nearest(key: str, model: type[Part]) -> str:
    for other, owner in ((Case, "a case"), (Suite, "the suite itself")):
        if key in other.spellings():
            return f"it belongs in {owner}"
    return did_you_mean(key, model.spellings())


def _remedy(kind: str, path: list[int | str], value: object) -> str:
    if kind == "list_type" and isinstance(value, str):
        return f"write [{shown(value)}]"
    return "give the reason, as text" if path == ["skip"] and isinstance(value, bool) else ""


def _key(key: str) -> str:
    return key if key.isidentifier() else shown(key)
