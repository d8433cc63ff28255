"""A commit → the open pull requests whose head it is."""

from collections.abc import Iterable

from golden.exchange import Again, Answer, Call, Calls, Meaning, Row, checked, meaning, rows
from golden.payload import at

# Of the list of open pull requests, the last changed first.
_PAGES = 3

# GitHub may know a commit a few seconds before it knows whose it is.
_LAG_S = 5.0


class NotThere(Again):
    """No open pull request has the commit as its head, or GitHub does not know it yet."""

    def __init__(self) -> None:
        super().__init__(Meaning("again", "no open pull request has that head", _LAG_S))


def heads(pulls: Iterable[Row], repository: str, sha: str) -> list[int]:
    """Returns the numbers of those that are open, in this repository, and have this commit as their head.

    GitHub lists more: those that contain the commit further down, those that were merged, those of other repositories.
    """
    return sorted(
        number
        for pull in pulls
        if isinstance(number := pull.get("number"), int)
        and pull.get("state") == "open"
        and str(at(pull, "base.repo.full_name")).lower() == repository.lower()
        and is_head(pull, sha)
    )


def is_head(pull: object, sha: str) -> bool:
    """Tells whether a commit is the newest of a pull request, or what GitHub merged of it to try it out."""
    return sha in (at(pull, "head.sha"), at(pull, "merge_commit_sha"))


def pulls_of(repository: str, sha: str) -> Calls[list[int]]:
    """Finds the open pull requests of a commit.

    Raises:
        NotThere: there is none.
        Refused: GitHub does not say.
    """
    answer = yield Call("GET", f"/repos/{repository}/commits/{sha}/pulls?per_page=100")
    found = heads(_listed(answer), repository, sha)
    if not found:
        # For the commit of a fork, GitHub says that there is none.
        path = f"/repos/{repository}/pulls?state=open&sort=updated&direction=desc"
        found = heads((yield from rows(path, _PAGES)), repository, sha)
    if not found:
        raise NotThere
    return found


def _listed(answer: Answer) -> list[Row]:
    if meaning(answer).kind in ("gone", "invalid"):  # 422 is a commit that this repository does not have
        return []
    body = checked(answer).body
    return [row for row in body if isinstance(row, dict)] if isinstance(body, list) else []
