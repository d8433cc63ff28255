"""What `golden init` writes into a project: the files beside this one, each at its place there."""

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path
from textwrap import indent
from types import MappingProxyType

from golden.errors import UsageError
from golden.version import __version__

_CONFIGURATION = "pyproject.toml"

# Where a file goes → its name here.
FILES: Mapping[str, str] = MappingProxyType(
    {
        "golden_questions.json": "golden_questions.json",
        _CONFIGURATION: "configuration.toml",
        ".github/workflows/golden-preview.yml": "golden-preview.yml",
    }
)


# Stands in the workflow for where golden comes from.
_PLACEHOLDER = '"@GOLDEN@"'


def start(folder: Path) -> Iterator[str]:
    """Writes the files, and yields what became of each; one that is there already is left as it is.

    Raises:
        UsageError: a place cannot be written.
    """
    told = [found.read_text("direct_url.json") for found in distributions(name="golden-questions")]
    source = requirement(told[0]) if told else ""
    for place, name in FILES.items():
        path, text = folder / place, Path(__file__).with_name(name).read_text(encoding="utf-8")
        if _written(path, text.replace(_PLACEHOLDER, json.dumps(source))):
            yield f"wrote {path}"
            if _PLACEHOLDER in text and not source:
                yield "  golden came from a file or folder here: put at GOLDEN where CI gets it from"
        else:
            yield f"left {path} as it is"
            if place == _CONFIGURATION and "[tool.golden" not in path.read_text(encoding="utf-8", errors="replace"):
                yield "  for golden, add:"
                yield from indent(text, "    ").splitlines()
    yield "next: golden run; what the workflow needs of the repository stands at its head"


def requirement(direct_url: str | None) -> str:
    """Returns what pip is to be told to install this golden again, "" where only this machine has it.

    No name of an index is given for what did not come from one: there it may be anybody's.

    Args:
        direct_url: where pip had it from (PEP 610); None for an index.
    """
    if direct_url is None:
        return f"golden-questions=={__version__}"
    origin = json.loads(direct_url)
    url = str(origin["url"])
    if not url.startswith("https://"):
        return ""
    vcs = origin.get("vcs_info")
    return f"golden-questions @ {vcs['vcs']}+{url}@{vcs['commit_id']}" if vcs else f"golden-questions @ {url}"


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
