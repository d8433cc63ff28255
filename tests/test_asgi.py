"""The ASGI target: real apps and hand-written ones, their pieces as sent, their lifespan, and what they do wrong."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import fastapi
import fastapi.sse
import jwt
import pytest
import sse_starlette
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request as Asked
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from golden.agent_loop import AgentWarning, Limits
from golden.errors import AskAgain, TargetError, UsageError
from golden.lexicon import Lexicon
from golden.redaction import Secrets
from golden.sse import Decoder
from golden.targets import Spec
from golden.targets.asgi import TARGET, AsgiTarget
from golden.wire import Chunk, Head, Request
from tests.agents import no_agent_is_left

LIMITS = Limits(grace=5.0, disconnect=0.02)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
END = {"type": "http.response.body"}


def body(data: object, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


@pytest.fixture(autouse=True)
def nothing_is_left(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No thread of a test outlives it, and asyncio has nothing to complain of."""
    yield
    no_agent_is_left()
    assert [record.getMessage() for record in caplog.get_records("call") if record.name == "asyncio"] == []


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What a test's app blocks on; it is let go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def to(app: object, path: str = "/", *, limits: Limits = LIMITS, **more: Any) -> AsgiTarget:
    return AsgiTarget(app, path=path, limits=limits, **more)


async def answer(target: AsgiTarget, question: str = "hi") -> tuple[Head, bytes]:
    async with aclosing(target.ask(Request(question, "s1"))) as reply:
        head = await anext(reply)
        assert isinstance(head, Head)
        return head, b"".join([piece.data async for piece in reply if isinstance(piece, Chunk)])


def asked(app: object, path: str = "/", question: str = "hi", **more: Any) -> tuple[Head, bytes]:
    async def main() -> tuple[Head, bytes]:
        target = to(app, path, **more)
        async with target.open():
            return await answer(target, question)

    return asyncio.run(main())


def events(data: bytes) -> list[tuple[str, str | None]]:
    return [(event.name, event.data) for event in Decoder().feed(data, 0.0)]


def cut(app: object, **more: Any) -> tuple[list[Head | Chunk], TargetError]:
    """What came of an answer before its error."""

    async def main() -> tuple[list[Head | Chunk], TargetError]:
        target = to(app, **more)
        pieces = []
        async with target.open(), aclosing(target.ask(Request("hi", "s1"))) as reply:
            try:
                async for piece in reply:
                    pieces.append(piece)  # noqa: PERF401  # what came before the error counts
            except TargetError as error:
                return pieces, error
        raise AssertionError(f"no error after {pieces}")

    return asyncio.run(main())


