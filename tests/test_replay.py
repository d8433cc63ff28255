import asyncio
import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import golden
from golden import jsonl, result
from golden.__main__ import _run
from golden.demo.switches import SWITCHES, VARIABLE
from golden.errors import RecordingError, TargetError, UsageError
from golden.plan import Job, Plan
from golden.reader import Bounds, Reader
from golden.recorder import recording
from golden.recording import Heard, Recording, prompt_hash
from golden.redaction import Secrets
from golden.result import CaseResult, RunResult
from golden.score import score
from golden.suite import Case, Suite
from golden.transcript import Transcript, Turn
from golden.wire import Head, Reply, Request
from tests.program import CASE, Outcome, Program
from tests.recordings import ANSWER, FOREIGN, RECORDING, lines, write
from tests.samples import LEXICON, Sample, samples
from tests.scripted import Chunks, named, says

SUITE = Path(__file__).parents[1] / "golden_questions.json"
SWITCH = [None, *SWITCHES]


@pytest.fixture
def no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks the network; the event loop's own pair of sockets is none of it."""
    real = socket.socket.__init__

    def blocked(self: socket.socket, family: int = -1, *more: Any, **fields: Any) -> None:
        assert family not in (-1, socket.AF_INET, socket.AF_INET6), "a socket is opened"
        real(self, family, *more, **fields)

    monkeypatch.setattr(socket.socket, "__init__", blocked)
    monkeypatch.setattr(socket, "getaddrinfo", None)


@pytest.fixture
def replayed(golden_run: Program, tmp_path: Path, no_socket: None) -> Callable[..., Outcome]:
    """Runs the one case on a recording of it."""

    def run(text: str | Recording, *options: object, cases: Any = None, **suite: Any) -> Outcome:
        write(tmp_path / "kept", "well", text if isinstance(text, str) else jsonl.render(text))
        return golden_run("--replay", "kept", *options, cases=cases, **suite)

    return run


def evidence(case: CaseResult) -> tuple[object, ...]:
    turns = [
        (turn.answer, turn.final_text, turn.tool_calls, turn.usage, turn.groundedness, turn.timing, turn.events)
        for turn in case.turns
    ]
    return case.case_id, case.status, case.checks, case.error, case.forbidden_hits, turns


def ran(folder: Path, *arguments: str) -> RunResult:
    written = folder / "results.json"
    _run([*arguments, "--quiet", "--json-out", str(written)])
    return result.read(written.read_text(encoding="utf-8"))


@pytest.mark.parametrize("target", ["--agent=golden.demo:run_agent_turn", "--asgi=golden.demo:app"])
@pytest.mark.parametrize("switch", SWITCH)
def test_a_replay_of_the_demo_comes_to_what_the_run_came_to(
    switch: str | None, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, switch or "")
    monkeypatch.delenv("CI", raising=False)
    live = ran(tmp_path, "record", str(SUITE), target, "--no-auth", "--to", str(tmp_path / "kept"))
    again = ran(tmp_path, "run", str(SUITE), "--replay", str(tmp_path / "kept"))
    answered = [case for case in live.results if case.status != "error"]
    assert [evidence(case) for case in again.results if case.status != "error"] == [*map(evidence, answered)]
    assert again.run.target
    assert (again.run.target.kind, again.run.target.dialect) == ("replay", "native")
    errors = {case.case_id for case in live.results} - {case.case_id for case in answered}
    assert {case.case_id for case in again.results if case.error and case.error.kind == "recording"} == errors
    assert len(answered) == 10 - (switch in ("cut-stream", "error-event"))


ODD: dict[str, Chunks] = {
    "ids that come and go": [
        ("", b""),
        *({"event": "token", "data": {"text": f"all is well {id}"}, "id": id} for id in ("1", "2", "")),  # type: ignore[list-item]
    ],
    "no end marker": [("token", {"text": "all is well"})],
    "what comes after the end": [*says("all is well"), ("token", {"text": "late"}), ("ping", None)],
    "arguments that are no JSON": [("tool_call", {"name": "find", "args": "{n: 1"}), *says("all is well")],
    "bytes that are not UTF-8": [("token", b'{"text": "all is well \xff"}'), ("done", {})],
    "data of several lines": [("token", '{"text":\n"all is well"}'), ("note", "a\n\nb"), ("done", {})],
    "full messages": [*says("all")[:1], ("message", {"text": "all is well"}), ("message", {"text": "all is well!"})],
    "scores and usage": [("groundedness", {"score": "high"}), ("usage", {"input": 1}), *says("all is well")],
    "results": [
        ("tool_call", {"name": "a", "id": "1"}),
        ("tool_result", {"id": "1", "result": [1]}),
        *says("all is well"),
    ],
}


