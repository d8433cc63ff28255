"""Chat routes over the npm package `ai`, versions 6 and 4, as their own front ends ask and read them."""

from collections.abc import Iterator

import pytest

from tests import npm, shop
from tests.program import Program

STREAMS = {"/api/chat": "ai-sdk", "/express": "ai-sdk", "/agent": "ai-sdk", "/telling": "ai-sdk", "/4": "ai-sdk-data"}
MASKED = "An error occurred."


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    npm.install()
    with npm.serving(str(npm.FOLDER / "ai.mjs")) as url:
        yield url


@pytest.mark.parametrize("path", STREAMS)
def test_a_route_gets_the_right_verdicts(path: str, url: str, golden_run: Program) -> None:
    options = ("--base-url", url, "--no-auth", "--path", path, "--dialect", STREAMS[path])
    ran = golden_run(*options, cases=shop.CASES, defaults={"clean_stream": True})
    results = shop.judged(ran, error="the model is overloaded" if path == "/telling" else MASKED)
    (turn,) = results["tool"].turns
    assert (turn.answer, turn.final_text) == ("Let me look. Order 1042 has shipped 🙂.", "Order 1042 has shipped 🙂.")
    assert [call.result for call in turn.tool_calls] == [shop.SHIPPED]
    usage = turn.usage and (turn.usage.input, turn.usage.output)
    assert usage == ((6, 10) if path in ("/telling", "/4") else None)  # else it is not said
    assert turn.groundedness == (0.9 if path == "/telling" else None)


def test_the_text_stream_has_the_same_answers_and_no_tools(url: str, golden_run: Program) -> None:
    cases = [case for case in shop.CASES if case["id"] != "tool"]
    ran = golden_run("--base-url", url, "--no-auth", "--path", "/text", "--dialect", "text", cases=cases)
    assert ran.statuses == [*["passed"] * 3, "error", "failed"]
    plain, *_, error, wrong = ran.run.results
    assert plain.turns[0].answer == "I look after orders – and nothing else 👩‍🚀."
    assert error.error is not None
    assert error.error.kind == "empty"  # the protocol has no place for what went wrong
    assert wrong.turns[0].answer == "Let me look. Order 1042 has shipped 🙂."


@pytest.mark.parametrize("path", [*STREAMS, "/text"])
def test_a_route_is_told_by_what_it_sends(path: str, url: str) -> None:
    dialect = STREAMS.get(path, "text")
    verdicts = shop.VERDICTS if path in STREAMS else {**shop.VERDICTS, "tool": "failed"}
    assert shop.told_apart(url, dialect, path) == (dialect, verdicts)


# Question → answer, calls with their results, how it ends. What fails in a tool of version 4 ends the turn.
COMPARED = [({"number": 1042, "slow": True}, shop.SHIPPED), ({"number": 7}, {**shop.SHIPPED, "number": 7})]
INVALID = 'Invalid input for tool find_order: Type validation failed: Value: {"number":"mine"}.'
TURNS = {
    "Compare 1042 with 7.": ("Both have shipped.", COMPARED, "finished"),
    "Where is order 0?": ("There is none.", [({"number": 0}, "there is no order 0")], "finished"),
    "Where is my order?": ("Which one?", [({"number": "mine"}, INVALID)], "finished"),
    "Cancel order 1042.": ("", [({"number": 1042}, None)], "waiting"),
    "Where am I?": ("", [({}, None)], "waiting"),
    "Tell me everything.": ("It was a dark and", [], "length"),
    "Break midway.": ("Well, ", [], "the agent reports an error: the model is overloaded"),
    "Say when.": ("One", [], "the agent reports an error: the answer was aborted: This operation was aborted"),
}
TURNS_4 = {
    **{question: TURNS[question] for question in ("Compare 1042 with 7.", "Where am I?", "Tell me everything.")},
    "Where is order 0?": ("", [({"number": 0}, None)], f"the agent reports an error: {MASKED}"),
    "Break midway.": ("Well, ", [], f"the agent reports an error: {MASKED}"),
}


@pytest.mark.parametrize(("path", "turns"), [("/telling", TURNS), ("/4", TURNS_4)])
def test_a_turn_ends_as_the_package_says(path: str, turns: dict[str, object], url: str, golden_run: Program) -> None:
    cases: list[dict[str, object]] = [{"question": question, "clean_stream": True} for question in turns]
    ran = golden_run("--base-url", url, "--no-auth", "--path", path, "--dialect", STREAMS[path], cases=cases)
    came: dict[str, object] = {}
    for result in ran.run.results:
        (turn,) = result.turns
        calls = [(call.args, first_line(call.result)) for call in turn.tool_calls]
        ending = turn.finish if result.status == "passed" else result.error and result.error.message
        came[turn.question] = (turn.answer, calls, ending)
    assert came == turns


def first_line(result: object) -> object:
    return result.partition("\n")[0] if isinstance(result, str) else result
