import pytest

from golden.expectation import Alternative, ToolExpectation
from golden.match import first, in_order, pair
from golden.mismatch import describe, describe_call, describe_difference, not_first, out_of_order, unpaired
from golden.outcome import ABSENT, Broken, Difference
from golden.redaction import Secrets
from golden.transcript import ToolCall
from golden.wildcards import EvalAny, EvalRegex

Expect = ToolExpectation


def plain(text: str) -> str:
    return text


def opened(kind: str, **more: object) -> ToolCall:
    return ToolCall("exec_ui", {"kind": kind, **more})


FILE = Expect(tool="exec_ui", params={"kind": "openFile"})


@pytest.mark.parametrize(
    ("expectation", "text"),
    [
        (
            Expect(
                tool="exec_ui",
                params={"kind": "openPanel", "params": {"id": EvalAny, "component": EvalRegex("^chart:")}},
            ),
            'exec_ui(kind="openPanel", params={id: any, component: /^chart:/})',
        ),
        (Expect(tool="read"), "read"),
        (Expect(tool="read", params={}), "read()"),
        (Expect(tool="read", strict=True), "read(nothing)"),
        (Expect(tool="read", params={}, strict=True), "read(nothing)"),
        (Expect(tool="read", params={"a": 1}, strict=True), "read(a=1, nothing else)"),
        (
            Expect(tool="read", params={"a b": [1, 1.5, True, None, "x\n", {}, []]}),
            r'read("a b"=[1, 1.5, true, null, "x\n", {}, []])',
        ),
        (Expect(any_of=[Alternative(tool="a", params={"x": 1}), Alternative(tool="b")]), "a(x=1) or b"),
        (Expect(tool="t", params={"a": {"b": {"c": {"d": {}}}}}), "t(a={b: {c: {d: {}}}})"),
        (Expect(tool="t", params={"a": {"b": {"c": {"d": [1]}}}}), "t(a={b: {c: {d: […]}}})"),
        (Expect(tool="t", params={"a": [[[{"x": 1}]]]}), "t(a=[[[{…}]]])"),
        (Expect(tool="t", params={"a": list(range(99))}), "t(a=[0, 1, 2, 3, 4, 5, 6, 7, …])"),
        (Expect(tool="t", params={chr(97 + i): i for i in range(9)}), "t(a=0, b=1, c=2, d=3, e=4, f=5, g=6, h=7, …)"),
        (Expect(tool="t", params={"a": "x" * 99}), f't(a="{"x" * 59}…")'),
        (Expect(tool="t", params={"k" * 99: EvalRegex("x" * 99)}), f'"{"k" * 59}…"=/{"x" * 59}…/'.join(["t(", ")"])),
        (Expect(tool="t" * 99), "t" * 59 + "…"),
    ],
)
def test_an_expectation_is_written_as_a_call(expectation: ToolExpectation, text: str) -> None:
    assert describe(expectation, plain) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (ToolCall("read", {"path": "README.md"}), 'read(path="README.md")'),
        (ToolCall("read", {}), "read()"),
        (ToolCall("", None), "(no name)(null)"),
        (ToolCall("read", ["é", float("nan")]), 'read(["é", NaN])'),
        (ToolCall("read", '{"path": ', parsed=False), r'read("{\"path\": ")'),
    ],
)
def test_a_call_is_written_with_its_arguments(call: ToolCall, text: str) -> None:
    assert describe_call(call, plain) == text


