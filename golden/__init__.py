"""golden: golden-question regression tests for chat agents that stream their answers over SSE.

Importing this package does no work: each public name is imported when it is first touched.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golden.auth import mint_token
    from golden.checks import Check
    from golden.errors import GoldenError, SuiteError, TargetError, UsageError
    from golden.suite import Case, Suite
    from golden.suite_file import load_suite
    from golden.targets.asgi import AsgiTarget
    from golden.targets.call import InProcessTarget
    from golden.targets.http import HttpTarget
    from golden.version import __version__

# public name → the module that has it
_HOMES = {
    "AsgiTarget": "golden.targets.asgi",
    "Case": "golden.suite",
    "Check": "golden.checks",
    "GoldenError": "golden.errors",
    "HttpTarget": "golden.targets.http",
    "InProcessTarget": "golden.targets.call",
    "Suite": "golden.suite",
    "SuiteError": "golden.errors",
    "TargetError": "golden.errors",
    "UsageError": "golden.errors",
    "__version__": "golden.version",
    "load_suite": "golden.suite_file",
    "mint_token": "golden.auth",
}

__all__ = [
    "AsgiTarget",
    "Case",
    "Check",
    "GoldenError",
    "HttpTarget",
    "InProcessTarget",
    "Suite",
    "SuiteError",
    "TargetError",
    "UsageError",
    "__version__",
    "load_suite",
    "mint_token",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'golden' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
