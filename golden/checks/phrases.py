"""Phrases that must never be shown, and phrases that must be in the answer."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from golden.checks import Check, Cover, Family
from golden.fold import Folded, contains, find, fold
from golden.patterns import PatternTimeout, search
from golden.phrase import Pattern
from golden.suite import Checks
from golden.transcript import Turn

Phrase = str | Pattern
Spot = tuple[int, int]

# How much of the text around a hit is shown, in characters to each side.
_AROUND = 40


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    folded = cache(fold)  # what was shown is most often the answer
    if expect.forbidden_phrases:
        shown = [folded(text) for turn in turns for text in turn.shown]
        yield _decided("forbidden_phrases", lambda: _forbidden(expect.forbidden_phrases, shown, cover))
    if expect.required_phrases:
        answers = [folded(turn.answer) for turn in turns]
        yield _decided("required_phrases", lambda: _required(expect.required_phrases, answers))


def _decided(name: str, decide: Callable[[], Check]) -> Check:
    try:
        return decide()
    except PatternTimeout as timeout:
        return Check(name, None, str(timeout))


def _forbidden(phrases: Sequence[Phrase], shown: Sequence[Folded], cover: Cover) -> Check:
    # Of each phrase the first hit: a text that was shown twice, as deltas and in full, is one text to a reader.
    hits = [(phrase, *hit) for phrase in phrases if (hit := _first(phrase, shown))]
    if not hits:
        return Check("forbidden_phrases", True, f"none of {len(phrases)} was shown")
    message = "; ".join(f"{_name(phrase)} in: {_context(text, spot, cover)}" for phrase, text, spot in hits)
    return Check("forbidden_phrases", False, f"found {message}", hits=tuple(_text(phrase) for phrase, _, _ in hits))


def _required(phrases: Sequence[Phrase | list[Phrase]], answers: Sequence[Folded]) -> Check:
    missing = []
    for phrase in phrases:
        choices = phrase if isinstance(phrase, list) else [phrase]
        if not any(_is_in(choice, answer) for choice in choices for answer in answers):
            missing.append(" or ".join(map(_name, choices)))
    if missing:
        return Check("required_phrases", False, f"not in the answer: {'; '.join(missing)}")
    return Check("required_phrases", True, f"all {len(phrases)} are in the answer")


def _first(phrase: Phrase, texts: Sequence[Folded]) -> tuple[str, Spot] | None:
    return next(((text.original, spot) for text in texts if (spot := _find(phrase, text))), None)


def _find(phrase: Phrase, text: Folded) -> Spot | None:
    if not isinstance(phrase, Pattern):
        return find(phrase, text)
    try:
        return search(phrase.regex, text.original)
    except PatternTimeout as timeout:
        raise PatternTimeout(f"{_name(phrase)}: {timeout}") from None


def _is_in(phrase: Phrase, text: Folded) -> bool:
    return _find(phrase, text) is not None if isinstance(phrase, Pattern) else contains(phrase, text)


def _context(text: str, spot: Spot, cover: Cover) -> str:
    """The hit in square brackets, with what stands around it."""
    start, end = spot
    covered = cover(text)
    before, hit, after = covered[max(0, start - _AROUND) : start], covered[start:end], covered[end : end + _AROUND]
    left = "…" if start > _AROUND else ""
    right = "…" if end + _AROUND < len(covered) else ""
    return f"{left}{before}[{hit}]{after}{right}"


def _name(phrase: Phrase) -> str:
    return f"/{phrase.regex}/" if isinstance(phrase, Pattern) else f'"{phrase}"'


def _text(phrase: Phrase) -> str:
    return phrase.regex if isinstance(phrase, Pattern) else phrase


CHECK: Family = _check