def hand_written(*messages: Message) -> object:
    """An app that has no lifespan and sends these messages."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        for message in messages:
            await send(message)

    return app


# Real apps


async def stream(times: int = 3) -> AsyncIterator[str]:
    for number in range(times):
        yield f"event: token\ndata: {number}\n\n"
        await asyncio.sleep(0)


async def five(request: Asked) -> Response:
    question = (await request.json())["message"]

    async def tokens() -> AsyncIterator[str]:
        yield f"event: question\ndata: {question}\n\n"
        async for token in stream():
            yield token

    return StreamingResponse(tokens(), media_type="text/event-stream")


class Passing(BaseHTTPMiddleware):
    async def dispatch(self, request: Asked, call_next: Any) -> Response:
        response: Response = await call_next(request)
        response.headers["x-passed"] = "yes"
        return response


def starlette(*middleware: Any) -> Starlette:
    return Starlette(routes=[Route("/", five, methods=["POST"])], middleware=[Middleware(kind) for kind in middleware])


def fastapi_streaming() -> fastapi.FastAPI:
    app = fastapi.FastAPI()

    @app.post("/")
    async def chat(question: dict[str, str]) -> StreamingResponse:
        async def tokens() -> AsyncIterator[str]:
            yield f"event: question\ndata: {question['message']}\n\n"
            async for token in stream():
                yield token

        return StreamingResponse(tokens(), media_type="text/event-stream")

    return app


def fastapi_blocking() -> fastapi.FastAPI:
    app = fastapi.FastAPI()

    @app.post("/")
    def chat(question: dict[str, str]) -> StreamingResponse:
        def tokens() -> Iterator[str]:
            yield f"event: question\ndata: {question['message']}\n\n"
            for number in range(3):
                yield f"event: token\ndata: {number}\n\n"

        return StreamingResponse(tokens(), media_type="text/event-stream")

    return app


def fastapi_helper() -> fastapi.FastAPI:
    app = fastapi.FastAPI()

    @app.post("/", response_class=fastapi.sse.EventSourceResponse)
    async def chat(question: dict[str, str]) -> AsyncIterator[fastapi.sse.ServerSentEvent]:
        yield fastapi.sse.ServerSentEvent(raw_data=question["message"], event="question")
        for number in range(3):
            yield fastapi.sse.ServerSentEvent(data=number, event="token")

    return app


def sse_app() -> Starlette:
    async def chat(request: Asked) -> sse_starlette.EventSourceResponse:
        question = (await request.json())["message"]

        async def tokens() -> AsyncIterator[dict[str, str]]:
            yield {"event": "question", "data": question}
            for number in range(3):
                yield {"event": "token", "data": str(number)}

        return sse_starlette.EventSourceResponse(tokens())

    return Starlette(routes=[Route("/", chat, methods=["POST"])])


@pytest.mark.parametrize(
    "app",
    [
        starlette(),
        starlette(Passing),
        starlette(GZipMiddleware),
        starlette(Passing, GZipMiddleware, Passing),
        fastapi_streaming(),
        fastapi_blocking(),
        fastapi_helper(),
        sse_app(),
    ],
    ids=[
        "starlette",
        "base middleware",
        "gzip",
        "many",
        "fastapi",
        "fastapi blocking",
        "fastapi's own",
        "sse-starlette",
    ],
)
def test_servers_as_users_write_them_are_read(app: object) -> None:
    head, data = asked(app, question="wie geht's?")
    assert head.status == 200
    assert head.headers["content-type"].startswith("text/event-stream")
    assert head.ends == "app"
    assert events(data) == [("question", "wie geht's?"), ("token", "0"), ("token", "1"), ("token", "2")]


@pytest.mark.parametrize(
    "app",
    [starlette(), starlette(Passing, GZipMiddleware), fastapi_streaming(), sse_app()],
    ids=lambda app: type(app).__name__,
)
def test_twenty_at_once_are_told_apart(app: object) -> None:
    async def main() -> list[tuple[Head, bytes]]:
        target = to(app)
        async with target.open():
            return list(await asyncio.gather(*(answer(target, f"q{number}") for number in range(20))))

    for number, (_, data) in enumerate(asyncio.run(main())):
        assert events(data)[0] == ("question", f"q{number}")


@pytest.mark.parametrize("middleware", [[], [Passing, GZipMiddleware]])
def test_pieces_are_seen_when_they_are_sent(middleware: list[Any]) -> None:
    async def slow(request: Asked) -> Response:
        async def tokens() -> AsyncIterator[str]:
            await asyncio.sleep(0.2)
            yield "data: first\n\n"
            await asyncio.sleep(0.3)
            yield "data: last\n\n"

        return StreamingResponse(tokens(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/", slow, methods=["POST"])], middleware=[Middleware(kind) for kind in middleware])

    async def main() -> list[float]:
        target = to(app)
        now = asyncio.get_running_loop().time
        async with target.open():
            start = now()
            async with aclosing(target.ask(Request("hi", "s1"))) as reply:
                return [now() - start async for piece in reply if isinstance(piece, Chunk) and piece.data]

    assert asyncio.run(main()) == [pytest.approx(0.2, abs=0.1), pytest.approx(0.5, abs=0.1)]


def test_a_mounted_app_is_asked_below_its_path() -> None:
    async def where(request: Asked) -> Response:
        return JSONResponse([request.url.path, request.scope["root_path"], dict(request.query_params)])

    app = Starlette(routes=[Mount("/api", Starlette(routes=[Route("/ask me", where, methods=["POST"])]))])
    for path in ("/api/ask me?a=1&b=%C3%A9", "api/ask%20me?a=1&b=%C3%A9"):
        head, data = asked(app, path)
        assert head.status == 200
        assert json.loads(data) == ["/api/ask me", "/api", {"a": "1", "b": "é"}]


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (JSONResponse({"detail": "no"}, 401), 401),
        (PlainTextResponse("gone", 404), 404),
        (Response(status_code=204), 204),
        (Response(status_code=304), 304),
    ],
)
def test_any_status_is_a_reply(response: Response, status: int) -> None:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await response(scope, receive, send)  # type: ignore[arg-type]  # messages of ours are plain dicts

    head, data = asked(app)
    assert (head.status, data) == (status, response.body)


# What is asked


def echo(seen: list[tuple[Message, bytes]]) -> object:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send(START)
            await asyncio.sleep(0.01)
            # the body is read late
            message = await receive()
            seen.append((scope, message["body"]))
            await send(END)

    return app


def test_the_scope_is_complete() -> None:
    seen: list[tuple[Message, bytes]] = []
    asked(echo(seen), "/agent/ch%C3%A4t ö?x=1&y=a b", "what?")
    ((scope, data),) = seen
    headers = scope.pop("headers")
    assert dict(headers) == {
        b"host": b"localhost",
        b"user-agent": dict(headers)[b"user-agent"],
        b"accept": b"text/event-stream",
        b"accept-encoding": b"identity",
        b"content-type": b"application/json",
        b"content-length": str(len(data)).encode(),
    }
    assert dict(headers)[b"user-agent"].startswith(b"golden/")
    assert json.loads(data) == {"message": "what?"}
    assert scope == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/agent/chät ö",
        "raw_path": b"/agent/ch%C3%A4t%20%C3%B6",
        "query_string": b"x=1&y=a b",
        "root_path": "",
        "client": ("127.0.0.1", 50000),
        "server": ("localhost", 80),
        "state": {},
        "extensions": {},
    }


def test_headers_win_over_goldens_own_whatever_their_case() -> None:
    seen: list[tuple[Message, bytes]] = []
    tokens = iter(("Bearer 1", "Bearer 2"))
    target = AsgiTarget(
        echo(seen),
        headers=(("HOST", "example.com"), ("X-Key", "k"), ("Accept", "application/json")),
        authorize=lambda: {"Authorization": next(tokens)},
    )

    async def main() -> None:
        async with target.open():
            await answer(target)
            await answer(target)

    asyncio.run(main())
    for (scope, _), token in zip(seen, (b"Bearer 1", b"Bearer 2"), strict=True):
        names = [name for name, _ in scope["headers"]]
        assert len(names) == len(set(names))
        headers = dict(scope["headers"])
        assert headers[b"host"] == b"example.com"
        assert headers[b"accept"] == b"application/json"
        assert headers[b"x-key"] == b"k"
        assert headers[b"authorization"] == token


def test_a_header_that_is_given_twice_is_sent_twice() -> None:
    seen: list[tuple[Message, bytes]] = []
    target = AsgiTarget(echo(seen), headers=(("X-Tag", "a"), ("x-tag", "b")))

    async def main() -> None:
        async with target.open():
            await answer(target)

    asyncio.run(main())
    ((scope, _),) = seen
    assert scope["path"] == "/agent/chat"
    assert [value for name, value in scope["headers"] if name == b"x-tag"] == [b"a", b"b"]


# What an app may send


def test_bytes_of_every_kind_are_read_and_what_is_not_known_is_passed_over() -> None:
    app = hand_written(
        {"type": "http.response.debug", "info": {}},
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [[b"Content-Type", b"text/event-stream"], (bytearray(b"X-A"), b"1"), (b"x-a", memoryview(b"2"))],
        },
        {"type": "http.response.push", "path": "/", "headers": []},
        {"type": "http.response.start", "status": 500},
        body(b"data: a"),
        body(bytearray(b"\n\ndata: ")),
        body(memoryview(b"b\n\n")),
        body(b""),
        body(None),
        {"type": "http.response.body", "more_body": True},
        END,
        body(b"too late"),
        {"type": "http.response.trailers", "headers": []},
    )
    head, data = asked(app)
    assert head == Head(200, {"content-type": "text/event-stream", "x-a": "1, 2"}, "app")
    assert events(data) == [("", "a"), ("", "b")]


def test_a_start_without_headers_is_a_reply() -> None:
    assert asked(hand_written({"type": "http.response.start", "status": 204}, END)) == (Head(204, {}, "app"), b"")


def test_an_app_is_told_when_its_answer_is_over() -> None:
    messages: list[Message] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            messages.append(await receive())
            await send(START)
            await send(END)
            messages.append(await receive())

    asked(app)
    assert [message["type"] for message in messages] == ["http.request", "http.disconnect"]
    assert messages[0]["more_body"] is False


# When golden has enough


def left_early(app: object, limits: Limits = LIMITS) -> None:
    """Reads three pieces of an answer, then leaves."""

    async def main() -> None:
        target = to(app, limits=limits)
        async with target.open(), aclosing(target.ask(Request("hi", "s1"))) as reply:
            assert isinstance(await anext(reply), Head)
            for _ in range(3):
                assert isinstance(await anext(reply), Chunk)

    asyncio.run(main())


def test_an_app_that_polls_for_the_disconnect_is_told_of_it() -> None:
    told: list[Message] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Asked(scope, receive)
        assert json.loads(await request.body()) == {"message": "hi"}
        await send(START)
        try:
            while not await request.is_disconnected():
                await send(body(b"data: a\n\n"))
        except OSError:  # it may meet the closed door first
            pass
        told.append(await receive())

    left_early(app)
    assert told == [{"type": "http.disconnect"}]


def test_an_app_that_sends_for_ever_meets_an_os_error_and_one_that_sleeps_is_cancelled() -> None:
    met: list[str] = []

    async def sends(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send(START)
            try:
                while True:
                    await send(body(b"data: a\n\n"))
            except OSError as error:
                met.append(f"{type(error).__name__}: {error}")
                raise

    async def sleeps(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send(START)
            for _ in range(3):
                await send(body(b"data: a\n\n"))
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                met.append("cancelled")
                raise

    left_early(sends)
    left_early(sleeps)
    assert met == ["Closed: golden reads no further", "cancelled"]


@pytest.mark.parametrize("middleware", [[], [Passing], [Passing, GZipMiddleware]])
def test_an_endless_answer_can_be_left(middleware: list[Any]) -> None:
    ended = threading.Event()

    async def endless(request: Asked) -> Response:
        async def tokens() -> AsyncIterator[str]:
            try:
                while True:
                    yield "data: a\n\n"
                    await asyncio.sleep(0)
            finally:
                ended.set()

        return StreamingResponse(tokens(), media_type="text/event-stream")

    left_early(
        Starlette(routes=[Route("/", endless, methods=["POST"])], middleware=[Middleware(kind) for kind in middleware])
    )
    assert ended.wait(10)


def test_an_endless_answer_of_sse_starlette_can_be_left() -> None:
    closed = threading.Event()

    async def endless(request: Asked) -> sse_starlette.EventSourceResponse:
        async def tokens() -> AsyncIterator[dict[str, str]]:
            while True:
                yield {"data": "a"}
                await asyncio.sleep(0)

        async def handler(message: Any) -> None:
            closed.set()

        return sse_starlette.EventSourceResponse(tokens(), client_close_handler_callable=handler)

    left_early(Starlette(routes=[Route("/", endless, methods=["POST"])]))
    assert closed.wait(10)


def test_a_fast_app_is_held_back_when_golden_reads_no_further() -> None:
    made = 0

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        nonlocal made
        if scope["type"] == "http":
            await send(START)
            for _ in range(20_000):
                made += 1
                await send(body(b"x" * 1000))

    async def main() -> None:
        target = to(app)
        async with target.open(), aclosing(target.ask(Request("hi", "s1"))) as reply:
            for _ in range(4):
                await anext(reply)
            await asyncio.sleep(0.05)
            assert made < 300

    asyncio.run(main())


# Background work


def test_a_background_task_holds_no_answer_up_and_is_done_by_the_end() -> None:
    done = threading.Event()

    async def slow() -> None:
        await asyncio.sleep(0.1)
        done.set()

    async def chat(request: Asked) -> Response:
        return StreamingResponse(stream(), media_type="text/event-stream", background=BackgroundTask(slow))

    async def main() -> None:
        target = to(Starlette(routes=[Route("/", chat, methods=["POST"])]))
        async with target.open():
            await answer(target)
            assert not done.is_set()
        assert done.is_set()

    asyncio.run(main())


def test_a_background_task_that_raises_changes_no_answer_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> None:
        raise ValueError("boom")

    async def exits() -> None:
        raise SystemExit(1)

    def app(task: Callable[[], Awaitable[None]]) -> Starlette:
        async def chat(request: Asked) -> Response:
            return StreamingResponse(stream(), media_type="text/event-stream", background=BackgroundTask(task))

        return Starlette(routes=[Route("/", chat, methods=["POST"])])

    for task in (fails, exits):
        _, data = asked(app(task))
        assert len(events(data)) == 3
    assert [record.getMessage().partition("\n")[0] for record in caplog.records] == [
        "the app raised after its answer was complete"
    ]
    caplog.clear()


# What apps do wrong


async def raises_before(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        raise ValueError("boom0")


async def raises_after(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send(START)
        await send(body(b"data: a\n\n"))
        await send(body(b"data: b\n\n"))
        raise ValueError("boom")


async def exits_before(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        raise SystemExit(3)


async def exits_after(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send(START)
        raise KeyboardInterrupt


async def sends_no_start(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send(END)


async def sends_text(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send(START)
        await send(body("text"))


@pytest.mark.parametrize(
    ("app", "kind", "message", "pieces"),
    [
        (raises_before, "agent", "the app raised ValueError: boom0", 0),
        (raises_after, "cut", "the app raised ValueError: boom before its answer was whole", 3),
        (exits_before, "agent", "the app raised SystemExit: 3", 0),
        (exits_after, "cut", "the app raised KeyboardInterrupt before its answer was whole", 1),
        (
            sends_no_start,
            "agent",
            "the app raised RuntimeError: the app sent `http.response.body` before `http.response.start`",
            0,
        ),
        (
            sends_text,
            "cut",
            "the app raised TypeError: string argument without an encoding before its answer was whole",
            1,
        ),
    ],
)
def test_what_an_app_raises_is_the_cases_error(app: object, kind: str, message: str, pieces: int) -> None:
    got, error = cut(app)
    assert (error.kind, error.message, len(got)) == (kind, message, pieces)
    assert error.hint is not None
    assert error.hint.startswith("raised at tests/test_asgi.py:")


def test_an_app_that_does_not_say_its_answer_is_over_is_an_error() -> None:
    got, error = cut(hand_written())
    assert (error.kind, error.message, got) == ("agent", "the app returned without a response", [])
    got, error = cut(hand_written(START, body(b"data: a\n\n")))
    assert (error.kind, len(got)) == ("cut", 2)
    assert error.message == "the app returned without its final `http.response.body` message"


def test_an_exception_of_starlette_after_the_start_is_a_cut_that_names_it() -> None:
    async def chat(request: Asked) -> Response:
        async def tokens() -> AsyncIterator[str]:
            yield "data: a\n\n"
            raise ValueError("boom")

        return StreamingResponse(tokens(), media_type="text/event-stream")

    got, error = cut(Starlette(routes=[Route("/", chat, methods=["POST"])]))
    assert got[1:] == [Chunk(b"data: a\n\n")]
    assert (error.kind, error.message) == ("cut", "the app raised ValueError: boom before its answer was whole")
    assert error.hint is not None
    assert error.hint.endswith(" in tokens")


def test_what_is_raised_behind_an_answer_that_its_middleware_made_whole_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As over HTTP: BaseHTTPMiddleware and the page of an error end the body properly, then raise."""

    async def before(request: Asked) -> Response:
        raise ValueError("boom0")

    async def after(request: Asked) -> Response:
        async def tokens() -> AsyncIterator[str]:
            yield "data: a\n\n"
            raise ValueError("boom")

        return StreamingResponse(tokens(), media_type="text/event-stream")

    routes = [Route("/before", before, methods=["POST"]), Route("/after", after, methods=["POST"])]
    app = Starlette(routes=routes, middleware=[Middleware(Passing)])
    assert asked(app, "/before")[0].status == 500
    assert events(asked(app, "/after")[1]) == [("", "a")]
    assert [record.exc_info and str(record.exc_info[1]) for record in caplog.records] == ["boom0", "boom"]
    caplog.clear()


