"""The body of every command: the one module that knows everybody."""

import asyncio
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import cast

from golden import dialects, drift, loading, reports
from golden.blessing import blessed
from golden.checkout import checked_out
from golden.compare import compare as compared
from golden.compare import regression_code
from golden.console import progress, say, warn
from golden.digest import digest
from golden.engine import Observer, run_jobs
from golden.errors import TargetError, UsageError
from golden.headers import headers
from golden.hearing import as_json, as_text, heard
from golden.identity import unique_id
from golden.interrupts import Interrupts
from golden.lexicon import Lexicon, built_in
from golden.lint import lint
from golden.merge import merged
from golden.output import Output, standard_output
from golden.plan import Job, Plan
from golden.planning import planned
from golden.preview import preview
from golden.recorder import Recorder
from golden.recording_schema import recording_schema
from golden.redaction import Secrets
from golden.report_files import places, show, write
from golden.reports import View
from golden.result import RunResult
from golden.result_file import failed_ids, read_results
from golden.score import Scorer
from golden.selection import Selection, selected
from golden.settings import Settings, chosen_target, settings
from golden.shelf import Shelf
from golden.standalone import standalone
from golden.starter import start
from golden.suite import Suite
from golden.suite_file import load_suites
from golden.suite_schema import suite_schema
from golden.targeting import covered, known_secrets, target_of
from golden.targets.replay import ReplayTarget
from golden.visible import visible
from golden.watch import Stop
from golden.wire import Head, Target
from golden.workflow import step

_SUITE = "golden_questions.json"
_RECORDINGS = "recordings"

_SCHEMAS: Mapping[str, Callable[[], dict[str, object]]] = {
    "suite": suite_schema,
    "results": partial(RunResult.model_json_schema, by_alias=True),
    "recording": recording_schema,
}

# What a captured body was sent as, by the suffix of its file, where no header says.
_TYPES = {
    "": "content-type: text/event-stream",
    ".ndjson": "content-type: application/x-ndjson",
    ".jsonl": "content-type: application/x-ndjson",
    ".txt": "content-type: text/plain",
}


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
    baseline = None if options.baseline is None else read_results(options.baseline)
    if options.dry_run:
        say("\n".join(preview(jobs, options)))
        return 0
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        # In this order: an output that cannot be written is found before the agent's code is loaded.
        outputs = places(options.out, options.json_out, [job.suite.path for job in jobs if job.suite.path], stack)
        recorder = None if options.record is None else Recorder(Shelf(Path(options.record), make=True), overwrite)
        report = reports.load("json" if options.json_out == "-" else "text")
        tell = stack.enter_context(step(os.environ))
        stdout = stack.enter_context(standard_output())
        secrets = known_secrets()
        stack.enter_context(_covered(secrets))
        lexicon = Lexicon(options.dialects)
        is_asked = any(job.skip is None for job in jobs)
        target = target_of(options, lexicon, secrets, alone=bool(own)) if is_asked else None
        plan = planned(options, selection, lexicon, secrets, checked_out(), own)
        if isinstance(target, ReplayTarget):
            for warning in drift.warnings(read, jobs, target.shelf, plan):
                warn(f"warning: {warning}")
        if recorder is not None:
            plan = replace(plan, record=recorder.record)
        observe = stack.enter_context(progress(len(jobs), quiet=options.quiet))
        unwritten: list[str] = []
        codes: list[int] = []

        def finish(result: RunResult) -> None:
            changed = None if baseline is None else compared(baseline, result)
            codes.append(
                regression_code(result, changed) if changed and options.fail_on == "regressions" else result.exit_code
            )
            # Standard output first, and each of them whatever becomes of the others.
            unwritten.extend(show(report, result, changed, options.verbose - options.quiet, stdout))
            unwritten.extend(write(outputs, result, changed))
            warn(*(f"warning: {problem}" for problem in tell(result, changed)))

        _complete(jobs, target, plan, observe, finish, interrupts)
    if recorder is not None:
        _tell(recorder, options)
    warn(*(f"error: {problem}" for problem in unwritten))
    return 128 + interrupts.caught if interrupts.caught else codes[0] or (2 if unwritten else 0)


def _tell(recorder: Recorder, options: Settings) -> None:
    """Says what was recorded, and why anything was not."""
    for case_id, problem in sorted(recorder.problems):
        warn(f"warning: {case_id} was not recorded: {problem}")
    kept = f", {len(recorder.kept)} were there and are kept (`golden record --overwrite`)" if recorder.kept else ""
    if not options.quiet:
        warn(f"{options.record}: {len(recorder.written)} recorded{kept}")


