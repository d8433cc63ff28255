"""Phrases: the folding under which they are compared, and where a hit stands in the original (contract 3)."""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, decomposition, normalize

# A run of `*` between digits stays: `2*3` is no mark.
_STARS = re.compile(r"(\d\*++(?=\d))|\*++")

# A run of `_` with no letter or digit before it, or none after it.
_UNDERSCORES = re.compile(r"(?<!\w)_++|(?<!_)_++(?![^\W_])")

# U+034F joins graphemes and is seen by nobody; the others are variation selectors, Mongolian and general.
_SELECTORS = frozenset("\u034f\u180b\u180c\u180d\u180f") | {
    chr(c) for c in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}

# What looks alike: curly, prime, guillemet and acute quotes, U+2212. The dashes are those of category Pd.
_ALIKE = {
    **dict.fromkeys("‘’‚‛❛❜′‵‹›❮❯\u02b9\u0374\u02bb\u02bc\u02bd\u00b4\u1ffd", "'"),
    **dict.fromkeys("“”„‟❝❞⹂〝〞〟″‶«»\u02ba", '"'),
    "‴": "'''",
    "‷": "'''",
    "⁗": "''''",
    "\u2212": "-",
}

# Compatibility forms that mean something else than what they decompose to: 10² is not 102.
_OWN_MEANING = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")

# Two characters that are neither Markdown nor, for speed, of the invisible that come in long runs, together or with
# white space between: where a text may be cut, if `_is_seam` agrees.
_PLAIN = r"[^\s*_~`\u00ad\u200b-\u200f\u2060-\u206f]"
_PAIR = re.compile(rf"{_PLAIN}(\s*+)(?={_PLAIN})")


class Folded(NamedTuple):
    """A text and its folding."""

    original: str
    text: str


def fold(text: str) -> Folded:
    """Folds a text so that phrases can be looked for in it, however often, in time and memory linear in its length."""
    return Folded(text, _fold(text))


def find(phrase: str, within: Folded) -> tuple[int, int] | None:
    """Returns where a phrase first stands, as (start, end) in the original, or None.

    The folding of that piece of the original contains the folded phrase, and the piece is as short as can be. A phrase
    that folds to nothing stands nowhere.
    """
    folded = _phrase(phrase)
    at = within.text.find(folded)
    return _place(within.original, folded, at) if folded and at >= 0 else None


def contains(phrase: str, within: Folded) -> bool:
    """Tells whether `find` would find the phrase, for less: where it stands is half the work."""
    folded = _phrase(phrase)
    return bool(folded) and folded in within.text


@lru_cache(maxsize=1024)
def _phrase(phrase: str) -> str:
    return _fold(phrase)  # a suite asks the same of many answers


def _fold(text: str) -> str:
    # What a text holds decides what must be done to it. `str.replace` for the few characters that occur is many times
    # faster than a look at each place, and needs no memory beside the text.
    alphabet = set(text)
    odd = [char for char in alphabet if not char.isascii()]

    # 1 and 2. What a mark stands beside is judged without the invisible: `get_\u200bquote` is one word to a reader.
    text = text.replace("`", "").replace("~~", "")
    for char in odd:
        if category(char) == "Cf" or char in _SELECTORS:
            text = text.replace(char, "")
    if "*" in text:
        text = _STARS.sub(r"\1", text)
    if "_" in text:
        text = _UNDERSCORES.sub(_kept_behind_mark if odd else "", text)

    if odd:
        # 3
        for char in odd:
            if alike := _ALIKE.get(char) or ("-" if category(char) == "Pd" else ""):
                text = text.replace(char, alike)
        # 4
        own = "".join(char for char in odd if decomposition(char).startswith(_OWN_MEANING))
        parts = re.split(f"([{own}]+)", text) if own else [text]
        parts[::2] = [normalize("NFKC", part) for part in parts[::2]]
        # 5
        text = normalize("NFC", "".join(parts).casefold().replace("i\u0307", "i"))
    else:
        text = text.casefold()

    # 6. NFKC makes no white space but U+0020.
    for char in alphabet:
        if char.isspace():
            text = text.replace(char, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip()


def _kept_behind_mark(run: re.Match[str]) -> str:
    r"""`\w` knows no combining marks: a run of `_` between one and a letter stands inside a word all the same."""
    before, after = run.string[run.start() - 1 : run.start()], run.string[run.end() : run.end() + 1]
    return run[0] if before and category(before)[0] == "M" and after.isalnum() else ""


def _place(text: str, folded: str, at: int) -> tuple[int, int]:
    """Finds the piece of `text` whose folding is `folded`, which stands at `at` in the folding of it all.

    No map of offsets is kept, as few texts hold a hit. At a seam a text folds as its two parts do, so lengths of folded
    parts add up: halving towards the hit costs as much as folding once or twice more.
    """
    low, high, before = 0, len(text), 0  # `low` is the start or a seam; `before` is the length of what stands before it
    while high - low > 1:
        middle = (low + high) // 2
        seam = _seam(text, middle, high)
        length = before + len(_fold(text[low:seam])) + text[seam - 1].isspace() if seam else 0
        if seam and length <= at:
            low, before = seam, length
        else:
            high = middle
    at -= before

    def ends(size: int) -> bool:
        return _fold(text[low : low + size]).startswith(folded, at)

    high, reach = low, at + len(folded)
    while high < len(text) and not ends(high - low):
        high = _seam(text, max(high + 1, low + reach), len(text)) or len(text)
        reach *= 2
    end = low + _least(ends, high - low)
    return end - _least(lambda size: folded in _fold(text[end - size : end]), end - low), end


def _least(holds: Callable[[int], bool], most: int) -> int:
    """Returns the least size for which it holds, as it does for `most`.

    A step costs in proportion to its size, so small ones are tried first; and an answer just below a large one is
    looked for from there.
    """
    high = 1
    while high < most and not holds(high):
        high *= 2
    low, high, step = high // 2, min(high, most), 1
    while high - step > low and holds(high - step):
        high -= step
        step *= 2
    return bisect_left(range(high), True, lo=max(high - step, low), key=holds)


def _seam(text: str, start: int, stop: int) -> int | None:
    """Returns the first place from `start` to before `stop` where the text may be cut, or None."""
    pairs = _PAIR.finditer(text, start - 1, stop)
    return next((pair.end() for pair in pairs if _is_seam(text[pair.start()], bool(pair[1]), text[pair.end()])), None)


@lru_cache(maxsize=4096)
def _is_seam(left: str, spaced: bool, right: str) -> bool:
    one, other, space = _fold(left), _fold(right), " " * spaced
    joins = any(category(char)[0] == "M" for char in right + other[:1])
    return bool(one and other) and not joins and _fold(left + space + right) == one + space + other
