import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from golden.errors import Fault, SuiteError
from golden.suite import Case, Suite
from golden.suite_file import dump_suite, load_suite, load_suites
from tests.suites import CASE, fault, faults, write


def test_a_suite_is_read_with_its_path_and_the_hash_of_its_bytes(tmp_path: Path) -> None:
    document = {
        "version": 1,
        "description": "d",
        "model": "m",
        "system_prompt": "",
        "requires_env": ["A"],
        "cases": [CASE],
    }
    path = write(tmp_path, document)
    suite = load_suite(path)
    assert suite.path == path
    assert suite.sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert suite.model_dump(exclude_unset=True) == document
    assert suite.cases[0].line is None


def test_a_path_is_kept_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"cases": [CASE]})
    monkeypatch.chdir(tmp_path)
    assert load_suite(Path("s.json")).path == "s.json"


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert load_suite(write(tmp_path, b"\xef\xbb\xbf" + json.dumps({"cases": [CASE]}).encode())).cases[0].id == "a"


def test_the_other_spellings_are_read(tmp_path: Path) -> None:
    suite = load_suite(
        write(
            tmp_path,
            {
                "systemPrompt": "s",
                "defaults": {"timeoutMs": 30000, "forbiddenPhrases": ["x"]},
                "prompts": [{"prompt": "What is 2 plus 2?", "expectNoToolCall": True, "maxFirstTokenS": 1}],
            },
        )
    )
    assert suite == Suite(
        system_prompt="s",
        cases=[
            Case(
                question="What is 2 plus 2?",
                expect_no_tool_call=True,
                max_first_token_s=1,
                timeout_s=30,
                forbidden_phrases=["x"],
            )
        ],
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ("", "empty", 'a suite is an object: {"cases": [...]}')),
        (b" \n", ("", "empty", 'a suite is an object: {"cases": [...]}')),
        (b"[]", ("", "expected an object, got []", 'a suite is an object: {"cases": [...]}')),
        (
            b'"\\u001b[31m\xc2\x9b"',
            ("", r'expected an object, got "\u001b[31m\u009b"', 'a suite is an object: {"cases": [...]}'),
        ),
        (b'{"cases": [\n  {"id": "a" "b"}]}', (":2:14", "no JSON: expecting ',' delimiter", "JSON")),
        (b'{"a": "\t"}', (":1:8", "no JSON: invalid control character at", "JSON")),
        ('{\n "é": "'.encode() + b'\xff"}', (":2:8", "not UTF-8: invalid start byte", "save the file as UTF-8")),
        (b"\xff\xfe{\0}\0", (":1:1", "not UTF-8: invalid start byte", "save the file as UTF-8")),
        (b"[" * 100_000, ("", "nested more than 100 deep", "")),
        (
            b'{"defaults": ' + b'{"metadata": ' * 100 + b"1" + b"}" * 101,
            ("defaults: metadata.metadata", "nested more than 100 deep", ""),
        ),
        (b'{"cases": ' + b"1" * 5000 + b"}", ("", "a number has more digits than can be read", "")),
    ],
)
def test_what_is_no_json_object_is_refused_where_it_breaks(
    tmp_path: Path, data: bytes, expected: tuple[str, str, str]
) -> None:
    place, problem, remedy = fault(tmp_path, data)
    assert (place, problem) == expected[:2]
    assert remedy.startswith(expected[2])


