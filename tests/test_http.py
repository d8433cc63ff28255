"""The HTTP target against servers of every kind: what the whole program makes of each."""

import asyncio
import base64
import contextlib
import gzip
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import brotli
import jwt
import pytest
import trustme

from golden import refusal
from golden.targets import http
from tests.program import CASE, Program
from tests.servers import (
    ANSWER,
    CHUNKED,
    DONE,
    Act,
    Asked,
    Script,
    Server,
    Step,
    chunk,
    chunked,
    event,
    head,
    tokens,
    whole,
)

SECRET = "the secret that is shared with the server"
CASES = Path(__file__).parents[1] / "golden_questions.json"


def cutting(*events: bytes) -> list[Step]:
    """A chunked reply that the server leaves without its last chunk."""
    return [CHUNKED, *map(chunk, events)]


# What keeps a question from being answered at all


def test_a_kept_connection_that_the_server_has_given_up_is_no_error_of_the_next_case(golden_run: Program) -> None:
    cases = [{**CASE, "id": f"case-{number}"} for number in range(3)]
    with Server([whole(ANSWER, connection="keep-alive"), Act.NEXT]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, cases=cases)
    assert ran.statuses == ["passed"] * 3
    assert len(server.asked) == 3  # each on a connection of its own in the end
    findings = [[finding.kind for finding in case.turns[0].findings] for case in ran.run.results]
    assert findings == [[], ["asked_again"], ["asked_again"]]


