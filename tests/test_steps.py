"""What the steps of workflows decide, asked in this process."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from golden.errors import UsageError
from golden.result import write
from golden.steps import NothingToDo, lead
from golden.steps.ask import options
from golden.steps.baseline import baseline
from golden.steps.gate import gate
from golden.steps.preview import allowed_url, preview
from golden.steps.status import status
from tests.github import HEAD, INTEGRATION, PREFIX, REPOSITORY, TOKEN, GitHub, Pull, Served, instead
from tests.previews import EN_DASH, HOST, URL, Event, comment, deployment, dispatch
from tests.values import judged, run_of, turn

HOSTS = ("shop-*-acme.vercel.app", "*.previews.example.com")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    with served.running():
        yield served


@pytest.fixture
def around(served: Served, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment of a step that an event started, with a GitHub of its own."""

    def environ(event: Event = ("push", {}), github: GitHub | None = None, **more: str) -> dict[str, str]:
        served.github = github or GitHub()
        file = tmp_path / "event.json"
        file.write_text(json.dumps(event[1]), encoding="utf-8")
        return {
            "GITHUB_EVENT_NAME": event[0],
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_API_URL": f"{served.url}{PREFIX}",
            "GITHUB_TOKEN": TOKEN,
            "GOLDEN_ALLOW_HOST": " ".join(HOSTS),
            **more,
        }

    return environ


Around = Callable[..., dict[str, str]]


# The preview


@pytest.mark.parametrize(
    ("event", "environments"),
    [
        (deployment(), ""),
        (deployment(environment=f"Preview {EN_DASH} shop"), ""),
        (deployment(environment=f"Preview {EN_DASH} shop"), "Staging, preview - SHOP"),
        (deployment(environment="shop / pr-7"), "shop / pr-*"),
        (deployment(environment_url="", target_url=URL), ""),
        (dispatch("ready"), ""),
        (dispatch("success"), "preview - shop"),
        (dispatch("ready"), "Preview"),
    ],
)
def test_a_preview_that_is_ready_is_chosen_by_either_kind_of_event(
    event: Event, environments: str, around: Around
) -> None:
    assert preview(around(event, GOLDEN_ENVIRONMENT=environments)) == {"url": URL, "sha": HEAD}


@pytest.mark.parametrize(
    ("event", "environments", "why"),
    [
        (("push", {}), "", "no preview is ready: the event is push"),
        (deployment("failure"), "", "no preview is ready: the event is deployment_status failure"),
        (dispatch("error"), "", "no preview is ready: the event is repository_dispatch error"),
        (deployment(environment="Production"), "", "the environment production is no preview"),
        (dispatch("success", "production"), "", "the environment production - shop is no preview"),
        (deployment(environment=f"Preview {EN_DASH} docs"), "preview - shop", "the environment preview - docs is no"),
        (dispatch("ready"), "Preview - docs", "the environment preview - shop is no preview"),
        (deployment(environment=""), "", "the environment without a name is no preview"),
    ],
)
def test_any_other_event_leaves_nothing_to_do(event: Event, environments: str, why: str, around: Around) -> None:
    with pytest.raises(NothingToDo, match=why):
        preview(around(event, GOLDEN_ENVIRONMENT=environments))


def test_a_deployment_of_no_commit_is_asked_nothing(around: Around) -> None:
    with pytest.raises(UsageError, match="the deployment names no commit"):
        preview(around(dispatch(git={"sha": "a1b2c3"})))


def test_whoever_wrote_the_workflow_may_choose_in_place_of_the_event(around: Around) -> None:
    assert preview(around(GOLDEN_URL="http://127.0.0.1:3000")) == {"url": "http://127.0.0.1:3000"}
    with pytest.raises(UsageError, match="GOLDEN_URL is no line of text"):
        preview(around(GOLDEN_URL="http://127.0.0.1:3000\nsha=main"))


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        (f"{URL}/", URL),
        (f"https://{HOST.upper()}:443", URL),
        ("https://a.previews.example.com/base/", "https://a.previews.example.com/base"),
    ],
)
def test_a_url_of_an_allowed_host_is_asked(url: str, asked: str) -> None:
    assert allowed_url([url, "https://other.example.com"], HOSTS) == asked


