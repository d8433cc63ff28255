import json
import os
import threading
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden.result_file
from golden.errors import UsageError
from golden.result import CaseResult, RunResult, ShardResult, Status, write
from golden.result_file import failed_ids, read_results
from golden.transcript import Failure
from tests.values import judged, run_of, turn

STATUSES: tuple[Status, ...] = get_args(Status)
HINT = "a results file is what `golden run --json-out F` writes; was this one cut, or changed by hand?"
TIMING = ("results", 0, "turns", 0, "timing", "total_s")
ASKED = {"expected_tools": ["a"], "groundedness_threshold": 0.5}


def case(case_id: str, status: Status = "passed") -> CaseResult:
    result = judged(ASKED, turn(scores=(0.5,)))
    return result.model_copy(update={"case_id": case_id, "status": status, "passed": status == "passed"})


RUN = run_of(case("a"), case("b", "failed"), shard=ShardResult(index=2, count=3, cases=("a", "b", "c")))


def changed(*path: str | int, to: object, run: RunResult = RUN) -> str:
    """A results file that says something else at one place."""
    document = part = json.loads(write(run))
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return json.dumps(document)


def kept(folder: Path, data: str | bytes) -> str:
    path = folder / "r.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def refused(path: str, hint: str | None = HINT) -> list[str]:
    """The lines of the error, with the file's name left out."""
    with pytest.raises(UsageError) as caught:
        read_results(path)
    assert caught.value.hint == hint
    assert caught.value.message.startswith(path)
    return [line.removeprefix(path).removeprefix(":").lstrip() for line in caught.value.message.split("\n")]


def refusal(folder: Path, data: str | bytes) -> str:
    (line,) = refused(kept(folder, data))
    return line


# What is read


def test_what_was_written_is_read_equal(tmp_path: Path) -> None:
    assert read_results(kept(tmp_path, write(RUN))) == RUN


def test_an_older_file_that_knows_no_shards_is_read(tmp_path: Path) -> None:
    document = json.loads(write(run_of(case("a"))))
    del document["run"]["shard"]
    assert read_results(kept(tmp_path, json.dumps(document))) == run_of(case("a"))


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    assert read_results(kept(tmp_path, "\ufeff" + write(RUN))) == RUN


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(write(RUN),))
    writer.start()
    assert read_results(str(pipe)) == RUN
    writer.join()


def test_arguments_as_deep_as_they_are_kept_are_read(tmp_path: Path) -> None:
    value: object = 1
    for _ in range(200):
        value = [value]
    text = changed("results", 0, "metadata", to={"deep": value})
    assert read_results(kept(tmp_path, text)).results[0].metadata["deep"] == value


def test_half_of_a_surrogate_pair_is_read(tmp_path: Path) -> None:
    text = changed("results", 0, "question", to="half \ud83d")
    assert read_results(kept(tmp_path, text)).results[0].question == "half \ud83d"


# What is refused: the file


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refused(str(tmp_path / "no.json"), "a relative path is taken from the current folder") == ["no such file"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refused(str(tmp_path), "name the results file in it") == ["a folder"]


def test_a_file_that_cannot_be_opened_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert refused(f"{kept(tmp_path, '{}')}/x", None) == ["cannot be read: Not a directory"]
    (line,) = refused("a\0b", None)
    assert line.startswith("cannot be read: embedded null")


def test_a_file_that_is_far_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = write(RUN)
    monkeypatch.setattr(golden.result_file, "_PIECE", 7)
    monkeypatch.setattr(golden.result_file, "_LARGEST", len(text))
    assert read_results(kept(tmp_path, text)) == RUN
    assert refusal(tmp_path, text + " " * 7) == "larger than 0 MiB"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless device here")
def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden.result_file, "_LARGEST", 2 * 1024**2)
    assert refused("/dev/zero") == ["larger than 2 MiB"]


def test_a_file_that_is_not_utf_8_is_refused_with_the_byte(tmp_path: Path) -> None:
    assert refusal(tmp_path, b'{"a": "\xff"}') == "not UTF-8 at byte 7: invalid start byte"
    assert refusal(tmp_path, write(RUN).encode("utf-16")) == "not UTF-8 at byte 0: invalid start byte"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1:1: no JSON: expecting value"),
        ("{\n  'a': 1}", "2:3: no JSON: expecting property name enclosed in double quotes"),
        ("{} {}", "1:4: no JSON: extra data"),
    ],
)
def test_a_file_that_is_no_json_is_refused_with_line_and_column(tmp_path: Path, text: str, problem: str) -> None:
    assert refusal(tmp_path, text) == problem


