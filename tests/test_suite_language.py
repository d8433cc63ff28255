"""What all of a suite's file says, in JSON, in YAML and in Python (contract 3)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.expectation import Alternative, ToolExpectation
from golden.identity import unique_id
from golden.suite import Case, Defaults, Question, Suite
from golden.suite_file import dump_suite, load_suite
from golden.wildcards import EvalAny, EvalRegex
from tests.suites import CASE, CHECKS, SETTINGS, fault, faults, in_json, in_python, in_yaml, parts, spelled, write

KEEP_ONE = "keep one of them"

# As people of another project write theirs.
FOREIGN = """\
model: some-model-4-5
systemPrompt: |
  You act on the user's workspace with the tools you are given.
defaults:
  retries: 0
  timeoutMs: 30000
prompts:
  - prompt: open README.md
    expect:
      tool: exec_ui
      params: {kind: openFile, params: {path: README.md}}
  - prompt: open the GDP chart
    retries: 1
    expect:
      tool: exec_ui
      params:
        kind: openPanel
        params:
          id: !EvalAny
          component: !EvalRegex "^chart:"
  - prompt: what is 2 plus 2?
    expectNoToolCall: true
  - prompt: open the README and say what it is about
    expect:
      - tool: exec_ui
        params: {kind: openFile}
      - tool: read
        params: {path: README.md}
  - prompt: go to line 42 of foo.ts
    expectFirst:
      tool: exec_ui
      params: {kind: openFile, params: {path: foo.ts}}
