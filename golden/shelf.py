"""Recordings on the disk: found by the id of their case, read to a bound, written whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from golden import jsonl
from golden.errors import RecordingError, UsageError
from golden.identity import unique_id
from golden.output import NEW_FILE
from golden.recording import Recording

SUFFIX = ".jsonl"

# Far more than a run writes: a stream is read to 8 MiB where nothing else is asked for.
_LARGEST = 256 * 1024**2


class Shelf:
    """The recordings in a folder, or one alone. No link is followed out of the folder.

    Args:
        path: a folder, of which each `CASE_ID.jsonl` is one, or a file.
        make: whether the folder is made where it is not there.

    Attributes:
        path: what was named.
        folder: where the recordings are.

    Raises:
        UsageError: nothing is there to be read, or two are of one case; with `make`, nothing can be written there.
    """

    def __init__(self, path: Path, *, make: bool = False) -> None:
        self.path = path
        try:
            if make:
                _writable(path)
            is_folder = path.is_dir()
            found = sorted(each for each in path.iterdir() if _is_recording(each)) if is_folder else [path]
            if not is_folder and not path.is_file():
                raise FileNotFoundError(2, "no such file or folder")
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            hint = "is it a folder, and yours?" if make else "`golden record` makes recordings"
            raise UsageError(f"{path}: {problem}", hint=hint) from None
        if not found and not make:
            raise UsageError(f"{path}: no recording is there", hint="`golden record` makes recordings")
        self.folder = path if is_folder else path.parent
        self._is_folder = is_folder
        self._paths: dict[str, Path] = {}
        for each in found:
            other = self._paths.setdefault(unique_id(each.stem), each)
            if other is not each:
                raise UsageError(f"{other} and {each} are recordings of one case", hint="remove one of them")

    @property
    def paths(self) -> Mapping[str, Path]:
        """Each recording by the id of its case, as `unique_id` has it."""
        return self._paths

    def find(self, case_id: str) -> Path | None:
        """Returns where the recording of a case is, None where there is none."""
        return self._paths.get(unique_id(case_id))

    def read(self, path: Path) -> Recording:
        """Reads a recording.

        Raises:
            RecordingError: it cannot be read, or is malformed; the message begins with the place.
        """
        text = self._text(path, _LARGEST)
        try:
            return jsonl.read(text)
        except RecordingError as error:
            raise RecordingError(f"{path}: {error.message}") from None

    def meta(self, path: Path) -> Mapping[str, object]:
        """Reads what a recording says of its run, and no more; nothing where that is malformed."""
        try:
            return jsonl.read_meta(self._text(path, _LARGEST, first=True))
        except RecordingError:
            return {}

    def write(self, case_id: str, text: str) -> None:
        """Writes the recording of a case in the place of the one that is there.

        Raises:
            OSError: it cannot be written; what was there stays.
        """
        place = self.find(case_id) or self.folder / f"{case_id}{SUFFIX}"
        handle, name = tempfile.mkstemp(prefix=".golden.", dir=self.folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(name).chmod(NEW_FILE)
            # Where a link stands there, it is the link that goes.
            Path(name).replace(place)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise

    def _text(self, path: Path, most: int, *, first: bool = False) -> str:
        try:
            if self._is_folder and path.is_symlink():
                inside = Path(os.path.realpath(self.folder))
                if not Path(os.path.realpath(path)).is_relative_to(inside):
                    raise RecordingError(f"{path}: a link out of the folder, which is not followed")
            if not path.is_file():  # a pipe would never end
                raise RecordingError(f"{path}: no file")
            with path.open("rb") as file:
                # Not `most` at once: room is made for all that is asked for, and that is dear.
                size = min(most, os.fstat(file.fileno()).st_size) + 1
                data = file.readline(size) if first else file.read(size)
        except OSError as error:
            raise RecordingError(f"{path}: cannot be read: {error.strerror}") from None
        if len(data) > most:
            raise RecordingError(f"{path}: larger than {most // 1024**2} MiB")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise RecordingError(f"{path}: line {line}: not UTF-8: {error.reason}") from None


def _is_recording(path: Path) -> bool:
    return path.suffix == SUFFIX and not path.name.startswith(".") and not path.is_dir()


def _writable(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass
