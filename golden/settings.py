"""What a run is told: the defaults, then `[tool.golden]`, then the command line; each wins over the one before."""

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from golden.change import MOST_TRIALS
from golden.errors import UsageError, did_you_mean

# The options that name a target; exactly one is used.
TARGETS = ("agent", "asgi", "base_url", "replay")

# What is no option, or would come too late where the file has been obeyed already.
_NOT_IN_FILE = frozenset({"folder", "isolated"})

# The options that name files: in a configuration they are relative to it.
_PATHS = ("replay", "suites", "failed", "baseline", "out", "json_out", "record")

# What says nothing of tries.
_NOTHING = {"retries": 0, "trials": 1}

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Settings(BaseModel):
    """The options of `golden run`, by their long names with `-` as `_` (contract 2).

    Times are seconds, sizes bytes. `folder` is where the configuration stands, None where there is none.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    agent: str | None = None
    asgi: str | None = None
    base_url: str | None = None
    replay: str | None = None
    suites: list[str] = []
    path: str | None = None
    dialect: str = "auto"
    dialects: dict[str, dict[str, Any]] = {}
    header: list[str] = []
    auth: bool = True
    allow_host: list[str] = []
    case: list[str] = []
    tag: list[str] = []
    match: list[str] = []
    failed: str | None = None
    shard: str | None = None
    concurrency: Count = 4
    timeout: Positive = 60
    idle_timeout: Positive = 30
    max_answer: Count = 8 * 1024 * 1024
    max_event: Count = 4 * 1024 * 1024
    suite_timeout: Annotated[float, Field(ge=0)] = 300
    retries: Annotated[int, Field(ge=0)] = 0
    flaky: Literal["pass", "fail"] = "pass"
    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] = 1
    bail: bool = False
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    model: str | None = None
    dry_run: bool = False
    json_out: str | None = None
    out: list[str] = []
    baseline: str | None = None
    fail_on: Literal["failures", "regressions"] = "failures"
    record: str | None = None
    quiet: bool = False
    verbose: bool = False
    isolated: bool = False
    folder: str | None = None

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.retries and self.trials > 1:
            raise ValueError("retries and trials exclude each other: trials say how often, retries hide how often not")
        if self.fail_on == "regressions" and self.baseline is None:
            raise ValueError("regressions are counted against a baseline: --baseline RESULTS is missing")
        if self.replay is not None and self.record is not None:
            raise ValueError("replay and record exclude each other: what is recorded is a real run")
        return self


def settings(given: Mapping[str, object], config: Path | None = None, start: Path | None = None) -> Settings:
    """Puts the settings of a run together.

    Args:
        given: what the command line says, without what it leaves out.
        config: the configuration file; where None, the nearest pyproject.toml upwards, if any.
        start: upwards from here; from the current folder where None.

    Raises:
        UsageError: a file, a name or a value that cannot be obeyed; all of them at once.
    """
    configured: dict[str, object] = {} if given.get("isolated") else _configured(config, start)
    on_line = [name for name in TARGETS if given.get(name) is not None]
    in_file = [name for name in TARGETS if configured.get(name) is not None]
    if len(on_line) > 1 or (not on_line and len(in_file) > 1):
        raise UsageError(f"more than one target: {_options(on_line or in_file)}", hint=f"give one of {_all_targets()}")
    if on_line:
        configured = {name: value for name, value in configured.items() if name not in TARGETS}
    for one, other in (("retries", "trials"), ("trials", "retries"), ("replay", "record")):
        if given.get(one) not in (None, _NOTHING.get(one)):
            configured.pop(other, None)  # they exclude each other, and the command line wins
    return validated({**configured, **given}, lambda name: _option(name) if name in given else f"[tool.golden] {name}")


def validated(given: Mapping[str, object], spelled: Callable[[str], str] = "`{}`".format) -> Settings:
    """Makes settings of options.

    Args:
        given: by their names.
        spelled: how a message names one.

    Raises:
        UsageError: all that cannot be obeyed, at once.
    """
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        lines = [_problem(fault["loc"], fault["msg"], spelled) for fault in error.errors(include_url=False)]
        raise UsageError("\n".join(lines)) from None


def chosen_target(settings: Settings) -> tuple[str, str]:
    """Returns the name of the option that names the target, and its value.

    Raises:
        UsageError: there is none.
    """
    for name in TARGETS:
        value = getattr(settings, name)
        if value is not None:
            return name, value
    raise UsageError("no target: where do the answers come from?", hint=f"give one of {_all_targets()}")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _options(names: list[str]) -> str:
    return ", ".join(map(_option, names))


def _all_targets() -> str:
    return "--agent MODULE:NAME, --asgi MODULE:NAME, --base-url URL, --replay PATH"


def _problem(where: tuple[int | str, ...], what: str, spelled: Callable[[str], str]) -> str:
    if not where:
        return what.removeprefix("Value error, ")
    name = str(where[0])
    place = spelled(name)
    if name not in Settings.model_fields:
        near = did_you_mean(name, Settings.model_fields.keys() - _NOT_IN_FILE)
        return f"{place}: there is no such option; {near}".removesuffix("; ")
    return f"{place}: {what[:1].lower()}{what[1:]}"


def _configured(path: Path | None, start: Path | None) -> dict[str, object]:
    if path is None:
        here = start or Path.cwd()
        path = next((file for folder in (here, *here.parents) if (file := folder / "pyproject.toml").is_file()), None)
        if path is None:
            return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # TOML that does not parse, and bytes that are not UTF-8
        raise UsageError(f"{path}: {error}") from None
    tool = document.get("tool", {})
    table = tool.get("golden", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.golden] is no table")
    for name in _NOT_IN_FILE & table.keys():
        raise UsageError(f"[tool.golden] {name}: there is no such option", hint="some are for the command line alone")
    return {**{name: _relative(name, value, path.parent) for name, value in table.items()}, "folder": str(path.parent)}


def _relative(name: str, value: object, folder: Path) -> object:
    if name not in _PATHS:
        return value
    if isinstance(value, list):
        return [_relative(name, item, folder) for item in value]
    if not isinstance(value, str) or value == "-" or Path(value).is_absolute():
        return value
    # From here: the paths of suites stand in results, which other machines compare.
    return os.path.relpath(folder / value)
