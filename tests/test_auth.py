import time
from collections.abc import Mapping

import jwt
import pytest

from golden.auth import Bearer, find_secret, mint_token, no_secret
from golden.errors import UsageError
from golden.redaction import Secrets

SECRET = "a secret of the tests, long enough"


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EVAL_JWT_SECRET", "JWT_SECRET"):
        monkeypatch.delenv(name, raising=False)


def claims_of(token: str, secret: str = SECRET) -> dict[str, object]:
    return dict(jwt.decode(token, secret, algorithms=["HS256"], options={"require": ["sub", "iat", "exp"]}))


def test_a_token_says_who_asks_for_how_long_and_for_what() -> None:
    before = int(time.time())
    claims = claims_of(mint_token(secret=SECRET))
    after = int(time.time())
    assert set(claims) == {"sub", "iat", "exp", "scope"}
    assert (claims["sub"], claims["scope"]) == ("eval-user", "evals")
    assert isinstance(claims["iat"], int)
    assert isinstance(claims["exp"], int)
    assert before - 30 <= claims["iat"] <= after - 30
    assert claims["exp"] - claims["iat"] == 630
    assert jwt.get_unverified_header(mint_token(secret=SECRET)) == {"alg": "HS256", "typ": "JWT"}


def test_user_and_life_can_be_chosen() -> None:
    claims = claims_of(mint_token(user_id="someone", secret=SECRET, ttl_seconds=5))
    assert claims["sub"] == "someone"
    assert isinstance(claims["exp"], int)
    assert 3 <= claims["exp"] - time.time() <= 5


def test_a_token_of_another_secret_is_refused_by_a_server() -> None:
    with pytest.raises(jwt.InvalidSignatureError):
        claims_of(mint_token(secret="another secret, and as long as the first"))


def test_a_short_secret_signs_as_a_server_that_holds_it_does() -> None:
    token = mint_token(secret="12345678")
    head, _, signature = token.rpartition(".")
    assert jwt.get_algorithm_by_name("HS256").verify(head.encode(), b"12345678", jwt.utils.base64url_decode(signature))


@pytest.mark.parametrize(
    ("environ", "secret"),
    [
        ({}, None),
        ({"EVAL_JWT_SECRET": "", "JWT_SECRET": " \n"}, None),
        ({"JWT_SECRET": SECRET}, SECRET),
        ({"EVAL_JWT_SECRET": SECRET}, SECRET),
        ({"EVAL_JWT_SECRET": SECRET, "JWT_SECRET": "the other one"}, SECRET),
        ({"EVAL_JWT_SECRET": "  ", "JWT_SECRET": SECRET}, SECRET),
        ({"EVAL_JWT_SECRET": f"\t{SECRET}\r\n"}, SECRET),
        ({"EVAL_JWT_SECRET": SECRET, "JWT_SECRET": "short"}, SECRET),
    ],
)
def test_the_first_variable_that_is_set_holds_the_secret(environ: Mapping[str, str], secret: str | None) -> None:
    assert find_secret(environ) == secret


@pytest.mark.parametrize("name", ["EVAL_JWT_SECRET", "JWT_SECRET"])
def test_a_short_secret_is_refused_by_the_name_of_its_variable_and_not_shown(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_secret({name: " 1234567 "})
    assert str(caught.value) == f"{name} is under 8 characters: no secret that protects anything"


@pytest.mark.parametrize("secret", ["", "1234567", "  1234567  "])
def test_a_short_secret_that_is_given_is_refused(secret: str) -> None:
    with pytest.raises(UsageError, match=r"^the secret is under 8 characters"):
        mint_token(secret=secret)


def test_the_environment_gives_the_secret_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_SECRET", f" {SECRET}\n")
    assert claims_of(mint_token())["sub"] == "eval-user"
    monkeypatch.setenv("EVAL_JWT_SECRET", "the one that wins over it")
    with pytest.raises(jwt.InvalidSignatureError):
        claims_of(mint_token())


def test_with_no_secret_at_all_the_error_names_both_variables_and_the_ways_out() -> None:
    with pytest.raises(UsageError) as caught:
        mint_token()
    assert str(caught.value) == str(no_secret())
    assert "EVAL_JWT_SECRET nor JWT_SECRET" in caught.value.message
    assert "--header" in (caught.value.hint or "")
    assert "--no-auth" in (caught.value.hint or "")


def test_a_key_of_another_algorithm_is_refused_and_not_shown() -> None:
    key = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----"
    with pytest.raises(UsageError, match="the secret cannot sign a token") as caught:
        mint_token(secret=key)
    assert "MFkw" not in str(caught.value)
    assert "HS256" in str(caught.value)
    with pytest.raises(UsageError, match="the secret cannot sign a token"):
        Bearer(key, Secrets())


def test_a_secret_that_is_not_utf8_signs_with_the_bytes_that_it_is() -> None:
    raw = b"a secret of bytes \xff\xfe, and long enough"
    token = mint_token(secret=raw.decode(errors="surrogateescape"))
    assert jwt.decode(token, raw, algorithms=["HS256"])["scope"] == "evals"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_one_token_serves_until_well_before_it_runs_out() -> None:
    clock = Clock()
    # The tokens of one second are equal, so who asked for a new one is told by its secret being added.
    minted: list[str] = []

    class Noted(Secrets):
        def add(self, value: str) -> None:
            minted.append(value)
            super().add(value)

    bearer = Bearer(SECRET, Noted(), clock)
    first = bearer.headers()
    assert claims_of(first["authorization"].removeprefix("Bearer "))["scope"] == "evals"
    assert list(first) == ["authorization"]
    assert len(minted) == 3
    clock.now += 479
    assert bearer.headers() == first
    assert len(minted) == 3
    clock.now += 1
    bearer.headers()
    assert len(minted) == 5
    clock.now += 479
    bearer.headers()
    assert len(minted) == 5
    clock.now += 10_000
    bearer.headers()
    assert len(minted) == 7


def test_secret_token_and_signature_are_never_written() -> None:
    secrets = Secrets()
    token = Bearer(SECRET, secrets).headers()["authorization"].removeprefix("Bearer ")
    said = f"{SECRET} signed {token}, whose signature is {token.rpartition('.')[2]}"
    assert set(secrets.cover(said)) == set("█ signed, whose signature is")
    assert SECRET not in secrets.cover(said)
    assert token.rpartition(".")[2] not in secrets.cover(said)