def test_texts_are_bounded_whatever_they_are_made_of() -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = {"k" * 1000: [deep, *"xxxxxxxx"]}
    huge: dict[str, object] = {f"key {i} {'k' * 999}": ["y" * 10_000, 7**200] for i in range(100)}
    huge = {"deep": [deep], **huge}
    assert len(describe(Expect(tool="t" * 1000, params=huge), plain)) <= 200
    assert len(describe(Expect(any_of=[Alternative(tool="t", params=huge)] * 50), plain)) <= 200
    assert len(describe_call(ToolCall("t" * 1000, huge), plain)) <= 200
    for came in (huge, "y" * 10_000, 7**200, Broken("{" * 10_000)):
        difference = Difference("params" + ".deep" * 1000, huge, came)
        assert len(describe_difference(difference, plain)) <= 600


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Difference("params.kind", "openFile", "openPanel"), 'params.kind: expected "openFile", came "openPanel"'),
        (Difference("params.id", EvalAny, ABSENT), "params.id: expected any, came nothing"),
        (Difference("params.id", ABSENT, 1), "params.id: expected nothing, came 1"),
        (Difference("params.id", "1", 1), 'params.id: expected "1", came 1'),
        (Difference("params.n", 1, True), "params.n: expected 1, came true"),
        (Difference("params.x", [1, 2], [1]), "params.x: expected 2 items, came 1"),
        (Difference("params.x", [1], []), "params.x: expected 1 item, came 0"),
        (Difference("params.x", [1], {"a": 1}), "params.x: expected [1], came {a: 1}"),
        (Difference("params", {"a": 1}, Broken('{"a"')), r'params: expected whole JSON, came "{\"a\""'),
        (Difference("params", None, Broken("")), 'params: expected whole JSON, came ""'),
        (Difference("params.c", EvalRegex("^chart:"), "x"), 'params.c: expected /^chart:/, came "x"'),
        (Difference("a" * 99 + "b" * 99, 1, 2), f"…{'a' * 20}{'b' * 99}: expected 1, came 2"),
    ],
)
def test_a_difference_names_the_path_and_both_values(difference: Difference, text: str) -> None:
    assert describe_difference(difference, plain) == text


def test_long_strings_are_shown_from_where_they_begin_to_differ() -> None:
    same = "s" * 100
    text = describe_difference(Difference("params.p", f"{same}1", f"{same}2{same}"), plain)
    assert text == f'params.p: expected "…{"s" * 20}1", came "…{"s" * 20}2{"s" * 38}…"'
    text = describe_difference(Difference("params.p", same, f"{same}2"), plain)
    assert text == f'params.p: expected "…{"s" * 20}", came "…{"s" * 20}2"'
    text = describe_difference(Difference("params.p", "a", same), plain)
    assert text == f'params.p: expected "a", came "{"s" * 59}…"'


def test_a_secret_is_covered_before_anything_is_cut() -> None:
    secrets = Secrets()
    secret = "hunter2-hunter2-hunter2"
    secrets.add(secret)
    padded = {"a": "x" * 50 + secret, "b" * 50 + secret: 1, "c": EvalRegex("y" * 50 + secret)}
    same = "s" * 90 + secret
    path = f"params.{secret}" + "p" * 110
    texts = [
        *(describe(Expect(tool=secret, params={key: value}), secrets.cover) for key, value in padded.items()),
        describe_call(ToolCall("z" * 50 + secret, {}), secrets.cover),
        describe_call(ToolCall("t", "x" * 50 + secret, parsed=False), secrets.cover),
        describe_difference(Difference(path, f"{same}1", f"{same}2"), secrets.cover),
    ]
    assert all("█" in text for text in texts)
    assert not any("hunter" in text or "2-" in text for text in texts)


def test_a_number_that_is_a_secret_is_covered() -> None:
    secrets = Secrets()
    secrets.add("1234567")
    assert describe_call(ToolCall("t", {"pin": 1234567}), secrets.cover) == "t(pin=███████)"