@pytest.mark.parametrize(
    "url",
    [
        f"http://{HOST}",
        f"https://{HOST}:8443",
        f"https://ada@{HOST}",
        f"https://{HOST}?x=1",
        f"https://{HOST}#x",
        f"https://{HOST}\\@evil.example",
        f"https://{HOST} ",
        f"https://{HOST}/$(id)",
        "https://127.0.0.1",
        "https://[::1]",
        "https://2130706433",
        "https://127.1",
        "https://localhost",
        "https://shop-ſ-acme.vercel.app",
        "https://-shop-x-acme.vercel.app",
        "//shop-x-acme.vercel.app",
        "javascript:alert(1)",
    ],
)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="the deployment's URL cannot be asked"):
        allowed_url([url], HOSTS)


@pytest.mark.parametrize("host", ["shop.evil.example", "shop-x-acme.vercel.app.evil.example", "previews.example.com"])
def test_a_host_outside_the_list_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match=f"the host {host} is not allowed") as caught:
        allowed_url([f"https://{host}"], HOSTS)
    assert caught.value.hint == "GOLDEN_ALLOW_HOST allows shop-*-acme.vercel.app, *.previews.example.com"


@pytest.mark.parametrize(
    "glob",
    [
        *("*", "*.vercel.app", "*-*.Vercel.app", "*.onrender.com", "*.app"),
        *("*.a.run.app", "*.europe-west1.run.app", "*.*.run.app", "*.westus-01.azurewebsites.net"),
    ],
)
def test_a_list_that_lets_anybody_s_server_through_is_refused(glob: str) -> None:
    with pytest.raises(UsageError, match="lets anybody's server be asked"):
        allowed_url([URL], [*HOSTS, glob])
    assert allowed_url(["https://pr-1---shop-1234.a.run.app"], ["*---shop-1234.a.run.app"])


def test_without_a_list_no_host_is_asked_and_without_a_url_none_can_be() -> None:
    with pytest.raises(UsageError, match="no host may be asked"):
        allowed_url([URL], [])
    with pytest.raises(UsageError, match="the deployment has no URL"):
        allowed_url([], HOSTS)


