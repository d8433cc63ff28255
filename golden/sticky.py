"""The comments of a pull request and what is to be said → what to do next. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from golden.exchange import Row
from golden.marker import Marker, marker_of
from golden.payload import at

Mode = Literal["update", "new", "on-change"]


class Comment(NamedTuple):
    """A comment of golden's."""

    id: int
    marker: Marker


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be said.

    Attributes:
        marker: the first line of the comment.
        mode: `update` keeps one comment up to date, `new` writes one for each run, `on-change` updates one, and writes
            the first only where something is wrong.
        is_well: nothing is wrong.
    """

    marker: Marker
    mode: Mode
    is_well: bool


class Create(NamedTuple):
    """Write a comment."""


class Update(NamedTuple):
    """Write over this one."""

    id: int


class Delete(NamedTuple):
    """Take back this one, which golden has just written beside another."""

    id: int


class Leave(NamedTuple):
    """Write nothing: it is said already, in comment `id`; a later run said more; or there is nothing to say."""

    why: Literal["said", "newer", "quiet"]
    id: int | None = None


Action: TypeAlias = Create | Update | Delete | Leave


def own(comments: Iterable[Row], login: str, key: str) -> list[Comment]:
    """Returns golden's own comments, the oldest first: those by this author that begin with a marker of this key.

    Either alone will not do: anybody may quote a marker, and every workflow writes as the same author.
    """
    found = {
        number: marker
        for row in comments
        if isinstance(number := row.get("id"), int)
        and at(row, "user.login") == login
        and (at(row, "user.type") == "Bot" or not login.endswith("[bot]"))
        and (marker := marker_of(str(row.get("body")))) is not None
        and marker.key == key
    }
    return [Comment(number, found[number]) for number in sorted(found)]


def action(comments: Sequence[Comment], draft: Draft) -> Action:
    """Says what to do next.

    Args:
        comments: golden's own on the pull request, the oldest first.
        draft: what is to be said. Its commit is the pull request's head.
    """
    if draft.mode == "new":
        said = [comment.id for comment in comments if comment.marker == draft.marker]
        return Leave("said", said[0]) if said else Create()
    if not comments:
        return Leave("quiet") if draft.mode == "on-change" and draft.is_well else Create()
    kept, *others = comments
    is_of_head = kept.marker.sha == draft.marker.sha
    is_newer = is_of_head and kept.marker.age > draft.marker.age
    is_said = is_of_head and kept.marker.digest == draft.marker.digest
    if not is_newer and not is_said:
        return Update(kept.id)
    # Two runs wrote at once. Each takes back what it wrote itself: of another comment it cannot be as sure.
    for other in others:
        if other.marker == draft.marker:
            return Delete(other.id)
    return Leave("newer" if is_newer and not is_said else "said", kept.id)
