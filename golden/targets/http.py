"""A running server or a preview, over HTTP."""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial

import httpx
from httpx_sse import aconnect_sse

from golden.auth import Bearer, find_secret, no_secret
from golden.dialects import Dialect, Options, posting
from golden.errors import TargetError, UsageError
from golden.headers import Headers, authorised, sendable
from golden.lexicon import Lexicon
from golden.redaction import Secrets
from golden.targets import Factory, Spec, begun, encoded, ended, spoken
from golden.unpacking import unpacker
from golden.version import __version__
from golden.wire import Chunk, Ends, Head, Post, Request, address, is_loopback

_OPTIONS = Options()


# A connection takes milliseconds, also where what answers on it starts cold; a firewall drops it without a word.
_CONNECT_S = 10


class HttpTarget:
    """Posts each question to one URL and reads the reply as it comes.

    Args:
        base_url: scheme, host, port and path prefix.
        dialect: how questions are posted: a dialect or its name, `auto` for golden's own.
        path: where to, in place of the dialect's.
        options: what else is said of the dialect.
        headers: sent with each question; they win over golden's own.
        authorize: gives headers that a question is sent with, asked for anew each time.
        secrets: takes what must not be written: what headers of telling names hold.

    Raises:
        UsageError: the URL is none, or holds a query, a fragment or a password; the path or a header cannot be sent.
    """

    kind = "http"

    def __init__(
        self,
        base_url: str,
        *,
        dialect: str | Dialect = "auto",
        path: str | None = None,
        options: Options = _OPTIONS,
        headers: Headers = (),
        authorize: Callable[[], Mapping[str, str]] = dict,
        secrets: Secrets | None = None,
    ) -> None:
        self.name = base_url
        self._url = _parsed(base_url)
        self.secrets = Secrets() if secrets is None else secrets
        self._dialect = Lexicon().dialect(dialect) if isinstance(dialect, str) else dialect
        self._options = spoken(options, path)
        self._post = posting(self._dialect, self._options)
        asked = self._post(Request("", "")).path
        self.secrets.add_query(asked)
        try:
            httpx.URL(address(base_url, asked))
        except httpx.InvalidURL as error:
            raise UsageError(f"--path makes no URL: {error}") from None
        self._headers = sendable(headers, self.secrets)
        self._authorize = authorize
        self._local = is_loopback(self._url.host)
        self._clients: dict[asyncio.AbstractEventLoop, _Clients] = {}  # a connection belongs to its event loop

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Makes one TLS context for all clients, and closes the clients at the end of the last run that overlaps.

        Raises:
            UsageError: the environment names certificates or proxies that cannot be used.
        """
        here = asyncio.get_running_loop()
        clients = self._clients.setdefault(here, _Clients())
        clients.runs += 1
        try:
            # To load the authorities takes longer than ten questions: not where there is no TLS at all.
            clients.tls = httpx.create_ssl_context(verify=self._url.scheme == "https" or not self._local)
            clients.idle.append(await self._client(clients))
        except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
            raise UsageError(
                f"the certificates or proxies of the environment cannot be used: {error}",
                hint="they are named by SSL_CERT_FILE, SSL_CERT_DIR, HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
            ) from None
        else:
            yield
        finally:
            clients.runs -= 1
            if not clients.runs:
                del self._clients[here]
                await clients.stack.aclose()

    async def ask(self, request: Request) -> AsyncGenerator[Head | Chunk, None]:
        """Posts one question; yields the head, then the body's pieces, decompressed.

        Raises:
            TargetError: the server cannot be reached, or the body did not come whole.
        """
        # A client for each question in flight: one pool that many share costs several times the processor time.
        clients = self._clients[asyncio.get_running_loop()]
        client = clients.idle.pop() if clients.idle else await self._client(clients)
        send = partial(self._sent, client, clients.kept)
        try:
            request, session = await begun(send, self._dialect, self._options, request, self.secrets.cover)
            async with aclosing(send(self._post(request))) as pieces:
                async for piece in pieces:
                    yield replace(piece, session=session) if session and isinstance(piece, Head) else piece
        finally:
            client.cookies.clear()  # the next case is another conversation
            clients.idle.append(client)

    async def leave(self, request: Request) -> None:
        """Closes a conversation whose last question this was, where the dialect says how.

        Raises:
            TargetError: it could not be closed.
        """
        if self._dialect.closes:
            clients = self._clients[asyncio.get_running_loop()]
            client = clients.idle.pop() if clients.idle else await self._client(clients)
            try:
                await ended(partial(self._sent, client, clients.kept), self._dialect, self._options, request)
            finally:
                clients.idle.append(client)

    async def _sent(
        self, client: httpx.AsyncClient, kept: set[httpx.AsyncClient], post: Post
    ) -> AsyncGenerator[Head | Chunk, None]:
        url = address(str(self._url), post.path)
        content, kind = encoded(post)
        # Compressed streams hide when a token came; where a server compresses all the same, it is read.
        own = {"user-agent": f"golden/{__version__}", "content-type": kind, "accept-encoding": "identity"}
        headers = httpx.Headers({**own, **post.headers, **authorised(self._authorize, self.secrets)})
        # A server may close a connection that it kept, just as the next question is on its way. Like a browser, golden
        # then asks once more on a fresh one, and says so; a server that fails at the question itself fails there again.
        fresh = client not in kept
        kept.discard(client)
        again = ""

        async def traced(step: str, _: object) -> None:
            nonlocal fresh
            fresh = fresh or step == "connection.connect_tcp.started"

        while True:
            answered = False
            try:
                async with aconnect_sse(
                    client,
                    post.method,
                    url,
                    content=content,
                    headers=headers,
                    auth=self._last_word,
                    extensions={} if fresh else {"trace": traced},
                ) as source:
                    answered = True
                    reply = source.response
                    yield Head(reply.status_code, dict(reply.headers), _ends(reply.headers), again)
                    unpack = unpacker(reply.headers.get("content-encoding", ""))
                    async for piece in reply.aiter_raw():
                        for part in unpack.feed(piece):
                            yield Chunk(part)
                    unpack.close()
                if reply.http_version == "HTTP/1.1" and "close" not in reply.headers.get("connection", "").lower():
                    kept.add(client)
                return
            except (httpx.TransportError, ssl.SSLError) as error:  # httpx lets a TLS alert after the handshake through
                if answered:
                    raise _broken(error, self._url) from error
                if fresh:
                    raise _unreachable(error, self._url) from error
                fresh = True
                again = "the server had closed the connection that it kept"

    def _last_word(self, request: httpx.Request) -> httpx.Request:
        """Puts the given headers in, over those that httpx-sse and httpx set."""
        request.headers["accept"] = ", ".join(self._dialect.accepts)
        request.headers.update(self._headers)
        return request

    async def _client(self, clients: "_Clients") -> httpx.AsyncClient:
        # The engine's clocks say when an answer took too long: httpx has none for the whole of a turn. Proxies of the
        # environment never stand between golden and this machine.
        timeout = httpx.Timeout(None, connect=_CONNECT_S)
        client = httpx.AsyncClient(verify=clients.tls or True, timeout=timeout, trust_env=not self._local)
        return await clients.stack.enter_async_context(client)


@dataclass(slots=True, eq=False)
class _Clients:
    """Those of one event loop, while runs in it are open."""

    runs: int = 0
    idle: list[httpx.AsyncClient] = field(default_factory=list)
    kept: set[httpx.AsyncClient] = field(default_factory=set)  # those whose connection the server may keep open
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    tls: ssl.SSLContext | None = None


def _parsed(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, TypeError):
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65_536:
        shown = str(base_url).partition("?")[0].rpartition("@")[2]  # not a password
        raise UsageError(f"--base-url {shown!r} is no http or https URL", hint="for example https://app.example.com")
    if url.userinfo or url.query or url.fragment or "?" in base_url or "#" in base_url:
        raise UsageError(
            f"--base-url may not hold a password, a query or a fragment: {url.scheme}://{url.host}…",
            hint="secrets go into --header 'Name: $VARIABLE', which is never written",
        )
    return url


def _ends(headers: httpx.Headers) -> Ends:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return "chunked"
    return "length" if "content-length" in headers else "close"


def _unreachable(error: Exception, url: httpx.URL) -> TargetError:
    """What kept the question from being answered at all, from the innermost cause: httpx's own text often hides it."""
    where = url.netloc.decode()
    cause: BaseException = error
    while (inner := _inner(cause)) is not None:
        cause = inner
    text = str(cause) or type(cause).__name__
    if isinstance(error, httpx.ConnectTimeout):
        text = f"none came about within {_CONNECT_S} s"
    if not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)):
        return TargetError("cut", f"no HTTP answer from {where}: {text}")
    if isinstance(cause, ssl.SSLError):
        hint = "a certificate of your own: SSL_CERT_FILE names the file of its authority"
        return TargetError("unreachable", f"no secure connection to {where}: {text}", hint=hint)
    if isinstance(cause, socket.gaierror):
        hint = "is --base-url right, and HTTP_PROXY or HTTPS_PROXY where one is set?"
        return TargetError("unreachable", f"the name {url.host} was not found: {text}", hint=hint)
    hint = "is the server running, and --base-url right?"
    return TargetError("unreachable", f"no connection to {where}: {text}", hint=hint)


