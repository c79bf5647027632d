"""CSV files straight to state numbers, chunk by chunk: a file larger than memory passes through.

A library's reader makes a string of each cell, pads a short row in silence, and renames a column that stands twice.
Here a cell is compared with the states of its variable in place, and what does not fit is an error with its row.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import cpu_count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from credo.core.csv import (
    IGNORE,
    NEAR,
    NEARLY,
    OTHER,
    PADDING,
    QUOTE,
    RAGGED,
    STATE,
    TEXT,
    TRAILING,
    KnownTexts,
    read_decimals,
    scan,
)
from credo.errors import DataError, UnknownStateError, counted, readable_bytes
from credo.io.columns import (
    MISSING,
    MISSING_TEXTS,
    NO_COLUMNS,
    SAVE_OR_DECLARE,
    Columns,
    Lexicon,
    match_columns,
    no_rows,
    require_distinct,
    unknown_states,
)
from credo.io.csv_records import Bytes, field_text, is_quoted, read_header, split_record
from credo.io.dataset import Dataset, code_type
from credo.io.dialects import USUAL, as_utf8, with_points
from credo.io.files import BROKEN_GZIP
from credo.io.forks import has_queries
from credo.io.frames import encode
from credo.io.number_columns import NumbersSeen, merged, numbers_seen, read_cells
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from credo.options import TableFormat
from credo.threads import map_in_threads
from credo.types import Codes, Indices, Numbers

if TYPE_CHECKING:
    import polars as pl


CHUNK_BYTES = 16 * 2**20
READ_AGAIN_BYTES = 2**26  # of a file with a cell that is no state
LONGEST_SHOWN = 100_000  # bytes of a wrong record that its message is made of
LONGEST_RECORD = 16 * 2**20  # bytes; in a longer one, a quote is not closed
UNKNOWN_AT_ONCE = 256  # texts that one scan may leave open before it is repeated
SMALL_PIECE = 2**16  # bytes that are not worth a thread of their own
SEARCHED_BYTES = 2**18  # at a time

Progress = Callable[[float], None]


def stream_csv(
    path: Path,
    network: Network,
    others: Sequence[str] = (),
    progress: Progress | None = None,
    table_format: TableFormat = USUAL,
) -> Iterator[Dataset]:
    """The rows of a CSV file as datasets, chunk by chunk; `progress` receives the share of the file that was read."""

    def match(header: Sequence[str]) -> Columns:
        require_distinct(header, path)
        return match_columns(header, network, others)

    try:
        if table_format.decimal == ".":
            yield from _stream(path, network.variables, match, progress, table_format)
        else:
            yield from _stream_with_points(path, network, match, progress, table_format)
    except UnknownStateError as error:
        raise _all_wrong_cells(path, network, table_format) or error from None


def _all_wrong_cells(path: Path, network: Network, table_format: TableFormat) -> UnknownStateError | None:
    """The error about all cells of a file that are no states; None where it is too large to be read again for that."""
    if path.stat().st_size > READ_AGAIN_BYTES or not has_queries():
        return None
    try:
        texts = read_csv_texts(path, lambda header: match_columns(header, network).variables, table_format)
        encode(texts, match_columns(texts.columns, network), network)
    except UnknownStateError as error:
        return error
    except DataError:  # such as a cell that is not UTF-8, which was said already
        return None
    return None


def read_csv_texts(
    path: Path, choose: Callable[[Sequence[str]], Sequence[str]] | None = None, table_format: TableFormat = USUAL
) -> pl.DataFrame:
    """The columns of a CSV file, or those that `choose` takes out of the header, as texts; missing values are null."""
    import polars as pl

    def chosen(header: Sequence[str]) -> Columns:
        require_distinct(header, path)
        return Columns((), (), tuple(header if choose is None else choose(header)), ())

    parts = [pl.DataFrame(part.others) for part in _stream(path, (), chosen, None, table_format)]
    if not parts:
        raise no_rows(path)
    frame = pl.concat(parts)
    if table_format.decimal == ".":
        return frame
    return pl.DataFrame({column.name: with_points(column.name, column.to_list(), ()) for column in frame})


def _stream_with_points(
    path: Path,
    network: Network,
    match: Callable[[Sequence[str]], Columns],
    progress: Progress | None,
    table_format: TableFormat,
) -> Iterator[Dataset]:
    """The same where numbers have decimal commas: all cells become texts first, and then state numbers."""
    import polars as pl

    columns, rows = NO_COLUMNS, 0

    def as_texts(header: Sequence[str]) -> Columns:
        nonlocal columns
        columns = match(header)
        return Columns((), columns.hidden, columns.used, columns.ignored)

    for part in _stream(path, network.variables, as_texts, progress, table_format):
        texts = {}
        for name, column in part.others.items():
            values = with_points(name, column.to_list(), network.states(name) if name in network else (), rows)
            texts[name] = pl.Series(name, values, dtype=pl.String)
        yield encode(pl.DataFrame(texts), columns, network, rows)
        rows += len(part)


def _stream(
    path: Path,
    variables: tuple[Variable, ...],
    match: Callable[[Sequence[str]], Columns],
    progress: Progress | None,
    table_format: TableFormat,
) -> Iterator[Dataset]:
    try:
        with path.open("rb") as raw, as_utf8(_unpacked(raw, path), table_format.encoding, path) as file:
            names = {variable.name for variable in variables}
            header, separator = read_header(file, path, names, table_format)
            table = _CsvTable(str(path), variables, match(header), header, separator)
            size = max(1, path.stat().st_size)
            yield from _datasets(table, file, lambda: progress and progress(raw.tell() / size))
    except BROKEN_GZIP as error:
        what = "is cut off" if isinstance(error, EOFError) else "is not a gzip file, though its name says so"
        raise DataError(f"{path} {what}: {error}.".replace("..", ".")) from None


def _datasets(table: _CsvTable, file: BinaryIO, notify: Callable[[], object]) -> Iterator[Dataset]:
    rest, rows, at_end = b"", 0, False
    buffer = np.empty(0, dtype=np.uint8)
    while not at_end:
        buffer, filled = _fill(buffer, file, rest)
        at_end = filled == len(rest)
        if at_end and rest and not rest.endswith(b"\n"):
            buffer[filled], filled = ord("\n"), filled + 1  # the last line of a file need not be ended
        if (null := _find(buffer[:filled], 0)) is not None:
            row = rows + 1 + int((buffer[:null] == ord("\n")).sum())
            raise DataError(f"{table.path}, about row {row}: a null character, which no text has. Is the file damaged?")
        dataset, consumed = table.read(buffer, filled, rows)
        if consumed < filled and (at_end or (consumed == 0 and filled > LONGEST_RECORD)):
            raise table.ragged(buffer[consumed:filled], rows + len(dataset))
        notify()
        if len(dataset):
            rows += len(dataset)
            yield dataset
        rest = buffer[consumed:filled].tobytes()


def _unpacked(file: BinaryIO, path: Path) -> BinaryIO:
    """The file itself, or what is packed in it."""
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if path.suffix.lower() == ".gz" else file


def _fill(buffer: Bytes, file: BinaryIO, rest: bytes) -> tuple[Bytes, int]:
    """A buffer that starts with what the last one left over, how many bytes of it count, and room behind them.

    It is the last one again, or a longer one where that is too short: fresh memory costs more than reading does.
    """
    room = len(rest) + CHUNK_BYTES + PADDING
    if len(buffer) < room:
        buffer = np.empty(room + SMALL_PIECE, dtype=np.uint8)
    buffer[: len(rest)] = np.frombuffer(rest, dtype=np.uint8)
    filled = len(rest)
    # An archive gives a few kilobytes at a time; a buffer with little that is new would be scanned again and again.
    while count := cast(Any, file).readinto(buffer.data[filled : room - PADDING]):
        filled += count
    buffer[filled : filled + PADDING] = 0
    return buffer, filled


@dataclass(slots=True)
class _CsvTable:
    """One file, and what was learned about its texts so far: that `1.0` means `1`, say."""

    path: str
    variables: tuple[Variable, ...]
    columns: Columns
    header: list[str]
    separator: str
    cut: dict[int, int] = field(init=False)  # fields of variables with cut points → their place among the spans
    roles: NDArray[np.int64] = field(init=False)  # (fields,)
    targets: NDArray[np.int64] = field(init=False)  # (fields,)
    lexicons: dict[int, Lexicon] = field(init=False)  # by field
    known: dict[int, dict[bytes, int]] = field(init=False)  # by field: text as it stands in the file → code
    lookup: KnownTexts | None = field(init=False, default=None)  # the same for the compiled loop
    record_bytes: float = field(init=False)  # how long a record is, about
    learning: Lock = field(init=False, default_factory=Lock)  # threads share what they learn

    def __post_init__(self) -> None:
        position = {variable.name: i for i, variable in enumerate(self.variables)}
        self.roles = np.full(len(self.header), IGNORE)
        self.targets = np.zeros(len(self.header), dtype=np.int64)
        self.cut, self.lexicons, self.known = {}, {}, {}
        for at, name in enumerate(self.header):
            if name in self.columns.others:
                self.roles[at], self.targets[at] = TEXT, self.columns.others.index(name)
            elif name in position:
                self.lexicons[at] = Lexicon.of(self.variables[position[name]])
                if self.variables[position[name]].cuts is not None:
                    self.cut[at] = len(self.columns.others) + len(self.cut)
                    self.roles[at], self.targets[at] = TEXT, self.cut[at]
                    continue
                self.roles[at], self.targets[at] = STATE, position[name]
                states = self.lexicons[at].by_text
                missing = {text.encode(): MISSING for text in sorted(MISSING_TEXTS) if text not in states}
                # With quotes in it, a text means one thing in quotes and another without: `_learn` looks.
                plain = {state.encode(): code for state, code in states.items() if '"' not in state}
                self.known[at] = plain | missing
        self.record_bytes = 3.0 * len(self.header)

    def read(self, buffer: Bytes, filled: int, rows_before: int) -> tuple[Dataset, int]:
        """The whole records of a buffer, and how many bytes they took."""
        pieces = _pieces(buffer[:filled])
        parts: list[_Part] = []
        for found in map_in_threads(lambda piece: self._read_piece(buffer, *piece), pieces):
            rows = rows_before + sum(len(part.codes) for part in parts)
            parts += found
            if found[-1].unknown_texts:
                rows += sum(len(part.codes) for part in found[:-1])
                raise unknown_states(
                    [(variable, text, rows + row + 1) for variable, text, row in found[-1].unknown_texts]
                )
            if found[-1].ending in (RAGGED, TRAILING):
                raise self.ragged(buffer[found[-1].stop : filled], rows + sum(len(part.codes) for part in found))
        codes = parts[0].codes if len(parts) == 1 else np.concatenate([part.codes for part in parts])
        consumed = parts[-1].stop
        self.record_bytes = max(len(self.header), consumed / max(1, len(codes)))
        others = self._texts(buffer, np.concatenate([part.spans for part in parts]), rows_before)
        names, columns = tuple(variable.name for variable in self.variables), self.columns
        numbers = merged([part.numbers for part in parts])
        return Dataset(names, codes, None, columns.hidden, others, columns.ignored, self.variables, numbers), consumed

    def ragged(self, rest: Bytes, rows_before: int) -> DataError:
        """The error for a record that does not have as many fields as the header, or has its quotes wrong."""
        where = f"{self.path}, row {rows_before + 1}"
        start = rest[:LONGEST_SHOWN].tobytes().decode("utf-8", "replace")
        record = split_record(start.split("\n")[0].rstrip("\r"), self.separator)
        if record.is_open:  # a field in quotes may hold line ends
            record = split_record(start.rstrip("\r\n"), self.separator)
        shown = start.split("\n")[0].rstrip("\r")[:80]
        if record.trailing is not None:
            return DataError(
                f"{where}: text follows a closing double quote: {record.trailing[:80]}\n"
                "Write a double quote within a value twice."
            )
        if record.is_open:
            return DataError(f"{where}: a double quote is opened and not closed: {shown}")
        if len(rest) > LONGEST_RECORD:
            return DataError(f"{where}: longer than {readable_bytes(LONGEST_RECORD)}. Is this a CSV file? {shown}")
        if not self.header[-1] and len(record.fields) == len(self.header) - 1:
            advice = "The header ends with a separator: remove it."
        elif len(record.fields) == len(self.header) + 1 and self.separator == " ":
            advice = "If rows begin with their names, as R writes them, begin the header with a name for these."
        else:
            advice = "A value that holds the separator itself must be in double quotes."
        return DataError(
            f"{where}: {counted(len(record.fields), 'field')}, but the header has {len(self.header):,}. "
            f"{advice}\n{shown}"
        )

    def _read_piece(self, buffer: Bytes, start: int, stop: int) -> list[_Part]:
        """Read records until the piece ends, in as many parts as the output's estimated size makes necessary."""
        parts: list[_Part] = []
        while True:
            part = self._read_part(buffer, start, stop)
            parts.append(part)
            if part.unknown_texts or part.ending in (RAGGED, TRAILING) or part.stop == start or part.stop >= stop:
                return parts
            start = part.stop

    def _read_part(self, buffer: Bytes, start: int, stop: int) -> _Part:
        rows = int(1.05 * (stop - start) / self.record_bytes) + 16
        codes = np.full((rows, len(self.variables)), MISSING, dtype=code_type(self.variables))
        spans = np.zeros((rows, len(self.columns.others) + len(self.cut), 2), dtype=np.int64)
        unknown = np.zeros((UNKNOWN_AT_ONCE, 4), dtype=np.int64)
        fixed = buffer, start, stop, ord(self.separator), self.roles, self.targets
        while True:
            done, end, misses, ending = scan(*fixed, self._known_texts(), codes, spans, unknown)
            with self.learning:
                unknown_texts = self._learn(buffer, unknown[:misses])
            if misses == 0 or unknown_texts:
                numbers = self._cut_fields(buffer, codes[:done], spans[:done], unknown_texts)
                return _Part(codes[:done], spans[:done], end, ending, unknown_texts, numbers)

    def _cut_fields(
        self, buffer: Bytes, codes: Codes, spans: NDArray[np.int64], unknown_texts: list[UnknownText]
    ) -> dict[str, NumbersSeen]:
        """Fill in the codes of the variables with cut points, and return what was seen of their numbers."""
        seen: dict[str, NumbersSeen] = {}
        for at, place in self.cut.items():
            lexicon, fields = self.lexicons[at], spans[:, place]
            cuts = lexicon.variable.cuts
            assert cuts is not None
            own, numbers, wrong = _read_decimals(buffer, fields, lexicon, cuts)
            for row in wrong:
                start, end = fields[row].tolist()
                unknown_texts.append((lexicon.variable, _field_text(buffer, start, end), row))
            codes[:, self.variables.index(lexicon.variable)] = own
            if (found := numbers_seen(cuts, numbers)) is not None:
                seen[lexicon.variable.name] = found
        return seen

    def _learn(self, buffer: Bytes, unknown: NDArray[np.int64]) -> list[UnknownText]:
        """Look up texts that are not known yet; what is not a state is returned, with its row in the part."""
        unknown_texts: dict[tuple[str, str], UnknownText] = {}
        for at, start, end, row in unknown.tolist():
            raw = buffer[start:end].tobytes()
            text, lexicon = field_text(raw, is_quoted(buffer, start)), self.lexicons[at]
            code = lexicon.code(text)
            if code is None:
                unknown_texts.setdefault((lexicon.variable.name, text), (lexicon.variable, text, row))
            else:
                self.known[at][raw] = code
        if len(unknown):
            self.lookup = None
        return list(unknown_texts.values())

    def _known_texts(self) -> KnownTexts:
        with self.learning:
            if self.lookup is None:
                self.lookup = KnownTexts(len(self.header), self.known)
            return self.lookup

    def _texts(self, buffer: Bytes, spans: NDArray[np.int64], rows_before: int) -> dict[str, pl.Series]:
        """The fields that are kept as text."""
        if not self.columns.others:
            return {}
        import polars as pl

        raw = buffer[: spans.max(initial=0)].tobytes()  # the buffer of a small file is almost empty
        plain = raw.decode("ascii") if raw.isascii() else None  # the same places in both
        columns = {}
        states = {variable.name: variable.states for variable in self.variables}
        for i, name in enumerate(self.columns.others):
            missing = MISSING_TEXTS - set(states.get(name, ()))
            quoted = buffer[np.maximum(spans[:, i, 0] - 1, 0)] == QUOTE
            if plain is not None and not quoted.any():
                cells = [plain[start:end] for start, end in _pairs(spans[:, i])]
                found = [None if cell in missing else cell for cell in cells]
                columns[name] = pl.Series(name, found, dtype=pl.String)
                continue
            # Most texts of a column are repeated: each is decoded once.
            fields = [raw[start:end] for start, end in _pairs(spans[:, i])]
            texts: dict[tuple[bytes, bool], str | None] = {}
            keys = list(zip(fields, quoted.tolist(), strict=True))
            for key in dict.fromkeys(keys):
                try:
                    text = field_text(*key, errors="strict")
                except UnicodeDecodeError:
                    row = rows_before + keys.index(key) + 1
                    raise DataError(
                        f"{self.path}, row {row}: the value of {name} is not UTF-8: {SAVE_OR_DECLARE}"
                    ) from None
                texts[key] = None if text in missing else text
            columns[name] = pl.Series(name, [texts[key] for key in keys], dtype=pl.String)
        return columns