@pytest.mark.parametrize("name", ODD)
def test_a_replay_of_any_stream_comes_to_what_the_run_came_to(name: str, golden_run: Program) -> None:
    case: dict[str, object] = {
        **CASE,
        "clean_stream": True,
        "max_tool_calls": 0,
        "max_total_s": 30,
        "groundedness_threshold": 0.5,
    }

    def agent(question: str) -> Chunks:
        return ODD[name]

    live = golden_run("--agent", named(agent), "--record", "kept", cases=[case])
    assert "kept: 1 recorded" in live.err
    again = golden_run("--replay", "kept", cases=[case])
    assert evidence(again.case) == evidence(live.case)
    assert {finding.kind for finding in again.case.turns[0].findings} == {
        finding.kind for finding in live.case.turns[0].findings
    }


ALL = [pytest.param(sample, id=sample.name) for sample in samples()]


@pytest.mark.parametrize("sample", ALL)
def test_a_replay_of_each_sample_is_read_as_the_stream_was(sample: Sample) -> None:
    live = Reader("Is all well?", "auto", Bounds(), LEXICON)
    live.kept = []
    live.open(sample.head)
    size = max(37, len(sample.body) // 500)
    for start in range(0, len(sample.body), size):
        live.feed(sample.body[start : start + size], start / 1000)
    turn = live.close(99.0)
    if turn.error:
        return  # what gave no whole answer is not recorded
    case = Case(id="well", question="Is all well?", clean_stream=True, max_first_token_s=0.1, required_phrases=["a"])
    job = Job(Suite(cases=[case]), case)
    heard = [Heard(Reply(sample.head, tuple(live.kept), 99.0, live.dialect), turn)]
    kept = jsonl.read(jsonl.render(recording(job, Plan(), heard)))
    (exchange,) = kept.exchanges
    assert exchange.reply
    assert exchange.reply.events == tuple(live.kept)
    again = Reader("Is all well?", "auto", Bounds(), LEXICON)
    again.replay(exchange.reply._replace(dialect=str(kept.meta["dialect"])))
    assert again.dialect == live.dialect == sample.dialect
    back = again.close(exchange.reply.ended_s)
    assert {finding.kind for finding in back.findings} == {finding.kind for finding in turn.findings}
    assert repr(replace(back, findings=())) == repr(replace(turn, findings=()))
    assert checks(case, back) == checks(case, turn)


def checks(case: Case, turn: Turn) -> list[tuple[str, bool | None]]:
    return [(check.name, check.ok) for check in score(case, Transcript((turn,)), Secrets())]


def test_a_conversation_is_recorded_and_replayed_turn_by_turn(golden_run: Program) -> None:
    turns = [{"question": "Is all well?"}, {"question": "And now?", "required_phrases": ["2 before"]}]
    case: dict[str, object] = {"id": "talk", "turns": turns, "required_phrases": ["0 before"]}

    def agent(question: str, history: list[object]) -> Chunks:
        return says(f"{question} {len(history)} before", calls=("find",))

    live = golden_run("--agent", named(agent), "--record", "kept", cases=[case])
    again = golden_run("--replay", "kept", cases=[case])
    assert live.statuses == ["passed"]
    assert evidence(again.case) == evidence(live.case)
    shorter = golden_run("--replay", "kept", cases=[{**case, "turns": turns[:1]}])
    assert "kept/talk.jsonl: it has 2 turns, and the case has 1" in (shorter.case.error or CASE).message  # type: ignore[union-attr]


def test_timing_is_judged_by_the_recorded_times(replayed: Callable[..., Outcome]) -> None:
    slow = {**CASE, "max_first_token_s": 0.4, "max_total_s": 0.8}
    checks = {check.name: check for check in replayed(RECORDING, cases=[slow]).case.checks}
    assert (checks["max_first_token_s"].ok, checks["max_total_s"].ok) == (False, True)
    assert "first token after 0.500 s" in checks["max_first_token_s"].message
    (exchange,) = RECORDING.exchanges
    unmarked = exchange._replace(reply=exchange.reply and exchange.reply._replace(events=ANSWER[:2]))
    case = replayed(replace(RECORDING, exchanges=(unmarked,))).case
    assert case.turns[0].timing.total_s == 1.5


def test_a_recording_of_another_program_is_judged_by_its_own_assertions(replayed: Callable[..., Outcome]) -> None:
    write(Path("kept"), "well", lines(*FOREIGN))
    assert _run(["run", "--replay", "kept", "--json-out", "alone.json", "--isolated"]) == 0
    (case,) = result.read(Path("alone.json").read_text(encoding="utf-8")).results
    assert (case.case_id, case.status, case.question) == ("well", "passed", "set up a team")
    assert [check.name for check in case.checks] == ["tool_called", "tool_call_arg_matches", "trace_max_turns"]
    (call,) = case.turns[0].tool_calls
    assert (call.name, call.args, call.result) == ("hire_agent", {"department": "engineering"}, "hired")
    assert case.turns[0].usage
    assert (case.turns[0].usage.input, case.turns[0].usage.output) == (12345, 234)


def alone(*texts: str) -> list[CaseResult]:
    for index, text in enumerate(texts):
        write(Path("alone"), f"n{index}", text)
    _run(["run", "--replay", "alone", "--json-out", "alone.json", "--quiet"])
    return [*result.read(Path("alone.json").read_text(encoding="utf-8")).results]


def test_recordings_alone_pass_fail_or_are_an_error_each_for_itself(golden_run: Program) -> None:
    failing = {"type": "assertions", "assertions": [{"kind": "trace_max_turns", "max": 2}]}
    asked = {"kind": "message_contains_substring", "role": "assistant", "substring": "All is well."}
    prompted = {**RECORDING.meta, "systemPromptHash": "sha256:11"}
    talk = replace(RECORDING, meta=prompted, exchanges=RECORDING.exchanges * 2, assertions=(asked,))
    results = alone(
        lines(*FOREIGN),
        lines(*FOREIGN[:-1], failing),
        jsonl.render(RECORDING),
        "no JSON",
        jsonl.render(talk),
        jsonl.render(replace(talk, assertions=({"kind": "trace_max_turns", "max": 5},))),
    )
    assert [case.status for case in results] == ["passed", "failed", "error", "error", "passed", "failed"]
    assert results[1].checks[0].message == "there are 3 turns, at most 2 expected"
    assert results[2].error
    assert results[2].error.message == "assertions: the recording checks nothing; name a suite"
    assert results[3].error
    assert results[3].error.message.startswith("alone/n3.jsonl: line 1: no JSON: ")
    assert results[5].checks[0].message == "there are 6 turns, at most 5 expected"


def test_a_file_whose_name_is_no_id_is_refused(golden_run: Program, capfd: pytest.CaptureFixture[str]) -> None:
    path = write(Path("alone"), "a:b", lines(*FOREIGN))
    assert _run(["run", "--replay", str(path)]) == 2
    err = capfd.readouterr().err
    assert 'alone/a:b.jsonl: an id has none of / \\ : * ? " < > |' in err
    assert "give the file another name" in err


def test_with_a_suite_turns_alone_are_enough(replayed: Callable[..., Outcome]) -> None:
    case = {"id": "well", "question": "set up a team", "expected_tools": ["hire_agent"], "required_phrases": ["Start"]}
    assert replayed(lines(*FOREIGN), cases=[case]).statuses == ["passed"]
    uncounted = [{**line, "tokenLedger": {}} if line.get("role") == "assistant" else line for line in FOREIGN]
    assert replayed(lines(*uncounted), cases=[case]).case.turns[0].usage is None
    # Its own events are read whatever dialect is named.
    assert replayed(lines(*FOREIGN), "--dialect", "native", cases=[case]).statuses == ["passed"]


PROMPTED = replace(RECORDING, meta={**RECORDING.meta, "systemPromptHash": prompt_hash("Be kind.")})
THEIRS = replace(RECORDING, meta={"systemPromptHash": "sha256:00"})


@pytest.mark.parametrize(
    ("recording", "suite", "said"),
    [
        (PROMPTED, {"system_prompt": "Be kind."}, ""),
        (PROMPTED, {"system_prompt": "Be harsh."}, "it was made with another system prompt"),
        (PROMPTED, {}, "it was made with another system prompt"),
        (RECORDING, {"system_prompt": "Be kind."}, "it was made with another system prompt"),
        (THEIRS, {}, ""),
        (THEIRS, {"system_prompt": "Be kind."}, "it was made with another system prompt"),
        (
            RECORDING,
            {"cases": [{**CASE, "question": "Is it?"}]},
            "it answers 'Is all well?', and the case asks 'Is it?'",
        ),
        (RECORDING, {"cases": [{**CASE, "id": "ill"}]}, "kept: there is no recording of 'ill'"),
        ("{}", {}, "kept/well.jsonl: line 1: expected the `meta` line first"),
        (replace(RECORDING, meta={"dialect": "klingon"}), {}, "recorded in a dialect that is not here"),
    ],
)
def test_a_recording_of_something_else_is_the_error_of_its_case(
    recording: str | Recording, suite: dict[str, Any], said: str, replayed: Callable[..., Outcome]
) -> None:
    done = replayed(recording, **suite)
    assert done.statuses == ["error" if said else "passed"]
    if said:
        assert done.code == 3
        assert done.case.error
        assert done.case.error.kind == "recording"
        assert said in done.case.error.message
        again = f"hint: record it again: golden record suite.json --case {done.case.case_id} --to kept --overwrite"
        assert (again in done.case.error.message) == ("dialect" not in said)


def test_a_dialect_on_the_command_line_reads_the_events_of_a_recording(replayed: Callable[..., Outcome]) -> None:
    unnamed = replace(RECORDING, meta={})
    assert replayed(unnamed).case.status == "passed"
    assert [*map(str, replayed(unnamed, "--dialect", "native").case.turns[0].findings)] == []
    assert replayed(unnamed, "--dialect", "klingon").code == 2


@pytest.mark.parametrize(("option", "bound"), [("--max-answer", 60), ("--max-event", 40)])
def test_what_is_larger_than_is_read_is_an_error_of_a_replay_too(
    option: str, bound: int, replayed: Callable[..., Outcome]
) -> None:
    assert replayed(RECORDING, option, 2 * bound).statuses == ["passed"]
    case = replayed(RECORDING, option, bound).case
    assert case.error
    assert case.error.message == (
        f"the {option[6:]} is larger than the {bound} bytes that are read, after 0 events, 0 characters of answer\n"
        f"hint: {option} reads more"
    )


def test_a_recording_of_a_refusal_is_the_error_that_it_was(replayed: Callable[..., Outcome]) -> None:
    (exchange,) = RECORDING.exchanges
    refused = exchange._replace(reply=exchange.reply and exchange.reply._replace(head=Head(503, {}, "length")))
    case = replayed(replace(RECORDING, exchanges=(refused,))).case
    assert (case.status, case.error and case.error.message) == ("error", "the server answered 503")


def test_warnings_are_of_other_models_other_versions_and_of_what_no_case_uses(replayed: Callable[..., Outcome]) -> None:
    meta = {**RECORDING.meta, "model": "old", "agentVersion": "1"}
    for name in ("b", "c", "d", "e", "f", "g"):
        write(Path("kept"), name, "no JSON")
    case = {**CASE, "metadata": {"agentVersion": "2"}}
    cases = [case, {**CASE, "id": "gone"}, {**CASE, "id": "g"}]
    done = replayed(replace(RECORDING, meta=meta), "--case", "well", cases=cases, model="new")
    assert done.statuses == ["passed"]
    assert "warning: kept: no case uses b.jsonl, c.jsonl, d.jsonl, e.jsonl, f.jsonl\n" in done.err
    assert "warning: kept: recorded with the model 'old', and the suite names 'new': well\n" in done.err
    assert "warning: kept: recorded with version '1', and the suite names '2': well\n" in done.err


def test_check_tells_all_of_it_without_a_run(
    replayed: Callable[..., Outcome], capfd: pytest.CaptureFixture[str]
) -> None:
    turns = [{"question": "Is all well?", "max_tool_calls": 3}, {"question": "And now?"}]
    cases = [CASE, {"id": "talk", "turns": turns}, {**CASE, "id": "gone"}, {**CASE, "id": "idle", "skip": "later"}]
    for name in ("old1", "old2", "old3", "old4", "old5", "old6"):
        write(Path("kept"), name, "")
    replayed(RECORDING, cases=cases, model="new")
    write(Path("kept"), "talk", jsonl.render(replace(RECORDING, exchanges=RECORDING.exchanges * 2)))
    capfd.readouterr()
    assert _run(["check", "suite.json", "--replay", "kept"]) == 3
    err = capfd.readouterr().err
    assert "warning: kept: no case uses old1.jsonl, old2.jsonl, old3.jsonl, old4.jsonl, old5.jsonl and 1 more" in err
    assert "warning: kept: recorded with the model 'none', and the suite names 'new': well, talk" in err
    assert "error: talk: kept/talk.jsonl: it answers 'Is all well?', and the case asks 'And now?'\n  hint: " in err
    assert "error: gone: kept: there is no recording of 'gone'\n  hint: record it again: golden record suite" in err
    assert "error: idle" not in err
    Path("suite.json").write_text(json.dumps({"cases": [CASE]}), encoding="utf-8")
    assert _run(["check", "suite.json", "--replay", "kept/well.jsonl"]) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--replay", "nowhere"), "nowhere: no such file or folder"),
        (("--replay", "kept", "--record", "kept"), "replay and record exclude each other"),
        (("--replay", "kept", "--agent", "a:b"), "more than one target: --agent, --replay"),
    ],
)
def test_what_cannot_be_replayed_is_wrong_usage(options: tuple[str, ...], said: str, golden_run: Program) -> None:
    write(Path("kept"), "well", jsonl.render(RECORDING))
    done = golden_run(*options)
    assert done.code == 2
    assert said in done.err


