"""Text of others, made safe to show: what would steer a terminal, or hide, is shown as an escape and not obeyed."""

import re

# C0 and C1 controls, line and paragraph separators, bidirectional and zero-width controls, the byte-order mark, lone
# surrogates, noncharacters that XML forbids, and what else Unicode has shown as nothing: fillers, tags and variation
# selectors, in which text for machines hides from people. Those of emoji and of Mongolian stay. A tab is a space.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)

# What GitHub's runner takes for a command in a log (actions/runner, ActionCommand): `::` first in a line, behind any
# white space, and `##[` anywhere. Lines end at CR too. Azure has `##vso[`, and TeamCity `##teamcity[`.
_COMMAND = re.compile(r"(?:\A|(?<=[\r\n]))(?P<before>[^\S\r\n]*):(?=:)|#(?=#\w*\[)")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": " "}


def visible(text: str) -> str:
    r"""Returns `text` on one line, with every character that cannot be seen as an escape such as `\x1b` or `\u202e`."""
    return _UNSEEN.sub(_escape, text)


def excerpt(text: str, most: int) -> str:
    """The same, cut to at most `most` characters; what was left out is said."""
    shown = visible(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def glimpse(value: object, most: int) -> str:
    """Returns a value as a message shows it whose secrets are yet to be covered: whole, or its type and length alone.

    It is never cut: what stood at the end might be half a secret, which nothing knows as one.
    """
    shown = repr(value)
    return shown if len(shown) <= most else f"a {type(value).__name__} of {len(shown):,} characters"


def unheeded(text: str, form: str = "\\u{:04x}") -> str:
    r"""Returns `text` with nothing in it that a CI runner takes for a command; JSON says the same as before.

    Args:
        text: any number of lines.
        form: how the character that makes it a command is written, of its code point: `\u003a`, say.
    """
    return _COMMAND.sub(lambda hit: f"{hit['before'] or ''}{form.format(ord(hit[0][-1]))}", text)


def _escape(hit: re.Match[str]) -> str:
    character = hit[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