"""


def opens(**params: Any) -> ToolExpectation:
    return ToolExpectation(tool="exec_ui", params=params)


def test_the_file_of_another_project_is_read_as_it_stands(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, FOREIGN, "s.yaml"))
    chart = opens(kind="openPanel", params={"id": EvalAny, "component": EvalRegex("^chart:")})
    cases = [
        Case(question="open README.md", expect=[opens(kind="openFile", params={"path": "README.md"})]),
        Case(question="open the GDP chart", expect=[chart], retries=1),
        Case(question="what is 2 plus 2?", expect_no_tool_call=True),
        Case(
            question="open the README and say what it is about",
            expect=[opens(kind="openFile"), ToolExpectation(tool="read", params={"path": "README.md"})],
        ),
        Case(question="go to line 42 of foo.ts", expect_first=opens(kind="openFile", params={"path": "foo.ts"})),
    ]
    assert suite == Suite(
        model="some-model-4-5",
        system_prompt="You act on the user's workspace with the tools you are given.\n",
        defaults=Defaults(retries=0, timeout_s=30),
        cases=cases,
    )
    assert [case.line for case in suite.cases] == [8, 12, 21, 23, 29]


# The three forms, and both spellings


@given(st.data())
def test_the_forms_of_a_suite_are_equal(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    fields = data.draw(parts())
    written = data.draw(spelled(fields))
    document = in_json(written)
    suite = in_python(fields)
    made = Suite.model_validate(written)
    files = [
        write(folder, json.dumps(document), "s.json"),
        write(folder, json.dumps(document, ensure_ascii=True, indent=1), "flow.yaml"),
        write(folder, in_yaml(written), "block.yml"),
    ]
    for other in (made, *map(load_suite, files)):
        assert other == suite
        assert dump_suite(other) == dump_suite(suite)
    again = load_suite(write(folder, dump_suite(suite), "again.json"))
    assert again == suite
    assert dump_suite(again) == dump_suite(suite)
    assert len({unique_id(case.id) for case in suite.cases}) == len(suite.cases)


def test_the_defaults_are_all_of_a_case_but_what_tells_it_from_another() -> None:
    assert set(Case.model_fields) - set(Defaults.model_fields) == {"id", "question", "turns"}
    assert CHECKS.keys() == set(Question.model_fields) - {"question"}
    assert CHECKS.keys() | SETTINGS.keys() == set(Defaults.model_fields)


def test_nested_parts_are_read_in_both_spellings(tmp_path: Path) -> None:
    call = {"anyOf": [{"tool": "t", "params": {"minCount": {"maxCount": 1}}}], "minCount": 0, "maxCount": 2}
    turn = {"prompt": "p", "expectOrder": [{"tool": "t"}], "simulatedTools": ["t"], "expect": call}
    suite = load_suite(write(tmp_path, {"prompts": [{"turns": [turn]}]}))
    assert suite.cases == [
        Case(
            id="p",
            turns=[
                Question(
                    question="p",
                    expect_order=[ToolExpectation(tool="t")],
                    simulated_tools=["t"],
                    expect=[
                        ToolExpectation(
                            any_of=[Alternative(tool="t", params={"minCount": {"maxCount": 1}})],
                            min_count=0,
                            max_count=2,
                        )
                    ],
                )
            ],
        )
    ]


# Faults of nested parts, each in its place


BESIDE: list[dict[str, Any]] = [{"tool": "t"}, {"params": {}}, {"strict": True}]


def either(**fields: Any) -> dict[str, Any]:
    return {"any_of": [{"tool": "t", **fields}]}


@pytest.mark.parametrize(
    ("field", "value", "place", "problem", "remedy"),
    [
        ("expect", {}, "", "it expects nothing", "give the `tool` that is to be called, or `any_of`"),
        ("expect", [{"tool": "t"}, {"params": {}}], "[1]", "it expects nothing", "give the `tool`"),
        ("expect", None, "", "expected a list, got null", ""),
        ("expect", "t", "", 'expected a list, got "t"', 'write [{"tool": "t"}]'),
        ("expect", ["t"], "[0]", 'expected an object, got "t"', 'write {"tool": "t"}'),
        ("expect", {"tool": " "}, ".tool", 'expected text that is not blank, got " "', ""),
        ("expect", [{"tool": 3}], "[0].tool", "expected text, got 3", ""),
        ("expect", {"tol": "t"}, ".tol", "unknown field", "did you mean 'tool'?"),
        ("expect", {"tool": "t", "maxCont": 1}, ".maxCont", "unknown field", "did you mean 'maxCount'?"),
        ("expect", {"tool": "t", "tags": []}, ".tags", "unknown field", "it belongs in a case"),
        ("expect", {"tool": "t", "strict": 1}, ".strict", "expected true or false, got 1", ""),
        ("expect", {"tool": "t", "minCount": -1}, ".minCount", "expected at least 0, got -1", ""),
        ("expect", {"tool": "t", "max_count": True}, ".max_count", "expected a whole number, got true", ""),
        ("expect", {"tool": "t", "min_count": 3, "maxCount": 2}, "", "`min_count` 3 is more than `max_count` 2", ""),
        ("expect", {"tool": "t", "max_count": 0}, "", "`min_count` 1 is more than `max_count` 0", ""),
        ("expect", {"anyOf": []}, ".anyOf", "expected at least one item, got []", ""),
        ("expect", {"any_of": ["t"]}, ".any_of[0]", 'expected an object, got "t"', 'write {"tool": "t"}'),
        ("expect", [{"anyOf": [{}]}], "[0].anyOf[0].tool", "missing", ""),
        (
            "expect",
            either(minCount=1),
            ".any_of[0].minCount",
            "unknown field",
            "it belongs in a tool expectation, beside `tool` or `any_of`",
        ),
        *(
            (
                "expect",
                {**either(), **beside},
                "",
                "`any_of` stands beside `tool`, `params` or `strict`",
                "these belong",
            )
            for beside in BESIDE
        ),
        ("expect", {"tool": "t", "params": []}, ".params", "expected an object, got []", ""),
        ("expect", {"tool": "t", "params": {"x": {"$any": 1}}}, ".params.x", "`$any` takes true, not 1", ""),
        ("expect", [{"tool": "t", "params": {"x": {"$any": 1}}}], "[0].params.x", "`$any` takes true, not 1", ""),
        ("expect", either(params={"prompt": [{"$regex": "("}]}), ".any_of[0].params.prompt[0]", "bad pattern:", ""),
        ("expect", {"tool": "t", "params": {"$x": 1}}, ".params", "`$x` is none of `$any`, `$regex`, `$literal`;", ""),
        ("expect", {"tool": "t", "params": {"$any": True}}, ".params", "a wildcard stands for all arguments", "leave"),
        ("expect_first", "t", "", 'expected an object, got "t"', 'write {"tool": "t"}'),
        ("expectFirst", [{"tool": "t"}], "", 'expected an object, got [{"tool": "t"}]', ""),
        (
            "expectFirst",
            {"tool": "t", "minCount": 1},
            ".minCount",
            "`min_count` has no place here: this is about one call",
            "`expect` takes it",
        ),
        (
            "expect_order",
            [{"tool": "t"}, {"tool": "t", "max_count": None}],
            "[1].max_count",
            "`max_count` has no place here: this is about one call",
            "`expect` takes it",
        ),
        ("expect_order", {"tool": "t"}, "", 'expected a list, got {"tool": "t"}', ""),
        ("expectOrder", ["t"], "[0]", 'expected an object, got "t"', 'write {"tool": "t"}'),
    ],
)
@pytest.mark.parametrize("within", ["", "turns[1]."])
def test_a_fault_of_an_expectation_is_told_in_its_place(
    tmp_path: Path, within: str, field: str, value: object, place: str, problem: str, remedy: str
) -> None:
    case: dict[str, Any] = {"id": "a", "max_total_s": 9}
    if within:
        case["turns"] = [{"question": "p"}, {"prompt": "q", field: value}]
    else:
        case |= {"question": "q", field: value}
    told = fault(tmp_path, {"cases": [case]})
    assert told[0] == f'cases[0] "a": {within}{field}{place}'
    assert told[1].startswith(problem)
    assert told[2].startswith(remedy)
    assert bool(told[2]) == bool(remedy)


@pytest.mark.parametrize(
    ("turns", "place", "problem", "remedy"),
    [
        ([], "turns", "expected at least one item, got []", ""),
        ({"question": "q"}, "turns", 'expected a list, got {"question": "q"}', ""),
        ("q", "turns", 'expected a list, got "q"', 'write [{"question": "q"}]'),
        ([{"question": "p"}, "q"], "turns[1]", 'expected an object, got "q"', 'write {"question": "q"}'),
        ([{}], "turns[0].question", "missing", ""),
        ([{"prompt": " "}], "turns[0].prompt", 'expected text that is not blank, got " "', ""),
        ([{"question": "q", "retries": 1}], "turns[0].retries", "unknown field", "it belongs in a case"),
        ([{"question": "q", "model": "m"}], "turns[0].model", "unknown field", "it belongs in a case"),
        ([{"question": "q", "expectFrst": {}}], "turns[0].expectFrst", "unknown field", "did you mean 'expectFirst'?"),
    ],
)
def test_a_fault_of_a_turn_is_told_in_its_place(
    tmp_path: Path, turns: object, place: str, problem: str, remedy: str
) -> None:
    told = fault(tmp_path, {"cases": [{"id": "a", "max_total_s": 9, "turns": turns}]})
    assert told == (f'cases[0] "a": {place}', problem, remedy)


def test_all_faults_of_nested_parts_come_at_once(tmp_path: Path) -> None:
    params = {"a": {"$any": 1}, "b": [{"$regex": "("}], "c": {"$literal": {"$any": 1}}}
    case = {
        "id": "a",
        "retries": -1,
        "expect": {"tool": "t", "params": params, "strict": 0},
        "expectOrder": [{"tool": "t", "minCount": 1, "max_count": 2}, {"tool": ""}],
        "turns": [{"question": "p", "expectd": 1, "maxToolCalls": -1}, {"prompt": "q", "clean_stream": 1}, 3],
    }
    assert [told[:2] for told in faults(tmp_path, {"cases": [case]})] == [
        ('cases[0] "a": expect.params.a', "`$any` takes true, not 1"),
        ('cases[0] "a": expect.params.b[0]', "bad pattern: missing ) at position 1"),
        ('cases[0] "a": expect.strict', "expected true or false, got 0"),
        ('cases[0] "a": expectOrder[0].minCount', "`min_count` has no place here: this is about one call"),
        ('cases[0] "a": expectOrder[0].max_count', "`max_count` has no place here: this is about one call"),
        ('cases[0] "a": expectOrder[1].tool', 'expected text that is not blank, got ""'),
        ('cases[0] "a": retries', "expected at least 0, got -1"),
        ('cases[0] "a": turns[0].maxToolCalls', "expected at least 0, got -1"),
        ('cases[0] "a": turns[0].expectd', "unknown field"),
        ('cases[0] "a": turns[1].clean_stream', "expected true or false, got 1"),
        ('cases[0] "a": turns[2]', "expected an object, got 3"),
    ]


def test_both_spellings_of_a_nested_field_are_told_beside_all_else(tmp_path: Path) -> None:
    calls = [
        {"tool": "t", "minCount": -1, "min_count": 1, "max": 1},
        {"anyOf": [{"tool": ""}], "any_of": []},
        {"min_count": 3, "minCount": 3, "tool": "t", "max_count": 2},
    ]
    turns = [{"question": "p", "prompt": "p", "expectFirst": {"tool": "t", "max_count": 1}, "expect_first": None}]
    case = {"id": "a", "clean_stream": True, "expect": calls, "turns": turns}

    def twice(place: str, other: str) -> tuple[str, str, str]:
        return f'cases[0] "a": {place}', f"the same field as `{other}`, which is given too", KEEP_ONE

    assert faults(tmp_path, {"cases": [case]}) == [
        twice("expect[0].min_count", "minCount"),
        ('cases[0] "a": expect[0].minCount', "expected at least 0, got -1", ""),
        ('cases[0] "a": expect[0].max', "unknown field", ""),
        twice("expect[1].any_of", "anyOf"),
        ('cases[0] "a": expect[1].anyOf[0].tool', 'expected text that is not blank, got ""', ""),
        twice("expect[2].minCount", "min_count"),
        ('cases[0] "a": expect[2]', "`min_count` 3 is more than `max_count` 2", ""),
        twice("turns[0].prompt", "question"),
        twice("turns[0].expect_first", "expectFirst"),
        (
            'cases[0] "a": turns[0].expectFirst.max_count',
            "`max_count` has no place here: this is about one call",
            "`expect` takes it",
        ),
    ]


def test_what_excludes_what_is_told_of_cases_and_turns_beside_other_faults(tmp_path: Path) -> None:
    call = {"tool": "t"}
    fields: dict[str, Any] = {"expect": call, "expectFirst": call, "expectNoToolCall": True, "expected_tools": ["t"]}
    case = {"question": "q", "turns": [{"prompt": "p", **fields, "skip": "x"}], "retries": 1, "trials": 2, **fields}

    def excluded(within: str) -> list[tuple[str, str, str]]:
        place = f'cases[0] "q"{within}'
        return [
            (place, "`expect` and `expect_first` and `expect_no_tool_call` exclude each other", KEEP_ONE),
            (place, "`expect_no_tool_call` and `expected_tools` exclude each other", KEEP_ONE),
        ]

    assert faults(tmp_path, {"cases": [{**case, "tag": []}]}) == [
        ('cases[0] "q": turns[0].skip', "unknown field", "it belongs in a case"),
        ('cases[0] "q": tag', "unknown field", "did you mean 'tags'?"),
        *excluded(""),
        ('cases[0] "q"', "`question` and `turns` exclude each other", KEEP_ONE),
        ('cases[0] "q"', "`retries` and `trials` exclude each other", KEEP_ONE),
        *excluded(": turns[0]"),
    ]


def test_faults_of_nested_defaults_are_told_once(tmp_path: Path) -> None:
    defaults = {"expect": {"tool": "t", "minCount": -1}, "turns": [], "expectOrder": [{}], "scorers": ["x"]}
    assert [told[:2] for told in faults(tmp_path, {"defaults": defaults, "cases": [{"question": "q"}] * 1})] == [
        ("defaults: expect.minCount", "expected at least 0, got -1"),
        ("defaults: expectOrder[0]", "it expects nothing"),
        ("defaults: scorers[0]", 'expected MODULE:NAME, got "x"'),
        ("defaults: turns", "unknown field"),
    ]


def test_the_id_and_the_label_of_a_case_are_of_its_first_turn(tmp_path: Path) -> None:
    turns = [{"prompt": "Hi there?", "clean_stream": True}, {"question": "And now?"}]
    path = write(tmp_path, {"cases": [{"turns": turns}]})
    assert load_suite(path).cases[0].id == "hi-there"
    assert faults(tmp_path, {"cases": [{"turns": turns}, {"question": "Hi there?", "expectNoToolCall": True}]}) == [
        ('cases[1] "hi-there"', 'the same question as FILE: cases[0] "hi-there"', "give one of them an `id`")
    ]
    assert fault(tmp_path, {"cases": [{"turns": turns, "skip": 1}]})[0] == 'cases[0] "hi-there": skip'


# YAML


def test_a_fault_in_a_yaml_file_has_its_line_and_column(tmp_path: Path) -> None:
    text = """\