def test_a_replay_is_not_recorded(replayed: Callable[..., Outcome], capfd: pytest.CaptureFixture[str]) -> None:
    replayed(RECORDING)
    Path("golden.toml").write_text('[tool.golden]\nreplay = "kept"\n', encoding="utf-8")
    assert _run(["record", "suite.json", "--config", "golden.toml"]) == 2
    assert "a replay is no real run" in capfd.readouterr().err
    Path("golden.toml").write_text('[tool.golden]\nrecord = "more"\nagent = "a:b"\n', encoding="utf-8")
    assert _run(["run", "suite.json", "--config", "golden.toml", "--replay", "kept"]) == 0


def test_a_dry_run_says_what_is_replayed(replayed: Callable[..., Outcome]) -> None:
    assert replayed(RECORDING, "--dry-run").out == "well: Is all well?\n  replay kept\n"


def test_a_replay_from_python(tmp_path: Path, no_socket: None) -> None:
    write(tmp_path, "is-all-well", jsonl.render(RECORDING))
    assert golden.evaluate(golden.ReplayTarget(tmp_path), "Is all well?", required_phrases=["well"]).passed
    with pytest.raises(UsageError, match="no dialect is called 'klingon'"):
        golden.evaluate(golden.ReplayTarget(tmp_path), "Is all well?", dialect="klingon", required_phrases=["well"])
    assert golden.RecordingError is RecordingError


