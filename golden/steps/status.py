"""A results file → the commit status that says its verdict, beside the checks of the commit that was evaluated.

- `GOLDEN_SHA`: the commit.
- `GOLDEN_RESULTS`: the results file; where it cannot be read, the status is that of an error.
"""

from golden.errors import UsageError
from golden.event import SHA
from golden.exchange import Call, Calls, checked
from golden.result_file import read_results
from golden.steps import Environ, asked, lead, repository_of

_CONTEXT = "golden/eval"

# What GitHub calls an exit code; any other is an error too.
_STATES = {0: "success", 1: "failure"}


def status(environ: Environ) -> dict[str, str]:
    """Sets it; see the module.

    Raises:
        UsageError: no commit is named, or GitHub refuses.
    """
    repository, sha = repository_of(environ), environ.get("GOLDEN_SHA", "")
    if not SHA.fullmatch(sha):
        raise UsageError("GOLDEN_SHA is no whole commit")
    state, said = verdict(environ.get("GOLDEN_RESULTS", ""))
    run = f"{environ.get('GITHUB_SERVER_URL', '')}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}"
    body = {"state": state, "context": _CONTEXT, "description": said, "target_url": run}
    asked(environ, lambda: posted(repository, sha, body), "no commit status", "statuses: write")
    return {"state": state}


def verdict(path: str) -> tuple[str, str]:
    """Returns the state and the description of a results file."""
    try:
        run = read_results(path)
    except UsageError:
        return "error", "golden did not run: see the log"
    counts = run.summary
    told = [(counts.failed, "failed"), (counts.errors, "could not be judged"), (counts.not_run, "not run")]
    parts = [f"{counts.passed} of {counts.total} passed", *(f"{count} {what}" for count, what in told if count)]
    return _STATES.get(run.exit_code, "error"), ", ".join(parts)


def posted(repository: str, sha: str, body: dict[str, str]) -> Calls[None]:
    """Writes it.

    Raises:
        Refused: GitHub does not take it.
    """
    checked((yield Call("POST", f"/repos/{repository}/statuses/{sha}", body)))


if __name__ == "__main__":
    lead(status)
