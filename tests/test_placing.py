"""One comment on a pull request, whatever happens between two requests: golden's steps against GitHub's state."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from golden.exchange import Again, Call, Calls, Refused
from golden.marker import Marker, marker_of
from golden.placing import Known, Placed, author, placed
from golden.sticky import Draft, Mode
from tests.github import (
    BOT,
    BROKEN,
    HEAD,
    INTEGRATION,
    REPOSITORY,
    TOKEN,
    TOO_LONG,
    Fault,
    GitHub,
    Pull,
    Reply,
    ask,
    before,
    done,
    done_but,
    instead,
    json_reply,
    refusal,
)
from tests.test_sticky import EARLY, LATE, OLD_HEAD, SAME, text

CREATED = "POST .*/issues/7/comments"


def steps(marker: Marker, mode: Mode = "update", *, is_well: bool = False) -> Callable[[], Calls[Placed]]:
    """What a run does to place its comment."""
    known = Known()
    bodies = (text(marker), text(marker, "short"))
    return lambda: placed(REPOSITORY, 7, Draft(marker, mode, is_well), bodies, BOT, known)


def again(work: Callable[[], Calls[Placed]]) -> Calls[Placed]:
    """Work that is begun again each time GitHub is in trouble."""
    while True:
        try:
            return (yield from work())
        except Again:
            pass


def run(github: GitHub, work: Callable[[], Calls[Placed]]) -> Placed:
    return done(github, again(work))


def markers(github: GitHub) -> list[Marker | None]:
    return [marker_of(body) for body in github.bodies()]


# Placing


def test_the_first_run_comments_and_the_next_write_over_it() -> None:
    github = GitHub()
    github.said("Nice.", "alice")
    created = run(github, steps(EARLY))
    assert (created.what, github.bodies()) == ("created", ["Nice.", text(EARLY)])
    assert run(github, steps(LATE)) == Placed("updated", created.comment)
    assert github.bodies() == ["Nice.", text(LATE)]
    assert github.writes == ["POST", "PATCH"]


def test_nothing_is_written_where_nothing_changed() -> None:
    github = GitHub()
    number = github.said(text(SAME))
    assert run(github, steps(EARLY)) == Placed("said", number)
    assert github.writes == []
    assert github.bodies() == [text(SAME)]


def test_an_earlier_run_writes_nothing_over_a_later_one() -> None:
    github = GitHub()
    number = github.said(text(LATE))
    assert run(github, steps(EARLY)) == Placed("newer", number)
    assert github.writes == []


def test_a_stranger_who_quotes_the_marker_is_left_alone() -> None:
    github = GitHub()
    github.said(text(LATE), "mallory")
    github.said(f"It said:\n{text(LATE)}")
    github.said(text(replace(LATE, key="other")))
    before = github.bodies()
    assert run(github, steps(EARLY)).what == "created"
    assert github.bodies() == [*before, text(EARLY)]
    assert github.writes == ["POST"]


def moves(github: GitHub) -> Fault:
    """Somebody pushes."""
    return before(lambda: github.pulls[7].commits.append("f" * 40))


def test_nothing_is_written_on_a_head_that_moved() -> None:
    github = GitHub()
    github.at("GET .*/issues/7/comments", moves(github))
    assert run(github, steps(EARLY)) == Placed("outdated", head="f" * 40)
    assert github.writes == []


def test_a_head_that_moves_after_the_comment_was_written_takes_nothing_back() -> None:
    github = GitHub()
    github.at(CREATED, moves(github))
    assert run(github, steps(EARLY)) == Placed("created", 1001)


def test_what_github_merged_to_try_a_pull_request_out_is_its_head_too() -> None:
    github = GitHub(pulls={7: Pull(7, ["b" * 40], merge_sha=HEAD)})
    assert run(github, steps(EARLY)).what == "created"


def test_the_comment_is_found_on_the_last_of_many_pages() -> None:
    github = GitHub()
    for at in range(250):
        github.said(f"comment {at}", "alice")
    number = github.said(text(OLD_HEAD))
    assert run(github, steps(EARLY)) == Placed("updated", number)
    assert github.writes == ["PATCH"]


def test_a_comment_that_was_stored_though_github_failed_is_not_written_twice() -> None:
    for reply in (BROKEN, refusal(429, "Too Many Requests")):
        github = GitHub()
        github.at(CREATED, done_but(reply))
        assert run(github, steps(EARLY)) == Placed("created", 1001)
        assert github.writes == ["POST"]


def test_a_comment_that_was_not_stored_is_written_again() -> None:
    github = GitHub()
    github.at(CREATED, instead(BROKEN), instead(BROKEN))
    assert run(github, steps(EARLY)) == Placed("created", 1001)
    assert github.bodies() == [text(EARLY)]


def test_a_comment_that_the_list_does_not_have_yet_is_not_written_twice() -> None:
    github = GitHub()
    nothing = instead(json_reply(200, []))
    github.at("GET .*/issues/7/comments", nothing, nothing, nothing)
    assert run(github, steps(EARLY)) == Placed("created", 1001)
    assert github.writes == ["POST"]


def test_a_comment_that_somebody_takes_away_is_written_anew_once() -> None:
    github = GitHub()
    number = github.said(text(OLD_HEAD))
    github.at("PATCH", before(lambda: github.comments.pop(number)))
    assert run(github, steps(EARLY)) == Placed("created", number + 1)
    assert github.writes == ["PATCH", "POST"]


def test_a_comment_that_github_finds_too_long_is_written_in_its_short_form() -> None:
    github = GitHub()
    github.at(CREATED, instead(TOO_LONG))
    assert run(github, steps(EARLY)).what == "created"
    assert github.bodies() == [text(EARLY, "short")]
    github.at("PATCH", instead(TOO_LONG), instead(TOO_LONG))
    with pytest.raises(Refused, match="body is too long"):
        run(github, steps(LATE))


@pytest.mark.parametrize(
    ("request_", "reply", "said"),
    [
        (CREATED, INTEGRATION, "pull-requests: write"),
        (CREATED, json_reply(201, {"message": "made"}), "no API of GitHub's: a comment has no id"),
        ("GET .*/issues", refusal(404, "Not Found"), "no such thing"),
        ("GET .*/pulls/7", refusal(410, "Gone"), "refuses"),
        ("GET .*/issues", Reply(200, b"<html>", {"content-type": "text/html"}), "no API of GitHub's"),
        ("GET .*/issues", Reply(301, b"", {"location": "https://b.example/"}), "b.example"),
    ],
)
def test_a_refusal_ends_it(request_: str, reply: Reply, said: str) -> None:
    github = GitHub()
    github.at(request_, instead(reply))
    with pytest.raises(Refused, match=said):
        run(github, steps(EARLY))
    assert github.bodies() == []


def test_a_comment_that_others_write_over_again_and_again_is_left() -> None:
    github = GitHub()
    number = github.said(text(OLD_HEAD))
    github.at("GET .*/issues", *[before(lambda: setattr(github.comments[number], "body", text(OLD_HEAD)))] * 20)
    with pytest.raises(Refused, match="faster than golden can look"):
        run(github, steps(EARLY))


def test_a_new_comment_for_each_run_is_one_for_each_run() -> None:
    github = GitHub()
    assert run(github, steps(EARLY, "new")).what == "created"
    assert run(github, steps(LATE, "new")).what == "created"
    github.at(CREATED, done_but(BROKEN))
    assert run(github, steps(replace(LATE, attempt=2), "new")).what == "created"
    assert run(github, steps(EARLY, "new")).what == "said"
    assert github.bodies() == [text(EARLY), text(LATE), text(replace(LATE, attempt=2))]


def test_on_change_nothing_is_said_until_something_is_wrong() -> None:
    github = GitHub()
    assert run(github, steps(EARLY, "on-change", is_well=True)) == Placed("quiet")
    assert github.writes == []
    run(github, steps(EARLY, "on-change"))
    run(github, steps(LATE, "on-change", is_well=True))
    assert github.bodies() == [text(LATE)]


# Two runs at once


@dataclass
class Racer:
    calls: Calls[Placed]
    call: Call | None

    def step(self, github: GitHub) -> None:
        assert self.call is not None
        try:
            self.call = self.calls.send(ask(github, self.call))
        except StopIteration:
            self.call = None


def racer(work: Callable[[], Calls[Placed]]) -> Racer:
    calls = again(work)
    return Racer(calls, next(calls))


def every_order(start: Callable[[], tuple[GitHub, Racer, Racer]]) -> Iterator[tuple[GitHub, str]]:
    """Has two runs take turns in every order there is; gives what GitHub is left with, and the order."""
    orders = [""]
    while orders:
        order = orders.pop()
        github, *racers = start()
        at = 0
        while any(racer.call for racer in racers):
            can = [name for name, racer in zip("ab", racers, strict=True) if racer.call]
            if at == len(order):
                orders += [order + name for name in can[1:]]
                order += can[0]
            racers["ab".index(order[at])].step(github)
            at += 1
        yield github, order


@pytest.mark.parametrize("there", [(), (OLD_HEAD,), (SAME,)], ids=["none", "of an earlier head", "of this head"])
@pytest.mark.parametrize("fault", [False, True], ids=["", "a comment is stored and GitHub fails"])
def test_two_runs_leave_one_comment_in_whatever_order_they_meet(there: tuple[Marker, ...], fault: bool) -> None:
    early = replace(EARLY, digest="e" * 16)

    def start() -> tuple[GitHub, Racer, Racer]:
        github = GitHub()
        for marker in there:
            github.said(text(marker))
        if fault:
            github.at("POST|PATCH", done_but(BROKEN))
        return github, racer(steps(early)), racer(steps(LATE))

    count = 0
    for github, order in every_order(start):
        (left,) = markers(github)
        assert left in (early, LATE)
        # The later run is what is left, where the earlier one has seen it before it wrote.
        if order.rstrip("b") == "a" * order.count("a") or order.rstrip("a") == "b" * order.count("b"):
            assert left == LATE, order
        count += 1
    assert count > 100


def test_two_runs_that_say_the_same_leave_one_comment() -> None:
    for github, _ in every_order(lambda: (GitHub(), racer(steps(SAME)), racer(steps(EARLY)))):
        assert len(github.bodies()) == 1


# Who golden is


@pytest.mark.parametrize("login", [BOT, "acme-evals[bot]", "alice"])
def test_golden_learns_whose_its_token_is(login: str) -> None:
    github = GitHub(tokens={TOKEN: login})
    assert done(github, author()) == login


def test_where_nobody_says_it_is_the_token_of_actions() -> None:
    github = GitHub()
    github.at("POST /api/graphql", instead(refusal(404, "Not Found")))
    assert done(github, author()) == BOT


@pytest.mark.parametrize(
    ("request_", "reply", "kind"),
    [
        ("/user", refusal(401, "Bad credentials"), Refused),
        ("/user", BROKEN, Again),
        ("/api/graphql", BROKEN, Again),
    ],
)
def test_without_knowing_it_golden_does_not_go_on(request_: str, reply: Reply, kind: type[Refused]) -> None:
    github = GitHub()
    github.at(request_, instead(reply))
    with pytest.raises(kind):
        done(github, author())
