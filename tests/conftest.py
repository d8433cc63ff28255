import json
import os
from pathlib import Path

import pytest

from golden.__main__ import _run
from tests.program import CASE, Outcome, Program

# Tests run as on a desk, also in a workflow: else each run would write into its step's summary and stop its commands.
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
    os.environ.pop(name, None)

# What would steer a run from outside.
_UNSET = [
    *("EVAL_JWT_SECRET", "JWT_SECRET", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *(name for scheme in ("HTTP", "HTTPS", "ALL", "NO") for name in (f"{scheme}_PROXY", f"{scheme}_PROXY".lower())),
]


@pytest.fixture
def golden_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    """`golden run` in this process, in a folder of its own and with no secret and no proxy set."""
    monkeypatch.chdir(tmp_path)
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object, cases: list[dict[str, object]] | None = None, **suite: object) -> Outcome:
        Path("suite.json").write_text(json.dumps({**suite, "cases": cases or [CASE]}), encoding="utf-8")
        file = Path("results.json")
        file.unlink(missing_ok=True)
        code = _run(["run", "suite.json", "--json-out", str(file), *map(str, arguments)])
        out, err = capfd.readouterr()
        return Outcome(code, out, err, file.read_text(encoding="utf-8") if file.exists() else "")

    return run
