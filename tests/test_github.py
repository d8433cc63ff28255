"""The connection to GitHub: where requests go, what comes back, and where the token never goes."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from golden import github as module
from golden.errors import UsageError
from golden.exchange import Call, Refused
from golden.github import GitHub
from golden.placing import author
from golden.redaction import Secrets
from tests.github import HEAD, PREFIX, REPOSITORY, TOKEN, Served
from tests.servers import Act, Asked, Server, Step, head, whole

JSON = "application/json"
COMMENTS = f"/repos/{REPOSITORY}/issues/7/comments"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    with served.running():
        yield served


def client(url: str, timeout_s: float = 20.0, **environ: str) -> GitHub:
    secrets = Secrets()
    secrets.add(TOKEN)
    return GitHub(TOKEN, {"GITHUB_API_URL": url, **environ}, secrets.cover, timeout_s=timeout_s)


def test_the_path_of_the_address_is_kept_and_graphql_has_its_own(served: Served) -> None:
    graphql = f"{served.url}/api/graphql"
    with client(f"{served.url}{PREFIX}/", GITHUB_GRAPHQL_URL=graphql) as github:
        pull = github.send(Call("GET", f"/repos/{REPOSITORY}/pulls/7"))
        made = github.send(Call("POST", COMMENTS, {"body": "Hé 🔻"}))
        viewer = github.send(Call("POST", "/graphql", {"query": "{viewer{login}}"}))
    assert (pull.status, made.status, viewer.status) == (200, 201, 200)
    assert isinstance(pull.body, dict)
    assert pull.body["head"]["sha"] == HEAD
    assert served.github.bodies() == ["Hé 🔻"]
    asked = served.github.asked
    assert [each.path for each in asked] == [f"{PREFIX}/repos/{REPOSITORY}/pulls/7", PREFIX + COMMENTS, "/api/graphql"]
    for each in asked:
        assert each.headers["accept"] == "application/vnd.github+json"
        assert each.headers["user-agent"].startswith("golden/")
        assert each.headers["x-github-api-version"]
        assert TOKEN not in each.path
    with client(f"{served.url}{PREFIX}") as github:
        # Where nobody says where GraphQL is, no other host is asked.
        assert github.send(Call("POST", "/graphql")).status == 404


def moved(to: str, status: str = "301 Moved Permanently") -> bytes:
    return whole(b"", status, JSON, location=to)


def test_a_repository_that_was_renamed_is_found_with_the_same_request() -> None:
    async def script(asked: Asked) -> AsyncIterator[Step]:
        yield (
            moved("/repositories/1/x?page=1", "307 Temporary Redirect")
            if "repositories" not in asked.path
            else whole(b'{"id": 1}', kind=JSON)
        )

    with Server(script) as server, client(server.url) as github:
        assert github.send(Call("POST", "/repos/acme/old/x?page=1", {"body": "once"})).body == {"id": 1}
    first, second = server.asked
    assert (second.method, second.path, second.body) == ("POST", "/repositories/1/x?page=1", first.body)


def test_no_token_goes_to_another_host() -> None:
    with Server([whole(b"[]", kind=JSON)]) as other:
        for there in (
            other.url,
            other.url.replace("127.0.0.1", "localhost"),
            "https://api.github.com.example/",
            "http://[",
        ):
            with Server([moved(f"{there}/x")]) as server, client(server.url) as github:
                answer = github.send(Call("GET", "/x"))
            assert answer.status == 301
            assert len(server.asked) == 1
    assert other.asked == []


def test_redirects_that_lead_in_a_circle_or_nowhere_end() -> None:
    for reply in (moved("/x"), whole(b"", "302 Found", JSON)):
        with Server([reply]) as server, client(server.url) as github:
            assert github.send(Call("GET", "/x")).status in (301, 302)
        assert len(server.asked) <= 3


@pytest.mark.parametrize(
    ("script", "lost"),
    [
        ([Act.RESET], ""),
        ([], "disconnected"),
        ([head(kind=JSON, content_length=100), b'{"half": '], "peer closed"),
        ([Act.HOLD], "timed out"),
        ([whole(b"no gzip at all", kind=JSON, content_encoding="gzip")], "decompressing"),
        ([head(kind=JSON), b" " * 2000, Act.HOLD], "larger than"),
    ],
)
def test_an_answer_that_does_not_come_whole_is_none(
    script: list[Step], lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LARGEST", 1000)
    with Server(script) as server, client(server.url, timeout_s=0.2 if lost == "timed out" else 20) as github:
        answer = github.send(Call("GET", "/x"))
    assert answer.status == 0
    assert lost in answer.lost
    assert answer.lost
    assert len(server.asked) == 1


@pytest.mark.parametrize("body", [b"<html>", b"", b'{"a": NaN}', b"\xff", b"[" * 5000])
def test_what_is_no_json_is_an_answer_without_a_body(body: bytes) -> None:
    with Server([whole(body, "502 Bad Gateway", "text/html")]) as server, client(server.url) as github:
        answer = github.send(Call("GET", "/x"))
    assert (answer.status, answer.body) == (502, None)


def test_a_server_that_says_the_token_back_is_not_heard() -> None:
    reply = whole(f'{{"message": "Bearer {TOKEN}?"}}'.encode(), "403 Forbidden", JSON, x_odd=TOKEN)
    with Server([reply]) as server, client(server.url) as github:
        answer = github.send(Call("GET", "/x"))
    assert answer.body == {"message": f"Bearer {'█' * len(TOKEN)}?"}
    assert TOKEN not in str(answer)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("GITHUB_API_URL", "api.github.com", "is no address of an API"),
        ("GITHUB_API_URL", "ftp://api.github.com", "is no address of an API"),
        ("GITHUB_API_URL", "https://a:b:c", "is no address of an API"),
        ("GITHUB_API_URL", "https://user:word@ghe.example/api/v3", "is no address of an API"),
        ("GITHUB_API_URL", "https://ghe.example/api/v3?x=1", "is no address of an API"),
        ("GITHUB_API_URL", "http://ghe.example/api/v3", "no token is sent to ghe.example over http"),
        ("GITHUB_GRAPHQL_URL", "http://ghe.example/api/graphql", "no token is sent to ghe.example over http"),
        ("SSL_CERT_FILE", "/no/such/file", "the certificates or proxies of the environment"),
    ],
)
def test_an_address_that_no_token_is_sent_to(
    name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=said.replace(".", r"\.")) as error:
        GitHub(TOKEN, {"GITHUB_API_URL": "", name: value}, str)
    assert "word" not in str(error.value)


def test_a_token_that_no_header_can_hold_is_refused_and_not_shown() -> None:
    with pytest.raises(UsageError, match="GITHUB_TOKEN holds characters") as error:
        GitHub("ghs_half\nhalf", {}, str)
    assert "half" not in str(error.value)


def test_work_that_gets_no_answer_is_done_again_and_then_given_up() -> None:
    slept: list[float] = []
    github = GitHub(TOKEN, {"GITHUB_API_URL": "http://127.0.0.1:1"}, str, slept.append)
    with github, pytest.raises(Refused, match="no answer"):
        github.done(author)
    assert len(slept) == 2


def test_golden_waits_150_seconds_for_all_its_work_and_not_for_each_piece() -> None:
    slept: list[float] = []
    reply = whole(b'{"message": "Slow down"}', "429 Too Many Requests", JSON, retry_after=60)
    with Server([reply]) as server, GitHub(TOKEN, {"GITHUB_API_URL": server.url}, str, slept.append) as github:
        for _ in range(3):
            with pytest.raises(Refused, match="wait 60 s"):
                github.done(author)
    assert slept == [60.0, 60.0]
