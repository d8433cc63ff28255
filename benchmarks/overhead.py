"""1,000 cases of 200 tokens, 32 at once: `golden run` against the plainest script, each as a whole process, in turn."""

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import GOLDEN, HERE, PYTHON, held, in_turn, processor_ratio, server

CASES = 1000
CONCURRENCY = 32
OVER_S = 0.5


def suite() -> dict[str, object]:
    cases = [
        {
            "question": f"What is quote {number}?",
            "expected_tools": ["get_quote"],
            "forbidden_phrases": ["you should buy"],
            "required_phrases": ["word7"],
            "groundedness_threshold": 0.8,
        }
        for number in range(CASES)
    ]
    return {"version": 1, "cases": cases}


def compared(over_s: float, pairs: int, processor_bound: float) -> list[bool]:
    how = f"token by token over {over_s:g} s" if over_s else "in one piece"
    with tempfile.TemporaryDirectory() as folder, server("--over", str(over_s)) as url:
        file = Path(folder) / "suite.json"
        file.write_text(json.dumps(suite()), encoding="utf-8")
        golden = (GOLDEN, "run", str(file), "--base-url", url, "--no-auth", "--concurrency", str(CONCURRENCY))
        plain = (PYTHON, str(HERE / "plain.py"), f"{url}/agent/chat", str(file), str(CONCURRENCY))
        costs = in_turn(golden, plain, pairs)
    for ours, theirs in costs:
        print(
            f"          golden {ours.processor_s:.2f} s of {ours.wall_s:.2f} s, {ours.memory_mb:.0f} MB; "
            f"plain {theirs.processor_s:.2f} s of {theirs.wall_s:.2f} s, {theirs.memory_mb:.0f} MB"
        )
    ok = [
        held(f"{how}, processor time", processor_ratio(costs), processor_bound),
        held(f"{how}, memory", median(ours.memory_mb for ours, _ in costs), 120, "MB"),
    ]
    if over_s:
        ideal_s = math.ceil(CASES / CONCURRENCY) * over_s
        ours_s, theirs_s = (median(cost.wall_s for cost in side) for side in zip(*costs, strict=True))
        ok.append(held(f"{how}, wall time (plain {theirs_s / ideal_s:.2f} x)", ours_s / ideal_s, 1.06))
    return ok


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--quick", action="store_const", const=2, dest="pairs", help="two pairs")
    pairs = parser.parse_args().pairs
    return all([*compared(0, pairs, 0.7), *compared(OVER_S, pairs, 1.1)])


if __name__ == "__main__":
    sys.exit(not main())
