"""The marker that golden's comment begins with, and what is to be done next."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from golden.marker import Marker, marker_of
from golden.sticky import Comment, Create, Delete, Draft, Leave, Mode, Update, action, own
from tests.github import BOT, HEAD

EARLY = Marker("golden", HEAD, 100, 1, datetime(2026, 3, 1, 12, tzinfo=UTC), "a" * 16)
LATE = replace(EARLY, run=101, started=EARLY.started + timedelta(minutes=5), digest="b" * 16)
OLD_HEAD = replace(LATE, sha="0" * 40, digest="c" * 16)
SAME = replace(EARLY, run=99, started=EARLY.started - timedelta(hours=1))


def text(marker: Marker, form: str = "whole") -> str:
    return f"{marker}\n### Golden questions: {form}\n"


# The marker


def test_a_marker_is_read_as_it_was_written() -> None:
    assert marker_of(text(LATE)) == LATE
    assert marker_of(f"{LATE}\r\nmore") == LATE
    assert LATE.age > EARLY.age


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Looks good!",
        f"> {EARLY}",
        f" {EARLY}",
        f"{EARLY} or so\n",
        f"Thanks.\n{EARLY}\n",
        str(EARLY).replace("v1", "v2"),
        str(EARLY).replace("key=golden", "key=Golden"),
        str(EARLY).replace("key=golden", "key=-"),
        str(EARLY).replace(HEAD, HEAD[:7]),
        str(EARLY).replace("2026-03-01T", "2026-13-01T"),
        str(EARLY).replace("+00:00", ""),
        str(EARLY).replace("run=100", "run=-1"),
        str(EARLY).replace("run=100", f"run={'9' * 20}"),
        str(EARLY).replace(" digest", "  digest"),
    ],
)
def test_any_other_line_is_no_marker(body: str) -> None:
    assert marker_of(body) is None


# What to do next


def there(*found: Marker) -> list[Comment]:
    return [Comment(number, marker) for number, marker in enumerate(found, start=1)]


@pytest.mark.parametrize(
    ("comments", "mode", "is_well", "expected"),
    [
        ((), "update", False, Create()),
        ((), "update", True, Create()),
        ((), "new", True, Create()),
        ((), "on-change", False, Create()),
        ((), "on-change", True, Leave("quiet")),
        ((SAME,), "update", True, Leave("said", 1)),
        ((replace(SAME, digest="0" * 16),), "update", True, Update(1)),
        ((replace(SAME, digest="0" * 16),), "on-change", True, Update(1)),
        ((LATE,), "update", True, Leave("newer", 1)),
        ((replace(LATE, digest=EARLY.digest),), "update", True, Leave("said", 1)),
        ((replace(EARLY, attempt=2, digest="0" * 16),), "update", True, Leave("newer", 1)),
        ((OLD_HEAD,), "update", True, Update(1)),
        ((LATE,), "new", True, Create()),
        ((LATE, EARLY), "new", True, Leave("said", 2)),
        ((OLD_HEAD, EARLY), "update", True, Update(1)),
        ((EARLY, LATE), "update", True, Leave("said", 1)),
        ((LATE, EARLY), "update", True, Delete(2)),
        ((EARLY, EARLY), "update", True, Delete(2)),
    ],
)
def test_what_is_done_next_follows_from_what_is_there(
    comments: tuple[Marker, ...], mode: Mode, is_well: bool, expected: object
) -> None:
    assert action(there(*comments), Draft(EARLY, mode, is_well)) == expected


def row(number: object = 1, login: str = BOT, kind: str = "Bot", body: object = "") -> dict[str, object]:
    return {"id": number, "user": {"login": login, "type": kind}, "body": body or text(EARLY)}


def test_a_comment_is_goldens_own_by_its_author_and_its_first_line() -> None:
    rows: list[dict[str, object]] = [
        row(5),
        row(4, body=f"{text(EARLY)}edited by hand"),
        row(1, "mallory"),
        row(2, kind="User"),
        row(3, body=f"Look what it said:\n{EARLY}"),
        row(6, body=text(replace(EARLY, key="other"))),
        row("7"),
        {"id": 8, "user": None, "body": None},
        {},
    ]
    assert [comment.id for comment in own(rows, BOT, "golden")] == [4, 5]
    assert [comment.id for comment in own([row(1, "alice", "User")], "alice", "golden")] == [1]
