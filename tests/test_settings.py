import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from golden.errors import UsageError
from golden.settings import TARGETS, Settings, chosen_target, settings

Config = Callable[[str], Path]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Writes `[tool.golden]` into the pyproject.toml of a project whose folder `deep/er` is the current one."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")

    def write(table: str) -> Path:
        path = tmp_path / "pyproject.toml"
        path.write_text(f"[tool.golden]\n{table}\n", encoding="utf-8")
        return path

    return write


def refused(given: Mapping[str, object], config: Path | None = None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        settings(given, config)
    assert caught.value.exit_code == 2
    return caught.value


def test_with_nothing_told_the_defaults_are_those_of_the_documentation(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.touch()
    told = settings({}, empty)
    assert told == Settings(folder=str(tmp_path))
    assert (told.dialect, told.auth, told.concurrency, told.timeout, told.idle_timeout) == ("auto", True, 4, 60, 30)
    assert (told.max_answer, told.max_event, told.suite_timeout) == (8 * 2**20, 4 * 2**20, 300)
    assert not any((told.bail, told.dry_run, told.quiet, told.verbose, told.isolated))
    assert (told.suites, told.header, told.out, told.json_out) == ([], [], [], None)
    assert (told.retries, told.flaky, told.trials, told.max_tokens) == (0, "pass", 1, None)
    assert (told.case, told.tag, told.match, told.failed, told.shard) == ([], [], [], None, None)


def test_the_nearest_pyproject_upwards_is_read(config: Config, tmp_path: Path) -> None:
    config("concurrency = 7")
    told = settings({})
    assert (told.concurrency, told.folder) == (7, str(tmp_path))
    (tmp_path / "deep" / "pyproject.toml").write_text("[project]\nname = 'x'", encoding="utf-8")
    told = settings({})
    assert (told.concurrency, told.folder) == (4, str(tmp_path / "deep"))
    (tmp_path / "deep" / "er" / "pyproject.toml").mkdir()
    assert settings({}).folder == str(tmp_path / "deep")


def test_where_no_pyproject_is_found_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    if not Path("/pyproject.toml").exists():
        assert settings({}) == Settings()


def test_the_command_line_wins_over_the_configuration_and_that_over_the_defaults(config: Config) -> None:
    config('timeout = 5\nidle_timeout = 6.5\nheader = ["a: 1", "b: 2"]\nauth = false\nmodel = "small"')
    told = settings({"timeout": 9.0, "header": ["c: 3"]})
    assert (told.timeout, told.idle_timeout, told.suite_timeout) == (9, 6.5, 300)
    assert (told.header, told.auth, told.model) == (["c: 3"], False, "small")
    assert settings({"auth": True}).auth is True


@pytest.mark.parametrize(
    ("table", "given", "retries", "trials"),
    [
        ("trials = 3", {"retries": 2}, 2, 1),
        ("retries = 2", {"trials": 3}, 0, 3),
        ("retries = 2\ntrials = 3", {"trials": 4}, 0, 4),
        ("trials = 3", {}, 0, 3),
        ("trials = 1", {"retries": 2}, 2, 1),
    ],
)
def test_retries_on_the_command_line_replace_trials_of_the_configuration_and_the_other_way(
    config: Config, table: str, given: dict[str, object], retries: int, trials: int
) -> None:
    config(table)
    told = settings(given)
    assert (told.retries, told.trials) == (retries, trials)


def test_retries_and_trials_on_one_command_line_are_an_error(config: Config) -> None:
    config("")
    assert "exclude each other" in refused({"retries": 1, "trials": 2}).message
    assert settings({"retries": 1, "trials": 1}).retries == 1


def test_a_file_that_is_named_is_read_in_place_of_the_nearest(config: Config, tmp_path: Path) -> None:
    config("concurrency = 7")
    other = tmp_path / "deep" / "other.toml"
    other.write_text("[tool.golden]\ntimeout = 1", encoding="utf-8")
    told = settings({}, other)
    assert (told.concurrency, told.timeout, told.folder) == (4, 1, str(tmp_path / "deep"))


def test_isolated_reads_no_file_at_all(config: Config) -> None:
    path = config("this is no TOML")
    assert settings({"isolated": True}) == settings({"isolated": True}, path) == Settings(isolated=True)
    assert refused({"isolated": False}).message.startswith(f"{path}: ")


def test_paths_of_a_configuration_are_relative_to_it_and_those_of_the_command_line_are_not(
    config: Config, tmp_path: Path
) -> None:
    config(
        'suites = ["golden.json", "/absolute/s.json", "../up.json"]\n'
        'out = ["report.txt", "-"]\njson_out = "results.json"\npath = "/chat"\nagent = "app:run"\n'
        'failed = "before.json"'
    )
    told = settings({})
    here = os.path.relpath(tmp_path)
    up = os.path.relpath(tmp_path.parent)
    assert told.suites == [
        os.path.normpath(f"{here}/golden.json"),
        "/absolute/s.json",
        os.path.normpath(f"{up}/up.json"),
    ]
    assert (told.out, told.json_out) == (
        [os.path.normpath(f"{here}/report.txt"), "-"],
        os.path.normpath(f"{here}/results.json"),
    )
    assert (told.path, told.agent) == ("/chat", "app:run")
    assert told.failed == os.path.normpath(f"{here}/before.json")
    told = settings({"suites": ["golden.json"], "out": ["x.txt"], "json_out": "-"})
    assert (told.suites, told.out, told.json_out) == (["golden.json"], ["x.txt"], "-")
    config('json_out = "-"')
    assert settings({}).json_out == "-"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("concurency = 3", "[tool.golden] concurency: there is no such option; did you mean 'concurrency'?"),
        ("base-url = 'x'", "[tool.golden] base-url: there is no such option; did you mean 'base_url'?"),
        ("zzz = 3", "[tool.golden] zzz: there is no such option"),
        ("folder = '/'", "[tool.golden] folder: there is no such option"),
        ("isolated = true", "[tool.golden] isolated: there is no such option"),
        ("concurrency = 0", "[tool.golden] concurrency: input should be greater than or equal to 1"),
        ("concurrency = 1.0", "[tool.golden] concurrency: input should be a valid integer"),
        ("concurrency = true", "[tool.golden] concurrency: input should be a valid integer"),
        ("concurrency = '4'", "[tool.golden] concurrency: input should be a valid integer"),
        ("timeout = 0", "[tool.golden] timeout: input should be greater than 0"),
        ("timeout = nan", "[tool.golden] timeout: input should be greater than 0"),
        ("timeout = '5'", "[tool.golden] timeout: input should be a valid number"),
        ("timeout = true", "[tool.golden] timeout: input should be a valid number"),
        ("suite_timeout = -1", "[tool.golden] suite_timeout: input should be greater than or equal to 0"),
        ("suites = 'golden.json'", "[tool.golden] suites: input should be a valid list"),
        ("suites = [3]", "[tool.golden] suites: input should be a valid string"),
        ("json_out = 3", "[tool.golden] json_out: input should be a valid string"),
        ("auth = 'no'", "[tool.golden] auth: input should be a valid boolean"),
        ("agent = {}", "[tool.golden] agent: input should be a valid string"),
        ("retries = -1", "[tool.golden] retries: input should be greater than or equal to 0"),
        ("trials = 0", "[tool.golden] trials: input should be greater than or equal to 1"),
        ("max_tokens = -1", "[tool.golden] max_tokens: input should be greater than or equal to 0"),
        ("flaky = 'maybe'", "[tool.golden] flaky: input should be 'pass' or 'fail'"),
        (
            "retries = 1\ntrials = 2",
            "retries and trials exclude each other: trials say how often, retries hide how often not",
        ),
    ],
)
def test_what_cannot_be_obeyed_is_named_with_its_place(config: Config, table: str, says: str) -> None:
    config(table)
    assert refused({}).message == says


