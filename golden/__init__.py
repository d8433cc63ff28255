"""golden: golden-question regression tests for chat agents that stream their answers over SSE.

Importing this package does no work: each public name is imported when it is first touched.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golden.auth import mint_token
    from golden.checks import Check
    from golden.errors import GoldenError, RecordingError, SuiteError, TargetError, UsageError
    from golden.expectation import Alternative, ToolExpectation
    from golden.library import evaluate, evaluate_async, run_suite, run_suite_async
    from golden.phrase import Pattern
    from golden.result import CaseResult, RunResult
    from golden.suite import Case, Question, Suite
    from golden.suite_file import load_suite
    from golden.targets.asgi import AsgiTarget
    from golden.targets.call import InProcessTarget
    from golden.targets.http import HttpTarget
    from golden.targets.replay import ReplayTarget
    from golden.transcript import Transcript
    from golden.version import __version__
    from golden.wildcards import EvalAny, EvalRegex
    from golden.wire import Chunk, Head, Request, Target

# public name → the module that has it
_HOMES = {
    "Alternative": "golden.expectation",
    "AsgiTarget": "golden.targets.asgi",
    "Case": "golden.suite",
    "CaseResult": "golden.result",
    "Check": "golden.checks",
    "Chunk": "golden.wire",
    "EvalAny": "golden.wildcards",
    "EvalRegex": "golden.wildcards",
    "GoldenError": "golden.errors",
    "Head": "golden.wire",
    "HttpTarget": "golden.targets.http",
    "InProcessTarget": "golden.targets.call",
    "Pattern": "golden.phrase",
    "Question": "golden.suite",
    "RecordingError": "golden.errors",
    "ReplayTarget": "golden.targets.replay",
    "Request": "golden.wire",
    "RunResult": "golden.result",
    "Suite": "golden.suite",
    "SuiteError": "golden.errors",
    "Target": "golden.wire",
    "TargetError": "golden.errors",
    "ToolExpectation": "golden.expectation",
    "Transcript": "golden.transcript",
    "UsageError": "golden.errors",
    "__version__": "golden.version",
    "evaluate": "golden.library",
    "evaluate_async": "golden.library",
    "load_suite": "golden.suite_file",
    "mint_token": "golden.auth",
    "run_suite": "golden.library",
    "run_suite_async": "golden.library",
}

__all__ = [
    "Alternative",
    "AsgiTarget",
    "Case",
    "CaseResult",
    "Check",
    "Chunk",
    "EvalAny",
    "EvalRegex",
    "GoldenError",
    "Head",
    "HttpTarget",
    "InProcessTarget",
    "Pattern",
    "Question",
    "RecordingError",
    "ReplayTarget",
    "Request",
    "RunResult",
    "Suite",
    "SuiteError",
    "Target",
    "TargetError",
    "ToolExpectation",
    "Transcript",
    "UsageError",
    "__version__",
    "evaluate",
    "evaluate_async",
    "load_suite",
    "mint_token",
    "run_suite",
    "run_suite_async",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'golden' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
