import base64
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.redaction import Secrets

COVER = "█"


def covering(*values: str) -> Secrets:
    secrets = Secrets()
    for value in values:
        secrets.add(value)
    return secrets


def lower_hex(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda hit: hit[0].lower(), text)


def in_javascript(text: str) -> str:
    return quote(text, safe="!'()*-._~")


def with_slashes_escaped(text: str) -> str:
    return json.dumps(text)[1:-1].replace("/", "\\/")


def with_upper_hex(text: str) -> str:
    return re.sub(r"\\u[0-9a-f]{4}", lambda hit: "\\u" + hit[0][2:].upper(), json.dumps(text)[1:-1])


# Every way an agent, a server or a log may spell a value in a longer text.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in a path": quote,
    "in a query": lambda text: quote(text, safe=""),
    "in a form": quote_plus,
    "by JavaScript": in_javascript,
    "in a query, lower case": lambda text: lower_hex(quote(text, safe="")),
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON that is no ASCII": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "in JSON, slashes escaped": with_slashes_escaped,
    "in JSON, upper case": with_upper_hex,
    "in JSON inside JSON": lambda text: json.dumps(json.dumps(text))[3:-3],
    "in JSON inside JSON inside JSON": lambda text: json.dumps(json.dumps(json.dumps(text)))[7:-7],
    "in Python": lambda text: ascii(text)[1:-1],
    "in Python's bytes": lambda text: repr(text.encode())[2:-1],
    "in Python's bytes inside JSON": lambda text: json.dumps(repr(text.encode()))[3:-2],
    "in HTML's JSON": lambda text: json.dumps(text)[1:-1].replace("<", "\\u003c").replace("&", "\\u0026"),
}

# What a secret may be made of, the characters that encoders treat in their own ways above all.
SECRETS = st.one_of(
    st.text(" +/\\\"'%&<>=!()*~-._$\n\té💥a9", min_size=4, max_size=16),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=4, max_size=16),
)
AROUND = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(value=SECRETS, before=AROUND, after=AROUND)
def test_a_secret_is_covered_however_it_is_spelled(spelling: str, value: str, before: str, after: str) -> None:
    spelled = SPELLINGS[spelling](value)
    text = before + spelled + after
    covered = covering(value).cover(text)
    assert len(covered) == len(text)
    assert spelled not in covered
    assert COVER in covered


@given(value=SECRETS, before=st.binary(max_size=7), after=st.binary(max_size=7), urlsafe=st.booleans())
def test_a_secret_is_covered_in_base64_wherever_it_stood_in_what_was_encoded(
    value: str, before: bytes, after: bytes, urlsafe: bool
) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    raw = value.encode()
    text = encode(before + raw + after).decode()
    covered = covering(value).cover(text)
    assert len(covered) == len(text)
    # Every character that says nothing but the secret is covered; those at its edges hold bits of what is beside it.
    first = -(-len(before) * 8 // 6)
    last = (len(before) + len(raw)) * 8 // 6
    assert set(covered[first:last]) == {COVER}


@given(st.lists(st.text('ab/ é"', min_size=4), max_size=3), st.text("\\%+ 2fä", max_size=40))
def test_a_text_without_a_secret_is_left_alone(values: list[str], text: str) -> None:
    assert covering(*(f"{value}a" for value in values)).cover(text) == text


@given(SECRETS, SECRETS, AROUND)
def test_of_several_secrets_none_is_left_also_where_one_is_part_of_another(one: str, other: str, middle: str) -> None:
    all_three = (one, other, f"{one}{middle}{other}")
    covered = covering(*all_three).cover(" ".join(all_three))
    assert not any(value in covered for value in all_three if set(value) != {COVER})


def test_the_longest_of_nested_secrets_goes_as_a_whole_in_whichever_order_they_are_taken() -> None:
    for values in (("token", "Bearer token"), ("Bearer token", "token")):
        assert covering(*values).cover("a Bearer token, a token") == f"a {COVER * 12}, a {COVER * 5}"


def test_with_no_secret_nothing_is_changed() -> None:
    value = {"a": [1, "b"]}
    assert Secrets().cover("abc") == "abc"
    assert Secrets().cover_value(value) is value


@pytest.mark.parametrize("value", ["", "a", "abc"])
def test_a_value_under_four_characters_is_not_looked_for(value: str) -> None:
    assert covering(value).cover("abc abc") == "abc abc"


def test_a_secret_of_four_characters_is_looked_for_and_its_short_spellings_are_not() -> None:
    assert covering("abcd").cover("abcd abc") == f"{COVER * 4} abc"
    # Three of the base64 characters of "abc" alone would hit half of all texts.
    assert covering("abcd", "abcd").cover("YWJj") == "YWJj"


@pytest.mark.parametrize("before", ["", "?", "??"])
def test_a_secret_of_four_characters_is_covered_in_base64_where_it_has_four_of_its_own(before: str) -> None:
    text = base64.b64encode(f"{before}abcd".encode()).decode()
    assert COVER * 4 in covering("abcd").cover(text)


def test_a_secret_that_is_taken_later_is_covered_from_then_on() -> None:
    secrets = covering("first-secret")
    assert secrets.cover("first-secret second-secret") == f"{COVER * 12} second-secret"
    secrets.add("second-secret")
    assert secrets.cover("first-secret second-secret") == f"{COVER * 12} {COVER * 13}"


def test_an_excerpt_of_what_is_covered_shows_no_half_of_a_secret() -> None:
    text = covering("abcdefgh").cover("key: abcdefgh.")
    assert not any(set("abcdfgh") & set(text[at : at + 4]) for at in range(5, 13))


def test_a_value_is_covered_at_any_depth_in_its_texts_its_keys_and_its_numbers() -> None:
    secrets = covering("s3cret/value", "12345678")
    assert secrets.cover_value(
        {
            "s3cret/value": ["s3cret%2Fvalue", {"deep": ("s3cret\\/value", "plain")}],
            "numbers": [12345678, 3.5, True, None, 912345678.5],
        }
    ) == {
        COVER * 12: [COVER * 14, {"deep": [COVER * 13, "plain"]}],
        "numbers": [COVER * 8, 3.5, True, None, f"9{COVER * 8}.5"],
    }


def test_a_secret_whose_bytes_are_not_utf8_is_covered_as_text_and_breaks_nothing() -> None:
    value = "secret-\udcff-\ud83d"
    assert covering(value).cover(f"<{value}>") == f"<{COVER * len(value)}>"


def test_covering_takes_linear_time_also_on_texts_that_almost_match() -> None:
    secrets = covering("\\" * 12 + "x", '"/"/"/"/', "aaaaaaaaaaaaaaaaaaab", "% % % % %")

    def seconds(size: int) -> float:
        started = time.process_time()
        for text in ("\\" * size, '\\"' * (size // 2), "a" * size, "%20" * (size // 3)):
            secrets.cover(text)
        return time.process_time() - started

    short, long = (min(seconds(size) for _ in range(3)) for size in (2_000, 16_000))
    assert long < 24 * short  # 8 times where it is linear
