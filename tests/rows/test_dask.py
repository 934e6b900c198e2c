"""Rows on a Dask cluster of real workers in processes of their own."""

import os
import signal
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
    RBFNetClassifier,
)
from supred.base.callbacks import FitCallbacks
from supred.low_dim_svm.mappings.basis import combine, moments, products
from supred.low_dim_svm.mappings.rbf import GaussianBasis
from supred.numerics.kernels import GaussianCenters
from supred.rows.blocks import rows_of
from tests.family import blobs

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd
from distributed import Client

from supred.rows.cluster import store as stores
from supred.rows.cluster.rows import DaskSource


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X.flags.writeable = False
    return X, y


@pytest.fixture
def streamed(monkeypatch):
    """No rows fit into the workers' memory."""
    monkeypatch.setattr(stores, "ROWS_SHARE", 0.0)


def chunked(X, y, rows=250):
    return da.from_array(X, chunks=(rows, X.shape[1])), da.from_array(y, chunks=rows)


def kill_a_worker(client):
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), getattr(signal, "SIGKILL", signal.SIGTERM))


def assert_same_model(model, reference, X, tol=1e-6):
    for value, wanted in [
        (model.coef_, reference.coef_),
        (model.intercept_, reference.intercept_),
        (model.transform(X), reference.transform(X)),
        (model.decision_function(X), reference.decision_function(X)),
    ]:
        assert np.abs(value - wanted).max() <= tol * np.abs(wanted).max()
    assert model.n_iter_ == reference.n_iter_


# --- sums and maps


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "streamed"])
@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
def test_sums_and_maps_equal_those_in_memory(client, monkeypatch, kept, frame):
    if not kept:
        monkeypatch.setattr(stores, "ROWS_SHARE", 0.0)
    rng = np.random.default_rng(0)
    X, weights, target = rng.normal(size=(1000, 6)), rng.random(1000), rng.normal(size=(1000, 2))
    collection = da.from_array(X, chunks=(130, 4))  # rows are cut too
    if frame:
        collection = dd.from_pandas(pd.DataFrame(X), npartitions=7)
    source = DaskSource(collection)
    rows, local = source.rows(), rows_of(X)
    assert source.shape == X.shape
    assert source.store.kept is kept
    gram, sums = rows.sum(moments, weights)
    wanted_gram, wanted_sums = local.sum(moments, weights)
    np.testing.assert_allclose(gram, wanted_gram, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sums, wanted_sums, rtol=1e-11, atol=1e-11)
    basis = GaussianBasis(GaussianCenters.of(X[:9]), 0.1)
    for cache_bytes in (0.0, 9 * 8 * 300.0, 1e9):  # none, some and all of Phi are kept
        Phi, wanted = rows.derive(basis, 9, cache_bytes), local.derive(basis, 9)
        np.testing.assert_allclose(
            Phi.sum(products, target), wanted.sum(products, target), atol=1e-10
        )
        labels = Phi.attach(_numbered, target)
        moved, total = labels.visit(_moved, 2.0)
        np.testing.assert_allclose(total, wanted.sum(products, target), atol=1e-10)
        numbered = np.column_stack([np.arange(1000.0), 2.0 * target])
        np.testing.assert_array_equal(moved.collect(np.asarray), numbered)
        np.testing.assert_allclose(moved.sum(_column_sums), numbered.sum(axis=0), atol=1e-10)
        project = partial(combine, W=np.ones((9, 2)), w0=np.zeros(2))
        np.testing.assert_allclose(Phi.map(project), wanted.map(project), rtol=1e-12)
        kept_blocks = Phi._made.sum()
        assert {0.0: kept_blocks == 0, 1e9: kept_blocks == len(Phi._made)}.get(
            cache_bytes, 0 < kept_blocks < len(Phi._made)
        )
    indices = rng.permutation(1000)[:50]
    np.testing.assert_array_equal(rows.take(indices), X[indices])
    np.testing.assert_allclose(Phi.take(indices), basis(X[indices]))


def _numbered(first, target):
    return np.column_stack([first + np.arange(len(target)), target])


def _moved(phi, value, factor):
    return np.column_stack([value[:, :1], factor * value[:, 1:]]), phi.T @ value[:, 1:]


def _column_sums(value):
    return value.sum(axis=0)


