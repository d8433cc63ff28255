"""Captured and written streams, each with what its transcript must say."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from golden.errors import TargetError
from golden.lexicon import Lexicon
from golden.payload import parse
from golden.reader import Bounds, Reader
from golden.transcript import Turn
from golden.wire import Ends, Head

LEXICON = Lexicon()
STREAMS = Path(__file__).parent / "data" / "streams"

# The folders of each dialect, by the beginning of their names.
DIALECTS = {
    "ag-ui": "ag-ui",
    "aimock-anthropic": "anthropic",
    "aimock-openai-chat": "openai-chat",
    "aimock-openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "dify": "dify",
    "gemini": "gemini",
    "golden-native": "native",
    "google-adk": "adk",
    "langgraph-server": "langgraph",
    "langserve": "langserve",
    "mastra": "mastra",
    "ndjson-pydantic-ai": "pydantic-ai",
    "ollama": "ollama",
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "pydantic-ai-native": "pydantic-ai",
    "vercel-data-stream": "ai-sdk-data",
    "vercel-ui-message": "ai-sdk",
}
_TYPES = {".sse": "text/event-stream", ".ndjson": "application/x-ndjson", ".txt": "text/plain"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One body.

    Attributes:
        name: its folder and variant.
        dialect: what it is in.
        body: the bytes.
        head: of the reply: as it was captured, else what such a body has.
        is_whole: whether the connection brought it to its end.
        expected: what its transcript says, as the captures' authors wrote it.
    """

    name: str
    dialect: str
    body: bytes
    head: Head
    is_whole: bool
    expected: dict[str, Any]

    def read(self, *pieces: bytes, dialect: str = "auto") -> Turn:
        """Reads these pieces, or the whole body in one; a body that broke off is read as the engine reads one."""
        reader = Reader("question", dialect, Bounds(), LEXICON)
        reader.open(self.head)
        try:
            for piece in pieces or (self.body,):
                reader.feed(piece, 0.5)
        except TargetError as error:
            return reader.close(1.0, error)
        return reader.close(1.0, None if self.is_whole else TargetError("cut", "the connection broke"))


@cache
def samples(dialect: str = "") -> tuple[Sample, ...]:
    """Returns all samples, or those of one dialect."""
    return tuple(sample for sample in _all() if dialect in ("", sample.dialect))


def plain(value: object) -> object:
    """A result as a value: some producers stream it as text that is JSON."""
    parsed, fault = parse(value) if isinstance(value, str) else (value, "")
    return value if fault else parsed


def _all() -> Iterator[Sample]:
    for path in sorted(STREAMS.glob("*/*.expected.json")):
        folder, variant = path.parent.name, path.name.removesuffix(".expected.json")
        prefix = max((name for name in DIALECTS if folder.startswith(name)), key=len, default=None)
        body = next((file for kind in _TYPES if (file := path.parent / f"{variant}{kind}").exists()), None)
        if prefix is None or body is None:
            continue
        name = DIALECTS[prefix] if body.suffix != ".txt" and not variant.startswith("text_stream") else "text"
        first = _read(path.parent / f"{variant}.chunks.jsonl").partition("\n")[0]
        timing = json.loads(first) if first else {}
        yield Sample(
            f"{folder}/{variant}",
            name,
            body.read_bytes(),
            _head(path.parent / f"{variant}.headers.txt", _TYPES[body.suffix]),
            timing.get("clean_end", True) is True,
            json.loads(_read(path)),
        )


def _head(path: Path, essence: str) -> Head:
    lines = _read(path).splitlines() or ["HTTP/1.1 200 OK", f"content-type: {essence}", "transfer-encoding: chunked"]
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:]) if value
    }
    ends: Ends = "length" if "content-length" in headers else "chunked" if "transfer-encoding" in headers else "close"
    return Head(int(lines[0].split()[1]), headers, ends)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
