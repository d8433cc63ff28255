import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from golden import dialects
from golden.__main__ import _run
from golden.dialects import Options
from golden.errors import UsageError
from golden.lexicon import Lexicon, built_in
from golden.loading import load, load_object, names
from golden.sse import Event
from golden.wire import Head, Post, Request

Module = Callable[[str, str], None]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    """Writes modules into the current folder; what was imported of them is forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def write(name: str, source: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_what_a_module_of_the_current_folder_holds_is_loaded(module: Module, tmp_path: Path) -> None:
    module("golden_test_agent.py", "class Agent:\n    @staticmethod\n    def answer(): return 5\nnumber = 3\n")
    assert load_object("golden_test_agent:number", option="--agent") == 3
    answer = load_object("golden_test_agent:Agent.answer", option="--agent")
    assert callable(answer)
    assert answer() == 5
    assert sys.path.count(str(tmp_path)) == 1
    assert sys.path[-1] == str(tmp_path)


def test_a_module_inside_a_package_is_loaded(module: Module) -> None:
    module("golden_test_package/__init__.py", "")
    module("golden_test_package/agent.py", "name = __name__")
    assert load_object("golden_test_package.agent:name", option="--agent") == "golden_test_package.agent"


def test_what_is_installed_wins_over_the_current_folder(module: Module) -> None:
    module("click.py", "raise RuntimeError('not me')")
    assert load_object("click:command", option="--agent")


@pytest.mark.parametrize("name", ["", "agent", "agent:", ":answer", ":", "app/agent.py"])
def test_a_name_of_another_form_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_object(name, option="--asgi")
    assert str(caught.value) == f"--asgi takes MODULE:NAME, not {name!r}\nhint: for example `app.agent:answer`"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("raise RuntimeError('no key')", "RuntimeError: no key"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import golden_test_not_there", "ModuleNotFoundError: No module named 'golden_test_not_there'"),
        ("def answer(:", "SyntaxError: "),
        ("class Stop(BaseException): ...\nraise Stop('enough')", "Stop: enough"),
    ],
)
def test_a_module_that_cannot_be_imported_is_an_error_of_whoever_named_it(
    module: Module, tmp_path: Path, source: str, says: str
) -> None:
    module("golden_test_broken.py", source)
    with pytest.raises(UsageError) as caught:
        load_object("golden_test_broken:answer", option="--agent")
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith(f"--agent: importing 'golden_test_broken' failed: {says}")
    assert str(tmp_path) in (caught.value.hint or "")
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "name", ["golden_test_not_there:x", ".relative:x", "golden_test_not_there.deep:x", "a b:x", "..:x"]
)
@pytest.mark.usefixtures("module")
def test_a_module_that_is_not_there_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(UsageError, match=r"importing '.+' failed: "):
        load_object(name, option="--agent")


def test_an_import_that_is_interrupted_is_interrupted(module: Module) -> None:
    module("golden_test_slow.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_object("golden_test_slow:answer", option="--agent")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("golden_test_agent:anser", "'golden_test_agent' has no 'anser'\nhint: did you mean 'answer'?"),
        ("golden_test_agent:zzz", "'golden_test_agent' has no 'zzz'"),
        ("golden_test_agent:answer.deep", "'golden_test_agent' has no 'deep'"),
        ("golden_test_agent:answer.", "'golden_test_agent' has no ''"),
        ("golden_test_agent:answer:deep", "'golden_test_agent' has no 'answer:deep'"),
    ],
)
def test_a_name_that_the_module_does_not_have_is_an_error_with_the_nearest(
    module: Module, name: str, says: str
) -> None:
    module("golden_test_agent.py", "def answer(): ...")
    with pytest.raises(UsageError) as caught:
        load_object(name, option="--agent")
    assert str(caught.value).startswith(f"--agent: {says}")


@pytest.fixture
def rib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A rib of two members, `one` and `two`."""
    made = types.ModuleType("golden_test_ribs")
    made.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, made.__name__, made)
    for name in ("two", "one"):
        (tmp_path / f"{name}.py").write_text(f"RIB = {name!r}", encoding="utf-8")
        monkeypatch.delitem(sys.modules, f"golden_test_ribs.{name}", raising=False)
    (tmp_path / "notes.txt").write_text("no member", encoding="utf-8")
    return made


def test_the_members_of_a_rib_are_the_files_of_its_folder_in_order(rib: types.ModuleType) -> None:
    assert names(rib) == ["one", "two"]
    assert [load(rib, name, "RIB") for name in names(rib)] == ["one", "two"]


@pytest.mark.parametrize("name", ["three", "", "notes", "one.two", "../one", "__init__"])
def test_a_member_that_is_not_there_is_an_error_that_lists_the_members(rib: types.ModuleType, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(rib, name, "RIB")
    assert str(caught.value) == f"no golden_test_rib is called {name!r}\nhint: known: one, two"


def test_a_rib_of_golden_is_called_by_what_its_members_are() -> None:
    with pytest.raises(UsageError, match="no dialect is called 'klingon'"):
        load(dialects, "klingon", "DIALECT")


def test_another_package_adds_a_member_and_no_file_of_golden_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "chirp.py").write_text(
        "from golden.dialects import Dialect\n"
        "from golden.signals import Text\n"
        "from golden.wire import Post\n"
        "DIALECT = Dialect(\n"
        "    claims=lambda head, event: 'it tweets' if event.data == 'tweet' else None,\n"
        "    request=lambda request, options: Post('/', request.question),\n"
        "    read=lambda event: (Text(event.data or ''),),\n"
        ")\n",
        encoding="utf-8",
    )
    info = tmp_path / "chirp-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chirp\nVersion: 1.0\n", encoding="utf-8")
    members = "[golden.dialects]\nbird-song = chirp:DIALECT\ngone = no_such_module:DIALECT\nodd = json:dumps\n"
    (info / "entry_points.txt").write_text(members, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Lexicon().dialect("bird-song").request(Request("tweet", "s"), Options()) == Post("/", "tweet")
    for name, problem in (
        ("gone", "the dialect 'gone' cannot be loaded from 'no_such_module:DIALECT': ModuleNotFoundError: "),
        ("odd", "the dialect 'odd' is no `golden.dialects.Dialect`, but a function"),
    ):
        with pytest.raises(UsageError) as caught:
            Lexicon().dialect(name)
        assert caught.value.message.startswith(problem)
    # It is told from what it sends where the configuration names it.
    head, tweet = Head(200, {}, "chunked"), Event("", "tweet")
    assert Lexicon().detect(head, tweet, "sse") is None
    assert Lexicon({"bird-song": {"path": "/sing"}}).detect(head, tweet, "sse") == ("bird-song", "it tweets")
    assert _run(["dialect", "list"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        *built_in(),
        *(f"{name} (installed)" for name in ("bird-song", "gone", "odd")),
    ]