@pytest.mark.parametrize(
    ("expectations", "calls", "texts"),
    [
        (
            [FILE],
            [ToolCall("read", {}), opened("openPanel")],
            [
                'expected exec_ui(kind="openFile"); the nearest call, 2nd, exec_ui(kind="openPanel"), differs at '
                'params.kind: expected "openFile", came "openPanel"'
            ],
        ),
        (
            [FILE],
            [ToolCall("read", {"path": "a"})],
            [
                'expected exec_ui(kind="openFile"); the nearest call, 1st, read(path="a"), differs at '
                'tool: expected "exec_ui", came "read"'
            ],
        ),
        ([FILE], [], ['expected exec_ui(kind="openFile"); no tool was called']),
        ([FILE], [opened("openFile")], [""]),
        (
            [FILE, FILE],
            [opened("openFile")],
            ["", 'expected exec_ui(kind="openFile"); 1 call matches, 1 paired with other expectations'],
        ),
        (
            [Expect(tool="exec_ui", params={"kind": "openFile"}, min_count=3)],
            [opened("openFile"), opened("openFile"), opened("x")],
            [
                'expected 3 calls of exec_ui(kind="openFile"); 2 calls match; the nearest call, 3rd, '
                'exec_ui(kind="x"), differs at params.kind: expected "openFile", came "x"'
            ],
        ),
        (
            [Expect(tool="exec_ui", min_count=0, max_count=1)],
            [opened("a"), opened("b")],
            ["expected at most 1 call of exec_ui; 2 calls match"],
        ),
        (
            [Expect(tool="exec_ui", min_count=0, max_count=0)],
            [opened("a")],
            ["expected at most 0 calls of exec_ui; 1 call matches"],
        ),
    ],
)
def test_an_unmet_expectation_is_told_with_its_evidence(
    expectations: list[ToolExpectation], calls: list[ToolCall], texts: list[str]
) -> None:
    assert [unpaired(outcome, calls, plain) for outcome in pair(expectations, calls)] == texts


@pytest.mark.parametrize(
    ("kinds", "calls", "text"),
    [
        ("ab", "ab", ""),
        ("", "", ""),
        ("a", "", 'expected exec_ui(kind="a"); no tool was called'),
        ("ab", "a", 'expected exec_ui(kind="b") after the 1st call, exec_ui(kind="a"); no call came after it'),
        (
            "ab",
            "ba",
            'expected exec_ui(kind="b") after the 2nd call, exec_ui(kind="a"); the 1st call matches, and came before',
        ),
        (
            "ab",
            "bac",
            'expected exec_ui(kind="b") after the 2nd call, exec_ui(kind="a"); the 1st call matches, and came before; '
            'the nearest call, 3rd, exec_ui(kind="c"), differs at params.kind: expected "b", came "c"',
        ),
        (
            "a",
            "b",
            'expected exec_ui(kind="a"); the nearest call, 1st, exec_ui(kind="b"), differs at params.kind: '
            'expected "a", came "b"',
        ),
    ],
)
def test_an_order_that_is_not_kept_is_told_with_where_it_broke(kinds: str, calls: str, text: str) -> None:
    expectations = [Expect(tool="exec_ui", params={"kind": kind}) for kind in kinds]
    made = [opened(kind) for kind in calls]
    assert out_of_order(expectations, in_order(expectations, made), made, plain) == text


def test_a_first_call_that_is_not_as_expected_is_told() -> None:
    for calls, came in (
        ([], "no tool was called"),
        (
            [opened("x"), opened("openFile")],
            'the first call, exec_ui(kind="x"), differs at params.kind: expected "openFile", came "x"',
        ),
    ):
        difference = first(FILE, calls)
        assert difference is not None
        assert (
            not_first(FILE, difference, calls, plain) == f'expected exec_ui(kind="openFile") as the first call; {came}'
        )


@pytest.mark.parametrize(
    ("place", "ordinal"),
    [
        (0, "1st"),
        (1, "2nd"),
        (2, "3rd"),
        (3, "4th"),
        (10, "11th"),
        (11, "12th"),
        (12, "13th"),
        (20, "21st"),
        (110, "111th"),
    ],
)
def test_a_place_is_spoken_as_people_do(place: int, ordinal: str) -> None:
    calls = [ToolCall("u", {})] * place + [opened("x")]
    (outcome,) = pair([FILE], calls)
    assert f"the nearest call, {ordinal}, exec_ui" in unpaired(outcome, calls, plain)
