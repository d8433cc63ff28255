"""`golden run` against the preview that was chosen, with what a workflow's environment says; a program of its own.

- `GOLDEN_URL`: the base URL.
- `GOLDEN_ALLOW_HOST`: globs parted by white space; no other host is asked.
- `GOLDEN_BASELINE`: a results file to compare with, where it is there.
- `VERCEL_AUTOMATION_BYPASS_SECRET`: lets requests through Vercel's deployment protection.

The suites and further options are its arguments. They are taken with `--isolated`: whoever opened the pull request may
have written the suites.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from golden.__main__ import main
from golden.steps import Environ

_BYPASS = "VERCEL_AUTOMATION_BYPASS_SECRET"


def options(environ: Environ) -> Iterator[str]:
    """Yields the options that the environment gives."""
    yield from ("--isolated", "--base-url", environ.get("GOLDEN_URL", ""))
    for glob in environ.get("GOLDEN_ALLOW_HOST", "").split():
        yield from ("--allow-host", glob)
    baseline = environ.get("GOLDEN_BASELINE", "")
    if baseline and Path(baseline).is_file():
        yield from ("--baseline", baseline)
    if environ.get(_BYPASS, "").strip():
        yield from ("--header", f"x-vercel-protection-bypass: ${_BYPASS}")


if __name__ == "__main__":
    main(["run", *options(os.environ), *sys.argv[1:]])
