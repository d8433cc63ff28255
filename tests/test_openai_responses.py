import json

import pytest
from hypothesis import given

from golden.dialects import Options, openai_responses
from golden.signals import Error, Odd
from golden.sse import Event
from golden.transcript import Usage
from golden.wire import Head, Request
from tests.streamed import Body, calls, hostile, kinds, turn_of

HEAD = Head(200, {}, "chunked")
HISTORY = (("one?", "1"), ("two?", " "))


def delta(text: object, **place: object) -> Body:
    return {"type": "response.output_text.delta", "delta": text, **place}


def item(kind: str, body: Body, index: int | None = 0) -> Body:
    event: Body = {"type": f"response.output_item.{kind}", "item": body}
    return event if index is None else {**event, "output_index": index}


def call(arguments: object, id: str | None = "c1", name: str = "look") -> Body:
    body: Body = {"type": "function_call", "id": "fc1", "name": name, "arguments": arguments}
    return body if id is None else {**body, "call_id": id}


def args(text: str, index: int = 0) -> Body:
    return {"type": "response.function_call_arguments.delta", "output_index": index, "item_id": "fc1", "delta": text}


def said(*texts: str) -> Body:
    return {"type": "message", "id": "m", "content": [{"type": "output_text", "text": text} for text in texts]}


def ended(*output: Body, kind: str = "completed", **response: object) -> Body:
    return {"type": f"response.{kind}", "response": {"output": list(output), **response}}


END = ended()


@pytest.mark.parametrize(
    ("asked", "options", "body"),
    [
        (Request("why?", "s"), Options(), {"model": "gpt-5.4-mini", "input": ["why?"]}),
        (Request("why?", "s"), Options(id="mine"), {"model": "mine", "input": ["why?"]}),
        (
            Request("why?", "s", 3, HISTORY, "small", "Be brief."),
            Options(id="mine"),
            {"model": "small", "input": ["one?", "=1", "two?", "why?"], "instructions": "Be brief."},
        ),
    ],
)
def test_a_question_is_posted_with_its_history(asked: Request, options: Options, body: dict[str, object]) -> None:
    post = openai_responses.request(asked, options)
    assert isinstance(post.body, dict)
    told = [message["content"] if message["role"] == "user" else "=1" for message in post.body["input"]]
    assert (post.path, {**post.body, "input": told}) == ("/v1/responses", {**body, "stream": True})


@pytest.mark.parametrize(
    ("event", "claimed"),
    [
        (Event("response.created", '{"response": {}}'), True),  # the name alone
        (Event("", '{"type": "response.output_text.delta", "delta": "x"}'), True),  # the type alone
        (Event("error", '{"type": "error", "sequence_number": 1, "message": "x"}'), True),
        (Event("error", '{"type": "error", "error": {"type": "api_error"}}'), False),
        (Event("", '{"type": "error", "errorText": "x"}'), False),
        (Event("response.created", None), False),
        (Event("", "[DONE]"), False),
        (Event("", '"response.created"'), False),
    ],
)
def test_events_of_a_response_show_the_dialect(event: Event, claimed: bool) -> None:
    assert bool(openai_responses.claims(HEAD, event)) is claimed


