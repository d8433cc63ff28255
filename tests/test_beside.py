from typing import Any

import pytest

from golden.transcript import Failure, ToolCall
from tests.values import covering, judged, turn


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (
            {"expect": [{"tool": "a", "params": {"of": {"$any": True}}, "min_count": 2}, {"tool": "b"}, {"tool": "c"}]},
            [(True, (0, 2), ""), (True, (1,), ""), (False, (0,), "tool")],
        ),
        ({"expect": {"tool": "b", "params": {"x": 1}}}, [(False, (1,), "params.x")]),
        ({"expect_first": {"tool": "a"}}, [(True, (0,), "")]),
        ({"expect_first": {"tool": "b"}}, [(False, (0,), "tool")]),
        (
            {"expect_order": [{"tool": "b"}, {"tool": "a", "params": {"of": 3}}, {"tool": "a"}]},
            [(True, (1,), ""), (False, (2,), "params.of"), (False, (), "")],
        ),
        ({"expect": {"tool": "a", "params": {"of": {"$regex": "(x+x+)+y"}}}}, [(None, (), "")]),
    ],
)
def test_a_result_has_each_tool_expectation_with_the_calls_beside_it(
    asked: dict[str, Any], expected: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("golden.patterns.SECONDS", 0.02)
    calls = (ToolCall("a", {"of": "x" * 3000}), ToolCall("b", {}), ToolCall("a", {"of": 2}))
    result = judged(asked, turn(tool_calls=calls))
    assert [(one.met, one.places, one.path) for one in result.expectations] == expected
    (name,) = asked
    written = asked[name] if isinstance(asked[name], list) else [asked[name]]
    assert [one.expected for one in result.expectations] == written
    assert {(one.check, one.turn) for one in result.expectations} == {(name, None)}


def test_an_expectation_of_a_turn_counts_its_own_calls_and_shows_no_secret() -> None:
    first, second = (turn(tool_calls=(ToolCall(name, {}), ToolCall("other", {}))) for name in "ab")
    expect = {"tool": "b", "params": {"key": "hunter22"}}
    asked = {"question": None, "turns": [{"question": "1", "max_tool_calls": 2}, {"question": "2", "expect": expect}]}
    (one,) = judged(asked, first, second, secrets=covering("hunter22")).expectations
    assert (one.turn, one.places, one.path) == (1, (0,), "params.key")
    assert one.expected == {"tool": "b", "params": {"key": "████████"}}


def test_an_expectation_of_an_answer_that_did_not_come_is_undecided() -> None:
    failed = turn("", tool_calls=(ToolCall("a", {}),), finish=None, error=Failure("cut", "it was cut"))
    (one,) = judged({"expect": {"tool": "a"}}, failed).expectations
    assert (one.met, one.places, one.path) == (None, (), "")