UnknownText = tuple[Variable, object, int]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one scan read, where it stopped and why; the spans point into the buffer."""

    codes: Codes
    spans: NDArray[np.int64]
    stop: int
    ending: int
    unknown_texts: Sequence[UnknownText]
    numbers: Mapping[str, NumbersSeen]


def _field_text(buffer: Bytes, start: int, end: int) -> str:
    raw = bytes(buffer.data[start:end])
    return field_text(raw, b'"' in raw and is_quoted(buffer, start))


def _pairs(spans: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Starts and ends; without a list for each, which the garbage collector would visit."""
    return zip(spans[:, 0].tolist(), spans[:, 1].tolist(), strict=True)


def _read_fields(buffer: Bytes, fields: NDArray[np.int64], lexicon: Lexicon) -> tuple[Indices, Numbers, list[int]]:
    """Codes and numbers of a field in every record, NaN where it is none; and the first row of each unknown text.

    Each distinct text is read once, and forgotten with these records: a column may hold millions.
    """
    first_rows, which = dict[str, int](), list[str]()
    for row, (start, end) in enumerate(_pairs(fields)):
        text = _field_text(buffer, start, end)
        which.append(text)
        first_rows.setdefault(text, row)
    places = {text: place for place, text in enumerate(first_rows)}
    codes, numbers, wrong = read_cells(list(first_rows), lexicon)
    rows = list(first_rows.values())
    chosen = np.array([places[text] for text in which], dtype=np.int64)
    return codes[chosen], numbers[chosen], [rows[place] for place in wrong]


