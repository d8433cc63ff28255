"""From a question in free wording to what is asked: a kind, its subjects, a number of days, a percentage."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal[
    "summary", "holding", "valuation", "what_if", "what_if_all", "quote", "history", "news",
    "watch", "unwatch", "watchlist", "watched", "advice", "unclear", "help",
]  # fmt: skip

_USUAL_DAYS = 20


@dataclass(frozen=True, slots=True)
class Ask:
    """What a question asks.

    ``symbols`` may hold what is no symbol of ours, as the person wrote it: that it is unknown is for a tool to say.
    ``days`` are trading days; ``percent`` is the change that a what-if supposes, below zero for a fall.
    """

    kind: Kind
    symbols: tuple[str, ...] = ()
    days: int = _USUAL_DAYS
    percent: Decimal = Decimal(0)


_LONGEST = 1_000  # characters that are read: some patterns take time that grows with its square
_ANY_CASE = re.IGNORECASE | re.ASCII  # else a dotless i or a long s matches too, and what is found is in no table
_OURS = "§"  # stands for each name of ours while the rest of a question is read

_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6}
_NUMBERS |= {"seven": 7, "eight": 8, "nine": 9, "ten": 10}
_UNITS = {"day": 1, "week": 5, "month": 21, "quarter": 63, "year": 252}  # in trading days
_COUNT = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})[ -](?:trading |business )?"
_UNIT = rf"({'|'.join(_UNITS)})s?\b"
_SPAN = re.compile(rf"\b(?:{_COUNT}|last |past |previous ){_UNIT}", _ANY_CASE)

_PERCENT = r"(?<![\d.])(\d{1,4}(?:\.\d{1,2})?) ?(?:%|per ?cent\b)"
_FALL = r"\b(?:drop|fall|fell|lose|lost|declin|sink|crash|slip|down|decreas|tank|plung|dip|tumbl|slump|shed|minus)\w*"
_RISE = r"\b(?:up|ris|rose|gain|grow|grew|climb|increas|jump|rall|surg|soar|plus)\w*"

_LIST = r"\b(?:watch[ -]?)?list\b"
_LIVE = re.compile(r"\b(?:today|now|current|currently|live|latest|moment)\b", re.IGNORECASE)

# The first row that is found decides, so a row stands above those whose words it may hold.
_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "advice",
        r"\b(?:should i|buy|buying|sell(?! ?-?off)|selling|invest|investing|trade(?! at\b)|purchase|liquidate|offload"
        r"|recommend\w*|advi[sc]e|good (?:investment|idea|time|bet)|get (?:rid|out) of|what would you do)\b",
    ),
    (
        "what_if",
        rf"^(?=.*{_PERCENT})(?=.*(?:{_FALL}|{_RISE}))"
        r"(?:and\b|.*\b(?:if|suppos\w+|assum\w+|imagine|say|would|what about|how about)\b)",
    ),
    (
        "unwatch",
        rf"\b(?:remove|delete|drop|take|strike)\b.*{_LIST}|^(?:please )?remove\b"
        r"|\bstop (?:watching|tracking|following)\b|\bun(?:watch|follow)\b",
    ),
    (
        "watch",
        rf"\b(?:add|put|place|include)\b.*{_LIST}|^(?:please )?(?:add|watch|track|follow|keep an eye on)\b"
        r"|\bstart (?:watching|tracking|following)\b",
    ),
    ("watchlist", r"\bwatch[ -]?list\b|\bwatching\b"),
    ("news", r"\b(?:news|headlines?|stories|story|articles?)\b|\bwhat's new\b|\bhappening\b"),
    (
        "summary",
        r"\b(?:portfolio|holdings|positions|investments|net worth|in total|altogether)\b"
        r"|\b(?:what|everything|all) (?:(?:stocks|shares) )?(?:do )?i (?:own|have|hold)\b",
    ),
    (
        "history",
        rf"\b(?:histor\w*|charts?|trends?|perform\w*|range|moved?|highs?|highest|lows?|lowest)\b|{_SPAN.pattern}",
    ),
    (
        "holding",
        r"\bhow (?:many|much)\b.*\b(?:i (?:own|have|hold)|have i)\b|\bdo i (?:still )?(?:own|have|hold)\b"
        rf"|\bmy {_OURS}|\bmy\b.*\b(?:shares?|stocks?|position|stake|holding|investment)\b",
    ),
    ("quote", r"\b(?:price|quotes?|trad(?:es?|ing)|costs?|worth|value|how is it|how's it)\b"),
)
_WITH_SUBJECT: Mapping[Kind, Kind] = {"summary": "holding", "what_if_all": "what_if", "watchlist": "watched"}
_WITHOUT_SUBJECT: Mapping[Kind, Kind] = {
    "holding": "summary",
    "valuation": "summary",
    "what_if": "what_if_all",
    "quote": "unclear",
    "history": "unclear",
    "news": "unclear",
    "watch": "unclear",
    "unwatch": "unclear",
    "watched": "watchlist",
}
_WHAT_IF: tuple[Kind, ...] = ("what_if", "what_if_all")
_SAME_AGAIN = re.compile(r"(?:and|or|also|what about|how about|same)\b", re.IGNORECASE)

# How a name that is not ours is told: by its look, by its capital, by its place in the sentence. The last two only
# where nothing else is found, for beside a name of ours they mostly belong to something else.
_NAME = r"([A-Z][\w&-]+(?: [A-Z][\w&-]+)*)"
_STRANGERS = (
    re.compile(rf"\$([A-Za-z]{{1,6}})\b|\b([A-Z]{{2,5}})\b|(?:\b(?:and|or|of|for|about|on|any)|,) {_NAME}"),
    re.compile(rf"(?<=[^.!?] ){_NAME}"),
    re.compile(
        r"\b(?:of|for|about|on|add|remove|drop|track|watch|follow|own|hold|any) (?:the |my |any |some )?([a-z][\w&-]+)",
        re.IGNORECASE,
    ),
)
_COMMON = """
    a an and any all are am is it its it's i'm me my mine some the their them they these this that those to us we what
    what's which will with you your both each more per how why when last past previous next today yesterday now current
    currently latest days weeks months years quarters share shares stock stocks position positions holding holdings
    portfolio price prices value worth news headline headlines history quote watch watchlist list company companies
    market please thanks hi hello ok us uk eu usd eur etf ceo cfo ai ipo eps pe ytd asap fyi monday tuesday wednesday
    thursday friday saturday sunday january february march april may june july august september october november
    december
    """
_NO_NAMES = frozenset(_COMMON.split()).union(_NUMBERS, _UNITS)


def understand(question: str, lexicon: Mapping[str, str], last: Ask | None = None) -> Ask:
    """What ``question`` asks.

    Args:
        question: in English, in free wording.
        lexicon: every name of an instrument in lower case, with its symbol.
        last: what was asked before in the same session. A question that names no subject keeps that one's, and one
            that is little more than a subject or a percentage ("and what about MSFT?") asks the same again.
    """
    text = " ".join(question[:_LONGEST].replace("\u2019", "'").split())
    text = text.lower() if text.isupper() else text
    names = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(lexicon, key=len, reverse=True)))})\b", _ANY_CASE)
    known = [lexicon[name.lower()] for name in names.findall(text)]
    rest = names.sub(_OURS, text)
    strangers = _strangers(rest, beside_ours=bool(known))
    percent = _percent(rest, last)

    kind = next((kind for kind, pattern in _KINDS if re.search(pattern, rest, re.IGNORECASE)), None)
    if kind is None:
        only_subject = known or (strangers and _SAME_AGAIN.match(rest))
        only_percent = last and last.kind in _WHAT_IF and re.search(_PERCENT, rest)
        kind = last.kind if last and (only_subject or only_percent) else "quote" if known else "help"
    if kind == "holding" and _LIVE.search(rest):
        kind = "valuation"

    symbols = tuple(dict.fromkeys(known + strangers if kind in _WITHOUT_SUBJECT else known))
    if symbols:
        kind = _WITH_SUBJECT.get(kind, kind)
    elif last and (kind in _WITHOUT_SUBJECT or kind == "advice"):
        symbols = last.symbols
    if not symbols:
        kind = _WITHOUT_SUBJECT.get(kind, kind)
    return Ask(kind, symbols, _days(rest, last), percent if kind in _WHAT_IF else Decimal(0))


def _strangers(text: str, *, beside_ours: bool) -> list[str]:
    for pattern in _STRANGERS[:1] if beside_ours else _STRANGERS:
        words = [next(filter(None, match.groups())) for match in pattern.finditer(text)]
        names = [word for word in words if word.lower() not in _NO_NAMES]
        if names:
            return names
    return []


def _percent(text: str, last: Ask | None) -> Decimal:
    before = last.percent if last else Decimal(0)
    stated = re.search(_PERCENT, text, re.IGNORECASE)
    if stated is None:
        return before
    rises, falls = (re.search(pattern, text, re.IGNORECASE) for pattern in (_RISE, _FALL))
    falling = falls or (not rises and before < 0)
    return max(-Decimal(stated[1]), Decimal(-100)) if falling else Decimal(stated[1])


def _days(text: str, last: Ask | None) -> int:
    stated = _SPAN.search(text)
    if stated is None:
        return last.days if last else _USUAL_DAYS
    count = (stated[1] or "1").lower()
    return (int(count) if count.isdigit() else _NUMBERS[count]) * _UNITS[stated[2].lower()]
