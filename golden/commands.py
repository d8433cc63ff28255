"""The body of every command: the one module that knows everybody."""

import asyncio
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import IO, cast

import click

from golden import drift, loading, reports, targets
from golden.dialects import posting
from golden.engine import Observer, run_jobs
from golden.errors import GoldenError, TargetError, UsageError
from golden.headers import without_secrets
from golden.identity import unique_id
from golden.interrupts import Interrupts
from golden.lint import lint
from golden.merge import merged
from golden.output import Output, standard_output
from golden.payload import dump
from golden.plan import Job, Plan
from golden.planning import planned
from golden.recorder import Recorder
from golden.redaction import Secrets
from golden.reports import Report, View
from golden.result import CaseResult, RunResult
from golden.result_file import failed_ids, read_results
from golden.score import Scorer
from golden.selection import Selection, selected
from golden.settings import Settings, chosen_target, settings
from golden.shelf import Shelf
from golden.standalone import standalone
from golden.suite import Suite
from golden.suite_file import load_suites
from golden.suite_schema import suite_schema
from golden.targeting import known_secrets, target_of
from golden.targets.replay import ReplayTarget
from golden.tries import request
from golden.visible import visible
from golden.watch import Stop
from golden.wire import Target, address

_SUITE = "golden_questions.json"
_RECORDINGS = "recordings"


def run(suites: Sequence[str], given: Mapping[str, object], config: Path | None) -> int:
    """`golden run`: asks the selected cases, writes the reports, and returns the exit code."""
    return _run(_settings(suites, given, config), overwrite=False)


def record(
    suites: Sequence[str], given: Mapping[str, object], config: Path | None, *, overwrite: bool, allow_ci_write: bool
) -> int:
    """`golden record`: runs, keeps each case that answered as a recording, and returns the exit code of the run."""
    options = _settings(suites, given, config)
    if chosen_target(options)[0] == "replay":
        raise UsageError("a replay is no real run: there is nothing to record", hint="name another target")
    if os.environ.get("CI") and not (allow_ci_write or options.dry_run):
        raise UsageError(
            "CI is set: recordings are made where a person reviews them", hint="--allow-ci-write writes them here too"
        )
    return _run(options.model_copy(update={"record": options.record or _RECORDINGS}), overwrite=overwrite)


def _run(options: Settings, *, overwrite: bool) -> int:
    read, own = _asked(options)
    selection = _selected(options, read)
    jobs = selection.jobs
    if options.dry_run:
        _say("\n".join(_preview(jobs, options)))
        return 0
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        # In this order: an output that cannot be written is found before the agent's code is loaded.
        outputs = _outputs(options, [job.suite for job in jobs], stack)
        recorder = None if options.record is None else Recorder(Shelf(Path(options.record), make=True), overwrite)
        report = reports.load("json" if options.json_out == "-" else "text")
        stdout = stack.enter_context(standard_output())
        secrets = known_secrets()
        stack.enter_context(_covered(secrets))
        target = target_of(options, secrets, alone=bool(own)) if any(job.skip is None for job in jobs) else None
        plan = planned(options, selection, secrets, own)
        if isinstance(target, ReplayTarget):
            for warning in drift.warnings(read, jobs, target.shelf, plan):
                _warn(f"warning: {warning}")
        if recorder is not None:
            plan = replace(plan, record=recorder.record)
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

        result = _complete(jobs, target, plan, observe, finish, interrupts)
    if recorder is not None:
        _tell(recorder, options)
    for problem in unwritten:
        click.echo(f"error: {problem}", err=True)
    return 128 + interrupts.caught if interrupts.caught else result.exit_code or (2 if unwritten else 0)


def _tell(recorder: Recorder, options: Settings) -> None:
    """Says what was recorded, and why anything was not."""
    for case_id, problem in sorted(recorder.problems):
        _warn(f"warning: {case_id} was not recorded: {problem}")
    kept = f", {len(recorder.kept)} were there and are kept (`golden record --overwrite`)" if recorder.kept else ""
    if not options.quiet:
        _warn(f"{options.record}: {len(recorder.written)} recorded{kept}")


