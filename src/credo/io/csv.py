"""CSV files straight to state numbers, chunk by chunk: a file larger than memory passes through.

A library's reader makes a string of each cell, pads a short row in silence, and renames a column that stands twice.
Here a cell is compared with the states of its variable in place, and what does not fit is an error with its row.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from os import cpu_count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from credo.errors import DataError, readable_bytes
from credo.io.columns import (
    MISSING,
    MISSING_TEXTS,
    Columns,
    Lexicon,
    match_columns,
    no_rows,
    require_distinct,
    unknown_states,
)
from credo.io.dataset import Dataset, code_type
from credo.io.files import BROKEN_GZIP
from credo.io.number_columns import NumbersSeen, merged, numbers_seen, read_cells
from credo.kernels.csv import DONE, EMPTY, FULL, IGNORE, PADDING, QUOTE, RAGGED, STATE, TEXT, TRAILING, insert, scan
from credo.kernels.decimals import NEAR, NEARLY, OTHER, read_decimals
from credo.kernels.threads import map_in_threads
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from credo.types import Codes, Indices, Numbers

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
                # The record goes on behind this piece, or a field goes on behind its quotes.
                ending = TRAILING if _TRAILING.match(raw, at) else DONE
                return row, record, misses, ending
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


_QUOTED = rb'"([^"]*+(?:""[^"]*+)*+)"[ \t\r]*+'
_TRAILING = re.compile(_QUOTED + rb"[^ \t\r]")


@cache
def _field_pattern(separator: int) -> re.Pattern[bytes]:
    """Group 1 is what is in quotes, group 2 what is without; group 3 is what ends the field."""
    mark = re.escape(bytes([separator]))
    plain = rb'((?:[^"%s\n][^%s\n]*+)?)' % (mark, mark)
    # Blanks behind a quote may end before a separator that is a tab.
    quoted = _QUOTED.replace(rb" \t\r", rb" \r") if separator == ord("\t") else _QUOTED
    return re.compile(rb"(?:%s|%s)([%s\n])" % (quoted, plain, mark))


# Any file -------------------------------------------------------------------------------------------------------------


CHUNK_BYTES = 16 * 2**20
# Of a file that plain Python reads: measured, 0.2 s and 0.17 µs a byte, 0.6 s in all. Importing Numba for the compiled
# loop takes about as long, compiling it seconds.
PLAIN_BYTES = 2**21
LONGEST_SHOWN = 100_000  # bytes of a wrong record that its message is made of
LONGEST_HEADER = 4 * 2**20  # bytes
LONGEST_RECORD = 16 * 2**20  # bytes; in a longer one, a quote is not closed
MOST_HEADER_LINES = 50  # that names in quotes may take
UNKNOWN_AT_ONCE = 256  # texts that one scan may leave open before it is repeated
SMALL_PIECE = 2**16  # bytes that are not worth a thread of their own

Bytes = NDArray[np.uint8]
Progress = Callable[[float], None]


def stream_csv(
    path: Path, network: Network, others: Sequence[str] = (), progress: Progress | None = None
) -> Iterator[Dataset]:
    """The rows of a CSV file as datasets, chunk by chunk; `progress` receives the share of the file that was read."""
    yield from _stream(path, network.variables, lambda header: match_columns(header, network, others), progress)


def read_csv_texts(path: Path, choose: Callable[[Sequence[str]], Sequence[str]] | None = None) -> pl.DataFrame:
    """The columns of a CSV file, or those that `choose` takes out of the header, as texts; missing values are null."""
    import polars as pl

    def chosen(header: Sequence[str]) -> Columns:
        require_distinct(header)
        return Columns((), (), tuple(header if choose is None else choose(header)), ())

    parts = [pl.DataFrame(part.others) for part in _stream(path, (), chosen, None)]
    if not parts:
        raise no_rows()
    return pl.concat(parts)


def _stream(
    path: Path, variables: tuple[Variable, ...], match: Callable[[Sequence[str]], Columns], progress: Progress | None
) -> Iterator[Dataset]:
    try:
        with path.open("rb") as raw, _unpacked(raw, path) as file:
            header, separator = _read_header(file, path, {variable.name for variable in variables})
            table = _CsvTable(str(path), variables, match(header), header, separator)
            size = max(1, path.stat().st_size)
            yield from _datasets(table, file, lambda: progress and progress(raw.tell() / size))
    except BROKEN_GZIP as error:
        what = "is cut off" if isinstance(error, EOFError) else "is not a gzip file, though its name says so"
        raise DataError(f"{path} {what}: {error}.".replace("..", ".")) from None


def _datasets(table: _CsvTable, file: BinaryIO, report: Callable[[], object]) -> Iterator[Dataset]:
    rest, rows, at_end = b"", 0, False
    while not at_end:
        buffer, filled = _fill(file, rest)
        at_end = filled == len(rest)
        if at_end and rest and not rest.endswith(b"\n"):
            buffer[filled], filled = ord("\n"), filled + 1  # the last line of a file need not be ended
        table.is_small &= filled <= PLAIN_BYTES
        if filled and buffer[:filled].min() == 0:
            row = rows + 1 + int((buffer[: buffer.argmin()] == ord("\n")).sum())
            raise DataError(f"{table.path}, about row {row}: a null character, which no text has. Is the file damaged?")
        dataset, consumed = table.read(buffer, filled, rows)
        if consumed < filled and (at_end or (consumed == 0 and filled > LONGEST_RECORD)):
            raise table.ragged(buffer[consumed:filled], rows + len(dataset))
        report()
        if len(dataset):
            rows += len(dataset)
            yield dataset
        rest = buffer[consumed:filled].tobytes()


def _unpacked(file: BinaryIO, path: Path) -> BinaryIO:
    """The file itself, or what is packed in it."""
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if path.suffix.lower() == ".gz" else file


def _fill(file: BinaryIO, rest: bytes) -> tuple[Bytes, int]:
    """A buffer that starts with what the last one left over, how many bytes of it count, and room behind them."""
    buffer = np.empty(len(rest) + CHUNK_BYTES + PADDING, dtype=np.uint8)
    buffer[: len(rest)] = np.frombuffer(rest, dtype=np.uint8)
    filled = len(rest)
    # An archive gives a few kilobytes at a time; a buffer with little that is new would be scanned again and again.
    while count := cast(Any, file).readinto(buffer.data[filled:-PADDING]):
        filled += count
    buffer[filled : filled + PADDING] = 0
    return buffer, filled


def _read_header(file: BinaryIO, path: Path, known: Container[str]) -> tuple[list[str], str]:
    """The column names and the separator; `known` are names that may be among them."""
    line = file.readline(LONGEST_HEADER)
    for lines in range(MOST_HEADER_LINES):
        if len(line) >= LONGEST_HEADER and not line.endswith(b"\n"):
            raise DataError(
                f"{path}: the first line, which must hold the names of the columns, is longer than "
                f"{readable_bytes(LONGEST_HEADER)}. Is this a CSV file?"
            )
        text = _header_text(line, path)
        # The separator is the one that finds most known names in the header, and a comma where none finds any.
        split = {separator: split_record(text, separator) for separator in ",;\t"}
        names = {separator: [name.strip() for name in record.fields] for separator, record in split.items()}
        separator = max(names, key=lambda s: (sum(name in known for name in names[s]), len(names[s]) > 1, s == ","))
        if not split[separator].is_open:
            break
        more = file.readline(LONGEST_HEADER) if lines + 1 < MOST_HEADER_LINES else b""
        if not more:
            raise DataError(f"{path}: a double quote is opened in the header and not closed: {text[:80]}")
        line += more  # a name in quotes may hold a line end
    if (trailing := split[separator].trailing) is not None:
        raise DataError(f"{path}: in the header, text follows a closing double quote: {trailing[:80]}")
    return names[separator], separator


def _header_text(line: bytes, path: Path) -> str:
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in line:
        raise DataError(
            f"{path}: this is not a CSV file in UTF-8. If it comes from a spreadsheet, save it as “CSV UTF-8”."
        )
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{path}: the header is not UTF-8. Save the file as “CSV UTF-8”.") from None
    if re.search(r"\r(?!\n)", text):
        raise DataError(
            f"{path}: the lines end with a carriage return alone, as on old Macintoshes. Save the file as “CSV UTF-8” "
            "in a spreadsheet, or with modern line endings."
        )
    if not text.strip():
        raise DataError(f"{path}: the table is empty. Its first line must hold the names of the columns.")
    return text


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of one record, and what is wrong with its quotes."""

    fields: list[str]
    is_open: bool = False  # whether a quote is not closed
    trailing: str | None = None  # text behind a closing quote, with what comes before it


