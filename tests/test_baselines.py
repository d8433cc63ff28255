"""The program with a baseline: run, compare, bless."""

import json
import stat
from pathlib import Path

import pytest

from golden.__main__ import _run
from golden.result import CaseResult, RunResult, ShardResult, read, write
from tests.program import Program
from tests.test_compare import case
from tests.values import run_of

A: dict[str, object] = {"id": "a", "question": "Is all well?", "required_phrases": ["all is well"]}
B: dict[str, object] = {"id": "b", "question": "And this?", "required_phrases": ["all is well"]}
WELL = ("--agent", "tests.test_baselines:well")
ILL = ("--agent", "tests.test_baselines:ill")


def well(question: str) -> list[tuple[str, dict[str, str]]]:
    return [("message", {"text": "All is well."}), ("done", {})]


def ill(question: str) -> list[tuple[str, dict[str, str]]]:
    return [("message", {"text": "All is ill." if question.startswith("Is") else "All is well."}), ("done", {})]


def kept(name: str, *results: CaseResult, run: RunResult | None = None) -> Path:
    path = Path(name)
    path.write_text(write(run or run_of(*results)), encoding="utf-8")
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# golden run --baseline


def test_a_run_says_first_what_changed_and_each_result_how(golden_run: Program) -> None:
    Path("base.json").write_text(golden_run(*WELL, cases=[A, B]).written, encoding="utf-8")
    ran = golden_run(*ILL, "--baseline", "base.json", "--out", "r.txt", cases=[A, B])
    assert ran.code == 1
    first, *rest = ran.out.splitlines()
    assert first == "golden: 1 regressed, 1 unchanged"
    assert "REGRESSED  a: passed -> failed" in rest
    assert rest.index("golden: 1 of 2 cases failed, 1 passed") > rest.index("REGRESSED  a: passed -> failed")
    assert Path("r.txt").read_text(encoding="utf-8").startswith(first)
    told = json.loads(ran.written)
    assert [each["change"] for each in told["results"]] == ["regressed", "unchanged"]
    assert told["comparison"]["cases"][0]["checks"][0]["after"] == "fails"


def test_without_a_baseline_no_result_has_a_change(golden_run: Program) -> None:
    told = json.loads(golden_run(*WELL).written)
    assert (told["comparison"], told["results"][0]["change"]) == (None, None)


def test_what_failed_before_fails_a_run_only_where_failures_count(golden_run: Program) -> None:
    Path("base.json").write_text(golden_run(*ILL, cases=[A, B]).written, encoding="utf-8")
    for fail_on, code in ((), 1), (("--fail-on", "failures"), 1), (("--fail-on", "regressions"), 0):
        ran = golden_run(*ILL, "--baseline", "base.json", *fail_on, cases=[A, B])
        assert (ran.code, ran.out.splitlines()[0]) == (
            code,
            "golden: nothing regressed, nothing fixed, 1 still failing, 1 unchanged",
        )


def test_a_case_that_is_gone_is_a_regression_and_one_that_was_not_selected_is_none(golden_run: Program) -> None:
    Path("base.json").write_text(golden_run(*WELL, cases=[A, B]).written, encoding="utf-8")
    regressions = ("--baseline", "base.json", "--fail-on", "regressions")
    gone = golden_run(*WELL, *regressions, cases=[A])
    assert gone.code == 1
    assert "GONE  b: passed" in gone.out.splitlines()
    assert json.loads(gone.written)["comparison"]["gone"] == ["b"]
    assert golden_run(*WELL, "--baseline", "base.json", cases=[A]).code == 0
    selected = golden_run(*WELL, *regressions, "--case", "a", cases=[A, B])
    assert selected.code == 0
    told = json.loads(selected.written)
    assert (told["comparison"]["gone"], told["comparison"]["left_out"]) == ([], ["b"])
    assert told["run"]["unselected"] == ["b"]


def test_a_shard_takes_what_other_shards_have_for_no_loss(golden_run: Program) -> None:
    Path("base.json").write_text(golden_run(*WELL, cases=[A, B]).written, encoding="utf-8")
    for part in ("1/2", "2/2"):
        ran = golden_run(*WELL, "--baseline", "base.json", "--shard", part, cases=[A, B])
        assert json.loads(ran.written)["comparison"]["gone"] == []


