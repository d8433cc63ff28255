"""The body of every command: the one module that knows everybody."""

import asyncio
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import IO, cast

import click

from golden import dialects, loading, reports, targets
from golden.engine import Job, Observer, Plan, question, run_jobs
from golden.errors import GoldenError, UsageError, did_you_mean
from golden.headers import AUTHORISING, header_name, headers, without_secrets
from golden.interrupts import Interrupts
from golden.output import Output, standard_output
from golden.payload import dump
from golden.reader import Bounds
from golden.redaction import VARIABLES, Secrets
from golden.reports import Report, View
from golden.result import CaseResult, GitResult, RunResult
from golden.settings import Settings, chosen_target, settings
from golden.suite import Suite, unmet
from golden.suite_file import load_suites
from golden.suite_schema import suite_schema
from golden.targets import Factory, Spec
from golden.visible import visible
from golden.watch import Stop
from golden.wire import Post, Request, Target, address

_SUITE = "golden_questions.json"

# The option that names a target → the file of its kind.
_TARGETS = {"agent": "call", "asgi": "asgi", "base_url": "http"}


def run(suites: Sequence[str], given: Mapping[str, object], config: Path | None) -> int:
    """`golden run`: asks the selected cases, writes the reports, and returns the exit code."""
    options = _settings(suites, given, config)
    jobs = _selected(_suites(options), options.case, options.tag, options.match)
    if options.dry_run:
        _say("\n".join(_preview(jobs, options)))
        return 0
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        # In this order: an output that cannot be written is found before the agent's code is loaded.
        outputs = _outputs(options, [job.suite for job in jobs], stack)
        report = reports.load("json" if options.json_out == "-" else "text")
        stdout = stack.enter_context(standard_output())
        secrets = Secrets()
        for name in VARIABLES:
            secrets.add(os.environ.get(name, "").strip())
        stack.enter_context(_covered(secrets))
        target = _target(options, secrets) if any(job.skip is None for job in jobs) else None
        observe = stack.enter_context(_progress(len(jobs), options))
        unwritten: list[str] = []

        def finish(result: RunResult) -> None:
            # Standard output first, and each of them whatever becomes of the others.
            unwritten.extend(_print(report, result, options, stdout))
            for kind, output in outputs:
                try:
                    output.write(kind.render(result, View()))
                except UsageError as error:
                    unwritten.append(error.message)

        result = _complete(jobs, target, _plan(options, secrets), observe, finish, interrupts)
    for problem in unwritten:
        click.echo(f"error: {problem}", err=True)
    return 128 + interrupts.caught if interrupts.caught else result.exit_code or (2 if unwritten else 0)


def check(suites: Sequence[str], config: Path | None) -> int:
    """`golden check`: validates suites and returns the exit code."""
    options = _settings(suites, {}, config)
    for suite in _suites(options):
        _say(f"{suite.path}: {len(suite.cases)} cases")
    return 0


def schema(kind: str) -> int:
    """`golden schema`: prints a JSON Schema."""
    shown = suite_schema() if kind == "suite" else RunResult.model_json_schema(by_alias=True)
    _say(json.dumps(shown, indent=2))
    return 0


def _settings(suites: Sequence[str], given: Mapping[str, object], config: Path | None) -> Settings:
    said = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None and value != ()
    }
    named = [*suites, *cast("list[str]", said.pop("golden", []))]
    return settings({**said, "suites": named} if named else said, config)


def _suites(options: Settings) -> list[Suite]:
    return load_suites(options.suites or [_SUITE], follow_links=not options.isolated)


def _selected(suites: Sequence[Suite], ids: Sequence[str], tags: Sequence[str], texts: Sequence[str]) -> list[Job]:
    """The cases that every option given lets through, in suite order.

    Raises:
        UsageError: there are none.
    """
    needles = [text.casefold() for text in texts]
    jobs = []
    for suite in suites:
        unset = unmet(suite, os.environ)
        if unset:
            click.echo(f"skipping evals: {', '.join(unset)} not set ({suite.path})", err=True)
        for case in suite.cases:
            words = [text.casefold() for text in (case.id, case.question, *case.tags)]
            if (
                (not ids or case.id in ids)
                and (not tags or set(tags) & set(case.tags))
                and (not needles or any(needle in word for needle in needles for word in words))
            ):
                jobs.append(Job(suite, case, f"{', '.join(unset)} not set" if unset else case.skip))
    known = {case.id for suite in suites for case in suite.cases}
    for name in ids:
        if name not in known:
            click.echo(f"warning: no case is called {name!r}; {did_you_mean(name, known)}".removesuffix("; "), err=True)
    if not jobs:
        raise UsageError("no case is selected", hint="--case, --tag and --match must all let a case through")
    return jobs


def _preview(jobs: Sequence[Job], options: Settings) -> Iterator[str]:
    """What a run would send, secrets left out: needs neither the agent nor a secret."""
    asked = [job for job in jobs if job.skip is None]
    kind, where = chosen_target(options) if asked else ("", "")
    post = _post(options)
    if kind == "base_url":
        loading.load(targets, "http", "HttpTarget")(where, post=post)  # refuses what a run would refuse
    for job in jobs:
        if job.skip is not None:
            yield f"{visible(job.case.id)}: skipped: {visible(job.skip)}"
            continue
        yield f"{visible(job.case.id)}: {visible(job.case.question)}"
        if kind == "agent":
            yield f"  call {where}"
            continue
        sent = post(question(job, Plan(model=options.model)))
        yield f"  POST {address(where, sent.path) if kind == 'base_url' else f'{sent.path} of {where}'}"
        yield from (f"  {without_secrets(header)}" for header in options.header)
        yield f"  {dump(sent.body)}"


