import json
import math
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from golden import document as json_document
from golden.document import TOO_DEEP, shown
from golden.errors import Fault, SuiteError
from golden.wildcards import EvalAny, EvalRegex
from golden.yaml_document import parsed

TAGS = 'the tags of a suite are `!EvalAny` and `!EvalRegex "pattern"`'
ESCAPE = r'in double quotes it is written "\u2028"'
SUITE = "a suite is an object that holds `cases`"
NEXT = "while scanning for the next token"
SYNTAX = "indent with spaces, not tabs; text that holds `: ` or ` #`, or begins with a mark, goes in quotes"
DIGITS = "a number has more digits than can be read"
QUOTES = "put it in quotes"

# As people of another project write theirs.
FOREIGN = """\
# yaml-language-server: $schema=suite.json
model: some-model-4-5
systemPrompt: |
  You act on the user's workspace with the tools you are given.
defaults:
  retries: 0
  timeoutMs: 30000
prompts:
  - prompt: open the GDP chart
    expect:
      tool: exec_ui
      params:
        kind: openPanel
        params:
          id: !EvalAny
          component: !EvalRegex "^chart:"
  - prompt: what is 2 plus 2?
    expectNoToolCall: true
  - prompt: go to line 42 of foo.ts
    expectFirst:
      tool: exec_ui
      params: {kind: openFile, params: {path: foo.ts}}
"""


def read(text: str) -> dict[str, Any]:
    document, flaws, _ = parsed("s.yaml", text.encode())
    assert flaws == []
    return document


def faults(text: str | bytes) -> list[Fault]:
    """The faults of a file, with its name left out of their places."""
    with pytest.raises(SuiteError) as caught:
        parsed("s.yaml", text.encode() if isinstance(text, str) else text)
    assert all(fault.place.startswith("s.yaml:") for fault in caught.value.faults)
    return [fault._replace(place=fault.place.removeprefix("s.yaml:")) for fault in caught.value.faults]


def test_a_suite_is_read_with_its_wildcards_and_without_its_comments() -> None:
    assert read(FOREIGN) == {
        "model": "some-model-4-5",
        "systemPrompt": "You act on the user's workspace with the tools you are given.\n",
        "defaults": {"retries": 0, "timeoutMs": 30000},
        "prompts": [
            {
                "prompt": "open the GDP chart",
                "expect": {
                    "tool": "exec_ui",
                    "params": {"kind": "openPanel", "params": {"id": EvalAny, "component": EvalRegex("^chart:")}},
                },
            },
            {"prompt": "what is 2 plus 2?", "expectNoToolCall": True},
            {
                "prompt": "go to line 42 of foo.ts",
                "expectFirst": {"tool": "exec_ui", "params": {"kind": "openFile", "params": {"path": "foo.ts"}}},
            },
        ],
    }


def test_each_place_has_its_line_and_column() -> None:
    _, _, positions = parsed(
        "s.yaml", b'\xef\xbb\xbfa: 1\nb:\n  - x\n  - {c: [2,\n      3]}\n"d" : &e\n  f: 0\ng: [0, *e]\n'
    )
    assert positions == {
        (): (1, 1),
        ("a",): (1, 1),
        ("b",): (2, 1),
        ("b", 0): (3, 5),
        ("b", 1): (4, 5),
        ("b", 1, "c"): (4, 6),
        ("b", 1, "c", 0): (4, 10),
        ("b", 1, "c", 1): (5, 7),
        ("d",): (6, 1),
        ("d", "f"): (7, 3),
        ("g",): (8, 1),
        ("g", 0): (8, 5),
        ("g", 1): (8, 8),
        ("g", 1, "f"): (7, 3),
    }


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[(text, None) for text in ("", "~", "null", "Null", "NULL")],
        *[(text, True) for text in ("true", "True", "TRUE")],
        *[(text, False) for text in ("false", "False", "FALSE")],
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("017", 17),
        ("0o17", 15),
        ("0x1fF", 511),
        ("1.", 1.0),
        ("-.5", -0.5),
        ("+1.25e+3", 1250.0),
        ("1e3", 1000.0),
        ("9" * 4300, int("9" * 4300)),
    ],
)
def test_a_plain_scalar_is_what_the_core_schema_says(written: str, value: object) -> None:
    read_value = read(f"a: {written}")["a"]
    assert (read_value, type(read_value)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        *("no", "No", "on", "off", "yes", "y", "n", "nUll", "tRUE", "2024-01-01", "2024-01-01T10:00:00Z", "1:30", "="),
        *(
            "1_000",
            "0b1",
            "0O7",
            "0o8",
            "0xg",
            "+0x1",
            "-0o7",
            "1e",
            "e1",
            ".",
            "+.",
            "..1",
            "1.2.3",
            "+",
            "-.nan",
            "nan",
        ),
        *(".iNf", "inf", "\uff11", "\u0663"),
    ],
)
def test_every_other_plain_scalar_is_text(text: str) -> None:
    assert read(f"a: {text}") == {"a": text}
    assert read(f"{text}: 1") == {text: 1}


@pytest.mark.parametrize(
    ("written", "value"), [("'1'", "1"), ('"null"', "null"), ("|-\n 1", "1"), (">-\n true", "true")]
)
def test_a_scalar_in_quotes_or_a_block_is_text(written: str, value: str) -> None:
    assert read(f"a: {written}") == {"a": value}


@pytest.mark.parametrize("written", ["+.inf", ".Inf", "-.INF", ".nan", ".NaN", ".NAN", "1e999"])
def test_a_number_that_is_not_finite_is_a_flaw(written: str) -> None:
    document, [(place, problem)], _ = parsed("s.yaml", f"a: [0, {written}]".encode())
    assert not math.isfinite(document["a"][1])
    assert (place, problem) == (("a", 1), f"expected a finite number, got {shown(document['a'][1])}")


def test_keys_that_come_twice_and_halves_of_pairs_are_flaws_as_in_json() -> None:
    text = r'{"a": {"b": 1, "c": "\ud800", "b": 2}, "\udc00": 3, "d": "\ud83d\ude00"}'
    document, flaws, positions = parsed("s.yaml", text.encode())
    same, same_flaws = json_document.parsed("s.json", text.encode())
    assert document == same
    assert sorted(flaws) == sorted(same_flaws)
    assert len(flaws) == 3
    assert positions["a", "b"] == (1, 31)


def test_the_pattern_of_a_tag_is_looked_at_for_halves_of_pairs_too() -> None:
    _, flaws, _ = parsed("s.yaml", rb'a: !EvalRegex "\ud800"')
    assert flaws == [(("a",), r'half of a surrogate pair stands alone in "\ud800"')]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("!EvalAny", EvalAny),
        ("!EvalAny ''", EvalAny),
        ("!EvalAny # any", EvalAny),
        ("!<!EvalAny>", EvalAny),
        ("[!EvalAny,!EvalAny]", [EvalAny, EvalAny]),
        ("{b: !EvalAny, c: {d: !EvalAny}}", {"b": EvalAny, "c": {"d": EvalAny}}),
        ("\n  - !EvalAny\n  - !EvalRegex x", [EvalAny, EvalRegex("x")]),
        ("!EvalRegex ''", EvalRegex("")),
        ("!EvalRegex 12", EvalRegex("12")),
        ("!EvalRegex |-\n  a\n  b", EvalRegex("a\nb")),
        ('[&r !EvalRegex "^\\\\d", !EvalRegex &s x, *r, *s]', [EvalRegex(r"^\d"), EvalRegex("x")] * 2),
    ],
)
def test_the_two_tags_are_wildcards(written: str, value: object) -> None:
    assert read(f"a: {written}") == {"a": value}


@pytest.mark.parametrize(
    ("written", "problem", "remedy"),
    [
        ("!EvalAny 3", '`!EvalAny` takes nothing, not "3"', "write the tag alone"),
        ("!EvalAny null", '`!EvalAny` takes nothing, not "null"', "write the tag alone"),
        ("!EvalAny []", "`!EvalAny` takes nothing, not []", "write the tag alone"),
        (
            "!EvalRegex",
            "`!EvalRegex` takes a pattern, which is a string, not nothing",
            'as in `!EvalRegex "^chart:"`',
        ),
        (
            "!EvalRegex {x: !EvalAny}",
            '`!EvalRegex` takes a pattern, which is a string, not {"x": {"$any": true}}',
            'as in `!EvalRegex "^chart:"`',
        ),
        ("!foo x", 'the tag "!foo" is refused', TAGS),
        ("!evalany", 'the tag "!evalany" is refused', TAGS),
        ("! x", 'the tag "!" is refused', TAGS),
        ("!!str 3", 'the tag "!!str" is refused', TAGS),
        ("!!python/object/apply:os.system [x]", 'the tag "!!python/object/apply:os.system" is refused', TAGS),
        ("!<tag:example.com,2000:x> {}", 'the tag "tag:example.com,2000:x" is refused', TAGS),
        ("!a%0Ab x", r'the tag "!a\nb" is refused', TAGS),
        (".inf" + "\nb: " + "9" * 4301, "expected a finite number, got Infinity", ""),
    ],
)
def test_a_tag_that_is_none_of_these_is_refused_by_name(written: str, problem: str, remedy: str) -> None:
    first, *_ = faults(f"a: {written}")
    assert first in [(place, problem, remedy) for place in ("1:4", "1:1")]


