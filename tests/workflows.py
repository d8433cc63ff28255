"""GitHub's runner, as far as our workflows need it: scripts are run from the YAML, by the runner's own shell line.

What the runner does itself is stood in for: checkouts come from a test, artifacts stay in memory, nothing is installed,
`python` and `golden` are those of the tests, and `pytest` finds that all is well.
"""

import fnmatch
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golden.yaml_document import parsed
from tests.expressions import Contexts, filled, value

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github/workflows"
ACTION = ROOT / ".github/actions/golden/action.yml"
SHA = "c0ffee" * 6 + "c0de"

# What `shell: bash` means (actions/runner, ScriptHandlerHelpers).
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")

_PATIENCE_S = 60

# `python -m pip install` is not done, `python -m venv` makes a folder of the same programs.
_PYTHON = f"""#!/bin/sh
case "$1 $2" in
  "-m pip") echo "$@" >>"$RUNNER_TEMP/installed"; exit 0 ;;
  "-m venv") mkdir -p "$3"; ln -s "$(dirname "$0")" "$3/bin"; exit 0 ;;
esac
exec {shlex.quote(sys.executable)} "$@"
"""
_GOLDEN = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m golden "$@"\n'

Files = Mapping[str, str]
"""The files of a commit, by their paths; a text `-> PLACE` is a symbolic link."""


def load(path: Path) -> dict[str, Any]:
    """A workflow or an action."""
    document, flaws, _ = parsed(str(path), path.read_bytes())
    assert not flaws
    return document


@dataclass(slots=True)
class Step:
    """What became of a step. `conclusion` is what the job hears of it: with `continue-on-error`, no failure."""

    outcome: str = "skipped"
    conclusion: str = "skipped"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""


@dataclass(slots=True)
class Job:
    """What became of a job; its steps by their names."""

    result: str
    steps: dict[str, Step] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> str:
        return "".join(step.log for step in self.steps.values())


