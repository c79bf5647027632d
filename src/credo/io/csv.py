"""CSV files straight to state numbers, chunk by chunk: a file larger than memory passes through.

A library's reader makes a string of each cell, pads a short row in silence, and renames a column that stands twice.
Here a cell is compared with the states of its variable in place, and what does not fit is an error with its row.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from itertools import pairwise
from os import cpu_count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from credo.errors import DataError
from credo.io.columns import MISSING, MISSING_TEXTS, Columns, Lexicon, match_columns, unknown_states
from credo.io.dataset import Dataset, code_type
from credo.kernels.csv import DONE, EMPTY, FULL, IGNORE, PADDING, RAGGED, STATE, TEXT, insert, scan
from credo.model.network import Network, Variable
from credo.types import Codes

if TYPE_CHECKING:
    import polars as pl


# Small files ----------------------------------------------------------------------------------------------------------


def scan_plain(
    buffer: NDArray[np.uint8],
    start: int,
    stop: int,
    separator: int,
    roles: NDArray[np.int64],
    targets: NDArray[np.int64],
    known: Mapping[int, Mapping[bytes, int]],
    codes: NDArray[Any],
    spans: NDArray[np.int64],
    unknown: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """The same as `kernels.csv.scan`, with dictionaries of the known texts of each field."""
    raw, field_of = buffer[:stop].tobytes(), _field_pattern(separator)
    roles_and_targets = zip(roles.tolist(), targets.tolist(), strict=True)
    uses = [(role, target, known.get(number, {})) for number, (role, target) in enumerate(roles_and_targets)]
    row, at, misses = 0, start, 0
    while at < stop:
        if row == len(codes):
            return row, at, misses, FULL
        record, field, last = at, 0, False
        while not last:
            match = field_of.match(raw, at)
            if match is None:
                return row, record, misses, DONE  # the record goes on behind this piece
            is_quoted = match.start(1) >= 0
            begin, end = match.span(1 if is_quoted else 2)
            last, at = match[3] == b"\n", match.end()
            if last and not is_quoted and raw[begin:end].endswith(b"\r"):
                end -= 1
            if last and field == 0 and begin == end and len(uses) > 1:
                record, last = at, False  # a blank line is no record
                continue
            if field >= len(uses):
                return row, record, misses, RAGGED
            role, target, codes_of = uses[field]
            if role == STATE:
                code = codes_of.get(raw[begin:end])
                if code is not None:
                    codes[row, target] = code
                elif misses < len(unknown):
                    unknown[misses] = field, begin, end, row
                    misses += 1
            elif role == TEXT:
                spans[row, target] = begin, end
            field += 1
        if field != len(uses):
            return row, record, misses, RAGGED
        row += 1
    return row, at, misses, DONE


@cache
def _field_pattern(separator: int) -> re.Pattern[bytes]:
    """Group 1 is what stands in quotes, group 2 what stands without; group 3 is what ends the field."""
    mark = re.escape(bytes([separator]))
    quoted = rb'"((?:[^"]|"")*+)"[^%s\n]*+' % mark
    plain = rb'((?:[^"%s\n][^%s\n]*+)?)' % (mark, mark)
    return re.compile(rb"(?:%s|%s)([%s\n])" % (quoted, plain, mark))


# Any file -------------------------------------------------------------------------------------------------------------


CHUNK_BYTES = 16 * 2**20
PLAIN_BYTES = 2**20  # of a file that plain Python reads, in at most 0.4 s; loading the compiled loop takes longer
UNKNOWN_AT_ONCE = 256  # texts that one scan may leave open before it is repeated
SMALL_PIECE = 2**16  # bytes that are not worth a thread of their own

Bytes = NDArray[np.uint8]
Progress = Callable[[float], None]


def stream_csv(
    path: Path, network: Network, others: Sequence[str] = (), progress: Progress | None = None
) -> Iterator[Dataset]:
    """The rows of a CSV file as datasets, chunk by chunk; `progress` receives the share of the file that was read."""
    try:
        yield from _stream(path, network, others, progress)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        what = "is cut off" if isinstance(error, EOFError) else "is not a gzip file, though its name says so"
        raise DataError(f"{path} {what}: {error}.".replace("..", ".")) from None


def _stream(path: Path, network: Network, others: Sequence[str], progress: Progress | None) -> Iterator[Dataset]:
    with path.open("rb") as raw, unpacked(raw, path) as file, ThreadPoolExecutor(cpu_count() or 1) as pool:
        header, separator = read_header(file.readline(CHUNK_BYTES), path, network)
        table = _CsvTable(str(path), network, match_columns(header, network, others), header, separator)
        rest, rows, at_end = b"", 0, False
        while not at_end:
            buffer, filled = _fill(file, rest)
            at_end = filled == len(rest)
            if at_end and rest and not rest.endswith(b"\n"):
                buffer[filled], filled = ord("\n"), filled + 1  # the last line of a file need not be ended
            table.is_small &= filled <= PLAIN_BYTES
            dataset, consumed = table.read(buffer, filled, rows, pool)
            if at_end and consumed < filled:
                raise table.ragged(buffer[consumed:filled], rows + len(dataset))
            if progress is not None:
                progress(raw.tell() / max(1, path.stat().st_size))
            if len(dataset):
                rows += len(dataset)
                yield dataset
            rest = buffer[consumed:filled].tobytes()


def unpacked(file: BinaryIO, path: Path) -> BinaryIO:
    """The file itself, or what is packed in it."""
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if path.suffix.lower() == ".gz" else file


def _fill(file: BinaryIO, rest: bytes) -> tuple[Bytes, int]:
    """A buffer that starts with what the last one left over, how many bytes of it count, and room behind them."""
    buffer = np.empty(len(rest) + CHUNK_BYTES + PADDING, dtype=np.uint8)
    buffer[: len(rest)] = np.frombuffer(rest, dtype=np.uint8)
    count = cast(Any, file).readinto(buffer.data[len(rest) : -PADDING])
    filled = len(rest) + count
    buffer[filled : filled + PADDING] = 0
    return buffer, filled


def read_header(line: bytes, path: Path, known: Container[str]) -> tuple[list[str], str]:
    """The column names and the separator, from the first line; `known` are names that may stand there."""
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in line:
        raise DataError(
            f"{path}: this is not a CSV file in UTF-8. If it comes from a spreadsheet, save it as “CSV UTF-8”."
        )
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{path}: the header is not UTF-8. Save the file as “CSV UTF-8”.") from None
    if "\r" in text:
        raise DataError(
            f"{path}: the lines end with a carriage return alone, as on old Macintoshes. Save the file as “CSV UTF-8” "
            "in a spreadsheet, or with modern line endings."
        )
    if not text.strip():
        raise DataError(f"{path}: the table is empty. Its first line must hold the names of the columns.")
    split = {separator: next(csv.reader(StringIO(text), delimiter=separator)) for separator in ",;\t"}
    names = {separator: [name.strip() for name in header] for separator, header in split.items()}
    # The separator is the one that finds most known names in the header, and a comma where none finds any.
    separator = max(names, key=lambda s: (sum(name in known for name in names[s]), len(names[s]) > 1, s == ","))
    return names[separator], separator


@dataclass(slots=True)
class _CsvTable:
    """One file, and what was learned about its texts so far: that `1.0` means `1`, say."""

    path: str
    network: Network
    columns: Columns
    header: list[str]
    separator: str
    roles: NDArray[np.int64] = field(init=False)  # (fields,)
    targets: NDArray[np.int64] = field(init=False)  # (fields,)
    lexicons: dict[int, Lexicon] = field(init=False)  # by field
    known: dict[int, dict[bytes, int]] = field(init=False)  # by field: text as it stands in the file → code
    lookup: tuple[NDArray[Any], ...] | None = field(init=False, default=None)  # the same for the compiled loop
    record_bytes: float = field(init=False)  # how long a record is, about
    is_small: bool = field(init=False, default=True)  # whether plain Python reads it
    learning: Lock = field(init=False, default_factory=Lock)  # threads share what they learn

    def __post_init__(self) -> None:
        position = {name: i for i, name in enumerate(self.network.names)}
        self.roles = np.full(len(self.header), IGNORE)
        self.targets = np.zeros(len(self.header), dtype=np.int64)
        self.lexicons, self.known = {}, {}
        for at, name in enumerate(self.header):
            if name in self.columns.others:
                self.roles[at], self.targets[at] = TEXT, self.columns.others.index(name)
            elif name in position:
                self.roles[at], self.targets[at] = STATE, position[name]
                self.lexicons[at] = Lexicon.of(self.network.variable(name))
                states = self.lexicons[at].by_text
                missing = {text.encode(): MISSING for text in sorted(MISSING_TEXTS) if text not in states}
                self.known[at] = {state.encode(): code for state, code in states.items()} | missing
        self.record_bytes = 3.0 * len(self.header)

    def read(self, buffer: Bytes, filled: int, rows_before: int, pool: Executor) -> tuple[Dataset, int]:
        """The whole records of a buffer, and how many bytes they took."""
        pieces = _pieces(buffer[:filled])
        parts: list[_Part] = []
        for found in pool.map(lambda piece: self._read_piece(buffer, *piece), pieces):
            rows = rows_before + sum(len(part.codes) for part in parts)
            parts += found
            if found[-1].unknown_texts:
                rows += sum(len(part.codes) for part in found[:-1])
                raise unknown_states(
                    [(variable, text, rows + row + 1) for variable, text, row in found[-1].unknown_texts]
                )
            if found[-1].ending == RAGGED:
                raise self.ragged(buffer[found[-1].stop : filled], rows + sum(len(part.codes) for part in found))
        codes = parts[0].codes if len(parts) == 1 else np.concatenate([part.codes for part in parts])
        consumed = parts[-1].stop
        self.record_bytes = max(len(self.header), consumed / max(1, len(codes)))
        others = self._texts(buffer, np.concatenate([part.spans for part in parts]))
        names, columns = self.network.names, self.columns
        return Dataset(names, codes, None, columns.hidden, others, columns.ignored, self.network.variables), consumed

    def ragged(self, rest: Bytes, rows_before: int) -> DataError:
        """The error for a record that does not have as many fields as the header."""
        record = _text(rest[:2000].tobytes()).split("\n")[0].rstrip("\r")
        alone = record.replace("\r", " ")  # a carriage return within a line, which Python's own reader refuses
        count = len(next(csv.reader([alone], delimiter=self.separator), []))
        if record.count('"') % 2:
            return DataError(
                f"{self.path}, row {rows_before + 1}: a double quote is opened and not closed: {record[:80]}"
            )
        return DataError(
            f"{self.path}, row {rows_before + 1}: {count} fields, but the header has {len(self.header)}. "
            f"A value that holds the separator itself must stand in double quotes.\n{record[:80]}"
        )

    def _read_piece(self, buffer: Bytes, start: int, stop: int) -> list[_Part]:
        """Read records until the piece ends, in as many parts as the output's estimated size makes necessary."""
        parts: list[_Part] = []
        while True:
            part = self._read_part(buffer, start, stop)
            parts.append(part)
            if part.unknown_texts or part.ending == RAGGED or part.stop == start or part.stop >= stop:
                return parts
            start = part.stop

    def _read_part(self, buffer: Bytes, start: int, stop: int) -> _Part:
        rows = int(1.05 * (stop - start) / self.record_bytes) + 16
        codes = np.full((rows, len(self.network)), MISSING, dtype=code_type(self.network))
        spans = np.zeros((rows, len(self.columns.others), 2), dtype=np.int64)
        unknown = np.zeros((UNKNOWN_AT_ONCE, 4), dtype=np.int64)
        fixed = buffer, start, stop, ord(self.separator), self.roles, self.targets
        while True:
            if self.is_small:
                done, end, misses, ending = scan_plain(*fixed, self.known, codes, spans, unknown)
            else:
                done, end, misses, ending = scan(*fixed, *self._compiled_lookup(), codes, spans, unknown)
            with self.learning:
                unknown_texts = self._learn(buffer, unknown[:misses])
            if misses == 0 or unknown_texts:
                return _Part(codes[:done], spans[:done], int(end), int(ending), unknown_texts)

    def _learn(self, buffer: Bytes, unknown: NDArray[np.int64]) -> list[UnknownText]:
        """Look up texts that are not known yet; what is no state is returned, with its row in the part."""
        unknown_texts: dict[tuple[str, str], UnknownText] = {}
        for at, start, end, row in unknown.tolist():
            raw = buffer[start:end].tobytes()
            text, lexicon = _text(raw), self.lexicons[at]
            code = lexicon.code(text)
            if code is None:
                unknown_texts.setdefault((lexicon.variable.name, text), (lexicon.variable, text, row))
            else:
                self.known[at][raw] = code
        if len(unknown):
            self.lookup = None
        return list(unknown_texts.values())

    def _compiled_lookup(self) -> tuple[NDArray[Any], ...]:
        with self.learning:
            if self.lookup is None:
                self.lookup = _hash_tables(len(self.header), self.known)
            return self.lookup

    def _texts(self, buffer: Bytes, spans: NDArray[np.int64]) -> dict[str, pl.Series]:
        """The fields that are kept as text."""
        if not self.columns.others:
            return {}
        import polars as pl

        raw = buffer.tobytes()
        columns = {}
        for i, name in enumerate(self.columns.others):
            texts = [_text(raw[start:end]) for start, end in spans[:, i].tolist()]
            columns[name] = pl.Series(
                name, [None if text in MISSING_TEXTS else text for text in texts], dtype=pl.String
            )
        return columns