def _say(text: str) -> None:
    with suppress(BrokenPipeError):  # whoever read it has read enough
        click.echo(text)


def _post(options: Settings) -> Callable[[Request], Post]:
    # `auto` only reads: questions are posted as `native` has them (contract 6).
    request = dialects.load("native" if options.dialect == "auto" else options.dialect).request
    path = options.path
    return request if path is None else lambda asked: replace(request(asked), path=path)


def _target(options: Settings, secrets: Secrets) -> Target:
    kind, where = chosen_target(options)
    if options.folder is not None and options.folder not in sys.path:
        sys.path.append(options.folder)  # modules in a configuration are relative to it
    factory = cast("Factory", loading.load(targets, _TARGETS[kind], "TARGET"))
    names = {header_name(header) for header in options.header}
    return factory(
        Spec(
            where=where,
            post=_post(options),
            headers=headers(options.header, os.environ, secrets),
            token=options.auth and not names & AUTHORISING,
            allow_hosts=tuple(options.allow_host),
            environ=dict(os.environ),
            secrets=secrets,
        )
    )


def _plan(options: Settings, secrets: Secrets) -> Plan:
    return Plan(
        dialect=options.dialect,
        model=options.model,
        concurrency=options.concurrency,
        timeout_s=options.timeout,
        idle_timeout_s=options.idle_timeout,
        suite_timeout_s=options.suite_timeout,
        bail=options.bail,
        bounds=Bounds(options.max_answer, options.max_event),
        secrets=secrets,
        git=_git(),
    )


def _git() -> GitResult | None:
    """The commit that is checked out in the current folder, or None where that is no repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD", "--abbrev-ref", "HEAD"],  # noqa: S607  # the user's own git
            capture_output=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    sha, branch = done.stdout.decode(errors="replace").split()
    return GitResult(sha=sha, branch=None if branch == "HEAD" else branch)


def _outputs(options: Settings, suites: Sequence[Suite], stack: ExitStack) -> list[tuple[Report, Output]]:
    """The report files, their places taken.

    Raises:
        UsageError: a format that is not known, the same file twice, a suite, or a place that cannot be written.
    """
    taken = {os.path.realpath(suite.path) for suite in suites if suite.path}
    formats = reports.by_suffix()
    wanted = [(Path(name), Path(name).suffix) for name in options.out if name != "-"]
    if options.json_out is not None and options.json_out != "-":
        wanted.append((Path(options.json_out), ".json"))
    if [*options.out, options.json_out].count("-") > 1:
        raise UsageError("standard output is named twice: it holds one report")
    outputs: dict[Path, tuple[Report, Output]] = {}
    for path, suffix in wanted:
        if suffix not in formats:
            raise UsageError(f"--out {path}: no report has the suffix {suffix!r}", hint=f"known: {', '.join(formats)}")
        place = Path(os.path.realpath(path))
        if str(place) in taken:
            raise UsageError(f"{path} is a suite: a report would take its place")
        if place in outputs:
            raise UsageError(f"{path} is named twice as an output")
        outputs[place] = (formats[suffix], stack.enter_context(closing(Output(path))))
    return list(outputs.values())


@contextmanager
def _covered(secrets: Secrets) -> Iterator[None]:
    """Covers secrets in what an agent says while it starts and stops: in errors, and in warnings, which it words."""

    def told(message: Warning | str, *_: object) -> None:
        with suppress(OSError):
            click.echo(f"warning: {visible(secrets.cover(str(message)))}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = told  # type: ignore[assignment]  # it takes what that is called with
        try:
            yield
        except GoldenError as error:
            error.message = secrets.cover(error.message)
            error.hint = error.hint and secrets.cover(error.hint)
            raise


def _print(report: Report, result: RunResult, options: Settings, stdout: IO[str]) -> list[str]:
    """Writes the report that standard output holds; returns what kept it from being written."""
    detail = options.verbose - options.quiet
    try:
        stdout.write(report.render(result, View(detail=detail, color=stdout.isatty())))
        stdout.flush()
    except BrokenPipeError:
        pass  # the verdict does not hang on who reads it
    except OSError as error:
        return [f"cannot write standard output: {error.strerror}"]
    return []


@contextmanager
def _progress(total: int, options: Settings) -> Iterator[Observer]:
    """Tells people on standard error how far it is: a bar on a terminal, a line a case elsewhere."""
    if options.quiet:
        yield lambda result: None
    elif sys.stderr.isatty():
        with click.progressbar(length=total, label="golden", file=sys.stderr) as bar:
            yield lambda result: bar.update(1)
    else:

        def tell(result: CaseResult) -> None:
            with suppress(OSError):  # nobody reads it, or the disk is full: the reports are what counts
                click.echo(f"{result.status} {visible(result.case_id)}", err=True)

        yield tell


def _complete(
    jobs: Sequence[Job],
    target: Target | None,
    plan: Plan,
    observe: Observer,
    finish: Callable[[RunResult], None],
    interrupts: Interrupts,
) -> RunResult:
    """Runs the jobs and calls `finish` with the result, before anything that may keep the process from ending."""
    # Not `asyncio.run`: it waits for threads that look up names or are stuck, and the reports would wait with it.
    with closing(asyncio.new_event_loop()) as loop:
        loop.time = monotonic  # type: ignore[method-assign]  # an agent that patches `time` stops no clock of golden's
        stop = Stop()
        with interrupts.ending(lambda reason: loop.call_soon_threadsafe(stop, reason)):
            result = loop.run_until_complete(run_jobs(jobs, target, plan, stop, observe))
            finish(result)
        loop.run_until_complete(loop.shutdown_asyncgens())
    return result
