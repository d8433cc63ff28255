"""Files and standard output: written whole or not at all, and found to be writable before anything is sent."""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from golden.channel import AGENT_THREADS
from golden.errors import UsageError

# Read before any agent runs: to read it is to set it, for the whole process.
_UMASK = os.umask(0)
os.umask(_UMASK)


class Output:
    """A file that is written whole or not at all.

    The place is taken when the object is made, so that an output that cannot be written is found before a question is
    sent; until `write` the file that was there before stays.

    Args:
        path: where; a device or a pipe is written straight.

    Raises:
        UsageError: nothing can be written there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._temporary: Path | None = None
        self._device: IO[str] | None = None
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "it is a folder")
            if path.exists() and not path.is_file():
                self._device = path.open("w", encoding="utf-8")
            else:
                # Through a link to what it points at: replacing the link itself would surprise.
                self._target = Path(os.path.realpath(path))
                handle, name = tempfile.mkstemp(prefix=".golden.", dir=self._target.parent)
                os.close(handle)
                self._temporary = Path(name)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}", hint="is its folder there, and yours?") from None

    def write(self, text: str) -> None:
        """Writes the file.

        Raises:
            UsageError: the disk is full, or the place is gone.
        """
        try:
            if self._device is not None:
                with self._device as device:
                    device.write(text)
                return
            temporary = cast("Path", self._temporary)
            temporary.write_text(text, encoding="utf-8", newline="\n")
            temporary.chmod(self._mode())
            temporary.replace(self._target)
            self._temporary = None
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Gives the place up; what was not written leaves no trace."""
        with suppress(OSError):
            if self._device is not None:
                self._device.close()
            if self._temporary is not None:
                self._temporary.unlink()

    def _mode(self) -> int:
        if self._target.exists():
            return self._target.stat().st_mode & 0o777
        return 0o666 & ~_UMASK


@contextmanager
def standard_output() -> Iterator[IO[str]]:
    """Gives standard output to golden alone.

    What an agent in this process prints, and its subprocesses, goes to standard error until the block is left, and
    for good where an agent was left behind: it may print on while the process ends.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    # What a terminal or a log cannot show is escaped: a report must not fail on a character.
    encoding = sys.stdout.encoding or "utf-8"
    stream = open(kept, "w", encoding=encoding, errors="backslashreplace", newline="\n", closefd=False)  # noqa: SIM115
    try:
        yield stream
    finally:
        with suppress(OSError):  # whoever read has gone, or the disk is full: that was told when it was written
            stream.close()
        if not agent_is_left():
            with suppress(OSError, ValueError, AttributeError):  # an agent may have closed it, or put None there
                sys.stdout.flush()
            os.dup2(kept, 1)
        os.close(kept)


def agent_is_left() -> bool:
    """Whether an agent, told to end, still runs in this process."""
    return any(thread.name.startswith(AGENT_THREADS) for thread in threading.enumerate())
