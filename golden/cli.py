"""The command line: what there is to say, and no more; what is done stands in `commands`."""

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import click

from golden.version import __version__

Command = TypeVar("Command", bound=Callable[..., object])

_RUN_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.argument("suite", nargs=-1),
    click.option("--agent", metavar="MODULE:NAME", help="In-process: a callable."),
    click.option("--asgi", metavar="MODULE:NAME", help="In-process: an ASGI app, with no socket."),
    click.option("--base-url", metavar="URL", help="HTTP: a running server or preview."),
    click.option("--replay", metavar="PATH", help="Recordings: a file or a folder."),
    click.option("--golden", metavar="FILE", multiple=True, help="A suite, the same as naming it as an argument."),
    click.option("--path", metavar="PATH", help="Where questions are posted.  [default: the dialect's]"),
    click.option("--dialect", metavar="NAME", help="How the agent speaks.  [default: auto]"),
    click.option("--header", metavar="'Name: value'", multiple=True, help="$NAME is taken from the environment."),
    click.option("--auth/--no-auth", default=None, help="Mint a JWT for the agent.  [default: auth]"),
    click.option("--allow-host", metavar="GLOB", multiple=True, help="Refuse any other host before a token is made."),
    click.option("--case", metavar="ID", multiple=True, help="Only the case of this id."),
    click.option("--tag", metavar="TAG", multiple=True, help="Only cases with this tag."),
    click.option("-k", "--match", metavar="TEXT", multiple=True, help="Only cases with this in id, question or tag."),
    click.option("--failed", metavar="RESULTS", help="Only the cases that did not pass there."),
    click.option("--shard", metavar="I/N", help="Only the I-th of N parts, by the id of the case."),
    click.option("--concurrency", type=int, metavar="N", help="Cases in flight at once.  [default: 4]"),
    click.option("--timeout", type=float, metavar="S", help="For one turn, to the end of its stream.  [default: 60]"),
    click.option("--idle-timeout", type=float, metavar="S", help="The longest silence.  [default: 30]"),
    click.option("--max-answer", type=int, metavar="B", help="The most of one stream that is read.  [default: 8 MiB]"),
    click.option("--max-event", type=int, metavar="B", help="The most of one event that is read.  [default: 4 MiB]"),
    click.option("--suite-timeout", type=float, metavar="S", help="For the whole run, 0 for none.  [default: 300]"),
    click.option("--retries", type=int, metavar="N", help="More tries for a case that did not pass.  [default: 0]"),
    click.option(
        "--flaky", type=click.Choice(["pass", "fail"]), help="What a pass on retry counts as.  [default: pass]"
    ),
    click.option("--trials", type=int, metavar="N", help="Run each case N times; all must pass.  [default: 1]"),
    click.option("-x", "--bail", is_flag=True, default=None, help="Start no case after the first that does not pass."),
    click.option("--max-tokens", type=int, metavar="N", help="Start no case once the agent has reported more tokens."),
    click.option("--model", metavar="NAME", help="Passed to the agent.  [default: the suite's]"),
    click.option("--dry-run", is_flag=True, default=None, help="Show what would be sent; send nothing."),
    click.option("--json-out", metavar="FILE", help="Write the results as JSON; `-` is standard output."),
    click.option("--out", metavar="FILE", multiple=True, help="Write a report, its format by suffix."),
    click.option("--baseline", metavar="RESULTS", help="Compare with these, and show what changed first."),
    click.option(
        "--fail-on",
        type=click.Choice(["failures", "regressions"]),
        help="What makes exit code 1.  [default: failures]",
    ),
    click.option("-q", "--quiet", is_flag=True, default=None, help="Show less."),
    click.option("-v", "--verbose", is_flag=True, default=None, help="Show each case's answer and events."),
    click.option("--config", type=click.Path(path_type=Path), help="The configuration.  [default: pyproject.toml]"),
    click.option("--isolated", is_flag=True, default=None, help="For other people's suites: no configuration file."),
)


def _run_options(command: Command) -> Command:
    for option in reversed(_RUN_OPTIONS):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="golden")
def cli() -> None:
    """Golden-question regression tests for chat agents that stream over SSE."""


@cli.command(epilog="Example: golden run golden_questions.json --base-url http://127.0.0.1:8400")
@_run_options
@click.option("--record", metavar="DIR", help="Keep a recording of each case as well.")
@click.pass_context
def run(context: click.Context, /, config: Path | None, suite: tuple[str, ...], **given: object) -> None:
    """Run suites against a target and report.

    Without a SUITE, the configuration's suites are run, else golden_questions.json.
    """
    context.exit(_commands().run(suite, given, config))


@cli.command(epilog="Example: golden record golden_questions.json --to recordings")
@_run_options
@click.option("--to", "record", metavar="DIR", help="Where the recordings go.  [default: recordings]")
@click.option("--overwrite", is_flag=True, help="Replace recordings that are there.")
@click.option("--allow-ci-write", is_flag=True, help="Write where CI is set, too.")
@click.pass_context
def record(
    context: click.Context,
    /,
    config: Path | None,
    suite: tuple[str, ...],
    overwrite: bool,
    allow_ci_write: bool,
    **given: object,
) -> None:
    """Run, and keep each case as a recording.

    An existing recording is kept, unless --overwrite is given.
    """
    writing = {"overwrite": overwrite, "allow_ci_write": allow_ci_write}
    context.exit(_commands().record(suite, given, config, **writing))


