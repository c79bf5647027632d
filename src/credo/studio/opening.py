"""What is open: the text as it is edited, the network, the table; and how files become that."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from credo.errors import CredoError, OptionError
from credo.io.drawn_positions import Points, drawn_positions
from credo.io.files import replacing
from credo.io.network_files import read_network
from credo.io.network_from_table import network_from_table
from credo.knowledge.editing import declarations_of
from credo.model.network import Network
from credo.results.fit_results import Fit
from credo.saving.fits import load
from credo.studio.document import Document
from credo.studio.folder import KNOWLEDGE, Folder, draft_content, draft_of, read_draft, read_plain_text
from credo.studio.reading import Reading, read
from credo.studio.scratch import remove_left_drafts
from credo.studio.support import support
from credo.studio.table import OpenTable
from credo.studio.view_file import View, read_view

NEW_NAME = "knowledge.credo"
FROM_TABLE = "# The columns of {table}. Draw arrows, or write what depends on what: outcome depends on age"
FIRST_STEP = (
    "The text names the {count} columns of the table and their values. Now say what depends on what: draw arrows in "
    "the network, or write lines."
)
IN_THE_TEXT = frozenset(("states", "cut points"))  # findings that repeat what the text shows
NOT_SHOWN = "The numbers in {file} were learned from something else, and are not shown: {changes}"
UNREADABLE = "{file} was written by another version of credo, and is not shown: learn again."
FIT_ENDING = ".studio.fit"


@dataclass(slots=True)
class Opened:
    """The files that are open, and the text as it is being edited."""

    knowledge: Path  # the file that the text is saved in
    saved: str  # what that file holds
    document: Document
    network_file: Path | None = None
    given: Network | None = None
    table: OpenTable | None = None
    notice: str = ""
    was_saved: bool = False  # since it was opened
    draft: bytes | None = None  # what its draft holds, as far as this studio knows
    reading: Reading = field(default_factory=Reading)
    found: dict[str, Any] | None = None  # by the check, with the version of the text
    checked: dict[str, Any] | None = None  # the same without it, as it was sent to the page last
    fit: Fit | None = None
    left_out: tuple[str, ...] = ()  # lines with mistakes, without which it was learned
    previous: Network | None = None  # as it was learned before
    explanation: dict[str, Any] | None = None
    report: Path | None = None
    predictions: Path | None = None
    view: View = field(default_factory=dict)  # what was arranged around the text
    drawn: Points = field(default_factory=dict)  # where another program drew the variables of the network file


def open_files(model: Path | None, table: OpenTable | None, folder: Folder) -> Opened:
    """Open a model and a table; a table alone begins a text with its columns, and nothing an empty one."""
    is_knowledge = model is not None and model.name.lower().endswith(KNOWLEDGE)
    given = None if model is None or is_knowledge else read_network(model)
    beside = model or (None if table is None else table.path)
    if is_knowledge:
        assert model is not None
        knowledge = model
    elif beside is not None:
        knowledge = beside.with_name(_stem(beside) + ".credo")
    else:
        knowledge = _unused_name(folder)
    remove_left_drafts(knowledge.parent)
    saved = read_plain_text(knowledge)
    text, notice = saved, ""
    if model is None and table is not None and not saved.strip():
        made = network_from_table(table.data, parents={})
        text = f"{FROM_TABLE.format(table=table.path.name)}\n{declarations_of(made.network)}\n"
        notice = " ".join(
            [
                FIRST_STEP.format(count=len(made.network.names)),
                *(str(finding) for finding in made.findings if finding.kind not in IN_THE_TEXT),
            ]
        )
    draft = read_draft(knowledge, saved)
    if draft is not None and draft[0] != saved:
        text = draft[0]
        notice = "Changes that were not saved last time are back."
        if not draft[1]:
            notice += f" {knowledge.name} itself changed in the meantime: when you save, you see what differs."
    opened = Opened(
        knowledge,
        saved,
        Document(text),
        network_file=None if is_knowledge else model,
        given=given,
        table=table,
        notice=notice,
        draft=draft_content(knowledge),
        view=read_view(knowledge),
        drawn={} if given is None or model is None else drawn_positions(model, given),
    )
    opened.reading = read(text, given, table)
    _find_fit(opened)
    return opened


def _find_fit(opened: Opened) -> None:
    """Take what was learned before, if it was learned from what is open now; otherwise say why it is not shown."""
    path = fit_file(opened.knowledge)
    if not path.exists():
        return
    try:
        fit = load(path)
    except CredoError:  # another version of credo wrote it
        opened.notice = f"{opened.notice} {UNREADABLE.format(file=path.name)}".strip()
        return
    changes = support(fit, opened.reading, opened.table).changes
    if changes:
        opened.notice = f"{opened.notice} {NOT_SHOWN.format(file=path.name, changes=' '.join(changes))}".strip()
    else:
        opened.fit = fit


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def _unused_name(folder: Folder) -> Path:
    """A name for a new text: neither a file nor a draft has it."""
    for number in range(1, 1_000):
        path = folder.root / (NEW_NAME if number == 1 else NEW_NAME.replace(".", f"-{number}."))
        if not path.exists() and not draft_of(path).exists():
            return path
    raise OptionError("There are a thousand new texts here: save them under other names first.")


def fit_file(knowledge: Path) -> Path:
    """Where the last fit is kept, so that a studio that starts again can answer."""
    return knowledge.with_name(knowledge.name.removesuffix(".credo") + FIT_ENDING)


def keep_fit(source: Path, target: Path) -> None:
    """Put a fit beside its text, completely or not at all."""
    with replacing(target) as draft:
        shutil.copyfile(source, draft)
