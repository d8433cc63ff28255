"""(Suites, tools ever called) → what is valid and probably not what its author meant. A rule is one function."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from golden.document import shown
from golden.errors import Fault, did_you_mean
from golden.fold import contains, fold
from golden.patterns import PatternTimeout, search
from golden.phrase import Pattern
from golden.suite import Case, Checks, Suite

Phrase: TypeAlias = str | Pattern

# What only a pattern says: `(?i)`, `\b` at the end of a word, `\d+`, `.*x`; not `C:\data`, `\beta` and `**bold.**`.
_PATTERN_SIGNS = re.compile(
    r"\(\?[a-z:=!<]|\\[bBdDsSwW](?![a-z])|\.\*\??[\w\\(\[]|^\^.*\$$|\[[^\]]+\][+*?{]|\w\)[?*+]|s\?://|\\[$.?*+(]"
)

# What is found in the empty text, in this, and beside nearly anything that people write, is found everywhere. No one of
# them would do: `^$` is found in the first, `^(?!.*buy)` in two, `^.{0,500}$` in the first and the last.
_BLAND = "\ue000" * 100_000
_RICH = " AZaz09 _.,:;!?'’\"”$€%()[]{}/\\+-–@# é中\n"

_CURLY = {"'": "’", '"': "“”"}
_BOTH_QUOTES = re.compile(r"""\[[^\]]*[‘’“”][^\]]*\]|['"]\|[‘’“”]|[‘’“”]\|['"]""")
_ESCAPED_QUOTE = re.compile(r"\\u(201[89cdCD])")

_WORD_BREAK = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[^\W\d_])(?=\d)")

# A suite and a case in it, by their places.
_Key: TypeAlias = tuple[int, int]


class _Told(NamedTuple):
    """What a rule says, and of which field; of the whole suite where that is None."""

    field: str | None
    problem: str
    remedy: str


class _Part(NamedTuple):
    """The checks of a case, or of one of its turns, which then stands in `within`."""

    key: _Key
    suite: Suite
    case: Case
    checks: Checks
    within: str = ""


class _Use(NamedTuple):
    """A field that names tools: a call of one of them is needed, or what is asked holds without any."""

    field: str
    tools: Sequence[str]
    needed: bool


class _Run(NamedTuple):
    """What is known of all suites together.

    Attributes:
        called: the tools that were called in a run before, where that is known.
        naming: for each tool, the cases that name it.
        needing: for each tool that is needed, the cases that need a call of it.
        asking: for each thing asked, the first case that asks it.
    """

    called: Sequence[str] | None
    naming: Mapping[str, set[_Key]]
    needing: Mapping[str, set[_Key]]
    asking: Mapping[object, _Part]


_Rule: TypeAlias = Callable[[_Part, _Run], Iterable[_Told]]


def lint(suites: Sequence[Suite], called: Collection[str] | None = None) -> list[Fault]:
    """Looks through the suites of one run for what is valid and probably not meant.

    Args:
        suites: those of one run.
        called: the names of all tools that were ever called, where a results file tells them.

    Returns:
        Warnings in the order of the cases. What is said of several places of one suite in the same words, as of a value
        that its cases have from `defaults`, is said once, of the first.
    """
    parts = [part for number, suite in enumerate(suites) for part in _parts(number, suite)]
    run = _known(parts, called)
    places: dict[tuple[int, str, str], list[str]] = {}
    for part in parts:
        for rule in _RULES:
            for field, problem, remedy in rule(part, run):
                places.setdefault((part.key[0], problem, remedy), []).append(_place(part, field))
    return [
        Fault(place, problem + _elsewhere(len(set(others) - {place})), remedy)
        for (_, problem, remedy), (place, *others) in places.items()
    ]


def _parts(number: int, suite: Suite) -> Iterator[_Part]:
    for index, case in enumerate(suite.cases):
        yield _Part((number, index), suite, case, case)
        for turn, question in enumerate(case.turns):
            yield _Part((number, index), suite, case, question, f"turns[{turn}].")


def _known(parts: Iterable[_Part], called: Collection[str] | None) -> _Run:
    naming, needing = defaultdict[str, set[_Key]](set), defaultdict[str, set[_Key]](set)
    asking: dict[object, _Part] = {}
    for part in parts:
        asking.setdefault(_asked(part), part)
        for use in _uses(part.checks):
            for tool in use.tools:
                naming[tool].add(part.key)
                if use.needed:
                    needing[tool].add(part.key)
    return _Run(None if called is None else sorted(called), dict(naming), dict(needing), asking)


def _place(part: _Part, field: str | None) -> str:
    """Names a place: `file:12: cases[3] "case-id": turns[0].field`."""
    file = part.suite.path or "suite"
    if field is None:
        return file
    line = "" if part.case.line is None else f":{part.case.line}"
    place = f"{file}{line}: cases[{part.key[1]}] {shown(part.case.id)}"
    return f"{place}: {part.within}{field}" if field else place


def _elsewhere(count: int) -> str:
    return f" (and in {count:,} other place{'' if count == 1 else 's'})" if count else ""


