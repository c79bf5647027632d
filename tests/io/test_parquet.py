"""Damaged Parquet files: whatever byte is wrong, a table or a typed error, and nothing on the error output."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from credo.errors import CredoError
from credo.io.tables import read_table
from credo.model.network import Network

NET = Network({"a": ("0", "1"), "b": ("x", "y")})


@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_any_damage_is_a_typed_error(tmp_path: Path, capfd: pytest.CaptureFixture[str], compression: str) -> None:
    path = tmp_path / "t.parquet"
    random = np.random.default_rng(0)
    frame = pl.DataFrame({"a": random.choice(["0", "1"], 50), "b": random.choice(["x", "y"], 50)})
    frame.write_parquet(path, compression=compression)  # type: ignore[arg-type]
    whole = path.read_bytes()
    failed = 0
    for _ in range(150):
        changed = bytearray(whole)
        for _ in range(int(random.integers(1, 4))):
            changed[int(random.integers(0, len(whole)))] = int(random.integers(0, 256))
        path.write_bytes(bytes(changed))
        try:
            read_table(NET, path)
        except CredoError:
            failed += 1
    assert failed
    assert capfd.readouterr().err == ""