def test_the_run_is_told_what_the_environment_says(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    environ = {"GOLDEN_URL": URL, "GOLDEN_ALLOW_HOST": " a.example \n *.b.example ", "GOLDEN_BASELINE": str(baseline)}
    plain = ["--isolated", "--base-url", URL, "--allow-host", "a.example", "--allow-host", "*.b.example"]
    assert [*options(environ)] == plain
    baseline.touch()
    bypass = ["--header", "x-vercel-protection-bypass: $VERCEL_AUTOMATION_BYPASS_SECRET"]
    environ["VERCEL_AUTOMATION_BYPASS_SECRET"] = "let-me-through"
    assert [*options(environ)] == [*plain, "--baseline", str(baseline), *bypass]


# The gate


def test_whoever_may_write_has_the_commit_evaluated_that_they_name(around: Around) -> None:
    for permission in ("write", "admin"):
        github = GitHub(writers={"ada": permission})
        assert gate(around(comment(f"/eval {HEAD}\nThanks!"), github)) == {"sha": HEAD, "pull": "7"}
        assert github.writes == []


@pytest.mark.parametrize(
    "event",
    [
        comment(f" /eval {HEAD}"),
        comment(f"/eval {HEAD} "),
        comment(f"/eval  {HEAD}"),
        comment(f"/eval {HEAD[:12]}"),
        comment(f"/eval {HEAD.upper()}"),
        comment(f"Hello\n/eval {HEAD}"),
        comment(f"/eval {HEAD}", pull_request=None),
        ("issue_comment", {**comment(f"/eval {HEAD}")[1], "action": "edited"}),
        ("discussion_comment", comment(f"/eval {HEAD}")[1]),
        comment(f"/eval {HEAD}", login="renovate[bot]", kind="Bot"),
        comment(f"/eval {HEAD}", login="../ada"),
    ],
)
def test_any_other_comment_asks_for_nothing(event: Event, around: Around) -> None:
    github = GitHub(writers={"ada": "admin"})
    with pytest.raises(NothingToDo):
        gate(around(event, github))
    assert github.asked == []


@pytest.mark.parametrize(
    ("github", "why"),
    [
        (GitHub(writers={"ada": "read"}), "ada may not write to acme/shop"),
        (GitHub(), "GitHub does not say so"),
        (GitHub(writers={"ada": "write"}, pulls={7: Pull(7, [HEAD], state="closed")}), "#7 is not open"),
        (GitHub(writers={"ada": "write"}, pulls={7: Pull(7, [HEAD, "b2" * 20])}), "is not the newest commit of #7"),
        (GitHub(writers={"ada": "write"}, pulls={}), "GitHub does not say so"),
    ],
)
def test_what_its_author_may_not_have_is_refused_and_so_is_what_github_does_not_say(
    github: GitHub, why: str, around: Around
) -> None:
    with pytest.raises(UsageError, match=why):
        gate(around(comment(f"/eval {HEAD}"), github))


# The baseline


def artifact(run: int, created_at: str, *, expired: bool = False, **said: Any) -> dict[str, Any]:
    made = {"id": run, "repository_id": 1, "head_repository_id": 1, "head_branch": "main", **said}
    return {"name": "golden-baseline", "expired": expired, "created_at": created_at, "workflow_run": made}


def test_the_newest_baseline_is_one_that_the_default_branch_of_this_repository_made(around: Around) -> None:
    artifacts = [
        artifact(41, "2026-03-02T03:00:00Z"),
        artifact(40, "2026-03-01T03:00:00Z"),
        artifact(42, "2026-03-03T03:00:00Z", head_branch="topic"),
        artifact(43, "2026-03-04T03:00:00Z", head_repository_id=2),
        artifact(44, "2026-03-05T03:00:00Z", expired=True),
    ]
    assert baseline(around(deployment(), GitHub(artifacts=artifacts))) == {"run_id": "41"}


def test_no_baseline_is_nothing_to_fetch_and_a_refusal_names_the_permission(around: Around) -> None:
    with pytest.raises(NothingToDo, match="no baseline"):
        baseline(around(deployment(), GitHub(artifacts=[{"name": "golden-baseline"}])))
    github = GitHub()
    github.at("GET .*/artifacts", instead(INTEGRATION))
    with pytest.raises(UsageError, match="no baseline: GitHub does not say so") as caught:
        baseline(around(deployment(), github))
    assert caught.value.hint == "the job needs `permissions: actions: read`"


# The status


GOOD = run_of(judged({"required_phrases": ["well"]}, turn()))
BAD = run_of(judged({"required_phrases": ["ill"]}, turn()))


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (write(GOOD), "success", "1 of 1 passed"),
        (write(BAD), "failure", "0 of 1 passed, 1 failed"),
        ("{}", "error", "golden did not run: see the log"),
    ],
)
def test_the_status_of_the_commit_is_the_verdict(
    text: str, state: str, said: str, around: Around, tmp_path: Path
) -> None:
    file = tmp_path / "results.json"
    file.write_text(text, encoding="utf-8")
    github = GitHub()
    environ = around(("push", {}), github, GOLDEN_SHA=HEAD, GOLDEN_RESULTS=str(file), GITHUB_RUN_ID="42")
    assert status(environ) == {"state": state}
    ((sha, told),) = github.statuses
    assert (sha, told["state"], told["description"]) == (HEAD, state, said)


def test_a_status_of_no_commit_or_no_repository_is_refused(around: Around) -> None:
    with pytest.raises(UsageError, match="GOLDEN_SHA is no whole commit"):
        status(around(GOLDEN_SHA="main"))
    with pytest.raises(UsageError, match="GITHUB_REPOSITORY is not OWNER/NAME"):
        status({**around(GOLDEN_SHA=HEAD), "GITHUB_REPOSITORY": "acme/.."})


# What is told


def test_a_step_tells_its_outputs_or_why_it_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "output"
    monkeypatch.setenv("GITHUB_OUTPUT", str(file))

    def told(outcome: Exception | Mapping[str, str]) -> str:
        def step(environ: Mapping[str, str]) -> Mapping[str, str]:
            assert environ["GITHUB_OUTPUT"] == str(file)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        lead(step)
        return capsys.readouterr().out

    assert told(NothingToDo("nothing\n::error::x")) == "::notice title=golden::nothing\\n::error::x\n"
    assert told(UsageError("no", hint="do so")) == "::warning title=golden::no; do so\n"
    assert not file.exists()
    assert told({"url": "http://a/##[error]x"}) == "url=http://a/\\u0023#[error]x\n"
    file.unlink()
    assert told({"url": URL, "sha": HEAD}) == f"url={URL}\nsha={HEAD}\n"
    assert file.read_text(encoding="utf-8") == f"url={URL}\nsha={HEAD}\n"