@pytest.mark.parametrize("where", ["route", "stream"])
def test_a_blocked_app_is_one_time_out_and_the_others_answer_on_a_fresh_loop(
    release: threading.Event, where: str
) -> None:
    started: list[int] = []

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, int]]:
        started.append(1)
        yield {"start": len(started)}

    async def chat(request: Asked) -> Response:
        question = (await request.json())["message"]
        if question == "block" and where == "route":
            release.wait()

        async def tokens() -> AsyncIterator[str]:
            yield f"event: start\ndata: {request.state.start}\n\n"
            await asyncio.sleep(0.02)
            if question == "block":
                release.wait()
            yield f"event: token\ndata: {question}\n\n"

        return StreamingResponse(tokens(), media_type="text/event-stream")

    async def judged(target: AsgiTarget, question: str) -> str:
        while True:
            try:
                async with asyncio.timeout(0.5):
                    return str(events((await answer(target, question))[1])[1][1])
            except AskAgain:
                continue
            except TimeoutError:
                return "time-out"

    async def main() -> list[str]:
        app = Starlette(routes=[Route("/", chat, methods=["POST"])], lifespan=lifespan)
        target = to(app, limits=Limits(grace=0.1, disconnect=0.01, background=0.1))
        async with target.open():
            first = await asyncio.gather(*(judged(target, question) for question in ("a", "block", "b", "c")))
            return [*first, await judged(target, "d")]

    assert asyncio.run(main()) == ["a", "time-out", "b", "c", "d"]
    assert started == [1, 1]


