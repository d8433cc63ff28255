"""An ASGI app in this process: its real route, auth and encoding, with no socket. Its pieces arrive as they are sent.

Written after the ASGI specification, HTTP & WebSocket 2.3 and lifespan 2.0; where it leaves a choice, as uvicorn does.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from golden.agent_loop import LIMITS, AgentLoop, Asking, Limits, raised
from golden.auth import Bearer, find_secret
from golden.blame import raised_at, told
from golden.dialects import Dialect, Options, posting
from golden.errors import TargetError, UsageError
from golden.headers import Headers, authorised, sendable
from golden.lexicon import Lexicon
from golden.loading import load_object
from golden.redaction import Secrets
from golden.targets import Factory, Spec, begun, encoded, ended, spoken
from golden.version import __version__
from golden.wire import Chunk, Head, Post, Request

Message = MutableMapping[str, Any]
Scope = dict[str, object]
App = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[object]]

_OPTIONS = Options()
_ASGI = {"version": "3.0", "spec_version": "2.3"}


class AsgiTarget:
    """Posts each question to an ASGI 3 app. Its lifespan, if it has one, is run once a run.

    The app runs in one event loop for the whole run. A fresh one takes its place only where a case has blocked it, and
    the lifespan is run again there.

    Args:
        app: the app.
        dialect: how questions are posted: a dialect or its name, `auto` for golden's own.
        path: where to, in place of the dialect's.
        options: what else is said of the dialect.
        headers: sent with each question; they win over golden's own.
        authorize: gives headers that a question is sent with, asked for anew each time.
        secrets: takes what must not be written: what headers of telling names hold.
        name: what the results call it.
        limits: how long golden waits.

    Raises:
        UsageError: it cannot be called as an ASGI app is, or no request could be sent with these headers.
    """

    kind = "asgi"

    def __init__(
        self,
        app: object,
        *,
        dialect: str | Dialect = "auto",
        path: str | None = None,
        options: Options = _OPTIONS,
        headers: Headers = (),
        authorize: Callable[[], Mapping[str, str]] = dict,
        secrets: Secrets | None = None,
        name: str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.name = name or type(app).__qualname__
        self._app = _checked(app)
        self.secrets = Secrets() if secrets is None else secrets
        self._dialect = Lexicon().dialect(dialect) if isinstance(dialect, str) else dialect
        self._options = spoken(options, path)
        self._post = posting(self._dialect, self._options)
        self.secrets.add_query(self._post(Request("", "")).path)
        self._headers = sendable(headers, self.secrets)
        self._authorize = authorize
        self._loop = AgentLoop(limits, lambda: Lifespan(self._app))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Runs the app's start-up, and at the end its shut-down, whose failure is an `AgentWarning`.

        Raises:
            UsageError: the start-up failed.
        """
        async with self._loop.open():
            await self._loop.start()
            yield

    async def ask(self, request: Request) -> AsyncGenerator[Head | Chunk, None]:
        """Posts one question; yields the head, then the body's pieces as they are sent."""
        request, session = await begun(self._sent, self._dialect, self._options, request, self.secrets.cover)
        async with aclosing(self._sent(self._post(request))) as pieces:
            async for piece in pieces:
                yield replace(piece, session=session) if session and isinstance(piece, Head) else piece

    async def leave(self, request: Request) -> None:
        """Closes a conversation whose last question this was, where the dialect says how."""
        await ended(self._sent, self._dialect, self._options, request)

    def _sent(self, post: Post) -> AsyncGenerator[Head | Chunk, None]:
        body, kind = encoded(post)
        return self._loop.ask(partial(self._answer, self._scope(post, len(body), kind), body))

    def _scope(self, post: Post, length: int, kind: str) -> Scope:
        own = {
            "host": "localhost",
            "user-agent": f"golden/{__version__}",
            "accept": ", ".join(self._dialect.accepts),
            "accept-encoding": "identity",
            "content-type": kind,
            "content-length": str(length),
        }
        named = {**own, **post.headers, **authorised(self._authorize, self.secrets)}
        given = dict(self._headers)
        headers = [*((name, value) for name, value in named.items() if name not in given), *self._headers]
        path, _, query = post.path.partition("?")
        raw_path = quote("/" + path.lstrip("/"), safe="/%:@!$&'()*+,;=~")
        return {
            "type": "http",
            "asgi": _ASGI,
            "http_version": "1.1",
            "method": post.method,
            "scheme": "http",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers],
            "client": ("127.0.0.1", 50000),
            "server": ("localhost", 80),
            "extensions": {},
        }

    async def _answer(self, scope: Scope, body: bytes, asking: Asking[Head | Chunk]) -> None:
        exchange = _Exchange(asking, body)
        scope["state"] = dict(asking.state)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except BaseException as error:
            if not exchange.complete:
                raise exchange.fault(error) from None
            if isinstance(error, Exception):  # as a server would log it: the answer was whole by then
                context = {"message": "the app raised after its answer was complete", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)
        else:
            if not exchange.complete:
                raise exchange.fault(None)