@pytest.mark.parametrize(
    ("events", "answer"),
    [
        # no indices; indices in some events only; ids that are new in each event; no deltas; the end alone
        ([delta("a"), delta("b"), END], "ab"),
        ([delta("a"), item("done", said("a")), END], "a"),
        ([delta("a", item_id="x", output_index=1), item("done", said("a"), 1), END], "a"),
        ([item("added", said()), item("done", said("a", "b")), END], "ab"),
        ([ended(said("a", "b"))], "ab"),
        # content at the beginning already, told again in part and empty; each text of each item once
        ([item("added", said("a")), delta("b"), item("done", said("ab")), ended(said("ab"))], "ab"),
        ([delta("a"), {"type": "response.content_part.done", "part": {"type": "output_text", "text": ""}}, END], "a"),
        ([delta("a"), item("done", said("a")), delta("b"), item("done", said("b")), END], "ab"),
        ([delta("a", content_index=0), delta("b", content_index=1), item("done", said("a", "b")), END], "ab"),
        # halves of a character, and the whole text after them
        ([delta("\ud83d"), delta("\udcc8"), item("done", said("📈")), END], "📈"),
        # reasoning in each of its shapes is no answer, nor is what is unknown, or null
        (
            [
                {"type": "response.reasoning_text.delta", "delta": "hm"},
                {"type": "response.content_part.done", "part": {"type": "reasoning_text", "text": "hm"}},
                item("done", {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]}),
                {"type": "response.invented", "delta": "no"},
                item("done", {"type": "message", "content": None}),
                delta("a"),
                {"type": "response.completed", "response": {"output": None, "usage": None}},
            ],
            "a",
        ),
    ],
)
def test_text_counts_once_however_often_it_is_told(events: list[Body], answer: str) -> None:
    turn = turn_of("openai-responses", *events)
    assert (turn.answer, turn.error, turn.findings) == (answer, None, ())


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        # the whole protocol; no deltas; the deltas alone; the end alone; arguments that are told empty at last
        ([item("added", call("")), args('{"a"'), args(":1}"), item("done", call('{"a":1}'))], [("look", {"a": 1})]),
        ([item("done", call('{"a":1}'))], [("look", {"a": 1})]),
        ([item("added", call("")), args('{"a":1}')], [("look", {"a": 1})]),
        ([ended(call('{"a":1}'), call("", "c2"))], [("look", {"a": 1}), ("look", {})]),
        ([item("added", call("")), args('{"a":1}'), item("done", call(""))], [("look", {"a": 1})]),
        # no beginning; no id; an id that is always the same; arguments that are an object; at the same index
        ([args('{"a":1}'), item("done", call(None))], [("look", {"a": 1})]),
        ([item("added", call("", None)), args("{}"), item("done", call("{}", None))], [("look", {})]),
        (
            [step for at in (0, 1) for step in (item("added", call(""), at), item("done", call("{}"), at))],
            [("look", {}), ("look", {})],
        ),
        ([item("done", call({"a": 1}))], [("look", {"a": 1})]),
        (
            [item("added", call("", "c1")), item("added", call("", "c2")), args('{"a":1}')],
            [("look", {}), ("look", {"a": 1})],
        ),
        # two on their way at once
        (
            [item("added", call("", f"c{at}"), at) for at in (0, 1)] + [args(f'{{"a":{at}}}', at) for at in (1, 0)],
            [("look", {"a": 0}), ("look", {"a": 1})],
        ),
    ],
)  # fmt: skip
def test_a_call_counts_once_however_it_is_told(events: list[Body], expected: list[tuple[str, object]]) -> None:
    turn = turn_of("openai-responses", *events, *([] if "response" in events[-1] else [END]))
    assert (calls(turn), turn.error, set(kinds(turn)) - {"call_id_repeated", "waiting"}) == (expected, None, set())


@pytest.mark.parametrize(
    ("tool", "expected", "result"),
    [
        ({"type": "mcp_call", "name": "look", "arguments": "{}", "output": "5"}, ("look", {}), "5"),
        ({"type": "mcp_call", "name": "look", "arguments": "{}", "error": "no"}, ("look", {}), "no"),
        ({"type": "web_search_call", "action": {"query": "q"}}, ("web_search", {"action": {"query": "q"}}), None),
        ({"type": "file_search_call", "queries": ["q"], "results": [1]}, ("file_search", {"queries": ["q"]}), [1]),
        ({"type": "code_interpreter_call", "code": "1+1", "outputs": []}, ("code_interpreter", {"code": "1+1"}), []),
        ({"type": "custom_tool_call", "name": "sh", "call_id": "c", "input": "ls {"}, ("sh", {"input": "ls {"}), None),
    ],
)  # fmt: skip
def test_other_tools_are_calls_too(tool: Body, expected: tuple[str, object], result: object) -> None:
    tool = {"id": "x", **tool}
    turn = turn_of("openai-responses", item("added", {**tool, "output": None}), item("done", tool), ended(tool))
    assert (calls(turn), turn.tool_calls[0].result, turn.findings[1:]) == ([expected], result, ())
    assert turn.finish == ("waiting" if "call_id" in tool else "finished")


