"""Tool calls in the page: each stands beside what golden itself paired it with, and the verdict of each is golden's."""

from typing import Any

from golden.transcript import ToolCall
from tests.browser import Open
from tests.values import judged, turn

A = ToolCall("look", {"at": "a"})
B = ToolCall("look", {"at": "b", "deep": {"n": 1.0, "x y": "$z"}})
GO = ToolCall("go", "{", parsed=False)

ANY = {"tool": "look", "params": {"at": {"$any": True}}}
DEEP = {"tool": "look", "params": {"at": "b", "deep": {"n": 1, "x y": {"$literal": "$z"}}}, "strict": True}

# What is asked, the calls that came, and the rows that are shown.
SCENES: list[tuple[dict[str, Any], tuple[ToolCall, ...], list[str]]] = [
    (
        {"expect": {**ANY, "strict": True}},
        (B, A, GO),
        [
            *("expect call 2", "tool look look", 'at any value "a"'),
            *("called besides call 1", "tool – look", 'at – "b"', 'deep – {"n": 1, "x y": "$z"}'),
            *("called besides call 3", "tool – go", 'arguments – "{"'),
        ],
    ),
    (
        {"expect": [ANY, DEEP]},
        (B, A),
        [
            *("expect call 2", "tool look look", 'at any value "a"'),
            *("expect call 1", "tool look look", 'at "b" "b"', "deep.n 1 1", 'deep["x y"] "$z" "$z"'),
        ],
    ),
    (
        {"expect": {"tool": "look", "params": {"at": {"$regex": "z"}}}},
        (A,),
        ["expect call 1", "tool look look", 'at differs matches /z/ "a"'],
    ),
    (
        {"expect": {"tool": "look", "params": {"at": "a"}, "strict": True}},
        (ToolCall("look", {"at": "a", "more": [1, {"b": None}]}),),
        ["expect call 1", "tool look look", 'at "a" "a"', 'more differs – [1, {"b": null}]'],
    ),
    (
        {"expect": {"any_of": [{"tool": "go"}, {"tool": "look", "params": {"at": ["a", "b"]}}]}},
        (ToolCall("look", {"at": ["a"]}),),
        ["expect, or 1 other call 1", "tool look look", 'at[0] "a" "a"', 'at[1] differs "b" –'],
    ),
    (
        {"expect": {"tool": "look", "min_count": 2}},
        (A, A),
        [
            *("expect, 2 calls call 1", "tool look look", 'at – "a"'),
            *("expect, 2 calls call 2", "tool look look", 'at – "a"'),
        ],
    ),
    (
        {"expect": {"tool": "look", "params": {"at": "a"}}},
        (GO,),
        [
            *("expect", "tool differs look not called", 'arguments differs {"at": "a"} –'),
            *("called besides call 1", "tool – go", 'arguments – "{"'),
        ],
    ),
    (
        {"expect_first": {"tool": "look"}},
        (GO, A),
        [
            *("expect_first call 1", "tool differs look go", 'arguments – "{"'),
            *("called besides call 2", "tool – look", 'at – "a"'),
        ],
    ),
    (
        {"expect_order": [{"tool": "look"}, {"tool": "go"}]},
        (GO, A),
        [
            *("expect_order call 2", "tool look look", 'at – "a"'),
            *("expect_order", "tool differs go not in this order"),
            *("called besides call 1", "tool – go", 'arguments – "{"'),
        ],
    ),
    ({"forbidden_tools": ["go"]}, (A, GO), ["called besides call 1", "tool – look", 'at – "a"', "forbidden call 2"]),
    ({"expect_no_tool_call": True}, (A,), ["no call was expected call 1", "tool differs – look", 'at – "a"']),
]


def test_calls_stand_beside_what_golden_itself_paired_them_with(opened: Open) -> None:
    page = opened(
        *(judged({"id": f"s{at}", **asked}, turn(tool_calls=came)) for at, (asked, came, _) in enumerate(SCENES))
    )
    for at, (asked, _, rows) in enumerate(SCENES):
        page.click(f"#list li:has(#case-{at}) button")
        assert page.texts(f"#case-{at} .sides tbody tr")[: len(rows)] == rows, asked


def test_a_tool_that_another_turn_called_is_not_called(opened: Open) -> None:
    turns = [{"question": "1", "max_tool_calls": 1}, {"question": "2", "expected_tools": ["look"]}]
    page = opened(judged({"question": None, "turns": turns}, turn(tool_calls=(A,)), turn()), address="#case=well")
    assert page.texts(".sides tbody tr") == [
        *("expected_tools", "tool differs look not called"),
        *("called besides call 1, turn 1", "tool – look", 'at – "a"'),
    ]
