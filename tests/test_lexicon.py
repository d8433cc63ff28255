"""The dialects that a run knows by name, and the commands that show them."""

import json
from pathlib import Path

import pytest

from golden.__main__ import _run as run_command
from golden.errors import TargetError, UsageError
from golden.lexicon import Lexicon, built_in
from golden.signals import Score
from golden.sse import Event
from golden.wire import Head
from tests.program import CASE, Program

RULES = [{"event": "delta", "text": "t"}, {"event": "end", "end": True}]
SUPPORT = {"rules": RULES, "detect": [{"event": "delta"}]}


def test_a_name_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no dialect is called 'open-ai-chat'") as caught:
        Lexicon().dialect("open-ai-chat")
    assert caught.value.hint == "did you mean 'openai-chat'?"
    with pytest.raises(UsageError) as caught:
        Lexicon().dialect("zzz")
    assert caught.value.hint is not None
    assert "native" in caught.value.hint


def test_auto_posts_as_native_and_only_reads() -> None:
    assert Lexicon().dialect("auto") is Lexicon().dialect("native")
    assert Lexicon({"native": {"path": "/x"}}).options("auto").path == "/x"


def test_every_dialect_of_golden_can_be_loaded() -> None:
    assert [Lexicon().dialect(name).framings for name in built_in()]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"nativ": {"path": "/x"}},
            "[tool.golden.dialects.nativ]: no dialect is called 'nativ'; a dialect of your own",
        ),
        ({"native": {"rules": RULES}}, "[tool.golden.dialects.native]: golden has a dialect of this name"),
        ({"native": {"path": 1}}, "[tool.golden.dialects.native].path: "),
        ({"native": {"groundedness": "a["}}, "[tool.golden.dialects.native].groundedness: no JMESPath"),
    ],
)
def test_what_is_said_of_a_dialect_is_checked(said: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Lexicon(said)
    assert message in caught.value.message


def test_two_that_claim_one_stream_are_not_guessed_between() -> None:
    lexicon = Lexicon({"one": SUPPORT, "two": SUPPORT})
    head = Head(200, {}, "chunked")
    with pytest.raises(TargetError, match=r"more than one dialect claims this stream: `one` .* and `two`"):
        lexicon.detect(head, Event("delta", "{}"), "sse")
    assert Lexicon({"one": SUPPORT}).detect(head, Event("delta", "{}"), "sse") == ("one", "an event named `delta`")


@pytest.mark.parametrize(
    ("event", "scores"),
    [
        (Event("groundedness", '{"score": 0.5}'), [Score(0.5)]),
        (Event("groundedness", "0.5"), [Score(0.5)]),
        (Event("groundedness", "{}"), []),
        (Event("groundedness", None), []),
        (Event("", '{"meta": {"grounded": 0.25}}'), [Score(0.25)]),
        (Event("", "{}"), []),
    ],
)
def test_a_score_is_read_beside_any_dialect(event: Event, scores: list[Score]) -> None:
    read = Lexicon({"ai-sdk": {"groundedness": "meta.grounded"}}).reading("ai-sdk")
    assert [signal for signal in read(event) if isinstance(signal, Score)] == scores
    assert Lexicon().reading("native") is Lexicon().dialect("native").read


@pytest.mark.parametrize(
    ("name", "options", "data", "scores"),
    [
        ("native", {"groundedness": "detail.total"}, '{"score": 1, "detail": {"total": 0.5}}', [Score(0.5)]),
        ("native", {"groundedness": "detail.total"}, '{"score": 1}', [Score(1)]),
        ("mine", {"rules": [{"event": "groundedness", "groundedness": "value"}]}, '{"value": 1}', [Score(1)]),
        ("mine", {"rules": [{"event": "groundedness", "groundedness": "score"}]}, '{"score": 1}', [Score(1)]),
        ("mine", {"rules": [{"event": "x", "text": "y"}], "groundedness": "value"}, '{"value": 1}', [Score(1)]),
    ],
)
def test_an_event_has_one_score_where_the_options_say_else_where_the_dialect_does(
    name: str, options: dict[str, object], data: str, scores: list[Score]
) -> None:
    read = Lexicon({name: options}).reading(name)
    assert [signal for signal in read(Event("groundedness", data)) if isinstance(signal, Score)] == scores


# The commands


def test_the_dialects_are_listed_with_those_that_are_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = '[tool.golden.dialects.support]\nrules = [{event = "end", end = true}]\n'
    Path("pyproject.toml").write_text(table, encoding="utf-8")
    assert run_command(["dialect", "list"]) == 0
    assert capfd.readouterr().out.splitlines() == [*built_in(), "support (declared)"]


BODY = 'event: token\ndata: {"text": "All is well"}\n\nevent: done\ndata: {}\n\n'


def test_a_captured_body_is_told_event_by_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("body.sse").write_text(BODY, encoding="utf-8")
    assert run_command(["dialect", "try", "body.sse"]) == 0
    text = capfd.readouterr().out
    assert text.startswith("dialect native (an event named `token`)")
    assert "  → text" in text
    assert "answer: All is well" in text
    assert run_command(["dialect", "try", "body.sse", "--json", "--dialect", "native"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert list(told) == ["dialect", "reason", "events", "turn", "findings"]
    assert [event["event"] for event in told["events"]] == ["token", "done"]
    assert told["events"][0]["signals"] == [{"signal": "text", "text": "All is well", "part": ""}]
    assert told["turn"]["answer"] == "All is well"


@pytest.mark.parametrize(
    ("body", "said"),
    [("event: other\ndata: {}\n\n", "no dialect knows this stream"), (BODY[:40], "cut inside an event")],
)
def test_a_body_that_is_no_whole_answer_says_so(
    body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("body.sse").write_text(body, encoding="utf-8")
    assert run_command(["dialect", "try", "body.sse"]) == 3
    assert said in capfd.readouterr().out


def test_a_body_that_is_not_there_is_wrong_usage(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["dialect", "try", "no-such-file"]) == 2
    assert "cannot read no-such-file" in capfd.readouterr().err


def test_an_agent_speaks_a_declared_dialect(golden_run: Program) -> None:
    table = '[tool.golden.dialects.support]\nrules = [{event = "delta", text = "t"}, {event = "end", end = true}]\n'
    Path("pyproject.toml").write_text(table, encoding="utf-8")
    agent = "def answer(question):\n    yield 'delta', {'t': 'all is well'}\n    yield 'end', {}\n"
    Path("speaking_support.py").write_text(agent, encoding="utf-8")
    ran = golden_run("--agent", "speaking_support:answer", "--dialect", "support", cases=[CASE])
    assert (ran.code, ran.case.turns[0].answer) == (0, "all is well")


def test_all_that_came_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    body = (
        'event: tool_call\ndata: {"name": "a", "args": {"x": 1}}\n\nevent: token\ndata: {"text": "hi"}\n\n'
        'event: groundedness\ndata: {"score": 0.5}\n\nevent: usage\ndata: {"input": 3, "output": 4}\n\n'
    )
    monkeypatch.chdir(tmp_path)
    Path("all.sse").write_text(body, encoding="utf-8")
    assert run_command(["dialect", "try", "all.sse"]) == 0
    text = capfd.readouterr().out
    for line in ('called a({"x":1}) = null', "groundedness: 0.5", "tokens: 3 in, 4 out", "finding: the stream ended"):
        assert line in text
    table = 'detect = [{event = "x"}]\nrules = [{event = "end", end = true}]\n'
    tables = "".join(f"[tool.golden.dialects.{name}]\n{table}" for name in ("one", "two"))
    Path("two.toml").write_text(tables, encoding="utf-8")
    Path("x.sse").write_text("event: x\ndata: {}\n\n", encoding="utf-8")
    assert run_command(["dialect", "try", "x.sse", "--config", "two.toml"]) == 3
    assert "more than one dialect claims this stream" in capfd.readouterr().out
