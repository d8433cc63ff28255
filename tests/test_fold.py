import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from golden.fold import Folded, find, fold

# Characters that the steps look at, beside any others.
TEXTS = st.text(
    st.one_of(
        st.sampled_from("aabiIeEß12 3 \n\t**__~~`'\"-.,éİıﬁ½²①㎏™”’—−２＊＿Ａﾞｶㄱ각ŉΣςǰᾄ가´‴"),
        st.sampled_from(
            "\u0301\u0323\u0307\u0345\u200b\u00ad\ufe0f\u034f\u00a0\u3000\u2028\u1100\u1161\u11a8\u093f\u0f73"
        ),
        st.characters(),
    ),
    max_size=40,
)

# Full-width marks and the like: a later step makes of them what an earlier one looks for.
BECOME_MARKS = "\u0149\u1fef\ufe33\ufe34\ufe4d\ufe4e\ufe4f\ufe61\uff0a\uff3f\uff40"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        # 1. Markdown marks
        ("**bold** and _em_ and ***both***", "bold and em and both"),
        ("__init__ `code` ~~gone~~", "init code gone"),
        ("get_quote", "get_quote"),
        ("cafe\u0301_au \u0301_x", "café_au \u0301_x"),
        ("get\u200b_quote", "get_quote"),
        ('_"Buy now!"_ _(em)_', '"buy now!" (em)'),
        ("foo_`bar` a_*b*", "foo_bar a_b"),
        ("a _ b é _ c", "a b é c"),
        ("é_", "é"),
        ("2*3 2 * 3 2 ** 3 2*3*4 2 * 3 * 4 ２*３", "2*3 2 3 2 3 2*3*4 2 3 4 2*3"),
        ("x*y x * y *2 3*", "xy x y 2 3"),
        ("**2** **3** **2** 3", "2 3 2 3"),
        ("in all 2\n* 3 apples", "in all 2 3 apples"),
        ("~", "~"),
        # 2. the invisible
        ("a\u200bb\u00adc\u200dd\u202ee\u2066f\u034fg\ufe0fh\U000e0101i\ufeffj\u180bk", "abcdefghijk"),
        # 3. quotes and dashes
        ("‘a’ “b” „c‟ ‹d› «e» f′ g″ h´ i‴ j⁗", "'a' \"b\" \"c\" 'd' \"e\" f' g\" h' i''' j''''"),
        ("a-b‐c‑d–e—f―g−h﹣i", "a-b-c-d-e-f-g-h-i"),
        # 4. compatibility forms
        ("ＡＢ\u00a0Ｃ ﬁne … ⒈", "ab c fine ... 1."),
        ("10² H₂O ½ ① ㎏ ™ ª", "10² h₂o ½ ① ㎏ ™ ª"),
        ("²１²", "²1²"),
        # 5. case and composition
        ("Straße İstanbul I ΣΑΣ Ⓐ", "strasse istanbul i σασ ⓐ"),
        ("e\u0301", "é"),
        # 6. white space
        (" a \t\r\n\u2028 b\u3000\u3000c\n\n", "a b c"),
        ("", ""),
        (" **\u200b** ", ""),
    ],
)
def test_a_text_folds_as_the_contract_says(text: str, folded: str) -> None:
    assert fold(text) == Folded(text, folded)


def test_every_dash_and_every_format_character_of_unicode_is_seen_through() -> None:
    for char in map(chr, range(0x110000)):
        if unicodedata.category(char) == "Pd":
            assert fold(f"a{char}b").text == "a-b"
        elif unicodedata.category(char) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(char, ""):
            assert fold(f"a{char}b").text == "ab"


