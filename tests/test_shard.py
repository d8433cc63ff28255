from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.errors import UsageError
from golden.shard import MOST, Shard, holds, shard

COUNTS = st.integers(1, 50)
IDS = st.text(st.characters(), min_size=1)


@pytest.mark.parametrize(
    ("text", "part"),
    [("1/1", Shard(1, 1)), ("2/4", Shard(2, 4)), ("4/4", Shard(4, 4)), (f"{MOST}/{MOST}", Shard(MOST, MOST))],
)
def test_a_part_of_a_whole_is_read(text: str, part: Shard) -> None:
    assert shard(text) == part


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "/",
            "1",
            "1/",
            "/4",
            "0/4",
            "5/4",
            "1/0",
            "-1/4",
            "+1/4",
            "1/-4",
            "1.0/4",
            "01/4",
            " 1/4",
            "1/4\n",
            "1 / 4",
        ),
        *("1/4/4", "a/b", "1/10001", "1/99999", f"1/{'9' * 5000}", "¹/⁴", "١/٤", "1\\4", "1of4"),
    ],
)
def test_what_is_no_part_of_a_whole_is_a_usage_error_that_says_the_form(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        shard(text)
    assert caught.value.message == f"--shard takes I/N, not {text!r}"
    assert caught.value.hint == "the I-th of N parts, counted from 1, at most 10,000 of them: for example 2/4"


@given(COUNTS, st.lists(IDS))
def test_every_case_is_in_exactly_one_part(count: int, ids: list[str]) -> None:
    for case_id in ids:
        assert sum(holds(Shard(index, count), case_id) for index in range(1, count + 1)) == 1


@pytest.mark.parametrize("count", [2, 3, 4, 7, 16])
def test_the_parts_of_many_cases_are_about_as_large(count: int) -> None:
    many = 1000 * count
    sizes = Counter(
        next(index for index in range(1, count + 1) if holds(Shard(index, count), f"case-{at}")) for at in range(many)
    )
    # Five standard deviations of 1,000 are about 160.
    assert all(840 < sizes[index] < 1160 for index in range(1, count + 1))


def test_a_case_stays_in_its_part_for_good_however_its_id_is_spelled() -> None:
    # A number written down: whoever runs another version of golden, or of Python, must find the same.
    for same in ("straße \u00e9", "STRASSE \u00c9", "Stra\u00dfe e\u0301"):
        assert holds(Shard(2947, 9973), same)
        assert not holds(Shard(2948, 9973), same)


def test_an_id_that_holds_half_of_a_surrogate_pair_is_in_a_part_too() -> None:
    assert holds(Shard(1, 1), "half \ud83d")
