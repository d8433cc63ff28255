"""The program in this process (the fixture `golden_run`): the whole line, without the cost of a start."""

from dataclasses import dataclass
from typing import Protocol

from golden import result
from golden.result import CaseResult, RunResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of the program came to.

    Attributes:
        code: the exit code.
        out: standard output.
        err: standard error.
        written: the results file, "" where none was written.
    """

    code: int
    out: str
    err: str
    written: str

    @property
    def run(self) -> RunResult:
        """The results file, read."""
        return result.read(self.written)

    @property
    def case(self) -> CaseResult:
        """The one result of a run of one case."""
        (only,) = self.run.results
        return only

    @property
    def statuses(self) -> list[str]:
        return [each.status for each in self.run.results]


class Program(Protocol):
    """Runs a suite: of `cases`, else of the one `CASE`, with other fields of the suite by keyword."""

    def __call__(
        self, *arguments: object, cases: list[dict[str, object]] | None = None, **suite: object
    ) -> Outcome: ...


CASE: dict[str, object] = {"id": "well", "question": "Is all well?", "required_phrases": ["all is well"]}