@pytest.mark.parametrize(
    ("output", "finish"),
    [
        ([call("{}")], "waiting"),
        ([call("{}"), {"type": "function_call_output", "call_id": "c1", "output": "5"}], "finished"),
        ([call("{}"), {"type": "function_call_output", "call_id": "c2", "output": "5"}], "waiting"),
        ([{"type": "mcp_approval_request", "id": "a", "name": "buy", "arguments": "{}"}], "waiting"),
        (
            [
                {"type": "mcp_approval_request", "id": "a", "name": "buy", "arguments": "{}"},
                {"type": "mcp_call", "id": "b", "name": "buy", "arguments": "{}", "approval_request_id": "a"},
            ],
            "finished",
        ),
    ],
)
def test_a_turn_waits_for_calls_that_no_item_answers(output: list[Body], finish: str) -> None:
    turn = turn_of("openai-responses", *(item("done", each, at) for at, each in enumerate(output)), ended(*output))
    assert turn.finish == finish
    assert [each.result for each in turn.tool_calls if each.result] == (["5"] if "c1" in str(output[1:]) else [])


@pytest.mark.parametrize(
    ("events", "error", "finish"),
    [
        ([ended(said("x"), incomplete_details={"reason": "max_output_tokens"}, kind="incomplete")], None, "length"),
        ([ended(incomplete_details={"reason": "content_filter"})], "incomplete: content_filter", None),
        ([ended(kind="incomplete")], "incomplete: it does not say why", None),
        ([ended(kind="failed", error={"code": "server_error", "message": "boom"})], "boom", None),
        ([ended(kind="failed")], "the response is failed", None),
        ([ended(status="cancelled")], "the response is cancelled", None),
        ([{"type": "error", "message": "boom"}, ended(kind="failed")], "boom", None),
        ([{"type": "error", "error": {"message": "boom"}}], "boom", None),
        ([Event("error", "boom")], "boom", None),
        ([delta("x"), Event("", "[DONE]")], None, "finished"),
        ([delta("x")], "without its end marker", None),
        # an end without the output that came before it
        ([item("done", call("{}")), ended()], None, "waiting"),
        ([item("done", call("{}")), delta("x"), ended()], None, "finished"),
    ],
)  # fmt: skip
def test_how_a_turn_ends(events: list[Body | Event], error: str | None, finish: str | None) -> None:
    turn = turn_of("openai-responses", *events)
    assert (turn.finish, turn.error is None) == (finish, error is None)
    assert turn.error is None or str(error) in turn.error.message


def test_a_refusal_is_shown_and_is_no_answer() -> None:
    refusal = {"type": "response.refusal.delta", "delta": "I can’t."}
    done = {"type": "response.refusal.done", "refusal": "I can’t."}
    turn = turn_of("openai-responses", refusal, done, ended({"type": "message", "content": [{"type": "refusal"}]}))
    assert (turn.answer, turn.shown, turn.error, kinds(turn)) == ("", ("I can’t.",), None, ["refusal"])


def test_usage_is_that_of_the_end() -> None:
    assert turn_of("openai-responses", ended(said("x"), usage={"input_tokens": 3, "output_tokens": 5})).usage == Usage(
        3, 5
    )
    assert turn_of("openai-responses", ended(said("x"), usage={"input_tokens": 3})).usage == Usage(3, None)
    odd = turn_of("openai-responses", ended(said("x"), usage={"input_tokens": True}))
    assert (odd.usage, kinds(odd)) == (None, ["malformed"])


def test_what_is_not_as_it_should_be_is_odd() -> None:
    assert openai_responses.read(Event("", "{")) == (
        Odd("not_json", "the data of `message` is not JSON: EOF while parsing an object at line 1 column 1"),
    )
    assert isinstance(openai_responses.read(Event("", json.dumps(delta(None))))[0], Odd)
    assert openai_responses.read(Event("error", "boom")) == (Error("boom"),)


WORDS = (
    *openai_responses._READERS,
    *("type", "item", "delta", "part", "content", "text", "output_text", "response", "output", "usage", "arguments"),
    *("error", "message", "function_call", "mcp_call", "output_index", "call_id", "id", "status", "incomplete_details"),
)


@given(event=hostile(*WORDS))
def test_no_event_makes_it_raise(event: Event) -> None:
    openai_responses.claims(HEAD, event)
    openai_responses.read(event)
