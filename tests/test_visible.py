import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.visible import excerpt, glimpse, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 📈, “quoted”", "plain, é, 📈, “quoted”"),
        ("a\tb", "a b"),
        ("a\nb\r\nc", "a\\nb\\r\\nc"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b2J\x07\x00\x7f", "\\x9b2J\\x07\\x00\\x7f"),
        ("\x85\u2028\u2029", "\\x85\\u2028\\u2029"),
        ("evil\u202etxt.exe", "evil\\u202etxt.exe"),
        ("zero\u200bwidth\u2060\ufeff\u00ad", "zero\\u200bwidth\\u2060\\ufeff\\xad"),
        ("half \ud83d", "half \\ud83d"),
        ("\ufff9note\ufffb\u206f\u180e", "\\ufff9note\\ufffb\\u206f\\u180e"),
        ("not \ufffe\uffff in XML", "not \\ufffe\\uffff in XML"),
        ("tag\U000e0041\U000e007f", "tag\\U000e0041\\U000e007f"),
        ("😀\U000e0158\U000e01ef\ufe00", "😀\\U000e0158\\U000e01ef\\ufe00"),
        ("fill\u3164\u115f\uffa0\u034f", "fill\\u3164\\u115f\\uffa0\\u034f"),
        ("☎️ ☎︎", "☎️ ☎︎"),
        ("", ""),
    ],
)
def test_what_would_steer_a_terminal_or_hide_is_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters()))
def test_what_is_shown_is_one_line_that_can_be_written_and_holds_no_control(text: str) -> None:
    shown = visible(text)
    assert shown.encode() or not text
    assert len(shown.splitlines()) <= 1
    assert {unicodedata.category(character) for character in shown}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    assert visible(shown) == shown


def test_no_format_character_passes_unseen_but_those_that_scripts_need() -> None:
    unseen = {character for character in map(chr, range(0x110000)) if unicodedata.category(character) == "Cf"}
    passed = {character for character in unseen if visible(character) == character}
    # Marks of numbers, verses, shorthand and music, which stand for something that is seen.
    blocks = {unicodedata.name(character).split()[0] for character in passed}
    assert blocks <= {"ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN", "SHORTHAND", "MUSICAL"}


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("a\nb", 3, "a\\…"), ("a\nb", 4, "a\\nb"), ("", 3, "")],
)
def test_an_excerpt_is_cut_after_it_was_made_visible(text: str, most: int, shown: str) -> None:
    assert excerpt(text, most) == shown


@given(st.text(), st.integers(1, 20))
def test_an_excerpt_is_never_longer_than_asked_for(text: str, most: int) -> None:
    assert len(excerpt(text, most)) <= most


def test_a_glimpse_is_of_the_whole_or_of_nothing_so_it_ends_in_no_half_of_a_secret() -> None:
    assert glimpse({"a": 1}, 8) == "{'a': 1}"
    assert glimpse({"a": 10}, 8) == "a dict of 9 characters"
    assert glimpse("x" * 2000, 40) == "a str of 2,002 characters"
