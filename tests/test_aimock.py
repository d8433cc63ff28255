"""The model APIs and the AG-UI agent of the npm package `@copilotkit/aimock`: what is well, cut and broken."""

from collections.abc import Iterator

import pytest

from tests import npm, shop
from tests.program import Program

MODELS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
DIALECTS = (*MODELS, "ag-ui")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    npm.install()
    with npm.serving(str(npm.FOLDER / "aimock.mjs")) as url:
        yield url


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_gets_the_right_verdicts(dialect: str, url: str, golden_run: Program) -> None:
    options = ("--base-url", url, "--no-auth", "--dialect", dialect)
    ran = golden_run(*options, cases=shop.CASES, defaults={"clean_stream": True})
    results = shop.judged(ran, error="the model is overloaded")
    (turn,) = results["tool"].turns
    if dialect == "ag-ui":  # an agent runs its tools; a model waits for who asked
        assert (turn.answer, turn.finish) == ("Let me look. Order 1042 has shipped 🙂.", "finished")
        assert [call.result for call in turn.tool_calls] == ['{"number":1042,"state":"shipped"}']
    else:
        assert (turn.answer, turn.final_text, turn.finish) == ("Let me look. ", "", "waiting")
    assert turn.usage is not None
    assert (turn.usage.input, turn.usage.output) == ((0, 0) if dialect == "ollama" else (3, 5))  # it counts nothing


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_is_told_by_what_it_sends(dialect: str, url: str) -> None:
    assert shop.told_apart(url, dialect) == (dialect, shop.VERDICTS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_side_by_side_and_texts_between_calls_are_told_apart(dialect: str, url: str, golden_run: Program) -> None:
    cases: list[dict[str, object]] = [
        {"question": "Compare 1042 with 7.", "clean_stream": True},
        {"question": "Look twice.", "clean_stream": True},
    ]
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=cases)
    assert ran.code == 0
    (compared,), (twice,) = (result.turns for result in ran.run.results)
    assert shop.calls(compared) == [("find_order", {"number": 1042, "slow": True}), ("find_order", {"number": 7})]
    assert shop.calls(twice) == [("find_order", {"number": 1042}), ("find_order", {"number": 1042})]
    assert (twice.answer, twice.final_text) == ("Once 🙂. Twice. Done.", "Done.")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_that_is_cut_is_an_error_with_what_came_of_it(dialect: str, url: str, golden_run: Program) -> None:
    cases: list[dict[str, object]] = [{"question": "Say when.", "forbidden_phrases": ["order placed"]}]
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=cases)
    assert (ran.code, ran.case.status, [check.ok for check in ran.case.checks]) == (3, "error", [None])
    (turn,) = ran.case.turns
    assert turn.error is not None
    assert turn.error.kind == "cut"
    assert turn.answer
    assert "One, two, three, four, five.".startswith(turn.answer)


# What chaos does, in the words of its header → the kind of error, and what is said of it.
CHAOS = {
    "drop": ("http", "the server answered 500: "),
    "malformed": ("not_a_stream", "the server sent application/json, where {wanted} is an answer: {{malformed json: "),
    "ratelimit": ("http", "the server answered 429 (Retry-After: 1): "),
    "disconnect": ("cut", "no HTTP answer from "),
}


@pytest.mark.parametrize("dialect", MODELS)
def test_chaos_is_told_for_what_it_is(dialect: str, url: str, golden_run: Program) -> None:
    for chaos, (kind, said) in CHAOS.items():
        header = ("--header", f"x-aimock-chaos-{chaos}: 1")
        ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, *header, cases=shop.CASES[1:2])
        assert (ran.code, ran.case.status) == (3, "error")
        assert ran.case.error is not None
        assert ran.case.error.kind == kind
        wanted = "application/x-ndjson" if dialect == "ollama" else "text/event-stream"
        assert ran.case.error.message.startswith(said.format(wanted=wanted))


# How a model's own limit of length is told: aimock's Responses API leaves out why, its Ollama says it finished.
LENGTH = {
    **dict.fromkeys(("openai-chat", "anthropic", "gemini"), "length"),
    "openai-responses": "the agent reports an error: the response is incomplete: it does not say why",
    "ollama": "finished",
}


@pytest.mark.parametrize("dialect", MODELS)
def test_an_answer_that_met_the_models_limit_says_so(dialect: str, url: str, golden_run: Program) -> None:
    cases: list[dict[str, object]] = [{"question": "Tell me everything.", "required_phrases": ["dark"]}]
    ran = golden_run("--base-url", url, "--no-auth", "--dialect", dialect, cases=cases)
    (turn,) = ran.case.turns
    assert turn.answer == "It was a dark and"
    assert (turn.finish if turn.error is None else turn.error.message) == LENGTH[dialect]
