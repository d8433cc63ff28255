"""What a start costs: `--help` against the import of click, ten cases in-process against the imports they need."""

import argparse
import sys
from statistics import median

from benchmarks.measure import GOLDEN, PYTHON, held, in_turn, processor_ratio

RUN = (GOLDEN, "run", "golden_questions.json", "--agent", "golden.demo:run_agent_turn")


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--quick", action="store_const", const=5, dest="pairs", help="five pairs")
    pairs = parser.parse_args().pairs
    in_turn(RUN, RUN, 1)  # so that nothing that is measured compiles to bytecode
    ok = []
    for command in ((GOLDEN, "--help"), (GOLDEN, "run", "--help")):
        costs = in_turn(command, (PYTHON, "-c", "import click"), pairs)
        ok.append(held(f"golden {' '.join(command[1:])}, against `import click`", processor_ratio(costs), 1.6))
    costs = in_turn(RUN, (PYTHON, "-c", "import click, pydantic"), pairs)
    above = median(ours.processor_s - imports.processor_s for ours, imports in costs)
    ok.append(held("ten cases in-process, above `import click, pydantic`", above, 0.6, "s"))
    return all(ok)


if __name__ == "__main__":
    sys.exit(not main())
