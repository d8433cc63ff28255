"""The event that started a workflow, from files in the shapes that GitHub and hosts of previews send."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.errors import UsageError
from golden.event import Event, event, read_event

SHA = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = {"full_name": "acme/shop", "default_branch": "main"}
HERE = Event(repository="acme/shop", default_branch="main")


def status(deployment: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A `deployment_status` of Vercel's: a commit, no branch."""
    return {
        "repository": REPOSITORY,
        "action": "created",
        "deployment": {
            "id": 42,
            "sha": SHA,
            "ref": SHA,
            "environment": "Preview",
            "payload": "{}",
            **(deployment or {}),
        },
        "deployment_status": {
            "state": "success",
            "environment_url": "https://shop-1a2b-acme.vercel.app",
            "target_url": "https://vercel.com/acme/shop/1a2b",
            "creator": {"login": "vercel[bot]"},
            **fields,
        },
        "sender": {"login": "vercel[bot]"},
    }


DEPLOYED = replace(
    HERE,
    kind="deployment_status",
    action="created",
    sha=SHA,
    ref=SHA,
    state="success",
    environment="Preview",
    deployment="42",
    creator="vercel[bot]",
    urls=("https://shop-1a2b-acme.vercel.app", "https://vercel.com/acme/shop/1a2b"),
)
DISPATCH = {
    "action": "vercel.deployment.success",
    "repository": REPOSITORY,
    "sender": {"login": "vercel[bot]"},
    "client_payload": {
        "id": "dpl_5x",
        "environment": "preview",
        "url": "https://shop-1a2b-acme.vercel.app",
        "git": {"sha": SHA, "ref": "topic", "shortSha": SHA[:7]},
        "project": {"id": "prj_1", "name": "shop"},
        "state": {"type": "success"},
    },
}
PULL = {"number": 7, "head": {"sha": SHA, "ref": "topic"}}


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("deployment_status", status(), DEPLOYED),
        (
            "deployment_status",
            status({"environment": "Preview – shop", "ref": None}, environment_url=""),
            replace(DEPLOYED, environment="Preview – shop", ref="", urls=DEPLOYED.urls[1:]),
        ),
        ("deployment_status", status(state="pending"), replace(DEPLOYED, state="pending", urls=DEPLOYED.urls[:1])),
        (
            "repository_dispatch",
            DISPATCH,
            replace(
                DEPLOYED,
                kind="repository_dispatch",
                action="vercel.deployment.success",
                ref="topic",
                environment="preview",
                deployment="dpl_5x",
                project="shop",
                urls=DEPLOYED.urls[:1],
            ),
        ),
        (
            "pull_request",
            {"action": "opened", "repository": REPOSITORY, "pull_request": PULL},
            replace(HERE, kind="pull_request", action="opened", sha=SHA, ref="topic", pull=7),
        ),
        (
            "issue_comment",
            {"repository": REPOSITORY, "issue": {"number": 9, "pull_request": {"url": "…"}}},
            replace(HERE, kind="issue_comment", pull=9),
        ),
        ("issue_comment", {"repository": REPOSITORY, "issue": {"number": 9}}, replace(HERE, kind="issue_comment")),
        (
            "workflow_run",
            {"repository": REPOSITORY, "workflow_run": {"head_sha": SHA, "head_branch": "topic"}},
            replace(HERE, kind="workflow_run", sha=SHA, ref="topic"),
        ),
        ("schedule", {"schedule": "17 4 * * *", "repository": REPOSITORY}, replace(HERE, kind="schedule")),
    ],
)
def test_an_event_says_what_it_is_about(kind: str, payload: dict[str, Any], expected: Event) -> None:
    assert event(kind, payload) == expected


@pytest.mark.parametrize("sha", ["main", SHA[:7], SHA.upper(), f"{SHA}\n", f"{SHA}/../..", 7, None, [SHA]])
@pytest.mark.parametrize("name", ["../..", "acme", "acme/..", "acme/shop/issues", "acme/sh op", "-acme/shop", 1])
def test_what_would_change_the_path_of_a_request_counts_as_not_given(sha: object, name: object) -> None:
    said = event("deployment_status", {**status({"sha": sha}), "repository": {"full_name": name}})
    assert (said.sha, said.repository) == (None, "")


@pytest.mark.parametrize("number", [0, -7, True, 7.0, "7", 10**30, None])
def test_a_pull_request_has_a_number(number: object) -> None:
    assert event("pull_request", {"pull_request": {**PULL, "number": number}}).pull is None


@pytest.mark.parametrize("url", ["a\nb", "a\x1b[2J", "https://\u202emoc.live", "x" * 3000, {"a": "b"}, "\ud800"])
def test_a_text_that_would_do_more_than_be_read_counts_as_not_given(url: object) -> None:
    said = event("deployment_status", status({"environment": url, "id": 10**5000}, environment_url=url, target_url=url))
    assert (said.environment, said.deployment, said.urls) == ("", "", ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["deployment", "deployment_status", "pull_request", "issue", "git", "sha", "head", "number"]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(st.sampled_from(["deployment_status", "repository_dispatch", "pull_request", "issue_comment", ""]), JSON, JSON)
def test_no_payload_raises(kind: str, one: object, other: object) -> None:
    for name in ("deployment", "client_payload", "pull_request", "issue"):
        event(kind, {name: one, "deployment_status": other, "repository": other, "action": one})


def test_outside_a_workflow_there_is_no_event() -> None:
    assert read_event({}) == Event()


def test_an_event_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(status()), encoding="utf-8")
    assert read_event({"GITHUB_EVENT_PATH": str(file), "GITHUB_EVENT_NAME": "deployment_status"}) == DEPLOYED


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no event: EOF"),
        (b"[1]", "holds no event: no JSON object"),
        (b"[" * 100_000, "holds no event: "),
        (b"\xff\xfe", "holds no event: "),
        (b" " * (32 * 1024**2 + 1), "holds no event: too large"),
        (None, "cannot read"),
    ],
)
def test_a_file_that_holds_no_event_is_said_to(data: bytes | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(UsageError, match=said):
        read_event({"GITHUB_EVENT_PATH": str(file)})
