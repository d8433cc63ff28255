"""How the house is built: floors, doors, names, and what a start costs."""

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import golden

ROOT = Path(golden.__file__).parent

# A module imports lower floors only; a folder stands for its members, which never import one another.
FLOORS = {
    "template": 3,
    "beside": 0,
    "blame": 0,
    "change": 0,
    "channel": 0,
    "columns": 0,
    "errors": 0,
    "fold": 0,
    "identity": 0,
    "layout": 1,
    "log": 0,
    "pairing": 0,
    "payload": 0,
    "redaction": 0,
    "signals": 0,
    "sse": 0,
    "transcript": 0,
    "version": 0,
    "visible": 0,
    "watch": 0,
    "wildcards": 0,
    "marker": 0,
    "exchange": 1,
    "event": 1,
    "github": 2,
    "pulls": 2,
    "sticky": 2,
    "placing": 3,
    "commenting": 12,
    "agent_loop": 1,
    "covering": 1,
    "digest": 2,
    "document": 1,
    "findings": 1,
    "headers": 1,
    "interrupts": 1,
    "lines": 1,
    "markup": 1,
    "loading": 1,
    "patterns": 1,
    "shard": 1,
    "unpacking": 1,
    "wire": 1,
    "auth": 2,
    "calls": 2,
    "fields": 2,
    "output": 2,
    "part": 2,
    "recording": 2,
    "refusal": 2,
    "result": 2,
    "settings": 2,
    "texts": 2,
    "yaml_document": 2,
    "assertions": 3,
    "blessing": 3,
    "bulletin": 3,
    "checkout": 3,
    "compare": 4,
    "console": 3,
    "expectation": 3,
    "gathering": 3,
    "langchain": 3,
    "merge": 4,
    "phrase": 3,
    "result_file": 4,
    "verdict": 3,
    "dialects": 4,
    "jsonl": 4,
    "outcome": 4,
    "reports": 4,
    "suite": 4,
    "declared": 5,
    "guarding": 5,
    "lint": 5,
    "match": 5,
    "mismatch": 5,
    "recording_schema": 5,
    "report_files": 5,
    "shelf": 5,
    "suite_file": 5,
    "suite_schema": 5,
    "workflow": 5,
    "checks": 6,
    "lexicon": 6,
    "reader": 7,
    "score": 7,
    "targets": 7,
    "hearing": 8,
    "plan": 8,
    "standalone": 8,
    "targeting": 8,
    "asking": 9,
    "recorder": 9,
    "scorers": 9,
    "selection": 9,
    "planning": 10,
    "tally": 3,
    "tries": 10,
    "drift": 11,
    "engine": 11,
    "preview": 11,
    "commands": 12,
    "library": 12,
    "pytest_items": 12,
    "cli": 13,
    "pytest_plugin": 13,
    "__main__": 14,
    "starter": 1,
    "steps": 15,
    "__init__": 15,
    "run": 15,
}

# Each library has its doors: the only files that may import it.
DOORS = {
    "click": {"__main__", "cli", "commands", "commenting", "console"},
    "httpx": {"targets/http", "github"},
    "httpx_sse": {"targets/http"},
    "jmespath": {"declared"},
    "jwt": {"auth"},
    "pytest": {"pytest_items", "pytest_plugin"},
    "pydantic": {
        "declared",
        "expectation",
        "lexicon",
        "part",
        "phrase",
        "result",
        "result_file",
        "settings",
        "suite",
        "suite_file",
    },
    "pydantic_core": {"part", "payload", "result_file", "suite_file"},
    "regex": {"patterns"},
    "ruamel": {"yaml_document"},
}

# The imports that stand inside a function, each for its reason: see the file.
LATE = {"cli": {"golden.commands", "golden.commenting"}, "pytest_plugin": {"golden.pytest_items"}}

FILES = sorted(path for path in ROOT.rglob("*.py") if "demo" not in path.parts)
RIBS = ("checks", "dialects", "reports", "targets")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix()


def imported(tree: ast.AST) -> list[tuple[str, bool]]:
    """Every module that a file imports, and whether it does so inside a function."""
    late = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "no relative imports"
            module = node.module
            parts = [f"golden.{alias.name}" for alias in node.names] if module == "golden" else [module]
            found += [(part, id(node) in late) for part in parts]
    return found


def is_type_checking(tree: ast.Module) -> ast.Module:
    """The tree without what only a type checker reads."""
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    ]
    return tree


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_imports_lower_floors_only(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module, _ in imported(is_type_checking(ast.parse(path.read_text(encoding="utf-8")))):
        if module.partition(".")[0] != "golden":
            continue
        parts = module.split(".")
        other = parts[1]
        if other == own:
            assert len(parts) == 2, f"{name_of(path)} imports {module}: members of a rib never import one another"
        else:
            assert FLOORS[other] < FLOORS[own], f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_library_is_imported_at_its_doors_only(path: Path) -> None:
    for module, _ in imported(ast.parse(path.read_text(encoding="utf-8"))):
        library = module.partition(".")[0]
        if library != "golden" and library not in sys.stdlib_module_names:
            assert name_of(path) in DOORS[library], f"{name_of(path)} imports {library}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_import_stands_inside_a_function_save_the_listed_ones(path: Path) -> None:
    late = {module for module, is_late in imported(ast.parse(path.read_text(encoding="utf-8"))) if is_late}
    assert late == LATE.get(name_of(path), set())


def test_every_floor_is_a_file_and_every_file_has_a_floor() -> None:
    assert {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in FILES} == set(FLOORS)


def test_no_file_is_longer_than_350_lines() -> None:
    long = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in long.items() if lines > 350} == {}


@pytest.mark.parametrize("rib", RIBS)
def test_every_member_of_a_rib_declares_its_one_constant_with_the_type_of_the_rib(rib: str) -> None:
    constants = {"checks": "CHECK", "dialects": "DIALECT", "reports": "REPORT", "targets": "TARGET"}
    members = [path for path in (ROOT / rib).glob("*.py") if path.stem != "__init__"]
    assert members
    for path in members:
        declared = [
            node.target.id
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id.isupper()
        ]
        assert constants[rib] in declared, path


def test_the_public_names_are_what_exists() -> None:
    for name in golden.__all__:
        assert getattr(golden, name) is not None
    assert dir(golden) == sorted(golden.__all__)
    assert set(golden._HOMES) == set(golden.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        golden.nothing  # noqa: B018  # touching it is the test


def test_no_public_name_is_the_name_of_a_module() -> None:
    modules = {name_of(path).partition("/")[0] for path in FILES}
    assert not modules & set(golden.__all__)


def loaded_by(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after `code`."""
    shown = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{shown}"], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_golden_does_no_work() -> None:
    assert not {"click", "httpx", "pydantic", "asyncio"} & loaded_by("import golden")


@pytest.mark.parametrize("command", ["['--help']", "['run', '--help']"])
def test_help_loads_no_library_but_click(command: str) -> None:
    code = f"from golden.cli import cli\ncli.main({command}, standalone_mode=False)"
    assert not {"httpx", "pydantic", "pydantic_core", "regex", "rich", "jwt", "asyncio"} & loaded_by(code)


def test_an_in_process_run_loads_neither_httpx_nor_jwt() -> None:
    code = "import golden.commands, golden.targets.call, golden.reports.text"
    assert not {"httpx", "jwt", "regex", "rich"} & loaded_by(code)


def test_the_version_is_one_everywhere() -> None:
    assert importlib.metadata.version("golden-questions") == golden.__version__
