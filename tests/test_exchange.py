"""What GitHub's answers mean, and what is asked again."""

import pytest

from golden.exchange import Again, Answer, Call, Calls, Refused, checked, meaning, rows, settled

LIMITED = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
NOW = 1_700_000_000.0


def answer(status: int, message: object = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, None if message is None else {"message": message}, at=NOW)


@pytest.mark.parametrize(
    ("came", "kind", "pause_s", "said"),
    [
        (answer(200, "ok"), "good", None, ""),
        (answer(204), "good", None, ""),
        (answer(200), "refused", None, "that is no API of GitHub's (200)"),
        (answer(401, "Bad credentials"), "refused", None, "the token is not accepted"),
        (answer(403, "Resource not accessible by integration"), "refused", None, "`permissions: pull-requests: write`"),
        (answer(403, "Resource not accessible by personal access token"), "refused", None, "pull-requests"),
        (answer(403, LIMITED), "again", 75.0, "wait 75 s (403: You have exceeded a secondary"),
        (answer(403, LIMITED, retry_after="20"), "again", 20.0, "wait 20 s"),
        (answer(403, "You have triggered an abuse detection mechanism"), "again", 75.0, "abuse"),
        (answer(429), "again", 75.0, "(429)"),
        (answer(429, retry_after="Fri, 31 Dec 1999"), "again", 75.0, "(429)"),
        (
            answer(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset=f"{NOW + 30:.0f}"),
            "again",
            31.0,
            "wait 31 s",
        ),
        (answer(429, x_ratelimit_remaining="0", x_ratelimit_reset=f"{NOW - 30:.0f}"), "again", 1.0, "wait 1 s"),
        (answer(403, "Unable to create comment because issue is locked."), "locked", None, "is locked"),
        (answer(403, "Request forbidden by administrative rules."), "refused", None, "GitHub refuses (403: Request"),
        (answer(404, "Not Found"), "gone", None, "there is no such thing"),
        (answer(410, "This issue was deleted"), "refused", None, "GitHub refuses (410: This issue was deleted)"),
        (answer(422, "Validation Failed"), "invalid", None, "GitHub cannot process that"),
        (answer(408), "again", None, "in trouble (408)"),
        (answer(500, "Server Error"), "again", None, "in trouble (500: Server Error)"),
        (answer(502), "again", None, "in trouble (502)"),
        (Answer(0, lost="timed out"), "again", None, "no answer: timed out"),
        (answer(301, location="https://b.example/x?token=1"), "refused", None, "it points to https://b.example/x"),
        (answer(418, ["no", "text"]), "refused", None, "GitHub refuses (418)"),
    ],
)
def test_each_answer_means_one_thing(came: Answer, kind: str, pause_s: float | None, said: str) -> None:
    means = meaning(came)
    assert (means.kind, means.pause_s) == (kind, pause_s)
    assert said in means.why
    assert "token=1" not in means.why


def test_an_answer_is_quoted_in_one_line_and_not_at_length() -> None:
    errors = [{"field": "body", "message": "body is too long"}, "odd", {"message": 7}, None]
    said = meaning(Answer(422, body={"message": f"No\n\x1b[2J{'!' * 900}", "errors": errors})).why
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) < 300
    assert "(422: Invalid; body is too long)" in meaning(Answer(422, body={"message": "Invalid", "errors": errors})).why


def test_only_what_is_good_passes() -> None:
    assert checked(answer(201, "made")).body == {"message": "made"}
    with pytest.raises(Again):
        checked(answer(503))
    with pytest.raises(Refused) as refused:
        checked(answer(401))
    assert not isinstance(refused.value, Again)


def listing(*pages: Answer) -> tuple[list[object], list[str]]:
    """The rows of these pages, and what was asked for them."""
    asked = []
    calls = rows("/x?state=open", 3)
    call = next(calls)
    try:
        for page in pages:
            asked.append(call.path)
            call = calls.send(page)
    except StopIteration as end:
        return end.value, asked
    raise AssertionError("a page more was wanted")


def test_pages_are_read_while_there_is_a_next_or_the_last_was_full() -> None:
    row = {"id": 1}
    more = {"link": '<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"'}
    found, asked = listing(Answer(200, more, [row]), Answer(200, {}, [row] * 100), Answer(200, {}, [row, "no row"]))
    assert len(found) == 102
    assert asked == [f"/x?state=open&per_page=100&page={page}" for page in (1, 2, 3)]
    assert listing(Answer(200, {}, []))[0] == []


def test_no_more_pages_are_read_than_that() -> None:
    more = {"link": '<https://api.github.com/x?page=2>; rel="next"'}
    assert len(listing(*[Answer(200, more, [{}])] * 3)[0]) == 3


def test_a_page_that_is_no_list_is_refused() -> None:
    with pytest.raises(Refused, match="is no list"):
        listing(Answer(200, {}, {"items": []}))


def once() -> Calls[object]:
    answered = yield Call("GET", "/x")
    return checked(answered).body


@pytest.mark.parametrize(
    ("answers", "waited", "outcome"),
    [
        ([200], [], 200),
        ([502, 200], [(1, 3)], 200),
        ([502, 0, 200], [(1, 3), (2, 6)], 200),
        ([502, 502, 502], [(1, 3), (2, 6)], "in trouble"),
        ([429, 429, 200], [(75, 75), (75, 75)], 200),
        ([502, 429, 429], [(1, 3), (75, 75)], "wait 75 s"),
        ([502, 429, 200], [(1, 3), (75, 75)], 200),
        ([401], [], "not accepted"),
        ([3600], [], "wait 3600 s"),
    ],
)
def test_what_may_do_better_later_is_done_again_from_its_beginning(
    answers: list[int], waited: list[tuple[int, int]], outcome: int | str
) -> None:
    coming = iter(answers)
    slept: list[float] = []

    def send(call: Call) -> Answer:
        status = next(coming)
        if status == 3600:
            return answer(429, retry_after="3600")
        return answer(status, status) if status else Answer(0, lost="timed out")

    if isinstance(outcome, int):
        assert settled(once, send, slept.append) == {"message": outcome}
    else:
        with pytest.raises(Refused, match=outcome):
            settled(once, send, slept.append)
    assert len(slept) == len(waited)
    assert all(low <= pause <= high for pause, (low, high) in zip(slept, waited, strict=True))
    assert next(coming, None) is None


def test_golden_waits_no_longer_than_150_seconds_in_all() -> None:
    slept: list[float] = []
    with pytest.raises(Again):
        settled(once, lambda call: answer(429, retry_after="80"), slept.append)
    assert slept == [80.0]
