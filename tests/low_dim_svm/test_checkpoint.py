"""A fit that was interrupted ends at the model of one that was not."""

import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from supred import LowDimSVC, RowBlocks
from supred.base.container import DESCRIPTION, read_container, write_container
from supred.low_dim_svm.checkpoint import AlternationCheckpoint
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
    refused("rows of X", X + 1e-12 * (np.arange(len(X)) == 2)[:, None], Y)
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


KIND = "checkpoint of LowDimSVC"
BEGIN_ANEW = "is not a checkpoint of this fit: {}; delete it to begin anew"


def rewrite(path, **changes):
    """Write the file again with other entries; a function gets what is there."""
    value = read_container(path, KIND)
    for name, change in changes.items():
        value[name] = change(value[name]) if callable(change) else change
    write_container(path, KIND, value, overwrite=True, compress=False)


def in_state(**changes):
    return lambda state: replace(state, **{k: f(getattr(state, k)) for k, f in changes.items()})


def in_history(name, change):
    return in_state(history=lambda h: {**h, name: change(h[name])})


def nan_like(array):
    return np.full(array.shape, np.nan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: 5, "its state is a int"),
        (in_state(mapping=lambda m: 5), "'int' object is not subscriptable"),
        (in_state(mapping=lambda m: {}), "'parameters'"),
        (in_state(mapping=lambda m: {"parameters": (1, 2)}), "W is int, not an array of float64"),
        (in_state(classifier=lambda c: (nan_like(c[0]), c[1])), "coef holds a number that is not"),
        (in_state(classifier=lambda c: (c[0] + 1e70, c[1])), "coef holds a number .* 1e[+]60"),
        (in_state(classifier=lambda c: (c[0][:1], c[1])), r"coef is an array of .* shape \(1, 3\)"),
        (in_state(classifier=lambda c: (c[0], c[1].astype("f4"))), "intercept is .* of float32"),
        (in_state(classifier=lambda c: c[:1]), "not enough values to unpack"),
        (in_state(kept=lambda k: (k[0], "xy")), "coef is str"),
        (in_state(mu=lambda mu: float("nan")), "mu=nan does not follow from mu=2.0"),
        (in_state(mu=lambda mu: 1e300), "mu=1e[+]300 does not follow"),
        (in_state(mu=lambda mu: None), "'<=' not supported"),
        (in_state(best=lambda best: best[:1]), "best is an array"),
        (in_state(best=lambda best: (float("nan"), 0.0)), "best holds a number"),
        (in_state(best_iter=lambda k: -1), "best_iter=-1 is out of range"),
        (in_state(best_iter=lambda k: 3), "best_iter=3 is out of range"),
        (in_state(history=lambda h: {}), "'mu'"),
        (in_state(history=lambda h: {k: v[:0] for k, v in h.items()}), "its length=0"),
        (in_state(history=lambda h: {k: np.tile(v, 9) for k, v in h.items()}), "its length=27"),
        (in_history("gap", list), "gap is list"),
        (in_history("train_error", nan_like), "history holds a number"),
        (in_history("mu", lambda mu: mu[::-1].copy()), "mu=.* does not follow"),
    ],
)
def test_an_edited_state_is_refused(tmp_path, monkeypatch, change, message):
    path = tmp_path / "c"
    model = clone(MODEL).set_params(checkpoint=path)
    interrupt(monkeypatch, model, 3, X, Y)
    rewrite(path, state=change)
    kept = path.read_bytes()
    with pytest.raises(ValueError, match=BEGIN_ANEW.format(f".*{message}.*")) as raised:
        model.fit(X, Y)
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == kept


def test_edited_identities_and_seeds(tmp_path, monkeypatch):
    path = tmp_path / "c"
    model = clone(MODEL).set_params(checkpoint=path, random_state=None)
    interrupt(monkeypatch, model, 3, X, Y)
    kept = path.read_bytes()
    for changes, message in (
        ({"identity": 5}, "is not a checkpoint that this version of LowDimSVC can resume"),
        ({"identity": {"C": ["a\nb"] * 99}}, r"C \(.* there, 1.0 here\)"),
        ({"identity": {f"{k}\n": "x" for k in range(99)}}, r"and \d+ more"),
        ({"seed": -1}, BEGIN_ANEW.format("seed=-1 .*")),
        ({"seed": True}, BEGIN_ANEW.format("seed=True .*")),
        ({"seed": None}, BEGIN_ANEW.format("it has no seed")),
    ):
        path.write_bytes(kept)
        rewrite(path, **changes)
        with pytest.raises(ValueError, match=message) as raised:
            model.fit(X, Y)
        assert "\n" not in str(raised.value)


def test_arrays_of_another_fit_are_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "c"
    model = clone(MODEL).set_params(checkpoint=path)
    interrupt(monkeypatch, model, 3, X, Y)

    def unpack(*arguments, **options):
        raise AssertionError("an array is unpacked")

    monkeypatch.setattr("supred.base.container.read_array", unpack)
    with pytest.raises(ValueError, match="is of another fit; it differs in C"):
        clone(model).set_params(C=2.0).fit(X, Y)


def test_a_compressed_checkpoint_is_refused(tmp_path, monkeypatch):
    """It is never written like that, and could unpack to a thousand times its size."""
    path = tmp_path / "c"
    model = clone(MODEL).set_params(checkpoint=path)
    interrupt(monkeypatch, model, 3, X, Y)
    with zipfile.ZipFile(path) as archive:
        description = archive.read(DESCRIPTION)
    np.save(tmp_path / "zeros.npy", np.zeros(4_000_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DESCRIPTION, description)
        archive.write(tmp_path / "zeros.npy", "arrays/0.npy")
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"declares \d+ bytes of content, but has \d+"):
        model.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6


def test_a_state_that_no_fit_goes_on_from_is_not_kept(tmp_path, monkeypatch):
    """What a file holds is finite, so that NaN in it tells that it was changed."""
    path = tmp_path / "c"
    interrupt(monkeypatch, clone(MODEL).set_params(checkpoint=path), 3, X, Y)
    state = read_container(path, KIND)["state"]
    checkpoint = AlternationCheckpoint(tmp_path / "d", "LowDimSVC", {})
    for change in (
        in_state(classifier=lambda c: (nan_like(c[0]), c[1])),
        in_history("mu", lambda mu: mu * 1e60),
    ):
        checkpoint.save(change(state))
        assert not (tmp_path / "d").exists()
    checkpoint.save(state)
    assert (tmp_path / "d").exists()
