"""The plainest script that does the same work: one shared client, the same suite, the same checks.

Usage: plain.py URL SUITE CONCURRENCY; leaves with 1 where a case does not pass.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx


async def ask(client: httpx.AsyncClient, url: str, case: dict[str, Any]) -> bool:
    tools: list[str] = []
    words: list[str] = []
    score = 0.0
    async with client.stream("POST", url, json={"message": case["question"]}) as reply:
        reply.raise_for_status()
        name = ""
        async for line in reply.aiter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
                if name == "token":
                    words.append(data["text"])
                elif name == "tool_call":
                    tools.append(data["name"])
                elif name == "groundedness":
                    score = data["score"]
    answer = "".join(words).casefold()
    return (
        all(tool in tools for tool in case["expected_tools"])
        and not any(phrase in answer for phrase in case["forbidden_phrases"])
        and all(phrase in answer for phrase in case["required_phrases"])
        and score >= case["groundedness_threshold"]
    )


async def main(url: str, suite: Path, concurrency: int) -> bool:
    cases = json.loads(suite.read_text(encoding="utf-8"))["cases"]
    slots = asyncio.Semaphore(concurrency)
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=concurrency)) as client:

        async def one(case: dict[str, Any]) -> bool:
            async with slots:
                return await ask(client, url, case)

        passed = await asyncio.gather(*map(one, cases))
    for case, ok in zip(cases, passed, strict=True):
        print("passed" if ok else "FAILED", case["question"])
    print(f"{sum(passed)} of {len(cases)} passed")
    return all(passed)


if __name__ == "__main__":
    sys.exit(not asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
