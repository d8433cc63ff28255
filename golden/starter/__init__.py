"""What `golden init` writes into a project: the files beside this one, each at its place there."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from types import MappingProxyType

from golden.errors import UsageError

_CONFIGURATION = "pyproject.toml"

# Where a file goes → its name here.
FILES: Mapping[str, str] = MappingProxyType(
    {
        "golden_questions.json": "golden_questions.json",
        _CONFIGURATION: "configuration.toml",
        ".github/workflows/golden-preview.yml": "golden-preview.yml",
    }
)


def text_of(place: str) -> str:
    """Returns what is written there."""
    return Path(__file__).with_name(FILES[place]).read_text(encoding="utf-8")


def start(folder: Path) -> Iterator[str]:
    """Writes the files, and yields what became of each; one that is there already is left as it is.

    Raises:
        UsageError: a place cannot be written.
    """
    for place in FILES:
        path, text = folder / place, text_of(place)
        if _written(path, text):
            yield f"wrote {path}"
        else:
            yield f"left {path} as it is"
            if place == _CONFIGURATION and "[tool.golden" not in path.read_text(encoding="utf-8", errors="replace"):
                yield "  for golden, add:"
                yield from indent(text, "    ").splitlines()
    yield "next: golden run; what the workflow needs of the repository stands at its head"


def _written(path: Path, text: str) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        if not path.parent.is_dir():
            raise UsageError(f"cannot write {path}: {path.parent} is no folder") from None
        return False
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="is the folder yours?") from None
    return True