def test_a_tag_in_a_flow_collection_is_refused_by_name_too() -> None:
    assert faults("a: [!foo, {b: !!int}]") == [
        ("1:5", 'the tag "!foo" is refused', TAGS),
        ("1:15", 'the tag "!!int" is refused', TAGS),
    ]


def test_a_tag_directive_does_not_smuggle_a_tag_in() -> None:
    assert faults("%TAG ! tag:yaml.org,2002:\n---\na: !str x") == [("3:4", 'the tag "!!str" is refused', TAGS)]


@pytest.mark.parametrize(
    ("key", "came"),
    [
        ("1", "1"),
        ("1.5", "1.5"),
        ("true", "true"),
        ("~", "null"),
        ("", "null"),
        ("[x]", '["x"]'),
        ("? {x: 1}\n", '{"x": 1}'),
        ("!EvalAny ", '{"$any": true}'),
        ("!EvalRegex x", '{"$regex": "x"}'),
    ],
)
def test_a_key_that_is_no_text_is_refused(key: str, came: str) -> None:
    (fault,) = faults(f"a: 0\n{key}: 2")
    assert fault[1:] == (f"expected text as a key, got {came}", QUOTES)
    assert fault.place in ("2:1", "2:3")


def test_what_is_wrong_inside_a_key_that_is_no_text_is_told_too() -> None:
    assert faults(r'? !x "\ud800"' + "\n: 1\n? [.inf]\n: 2") == [
        ("1:3", r'half of a surrogate pair stands alone in "\ud800"', ""),
        ("1:3", 'the tag "!x" is refused', TAGS),
        ("3:3", "expected text as a key, got [Infinity]", QUOTES),
        ("3:4", "expected a finite number, got Infinity", ""),
    ]


def test_keys_in_quotes_are_text() -> None:
    assert read("'1': a\n\"true\": b\n'': c\n'<<': d") == {"1": "a", "true": "b", "": "c", "<<": "d"}


def test_merge_keys_are_refused() -> None:
    text = "a: &a {b: 1}\nc:\n  <<: *a\n  d: 2\ne: {<<: [*a]}"
    assert faults(text) == [
        (place, "merge keys are refused", "write the fields out, or use `defaults`") for place in ("3:3", "5:5")
    ]


def test_an_alias_is_what_its_anchor_was_when_it_was_met() -> None:
    text = "a: &x [1, &y 2]\nb: &z [*x, *y]\nc: &x 3\nd: *z\ne: *x\nf: &e\ng: *e\n*y : no\n"
    with pytest.raises(SuiteError, match="7:1: expected text as a key, got 2") as caught:
        parsed("s", text.replace("f: &e\ng: *e\n", "").replace("e: *x\n", "e: *x\nf: 0\n").encode())
    assert len(caught.value.faults) == 1
    assert read(text.replace("*y : no\n", "")) == {
        "a": [1, 2],
        "b": [[1, 2], 2],
        "c": 3,
        "d": [[1, 2], 2],
        "e": 3,
        "f": None,
        "g": None,
    }


def test_of_two_anchors_of_one_name_the_later_to_begin_counts() -> None:
    assert read("a: &x [&x 1, *x]\nb: *x") == {"a": [1, 1], "b": 1}


def test_an_alias_may_be_a_key() -> None:
    assert read("a: &x b\n*x : 1") == {"a": "b", "b": 1}


def test_recursion_and_aliases_of_nothing_are_refused() -> None:
    assert faults("a: &a [*a]\nb: *c\nc: &c {d: [*c]}") == [
        ("1:8", 'the alias "a" stands inside its own anchor', ""),
        ("2:4", 'the alias "c" has no anchor before it', ""),
        ("3:12", 'the alias "c" stands inside its own anchor', ""),
    ]


def laughs(levels: int) -> str:
    lines = ["l0: &l0 [" + ",".join("x" * 10) + "]"]
    lines += [f"l{i}: &l{i} [" + ",".join([f"*l{i - 1}"] * 10) + "]" for i in range(1, levels)]
    return "\n".join(lines)