# a comment
defaults: {maxToolCalls: many}
prompts:
  - prompt: a
    expect:
      tool: t
      params:
        x: [!EvalRegex "("]
        y: {$foo: 1}
      minCnt: 2
  - turns:
      - prompt: b
        expectFirst: {tool: t, minCount: 2}
      - expectNoToolCall: no
  - id: c
    clean_stream: true
"""
    assert faults(tmp_path, text, "s.yaml") == [
        (":2:12: defaults: maxToolCalls", 'expected a whole number, got "many"', ""),
        (':8:13: prompts[0] "a": expect.params.x[0]', "bad pattern: missing ) at position 1", ""),
        (
            ':9:9: prompts[0] "a": expect.params.y',
            "`$foo` is none of `$any`, `$regex`, `$literal`; where it is data, put its object into `$literal`",
            "",
        ),
        (':10:7: prompts[0] "a": expect.minCnt', "unknown field", "did you mean 'minCount'?"),
        (
            ':13:32: prompts[1] "b": turns[0].expectFirst.minCount',
            "`min_count` has no place here: this is about one call",
            "`expect` takes it",
        ),
        (':14:9: prompts[1] "b": turns[1].expectNoToolCall', 'expected true or false, got "no"', ""),
        (':14:9: prompts[1] "b": turns[1].question', "missing", ""),
        (':15:5: prompts[2] "c"', "nothing is asked", "give a `question`, or `turns`"),
    ]


@pytest.mark.parametrize(
    ("fields", "place", "problem", "remedy"),
    [
        ("question: !EvalAny", "question", 'expected text, got {"$any": true}', ""),
        ("tags: [!EvalAny]", "tags[0]", 'expected text, got {"$any": true}', ""),
        ("expect: !EvalAny", "expect", 'expected a list, got {"$any": true}', ""),
        ("turns: !EvalRegex x", "turns", 'expected a list, got {"$regex": "x"}', ""),
        ("metadata: {a: [!EvalAny]}", "metadata", 'expected what JSON can say, got {"a": [{"$any": true}]}', ""),
        ("forbidden_phrases: [!EvalRegex x]", "forbidden_phrases[0]", "expected text, got", 'write {"regex": "x"}'),
        ("required_phrases: [[!EvalRegex x]]", "required_phrases[0][0]", "expected text, got", 'write {"regex": "x"}'),
        ("expect: {tool: t, params: !EvalAny}", "expect.params", "expected an object, got", ""),
        ("expect: {tool: t, params: {a: {$literal: {b: [!EvalAny]}}}}", "expect.params.a.b", "a wildcard cannot", ""),
        ("expect: {tool: t, params: {a: {$literal: !EvalAny}}}", "expect.params.a", "a wildcard cannot stand in", ""),
    ],
)
def test_a_wildcard_elsewhere_than_in_params_is_refused(
    tmp_path: Path, fields: str, place: str, problem: str, remedy: str
) -> None:
    text = "cases:\n- id: a\n  max_total_s: 9\n  " + fields + ("" if "turns" in fields else "\n")
    asked = "" if fields.startswith(("question", "turns")) else "  question: q\n"
    told = fault(tmp_path, text + asked, "s.yml")
    assert told[0].partition(": ")[2] == f'cases[0] "a": {place}'
    assert told[0].startswith(":4:")
    assert told[1].startswith(problem)
    assert told[2] == remedy


def test_a_file_whose_aliases_stand_for_too_much_is_refused(tmp_path: Path) -> None:
    lines = ["a: &a0 [" + "x, " * 10 + "]"]
    lines += [f"b{i}: &a{i + 1} [{f'*a{i}, ' * 10}]" for i in range(9)]
    told = fault(tmp_path, "\n".join(lines), "laughs.yaml")
    assert told[1:] == ("aliases stand for more than 100,000 values", "write the values out")


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("cases: !!python/object/apply:os.system [x]", ":1:8", 'the tag "!!python/object/apply:os.system" is refused'),
        ("cases:\n  - !evalAny x", ":2:5", 'the tag "!evalAny" is refused'),
        ("cases:\n  - question: a\n    question: b\n    max_total_s: 1", ":3:5", "the key comes twice"),
        ("cases:\n\t- x", ":2:1", "no YAML: "),
        ("", ":1:1", "empty"),
    ],
)
def test_what_is_no_yaml_suite_is_refused_in_its_place(tmp_path: Path, text: str, place: str, problem: str) -> None:
    told = fault(tmp_path, text, "S.YAML")
    assert told[0].partition(": ")[0] == place
    assert told[1].startswith(problem)


def test_an_anchor_shares_what_cases_have_in_common(tmp_path: Path) -> None:
    text = """\
cases:
  - question: a
    expect: &open {tool: t, params: {id: !EvalAny}}
  - turns:
      - question: b
        expect: [*open, {tool: u}]
"""
    one, two = load_suite(write(tmp_path, text, "s.yaml")).cases
    shared = ToolExpectation(tool="t", params={"id": EvalAny})
    assert (one.expect, two.turns[0].expect) == ([shared], [shared, ToolExpectation(tool="u")])
    assert (one.line, two.line) == (2, 4)


def test_a_yaml_file_is_known_by_its_name_alone(tmp_path: Path) -> None:
    text = "cases: [{id: a, question: q, max_tool_calls: 1}]"
    assert load_suite(write(tmp_path, text, "s.YML")).cases[0].id == "a"
    assert fault(tmp_path, text, "s.json")[1].startswith("no JSON: ")
    assert load_suite(write(tmp_path, {"cases": [CASE]}, "json.yaml")).cases[0].id == "a"