def test_selected_rows_are_those_of_the_array(client):
    X = np.random.default_rng(0).normal(size=(500, 3))
    source = DaskSource(da.from_array(X, chunks=(90, 3)))
    mask = np.zeros(500, dtype=bool)
    mask[[0, 3, 200, 201, 499]] = True  # some blocks have no row left
    selected = source.select(mask)
    assert selected.shape == (5, 3)
    np.testing.assert_array_equal(selected.rows().map(abs), abs(X[mask]))
    frame = DaskSource(dd.from_pandas(pd.DataFrame(X), npartitions=3)).select(mask)
    np.testing.assert_array_equal(frame.rows().map(abs), abs(X[mask]))


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
def test_what_the_user_persisted_is_visited_where_it_is(client, streamed, frame):
    X = np.random.default_rng(0).normal(size=(400, 3))
    collection = da.from_array(X, chunks=(50, 3))
    if frame:
        collection = dd.from_pandas(pd.DataFrame(X), npartitions=5)
    source = DaskSource(client.persist(collection))
    assert source.store.kept
    assert sorted(i for ids in source.store.groups for i in ids) == list(
        range(len(source.store.lengths))
    )
    np.testing.assert_array_equal(source.rows().map(abs), abs(X))
    for worker, ids in source.store.assigned(source.store.futures):
        for i in ids:
            assert (
                worker.address
                in client.who_has(source.store.futures[i])[source.store.futures[i].key]
            )


def test_one_task_per_worker_and_pass_and_only_slices_travel(client):
    X = np.random.default_rng(0).normal(size=(1000, 6))
    source = DaskSource(da.from_array(X, chunks=(100, 6)))
    rows = source.rows()
    target = np.zeros((1000, 2))
    rows.sum(products, target)
    traffic = source.store.traffic
    before = traffic.tasks, traffic.bytes_sent
    rows.sum(products, target)
    assert traffic.tasks - before[0] == len(source.store.groups) == 3
    assert target.nbytes <= traffic.bytes_sent - before[1] < target.nbytes + 2000


# --- the same model


@pytest.mark.parametrize(
    "parameters",
    [{}, {"mapping": "linear", "loss": "log"}, {"cache_size": 0, "early_stopping": True}],
    ids=["rbf", "linear", "early stopping"],
)
def test_the_model_is_that_of_a_fit_in_memory(client, digits, parameters):
    X, y = digits
    make = LowDimSVC(n_centers=100, max_iter=4, tol=0, random_state=0).set_params(**parameters)
    with pytest.warns(Warning, match="did not converge"):
        reference = clone(make).fit(X, y)
    with pytest.warns(Warning, match="did not converge"):
        model = clone(make).fit(*chunked(X, y))
    assert_same_model(model, reference, X)


def test_streamed_rows_give_the_same_model(client, digits, streamed):
    X, y = digits
    make = {"n_centers": 60, "max_iter": 3, "random_state": 0, "loss": "log", "tol": 1.0}
    model = LowDimSVC(**make).fit(*chunked(X, y))
    assert_same_model(model, LowDimSVC(**make).fit(X, y), X)


def test_weights_and_validation_rows(client, digits):
    X, y = digits
    weights = np.arange(len(y)) % 3.0  # some are zero
    make = {"n_centers": 60, "random_state": 0, "loss": "log"}
    reference = LowDimSVC(**make).fit(X, y, weights, X_val=X[:300], y_val=y[:300])
    dX, dy = chunked(X, y)
    model = LowDimSVC(**make).fit(
        dX, dy, da.from_array(weights, chunks=250), X_val=dX[:300], y_val=dy[:300]
    )
    assert_same_model(model, reference, X)


def test_dataframes_give_names_and_labels_of_any_type(client, digits):
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"pixel{k}" for k in range(64)])
    labels = pd.Series(np.array(["zero", "one"])[(y > 4).astype(int)])
    make = {"n_centers": 60, "random_state": 0, "loss": "log"}
    reference = LowDimSVC(**make).fit(frame, labels)
    dframe, dlabels = dd.from_pandas(frame, npartitions=4), dd.from_pandas(labels, npartitions=4)
    model = LowDimSVC(**make).fit(dframe, dlabels)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert_same_model(model, reference, frame)
    assert model.predict(dframe).compute().tolist() == reference.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(dframe.rename(columns={"pixel0": "other"}))


