"""Which cases are run, and the parts of a run that machines share (contract 2)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from golden.__main__ import _run
from golden.result import CaseResult, RunResult, read
from tests.program import CASE, Outcome, Program
from tests.scripted import Chunks, named, says

CASES: list[dict[str, object]] = [
    {**CASE, "id": "quote-apple", "question": "What is Apple at?", "tags": ["market", "quote"]},
    {**CASE, "id": "Quote-Tesla", "question": "What is TESLA at?", "tags": ["market"]},
    {**CASE, "id": "talk", "question": None, "turns": [{"question": "What do I own?"}, {"question": "Straße?"}]},
    {**CASE, "id": "later", "question": "Any news?", "tags": ["Market"], "skip": "not yet"},
]
IDS = [str(case["id"]) for case in CASES]

MANY: list[dict[str, object]] = [
    {**CASE, "id": f"case {number}", "question": f"{number}", **({"skip": "not yet"} if number == 7 else {})}
    for number in range(12)
]

WELL = named(lambda question: says("All is well."))


def failing(*questions: str) -> str:
    """An agent that is wrong about these questions."""

    def answer(question: str) -> Chunks:
        return says("All is lost." if question in questions else "All is well.")

    return named(answer)


def ids(ran: Outcome) -> list[str]:
    return [each.case_id for each in ran.run.results]


# Options


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ([], IDS),
        (["--case", "talk"], ["talk"]),
        (["--case", "talk", "--case", "quote-apple"], ["quote-apple", "talk"]),
        (["--case", "talk", "--case", "none"], ["talk"]),
        (["--tag", "market"], ["quote-apple", "Quote-Tesla"]),
        (["--tag", "quote", "--tag", "Market"], ["quote-apple", "later"]),
        (["--match", "APPLE"], ["quote-apple"]),
        (["-k", "quote-t"], ["Quote-Tesla"]),
        (["-k", "market"], ["quote-apple", "Quote-Tesla", "later"]),
        (["-k", "STRASSE"], ["talk"]),
        (["-k", "own", "-k", "news"], ["talk", "later"]),
        (["-k", "quote", "--tag", "market", "--case", "Quote-Tesla"], ["Quote-Tesla"]),
    ],
)
def test_each_option_lets_cases_through_and_all_options_must(
    options: list[str], chosen: list[str], golden_run: Program
) -> None:
    ran = golden_run("--agent", WELL, *options, cases=CASES)
    assert (ran.code, ids(ran)) == (0, chosen)
    assert ("warning: no case is called 'none'" in ran.err) == ("none" in options)


@pytest.mark.parametrize(
    "options",
    [
        ["--case", "none"],
        ["--case", "quote-tesla"],
        ["--tag", "MARKET"],
        ["--match", "pear"],
        ["--tag", "quote", "--case", "talk"],
        ["--case", "none", "--shard", "1/2"],
    ],
)
def test_a_selection_that_lets_no_case_through_is_wrong_usage(options: list[str], golden_run: Program) -> None:
    ran = golden_run("--agent", WELL, *options, cases=CASES)
    assert (ran.code, ran.written) == (2, "")
    assert "error: no case is selected\n" in ran.err
    assert "hint: --case, --tag, --match and --failed must all let a case through" in ran.err


def test_cases_of_several_suites_are_selected_together(golden_run: Program) -> None:
    for name in ("more", "third"):
        Path(f"{name}.json").write_text(json.dumps({"cases": [{**CASE, "id": name}]}), encoding="utf-8")
    ran = golden_run("more.json", "third.json", "--agent", WELL, "--case", "third", "--case", "talk", cases=CASES)
    assert ids(ran) == ["talk", "third"]
    assert [suite.path for suite in ran.run.run.suites] == ["suite.json", "third.json"]


# Only what did not pass


def test_only_the_cases_that_did_not_pass_there_are_run_again(golden_run: Program) -> None:
    before = golden_run("--agent", failing("1", "4"), "--concurrency", 1, "--bail", cases=MANY)
    assert Counter(before.statuses) == {"passed": 1, "failed": 1, "skipped": 1, "not_run": 9}
    Path("before.json").write_text(before.written, encoding="utf-8")
    left = [f"case {number}" for number in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11)]
    again = golden_run("--agent", failing("4"), "--failed", "before.json", cases=MANY)
    assert (again.code, ids(again)) == (1, left)
    Path("before.json").write_text(again.written, encoding="utf-8")
    last = golden_run("--agent", WELL, "--failed", "before.json", cases=MANY)
    assert (last.code, ids(last)) == (0, ["case 4"])
    Path("before.json").write_text(last.written, encoding="utf-8")
    none = golden_run("--agent", WELL, "--failed", "before.json", cases=MANY)
    assert none.code == 2
    assert "no case is selected\nhint: every case passed there" in none.err


def test_what_did_not_pass_there_is_chosen_from_as_any_case_is(golden_run: Program) -> None:
    before = golden_run("--agent", failing("1", "4", "5"), cases=MANY).written
    Path("before.json").write_text(before, encoding="utf-8")
    options = ["--agent", WELL, "--failed", "before.json"]
    renamed = [{**case, "id": str(case["id"]).upper()} for case in MANY]  # case does not tell ids apart
    assert ids(golden_run(*options, "-k", "5", cases=renamed)) == ["CASE 5"]
    ran = golden_run(*options, "--case", "case 2", cases=MANY)
    assert ran.code == 2
    assert "--failed must all let a case through" in ran.err


def test_results_that_cannot_be_read_are_wrong_usage(golden_run: Program) -> None:
    asked: list[str] = []
    agent = named(asked.append)
    Path("no.json").write_text('{"cases": []}', encoding="utf-8")
    for name, said in (("nowhere.json", "nowhere.json: no such file"), ("no.json", "no.json: ")):
        ran = golden_run("--agent", agent, "--failed", name)
        assert (ran.code, asked) == (2, [])
        assert said in ran.err


# Shards


def shards(golden_run: Program, count: int, *options: str) -> list[str]:
    """Runs each part of a run, and returns the files of its results."""
    files = []
    for index in range(1, count + 1):
        ran = golden_run(*options, "--shard", f"{index}/{count}", cases=MANY)
        assert ran.code == ran.run.exit_code
        files.append(f"part-{index}.json")
        Path(files[-1]).write_text(ran.written, encoding="utf-8")
    return files


def untimed(run: RunResult) -> list[CaseResult]:
    """The results without how long each took."""
    return [each.model_copy(update={"turns": tuple(turn.answer for turn in each.turns)}) for each in run.results]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_parts_of_a_run_join_to_the_whole_case_by_case(
    count: int, golden_run: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = failing("3", "8")
    options = ["--agent", agent, "--trials", "2", "-k", "case"]
    whole = golden_run(*options, cases=MANY)
    files = shards(golden_run, count, *options)
    assert _run(["merge", *reversed(files), "--json-out", "merged.json"]) == whole.code == 1
    assert "2 of 12 cases failed" in capfd.readouterr().out
    assert _run(["merge", *files, "--json-out", "-"]) == 1
    assert read(capfd.readouterr().out) == read(Path("merged.json").read_text(encoding="utf-8"))
    joined = read(Path("merged.json").read_text(encoding="utf-8"))
    assert untimed(joined) == untimed(whole.run)
    counted = {"first_token_s", "total_s"}
    assert joined.summary.model_dump(exclude=counted) == whole.run.summary.model_dump(exclude=counted)
    assert joined.run.suites == whole.run.run.suites
    assert (joined.run.shard, joined.run.complete) == (None, True)


def test_each_case_is_in_one_part_and_stays_there_when_cases_come_and_go(golden_run: Program) -> None:
    options = ["--agent", WELL, "--shard"]
    parts = [ids(golden_run(*options, f"{index}/3", cases=MANY)) for index in (1, 2, 3)]
    assert sorted(each for part in parts for each in part) == sorted(str(case["id"]) for case in MANY)
    fewer = [ids(golden_run(*options, f"{index}/3", cases=MANY[::2])) for index in (1, 2, 3)]
    assert fewer == [[each for each in part if int(each[5:]) % 2 == 0] for part in parts]


def test_a_part_without_a_case_is_fine_and_joins_the_others(golden_run: Program) -> None:
    asked: list[str] = []

    def answer(question: str) -> Chunks:
        asked.append(question)
        return says("All is well.")

    files = []
    sizes = []
    for index in (1, 2, 3):
        ran = golden_run("--agent", named(answer), "--shard", f"{index}/3")
        assert ran.code == 0
        files.append(f"part-{index}.json")
        Path(files[-1]).write_text(ran.written, encoding="utf-8")
        sizes.append(len(ran.run.results))
        if not ran.run.results:
            assert "golden: no cases" in ran.out
    assert sorted(sizes) == [0, 0, 1]
    assert asked == [CASE["question"]]
    assert _run(["merge", *files, "--json-out", "merged.json"]) == 0
    assert [each.case_id for each in read(Path("merged.json").read_text(encoding="utf-8")).results] == ["well"]


def test_parts_that_are_not_all_of_one_run_are_refused(golden_run: Program, capfd: pytest.CaptureFixture[str]) -> None:
    files = shards(golden_run, 2, "--agent", WELL)
    other = golden_run("--agent", WELL, "--shard", "2/2", "-k", "case 1", cases=MANY)
    Path("other.json").write_text(other.written, encoding="utf-8")
    for given, said in (
        (files[:1], "missing shards: 2/2"),
        ([*files, files[1]], "shards given twice: 2/2"),
        ([files[0], "other.json"], "different selections: "),
    ):
        assert _run(["merge", *given, "--json-out", "merged.json"]) == 2
        assert said in capfd.readouterr().err
        assert not Path("merged.json").exists()


@pytest.mark.parametrize("part", ["0/2", "3/2", "2", "a/b", "1/0"])
def test_what_is_no_part_of_a_run_is_wrong_usage(part: str, golden_run: Program) -> None:
    ran = golden_run("--agent", WELL, "--shard", part)
    assert ran.code == 2
    assert f"--shard takes I/N, not '{part}'" in ran.err


def test_a_dry_run_shows_only_what_is_selected(golden_run: Program) -> None:
    shown = golden_run("--agent", WELL, "--dry-run", "--tag", "market", "--shard", "1/1", cases=CASES)
    assert (shown.code, shown.written) == (0, "")
    assert [line.partition(":")[0] for line in shown.out.splitlines() if line[0] != " "] == [
        "quote-apple",
        "Quote-Tesla",
    ]


def test_a_case_that_failed_there_and_is_gone_here_is_named(
    golden_run: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    before = golden_run("--agent", failing("3", "8"), "-k", "case", cases=MANY)
    Path("before.json").write_text(
        before.written.replace('"case_id":"case 3"', '"case_id":"renamed"'), encoding="utf-8"
    )
    ran = golden_run("--agent", failing("8"), "--failed", "before.json", cases=MANY)
    assert "before.json: no suite has the cases renamed" in ran.err