@given(st.integers(0, len(write(RUN)) - 3))
@settings(max_examples=50)
def test_a_file_that_was_cut_is_refused(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    assert "no JSON" in refusal(tmp_path_factory.getbasetemp(), write(RUN)[:at])


# What is refused: what stands in it


def test_a_file_of_a_newer_golden_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path, changed("schema", to="golden.results/2"))
    problem = 'written by a newer golden: its schema is "golden.results/2", this one reads golden.results/1'
    assert refused(path, "upgrade golden, or run again with this one") == [problem]


@pytest.mark.parametrize("path", [("run", "duration_s"), ("summary", "first_token_s", "p50"), TIMING], ids=str)
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_time_that_is_no_finite_number_is_refused(path: tuple[str | int, ...], text: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, changed(*path, to=text)).endswith(
        f"input should be a finite number, got {json.dumps(text)}"
    )


@pytest.mark.parametrize(
    ("passed", "run", "problem"),
    [
        (2, 1, ": 2 of 1 cannot have passed, there are 1 attempts"),
        (1, 9000, ": 1 of 9000 cannot have passed, there are 1 attempts"),
        (-1, 1, ".passed: input should be greater than or equal to 0, got -1"),
        (1, 10**9, ".run: input should be less than or equal to 10000, got 1000000000"),
    ],
)
def test_trials_that_cannot_have_been_are_refused(passed: int, run: int, problem: str, tmp_path: Path) -> None:
    line = refusal(tmp_path, changed("results", 0, "trials", to={"passed": passed, "run": run}))
    assert line == f"results[0].trials{problem}"


@pytest.mark.parametrize("schema", ["golden.recording/1", 1, None, ["golden.results/2"]])
def test_a_file_of_another_schema_is_refused(tmp_path: Path, schema: object) -> None:
    said = "a list" if isinstance(schema, list) else json.dumps(schema)
    problem = f"schema: input should be 'golden.results/1', got {said}"
    assert refusal(tmp_path, changed("schema", to=schema)) == problem


@pytest.mark.parametrize(("text", "got"), [("[]", "a list"), ("null", "null"), ('"text"', '"text"'), ("1", "1")])
def test_json_that_is_no_object_is_refused(tmp_path: Path, text: str, got: str) -> None:
    assert refusal(tmp_path, text) == f"expected an object, got {got}"


