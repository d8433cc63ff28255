"""GitHub's API, as far as golden asks it: a faithful fake, as state and a function, and as a server on loopback.

What it answers follows GitHub's own documentation and what people met: page sizes and `Link` headers, the bodies of
refusals, what of a commit's pull requests is listed, who may ask who it is.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from golden.exchange import Answer, Call, Calls, Result
from tests.servers import App, under_uvicorn

REPOSITORY = "acme/shop"
PREFIX = "/api/v3"
TOKEN = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"
HEAD = "a1" * 20
BOT = "github-actions[bot]"

_LONGEST = 65_536  # characters of a comment
_START = datetime(2026, 3, 1, tzinfo=UTC)
_HTML = b"<html><body><h1>502 Bad Gateway</h1>The server returned an invalid or incomplete response.</body></html>"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class Pull:
    """A pull request; `commits` are those it contains, its head the last of them; `is_fork`: they are a fork's."""

    number: int
    commits: list[str]
    state: str = "open"
    merged: bool = False
    is_fork: bool = False
    is_locked: bool = False
    base: str = REPOSITORY
    merge_sha: str | None = None

    def row(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "state": self.state,
            "draft": False,
            "locked": self.is_locked,
            "merged_at": "2026-02-01T00:00:00Z" if self.merged else None,
            "merge_commit_sha": self.merge_sha,
            "head": {"sha": self.commits[-1], "ref": "topic", "repo": {"full_name": "fork/shop"}},
            "base": {"ref": "main", "repo": {"full_name": self.base}},
        }


@dataclass(slots=True)
class Comment:
    id: int
    pull: int
    login: str
    body: str

    def row(self) -> dict[str, Any]:
        is_bot = self.login.endswith("[bot]")
        at = (_START + timedelta(seconds=self.id)).isoformat()
        return {
            "id": self.id,
            "html_url": f"https://github.com/{REPOSITORY}/pull/{self.pull}#issuecomment-{self.id}",
            "user": {"login": self.login, "type": "Bot" if is_bot else "User"},
            "created_at": at,
            "updated_at": at,
            "performed_via_github_app": {"slug": self.login.removesuffix("[bot]")} if is_bot else None,
            "body": self.body,
        }


Real = Callable[[], Reply]
Fault = Callable[[Real], Reply]
"""What happens in place of one request, or around it: it is given what GitHub would do."""


@dataclass(slots=True)
class GitHub:
    """One repository.

    Attributes:
        tokens: whose each token is.
        asked: every request, in order.
        writers: what each person may do here, as the API words it.
        artifacts: that runs keep.
        statuses: commit and what was said of it, in order.
        faults: each happens once, at the first request whose `METHOD path` it matches.
    """

    tokens: dict[str, str] = field(default_factory=lambda: {TOKEN: BOT})
    pulls: dict[int, Pull] = field(default_factory=lambda: {7: Pull(7, [HEAD])})
    comments: dict[int, Comment] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    next_id: int = 1001
    writers: dict[str, str] = field(default_factory=dict)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def said(self, body: str, login: str = BOT, pull: int = 7) -> int:
        """Has somebody comment."""
        number = self.next_id
        self.next_id += 1
        self.comments[number] = Comment(number, pull, login, body)
        return number

    def bodies(self, pull: int = 7) -> list[str]:
        return [comment.body for comment in self.comments.values() if comment.pull == pull]

    def at(self, request: str, *faults: Fault) -> None:
        self.faults += [(request, fault) for fault in faults]

    @property
    def writes(self) -> list[str]:
        """The methods of all requests that may have changed anything."""
        return [asked.method for asked in self.asked if asked.method != "GET" and asked.path != "/api/graphql"]

    def answer(self, asked: Asked) -> Reply:
        """Answers one request."""
        self.asked.append(asked)
        line = f"{asked.method} {asked.path}"
        fault = next((index for index, (pattern, _) in enumerate(self.faults) if re.search(pattern, line)), None)
        reply = self._real(asked) if fault is None else self.faults.pop(fault)[1](lambda: self._real(asked))
        return Reply(
            reply.status,
            reply.body,
            {
                "content-type": "application/json; charset=utf-8",
                "x-github-request-id": f"C0DE:{len(self.asked)}",
                "x-ratelimit-limit": "1000",
                "x-ratelimit-remaining": "900",
                "x-ratelimit-reset": str(int(time.time()) + 1800),
                **reply.headers,
            },
        )

    def _real(self, asked: Asked) -> Reply:
        if not asked.headers.get("user-agent"):
            return refusal(
                403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent"
            )
        login = self.tokens.get(asked.headers.get("authorization", "").removeprefix("Bearer "))
        if login is None:
            return refusal(401, "Bad credentials")
        url = urlsplit(asked.path)
        query = dict(parse_qsl(url.query))
        for pattern, handler in _ROUTES.items():
            if hit := re.fullmatch(pattern, f"{asked.method} {url.path}"):
                return handler(self, login, query, asked, *hit.groups())
        return refusal(404, "Not Found")