# The lifespan


def test_the_lifespan_is_run_once_a_run_and_its_state_given_to_each_request() -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, object]]:
        seen.append("start")
        yield {"name": "state", "loop": asyncio.get_running_loop()}
        seen.append("stop")

    async def chat(request: Asked) -> Response:
        assert request.state.loop is asyncio.get_running_loop()
        name = request.state.name
        request.state.name = "changed by a request"
        return PlainTextResponse(name)

    async def main() -> None:
        target = to(Starlette(routes=[Route("/", chat, methods=["POST"])], lifespan=lifespan))
        async with target.open():
            assert seen == ["start"]
            for _ in range(2):
                assert (await answer(target))[1] == b"state"
            assert seen == ["start"]
        assert seen == ["start", "stop"]

    asyncio.run(main())


async def asserts(scope: Message, receive: Receive, send: Send) -> None:
    assert scope["type"] == "http"
    await send(START)
    await send(END)


async def returns(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send(START)
        await send(END)


async def raises_in_the_lifespan(scope: Message, receive: Receive, send: Send) -> None:
    await receive()
    if scope["type"] == "lifespan":
        raise SystemExit(3)
    await send(START)
    await send(END)


async def forgets_the_shut_down(scope: Message, receive: Receive, send: Send) -> None:
    await receive()
    if scope["type"] == "lifespan":
        await send({"type": "lifespan.startup.complete"})
        return
    await send(START)
    await send(END)


@pytest.mark.parametrize("app", [asserts, returns, raises_in_the_lifespan, forgets_the_shut_down])
def test_an_app_may_have_no_lifespan(app: object) -> None:
    assert asked(app)[0].status == 200


def test_the_scope_of_the_lifespan_is_complete() -> None:
    seen: list[Message] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            seen.append(scope)
            scope["state"]["key"] = "value"
            for phase in ("startup", "shutdown"):
                assert await receive() == {"type": f"lifespan.{phase}"}
                await send({"type": f"lifespan.{phase}.complete"})
        else:
            seen.append(scope)
            await send(START)
            await send(END)

    asked(app)
    assert seen[0] == {
        "type": "lifespan",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "state": {"key": "value"},
    }
    assert seen[1]["state"] == {"key": "value"}


def start_up_of(app: object, limits: Limits = LIMITS) -> UsageError:
    async def main() -> None:
        async with to(app, limits=limits).open():
            pass

    with pytest.raises(UsageError) as caught:
        asyncio.run(main())
    return caught.value


def test_a_start_up_that_fails_is_a_usage_error_that_says_why(release: threading.Event) -> None:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if app.routes == []:
            raise ConnectionError("no database")
        yield

    async def says_nothing(scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed"})

    async def hangs(scope: Message, receive: Receive, send: Send) -> None:
        await asyncio.sleep(60)

    async def blocks(scope: Message, receive: Receive, send: Send) -> None:
        release.wait()

    assert (
        start_up_of(Starlette(lifespan=lifespan)).message == "the app's start-up failed: ConnectionError: no database"
    )
    assert start_up_of(says_nothing).message == "the app's start-up failed: it does not say why"
    for app in (hangs, blocks):
        error = start_up_of(app, LIMITS._replace(start=0.05))
        assert error.message == "the agent's start-up took longer than 0.05 s"


def shut_down_of(how: str) -> object:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send(START)
            await send(END)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if how == "says so":
            await send({"type": "lifespan.shutdown.failed", "message": "Traceback …\nConnectionError: gone"})
        elif how == "raises":
            raise ConnectionError("gone")
        elif how == "exits":
            raise SystemExit("gone")
        await asyncio.sleep(60)

    return app


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("says so", "failed: RuntimeError: ConnectionError: gone"),
        ("raises", "failed: RuntimeError: ConnectionError: gone"),
        ("exits", "failed: RuntimeError: SystemExit: gone"),
        ("hangs", r"took longer than 0\.05 s"),
    ],
)
def test_a_shut_down_that_fails_is_a_warning_and_the_answers_stand(how: str, words: str) -> None:
    with pytest.warns(AgentWarning, match=f"the agent's shut-down {words}"):
        head, _ = asked(shut_down_of(how), limits=LIMITS._replace(stop=0.05))
    assert head.status == 200


