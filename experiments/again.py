"""`python -m experiments.again FILE method=posterior`: drop some rows of a file of results, to make them again.

After a change of one method its rows are outdated, and those of its rivals are not. The experiment's own command then
runs what is missing. `versions.json` notes from when on these rows are: `again`, beside `first` and `last`.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

import credo


def main() -> None:
    """Drop the rows whose column has the value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("which", help="a column and a value, such as method=posterior")
    arguments = parser.parse_args()
    column, _, value = arguments.which.partition("=")
    print(f"{drop(arguments.file, column, value)} rows dropped.")


def drop(file: Path, column: str, value: str) -> int:
    """Drop the rows, and note that they are made again; how many there were."""
    rows = pl.read_csv(file, infer_schema_length=None)
    kept = rows.filter(pl.col(column).cast(pl.String) != value)
    kept.write_csv(file)
    path = file.with_name("versions.json")
    notes = json.loads(path.read_text(encoding="utf-8"))
    notes[file.name]["again"] = {"date": datetime.now(UTC).date().isoformat(), "version": credo.__version__}
    path.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return len(rows) - len(kept)


if __name__ == "__main__":
    main()