# --- a worker is lost


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "streamed"])
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(client, digits, monkeypatch, kept):
    if not kept:
        monkeypatch.setattr(stores, "ROWS_SHARE", 0.0)
    X, y = digits
    make = {"n_centers": 60, "max_iter": 5, "tol": 0, "random_state": 0}
    with pytest.warns(Warning, match="did not converge"):
        reference = LowDimSVC(**make).fit(*chunked(X, y))
    killed = []
    told = FitCallbacks.iteration

    iterations = []

    def tell(self, so_far):
        if len(iterations) == 2:
            kill_a_worker(client)
            killed.append(len(iterations))
        iterations.append(so_far)
        return told(self, so_far)

    monkeypatch.setattr(FitCallbacks, "iteration", tell)
    with pytest.warns(Warning, match="did not converge"):
        model = LowDimSVC(**make).fit(*chunked(X, y))
    assert killed == [2]
    # The last digits of a product depend on where BLAS finds its arrays in a worker's memory.
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), reference.transform(X), rtol=1e-6, atol=1e-8)


def test_a_worker_killed_while_it_computes_is_made_up_for(client):
    X = np.random.default_rng(0).normal(size=(1000, 4))
    rows = DaskSource(da.from_array(X, chunks=(100, 4))).rows()
    groups, futures = rows._submit("sum", _slowly, ())
    kill_a_worker(client)
    assert len(groups) == 3
    np.testing.assert_allclose(sum(rows.collect(futures)), X.sum(axis=0))


def _slowly(block):
    import time

    time.sleep(0.3)
    return block.sum(axis=0)


# --- predictions


def test_predictions_of_collections_are_lazy_and_equal(digits):
    X, y = digits  # no Client is needed
    model = LowDimSVC(n_centers=60, random_state=0, loss="log").fit(X, y)
    dX, dy = chunked(X, y)
    with dask.config.set(scheduler="threads"):
        for method in ("predict", "transform", "decision_function", "predict_proba"):
            lazy = getattr(model, method)(dX)
            assert isinstance(lazy, da.Array)
            assert lazy.chunks[0] == dX.chunks[0]
            wanted = getattr(model, method)(X)
            assert lazy.dtype == wanted.dtype
            np.testing.assert_allclose(lazy.compute(), wanted, rtol=1e-9, atol=1e-12)
        assert model.score(dX, dy) == model.score(X, y)
        one = LowDimSVC(n_centers=20, random_state=0, loss="log").fit(X, y > 4)
        assert one.decision_function(dX).compute().shape == (len(y),)
        few = dX[dX[:, 0] > 1e9]  # no row, and chunks of unknown size
        assert model.transform(few).compute().shape == (0, 9)


def test_models_of_other_methods_predict_collections(digits):
    X, y = digits
    model = CategorySpace(kernel="linear").fit(X, y)
    predicted = model.predict(da.from_array(X, chunks=(500, 64)))
    with dask.config.set(scheduler="threads"):
        assert predicted.compute().tolist() == model.predict(X).tolist()
    model = KernelDiscriminantAnalysis(kernel="linear").fit(X, y)
    probabilities = model.predict_proba(da.from_array(X, chunks=(500, 64)))
    assert isinstance(probabilities, da.Array)
    with dask.config.set(scheduler="threads"):
        np.testing.assert_allclose(probabilities.compute(), model.predict_proba(X), atol=1e-12)


# --- errors


@pytest.mark.parametrize(
    "estimator",
    [
        CategorySpace(),
        ClassConstrainedEmbedding(),
        KernelDiscriminantAnalysis(),
        LowDimSVCCV(),
        MaxMarginProjection(),
    ],
)
def test_other_estimators_say_what_to_do(estimator, digits):
    with pytest.raises(TypeError, match=r"X\.compute\(\) makes one\), or use RBFNetClassifier"):
        estimator.fit(*chunked(*digits))


def test_without_a_client_the_error_says_how_to_connect(cluster, digits):
    with pytest.raises(ValueError, match=r"there is no Client: connect one.*Client\("):
        LowDimSVC().fit(*chunked(*digits))
    Client(cluster).close()
    with pytest.raises(ValueError, match="connect one before fit"):
        LowDimSVC().fit(*chunked(*digits))


def test_a_client_that_is_closed_during_a_fit(cluster, digits, monkeypatch):
    with Client(cluster) as client:
        monkeypatch.setattr(FitCallbacks, "iteration", lambda *_: client.close())
        with pytest.raises(ConnectionError, match=r"scheduler was lost.*connect a new Client"):
            LowDimSVC(n_centers=20).fit(*chunked(*digits))


