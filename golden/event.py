"""The event that started a workflow: its file → what it says of a commit, a pull request and a deployment.

Whoever may push, comment or deploy words these files: a value of another shape than GitHub's own counts as not given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from golden.errors import UsageError
from golden.payload import at, parse

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""A commit in full. A shorter one may name another commit tomorrow."""

REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
"""OWNER/NAME, of characters that change nothing in the path of a URL."""

_LARGEST = 32 * 1024**2  # GitHub's own bound is 25 MB
_LONGEST = 2_000  # characters of a text


@dataclass(frozen=True, slots=True)
class Event:
    """What an event says, as far as golden asks; "" or None where it does not say it.

    Attributes:
        kind: GITHUB_EVENT_NAME.
        action: what happened; the type that the sender chose, for a `repository_dispatch`.
        repository: OWNER/NAME in which the workflow runs.
        default_branch: of that.
        sha: the commit that was deployed, or the head of the pull request.
        ref: the branch of that, where the sender knows it: Vercel deploys commits.
        pull: the number of the pull request.
        state: of the deployment: `success`, `failure`, `error`, `pending` and more.
        environment: its name as the host spells it: `Preview`, `Preview – name` with an en dash, `preview`.
        deployment: its id.
        project: whose deployment it is, where the host says so.
        creator: the login of who reports it.
        said: the first line of the comment.
        author: the login of who wrote that; "" for an app.
        urls: where the preview may be, the best first. Nothing of them is to be trusted.
    """

    kind: str = ""
    action: str = ""
    repository: str = ""
    default_branch: str = ""
    sha: str | None = None
    ref: str = ""
    pull: int | None = None
    state: str = ""
    environment: str = ""
    deployment: str = ""
    project: str = ""
    creator: str = ""
    said: str = ""
    author: str = ""
    urls: tuple[str, ...] = ()


# Where each kind of event says it. The reference is the schemas of octokit/webhooks.
_PULL = {"sha": "pull_request.head.sha", "ref": "pull_request.head.ref", "pull": "pull_request.number"}
_PLACES: Mapping[str, Mapping[str, str]] = {
    "pull_request": _PULL,
    "pull_request_target": _PULL,
    "pull_request_review": _PULL,
    "pull_request_review_comment": _PULL,
    "workflow_run": {"sha": "workflow_run.head_sha", "ref": "workflow_run.head_branch"},
    "deployment_status": {
        "sha": "deployment.sha",
        "ref": "deployment.ref",
        "state": "deployment_status.state",
        "environment": "deployment.environment",
        "deployment": "deployment.id",
        "creator": "deployment_status.creator.login",
    },
    "repository_dispatch": {
        "sha": "client_payload.git.sha",
        "ref": "client_payload.git.ref",
        "state": "client_payload.state.type",
        "environment": "client_payload.environment",
        "deployment": "client_payload.id",
        "project": "client_payload.project.name",
        "creator": "sender.login",
    },
}


def read_event(environ: Mapping[str, str]) -> Event:
    """Reads the event that GITHUB_EVENT_PATH and GITHUB_EVENT_NAME name; outside a workflow there is none.

    Raises:
        UsageError: the file cannot be read, or holds no JSON object.
    """
    path = environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        return Event()
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"GITHUB_EVENT_PATH: cannot read {path}: {reason}") from None
    payload, fault = parse(data.decode(errors="replace")) if len(data) <= _LARGEST else (None, "too large")
    if not isinstance(payload, dict):
        raise UsageError(f"GITHUB_EVENT_PATH: {path} holds no event: {fault or 'no JSON object'}")
    return event(environ.get("GITHUB_EVENT_NAME", ""), payload)


def event(kind: str, payload: Mapping[str, object]) -> Event:
    """Returns what an event of this kind says; whatever else it holds is passed over."""
    found = {name: at(payload, path) for name, path in _PLACES.get(kind, {}).items()}
    if kind == "issue_comment" and isinstance(at(payload, "issue.pull_request"), dict):
        found["pull"] = at(payload, "issue.number")
    return Event(
        kind=kind,
        action=_text(payload.get("action")),
        repository=_matching(REPOSITORY, at(payload, "repository.full_name")) or "",
        default_branch=_text(at(payload, "repository.default_branch")),
        sha=_matching(SHA, found.get("sha")),
        ref=_text(found.get("ref")),
        pull=_number(found.get("pull")),
        state=_text(found.get("state")),
        environment=_text(found.get("environment")),
        deployment=_text(found.get("deployment")),
        project=_text(found.get("project")),
        creator=_text(found.get("creator")),
        said=_text(_first_line(at(payload, "comment.body"))),
        author=_text(at(payload, "comment.user.login")) if at(payload, "comment.user.type") == "User" else "",
        urls=tuple(filter(None, map(_text, _urls(kind, payload)))),
    )


def _urls(kind: str, payload: Mapping[str, object]) -> list[object]:
    if kind == "repository_dispatch":
        return [at(payload, "client_payload.url")]
    if kind == "deployment_status":
        # The old field is that of the preview only where there is one: before, it may be that of a log.
        is_there = at(payload, "deployment_status.state") == "success"
        old = [at(payload, "deployment_status.target_url")] if is_there else []
        return [at(payload, "deployment_status.environment_url"), *old]
    return []


def _first_line(value: object) -> object:
    return re.split(r"\r?\n", value, maxsplit=1)[0] if isinstance(value, str) else None


def _text(value: object) -> str:
    """A line of text; a number as its digits, as ids are numbers of one host and text of another."""
    number = _number(value)
    if number is not None:
        return str(number)
    return value if isinstance(value, str) and len(value) <= _LONGEST and value.isprintable() else ""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63 else None


def _matching(pattern: re.Pattern[str], value: object) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) else None
