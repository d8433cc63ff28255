"""`golden comment`: what a run found, in one comment on the pull request that it is about.

It advises: whatever GitHub answers, the pull request is not held up.
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from golden.change import Comparison
from golden.compare import compare, regression_code
from golden.errors import UsageError
from golden.event import REPOSITORY, SHA, Event, read_event
from golden.exchange import Refused
from golden.github import GitHub
from golden.marker import KEY, Marker
from golden.placing import Known, author, placed
from golden.pulls import NotThere, pulls_of
from golden.redaction import Secrets
from golden.reports.markdown import COMMENT, SMALLEST, WHOLE, Frame, body
from golden.result import Quantiles, RunResult
from golden.result_file import read_results
from golden.sticky import Draft, Mode
from golden.targeting import known_secrets
from golden.visible import unheeded, visible
from golden.workflow import command, summarise

_WITHOUT = "no comment: GITHUB_TOKEN is not set; in a workflow, the step's `env` sets it to `${{ github.token }}`"

# How many pull requests with one head are commented on.
_MOST = 3

_SERVER = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?")
_NUMBER = re.compile(r"[0-9]{1,19}")
_RUN = ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT")

# What is said of where a draft was placed, or was not.
_TOLD = {
    "created": "commented on {pull}: {link}",
    "updated": "updated the comment on {pull}: {link}",
    "said": "the comment on {pull} says so already: {link}",
    "newer": "left the comment on {pull} alone, a later run of the same commit wrote it: {link}",
    "quiet": "no comment on {pull}: nothing is wrong, and there is none to bring up to date",
    "outdated": "no comment on {pull}, the results are outdated: they are of {sha}, its head is {head} by now",
}


class Asked(NamedTuple):
    """The command's argument and options (contract 2)."""

    results: str
    pull: int | None = None
    sha: str | None = None
    repository: str | None = None
    key: str = "golden"
    mode: Mode = "update"
    baseline: str | None = None
    dry_run: bool = False
    strict: bool = False


class Where(NamedTuple):
    """What results are about: a commit, its repository, "" where nobody says, and its pull request where known."""

    repository: str
    sha: str
    pull: int | None


class Outcome(NamedTuple):
    """What came of it, on one pull request or on all.

    Attributes:
        text: what is said of it.
        level: how loud; None for a plain line.
        is_shown: the pull request shows what there is to be shown.
        is_refused: GitHub did not do what it was asked.
        head: of the pull request, where it moved on.
    """

    text: str
    level: str | None = None
    is_shown: bool = False
    is_refused: bool = False
    head: str = ""


def comment(asked: Asked, environ: Mapping[str, str], sleep: Callable[[float], object] = time.sleep) -> int:
    """Posts or updates the comment, and returns the exit code: 0, or 1 where GitHub refused and that is to count.

    Raises:
        UsageError: an option, a file or a variable that cannot be obeyed. Nothing was sent.
    """
    token = (environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or "").strip()
    secrets = known_secrets()
    secrets.add(token)
    run = _without(secrets, read_results(asked.results))
    changed = compare(_without(secrets, read_results(asked.baseline)), run) if asked.baseline else run.comparison
    event = read_event(environ)
    where = whereabouts(asked, event, environ, run)
    marker = Marker(
        key=asked.key,
        sha=where.sha,
        run=_number(environ, _RUN[0]),
        attempt=_number(environ, _RUN[1]),
        started=_started(asked.results, run),
        digest=_digest(run, changed),
    )
    draft = Draft(marker, asked.mode, is_well=(regression_code(run, changed) if changed else run.exit_code) == 0)
    # Of other events nobody asked for an evaluation; of this one, whoever the gate let through.
    asked_by = event.author if event.kind == "issue_comment" else ""
    frame = Frame(str(marker), advisory=True, commit=where.sha, url=_run_url(environ), asked_by=asked_by)
    bodies = [body(run, changed, budget=budget, frame=frame) for budget in (COMMENT, SMALLEST)]
    if asked.dry_run:
        with suppress(BrokenPipeError):  # whoever read it has read enough
            click.echo(bodies[0], nl=False)
        return 0
    if not where.repository:
        raise UsageError("whose pull request is it? GITHUB_REPOSITORY does not say", hint="give --repo OWNER/NAME")
    with GitHub(token, environ, secrets.cover, sleep) as github:
        outcomes = [*_outcomes(where, draft, bodies, github, _server(environ))] if token else [_refused(_WITHOUT)]
    _tell(outcomes, environ)
    hidden = [outcome for outcome in outcomes if not outcome.is_shown]
    if hidden and (summary := environ.get("GITHUB_STEP_SUMMARY")):
        whole = WHOLE._replace(advisory=True, commit=where.sha, url=frame.url, asked_by=asked_by, head=hidden[0].head)
        for problem in summarise(Path(summary), run, changed, whole):
            _say(f"warning: {problem}", err=True)
    return int(asked.strict and any(outcome.is_refused for outcome in outcomes))


