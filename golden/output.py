"""Files and standard output: written whole or not at all, and found to be writable before anything is sent."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from golden.errors import UsageError


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
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "it is a folder")
            self._straight = path.exists() and not path.is_file()
            if not self._straight:
                # Through a link to what it points at: replacing the link itself would surprise.
                self._target = path.resolve()
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
            if self._temporary is None:
                self.path.write_text(text, encoding="utf-8")
                return
            self._temporary.write_text(text, encoding="utf-8", newline="\n")
            self._temporary.chmod(self._mode())
            self._temporary.replace(self._target)
            self._temporary = None
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Gives the place up; what was not written leaves no trace."""
        if self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink()

    def _mode(self) -> int:
        if self._target.exists():
            return self._target.stat().st_mode & 0o777
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


@contextmanager
def standard_output() -> Iterator[IO[str]]:
    """Gives standard output to golden alone.

    What an agent in this process prints, and its subprocesses, goes to standard error until the block is left.
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
        with suppress(BrokenPipeError):  # whoever read has gone
            stream.close()
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