def split_record(text: str, separator: str) -> Record:
    """The fields of a record without its line end, by the rules of `scan`."""
    if '"' not in text:
        return Record(text.split(separator))
    raw, field_of, at, fields = text.encode("utf-8", "surrogatepass"), _field_pattern(ord(separator)), 0, list[str]()
    raw += b"\n"
    while at < len(raw):
        match = field_of.match(raw, at)
        if match is None:
            rest = raw[at:-1].decode("utf-8", "replace")
            trails = _TRAILING.match(raw, at) is not None
            return Record([*fields, rest.lstrip('"')], not trails, rest if trails else None)
        quoted = match.start(1) >= 0
        fields.append(_text(match[1 if quoted else 2], quoted))
        at = match.end()
        if match[3] == b"\n":
            break
    return Record(fields)


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
    lookup: tuple[NDArray[Any], ...] | None = field(init=False, default=None)  # the same for the compiled loop
    record_bytes: float = field(init=False)  # how long a record is, about
    is_small: bool = field(init=False, default=True)  # whether plain Python reads it
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
        return DataError(
            f"{where}: {len(record.fields)} fields, but the header has {len(self.header)}. "
            f"A value that holds the separator itself must stand in double quotes.\n{shown}"
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
            if self.is_small:
                done, end, misses, ending = scan_plain(*fixed, self.known, codes, spans, unknown)
            else:
                done, end, misses, ending = scan(*fixed, *self._compiled_lookup(), codes, spans, unknown)
            with self.learning:
                unknown_texts = self._learn(buffer, unknown[:misses])
            if misses == 0 or unknown_texts:
                numbers = self._cut_fields(buffer, codes[:done], spans[:done], unknown_texts)
                return _Part(codes[:done], spans[:done], int(end), int(ending), unknown_texts, numbers)

    def _cut_fields(
        self, buffer: Bytes, codes: Codes, spans: NDArray[np.int64], unknown_texts: list[UnknownText]
    ) -> dict[str, NumbersSeen]:
        """Fill in the codes of the variables with cut points, and return what was seen of their numbers."""
        seen: dict[str, NumbersSeen] = {}
        for at, place in self.cut.items():
            lexicon, fields = self.lexicons[at], spans[:, place]
            cuts = lexicon.variable.cuts
            assert cuts is not None
            if self.is_small:
                own, numbers, wrong = _read_fields(buffer, fields, lexicon)
            else:
                own, numbers, wrong = _read_decimals(buffer, fields, lexicon, cuts)
            for row in wrong:
                start, end = fields[row].tolist()
                unknown_texts.append((lexicon.variable, _field_text(buffer, start, end), row))
            codes[:, self.variables.index(lexicon.variable)] = own
            if (found := numbers_seen(cuts, numbers)) is not None:
                seen[lexicon.variable.name] = found
        return seen

    def _learn(self, buffer: Bytes, unknown: NDArray[np.int64]) -> list[UnknownText]:
        """Look up texts that are not known yet; what is no state is returned, with its row in the part."""
        unknown_texts: dict[tuple[str, str], UnknownText] = {}
        for at, start, end, row in unknown.tolist():
            raw = buffer[start:end].tobytes()
            text, lexicon = _text(raw, is_quoted(buffer, start)), self.lexicons[at]
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

    def _texts(self, buffer: Bytes, spans: NDArray[np.int64], rows_before: int) -> dict[str, pl.Series]:
        """The fields that are kept as text."""
        if not self.columns.others:
            return {}
        import polars as pl

        raw = buffer.tobytes()
        plain = raw.decode("ascii") if raw.isascii() else None  # the same places in both
        columns = {}
        for i, name in enumerate(self.columns.others):
            quoted = buffer[np.maximum(spans[:, i, 0] - 1, 0)] == QUOTE
            if plain is not None and not quoted.any():
                cells = [plain[start:end] for start, end in _pairs(spans[:, i])]
                found = [None if cell in MISSING_TEXTS else cell for cell in cells]
                columns[name] = pl.Series(name, found, dtype=pl.String)
                continue
            # Most texts of a column are repeated: each is decoded once.
            fields = [raw[start:end] for start, end in _pairs(spans[:, i])]
            texts: dict[tuple[bytes, bool], str | None] = {}
            keys = list(zip(fields, quoted.tolist(), strict=True))
            for key in dict.fromkeys(keys):
                try:
                    text = _text(*key, errors="strict")
                except UnicodeDecodeError:
                    row = rows_before + keys.index(key) + 1
                    raise DataError(
                        f"{self.path}, row {row}: the value of {name} is not UTF-8: save the file as “CSV UTF-8”."
                    ) from None
                texts[key] = None if text in MISSING_TEXTS else text
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
    unknown_texts: list[UnknownText]
    numbers: Mapping[str, NumbersSeen]


def _field_text(buffer: Bytes, start: int, end: int) -> str:
    raw = bytes(buffer.data[start:end])
    return _text(raw, b'"' in raw and is_quoted(buffer, start))


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
    """The same by the compiled loop, which leaves what is no plain number to the other function."""
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


def is_quoted(buffer: Bytes, start: int) -> bool:
    """Whether the field that starts here is in quotes."""
    return start > 0 and bool(buffer[start - 1] == QUOTE)


def _text(raw: bytes, quoted: bool, errors: str = "replace") -> str:
    text = raw.decode("utf-8", errors=errors)
    return text.replace('""', '"') if quoted else text


def _pieces(buffer: Bytes) -> list[tuple[int, int]]:
    """Cut a buffer behind line ends into pieces, one a thread; where quotes may hold line ends, into one."""
    count = min(cpu_count() or 1, max(1, len(buffer) // SMALL_PIECE))
    if count > 1 and (buffer == ord('"')).any():
        count = 1
    raw = buffer.tobytes() if count > 1 else b""
    ends = {raw.find(b"\n", len(raw) * i // count) + 1 for i in range(1, count)}  # 0 where no line ends any more
    return list(pairwise(sorted({0, *ends, len(buffer)}))) or [(0, 0)]


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
