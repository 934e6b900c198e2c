"""A fit that was interrupted ends at the model of one that was not."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from supred import LowDimSVC, RowBlocks
from supred.base.container import read_container
from supred.low_dim_svm.mappings.basis import BasisMapping
from tests.family import blobs

X, Y = blobs(n_rows=300, n_features=4, n_classes=4, spread=3.0)
MODEL = LowDimSVC(n_centers=25, max_iter=8, tol=0, random_state=0)
pytestmark = pytest.mark.filterwarnings("ignore:LowDimSVC did not converge")


def interrupt(monkeypatch, model, iteration, *data, **more):
    """Fit, and press Ctrl-C in the f step of an iteration."""
    calls = []
    regress = BasisMapping.regress

    def interrupted(self, coordinates, mu):
        calls.append(mu)
        if len(calls) == iteration + 1:  # the start is the first call
            raise KeyboardInterrupt
        return regress(self, coordinates, mu)

    with monkeypatch.context() as patch:
        patch.setattr(BasisMapping, "regress", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(*data, **more)


def assert_same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.mapping_.W, other.mapping_.W)
    for name, values in one.history_.items():
        if name != "seconds":
            np.testing.assert_array_equal(values, other.history_[name])
    assert (np.diff(one.history_["seconds"]) > 0).all()
    assert (one.best_iter_, one.n_iter_) == (other.best_iter_, other.n_iter_)
    assert one.stopping_reason_ == other.stopping_reason_


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"mapping": "linear", "mu_factor": 1},
        {"early_stopping": True},
        {"loss": "log"},
        {"multi_class": "ovo"},
        {"n_components": 2},  # the start needs a regression of its own
        {"init": "random"},
        {"inner_tol": 0.05},
        {"tol": 0.05},
    ],
)
def test_a_resumed_fit_ends_at_the_same_model(tmp_path, monkeypatch, parameters):
    path = tmp_path / "fit.checkpoint"
    expected = clone(MODEL).set_params(**parameters).fit(X, Y)
    model = clone(MODEL).set_params(checkpoint=path, **parameters)
    # The start of n_components=2 calls the regression once more.
    interrupt(monkeypatch, model, 3 if "n_components" not in parameters else 4, X, Y)
    assert path.exists()
    assert (
        len(read_container(path, "checkpoint of LowDimSVC")["state"].history["mu"]) == 3
    )  # start, 1, 2
    fitted = clone(model).fit(X, Y)
    assert_same(fitted, expected)
    assert not path.exists()


def test_a_fit_that_is_interrupted_twice(tmp_path, monkeypatch):
    model = clone(MODEL).set_params(checkpoint=str(tmp_path / "c"))
    interrupt(monkeypatch, model, 2, X, Y)
    # A resumed fit does not begin with a regression.
    interrupt(monkeypatch, model, 3, X, Y)
    assert_same(model.fit(X, Y), clone(MODEL).fit(X, Y))


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_what_was_drawn_is_in_the_file(tmp_path, monkeypatch, random_state):
    """Centres and held-out rows of a resumed fit must be those of the interrupted one."""
    path = tmp_path / "c"
    model = clone(MODEL).set_params(
        checkpoint=path, random_state=random_state, early_stopping=True, n_iter_no_change=8
    )
    interrupt(monkeypatch, model, 3, X, Y)
    seed = read_container(path, "checkpoint of LowDimSVC")["seed"]
    fitted = clone(model).fit(X, Y)
    assert_same(fitted, clone(model).set_params(random_state=seed, checkpoint=None).fit(X, Y))


def test_rows_from_a_file(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", X)
    rows = RowBlocks(tmp_path / "X.npy")
    model = clone(MODEL).set_params(checkpoint=tmp_path / "c")
    interrupt(monkeypatch, model, 3, rows, Y, X_val=rows, y_val=Y)
    # The same rows in memory are the same data.
    assert_same(model.fit(X, Y, X_val=X, y_val=Y), clone(MODEL).fit(X, Y, X_val=X, y_val=Y))


def test_a_failed_write_leaves_the_last_state(tmp_path, monkeypatch):
    path = tmp_path / "c"
    model = clone(MODEL).set_params(checkpoint=path)
    interrupt(monkeypatch, model, 3, X, Y)
    before = path.read_bytes()
    write_array = np.lib.format.write_array

    def full(file, array, **options):
        write_array(file, array, **options)
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("numpy.lib.format.write_array", full)
        with pytest.raises(OSError, match="no space left"):
            model.fit(X, Y)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
    assert_same(model.fit(X, Y), clone(MODEL).fit(X, Y))


def test_another_fit_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "c"
    model = clone(MODEL).set_params(checkpoint=path)
    interrupt(monkeypatch, model, 3, X, Y)
    kept = path.read_bytes()

    def refused(message, *data, **parameters):
        with pytest.raises(ValueError, match=f"is of another fit; it differs in {message}"):
            clone(model).set_params(**parameters).fit(*data)

    refused(r"C \(1.0 there, 2.0 here\)", X, Y, C=2.0)
    refused(r"centers \('kmeans' there", X, Y, centers=X[:25])
    refused(r"shape of X \(300 x 4 there, 299 x 4 here\)", X[:-1], Y[:-1])
    refused("rows of X", X + 1, Y)
    refused("precision of X", X.astype(np.float32), Y)
    refused("y ", X, Y[::-1])
    refused("weights of y", X, Y, np.arange(1.0, 301))
    with pytest.raises(ValueError, match="shape of X_val"):
        clone(model).fit(X, Y, X_val=X, y_val=Y)
    assert path.read_bytes() == kept
    # These change nothing in the model.
    clone(model).set_params(n_jobs=1, cache_size=1.0).fit(X, Y)


def test_bad_arguments(tmp_path):
    path = tmp_path / "c"
    path.write_text("something else")
    with pytest.raises(
        ValueError, match="is not a checkpoint that this version of LowDimSVC can resume"
    ):
        clone(MODEL).set_params(checkpoint=path).fit(X, Y)
    assert path.read_text() == "something else"
    np.savez(tmp_path / "old.npz", document=np.zeros(3))  # what earlier versions wrote
    with pytest.raises(ValueError, match="is not a checkpoint that this version"):
        clone(MODEL).set_params(checkpoint=tmp_path / "old.npz").fit(X, Y)
    with pytest.raises(FileNotFoundError, match="does not exist; make it"):
        clone(MODEL).set_params(checkpoint=tmp_path / "no" / "c").fit(X, Y)
    with pytest.raises(OSError, match="is a folder"):
        clone(MODEL).set_params(checkpoint=tmp_path).fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint=7: give the path"):
        clone(MODEL).set_params(checkpoint=7).fit(X, Y)
    with pytest.raises(ValueError, match=r"cannot be combined with mapping=Ridge\(\)"):
        LowDimSVC(mapping=Ridge(), checkpoint=tmp_path / "d").fit(X, Y)
