"""Text of others in forms that GitHub's Markdown cannot take for markup.

No mention, reference, link, image or tag comes of it, wherever it stands; and where it is printed, no workflow command.
"""

import re
from html import escape
from urllib.parse import quote

from golden.visible import excerpt, unheeded

_NOT_PLAIN = re.compile(r"[!-/:-@\[-`{-~]")

# What a URL is left with, next to letters, digits and `_.-~` (RFC 3986, section 2.2); brackets would end a link.
_URL = "/:?#@!$&'*+,;=%"

# The most lines of a block, and the most characters of one.
_LINES = 60
_LINE = 500


def code(text: str, most: int = 120) -> str:
    """Returns one line of text as code, cut to at most `most` characters; it may stand in a cell of a table."""
    return f"<code>{_NOT_PLAIN.sub(_entity, excerpt(text[: most + 1], most))}</code>"


def block(text: str, most: int) -> str:
    """Returns a text of several lines as a block, cut to at most `most` characters. It stands behind a blank line."""
    lines = text[: most + 1].replace("\r\n", "\n").split("\n")
    shown = "\n".join(excerpt(line, _LINE) for line in lines[:_LINES])
    if len(text) > most or len(lines) > _LINES or len(shown) > most:
        shown = f"{shown[: most - 1].removesuffix('…')}…"
    return f"<pre>\n{unheeded(escape(shown, quote=False), '&#{};')}\n</pre>"


def link(text: str, url: str) -> str:
    """Returns a link of golden's own making: neither its text nor its URL is of others."""
    return f"[{text}](<{quote(url, _URL, errors='replace')}>)"


def _entity(hit: re.Match[str]) -> str:
    # An at sign alone may be part of an e-mail address, which is linked after entities are read.
    return f"&#{ord(hit[0])};" + ("&#8203;" if hit[0] == "@" else "")
