"""Dialects that are declared as tables of rules: what events mean, how questions are posted, what is refused."""

import json
from typing import Any

import pytest

from golden.declared import Table, declared
from golden.dialects import Dialect, Options
from golden.errors import UsageError
from golden.lexicon import Lexicon
from golden.signals import (
    CallDone,
    CallPart,
    End,
    Error,
    Finish,
    Message,
    Odd,
    Reasoning,
    Result,
    Score,
    Session,
    Signal,
    Text,
    Tokens,
)
from golden.sse import Event
from golden.wire import Head, Post, Request

END = {"event": "end", "end": True}


def made(*rules: dict[str, Any], **table: Any) -> Dialect:
    return Lexicon({"mine": {"rules": [*rules, END], **table}}).dialect("mine")


def meant(rule: dict[str, Any], data: object, name: str = "", *others: dict[str, Any]) -> list[Signal]:
    text = data if isinstance(data, str) else json.dumps(data)
    return list(made(rule, *others).read(Event(name, text)))


@pytest.mark.parametrize(
    ("rule", "data", "signals"),
    [
        ({"text": "content"}, {"content": "hi"}, [Text("hi")]),
        ({"text": "content"}, {"content": 3}, [Odd("malformed", "where text should stand is 3")]),
        ({"text": "content"}, {"other": 3}, []),
        ({"text": "@"}, "plain words", [Text("plain words")]),
        ({"message": "text"}, {"text": "all"}, [Message("all")]),
        ({"reasoning": "thought"}, {"thought": "hm"}, [Reasoning()]),
        ({"groundedness": "score"}, {"score": 0.5}, [Score(0.5)]),
        ({"groundedness": "score"}, {"score": "high"}, [Score("high")]),
        ({"error": "detail"}, {"detail": "broken"}, [Error("broken")]),
        ({"error": "detail"}, {"detail": {"code": 3}}, [Error("{'code': 3}")]),
        ({"error": "detail"}, {"detail": ""}, []),
        ({"waiting": "paused"}, {"paused": True}, [Finish("waiting")]),
        ({"waiting": "paused"}, {"paused": False}, []),
        ({"waiting": True}, {}, [Finish("waiting")]),
        ({"length": "cut"}, {"cut": 1}, [Finish("length")]),
        ({"input_tokens": "in", "output_tokens": "out"}, {"in": 3, "out": 4}, [Tokens(3, 4)]),
        ({"input_tokens": "in", "output_tokens": "out"}, {"in": 3, "out": True}, [Tokens(3, None)]),
        ({"input_tokens": "in"}, {"in": -1}, []),
        (
            {"tool": "name", "args": "input", "id": "id"},
            {"name": "a", "input": {"x": 1}, "id": 7},
            [CallDone("", "7", "a", {"x": 1})],
        ),
        ({"tool": "name", "args": "input"}, {"name": "a"}, [CallDone("", "", "a", {})]),
        ({"tool": "name"}, {"name": "a"}, [CallDone("", "", "a", {})]),
        ({"result": "output", "id": "id"}, {"output": {"x": 1}, "id": "7"}, [Result({"x": 1}, "7", "")]),
        ({"result": "output", "tool": "name"}, {"output": 1, "name": "a"}, [Result(1, "", "a")]),
        (
            {"tool": "name", "args": "input", "result": "output", "id": "id"},
            {"name": "a", "input": {}, "output": 1, "id": "7"},
            [CallDone("", "7", "a", {}), Result(1, "7", "a")],
        ),
        (
            {"tool": "name", "args_delta": "delta", "key": "index"},
            {"delta": "{", "index": 0, "name": "a"},
            [CallPart("{", "0", "", "a")],
        ),
        ({"done": True}, {}, [CallDone()]),
        ({"end": "over"}, {"over": True}, [End()]),
        ({"each": "parts", "text": "item.t"}, {"parts": [{"t": "a"}, {"t": "b"}]}, [Text("a"), Text("b")]),
        ({"each": "parts", "text": "item.t"}, {"parts": "none"}, []),
        (
            {"each": "items(parse_json(args))", "tool": "item[0]", "args": "item[1]"},
            {"args": '{"a": {"x": 1}}'},
            [CallDone("", "", "a", {"x": 1})],
        ),
        ({"when": "length(content) > `3`", "text": "content"}, {"content": 5}, []),
        ({"when": "type == 'delta'", "text": "content"}, {"type": "delta", "content": "hi"}, [Text("hi")]),
    ],
)
def test_a_rule_says_what_an_event_means(rule: dict[str, Any], data: object, signals: list[Signal]) -> None:
    assert meant(rule, data) == signals


def test_a_call_whose_arguments_come_in_other_events_is_begun_by_the_one_that_names_it() -> None:
    delta = {"event": "delta", "args_delta": "text", "id": "id"}
    assert meant({"tool": "name", "id": "id"}, {"name": "a", "id": "1"}, "start", delta) == [CallPart("", "", "1", "a")]


