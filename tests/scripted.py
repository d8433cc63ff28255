"""Agents and scorers that a test writes as functions of its own, found as golden finds them: by MODULE:NAME."""

import sys
from types import ModuleType

Chunks = list[tuple[str, object]]


def named(thing: object) -> str:
    """Puts an object into a module of its own, and returns its MODULE:NAME."""
    module = ModuleType(f"scripted_{id(thing)}")  # the module holds it, so that no other has its id
    vars(module)["thing"] = thing
    sys.modules[module.__name__] = module
    return f"{module.__name__}:thing"


def says(text: str, *events: tuple[str, object], calls: tuple[str, ...] = ()) -> Chunks:
    """A whole answer: calls of these tools, other events, and the text."""
    called: Chunks = [("tool_call", {"name": name}) for name in calls]
    return [*called, *events, ("token", {"text": text}), ("done", {})]
