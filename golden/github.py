"""Requests → answers: the API of GitHub, or of a server of one's own, over HTTP."""

import ssl
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import httpx

from golden.errors import UsageError
from golden.exchange import PATIENCE_S, Answer, Call, Calls, Result, settled
from golden.payload import parse
from golden.version import __version__
from golden.wire import address, is_loopback

_API = "https://api.github.com"
_VERSION = "2022-11-28"
_TIMEOUT_S = 20.0
_LARGEST = 64 * 1024**2  # a page of the largest comments that GitHub takes has half of that
_HOPS = 3
# A renamed repository answers with these; whatever the method, it is kept.
_MOVED = (301, 302, 307, 308)


class GitHub:
    """A connection to the API, with a token.

    Args:
        token: sent to the hosts of these two addresses, and to no other.
        environ: GITHUB_API_URL and GITHUB_GRAPHQL_URL; where the second is not set, `/graphql` below the first, which
            is right for github.com and nothing on other servers.
        cover: takes secrets out of what is read: an error may quote a request.
        sleep: waits so many seconds.
        timeout_s: the longest silence.

    Raises:
        UsageError: an address is none, or the token would go in clear over a network.
    """

    def __init__(
        self,
        token: str,
        environ: Mapping[str, str],
        cover: Callable[[str], str],
        sleep: Callable[[float], object] = time.sleep,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        self._cover = cover
        self._sleep = sleep
        self._patience_s = PATIENCE_S
        self._api = _address("GITHUB_API_URL", environ.get("GITHUB_API_URL") or _API)
        self._graphql = _address(
            "GITHUB_GRAPHQL_URL", environ.get("GITHUB_GRAPHQL_URL") or address(str(self._api), "graphql")
        )
        if not (token.isascii() and token.isprintable()):
            raise UsageError("GITHUB_TOKEN holds characters that no header can hold", hint="a line break, perhaps?")
        headers = {
            "accept": "application/vnd.github+json",
            "authorization": f"Bearer {token}",
            "user-agent": f"golden/{__version__}",
            "x-github-api-version": _VERSION,
        }
        try:
            self._client = httpx.Client(
                headers=headers,
                timeout=timeout_s,
                trust_env=not is_loopback(self._api.host),
                verify="https" in (self._api.scheme, self._graphql.scheme),  # to load the authorities takes its time
            )
        except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
            raise UsageError(
                f"the certificates or proxies of the environment cannot be used: {error}",
                hint="they are named by SSL_CERT_FILE, SSL_CERT_DIR, HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def done(self, work: Callable[[], Calls[Result]]) -> Result:
        """Has a piece of work done, again where it may do better later.

        Raises:
            Refused: it cannot be done.
        """
        return settled(work, self.send, self._wait, self._patience_s)

    def send(self, call: Call) -> Answer:
        """Makes one request, and no second one; whatever goes wrong is an answer too."""
        url = self._graphql if call.path == "/graphql" else httpx.URL(address(str(self._api), call.path))
        try:
            for _ in range(_HOPS):
                answer = self._sent(call, url)
                where = answer.headers.get("location") if answer.status in _MOVED else None
                if where is None or _origin(url.join(where)) != _origin(url):
                    break
                url = url.join(where)
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            return Answer(0, lost=self._cover(str(error)) or type(error).__name__, at=time.time())
        return answer

    def _wait(self, seconds: float) -> None:
        self._patience_s -= seconds
        self._sleep(seconds)

    def _sent(self, call: Call, url: httpx.URL) -> Answer:
        with self._client.stream(call.method, url, json=call.body) as reply:
            body = bytearray()
            for piece in reply.iter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    return Answer(0, lost=f"it is larger than {_LARGEST // 1024**2} MiB", at=time.time())
            value, fault = parse(self._cover(body.decode(errors="replace")))
            headers = {name: self._cover(value) for name, value in reply.headers.items()}
            return Answer(reply.status_code, headers, None if fault else value, at=time.time())


def _address(name: str, value: str) -> httpx.URL:
    try:
        url = httpx.URL(value)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise UsageError(f"{name} is no address of an API", hint="for example https://github.example.com/api/v3")
    if url.scheme == "http" and not is_loopback(url.host):
        raise UsageError(f"{name}: no token is sent to {url.host} over http", hint="use https")
    return url


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
