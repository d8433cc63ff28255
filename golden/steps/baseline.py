"""The newest baseline that the default branch kept → the run that has it, for `actions/download-artifact`.

Output: `run_id`, where there is one.
"""

from golden.event import read_event
from golden.exchange import Call, Calls, Row, checked
from golden.payload import at
from golden.steps import Environ, NothingToDo, asked, lead, repository_of

ARTIFACT = "golden-baseline"


def baseline(environ: Environ) -> dict[str, str]:
    """Finds it; see the module.

    Raises:
        NothingToDo: there is none.
        UsageError: GitHub does not say.
    """
    repository, branch = repository_of(environ), read_event(environ).default_branch
    run = asked(environ, lambda: newest(repository, branch), "no baseline", "actions: read")
    if run is None:
        raise NothingToDo(f"no baseline: no run on the default branch keeps an artifact {ARTIFACT}")
    return {"run_id": str(run)}


def newest(repository: str, branch: str) -> Calls[int | None]:
    """Finds the run whose artifact is the newest of those made on this branch of this repository.

    Anybody who opens a pull request may have a run keep an artifact of that name, from a branch of that name.

    Raises:
        Refused: GitHub does not list them.
    """
    answer = yield Call("GET", f"/repos/{repository}/actions/artifacts?name={ARTIFACT}&per_page=100")
    artifacts = at(checked(answer).body, "artifacts")
    own = [one for one in artifacts if _is_own(one, branch)] if isinstance(artifacts, list) else []
    last = max(own, key=lambda one: str(at(one, "created_at")), default=None)
    run = at(last, "workflow_run.id")
    return run if isinstance(run, int) else None


def _is_own(artifact: Row, branch: str) -> bool:
    return (
        at(artifact, "expired") is False
        and at(artifact, "workflow_run.head_branch") == branch
        and at(artifact, "workflow_run.head_repository_id") == at(artifact, "workflow_run.repository_id")
    )


if __name__ == "__main__":
    lead(baseline)
