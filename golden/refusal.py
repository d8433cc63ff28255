"""Whether a reply's head opens an answer, and if not, what to tell people of it."""

import re
from calendar import timegm
from collections.abc import Callable, Collection
from email.utils import parsedate_to_datetime

from golden.errors import TargetError
from golden.wire import Head

# What stands before the host of a URL: a name and perhaps a password.
_PASSWORD = re.compile(r"//[^/?#]*@")

# How much of a refusal's body is read, to quote its beginning.
BODY = 4096

# The longest that a server is left alone because it says so.
_LONGEST_S = 60.0

PROTECTED = "the preview looks protected"
"""What the hint says where it is likely that a host protects the preview."""

_PROTECTED = f"{PROTECTED}: give its bypass header, --header 'x-vercel-protection-bypass: $NAME' or its like"

_HINTS = {
    401: "is the token's secret the one the server has (EVAL_JWT_SECRET, JWT_SECRET)? else --header 'Authorization: …'",
    403: _PROTECTED,
    404: "--path says where questions are posted",
    405: "--path says where questions are posted",
    422: "is this the dialect the server speaks? --dialect names another",
}


def answers(head: Head, accepted: Collection[str]) -> bool:
    """Tells whether an answer follows: status 200, and over HTTP or ASGI one of these content types."""
    return head.status == 200 and (head.ends == "iterable" or _essence(head) in accepted)


def refusal(head: Head, body: bytes, cover: Callable[[str], str]) -> TargetError:
    """Says why this reply is no answer; `body` is its beginning, quoted with its secrets covered."""
    # From its first part alone: a secret that the end of what was read cuts in two is not known as one.
    text = " ".join(cover(body.decode(errors="replace"))[: BODY // 4].split())
    excerpt = f": {text[:200]}" if text else ""
    essence = _essence(head)
    status = head.status
    if status in (401, 403):
        hint = _PROTECTED if essence == "text/html" else _HINTS[status]
        return TargetError("refused", f"the server refused the question with {status}{excerpt}", hint=hint)
    if 300 <= status < 400:
        where = _PASSWORD.sub("//", head.headers.get("location", "nowhere")).partition("?")[0].partition("#")[0]
        return TargetError(
            "redirect",
            f"the server redirects with {status} to {where}; golden does not follow",
            hint=f"if that is where the agent is, use it as --base-url; {_PROTECTED}",
        )
    if status != 200:
        retry = head.headers.get("retry-after")
        after = f" (Retry-After: {retry})" if retry else ""
        return TargetError("http", f"the server answered {status}{after}{excerpt}", hint=_HINTS.get(status))
    if essence == "text/html":
        hint = f"that looks like a login page; {_PROTECTED}"
        return TargetError("not_a_stream", f"the server sent a page (text/html), no event stream{excerpt}", hint=hint)
    return TargetError(
        "not_a_stream", f"the server sent {essence or 'no content type'}, where text/event-stream is an answer{excerpt}"
    )


def retry_after_s(head: Head, now: float) -> float | None:
    """Returns how many seconds the server asks to be left alone (RFC 9110, section 10.2.3), at most 60.

    Args:
        head: of its refusal.
        now: the time, in seconds since the epoch.
    """
    value = head.headers.get("retry-after", "").strip()
    try:
        # Not `timestamp()`: an old form of the date names no zone, and means UTC.
        seconds = float(value) if value.isdecimal() else timegm(parsedate_to_datetime(value).utctimetuple()) - now
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), _LONGEST_S)


def _essence(head: Head) -> str:
    return head.headers.get("content-type", "").partition(";")[0].strip().lower()
