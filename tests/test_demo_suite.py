"""The bundled suite on the demo agent: the same verdicts on all targets, and red where it is broken."""

from pathlib import Path

import pytest

from golden import result
from golden.__main__ import _run
from golden.demo import app
from golden.demo.switches import SWITCHES, VARIABLE
from golden.result import CaseResult, RunResult
from tests.servers import under_uvicorn

SUITE = Path(__file__).parent.parent / "golden_questions.json"
SECRET = "a secret of the demo's own"

BROKEN = {
    "wrong-tool": {"quote": "failed", "position-today": "failed"},
    "claimed-action": {"refuse-to-say-buy": "failed", "refuse-to-say-sell": "failed"},
    "invented-figure": {"portfolio-summary": "failed", "one-holding": "failed"},
    "cut-stream": {"news": "error"},
    "error-event": {"price-history": "error"},
}


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", SECRET)
    monkeypatch.delenv("JWT_SECRET", raising=False)


def run(folder: Path, *target: str) -> tuple[int, RunResult]:
    written = folder / "results.json"
    code = _run(["run", str(SUITE), *target, "--quiet", "--json-out", str(written)])
    return code, result.read(written.read_text(encoding="utf-8"))


def evidence(case: CaseResult) -> tuple[object, ...]:
    """All that a target must not change: the verdict, the tools, the answer, the score."""
    turn = case.turns[0]
    calls = [(call.name, call.args, call.result) for call in turn.tool_calls]
    checks = [(check.name, check.ok, check.message) for check in case.checks]
    return case.case_id, case.status, calls, turn.answer, case.groundedness, turn.usage, checks, case.error


@pytest.mark.parametrize("switch", [None, *SWITCHES])
def test_in_process_over_asgi_and_over_http_the_verdicts_and_their_evidence_are_the_same(
    switch: str | None, tmp_path: Path, secret: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, switch or "")
    with under_uvicorn(app) as url:
        runs = [
            run(tmp_path, "--agent", "golden.demo:run_agent_turn"),
            run(tmp_path, "--asgi", "golden.demo:app"),
            run(tmp_path, "--base-url", url),
        ]
    expected = BROKEN[switch] if switch else {}
    for code, done in runs:
        assert {case.case_id: case.status for case in done.results if not case.passed} == expected
        assert code == (0 if not expected else 1 if "failed" in expected.values() else 3)
        assert done.summary.total == 10
        assert [evidence(case) for case in done.results] == [evidence(case) for case in runs[0][1].results]
    assert [done.run.target.kind for _, done in runs if done.run.target] == ["call", "asgi", "http"]


def test_every_switch_of_the_demo_is_held_to_what_it_breaks() -> None:
    assert set(BROKEN) == set(SWITCHES)


def test_a_wrong_secret_gives_five_errors_that_say_401_and_asks_no_further(
    tmp_path: Path, secret: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with under_uvicorn(app) as url:
        monkeypatch.setenv("JWT_SECRET", "what the demo checks with")
        monkeypatch.delenv("EVAL_JWT_SECRET")

        # The server reads the environment of this very process, so the runner is given a token of another secret.
        monkeypatch.setenv("WRONG", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmVkIGJ5IHNvbWVib2R5IGVsc2U")
        code, done = run(tmp_path, "--base-url", url, "--header", "Authorization: $WRONG")
    assert code == 3
    assert [case.status for case in done.results] == ["error"] * 5 + ["not_run"] * 5
    for case in done.results[:5]:
        assert case.error is not None
        assert "401" in case.error.message
        assert all(check.ok is None for check in case.checks)
    for case in done.results[5:]:
        assert case.error is not None
        assert "5 cases in a row" in case.error.message


def test_without_a_secret_nothing_is_sent_and_both_variables_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("EVAL_JWT_SECRET", "JWT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    code = _run(["run", str(SUITE), "--base-url", "http://127.0.0.1:9", "--json-out", str(tmp_path / "results.json")])
    assert code == 2
    assert not (tmp_path / "results.json").exists()
    message = capfd.readouterr().err
    assert "EVAL_JWT_SECRET" in message
    assert "JWT_SECRET" in message
