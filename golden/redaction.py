"""Secrets, removed by value from everything that is written."""

import base64
import re
from urllib.parse import parse_qsl

# The variables of the environment that may hold the secret tokens are minted from; the first that is set wins.
VARIABLES = ("EVAL_JWT_SECRET", "JWT_SECRET")

TELLING = re.compile(r"auth|cookie|key|pass|secret|session|token", re.IGNORECASE)
"""Names of headers, and in queries of URLs, that tell of a secret."""

# Below this a value is too common to be looked for: it would blot out half a report and protect nothing.
_SHORTEST = 4

_COVER = "█"

# Spelled the same by every encoder of URLs and of JSON.
_SAME = re.compile(r"[A-Za-z0-9._-]")

# What JSON, and Python, may write after a backslash instead of a character.
_ESCAPES = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r", '"': '"', "/": "/", "'": "'"}

# How many backslashes one becomes, and stands before an escape, in JSON inside JSON inside JSON. It is bounded, and a
# run of backslashes is one part of a pattern, so that no text makes it try for long.
_NESTED = 8


class Secrets:
    """The values that must not be written, in each form an agent may echo them in.

    A secret is covered character by character, so the text keeps its length: an excerpt that is cut out of covered text
    never shows half a secret, and places in the text stay where they were.
    """

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str) -> None:
        """Takes a secret. One under 4 characters is not looked for."""
        if len(value) < _SHORTEST or value in self._values:
            return
        self._values.add(value)
        # The longest first: where one is part of another, the whole of it must go.
        forms = [form for value in sorted(self._values, key=len, reverse=True) for form in _forms(value)]
        self._pattern = re.compile("|".join(forms))

    def add_query(self, url: str) -> None:
        """Takes what the query of a URL, or of a path, holds under telling names."""
        for name, value in parse_qsl(url.partition("?")[2].partition("#")[0]):
            if TELLING.search(name):
                self.add(value)

    def cover(self, text: str) -> str:
        """Returns `text` with every secret in it covered; its length is unchanged."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda hit: _COVER * len(hit[0]), text)

    def cover_value(self, value: object) -> object:
        """The same for every text and number inside a JSON value, its keys included."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.cover(value)
        if isinstance(value, (list, tuple)):
            return [self.cover_value(item) for item in value]
        if isinstance(value, dict):
            return {self.cover(str(key)): self.cover_value(item) for key, item in value.items()}
        if isinstance(value, (int, float)):
            text = str(value)
            covered = self.cover(text)
            return value if covered == text else covered
        return value


def _forms(value: str) -> list[str]:
    """Patterns of every spelling: as it is, URL- or JSON-encoded, and base64, wherever in a longer text it stood."""
    coded = {form for form in _base64(value.encode(errors="replace")) if len(form) >= _SHORTEST}
    parts = re.findall(r"\\+|[^\\]", value)
    # Encoders of base64 break long lines, anywhere as far as this can know.
    wrapped = ["[\r\n]*".join(map(re.escape, form)) for form in sorted(coded, key=len, reverse=True)]
    return ["".join(map(_spelled, parts)), *wrapped]


def _spelled(part: str) -> str:
    """A pattern of one character, or of several backslashes. Encoders differ in what they leave as it is."""
    if _SAME.fullmatch(part):
        return re.escape(part)
    url = "".join(f"%{byte:02x}" for byte in part.encode(errors="replace"))
    units = re.findall("....", part.encode("utf-16-be", "surrogatepass").hex())
    escape = "".join(rf"\\{{1,{_NESTED}}}u{unit}" for unit in units)
    # As Python shows it and its bytes: an error may quote those of a reply.
    shown = "".join(rf"\\{{1,{_NESTED}}}x{byte:02x}" for byte in part.encode(errors="replace"))
    if not part.isascii():
        shown += rf"|\\{{1,{_NESTED}}}" + part.encode("ascii", "backslashreplace").decode().lstrip("\\")
    forms = [re.escape(part), f"(?i:{url}|{escape}|{shown})"]
    if part == " ":
        forms.append(r"\+")
    elif part[0] == "\\":
        forms[0] = rf"\\{{{len(part)},{len(part) * _NESTED}}}"
    elif part in _ESCAPES:
        forms.append(rf"\\{{1,{_NESTED}}}{_ESCAPES[part]}")
    return f"(?:{'|'.join(forms)})"


def _base64(value: bytes) -> set[str]:
    """The characters of a base64 text that depend on `value` alone, for each of the three ways it can be aligned."""
    forms = set()
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + value).decode().rstrip("=")
        first = -(-shift * 8 // 6)  # characters that hold a bit of what stands before
        last = (shift + len(value)) * 8 // 6  # the one after holds a bit of what follows
        forms.add(coded[first:last])
        forms.add(coded[first:last].translate(str.maketrans("+/", "-_")))
    return forms
