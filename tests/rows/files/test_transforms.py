"""What `transform` of RowBlocks may make of a block, and rows of which an array is equal."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from supred import LowDimSVC, RBFNetClassifier, RowBlocks
from tests.family import blobs

X, Y = blobs()


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack([X, Y]))
    return tmp_path / "a.npy"


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda block: block[: len(block) // 2 + 1], r"made .* \(7, 6\) of 12 rows, where \(12, 6"),
        (
            lambda block: block[:1],
            r"made a matrix of shape \(1, 6\) of 12 rows, where \(12, 6\) is",
        ),
        (
            lambda block: block[:, : 1 + len(block) % 3],
            r"made .* \(12, 1\) .* \(12, 2\) is expected",
        ),
        (lambda block: block[:, 0], r"made shape \(12,\) and type float64 of 12 rows; it must r"),
        (lambda block: block + 1j, "made .* type complex128 of 12 rows; it must return a matrix"),
        (lambda block: np.full(block.shape, "a"), "made no numbers of 12 rows; it must return"),
        (lambda block: None, "made .* of 12 rows; it must return a matrix of numbers"),
        (lambda block: block[:, :0], "leaves no column"),
        (lambda block: np.ma.masked_less(block, 0), "made has .* masked value"),
    ],
)
def test_what_is_no_matrix_of_the_rows_is_named(path, transform, message):
    rows = RowBlocks(path, target=-1, transform=transform)
    with pytest.raises(ValueError, match=f"transform {message}"):
        rows.read(0, 12)


@pytest.mark.parametrize("kind", ["csv", "svmlight", "npy"])
def test_what_is_kept_of_a_file_is_not_changed_by_who_works_in_place(tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    path, halves = tmp_path / f"a.{kind}", X / 2
    if kind == "svmlight":
        dump_svmlight_file(X, Y, str(path))
    elif kind == "csv":
        pandas.DataFrame(X, columns=list("abcdef")).to_csv(path, index=False)
    else:
        np.save(path, X)

    def halve(block):
        numbers = getattr(block, "data", block) if sparse.issparse(block) else block
        numbers *= 0.5
        return block

    for cache in (False, True):
        rows = RowBlocks(path, transform=halve, block_rows=10, cache=cache)
        for _ in range(2):
            for block in rows.blocks():
                halve(block)
        np.testing.assert_allclose(as_array(rows.rows().whole()), halves)
        np.testing.assert_allclose(as_array(rows.read(0, 10)), halves[:10])


def test_lists_and_blocks_that_are_sparse_at_times(path):
    def half(block):
        return sparse.csr_matrix(block) if len(block) == 10 else block

    for transform in (lambda block: block.tolist(), half):
        rows = RowBlocks(path, target=-1, transform=transform, block_rows=10)
        np.testing.assert_array_equal(rows.rows().whole(), X)


def test_numbers_of_sparse_blocks_that_are_stored_in_parts(path):
    def in_whole(block):
        return sparse.csr_matrix(np.where(block > 0, block, 0.0) * [1, 1, 1, 1, 1, 100])

    def in_parts(block):
        whole = in_whole(block)
        data = np.column_stack([whole.data + 100, np.full(whole.nnz, -100.0)]).ravel()
        return sparse.csr_matrix((data, whole.indices.repeat(2), 2 * whole.indptr), block.shape)

    models = [
        RBFNetClassifier(n_centers=5, max_iter=20, random_state=0).fit(
            RowBlocks(path, target=-1, transform=transform)
        )
        for transform in (in_whole, in_parts)
    ]
    rows = in_whole(X)
    np.testing.assert_allclose(models[1].transform(rows), models[0].transform(rows), atol=1e-4)


def test_columns_that_are_chosen_give_the_model_of_the_array_to_the_last_bit(path):
    rows = RowBlocks(path, target=-1)
    assert rows.read(0, 5).flags.c_contiguous
    model, reference = (LowDimSVC(random_state=0).fit(*data) for data in ((rows,), (X, Y)))
    np.testing.assert_array_equal(model.transform(X), reference.transform(X))


def test_explain_needs_an_array(path):
    model = RBFNetClassifier(n_centers=5, max_iter=20, random_state=0).fit(X, Y)
    rows = RowBlocks(path, target=-1)
    with pytest.raises(TypeError, match=r"explain needs an array, not RowBlocks\(.*X\.read\(start"):
        model.explain(rows)
    assert len(model.explain(rows.read(0, 3)).labels) == 3


def test_files_without_rows_beside_others(path, tmp_path):
    np.save(tmp_path / "none.npy", np.empty((0, 7)))
    rows = RowBlocks([tmp_path / "none.npy", path], target=-1, sample_weight=-2)
    np.testing.assert_array_equal(rows.labels(), Y)
    np.testing.assert_array_equal(rows.weights(), X[:, -1])


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy"])
def test_rows_that_are_being_read_can_be_pickled(path, tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    if kind != "npy":
        path = tmp_path / f"a.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    rows = RowBlocks(path)
    rows.read(0, 10)
    copy = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(copy.read(10, 20), rows.read(10, 20))
    np.testing.assert_array_equal(copy.rows().whole(), rows.rows().whole())


@pytest.mark.parametrize("kind", ["parquet", "csv", "svmlight"])
def test_rows_that_threads_read_at_once(tmp_path, kind, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("supred.rows.files.text_readers.SEGMENT_BYTES", 2000)
    wide = np.tile(X, (20, 1))
    frame = pandas.DataFrame(wide, columns=list("abcdef"))
    path = tmp_path / f"a.{kind}"
    if kind == "svmlight":
        dump_svmlight_file(wide, np.zeros(len(wide)), str(path))
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=20)
    rows = RowBlocks(path, block_rows=10)

    def read(start):
        return [np.array(as_array(rows.read(k, k + 10))) for k in range(start, len(wide) - 10, 10)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(read, range(4)))
    finally:
        sys.setswitchinterval(interval)
    for start, blocks in enumerate(found):
        np.testing.assert_allclose(np.vstack(blocks), wide[start:][: 10 * len(blocks)])
    if kind == "svmlight":
        assert len(rows.labels()) == len(wide)


def as_array(block):
    return block.toarray() if sparse.issparse(block) else block
