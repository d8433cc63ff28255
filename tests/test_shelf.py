import os
from pathlib import Path

import pytest

from golden import jsonl
from golden.errors import RecordingError, UsageError
from golden.shelf import Shelf
from tests.recordings import FOREIGN, RECORDING, lines, write


def test_a_folder_holds_recordings_by_the_id_of_their_case_in_any_case_of_letters(tmp_path: Path) -> None:
    for name in ("well", "Über alles", "a.b"):
        write(tmp_path, name, jsonl.render(RECORDING))
    (tmp_path / "notes.txt").touch()
    (tmp_path / ".golden.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    shelf = Shelf(tmp_path)
    assert {path.name for path in shelf.paths.values()} == {"well.jsonl", "Über alles.jsonl", "a.b.jsonl"}
    found = shelf.find("u\u0308BER ALLES")
    assert found
    assert shelf.read(found) == RECORDING
    assert shelf.find("ill") is None


def test_one_file_is_a_shelf_whatever_its_suffix(tmp_path: Path) -> None:
    path = tmp_path / "well.trace"
    path.write_text(lines(*FOREIGN), encoding="utf-8")
    shelf = Shelf(path)
    assert shelf.find("well") == path
    assert shelf.meta(path)["scenario"] == "empty company"


def test_what_a_recording_says_first_is_read_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "well", lines(FOREIGN[0]) + "no JSON")
    assert Shelf(tmp_path).meta(path)["agentVersion"] == "0.67.68"
    write(tmp_path, "well", "no JSON")
    assert Shelf(tmp_path).meta(path) == {}


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere", "no such file or folder"), ("empty", "no recording is there")],
)
def test_where_no_recording_is_golden_says_so(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=said) as caught:
        Shelf(tmp_path / name)
    assert "golden record" in (caught.value.hint or "")


def test_two_recordings_of_one_case_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "well", "")
    write(tmp_path, "WELL", "")
    with pytest.raises(UsageError, match=r"WELL\.jsonl and .*well\.jsonl are recordings of one case"):
        Shelf(tmp_path)


def test_a_folder_is_made_and_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    assert not Shelf(tmp_path / "a" / "b", make=True).paths
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="null byte"):
        Shelf(tmp_path / "a\0b", make=True)
    with pytest.raises(UsageError, match="File exists") as caught:
        Shelf(tmp_path / "file", make=True)
    assert caught.value.hint == "is it a folder, and yours?"


def test_no_link_is_followed_out_of_the_folder(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "secret", jsonl.render(RECORDING))
    inside = write(tmp_path / "in", "well", jsonl.render(RECORDING))
    (tmp_path / "in" / "out.jsonl").symlink_to(outside)
    (tmp_path / "in" / "again.jsonl").symlink_to(inside.name)
    (tmp_path / "in" / "broken.jsonl").symlink_to("nowhere")
    (tmp_path / "linked").symlink_to("in")
    for folder in (tmp_path / "in", tmp_path / "linked"):
        shelf = Shelf(folder)
        assert shelf.read(folder / "again.jsonl") == RECORDING
        with pytest.raises(RecordingError, match="a link out of the folder, which is not followed"):
            shelf.read(folder / "out.jsonl")
        with pytest.raises(RecordingError, match="no file"):
            shelf.read(folder / "broken.jsonl")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(RecordingError, match="no file"):
        Shelf(tmp_path).read(tmp_path / "pipe.jsonl")


def test_what_cannot_be_read_is_an_error_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "well.jsonl"
    path.write_bytes(b"{}\n\xff")
    shelf = Shelf(tmp_path)
    with pytest.raises(RecordingError, match=r"well\.jsonl: line 2: not UTF-8"):
        shelf.read(path)
    path.write_text("{}\n")
    with pytest.raises(RecordingError, match=r"well\.jsonl: line 1: expected the `meta` line first"):
        shelf.read(path)
    monkeypatch.setattr("golden.shelf._LARGEST", 2)
    with pytest.raises(RecordingError, match=r"well\.jsonl: larger than 0 MiB"):
        shelf.read(path)
    path.unlink()
    with pytest.raises(RecordingError, match=r"well\.jsonl: no file"):
        shelf.read(path)
    with pytest.raises(RecordingError, match="cannot be read: File name too long"):
        shelf.read(tmp_path / ("a" * 300))


def test_a_recording_takes_the_place_of_the_one_that_is_there_and_of_no_other_file(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine", encoding="utf-8")
    folder = tmp_path / "in"
    write(folder, "WELL", "old")
    (folder / "linked.jsonl").symlink_to(outside)
    shelf = Shelf(folder)
    for case_id in ("well", "linked", "new"):
        shelf.write(case_id, "new")
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == {
        "WELL.jsonl": "new",
        "linked.jsonl": "new",
        "new.jsonl": "new",
    }
    assert outside.read_text(encoding="utf-8") == "mine"
    umask = os.umask(0)
    os.umask(umask)
    assert (folder / "new.jsonl").stat().st_mode & 0o777 == 0o666 & ~umask


def test_what_cannot_be_written_leaves_no_trace(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, make=True)
    with pytest.raises(OSError, match="name too long"):
        shelf.write("a" * 300, "new")
    assert not [*tmp_path.iterdir()]
