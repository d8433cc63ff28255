"""Suites as people write them: written to files, and made by hypothesis with every field in every spelling."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from golden.errors import Fault, SuiteError
from golden.expectation import Alternative, ToolExpectation
from golden.fold import fold
from golden.phrase import Pattern
from golden.suite import Case, Defaults, Question, Suite
from golden.suite_file import load_suite
from golden.wildcards import EvalAny, EvalRegex

CASE = {"id": "a", "question": "What is AAPL at?", "expected_tools": ["get_quote"]}


def write(folder: Path, document: object, name: str = "s.json") -> str:
    """Writes a file: bytes and text as they are, all else as JSON."""
    path = folder / name
    text = document if isinstance(document, str | bytes) else json.dumps(document)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def faults(folder: Path, document: object, name: str = "s.json") -> list[Fault]:
    """The faults of a suite, with the file left out of their places."""
    path = write(folder, document, name)
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    assert all(fault.place.startswith(path) for fault in caught.value.faults)
    return [
        Fault(fault.place.removeprefix(path).removeprefix(": "), fault.problem.replace(path, "FILE"), fault.remedy)
        for fault in caught.value.faults
    ]


def fault(folder: Path, document: object, name: str = "s.json") -> tuple[str, str, str]:
    (only,) = faults(folder, document, name)
    return only


# The fields, under their own names and as Python has them: wildcards are objects, a file's are derived from these.

# YAML may not hold U+007F as it is.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"), max_size=8)
PLAIN = st.text("abcxyz0 é-", min_size=1, max_size=8).filter(str.strip)
PHRASE = st.one_of(
    PLAIN.filter(lambda text: fold(text).text), st.fixed_dictionaries({"regex": st.sampled_from(["a+", r"\d", ""])})
)
SECONDS = st.one_of(st.integers(1, 10**6), st.floats(1e-3, 1e6))
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT)
JSON = st.recursive(
    SCALAR, lambda items: st.one_of(st.lists(items, max_size=3), st.dictionaries(TEXT, items, max_size=3)), max_leaves=5
)
WILDCARD = st.one_of(st.just(EvalAny), st.sampled_from(["^chart:", "", r"\d", "it's"]).map(EvalRegex))
DOLLARS = st.dictionaries(st.sampled_from(["$any", "$regex", "$x", "a"]), SCALAR, max_size=2)
PARAMS = st.dictionaries(
    TEXT.filter(lambda key: not key.startswith("$")),
    st.recursive(
        st.one_of(SCALAR, WILDCARD, DOLLARS.map(lambda value: {"$literal": value})),
        lambda items: st.one_of(st.lists(items, max_size=2), st.dictionaries(PLAIN, items, max_size=2)),
        max_leaves=4,
    ),
    max_size=2,
)
ALTERNATIVE = st.fixed_dictionaries(
    {"tool": PLAIN}, optional={"params": st.one_of(st.none(), PARAMS), "strict": st.booleans()}
)
ONE_CALL = st.one_of(ALTERNATIVE, st.fixed_dictionaries({"any_of": st.lists(ALTERNATIVE, min_size=1, max_size=2)}))
COUNTS = st.fixed_dictionaries(
    {}, optional={"min_count": st.integers(0, 2), "max_count": st.one_of(st.none(), st.integers(2, 4))}
)
EXPECTATION = st.builds(lambda one, counts: {**one, **counts}, ONE_CALL, COUNTS)
CHECKS: dict[str, st.SearchStrategy[Any]] = {
    "expected_tools": st.lists(PLAIN, max_size=2),
    "forbidden_tools": st.lists(PLAIN, max_size=2),
    "expect": st.lists(EXPECTATION, max_size=2),
    "expect_first": st.one_of(st.none(), ONE_CALL),
    "expect_order": st.lists(ONE_CALL, max_size=2),
    "expect_no_tool_call": st.booleans(),
    "simulated_tools": st.lists(PLAIN, max_size=2),
    "forbidden_phrases": st.lists(PHRASE, max_size=2),
    "required_phrases": st.lists(st.one_of(PHRASE, st.lists(PHRASE, min_size=1, max_size=2)), max_size=2),
    "groundedness_threshold": st.one_of(st.none(), st.integers(0, 1), st.floats(0, 1)),
    "max_tool_calls": st.one_of(st.none(), st.integers(0)),
    "max_first_token_s": st.one_of(st.none(), SECONDS),
    "max_total_s": SECONDS,
    "clean_stream": st.booleans(),
}
SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "scorers": st.lists(st.sampled_from(["a:b", "a.b:c"]), max_size=2),
    "retries": st.one_of(st.none(), st.integers(0, 3)),
    "trials": st.one_of(st.none(), st.integers(1, 3)),
    "timeout_s": st.integers(1, 10**5).map(lambda milliseconds: milliseconds / 1000),
    "model": st.one_of(st.none(), PLAIN),
    "system_prompt": TEXT,
    "tags": st.lists(PLAIN, max_size=2),
    "metadata": st.dictionaries(TEXT, JSON, max_size=2),
    "skip": st.one_of(st.none(), PLAIN),
    "xfail": st.one_of(st.none(), PLAIN),
}
HEADER: dict[str, st.SearchStrategy[Any]] = {
    "version": st.just(1),
    "description": TEXT,
    "model": PLAIN,
    "system_prompt": TEXT,
    "requires_env": st.lists(PLAIN, max_size=2),
}

# What may stand beside one another of what excludes one another.
_TOOLS = (
    ("expect", "expect_order", "expected_tools"),
    ("expect_first", "expect_order", "expected_tools"),
    ("expect_no_tool_call",),
)
_TRIES = (("retries",), ("trials",))


def _fields(table: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the fields, none of which excludes another."""

    def chosen(*choices: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
        excluding = {name for row in (*_TOOLS, *_TRIES) for name in row}
        names = [name for name in table if name not in excluding or any(name in choice for choice in choices)]
        return st.fixed_dictionaries({}, optional={name: table[name] for name in names})

    return st.builds(chosen, st.sampled_from(_TOOLS), st.sampled_from(_TRIES)).flatmap(lambda fields: fields)


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    """A suite under the names of its fields, with wildcards as objects."""
    suite = draw(st.fixed_dictionaries({}, optional=HEADER))
    if draw(st.booleans()):
        # A case that names tools beside it would be none.
        suite["defaults"] = {**draw(_fields(CHECKS | SETTINGS)), "expect_no_tool_call": False}
    suite["cases"] = [draw(_cases(index)) for index in range(draw(st.integers(1, 3)))]
    return suite


@st.composite
def _cases(draw: st.DrawFn, index: int) -> dict[str, Any]:
    case = draw(_fields(CHECKS | SETTINGS))
    if case.get("expect_no_tool_call"):
        case["expected_tools"] = []  # or it would have the defaults'
    case |= draw(st.sampled_from([{"clean_stream": True}, {"max_tool_calls": 3}, {"scorers": ["a:b"]}]))
    question = f"{draw(PLAIN)} {index}"
    if draw(st.booleans()):
        turns = draw(st.lists(st.builds(lambda fields, asked: {**fields, "question": asked}, _fields(CHECKS), PLAIN)))
        case["turns"] = [{**draw(_fields(CHECKS)), "question": question}, *turns[:2]]
    else:
        case["question"] = question
    if draw(st.booleans()):
        case["id"] = f"case {index}"
    return case


_SYNONYMS = {"cases": "prompts", "question": "prompt", "timeout_s": "timeoutMs"}


@st.composite
def spelled(draw: st.DrawFn, part: Any) -> Any:
    """The same with its fields in either spelling, and one expectation as itself or in a list."""
    if isinstance(part, list):
        return [draw(spelled(item)) for item in part]
    if not isinstance(part, dict):
        return part
    written: dict[str, Any] = {}
    for name, value in part.items():
        inner = value if name in ("metadata", "params") else draw(spelled(value))
        if name == "expect" and len(value) == 1 and draw(st.booleans()):
            inner = inner[0]
        key = draw(st.sampled_from([name, to_camel(name), _SYNONYMS.get(name, name)]))
        written[key] = round(inner * 1000) if key == "timeoutMs" else inner
    return written


def in_json(value: Any) -> Any:
    """The same as JSON has it."""
    if value is EvalAny:
        return {"$any": True}
    if isinstance(value, EvalRegex):
        return {"$regex": value.pattern}
    if isinstance(value, dict):
        return {key: in_json(item) for key, item in value.items()}
    return [*map(in_json, value)] if isinstance(value, list) else value


def in_yaml(value: Any, indent: str = "\n") -> str:
    """The same as YAML in block style, with tags."""
    if value is EvalAny:
        return "!EvalAny"
    if isinstance(value, EvalRegex):
        return f"!EvalRegex {json.dumps(value.pattern)}"
    inner = f"{indent}  "
    if isinstance(value, dict) and value:
        return "".join(f"{indent}{_key(key)}: {in_yaml(item, inner)}" for key, item in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{indent}- {in_yaml(item, inner)}" for item in value)
    return json.dumps(value)


def _key(key: str) -> str:
    return key if re.fullmatch("[a-z]{6,}", key) else json.dumps(key)


def in_python(suite: dict[str, Any]) -> Suite:
    """The same made of Python's objects."""
    header = {name: value for name, value in suite.items() if name not in ("defaults", "cases")}
    defaults = Defaults(**_checks(suite["defaults"])) if "defaults" in suite else None
    cases = []
    for case in suite["cases"]:
        turns = [Question(**_checks(turn)) for turn in case.get("turns", ())]
        cases.append(Case(**{**_checks(case), **({"turns": turns} if turns else {})}))
    return Suite(**header, defaults=defaults, cases=cases)


def _checks(fields: dict[str, Any]) -> dict[str, Any]:
    def phrase(value: Any) -> Any:
        return Pattern(**value) if isinstance(value, dict) else value

    made: dict[str, Callable[[Any], Any]] = {
        "expect": lambda value: [*map(_expectation, value)],
        "expect_first": lambda value: value and _expectation(value),
        "expect_order": lambda value: [*map(_expectation, value)],
        "forbidden_phrases": lambda value: [*map(phrase, value)],
        "required_phrases": lambda value: [
            [*map(phrase, item)] if isinstance(item, list) else phrase(item) for item in value
        ],
    }
    return {name: made[name](value) if name in made else value for name, value in fields.items()}


def _expectation(fields: dict[str, Any]) -> ToolExpectation:
    any_of = [Alternative(**one) for one in fields.get("any_of", ())]
    return ToolExpectation(**{**fields, **({"any_of": any_of} if any_of else {})})
