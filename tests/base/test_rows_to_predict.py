"""Rows that need no conversion skip scikit-learn's checks; nothing else may change by that."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from supred import CategorySpace, LowDimSVC
from supred.base import latent_classifier as _base
from supred.base.validation import are_ready
from tests.family import blobs

X, y = blobs()
NAMES = list("abcdef")


def with_value(value, dtype=float):
    rows = X[:3].astype(dtype)
    rows[1, 2] = value
    return rows


CASES = {
    "one row": X[:1],
    "single precision": X[:5].astype(np.float32),
    "Fortran order": np.asfortranarray(X[:5]),
    "every other row": X[:10:2],
    "read-only": X[:4],
    "list": X[:4].tolist(),
    "integers": X[:4].astype(int),
    "half precision": X[:4].astype(np.float16),
    "big-endian": X[:4].astype(">f8"),
    "objects": X[:4].astype(object),
    "sparse": sparse.csr_matrix(X[:4]),
    "dataframe": pd.DataFrame(X[:4], columns=NAMES),
    "other names": pd.DataFrame(X[:4], columns=NAMES[::-1]),
    "sum overflows": np.full((2, 6), 3e38, np.float32),
    "sum overflows in double precision": np.full((2, 6), 1e308),
    "complex": X[:4] + 1j,
    "strings": np.full((2, 6), "a"),
    "one dimension": X[0],
    "three dimensions": X[:1, None],
    "scalar": np.float64(1.0),
    "no rows": X[:0],
    "no columns": X[:4, :0],
    "a column less": X[:4, :5],
    "a column more": np.hstack([X[:4], X[:4, :1]]),
    "nan": with_value(np.nan),
    "infinite": with_value(np.inf),
    "plus and minus infinite": np.vstack([with_value(np.inf), with_value(-np.inf)]),
    "too large for single precision": with_value(np.inf, np.float32),
}


@cache
def fitted(make, names):
    return make(random_state=0).fit(pd.DataFrame(X, columns=NAMES) if names else X, y)


def outcome(model, rows):
    """Return the result or the error of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = model.decision_function(rows)
        except (ValueError, TypeError) as error:
            result = f"{type(error).__name__}: {error}"
    return result, [(item.category, str(item.message)) for item in seen]


@pytest.mark.parametrize("names", [False, True], ids=["plain", "fitted with names"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("make", [LowDimSVC, CategorySpace])
def test_result_error_and_warnings_are_those_of_validate_data(monkeypatch, make, case, names):
    model = fitted(make, names)
    quick, quick_warnings = outcome(model, CASES[case])
    monkeypatch.setattr(_base, "are_ready", lambda X, n_features: False)
    slow, slow_warnings = outcome(model, CASES[case])
    assert quick_warnings == slow_warnings
    if isinstance(slow, str):
        assert quick == slow
    else:
        assert quick.dtype == slow.dtype
        np.testing.assert_array_equal(quick, slow)


def test_plain_rows_do_not_wait_for_the_checks(monkeypatch):
    model = LowDimSVC(n_centers=8, random_state=0).fit(X, y)

    def fail(*arguments, **options):
        raise AssertionError("validate_data was called")

    monkeypatch.setattr(_base, "validate_data", fail)
    assert model.decision_function(X[:1]).shape == (1, 3)
    assert model.predict(X.astype(np.float32)).shape == (90,)
    assert model.transform(np.asfortranarray(X)).shape == (90, 2)


def test_not_fitted():
    with pytest.raises(NotFittedError, match="not fitted"):
        LowDimSVC().decision_function(X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_never_ready(value):
    rows = np.zeros((300, 6))
    rows[299, 5] = value
    assert not are_ready(rows, 6)


def test_a_row_is_the_same_alone_and_among_many():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(1000, 6))
    for mapping in ("rbf", "linear"):
        model = LowDimSVC(mapping=mapping, n_centers=8, random_state=0).fit(X, y)
        alone = np.vstack([model.transform(many[i : i + 1]) for i in range(0, 1000, 50)])
        np.testing.assert_allclose(alone, model.transform(many)[::50], rtol=1e-9, atol=1e-12)