def test_aliases_that_stand_for_too_much_are_refused() -> None:
    assert faults(laughs(9)) == [("5:38", "aliases stand for more than 100,000 values", "write the values out")]


def test_aliases_that_stand_for_less_are_read() -> None:
    assert read(laughs(4))["l3"] == [[[list("x" * 10)] * 10] * 10] * 10


def test_only_what_aliases_stand_for_is_counted() -> None:
    text = "a: &a [" + "x," * 998 + "]\nb: [" + "y," * 200 + "*a," * 100 + "%s]"
    assert len(read(text % "")["b"]) == 300
    assert [problem for _, problem, _ in faults(text % "*a")] == ["aliases stand for more than 100,000 values"]


@pytest.mark.parametrize("opening", ["[", "- ", "{a: ", "? ", "a:\n", "[[], ", "&a [", "{[", "!EvalAny ["])
def test_deep_nesting_is_refused_and_overflows_nothing(opening: str) -> None:
    text = "".join(" " * i + opening for i in range(200)) if opening == "a:\n" else opening * 100_000
    assert faults(text)[-1].problem == TOO_DEEP


def test_nesting_is_bounded_where_json_is_bounded() -> None:
    deepest = '{"a": ' + "[" * 100 + "]" * 100 + "}"
    assert read(deepest) == json_document.parsed("s.json", deepest.encode())[0]
    assert faults('{"a": ' + "[" * 101 + "]" * 101 + "}") == [("1:107", TOO_DEEP, "")]


def test_aliases_do_not_nest_deeper_either() -> None:
    text = "a: &a " + "[" * 60 + "]" * 60 + "\nb: " + "[" * 60 + "*a" + "]" * 60
    assert faults(text) == [("1:47", TOO_DEEP, "")]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"a: 1\nb: \xc3\xa9\xff", ("2:5", "not UTF-8: invalid start byte", "save the file as UTF-8")),
        (b"", ("1:1", "empty", SUITE)),
        (b"\xef\xbb\xbf\n# nothing\n", ("3:1", "empty", SUITE)),
        (b"---\n", ("2:1", "expected an object, got null", SUITE)),
        (b"\n - 1", ("2:2", "expected an object, got [1]", SUITE)),
        (b"!EvalAny", ("1:1", 'expected an object, got {"$any": true}', SUITE)),
        (b"a: 1\n---\nb: 2", ("2:1", "a second document begins", "a suite is one document: give each a file")),
        (b"%YAML 1.1\n---\na: no", ("2:1", "expected YAML 1.2, got 1.1", "leave the `%YAML` line out")),
        (b"a: 1\nb: \x07", ("2:4", "U+0007 cannot stand in YAML as it is", r'in double quotes it is written "\u0007"')),
        (b"a: x\xe2\x80\xa8", ("1:5", "U+2028 cannot stand in YAML as it is", ESCAPE)),
        (b"a: 0x" + b"f" * 5000, ("1:4", DIGITS, "")),
        (b"a: " + b"9" * 4301, ("1:4", DIGITS, "")),
        (b'a: "\\UFFFFFFFF"', ("1:1", "no YAML: an escape that follows here names no character", "")),
        (b'a: "\\U00110000"', ("1:1", "no YAML: an escape that follows here names no character", "")),
        (b"a:\n\tb: 1", ("2:1", rf"no YAML: {NEXT}: found character '\t' that cannot start any token", SYNTAX)),
        (b"a: b: c", ("1:5", "no YAML: mapping values are not allowed here", SYNTAX)),
        (b"a: 1\n]", ("2:1", "no YAML: while parsing a block mapping: expected <block end>, but found ']'", SYNTAX)),
        (b"[1]\n{}", ("1:1", "expected an object, got [1]", SUITE)),
        (b"{}\nx", ("2:1", "no YAML: expected '<document start>', but found '<scalar>'", SYNTAX)),
        (b"a: >\n \n  %\n\r[", ("3:3", "no YAML: more indented follow up line than first in a block scalar", SYNTAX)),
    ],
)  # fmt: skip
def test_a_file_that_is_no_yaml_mapping_is_refused_with_its_place(text: bytes, fault: tuple[str, str, str]) -> None:
    assert faults(text) == [fault]


def test_a_document_may_have_its_marks_and_its_directive() -> None:
    assert read("%YAML 1.2\n---\na: no\n...\n# the end\n") == {"a": "no"}


