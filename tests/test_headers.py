from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.errors import UsageError
from golden.headers import AUTHORISING, header_name, headers, sendable, without_secrets
from golden.redaction import Secrets

ENVIRON = {"TOKEN": "secret-token", "_A1": "other-secret", "EMPTY": "", "BLANK": " \n", "PADDED": " padded-secret\r\n"}


def read(*given: str, secrets: Secrets | None = None) -> tuple[tuple[str, str], ...]:
    return headers(given, ENVIRON, secrets or Secrets())


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        ("X-Team: evals", "x-team", "evals"),
        ("X-Team:evals", "x-team", "evals"),
        ("  x-team :  a: b  ", "x-team", "a: b"),
        ("x-empty:", "x-empty", ""),
        ("!#$%&'*+.^_`|~-: odd", "!#$%&'*+.^_`|~-", "odd"),
        ("Authorization: Bearer $TOKEN", "authorization", "Bearer secret-token"),
        ("x: ${TOKEN}", "x", "secret-token"),
        ("x: $TOKEN/$_A1", "x", "secret-token/other-secret"),
        ("x: ${TOKEN}s", "x", "secret-tokens"),
        ("x: $PADDED", "x", "padded-secret"),
        ("x: $$TOKEN", "x", "$TOKEN"),
        ("x: $$", "x", "$"),
        ("x: 5$$ or $$$TOKEN", "x", "5$ or $secret-token"),
        ("x: ~ !\"#%&'()*+,-./", "x", "~ !\"#%&'()*+,-./"),
    ],
)
def test_a_header_is_read_with_what_the_environment_holds(header: str, name: str, value: str) -> None:
    assert read(header) == ((name, value),)
    assert header_name(header) == name


def test_headers_keep_their_order_and_may_repeat() -> None:
    assert read("b: 1", "a: 2", "b: 3") == (("b", "1"), ("a", "2"), ("b", "3"))
    assert read() == ()


@pytest.mark.parametrize(
    "header", ["", ":", ": value", "no colon", "two words: x", "naïve: x", "line\nbreak: x", "a\0: x"]
)
def test_a_header_of_another_form_is_refused(header: str) -> None:
    for parse in (header_name, read):
        with pytest.raises(UsageError) as caught:
            parse(header)
        assert caught.value.message == "--header takes 'Name: value'"
        assert "Authorization: Bearer $TOKEN" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["MISSING", "EMPTY", "BLANK", "TOKENS"])
@pytest.mark.parametrize("form", ["${}", "${{{}}}"])
def test_a_variable_that_is_not_set_or_empty_is_refused_by_its_name(name: str, form: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(f"x: {form.format(name)}")
    assert caught.value.message == f"--header: ${name} is not set, or empty"
    assert caught.value.hint == "$NAME is taken from the environment, $$ is a dollar"


@pytest.mark.parametrize("value", ["$", "5 $", "$5", "$-", "${", "${}", "${TOKEN", "${TO KEN}", "$$$", "$é"])
def test_a_lone_dollar_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="--header: a lone \\$ names no variable"):
        read(f"x: {value}")


@pytest.mark.parametrize(
    "bad", ["a\nb", "a\rb", "a\0b", "a\x7fb", "a\x1bb", "a\tb", "café", "“x”", "a\u2028b", "\udcff"]
)
def test_what_no_header_can_hold_is_refused_and_never_shown(bad: str) -> None:
    for header, environ in ((f"x-key: {bad}", {}), ("x-key: Bearer $BAD", {"BAD": bad})):
        with pytest.raises(UsageError) as caught:
            headers([header], environ, Secrets())
        assert str(caught.value) == "--header: the value of 'x-key' holds characters that no header can hold"


