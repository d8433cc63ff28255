"""GitHub's expressions, as far as our workflows use them: what they use besides fails the test that meets it.

Null, "", 0 and false count as false; `&&` and `||` give one of their sides; `==` takes null for "" and heeds no case.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*')|(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)|(?P<mark>&&|\|\||[!=]=|[!(),]))"
)
_EMBEDDED = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)

_WORDS = {"true": True, "false": False, "null": None}

Contexts = Mapping[str, Any]


def same(one: object, other: object) -> bool:
    return str("" if one is None else one).casefold() == str("" if other is None else other).casefold()


def starts_with(text: object, start: object) -> bool:
    return str("" if text is None else text).casefold().startswith(str(start).casefold())


_FUNCTIONS: Mapping[str, Callable[..., object]] = {"startsWith": starts_with, "always": lambda: True}


def value(text: str, contexts: Contexts) -> Any:
    """What an expression comes to."""
    reader = _Reader(text.strip().removeprefix("${{").removesuffix("}}"), contexts)
    found = reader.either()
    assert not reader.left, f"{text!r}: {reader.left} are beyond this evaluator"
    return found


def filled(text: object, contexts: Contexts) -> str:
    """A text with what each `${{ }}` in it comes to."""

    def shown(hit: re.Match[str]) -> str:
        found = value(hit[1], contexts)
        return "" if found is None else str(found).lower() if isinstance(found, bool) else str(found)

    return _EMBEDDED.sub(shown, "true" if text is True else "false" if text is False else str(text))


class _Reader:
    def __init__(self, text: str, contexts: Contexts) -> None:
        self._contexts = contexts
        self.left: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            hit = _TOKEN.match(text, at)
            assert hit, f"{text!r}: {text[at:]!r} is beyond this evaluator"
            self.left.append(hit[0].strip())
            at = hit.end()

    def either(self) -> Any:
        found = self._both()
        while self._is_next("||"):
            other = self._both()
            found = found or other
        return found

    def _both(self) -> Any:
        found = self._compared()
        while self._is_next("&&"):
            other = self._compared()
            found = found and other
        return found

    def _compared(self) -> Any:
        found = self._single()
        if self._is_next("=="):
            return same(found, self._single())
        if self._is_next("!="):
            return not same(found, self._single())
        return found

    def _single(self) -> Any:
        token = self.left.pop(0)
        if token == "!":
            return not self._single()
        if token == "(":
            found = self.either()
            assert self._is_next(")")
            return found
        if token.startswith("'"):
            return token.strip("'")
        if self._is_next("("):
            arguments = []
            while not self._is_next(")"):
                arguments.append(self.either())
                self._is_next(",")
            return _FUNCTIONS[token](*arguments)
        return _WORDS[token] if token in _WORDS else self._at(token)

    def _at(self, path: str) -> Any:
        first, *names = path.split(".")
        found = self._contexts[first]
        for name in names:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def _is_next(self, token: str) -> bool:
        if self.left[:1] == [token]:
            self.left.pop(0)
            return True
        return False