def test_what_is_nested_within_the_bound_is_read(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(96):  # below the list of cases, the case, its metadata and their `a`
        deep = [deep]
    assert load_suite(write(tmp_path, {"cases": [{**CASE, "metadata": {"a": deep}}]})).cases[0].metadata == {"a": deep}
    (told,) = faults(tmp_path, {"cases": [{**CASE, "metadata": {"a": [deep]}}]})
    assert told == ('cases[0] "a": metadata', "nested more than 100 deep", "")


def test_what_json_itself_lets_pass_is_refused(tmp_path: Path) -> None:
    text = (
        '{"model": "a", "model": "b", "cases": [{"id": "x"}], "cases": [{"id": "a", "question": "\\ud83d", '
        '"clean_stream": true, "max_total_s": NaN, "metadata": {"a b": [1e999, {"c": 1, "c": 1}], "\\udc00": -1e999}}]}'
    )
    assert faults(tmp_path, text.encode()) == [
        ("model", "the key comes twice", ""),
        ("cases", "the key comes twice", ""),
        ('cases[0] "a": question', r'half of a surrogate pair stands alone in "\ud83d"', ""),
        ('cases[0] "a": max_total_s', "expected a finite number, got NaN", ""),
        ('cases[0] "a": metadata."a b"[0]', "expected a finite number, got Infinity", ""),
        ('cases[0] "a": metadata."a b"[1].c', "the key comes twice", ""),
        (r'cases[0] "a": metadata."\udc00"', r'half of a surrogate pair stands alone in "\udc00"', ""),
        (r'cases[0] "a": metadata."\udc00"', "expected a finite number, got -Infinity", ""),
    ]


def test_cases_that_are_no_list_are_no_crash(tmp_path: Path) -> None:
    told = faults(tmp_path, b'{"prompts": {"\\udc00": {"a": 1, "a": 2}}, "cases": {"0": []}}')
    assert [place for place, _, _ in told] == [r'prompts."\udc00"', r'prompts."\udc00".a', "cases", "prompts"]


def test_an_id_made_of_a_broken_question_is_no_crash(tmp_path: Path) -> None:
    place, problem, _ = fault(tmp_path, b'{"cases": [{"question": "\\ud83d", "clean_stream": true}]}')
    assert place.startswith("cases[0] ")
    assert place.endswith(": question")
    assert problem == r'half of a surrogate pair stands alone in "\ud83d"'


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, ("cases", "missing", "")),
        ({"cases": []}, ("cases", "expected at least one item, got []", "")),
        ({"prompts": {}}, ("prompts", "expected a list, got {}", "")),
        ({"cases": "x"}, ("cases", 'expected a list, got "x"', 'write ["x"]')),
        ({"cases": [CASE], "version": 2}, ("version", "expected at most 1, got 2", "")),
        ({"cases": [CASE], "version": True}, ("version", "expected a whole number, got true", "")),
        (
            {"cases": [CASE], "prompts": []},
            ("prompts", "the same field as `cases`, which is given too", "keep one of them"),
        ),
        ({"cases": [CASE], "requires_env": "A"}, ("requires_env", 'expected a list, got "A"', 'write ["A"]')),
        ({"cases": [CASE], "requiresEnv": [" "]}, ("requiresEnv[0]", 'expected text that is not blank, got " "', "")),
        ({"cases": [CASE], "sytem_prompt": ""}, ("sytem_prompt", "unknown field", "did you mean 'system_prompt'?")),
        ({"cases": [CASE], "clean_stream": True}, ("clean_stream", "unknown field", "it belongs in a case")),
        ({"cases": [CASE], "path": ""}, ("path", "unknown field", "")),
        ({"cases": [CASE], "defaults": []}, ("defaults", "expected an object, got []", "")),
        ({"cases": [CASE], "defaults": {"id": "x"}}, ("defaults: id", "unknown field", "it belongs in a case")),
        ({"cases": [3]}, ("cases[0]", "expected an object, got 3", "")),
    ],
)
def test_a_fault_of_the_suite_is_told_in_its_place(
    tmp_path: Path, document: object, expected: tuple[str, str, str]
) -> None:
    assert fault(tmp_path, document) == expected


