"""The demo agent over HTTP: ``POST /agent/chat`` with a message and, for more than one turn, a session id."""

import json
import os

import jwt
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from golden.demo.agent import run_agent_turn

SECRETS = ("EVAL_JWT_SECRET", "JWT_SECRET")
_SCOPE = "evals"
_HMAC_KEY = 32  # bytes


def secret() -> str | None:
    """What tokens are signed with: the first of ``SECRETS`` that is set; None where no token is asked for."""
    return next(filter(None, (os.environ.get(name, "").strip() for name in SECRETS)), None)


async def chat(request: Request) -> Response:
    """Stream the answer to ``{"message": …, "session_id": …}``; 401, 403 and 422 say what was wrong as JSON."""
    if (refusal := _refusal(request.headers.get("authorization", ""))) is not None:
        return refusal
    try:
        body = json.loads(await request.body())
        message, session_id = body["message"], body.get("session_id")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return _said(422, 'the body must be a JSON object with "message"')
    if not isinstance(message, str) or not message.strip():
        return _said(422, '"message" must be text')
    if not isinstance(session_id, str | None):
        return _said(422, '"session_id" must be text')
    events = await run_in_threadpool(run_agent_turn, message, session_id=session_id)
    return EventSourceResponse(events, sep="\n")


def _refusal(authorization: str) -> Response | None:
    key = secret()
    if key is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return _said(401, "a bearer token is needed")
    try:
        claims = jwt.decode(token.strip(), _padded(key), algorithms=["HS256"], options={"require": ["exp"]})
    except jwt.InvalidTokenError as invalid:
        return _said(401, f"the token is not valid: {invalid}")
    scope = claims.get("scope")
    granted = scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else []
    return None if _SCOPE in granted else _said(403, f'the token\'s scope must contain "{_SCOPE}"')


def _padded(key: str) -> bytes:
    """The same HMAC key (RFC 2104 pads with zeros too), long enough that PyJWT does not warn of a short one."""
    return key.encode().ljust(_HMAC_KEY, b"\0")


def _said(status: int, error: str) -> Response:
    headers: dict[str, str] = {"www-authenticate": "Bearer"} if status == 401 else {}
    return JSONResponse({"error": error}, status, headers)


app = Starlette(routes=[Route("/agent/chat", chat, methods=["POST"])])