def test_all_that_cannot_be_obeyed_is_named_at_once_with_who_said_it(config: Config) -> None:
    config("bale = true\nconcurrency = 0\ntimeout = 5")
    assert refused({"idle_timeout": -1.0, "timeout": 0.0}).message.splitlines() == [
        "[tool.golden] concurrency: input should be greater than or equal to 1",
        "--timeout: input should be greater than 0",
        "--idle-timeout: input should be greater than 0",
        "[tool.golden] bale: there is no such option; did you mean 'bail'?",
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[tool.golden\n", "Expected"),
        (b"[tool.golden]\na = 1\na = 2\n", "Cannot overwrite a value"),
        (b"# caf\xe9", "'utf-8' codec can't decode"),
        (b"[tool]\ngolden = 5", "[tool.golden] is no table"),
        (b"[[tool.golden]]\nagent = 'x'", "[tool.golden] is no table"),
    ],
)
def test_a_file_that_cannot_be_read_as_a_configuration_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "golden.toml"
    path.write_bytes(content)
    message = refused({}, path).message
    assert message.startswith(f"{path}: ")
    assert says in message


@pytest.mark.parametrize("content", ["", "tool = 5", "[tool.other]\nx = 1", "[tool]"])
def test_a_file_without_our_table_says_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "golden.toml"
    path.write_text(content, encoding="utf-8")
    assert settings({}, path) == Settings(folder=str(tmp_path))


def test_a_file_that_is_not_there_or_is_a_folder_is_an_error(tmp_path: Path) -> None:
    assert (
        refused({}, tmp_path / "none.toml").message
        == f"cannot read {tmp_path / 'none.toml'}: No such file or directory"
    )
    assert refused({}, tmp_path).message == f"cannot read {tmp_path}: Is a directory"


# Which target


def test_a_target_on_the_command_line_replaces_any_of_the_configuration(config: Config) -> None:
    config('agent = "app:run"')
    assert chosen_target(settings({})) == ("agent", "app:run")
    for name in TARGETS:
        assert chosen_target(settings({name: "there"})) == (name, "there")
    config('agent = "app:run"\nbase_url = "http://localhost"')
    assert chosen_target(settings({"asgi": "app:app"})) == ("asgi", "app:app")


@pytest.mark.parametrize("where", ["line", "file"])
def test_two_targets_are_an_error_that_lists_them_all(config: Config, where: str) -> None:
    config('agent = "app:run"\nbase_url = "http://localhost"' if where == "file" else 'agent = "app:run"')
    error = refused({} if where == "file" else {"agent": "app:run", "base_url": "http://localhost"})
    assert error.message == "more than one target: --agent, --base-url"
    assert error.hint == "give one of --agent MODULE:NAME, --asgi MODULE:NAME, --base-url URL, --replay PATH"


def test_no_target_at_all_is_an_error_that_lists_them_all(config: Config) -> None:
    config("")
    with pytest.raises(UsageError, match="no target") as caught:
        chosen_target(settings({}))
    assert all(f"--{name.replace('_', '-')} " in (caught.value.hint or "") for name in (*TARGETS, "replay"))
