import os
import signal

import pytest

from golden import interrupts
from golden.errors import Stopped
from golden.interrupts import Interrupts


def ended_by(*numbers: int) -> tuple[int, list[str]]:
    """Which signal ended a run that these came in, and what the run was told."""
    told: list[str] = []
    with Interrupts() as caught, caught.ending(told.append):
        for number in numbers:
            os.kill(os.getpid(), number)
            signal.getsignal(number)  # the handler runs between two steps of the interpreter
    return caught.caught, told


def test_a_signal_ends_the_run_and_is_told_once() -> None:
    assert ended_by(signal.SIGTERM) == (signal.SIGTERM, ["stopped by SIGTERM"])
    assert ended_by(signal.SIGINT, signal.SIGINT, signal.SIGTERM) == (signal.SIGINT, ["stopped by SIGINT"])


def test_a_signal_long_after_the_first_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 2.5])
    monkeypatch.setattr(interrupts, "monotonic", lambda: next(clock))
    with pytest.raises(KeyboardInterrupt):
        ended_by(signal.SIGINT, signal.SIGINT)


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Stopped)])
def test_a_signal_before_the_run_unwinds_what_was_begun(number: int, raised: type[BaseException]) -> None:
    with pytest.raises(raised) as caught, Interrupts():
        os.kill(os.getpid(), number)
    assert type(caught.value) is raised


def test_a_signal_that_was_ignored_stays_so_and_all_are_left_as_they_were() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert ended_by(signal.SIGINT) == (0, [])
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    ended_by(signal.SIGINT)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