def test_a_case_that_was_edited_is_not_told_as_if_the_agent_had_changed(golden_run: Program) -> None:
    Path("base.json").write_text(golden_run(*WELL, cases=[A, B]).written, encoding="utf-8")
    asked = {**A, "required_phrases": ["all is better"]}
    out = golden_run(*WELL, "--baseline", "base.json", cases=[asked, B]).out
    assert "CASE CHANGED  a: passed -> failed" in out
    assert "REGRESSED" not in out
    assert "note: suite.json: other contents than in the baseline" in out


def test_trials_are_tested_for_chance(golden_run: Program) -> None:
    steady = case("well", trials=(3, 3), case_sha256=None, question="Is all well?", expected_tools=())
    kept("base.json", steady)
    told = json.loads(golden_run(*ILL, "--trials", 3, "--baseline", "base.json").written)
    assert told["comparison"]["cases"][0]["p"] == pytest.approx(0.05)


def test_a_baseline_that_cannot_be_read_is_found_before_anything_is_asked(golden_run: Program) -> None:
    for arguments in (("--baseline", "base.json"), ("--baseline", "base.json", "--dry-run")):
        ran = golden_run(*WELL, *arguments)
        assert (ran.code, ran.written) == (2, "")
        assert ran.err.startswith("error: base.json: no such file\n")


def test_a_baseline_of_another_schema_is_refused_by_name(golden_run: Program) -> None:
    told = json.loads(golden_run(*WELL).written)
    Path("base.json").write_text(json.dumps({**told, "schema": "golden.results/2"}), encoding="utf-8")
    ran = golden_run(*WELL, "--baseline", "base.json")
    assert ran.code == 2
    assert 'its schema is "golden.results/2", this one reads golden.results/1' in ran.err


def test_regressions_without_a_baseline_are_a_usage_error(golden_run: Program) -> None:
    ran = golden_run(*WELL, "--fail-on", "regressions")
    assert ran.code == 2
    assert ran.err == "error: regressions are counted against a baseline: --baseline RESULTS is missing\n"


def test_a_baseline_in_the_configuration_is_relative_to_it(golden_run: Program) -> None:
    Path("ci").mkdir()
    Path("ci/base.json").write_text(golden_run(*WELL).written, encoding="utf-8")
    Path("ci/golden.toml").write_text(
        '[tool.golden]\nbaseline = "base.json"\nfail_on = "regressions"\n', encoding="utf-8"
    )
    ran = golden_run(*ILL, "--config", "ci/golden.toml")
    assert (ran.code, ran.out.splitlines()[0]) == (1, "golden: 1 regressed")


# golden compare


@pytest.mark.parametrize(
    ("before", "after", "code", "first"),
    [
        ("passed", "passed", 0, "nothing regressed, nothing fixed, 1 unchanged"),
        ("passed", "failed", 1, "1 regressed"),
        ("failed", "failed", 0, "nothing regressed, nothing fixed, 1 still failing"),
        ("failed", "passed", 0, "1 fixed"),
        ("passed", "error", 3, "1 regressed"),
    ],
)
def test_compare_says_what_changed(
    here: Path, capfd: pytest.CaptureFixture[str], before: str, after: str, code: int, first: str
) -> None:
    for name, status in (("base.json", before), ("now.json", after)):
        kept(name, case("a", status))  # type: ignore[arg-type]  # a status
    assert _run(["compare", "base.json", "now.json"]) == code
    assert capfd.readouterr().out.splitlines()[0] == f"golden: {first}"


