"""`golden comment`, the whole of it, against GitHub at an address."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from golden import commenting
from golden.__main__ import _run
from golden.commenting import Asked, Where, whereabouts
from golden.errors import UsageError
from golden.event import Event
from golden.marker import marker_of
from golden.reports.markdown import COMMENT, SMALLEST
from golden.result import GitResult, RunResult, write
from tests.github import (
    BROKEN,
    HEAD,
    INTEGRATION,
    PREFIX,
    REPOSITORY,
    SECONDARY,
    TOKEN,
    TOO_LONG,
    GitHub,
    Pull,
    Reply,
    Served,
    before,
    done_but,
    instead,
    refusal,
)
from tests.values import judged, run_of, turn

GIT = GitResult(sha=HEAD, branch="topic")
WELL = run_of(judged({"required_phrases": ["well"]}, turn()), git=GIT)
ILL = run_of(
    judged({"required_phrases": ["well"]}, turn(f"All is {TOKEN}. @everyone ::error::no ##[error]no")), git=GIT
)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    with served.running():
        yield served


@dataclass
class Desk:
    """A job of a workflow: its folder, its environment, and GitHub."""

    served: Served
    capfd: pytest.CaptureFixture[str]
    environ: dict[str, str]
    slept: list[float] = field(default_factory=list)

    @property
    def github(self) -> GitHub:
        return self.served.github

    @property
    def summary(self) -> str:
        file = Path("summary.md")
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def event(self, kind: str, payload: Mapping[str, Any]) -> None:
        Path("event.json").write_text(
            json.dumps({"repository": {"full_name": REPOSITORY}, **payload}), encoding="utf-8"
        )
        self.environ |= {"GITHUB_EVENT_NAME": kind, "GITHUB_EVENT_PATH": "event.json"}

    def comment(self, run: RunResult = WELL, **asked: Any) -> tuple[int, str, str]:
        Path("results.json").write_text(write(run), encoding="utf-8")
        code = commenting.comment(Asked("results.json", **asked), self.environ, self.slept.append)
        out, err = self.capfd.readouterr()
        for said in (out, err, self.summary, *self.github.bodies(), *(each.path for each in self.github.asked)):
            assert TOKEN not in said
        return code, out, err


@pytest.fixture
def desk(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.chdir(tmp_path)
    served.github = GitHub()
    return Desk(
        served,
        capfd,
        {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": f"{served.url}{PREFIX}",
            "GITHUB_GRAPHQL_URL": f"{served.url}/api/graphql",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "4711",
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_STEP_SUMMARY": "summary.md",
            "GITHUB_TOKEN": TOKEN,
        },
    )


def warnings(out: str) -> list[str]:
    return re.findall(r"^::warning .*$", out, re.MULTILINE)


def notices(out: str) -> list[str]:
    return re.findall(r"^::notice .*$", out, re.MULTILINE)


# What is said where


def test_the_comment_is_written_once_and_brought_up_to_date(desk: Desk) -> None:
    code, out, err = desk.comment(ILL, pull=7)
    link = f"https://github.com/{REPOSITORY}/pull/7#issuecomment-1001"
    assert (code, out, err) == (0, f"golden: commented on {REPOSITORY}#7: {link}\n", "")
    (body,) = desk.github.bodies()
    marker = marker_of(body)
    assert marker
    assert (marker.key, marker.sha, marker.run, marker.attempt) == ("golden", HEAD, 4711, 2)
    assert "1 failed" in body
    assert f"https://github.com/{REPOSITORY}/actions/runs/4711/attempts/2" in body
    assert desk.comment(WELL, pull=7)[1] == f"golden: updated the comment on {REPOSITORY}#7: {link}\n"
    (body,) = desk.github.bodies()
    assert "all 1 passed" in body
    assert desk.github.writes == ["POST", "PATCH"]
    assert desk.summary == ""  # the step that ran the questions has it


def test_nothing_is_written_for_other_figures_alone(desk: Desk) -> None:
    desk.comment(pull=7)
    desk.environ["GITHUB_RUN_ID"] = "4712"
    later = WELL.run.model_copy(update={"started_at": "2026-01-02T04:04:05+00:00", "duration_s": 9.75})
    slower = WELL.summary.model_copy(update={"first_token_s": WELL.summary.total_s})
    _, out, _ = desk.comment(WELL.model_copy(update={"run": later, "summary": slower}), pull=7)
    assert "says so already" in out
    assert desk.github.writes == ["POST"]


def test_with_a_baseline_the_first_line_says_what_this_change_broke(desk: Desk) -> None:
    Path("baseline.json").write_text(write(WELL), encoding="utf-8")
    desk.comment(ILL, pull=7, baseline="baseline.json", key="shop-agent")
    (body,) = desk.github.bodies()
    assert body.startswith("<!-- golden:report v1 key=shop-agent ")
    assert "1 regression" in body.splitlines()[1]


def test_a_case_that_failed_in_the_baseline_too_is_nothing_to_comment_on_when_it_changes(desk: Desk) -> None:
    Path("baseline.json").write_text(write(ILL), encoding="utf-8")
    _, out, _ = desk.comment(ILL, pull=7, baseline="baseline.json", mode="on-change")
    assert "nothing is wrong" in out
    desk.comment(ILL, pull=7, mode="on-change")
    assert desk.github.writes == ["POST"]


def test_a_dry_run_prints_the_comment_and_sends_nothing(desk: Desk) -> None:
    del desk.environ["GITHUB_REPOSITORY"]
    code, out, err = desk.comment(ILL, dry_run=True)
    assert (code, err) == (0, "")
    assert marker_of(out)
    assert "1 failed" in out
    assert "##[" not in out
    assert not re.search(r"^\s*::", out, re.MULTILINE)
    assert desk.github.asked == []


@pytest.mark.parametrize("secret", ["question", "failed", "regressed", "golden.results", "1000", "2026", "required"])
def test_a_secret_that_is_a_word_or_a_figure_of_the_results_is_no_fault(
    secret: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_JWT_SECRET", secret)
    Path("baseline.json").write_text(write(WELL), encoding="utf-8")
    run = ILL.model_copy(update={"run": ILL.run.model_copy(update={"duration_s": 1000.0})})
    assert desk.comment(run, pull=7, baseline="baseline.json")[0] == 0
    (body,) = desk.github.bodies()
    assert "1 regression" in body.splitlines()[1]


def test_a_commit_without_a_pull_request_is_noted(desk: Desk) -> None:
    desk.github.pulls = {}
    code, out, _ = desk.comment(strict=True)
    assert code == 0
    assert notices(out) == [
        f"::notice title=golden::no comment: no open pull request of {REPOSITORY} has {HEAD[:7]} as its head"
    ]
    assert warnings(out) == []
    assert "all 1 passed" in desk.summary
    assert desk.slept == [5.0, 5.0]


def test_a_pull_request_that_is_known_a_moment_later_is_found(desk: Desk) -> None:
    pull = desk.github.pulls.pop(7)
    nothing = instead(refusal(422, "No commit found for SHA"))
    desk.github.at("GET .*/commits/", nothing, before(lambda: desk.github.pulls.update({7: pull})))
    desk.comment()
    assert desk.slept == [5.0]
    assert len(desk.github.bodies()) == 1


def test_results_of_a_head_that_moved_are_outdated(desk: Desk) -> None:
    desk.github.pulls[7].commits.append("f" * 40)
    code, out, _ = desk.comment(pull=7, strict=True)
    assert (code, warnings(out), desk.github.writes) == (0, [], [])
    (notice,) = notices(out)
    assert f"outdated: they are of {HEAD[:7]}, its head is fffffff by now" in notice
    assert "outdated" in desk.summary.splitlines()[0]


def test_three_pull_requests_of_a_commit_are_commented_on(desk: Desk) -> None:
    desk.github.pulls = {number: Pull(number, [HEAD]) for number in (3, 5, 7, 9)}
    desk.github.at("POST .*/issues/5/", instead(refusal(403, "Forbidden")))
    desk.github.at("POST .*/issues/7/", instead(refusal(403, "Forbidden")))
    code, out, _ = desk.comment(strict=True)
    assert code == 1
    assert [len(desk.github.bodies(number)) for number in (3, 5, 7, 9)] == [1, 0, 0, 0]
    (warning,) = warnings(out)
    assert warning.count("Forbidden") == 2
    assert notices(out) == [
        f"::notice title=golden::no comment on 1 more of the pull requests of {REPOSITORY} with that head"
    ]


# What GitHub may answer


@pytest.mark.parametrize(
    ("request_", "reply", "said", "slept"),
    [
        ("GET .*/user", refusal(401, "Bad credentials"), "the token is not accepted", 0),
        ("GET .*/comments", refusal(404, "Not Found"), "no such thing", 0),
        ("GET .*/pulls/7", refusal(410, "Gone"), "GitHub refuses (410: Gone)", 0),
        ("POST .*/comments", INTEGRATION, "pull-requests: write", 0),
        ("POST .*/comments", TOO_LONG, "body is too long", 0),
        ("POST .*/comments", SECONDARY, "wait 75 s (403: You have exceeded a secondary", 2),
        (
            "POST .*/comments",
            refusal(403, "API rate limit", x_ratelimit_remaining="0"),
            "GitHub asks golden",
            0,
        ),
        ("POST .*/comments", BROKEN, "in trouble (502)", 2),
        ("POST .*/comments", refusal(403, "100%\r\n::error::no\n##[error]no"), "(403: 100%25\\r\\n", 0),
        ("GET .*/comments", Reply(302, b"", {"location": "https://sso.example/?s=1"}), "to https://sso.example/)", 0),
    ],
)
def test_whatever_github_answers_the_job_goes_on_with_one_warning_and_the_summary(
    request_: str, reply: Reply, said: str, slept: int, desk: Desk
) -> None:
    desk.github.at(request_, *[instead(reply)] * 9)
    code, out, err = desk.comment(ILL, pull=7)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1
    (warning,) = warnings(out)
    assert said.rstrip(")") in warning
    assert "##[" not in warning
    assert "1 failed" in desk.summary
    assert desk.github.bodies() == []
    assert len(desk.slept) == slept
    assert desk.comment(ILL, pull=7, strict=True)[0] == 1


def test_a_locked_conversation_is_noted(desk: Desk) -> None:
    desk.github.pulls[7].is_locked = True
    code, out, _ = desk.comment(pull=7)
    assert (code, warnings(out)) == (0, [])
    assert "the conversation is locked" in notices(out)[0]
    assert "all 1 passed" in desk.summary
    assert desk.comment(pull=7, strict=True)[0] == 1


def test_golden_waits_where_github_asks_for_it_and_then_comments(desk: Desk) -> None:
    desk.github.at("POST", instead(refusal(429, "Slow down", retry_after="20")), done_but(BROKEN))
    code, out, _ = desk.comment(pull=7)
    assert code == 0
    assert "commented on" in out
    assert desk.slept[0] == 20
    assert len(desk.slept) == 2
    assert len(desk.github.bodies()) == 1


def test_what_github_finds_too_long_is_said_in_few_lines(desk: Desk) -> None:
    answer = turn("\n".join(["All is as it was. " * 5] * 25))
    long = run_of(*(judged({"id": f"c{at}", "required_phrases": ["ill"]}, answer) for at in range(40)), git=GIT)
    desk.github.at("POST .*/comments", instead(TOO_LONG))
    assert "commented on" in desk.comment(long, pull=7)[1]
    first, second = (each.body["body"] for each in desk.github.asked if "/comments" in each.path and each.body)
    assert SMALLEST < len(first.encode()) <= COMMENT
    assert len(second.encode()) <= SMALLEST
    assert marker_of(first) == marker_of(second)


def test_without_a_token_nothing_is_asked_and_the_summary_has_the_report(desk: Desk) -> None:
    desk.environ["GITHUB_TOKEN"] = " "
    code, out, _ = desk.comment(pull=7)
    assert (code, len(warnings(out)), desk.github.asked) == (0, 1, [])
    assert "GITHUB_TOKEN is not set" in out
    assert "all 1 passed" in desk.summary
    assert desk.comment(pull=7, strict=True)[0] == 1
    desk.environ |= {"GITHUB_TOKEN": "", "GH_TOKEN": TOKEN}
    assert "commented on" in desk.comment(pull=7)[1]


def test_a_summary_that_cannot_be_written_is_no_second_warning(desk: Desk) -> None:
    desk.environ |= {"GITHUB_TOKEN": "", "GITHUB_STEP_SUMMARY": "no/such/folder"}
    code, out, err = desk.comment(pull=7)
    assert (code, len(warnings(out))) == (0, 1)
    assert err.startswith("warning: cannot write the step summary")


def test_on_a_desk_it_is_said_in_plain_words(desk: Desk) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_STEP_SUMMARY"):
        del desk.environ[name]
    desk.environ["GITHUB_SERVER_URL"] = "https://ghe.example:8443"
    _, out, _ = desk.comment(pull=7)
    assert (
        out == f"golden: commented on {REPOSITORY}#7: https://ghe.example:8443/{REPOSITORY}/pull/7#issuecomment-1001\n"
    )
    assert "actions/runs" not in desk.github.bodies()[0]
    desk.github.at("GET .*/comments", instead(refusal(404, "Not Found")))
    _, out, err = desk.comment(ILL, pull=7)
    assert out == ""
    assert err.startswith(f"warning: no comment on {REPOSITORY}#7: there is no such thing")


def test_a_date_to_come_is_taken_for_now(desk: Desk) -> None:
    coming = WELL.run.model_copy(update={"started_at": "2999-01-01T00:00:00"})
    desk.comment(WELL.model_copy(update={"run": coming}), pull=7)
    marker = marker_of(desk.github.bodies()[0])
    assert marker
    assert marker.started.year < 2900


@pytest.mark.parametrize("started", ["yesterday", "0001-01-01T00:00:00+14:00", ""])
def test_a_date_that_is_none_is_an_error(started: str, desk: Desk) -> None:
    run = WELL.run.model_copy(update={"started_at": started})
    with pytest.raises(UsageError, match=r"results\.json: run\.started_at: no date"):
        desk.comment(WELL.model_copy(update={"run": run}), pull=7)


# Which pull request


PULL_EVENT = Event("pull_request", repository=REPOSITORY, sha="b" * 40, pull=7)
DEPLOYED = Event("deployment_status", repository=REPOSITORY, sha="b" * 40)
ENVIRON = {"GITHUB_REPOSITORY": "acme/elsewhere"}


@pytest.mark.parametrize(
    ("asked", "event", "environ", "expected"),
    [
        ({}, PULL_EVENT, ENVIRON, (REPOSITORY, "b" * 40, 7)),
        ({}, DEPLOYED, ENVIRON, (REPOSITORY, "b" * 40, None)),
        ({}, Event(), ENVIRON, ("acme/elsewhere", HEAD, None)),
        ({}, Event(), {"GITHUB_REPOSITORY": "../.."}, ("", HEAD, None)),
        ({"pull": 9}, PULL_EVENT, ENVIRON, (REPOSITORY, HEAD, 9)),
        ({"pull": 7}, PULL_EVENT, ENVIRON, (REPOSITORY, "b" * 40, 7)),
        ({"pull": 9}, DEPLOYED, ENVIRON, (REPOSITORY, "b" * 40, 9)),
        ({"sha": "C" * 40}, PULL_EVENT, ENVIRON, (REPOSITORY, "c" * 40, 7)),
        ({"repository": "Acme/Shop"}, PULL_EVENT, ENVIRON, ("Acme/Shop", "b" * 40, 7)),
        ({"repository": "acme/other"}, PULL_EVENT, ENVIRON, ("acme/other", HEAD, None)),
    ],
)
def test_options_win_over_the_event_and_the_event_over_the_results(
    asked: dict[str, Any], event: Event, environ: dict[str, str], expected: tuple[str, str, int | None]
) -> None:
    assert whereabouts(Asked("results.json", **asked), event, environ, WELL) == Where(*expected)


def test_the_pull_request_of_the_event_is_commented_on(desk: Desk) -> None:
    desk.event("pull_request", {"pull_request": {"number": 7, "head": {"sha": HEAD}}})
    assert "commented on" in desk.comment(run_of(*WELL.results))[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pr", "0"], "--pr takes the number of a pull request, not 0"),
        (["--sha", "main"], "--sha takes a commit in full"),
        (["--repo", "acme"], "--repo takes OWNER/NAME"),
        (["--repo", "acme/../.."], "--repo takes OWNER/NAME"),
        (["--key", "Shop Agent"], "--key 'Shop Agent': expected"),
        (["--key", "a--b"], "--key 'a--b': expected"),
        (["--mode", "off"], "'off' is not one of"),
        (["--baseline", "none.json"], "none.json: no such file"),
        ([], "give --sha"),
        (["--sha", HEAD], "give --repo OWNER/NAME"),
    ],
)
def test_2_is_wrong_usage_and_nothing_is_sent(
    arguments: list[str], said: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", desk.environ["GITHUB_API_URL"])
    for name in ("GITHUB_REPOSITORY", "GITHUB_EVENT_PATH"):
        monkeypatch.delenv(name, raising=False)
    Path("results.json").write_text(write(run_of(*WELL.results)), encoding="utf-8")
    assert _run(["comment", "results.json", *arguments]) == 2
    assert said in desk.capfd.readouterr().err
    assert desk.github.asked == []


def test_the_command_takes_its_options_and_the_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in desk.environ.items():
        monkeypatch.setenv(name, value)
    Path("results.json").write_text(write(run_of(*ILL.results)), encoding="utf-8")
    options = ["--pr", "7", "--sha", HEAD, "--repo", REPOSITORY, "--key", "k", "--mode", "on-change", "--strict"]
    assert _run(["comment", "results.json", *options]) == 0
    assert f"commented on {REPOSITORY}#7" in desk.capfd.readouterr().out
    assert desk.github.bodies()[0].startswith("<!-- golden:report v1 key=k ")
