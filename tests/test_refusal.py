import json
import time

import pytest

from golden.refusal import BODY, answers, refusal, retry_after_s
from golden.wire import Ends, Head

STREAM = {"content-type": "text/event-stream"}


def told(status: int, body: bytes = b"", ends: Ends = "length", **headers: str) -> tuple[str, str, str]:
    """Kind, message and hint of a refusal; header names with `_` for `-`."""
    head = Head(status, {name.replace("_", "-"): value for name, value in headers.items()}, ends)
    assert not answers(head, TYPES)
    error = refusal(head, body, str)
    assert (error.exit_code, str(error).startswith(error.message)) == (3, True)
    return error.kind, error.message, error.hint or ""


TYPES = ("text/event-stream",)


@pytest.mark.parametrize(
    "content_type",
    ["text/event-stream", "text/event-stream; charset=utf-8", "Text/Event-Stream", " text/event-stream ;charset=x"],
)
@pytest.mark.parametrize("ends", ["chunked", "length", "app", "close"])
def test_status_200_with_an_event_stream_is_an_answer(content_type: str, ends: Ends) -> None:
    assert answers(Head(200, {"content-type": content_type}, ends), TYPES)


def test_an_iterable_is_an_answer_without_a_content_type() -> None:
    assert answers(Head(200, {}, "iterable"), TYPES)
    assert not answers(Head(500, {}, "iterable"), TYPES)


@pytest.mark.parametrize("status", [201, 202, 204, 206, 301, 401, 403, 404, 422, 429, 500, 503])
def test_an_event_stream_with_another_status_is_no_answer(status: int) -> None:
    assert not answers(Head(status, STREAM, "chunked"), TYPES)


@pytest.mark.parametrize(
    "content_type",
    ["", "text/html", "application/json", "text/event-stream, text/html", "application/x-text/event-stream",
     "text/event-streams", "text/html; x=text/event-stream"],
)  # fmt: skip
def test_status_200_of_another_type_is_no_answer(content_type: str) -> None:
    kind, message, _ = told(200, content_type=content_type)
    assert kind == "not_a_stream"
    assert content_type.partition(";")[0].strip() in message


@pytest.mark.parametrize(
    ("status", "content_type", "hint"),
    [
        (401, "application/json", "EVAL_JWT_SECRET, JWT_SECRET"),
        (401, "text/html; charset=utf-8", "the preview looks protected: give its bypass header"),
        (403, "application/json", "the preview looks protected: give its bypass header"),
        (403, "text/html", "the preview looks protected: give its bypass header"),
    ],
)
def test_401_and_403_are_refusals_with_a_hint_to_what_authorises(status: int, content_type: str, hint: str) -> None:
    kind, message, hinted = told(status, b'{"detail": "who are you?"}', content_type=content_type)
    assert kind == "refused"
    assert message == f'the server refused the question with {status}: {{"detail": "who are you?"}}'
    assert hint in hinted


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (404, "--path says where questions are posted"),
        (405, "--path says where questions are posted"),
        (422, "--dialect names another"),
        (500, ""),
        (502, ""),
        (204, ""),
        (206, ""),
        (299, ""),
        (400, ""),
        (429, ""),
    ],
)
def test_another_status_is_named_with_the_beginning_of_its_body(status: int, hint: str) -> None:
    body = json.dumps({"detail": [{"loc": ["body", "message"], "msg": "field required"}]}).encode()
    kind, message, hinted = told(status, body, content_type="application/json")
    assert kind == "http"
    assert message == f"the server answered {status}: {body.decode()}"
    assert hint in hinted
    assert bool(hint) == bool(hinted)


def test_no_content_is_told_in_few_words() -> None:
    assert told(204) == ("http", "the server answered 204", "")