def test_compare_writes_the_results_with_what_changed(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept("base.json", case("a"), case("b"))
    kept("now.json", case("a", "failed"))
    assert _run(["compare", "base.json", "now.json", "--json-out", "changed.json"]) == 1
    assert capfd.readouterr().out.startswith("golden: 2 regressed (1 gone among them)\n")
    written = Path("changed.json").read_text(encoding="utf-8")
    assert [each.change for each in read(written).results] == ["regressed"]
    assert _run(["compare", "base.json", "now.json", "--json-out", "-"]) == 1
    assert capfd.readouterr().out == written


def test_compare_tells_more_where_it_is_asked_to(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept("base.json", case("a", groundedness=1.0))
    kept("now.json", case("a", groundedness=0.5))
    assert _run(["compare", "base.json", "now.json"]) == 0
    assert "grounded" not in capfd.readouterr().out
    assert _run(["compare", "base.json", "now.json", "-v"]) == 0
    assert "  grounded 1.00 -> 0.50" in capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("names", [("none.json", "now.json"), ("now.json", "none.json")])
def test_compare_refuses_what_it_cannot_read_and_writes_nothing(
    here: Path, capfd: pytest.CaptureFixture[str], names: tuple[str, str]
) -> None:
    kept("now.json", case("a"))
    assert _run(["compare", *names, "--json-out", "changed.json"]) == 2
    assert capfd.readouterr() == (
        "",
        "error: none.json: no such file\nhint: a relative path is taken from the current folder\n",
    )
    assert [path.name for path in here.iterdir()] == ["now.json"]


# golden bless


def test_bless_makes_results_the_baseline(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept("base.json", case("a"))
    kept("now.json", case("a", "failed"), case("b"), case("c", "skipped"))
    Path("base.json").chmod(0o640)
    assert _run(["bless", "now.json", "--to", "base.json"]) == 0
    assert capfd.readouterr().out == "base.json: 3 cases: 1 passed, 1 failed, 1 skipped\n"
    assert Path("base.json").read_bytes() == Path("now.json").read_bytes()
    assert stat.S_IMODE(Path("base.json").stat().st_mode) == 0o640
    assert _run(["compare", "base.json", "now.json"]) == 0


@pytest.mark.parametrize("status", ["error", "not_run"])
def test_bless_refuses_cases_without_a_verdict_and_leaves_the_baseline(
    here: Path, capfd: pytest.CaptureFixture[str], status: str
) -> None:
    before = kept("base.json", case("a")).read_bytes()
    kept("now.json", case("a", status))  # type: ignore[arg-type]  # a status
    assert _run(["bless", "now.json", "--to", "base.json"]) == 2
    assert "1 of 1 cases have no verdict: a" in capfd.readouterr().err
    assert Path("base.json").read_bytes() == before
    assert {path.name for path in here.iterdir()} == {"base.json", "now.json"}


def test_bless_forgets_what_an_older_baseline_said(golden_run: Program) -> None:
    Path("base.json").write_text(golden_run(*WELL).written, encoding="utf-8")
    golden_run(*ILL, "--baseline", "base.json")
    assert _run(["bless", "results.json", "--to", "base.json"]) == 0
    told = json.loads(Path("base.json").read_text(encoding="utf-8"))
    assert (told["comparison"], told["results"][0]["change"]) == (None, None)


def test_merged_shards_have_no_change_of_their_parts(golden_run: Program, capfd: pytest.CaptureFixture[str]) -> None:
    Path("base.json").write_text(golden_run(*WELL, cases=[A, B]).written, encoding="utf-8")
    for part in (1, 2):
        ran = golden_run(*WELL, "--baseline", "base.json", "--shard", f"{part}/2", cases=[A, B])
        Path(f"part-{part}.json").write_text(ran.written, encoding="utf-8")
    assert _run(["merge", "part-1.json", "part-2.json", "--json-out", "-"]) == 0
    whole = read(capfd.readouterr().out)
    assert (whole.comparison, {each.change for each in whole.results}) == (None, {None})


def test_bless_refuses_a_shard(here: Path) -> None:
    kept("now.json", run=run_of(case("a"), shard=ShardResult(index=1, count=2, cases=("a", "b"))))
    assert _run(["bless", "now.json", "--to", "base.json"]) == 2
    assert not Path("base.json").exists()


def test_bless_warns_of_cases_that_were_left_out(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept("now.json", run=run_of(case("a"), unselected=("b", "c")))
    assert _run(["bless", "now.json", "--to", "base.json"]) == 0
    said = "warning: now.json: its run left 2 cases out: they are not in the baseline, and are new later\n"
    assert capfd.readouterr().err == said