def test_an_event_is_meant_by_its_name_and_one_without_a_name_is_called_message() -> None:
    assert meant({"event": "message", "text": "t"}, {"t": "a"}) == [Text("a")]
    assert meant({"event": "delta", "text": "t"}, {"t": "a"}, "delta") == [Text("a")]
    assert meant({"event": "delta", "text": "t"}, {"t": "a"}, "other") == []


def test_every_rule_that_matches_applies_and_the_end_comes_last() -> None:
    dialect = made({"event": "end", "text": "last"}, {"event": "end", "input_tokens": "in"})
    assert list(dialect.read(Event("end", '{"last": "a", "in": 1}'))) == [Text("a"), Tokens(1, None), End()]
    assert list(dialect.read(Event("end", None))) == [End()]


def test_the_conversation_s_id_is_taken_out_of_a_reply() -> None:
    dialect = made({"text": "t"}, session="meta.thread")
    assert list(dialect.read(Event("", '{"meta": {"thread": 7}}'))) == [Session("7")]
    assert list(dialect.read(Event("", '{"meta": {"thread": ""}}'))) == []


ASKED = Request("q2", "s", turns=2, history=(("q1", "a1"),), model="m", system_prompt="p")


@pytest.mark.parametrize(
    ("table", "post"),
    [
        ({}, Post("/", {"message": "q2", "session_id": "s"})),
        (
            {
                "path": "/threads/$session_id",
                "body": {"q": "$question", "m": "$model", "h": "$history", "text": "say $question", "n": [1, None]},
            },
            Post(
                "/threads/s",
                {
                    "q": "q2",
                    "m": "m",
                    "h": [{"role": "user", "content": "q1"}, {"role": "assistant", "content": "a1"}],
                    "text": "say q2",
                    "n": [1, None],
                },
            ),
        ),
        ({"form": {"q": "$question"}, "headers": {"x": "y"}}, Post("/", {"q": "q2"}, {"x": "y"}, form=True)),
    ],
)
def test_a_question_is_posted_as_the_table_says(table: dict[str, Any], post: Post) -> None:
    assert made({"text": "t"}, **table).request(ASKED, Options()) == post


def test_what_is_not_given_is_left_out() -> None:
    body = {"q": "$question", "m": "$model", "thread": "$session_id", "null": None}
    first = made({"text": "t"}, body=body, session="id").request(Request("q", "s"), Options())
    assert first.body == {"q": "q", "null": None}


def test_a_conversation_is_closed_as_the_table_says() -> None:
    # Of a single turn too its reply has given the id by then.
    for asked, fields in ((ASKED, {}), (Request("q", "s"), {"session": "id"})):
        closes = made({"text": "t"}, close="DELETE /threads/$session_id", **fields).closes
        assert closes is not None
        assert closes(asked, Options()) == Post("/threads/s", {}, method="DELETE")


def test_events_that_show_the_dialect_are_claimed_with_their_reason() -> None:
    dialect = made({"text": "t"}, detect=[{"event": "hello", "when": "kind"}, {"when": "us"}])
    head = Head(200, {}, "chunked")
    assert dialect.claims(head, Event("hello", '{"kind": 1}')) == "an event named `hello` kind"
    assert dialect.claims(head, Event("", '{"us": 1}')) == "us"
    assert dialect.claims(head, Event("hello", "{}")) is None


def test_an_event_that_only_says_that_the_agent_failed_says_so_without_a_reason_too() -> None:
    fault: dict[str, Any] = {"event": "fault", "error": "detail"}
    text = {"event": "delta", "text": "t"}
    masked = Event("fault", "{}")

    def read(*rules: dict[str, Any], event: Event = masked) -> list[Signal]:
        return [*declared(Table.model_validate({"rules": [*rules]})).read(event)]

    assert read(fault, text) == read(fault, text, event=Event("fault", None)) == [Error("no message")]
    assert read(fault, text, event=Event("fault", '{"detail": "no"}')) == [Error("no")]
    assert read(fault, text, event=Event("delta", '{"t": "a"}')) == [Text("a")]
    # An event that may mean something else besides fails where the path finds something.
    assert read(fault, {"text": "t"}) == read(fault, {**text, "event": "fault"}) == []
    assert read({**fault, "event": "message"}, text, event=Event("", "{}")) == []


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({"rules": []}, "rules"),
        ({"rules": [{"event": "x"}]}, "rules.0: the rule says nothing"),
        ({"rules": [{"text": "a["}]}, "rules.0.text: no JMESPath"),
        ({"rules": [{"txt": "a"}]}, "rules.0.txt: unknown field"),
        ({"rules": [END], "pth": "/"}, "pth: unknown field"),
        ({"rules": [END], "body": {}, "form": {}}, "`body` and `form` exclude each other"),
        ({"rules": [END], "close": "threads"}, "close"),
        ({"rules": [END], "groundedness": "a["}, "groundedness: no JMESPath"),
    ],
)
def test_a_table_that_cannot_be_obeyed_is_refused_in_its_place(table: dict[str, Any], fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        Lexicon({"mine": table})
    assert f"[tool.golden.dialects.mine].{fault}" in str(caught.value) or fault in str(caught.value)
    assert "[tool.golden.dialects.mine]" in str(caught.value)
