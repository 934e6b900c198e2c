"""Chunks of Dask collections as their makers leave them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from supred import LowDimSVC, RBFNetClassifier
from supred.rows.cluster.tasks import checked_block
from tests.family import blobs

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_rows_that_were_selected_by_their_values(client, made):
    # Of a part of these Dask's optimisation leaves tasks that no block needs.
    X, y = blobs()
    X, y = X[:80], y[:80]
    chosen = X[:, 0] > -1
    rows = da.from_array(X, chunks=(20, 6))
    rows = rows[rows[:, 0] > -1].compute_chunk_sizes()
    model = made(random_state=0).fit(rows, y[chosen])
    reference = made(random_state=0).fit(X[chosen], y[chosen])
    np.testing.assert_allclose(model.transform(X), reference.transform(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_blocks_that_are_not_what_the_collection_says(client, made):
    X, y = blobs()
    rows, labels = da.from_array(X, chunks=(30, 6)), da.from_array(y, chunks=30)

    def second(change):
        def changed(block, block_info=None):
            return change(block) if block_info[0]["chunk-location"][0] == 1 else block

        return changed

    for change, message in [
        (lambda block: block + 1j, "block 1 of X is complex; give arrays of real numbers"),
        (csr_matrix, "block 1 of X is sparse; give arrays of real numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            made().fit(rows.map_blocks(second(change), dtype=float, meta=X[:0]), y)
    texts = labels.map_blocks(second(lambda block: block.astype(str)), dtype=int, meta=y[:0])
    with pytest.raises(TypeError, match="numbers in some blocks, text in others"):
        made().fit(rows, texts)
    with pytest.raises(ValueError, match="X has no columns"):
        made().fit(rows[:, :0], labels)


def test_numbers_beyond_single_precision_are_named_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="block 3 of X holds a value that is not finite"):
            checked_block(
                np.full((2, 2), 1e39), n_features=2, number_type=np.float32, block_id=(3, 0)
            )


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_partitions_with_columns_in_another_order(client, made):
    X, y = blobs()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = made(random_state=0).fit(frame, y)

    def turned(part):
        return part[part.columns[::-1]] if part.index[0] else part

    rows = dd.from_pandas(frame, npartitions=3)
    rows = rows.map_partitions(turned, meta=rows._meta, enforce_metadata=False)
    for answer in (lambda: made().fit(rows, y), lambda: model.predict(rows).compute()):
        with pytest.raises(
            ValueError, match=r"a partition of X has columns \['f', .* \['a', 'b', "
        ):
            answer()


def test_predictions_of_sparse_blocks():
    X, y = blobs()
    model = LowDimSVC(random_state=0).fit(X, y)
    blocks = da.from_array(X, chunks=(30, 6)).map_blocks(csr_matrix)
    np.testing.assert_allclose(model.transform(blocks).compute(), model.transform(X), rtol=1e-12)


def test_predictions_of_blocks_that_are_no_arrays():
    X, y = blobs()
    model = LowDimSVC(random_state=0).fit(X, y)

    def collection(change):
        return da.from_delayed(dask.delayed(change)(X), X.shape, float)

    np.testing.assert_array_equal(
        model.transform(collection(lambda rows: rows.tolist())).compute(), model.transform(X)
    )


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_validation_rows_that_are_none(client, made):
    X, y = blobs()
    rows, labels = da.from_array(X, chunks=(30, 6)), da.from_array(y, chunks=30)
    with pytest.raises(ValueError, match="X_val and y_val: they have no rows; give some"):
        made().fit(rows, labels, X_val=rows[:0], y_val=labels[:0])


def test_predictions_where_the_number_of_columns_is_not_known():
    X, y = blobs()
    model, rows = LowDimSVC(random_state=0).fit(X, y), da.from_array(X, chunks=(30, 6))
    with pytest.raises(ValueError, match="X has chunks of unknown size"):
        model.predict(rows[:, rows[0] > -100])


@pytest.mark.filterwarnings("ignore:Converting a masked element")
def test_masked_numbers_of_blocks_are_not_known(client):
    X, y = blobs()
    masked = np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 7)
    blocks = da.from_array(X, chunks=(30, 6)).map_blocks(
        lambda block, block_info=None: masked[: len(block)], dtype=float
    )
    with pytest.raises(ValueError, match=r"block \d of X has 1 masked value"):
        LowDimSVC(random_state=0).fit(blocks, da.from_array(y, chunks=30))
    model = LowDimSVC(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"a block of X has 1 masked value"):
        model.predict(blocks).compute()


def test_masked_labels_and_weights_are_not_known(client):
    X, y = blobs()
    rows = da.from_array(X, chunks=(60, 6))
    labels = da.ma.masked_equal(da.from_array(y, chunks=60), 2)
    weights = da.ma.masked_equal(da.from_array(y + 1.0, chunks=60), 2.0)
    for made in (LowDimSVC, RBFNetClassifier):
        with pytest.raises(ValueError, match=r"a block of y has \d+ masked value"):
            made().fit(rows, labels)
        with pytest.raises(ValueError, match=r"a block of sample_weight has \d+ masked value"):
            made().fit(rows, y, weights)


def test_longer_blocks_than_the_collection_says_where_rows_are_selected(client):
    X, y = blobs(n_rows=300)
    lengths = [120, 30, len(X) - 160]
    said = da.concatenate([
        da.from_delayed(dask.delayed(X[start:stop]), (length, 6), dtype=float)
        for start, stop, length in zip((0, 120, 160), (120, 160, len(X)), lengths, strict=True)
    ])  # fmt: skip
    labels, weights = y[: sum(lengths)], np.ones(sum(lengths))
    weights[::7] = 0.0
    for made in (LowDimSVC, RBFNetClassifier):
        with pytest.raises(
            ValueError, match="block 1 of X has 40 rows, but its chunk size says 30"
        ):
            made().fit(said, labels, weights)
