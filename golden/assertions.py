"""What a recording asks of itself where no suite does: five kinds of assertions (contract 7)."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from golden.errors import did_you_mean
from golden.patterns import PatternError, PatternTimeout, compile_pattern, search
from golden.recording import Called, Message
from golden.sse import whole

Assertion: TypeAlias = Mapping[str, object]


class Outcome(NamedTuple):
    """What one assertion came to; `ok` is None where it is undecided."""

    kind: str
    ok: bool | None
    message: str


class _Kind(NamedTuple):
    """A kind: its fields, those of them that it cannot do without, and whether it holds, with what to say of that."""

    fields: Mapping[str, type]
    needed: frozenset[str]
    holds: Callable[[Mapping[str, object], Sequence[Message]], tuple[bool, str]]


def fault(assertion: object) -> str:
    """Says what is wrong with an assertion of a file, "" where nothing is. Fields that it does not know pass."""
    if not isinstance(assertion, dict):
        return "an assertion is an object"
    name = assertion.get("kind")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        near = did_you_mean(str(name), KINDS)
        return f"{name!r:.80} is no kind of assertion: expected one of {', '.join(KINDS)}{near and f'; {near}'}"
    for field, expected in kind.fields.items():
        value = assertion.get(field)
        if value is None and field not in kind.needed:
            continue
        sound = type(value) is expected and (not isinstance(value, int) or value >= 0)
        if not sound:
            wanted = "text" if expected is str else "a whole number from 0"
            return f"`{field}` of {name}: expected {wanted}, got {value!r:.80}"
    try:
        compile_pattern(whole(str(assertion.get("matches_regex", ""))))
    except PatternError as error:
        return f"`matches_regex` of {name}: {error}"
    return ""


def judge(assertions: Sequence[Assertion], messages: Sequence[Message]) -> list[Outcome]:
    """Judges sound assertions on a conversation."""
    return [_judged(assertion, messages) for assertion in assertions]


def _judged(assertion: Assertion, messages: Sequence[Message]) -> Outcome:
    name = str(assertion["kind"])
    given = {field: whole(value) if isinstance(value, str) else value for field, value in assertion.items()}
    try:
        return Outcome(name, *KINDS[name].holds(given, messages))
    except PatternTimeout as timeout:
        return Outcome(name, None, str(timeout))


def _calls(messages: Sequence[Message]) -> list[Called]:
    return [call for message in messages for call in message.calls]


def _tool_called(given: Assertion, messages: Sequence[Message]) -> tuple[bool, str]:
    name, order = given["name"], given.get("order")
    least, most = _count(given.get("min_count"), 1), _count(given.get("max_count"), None)
    names = [call.name for call in _calls(messages)]
    count = names.count(str(name))
    if count < (least or 0) or (most is not None and count > most):
        bounds = f"at least {least}" if most is None else f"{least} to {most}"
        return False, f"{name!r} was called {count} times, expected {bounds}"
    at = _count(order, None)
    if at is not None and (at >= len(names) or names[at] != name):
        came = repr(names[at]) if at < len(names) else f"none: there are {len(names)}"
        return False, f"call {at} (counted from 0) is {came}, expected {name!r}"
    return True, f"{name!r} was called {count} times"


def _count(value: object, default: int | None) -> int | None:
    return value if isinstance(value, int) else default


def _no_tool_called(given: Assertion, messages: Sequence[Message]) -> tuple[bool, str]:
    count = [call.name for call in _calls(messages)].count(str(given["name"]))
    return not count, f"{given['name']!r} was called {count} times, expected none"


def _message_contains(given: Assertion, messages: Sequence[Message]) -> tuple[bool, str]:
    role, substring = given["role"], str(given["substring"])
    found = any(message.role == role and substring in message.text for message in messages)
    return found, f"{'a' if found else 'no'} message of {role!r} contains {substring!r:.200}"


def _argument_matches(given: Assertion, messages: Sequence[Message]) -> tuple[bool, str]:
    name, path, pattern = given["name"], str(given["arg_path"]), str(given["matches_regex"])
    values = [_at(call.arguments, path) for call in _calls(messages) if call.name == name]
    if any(isinstance(value, str) and search(pattern, value) for value in values):
        return True, f"an argument {path!r} of {name!r} matches /{pattern}/"
    came = ", ".join(f"{value!r:.80}" for value in values[:5]) or "no call of it"
    return False, f"no argument {path!r} of {name!r} matches /{pattern}/; there is {came}"


def _at(value: object, path: str) -> object:
    """What stands at a dotted path; a number is a place in a list. None where nothing does."""
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _at_most_turns(given: Assertion, messages: Sequence[Message]) -> tuple[bool, str]:
    most = _count(given["max"], 0) or 0
    return len(messages) <= most, f"there are {len(messages)} turns, at most {most} expected"


KINDS: Mapping[str, _Kind] = {
    "tool_called": _Kind(
        {"name": str, "min_count": int, "max_count": int, "order": int}, frozenset({"name"}), _tool_called
    ),
    "no_tool_called": _Kind({"name": str}, frozenset({"name"}), _no_tool_called),
    "message_contains_substring": _Kind(
        {"role": str, "substring": str}, frozenset({"role", "substring"}), _message_contains
    ),
    "tool_call_arg_matches": _Kind(
        {"name": str, "arg_path": str, "matches_regex": str},
        frozenset({"name", "arg_path", "matches_regex"}),
        _argument_matches,
    ),
    "trace_max_turns": _Kind({"max": int}, frozenset({"max"}), _at_most_turns),
}
