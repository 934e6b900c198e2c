"""Small files that would take much memory are refused, whichever way they are read."""

import zipfile

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

WAYS = [(), ("--stream",)]
FIT = ("--method", "LowDimSVC", "--quiet", "--out")


@pytest.mark.parametrize("way", WAYS)
def test_a_parquet_file_of_very_many_rows(supred, tmp_path, way):
    path, zeros = tmp_path / "t.parquet", np.zeros(5_000_000)
    parquet.write_table(pyarrow.table({"a": zeros, "y": np.arange(len(zeros)) % 2}), path)
    line = supred("fit", path, "--target", "y", *FIT, tmp_path / "m", *way).error_line
    assert "would unpack to" in line
    assert "more than 100 times as many" in line
    assert "--stream" not in line


@pytest.mark.parametrize("way", WAYS)
def test_a_text_column_of_very_many_values(supred, tmp_path, way):
    path = tmp_path / "t.csv"
    rows = [f"{k},w{k // 3},{'ab'[k % 2]}" for k in range(12_000)]
    path.write_text("\n".join(["a,b,y", *rows]) + "\n")
    line = supred("fit", path, "--target", "y", *FIT, tmp_path / "m", *way).error_line
    assert "hold 4000 different values, which would become as many columns" in line


def test_texts_of_npz_count_as_they_are_wide(supred, tmp_path):
    path, zeros = tmp_path / "t.npz", np.zeros((4, 2))
    names = np.array(["a", "b" + "x" * 10_000_000])
    np.savez_compressed(path, X=zeros, y=["a", "b"] * 2, feature_names=names)
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("feature_names.npy").file_size > 80_000_000
    assert "would unpack to 8000" in supred("fit", path, *FIT, tmp_path / "m").error_line
