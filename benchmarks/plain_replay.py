"""The plainest loop that does the same work: lines read, each JSON parsed, text joined, sets compared, phrases sought.

Usage: plain_replay.py FOLDER SUITE; leaves with 1 where a case does not pass.
"""

import json
import sys
from pathlib import Path
from typing import Any


def replayed(path: Path, case: dict[str, Any]) -> bool:
    tools = set()
    words = []
    score = 0.0
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            told = json.loads(line)
            if told["type"] == "event":
                data = json.loads(told["data"])
                name = told["event"]
                if name == "token":
                    words.append(data["text"])
                elif name == "tool_call":
                    tools.add(data["name"])
                elif name == "groundedness":
                    score = data["score"]
    answer = "".join(words).casefold()
    return (
        tools >= {*case["expected_tools"]}
        and not any(phrase in answer for phrase in case["forbidden_phrases"])
        and all(phrase in answer for phrase in case["required_phrases"])
        and score >= case["groundedness_threshold"]
    )


def main(folder: Path, suite: Path) -> bool:
    cases = json.loads(suite.read_text(encoding="utf-8"))["cases"]
    passed = [replayed(folder / f"{case['id']}.jsonl", case) for case in cases]
    for case, ok in zip(cases, passed, strict=True):
        print("passed" if ok else "FAILED", case["id"])
    print(f"{sum(passed)} of {len(cases)} passed")
    return all(passed)


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]), Path(sys.argv[2])))
