"""JSON in and out of events: the one door to pydantic_core, several times faster than `json` on small payloads."""

import json

from pydantic_core import PydanticSerializationError, from_json, to_json

# The depth at which the fast parser stops. The slow one is held to it too: what is read must also be written.
_DEPTH = 200


def parse(data: str) -> tuple[object, str]:
    """Reads one JSON text.

    Returns:
        (value, fault). `fault` is "" for sound JSON, else what is wrong with it. NaN and the infinities are a fault
        (RFC 8259 has none) and still give their value, as an agent's score of NaN must be spoken of; lone surrogate
        halves are kept and are no fault, as the other half may be in the next delta. What cannot be read gives None.
    """
    try:
        # Keys come again with each event, values hardly ever.
        return from_json(data, allow_inf_nan=False, cache_strings="keys"), ""
    except (ValueError, TypeError) as error:  # TypeError: a lone surrogate half as it is, not as an escape
        return _parse_odd(data, str(error))


def _parse_odd(data: str, fault: str) -> tuple[object, str]:
    constants: list[str] = []

    def constant(name: str) -> float:
        constants.append(name)
        return float(name)

    try:
        value = json.loads(data, parse_constant=constant)
    except (ValueError, RecursionError):
        return None, fault
    if _deeper(value, _DEPTH):
        return None, f"nested more than {_DEPTH} deep"
    return value, f"{constants[0]} is not JSON" if constants else ""


def _deeper(value: object, depth: int) -> bool:
    level: list[dict[str, object] | list[object]] = [[value]]
    for _ in range(depth + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def at(value: object, path: str) -> object:
    """Returns what stands at a dotted path of an object, None where nothing does."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def dump(value: object) -> str:
    """Writes a value as one line of JSON: plain values, and what pydantic knows (models, dataclasses, dates).

    Raises:
        TypeError: the value has a part that JSON cannot say.
    """
    try:
        return json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise TypeError(str(error)) from None
