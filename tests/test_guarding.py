"""Dialects of other packages: what is wrong with one is the case's error, names it, and ends nothing else."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden.__main__ import _run
from golden.dialects import Dialect, Opening, Options
from golden.errors import TargetError, UsageError
from golden.guarding import guarded
from golden.signals import Call, End, Finish, Message, Result, Score, Signal, Text, Tokens
from golden.sse import Event
from golden.wire import Head, Post, Request
from tests.program import Program

EVENT = Event("", "tweet")
HEAD = Head(200, {}, "chunked")
REQUEST = Request("why?", "s")
SOUND = Dialect(
    claims=lambda head, event: None,
    request=lambda request, options: Post("/", {}),
    read=lambda event: [Text("a")],
)

PACKAGE = '''
"""A dialect that does not keep what a dialect must."""
import json
from golden.dialects import Dialect
from golden.signals import End, Text
from golden.wire import Post


def read(event):
    body = json.loads(event.data)
    return (End(),) if "end" in body else (Text(body["say"]),)


DIALECT = Dialect(
    claims=lambda head, event: "it tweets",
    request=lambda request, options: Post("/", {}),
    read=read,
    marker="end",
)
'''
AGENT = """
def answer(question):
    if question == "bad":
        yield {"event": "", "data": '{"say": "It is "}'}
        yield {"event": "", "data": '{"sya": "well."}'}
    else:
        yield {"event": "", "data": '{"say": "It is well."}'}
    yield {"event": "", "data": '{"end": true}'}
