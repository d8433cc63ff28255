"""A commit's pull requests."""

import pytest

from golden.pulls import NotThere, pulls_of
from tests.github import HEAD, REPOSITORY, GitHub, Pull, done, instead, json_reply


def found(github: GitHub) -> list[int]:
    return done(github, pulls_of(REPOSITORY, HEAD))


def test_of_the_pull_requests_of_a_commit_those_count_that_are_open_here_and_have_it_as_their_head() -> None:
    pulls = [
        Pull(1, [HEAD], state="closed", merged=True),
        Pull(2, [HEAD], state="closed"),
        Pull(3, [HEAD, "b" * 40]),
        Pull(4, ["b" * 40, HEAD]),
        Pull(5, [HEAD], base="fork/shop"),
        Pull(6, [HEAD]),
    ]
    github = GitHub(pulls={pull.number: pull for pull in pulls})
    assert found(github) == [4, 6]
    assert len(github.asked) == 1


def test_the_pull_request_of_a_fork_is_found_among_the_open_ones() -> None:
    pulls = {number: Pull(number, [f"{number:040x}"]) for number in range(150, 1, -1)}
    github = GitHub(pulls={**pulls, 1: Pull(1, [HEAD], is_fork=True)})
    assert found(github) == [1]
    unknown = GitHub(pulls={**pulls, 1: Pull(1, ["b" * 40], is_fork=True)})
    with pytest.raises(NotThere):
        found(unknown)
    odd = GitHub()
    odd.at("GET .*/commits/", instead(json_reply(200, {"odd": 1})))
    assert found(odd) == [7]


def test_of_the_open_pull_requests_the_300_that_changed_last_are_looked_through() -> None:
    github = GitHub(
        pulls={number: Pull(number, [HEAD if number == 1 else "b" * 40], is_fork=True) for number in range(1, 402)}
    )
    with pytest.raises(NotThere):
        found(github)
    assert len(github.asked) == 4