@dataclass(slots=True)
class Runner:
    """One run of a workflow, or of our action.

    Attributes:
        folder: where it works.
        event: the name of the event, and its payload.
        commits: the files of each commit or branch that may be checked out.
        kept: artifacts: name → (file → its text); those of other runs by `name@run`.
        environ: besides what the runner sets.
    """

    folder: Path
    event: tuple[str, dict[str, Any]]
    commits: Mapping[str, Files] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    kept: dict[str, dict[str, str]] = field(default_factory=dict)
    checked_out: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("temp", "bin"):
            (self.folder / name).mkdir()
        for name, text in (("python", _PYTHON), ("python3", _PYTHON), ("golden", _GOLDEN), ("pytest", "#!/bin/sh\n")):
            (self.folder / "bin" / name).write_text(text, encoding="utf-8")
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "event.json").write_text(json.dumps(self.event[1]), encoding="utf-8")

    @property
    def summary(self) -> str:
        return "".join(path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("summary-*")))

    @property
    def installed(self) -> str:
        return (self.folder / "temp/installed").read_text(encoding="utf-8")

    def run(self, workflow: Mapping[str, Any]) -> dict[str, Job]:
        """Runs every job, in the order in which they stand: one that is needed stands before those that need it."""
        jobs: dict[str, Job] = {}
        for name, job in workflow["jobs"].items():
            needs = job.get("needs", [])
            needed = {one: jobs[one] for one in ([needs] if isinstance(needs, str) else needs)}
            jobs[name] = self._job(name, job, workflow, needed)
        return jobs

    def _job(self, name: str, job: Mapping[str, Any], workflow: Mapping[str, Any], needs: Mapping[str, Job]) -> Job:
        contexts = self.contexts(needs={one: {"outputs": each.outputs} for one, each in needs.items()})
        fine = all(each.result == "success" for each in needs.values())
        if not _is_met(job.get("if", "true"), contexts, fine):
            return Job("skipped")
        workspace = self.folder / f"work-{name}"
        workspace.mkdir()
        done = Job("success")
        env = {**workflow.get("env", {}), **job.get("env", {})}
        shell = workflow.get("defaults", {}).get("run", {}).get("shell")
        self.steps(job["steps"], contexts, workspace, done, env, shell)
        done.outputs = {key: filled(text, contexts) for key, text in job.get("outputs", {}).items()}
        return done

    def action(self, inputs: Mapping[str, str], workspace: Path) -> tuple[Job, dict[str, str]]:
        """Uses our composite action; what is checked out already stands in the workspace."""
        action = load(ACTION)
        assert not inputs.keys() - action["inputs"].keys()
        contexts = self.contexts(runner={"temp": str(self.folder / "temp")})
        given = {name: filled(about.get("default", ""), contexts) for name, about in action["inputs"].items()}
        contexts = {**contexts, "inputs": {**given, **inputs}}
        done = Job("success")
        self.steps(action["runs"]["steps"], contexts, workspace, done, {"GITHUB_ACTION_PATH": str(ACTION.parent)}, None)
        return done, {name: filled(about["value"], contexts) for name, about in action["outputs"].items()}

    def contexts(self, **more: object) -> dict[str, Any]:
        name, payload = self.event
        github = {"event_name": name, "event": payload, "sha": SHA, "token": self.environ.get("TOKEN", "")}
        return {"github": github, "secrets": self.secrets, "vars": self.variables, "steps": {}, **more}

    def steps(
        self,
        steps: list[dict[str, Any]],
        contexts: dict[str, Any],
        workspace: Path,
        job: Job,
        env: Mapping[str, object],
        shell: str | None,
    ) -> None:
        for number, step in enumerate(steps):
            done = job.steps[step["name"]] = Step()
            if _is_met(step.get("if", "true"), contexts, job.result == "success"):
                if "uses" in step:
                    used = {key: filled(text, contexts) for key, text in step.get("with", {}).items()}
                    done.outcome = self._used(step["uses"].partition("@")[0], used, workspace)
                else:
                    assert step.get("shell", shell) == "bash"
                    given = {**env, **step.get("env", {})}
                    place = workspace / filled(step.get("working-directory", "."), contexts)
                    own = {key: filled(text, contexts) for key, text in given.items()}
                    self._script(step["run"], place, workspace, own, f"{workspace.name}-{number}", done)
                done.conclusion = "success" if step.get("continue-on-error") is True else done.outcome
                if done.conclusion == "failure":
                    job.result = "failure"
            if "id" in step:
                contexts["steps"][step["id"]] = {"outcome": done.outcome, "outputs": done.outputs}

    def _script(self, script: str, place: Path, workspace: Path, env: Mapping[str, str], name: str, step: Step) -> None:
        files = {kind: self.folder / f"{kind}-{name}" for kind in ("script", "output", "summary")}
        files["script"].write_text(script, encoding="utf-8")
        for kind in ("output", "summary"):
            files[kind].touch()
        done = subprocess.run(
            [*SHELL, files["script"]],
            cwd=place,
            env={
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.folder),
                "LC_ALL": "C.UTF-8",
                "PYTHONPATH": str(ROOT),
                **{key: text for key, text in os.environ.items() if key.startswith("COV")},
                **self.environ,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": self.event[0],
                "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
                "GITHUB_OUTPUT": str(files["output"]),
                "GITHUB_STEP_SUMMARY": str(files["summary"]),
                "GITHUB_WORKSPACE": str(workspace),
                "GITHUB_RUN_ID": "42",
                "RUNNER_TEMP": str(self.folder / "temp"),
                **env,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=_PATIENCE_S,
        )
        step.log = done.stdout
        step.outcome = "failure" if done.returncode else "success"
        lines = files["output"].read_text(encoding="utf-8").splitlines()
        step.outputs.update({name: text for name, _, text in (line.partition("=") for line in lines)})

    def _used(self, action: str, given: Mapping[str, str], workspace: Path) -> str:
        does = {
            "actions/checkout": self._check_out,
            "actions/download-artifact": self._download,
            "actions/setup-python": lambda given, workspace: "success",
            "actions/upload-artifact": self._upload,
        }
        return does[action](given, workspace)

    def _check_out(self, given: Mapping[str, str], workspace: Path) -> str:
        assert given["persist-credentials"] == "false"
        ref, place = given.get("ref", SHA), workspace / given.get("path", ".")
        self.checked_out.append((ref, given.get("path", ".")))
        check_out(self.commits[ref], place, ref)
        return "success"

    def _upload(self, given: Mapping[str, str], workspace: Path) -> str:
        pattern = workspace / given["path"]
        files = {
            path.name: path.read_text(encoding="utf-8")
            for path in pattern.parent.iterdir()
            if fnmatch.fnmatch(path.name, pattern.name)
        }
        assert files or given["if-no-files-found"] == "ignore"
        if files:
            self.kept[given["name"]] = files
        return "success"

    def _download(self, given: Mapping[str, str], workspace: Path) -> str:
        run = given.get("run-id")
        files = self.kept.get(f"{given['name']}@{run}" if run else given["name"])
        if files is None:
            return "failure"
        place = workspace / given.get("path", ".")
        place.mkdir(exist_ok=True, parents=True)
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
        return "success"


def check_out(files: Files, place: Path, ref: str) -> None:
    """Puts a commit's files there, and as much of a repository as tells which commit it is."""
    for part in ("objects", "refs"):
        (place / ".git" / part).mkdir(parents=True)
    (place / ".git/HEAD").write_text(f"{ref if len(ref) == 40 else SHA}\n", encoding="utf-8")
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text.removeprefix("-> "))
        else:
            path.write_text(text, encoding="utf-8")


def _is_met(condition: str, contexts: Contexts, fine: bool) -> bool:
    return bool(value(condition, contexts)) and (fine or "always()" in condition)
