"""What is loaded by name: an object named MODULE:NAME, and the members of a rib."""

import importlib
import pkgutil
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from golden.blame import told
from golden.errors import UsageError, did_you_mean


def load_object(name: str, *, option: str) -> object:
    """Imports what `MODULE:NAME` names, with the current folder last on the path; NAME may be dotted.

    Args:
        name: the two parts.
        option: who asks, for the message.

    Raises:
        UsageError: the form is wrong, the module cannot be imported, or it has no such name.
    """
    module_name, colon, attributes = name.partition(":")
    if not (colon and module_name and attributes):
        raise UsageError(f"{option} takes MODULE:NAME, not {name!r}", hint="for example `app.agent:answer`")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        found: object = importlib.import_module(module_name)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise UsageError(
            f"{option}: importing {module_name!r} failed: {told(error)}",
            hint=f"the current folder, {folder}, is last on the path; is the agent's package installed here?",
        ) from error
    for attribute in attributes.split("."):
        try:
            found = getattr(found, attribute)
        except AttributeError:
            hint = did_you_mean(attribute, dir(found)) or None
            raise UsageError(f"{option}: {module_name!r} has no {attribute!r}", hint=hint) from None
        except Exception as error:  # a module's own `__getattr__` may raise what it likes
            raise UsageError(f"{option}: {name!r} cannot be had: {told(error)}") from error
    return found


def names(rib: ModuleType) -> list[str]:
    """Returns the members of a rib: the files of its folder."""
    return sorted(member.name for member in pkgutil.iter_modules(rib.__path__))


def others(rib: ModuleType) -> list[str]:
    """Returns the members that other packages add, by entry points in a group that is called as the rib is."""
    return sorted({member.name for member in entry_points(group=rib.__name__)})


def load(rib: ModuleType, name: str, constant: str) -> Any:
    """Imports one member of a rib and returns its one constant; other packages' only where a name is not golden's.

    Raises:
        UsageError: there is no such member, or another package's cannot be imported.
    """
    known = names(rib)
    if name not in known:
        kind = rib.__name__.rpartition(".")[2].removesuffix("s")
        for member in entry_points(group=rib.__name__, name=name):
            try:
                return member.load()
            except Exception as error:
                problem = f"the {kind} {name!r} cannot be loaded from {member.value!r}: {told(error)}"
                raise UsageError(problem, hint="another package says that it is there; mend or remove it") from error
        raise UsageError(f"no {kind} is called {name!r}", hint=f"known: {', '.join(known)}")
    return getattr(importlib.import_module(f"{rib.__name__}.{name}"), constant)
