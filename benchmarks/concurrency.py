"""40 cases of half a second each, 8 at once, on each kind of target: the wall time of the run without its start-up."""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import GOLDEN, cost, held, server
from benchmarks.slow_agents import TAKES_S

CASES = 40
CONCURRENCY = 8
IDEAL_S = CASES / CONCURRENCY * TAKES_S


def duration_s(folder: Path, target: tuple[str, str]) -> float:
    suite, results = folder / "suite.json", folder / "results.json"
    cases = [{"question": f"question {number}", "forbidden_phrases": ["no such words"]} for number in range(CASES)]
    suite.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    cost(
        *(GOLDEN, "run", str(suite), *target, "--no-auth"),
        *("--concurrency", str(CONCURRENCY), "--json-out", str(results)),
    )
    duration = json.loads(results.read_text(encoding="utf-8"))["run"]["duration_s"]
    assert isinstance(duration, float)
    return duration


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_const", const=1, dest="runs", help="one run each")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder, server("--over", str(TAKES_S)) as url:
        targets = {
            "a blocking callable": ("--agent", "benchmarks.slow_agents:blocking"),
            "an async callable": ("--agent", "benchmarks.slow_agents:asynchronous"),
            "an ASGI app": ("--asgi", "benchmarks.slow_agents:app"),
            "HTTP": ("--base-url", url),
        }
        ok = [
            held(name, median(duration_s(Path(folder), target) for _ in range(runs)) / IDEAL_S, 1.1)
            for name, target in targets.items()
        ]
    return all(ok)


if __name__ == "__main__":
    sys.exit(not main())
