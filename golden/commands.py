"""The body of every command: the one module that knows everybody."""

import asyncio
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, cast

import click

from golden import loading, reports, targets
from golden.blessing import blessed
from golden.change import Comparison
from golden.checkout import checked_out
from golden.compare import compare as compared
from golden.compare import regression_code
from golden.dialects import posting
from golden.digest import digest
from golden.engine import Observer, run_jobs
from golden.errors import UsageError
from golden.headers import headers, without_secrets
from golden.hearing import as_json, as_text, heard
from golden.identity import unique_id
from golden.interrupts import Interrupts
from golden.lexicon import Lexicon, built_in
from golden.lint import lint
from golden.merge import merged
from golden.output import Output, standard_output
from golden.payload import dump
from golden.plan import Job, Plan
from golden.planning import planned
from golden.redaction import Secrets
from golden.reports import Report, View
from golden.result import CaseResult, RunResult
from golden.result_file import failed_ids, read_results
from golden.selection import Selection, selected
from golden.settings import Settings, chosen_target, settings
from golden.starter import start
from golden.suite import Suite
from golden.suite_file import load_suites
from golden.suite_schema import suite_schema
from golden.targeting import covered, known_secrets, target_of
from golden.targets import spoken
from golden.tries import request
from golden.visible import unheeded, visible
from golden.watch import Stop
from golden.wire import Head, Target, address
from golden.workflow import step

_SUITE = "golden_questions.json"

# What a captured body was sent as, by the suffix of its file, where no header says.
_TYPES = {
    "": "content-type: text/event-stream",
    ".ndjson": "content-type: application/x-ndjson",
    ".jsonl": "content-type: application/x-ndjson",
    ".txt": "content-type: text/plain",
}


def run(suites: Sequence[str], given: Mapping[str, object], config: Path | None) -> int:
    """`golden run`: asks the selected cases, writes the reports, and returns the exit code."""
    options = _settings(suites, given, config)
    selection = _selected(options)
    jobs = selection.jobs
    baseline = None if options.baseline is None else read_results(options.baseline)
    if options.dry_run:
        _say("\n".join(_preview(jobs, options)))
        return 0
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        # In this order: an output that cannot be written is found before the agent's code is loaded.
        outputs = _outputs(options, [job.suite for job in jobs], stack)
        report = reports.load("json" if options.json_out == "-" else "text")
        tell = stack.enter_context(step(os.environ))
        stdout = stack.enter_context(standard_output())
        secrets = known_secrets()
        stack.enter_context(_covered(secrets))
        lexicon = Lexicon(options.dialects)
        target = target_of(options, lexicon, secrets) if any(job.skip is None for job in jobs) else None
        plan = planned(options, selection, lexicon, secrets, checked_out())
        observe = stack.enter_context(_progress(len(jobs), options))
        unwritten: list[str] = []
        codes: list[int] = []

        def finish(result: RunResult) -> None:
            changed = None if baseline is None else compared(baseline, result)
            codes.append(
                regression_code(result, changed) if changed and options.fail_on == "regressions" else result.exit_code
            )
            # Standard output first, and each of them whatever becomes of the others.
            unwritten.extend(_print(report, result, changed, options, stdout))
            for kind, output in outputs:
                try:
                    output.write(kind.render(result, changed, View()))
                except UsageError as error:
                    unwritten.append(error.message)
            _warn(*(f"warning: {problem}" for problem in tell(result, changed)))

        _complete(jobs, target, plan, observe, finish, interrupts)
    _warn(*(f"error: {problem}" for problem in unwritten))
    return 128 + interrupts.caught if interrupts.caught else codes[0] or (2 if unwritten else 0)


def check(suites: Sequence[str], config: Path | None, results: str | None) -> int:
    """`golden check`: validates suites, warns of what is probably not meant, and returns the exit code."""
    options = _settings(suites, {}, config)
    read = _suites(options)
    run = None if results is None else read_results(results)
    called = None if run is None else {name for result in run.results for name in result.actual_tools}
    for suite in read:
        _say(f"{suite.path}: {len(suite.cases)} cases")
    for place, problem, remedy in lint(read, called):
        _warn(f"warning: {place}: {problem}", *([f"  hint: {remedy}"] if remedy else []))
    return 0


def compare(baseline: str, results: str, json_out: str | None, verbose: bool) -> int:
    """`golden compare`: says what changed, and returns the exit code of a run that fails on regressions alone."""
    with ExitStack() as stack:
        output = stack.enter_context(closing(Output(Path(json_out)))) if json_out not in (None, "-") else None
        before, run = read_results(baseline), read_results(results)
        changed = compared(before, run)
        written = "" if json_out is None else reports.load("json").render(run, changed, View())
        if output is not None:
            output.write(written)
    _say(written.rstrip("\n") if json_out == "-" else "\n".join(digest(changed, int(verbose), sys.stdout.isatty())))
    return regression_code(run, changed)


def bless(results: str, to: str) -> int:
    """`golden bless`: makes these results the baseline, whole or not at all."""
    with closing(Output(Path(to))) as output:
        run = blessed(results, read_results(results))
        output.write(reports.load("json").render(run, None, View()))
    of = run.summary
    _say(visible(f"{to}: {of.total} cases: {of.passed} passed, {of.failed} failed, {of.skipped} skipped"))
    return 0