def test_a_connection_that_does_not_come_about_is_none(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as stack:
        for _ in range(4):  # more than the backlog holds: further ones are dropped without a word
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        ran = golden_run("--base-url", f"http://127.0.0.1:{full.getsockname()[1]}", "--no-auth")
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"
    assert "none came about within 0.2 s" in ran.case.error.message


def test_a_secret_that_the_end_of_what_is_read_cuts_in_two_is_not_shown(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    body = b" " * (refusal.BODY - 10) + SECRET.encode()
    with Server([whole(body, "500 Oh no", "text/plain")]) as server:
        ran = golden_run("--base-url", server.url)
    assert SECRET[:10] not in ran.out + ran.written


def test_the_password_of_a_place_that_is_redirected_to_is_not_shown(golden_run: Program) -> None:
    with Server([head("302 Found", location="https://user:hunter2@other.example/x?y=z#w", content_length=0)]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.case.error is not None
    assert "redirects with 302 to https://other.example/x;" in ran.case.error.message


def test_a_server_that_fails_at_the_question_itself_is_asked_no_third_time(golden_run: Program) -> None:
    cases = [{**CASE, "id": "first"}, {**CASE, "id": "second", "question": "Crash!"}]

    async def script(asked: Asked) -> AsyncIterator[Step]:
        if b"Crash!" not in asked.body:
            yield whole(ANSWER, connection="keep-alive")
            yield Act.NEXT

    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, cases=cases)
    assert ran.statuses == ["passed", "error"]
    assert len(server.asked) == 2
    error = ran.run.results[1].error
    assert error is not None
    assert error.kind == "cut"


def test_a_refused_connection_is_an_error_that_asks_whether_the_server_runs(golden_run: Program) -> None:
    with socket.socket() as bound:  # bound and not listening: the port stays ours and refuses
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        ran = golden_run("--base-url", f"http://127.0.0.1:{port}", "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"
    assert f"no connection to 127.0.0.1:{port}: " in ran.case.error.message
    assert "hint: is the server running" in ran.case.error.message
    assert [check.ok for check in ran.case.checks] == [None]


def test_a_host_of_several_addresses_that_all_refuse_is_an_error(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(host: str, port: int, *rest: object, **more: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{last}", port)) for last in (1, 2)]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    with socket.socket() as bound:
        bound.bind(("", 0))
        port = bound.getsockname()[1]
        ran = golden_run("--base-url", f"http://several.invalid:{port}", "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"
    assert f"no connection to several.invalid:{port}: " in ran.case.error.message
    assert "Connect call failed ('127.0.0." in ran.case.error.message


def test_a_name_that_is_not_found_is_an_error_that_names_it(golden_run: Program) -> None:
    ran = golden_run("--base-url", "http://nothing.invalid", "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"
    assert ran.case.error.message.startswith("the name nothing.invalid was not found: ")
    assert "hint: is --base-url right" in ran.case.error.message


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path) -> str:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return str(tmp_path / "ca.pem")


def test_a_certificate_that_is_not_trusted_is_an_error_that_names_the_remedy(
    golden_run: Program, tls: ssl.SSLContext
) -> None:
    with Server(chunked(ANSWER), tls=tls) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert server.asked == []
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"
    assert f"no secure connection to 127.0.0.1:{server.port}: " in ran.case.error.message
    assert "CERTIFICATE_VERIFY_FAILED" in ran.case.error.message
    assert "hint: a certificate of your own: SSL_CERT_FILE" in ran.case.error.message


def test_a_certificate_of_ones_own_is_trusted_through_the_environment(
    golden_run: Program, tls: ssl.SSLContext, trusted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", trusted)
    with Server(chunked(ANSWER), tls=tls) as server:
        assert golden_run("--base-url", server.url, "--no-auth").code == 0


@pytest.mark.parametrize(
    ("sent", "message"),
    [(b"", "no HTTP answer from 127.0.0.1:"), (CHUNKED, "the connection to 127.0.0.1:")],
    ids=["before the head", "in the body"],
)
def test_a_secure_connection_that_turns_to_garbage_is_its_cases_error(
    sent: bytes,
    message: str,
    golden_run: Program,
    tls: ssl.SSLContext,
    trusted: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def serve() -> None:
        with tls.wrap_socket(listener.accept()[0], server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(sent)
            os.write(connection.fileno(), b"in clear, past the encryption")
            connection.recv(1)

    monkeypatch.setenv("SSL_CERT_FILE", trusted)
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor() as pool:
        served = pool.submit(serve)
        ran = golden_run("--base-url", f"https://127.0.0.1:{listener.getsockname()[1]}", "--no-auth")
        served.result(20)
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "cut"
    assert ran.case.error.message.startswith(message)
    assert "WRONG_VERSION_NUMBER" in ran.case.error.message


@pytest.mark.parametrize(
    ("name", "value"),
    [("SSL_CERT_FILE", "/nowhere/ca.pem"), ("HTTPS_PROXY", "gopher://proxy"), ("HTTPS_PROXY", "http://proxy:port")],
)
def test_an_environment_that_cannot_be_used_is_a_usage_error_before_anything_is_sent(
    name: str, value: str, golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    ran = golden_run("--base-url", "https://agent.invalid", "--no-auth")
    assert ran.code == 2
    assert "the certificates or proxies of the environment cannot be used: " in ran.err
    assert name in ran.err.partition("hint: ")[2]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([], "Server disconnected"),
        ([Act.RESET], "reset"),
        ([b"SSH-2.0-server\r\n\r\n"], "illegal status line"),
        ([head(x_padding="p" * 200_000)], "Receive buffer too long"),
    ],
    ids=["closes at once", "resets at once", "speaks no HTTP", "header block too large"],
)
def test_what_is_no_http_answer_is_an_error(script: Script, said: str, golden_run: Program) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "cut"
    assert f"no HTTP answer from 127.0.0.1:{server.port}: " in ran.case.error.message
    assert said in ran.case.error.message


# Heads that open no answer

LOGIN = b"<html><title>Log in</title></html>"
PROTECTED = "the preview looks protected: give its bypass header, --header 'x-vercel-protection-bypass: $NAME'"


@pytest.mark.parametrize(
    ("reply", "kind", "message", "hint"),
    [
        (
            whole(b'{"detail": "bad token"}', "401 Unauthorized", "application/json"),
            "refused",
            'the server refused the question with 401: {"detail": "bad token"}',
            "is the token's secret the one the server has (EVAL_JWT_SECRET, JWT_SECRET)?",
        ),
        (
            whole(LOGIN, "401 Unauthorized", "text/html"),
            "refused",
            "the server refused the question with 401: <html>",
            PROTECTED,
        ),
        (
            whole(b'{"detail": "no"}', "403 Forbidden", "application/json"),
            "refused",
            'the server refused the question with 403: {"detail": "no"}',
            PROTECTED,
        ),
        (
            whole(b"not\n  here", "404 Not Found", "text/plain"),
            "http",
            "the server answered 404: not here",
            "--path says where questions are posted",
        ),
        (
            whole(b'{"detail": [{"loc": ["body", "query"]}]}', "422 Unprocessable", "application/json"),
            "http",
            'the server answered 422: {"detail": [{"loc": ["body", "query"]}]}',
            "--dialect names another",
        ),
        (
            whole(b"<html>Oops</html>", "500 Internal Server Error", "text/html; charset=utf-8"),
            "http",
            "the server answered 500: <html>Oops</html>",
            None,
        ),
        (head("204 No Content", kind=""), "http", "the server answered 204", None),
        (
            whole(b"slow down", "429 Too Many Requests", "text/plain", retry_after=7),
            "http",
            "the server answered 429 (Retry-After: 7): slow down",
            None,
        ),
        (
            whole(LOGIN, kind="text/html; charset=utf-8"),
            "not_a_stream",
            "the server sent a page (text/html), no event stream: <html><title>Log in</title></html>",
            f"that looks like a login page; {PROTECTED}",
        ),
        (
            whole(b'{"error": "quota"}', kind="application/json"),
            "not_a_stream",
            'the server sent application/json, where text/event-stream is an answer: {"error": "quota"}',
            None,
        ),
        (
            whole(ANSWER, kind=""),
            "not_a_stream",
            "the server sent no content type, where text/event-stream is an answer",
            None,
        ),
        (
            whole(ANSWER, kind="application/x-text/event-stream-ish"),
            "not_a_stream",
            "the server sent application/x-text/event-stream-ish, where",
            None,
        ),
        (whole(ANSWER, "206 Partial Content"), "http", "the server answered 206", None),
        (
            whole(brotli.compress(LOGIN), "401 Unauthorized", "text/html", content_encoding="br"),
            "refused",
            "the server refused the question with 401",
            PROTECTED,
        ),
    ],
    ids=lambda value: value.split(b"\r\n")[0][9:].decode() if isinstance(value, bytes) else "",
)
def test_a_head_that_opens_no_answer_is_an_error_that_says_what_came(
    reply: bytes, kind: str, message: str, hint: str | None, golden_run: Program
) -> None:
    with Server([reply]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.status == "error"
    assert ran.case.error is not None
    assert ran.case.error.kind == kind
    said, _, hinted = ran.case.error.message.partition("\nhint: ")
    assert said.startswith(message)
    assert (hint in hinted) if hint else not hinted
    assert [check.ok for check in ran.case.checks] == [None]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_and_nothing_arrives_there(
    status: str, golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    with Server(chunked(ANSWER)) as other:
        location = f"http://localhost:{other.port}/login"
        with Server([whole(b"", status, location=f"{location}?next=%2Fagent&state=opaque")]) as server:
            ran = golden_run("--base-url", server.url)
    assert "authorization" in server.asked[0].headers
    assert other.asked == []
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "redirect"
    assert f"redirects with {status[:3]} to {location}; golden does not follow" in ran.case.error.message
    assert "opaque" not in ran.written + ran.out + ran.err
    assert "as --base-url" in ran.case.error.message


async def endless_refusal(asked: Asked) -> AsyncIterator[Step]:
    yield head("401 Unauthorized", "text/plain")
    while True:
        yield b"no, and again no; " * 100


@pytest.mark.parametrize(
    "script",
    [[head("401 Unauthorized", "text/plain"), b"no, and again no; ", Act.HOLD], endless_refusal],
    ids=["silent", "endless"],
)
def test_a_refusal_whose_body_never_ends_is_told_at_once(script: Script, golden_run: Program) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.case.error is not None
    assert "401: no, and again no;" in ran.case.error.message
    assert len(ran.case.error.message) < 500
    assert ran.case.turns[0].timing.total_s < 10


# Bodies that do not come whole


@pytest.mark.parametrize(
    ("script", "message", "answer"),
    [
        (
            [*cutting(tokens("All "), b'event: token\ndata: {"te'), chunk(b"")],
            "the stream was cut inside an event, before its end was marked, after 1 events, 4 characters of answer",
            "All ",
        ),
        (
            [head(), tokens("All ") + b"event: done"],
            "the stream was cut inside an event, before its end was marked, after 1 events",
            "All ",
        ),
        (cutting(tokens("All ", "is ")), "broke before the body's end: peer closed connection", "All is "),
        ([*cutting(tokens("All ")), b"1"], "broke before the body's end: peer unexpectedly closed", "All "),
        ([*cutting(tokens("All ")), b"zz\r\n"], "broke before the body's end: illegal chunk header", "All "),
        ([head(content_length=1000), tokens("All ")], "broke before the body's end: peer closed connection", "All "),
        ([*cutting(tokens("All ")), 0.1, Act.RESET], "broke before the body's end: ReadError", "All "),
        (
            [head(), tokens("All ", "is ")],
            "the connection closed before the end was marked, after 2 events, 7 characters of answer",
            "All is ",
        ),
        ([head()], "the connection closed before the end was marked, after 0 events", ""),
        (
            [whole(gzip.compress(tokens("All ", "is ") + b":" * 9)[:-9], content_encoding="gzip")],
            "the compressed body ended before its own end",
            "All is ",
        ),
        ([whole(b"\x1f", content_encoding="gzip")], "the compressed body ended before its own end", ""),
        ([whole(ANSWER, content_encoding="gzip")], "the compressed body is broken", ""),
    ],
    ids=[
        "inside an event",
        "inside an event, close-delimited",
        "between events",
        "inside a chunk header",
        "a chunk header that is none",
        "length too long",
        "reset",
        "close-delimited",
        "close-delimited and empty",
        "gzip",
        "one byte of gzip",
        "not gzip at all",
    ],
)
def test_a_body_that_is_cut_is_an_error_and_what_had_come_is_kept(
    script: Script, message: str, answer: str, golden_run: Program
) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "cut"
    assert message in ran.case.error.message
    assert ran.case.turns[0].answer == answer
    assert [check.ok for check in ran.case.checks] == [None]


@pytest.mark.parametrize("script", [chunked(), [whole(b"")], [whole(gzip.compress(b""), content_encoding="gzip")]])
def test_an_empty_body_is_an_error(script: Script, golden_run: Program) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "empty"


@pytest.mark.parametrize(
    "script",
    [
        chunked(*(ANSWER[at : at + 7] for at in range(0, len(ANSWER), 7))),
        [whole(ANSWER)],
        [whole(ANSWER) + b"more than the length says"],
        [head(), ANSWER],
        [whole(ANSWER, kind="Text/Event-Stream;charset=UTF-8")],
        [b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", *chunked(ANSWER)],
        [b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", ANSWER],
        [whole(ANSWER, content_encoding="identity")],
        [*chunked(b"\xef\xbb\xbf: hello\r\n\r\n", ANSWER.replace(b"\n", b"\r\n"))],
    ],
    ids=[
        "pieces",
        "length",
        "beyond its length",
        "close",
        "type in capitals",
        "1xx",
        "HTTP/1.0",
        "identity",
        "BOM, CRLF",
    ],
)
def test_a_whole_answer_is_whole_however_it_is_framed(script: Script, golden_run: Program) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 0
    assert ran.case.turns[0].answer == "All is well."
    assert ran.case.turns[0].findings == ()


@pytest.mark.parametrize(
    ("script", "finding"),
    [
        ([*chunked(tokens("All is well."))], "end_not_marked"),
        ([whole(tokens("All is well."))], "end_not_marked"),
        (cutting(ANSWER), "end_broken"),
        ([head(content_length=1000), ANSWER], "end_broken"),
        (chunked(ANSWER, tokens(" Or so.")), "after_end"),
        (chunked(ANSWER, b"event: token\ndata: {}"), "after_end"),
        (chunked(tokens("All is well."), event("done", None)), "event_without_data"),
    ],
    ids=[
        "a proven end without a marker",
        "a full length without a marker",
        "cut after the end marker",
        "a length too long after the end marker",
        "a token after the end marker",
        "half an event after the end marker",
        "an end marker without data",
    ],
)
def test_what_is_odd_about_a_whole_answer_is_a_finding(script: Script, finding: str, golden_run: Program) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
        strict = golden_run("--base-url", server.url, "--no-auth", cases=[{**CASE, "clean_stream": True}])
    assert ran.code == 0
    assert ran.case.turns[0].answer == "All is well."
    assert [one.kind for one in ran.case.turns[0].findings] == [finding]
    assert strict.code == (0 if finding in ("event_without_data", "end_broken") else 1)


async def never_done(asked: Asked) -> AsyncIterator[Step]:
    yield CHUNKED
    yield chunk(ANSWER)
    while True:
        yield chunk(tokens("And another thing: " * 100))


@pytest.mark.parametrize("options", [[], ["--max-answer", 50_000]])
def test_what_comes_for_ever_after_the_end_is_a_finding(options: list[object], golden_run: Program) -> None:
    with Server(never_done) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", *options)
    assert ran.code == 0
    assert ran.case.turns[0].answer == "All is well."
    assert next(one.kind for one in ran.case.turns[0].findings) == "after_end"
    assert ran.run.run.duration_s < 10


def test_a_server_that_keeps_the_connection_open_after_the_end_is_no_time_out(golden_run: Program) -> None:
    with Server([*cutting(ANSWER), Act.HOLD]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", cases=[{**CASE, "clean_stream": True}])
    assert ran.code == 0
    assert ran.run.run.duration_s < 10
    # Golden listened on for half a second, and that is not the agent's time.
    assert ran.case.turns[0].timing.total_s < ran.run.run.duration_s - 0.49


# Compressed bodies


def deflated(data: bytes, wbits: int) -> bytes:
    packer = zlib.compressobj(9, wbits=wbits)
    return packer.compress(data) + packer.flush()


LONG = tokens("a" * 70_000, "b" * 70_000, "All is well.") + DONE


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(LONG), "gzip"),
        (gzip.compress(LONG[:1000]) + gzip.compress(LONG[1000:]), "X-GZIP"),
        (deflated(LONG, zlib.MAX_WBITS), "deflate"),
        (deflated(LONG, -zlib.MAX_WBITS), "deflate"),
    ],
    ids=["gzip", "two members", "zlib", "raw deflate"],
)
@pytest.mark.parametrize("size", [1, 100_000], ids=["byte by byte", "in one piece"])
def test_a_compressed_body_is_read(body: bytes, encoding: str, size: int, golden_run: Program) -> None:
    pieces = [chunk(body[at : at + size]) for at in range(0, len(body), size)]
    with Server([head(transfer_encoding="chunked", content_encoding=encoding), *pieces, chunk(b"")]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", cases=[{**CASE, "clean_stream": True}])
    assert ran.code == 0
    assert ran.case.turns[0].answer_chars == 140_012


@pytest.mark.parametrize("wbits", [-zlib.MAX_WBITS, zlib.MAX_WBITS, zlib.MAX_WBITS | 16])
def test_a_compressed_body_is_whole_when_its_last_step_is_full(wbits: int, golden_run: Program) -> None:
    body = b":" + b"a" * (64 * 1024 + 100) + b"\n"
    packed = deflated(body, wbits) if wbits > 0 else deflated(body[:-1], wbits)  # its end hides in the last bits
    with Server([whole(packed, content_encoding="deflate")]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.case.error is not None
    assert ran.case.error.kind == "empty"


def test_a_small_body_that_unfolds_to_gigabytes_takes_bounded_memory(golden_run: Program) -> None:
    bomb = deflated(b"data: " + b"a" * 64 * 1024 * 1024, zlib.MAX_WBITS | 16)
    with Server([whole(bomb, content_encoding="gzip")]) as server:
        tracemalloc.start()
        try:
            ran = golden_run("--base-url", server.url, "--no-auth")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "too_large"
    assert "the event is larger than the 4,194,304 bytes" in ran.case.error.message
    assert peak < 24 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_golden_does_not_read_is_an_error_that_names_it(encoding: str, golden_run: Program) -> None:
    with Server([whole(brotli.compress(ANSWER), content_encoding=encoding)]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "not_a_stream"
    assert f"the body is encoded as {encoding!r}" in ran.case.error.message
    assert "hint: no compression of event streams" in ran.case.error.message


# Streams that do not end


async def comments_for_ever(asked: Asked) -> AsyncIterator[Step]:
    yield CHUNKED
    while True:
        yield chunk(b": still here\n\n")
        await asyncio.sleep(0.02)


async def tokens_for_ever(asked: Asked) -> AsyncIterator[Step]:
    yield CHUNKED
    while True:
        yield chunk(tokens(*["on and on "] * 100))


async def an_event_for_ever(asked: Asked) -> AsyncIterator[Step]:
    yield CHUNKED
    yield chunk(tokens("All ") + b"data: ")
    while True:
        yield chunk(b"x" * 1000)


@pytest.mark.parametrize(
    ("script", "options", "kind", "message"),
    [
        (
            [*cutting(tokens("a", "b", "c")), Act.HOLD],
            ["--idle-timeout", 0.2],
            "timeout",
            "nothing came for 0.2 s (--idle-timeout), after 3 events, 3 characters of answer",
        ),
        ([Act.HOLD], ["--idle-timeout", 0.2], "timeout", "nothing came for 0.2 s (--idle-timeout), after 0 events"),
        ([CHUNKED, Act.HOLD], ["--timeout", 0.2], "timeout", "no end within 0.2 s (--timeout), after 0 events"),
        # A comment is life: it is the other clock that ends this.
        (comments_for_ever, ["--idle-timeout", 0.8, "--timeout", 1.2], "timeout", "no end within 1.2 s (--timeout)"),
        (
            tokens_for_ever,
            ["--max-answer", 100_000],
            "too_large",
            "the answer is larger than the 100,000 bytes that are read, after ",
        ),
        (an_event_for_ever, ["--max-event", 50_000], "too_large", "the event is larger than the 50,000 bytes"),
        (
            chunked(tokens("All ", "x" * 1000), DONE),
            ["--max-event", 500],
            "too_large",
            "the event is larger than the 500 bytes that are read, after 1 events, 4 characters of answer",
        ),
    ],
    ids=[
        "silence after three tokens",
        "silence",
        "silence after the head",
        "comments",
        "tokens",
        "an event",
        "a whole event that is too large",
    ],
)
def test_a_stream_without_end_is_an_error_that_says_which_bound_it_met(
    script: Script, options: list[object], kind: str, message: str, golden_run: Program
) -> None:
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", *options)
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == kind
    assert message in ran.case.error.message
    assert kind != "too_large" or f"hint: {options[0]} reads more" in ran.case.error.message


def test_what_came_before_a_silence_is_kept_in_the_results(golden_run: Program) -> None:
    with Server([*cutting(tokens("a", "b", "c")), Act.HOLD]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--idle-timeout", 0.2)
    assert ran.case.turns[0].answer == "abc"
    assert ran.case.turns[0].finish is None
    assert ran.case.turns[0].timing.first_token_s is not None
    assert [name for _, name, _ in ran.case.turns[0].events] == ["token"] * 3


def test_a_cases_own_time_bounds_it(golden_run: Program) -> None:
    with Server([CHUNKED, Act.HOLD]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", cases=[{**CASE, "timeout_s": 0.2}])
    assert ran.case.error is not None
    assert "no end within 0.2 s" in ran.case.error.message


# What the events say


def test_an_error_event_after_tokens_is_an_error_and_the_tokens_are_kept(golden_run: Program) -> None:
    with Server(chunked(tokens("All is "), event("error", '{"message": "out of credits"}'), DONE)) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "stream_error"
    assert ran.case.error.message == "the agent reports an error: out of credits"
    assert ran.case.turns[0].answer == "All is "


@pytest.mark.parametrize(
    ("odd", "kind", "message"),
    [
        (event("token", "hello"), "not_json", "the data of `token` is not JSON"),
        (event("token", '["hello"]'), "malformed", "the data of `token` is no object"),
        (event("token", '{"text": NaN}'), "not_json", "the data of `token` is not JSON: NaN"),
        (b'event: token\ndata: {"text": "\xff"}\n\n', "not_utf8", "bytes that are not UTF-8"),
        (event("nothing", "not JSON"), None, ""),
        (event("tool_result", '{"result": 1}'), "result_without_call", "a tool result has no call"),
    ],
    ids=["not JSON", "a list", "NaN", "not UTF-8", "unknown", "a result without its call"],
)
def test_data_that_is_not_as_it_should_be_is_a_finding_and_the_answer_is_judged(
    odd: bytes, kind: str | None, message: str, golden_run: Program
) -> None:
    with Server(chunked(odd, ANSWER)) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
        strict = golden_run("--base-url", server.url, "--no-auth", cases=[{**CASE, "clean_stream": True}])
    assert ran.code == 0
    assert ran.case.turns[0].answer.endswith("All is well.")
    found = {one.kind: one.message for one in ran.case.turns[0].findings}
    assert message in (found.get(kind, "") if kind else "")
    assert (kind in found) if kind else found == {}
    assert strict.code == (0 if kind in (None, "malformed") else 1)


def test_a_tool_call_without_a_name_is_a_call_and_a_finding(golden_run: Program) -> None:
    cases: list[dict[str, object]] = [
        {"id": "tools", "question": "?", "expected_tools": ["get_quote"]},
        {"id": "no-tools", "question": "?", "expect_no_tool_call": True},
    ]
    with Server(chunked(event("tool_call", '{"args": {}}'), ANSWER)) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", cases=cases)
    assert ran.code == 1
    assert ran.statuses == ["failed", "failed"]
    for result in ran.run.results:
        assert "(no name)" in result.checks[0].message
        assert [one.kind for one in result.turns[0].findings] == ["tool_without_name"]


@pytest.mark.parametrize(
    ("scores", "ok", "message", "findings"),
    [
        (["0.9"], True, "the score is 0.9", []),
        (["0.89"], False, "the score is 0.89", []),
        (["1"], True, "the score is 1.0", []),
        (['"0.95"'], False, 'the score is a text: "0.95"', []),
        (["true"], False, "the score is a boolean: true", []),
        (["null"], False, "the score is no number: null", []),
        (["1.7"], False, "the score is not a number from 0 to 1: 1.7", []),
        (["2"], False, "the score is not a number from 0 to 1: 2", []),
        (["NaN"], False, "the score is not a number from 0 to 1: NaN", ["not_json"]),
        (["[0.95]"], False, "the score is no number: [0.95]", []),
        ([], False, "no score came in the stream", []),
        (["0.2", "0.95"], True, "the score is 0.95", ["scores"]),
        (["0.95", "0.2"], False, "the score is 0.2", ["scores"]),
        (["0.95", "null"], False, "the score is no number: null", ["scores"]),
    ],
)
def test_a_score_meets_its_threshold_only_where_it_is_a_number_from_0_to_1(
    scores: list[str], ok: bool, message: str, findings: list[str], golden_run: Program
) -> None:
    events = [event("groundedness", f'{{"score": {score}}}') for score in scores]
    case: dict[str, object] = {"id": "grounded", "question": "?", "groundedness_threshold": 0.9}
    with Server(chunked(*events, ANSWER)) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", cases=[case])
    assert ran.code == (0 if ok else 1)
    assert ran.case.groundedness_ok is ok
    assert ran.case.checks[0].message == f"0.9 expected; {message}"
    assert [one.kind for one in ran.case.turns[0].findings] == findings


def test_a_score_is_not_asked_for_where_no_threshold_is(golden_run: Program) -> None:
    with Server(chunked(event("groundedness", '{"score": 0.1}'), ANSWER)) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 0
    assert ran.case.groundedness == 0.1
    assert ran.case.groundedness_ok is None


def test_a_stream_that_no_dialect_knows_is_an_error_that_shows_its_first_event(golden_run: Program) -> None:
    with Server(chunked(b'data: {"delta": "All is well."}\n\n')) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "unknown_dialect"
    assert "its first event is named 'message' and has the keys 'delta'" in ran.case.error.message
    assert "hint: known: adk, ag-ui, " in ran.case.error.message


# What is sent


def test_a_question_is_posted_as_json_and_asks_for_a_plain_event_stream(golden_run: Program) -> None:
    with Server(chunked(ANSWER)) as server:
        ran = golden_run("--base-url", f"{server.url}/api/v1/", "--no-auth")
    (asked,) = server.asked
    assert ran.code == 0
    assert (asked.method, asked.path) == ("POST", "/api/v1/agent/chat")
    assert json.loads(asked.body) == {"message": "Is all well?"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["accept"] == "text/event-stream"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["cache-control"] == "no-store"
    assert asked.headers["user-agent"].startswith("golden/")
    assert "authorization" not in asked.headers


def test_as_many_questions_are_posted_at_once_as_the_concurrency_says(golden_run: Program) -> None:
    in_flight: list[int] = [0]
    together = asyncio.Barrier(4)  # only four at once get past it

    async def script(asked: Asked) -> AsyncIterator[Step]:
        in_flight.append(in_flight[-1] + 1)
        await together.wait()
        yield CHUNKED
        in_flight.append(in_flight[-1] - 1)
        yield chunk(ANSWER) + chunk(b"")

    cases: list[dict[str, object]] = [{**CASE, "id": f"case {number}"} for number in range(12)]
    with Server(script) as server:
        ran = golden_run("--base-url", server.url, "--no-auth", "--concurrency", 4, "--timeout", 20, cases=cases)
    assert ran.statuses == ["passed"] * 12
    assert max(in_flight) == 4


def test_model_and_system_prompt_are_in_the_body_and_the_cases_own_win(golden_run: Program) -> None:
    cases: list[dict[str, object]] = [CASE, {**CASE, "id": "own", "model": "small", "system_prompt": "Be brief."}]
    with Server(chunked(ANSWER)) as server:
        golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, cases=cases, model="m", system_prompt="s")
        golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, "--model", "o", cases=cases, model="m")
    assert [json.loads(asked.body) for asked in server.asked] == [
        {"message": "Is all well?", "model": "m", "system_prompt": "s"},
        {"message": "Is all well?", "model": "small", "system_prompt": "Be brief."},
        {"message": "Is all well?", "model": "o"},
        {"message": "Is all well?", "model": "small", "system_prompt": "Be brief."},
    ]


@pytest.mark.parametrize(
    ("base", "path", "posted"),
    [
        ("", "/api/chat", "/api/chat"),
        ("", "chat", "/chat"),
        ("", "//elsewhere/chat", "/elsewhere/chat"),
        ("/a%20b/", "chat?stream=1", "/a%20b/chat?stream=1"),
    ],
)
def test_a_path_is_put_below_the_base_url(base: str, path: str, posted: str, golden_run: Program) -> None:
    with Server(chunked(ANSWER)) as server:
        assert golden_run("--base-url", server.url + base, "--path", path, "--no-auth").code == 0
    assert server.asked[0].path == posted


def test_given_headers_win_over_goldens_own(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", "an opaque value")
    given = ["Accept: text/event-stream, application/json", "User-Agent: mine", "X-Team: one$$", "x-key: $AGENT_KEY"]
    with Server(chunked(ANSWER)) as server:
        options = [part for header in given for part in ("--header", header)]
        assert golden_run("--base-url", server.url, "--no-auth", *options).code == 0
    headers = server.asked[0].headers
    assert headers["accept"] == "text/event-stream, application/json"
    assert headers["user-agent"] == "mine"
    assert headers["x-team"] == "one$"
    assert headers["x-key"] == "an opaque value"
    assert headers["content-type"] == "application/json"
    assert server.asked[0].head.lower().count(b"accept:") == 1


def test_a_header_that_authorises_stands_instead_of_a_token(golden_run: Program) -> None:
    with Server(chunked(ANSWER)) as server:
        assert golden_run("--base-url", server.url, "--header", "Authorization: Basic dXNlcjpwYXNz").code == 0
    assert server.asked[0].headers["authorization"] == "Basic dXNlcjpwYXNz"


def test_a_cookie_of_one_case_is_not_sent_with_the_next(golden_run: Program) -> None:
    cases: list[dict[str, object]] = [{**CASE, "id": name} for name in ("one", "two")]
    with Server([whole(ANSWER, set_cookie="session=1; Path=/")]) as server:
        assert golden_run("--base-url", server.url, "--no-auth", "--concurrency", 1, cases=cases).code == 0
    assert ["cookie" in asked.headers for asked in server.asked] == [False, False]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://agent.invalid/?key=hidden", "--base-url may not hold a password, a query or a fragment"),
        ("https://agent.invalid/#hidden", "--base-url may not hold a password, a query or a fragment"),
        ("https://agent.invalid?", "--base-url may not hold a password, a query or a fragment"),
        ("https://user:hidden@agent.invalid", "--base-url may not hold a password, a query or a fragment"),
        ("https://user:hidden@agent.invalid:port", "--base-url 'agent.invalid:port' is no http or https URL"),
        ("ftp://user:hidden@agent.invalid/?hidden", "--base-url 'agent.invalid/' is no http or https URL"),
        ("agent.invalid", "--base-url 'agent.invalid' is no http or https URL"),
        ("http://", "--base-url 'http://' is no http or https URL"),
        ("", "--base-url '' is no http or https URL"),
    ],
)
def test_a_base_url_that_is_none_or_holds_secrets_is_refused_and_they_are_not_shown(
    url: str, message: str, golden_run: Program
) -> None:
    ran = golden_run("--base-url", url, "--no-auth")
    assert ran.code == 2
    assert message in ran.err
    assert "hidden" not in ran.err


# Hosts and proxies


def test_no_token_is_sent_in_clear_over_a_network(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    with Server(chunked(ANSWER)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        ran = golden_run("--base-url", "http://agent.invalid")
    assert ran.code == 2
    assert "no token is sent to agent.invalid over http" in ran.err
    assert proxy.asked == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_loopback_gets_a_token_over_http(host: str, golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_SECRET", SECRET)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        ran = golden_run("--base-url", f"http://{host}:{bound.getsockname()[1]}")
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"


def test_only_allowed_hosts_are_asked(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    with Server(chunked(ANSWER)) as server:
        ran = golden_run("--base-url", server.url, "--allow-host", "*.example.com", "--allow-host", "other")
        assert server.asked == []
        allowed = golden_run("--base-url", server.url, "--allow-host", "*.example.com", "--allow-host", "127.0.0.*")
    assert ran.code == 2
    assert "the host 127.0.0.1 is not allowed" in ran.err
    assert "hint: --allow-host allows *.example.com, other" in ran.err
    assert allowed.code == 0


def test_loopback_is_never_proxied_and_others_are(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(chunked(ANSWER)) as proxy, Server(chunked(ANSWER)) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert golden_run("--base-url", server.url, "--no-auth").code == 0
        assert golden_run("--base-url", f"http://localhost:{server.port}", "--no-auth").code == 0
        assert proxy.asked == []
        assert golden_run("--base-url", "http://agent.invalid/base", "--no-auth").code == 0
    assert len(server.asked) == 2
    assert proxy.asked[0].path == "http://agent.invalid/base/agent/chat"


def test_a_proxy_that_refuses_is_an_error(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server([whole(b"", "407 Proxy Authentication Required")]) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        ran = golden_run("--base-url", "https://agent.invalid", "--no-auth")
    assert ran.code == 3
    assert ran.case.error is not None
    assert ran.case.error.kind == "unreachable"
    assert "407" in ran.case.error.message


# Tokens and secrets


def test_the_token_validates(golden_run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", f"  {SECRET}\n")
    with Server(chunked(ANSWER)) as server:
        assert golden_run("--base-url", server.url).code == 0
    scheme, _, token = server.asked[0].headers["authorization"].partition(" ")
    claims = jwt.decode(token, SECRET, algorithms=["HS256"], options={"require": ["exp", "iat", "sub"]})
    assert scheme == "Bearer"
    assert (claims["sub"], claims["scope"]) == ("eval-user", "evals")
    assert claims["exp"] - claims["iat"] == 630


def test_no_secret_is_a_usage_error_that_names_both_variables(golden_run: Program) -> None:
    with Server(chunked(ANSWER)) as server:
        ran = golden_run("--base-url", server.url)
    assert ran.code == 2
    assert "neither EVAL_JWT_SECRET nor JWT_SECRET is set" in ran.err
    assert "--no-auth" in ran.err
    assert server.asked == []


def test_no_secret_is_written_in_whatever_form_the_server_echoes_it(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = 'k/y "with+odd&characters" in it'
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    monkeypatch.setenv("AGENT_KEY", key)
    tokens_seen = []

    async def echo(asked: Asked) -> AsyncIterator[Step]:
        token = asked.headers["authorization"].removeprefix("Bearer ")
        tokens_seen.append(token)
        for value in (token, SECRET, asked.headers["x-agent-key"]):
            for form, _ in spellings(value):
                half = len(form) // 2
                body = [
                    event("token", json.dumps({"text": text})) for text in (form, " ", form[:half], form[half:], " ")
                ]
                yield chunk(b"".join(body))
                yield chunk(event("tool_call", json.dumps({"name": form, "args": {form: [form]}, "id": form})))
                yield chunk(event("tool_result", json.dumps({"result": form, "id": form})))
                yield chunk(event("tool_result", json.dumps({"result": form, "id": f"no such call {form}"})))
                yield chunk(event(form.partition("\n")[0], form))
        yield chunk(event("groundedness", json.dumps({"score": SECRET})))
        yield chunk(event("error", json.dumps({"message": f"bad token {token} for {SECRET} and {quote(key)}"})))
        yield chunk(b"")

    async def chatty(asked: Asked) -> AsyncIterator[Step]:
        yield CHUNKED
        async for step in echo(asked):
            yield step

    case: dict[str, object] = {
        "id": "echo",
        "question": f"What is {SECRET}?",
        "required_phrases": ["not there"],
        "forbidden_phrases": [{"regex": "(?s).+"}, SECRET],
        "expected_tools": ["no such tool"],
        "groundedness_threshold": 0.5,
        "clean_stream": True,
        "metadata": {"key": key},
    }
    options = ["-v", "--header", "X-Agent-Key: $AGENT_KEY", "--out", "report.txt", "--out", "report.json"]
    with Server(chatty) as server:
        ran = golden_run("--base-url", server.url, *options, cases=[case])
    assert ran.code == 3
    written = (
        ran.written + ran.out + ran.err + "".join((tmp_path / f"report.{end}").read_text() for end in ("txt", "json"))
    )
    for value in (tokens_seen[0], SECRET, key):
        for _, telltale in spellings(value):
            assert telltale not in written
            assert "".join(telltale.split()) not in "".join(written.split())  # nor over the lines of a report
    signature = tokens_seen[0].rpartition(".")[2]
    assert signature not in written
    assert "█" in written


def spellings(value: str) -> list[tuple[str, str]]:
    """How an agent may echo a value, each with the part of it that tells the value."""
    plain = [value, quote(value), quote(value, safe=""), json.dumps(value)[1:-1]]
    coded = [code(data.encode()).decode() for code in CODES for data in (value, f"user:{value}!", f"..{value}..")]
    return [(form, form) for form in plain] + [(form, form[8:-8]) for form in coded]


CODES = (base64.b64encode, base64.urlsafe_b64encode)


# The demo agent under a real server


@contextlib.contextmanager
def demo(**environ: str) -> Iterator[str]:
    """The demo agent's server in a process of its own, for its environment is its own."""
    command = [sys.executable, "-m", "golden.demo", "--port", "0"]
    with subprocess.Popen(command, env={**os.environ, **environ}, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            serving = re.search(r"http://\S+", process.stdout.readline())
            assert serving
            yield serving[0]
        finally:
            process.terminate()


def test_the_demo_agent_passes_over_http_and_a_wrong_secret_is_told_after_five_cases(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    with demo(EVAL_JWT_SECRET=SECRET) as url:
        monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
        right = golden_run("--base-url", url, **cases)
        monkeypatch.setenv("EVAL_JWT_SECRET", "another secret than the server's")
        wrong = golden_run("--base-url", url, **cases)
        monkeypatch.delenv("EVAL_JWT_SECRET")
        none = golden_run("--base-url", url, **cases)
    assert right.code == 0
    assert right.statuses == ["passed"] * 10
    assert wrong.code == 3
    assert wrong.statuses == ["error"] * 5 + ["not_run"] * 5
    for result in wrong.run.results:
        assert result.error is not None
        assert "401" in result.error.message
    assert none.code == 2
    assert "EVAL_JWT_SECRET" in none.err
    assert "JWT_SECRET" in none.err.replace("EVAL_JWT_SECRET", "")


# How pieces are gathered


async def fast(asked: Asked) -> AsyncIterator[Step]:
    yield CHUNKED
    for _ in range(100):
        yield chunk(tokens("well "))
        yield 0.001
    yield chunk(DONE) + chunk(b"")


def test_pieces_that_come_fast_are_read_together(golden_run: Program) -> None:
    with Server(fast) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    (turn,) = ran.case.turns
    assert turn.answer == "well " * 100
    times = [at for at, _, _ in turn.events]
    assert sum(later - earlier > 0.0008 for earlier, later in pairwise(times)) < 70


def test_pieces_that_are_at_hand_are_read_without_a_pause(golden_run: Program) -> None:
    pieces = b"".join(chunk(tokens("well ")) for _ in range(1000))
    with Server([CHUNKED + pieces + chunk(DONE) + chunk(b"")]) as server:
        ran = golden_run("--base-url", server.url, "--no-auth")
    (turn,) = ran.case.turns
    assert turn.answer == "well " * 1000
    assert turn.timing.total_s < 3  # a pause for each would be 3.5 s
