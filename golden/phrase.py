"""What a case may look for in a text: a phrase, or a pattern (contract 3, "Phrases")."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag

from golden.fold import fold
from golden.part import Part, wrong
from golden.patterns import LONGEST, PatternError, compile_pattern

TAGS = ("<phrase>", "<pattern>", "<any>")
"""How pydantic names the kinds of phrase in the place of an error."""


def _sound_phrase(value: str) -> str:
    if not fold(value).text:
        raise wrong("nothing is left of the phrase when it is folded", "white space and Markdown do not count")
    return value


def _sound_pattern(value: str) -> str:
    try:
        compile_pattern(value)
    except PatternError as error:
        raise wrong(str(error)) from None
    return value


def _kind(value: object) -> str:
    return "<pattern>" if isinstance(value, dict | Pattern) else "<any>" if isinstance(value, list) else "<phrase>"


class Pattern(Part):
    """A pattern in place of a phrase. It is searched in the text as it was shown, without folding."""

    regex: Annotated[str, Field(max_length=LONGEST), AfterValidator(_sound_pattern)] = Field(
        description="A regular expression, in the syntax of Python's `regex` package."
    )


_Phrase: TypeAlias = Annotated[str, AfterValidator(_sound_phrase), Field(min_length=1), Tag("<phrase>")]
_Pattern: TypeAlias = Annotated[Pattern, Tag("<pattern>")]

Phrase: TypeAlias = Annotated[_Phrase | _Pattern, Discriminator(_kind)]
Phrases: TypeAlias = Annotated[
    _Phrase | _Pattern | Annotated[list[Phrase], Field(min_length=1), Tag("<any>")], Discriminator(_kind)
]
"""A phrase, or a list of which one is enough."""
