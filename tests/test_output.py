import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from golden.errors import UsageError
from golden.output import Output


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_with_unix_line_ends_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    output = Output(path)
    output.write("über 📈\nsecond\r\n")
    output.close()
    assert path.read_bytes() == "über 📈\nsecond\r\n".encode()
    assert entries(tmp_path) == {"report.txt"}


def test_until_it_is_written_the_old_file_stays_and_the_new_one_is_not_there(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("before", encoding="utf-8")
    outputs = Output(old), Output(new)
    assert old.read_text("utf-8") == "before"
    assert not new.exists()
    for output in outputs:
        output.close()
    assert old.read_text("utf-8") == "before"
    assert entries(tmp_path) == {"old.json"}


def test_an_old_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("a much longer text than what comes after it", encoding="utf-8")
    Output(path).write("short")
    assert path.read_text("utf-8") == "short"


def test_a_new_file_has_the_mode_of_any_new_file_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    for path in (new, old):
        Output(path).write("x")
    assert mode(new) == mode(plain)
    assert mode(old) == 0o640
    after = tmp_path / "after"
    after.touch()
    assert mode(after) == mode(plain)


def test_what_a_link_points_at_is_written_and_the_link_stays(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("there", "not-yet"):
        link = tmp_path / name
        link.symlink_to(folder / name)
    (folder / "there").write_text("before", encoding="utf-8")
    for name in ("there", "not-yet"):
        output = Output(tmp_path / name)
        output.write(name)
        output.close()
        assert (tmp_path / name).is_symlink()
        assert (folder / name).read_text("utf-8") == name
    assert entries(folder) == {"there", "not-yet"}


def test_a_name_as_long_as_a_name_may_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    Output(path).write("x")
    assert path.read_text("utf-8") == "x"


def test_a_relative_path_is_written_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    output = Output(Path("report.txt"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")  # an agent in this process may go elsewhere
    output.write("x")
    assert (tmp_path / "report.txt").read_text("utf-8") == "x"


@pytest.mark.parametrize(
    ("name", "says"),
    [("folder", "it is a folder"), ("nowhere/report.txt", "No such file"), ("file/report.txt", "Not a directory")],
)
def test_a_place_that_cannot_be_written_is_found_at_once(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        Output(tmp_path / name)
    assert caught.value.message.startswith(f"cannot write {tmp_path / name}: {says}")
    assert caught.value.hint == "is its folder there, and yours?"
    assert entries(tmp_path) == {"folder", "file"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_ours_is_found_at_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="Permission denied"):
        Output(tmp_path / "report.txt")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("before", encoding="utf-8")
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from golden.errors import UsageError\n"
        "from golden.output import Output\n"
        "output = Output(Path(sys.argv[1]))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "before = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))\n"
        "try:\n"
        "    output.write('x' * 100_000)\n"
        "except UsageError as error:\n"
        "    print(error)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, before)\n"
        "output.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write {path}: File too large\n"
    assert path.read_text("utf-8") == "before"
    assert entries(tmp_path) == {"report.txt"}


def test_a_folder_that_went_away_is_an_error_and_closing_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    output = Output(folder / "report.txt")
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    with pytest.raises(UsageError, match=r"cannot write .*: No such file"):
        output.write("x")
    output.close()


def test_closing_twice_or_after_writing_leaves_the_file(tmp_path: Path) -> None:
    output = Output(tmp_path / "report.txt")
    output.write("x")
    output.close()
    output.close()
    assert entries(tmp_path) == {"report.txt"}


def test_a_device_is_written_straight_and_stays_one() -> None:
    output = Output(Path(os.devnull))
    output.write("x")
    output.close()
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_device_that_is_full_is_an_error() -> None:
    with pytest.raises(UsageError, match="cannot write /dev/full: No space left"):
        Output(Path("/dev/full")).write("x")


def test_a_pipe_is_written_straight(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        Output(pipe).write("through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def printed(code: str, encoding: str = "utf-8") -> tuple[bytes, bytes]:
    """Standard output and standard error of a program."""
    # A buffer is what makes the order of prints a question.
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUNBUFFERED": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environ, check=True)
    return done.stdout, done.stderr


def test_standard_output_is_golden_s_alone_whoever_else_prints() -> None:
    out, err = printed(
        "import os, subprocess, sys\n"
        "from golden.output import standard_output\n"
        "print('before')\n"
        "sys.stdout.write('unflushed,')\n"
        "with standard_output() as stream:\n"
        "    print('python')\n"
        "    os.write(1, b'system\\n')\n"
        "    subprocess.run(['echo', 'child'], check=True)\n"
        "    sys.__stdout__.write('original\\n')\n"
        "    assert not stream.isatty()\n"
        "    stream.write('report: \\u00fc\\n')\n"
        "    sys.stdout.write('left in the buffer')\n"
        "print('after')\n"
    )
    assert out == "before\nunflushed,report: ü\nafter\n".encode()
    words = {b"python", b"system", b"child", b"original", b"left", b"in", b"the", b"buffer"}
    assert set(err.split()) == words


def test_standard_output_comes_back_also_where_the_block_fails() -> None:
    out, err = printed(
        "from golden.output import standard_output\n"
        "try:\n"
        "    with standard_output() as stream:\n"
        "        stream.write('half')\n"
        "        print('agent')\n"
        "        raise ValueError\n"
        "except ValueError:\n"
        "    print(' and back')\n"
    )
    assert (out, err) == (b"half and back\n", b"agent\n")


def test_a_character_that_standard_output_cannot_show_is_escaped() -> None:
    out, _ = printed(
        "from golden.output import standard_output\n"
        "with standard_output() as stream:\n"
        "    stream.write('caf\\u00e9 \\U0001f4c8\\n')\n",
        encoding="ascii",
    )
    assert out == b"caf\\xe9 \\U0001f4c8\n"


def test_a_reader_that_has_gone_does_not_keep_standard_output_from_coming_back() -> None:
    code = (
        "import os, sys\n"
        "from golden.output import standard_output\n"
        "with standard_output() as stream:\n"
        "    stream.write('x')\n"
        "    sys.stdin.read()\n"
        "try:\n"
        "    os.write(1, b'lost')\n"
        "except BrokenPipeError:\n"
        "    sys.stderr.write('standard output is the pipe again')\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe) as program:
        assert program.stdin
        assert program.stdout
        assert program.stderr
        program.stdout.close()
        program.stdin.close()
        assert program.stderr.read() == b"standard output is the pipe again"
    assert program.returncode == 0


def test_standard_output_does_not_come_back_while_an_agent_is_left_behind() -> None:
    out, err = printed(
        "import threading\n"
        "from golden.channel import AGENT_THREADS\n"
        "from golden.output import standard_output\n"
        "end = threading.Event()\n"
        "agent = threading.Thread(target=end.wait, name=f'{AGENT_THREADS}-left', daemon=True)\n"
        "with standard_output() as stream:\n"
        "    agent.start()\n"
        "    stream.write('report\\n')\n"
        "print('late', flush=True)\n"
        "end.set()\n"
    )
    assert (out, err) == (b"report\n", b"late\n")
