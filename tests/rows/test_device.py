"""Rows of the host that are visited on a device: the models of the same rows in NumPy."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from supred import LowDimSVC, RBFNetClassifier, RowBlocks, on_device
from supred.common.arrays import HOST, Place, on_host
from supred.rows.blocks import rows_of
from supred.rows.device import DeviceRows, place_named
from tests.devices import putter

BLOCK = 300  # rows


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    putter(f"torch-{request.param}")
    import torch

    return torch.device(request.param)


@pytest.fixture
def small_blocks(monkeypatch):
    """Let blocks have few rows, whatever is made of them."""
    monkeypatch.setattr("supred.rows.device.rows_per_block", lambda *sizes: BLOCK)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = (X + np.random.default_rng(0).normal(size=X.shape)).astype(np.float32)
    X.flags.writeable = False
    return X[:1000], y[:1000]


@pytest.fixture(params=["memory", "map", "files"])
def rows(request, digits, tmp_path):
    """Return the digits in three kinds of places."""
    if request.param == "memory":
        return digits[0]
    path = tmp_path / "rows.npy"
    np.save(path, digits[0])
    return np.load(path, mmap_mode="r") if request.param == "map" else RowBlocks(path)


def test_sums_maps_and_values_are_those_of_the_host(device, digits, small_blocks):
    X, y = digits
    there = rows_of(on_device(X, device))
    assert [part.stop for part in there.parts()] == [300, 600, 900, 1000]
    np.testing.assert_allclose(
        on_host(there.sum(lambda block, w: w @ block, np.ones(len(X), dtype=np.float32))),
        X.sum(axis=0),
        rtol=1e-4,
        atol=1e-3,
    )
    halves = there.map(lambda block: block / 2)
    np.testing.assert_array_equal(halves, X / 2)
    assert isinstance(halves, np.ndarray)
    doubled, total = there.attach(lambda first, y: y, y).visit(
        lambda block, y: (2 * y, int(y.sum()))
    )
    assert total == y.sum()
    assert all(isinstance(value, np.ndarray) for value in doubled.values)
    np.testing.assert_array_equal(np.concatenate(doubled.values), 2 * y)
    np.testing.assert_array_equal(on_host(there.take(np.array([7, 3]))), X[[7, 3]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "options", [{}, {"early_stopping": True}, {"mapping": "linear"}, {"cache_size": 0}]
)
def test_svms_of_rows_from_the_host(device, rows, digits, small_blocks, options):
    X, y = digits
    weights = 1.0 * (np.arange(len(y)) % 7 > 0)
    model = LowDimSVC(n_centers=40, max_iter=3, random_state=0, **options)
    expected = model.fit(X, y, weights).decision_function(X)
    model.fit(on_device(rows, device), y, weights)
    found = model.decision_function(on_device(rows, device))
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())
    np.testing.assert_array_equal(model.predict(on_device(rows, device)), model.predict(X))


def test_network_of_rows_from_the_host(device, rows, digits, small_blocks):
    X, y = digits
    model = RBFNetClassifier(n_centers=20, max_iter=60, metric=8, noise=1.0, random_state=0)
    labels = model.fit(X, y).predict(X)
    model.fit(on_device(rows, device), y)
    assert np.mean(model.predict(on_device(rows, device)) == labels) > 0.97
    assert np.mean(model.predict(X) == labels) > 0.97


def test_the_device_holds_a_few_blocks_at_a_time(device, digits, small_blocks, monkeypatch):
    put = Place.put
    largest = 0

    def counting(place, values):
        nonlocal largest
        if not place.is_host and np.ndim(values) in (1, 2):  # rows, not small matrices
            largest = max(largest, len(values))
        return put(place, values)

    monkeypatch.setattr(Place, "put", counting)
    X, y = digits
    model = LowDimSVC(n_centers=20, max_iter=2, cache_size=0, gamma=0.001, alpha=0.1)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(on_device(X, device), y).predict(on_device(X, device))
    assert 0 < largest <= BLOCK


def test_numbers_are_checked_as_they_are_read(device, digits, small_blocks):
    X, y = digits[0].copy(), digits[1]
    X[700, 5] = np.nan
    with pytest.raises(ValueError, match="NaN: column 5 of row 700"):
        LowDimSVC().fit(on_device(X, device), y)


def test_labels_and_weights_come_with_the_rows(device, digits, tmp_path):
    X, y = digits
    np.save(tmp_path / "rows.npy", np.column_stack([X, y, 1.0 + (y > 4)]))
    source = on_device(RowBlocks(tmp_path / "rows.npy", target=64, sample_weight=65), device)
    assert isinstance(source.rows(), DeviceRows)
    np.testing.assert_array_equal(source.labels(), y)
    np.testing.assert_array_equal(source.select(np.arange(5)).at_home.rows().whole(), X[:5])
    model = LowDimSVC(n_centers=30, random_state=0).fit(source)
    assert model.score(source) > 0.9


@pytest.mark.parametrize("rows", [[[1.0]], sparse.eye(3), np.ones(3), np.array([["a"]])])
def test_what_cannot_be_copied_is_refused(device, rows):
    with pytest.raises(TypeError, match="on_device takes NumPy arrays of two axes"):
        on_device(rows, device)
    assert on_device(rows, "cpu") is rows


def test_places_by_name():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(ValueError, match="device='gpu' is not known"):
        place_named("gpu")
    with pytest.raises(ValueError, match="device='cuda:99' is not there"):
        place_named("cuda:99")
    assert place_named(torch.device("cpu")).device == torch.device("cpu")
    assert place_named("cpu") == HOST
    if not torch.cuda.is_available():
        assert place_named("auto") == HOST
        assert on_device(X := np.eye(2)) is X


def test_without_torch_the_host_computes(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert place_named("auto") == HOST
    with pytest.raises(ImportError, match=r"install 'supred\[torch\]'"):
        place_named("cuda")


def test_a_device_that_is_no_name():
    with pytest.raises(ValueError, match=r"device=.* is not known"):
        on_device(np.ones((2, 2)), np.ones(2))
