"""Whatever a run writes holds no secret: every byte of every file is looked through, and what is told on the way."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from golden import reports
from tests.program import CASE, Program
from tests.servers import CHUNKED, Asked, Server, Step, chunk, event

FROM_HEADER = 'header/"secret"+1'
FROM_ENVIRONMENT = "environment secret & more"
FROM_URL = "url/secret=2"


def forms(secret: str) -> list[str]:
    """As it is, as in JSON, URL-encoded, and the part of its base64 that is its own wherever in a text it stood."""
    shifted = [
        base64.b64encode(b"x" * shift + secret.encode()).decode().rstrip("=")[shift + 1 : -1] for shift in range(3)
    ]
    return [secret, json.dumps(secret)[1:-1], quote(secret), quote(secret, safe=""), *shifted]


def echoes(secret: str) -> list[str]:
    coded = base64.b64encode(f"of {secret}.".encode()).decode()
    return [secret, quote(secret), quote(secret, safe=""), base64.b64encode(secret.encode()).decode(), coded]


def test_a_secret_stands_in_no_byte_that_a_run_writes(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", FROM_ENVIRONMENT)
    monkeypatch.setenv("AGENT_KEY", FROM_HEADER)
    secrets = [FROM_HEADER, FROM_ENVIRONMENT, FROM_URL]

    async def echo(asked: Asked) -> AsyncIterator[Step]:
        token = asked.headers["authorization"].removeprefix("Bearer ")
        secrets.append(token)
        assert (asked.headers["x-key"], parse_qs(urlsplit(asked.path).query)["key"]) == (FROM_HEADER, [FROM_URL])
        yield CHUNKED
        yield chunk(event("token", json.dumps({"text": "All is well: "})))
        for secret in (FROM_HEADER, FROM_ENVIRONMENT, FROM_URL, token):
            for told in echoes(secret):
                half = len(told) // 2
                for text in (told, " ", told[:half], told[half:], " ", *told, " "):
                    yield chunk(event("token", json.dumps({"text": text})))
                yield chunk(event("tool_call", json.dumps({"name": f"f {told}", "id": told, "args": {told: [told]}})))
                yield chunk(event("tool_result", json.dumps({"id": told, "result": f"got {told}"})))
                yield chunk(f"id: {told}\n".encode() + event(told, told))
        if b"bad" in asked.body:
            yield chunk(event("error", json.dumps({"message": f"no: {secrets}"})))
        yield chunk(event("done", "{}"))
        yield chunk(b"")

    outputs = [option for suffix in reports.by_suffix() for option in ("--out", f"report{suffix}")]
    asked = ["--path", f"/agent/chat?key={quote(FROM_URL, safe='')}", "--header", "X-Key: $AGENT_KEY", "-v"]
    failing = {**CASE, "id": "failing", "forbidden_phrases": ["well"], "clean_stream": True}
    cases = [CASE, failing, {**CASE, "id": "bad", "question": "Is it bad?"}]
    with Server(echo) as server:
        shown = golden_run("--base-url", server.url, "--dry-run", *asked, cases=cases)
        ran = golden_run("--base-url", server.url, "--record", "kept", *asked, *outputs, cases=cases)
    assert "  POST http" in shown.out
    assert ran.statuses == ["passed", "failed", "error"]
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"well.jsonl", "failing.jsonl"}
    files = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()}
    assert len(files) == len(outputs) // 2 + 4
    written = {**{path.name: text for path, text in files.items()}, "out": ran.out, "err": ran.err, "shown": shown.out}
    for line in files[tmp_path / "kept" / "well.jsonl"].splitlines():
        told = json.loads(line)
        if told.get("event") == "token":
            written["deltas"] = written.get("deltas", "") + json.loads(told["data"])["text"]
    assert "All is well: ███" in written["deltas"]
    for secret in {*secrets}:
        for form in forms(secret):
            assert [name for name, text in written.items() if form in text] == [], form


def test_a_secret_in_the_head_of_a_refusal_is_covered_as_it_came(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "Key-OF-an-Agent7")
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: br-Key-OF-an-Agent7\r\n\r\n"
    with Server([head]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--header", "X-Key: $AGENT_KEY")
    assert ran.case.error
    assert f"the body is encoded as 'br-{'█' * 16}'" in ran.case.error.message
    assert "gent7" not in (ran.out + ran.err).lower()
