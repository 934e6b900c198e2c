"""Values that live with their blocks on a cluster: what travels, and what is lost with a worker."""

import os
import signal
from concurrent.futures import CancelledError

import numpy as np
import pytest
from sklearn.datasets import load_digits

from supred import LowDimSVC, RBFNetClassifier
from supred.base.callbacks import FitCallbacks

pytest.importorskip("distributed")
import dask.array as da
from distributed import Client

from supred.rows.cluster import store as stores
from supred.rows.cluster import values
from supred.rows.cluster.rows import DaskSource

pytestmark = pytest.mark.filterwarnings("ignore:LowDimSVC did not converge")
MAKE = {"n_centers": 60, "gamma": 0.5, "alpha": 1e-3, "max_iter": 4, "tol": 0, "random_state": 0}


@pytest.fixture(autouse=True)
def _as_with_many_rows(monkeypatch):
    """Have the SVMs solved over blocks, which those of few rows are not."""
    monkeypatch.setattr("supred.low_dim_svm.g_step.FEW_ROWS", 0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    X.flags.writeable = False
    return X, y


def chunked(X, y, rows=300):
    return da.from_array(X, chunks=(rows, X.shape[1])), da.from_array(y, chunks=rows)


@pytest.fixture
def killed_in_the_g_step(client, monkeypatch):
    """Have some workers killed when the coordinates are asked for the seventh time."""
    ask, calls = values.DaskValues.sum, []

    def prepare(n_killed):
        def ask_and_kill(self, function, *arguments):
            calls.append(function)
            if len(calls) == 7:
                for pid in list(client.run(os.getpid).values())[:n_killed]:
                    os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            return ask(self, function, *arguments)

        monkeypatch.setattr(values.DaskValues, "sum", ask_and_kill)
        return calls

    return prepare


def test_workers_killed_during_the_g_step_change_nothing(client, digits, killed_in_the_g_step):
    reference = LowDimSVC(**MAKE).fit(*chunked(*digits))
    calls = killed_in_the_g_step(2)  # of three
    model = LowDimSVC(**MAKE).fit(*chunked(*digits))
    assert len(calls) > 7
    np.testing.assert_array_equal(model.coef_, reference.coef_)
    np.testing.assert_array_equal(model.mapping_.W, reference.mapping_.W)


def test_all_workers_killed_at_once(client, digits, killed_in_the_g_step, monkeypatch):
    monkeypatch.setattr("supred.rows.cluster.rows.LOOK_AFTER", 2)
    killed_in_the_g_step(3)
    with pytest.raises(
        RuntimeError, match=r"all workers .* lost at once; fit again\. .* checkpoint="
    ):
        LowDimSVC(**MAKE).fit(*chunked(*digits))


def test_tasks_that_are_cancelled(client, digits, monkeypatch):
    def cancel(self, function, *arguments):
        client.cancel(self.futures, force=True)
        return ask(self, function, *arguments)

    ask = values.DaskValues.visit
    monkeypatch.setattr(values.DaskValues, "visit", cancel)
    with pytest.raises(RuntimeError, match=r"were cancelled, .* fit again\. .* checkpoint="):
        LowDimSVC(**MAKE).fit(*chunked(*digits))


def test_what_travels_does_not_grow_with_the_rows(client, digits):
    """A pass over four times the rows sends and receives hardly more; a byte a row comes once."""
    X, y = digits
    traffic = []
    for times in (2, 8):  # both too many for SVMs that see all rows
        rows, labels = np.tile(X, (times, 1)), np.tile(y, times)
        source = DaskSource(da.from_array(rows, chunks=(300 * times, 64)))
        LowDimSVC(**MAKE).fit(source, labels.astype(np.uint8))
        traffic.append(source.store.traffic)
    more = 6 * len(y)
    few, many = traffic
    assert many.bytes_received / many.passes < 1.2 * few.bytes_received / few.passes
    assert (many.bytes_sent - 8 * more) / many.passes < 1.2 * few.bytes_sent / few.passes


def test_labels_are_encoded_where_they_lie(client, digits):
    X, y = digits
    names = np.array([f"class {k}" for k in range(10)])[y]
    expected = LowDimSVC(**MAKE).fit(X, names)
    model = LowDimSVC(**MAKE).fit(*chunked(X, names))
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert (model.predict(X) == expected.predict(X)).all()
    missing = names.astype(object)
    missing[500] = None
    with pytest.raises(ValueError, match="a block of y has 1 missing label"):
        LowDimSVC(**MAKE).fit(*chunked(X, missing))


def test_a_fit_goes_on_after_the_scheduler_was_lost(start_cluster, digits, tmp_path, monkeypatch):
    make = {**MAKE, "checkpoint": tmp_path / "fit.checkpoint"}
    told, iterations = FitCallbacks.iteration, []
    with start_cluster() as first, Client(first) as client:
        reference = LowDimSVC(**MAKE).fit(*chunked(*digits))

        def tell(self, so_far):
            iterations.append(so_far)
            if len(iterations) == 3:
                client.close()
            return told(self, so_far)

        with monkeypatch.context() as patch:
            patch.setattr(FitCallbacks, "iteration", tell)
            with pytest.raises(ConnectionError, match=r"connect a new Client .* checkpoint="):
                LowDimSVC(**make).fit(*chunked(*digits))
    with start_cluster() as second, Client(second):
        model = LowDimSVC(**make).fit(*chunked(*digits))
    np.testing.assert_array_equal(model.coef_, reference.coef_)
    np.testing.assert_array_equal(model.mapping_.W, reference.mapping_.W)


def test_a_fit_inside_of_a_task_leaves_its_thread_to_its_own_tasks(digits):
    X, y = digits[0][:200], digits[1][:200]
    rows, labels = da.from_array(X, chunks=(60, 64)), da.from_array(y, chunks=60)

    def fitted():
        return LowDimSVC(n_centers=10, random_state=0).fit(rows, labels).predict(X)

    with Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        found = client.submit(fitted, pure=False).result(timeout=30)
    wanted = LowDimSVC(n_centers=10, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_tasks_that_are_cancelled_before_the_first_iteration(client, digits, made):
    X, y = digits[0][:200], digits[1][:200]
    rows, labels = da.from_array(X, chunks=(60, 64)), da.from_array(y, chunks=60)

    def cancelled(block):
        raise CancelledError

    for data in (
        (rows, labels.map_blocks(cancelled, meta=y[:0])),
        (rows.map_blocks(cancelled, meta=X[:0]), labels),
    ):
        with pytest.raises(RuntimeError, match="the tasks of the fit were cancelled"):
            made(random_state=0).fit(*data)


def test_workers_that_never_come_back():
    with (
        Client(processes=False, n_workers=0, dashboard_address=":0") as client,
        pytest.raises(RuntimeError, match="and none has come for"),
    ):
        stores.present_workers(client, patience=0.1)
