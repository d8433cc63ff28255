"""The first line of golden's comment on a pull request: whose it is, and which run it shows."""

import re
from dataclasses import dataclass
from datetime import datetime

KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""What may tell the comments of several suites or projects on one pull request apart."""

_LINE = re.compile(
    r"<!-- golden:report v1 key=(?P<key>[a-z0-9-]+) sha=(?P<sha>[0-9a-f]{40}|[0-9a-f]{64}) "
    r"run=(?P<run>[0-9]{1,19}) attempt=(?P<attempt>[0-9]{1,19}) started=(?P<started>[0-9T:.+-]{1,40}) "
    r"digest=(?P<digest>[0-9a-f]{16}) -->"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """An HTML comment, which no reader of the page sees.

    Attributes:
        key: tells several comments on one pull request apart.
        sha: the commit that was tested, in full.
        run: GITHUB_RUN_ID, 0 outside a workflow.
        attempt: GITHUB_RUN_ATTEMPT, likewise.
        started: when golden began to ask, with a time zone.
        digest: 16 hex digits of what the comment says, without what differs in each run.
    """

    key: str
    sha: str
    run: int
    attempt: int
    started: datetime
    digest: str

    @property
    def age(self) -> tuple[datetime, int, int]:
        """What orders runs of one commit: the later is the greater."""
        return self.started, self.run, self.attempt

    def __str__(self) -> str:
        """Returns the line."""
        return (
            f"<!-- golden:report v1 key={self.key} sha={self.sha} run={self.run} attempt={self.attempt} "
            f"started={self.started.isoformat()} digest={self.digest} -->"
        )


def marker_of(body: str) -> Marker | None:
    """Returns the marker that a comment begins with; None for any other line, however near."""
    hit = _LINE.fullmatch(body.partition("\n")[0].rstrip("\r"))
    if hit is None or not KEY.fullmatch(hit["key"]):
        return None
    try:
        started = datetime.fromisoformat(hit["started"])
    except ValueError:
        return None
    if started.tzinfo is None:
        return None
    return Marker(hit["key"], hit["sha"], int(hit["run"]), int(hit["attempt"]), started, hit["digest"])