UnknownText = tuple[Variable, object, int]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one scan read, where it stopped and why; the spans point into the buffer."""

    codes: Codes
    spans: NDArray[np.int64]
    stop: int
    ending: int
    unknown_texts: list[UnknownText]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace").replace('""', '"')


def _pieces(buffer: Bytes) -> list[tuple[int, int]]:
    """Cut a buffer behind line ends into pieces, one a thread; where quotes may hold line ends, into one."""
    count = min(cpu_count() or 1, max(1, len(buffer) // SMALL_PIECE))
    if count > 1 and (buffer == ord('"')).any():
        count = 1
    cuts = [0]
    for i in range(1, count):
        cut = max(cuts[-1], len(buffer) * i // count)
        while cut < len(buffer) and buffer[cut - 1] != ord("\n"):
            cut += 1
        cuts.append(cut)
    cuts.append(len(buffer))
    return list(pairwise(cuts))


def _hash_tables(fields: int, known: dict[int, dict[bytes, int]]) -> tuple[NDArray[Any], ...]:
    """The kernel's lookup: for each field an open hash table of its known texts."""
    sizes = {at: 1 << (4 * len(texts)).bit_length() for at, texts in known.items()}
    slots = sum(sizes.values())
    pool = np.frombuffer(b"".join(text for texts in known.values() for text in texts) + bytes(PADDING), dtype=np.uint8)
    tables = np.zeros((fields, 2), dtype=np.int64)
    keys, values = np.zeros(slots, dtype=np.uint64), np.full(slots, EMPTY, dtype=np.int32)
    places = np.zeros((slots, 2), dtype=np.int64)
    base = start = 0
    for at, texts in known.items():
        tables[at] = base, sizes[at] - 1
        for text, code in texts.items():
            insert(keys, values, places, pool, base, sizes[at] - 1, start, len(text), code)
            start += len(text)
        base += sizes[at]
    return tables, keys, values, places, pool
