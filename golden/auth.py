"""JSON web tokens for the agents under test: minted from a shared secret, renewed before they run out."""

import importlib
import os
import time
from collections.abc import Callable, Mapping

from golden.errors import UsageError
from golden.redaction import VARIABLES, Secrets

_SHORTEST = 8
_TTL_S = 600
_SKEW_S = 30  # dated back, against clocks that differ
_RENEW_S = _TTL_S * 0.8  # long before it runs out: a turn may take minutes


def mint_token(*, user_id: str = "eval-user", secret: str | None = None, ttl_seconds: int = _TTL_S) -> str:
    """Mints an HS256 token for the agent under test (contract 6).

    The claims are `sub` (the user), `iat` (30 seconds back), `exp` and `scope` (`evals`).

    Args:
        user_id: the user that the agent sees.
        secret: the shared secret; where None, that of EVAL_JWT_SECRET, else of JWT_SECRET.
        ttl_seconds: how long the token is valid from now.

    Raises:
        UsageError: there is no secret, it is under 8 characters, or it is the key of another algorithm.

    Example:
        >>> mint_token(secret="only-an-example").count(".")
        2
    """
    if secret is None:
        secret = find_secret(os.environ)
    if secret is None:
        raise no_secret()
    jwt = importlib.import_module("jwt")  # it loads cryptography: many runs need no token
    now = int(time.time())
    claims = {"sub": user_id, "iat": now - _SKEW_S, "exp": now + ttl_seconds, "scope": "evals"}
    # HMAC fills a short key up with zero bytes (RFC 2104, section 2): the signature is the same, and PyJWT's warning of
    # keys under 32 bytes, which is for the server's owner, is not shown to whoever runs the suite.
    # What is not UTF-8 in the environment is signed with as the bytes that it is.
    key = _checked(secret, "the secret").encode(errors="surrogateescape").ljust(32, b"\0")
    try:
        token: str = jwt.encode(claims, key, algorithm="HS256")
    except jwt.InvalidKeyError as error:
        hint = "tokens are HS256: a secret that both sides share; for another kind give --header 'Authorization: …'"
        raise UsageError(f"the secret cannot sign a token: {error}", hint=hint) from None
    return token


def find_secret(environ: Mapping[str, str]) -> str | None:
    """Returns the secret of the environment, white space around it dropped, or None where neither variable is set.

    Raises:
        UsageError: it is under 8 characters.
    """
    for name in VARIABLES:
        secret = environ.get(name, "").strip()
        if secret:
            return _checked(secret, name)
    return None


def no_secret() -> UsageError:
    """The error of a run that needs a token and has no secret to mint one from."""
    return UsageError(
        f"no secret to mint a token from: neither {' nor '.join(VARIABLES)} is set",
        hint="set the one that the server checks tokens with, or give --header 'Authorization: …', or --no-auth",
    )


def _checked(secret: str, name: str) -> str:
    secret = secret.strip()
    if len(secret) < _SHORTEST:
        raise UsageError(f"{name} is under {_SHORTEST} characters: no secret that protects anything")
    return secret


class Bearer:
    """The Authorization header of a run: one token, minted anew before it runs out.

    Args:
        secret: the shared secret.
        secrets: takes the secret and each token, so that none is written.
        clock: seconds that only ever rise.

    Raises:
        UsageError: no token can be minted from the secret.
    """

    def __init__(self, secret: str, secrets: Secrets, clock: Callable[[], float] = time.monotonic) -> None:
        self._secret = secret
        self._secrets = secrets
        self._clock = clock
        self._token = ""
        self._renew_at = clock()
        secrets.add(secret)
        self.headers()

    def headers(self) -> dict[str, str]:
        """Returns the header for a question that is asked now."""
        now = self._clock()
        if now >= self._renew_at:
            self._token = mint_token(secret=self._secret)
            self._renew_at = now + _RENEW_S
            self._secrets.add(self._token)
            self._secrets.add(self._token.rpartition(".")[2])  # the signature alone is worth the token
        return {"authorization": f"Bearer {self._token}"}
