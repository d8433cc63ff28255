"""Reports written again from results files, and what a results file keeps of events."""

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import reports
from golden.__main__ import _run
from golden.log import Entry, Log
from golden.result import RunResult, read, write
from tests.program import Program
from tests.test_baselines import ILL, WELL, A, B
from tests.values import covering, judged, run_of, turn

FIRST = Path(__file__).parent / "data" / "results" / "first.json"
"""What the first golden wrote, of the demo agent with `wrong-tool` broken."""


def test_each_report_is_written_again_as_the_run_wrote_it(
    golden_run: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("base.json").write_text(golden_run(*WELL, cases=[A, B]).written, encoding="utf-8")
    outputs = [option for suffix in reports.by_suffix() for option in ("--out", f"live{suffix}")]
    ran = golden_run(*ILL, "--baseline", "base.json", *outputs, cases=[A, B])
    assert ran.out.startswith("golden: 1 regressed, 1 unchanged\n")
    assert _run(["report", "results.json", *(option.replace("live", "again") for option in outputs), "--out", "-"]) == 0
    assert capfd.readouterr() == (ran.out, "")
    for suffix in reports.by_suffix():
        written = [Path(f"{name}{suffix}").read_text(encoding="utf-8") for name in ("live", "again")]
        assert written[0] == written[1]
        assert "regressed" in written[0].lower()


def test_what_the_first_golden_wrote_is_reported_and_compared_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [option for suffix in reports.by_suffix() for option in ("--out", f"again{suffix}")]
    assert _run(["report", str(FIRST), *outputs]) == 0
    told = Path("again.txt").read_text(encoding="utf-8")
    assert told.startswith("golden: 1 of 2 cases failed, 1 passed\n")
    assert "  expected_tools: expected a call of get_quote; called: get_news\n" in told
    again, first = (json.loads(path.read_text(encoding="utf-8")) for path in (Path("again.json"), FIRST))
    for new, old in zip(again["results"], first["results"], strict=True):
        assert {key: new[key] for key in old.keys() - {"attempts"}} == {
            key: old[key] for key in old.keys() - {"attempts"}
        }
    assert again["summary"] == first["summary"]
    assert _run(["compare", str(FIRST), "again.json"]) == 0
    assert "golden: nothing regressed, nothing fixed, 1 still failing, 1 unchanged" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.json", "--out", "a.txt"], "none.json: no such file"),
        (["results.json", "--out", "a.doc"], "--out a.doc: no report has the suffix '.doc'"),
        (["results.json", "--out", "a.txt", "--out", "a.txt"], "a.txt is named twice as an output"),
        (["results.json", "--out", "-", "--out", "-"], "standard output is named twice"),
        (["results.json", "--out", "nowhere/a.txt"], "cannot write nowhere/a.txt: No such file or directory"),
        (["results.json"], "Missing option '--out'"),
    ],
)
def test_what_cannot_be_reported_is_wrong_usage(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results.json").write_text(write(run_of(judged({"max_tool_calls": 1}, turn()))), encoding="utf-8")
    assert _run(["report", *arguments]) == 2
    assert said in capfd.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"results.json"}


def test_a_report_that_cannot_be_written_keeps_no_other_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("full.txt").symlink_to("/dev/full")
    assert _run(["report", str(FIRST), "--out", "full.txt", "--out", "kept.txt"]) == 2
    assert capfd.readouterr().err == "error: cannot write full.txt: No space left on device\n"
    assert Path("kept.txt").read_text(encoding="utf-8").startswith("golden: 1 of 2 cases failed")


ENTRIES = st.lists(
    st.tuples(st.floats(0, 1e6), st.sampled_from(["", "token", "done", "naïve"]), st.sampled_from(["", "text", "end"]))
)


@given(ENTRIES, st.integers(-3, 3), st.integers(-3, 3))
def test_a_log_reads_as_a_tuple_of_its_entries(entries: list[Entry], one: int, other: int) -> None:
    log, told = Log(entries), tuple(entries)
    assert log == told
    assert log == Log(entries)
    assert (len(log), [*log], repr(log), log[one:other]) == (len(told), [*told], repr(told), told[one:other])
    assert [log[at] for at in range(-len(log), len(log))] == [*told, *told]
    assert log != [*told]
    assert pickle.loads(pickle.dumps(log)) == log  # noqa: S301  # its own
    with pytest.raises(IndexError):
        log[len(log)]


def test_names_of_events_show_no_secret_in_results_and_are_read_back_equal() -> None:
    seen = ((0.1, "token", "text"), (0.2, "my secret", ""), (0.3, "token", "text"))
    result = judged({"max_tool_calls": 1}, turn(events=seen), secrets=covering("my secret"))
    (told,) = result.turns
    assert told.events == ((0.1, "token", "text"), (0.2, "█" * 9, ""), (0.3, "token", "text"))
    run = run_of(result)
    again: RunResult = read(write(run))
    assert again == run
    assert type(again.results[0].turns[0].events) is Log