@pytest.mark.parametrize(
    ("phrase", "text", "hit"),
    [
        ("I bought", "So **I\u00a0bo\u200bught** it", "I\u00a0bo\u200bught"),
        ("don't buy", "You should DON’T\nbuy.", "DON’T\nbuy"),
        ("get_quote", "`_get_quote_`", "get_quote"),
        ("caf", "cafés", "caf"),
        ("cafe", "cafe\u0301s, cafe", "cafe"),
        ("fin", "ﬁnal", "ﬁn"),
        ("s", "Maß", "ß"),
        ("2 * 3", "= 2 * 3", "2 * 3"),
        ("2 3", "1 2 3", "2 3"),
        ("  **Sell!** ", "never sell!", "sell!"),
        ("가", "x\u1100\u1161y", "\u1100\u1161"),
        ("ga", "kﾞga", "ga"),
        ("x", "x", "x"),
        ("a b", "a" + " " * 3000 + "b", "a" + " " * 3000 + "b"),
        (
            "ab",
            "x y " * 50 + "a" + "\u200b" * 3000 + "\ufe0f" * 500 + "b" + " z" * 50,
            "a" + "\u200b" * 3000 + "\ufe0f" * 500 + "b",
        ),
    ],
)
def test_a_hit_is_the_shortest_piece_of_the_original_that_holds_the_phrase(phrase: str, text: str, hit: str) -> None:
    place = find(phrase, fold(text))
    assert place is not None
    assert text[slice(*place)] == hit
    assert text.rindex(hit) == place[0]


@pytest.mark.parametrize(
    ("phrase", "text"), [("102", "10²"), ("cafe", "café"), ("23", "2*3"), ("buy", ""), ("**", "a ** b")]
)
def test_what_does_not_stand_there_is_not_found(phrase: str, text: str) -> None:
    assert find(phrase, fold(text)) is None


@given(TEXTS)
@example("a_\u02bcb")
def test_folding_again_changes_nothing_where_no_marks_are_left(text: str) -> None:
    # A mark that is left was kept by neighbours that may have changed since, or was made by folding.
    once = fold(text).text
    twice_dotted = "\u0307\u0307" in unicodedata.normalize("NFKD", text)
    if not set("*_~`") & set(once) and not set(BECOME_MARKS) & set(text) and not twice_dotted:
        assert fold(once).text == once


def test_the_characters_that_do_not_fold_once_and_for_all_are_known() -> None:
    changing = [
        char for char in map(chr, range(0x110000)) if unicodedata.decomposition(char) or char.casefold() != char
    ]
    assert "".join(char for char in changing if fold(fold(char).text).text != fold(char).text) == BECOME_MARKS


@given(TEXTS, st.data())
def test_what_stands_between_white_space_is_found_again(text: str, data: st.DataObject) -> None:
    cuts = sorted({0, len(text)} | {i + after for i, char in enumerate(text) if char.isspace() for after in (0, 1)})
    start, end = sorted(data.draw(st.tuples(st.sampled_from(cuts), st.sampled_from(cuts))))
    phrase = text[start:end]
    if folded := fold(phrase).text:
        place = find(phrase, fold(text))
        assert place is not None
        assert folded in fold(text[slice(*place)]).text


@given(TEXTS, st.data())
def test_a_hit_folds_to_what_holds_the_phrase(text: str, data: st.DataObject) -> None:
    whole = fold(text)
    bounds = st.integers(0, len(whole.text))
    start, end = sorted(data.draw(st.tuples(bounds, bounds)))
    phrase = fold(whole.text[start:end]).text
    place = find(phrase, whole)
    if place is None:
        assert not phrase or phrase not in whole.text
    else:
        assert 0 <= place[0] < place[1] <= len(text)
        assert phrase in fold(text[slice(*place)]).text


SHAPES = {
    "prose": "The quick brown fox, holding 2 shares, jumps over get_quote. ",
    "emphasis": "**bold** _em_ `x` ",
    "lines": "word\nline  two\n",
    "blank": " ",
    "underscores": "_",
    "stars": "*",
    "tildes": "~~~ ",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_folding_and_finding_take_time_in_proportion(shape: str) -> None:
    size = 1 << 18
    text = SHAPES[shape] * (size // len(SHAPES[shape]))
    times = []
    for longer in (1, 8):
        whole = text * longer + " zażółć “Gęślą” jaźń " + text
        begin = time.process_time()
        place = find('gęślą" jaź', fold(whole))
        times.append(time.process_time() - begin)
        assert place is not None
        assert whole[slice(*place)] == "Gęślą” jaź"
    assert times[1] < 40 * times[0] + 0.2  # were it quadratic, it would take minutes
