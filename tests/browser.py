"""A real browser for tests: headless Chromium, spoken to in its own protocol over a pipe: no port, and no driver."""

import base64
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Protocol

import pytest

from golden.result import CaseResult

# Nothing that Chromium asks for of its own accord, and no rights that a test machine may lack.
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)

# What a key is to a browser: its code, and the text that it writes.
_KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    " ": (32, " "),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    "End": (35, ""),
}


class Page:
    """One page. Whatever happens to it is kept: what it asked for, and what it complained of.

    Attributes:
        requests: every address that was asked for since it was opened.
        complaints: messages on its console, and exceptions.
    """

    def __init__(self, commands: IO[bytes], answers: IO[bytes]) -> None:
        self._out = commands
        self._in = answers
        self._came = b""
        self._number = 0
        self._session: str | None = None
        self._loads = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Sends a command and waits for what it gives."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        self._out.write(json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0")
        while True:
            came = self._receive()
            if came.get("id") == number:
                assert "error" not in came, (method, came["error"])
                result: dict[str, Any] = came["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        pieces = [self._came]
        while b"\0" not in pieces[-1]:
            pieces.append(self._in.read(1 << 20))
            assert pieces[-1], "the browser has gone"
        message, _, self._came = b"".join(pieces).partition(b"\0")
        came: dict[str, Any] = json.loads(message)
        self._note(came.get("method", ""), came.get("params", {}))
        return came

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loads += 1
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(told["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])

    def open(self, address: str) -> None:
        """Opens an address anew, and waits until it is loaded and shown."""
        self.load("about:blank")  # else another fragment of the same page would not load it again
        self.requests.clear()
        self.complaints.clear()
        self.load(address)
        self.settle()

    def load(self, address: str) -> None:
        """Goes to an address, and waits until it is loaded."""
        loads = self._loads
        self.send("Page.navigate", url=address)
        while self._loads == loads:
            self._receive()

    def settle(self) -> None:
        """Waits until what was done is shown."""
        self.run("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")

    def until(self, condition: str) -> None:
        """Waits until a condition holds, at most 20 seconds."""
        again = (
            f"{condition} ? done() : performance.now() > most ? fail(Error('in vain')) : requestAnimationFrame(look)"
        )
        setting = "const most = performance.now() + 20000"
        self.run(f"new Promise((done, fail) => {{ {setting}; const look = () => {again}; look() }})")

    def run(self, script: str) -> Any:
        """Returns what a script comes to; a promise is waited for."""
        came = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in came, came["exceptionDetails"]
        return came["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """The text of each element that is there and to be seen, its white space single."""
        seen = f"[...document.querySelectorAll({json.dumps(selector)})].filter((one) => one.checkVisibility())"
        found: list[str] = self.run(f"{seen}.map((one) => one.innerText)")
        return [" ".join(text.split()) for text in found]

    def press(self, *keys: str) -> None:
        """Presses keys, one after another, as a person does."""
        for key in keys:
            code, text = _KEYS.get(key, (ord(key[0].upper()), key))
            for kind in ("keyDown", "keyUp"):
                shift = 8 if key == "Shift+Tab" else 0
                self.send(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=key.removeprefix("Shift+"),
                    windowsVirtualKeyCode=9 if shift else code,
                    modifiers=shift,
                    **({"text": text} if text and kind == "keyDown" else {}),
                )
        self.settle()

    def click(self, selector: str) -> None:
        """Clicks the first such element, as a person does: where it is, and only if nothing lies over it."""
        found = json.dumps(selector)
        x, y = self.run(
            f"(() => {{ const one = document.querySelector({found}); one.scrollIntoView({{block: 'center'}});"
            "const {x, y, width, height} = one.getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def look(self, width: int, height: int, *, dark: bool = False, still: bool = True) -> None:
        """Sets the size of the window, and what a person prefers."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}
        self.send("Emulation.setEmulatedMedia", features=[scheme, motion])
        self.settle()

    def picture(self, *, whole: bool = False) -> bytes:
        """A picture of what is seen, or of the whole page, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"])


class Open(Protocol):
    """Opens the report of some results, beside those of a baseline, in a window of that width."""

    def __call__(
        self, *results: CaseResult, before: Sequence[CaseResult] = (), address: str = "", width: int = 1280
    ) -> Page: ...


def chromium() -> str:
    """The browser that is installed; where there is none the test is skipped, and on CI it fails."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if program := shutil.which(name):
            return program
    told = "Chromium is not installed: pages cannot be opened here (`apt-get install chromium`)"
    assert "CI" not in os.environ, told
    pytest.skip(told)


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A browser with an empty profile in that folder, and its one page."""
    program = chromium()
    # Chromium takes commands from its fourth file and answers on its fifth: here they are its input and its output.
    script = 'exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null'
    command = ["sh", "-c", script, "sh", program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield Page(process.stdin, process.stdout)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