@pytest.mark.parametrize("after", ["30", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_when_to_come_back_is_told_as_the_server_says_it(after: str) -> None:
    _, message, _ = told(429, b"slow down", retry_after=after)
    assert message == f"the server answered 429 (Retry-After: {after}): slow down"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_named_without_its_query_and_not_followed(status: int) -> None:
    kind, message, hint = told(status, b"moved", location="https://login.example/sso?ticket=secret#part")
    assert kind == "redirect"
    assert message == f"the server redirects with {status} to https://login.example/sso; golden does not follow"
    assert "--base-url" in hint
    assert "x-vercel-protection-bypass" in hint
    assert "to /elsewhere; golden" in told(status, location="/elsewhere#?part")[1]


def test_a_redirect_without_a_place_says_so() -> None:
    assert "with 304 to nowhere;" in told(304)[1]
    assert [told(status)[0] for status in (300, 399)] == ["redirect", "redirect"]


def test_a_page_looks_like_a_login_and_the_hint_names_the_bypass_header() -> None:
    kind, message, hint = told(200, b"<html>\n  <title>Log in</title>", content_type="text/html; charset=utf-8")
    assert kind == "not_a_stream"
    assert message == "the server sent a page (text/html), no event stream: <html> <title>Log in</title>"
    assert hint.startswith(
        "that looks like a login page; the preview looks protected: give its bypass header, --header "
    )


def test_json_with_status_200_is_quoted() -> None:
    assert told(200, b'{"error": "no model"}', content_type="application/json") == (
        "not_a_stream",
        'the server sent application/json, where text/event-stream is an answer: {"error": "no model"}',
        "",
    )
    assert told(200)[1] == "the server sent no content type, where text/event-stream is an answer"
    lines = refusal(Head(200, STREAM, "chunked"), b"", str, "application/x-ndjson")
    assert lines.message == "the server sent text/event-stream, where application/x-ndjson is an answer"


def test_a_body_is_quoted_on_one_line_and_not_at_length() -> None:
    _, message, _ = told(500, ("<h1>\r\n\tOops</h1>" + "x" * BODY).encode())
    assert message.startswith("the server answered 500: <h1> Oops</h1>xxx")
    assert len(message) < 250


def test_a_body_of_any_bytes_can_be_quoted() -> None:
    assert told(500, b"caf\xe9 \xff\xf0\x9f")[1] == "the server answered 500: caf\ufffd \ufffd\ufffd"


def test_secrets_are_covered_before_a_body_is_cut() -> None:
    body = b"x" * 190 + b"secret-of-the-server"
    error = refusal(Head(500, {}, "length"), body, lambda text: text.replace("secret-of-the-server", "*" * 20))
    assert "secret" not in error.message
    assert error.message.endswith("x" + "*" * 10)


# When to come back

NOON = 784_123_200.0  # Sunday, 6 November 1994, 12:00:00 UTC


@pytest.mark.parametrize(
    ("told", "wait"),
    [
        ("0", 0),
        ("7", 7),
        (" 7 ", 7),
        ("60", 60),
        ("61", 60),
        ("9" * 400, 60),
        ("Sun, 06 Nov 1994 12:00:30 GMT", 30),
        ("Sunday, 06-Nov-94 12:00:30 GMT", 30),
        ("Sun Nov  6 12:00:30 1994", 30),
        ("Sun, 06 Nov 1994 13:00:30 +0100", 30),
        ("Sun, 06 Nov 1994 11:59:30 GMT", 0),
        ("Mon, 07 Nov 1994 12:00:00 GMT", 60),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("Sun, 99 Nov 1994 12:00:30 GMT", None),
        ("Sun, 06 Nov 1994 12:00:30 +9999999999", None),
    ],
)
def test_a_server_says_in_seconds_or_by_a_date_how_long_it_is_to_be_left_alone(
    told: str, wait: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")  # a date that names no zone means UTC wherever it is read
    time.tzset()
    try:
        assert retry_after_s(Head(503, {"retry-after": told}, "length"), NOON) == wait
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_server_that_does_not_say_how_long_is_asked_again_at_once() -> None:
    assert retry_after_s(Head(503, {}, "length"), NOON) is None
