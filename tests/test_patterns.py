import subprocess
import sys
import threading
import time

import pytest

from golden.patterns import LONGEST, PatternError, PatternTimeout, compile_pattern, search

HOPELESS = r"(x+x+)+y"
LONG = "x" * 8_000_000


def test_a_pattern_is_found_where_it_first_stands() -> None:
    assert search(r"\bbuy\b|\bsell\b", "do not sell or buy") == (7, 11)


def test_a_pattern_that_is_not_there_is_none() -> None:
    assert search("sell", "hold") is None


def test_a_pattern_that_matches_nothing_at_all_is_found_at_the_start() -> None:
    assert search("x*", "hold") == (0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a(b", "bad pattern: missing ) at position 3"),
        ("a**", "bad pattern: multiple repeat at position 2"),
        ("(" * 1500 + ")" * 1500, "bad pattern: nested too deep"),
        (r"(?a)(?L)x", "bad pattern: ASCII, LOCALE and UNICODE flags are mutually incompatible"),
        ("a" * (LONGEST + 1), "a pattern has at most 4,000 characters, this one has 4,001"),
        ("(?:(?:(?:a{1000}){1000}){1000})|b", "the counts in the pattern come to more than 100,000 repeated parts"),
        ("[(]a{60000}(b){60000}", "the counts in the pattern come to more than 100,000 repeated parts"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(text: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text", ["a" * LONGEST, r"\d{4}-\d{2}-\d{2}T(\d{2}:){2}", r"[()\]]{1000}x{1000}", r"\({9}", "a{,5}b"]
)
def test_a_pattern_within_the_bounds_compiles(text: str) -> None:
    assert compile_pattern(text).search("", timeout=1) is None


def test_a_closing_bracket_too_many_is_left_to_the_compiler() -> None:
    with pytest.raises(PatternError, match="unbalanced parenthesis at position 1"):
        compile_pattern("a)")


def test_a_search_that_takes_too_long_is_undecided_and_lets_other_threads_run() -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.01):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    try:
        with pytest.raises(PatternTimeout, match="was not decided within 1 s"):
            search(HOPELESS, LONG)
    finally:
        done.set()
        thread.join()
    assert time.monotonic() - begin < 60  # a second where the machine has nothing else to do; a minute would be none
    assert ticks > 5


def test_a_search_that_outgrows_its_memory_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    class Greedy:
        def search(self, string: str, *, timeout: float) -> None:
            raise MemoryError

    monkeypatch.setattr("golden.patterns.compile_pattern", lambda text: Greedy())
    with pytest.raises(PatternTimeout, match="within the memory allowed"):
        search("(a|aa)+$", "a")


def test_the_package_is_loaded_with_the_first_pattern_only() -> None:
    program = (
        "import sys, golden.suite_file, golden.patterns\n"
        "assert 'regex' not in sys.modules\n"
        "golden.patterns.compile_pattern('x')\n"
        "assert 'regex' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
