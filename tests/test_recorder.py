import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from golden import jsonl
from golden.__main__ import _run
from golden.plan import Job, Plan
from golden.reader import Bounds, Reader
from golden.recorder import Recorder
from golden.recording import Called, Heard, Ledger, Message, Recording, messages_of, prompt_hash
from golden.redaction import Secrets
from golden.shelf import Shelf
from golden.sse import Event
from golden.suite import Case, Suite
from golden.transcript import ToolCall, Usage
from golden.wire import Head, Reply
from tests.program import Program
from tests.recordings import ANSWER
from tests.samples import LEXICON
from tests.scripted import Chunks, named, says
from tests.values import covering, turn

HEAD = Head(200, {"content-type": "text/event-stream", "set-cookie": "id=1", "x-vercel-ai-ui": "v1"}, "chunked")
SECRET = "a-secret/of 1"
WELL = Case(id="well", question="Is all well?", clean_stream=True, required_phrases=["all"])


def heard(*events: Event, question: str = "Is all well?", head: Head = HEAD, dialect: str = "native") -> Heard:
    reply = Reply(head, events, 1.5, dialect)
    reader = Reader(question, "auto", Bounds(), LEXICON)
    reader.replay(reply)
    if head.asked_again:
        reader.note("asked_again", head.asked_again)
    return Heard(reply, reader.close(1.5))


def kept(folder: Path, *came: Heard, case: Case = WELL, secrets: Secrets | None = None, **suite: Any) -> Recorder:
    recorder = Recorder(Shelf(folder, make=True), overwrite=False)
    recorder.record(Job(Suite(cases=[case], **suite), case), Plan(secrets=secrets or Secrets()), came)
    return recorder


def read(folder: Path, case_id: str = "well") -> Recording:
    return jsonl.read((folder / f"{case_id}.jsonl").read_text(encoding="utf-8"))


def test_a_recording_says_what_was_asked_and_what_came_and_of_which_run(tmp_path: Path) -> None:
    metadata = {"metadata": {"agent_version": "1.2"}}
    case = WELL.model_copy(update=metadata)
    done = kept(tmp_path, heard(*ANSWER), case=case, description="what it is", system_prompt="Be kind.", model="m")
    assert (done.written, done.kept, done.problems) == (["well"], [], [])
    recording = read(tmp_path)
    assert {**recording.meta, "recordedAt": "", "goldenVersion": ""} == {
        "fixtureId": "well",
        "agentVersion": "1.2",
        "scenario": "what it is",
        "recordedAt": "",
        "systemPromptHash": prompt_hash("Be kind."),
        "goldenVersion": "",
        "dialect": "native",
        "model": "m",
    }
    (exchange,) = recording.exchanges
    assert exchange.question == "Is all well?"
    assert exchange.reply == Reply(
        Head(200, {"content-type": "text/event-stream", "x-vercel-ai-ui": "v1"}, "chunked"), ANSWER, 1.5
    )
    assert recording.assertions == ()


def test_the_messages_are_the_text_before_the_calls_with_these_their_results_and_the_rest() -> None:
    calls = (ToolCall("find", {"n": 1}, result={"ok": True}), ToolCall("look", "no JSON", False), ToolCall("ask", {}))
    talk = turn("Looking. Here it is.", final_text="Here it is.", tool_calls=calls, usage=Usage(3, None))
    again = turn("", tool_calls=(ToolCall("find", {}, result="plain"),), final_text="")
    assert messages_of([talk, again, turn("Bye.", usage=Usage(1, 2))]) == [
        (
            Message("user", ("Is all well?",)),
            Message(
                "assistant",
                (
                    "Looking. ",
                    Called("call_1", "find", {"n": 1}),
                    Called("call_2", "look", "no JSON"),
                    Called("call_3", "ask", {}),
                ),
                Ledger(),
            ),
            Message("toolResult", ('{"ok":true}',), call_id="call_1"),
            Message("assistant", ("Here it is.",), Ledger(input=3)),
        ),
        (
            Message("user", ("Is all well?",)),
            Message("assistant", (Called("call_4", "find", {}),), Ledger()),
            Message("toolResult", ("plain",), call_id="call_4"),
        ),
        (Message("user", ("Is all well?",)), Message("assistant", ("Bye.",), Ledger(input=1, output=2))),
    ]


def test_nothing_is_written_for_a_case_that_did_not_answer(tmp_path: Path) -> None:
    case = Case(id="well", turns=[{"question": "a"}, {"question": "b"}], max_tool_calls=3)  # type: ignore[list-item]
    for came in ([], [heard(ANSWER[0])], [heard(*ANSWER)]):
        assert kept(tmp_path, *came, case=case).problems == [("well", "it did not answer")]
    cut = heard(*ANSWER[:1], head=replace(HEAD, ends="close"))
    assert kept(tmp_path, cut).problems == [("well", "it did not answer")]
    assert not [*tmp_path.iterdir()]


