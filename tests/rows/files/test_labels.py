"""Labels and weights that are columns of files."""

import sys
from decimal import Decimal

import numpy as np
import pytest

from supred import RowBlocks
from supred.rows.files import labels as labels_module
from supred.rows.files.parquet import ParquetReader

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

X = np.arange(6.0)


def write(path, labels, name="y", **options):
    columns = {"a": np.arange(float(len(labels))), name: labels}
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def labels_of(*paths):
    return RowBlocks(list(paths), target="y").labels()


WHOLE = [2, 1, 2]
TYPES = {
    "int32": pyarrow.array(WHOLE, pyarrow.int32()),
    "int64": pyarrow.array(WHOLE, pyarrow.int64()),
    "uint8": pyarrow.array(WHOLE, pyarrow.uint8()),
    "float": pyarrow.array(WHOLE, pyarrow.float32()),
    "double": pyarrow.array(WHOLE, pyarrow.float64()),
    "coded": pyarrow.array(WHOLE, pyarrow.int64()).dictionary_encode(),
}


@pytest.mark.parametrize("one", TYPES)
@pytest.mark.parametrize("other", TYPES)
def test_numbers_of_any_type_are_the_same_labels(one, other, tmp_path):
    paths = [write(tmp_path / f"{k}.parquet", TYPES[key]) for k, key in enumerate((one, other))]
    labels = labels_of(*paths)
    assert labels.dtype.kind == "i"
    np.testing.assert_array_equal(labels, WHOLE * 2)


def test_whole_numbers_beside_others(tmp_path):
    one = write(tmp_path / "1.parquet", [1, 2])
    other = write(tmp_path / "2.parquet", [2.0, 2.5])
    assert labels_of(one, other).tolist() == ["1.0", "2.0", "2.0", "2.5"]


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ([1, 2], ["1", "2"], "whole numbers in {0}, but text in {1}"),
        ([1.5, 2], ["1", "2"], "numbers in {0}, but text in {1}"),
        ([True, False], [1, 0], "booleans in {0}, but whole numbers in {1}"),
        ([Decimal("1.0")], [Decimal("1.00")], "numbers with 1 decimals in {0}, but numbers with 2"),
    ],
)
def test_labels_of_different_kinds_are_refused(one, other, message, tmp_path):
    paths = [write(tmp_path / "1.parquet", one), write(tmp_path / "2.parquet", other)]
    with pytest.raises(ValueError) as caught:
        labels_of(*paths)
    assert f"target='y' holds {message.format(*paths)}" in str(caught.value)


def test_decimals_and_texts_of_any_type(tmp_path):
    paths = [
        write(tmp_path / f"{k}.parquet", pyarrow.array([Decimal("1.50")], pyarrow.decimal128(p, 2)))
        for k, p in enumerate((4, 38))
    ]
    assert labels_of(*paths).tolist() == ["1.50", "1.50"]
    for k, kind in enumerate((pyarrow.string(), pyarrow.large_string())):
        write(paths[k], pyarrow.array([" b", "a"], kind))
    assert labels_of(*paths).tolist() == ["b", "a"] * 2


