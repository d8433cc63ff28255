import math
from dataclasses import dataclass
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.payload import dump, parse

# JSON with no number that a float rounds, and text with lone surrogate halves.
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(st.characters()), children, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_what_is_dumped_is_parsed_back_equal_and_sound(value: object) -> None:
    assert parse(dump(value)) == (value, "")


@given(st.text())
def test_no_text_makes_parse_raise(text: str) -> None:
    value, fault = parse(text)
    assert value is None or fault == "" or "is not JSON" in fault


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (" 1 ", 1),
        ('"\\ud83d"', "\ud83d"),
        ('"\\ud83d\\udcc8"', "📈"),
        ('{"\\udcc8": "\\ud83d"}', {"\udcc8": "\ud83d"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("9" * 4300, int("9" * 4300)),
        ("1e999", math.inf),
    ],
)
def test_sound_json_has_no_fault(text: str, value: object) -> None:
    assert parse(text) == (value, "")


@pytest.mark.parametrize(
    "text",
    ["", "  ", "[DONE]", "nul", "'a'", "01", "1 2", "[1,]", '{"a": 1', '"\\x"', '"a\x01"', "\ufeff1", "9" * 4301],
)  # fmt: skip
def test_what_is_no_json_gives_nothing_and_says_where_it_went_wrong(text: str) -> None:
    value, fault = parse(text)
    assert value is None
    assert "line 1 column" in fault


@pytest.mark.parametrize(
    ("text", "constant"),
    [("NaN", "NaN"), ('{"score": NaN}', "NaN"), ("[-Infinity, NaN]", "-Infinity"), ("Infinity", "Infinity")],
)
def test_nan_and_the_infinities_are_a_fault_and_still_give_their_value(text: str, constant: str) -> None:
    value, fault = parse(text)
    assert repr(value) == repr(eval(text, {"NaN": math.nan, "Infinity": math.inf}))  # noqa: S307  # our own text
    assert fault == f"{constant} is not JSON"


def test_a_surrogate_half_that_is_no_escape_is_read_like_one_that_is() -> None:
    assert parse('{"text": "\ud83d"}') == ({"text": "\ud83d"}, "")


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("leaf", ["1", "NaN", '"\\ud83d"', '[NaN, "", {}]'])
def test_what_is_nested_too_deep_is_not_read_whichever_parser_meets_it(start: str, end: str, leaf: str) -> None:
    depth = 200 - leaf.startswith("[") * 2
    value, _ = parse(start * depth + leaf + end * depth)
    assert value is not None
    value, fault = parse(start * 201 + leaf + end * 201)
    assert value is None
    assert fault
    value, fault = parse(start * 100_000 + leaf + end * 100_000)
    assert value is None
    assert fault


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1, "é": [True, None]}, '{"a":1,"\\u00e9":[true,null]}'),
        ("\ud83d", '"\\ud83d"'),
        (math.nan, "NaN"),
        ((1, 2), "[1,2]"),
        ({1, }, "[1]"),
        (Point(3), '{"x":3}'),
        ({"when": date(2024, 2, 29)}, '{"when":"2024-02-29"}'),
        ([Point(1), math.inf], '[{"x":1},Infinity]'),
        (b"ab", '"ab"'),
    ],
)  # fmt: skip
def test_plain_values_and_what_pydantic_knows_are_dumped(value: object, text: str) -> None:
    assert dump(value) == text


def test_an_integer_of_more_digits_than_python_writes_is_dumped_and_not_read() -> None:
    text = dump(10**5000)
    assert text == "1" + "0" * 5000
    assert parse(text)[0] is None


def recursive() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def deep() -> list[object]:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [object(), b"\xff", recursive(), deep()], ids=["object", "bytes", "circle", "deep"])
def test_what_json_cannot_say_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match=r"(?i)serializ|recursion|circular"):
        dump(value)
