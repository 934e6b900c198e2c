"""Truth values are numbers, but no column holds both, however far they lie apart."""

import numpy as np
import pytest

from supred import RowBlocks
from supred.rows.files import text_readers
from supred.rows.files.parquet import ParquetReader

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write(path, fields):
    if path.suffix == ".csv":
        path.write_text("a,b\n" + "".join(f"{field},1\n" for field in fields))
    else:
        parquet.write_table(pyarrow.table({"a": fields, "b": ["1"] * len(fields)}), path)
    return path


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_truth_values_beside_numbers(suffix, parts, tmp_path, monkeypatch):
    if parts:
        monkeypatch.setattr(text_readers, "SEGMENT_BYTES", 8)
        monkeypatch.setattr(ParquetReader, "BATCH_ROWS", 2)
    path = tmp_path / f"t.{suffix}"
    for mixed in (["0.5", "1", "", "True", "False"], ["", "", "true", "?", "1", "0"]):
        with pytest.raises(ValueError, match=r"t\..*: the column 'a' holds "):
            RowBlocks(write(path, mixed)).read(0, len(mixed))
    rows = RowBlocks(write(path, ["", "true", "", "", "False", "?"]))
    np.testing.assert_equal(rows.read(0, 6)[:, 0], [np.nan, 1, np.nan, np.nan, 0, np.nan])
