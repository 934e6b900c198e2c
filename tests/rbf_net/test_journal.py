"""An interrupted fit of a network goes on to the same model, and from nothing else than its own."""

import numpy as np
import pytest
from sklearn.base import clone

from supred import RBFNetClassifier
from supred.base.checkpoint import Checkpoint
from supred.base.container import read_container, write_container
from tests.family import blobs

X, Y = blobs(n_rows=60, n_features=3, n_classes=3, spread=3.0)
KIND = "checkpoint of RBFNetClassifier"


class InterruptedError(Exception):
    pass


def interrupt(monkeypatch, model, most=3):
    """Fit, and stop after so many descents."""
    save, saved = Checkpoint.save, []

    def stop(file, state):
        save(file, state)
        saved.append(state)
        if len(saved) == most:
            raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", stop)
        with pytest.raises(InterruptedError):
            model.fit(X, Y)


def quick(path=None, **parameters):
    settings = {"n_centers": 4, "max_iter": 10, "random_state": 0, **parameters}
    return RBFNetClassifier(checkpoint=path, **settings)


def in_first(name, change):
    return lambda entries: [{**entries[0], name: change(entries[0][name])}, *entries[1:]]


def with_nan(array):
    array = array.copy()
    array[0, 1] = np.nan
    return array


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entries: 5, "its state is a int"),
        (lambda entries: [5], "a descent is not made of first, flat, losses, second, step"),
        (lambda entries: [{"flat": np.zeros(3)}], "a descent is not made of"),
        (in_first("step", lambda step: 2**40), f"step is {2**40}, not"),
        (in_first("step", lambda step: "x" * 999), "step is 'xxx"),
        (in_first("flat", with_nan), "flat holds a number that is not finite"),
        (in_first("first", with_nan), "first holds a number that is not finite"),
        (in_first("second", with_nan), "second holds a number that is not finite"),
        (in_first("second", lambda array: array - 1), "second, of squares, holds a negative"),
        (in_first("flat", lambda array: array[:1]), r"flat is an array of float32 of shape \(1, "),
        (in_first("flat", lambda array: array.astype(float)), "flat is an array of float64"),
        (in_first("losses", lambda array: 5), "losses is int, not an array of float64"),
    ],
)
def test_an_edited_state_is_refused(tmp_path, monkeypatch, change, message):
    path = tmp_path / "state"
    interrupt(monkeypatch, quick(path))
    value = read_container(path, KIND)
    value["state"] = change(value["state"])
    write_container(path, KIND, value, overwrite=True, compress=False)
    expected = f"state is not a checkpoint of this fit: .*{message}.*; delete it to begin anew"
    with pytest.raises(ValueError, match=expected) as raised:
        quick(path).fit(X, Y)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


def test_a_descent_that_diverged_is_done_again(tmp_path, monkeypatch):
    """What a file holds is finite, so that NaN in it tells that it was changed."""
    extreme = {"noise": 1e30, "learning_rate": 10.0, "early_stopping": True}
    expected = quick(**extreme).fit(X, Y)
    path = tmp_path / "state"
    interrupt(monkeypatch, quick(path, **extreme))
    assert None in read_container(path, KIND)["state"]
    found = quick(path, **extreme).fit(X, Y)
    np.testing.assert_array_equal(found.transform(X), expected.transform(X))
    assert not path.exists()


def test_a_fit_that_goes_on_from_another_model_is_another_fit(tmp_path, monkeypatch):
    def begun(seed, path=None):
        model = quick(warm_start=True, noise=0.0, metric=2, early_stopping=False)
        model.set_params(random_state=seed).fit(X[::2], Y[::2])
        return model.set_params(random_state=0, checkpoint=path)

    path, expected = tmp_path / "state", begun(1).fit(X, Y)
    interrupt(monkeypatch, begun(1, path))
    unfitted = clone(begun(2, path))
    for other in (begun(2, path), unfitted):
        with pytest.raises(ValueError, match="of another fit; it differs in the model that warm"):
            other.fit(X, Y)
    found = begun(1, path).fit(X, Y)
    np.testing.assert_array_equal(found.transform(X), expected.transform(X))
    interrupt(monkeypatch, unfitted)
    with pytest.raises(ValueError, match="of another fit; it differs in the model that warm"):
        begun(1, path).fit(X, Y)