# By name


def test_what_is_no_asgi_app_is_a_usage_error() -> None:
    def factory() -> object:
        return starlette()

    def wsgi(environ: object, start_response: object) -> list[bytes]:
        return []

    with pytest.raises(UsageError, match="the app must be callable, not str"):
        to("app")
    for app in (factory, wsgi):
        with pytest.raises(UsageError, match="the app cannot be called as an ASGI 3 app is") as caught:
            to(app)
        assert caught.value.hint is not None


@pytest.mark.parametrize(("environ", "token"), [({"JWT_SECRET": "a secret of the tests"}, True), ({}, False)])
def test_an_app_is_found_by_its_name_and_gets_a_token_where_there_is_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], token: bool
) -> None:
    module = "\n".join(
        [
            "headers = []",
            "async def app(scope, receive, send):",
            "    if scope['type'] == 'http':",
            "        headers.append(dict(scope['headers']))",
            "        await send({'type': 'http.response.start', 'status': 200})",
            "        await send({'type': 'http.response.body'})",
        ]
    )
    name = f"app_by_name_{token}".lower()
    (tmp_path / f"{name}.py").write_text(module, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for wanted in (True, False):
        spec = Spec(f"{name}:app", Lexicon().dialect("auto"), environ=environ, token=wanted, secrets=Secrets())
        target = TARGET(spec)
        assert isinstance(target, AsgiTarget)
        assert (target.kind, target.name) == ("asgi", f"{name}:app")
        asyncio.run(_ask(target))
    first, second = __import__(name).headers
    assert (b"authorization" in first) is token
    assert b"authorization" not in second
    if token:
        _, _, minted = first[b"authorization"].decode().partition("Bearer ")
        claims = jwt.decode(minted, environ["JWT_SECRET"].encode().ljust(32, b"\0"), algorithms=["HS256"])
        assert claims["sub"] == "eval-user"


async def _ask(target: AsgiTarget) -> None:
    async with target.open():
        await answer(target)


def test_a_target_is_named_after_its_app() -> None:
    assert to(starlette()).name == "Starlette"
    assert to(starlette(), name="mine").name == "mine"