def whereabouts(asked: Asked, event: Event, environ: Mapping[str, str], run: RunResult) -> Where:
    """Says what the results are about: by the options, else by the event, else by the results themselves.

    Raises:
        UsageError: an option is none of its kind, or nobody names a commit.
    """
    if not KEY.fullmatch(asked.key):
        raise UsageError(
            f"--key {asked.key!r}: expected a-z, 0-9 and single `-` between", hint="for example support-agent"
        )
    if asked.pull is not None and asked.pull < 1:
        raise UsageError(f"--pr takes the number of a pull request, not {asked.pull}")
    if asked.repository is not None and not REPOSITORY.fullmatch(asked.repository):
        raise UsageError(f"--repo takes OWNER/NAME, not {asked.repository!r}")
    if asked.sha is not None and not SHA.fullmatch(asked.sha.lower()):
        raise UsageError(f"--sha takes a commit in full, 40 hex digits, not {asked.sha!r}")
    around = environ.get("GITHUB_REPOSITORY", "")
    repository = asked.repository or event.repository or (around if REPOSITORY.fullmatch(around) else "")
    # An event speaks of pull requests of its own repository, and of its own commit.
    is_here = repository.lower() == event.repository.lower()
    pull = asked.pull or (event.pull if is_here else None)
    by_event = event.sha if is_here and event.pull in (None, pull) else None
    by_results = run.run.git.sha if run.run.git and SHA.fullmatch(run.run.git.sha) else None
    sha = asked.sha.lower() if asked.sha else by_event or by_results
    if sha is None:
        raise UsageError("which commit was asked? neither the event nor the results say", hint="give --sha SHA")
    return Where(repository, sha, pull)


def _outcomes(where: Where, draft: Draft, bodies: Sequence[str], github: GitHub, server: str) -> Iterator[Outcome]:
    """Finds the pull requests, and brings the comment of each up to date."""
    repository, sha = where.repository, where.sha
    try:
        login = github.done(author)
        pulls = [where.pull] if where.pull else github.done(partial(pulls_of, repository, sha))
    except NotThere:
        yield Outcome(f"no comment: no open pull request of {repository} has {sha[:7]} as its head", "notice")
        return
    except Refused as refused:
        yield _refused(f"no comment: {refused}", refused)
        return
    for pull in pulls[:_MOST]:
        name = f"{repository}#{pull}"
        try:
            done = github.done(partial(placed, repository, pull, draft, bodies, login, Known()))
        except Refused as refused:
            yield _refused(f"no comment on {name}: {refused}", refused)
            continue
        link = f"{server}/{repository}/pull/{pull}#issuecomment-{done.comment}"
        text = _TOLD[done.what].format(pull=name, link=link, sha=sha[:7], head=done.head[:7])
        is_outdated = done.what == "outdated"
        yield Outcome(text, "notice" if is_outdated else None, is_shown=not is_outdated, head=done.head)
    if len(pulls) > _MOST:
        more = f"{len(pulls) - _MOST} more of the pull requests of {repository} with that head"
        yield Outcome(f"no comment on {more}", "notice")