def test_every_value_from_the_environment_is_a_secret_whatever_the_header_is_called() -> None:
    secrets = Secrets()
    read("x-team: a $TOKEN and ${_A1}, not $$EMPTY", secrets=secrets)
    assert secrets.cover("secret-token other-secret x-team $EMPTY") == "█" * 12 + " " + "█" * 12 + " x-team $EMPTY"


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Cookie", "X-Api-Key", "api-key", "x-access-token", "Proxy-Authorization", "x-session-id",
     "X-PASSWORD", "x-vercel-protection-bypass-secret"],
)  # fmt: skip
def test_what_a_header_of_a_telling_name_holds_is_a_secret(name: str) -> None:
    secrets = Secrets()
    read(f"{name}: Scheme literal-value", secrets=secrets)
    assert secrets.cover("Scheme literal-value") == "█" * 20
    assert secrets.cover("literal-value alone") == f"{'█' * 13} alone"
    assert secrets.cover("Scheme") == "Scheme"


@pytest.mark.parametrize("name", ["x-team", "accept-language", "user-agent"])
def test_what_a_plain_header_holds_is_no_secret(name: str) -> None:
    secrets = Secrets()
    read(f"{name}: literal-value", secrets=secrets)
    assert secrets.cover("literal-value") == "literal-value"


def test_headers_that_authorise_are_told_by_their_lower_case_names() -> None:
    assert all(header_name(f"{name.title()}: x") in AUTHORISING for name in AUTHORISING)
    assert {"authorization", "cookie", "x-api-key"} <= AUTHORISING


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Authorization: Bearer $TOKEN", "Authorization: Bearer $TOKEN"),
        (" x-key :  ${TOKEN} ", "x-key: ${TOKEN}"),
        ("x-key: $TOKEN", "x-key: $TOKEN"),
        ("x-key: literal", "x-key: …"),
        ("x-team: evals", "x-team: …"),
        ("Authorization: Bearer literal", "Authorization: …"),
        ("x: $TOKEN-and-more", "x: …"),
        ("x: pass$TOKEN", "x: …"),
        ("x: a b $TOKEN", "x: …"),
        ("x: s3cret $TOKEN", "x: …"),
        ("x: $$TOKEN", "x: …"),
        ("x: $TOKEN\n", "x: $TOKEN"),
        ("x:", "x: …"),
    ],
)
def test_a_header_is_shown_with_no_more_of_its_value_than_the_variable_it_names(header: str, shown: str) -> None:
    assert without_secrets(header) == shown


def test_a_header_of_another_form_is_refused_also_where_it_is_only_shown() -> None:
    with pytest.raises(UsageError, match="--header takes"):
        without_secrets("my-secret")


def test_headers_of_a_program_are_pairs_or_a_mapping() -> None:
    secrets = Secrets()
    assert sendable([("X-Team", "a"), ("x-team", "b")], secrets) == (("x-team", "a"), ("x-team", "b"))
    assert sendable({"X-Key": "scheme a-literal"}, secrets) == (("x-key", "scheme a-literal"),)
    assert secrets.cover("a-literal") == "█" * 9


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x y": "secret"}, "headers: 'x y' is no name of a header"),
        ({"": "secret"}, "headers: '' is no name of a header"),
        ({"x": "secret\n"}, "headers: the value of 'x' holds characters that no header can hold"),
        ({"Content-Length": "secret"}, "headers: golden sets 'content-length' itself"),
        ({"x": b"secret"}, "headers: expected pairs of a name and a value, both text"),
        (["x: secret"], "headers: expected pairs of a name and a value, both text"),
        ([("x", "secret", "y")], "headers: expected pairs of a name and a value, both text"),
    ],
)
def test_headers_of_a_program_that_cannot_be_sent_are_refused_and_no_value_is_shown(given: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        sendable(given, Secrets())
    assert str(caught.value) == said


@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_no_text_is_read_as_a_header_that_could_not_be_sent(name: str, value: str) -> None:
    try:
        ((read_name, read_value),) = read(f"{name}:{value}")
    except UsageError:
        return
    assert read_name == read_name.strip().lower() != ""
    assert read_name.isascii()
    assert read_value.isascii()
    assert read_value.isprintable()
