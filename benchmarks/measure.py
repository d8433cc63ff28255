"""What a program costs, and whether that is within its bound. POSIX only: `os.wait4` tells of one child alone."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).parent
PYTHON = sys.executable
GOLDEN = str(Path(sys.executable).with_name("golden"))

# `ru_maxrss` counts kilobytes, on macOS bytes.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Cost(NamedTuple):
    """What one process used from its start to its end, its own children included.

    Attributes:
        processor_s: user and system time.
        wall_s: from its start to its end.
        memory_mb: the most resident memory, in 10^6 bytes. Linux counts the starter's memory too: keep that small.
        output: what it printed.
    """

    processor_s: float
    wall_s: float
    memory_mb: float
    output: str


def cost(*command: str, code: int = 0) -> Cost:
    """Runs a command, which must leave with `code`, from this repository's top."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=HERE.parent, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode != code:
        sys.exit(f"{' '.join(command)}\nleft with {process.returncode}, not {code}:\n{text[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * _RSS_UNIT / 1e6, text)


def in_turn(one: tuple[str, ...], other: tuple[str, ...], pairs: int) -> list[tuple[Cost, Cost]]:
    """Runs two commands in turn, so that a machine that slows down slows both."""
    return [(cost(*one), cost(*other)) for _ in range(pairs)]


def processor_ratio(pairs: list[tuple[Cost, Cost]]) -> float:
    """How many times the other's processor time the one took: the median of the pairs' ratios."""
    return median(one.processor_s / other.processor_s for one, other in pairs)


def held(what: str, measured: float, bound: float, unit: str = "x") -> bool:
    """Prints a figure beside its bound and tells whether it is within."""
    ok = measured <= bound
    print(f"{'held' if ok else 'NOT HELD':8}  {what}: {measured:.2f} {unit}, at most {bound:g} {unit}", flush=True)
    return ok


@contextmanager
def server(*options: str) -> Iterator[str]:
    """Runs `server.py` as its own process and gives its URL."""
    command = (PYTHON, str(HERE / "server.py"), *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()