def _refused(text: str, refused: Refused | None = None) -> Outcome:
    is_locked = refused is not None and refused.meaning.kind == "locked"
    return Outcome(text, "notice" if is_locked else "warning", is_refused=True)


def _tell(outcomes: Sequence[Outcome], environ: Mapping[str, str]) -> None:
    """Says what came of it: of each loudness one message, however many pull requests there are."""
    for level in ("warning", "notice", None):
        text = "; ".join(outcome.text for outcome in outcomes if outcome.level == level)
        if text and level and environ.get("GITHUB_ACTIONS") == "true":
            click.echo(command(level, text, title="golden"))
        elif text:
            _say(f"{'warning' if level == 'warning' else 'golden'}: {text}", err=level == "warning")


def _say(text: str, *, err: bool) -> None:
    with suppress(OSError):  # nobody reads it
        click.echo(unheeded(visible(text)), err=err)


def _without(secrets: Secrets, run: RunResult) -> RunResult:
    """The results without what the environment keeps secret here: the token was unknown to whoever wrote them.

    What golden itself has words for stays: a secret that happens to be one of them is told by no results.
    """
    own = {*_words(RunResult.model_json_schema())}

    def covered(value: object) -> object:
        if isinstance(value, str):
            return value if value in own else secrets.cover(value)
        if isinstance(value, (list, tuple)):
            return [covered(one) for one in value]
        return {name: covered(one) for name, one in value.items()} if isinstance(value, dict) else value

    hidden = RunResult.model_validate(covered(run.model_dump(by_alias=True)))
    return hidden.model_copy(update={"run": hidden.run.model_copy(update={"started_at": run.run.started_at})})


def _words(schema: object) -> Iterator[str]:
    """What texts of a JSON Schema are one of: any other would not be read."""
    if isinstance(schema, dict):
        yield from (word for word in (*schema.get("enum", ()), schema.get("const")) if isinstance(word, str))
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _words(part)


def _digest(run: RunResult, changed: Comparison | None) -> str:
    """Of what a comment says, without what is never twice the same: for that alone no comment is written anew."""
    none = Quantiles(p50=None, p95=None)
    summary = run.summary.model_copy(update={"usage": None, "first_token_s": none, "total_s": none})
    steady = run.model_copy(update={"run": run.run.model_copy(update={"duration_s": 0.0}), "summary": summary})
    return hashlib.sha256(body(steady, changed, budget=COMMENT, frame=Frame()).encode()).hexdigest()[:16]


def _started(results: str, run: RunResult) -> datetime:
    """When the run began. A date to come is none: no later run could ever write over it."""
    try:
        started = datetime.fromisoformat(run.run.started_at)
        started = started.astimezone(UTC) if started.tzinfo else started.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{results}: run.started_at: no date: {run.run.started_at!r}") from None
    return min(started, datetime.now(UTC))


def _number(environ: Mapping[str, str], name: str) -> int:
    value = environ.get(name, "")
    return int(value) if _NUMBER.fullmatch(value) else 0


def _server(environ: Mapping[str, str]) -> str:
    value = environ.get("GITHUB_SERVER_URL", "")
    return value if _SERVER.fullmatch(value) else "https://github.com"


def _run_url(environ: Mapping[str, str]) -> str:
    """Where the run of the workflow is seen, "" outside one."""
    repository, run, attempt = (environ.get("GITHUB_REPOSITORY", ""), *map(partial(_number, environ), _RUN))
    if not (REPOSITORY.fullmatch(repository) and run):
        return ""
    return f"{_server(environ)}/{repository}/actions/runs/{run}{f'/attempts/{attempt}' if attempt > 1 else ''}"