@pytest.mark.parametrize(
    ("field", "value", "place", "problem", "remedy"),
    [
        ("expected_tools", "a", "", 'expected a list, got "a"', 'write ["a"]'),
        ("expectedTools", [1], "[0]", "expected text, got 1", ""),
        ("forbidden_tools", [""], "[0]", 'expected text that is not blank, got ""', ""),
        ("forbidden_tools", None, "", "expected a list, got null", ""),
        ("expect_no_tool_call", 1, "", "expected true or false, got 1", ""),
        ("forbidden_phrases", [["a"]], "[0]", 'expected a phrase or {"regex": "..."}, got ["a"]', ""),
        ("forbidden_phrases", [7], "[0]", "expected text, got 7", ""),
        ("forbidden_phrases", ["x", "**"], "[1]", "nothing is left of the phrase when it is folded", "white"),
        ("forbiddenPhrases", [{"regex": "a("}], "[0].regex", "bad pattern: missing ) at position 2", ""),
        (
            "forbidden_phrases",
            [{"regex": "a" * 4001}],
            "[0].regex",
            f'expected at most 4000 characters, got "{"a" * 58}…',
            "",
        ),
        ("forbidden_phrases", [{"regex": 3}], "[0].regex", "expected text, got 3", ""),
        ("forbidden_phrases", [{"regex": "a", "flags": 1}], "[0].flags", "unknown field", ""),
        ("required_phrases", [["a", []]], "[0][1]", 'expected a phrase or {"regex": "..."}, got []', ""),
        ("required_phrases", [[]], "[0]", "expected at least one item, got []", ""),
        ("groundedness_threshold", 80, "", "expected at most 1, got 80", ""),
        ("groundedness_threshold", -0.1, "", "expected at least 0, got -0.1", ""),
        ("groundedness_threshold", "0.5", "", 'expected a number, got "0.5"', ""),
        ("groundedness_threshold", True, "", "expected a number, got true", ""),
        ("max_tool_calls", -1, "", "expected at least 0, got -1", ""),
        ("maxToolCalls", 1.5, "", "expected a whole number, got 1.5", ""),
        ("max_first_token_s", 0, "", "expected more than 0, got 0", ""),
        ("max_total_s", -1, "", "expected more than 0, got -1", ""),
        ("clean_stream", "yes", "", 'expected true or false, got "yes"', ""),
        ("timeout_s", 0, "", "expected more than 0, got 0", ""),
        ("timeoutMs", -5, "", "expected more than 0, got -5", ""),
        ("timeoutMs", "5", "", 'expected a number, got "5"', ""),
        ("model", "", "", 'expected text that is not blank, got ""', ""),
        ("system_prompt", 1, "", "expected text, got 1", ""),
        ("tags", "a", "", 'expected a list, got "a"', 'write ["a"]'),
        ("metadata", [], "", "expected an object, got []", ""),
        ("skip", True, "", "expected text, got true", "give the reason, as text"),
        ("skip", 1, "", "expected text, got 1", ""),
        ("xfail", True, "", "expected text, got true", "give the reason, as text"),
        ("scorers", "a:b", "", 'expected a list, got "a:b"', 'write ["a:b"]'),
        ("scorers", ["a:b", "a.b"], "[1]", 'expected MODULE:NAME, got "a.b"', ""),
        ("retries", -1, "", "expected at least 0, got -1", ""),
        ("retries", 1.0, "", "expected a whole number, got 1.0", ""),
        ("trials", 0, "", "expected at least 1, got 0", ""),
        ("trials", 10_001, "", "expected at most 10000, got 10001", ""),
        ("simulatedTools", [" "], "[0]", 'expected text that is not blank, got " "', ""),
        ("min_count", 2, "", "unknown field", "it belongs in a tool expectation, beside `tool` or `any_of`"),
        ("prompt", "x", "", "the same field as `question`, which is given too", "keep one of them"),
        ("id", None, "", "expected text, got null", ""),
        ("requires_env", [], "", "unknown field", "it belongs in the suite itself"),
        ("expectedTool", ["x"], "", "unknown field", "did you mean 'expectedTools'?"),
        ("forbiden_phrases", ["x"], "", "unknown field", "did you mean 'forbidden_phrases'?"),
    ],
)
def test_a_fault_of_a_case_is_told_in_its_place(
    tmp_path: Path, field: str, value: object, place: str, problem: str, remedy: str
) -> None:
    label = ' "what-is-aapl-at"' if field == "id" else ' "a"'
    told = fault(tmp_path, {"cases": [{"id": "a", "question": "What is AAPL at?", "max_total_s": 9, field: value}]})
    assert told[:2] == (f"cases[0]{label}: {field}{place}", problem)
    assert told[2].startswith(remedy)
    assert bool(told[2]) == bool(remedy)


def test_a_question_that_is_missing_or_blank_or_no_text_is_told(tmp_path: Path) -> None:
    checks = {"clean_stream": True}
    cases = [checks, {**checks, "prompt": " "}, {**checks, "question": 3}, {"id": "x", **checks}]
    assert faults(tmp_path, {"cases": cases}) == [
        ("cases[0]", "nothing is asked", "give a `question`, or `turns`"),
        ('cases[1] "-36a9e7": prompt', 'expected text that is not blank, got " "', ""),
        ("cases[2]: question", "expected text, got 3", ""),
        ('cases[3] "x"', "nothing is asked", "give a `question`, or `turns`"),
    ]


def test_a_case_that_checks_nothing_is_told_once_it_is_otherwise_sound(tmp_path: Path) -> None:
    remedy = "say what must hold, for example `expected_tools`"
    assert faults(tmp_path, {"cases": [{"question": "q"}, {"question": "p", "expectd_tools": ["x"]}]}) == [
        ('cases[0] "q"', "the case checks nothing", remedy),
        ('cases[1] "p": expectd_tools', "unknown field", "did you mean 'expected_tools'?"),
    ]


def test_faults_of_the_defaults_are_told_once_and_leave_the_cases_alone(tmp_path: Path) -> None:
    defaults = {"groundednessThreshold": 3, "max_tool_calls": "1", "tags": ["t"], "maxToolCalls": 2}
    assert faults(tmp_path, {"defaults": defaults, "cases": [{"question": "p"}, {"question": "q", "skip": ""}]}) == [
        ("defaults: maxToolCalls", "the same field as `max_tool_calls`, which is given too", "keep one of them"),
        ("defaults: groundednessThreshold", "expected at most 1, got 3", ""),
        ("defaults: max_tool_calls", 'expected a whole number, got "1"', ""),
        ('cases[1] "q": skip', 'expected text that is not blank, got ""', ""),
    ]


