"""The folder that was opened: what may be read and written is inside it, whatever name a request gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import category

from credo.errors import FileError, MissingFileError, OptionError, is_text, listing, readable_bytes
from credo.io.excel import EXCEL_ENDINGS
from credo.io.files import replacing
from credo.io.network_files import ENDINGS
from credo.io.parquet import PARQUET_ENDINGS
from credo.io.tables import CSV_ENDINGS
from credo.shipped import example, example_names

KNOWLEDGE = (".credo",)
NETWORKS = ENDINGS
TABLES = (*CSV_ENDINGS, *EXCEL_ENDINGS, *PARQUET_ENDINGS)
MOST_UPLOADED = 200_000_000  # bytes
MOST_LISTED = 500
DEEPEST = 3  # folders below the one that was opened
DRAFT_ENDING = ".draft"
LONGEST_NAME = 200  # bytes of an uploaded file's name, so that its draft can have a name as well
FORBIDDEN = frozenset('<>:"/\\|?*')  # in names of files, on Windows
DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{each}{number}" for each in ("com", "lpt") for number in range(10)))
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and everything below it, links that lead out of it excluded."""

    root: Path

    def inside(self, name: object, endings: Sequence[str] = ()) -> Path:
        """The file of this name; refused where it is not in the folder, or of another kind."""
        if not isinstance(name, str) or not name or "\0" in name or len(name) > 1_000 or not is_text(name):
            raise OptionError("A file is named by a text.")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError) as error:  # a circle of links, a name that this system cannot have
            raise OptionError(f"“{name}” cannot be found: {error}.") from None
        if path == self.root or not path.is_relative_to(self.root):
            raise OptionError(f"“{name}” is not in the folder that is open, {self.root}.")
        if endings and not path.name.lower().endswith(tuple(endings)):
            raise OptionError(f"“{name}” is of another kind: here its name ends in {listing(endings)}.")
        return path

    def existing(self, name: object, endings: Sequence[str] = ()) -> Path:
        """The same for a file that is there; of a text that was never saved, it is enough that its draft is."""
        path = self.inside(name, endings)
        if not path.is_file() and not (path.name.lower().endswith(KNOWLEDGE) and draft_of(path).is_file()):
            raise MissingFileError("There is no such file.", path)
        return path

    def name_of(self, path: Path) -> str:
        """How a file is called within the folder."""
        return path.resolve().relative_to(self.root).as_posix()

    def files(self) -> dict[str, list[str]]:
        """What can be opened: knowledge, networks and tables, by name; and texts that were never saved."""
        found: dict[str, list[str]] = {"knowledge": [], "networks": [], "tables": [], "unsaved": []}
        kinds = {"knowledge": KNOWLEDGE, "networks": NETWORKS, "tables": TABLES}
        for path in sorted(self._walk(self.root, DEEPEST)):
            for kind, endings in kinds.items():
                if path.name.lower().endswith(endings) and len(found[kind]) < MOST_LISTED:
                    found[kind].append(self.name_of(path))
            if (text := text_of_draft(path)) is not None and not text.exists():
                found["unsaved"].append(self.name_of(text))
        return found

    def _walk(self, folder: Path, depth: int) -> list[Path]:
        try:
            entries = [entry for entry in folder.iterdir() if not is_hidden(entry) and not entry.is_symlink()]
        except OSError:
            return []
        files = [entry for entry in entries if entry.is_file()]
        below = [entry for entry in entries if entry.is_dir()][:MOST_LISTED] if depth else []
        return [*files, *(path for entry in below for path in self._walk(entry, depth - 1))]

    def store(self, name: object, content: bytes) -> Path:
        """Keep an uploaded file; one of the same name is never replaced."""
        if not isinstance(name, str) or Path(name).name != name or not _is_plain(name):
            raise OptionError("An uploaded file has a plain name that every system can have: rename it first.")
        path = self.inside(name, (*KNOWLEDGE, *NETWORKS, *TABLES))
        if len(content) > MOST_UPLOADED:
            raise OptionError(f"The file is larger than {readable_bytes(MOST_UPLOADED)}.")
        number = 1
        while path.exists():
            number += 1
            stem, dot, ending = name.partition(".")
            path = self.inside(f"{stem}-{number}{dot}{ending}")
        with replacing(path) as draft:
            draft.write_bytes(content)
        return path

    def copy_example(self, name: object) -> list[Path]:
        """The files of an example, copied into a folder of its name, that of its name first; what is there stays."""
        if name not in example_names():
            raise OptionError(f"There is no example “{name}”. Known: {listing(example_names())}.")
        target = self.inside(str(name))
        target.mkdir(exist_ok=True)
        found = []
        for source in sorted(example(str(name)).iterdir(), key=lambda path: (path.stem != name, path.name)):
            if source.name.lower().endswith((*KNOWLEDGE, *NETWORKS, *TABLES)):
                copy = self.inside(f"{name}/{source.name}")
                if not copy.exists():
                    shutil.copyfile(source, copy)
                found.append(copy)
        return found


