"""What must hold whatever the input is; a failed check raises AssertionError.

An estimator may refuse input with a ValueError of supred's or scikit-learn's own; any other
exception is a failure, and so is a warning of NumPy's from inside the library.
"""

import pickle
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from supred.common.arguments import OutOfRangeError

# Errors that come from the depths of a library rather than from a check of the input.
UNCLEAR = (
    "array must not contain infs or NaNs",
    "must be positive definite",
    "cannot reshape",
    "broadcast",
    "ambiguous",
    "subscriptable",
    "has no attribute",
    "not iterable",
)


@contextmanager
def no_numeric_warnings() -> Iterator[None]:
    """Turn RuntimeWarnings into failures, those of NumPy's and SciPy's own functions too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning)
        yield


def refused(error: Exception) -> None:
    """Check that an error is about the input."""
    text = str(error)
    assert len(text) > 15, f"the error says too little: {text!r}"
    place = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    assert not {"scipy", "linalg"} & set(place.parts), f"an error of a library's: {text}"
    for phrase in UNCLEAR:
        assert phrase not in text, f"the error is not about the input: {text}"


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit; return None if the input was refused with a clear error."""
    # Rows that are not in memory lie in files, which are opened to be read.
    held = [X] if isinstance(X, np.ndarray) or sparse.issparse(X) else []
    before = [_dense(rows).copy() for rows in held], np.array(y)
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    with no_numeric_warnings():
        try:
            fitted = estimator.fit(X, y, **options)
        except ValueError as error:
            refused(error)
            fitted = None
    for rows, copy in zip(held, before[0], strict=True):
        np.testing.assert_array_equal(_dense(rows), copy, "X was changed")
    assert np.array_equal(np.asarray(y), before[1]), "y was changed"
    return fitted


def usable(fitted: Any, X: Any) -> None:
    """Check that a fitted model's answers are finite and fit together."""
    with no_numeric_warnings():
        Z = fitted.transform(X)
        assert np.isfinite(Z).all(), "transform is not finite"
        if not hasattr(fitted, "predict"):
            return
        labels = fitted.predict(X)
        known = np.isin(labels, fitted.classes_)  # of several labels per row there is a matrix
        assert known.all() or np.ndim(labels) == 2, "an unknown class was predicted"
        if hasattr(fitted, "decision_function"):
            scores = fitted.decision_function(X)
            assert np.isfinite(scores).all(), "decision_function is not finite"
        assert np.array_equal(fitted.classify_latent(Z), labels), "predict is not of transform"
        if hasattr(fitted, "predict_proba"):
            chances = fitted.predict_proba(X)
            assert np.isfinite(chances).all(), "predict_proba is not finite"
            assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-4), "chances do not add up to 1"


def check_fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
    """Fit and use a model, or be refused clearly."""
    fitted = fit(estimator, X, y, sample_weight)
    if fitted is not None:
        usable(fitted, X)