def merge(results: Sequence[str], json_out: str) -> int:
    """`golden merge`: joins the results of shards, and returns the exit code that the whole run has."""
    if json_out == "-":
        joined = merged([(path, read_results(path)) for path in results])
        _say(reports.load("json").render(joined, None, View()).rstrip("\n"))
    else:
        with closing(Output(Path(json_out))) as output:
            joined = merged([(path, read_results(path)) for path in results])
            output.write(reports.load("json").render(joined, None, View()))
        _say(reports.load("text").render(joined, None, View(detail=-1)).rstrip("\n"))
    return joined.exit_code


def list_dialects(config: Path | None) -> int:
    """`golden dialect list`: names the dialects."""
    lexicon = Lexicon(settings({}, config).dialects)
    own = built_in()
    _say("\n".join(name if name in own else f"{name} (declared)" for name in lexicon.names()))
    return 0


def try_dialect(file: str, name: str, given: Sequence[str], json: bool, config: Path | None) -> int:
    """`golden dialect try`: shows what a captured body gives; 3 where it is no whole answer."""
    lexicon = Lexicon(settings({}, config).dialects)
    sent = headers([_TYPES.get(Path(file).suffix, _TYPES[""]), *given], {}, Secrets())
    try:
        body = Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    found = heard(body, Head(200, dict(sent), "chunked"), name, lexicon)
    _say(as_json(found) if json else "\n".join(as_text(found)))
    return 0 if found.turn.error is None else 3


def schema(kind: str) -> int:
    """`golden schema`: prints a JSON Schema."""
    shown = suite_schema() if kind == "suite" else RunResult.model_json_schema(by_alias=True)
    _say(json.dumps(shown, indent=2))
    return 0


def init(folder: Path) -> int:
    """`golden init`: writes what a project starts with, and says what it left as it was."""
    for line in start(folder):
        _say(visible(line))
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


def _selected(options: Settings) -> Selection:
    there = [] if options.failed is None else failed_ids(read_results(options.failed))
    failed = None if options.failed is None else [*map(unique_id, there)]
    suites = _suites(options)
    known = {unique_id(case.id) for suite in suites for case in suite.cases}
    if gone := [name for name in there if unique_id(name) not in known]:
        _warn(f"warning: {options.failed}: no suite has the cases {', '.join(gone)}, which did not pass there")
    selection = selected(suites, options, failed, os.environ)
    _warn(*selection.warnings)
    return selection


def _preview(jobs: Sequence[Job], options: Settings) -> Iterator[str]:
    """What a run would send, secrets left out: needs neither the agent nor a secret."""
    is_asked = any(job.skip is None for job in jobs)
    kind, where = chosen_target(options) if is_asked else ("", "")
    lexicon = Lexicon(options.dialects)
    post = posting(lexicon.dialect(options.dialect), spoken(lexicon.options(options.dialect), options.path))
    if kind == "base_url":
        loading.load(targets, "http", "HttpTarget")(where)  # refuses what a run would refuse
    for job in jobs:
        if job.skip is not None:
            yield f"{visible(job.case.id)}: skipped: {visible(job.skip)}"
            continue
        trials, tries = job.tries(Plan(retries=options.retries, trials=options.trials))
        often = f" ({trials} trials)" if trials > 1 else f" (up to {tries} tries)" if tries > 1 else ""
        yield f"{visible(job.case.id)}{often}: {visible(' / '.join(job.case.questions))}"
        if kind == "agent":
            yield f"  call {where}"
            continue
        for number, asked in enumerate(job.case.questions, start=1):
            # Later turns are sent with the answers before them, where the dialect has history resent.
            sent = post(request(job, Plan(model=options.model), asked, "(a fresh session)", ()))
            of = f" (turn {number} of {len(job.case.questions)})" if job.case.turns else ""
            yield f"  POST {address(where, sent.path) if kind == 'base_url' else f'{sent.path} of {where}'}{of}"
            yield from (f"  {without_secrets(header)}" for header in options.header)
            yield f"  {dump(sent.body)}"


def _warn(*lines: str) -> None:
    with suppress(OSError):  # nobody reads it, or the disk is full: the reports are what counts
        for line in lines:
            click.echo(unheeded(visible(line)), err=True)


def _say(text: str) -> None:
    with suppress(BrokenPipeError):  # whoever read it has read enough
        click.echo(unheeded(text))


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
        _warn(f"warning: {secrets.cover(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = told  # type: ignore[assignment]  # it takes what that is called with
        with covered(secrets):
            yield


def _print(
    report: Report, result: RunResult, changed: Comparison | None, options: Settings, stdout: IO[str]
) -> list[str]:
    """Writes the report that standard output holds; returns what kept it from being written."""
    detail = options.verbose - options.quiet
    try:
        stdout.write(unheeded(report.render(result, changed, View(detail=detail, color=stdout.isatty()))))
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
            _warn(f"{result.status} {result.case_id}")

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
