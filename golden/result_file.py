"""Results files: read from the disk, or refused with what is wrong with them."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from json import JSONDecodeError
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from golden.document import shown
from golden.errors import UsageError
from golden.identity import unique_id
from golden.result import SCHEMA, RunResult, read, write
from golden.tally import summarise

# Far more than a run writes: an answer is cut at 64 KiB.
_LARGEST = 512 * 1024**2
_PIECE = 1024**2

_SHOWN = 5  # the most faults that a message lists

_COUNTS = ("total", "passed", "failed", "errors", "skipped", "not_run")

# Where pydantic would speak of its own, and of our classes.
_SAID = {
    "dataclass_type": "expected an object",
    "model_type": "expected an object",
    "tuple_type": "expected a list",
}

_HINT = "a results file is what `golden run --json-out F` writes; was this one cut, or changed by hand?"


def read_results(path: str) -> RunResult:
    """Reads a results file.

    Raises:
        UsageError: it cannot be read, is no results file of this schema, or contradicts itself.
    """
    text = _text(path)
    try:
        run = read(text)
    except ValidationError as invalid:
        raise _invalid(path, invalid.errors(include_url=False)) from None
    except JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise UsageError(f"{place}: no JSON: {_lower(error.msg)}", hint=_HINT) from None
    except RecursionError:
        raise _too_deep(path) from None
    except ValueError:
        problem = "holds a number that is not finite, or has too many digits to be read"
        raise UsageError(f"{path}: {problem}", hint=_HINT) from None
    try:
        write(run)
    except (ValueError, RecursionError):
        raise _too_deep(path) from None  # deeper than an agent's arguments are kept, and than can be written again
    if contradictions := [*_contradictions(run)]:
        raise _faulty(path, contradictions)
    return run


def failed_ids(run: RunResult) -> list[str]:
    """Returns the ids of the cases that neither passed nor were skipped, in their order."""
    return [result.case_id for result in run.results if result.status not in ("passed", "skipped")]


def _text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            # In pieces, and so many: a device has no end.
            data = b"".join(islice(iter(partial(file.read, _PIECE), b""), _LARGEST // _PIECE + 1))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file", hint="a relative path is taken from the current folder") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: a folder", hint="name the results file in it") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > _LARGEST:
        raise UsageError(f"{path}: larger than {_LARGEST // 1024**2} MiB", hint=_HINT)
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}: {error.reason}", hint=_HINT) from None


def _invalid(path: str, errors: list[ErrorDetails]) -> UsageError:
    for error in errors:
        if error["loc"] == ("schema",) and str(error["input"]).startswith("golden.results/"):
            written = f"{path}: written by a newer golden: its schema is {shown(error['input'])}"
            return UsageError(f"{written}, this one reads {SCHEMA}", hint="upgrade golden, or run again with this one")
    return _faulty(path, [_fault(error) for error in errors])


def _fault(error: ErrorDetails) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]).removeprefix(".")
    value = error["input"]
    got = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else shown(value)
    expected = _SAID.get(error["type"], _lower(error["msg"].removeprefix("Value error, ")))
    problem = "missing" if error["type"] == "missing" else f"{expected}, got {got}"
    return f"{place}: {problem}" if place else problem


def _contradictions(run: RunResult) -> Iterator[str]:
    counted = summarise(run.results)
    for name in _COUNTS:
        said, count = getattr(run.summary, name), getattr(counted, name)
        if said != count:
            yield f"summary.{name}: {shown(said)}, but there are {count} in the results"
    if run.summary.all_passed != counted.all_passed:
        yield f"summary.all_passed: {shown(run.summary.all_passed)}, and the results say otherwise"
    seen: dict[str, int] = {}
    for at, result in enumerate(run.results):
        if result.passed != (result.status == "passed"):
            yield f"results[{at}].passed: {shown(result.passed)}, but its status is {shown(result.status)}"
        if (first := seen.setdefault(unique_id(result.case_id), at)) != at:
            yield f"results[{at}].case_id: {shown(result.case_id)} is the id of results[{first}] too"
        trials, tries = result.trials, len(result.attempts)
        if trials and not 0 <= trials.passed <= trials.run <= tries:
            # What is computed of them takes its time, for a number that anybody may write.
            told = f"{shown(trials.passed)} of {shown(trials.run)} cannot have passed"
            yield f"results[{at}].trials: {told}, there are {tries} attempts"


def _faulty(path: str, faults: list[str]) -> UsageError:
    lines = [f"{path}: {fault}" for fault in faults[:_SHOWN]]
    more = [f"and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
    return UsageError("\n".join(lines + more), hint=_HINT)


def _too_deep(path: str) -> UsageError:
    return UsageError(f"{path}: nested too deep", hint=_HINT)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
