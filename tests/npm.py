"""Servers of the Node world: the packages that `tests/node/package.json` names, and programs over them."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

FOLDER = Path(__file__).parent / "node"
_PACKAGE = FOLDER / "package.json"
_INSTALLED = FOLDER / "node_modules" / ".installed.json"  # the package.json that node_modules holds
_INSTALL = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict")


def program(name: str) -> str:
    """Returns the path of a program; a test that needs one that is not there is skipped."""
    found = shutil.which(name)
    return found or _missing(f"{name} is not installed: servers of the Node world cannot be tried here")


def install() -> None:
    """Installs the packages where they are not there, or not these; all others wait for the one who does."""
    npm, wanted = program("npm"), _PACKAGE.read_bytes()
    with _PACKAGE.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _INSTALLED.is_file() and _INSTALLED.read_bytes() == wanted:
            return
        done = subprocess.run([npm, *_INSTALL], cwd=FOLDER, capture_output=True, text=True, check=False)
        if done.returncode:
            _missing(f"npm cannot install what tests/node/package.json names: {done.stderr.strip()}")
        _INSTALLED.write_bytes(wanted)


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Runs a program of Node that prints its port; gives its base URL."""
    command = [program("node"), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def _missing(what: str) -> NoReturn:
    """In CI no test is left out unseen."""
    if os.environ.get("CI"):
        pytest.fail(what, pytrace=False)
    pytest.skip(what)
