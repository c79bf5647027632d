"""Every file is written completely or not at all, and what the system refuses is a clear error."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import credo
from credo import EMOptions, FileError, MissingFileError, Network
from credo.io.files import make_folder, remove_drafts, replacing, require_target, write_text

ROWS = pl.DataFrame({"smoke": ["no", "yes", "yes", "no"], "lung": ["no", "yes", None, None]})


@contextmanager
def full_disk(most: int = 100) -> Iterator[None]:
    """No file may grow beyond a few bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


WRITERS: dict[str, Callable[[Network, Path], object]] = {
    "net.bif": credo.write_network,
    "net.bif.gz": credo.write_network,
    "net.xdsl": credo.write_network,
    "net.xmlbif": credo.write_network,
    "net.uai": credo.write_network,
    "net.net": credo.write_network,
    "fit.html": lambda network, path: credo.fit(network, ROWS.drop_nulls(), method="map").report(path),
    "check.html": lambda network, path: credo.check(network, "smoke raises lung").report(path),
}


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, smoking: Network, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](smoking, path)
    before = path.read_bytes()
    with full_disk(min(100, max(1, len(before) // 2))), pytest.raises(FileError, match=name):
        WRITERS[name](smoking, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_full_disk_leaves_no_part_of_a_checkpoint_and_does_not_end_the_run(tmp_path: Path, smoking: Network) -> None:
    options = EMOptions(starts=1, checkpoint=tmp_path / "run.npz")
    with full_disk(), pytest.warns(credo.errors.CheckpointWarning, match="run.npz"):
        fit = credo.fit(smoking, ROWS, method="map", em=options)
    assert fit.status is credo.Status.CONVERGED
    assert list(tmp_path.iterdir()) == []


def test_what_breaks_off_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_text(tmp_path / "page.html", "old")

    def break_off() -> None:
        with replacing(path) as draft:
            draft.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_drafts_of_this_process_can_be_removed(tmp_path: Path) -> None:
    with replacing(tmp_path / "page.html") as draft:
        draft.write_text("new")
        other = tmp_path / ".credo-1-abc.tmp"
        other.write_text("of another process")
        remove_drafts(tmp_path / "page.html")
        assert os.listdir(tmp_path) == [other.name]
        draft.write_text("again")
    assert (tmp_path / "page.html").read_text() == "again"


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = write_text(tmp_path / "page.html", "old"), tmp_path / "link.html"
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_text("/dev/null", "text")
    with pytest.raises(FileError, match="No space left"):
        write_text("/dev/full", "text")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_half_a_character_is_written_as_a_question_mark(tmp_path: Path) -> None:
    assert write_text(tmp_path / "page.html", "a\ud800b").read_bytes() == b"a?b"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("x" * 300 + ".html", FileError, "too long"),
        ("null\0.html", FileError, "null"),
        ("none/page.html", MissingFileError, "There is no folder"),
        (".", FileError, "This is a folder"),
        ("file/page.html", MissingFileError, "There is no folder"),
    ],
)
def test_targets_that_cannot_be(tmp_path: Path, name: str, kind: type[FileError], words: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(kind, match=words):
        require_target(f"{tmp_path}/{name}")
    with pytest.raises(FileError, match="cannot be written"):
        write_text(f"{tmp_path}/{name}", "text")


def test_a_folder_that_is_read_only_is_refused_before_the_work(
    tmp_path: Path, smoking: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who tests may be allowed to write everywhere: the system's answer is replaced."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match="cannot be written. Choose another folder"):
        credo.fit(smoking, ROWS.drop_nulls(), method="map").report(tmp_path / "page.html")
    with pytest.raises(FileError, match="cannot be written"):
        make_folder(tmp_path / "new")


def test_folders_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="This is a file, not a folder"):
        make_folder(tmp_path / "file")
    with pytest.raises(FileError, match="cannot be made: Not a directory"):
        make_folder(tmp_path / "file" / "below")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError, match="cannot be made: Permission denied"):
        make_folder(tmp_path / "new")