def test_unknown_chunk_sizes(client, digits):
    X, y = chunked(*digits)
    with pytest.raises(ValueError, match=r"unknown size.*X\.compute_chunk_sizes\(\)"):
        LowDimSVC().fit(X[X[:, 0] > -1e9], y)


def test_a_block_with_another_number_of_columns_is_named(client):
    blocks = [
        da.from_delayed(dask.delayed(np.ones)((10, k)), shape=(10, 3), dtype=float)
        for k in (3, 3, 4)
    ]
    with pytest.raises(ValueError, match=r"block 2 of X has shape \(10, 4\).*3 columns"):
        LowDimSVC().fit(da.concatenate(blocks), np.arange(30) % 2)


def test_a_block_with_another_number_of_rows_is_named(client):
    blocks = [
        da.from_delayed(dask.delayed(np.eye)(k, 3), shape=(10, 3), dtype=float) for k in (10, 11)
    ]
    with pytest.raises(ValueError, match=r"block 1 of X has 11 rows, but .* says 10"):
        LowDimSVC().fit(da.concatenate(blocks), np.arange(20) % 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_found(client, digits, bad):
    X, y = digits
    X = X.copy()
    X[600, 5] = bad
    with pytest.raises(ValueError, match=r"block 2 of X .* not finite .*row 100 .*column 5"):
        LowDimSVC().fit(*chunked(X, y))


def test_other_bad_collections(client, digits):
    X, y = chunked(*digits)
    with pytest.raises(ValueError, match=r"collection of 1 dimension"):
        LowDimSVC().fit(y, y)
    with pytest.raises(ValueError, match="1796"):
        LowDimSVC().fit(X, y[1:])
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), npartitions=1)
    with pytest.raises(ValueError, match=r"column\(s\) \['b'\] that do not hold numbers"):
        LowDimSVC().fit(frame, [0, 1])
    nobody = frame[frame.a > 2]
    with pytest.raises(ValueError, match="y has no rows"):
        LowDimSVC().fit(nobody[["a"]], nobody.b)
    with pytest.raises(ValueError, match="X has no rows"):
        LowDimSVC().fit(nobody[["a"]], [])
    with pytest.raises(ValueError, match="all rows in memory"):
        LowDimSVC(mapping=DecisionTreeRegressor()).fit(X, y)


def test_classes_that_overlap_give_the_same_model_too(client):
    # Rows on the margin by the thousand: the SVMs must be solved well for this to hold.
    X, y = make_classification(2000, 8, n_informative=5, n_classes=3, random_state=0)
    make = {"n_centers": 50, "random_state": 0}
    reference = LowDimSVC(**make).fit(X, y)
    assert_same_model(LowDimSVC(**make).fit(*chunked(X, y, 300)), reference, X)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_nullable_columns_are_numbers(client, made):
    X, y = blobs()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["a"], frame["b"] = frame["a"].round().astype("Int64"), frame["b"].astype("Float64")
    frame["c"] = (frame["c"] > 0).astype("boolean")
    rows = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(y).astype("Int64"), npartitions=3)
    model = made(early_stopping=True, random_state=0).fit(rows, labels)
    assert model.classes_.dtype.kind == "i"
    # how many rows a product has may change its last digits
    np.testing.assert_allclose(model.transform(rows).compute(), model.transform(frame), 1e-9)
    single = dd.from_pandas(frame[["b"]].astype("Float32"), npartitions=3)
    assert made(random_state=0, max_iter=3).fit(single, labels).transform(single).dtype == "float32"
    frame.loc[40, "b"] = pd.NA
    with pytest.raises(ValueError, match="block 1 of X holds a value that is not finite"):
        made().fit(dd.from_pandas(frame, npartitions=3), labels)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["a", 1, "c"], TypeError, "y holds labels that cannot be sorted"),
        ([0.0, np.inf, 2.0], ValueError, "Input y contains infinity"),
    ],
)
def test_labels_that_are_none(client, made, labels, error, message):
    X, y = blobs()
    given = np.array(labels, dtype=object if "a" in labels else float)[y]
    with pytest.raises(error, match=message):
        made().fit(da.from_array(X, chunks=(30, 6)), da.from_array(given, chunks=30))


def test_columns_whose_names_are_numbers_have_none(client):
    X, y = blobs()
    frame = pd.DataFrame(X)
    model = LowDimSVC(random_state=0).fit(dd.from_pandas(frame, npartitions=3), y)
    assert not hasattr(model, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