def test_all_faults_are_told_at_once_in_the_order_of_the_file() -> None:
    text = "a: .inf\nb: &b !x 1\nc: [*b, *b]\n2: 0\nc: 1\n<<: {}\nd: 'x\n"
    assert [(place, problem) for place, problem, _ in faults(text)] == [
        ("1:1", "expected a finite number, got Infinity"),
        ("2:4", 'the tag "!x" is refused'),
        ("3:5", 'the tag "!x" is refused'),
        ("3:9", 'the tag "!x" is refused'),
        ("4:1", "expected text as a key, got 2"),
        ("5:1", "the key comes twice"),
        ("6:1", "merge keys are refused"),
        ("8:1", "no YAML: while scanning a quoted scalar: found unexpected end of stream"),
    ]


def test_an_anchor_read_through_a_key_is_told_where_it_stands_once() -> None:
    (fault,) = faults("a: &a {b: !x 1}\nc: *a\nd: [*a, *a]")
    assert fault == ("1:11", 'the tag "!x" is refused', TAGS)


def test_wildcards_are_shown_as_json_writes_them() -> None:
    assert shown([EvalAny, EvalRegex("a")]) == '[{"$any": true}, {"$regex": "a"}]'


# What JSON may hold as it is and YAML may not, with a mark of the byte order, which is no character of a text.
_NEVER_RAW = (0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="".join(map(chr, (*range(0x7F, 0xA0), *_NEVER_RAW)))),
    max_size=20,
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(_TEXT, _VALUES, max_size=4)


def same(value: object, other: object) -> bool:
    """Whether two documents are equal, and of equal types: 1 is neither true nor 1.0."""
    return json.dumps(value) == json.dumps(other)


@given(_OBJECTS, st.booleans(), st.none() | st.just(2))
def test_json_is_yaml(value: dict[str, Any], escaped: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    assert same(read(text), value)


@given(_OBJECTS)
def test_what_a_yaml_writer_writes_is_read_back_equal(value: dict[str, Any]) -> None:
    stream = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = False, False  # type: ignore[assignment]
    yaml.dump(value, stream)
    assert same(read(stream.getvalue()), value)


@given(_OBJECTS)
def test_every_place_of_a_document_has_a_position(value: dict[str, Any]) -> None:
    def places(part: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        pairs: list[tuple[Any, Any]] = []
        if isinstance(part, dict):
            pairs = [*part.items()]
        elif isinstance(part, list):
            pairs = [*enumerate(part)]
        return [path, *(place for key, inner in pairs for place in places(inner, (*path, key)))]

    _, _, positions = parsed("s.yaml", json.dumps(value, indent=1).encode())
    assert list(positions) == places(value, ())
    assert sorted(positions.values()) == list(positions.values())


def told_only(data: bytes) -> None:
    """Reads what may be anything: it is a document, or faults that say in one line what is wrong."""
    try:
        parsed("s.yaml", data)
    except SuiteError as error:
        problems = [fault.problem for fault in error.faults]
    else:
        return
    assert problems
    assert all(problem and problem.isprintable() for problem in problems)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_document_or_a_suite_error(data: bytes) -> None:
    told_only(data)


_PIECES = [
    *"ab01:-?[]{},#&*!|>'\"%@`~.<=+ \n\t\r\\",
    *("a: ", "- ", "\n  ", "\n- ", "? ", "---\n", "...\n", "&a ", "*a", "<<: ", "!EvalAny", "!EvalRegex "),
    *("!!str ", "!<", "%YAML 1.1\n", "%TAG ! x:\n", "\\U00110000", "\\ud800", "\\x", "%41", "|2", "|+\n", ".inf", "0x"),
    *("\ufeff", "\x85"),
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=25).map("".join))
def test_any_text_is_a_document_or_a_suite_error(text: str) -> None:
    told_only(text.encode())


@given(st.integers(0, len(FOREIGN)), st.integers(0, 4), st.sampled_from(_PIECES))
def test_a_suite_with_a_slip_in_it_is_a_document_or_a_suite_error(at: int, cut: int, slip: str) -> None:
    told_only((FOREIGN[:at] + slip + FOREIGN[at + cut :]).encode())


@pytest.mark.parametrize("version", ["1.1", "1.3", "2.0", "9.9"])
def test_a_version_that_is_not_read_is_refused(version: str) -> None:
    with pytest.raises(SuiteError, match=r"s\.yaml:\d+:\d+: .*(YAML 1\.2|no YAML)"):
        parsed("s.yaml", f"%YAML {version}\n---\ncases: []\n".encode())