def test_a_finding_that_the_events_do_not_show_is_kept(tmp_path: Path) -> None:
    came = heard(*ANSWER, head=replace(HEAD, asked_again="the connection broke"))
    kept(tmp_path, came)
    (exchange,) = read(tmp_path).exchanges
    assert exchange.reply
    assert exchange.reply.notes == (("asked_again", "the connection broke"),)


def test_a_secret_spread_over_several_deltas_is_in_no_byte_and_everything_else_is(tmp_path: Path) -> None:
    forms = [SECRET, quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode()]
    pieces = [piece for form in forms for piece in (form[:5], form[5:], " all ")]
    deltas = [Event("token", json.dumps({"text": piece}), "", 0.5) for piece in pieces]
    came = heard(
        Event("tool_call", json.dumps({"name": "find", "args": {SECRET: [SECRET]}}), "", 0.25),
        *deltas,
        Event("done", "{}", "", 0.75),
    )
    done = kept(tmp_path, came, secrets=covering(SECRET), description=f"about {SECRET}")
    assert done.written == ["well"]
    (path,) = tmp_path.iterdir()
    written = path.read_text(encoding="utf-8")
    assert all(form not in written for form in forms)
    recording = read(tmp_path)
    shown = "".join(message.text for message in recording.messages if message.role == "assistant")
    assert shown == "".join(f"{covering(SECRET).cover(form)} all " for form in forms)
    (call,) = (call for message in recording.messages for call in message.calls)
    assert call.arguments == {"█" * 13: ["█" * 13]}
    assert recording.meta["scenario"] == f"about {'█' * 13}"


def test_a_secret_that_cannot_be_removed_keeps_the_case_from_being_recorded(tmp_path: Path) -> None:
    # What comes after the end is one text to the fold, and here of events that have nothing in common.
    late = [("token", "a-secret"), ("note", "and"), ("message", "/of 1")]
    came = heard(*ANSWER, *(Event(name, json.dumps({"text": text}), "", 1.0) for name, text in late))
    done = kept(tmp_path, came, secrets=covering(SECRET))
    assert done.problems == [("well", "a secret is spread over several of its events, and cannot be removed")]
    assert not [*tmp_path.iterdir()]


def test_a_question_that_holds_a_secret_is_not_recorded(tmp_path: Path) -> None:
    case = Case(id="well", question=f"Is {SECRET} well?", required_phrases=["all"])
    done = kept(tmp_path, heard(*ANSWER, question=case.questions[0]), case=case, secrets=covering(SECRET))
    assert done.problems == [("well", "its id or its question holds a secret")]


def test_a_run_that_is_judged_otherwise_without_its_secrets_is_not_recorded(tmp_path: Path) -> None:
    case = Case(id="well", question="Is all well?", forbidden_phrases=["a-secret"], required_phrases=["all"])
    came = heard(Event("token", json.dumps({"text": f"all is {SECRET}"})), Event("done", "{}"))
    done = kept(tmp_path, came, case=case, secrets=covering(SECRET))
    why = "read again, with its secrets covered, it is judged otherwise: forbidden_phrases"
    assert done.problems == [("well", why)]
    assert not [*tmp_path.iterdir()]


def test_a_run_that_cannot_be_read_again_is_not_recorded(tmp_path: Path) -> None:
    came = heard(*ANSWER)
    cut = came._replace(reply=came.reply._replace(head=replace(HEAD, ends="close"), events=ANSWER[:1]))
    ((_, why),) = kept(tmp_path, cut).problems
    assert why.startswith("read again, with its secrets covered, it is judged otherwise: ")


def test_turns_that_came_in_several_dialects_are_not_recorded(tmp_path: Path) -> None:
    case = Case(id="well", turns=[{"question": "a"}, {"question": "b"}], max_tool_calls=3)  # type: ignore[list-item]
    told = heard(Event("", "all"), question="b", dialect="text")
    done = kept(tmp_path, heard(*ANSWER, question="a"), told, case=case)
    assert done.problems == [("well", "its turns came in several dialects: native, text")]


def test_what_the_disk_refuses_is_said(tmp_path: Path) -> None:
    recorder = Recorder(Shelf(tmp_path, make=True), overwrite=False)
    case = Case(id="漢" * 120, question="Is all well?", required_phrases=["all"])
    recorder.record(Job(Suite(cases=[case]), case), Plan(), [heard(*ANSWER)])
    assert recorder.problems[-1] == (case.id, "it cannot be written: File name too long")


def well(question: str) -> Chunks:
    return says("All is well.")


