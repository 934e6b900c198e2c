"""LowDimSVC on memory maps and files: the same model as in memory, and nothing kept."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from supred import CategorySpace, LowDimSVC, LowDimSVCCV, RowBlocks
from tests.family import blobs

X, Y = blobs(n_rows=400, n_features=5, n_classes=3, spread=4.0)
MODEL = LowDimSVC(n_centers=30, max_iter=5, tol=0, random_state=0)
pytestmark = pytest.mark.filterwarnings("ignore:LowDimSVC did not converge")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("supred.rows.blocks.LEAST_BLOCK_ROWS", 64)
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 1)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


def mapped(path):
    return np.load(path, mmap_mode="r")


def assert_same(one, other, tol=0.0):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=tol, atol=tol)
    np.testing.assert_allclose(one.mapping_.W, other.mapping_.W, rtol=tol, atol=tol)
    assert one.best_iter_ == other.best_iter_


@pytest.mark.parametrize("source", [RowBlocks, mapped])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"mapping": "linear"},
        {"early_stopping": True},
        {"centers": "random", "loss": "log"},
        {"centers": "all", "max_iter": 1},
        {"cache_size": 0.1},
    ],
)
def test_same_model_as_in_memory(path, source, parameters):
    model = clone(MODEL).set_params(**parameters)
    expected = clone(model).fit(X, Y)
    fitted = clone(model).fit(source(path), Y)
    # Without a held-out part the blocks are the same, and so is every digit.
    tol = 1e-7 if model.early_stopping is True else 0.0
    assert_same(fitted, expected, tol)
    for name in ("transform", "decision_function", "predict"):
        found, wanted = getattr(fitted, name)(source(path)), getattr(expected, name)(X)
        np.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)
    assert fitted.score(source(path), Y) == expected.score(X, Y)
    assert fitted.n_features_in_ == 5


@pytest.mark.parametrize("source", [RowBlocks, mapped])
def test_rows_without_weight_are_left_out(path, source):
    weights = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    expected = clone(MODEL).fit(X, Y, sample_weight=weights)
    fitted = clone(MODEL).fit(source(path), Y, sample_weight=weights)
    # The blocks have other ends, and sums other roundings.
    assert_same(fitted, expected, tol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_memory_maps_of_other_types(tmp_path, dtype):
    rows = np.abs(10 * X).astype(dtype)
    np.save(tmp_path / "rows.npy", rows)
    whole = rows if dtype == np.float32 else rows.astype(float)
    expected = clone(MODEL).fit(whole, Y)
    fitted = clone(MODEL).fit(mapped(tmp_path / "rows.npy"), Y)
    assert_same(fitted, expected)
    np.testing.assert_array_equal(
        fitted.transform(mapped(tmp_path / "rows.npy")), expected.transform(whole)
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_weights_and_names_from_the_file(tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcde"))
    names = np.array(["red", "green", "blue"])[Y]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))
    table["colour"], table["weight"] = names, weights
    if kind == "csv":
        table.to_csv(tmp_path / "t.csv", index=False)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet(tmp_path / "t.parquet")
    rows = RowBlocks(tmp_path / f"t.{kind}", target="colour", sample_weight="weight")
    fitted = clone(MODEL).fit(rows, X_val=rows)
    expected = clone(MODEL).fit(X, names, weights, X_val=X, y_val=names, sample_weight_val=weights)
    assert_same(fitted, expected, tol=1e-9)
    assert fitted.feature_names_in_.tolist() == list("abcde")
    assert fitted.score(rows) == pytest.approx(expected.score(X, names, weights))
    frame = table[list("abcde")]
    np.testing.assert_allclose(fitted.transform(frame), fitted.transform(rows), atol=1e-9)
    with pytest.raises(ValueError, match=r"feature 0 is 'b', but was 'a'"):
        fitted.predict(RowBlocks(tmp_path / f"t.{kind}", columns=list("bacde")))


def test_sparse_rows_from_svmlight(tmp_path):
    from scipy import sparse
    from sklearn.datasets import dump_svmlight_file

    thin = np.where(np.median(X, axis=0) < X, X, 0.0)
    dump_svmlight_file(thin, Y, str(tmp_path / "a.svmlight"), zero_based=False)
    rows = RowBlocks(tmp_path / "a.svmlight", n_features=5)
    for mapping in ("rbf", "linear"):
        model = clone(MODEL).set_params(mapping=mapping)
        expected = clone(model).fit(sparse.csr_matrix(thin), Y)
        fitted = clone(model).fit(rows)
        # The ridge is small and W large: sums in another order show in it, not in what it maps.
        assert_same(fitted, expected, tol=1e-5)
        np.testing.assert_allclose(fitted.transform(rows), expected.transform(thin), atol=1e-6)


def test_wide_rows_from_a_file(tmp_path):
    wide = np.random.default_rng(0).normal(size=(60, 100))
    wide[:, :5] += 3 * Y[:60, None]
    np.save(tmp_path / "wide.npy", wide)
    model = clone(MODEL).set_params(mapping="linear")
    expected = clone(model).fit(wide, Y[:60])
    assert_same(clone(model).fit(RowBlocks(tmp_path / "wide.npy"), Y[:60]), expected)


def test_cache_keeps_the_rows_and_changes_nothing(path, monkeypatch):
    fitted = clone(MODEL).fit(X, Y)
    assert_same(clone(MODEL).fit(RowBlocks(path, cache=True), Y), fitted)
    made = []
    prepare = "supred.low_dim_svm.mappings.basis.BasisMapping.rows_like"
    from supred.low_dim_svm.mappings.basis import BasisMapping

    original = BasisMapping.rows_like
    monkeypatch.setattr(
        prepare, lambda self, X, room: (made.append(room), original(self, X, room))[1]
    )
    for rows, size in ((X, None), (RowBlocks(path), None), (RowBlocks(path, cache=True), None),
                       (mapped(path), None), (mapped(path), 7.0)):  # fmt: skip
        clone(MODEL).set_params(cache_size=size).fit(rows, Y)
    assert [room / 2**20 for room in made] == [1000, 0, 1000, 0, 7]


@pytest.mark.parametrize("source", [RowBlocks, mapped])
def test_memory_does_not_grow_with_the_features(tmp_path, source, monkeypatch):
    monkeypatch.undo()
    n_rows, n_features = 20_000, 200  # 32 MB
    rows = np.lib.format.open_memmap(
        tmp_path / "big.npy", mode="w+", dtype=np.float64, shape=(n_rows, n_features)
    )
    y = np.random.default_rng(0).integers(0, 2, n_rows)
    rows[:] = y[:, None] + np.random.default_rng(1).normal(size=(n_rows, 1))
    rows.flush()
    monkeypatch.setattr("supred.rows.blocks.BLOCK_NUMBERS", 100_000)
    model = LowDimSVC(n_centers=100, max_iter=2, tol=0, random_state=0)
    X_file = source(tmp_path / "big.npy")
    peaks = []
    for _ in range(2):  # threads that other tests have left allocate memory, too
        tracemalloc.start()
        model.fit(X_file, y)
        model.predict(X_file)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert min(peaks) < 0.5 * rows.nbytes


def test_a_memory_map_is_an_array_to_a_regressor(path):
    model = LowDimSVC(mapping=Ridge(), max_iter=3, random_state=0)
    expected = clone(model).fit(X, Y)
    fitted = clone(model).fit(mapped(path), Y)
    np.testing.assert_allclose(fitted.transform(RowBlocks(path)), expected.transform(X))
    with pytest.raises(ValueError, match="needs all rows in memory to be fitted"):
        clone(model).fit(RowBlocks(path), Y)


def test_bad_input(path, tmp_path):
    with pytest.raises(ValueError, match=r"requires y to be passed, or a RowBlocks with target="):
        MODEL.fit(RowBlocks(path))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MODEL.fit(RowBlocks(path), Y[:-1])
    with pytest.raises(ValueError, match=r"missing label\(s\), the first in row 1"):
        MODEL.fit(RowBlocks(path), [0.0, None, *Y[2:]])
    broken = X.copy()
    broken[300, 2] = np.nan
    np.save(tmp_path / "nan.npy", broken)
    with pytest.raises(ValueError, match=r"contains NaN: column 2 of row 300 of .*nan.npy"):
        MODEL.fit(RowBlocks(tmp_path / "nan.npy"), Y)
    with pytest.raises(ValueError, match=r"contains NaN: column 2 of row 300;"):
        MODEL.fit(mapped(tmp_path / "nan.npy"), Y)
    fitted = clone(MODEL).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but LowDimSVC is expecting 5"):
        fitted.predict(RowBlocks(path, columns=[0, 1]))
    for model in (CategorySpace(), LowDimSVCCV()):
        with pytest.raises(TypeError, match="needs all rows in memory, but X is a RowBlocks"):
            model.fit(RowBlocks(path), Y)
    with pytest.raises(TypeError, match="needs all rows in memory"):
        CategorySpace().fit(X, Y).predict(RowBlocks(path))


@pytest.mark.parametrize("source", [RowBlocks, mapped])
def test_validation_rows_that_do_not_fit_are_called_so(path, tmp_path, source):
    np.save(tmp_path / "narrow.npy", X[:, :3])
    with pytest.raises(ValueError, match=r"X_val and y_val: X has 3 features, .* expecting 5"):
        clone(MODEL).fit(source(path), Y, X_val=source(tmp_path / "narrow.npy"), y_val=Y)
