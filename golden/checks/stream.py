"""Whether the stream itself was sound."""

from collections.abc import Iterable, Sequence

from golden.checks import Check, Cover, Family
from golden.suite import Checks
from golden.transcript import Turn

# The findings that make a stream unsound (contract 4, "Sound"); all others are worth saying and break nothing.
UNSOUND = frozenset(
    {"after_end", "args_not_json", "end_not_marked", "not_json", "not_utf8", "result_without_call", "call_not_closed"}
)


def _check(expect: Checks, turns: Sequence[Turn], cover: Cover) -> Iterable[Check]:
    if not expect.clean_stream:
        return
    for index, turn in enumerate(turns):
        unsound = [finding.message for finding in turn.findings if finding.kind in UNSOUND]
        yield Check("clean_stream", not unsound, "; ".join(unsound) or "the stream was sound", index)


CHECK: Family = _check
