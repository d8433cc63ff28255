"""The HTML report of 1,000 cases in a real browser: how soon it can be used, and how long a filter takes."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.measure import held
from golden.compare import compare
from golden.reports import View
from golden.reports.html import REPORT
from golden.result import CaseResult
from golden.transcript import Seen, Timing, ToolCall
from tests.browser import Page, browser
from tests.values import judged, run_of, turn

CASES, TOKENS = 1000, 300
SENTENCE = "The plan of this customer was last changed in May, and nothing else is known of it. "


def case(number: int, *, good: bool) -> CaseResult:
    """A case of a long answer with a tool call before it; every one asks for the same."""
    events = [Seen(0.2, "tool_call", "call"), Seen(0.5, "tool_result", "result")]
    events += [Seen(0.6 + at / 100, "token", "text") for at in range(TOKENS)]
    asked = {
        "id": f"case-{number:04}",
        "question": f"What is the plan of customer {number}, and since when?",
        "expected_tools": ["get_plan"],
        "forbidden_phrases": ["order placed"],
        "tags": [f"tag-{number % 20}", "smoke" if number % 2 else "nightly"],
    }
    came = turn(
        SENTENCE * 20 + ("" if good else "Order placed."),
        tool_calls=(ToolCall("get_plan", {"customer": number}, result={"plan": "standard"}),),
        timing=Timing(0.2, 0.6, 0.6 + number / 100),
        events=tuple(events),
        events_total=len(events),
    )
    return judged(asked, replace(came, question=str(asked["question"])))


def measured(page: Page, do: Callable[[], None]) -> tuple[float, float]:
    """Seconds until what was done is shown, and of the processor's time, of the thread that all of a page runs in."""
    before, started = busy(page), time.perf_counter()
    do()
    page.settle()
    return time.perf_counter() - started, busy(page) - before


def busy(page: Page) -> float:
    metrics = page.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def opening(page: Page, address: str) -> tuple[float, float]:
    page.load("about:blank")
    return measured(page, lambda: page.load(address))


def filtering(page: Page, text: str) -> tuple[float, float]:
    find = "document.getElementById('find')"
    script = f"{find}.value = {json.dumps(text)}; {find}.dispatchEvent(new Event('input'))"
    return measured(page, lambda: page.run(script))


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_const", const=3, dest="repeats", help="three repeats")
    repeats = parser.parse_args().repeats
    before = run_of(*(case(number, good=True) for number in range(CASES)))
    run = run_of(*(case(number, good=number % 10 > 0) for number in range(CASES)))
    started = time.process_time()
    written = REPORT.render(run, compare(before, run), View())
    rendering = time.process_time() - started
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, browser(Path(folder) / "profile") as page:
        file = Path(folder) / "report.html"
        file.write_text(written, encoding="utf-8")
        page.look(1280, 900)
        print(f"          {CASES} cases of {TOKENS} tokens, with a baseline: {len(written) / 1e6:.1f} MB")
        page.send("Performance.enable", timeDomain="threadTicks")
        openings = [opening(page, file.as_uri()) for _ in range(repeats)]
        filters = [filtering(page, text) for _ in range(repeats) for text in ("p", "plan", "case-09", "")]
    (open_wall, open_busy), (_, filter_busy) = (map(median, zip(*each, strict=True)) for each in (openings, filters))
    return all(
        [
            held("to write it, processor time", rendering, 3, "s"),
            held("to open it, until the first cases are shown", open_wall, 2, "s"),
            held("the same, processor time", open_busy, 1, "s"),
            held("to filter, processor time", filter_busy, 0.1, "s"),
        ]
    )


if __name__ == "__main__":
    sys.exit(not main())