def asked(question: str, *history: tuple[str, str], turns: int, session: str = "s") -> Request:
    return Request(question, session, turns=turns, history=history, case_id="talk")


def conversation(turns: int) -> str:
    answer = {"type": "turn", "role": "assistant", "content": [{"type": "text", "text": "Yes."}], "tokenLedger": {}}
    question = {"type": "turn", "role": "user", "content": [{"type": "text", "text": "And?"}]}
    told = [line for _ in range(turns) for line in (question, answer)]
    return lines(FOREIGN[0], *({**line, "turnIndex": at} for at, line in enumerate(told)), FOREIGN[-1])


def replies(target: golden.ReplayTarget, request: Request) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        return [reply async for reply in target.ask(request)]

    return asyncio.run(all_of_them())


def test_a_conversation_is_read_once_however_many_turns_it_has(tmp_path: Path) -> None:
    turns = 70
    write(tmp_path, "talk", conversation(turns))
    target = golden.ReplayTarget(tmp_path)
    first = replies(target, asked("And?", turns=turns))
    (tmp_path / "talk.jsonl").unlink()
    for at in range(1, turns):
        assert replies(target, asked("And?", *[("And?", "Yes.")] * at, turns=turns)) == first
    with pytest.raises(TargetError, match="no file"):  # another conversation reads it anew
        replies(target, asked("And?", turns=turns, session="other"))


def test_conversations_that_are_left_in_the_middle_are_forgotten(tmp_path: Path) -> None:
    write(tmp_path, "talk", conversation(2))
    target = golden.ReplayTarget(tmp_path)
    for number in range(65):
        replies(target, asked("And?", turns=2, session=str(number)))
    (tmp_path / "talk.jsonl").unlink()
    assert replies(target, asked("And?", ("And?", "Yes."), turns=2, session="64"))
    with pytest.raises(TargetError, match="no file"):
        replies(target, asked("And?", ("And?", "Yes."), turns=2, session="0"))
