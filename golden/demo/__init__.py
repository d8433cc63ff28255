"""A demo to try golden on: a portfolio assistant that needs no key and no network.

It stands apart: it imports nothing else of golden, and golden does not import it. ``run_agent_turn`` answers in this
process; ``app`` is the same agent as an ASGI application, and ``python -m golden.demo`` serves it: these two need the
extra ``demo``. Its figures and headlines are made up. ``golden.demo.switches`` says how to break it.
"""

from typing import Any

from golden.demo.agent import run_agent_turn

__all__ = ["app", "run_agent_turn"]


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from golden.demo.server import app
    except ModuleNotFoundError as missing:
        raise ImportError(lacking(missing)) from missing
    return app


def lacking(missing: ModuleNotFoundError) -> str:
    return f"the demo's server needs {missing.name}, which is not installed\nhint: pip install 'golden-questions[demo]'"