class _Exchange:
    """One request and the app's reply to it."""

    def __init__(self, asking: Asking[Head | Chunk], body: bytes) -> None:
        self.complete = False
        self._asking = asking
        self._body: bytes | None = body
        self._started = False

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._asking.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Takes what the app sends. Messages of other kinds, and what comes after the end, are passed over."""
        if self.complete:
            return
        if message["type"] == "http.response.start" and not self._started:
            self._started = True
            self._asking.channel.put(_head(message))
        elif message["type"] == "http.response.body":
            if not self._started:
                raise RuntimeError("the app sent `http.response.body` before `http.response.start`")
            data = bytes(message.get("body") or b"")
            room = self._asking.channel.put(Chunk(data), len(data))
            if not message.get("more_body", False):
                self.complete = True
                self._asking.channel.end()
                self._asking.gone.set()
            elif room is not None:
                await asyncio.wrap_future(room)

    def fault(self, error: BaseException | None) -> TargetError:
        if error is None and not self._started:
            return TargetError("agent", "the app returned without a response")
        if error is None:
            return TargetError("cut", "the app returned without its final `http.response.body` message")
        if not self._started:
            return raised(error, "the app")
        return TargetError("cut", f"the app raised {told(error)} before its answer was whole", hint=raised_at(error))


def _head(message: Message) -> Head:
    headers: dict[str, str] = {}
    for name_bytes, value_bytes in message.get("headers", ()):
        name, value = bytes(name_bytes).decode("latin-1").lower(), bytes(value_bytes).decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Head(int(message["status"]), headers, "app")


class Lifespan(AbstractAsyncContextManager[dict[str, object]]):
    """An app's start-up and shut-down, and the state that it gives to each request.

    As the specification has it, an app that raises or returns before it answers the start-up has no lifespan; only
    `lifespan.startup.failed` says that it cannot start. (asgi-lifespan waits in vain for an app that returns, or that
    says it failed, and leaves `asgi` out of its scope.)
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._state: dict[str, object] = {}
        self._sent: asyncio.Queue[Message] = asyncio.Queue()
        self._answers: asyncio.Queue[Message | BaseException | None] = asyncio.Queue()
        self._supported = False

    async def __aenter__(self) -> dict[str, object]:
        self._task = asyncio.create_task(self._run())
        answer = await self._exchange("startup")
        if isinstance(answer, MutableMapping):
            self._supported = True
            if answer["type"] == "lifespan.startup.failed":
                # What Starlette sends is a whole traceback; its last line is the exception.
                reason = answer.get("message", "").strip().rpartition("\n")[2]
                raise UsageError(f"the app's start-up failed: {reason or 'it does not say why'}")
        return self._state

    async def __aexit__(self, *_: object) -> None:
        if self._supported:
            answer = await self._exchange("shutdown")
            if isinstance(answer, BaseException):
                raise RuntimeError(told(answer))
            if answer is not None and answer["type"] == "lifespan.shutdown.failed":
                raise RuntimeError(answer.get("message", "").strip().rpartition("\n")[2])

    async def _exchange(self, phase: str) -> Message | BaseException | None:
        self._sent.put_nowait({"type": f"lifespan.{phase}"})
        return await self._answers.get()

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": _ASGI, "state": self._state}
        try:
            await self._app(scope, self._sent.get, self._answers.put)
        except BaseException as error:
            self._answers.put_nowait(error)
        else:
            self._answers.put_nowait(None)


def _checked(app: object) -> App:
    if not callable(app):
        raise UsageError(f"the app must be callable, not {type(app).__name__}", hint="name the app object itself")
    try:
        inspect.signature(app).bind({}, None, None)
    except TypeError as error:
        raise UsageError(
            f"the app cannot be called as an ASGI 3 app is, with scope, receive and send: {error}",
            hint="name the app itself, not a function that makes it; a WSGI app needs a wrapper, as a2wsgi has one",
        ) from None
    return app


def _target(spec: Spec) -> AsgiTarget:
    secret = find_secret(spec.environ) if spec.token else None
    # An app in this process is asked without a token where there is no secret to mint one from (contract 6).
    authorize = Bearer(secret, spec.secrets).headers if secret else dict
    app = load_object(spec.where, option="--asgi")
    return AsgiTarget(
        app,
        dialect=spec.dialect,
        options=spec.options,
        headers=spec.headers,
        authorize=authorize,
        secrets=spec.secrets,
        name=spec.where,
    )


TARGET: Factory = _target