@cli.command(epilog="Example: golden check golden_questions.json")
@click.argument("suite", nargs=-1)
@click.option("--results", metavar="FILE", help="Also warn of tools that were never called in these results.")
@click.option("--replay", metavar="DIR", help="Also say where these recordings have parted from the suites.")
@click.option("--config", type=click.Path(path_type=Path), help="The configuration.  [default: pyproject.toml]")
@click.pass_context
def check(
    context: click.Context, config: Path | None, results: str | None, replay: str | None, suite: tuple[str, ...]
) -> None:
    """Validate suites without running them."""
    context.exit(_commands().check(suite, config, results, replay))


@cli.command(epilog="Example: golden compare baseline.json results.json")
@click.argument("baseline")
@click.argument("results")
@click.option("--json-out", metavar="FILE", help="Write RESULTS with what changed as JSON; `-` is standard output.")
@click.option("-v", "--verbose", is_flag=True, help="Show what changed of every case listed.")
@click.pass_context
def compare(context: click.Context, baseline: str, results: str, json_out: str | None, verbose: bool) -> None:
    """Say what changed between two results files.

    The exit code is that of a run that fails on regressions alone.
    """
    context.exit(_commands().compare(baseline, results, json_out, verbose))


@cli.command(epilog="Example: golden comment results.json --baseline baseline.json")
@click.argument("results")
@click.option("--pr", "pull", type=int, metavar="N", help="The pull request.  [default: the event's, the commit's]")
@click.option("--sha", metavar="SHA", help="The commit that was asked.  [default: the event's, the results']")
@click.option("--repo", "repository", metavar="OWNER/NAME", help="Whose it is.  [default: the workflow's]")
@click.option("--key", metavar="NAME", default="golden", help="Keeps several comments apart.  [default: golden]")
@click.option(
    "--mode",
    type=click.Choice(["update", "new", "on-change"]),
    default="update",
    help="One comment, one for each run, or none until something is wrong.  [default: update]",
)
@click.option("--baseline", metavar="RESULTS", help="Compare with these, and say what changed first.")
@click.option("--dry-run", is_flag=True, help="Print the comment; send nothing.")
@click.option("--strict", is_flag=True, help="Exit with 1 where GitHub refuses the comment.")
@click.pass_context
def comment(context: click.Context, /, **given: Any) -> None:
    """Post or update the advisory comment on a pull request.

    The token is GITHUB_TOKEN's or GH_TOKEN's.
    """
    # Loaded here, and not for every command: it needs httpx.
    from golden import commenting

    context.exit(commenting.comment(commenting.Asked(**given), os.environ))


@cli.command(epilog="Example: golden bless results.json --to baseline.json")
@click.argument("results")
@click.option("--to", metavar="BASELINE", required=True, help="The file to write; what it held is replaced.")
@click.pass_context
def bless(context: click.Context, results: str, to: str) -> None:
    """Make these results the baseline.

    Refused when a case is an error or was not run.
    """
    context.exit(_commands().bless(results, to))


@cli.command(epilog="Example: golden report results.json --out report.txt")
@click.argument("results")
@click.option(
    "--out", metavar="FILE", multiple=True, required=True, help="A report, its format by suffix; `-` is text."
)
@click.pass_context
def report(context: click.Context, results: str, out: tuple[str, ...]) -> None:
    """Write reports again from a results file."""
    context.exit(_commands().report(results, out))


@cli.command(epilog="Example: golden merge shard-1.json shard-2.json --json-out results.json")
@click.argument("results", nargs=-1, required=True)
@click.option("--json-out", metavar="FILE", required=True, help="Where the joined results go; `-` is standard output.")
@click.pass_context
def merge(context: click.Context, results: tuple[str, ...], json_out: str) -> None:
    """Join the results of shards."""
    context.exit(_commands().merge(results, json_out))


@cli.group()
def dialect() -> None:
    """The dialects, and what one reads in a captured body."""


@dialect.command("list", epilog="Example: golden dialect list")
@click.option("--config", type=click.Path(path_type=Path), help="The configuration.  [default: pyproject.toml]")
@click.pass_context
def list_dialects(context: click.Context, config: Path | None) -> None:
    """List the dialects: golden's own, installed ones and declared ones."""
    context.exit(_commands().list_dialects(config))


@dialect.command("try", epilog="Example: golden dialect try body.sse --dialect ai-sdk")
@click.argument("file")
@click.option("--dialect", "name", metavar="NAME", default="auto", help="How the agent speaks.  [default: auto]")
@click.option("--header", metavar="'Name: value'", multiple=True, help="A header of the reply that the body came with.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option("--config", type=click.Path(path_type=Path), help="The configuration.  [default: pyproject.toml]")
@click.pass_context
def try_dialect(
    context: click.Context, config: Path | None, file: str, name: str, header: tuple[str, ...], as_json: bool
) -> None:
    """Show what a captured body gives, event by event."""
    context.exit(_commands().try_dialect(file, name, header, as_json, config))


@cli.command(epilog="Example: golden schema suite > golden.schema.json")
@click.argument("kind", type=click.Choice(["suite", "results", "recording"]))
@click.pass_context
def schema(context: click.Context, kind: str) -> None:
    """Print the JSON Schema of a kind of file."""
    context.exit(_commands().schema(kind))


@cli.command(epilog="Example: golden init")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.pass_context
def init(context: click.Context, folder: Path) -> None:
    """Write a starter suite, config and workflow into a project.

    What is there already is left as it is. DIR is the current folder where left out.
    """
    context.exit(_commands().init(folder))


def _commands() -> ModuleType:
    # The one import inside a function: `--help` loads neither pydantic nor httpx.
    from golden import commands

    return commands