def check(suites: Sequence[str], config: Path | None, results: str | None, replay: str | None) -> int:
    """`golden check`: validates suites, warns of what is probably not meant, and returns the exit code."""
    options = _settings(suites, {}, config)
    read = _suites(options)
    target = None if replay is None else ReplayTarget(replay)
    run = None if results is None else read_results(results)
    called = None if run is None else {name for result in run.results for name in result.actual_tools}
    for suite in read:
        _say(f"{suite.path}: {len(suite.cases)} cases")
    for place, problem, remedy in lint(read, called):
        _warn(f"warning: {place}: {problem}", *([f"  hint: {remedy}"] if remedy else []))
    return 0 if target is None else _parted(read, target, options)


def _parted(read: Sequence[Suite], target: ReplayTarget, options: Settings) -> int:
    """Says where suites and recordings have parted; returns the exit code that a replay would have of it."""
    jobs = [Job(suite, case) for suite in read for case in suite.cases if case.skip is None]
    for warning in drift.warnings(read, jobs, target.shelf, Plan(model=options.model)):
        _warn(f"warning: {warning}")
    faults = [*drift.faults(jobs, target)]
    for job, error in faults:
        _warn(f"error: {job.case.id}: {error.message}", *([f"  hint: {error.hint}"] if error.hint else []))
    return TargetError.exit_code if faults else 0


def merge(results: Sequence[str], json_out: str) -> int:
    """`golden merge`: joins the results of shards, and returns the exit code that the whole run has."""
    if json_out == "-":
        joined = merged([(path, read_results(path)) for path in results])
        _say(reports.load("json").render(joined, View()).rstrip("\n"))
    else:
        with closing(Output(Path(json_out))) as output:
            joined = merged([(path, read_results(path)) for path in results])
            output.write(reports.load("json").render(joined, View()))
        _say(reports.load("text").render(joined, View(detail=-1)).rstrip("\n"))
    return joined.exit_code


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


def _asked(options: Settings) -> tuple[list[Suite], dict[str, Scorer]]:
    """The suites of a run, and golden's own scorers that their cases name."""
    if options.replay is None or options.suites:
        return _suites(options), {}
    suite, own = standalone(Shelf(Path(options.replay)))
    return [suite], own


def _selected(options: Settings, suites: Sequence[Suite]) -> Selection:
    failed = None if options.failed is None else [*map(unique_id, failed_ids(read_results(options.failed)))]
    selection = selected(suites, options, failed, os.environ)
    for warning in selection.warnings:
        click.echo(visible(warning), err=True)
    return selection


def _preview(jobs: Sequence[Job], options: Settings) -> Iterator[str]:
    """What a run would send, secrets left out: needs neither the agent nor a secret."""
    is_asked = any(job.skip is None for job in jobs)
    kind, where = chosen_target(options) if is_asked else ("", "")
    post = posting(options.dialect, options.path)
    if kind == "base_url":
        loading.load(targets, "http", "HttpTarget")(where)  # refuses what a run would refuse
    for job in jobs:
        if job.skip is not None:
            yield f"{visible(job.case.id)}: skipped: {visible(job.skip)}"
            continue
        trials, tries = job.tries(Plan(retries=options.retries, trials=options.trials))
        often = f" ({trials} trials)" if trials > 1 else f" (up to {tries} tries)" if tries > 1 else ""
        yield f"{visible(job.case.id)}{often}: {visible(' / '.join(job.case.questions))}"
        if kind in ("agent", "replay"):
            yield f"  {'call' if kind == 'agent' else 'replay'} {where}"
            continue
        for number, asked in enumerate(job.case.questions, start=1):
            # Later turns are sent with the answers before them, where the dialect has history resent.
            sent = post(request(job, Plan(model=options.model), asked, "(a fresh session)", ()))
            of = f" (turn {number} of {len(job.case.questions)})" if job.case.turns else ""
            yield f"  POST {address(where, sent.path) if kind == 'base_url' else f'{sent.path} of {where}'}{of}"
            yield from (f"  {without_secrets(header)}" for header in options.header)
            yield f"  {dump(sent.body)}"


def _warn(*lines: str) -> None:
    with suppress(OSError):  # nobody reads it
        click.echo("\n".join(map(visible, lines)), err=True)


def _say(text: str) -> None:
    with suppress(BrokenPipeError):  # whoever read it has read enough
        click.echo(text)


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