"""


def explode(*given: object) -> Any:
    raise KeyError("say")


def leave(*given: object) -> Any:
    raise SystemExit(3)


def test_a_sound_dialect_reads_as_it_would_alone() -> None:
    opening = Opening(Post("/open", {}), str)
    whole = replace(
        SOUND, opens=lambda request, options: opening, closes=lambda request, options: Post("/close", {}), mints=True
    )
    dialect = guarded("mine", whole)
    assert dialect.claims(HEAD, EVENT) is None
    assert dialect.request(REQUEST, Options()) == Post("/", {})
    assert dialect.read(EVENT) == (Text("a"),)
    assert dialect.opens is not None
    assert dialect.opens(REQUEST, Options()) is opening
    assert dialect.closes is not None
    assert dialect.closes(REQUEST, Options()) == Post("/close", {})
    assert (dialect.mints, guarded("mine", SOUND).opens, guarded("mine", SOUND).closes) == (True, None, None)


@pytest.mark.parametrize("field", ["claims", "request", "read", "opens", "closes"])
@pytest.mark.parametrize(("broken", "what"), [(explode, "KeyError: 'say'"), (leave, "SystemExit: 3")])
def test_whatever_it_raises_is_its_own_fault(field: str, broken: Callable[..., Any], what: str) -> None:
    dialect = guarded("mine", replace(SOUND, **{field: broken}))  # type: ignore[arg-type]  # any of its calls
    given: tuple[object, ...] = {"read": (EVENT,), "claims": (HEAD, EVENT)}.get(field, (REQUEST, Options()))
    with pytest.raises(TargetError) as caught:
        getattr(dialect, field)(*given)
    assert caught.value.kind == "agent"
    assert caught.value.message == f"the dialect 'mine' of another package is at fault: its `{field}` raised {what}"
    assert "test_guarding.py" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("signals", "what"),
    [
        (None, "its `read` raised TypeError: 'NoneType' object is not iterable"),
        ("a", "its `read` gave a value of type str, which is no signal"),
        ([("a", "")], "its `read` gave a value of type tuple, which is no signal"),
        ([Text(5)], "its `read` gave a `Text` whose `text` is a value of type int"),  # type: ignore[arg-type]
        ([Message(None)], "its `read` gave a `Message` whose `text` is a value of type NoneType"),  # type: ignore[arg-type]
        ([Call("f", {"x": explode})], "its `read` gave a `Call` whose `args` is a value of type dict"),
        ([Result(explode)], "its `read` gave a `Result` whose `result` is a value of type function"),
        ([Tokens("9", None)], "its `read` gave a `Tokens` whose `input` is a value of type str"),  # type: ignore[arg-type]
        ([Finish(["stop"])], "its `read` gave a `Finish` whose `kind` is a value of type list"),  # type: ignore[arg-type]
    ],
)
def test_what_it_gives_that_is_no_signal_is_its_own_fault(signals: Any, what: str) -> None:
    with pytest.raises(TargetError) as caught:
        guarded("mine", replace(SOUND, read=lambda event: signals)).read(EVENT)
    assert caught.value.message == f"the dialect 'mine' of another package is at fault: {what}"


def test_all_that_a_signal_may_hold_is_taken() -> None:
    signals: list[Signal] = [
        Text("\ud83d"),
        Call("f", None),
        Result([1, None]),
        Score(float("nan")),
        Tokens(1, None),
        End(),
    ]
    assert guarded("mine", replace(SOUND, read=lambda event: signals)).read(EVENT) == tuple(signals)


def test_a_claim_that_is_no_reason_and_a_question_that_is_no_post_are_its_own_fault() -> None:
    with pytest.raises(TargetError, match="its `claims` gave a value of type bool"):
        guarded("mine", replace(SOUND, claims=lambda head, event: True)).claims(HEAD, EVENT)  # type: ignore[arg-type, return-value]
    with pytest.raises(TargetError, match="its `request` gave a value of type dict"):
        guarded("mine", replace(SOUND, request=lambda *given: {})).request(REQUEST, Options())  # type: ignore[arg-type]


@pytest.mark.parametrize("framings", [(), ("xml",)])
def test_framings_that_there_are_not_are_refused(framings: Any) -> None:
    with pytest.raises(UsageError, match="the dialect 'mine' has the framings"):
        guarded("mine", replace(SOUND, framings=framings))


def test_a_case_that_it_cannot_read_is_an_error_and_the_others_are_judged(
    golden_run: Program, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("golden_test_sloppy.py").write_text(PACKAGE, encoding="utf-8")
    Path("golden_test_tweeter.py").write_text(AGENT, encoding="utf-8")
    info = Path("sloppy-1.0.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sloppy\nVersion: 1.0\n", encoding="utf-8")
    members = "[golden.dialects]\ngolden-test-sloppy = golden_test_sloppy:DIALECT\n"
    (info / "entry_points.txt").write_text(members, encoding="utf-8")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    asked = ("good", "bad", "fine")
    cases: list[dict[str, object]] = [{"id": each, "question": each, "required_phrases": ["It is"]} for each in asked]
    ran = golden_run(
        "--agent", "golden_test_tweeter:answer", "--dialect", "golden-test-sloppy", "--concurrency", "1", cases=cases
    )
    assert (ran.code, [result.status for result in ran.run.results]) == (3, ["passed", "error", "passed"])
    bad = ran.run.results[1]
    assert bad.error is not None
    assert bad.error.kind == "agent"
    assert "'golden-test-sloppy' of another package is at fault: its `read` raised KeyError" in bad.error.message
    assert "golden_test_sloppy.py:11 in read" in bad.error.message
    assert (bad.turns[0].answer, bad.turns[0].finish) == ("It is ", None)  # what did come is kept
    Path("body.sse").write_text('data: {"say": "It is "}\n\ndata: {"sya": 1}\n\n', encoding="utf-8")
    assert _run(["dialect", "try", "body.sse", "--dialect", "golden-test-sloppy", "--json"]) == 3
    heard = json.loads(capfd.readouterr().out)
    assert [[signal["signal"] for signal in event["signals"]] for event in heard["events"]] == [["text"], []]
    assert heard["turn"]["error"]["kind"] == "agent"