def record(tmp_path: Path, *options: str) -> int:
    suite = {"cases": [{"id": "well", "question": "Is all well?", "required_phrases": ["all is well"]}]}
    (tmp_path / "suite.json").write_text(json.dumps(suite), encoding="utf-8")
    return _run(["record", "suite.json", "--agent", named(well), *options])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def test_golden_record_writes_to_recordings_and_keeps_what_is_there(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert record(here) == 0
    path = here / "recordings" / "well.jsonl"
    assert "recordings: 1 recorded" in capfd.readouterr().err
    path.write_text("mine", encoding="utf-8")
    assert record(here) == 0
    assert path.read_text(encoding="utf-8") == "mine"
    assert "recordings: 0 recorded, 1 were there and are kept (`golden record --overwrite`)" in capfd.readouterr().err
    assert record(here, "--overwrite", "--quiet") == 0
    assert path.read_text(encoding="utf-8") != "mine"
    assert capfd.readouterr().err == ""
    assert record(here, "--to", "other") == 0
    assert (here / "other" / "well.jsonl").exists()


def test_where_ci_is_set_nothing_is_recorded_unless_that_is_allowed(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    assert record(here) == 2
    assert "--allow-ci-write writes them here too" in capfd.readouterr().err
    assert record(here, "--dry-run") == 0
    assert not (here / "recordings").exists()
    assert record(here, "--allow-ci-write") == 0
    assert (here / "recordings" / "well.jsonl").exists()


def test_a_place_that_cannot_be_written_is_found_before_the_agent_is_asked(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "recordings").touch()
    assert record(here, "--agent", "no.such:agent") == 2
    assert "error: recordings: File exists" in capfd.readouterr().err


def test_of_several_tries_the_one_that_gave_the_verdict_is_recorded(golden_run: Program) -> None:
    answers = iter(["Nothing is well.", "All is well.", "All is well, and more.", "Never."])

    def agent(question: str) -> Chunks:
        return says(next(answers))

    assert golden_run("--agent", named(agent), "--record", "kept", "--retries", 3).case.flaky
    assert read(Path("kept")).messages[-1].text == "All is well."
    answers = iter(["All is well.", "Bad.", "Worse."])
    assert golden_run("--agent", named(agent), "--record", "trials", "--trials", 3).statuses == ["failed"]
    assert read(Path("trials")).messages[-1].text == "Bad."


def test_a_case_that_did_not_answer_is_named_and_not_written(golden_run: Program) -> None:
    def agent(question: str) -> Chunks:
        return [("token", {"text": "All "}), ("error", {"message": "gone"})]

    ran = golden_run("--agent", named(agent), "--record", "kept")
    assert "warning: well was not recorded: it did not answer\nkept: 0 recorded\n" in ran.err
    assert not [*Path("kept").iterdir()]


def test_a_case_that_was_stopped_is_not_recorded(golden_run: Program) -> None:
    def agent(question: str) -> Chunks:
        return says("All is well.")

    second: dict[str, object] = {"id": "second", "question": "And now?", "required_phrases": ["x"]}
    golden_run(
        "--agent",
        named(agent),
        "--record",
        "kept",
        "--bail",
        "--concurrency",
        1,
        cases=[second, {**second, "id": "third", "question": "?"}],
    )
    assert [path.name for path in Path("kept").iterdir()] == ["second.jsonl"]


def test_a_case_that_was_stopped_in_its_answer_is_not_recorded(golden_run: Program) -> None:
    async def agent(question: str) -> AsyncIterator[tuple[str, dict[str, object]]]:
        yield "token", {"text": "All "}
        await asyncio.sleep(60)

    ran = golden_run("--agent", named(agent), "--record", "kept", "--suite-timeout", 0.3)
    assert (ran.case.status, [*Path("kept").iterdir()]) == ("not_run", [])


KILLER = """
import os, random, signal
from golden.__main__ import _run
from golden import commands

moments = random.Random(5)
for number in range(20):
    told, tell = os.pipe()
    process = os.fork()
    if not process:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(tell, 2)
        os._exit(_run(["run", "suite.json", "--agent", "agent:answer", "--record", f"kept{number}"]))
    os.close(tell)
    with open(told, "rb") as lines:
        for _ in range(moments.randrange(40)):
            lines.readline()
        sum(range(moments.randrange(40_000)))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
"""


def test_a_run_that_is_killed_at_any_moment_leaves_whole_recordings_alone(tmp_path: Path) -> None:
    cases = [{"id": f"n{number}", "question": f"{number}?", "max_tool_calls": 0} for number in range(200)]
    (tmp_path / "suite.json").write_text(json.dumps({"cases": cases}), encoding="utf-8")
    body = "    for word in question * 5:\n        yield 'token', {'text': word}\n    yield 'done', {}\n"
    (tmp_path / "agent.py").write_text(f"def answer(question):\n{body}", encoding="utf-8")
    subprocess.run([sys.executable, "-c", KILLER], cwd=tmp_path, check=True)
    shelves = [Shelf(folder, make=True) for folder in tmp_path.glob("kept*")]
    recordings = [shelf.read(path) for shelf in shelves for path in shelf.paths.values()]
    assert all(len(recording.exchanges) == 1 for recording in recordings)
    assert 100 < len(recordings) < 20 * 200
    assert not any(len(shelf.paths) == 200 for shelf in shelves)
