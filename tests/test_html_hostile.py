"""What is hostile in a page, opened in a real browser: it is text, and does nothing."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from golden.reports import View
from golden.reports.html import REPORT
from golden.transcript import ToolCall
from tests.browser import Open, Page
from tests.pages import EVIL, case, evil, quote
from tests.values import judged, run_of, turn


def test_what_is_hostile_is_text_and_does_nothing(opened: Open) -> None:
    before = quote("openPanel", "t", EVIL, 0.9).model_copy(update={"case_id": EVIL})
    others = [case("well").model_copy(update={"case_id": name}) for name in ("__proto__", "constructor", "toString")]
    page = opened(evil(), *others, before=[before, others[0]])
    nodes = (
        "document.querySelectorAll('main script, main img, main style, main iframe, [onerror], [onmouseover]').length"
    )
    page.click("#list button")
    for summary in range(page.run("document.querySelectorAll('main summary').length")):
        page.run(f"document.querySelectorAll('main summary')[{summary}].click()")
    page.settle()
    shown = page.texts(".said .prose")[1]
    assert shown.startswith(
        "<script>window.hit=1</script><img src=x onerror='window.hit=1'></style></script><!--<script>"
    )
    assert shown.endswith("\\u202eexe.gnp\\u2066 \\x1b[31m\\u{e0041}")
    assert page.run("window.hit") is None
    assert page.run(nodes) == 0
    assert page.run("document.title") == "1 of 4 cases failed · golden"
    assert "\u202e" not in page.run("document.body.innerText")
    for entry in range(3):
        page.click(f"#list li:nth-child({entry + 2}) button")
    assert len(page.texts(".case.opened")) == 4


def test_a_megabyte_of_text_is_shown_in_parts(opened: Open) -> None:
    long = "z" * 1_000_000
    call = ToolCall("look", {"text": long, "list": list(range(3000))}, result=long)
    big = judged({"question": long, "required_phrases": ["x"]}, turn(long, question=long, tool_calls=(call,)))
    whole = big.turns[0].model_copy(update={"answer": long})
    page = opened(big.model_copy(update={"turns": (whole,)}), address="#case=well")
    assert page.run("document.body.innerText.length") < 250_000
    page.click(".said:not(.asked) button")
    assert len(page.texts(".said:not(.asked) .prose")[0]) == 1_000_000
    assert page.run("document.activeElement.className.trim()") == "prose"
    assert page.run("document.querySelectorAll('.sides tr').length") < 120
    page.click(".sides .quiet")


def test_without_scripts_the_cases_and_verdicts_can_be_read(window: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(REPORT.render(run_of(evil(), case("ill", status="failed")), None, View()), encoding="utf-8")
    window.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        window.load(file.as_uri())
    finally:
        window.send("Emulation.setScriptExecutionDisabled", value=False)
    first, second = window.texts("noscript li")
    assert first.startswith("failed <script>window.hit=1</script>")
    assert second == 'failed ill required_phrases: not in the answer: "ill"'
    assert window.texts("#list li") == []


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A server, and what it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def test_the_policy_holds_even_where_a_script_of_others_would_run(window: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(REPORT.render(run_of(case("well")), None, View()), encoding="utf-8")
    window.open(file.as_uri())
    tries = {
        "a request": "fetch(THERE).catch(() => 0)",
        "a picture": "new Promise((done) => { const i = new Image(); i.onload = i.onerror = done; i.src = THERE; })",
        "markup": "try { document.body.innerHTML = '<b>x</b>' } catch {}",
        "a script": "try { made('script').text = 'window.hit = 1' } catch {}",
        "a style": "made('style').textContent = 'h1 { display: none }'",
    }
    with listening() as (there, asked):
        window.run("made = (name) => document.head.appendChild(document.createElement(name))")
        for name, script in tries.items():
            window.complaints.clear()
            window.run(script.replace("THERE", repr(there)))
            window.settle()
            assert window.complaints, name
    assert asked == []
    assert window.run("window.hit") is None
    assert window.texts("h1") == ["The one case passed"]
