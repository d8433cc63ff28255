"""What holds of every workflow, of the action, and of what `golden init` writes."""

import json
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golden.errors import UsageError
from golden.starter import requirement, start
from golden.suite_file import load_suite
from golden.version import __version__
from tests.workflows import ACTION, ROOT, WORKFLOWS, load

FILES = {path.name: path for path in (*WORKFLOWS.glob("*.yml"), ACTION, ROOT / "golden/starter/golden-preview.yml")}
PATHS = [*sorted(WORKFLOWS.glob("*.yml")), ACTION, ROOT / "golden/starter/golden-preview.yml"]
ASKING = [path for path in PATHS if path.name.startswith("golden-")]

# Who may write what. Whatever is not listed reads.
WRITES = {
    ("golden-preview.yml", "golden"): {"pull-requests"},
    ("golden-eval.yml", "comment"): {"pull-requests", "statuses"},
}

# The steps that are given a secret: those that ask.
ASKS = {"Ask", "Canary"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def jobs(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    document = load(path)
    yield from document.get("jobs", {"": {"steps": document.get("runs", {}).get("steps", [])}}).items()


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for _, job in jobs(path) for step in job["steps"]]


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_no_script_holds_an_expression_or_a_pipe_and_no_checkout_keeps_the_token(path: Path) -> None:
    for step in steps(path):
        assert "${{" not in step.get("run", "")
        assert not re.search(r"[^|]\|[^|]", step.get("run", "")), "a pipe hides the exit code of what stands before it"
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_every_action_is_pinned_by_its_commit_with_the_version_beside_it_and_one_version_of_each() -> None:
    used = [line for path in PATHS for line in re.findall(r"\buses: (.*)", path.read_text(encoding="utf-8"))]
    pins = [re.fullmatch(r"([\w./-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in used]
    assert None not in pins, used
    assert len({*used}) == len({pin[1] for pin in pins if pin})


@pytest.mark.parametrize("path", [path for path in PATHS if path != ACTION], ids=name_of)
def test_a_job_has_a_time_out_a_group_of_its_own_and_no_more_permissions_than_it_needs(path: Path) -> None:
    document = load(path)
    assert document["permissions"] == {}
    for name, job in jobs(path):
        assert job["timeout-minutes"] <= 30
        assert "concurrency" in document or "concurrency" in job
        writes = {scope for scope, access in job["permissions"].items() if access != "read"}
        assert writes == WRITES.get((path.name, name), set())


@pytest.mark.parametrize("path", [path for path in ASKING if path != ACTION], ids=name_of)
def test_what_asks_is_isolated_and_alone_knows_the_secrets(path: Path) -> None:
    document = load(path)
    assert document["env"] == {"PYTHONSAFEPATH": "1"}
    assert document["defaults"] == {"run": {"shell": "bash"}}
    for step in steps(path):
        script = step.get("run", "")
        assert "golden run" not in script or "--isolated" in script
        knows = "secrets." in str(step)
        assert knows is (step["name"] in ASKS)
        assert not knows or "GITHUB_TOKEN" not in step["env"]
    assert all("secrets." not in str({**job, "steps": []}) for _, job in jobs(path))


def test_nothing_that_comes_of_asking_and_commenting_ends_a_job_that_advises() -> None:
    may_fail = {"Find the baseline", "Fetch the baseline", "Fetch the results", "Ask", "Comment"}
    for path in (WORKFLOWS / "golden-preview.yml", WORKFLOWS / "golden-eval.yml", ACTION):
        found = {step["name"] for step in steps(path) if "continue-on-error" in step}
        assert found == may_fail & {step["name"] for step in steps(path)}


def test_groups_of_different_workflows_never_meet() -> None:
    groups = [
        (each["concurrency"]["group"], path.name)
        for path in WORKFLOWS.glob("*.yml")
        for each in (load(path), *(job for _, job in jobs(path)))
        if "concurrency" in each
    ]
    prefixes = [group.partition("$")[0] for group, _ in groups]
    assert len({*prefixes}) == len(prefixes)


def test_the_action_gives_each_secret_to_the_one_step_that_needs_it() -> None:
    for step in steps(ACTION):
        knows = {name for name in ("secret", "bypass", "token") if f"inputs.{name} " in str(step)}
        expected = {"Ask": {"secret", "bypass"}, "Find the baseline": {"token"}, "Fetch the baseline": {"token"}}
        assert knows == {**expected, "Comment": {"token"}}.get(step["name"], set())
        assert "run" not in step or step["shell"] == "bash"


def test_no_step_of_the_action_imports_what_is_checked_out_beside_it() -> None:
    for step in steps(ACTION):
        assert "run" not in step or step["env"]["PYTHONSAFEPATH"] == "1"
    # A Python before 3.11 does not know the variable: its `-m venv` is that of the current folder, if it has one.
    (install,) = [step for step in steps(ACTION) if step["name"] == "Install golden"]
    assert install["run"].startswith('cd "$RUNNER_TEMP"')


def test_the_scanner_finds_nothing_but_the_one_exception_that_is_explained(tmp_path: Path) -> None:
    assert list(start(tmp_path))
    zizmor = Path(sysconfig.get_path("scripts")) / "zizmor"
    told = ["--offline", "--no-progress", "--persona", "auditor", "--strict-collection"]
    done = subprocess.run(
        [zizmor, *told, ROOT / ".github", tmp_path], capture_output=True, text=True, env={"PATH": ""}, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "No findings to report. Good job! (1 ignored)"), done.stdout
    ignored = [line for path in PATHS for line in path.read_text("utf-8").splitlines() if "zizmor:" in line]
    assert len(ignored) == 1
    assert re.search(r"ignore\[dangerous-triggers\] \w+ \w+", ignored[0])


# What `golden init` writes


def test_init_s_workflow_is_ours_but_for_where_golden_comes_from() -> None:
    def without_install(path: Path) -> dict[str, Any]:
        document = load(path)
        job = document["jobs"]["golden"]
        names = ("Check out golden, of the default branch", "Install golden")
        job["steps"] = [step for step in job["steps"] if step["name"] not in names]
        return document

    assert without_install(ROOT / "golden/starter/golden-preview.yml") == without_install(
        WORKFLOWS / "golden-preview.yml"
    )


def test_init_writes_a_suite_that_holds_and_overwrites_nothing(tmp_path: Path) -> None:
    project = tmp_path / "new"
    written = ["golden_questions.json", "pyproject.toml", ".github/workflows/golden-preview.yml"]
    told = [*start(project)]
    assert [line for line in told if line.startswith("wrote ")] == [f"wrote {project / name}" for name in written]
    assert len(load_suite(project / "golden_questions.json").cases) == 3
    for name in written:
        (project / name).write_text("mine\n", encoding="utf-8")
    told = [*start(project)]
    assert [line for line in told if line.startswith("left ")] == [
        f"left {project / name} as it is" for name in written
    ]
    assert {(project / name).read_text(encoding="utf-8") for name in written} == {"mine\n"}
    assert '    suites = ["golden_questions.json"]' in told
    (project / "pyproject.toml").write_text("[tool.golden.dialects.mine]\n", encoding="utf-8")
    assert not any("suites" in line for line in start(project))


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        (None, f"golden-questions=={__version__}"),
        (
            {"url": "https://git.example/golden.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "golden-questions @ git+https://git.example/golden.git@c0ffee",
        ),
        ({"url": "https://x.example/g.whl", "archive_info": {}}, "golden-questions @ https://x.example/g.whl"),
        ({"url": "file:///home/ada/golden", "dir_info": {"editable": True}}, ""),
    ],
)
def test_ci_gets_golden_from_where_it_came_and_never_from_a_guess(origin: object, told: str) -> None:
    assert requirement(None if origin is None else json.dumps(origin)) == told


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in ("file", "file/below"):
        with pytest.raises(UsageError, match=f"cannot write {tmp_path}/{place}/golden_questions.json: "):
            list(start(tmp_path / place))
