"""What is said where a tool expectation is not met: short texts for people, made of values of any size.

Every function takes `cover`, which covers the secrets in a text and keeps its length: what is cut is covered before.
"""

import json
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeAlias

from golden.expectation import Alternative, ToolExpectation
from golden.outcome import ABSENT, Broken, Difference, Nearest, Order, Outcome
from golden.transcript import ToolCall
from golden.wildcards import EvalAny, EvalRegex, key_text

Cover: TypeAlias = Callable[[str], str]

# The most characters of one plain value, of anything made of several, and of a path.
_VALUE, _WHOLE, _PATH = 60, 200, 120

# The most items of an object or a list, and how deep they are shown.
_ITEMS, _DEPTH = 8, 3

# How much of a long text is shown before the character at which it differs.
_BEFORE = 20


def describe(expectation: ToolExpectation, cover: Cover) -> str:
    """Writes an expectation as a call: `exec_ui(kind="openPanel", params={id: any, component: /^chart:/})`."""
    return _cut(" or ".join(_alternative(one, cover) for one in expectation.alternatives), _WHOLE)


def describe_call(call: ToolCall, cover: Cover) -> str:
    """Writes a call in the same way."""
    given = _arguments(call.args, cover) if call.parsed else _value(call.args, cover)
    return _cut(f"{_name(call.name, cover)}({given})", _WHOLE)


def describe_difference(difference: Difference, cover: Cover) -> str:
    """Says where a call differs, and how: `params.kind: expected "openFile", came "openPanel"`."""
    path, expected, came = difference
    if isinstance(came, Broken):
        texts = "whole JSON", _value(came.text, cover)
    elif isinstance(expected, list) and isinstance(came, list):
        texts = _count(len(expected), "item"), str(len(came))
    elif isinstance(expected, str) and isinstance(came, str):
        start = _apart(expected, came)
        texts = _quoted(expected, cover, start), _quoted(came, cover, start)
    else:
        texts = _cut(_value(expected, cover), _WHOLE), _cut(_value(came, cover), _WHOLE)
    covered = cover(path)
    shown = covered if len(covered) <= _PATH else f"…{covered[1 - _PATH :]}"
    return f"{shown}: expected {texts[0]}, came {texts[1]}"


def unpaired(outcome: Outcome, calls: Sequence[ToolCall], cover: Cover) -> str:
    """Says why an expectation is not met by the calls it was paired with; "" where it is."""
    expectation, _, places, matching, nearest = outcome
    paired = len(places)
    wanted = describe(expectation, cover)
    matched = f"{_count(matching, 'call')} {'matches' if matching == 1 else 'match'}"
    parts = []
    if paired < expectation.min_count:
        times = f"{_count(expectation.min_count, 'call')} of " if expectation.min_count > 1 else ""
        parts.append(f"expected {times}{wanted}")
        if matching > paired:
            parts.append(f"{matched}, {matching - paired} paired with other expectations")
        elif matching:
            parts.append(matched)
        if nearest:
            parts.append(_nearest(nearest, calls, cover))
        elif not calls:
            parts.append("no tool was called")
    if expectation.max_count is not None and matching > expectation.max_count:
        parts.append(f"expected at most {_count(expectation.max_count, 'call')} of {wanted}; {matched}")
    return "; ".join(parts)


def out_of_order(expectations: Sequence[ToolExpectation], order: Order, calls: Sequence[ToolCall], cover: Cover) -> str:
    """Says where an order was not kept; "" where it was."""
    places, earlier, nearest = order
    if len(places) == len(expectations):
        return ""
    parts = [f"expected {describe(expectations[len(places)], cover)}"]
    if places:
        parts[0] += f" after the {_ordinal(places[-1])} call, {describe_call(calls[places[-1]], cover)}"
    if earlier is not None:
        parts.append(f"the {_ordinal(earlier)} call matches, and came before")
    if nearest:
        parts.append(_nearest(nearest, calls, cover))
    elif earlier is None:
        parts.append("no call came after it" if calls else "no tool was called")
    return "; ".join(parts)


def not_first(expectation: ToolExpectation, difference: Difference, calls: Sequence[ToolCall], cover: Cover) -> str:
    """Says why the first call is not the one expected."""
    came = f"the first call, {_differs(Nearest(0, difference), calls, cover)}" if calls else "no tool was called"
    return f"expected {describe(expectation, cover)} as the first call; {came}"


def _nearest(nearest: Nearest, calls: Sequence[ToolCall], cover: Cover) -> str:
    return f"the nearest call, {_ordinal(nearest.place)}, {_differs(nearest, calls, cover)}"


def _differs(nearest: Nearest, calls: Sequence[ToolCall], cover: Cover) -> str:
    call = describe_call(calls[nearest.place], cover)
    return f"{call}, differs at {describe_difference(nearest.difference, cover)}"


def _alternative(one: Alternative, cover: Cover) -> str:
    parts = [] if one.params is None else [_arguments(one.params, cover)]
    parts += ["nothing else"] if one.strict and one.params else ["nothing"] if one.strict else []
    name = _name(one.tool, cover)
    return f"{name}({', '.join(filter(None, parts))})" if parts else name


def _arguments(args: object, cover: Cover) -> str:
    return _items(args, cover, "=", _DEPTH) if isinstance(args, dict) else _value(args, cover)


def _items(items: dict[str, object], cover: Cover, sign: str, depth: int) -> str:
    parts = [
        f"{key_text(_cut(cover(key), _VALUE))}{sign}{_value(value, cover, depth)}"
        for key, value in islice(items.items(), _ITEMS)
    ]
    return ", ".join([*parts, "…"] if len(items) > _ITEMS else parts)


def _value(value: object, cover: Cover, depth: int = _DEPTH) -> str:
    if value is EvalAny or value is ABSENT:
        return "any" if value is EvalAny else "nothing"
    if isinstance(value, EvalRegex):
        return f"/{_cut(cover(value.pattern), _VALUE)}/"
    if isinstance(value, str):
        return _quoted(value, cover)
    if isinstance(value, (dict, list)) and value and depth == 0:
        return "{…}" if isinstance(value, dict) else "[…]"
    if isinstance(value, dict):
        return f"{{{_items(value, cover, ': ', depth - 1)}}}"
    if isinstance(value, list):
        parts = [_value(item, cover, depth - 1) for item in value[:_ITEMS]]
        return f"[{', '.join([*parts, '…'] if len(value) > _ITEMS else parts)}]"
    return _cut(cover(json.dumps(value, default=repr)), _VALUE)


def _quoted(text: str, cover: Cover, start: int = 0) -> str:
    covered = cover(text)
    cut = _cut(covered[start:], _VALUE)
    return json.dumps(f"…{cut}" if start else cut, ensure_ascii=False)


def _apart(one: str, other: str) -> int:
    """From where two texts are shown so that one sees how they differ."""
    if max(len(one), len(other)) <= _VALUE:
        return 0
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return max(0, same - _BEFORE)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _name(name: str, cover: Cover) -> str:
    return _cut(cover(name), _VALUE) or "(no name)"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _ordinal(place: int) -> str:
    number = place + 1
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
