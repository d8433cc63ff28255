import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.patterns import compile_pattern
from golden.wildcards import EvalAny, EvalRegex, WildcardError, json_of, value_of


def read(written: object) -> object:
    return value_of(written, compile_pattern)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"$any": True}, EvalAny),
        ({"a": [{"$any": True}, 1]}, {"a": [EvalAny, 1]}),
        ({"$regex": "^chart:"}, EvalRegex("^chart:")),
        ({"$regex": ""}, EvalRegex("")),
        ({"$literal": {"$any": True}}, {"$any": True}),
        ({"a": {"$literal": {"$regex": 3, "$x": [{"$any": 1}]}}}, {"a": {"$regex": 3, "$x": [{"$any": 1}]}}),
        ({"$literal": {"$literal": 1}}, {"$literal": 1}),
        ({"$literal": 1}, 1),
        ({"a$": {"b": None}, "": "$any"}, {"a$": {"b": None}, "": "$any"}),
        ([EvalAny, EvalRegex("x")], [EvalAny, EvalRegex("x")]),
        ("$any", "$any"),
    ],
)
def test_a_wildcard_is_read_as_what_it_stands_for(written: object, value: object) -> None:
    assert read(written) == value


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ({"$any": False}, "params: `$any` takes true, not false"),
        ({"$any": 1}, "params: `$any` takes true, not 1"),
        ({"$any": "true"}, "params: `$any` takes true, not a string"),
        ({"a": [0, {"$any": None}]}, "params.a[1]: `$any` takes true, not null"),
        ({"a b": {"$regex": 3}}, 'params["a b"]: `$regex` takes a pattern, which is a string, not 3'),
        ({"$regex": ["x"]}, "params: `$regex` takes a pattern, which is a string, not a list"),
        ({"$regex": {}}, "params: `$regex` takes a pattern, which is a string, not an object"),
        ({"$regex": 1j}, 'params: `$regex` takes a pattern, which is a string, not "1j"'),
        ({"$regex": "("}, "params: bad pattern: missing ) at position 1"),
        ({"x": EvalRegex("(")}, "params.x: bad pattern: missing ) at position 1"),
        (
            {"$any": True, "x": 1},
            "params: `$any` stands alone in its object; where it is data, put the object into `$literal`",
        ),
        (
            {"x": 1, "$literal": 1},
            "params: `$literal` stands alone in its object; where it is data, put the object into `$literal`",
        ),
        ({"a": {"$literal": EvalAny}}, "params.a: a wildcard cannot stand in `$literal`"),
        ({"$literal": {"$x": [EvalRegex("(")]}}, "params.$x[0]: a wildcard cannot stand in `$literal`"),
        (
            {"$ayn": True},
            "params: `$ayn` is none of `$any`, `$regex`, `$literal`; where it is data, put its object into `$literal`",
        ),
    ],
)
def test_a_malformed_wildcard_is_told_with_its_path(written: object, fault: str) -> None:
    with pytest.raises(WildcardError) as caught:
        read(written)
    assert str(caught.value) == fault


def test_all_faults_of_a_value_are_told_at_once_in_their_order() -> None:
    with pytest.raises(WildcardError) as caught:
        read({"a": {"$any": 0}, "b": [{"$regex": "*"}, {"c": {"$x": 1}}]})
    assert [path for path, _ in caught.value.faults] == [("a",), ("b", 0), ("b", 1, "c")]


def test_reading_and_writing_leave_what_is_given_as_it_is() -> None:
    written = {"a": [{"$any": True}], "b": {"$literal": {"$c": []}}}
    before = copy.deepcopy(written)
    value = read(written)
    assert isinstance(value, dict)
    value["b"]["$c"].append(1)
    value["a"].append(1)
    assert written == before


def test_a_wildcard_below_a_key_that_begins_with_a_dollar_cannot_be_written() -> None:
    for wildcard in (EvalAny, EvalRegex("x")):
        with pytest.raises(WildcardError, match="a wildcard cannot stand below a key that begins with `\\$`"):
            json_of({"a": {"$x": [wildcard]}})


def test_depth_is_no_bound() -> None:
    value: object = EvalAny
    for _ in range(5000):
        value = {"a": [value]}
    written = json_of(value)
    again = read(written)
    for _ in range(5000):
        assert isinstance(written, dict)
        assert isinstance(again, dict)
        written, again = written["a"][0], again["a"][0]
    assert written == {"$any": True}
    assert again is EvalAny


PLAIN = st.recursive(
    st.sampled_from([None, True, 0, 1.5, "", "$any", "x"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "b", "$any", "$regex", "$literal", "$x"]), inner, max_size=3),
    ),
)
WILD = st.recursive(
    st.one_of(PLAIN, st.just(EvalAny), st.builds(EvalRegex, st.sampled_from(["", "^a", "b$"]))),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
)


@given(WILD)
def test_what_is_written_is_read_back_equal(value: object) -> None:
    assert read(json_of(value)) == value


@given(PLAIN)
def test_a_literal_is_read_as_itself(value: object) -> None:
    assert read({"$literal": value}) == value


def test_a_copy_of_eval_any_is_eval_any() -> None:
    assert copy.copy(EvalAny) is copy.deepcopy([EvalAny])[0] is EvalAny
    assert pickle.loads(pickle.dumps(EvalAny)) is EvalAny  # noqa: S301  # our own bytes
    assert repr(EvalAny) == "EvalAny"


def cyclic() -> dict[str, object]:
    value: dict[str, object] = {}
    value["again"] = value
    return value


def shared() -> object:
    value: object = "x"
    for _ in range(40):
        value = [value, value]
    return value


@pytest.mark.parametrize("value", [cyclic(), {"deep": shared()}])
def test_what_no_file_can_hold_is_refused_and_never_ends_in_a_hang(value: object) -> None:
    with pytest.raises(WildcardError, match="more than 100,000 parts"):
        value_of(value, len)