def _read_decimals(
    buffer: Bytes, fields: NDArray[np.int64], lexicon: Lexicon, cuts: CutPoints
) -> tuple[Indices, Numbers, list[int]]:
    """The same for numbers, without a string of each; what is not a plain number is left to the other function."""
    numbers, kinds = np.empty(len(fields)), np.empty(len(fields), dtype=np.int8)
    read_decimals(buffer, fields, numbers, kinds)
    near = np.flatnonzero(kinds == NEAR)
    if len(near):
        # Their last bits matter where they decide on which side of a cut point, or of the range, a number is.
        found = numbers[near]
        ends = [float(np.fmin.reduce(numbers)), float(np.fmax.reduce(numbers))]
        decisive = [*cuts.points, *ends, *(end for end in (cuts.lowest, cuts.highest) if end is not None)]
        close = np.zeros(len(near), dtype=bool)
        for point in decisive:
            close |= np.abs(found - point) <= 4 * NEARLY * abs(point)
        for row in near[close].tolist():
            start, end = fields[row].tolist()
            numbers[row] = float(buffer[start:end].tobytes())
    codes, wrong = cuts.codes(numbers), list[int]()
    others = np.flatnonzero(kinds == OTHER)
    if len(others):
        codes[others], numbers[others], rows = _read_fields(buffer, fields[others], lexicon)
        wrong = others[rows].tolist()
    return codes, numbers, wrong


def _pieces(buffer: Bytes) -> list[tuple[int, int]]:
    """Cut a buffer behind line ends into pieces, one a thread; where quotes may hold line ends, into one."""
    count = min(cpu_count() or 1, max(1, len(buffer) // SMALL_PIECE))
    if count > 1 and _find(buffer, ord('"')) is not None:
        count = 1
    ends = (_find(buffer, ord("\n"), len(buffer) * i // count) for i in range(1, count))
    return list(pairwise(sorted({0, *(end + 1 for end in ends if end is not None), len(buffer)}))) or [(0, 0)]


def _find(buffer: Bytes, byte: int, start: int = 0) -> int | None:
    """Where a byte first stands from `start` on; blocks that fit in the processor's cache are looked at in turn."""
    for at in range(start, len(buffer), SEARCHED_BYTES):
        found = buffer[at : at + SEARCHED_BYTES] == byte
        if found[first := int(found.argmax())]:
            return at + first
    return None
