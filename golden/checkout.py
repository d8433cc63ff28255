"""The commit that is checked out in the current folder."""

import subprocess

from golden.result import GitResult


def checked_out() -> GitResult | None:
    """Returns it, or None where that is no repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD", "--abbrev-ref", "HEAD"],  # noqa: S607  # the user's own git
            capture_output=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    sha, branch = done.stdout.decode(errors="replace").split()
    return GitResult(sha=sha, branch=None if branch == "HEAD" else branch)