def _phrases(checks: Checks) -> Iterator[tuple[str, Phrase]]:
    """All phrases, each with its field."""
    for index, phrase in enumerate(checks.forbidden_phrases):
        yield f"forbidden_phrases[{index}]", phrase
    yield from _required(checks)


def _required(checks: Checks) -> Iterator[tuple[str, Phrase]]:
    for index, phrase in enumerate(checks.required_phrases):
        if isinstance(phrase, list):
            yield from ((f"required_phrases[{index}][{at}]", choice) for at, choice in enumerate(phrase))
        else:
            yield f"required_phrases[{index}]", phrase


def _not_as_written(part: _Part, _: _Run) -> Iterator[_Told]:
    """A phrase that does not match what it says."""
    for field, phrase in _phrases(part.checks):
        if isinstance(phrase, Pattern):
            continue
        if _PATTERN_SIGNS.search(phrase):
            problem = f"{shown(phrase)} is a phrase, and looks like a pattern: its signs are looked for as they stand"
            yield _Told(field, problem, f"for a pattern write {shown({'regex': phrase})}")
        elif not contains(phrase, fold(folded := _folded(phrase))):
            # Folding made a mark of it, which goes when a text that has the mark is folded: `＿x` is `_x`, `_x` is `x`.
            problem = f"{shown(phrase)} folds to {shown(folded)}, and is not found in a text that says just that"
            yield _Told(field, problem, "write it without its rare characters")


def _adds_nothing(part: _Part, _: _Run) -> Iterator[_Told]:
    above = part.case.forbidden_phrases if part.within else []
    phrases = [*above, *part.checks.forbidden_phrases]
    for place, phrase in enumerate(phrases[len(above) :], len(above)):
        for at, other in enumerate(phrases):
            if at != place and _holds(phrase, other) and not (at > place and _holds(other, phrase)):
                problem = f"{_text(phrase)} adds nothing: it is found only where the forbidden {_text(other)} is"
                yield _Told(f"forbidden_phrases[{place - len(above)}]", problem, "keep one of them")
                break


def _required_and_forbidden(part: _Part, _: _Run) -> Iterator[_Told]:
    forbidden = [*part.checks.forbidden_phrases, *(part.case.forbidden_phrases if part.within else [])]
    for field, phrase in _required(part.checks):
        other = next((other for other in forbidden if _holds(phrase, other)), None)
        if other is not None:
            problem = f"{_text(phrase)} is required, and where it is found the forbidden {_text(other)} is found too"
            yield _Told(field, problem, "keep one of them")


def _found_everywhere(part: _Part, _: _Run) -> Iterator[_Told]:
    for field, phrase in _phrases(part.checks):
        if isinstance(phrase, Pattern) and _is_everywhere(phrase.regex):
            always = "always fails" if field.startswith("forbidden") else "always holds"
            problem = f"{_text(phrase)} matches the empty text, so it is found in any: the check {always}"
            yield _Told(field, problem, "let it need at least one character")


def _straight_quote(part: _Part, _: _Run) -> Iterator[_Told]:
    for field, phrase in _phrases(part.checks):
        if isinstance(phrase, Pattern):
            plain = _ESCAPED_QUOTE.sub(lambda escaped: chr(int(escaped[1], 16)), phrase.regex)
            plain = _BOTH_QUOTES.sub("", plain)
            for quote in filter(plain.__contains__, _CURLY):
                problem = f"{_text(phrase)} has a straight {quote}, and the text it runs on may have a curly one"
                yield _Told(field, problem, f"write [{quote}{_CURLY[quote]}]")


def _expected_and_forbidden(part: _Part, _: _Run) -> Iterator[_Told]:
    forbidden = {*part.case.forbidden_tools, *part.checks.forbidden_tools}
    for use in _uses(part.checks):
        if use.needed and forbidden.issuperset(use.tools):
            names = " or ".join(map(shown, dict.fromkeys(use.tools)))
            yield _Told(use.field, f"{names} is expected and forbidden: no answer passes", "keep one of them")


def _threshold_of_0(part: _Part, _: _Run) -> Iterator[_Told]:
    if part.checks.groundedness_threshold == 0:
        problem = "every score is at least 0: all that is asked is that a valid one comes"
        yield _Told("groundedness_threshold", problem, "raise it, or leave it out to check no groundedness")


def _skipped(part: _Part, _: _Run) -> Iterator[_Told]:
    if part.case.skip is None or part.within:
        return
    if part.key[1] == 0 and all(case.skip is not None for case in part.suite.cases):
        yield _Told(None, "every case is skipped: nothing of the suite runs", "remove `skip` where its reason is gone")
    elif any(case.skip is None for case in part.suite.cases):
        yield _Told("skip", f"the case never runs: {shown(part.case.skip)}", "remove it when its reason is gone")


def _asked_before(part: _Part, run: _Run) -> Iterator[_Told]:
    first = run.asking[_asked(part)]
    if first.key != part.key and not part.within:
        yield _Told("", f"asks the same as {_place(first, '')}", "one case can hold the checks of both")