def check_form(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
    """Fit rows, labels and weights of any type: refused clearly, or a model that works and keeps.

    What was given must be as it was.
    """
    before = [_bytes_of(given) for given in (X, y, sample_weight)]
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    # NumPy's own sums of numbers that are not finite warn.
    with no_numeric_warnings() if is_finite(X) else nullcontext():
        try:
            fitted = estimator.fit(X, y, **options)
        except (ValueError, TypeError) as error:
            refused(error)
            fitted = None
        after = [_bytes_of(given) for given in (X, y, sample_weight)]
        assert before == after, "what was given was changed"
        if fitted is None:
            return
        _check_classes(fitted, y)
        try:
            usable(fitted, X)
        except OutOfRangeError:  # rows without weight are like any others to predict
            assert sample_weight is not None, "rows of the training are refused"
            assert np.min(sample_weight) == 0, "rows of the training are refused"
            return
        _keeps(fitted, X)


def _check_classes(fitted: Any, y: Any) -> None:
    """Check that no two labels of a list, an array or a series became one class."""
    labels = y.tolist() if hasattr(y, "tolist") else y
    if isinstance(labels, list) and not any(isinstance(label, list) for label in labels):
        found = [label for label in labels if label is not None and label == label]
        known = {(type(label) is str, label) for label in fitted.classes_.tolist()}
        missing = {(type(label) is str, label) for label in found} - known
        # in the class constrained embedding -1 stands for no label
        assert missing <= {(False, -1)}, f"labels that are no class: {missing}"


def _keeps(fitted: Any, X: Any) -> None:
    """Check that a pickle and a file of a model give the same answers."""
    from supred.export import load_model, save_model

    coordinates = fitted.transform(X)
    again = [pickle.loads(pickle.dumps(fitted))]
    if fitted.classes_.dtype.kind in "biufU":
        save_model(fitted, "model.supred", overwrite=True)
        again.append(load_model("model.supred"))
    for model in again:
        assert np.array_equal(model.transform(X), coordinates), "a loaded model differs"


def _bytes_of(given: Any) -> bytes:
    """Return the numbers that are given as bytes, and not what else a matrix or frame keeps."""
    if sparse.issparse(given) or hasattr(given, "to_numpy"):
        given = given.toarray() if sparse.issparse(given) else given.to_numpy()
    try:
        return pickle.dumps(given)
    except TypeError:  # an iterator, say
        return b""


def is_finite(X: Any) -> bool:
    """Tell whether rows are finite; of what are no numbers, that they are."""
    try:
        return bool(np.isfinite(_dense(X)).all())
    except (TypeError, ValueError):
        return True


def _close(first: np.ndarray, second: np.ndarray, what: str, tol: float) -> None:
    # coordinates near zero are rounding: nothing was there to learn
    size = max(float(np.abs(first).max()), 1e-9)
    worst = float(np.abs(first - second).max()) / size
    assert worst <= tol, f"{what}: relative difference {worst:.2g}"


def _precision(X: Any) -> float:
    return 1e-3 if X.dtype == np.float32 else 1e-6


def check_row_alone(estimator: Any, X: Any, y: Any) -> None:
    """Check that a row's coordinates do not depend on the rows that it comes with."""
    fitted = fit(estimator, X, y)
    if fitted is not None:
        whole = fitted.transform(X)
        rows = X.tocsr() if sparse.issparse(X) else X
        alone = np.vstack([fitted.transform(rows[k : k + 1]) for k in range(0, X.shape[0], 5)])
        _close(whole[::5], alone, "a row alone and in a batch", _precision(X))


def check_again(estimator: Any, X: Any, y: Any) -> None:
    """Check that the same random_state gives the same model."""
    first = fit(clone(estimator), X, y)
    second = fit(clone(estimator), X, y)
    assert (first is None) == (second is None), "refused once only"
    if first is not None and second is not None:
        assert np.array_equal(first.transform(X), second.transform(X)), "two fits differ"


def check_sparse(estimator: Any, X: Any, y: Any) -> None:
    """Check that sparse rows give the model of dense rows."""
    if len(np.unique(y)) == len(y):
        return  # of one row of each class rounding decides which equal start is taken
    first = fit(clone(estimator), _dense(X), y)
    second = fit(clone(estimator), sparse.csr_matrix(_dense(X)), y)
    assert (first is None) == (second is None), "refused in one form only"
    if first is not None and second is not None:
        rows = _dense(X)
        rows = rows[_with_one_label(rows, y)]
        if not len(rows) or np.ptp(first.transform(rows), axis=0).max() < 1e-6:
            return  # nothing was learnt
        agree = np.mean(first.predict(rows) == second.predict(rows))
        if agree < 0.8:  # unless classes have the same score, or rows the same distance
            first_scores, second_scores = (m.decision_function(rows) for m in (first, second))
            what = f"sparse and dense agree on {agree:.0%} only, and their scores"
            _close(first_scores, second_scores, what, 1e-3)


def _with_one_label(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Tell which rows are not there again with another label: between two, rounding decides."""
    place = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    pairs = np.unique(np.column_stack([place, np.unique(y, return_inverse=True)[1]]), axis=0)
    return np.bincount(pairs[:, 0])[place] == 1


def check_labels(estimator: Any, X: Any, y: Any) -> None:
    """Check that other names for the classes change the names only."""
    classes, index = np.unique(y, return_inverse=True)
    names = np.array([f"class {k}" for k in range(len(classes))])
    first = fit(clone(estimator), X, index)
    second = fit(clone(estimator), X, names[index])
    assert (first is None) == (second is None), "refused under one name only"
    if first is not None and second is not None and hasattr(first, "predict"):
        assert np.array_equal(names[first.predict(X)], second.predict(X)), "other predictions"


def check_unit_weights(estimator: Any, X: Any, y: Any) -> None:
    """Check that weights of one are the same as none."""
    fitted = fit(clone(estimator), X, y, np.ones(X.shape[0]))
    plain = fit(clone(estimator), X, y)
    assert (fitted is None) == (plain is None), "refused with weights of one only"
    if fitted is not None and plain is not None:
        _close(plain.transform(X), fitted.transform(X), "weights of one", _precision(X))


def check_file(estimator: Any, X: Any, y: Any) -> None:
    """Check that a saved and loaded model gives the same answers."""
    from supred.export import load_model, save_model

    fitted = fit(estimator, X, y)
    if fitted is not None:
        save_model(fitted, "model.supred", overwrite=True)
        again = load_model("model.supred")
        assert np.array_equal(fitted.transform(X), again.transform(X)), "a loaded model differs"
