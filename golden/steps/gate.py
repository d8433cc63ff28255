"""A comment `/eval SHA` on a pull request → that commit, where whoever wrote it may write to the repository.

The comment names the commit that was read: a job that took the newest would take what was pushed a second later.

Outputs: `sha` and `pull`, where the answer is yes.
"""

import re

from golden.errors import UsageError
from golden.event import read_event
from golden.exchange import Call, Calls, checked
from golden.payload import at
from golden.steps import Environ, NothingToDo, asked, lead, repository_of

_EVAL = re.compile(r"/eval ([0-9a-f]{40})")
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}")

# `author_association` says neither who may write nor who is a member in private. GitHub tells `maintain` as `write`.
_MAY_WRITE = ("admin", "write")


def gate(environ: Environ) -> dict[str, str]:
    """Decides; see the module.

    Raises:
        NothingToDo: the comment asks for nothing.
        UsageError: it asks for what its author may not have, or GitHub does not say.
    """
    event = read_event(environ)
    hit = _EVAL.fullmatch(event.said)
    if event.kind != "issue_comment" or event.action != "created" or event.pull is None or hit is None:
        raise NothingToDo("no new comment on a pull request that begins with `/eval` and a whole commit")
    if not _LOGIN.fullmatch(event.author):
        raise NothingToDo("whoever wrote the comment is no person")
    repository, pull, sha, login = repository_of(environ), event.pull, hit[1], event.author
    needed = "contents: read, pull-requests: read"
    refusal = asked(environ, lambda: refused(repository, pull, sha, login), "not evaluated", needed)
    if refusal:
        raise UsageError(f"not evaluated: {refusal}")
    return {"sha": sha, "pull": str(pull)}


def refused(repository: str, pull: int, sha: str, login: str) -> Calls[str]:
    """Says why a commit may not be evaluated, "" where it may.

    Raises:
        Refused: GitHub does not say.
    """
    answer = yield Call("GET", f"/repos/{repository}/collaborators/{login}/permission")
    if at(checked(answer).body, "permission") not in _MAY_WRITE:
        return f"{login} may not write to {repository}"
    now = checked((yield Call("GET", f"/repos/{repository}/pulls/{pull}"))).body
    if at(now, "state") != "open":
        return f"#{pull} is not open"
    if at(now, "head.sha") != sha:
        return f"{sha[:12]} is not the newest commit of #{pull}: read what came since, and name that"
    return ""


if __name__ == "__main__":
    lead(gate)
