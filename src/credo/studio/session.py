"""What one studio has open: a text that tabs share, a network, a table, and what was learned from them."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from credo.drawing.page_picture import picture_data
from credo.errors import CredoError, LossyFormatWarning, OptionError, listing
from credo.interrupts import stop_if_asked
from credo.io.files import write_text
from credo.io.network_files import write_network
from credo.knowledge import Knowledge
from credo.knowledge.editing import declarations_of
from credo.model.network import Network
from credo.options import TableFormat
from credo.results.fit_results import FROM_FILE, Fit, fit_of_network
from credo.saving.fits import load
from credo.shipped import example_about, example_names
from credo.studio import learning
from credo.studio.asking import bars_data, given_of, next_data, questions_data, require_supported, sensitivity_data
from credo.studio.check_process import UNCHANGED, Checker, CheckProcess
from credo.studio.data_view import columns_data, rows_data
from credo.studio.document import Document, replacing_change
from credo.studio.drawn_changes import edited
from credo.studio.folder import (
    KNOWLEDGE,
    NETWORKS,
    TABLES,
    Folder,
    drop_draft,
    free_name,
    mark_of,
    read_plain_text,
    write_draft,
)
from credo.studio.merging import difference, merged
from credo.studio.opened_data import opened_data, reading_data
from credo.studio.opening import Opened, fit_file, keep_fit, open_files
from credo.studio.reading import Reading, read
from credo.studio.result_data import cpt_data
from credo.studio.scored_table import scored_table
from credo.studio.scratch import new_scratch
from credo.studio.support import support
from credo.studio.table import OpenTable, format_from, preview
from credo.studio.view_file import read_view, with_changes, write_view

FEW_STATEMENTS = 200  # that are checked in this process; more take seconds, in which diagnostics would have to wait
MOST_ROWS = 200  # of a table that a page shows
WATCH_SECONDS = 1.0  # between two looks at the files that other programs may write


class Session:
    """One studio: what is open, and who is notified of changes."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.opened: Opened | None = None
        self.id = secrets.token_hex(8)  # a page sees by it that the studio started again
        self._openings = 0
        self.run: learning.Run | None = None
        self.progress: dict[str, Any] = {"event": "idle"}
        self.listeners: set[asyncio.Queue[str]] = set()
        self.scratch = new_scratch()
        self._checking: asyncio.Task[None] | None = None
        self._check_again = False
        self._checker = Checker()
        self._checked: dict[bool, dict[str, Any]] = {}  # what was found last, by whether it was large
        self._check_process = CheckProcess()
        self._following: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._answering = {True: asyncio.Lock(), False: asyncio.Lock()}  # by whether intervals may be missing
        self._watching: asyncio.Task[None] | None = None
        self._drawing: asyncio.Task[None] | None = None

    @property
    def generation(self) -> str:
        """What tells the text that is open from every other one, of studios that ran before as well."""
        return f"{self.id}-{self._openings}"

    # Opening and saving -----------------------------------------------------------------------------------------------

    async def open(self, model: Path | None, table: Path | None, table_format: TableFormat | None = None) -> None:
        """Open a model and a table; a table alone starts a text with its columns."""
        found = None if table is None else OpenTable(table, table_format)
        opened = await asyncio.to_thread(open_files, model, found, self.folder)
        await self._show(opened)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        self._drawing = asyncio.create_task(self._draw_soon(opened))

    async def _show(self, opened: Opened) -> None:
        """Let the tabs show what was opened in place of what was."""
        async with self._lock:
            await self.cancel()
            self.opened = opened
            self._openings += 1
        await self.publish({"event": "opened", "generation": self.generation})
        self.check_soon()

    async def open_named(self, request: Mapping[str, Any]) -> None:
        """Open files of the folder by their names, or an example that ships."""
        if "example" in request:
            files = await asyncio.to_thread(self.folder.copy_example, request["example"])
            models = [path for path in files if path.name.lower().endswith(NETWORKS)]
            texts = [path for path in files if path.name.lower().endswith(KNOWLEDGE)]
            tables = [path for path in files if path.name.lower().endswith(TABLES)]
            await self.open((models or texts or [None])[0], (tables or [None])[0])  # type: ignore[list-item]
            return
        model = request.get("model")
        table = request.get("table")
        own = None if self.opened is None else self.opened.knowledge  # which need not be a file yet
        if own is None or model != self.folder.name_of(own):
            own = None if not model else self.folder.existing(model, (*KNOWLEDGE, *NETWORKS))
        await self.open(
            own,
            None if not table else self.folder.existing(table, TABLES),
            format_from(request.get("format")),
        )

    async def preview(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What a table looks like, before it is opened, and what can be declared about its file."""
        table = OpenTable(self.folder.existing(request.get("table"), TABLES), format_from(request.get("format")))
        return await asyncio.to_thread(preview, table)

    async def save(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Write the text to its file, or to another one; where the file changed meanwhile, say what differs instead.

        `over` is the mark of a content of the file that the user has seen, and decided about; `as` another name.
        """
        opened = self.require_opened()
        if (name := request.get("as")) is not None:
            return await self._save_as(opened, name)
        text = opened.document.text
        found = await asyncio.to_thread(read_plain_text, opened.knowledge)
        changed = found not in (opened.saved, text) and opened.knowledge.exists()
        if changed and request.get("over") != mark_of(found):
            both, places = await asyncio.to_thread(merged, opened.saved, text, found)
            return {
                "conflict": {
                    "file": opened.knowledge.name,
                    "difference": difference(text, found),
                    "theirs": found,
                    "merged": both,
                    "places": places,
                    "mark": mark_of(found),
                    "free": free_name(opened.knowledge).name,
                }
            }
        await asyncio.to_thread(write_text, opened.knowledge, text)
        await self._saved(opened, text)
        return {}

    async def _save_as(self, opened: Opened, name: object) -> dict[str, Any]:
        """Write the text to a file that is not there yet, and go on with that."""
        wanted = f"{name}{'' if str(name).lower().endswith(KNOWLEDGE) else KNOWLEDGE[0]}"
        path = self.folder.inside(wanted, KNOWLEDGE)
        if path.exists():
            raise OptionError(f"There is a file {wanted} already: choose another name.")
        text, before = opened.document.text, opened.knowledge
        await asyncio.to_thread(write_text, path, text)
        await asyncio.to_thread(drop_draft, before)
        opened.knowledge, opened.draft = path, None
        if opened.view:
            await asyncio.to_thread(write_view, path, opened.view)
        if opened.fit is not None and fit_file(before).exists():
            await asyncio.to_thread(keep_fit, fit_file(before), fit_file(path))
        await self._saved(opened, text)
        self._openings += 1
        await self.publish({"event": "opened", "generation": self.generation})
        return {"name": self.folder.name_of(path)}

    async def _saved(self, opened: Opened, text: str) -> None:
        opened.saved, opened.notice, opened.was_saved = text, "", True
        if opened.document.text == text:
            await asyncio.to_thread(drop_draft, opened.knowledge)
            opened.draft = None
        await self.publish({"event": "saved"})

    async def _draw_soon(self, opened: Opened) -> None:
        """Lay a network out while the browser starts: that of a large one takes most of a second."""
        if (network := opened.reading.network) is not None:
            await asyncio.to_thread(picture_data, network, opened.reading.labels)

    async def _watch(self) -> None:
        """Notice when another program writes to the table, the network file or the text that is open."""
        watched, marks, followed = self.opened, _marks(self.opened), None
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            opened, now = self.opened, _marks(self.opened)
            before, watched, marks = marks if opened is watched else now, opened, now
            if opened is None:
                continue
            with suppress(CredoError, OSError):  # half-written: its next change is noticed as well
                if before[2] == now[2] != followed:  # nobody writes any more
                    followed = now[2]
                    await self._follow_text(opened)
                if before[:2] == now[:2]:
                    continue
                if before[0] != now[0]:
                    table = opened.table
                    await self.open(
                        opened.network_file,
                        None if table is None else table.path,
                        None if table is None else table.format,
                    )
                else:
                    await self._read_again(opened)

    async def _follow_text(self, opened: Opened) -> None:
        """Take in what another program wrote to the text's file; where there are changes that are not saved, say so."""
        if not await asyncio.to_thread(opened.knowledge.exists):
            return
        found, text = await asyncio.to_thread(read_plain_text, opened.knowledge), opened.document.text
        if found in (opened.saved, text):
            return
        if text != opened.saved:
            name = opened.knowledge.name
            message = f"Another program wrote to {name} as well. Save shows what differs, and merges both."
            await self.publish({"event": "written", "message": message})
            return
        opened.saved = found
        await self.change(opened.document.version, [{"clientID": "file", "changes": replacing_change(text, found)}])
        await self._saved(opened, found)

    async def _read_again(self, opened: Opened) -> None:
        """Read the text with the table as it is now, and tell every tab."""
        version = opened.document.version
        reading = await asyncio.to_thread(read, opened.document.text, opened.given, opened.table)
        if version == opened.document.version:
            opened.reading = reading
            await self.publish({"event": "read", "tab": "", "table": True})
            self.check_soon()

    def require_opened(self) -> Opened:
        """What is open, or an error."""
        if self.opened is None:
            raise OptionError("Open a model, a table or an example first.")
        return self.opened

    # The text ---------------------------------------------------------------------------------------------------------

    async def change(self, version: int, updates: list[Any], tab: str = "") -> dict[str, Any]:
        """Make changes to the text, keep them as a draft, and say what the text means now.

        It is read while it is written, and large knowledge is checked while it is read: neither waits for the disk.
        """
        opened = self.require_opened()
        async with self._lock:
            fresh = opened.document.not_yet_made(version, updates)
            if updates and not fresh:  # all of them came before
                return {"version": opened.document.version, **reading_data(opened, opened.reading)}
            version, updates = version + len(updates) - len(fresh), list(fresh)
            text = opened.document.changed(version, updates)
            reading = asyncio.create_task(asyncio.to_thread(read, text, opened.given, opened.table))
            try:
                opened.draft = await asyncio.to_thread(write_draft, opened.knowledge, text, opened.saved, opened.draft)
            except CredoError:
                await reading
                raise
            opened.document.change(version, updates)
            version = opened.document.version
            if _is_large(opened.reading):
                self.check_soon()
            await self.publish({"event": "text", "version": version, "generation": self.generation})
        return await self._taken(opened, version, await reading, tab)

    async def _taken(self, opened: Opened, version: int, reading: Reading, tab: str) -> dict[str, Any]:
        """What a text was found to mean, of which other tabs hear; the check follows in the background."""
        if version == opened.document.version:
            was_large, opened.reading = _is_large(opened.reading), reading
            if not was_large or not _is_large(reading):
                self.check_soon()
            await self.publish({"event": "read", "tab": tab})
        return {"version": version, **reading_data(opened, reading)}

    def check_soon(self) -> None:
        """Check the knowledge in the background; where a check is under way, the newest text follows it."""
        self._check_again = True
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check())

    async def _check(self) -> None:
        while self._check_again:
            self._check_again = False
            opened = self.opened
            if opened is None:
                continue
            if opened.reading.knowledge is None:  # signs of before would stand beside other lines
                if opened.found is not None:
                    opened.found = opened.checked = None
                    await self.publish({"event": "checked", "check": None})
                continue
            knowledge, text, version = opened.reading.knowledge, opened.document.text, opened.document.version
            is_large = _is_large(opened.reading)
            if is_large:
                data = await self._check_process.check(text, opened.network_file, opened.table)
            else:
                data = await asyncio.to_thread(self._checker.check, knowledge, opened.table)
            if data == UNCHANGED:
                data = self._checked[is_large]
            self._checked[is_large] = data
            if self.opened is opened and version == opened.document.version:
                is_known = opened.checked is data
                opened.checked, opened.found = data, {"version": version, **data}
                if not is_known:
                    await self.publish({"event": "checked", "check": opened.found})

    # Learning ---------------------------------------------------------------------------------------------------------

    async def learn(self, given: Any) -> None:
        """Start to learn."""
        opened = self.require_opened()
        options = learning.options_from(given)
        reading = opened.reading
        if reading.message or (not reading.text.strip() and reading.mistakes):
            raise OptionError(reading.message or "Correct the mistakes in the knowledge first.")
        await self._start(
            opened,
            {
                "text": reading.text,
                "left_out": _left_out(opened.document.text, reading),
                "network": None if opened.network_file is None else str(opened.network_file),
                "data": None if opened.table is None else opened.table.job(),
                "options": asdict(options),
            },
        )

    async def explain(self) -> None:
        """Explain what was learned in a session before, and write its report."""
        opened = self.require_opened()
        await self._start(opened, {}, self.require_fit())

    async def _start(self, opened: Opened, job: dict[str, Any], fit: Fit | None = None) -> None:
        """Start a run, to learn or to explain a fit; one at a time."""
        async with self._lock:
            if self.run is not None and not self.run.ended:
                raise OptionError("Learning is under way already: wait, or cancel it.")
            if self._following is not None:
                await asyncio.wait([self._following])
            folder = Path(tempfile.mkdtemp(dir=self.scratch))
            if fit is not None:  # as it is shown here: another studio may have written the file beside the text anew
                job = {"fit": str(await asyncio.to_thread(fit.save, folder / "shown.fit"))}
            self.run = await learning.start({**job, "folder": str(folder)})
            self._following = asyncio.create_task(self._follow(self.run, opened, job, folder))
        await self._progress({"event": "started"})

    async def _follow(self, run: learning.Run, opened: Opened, job: Mapping[str, Any], folder: Path) -> None:
        async def receive(event: dict[str, Any]) -> None:
            if event["event"] == "fitted":
                fit = await asyncio.to_thread(load, folder / "learned.fit")
                opened.previous = None if opened.fit is None else opened.fit.network
                opened.fit, opened.explanation, opened.report = fit, None, None
                opened.left_out = tuple(job["left_out"])
                await asyncio.to_thread(keep_fit, folder / "learned.fit", fit_file(opened.knowledge))
            elif event["event"] == "explained":
                opened.explanation = json.loads((folder / "explanation.json").read_bytes())
            elif event["event"] == "done":
                opened.report = folder / "report.html"
            await self._progress(event)

        try:
            await learning.follow(run, receive)
        except CredoError as error:
            await self._progress({"event": "error", "message": str(error)})
        finally:
            learning.end(run)
            if self.run is run:
                self.run = None

    async def _progress(self, event: dict[str, Any]) -> None:
        self.progress = event
        await self.publish({"event": "learning", "progress": event})

    async def cancel(self) -> None:
        """End the run of learning, if there is one."""
        if self.run is not None:
            learning.end(self.run)
            if self._following is not None:
                await asyncio.shield(self._following)

    # Asking -----------------------------------------------------------------------------------------------------------

    async def marginals(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The bars of all variables under evidence, of the fit or of a network that has its CPTs.

        One at a time: a page gives up what it asked before when it asks again.
        """
        opened = self.require_opened()
        async with self._answering[request.get("quick") is True]:
            stop_if_asked()
            return await asyncio.to_thread(bars_data, opened, request)

    def require_fit(self) -> Fit:
        """What was learned, or an error."""
        fit = self.require_opened().fit
        if fit is None:
            raise OptionError("Learn first: there is nothing to ask yet.")
        return fit

    def require_numbers(self, names: Collection[str] | None = None) -> Fit:
        """What was learned, where it still is that of the text; or a network with its numbers, as if it had been.

        Without `names`, all variables have to be as they were learned.
        """
        opened = self.require_opened()
        if opened.fit is None and opened.given is not None and opened.given.is_complete:
            return fit_of_network(opened.given, opened.reading.knowledge)
        fit = self.require_fit()
        own = fit.network.names
        require_supported(opened, fit, own if names is None else [each for each in names if each in own])
        return fit

    def _knowledge(self, fit: Fit) -> Knowledge:
        """What the present text says; what a fit was learned with, where it cannot be read."""
        present = self.require_opened().reading.knowledge
        return fit.knowledge if present is None else present

    async def cpt(self, name: str) -> dict[str, Any]:
        """The numbers of one CPT, whatever else is known of them."""
        fit = self.require_numbers([name])
        return {"rows": await asyncio.to_thread(cpt_data, fit, name)}

    async def explain_case(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The states that are most probable together, given a case."""
        evidence, do, soft = given_of(request)
        fit = self.require_numbers()
        frame = await asyncio.to_thread(fit.most_probable, evidence, interventions=do, soft=soft)
        return {"states": frame.to_dicts()}

    async def sensitivity(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Which numbers and which evidence the probability of a state depends on most."""
        fit = self.require_numbers(
            [str(request.get("variable")), *(name for each in given_of(request) for name in each)]
        )
        labels = self.require_opened().reading.labels
        return await asyncio.to_thread(sensitivity_data, fit, labels, request)

    async def next_steps(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Which observation would tell most in a case, and what to do."""
        fit = self.require_numbers()
        return await asyncio.to_thread(next_data, fit, self._knowledge(fit), request)

    async def questions(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What an expert should be asked about the probability of a state."""
        fit = self.require_fit()
        require_supported(self.require_opened(), fit, fit.network.names)
        return await asyncio.to_thread(questions_data, fit, request)

    async def predict(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Predict some variables for every row of the table; all rows are in a file to download."""
        targets = request.get("targets")
        if not isinstance(targets, list) or not all(isinstance(each, str) for each in targets) or not targets:
            raise OptionError("Choose what to predict.")
        opened, fit = self.require_opened(), self.require_numbers()
        table = self.require_table()
        scored = await asyncio.to_thread(scored_table, fit, table, targets)
        path = self.scratch / "predictions.csv"
        await asyncio.to_thread(scored.write, path)
        opened.predictions = path
        return await asyncio.to_thread(scored.first_rows, MOST_ROWS, request.get("by"))

    def require_table(self) -> OpenTable:
        """The table that is open, or an error."""
        table = self.require_opened().table
        if table is None:
            raise OptionError("There is no table: open one first.")
        return table

    async def columns(self) -> dict[str, Any]:
        """What each column of the table holds."""
        return await asyncio.to_thread(columns_data, self.require_table())

    async def rows(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Some rows of the table."""
        return await asyncio.to_thread(rows_data, self.require_table(), request)

    async def write_learned(self, name: Any) -> Path:
        """What was learned as a network file of one of the known kinds, to download."""
        if not isinstance(name, str) or name not in NETWORKS:
            raise OptionError(f"A network file ends in {listing(NETWORKS)}.")
        path = self.scratch / f"learned{name}"
        if lost := await asyncio.to_thread(_write_noting_losses, self.require_numbers([]).network, path):
            await self.publish({"event": "lost", "message": lost})
        return path

    async def share(self) -> Path:
        """One page that answers for what was learned, to send to somebody; refused where it is not current."""
        opened, fit = self.require_opened(), self.require_numbers([])
        if fit.method != FROM_FILE and (changes := support(fit, opened.reading, opened.table).changes):
            raise OptionError(f"Learn again first: {' '.join(changes)}")
        path = self.scratch / "share.html"
        # Labels and utilities are those of the present text; they need no learning.
        present = replace(fit, knowledge=self._knowledge(fit))
        await asyncio.to_thread(present.share, path, progress=False)
        return path

    # Drawing ----------------------------------------------------------------------------------------------------------

    async def edit(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The text with a change of its declarations or another statement; the tab makes it its own change."""
        opened = self.require_opened()
        columns = () if opened.table is None else await asyncio.to_thread(opened.table.names)
        text = await asyncio.to_thread(
            edited, opened.document.text, opened.reading.network, opened.given, request, columns
        )
        return {"text": text, "version": opened.document.version}

    async def declare(self) -> None:
        """Write the variables of a network file into the text, so that they can be drawn."""
        opened = self.require_opened()
        if opened.given is None:
            raise OptionError("The variables are in the text already.")
        text = declarations_of(opened.given) + "\n\n" + opened.document.text
        fresh = replace(
            opened,
            document=Document(text),
            network_file=None,
            given=None,
            found=None,
            checked=None,
            notice="",
            fit=None,
        )
        fresh.reading = await asyncio.to_thread(read, text, None, opened.table)
        fresh.draft = await asyncio.to_thread(write_draft, opened.knowledge, text, opened.saved, opened.draft)
        await self._show(fresh)

    async def arrange(self, request: Mapping[str, Any]) -> None:
        """Keep where boxes stand, which groups are folded, or named cases; what other tabs and studios kept stays."""
        opened, tab = self.require_opened(), str(request.get("tab", ""))[:100]
        changes = {key: own for key, own in request.items() if key != "tab"}
        async with self._lock:
            kept = await asyncio.to_thread(read_view, opened.knowledge)
            opened.view = with_changes(kept, changes)
            await asyncio.to_thread(write_view, opened.knowledge, opened.view)
        await self.publish({"event": "arranged", "tab": tab, "changes": changes})

    async def picture(self, request: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Where boxes and arrows stand, of the network that the text means now, or of a part of it.

        `folded` names groups that are one box, `shown` the variables that are drawn.
        """
        reading = self.require_opened().reading
        if reading.network is None:
            raise OptionError("There are no variables yet.")
        folded, shown = ((request or {}).get(key) for key in ("folded", "shown"))
        for names in (folded, shown):
            if names is not None and not (isinstance(names, list) and all(isinstance(each, str) for each in names)):
                raise OptionError("What is folded and what is shown are lists of names.")
        return await asyncio.to_thread(
            picture_data, reading.network, reading.labels, tuple(folded or ()), None if shown is None else tuple(shown)
        )

    # Events -----------------------------------------------------------------------------------------------------------

    async def publish(self, event: dict[str, Any]) -> None:
        """Send an event to every tab."""
        line = json.dumps(event, allow_nan=False)
        for queue in self.listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(line)

    def leave(self) -> str:
        """End what runs at once, when this process is about to end; what becomes of the text, in words."""
        if self.run is not None:
            learning.end(self.run)
        shutil.rmtree(self.scratch, ignore_errors=True)
        opened = self.opened
        if opened is None:
            return "The studio has ended."
        if opened.document.text != opened.saved:
            return (
                f"The studio has ended. Changes of {opened.knowledge.name} that were not saved are kept, and are back "
                "when it is opened again."
            )
        return f"The studio has ended; {opened.knowledge.name} is {'saved' if opened.was_saved else 'as it was'}."

    async def close(self) -> None:
        """End what runs, and remove what nobody needs any more."""
        await self.cancel()
        for task in filter(None, (self._checking, self._watching, self._drawing)):
            task.cancel()
            await asyncio.wait([task])
        await self._check_process.end()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def state(self) -> dict[str, Any]:
        """Everything that a page needs when it opens."""
        state: dict[str, Any] = {
            "session": self.id,
            "generation": self.generation,
            "folder": str(self.folder.root),
            "files": self.folder.files(),
            "examples": [{"name": name, "about": example_about(name)} for name in example_names()],
            "methods": learning.methods_data(),
            "progress": self.progress,
            "opened": None,
        }
        if self.opened is not None:
            state["opened"] = opened_data(self.opened, self.folder)
        return state


def _write_noting_losses(network: Network, path: Path) -> str:
    """Write a network file; what its format cannot hold, in words."""
    with warnings.catch_warnings(record=True) as lost:
        warnings.simplefilter("always", LossyFormatWarning)
        write_network(network, path)
    return "\n".join(str(each.message).replace(str(path), path.name) for each in lost)


def _marks(opened: Opened | None) -> tuple[object, object, object]:
    """What changes when the network file does that is open, when the table does, and when the text's file does."""
    if opened is None:
        return None, None, None
    network, table = opened.network_file, opened.table
    return network and OpenTable(network).mark, table and table.mark, OpenTable(opened.knowledge).mark


def _left_out(text: str, reading: Reading) -> list[str]:
    """The lines that have a mistake, without which something is learned, in words."""
    lines = text.split("\n")
    numbers = sorted({each.line for each in reading.mistakes if 0 < each.line <= len(lines)})
    return [f"line {number}, “{lines[number - 1].strip()}”" for number in numbers]


def _is_large(reading: Reading) -> bool:
    """Whether knowledge is checked in a process of its own."""
    return reading.knowledge is not None and len(reading.knowledge) > FEW_STATEMENTS