def check(suites: Sequence[str], config: Path | None, results: str | None, replay: str | None) -> int:
    """`golden check`: validates suites, warns of what is probably not meant, and returns the exit code."""
    options = _settings(suites, {}, config)
    read = _suites(options)
    target = None if replay is None else ReplayTarget(replay)
    run = None if results is None else read_results(results)
    called = None if run is None else {name for result in run.results for name in result.actual_tools}
    for suite in read:
        say(f"{suite.path}: {len(suite.cases)} cases")
    for place, problem, remedy in lint(read, called):
        warn(f"warning: {place}: {problem}", *([f"  hint: {remedy}"] if remedy else []))
    return 0 if target is None else _parted(read, target, options)


def _parted(read: Sequence[Suite], target: ReplayTarget, options: Settings) -> int:
    """Says where suites and recordings have parted; returns the exit code that a replay would have of it."""
    jobs = [Job(suite, case) for suite in read for case in suite.cases if case.skip is None]
    for warning in drift.warnings(read, jobs, target.shelf, Plan(model=options.model)):
        warn(f"warning: {warning}")
    faults = [*drift.faults(jobs, target)]
    for job, error in faults:
        warn(f"error: {job.case.id}: {error.message}", *([f"  hint: {error.hint}"] if error.hint else []))
    return TargetError.exit_code if faults else 0


def compare(baseline: str, results: str, json_out: str | None, verbose: bool) -> int:
    """`golden compare`: says what changed, and returns the exit code of a run that fails on regressions alone."""
    with ExitStack() as stack:
        output = stack.enter_context(closing(Output(Path(json_out)))) if json_out not in (None, "-") else None
        before, run = read_results(baseline), read_results(results)
        changed = compared(before, run)
        written = "" if json_out is None else reports.load("json").render(run, changed, View())
        if output is not None:
            output.write(written)
    say(written.rstrip("\n") if json_out == "-" else "\n".join(digest(changed, int(verbose), sys.stdout.isatty())))
    return regression_code(run, changed)


def bless(results: str, to: str) -> int:
    """`golden bless`: makes these results the baseline, whole or not at all."""
    with closing(Output(Path(to))) as output:
        run = blessed(results, read_results(results))
        output.write(reports.load("json").render(run, None, View()))
    of = run.summary
    if left_out := len(run.run.unselected):
        warn(f"warning: {results}: its run left {left_out} cases out: they are not in the baseline, and are new later")
    say(visible(f"{to}: {of.total} cases: {of.passed} passed, {of.failed} failed, {of.skipped} skipped"))
    return 0


def report(results: str, out: Sequence[str]) -> int:
    """`golden report`: writes reports of a run again, with what its baseline said of it."""
    with ExitStack() as stack:
        files = places(out, None, (), stack)
        run = read_results(results)
        problems = write(files, run, run.comparison)
        if "-" in out:
            problems += show(reports.load("text"), run, run.comparison, 0, sys.stdout)
    for problem in problems:
        warn(f"error: {problem}")
    return UsageError.exit_code if problems else 0


def merge(results: Sequence[str], json_out: str) -> int:
    """`golden merge`: joins the results of shards, and returns the exit code that the whole run has."""
    if json_out == "-":
        joined = merged([(path, read_results(path)) for path in results])
        say(reports.load("json").render(joined, None, View()).rstrip("\n"))
    else:
        with closing(Output(Path(json_out))) as output:
            joined = merged([(path, read_results(path)) for path in results])
            output.write(reports.load("json").render(joined, None, View()))
        say(reports.load("text").render(joined, None, View(detail=-1)).rstrip("\n"))
    return joined.exit_code


def list_dialects(config: Path | None) -> int:
    """`golden dialect list`: names the dialects: golden's own, those of other packages, and those that are declared."""
    own, others = built_in(), loading.others(dialects)
    for name in dict.fromkeys((*Lexicon(settings({}, config).dialects).names(), *others)):
        say(name if name in own else f"{name} ({'installed' if name in others else 'declared'})")
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
    say(as_json(found) if json else "\n".join(as_text(found)))
    return 0 if found.turn.error is None else 3


def schema(kind: str) -> int:
    """`golden schema`: prints a JSON Schema."""
    say(json.dumps(_SCHEMAS[kind](), indent=2))
    return 0


def init(folder: Path) -> int:
    """`golden init`: writes what a project starts with, and says what it left as it was."""
    for line in start(folder):
        say(visible(line))
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
    there = [] if options.failed is None else failed_ids(read_results(options.failed))
    failed = None if options.failed is None else [*map(unique_id, there)]
    known = {unique_id(case.id) for suite in suites for case in suite.cases}
    if gone := [name for name in there if unique_id(name) not in known]:
        warn(f"warning: {options.failed}: no suite has the cases {', '.join(gone)}, which did not pass there")
    selection = selected(suites, options, failed, os.environ)
    warn(*selection.warnings)
    return selection


@contextmanager
def _covered(secrets: Secrets) -> Iterator[None]:
    """Covers secrets in what an agent says while it starts and stops: in errors, and in warnings, which it words."""

    def told(message: Warning | str, *_: object) -> None:
        warn(f"warning: {secrets.cover(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = told  # type: ignore[assignment]  # it takes what that is called with
        with covered(secrets):
            yield


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