def _unknown_tool(part: _Part, run: _Run) -> Iterator[_Told]:
    for use in _uses(part.checks):
        for name in use.tools:
            others = run.naming[name] - {part.key}
            if name in (run.called or ()) or (others if use.needed else name in run.needing):
                continue
            # What another case forbids may be misspelled there: only what is needed or was called is known to exist.
            known = [tool for tool, cases in run.needing.items() if _is_evidence(cases, part.key, use.needed)]
            known += run.called or ()
            alike = [tool for tool in known if part.key not in run.naming.get(tool, ()) and _is_alike(name, tool)]
            if not alike and (run.called is None or others):
                continue
            problem = f"no other case {'names' if use.needed else 'expects'} the tool {shown(name)}"
            problem += "" if run.called is None else ", and no call of it is in the results"
            near = get_close_matches(name, alike, 1, 0)
            remedy = f"did you mean {near[0]!r}?" if near else did_you_mean(name, known)
            in_vain = "" if use.needed else "a misspelled tool is never called, so the check would always hold"
            yield _Told(use.field, problem, f"{remedy} {in_vain}".strip())


def _holds_whatever_comes(part: _Part, run: _Run) -> Iterator[_Told]:
    for index, each in enumerate(part.checks.expect):
        if each.min_count == 0 and each.max_count is None:
            yield _Told(f"expect[{index}]", "`min_count: 0` alone holds whatever is called", "give `max_count` too")


def _turns_need_calls(part: _Part, _: _Run) -> Iterator[_Told]:
    asked = [part.checks] if part.within else [part.case, *part.case.turns]
    none = part.checks.expect_no_tool_call or part.checks.max_tool_calls == 0
    if none and any(use.needed for each in asked for use in _uses(each)):
        yield _Told("", "no call is allowed, and one is expected: it always fails", "take one of them out")


_RULES: Sequence[_Rule] = (
    _skipped,
    _asked_before,
    _not_as_written,
    _adds_nothing,
    _required_and_forbidden,
    _found_everywhere,
    _straight_quote,
    _expected_and_forbidden,
    _unknown_tool,
    _threshold_of_0,
    _holds_whatever_comes,
    _turns_need_calls,
)


def _text(phrase: Phrase) -> str:
    return shown(phrase) if isinstance(phrase, str) else f"/{shown(phrase.regex)[1:-1]}/"


@lru_cache(maxsize=4096)
def _folded(phrase: str) -> str:
    return fold(phrase).text  # cases that share defaults ask it again and again


def _holds(phrase: Phrase, other: Phrase) -> bool:
    """Whether a text in which the phrase is found has the other too, as far as that can be told."""
    if isinstance(phrase, str) and isinstance(other, str):
        return _folded(other) in _folded(phrase)
    return phrase == other


@lru_cache(maxsize=4096)
def _is_everywhere(pattern: str) -> bool:
    try:
        return all(search(pattern, text) for text in ("", f"{pattern}{_RICH}{pattern}", _BLAND))
    except PatternTimeout:
        return False


def _uses(checks: Checks) -> Iterator[_Use]:
    for index, name in enumerate(checks.expected_tools):
        yield _Use(f"expected_tools[{index}]", [name], needed=True)
    expectations = [
        *((f"expect[{index}]", each) for index, each in enumerate(checks.expect)),
        *([] if checks.expect_first is None else [("expect_first", checks.expect_first)]),
        *((f"expect_order[{index}]", each) for index, each in enumerate(checks.expect_order)),
    ]
    for field, each in expectations:
        yield _Use(field, [one.tool for one in each.alternatives], needed=each.min_count > 0)
    for field, names in (("forbidden_tools", checks.forbidden_tools), ("simulated_tools", checks.simulated_tools)):
        for index, name in enumerate(names):
            yield _Use(f"{field}[{index}]", [name], needed=False)


def _asked(part: _Part) -> object:
    """What two cases have in common that ask the same: of another model it is another question."""
    case, suite = part.case, part.suite
    folded = tuple(" ".join(normalize("NFC", question).casefold().split()) for question in case.questions)
    prompt = suite.system_prompt if case.system_prompt is None else case.system_prompt
    return folded, case.model or suite.model, prompt


def _is_evidence(cases: Collection[_Key], key: _Key, needed: bool) -> bool:
    """Whether a tool that these cases need may be the one that the case of this key means.

    Of two that need a tool each, the later is told of the earlier, not both of one another.
    """
    return any(other < key or len(cases) > 1 or not needed for other in cases if other != key)


@lru_cache(maxsize=4096)
def _is_alike(name: str, other: str) -> bool:
    """Whether one may be the other misspelled: `get_user` and `set_user`, `start` and `stop` are two tools."""
    one, two = ([word.casefold() for word in _WORD_BREAK.split(text)] for text in (name, other))
    if "".join(one) == "".join(two):
        return name != other
    apart = [pair for pair in zip(one, two, strict=False) if pair[0] != pair[1]]
    return len(one) == len(two) and len(apart) == 1 and bool(get_close_matches(apart[0][0], [apart[0][1]], 1, 0.8))
