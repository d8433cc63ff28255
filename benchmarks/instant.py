"""1,000 cases of an agent in this process that answers at once: what golden itself costs, with one try and three."""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import GOLDEN, cost, held

CASES = 1000


def answer(question: str) -> Iterator[tuple[str, object]]:
    yield "tool_call", {"name": "get_quote", "args": {"symbol": "AAPL"}}
    for _ in range(20):
        yield "token", {"text": "well "}
    yield "groundedness", {"score": 0.9}
    yield "usage", {"input": 10, "output": 20}
    yield "done", {}


def suite() -> dict[str, object]:
    case = {
        "expect": {"tool": "get_quote", "params": {"symbol": {"$any": True}}},
        "required_phrases": ["well"],
        "forbidden_phrases": ["you should buy"],
        "groundedness_threshold": 0.5,
    }
    return {"cases": [{"question": f"What is quote {number}?", **case} for number in range(CASES)]}


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_const", const=1, dest="runs", help="one run of each")
    runs = parser.parse_args().runs
    ok = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "suite.json"
        file.write_text(json.dumps(suite()), encoding="utf-8")
        command = (GOLDEN, "run", str(file), "--agent", "benchmarks.instant:answer", "--quiet")
        for trials, bound_s in ((1, 3), (3, 7)):
            costs = [cost(*command, "--trials", str(trials), "--json-out", f"{folder}/out.json") for _ in range(runs)]
            spent = median(one.processor_s for one in costs)
            ok.append(held(f"--trials {trials}, processor time", spent, bound_s, "s"))
            ok.append(held(f"--trials {trials}, memory", median(one.memory_mb for one in costs), 200, "MB"))
    return all(ok)


if __name__ == "__main__":
    sys.exit(not main())
