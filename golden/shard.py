"""Shards: the parts of a run that machines share (contract 2)."""

import hashlib
import re
from dataclasses import dataclass

from golden.errors import UsageError
from golden.identity import unique_id

MOST = 10_000
"""The most parts that a run may have."""

_FORM = re.compile(r"([1-9][0-9]{0,4})/([1-9][0-9]{0,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The `index`-th of `count` parts, counted from 1."""

    index: int
    count: int


def shard(text: str) -> Shard:
    """Reads `I/N`.

    Raises:
        UsageError: it is no part of a whole.
    """
    form = _FORM.fullmatch(text)
    index, count = map(int, form.groups()) if form else (1, 0)
    if not index <= count <= MOST:
        hint = f"the I-th of N parts, counted from 1, at most {MOST:,} of them: for example 2/4"
        raise UsageError(f"--shard takes I/N, not {text!r}", hint=hint)
    return Shard(index, count)


def holds(part: Shard, case_id: str) -> bool:
    """Whether a case is in this part. Only its id decides: no case moves when others come or go."""
    digest = hashlib.sha256(unique_id(case_id).encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest, "big") % part.count == part.index - 1