def test_json_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path, '{"name": "a package"}')
    assert refused(path) == ["run: missing", "summary: missing", "results: missing"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (
            ("run", "duration_s"),
            "soon",
            'run.duration_s: input should be a valid number, unable to parse string as a number, got "soon"',
        ),
        (("run", "target"), [], "run.target: expected an object, got a list"),
        (("run", "suites"), {}, "run.suites: expected a list, got an object"),
        (("results", 1, "case_id"), None, "results[1].case_id: input should be a valid string, got null"),
        (
            ("results", 0, "turns", 0, "timing", "total_s"),
            {},
            "results[0].turns[0].timing.total_s: input should be a valid number, got an object",
        ),
        (
            ("summary", "total"),
            1.5,
            "summary.total: input should be a valid integer, got a number with a fractional part, got 1.5",
        ),
        (("run", "shard", "index"), 4, "run.shard: there is no part 4 of 3, got an object"),
        (("run", "shard", "index"), 0, "run.shard.index: input should be greater than or equal to 1, got 0"),
        (
            ("run", "shard", "count"),
            10**9,
            "run.shard.count: input should be less than or equal to 10000, got 1000000000",
        ),
        (("run", "shard", "cases"), ["a", "a"], "run.shard: a case is named twice, got an object"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(
    tmp_path: Path, path: tuple[str | int, ...], value: object, problem: str
) -> None:
    assert refusal(tmp_path, changed(*path, to=value)) == problem


def test_a_status_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    line = refusal(tmp_path, changed("results", 0, "status", to="\x1b[2J"))
    assert line.startswith("results[0].status: input should be 'passed'")
    assert line.endswith(r'got "\u001b[2J"')


def test_the_first_few_of_many_faults_are_named(tmp_path: Path) -> None:
    *lines, last = refused(kept(tmp_path, changed("results", to=[1] * 1000)))
    assert lines == [f"results[{at}]: expected an object, got 1" for at in range(5)]
    assert last == "and 995 more"


@pytest.mark.parametrize("name", ["total", "passed", "failed", "errors", "skipped", "not_run"])
def test_a_summary_that_counts_other_results_is_refused(tmp_path: Path, name: str) -> None:
    count = {"total": 2, "passed": 1, "failed": 1}.get(name, 0)
    line = refusal(tmp_path, changed("summary", name, to=7))
    assert line == f"summary.{name}: 7, but there are {count} in the results"


def test_a_result_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    line = refusal(tmp_path, changed("results", 1, "passed", to=True))
    assert line == 'results[1].passed: true, but its status is "failed"'
    line = refusal(tmp_path, changed("summary", "all_passed", to=True))
    assert line == "summary.all_passed: true, and the results say otherwise"


def test_a_file_whose_results_were_taken_out_is_refused(tmp_path: Path) -> None:
    lines = refused(kept(tmp_path, changed("results", to=[])))
    assert lines[0] == "summary.total: 2, but there are 0 in the results"


@pytest.mark.parametrize(("first", "second"), [("a", "a"), ("a", "A"), ("\u00e9", "e\u0301")])
def test_a_case_that_comes_twice_is_refused(tmp_path: Path, first: str, second: str) -> None:
    run = run_of(case("x"), case(first), case(second))
    assert refusal(tmp_path, write(run)) == (
        f"results[2].case_id: {json.dumps(second, ensure_ascii=False)} is the id of results[1] too"
    )


NUMBER = "holds a number that is not finite, or has too many digits to be read"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000])
@pytest.mark.parametrize("place", [("run", "duration_s"), ("results", 0, "line"), ("results", 0, "metadata", "x")])
def test_a_number_that_cannot_be_one_is_refused_wherever_it_stands(
    tmp_path: Path, number: str, place: tuple[str | int, ...]
) -> None:
    text = changed(*place, to="HERE").replace('"HERE"', number)
    assert refusal(tmp_path, text) == NUMBER


def test_a_huge_number_is_refused_where_seconds_stand_and_read_where_anything_may(tmp_path: Path) -> None:
    assert refusal(tmp_path, changed("run", "duration_s", to=10**400)).startswith("run.duration_s: ")
    assert refusal(tmp_path, changed("summary", "total", to=10**4000)).startswith("summary.total: 1000")
    text = changed("results", 0, "metadata", to={"x": 10**4000})
    assert read_results(kept(tmp_path, text)).results[0].metadata == {"x": 10**4000}


@pytest.mark.parametrize("depth", [300, 900, 3000, 100_000])
@pytest.mark.parametrize("extra", ["", "\ud83d"])
def test_what_is_nested_too_deep_to_be_written_again_is_refused(tmp_path: Path, depth: int, extra: str) -> None:
    text = changed("results", 0, "metadata", to={"x": "HERE", "y": extra})
    assert refusal(tmp_path, text.replace('"HERE"', "[" * depth + "]" * depth)) == "nested too deep"


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inner = [*value.items()]
    elif isinstance(value, list):
        inner = [*enumerate(value)]
    return [found for key, item in inner for found in ((*path, key), *places(item, (*path, key)))]


@given(st.sampled_from(places(json.loads(write(RUN)))), JSON)
@settings(max_examples=300)
def test_a_file_that_was_changed_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[str | int, ...], value: object
) -> None:
    path = kept(tmp_path_factory.getbasetemp(), changed(*place, to=value))
    try:
        run = read_results(path)
    except UsageError as error:
        assert error.message.startswith(path)  # noqa: PT017  # either is right
    else:
        write(run)


# The cases that did not pass


def test_the_cases_that_did_not_pass_are_those_to_ask_again() -> None:
    run = run_of(*(case(status, status) for status in STATUSES))
    assert failed_ids(run) == ["failed", "error", "not_run"]


def test_a_case_that_errored_for_want_of_an_answer_did_not_pass() -> None:
    run = run_of(judged(ASKED, turn("", error=Failure("cut", "it was cut"))))
    assert failed_ids(run) == ["well"]


def test_a_run_in_which_all_passed_has_none() -> None:
    assert failed_ids(run_of(case("a"), case("b", "skipped"))) == []
