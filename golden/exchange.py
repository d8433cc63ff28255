"""Requests to GitHub as values, what its answers mean, and when one is asked again.

What golden does there is written as generators that yield requests and are sent answers. They do no I/O, so tests can
have two of them meet in every order.
"""

import random
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from golden.payload import at
from golden.visible import excerpt

Result = TypeVar("Result")
Row = Mapping[str, object]


class Call(NamedTuple):
    """One request; its path is below the base URL of the API, and `/graphql` is wherever that is served."""

    method: str
    path: str
    body: object = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        status: 0 where nothing came.
        headers: names in lower case.
        body: JSON; None where it is none.
        lost: why nothing came.
        at: when, in seconds since the epoch.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    lost: str = ""
    at: float = 0.0


Calls: TypeAlias = Generator[Call, Answer, Result]

Kind = Literal["good", "again", "gone", "invalid", "locked", "refused"]


class Meaning(NamedTuple):
    """What an answer comes to.

    Attributes:
        kind: `again` may do better later; `gone` is not there, or not to be seen; `invalid` cannot be processed.
        why: in words, "" where it is good.
        pause_s: how long golden is to wait; None where nobody says.
    """

    kind: Kind
    why: str = ""
    pause_s: float | None = None


class Refused(Exception):
    """GitHub does not do what golden needs."""

    def __init__(self, meaning: Meaning) -> None:
        super().__init__(meaning.why)
        self.meaning = meaning


class Again(Refused):
    """It may do so later."""


_PERMISSION = (
    "the token may not do that: the job needs `permissions: pull-requests: write`, "
    "which GitHub never gives to a run for a fork's pull request or Dependabot's"
)

# What a refusal means: by its status and a part of its message, the first that fits.
_REFUSALS: tuple[tuple[int, str, Kind, str], ...] = (
    (401, "", "refused", "the token is not accepted: is it this job's, and not expired?"),
    (403, "locked", "locked", "the conversation is locked"),
    (403, "not accessible", "refused", _PERMISSION),
    (404, "", "gone", "there is no such thing, or the token may not see it: `permissions: pull-requests: write`"),
    (422, "", "invalid", "GitHub cannot process that"),
)

# After a refusal for too many writes that names no time: one block was measured at 72 s, with no header at all.
_SECONDARY_S = 75.0

_TRIES = 3

PATIENCE_S = 150.0
"""How long golden waits in all: a job has better things to do."""

_PER_PAGE = 100  # GitHub's own most


def meaning(answer: Answer) -> Meaning:
    """Says what an answer comes to."""
    status = answer.status
    if status == 204 or (200 <= status < 300 and answer.body is not None):
        return Meaning("good")
    if status == 0:
        return Meaning("again", f"no answer: {excerpt(answer.lost, 200)}")
    said = excerpt(_message(answer.body), 200)
    shown = f" ({status}{said and f': {said}'})"
    for known, words, kind, why in _REFUSALS:
        if status == known and words in said.lower():
            return Meaning(kind, f"{why}{shown}")
    if status in (403, 429) and (pause := _pause_s(answer, said.lower())) is not None:
        return Meaning("again", f"GitHub asks golden to wait {pause:.0f} s{shown}", pause)
    if status >= 500 or status == 408:
        return Meaning("again", f"GitHub is in trouble{shown}")
    if status < 400:
        where = excerpt(answer.headers.get("location", "").partition("?")[0], 200)
        return Meaning("refused", f"that is no API of GitHub's{shown}{where and f', it points to {where}'}")
    return Meaning("refused", f"GitHub refuses{shown}")


def checked(answer: Answer) -> Answer:
    """Returns an answer that is good.

    Raises:
        Refused: it is not; `Again` where it may be so later.
    """
    means = meaning(answer)
    if means.kind != "good":
        raise (Again if means.kind == "again" else Refused)(means)
    return answer


def rows(path: str, most: int) -> Calls[list[Row]]:
    """Reads a list, page after page.

    Args:
        path: of the list.
        most: pages.

    Raises:
        Refused: a page cannot be had.
    """
    found: list[Row] = []
    for page in range(1, most + 1):
        # Pages by their number: to follow a link is to have a token go where an answer says.
        answer = yield Call("GET", f"{path}{'&' if '?' in path else '?'}per_page={_PER_PAGE}&page={page}")
        here = checked(answer).body
        if not isinstance(here, list):
            raise Refused(Meaning("refused", f"that is no API of GitHub's: {path} is no list"))
        found += [row for row in here if isinstance(row, dict)]
        if len(here) < _PER_PAGE and 'rel="next"' not in answer.headers.get("link", ""):
            break
    return found


def settled(
    work: Callable[[], Calls[Result]],
    send: Callable[[Call], Answer],
    sleep: Callable[[float], object],
    patience_s: float = PATIENCE_S,
) -> Result:
    """Has GitHub do a piece of work: from its beginning again where it did not work out but may later.

    So a request that failed is never simply repeated: what it may have done all the same is seen first.

    Raises:
        Refused: it does not work out.
    """
    tries, waited = 1, 0.0
    while True:
        try:
            return _done(work(), send)
        except Again as again:
            pause = again.meaning.pause_s
            if pause is None:
                pause = 2**tries * random.uniform(0.5, 1.5)  # noqa: S311  # so that two runs do not go in step
            if tries == _TRIES or waited + pause > patience_s:
                raise
        sleep(pause)
        tries, waited = tries + 1, waited + pause


def _done(calls: Calls[Result], send: Callable[[Call], Answer]) -> Result:
    try:
        call = next(calls)
        while True:
            call = calls.send(send(call))
    except StopIteration as end:
        result: Result = end.value
        return result


def _message(body: object) -> str:
    """GitHub's own words: the message, and those of its parts."""
    parts = at(body, "errors")
    told = [at(body, "message"), *(at(part, "message") for part in parts if parts)] if isinstance(parts, list) else []
    return "; ".join(text for text in told or [at(body, "message")] if isinstance(text, str))


def _pause_s(answer: Answer, said: str) -> float | None:
    """How long a limit of GitHub's lasts, None where the refusal is for another reason."""
    after, reset = answer.headers.get("retry-after", ""), answer.headers.get("x-ratelimit-reset", "")
    if after.isdecimal():
        return float(after)
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(float(reset) - answer.at, 0.0) + 1
    return _SECONDARY_S if answer.status == 429 or "rate limit" in said or "abuse" in said else None