def test_a_contradiction_with_the_defaults_is_told_beside_other_faults(tmp_path: Path) -> None:
    case: dict[str, Any] = {"question": "q", "expectNoToolCall": True}
    document = {"defaults": {"expectedTools": ["x"]}, "cases": [case]}
    contradiction = (
        'cases[0] "q"',
        "`expect_no_tool_call` and `expected_tools` exclude each other",
        "keep one of them",
    )
    assert faults(tmp_path, document) == [contradiction]
    case["skip"] = 1
    assert faults(tmp_path, document) == [('cases[0] "q": skip', "expected text, got 1", ""), contradiction]
    del case["skip"]
    case["expected_tools"] = []
    assert load_suite(write(tmp_path, document)).cases[0].expect_no_tool_call


def test_ids_that_come_twice_are_told_beside_other_faults(tmp_path: Path) -> None:
    cases = [
        {"question": "Hi?", "clean_stream": True},
        {"question": "Hi?", "clean_stream": 1},
        {"question": "hi!", "clean_stream": True},
        {"question": "other", "id": "HI", "clean_stream": True},
        {"question": "other", "id": "a/b", "clean_stream": True},
    ]
    assert faults(tmp_path, {"cases": cases}) == [
        ('cases[1] "hi": clean_stream', "expected true or false, got 1", ""),
        ('cases[1] "hi"', 'the same question as FILE: cases[0] "hi"', "give one of them an `id`"),
        ('cases[2] "hi"', '"hi" is the id of FILE: cases[0] "hi" too', "give one of them another `id`"),
        ('cases[3] "HI": id', '"HI" is the id of FILE: cases[0] "hi" too', "give one of them another `id`"),
        ('cases[4] "a/b": id', 'an id has none of / \\ : * ? " < > |', "give the case another `id`"),
    ]


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    one = write(tmp_path, {"cases": [CASE, {**CASE, "id": "b", "max_tool_calls": -1}]}, "one.json")
    two = write(tmp_path, {"cases": [{**CASE, "id": "A"}]}, "two.json")
    gone = str(tmp_path / "gone.json")
    with pytest.raises(SuiteError) as caught:
        load_suites([one, two, gone, tmp_path, f"{tmp_path}/../{tmp_path.name}/two.json", "nul\0"])
    assert caught.value.faults == (
        Fault(f'{one}: cases[1] "b": max_tool_calls', "expected at least 0, got -1"),
        Fault(f'{two}: cases[0] "A": id', f'"A" is the id of {one}: cases[0] "a" too', "give one of them another `id`"),
        Fault(gone, "no such file", "a relative path is taken from the current folder"),
        Fault(str(tmp_path), "a folder", "name the suite files in it"),
        Fault(f"{tmp_path}/../{tmp_path.name}/two.json", f"the same file as {two}", "name it once"),
        Fault("nul\0", "cannot be read: embedded null byte"),
    )
    assert caught.value.exit_code == 2


def test_several_sound_files_are_read_in_order(tmp_path: Path) -> None:
    paths = [write(tmp_path, {"cases": [{**CASE, "id": name}]}, f"{name}.json") for name in "ba"]
    assert [suite.path for suite in load_suites(paths)] == paths


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = tmp_path / "loop.json"
    path.symlink_to(path)
    with pytest.raises(SuiteError, match=re.escape(f"{path}: cannot be read: Too many levels of symbolic links")):
        load_suite(path)


def test_a_symbolic_link_is_followed_unless_that_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, {"cases": [CASE]})
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert load_suite(link) == load_suite(path, follow_links=False)
    with pytest.raises(SuiteError) as caught:
        load_suite(link, follow_links=False)
    assert caught.value.faults[0][:2] == (str(link), "a symbolic link")


def test_a_long_value_is_shown_short(tmp_path: Path) -> None:
    _, problem, _ = fault(tmp_path, {"cases": [{**CASE, "metadata": ["x" * 100]}]})
    assert problem == f'expected an object, got ["{"x" * 57}…'


def test_a_suite_is_written_for_people_to_read(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, {"defaults": {"skip": "später"}, "cases": [CASE]}))
    assert dump_suite(suite) == (
        "{\n"
        '  "cases": [\n'
        "    {\n"
        '      "id": "a",\n'
        '      "question": "What is AAPL at?",\n'
        '      "expected_tools": [\n'
        '        "get_quote"\n'
        "      ],\n"
        '      "skip": "später"\n'
        "    }\n"
        "  ]\n"
        "}\n"
    )


def test_importing_suites_loads_little_beyond_pydantic() -> None:
    program = (
        "import sys, golden.suite_file; "
        "print([m for m in ('httpx', 'regex', 'click', 'asyncio', 'ruamel') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=os.environ)
    assert done.stdout == "[]\n"