def _inner(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ or error.__context__


def _broken(error: Exception, url: httpx.URL) -> TargetError:
    text = str(error) or type(error).__name__
    return TargetError("cut", f"the connection to {url.netloc.decode()} broke before the body's end: {text}")


def _authorize(spec: Spec, url: httpx.URL) -> Callable[[], Mapping[str, str]]:
    """How the questions are authorised.

    Raises:
        UsageError: there is no secret, or the token would go in clear over a network.
    """
    if not spec.token:
        return dict
    secret = find_secret(spec.environ)
    if secret is None:
        raise no_secret()
    if url.scheme != "https" and not is_loopback(url.host):
        raise UsageError(
            f"no token is sent to {url.host} over http: whoever listens could use it",
            hint="use https, or give --header 'Authorization: …', or --no-auth",
        )
    return Bearer(secret, spec.secrets).headers


def _target(spec: Spec) -> HttpTarget:
    url = _parsed(spec.where)
    host = url.host.lower()
    if spec.allow_hosts and not any(fnmatchcase(host, pattern.lower()) for pattern in spec.allow_hosts):
        raise UsageError(f"the host {host} is not allowed", hint=f"--allow-host allows {', '.join(spec.allow_hosts)}")
    return HttpTarget(
        spec.where,
        dialect=spec.dialect,
        options=spec.options,
        headers=spec.headers,
        authorize=_authorize(spec, url),
        secrets=spec.secrets,
    )


TARGET: Factory = _target