def json_reply(status: int, value: object, **headers: str) -> Reply:
    return Reply(status, json.dumps(value).encode(), {name.replace("_", "-"): text for name, text in headers.items()})


def refusal(status: int, message: str, **headers: str) -> Reply:
    shown = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return json_reply(status, shown, **headers)


def invalid(name: str, message: str) -> Reply:
    errors = [{"resource": "IssueComment", "code": "unprocessable", "field": name, "message": message}]
    return json_reply(422, {"message": "Validation Failed", "errors": errors, "status": "422"})


INTEGRATION = refusal(403, "Resource not accessible by integration")
SECONDARY = refusal(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
TOO_LONG = invalid("body", "body is too long (maximum is 65536 characters)")
BROKEN = Reply(502, _HTML, {"content-type": "text/html"})


def instead(reply: Reply) -> Fault:
    """GitHub does nothing, and says this."""
    return lambda real: reply


def done_but(reply: Reply) -> Fault:
    """GitHub does it, and says this."""

    def fault(real: Real) -> Reply:
        real()
        return reply

    return fault


def before(act: Callable[[], object]) -> Fault:
    """Something happens just before GitHub does it."""

    def fault(real: Real) -> Reply:
        act()
        return real()

    return fault


def _paged(rows: list[dict[str, Any]], query: Mapping[str, str], asked: Asked) -> Reply:
    size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
    last = max(1, -(-len(rows) // size))
    base = f"https://api.github.com{urlsplit(asked.path).path}?per_page={size}&page="
    ends = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    there = {"prev": page > 1, "next": page < last, "last": page < last, "first": page > 1}
    link = ", ".join(f'<{base}{number}>; rel="{name}"' for name, number in ends.items() if there[name])
    return json_reply(200, rows[(page - 1) * size : page * size], **({"link": link} if link else {}))


def _user(github: GitHub, login: str, query: Mapping[str, str], asked: Asked) -> Reply:
    return INTEGRATION if login.endswith("[bot]") else json_reply(200, {"login": login, "type": "User"})


def _graphql(github: GitHub, login: str, query: Mapping[str, str], asked: Asked) -> Reply:
    assert asked.body == {"query": "{viewer{login}}"}
    return json_reply(200, {"data": {"viewer": {"login": login}}})


def _pulls_of(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, sha: str) -> Reply:
    having = [pull for pull in github.pulls.values() if sha in pull.commits]
    if not having:
        return refusal(422, f"No commit found for SHA: {sha}")
    # Not those of a fork's commits, and not those that were closed unmerged.
    listed = [pull for pull in having if not pull.is_fork and (pull.state == "open" or pull.merged)]
    return _paged([pull.row() for pull in listed], query, asked)


def _pulls(github: GitHub, login: str, query: Mapping[str, str], asked: Asked) -> Reply:
    listed = [pull for pull in github.pulls.values() if pull.state == query.get("state", "open")]
    return _paged([pull.row() for pull in reversed(listed)], query, asked)


def _pull(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, number: str) -> Reply:
    pull = github.pulls.get(int(number))
    return json_reply(200, pull.row()) if pull else refusal(404, "Not Found")


def _comments(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, number: str) -> Reply:
    if int(number) not in github.pulls:
        return refusal(404, "Not Found")
    listed = [github.comments[key] for key in sorted(github.comments)]
    return _paged([comment.row() for comment in listed if comment.pull == int(number)], query, asked)


def _create(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, number: str) -> Reply:
    if github.pulls[int(number)].is_locked:
        return refusal(403, "Unable to create comment because issue is locked.")
    if len(asked.body["body"]) > _LONGEST:
        return TOO_LONG
    key = github.said(asked.body["body"], login, int(number))
    return json_reply(201, github.comments[key].row())


def _change(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, number: str) -> Reply:
    comment = github.comments.get(int(number))
    if comment is None:
        return refusal(404, "Not Found")
    if comment.login != login:
        return INTEGRATION
    if asked.method == "DELETE":
        del github.comments[comment.id]
        return Reply(204)
    if len(asked.body["body"]) > _LONGEST:
        return TOO_LONG
    comment.body = asked.body["body"]
    return json_reply(200, comment.row())


def _permission(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, person: str) -> Reply:
    if person not in github.writers:
        return refusal(404, f"{person} is not a user")
    return json_reply(200, {"permission": github.writers[person], "user": {"login": person, "type": "User"}})


def _artifacts(github: GitHub, login: str, query: Mapping[str, str], asked: Asked) -> Reply:
    listed = [one for one in github.artifacts if one["name"] == query.get("name", one["name"])]
    return json_reply(200, {"total_count": len(listed), "artifacts": listed})


def _status(github: GitHub, login: str, query: Mapping[str, str], asked: Asked, sha: str) -> Reply:
    github.statuses.append((sha, asked.body))
    return json_reply(201, {"id": len(github.statuses), **asked.body})


_REPO = f"{PREFIX}/repos/{REPOSITORY}"
_ROUTES: Mapping[str, Callable[..., Reply]] = {
    f"GET {PREFIX}/user": _user,
    "POST /api/graphql": _graphql,
    f"GET {_REPO}/commits/([0-9a-f]+)/pulls": _pulls_of,
    f"GET {_REPO}/pulls": _pulls,
    rf"GET {_REPO}/pulls/(\d+)": _pull,
    rf"GET {_REPO}/issues/(\d+)/comments": _comments,
    rf"POST {_REPO}/issues/(\d+)/comments": _create,
    rf"(?:PATCH|DELETE) {_REPO}/issues/comments/(\d+)": _change,
    rf"GET {_REPO}/collaborators/([\w-]+)/permission": _permission,
    f"GET {_REPO}/actions/artifacts": _artifacts,
    f"POST {_REPO}/statuses/([0-9a-f]+)": _status,
}


def ask(github: GitHub, call: Call, token: str = TOKEN) -> Answer:
    """One request without a network."""
    path = "/api/graphql" if call.path == "/graphql" else PREFIX + call.path
    headers = {"user-agent": "golden", "authorization": f"Bearer {token}"}
    body = None if call.body is None else json.loads(json.dumps(call.body))
    reply = github.answer(Asked(call.method, path, headers, body))
    value = json.loads(reply.body) if reply.body and "json" in reply.headers["content-type"] else None
    return Answer(reply.status, reply.headers, value)


def done(github: GitHub, calls: Calls[Result]) -> Result:
    """What these requests come to."""
    call = next(calls)
    try:
        while True:
            call = calls.send(ask(github, call))
    except StopIteration as end:
        result: Result = end.value
        return result


def app_of(current: Callable[[], GitHub]) -> App:
    """An ASGI app of whichever GitHub is current."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        data = b""
        while True:
            message = await receive()
            data += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        query = scope["query_string"].decode()
        path = scope["path"] + (f"?{query}" if query else "")
        reply = current().answer(Asked(scope["method"], path, headers, json.loads(data) if data else None))
        length = {} if reply.status == 204 else {"content-length": str(len(reply.body))}
        pairs = [(name.encode(), value.encode()) for name, value in {**reply.headers, **length}.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": pairs})
        await send({"type": "http.response.body", "body": reply.body})

    return app


class Served:
    """A GitHub at an address; each test sets its own."""

    def __init__(self) -> None:
        self.github = GitHub()
        self.url = ""

    @contextmanager
    def running(self) -> Iterator[None]:
        with under_uvicorn(app_of(lambda: self.github)) as url:
            self.url = url
            yield