def test_labels_of_which_each_text_is_kept_once(tmp_path, monkeypatch):
    monkeypatch.setattr(ParquetReader, "BATCH_ROWS", 7)
    words = [None if k == 77 else f"class {k % 13}" for k in range(100)]
    path = write(tmp_path / "a.parquet", words, row_group_size=30)
    with pytest.raises(ValueError, match=r"1 label\(s\) are missing, the first in row 77 of"):
        labels_of(path)
    words[77] = " class 3"
    write(path, words, row_group_size=30)
    assert labels_of(path).tolist() == [word.strip() for word in words]
    write(path, [b"x"])
    with pytest.raises(ValueError, match=r"a.parquet: the column 'y' holds binary, neither"):
        labels_of(path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts kB as Linux does")
@pytest.mark.parametrize("distinct", [False, True])
def test_long_labels_of_a_small_file_are_refused_in_little_memory(distinct, tmp_path):
    import resource

    if distinct:
        words = pyarrow.array(["a" * 2000 + str(k) for k in range(60_000)])
    else:
        codes = np.arange(200_000, dtype=np.int32) % 2
        words = pyarrow.DictionaryArray.from_arrays(codes, ["a" * 5000, "b" * 5000])
    path = write(
        tmp_path / "a.parquet", words, compression="zstd", row_group_size=16_384,
        use_dictionary=not distinct,
    )  # fmt: skip
    del words
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=r"a.parquet: the column 'y' holds labels that take"):
        labels_of(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000


def test_the_texts_of_a_row_group_are_let_go(tmp_path, monkeypatch):
    monkeypatch.setattr(ParquetReader, "BATCH_ROWS", 500)
    words = [str(k) * 500 for k in range(4000)]
    path = write(tmp_path / "a.parquet", words, row_group_size=500, use_dictionary=False)
    (reader,) = RowBlocks(path, target="y")._readers
    for part in reader.coded_parts([1]):
        assert len(part.column(0).chunk(0).dictionary) <= 500


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_weight_that_is_no_number_is_named(kind, tmp_path):
    def message_of(weights):
        paths = [tmp_path / f"{k}.{kind}" for k in range(2)]
        for path, column in zip(paths, ([1, 1, 1], weights), strict=True):
            if kind == "csv":
                lines = (f"{k},{'' if w is None else w}\n" for k, w in enumerate(column))
                path.write_text("a,w\n" + "".join(lines))
            else:
                write(path, column, "w")
        with pytest.raises(ValueError) as caught:
            RowBlocks(paths, sample_weight="w").weights()
        return str(caught.value).replace(str(paths[1]), "FILE")

    found = "sample_weight='w': 1 weight(s) are missing or not finite, the first in row 2 of FILE"
    assert found in message_of([1.0, 2.0, None])
    assert found in message_of([1.0, 2.0, np.inf])
    assert "FILE: the column 'w' holds 'heavy' in row 3, where a number" in message_of(
        ["1", "2", "heavy"]
    )
    assert "heavyheavy..." in message_of(["1", "2", "heavy" * 1000])


@pytest.mark.parametrize("suffix", ["npy", "csv", "parquet"])
@pytest.mark.filterwarnings("error")
def test_numbers_beyond_single_precision_are_named_without_a_warning(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    huge = [1.0, 1e300, 2.0]
    if suffix == "npy":
        np.save(path, np.array(huge)[:, None])
    elif suffix == "csv":
        path.write_text("a\n" + "".join(f"{x}\n" for x in huge))
    else:
        parquet.write_table(pyarrow.table({"a": huge}), path)
    with pytest.raises(ValueError, match=rf"contains infinity: column .* of row 1 of .*a.{suffix}"):
        RowBlocks(path, dtype="float32").rows().whole()


@pytest.mark.skipif(np.longdouble is np.float64, reason="there is no longer precision")
@pytest.mark.filterwarnings("error")
def test_numbers_beyond_double_precision_are_named_without_a_warning(tmp_path):
    from supred.rows.files.reading import ArraySource, MemoryMap

    rows = np.ones((3, 2), np.longdouble)
    rows[1, 0] = np.longdouble("1e4000")
    np.save(tmp_path / "a.npy", rows)
    mapped = MemoryMap(np.load(tmp_path / "a.npy", mmap_mode="r"))
    for source in (RowBlocks(tmp_path / "a.npy"), mapped, ArraySource(rows)):
        with pytest.raises(ValueError, match="contains infinity: column 0 of row 1"):
            source.rows().whole()


def test_the_texts_of_a_row_group_are_looked_at_once(tmp_path, monkeypatch):
    """Each part of a column comes with the texts of its row group, used or not."""
    labels = [f"row {k // 2}" for k in range(2000)]
    seen = []
    texts_of = labels_module.texts_of
    monkeypatch.setattr(
        labels_module, "texts_of", lambda texts: seen.append(len(texts)) or texts_of(texts)
    )
    monkeypatch.setattr(ParquetReader, "BATCH_ROWS", 50)
    for column in (labels, pyarrow.array(labels).dictionary_encode()):
        seen.clear()
        assert labels_of(write(tmp_path / "rows.parquet", column)).tolist() == labels
        assert 1000 <= sum(seen) <= 2000


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_labels_that_differ_in_a_character_that_arrays_lose(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        write(path, ["u", "u\0", "v"])
    else:
        path.write_text("a,y\n1,u\n2,u\0\n3,v\n")
    with pytest.raises(ValueError, match="ends with a NUL character"):
        labels_of(path)