def _is_plain(name: str) -> bool:
    """Whether a name is visible as it is, and no system takes it for something else than a file."""
    return (
        len(name.encode("utf-8", "replace")) <= LONGEST_NAME
        and not name.startswith(".")
        and not any(letter in FORBIDDEN or category(letter).startswith("C") for letter in name)
        and name.partition(".")[0].strip().lower() not in DEVICES
    )


# Drafts ---------------------------------------------------------------------------------------------------------------


def draft_of(path: Path) -> Path:
    """Where changes of a file are kept until they are saved: a hidden file beside it."""
    return path.with_name(f".{path.name}{DRAFT_ENDING}")


def text_of_draft(draft: Path) -> Path | None:
    """The file whose changes a draft keeps; None for other files."""
    name = draft.name.removeprefix(".").removesuffix(DRAFT_ENDING)
    text = draft.with_name(name)
    return text if name and name.lower().endswith(KNOWLEDGE) and draft_of(text) == draft else None


def is_hidden(path: Path) -> bool:
    """Whether a file or folder is nobody's to open: its name begins with a dot, and it is not a draft."""
    return path.name.startswith(".") and text_of_draft(path) is None


def write_draft(path: Path, text: str, saved: str, known: bytes | None = None) -> bytes:
    """Keep changes of a file, with a mark of what they were made to; atomically. Returns what was written.

    Raises
    ------
    OptionError
        If the draft is another than the one that is `known`: another studio has the file open.
    """
    if (found := draft_content(path)) is not None and found != known:
        raise OptionError(
            f"Another studio has {path.name} open and changed it. Close one of the two; then open the file here again."
        )
    content = json.dumps({"text": text, "made_to": mark_of(saved)}).encode()
    with replacing(draft_of(path)) as draft:
        draft.write_bytes(content)
    return content


def draft_content(path: Path) -> bytes | None:
    """What the draft of a file holds; None where there is none."""
    try:
        return draft_of(path).read_bytes()
    except OSError:
        return None


def read_draft(path: Path, saved: str) -> tuple[str, bool] | None:
    """Changes of a file that were not saved, and whether they were made to what the file holds now."""
    try:
        content: Any = json.loads(draft_content(path) or b"")
    except ValueError:
        return None
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        return None
    return content["text"], content.get("made_to") == mark_of(saved)


def drop_draft(path: Path) -> None:
    """Forget changes that were saved, or that nobody wants."""
    draft_of(path).unlink(missing_ok=True)


def read_plain_text(path: Path) -> str:
    """The text of a knowledge file, with line feeds; empty where there is none yet."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise FileError(str(error.strerror), path) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError("This is not UTF-8 text.", path) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def free_name(path: Path) -> Path:
    """A name for a copy of a file, which no file has yet."""
    number = 2
    while (found := path.with_name(f"{path.name.removesuffix(KNOWLEDGE[0])}-{number}{KNOWLEDGE[0]}")).exists():
        number += 1
    return found


def mark_of(text: str) -> str:
    """What tells the content of a file from every other."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()
