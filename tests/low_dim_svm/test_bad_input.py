"""LowDimSVC says what is wrong with its parameters and rows."""

import re
import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC

from supred import LowDimSVC
from tests.family import blobs


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is out of range; .* at least 1"),
        ({"n_components": 1.5}, "n_components=1.5 is out of range"),
        ({"n_centers": 0}, "n_centers=0"),
        ({"n_centers": "many"}, "n_centers='many' is out of range; use a whole number"),
        ({"n_jobs": 0}, "n_jobs=0 is out of range; use None"),
        ({"early_stopping": "auto"}, "early_stopping='auto' is not known; use True or False"),
        ({"inner_tol": 0}, "inner_tol=0 is out of range"),
        ({"gamma": 0.0}, r"gamma=0.0 is out of range; use a number in \(0, 1e\+30\]"),
        ({"gamma": -1}, "gamma=-1"),
        ({"gamma": "wide"}, "gamma='wide' is not known; use one of 'auto', 'scale'"),
        ({"alpha": "small"}, "alpha='small' is not known; use one of 'auto'"),
        ({"C": 0}, "C=0"),
        ({"C": np.inf}, "C=inf"),
        ({"validation_fraction": 0.99, "early_stopping": True}, "validation_fraction=0.99 of 90"),
        ({"mapping": None}, "mapping=None is not known"),
        ({"alpha": -1e-3}, "alpha=-0.001"),
        ({"mu": 0}, "mu=0"),
        ({"mu_factor": 0.9}, "mu_factor=0.9"),
        ({"max_iter": -1}, "max_iter=-1"),
        ({"max_iter": "few"}, "max_iter='few' is not known"),
        ({"tol": -1}, "tol=-1"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"cache_size": -1}, "cache_size=-1"),
        ({"multi_class": "crammer"}, "multi_class='crammer' is not known"),
        ({"loss": "squared"}, "loss='squared' is not known; use one of 'hinge', 'log'"),
        (
            {"loss": "log", "multi_class": "ovo"},
            "multi_class='ovo' cannot be combined with loss='log'",
        ),
        ({"mapping": "poly"}, "mapping='poly' is not known"),
        ({"mapping": SVC()}, "use 'rbf', 'linear' or a regressor"),
        ({"centers": "grid"}, "centers='grid' is not known"),
        ({"centers": 5, "mapping": "linear"}, "centers=5 is not known"),
        ({"verbose": -1}, "verbose=-1 is out of range"),
        ({"centers": "learned"}, "RBFNetClassifier learns its centres"),
        ({"centers": np.ones((3, 5))}, r"centers has shape \(3, 5\); .*\(n_centers, 6\)"),
        ({"centers": np.full((3, 6), np.nan)}, "centers holds a value that is not finite"),
        ({"init": "pca"}, "init='pca' is not known"),
        ({"init": np.ones((4, 2))}, r"init has shape \(4, 2\)"),
        ({"init": "simplex", "n_components": 1}, "needs 2 dimensions"),
        ({"class_weight": {9: 2.0}}, r"class_weight names class\(es\) \[9\]"),
        ({"class_weight": "even"}, "class_weight='even'"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        LowDimSVC(random_state=0, **parameters).fit(X, y)


def test_bad_validation_rows():
    X, y = blobs()
    model = LowDimSVC(n_centers=10)
    with pytest.raises(ValueError, match="X_val and y_val belong together"):
        model.fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="sample_weight_val needs"):
        model.fit(X, y, sample_weight_val=np.ones(90))
    with pytest.raises(ValueError, match=r"y_val holds label\(s\) \[7\]"):
        model.fit(X, y, X_val=X[:2], y_val=[0, 7])
    with pytest.raises(ValueError, match="features"):
        model.fit(X, y, X_val=X[:2, :3], y_val=[0, 1])


def test_early_stopping_needs_two_rows_a_class():
    X, y = blobs(n_classes=2)
    y = y.copy()
    y[0] = 2
    with pytest.raises(ValueError, match=r"class\(es\) \[2\] have one row"):
        LowDimSVC(n_centers=10, early_stopping=True).fit(X, y)


def test_more_centers_than_rows_are_all_rows():
    X, y = blobs()
    with pytest.warns(UserWarning, match="n_centers=91 is more than the 90 rows to train on"):
        model = LowDimSVC(n_centers=91).fit(X, y)
    np.testing.assert_array_equal(model.centers_, LowDimSVC(centers="all").fit(X, y).centers_)
    with pytest.warns(UserWarning, match="n_centers=85 is more than the 81 rows"):
        model = LowDimSVC(n_centers=85, early_stopping=True, random_state=0).fit(X, y)
    assert model.n_basis_ == 81


def test_a_regressor_without_weights_refuses_weights():
    X, y = blobs()
    model = LowDimSVC(mapping=GaussianProcessRegressor())
    with pytest.raises(ValueError, match="does not take sample_weight"):
        model.fit(X, y, sample_weight=np.linspace(1, 2, 90))


@pytest.mark.parametrize(("kind", "size"), [(float, 1e101), (float, 1e300), (np.float32, 1e30)])
def test_centers_so_large_that_their_squares_are_no_numbers(kind, size):
    X = np.arange(8.0, dtype=kind)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(
            ValueError, match=f"centers holds numbers up to {re.escape(f'{size:.2g}')}"
        ):
            LowDimSVC(centers=np.array([[1.0], [size]])).fit(X, np.arange(8) // 4)
        LowDimSVC(centers=np.array([[1.0], [1e15]]), max_iter=2).fit(X, np.arange(8) // 4)
