"""A draft → the comment on a pull request: look, decide, act, and look again until nothing is left to do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from golden.exchange import Answer, Call, Calls, Meaning, Refused, checked, meaning, rows
from golden.marker import Marker
from golden.payload import at
from golden.pulls import is_head
from golden.sticky import Comment, Create, Delete, Draft, Leave, Update, action, own

# GitHub takes 2,500 comments on one pull request.
_PAGES = 30

# More than any two runs need that meet on one pull request.
_STEPS = 8

# Who writes with the token that Actions makes for each job.
_ACTIONS = "github-actions[bot]"


class Placed(NamedTuple):
    """What became of a draft.

    Attributes:
        what: a comment was written, or written over; or nothing was, as it is said already, a later run said more,
            nothing is to be said, or the pull request has another head by now.
        comment: its id, where there is one.
        head: of the pull request, where that is another.
    """

    what: Literal["created", "updated", "said", "newer", "quiet", "outdated"]
    comment: int | None = None
    head: str = ""


@dataclass(slots=True)
class Known:
    """What is known of comments beside what GitHub lists: it may list late.

    Attributes:
        written: those that were, in this order.
        gone: the ids of those that are not there any more.
        doing: what was tried last.
    """

    written: dict[int, Marker] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    doing: Literal["created", "updated"] | None = None


def author() -> Calls[str]:
    """Returns the login that the token writes as.

    The tokens of Actions and of Apps may not ask that over REST, but over GraphQL.

    Raises:
        Refused: the token is not accepted, or GitHub does not answer.
    """
    answer = yield Call("GET", "/user")
    if answer.status == 401 or meaning(answer).kind in ("good", "again"):
        login = at(checked(answer).body, "login")
    else:
        answer = yield Call("POST", "/graphql", {"query": "{viewer{login}}"})
        if meaning(answer).kind == "again":
            checked(answer)
        login = at(answer.body, "data.viewer.login")
    return login if isinstance(login, str) and login else _ACTIONS


def placed(repository: str, pull: int, draft: Draft, bodies: Sequence[str], login: str, known: Known) -> Calls[Placed]:
    """Brings a pull request's comment up to date.

    Args:
        repository: OWNER/NAME.
        pull: the number of the pull request.
        draft: what is to be said.
        bodies: the whole comment, then shorter forms of it for where GitHub does not take that.
        login: whose comments are golden's.
        known: what earlier tries learned; this one adds to it.

    Raises:
        Refused: GitHub does not do it.
    """
    comments = f"/repos/{repository}/issues/{pull}/comments"
    forms = [*bodies]
    for _ in range(_STEPS):
        listed = yield from rows(comments, _PAGES)
        # The last thing before anything is written.
        now = checked((yield Call("GET", f"/repos/{repository}/pulls/{pull}"))).body
        if not is_head(now, draft.marker.sha):
            if known.written and known.doing:
                return Placed(known.doing, [*known.written][-1])
            return Placed("outdated", head=str(at(now, "head.sha")))
        step = action(_there(own(listed, login, draft.marker.key), known), draft)
        if isinstance(step, Leave):
            return Placed(known.doing if known.doing and step.why == "said" else step.why, step.id)
        if not isinstance(step, Delete):
            known.doing = "created" if isinstance(step, Create) else "updated"
        answer = yield _call(step, repository, comments, forms[0])
        kind = meaning(answer).kind
        if kind == "invalid" and len(forms) > 1:
            forms.pop(0)
        elif kind == "gone" and not isinstance(step, Create):
            known.gone.add(step.id)  # somebody else took it away
        else:
            _learn(known, step, checked(answer), draft.marker)
    raise Refused(Meaning("refused", "the comment changes faster than golden can look"))


def _call(step: Create | Update | Delete, repository: str, comments: str, body: str) -> Call:
    if isinstance(step, Create):
        return Call("POST", comments, {"body": body})
    comment = f"/repos/{repository}/issues/comments/{step.id}"
    return Call("DELETE", comment) if isinstance(step, Delete) else Call("PATCH", comment, {"body": body})


def _learn(known: Known, step: Create | Update | Delete, answer: Answer, marker: Marker) -> None:
    if isinstance(step, Delete):
        known.gone.add(step.id)
        return
    number = at(answer.body, "id") if isinstance(step, Create) else step.id
    if not isinstance(number, int):
        raise Refused(Meaning("refused", "that is no API of GitHub's: a comment has no id"))
    known.written[number] = marker


def _there(listed: Iterable[Comment], known: Known) -> list[Comment]:
    markers = {**known.written, **{comment.id: comment.marker for comment in listed}}
    return [Comment(number, markers[number]) for number in sorted(markers.keys() - known.gone)]
