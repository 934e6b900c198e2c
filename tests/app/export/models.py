"""Fitted models of every kind that can be exported."""

import warnings
from functools import lru_cache

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from supred import (
    CategorySpace,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    MaxMarginProjection,
    RBFNetClassifier,
)


def rows_and_labels(n_rows=240):
    """Half of the pixels of some digits, in numbers that single precision has."""
    X, y = load_digits(return_X_y=True)
    X = (X[:n_rows, ::2] / 16).astype(np.float32).astype(float)
    X.setflags(write=False)
    return X, y[:n_rows]


QUICK = {"max_iter": 60, "early_stopping": False, "random_state": 0}

MODELS = {
    "RBFNetClassifier": RBFNetClassifier(metric=8, n_centers=40, **QUICK),
    "RBFNetClassifier diagonal": RBFNetClassifier(metric="diagonal", n_centers=20, **QUICK),
    "RBFNetClassifier full": RBFNetClassifier(metric="full", n_centers=20, loss="hinge", **QUICK),
    "RBFNetClassifier map": RBFNetClassifier(n_components=2, metric=6, n_centers=20, **QUICK),
    "LowDimSVC": LowDimSVC(n_centers=30, random_state=0),
    "LowDimSVC linear": LowDimSVC(mapping="linear"),
    "LowDimSVC one-vs-one": LowDimSVC(n_centers=20, multi_class="ovo", random_state=0),
    "LowDimSVC log": LowDimSVC(n_components=2, n_centers=30, loss="log", random_state=0),
    "CategorySpace": CategorySpace(n_init=0, random_state=0),
    "CategorySpace rbf": CategorySpace(kernel="rbf", n_landmarks=50, n_init=0, random_state=0),
    "CategorySpace whitened": CategorySpace(
        kernel="rbf", whiten=True, n_landmarks=50, n_init=0, random_state=0
    ),
    "CategorySpace poly": CategorySpace(
        kernel="poly", degree=2, n_landmarks=50, n_init=0, random_state=0
    ),
    "MaxMarginProjection": MaxMarginProjection(n_components=4),
    "MaxMarginProjection one-vs-one": MaxMarginProjection(n_components=4, tasks="ovo"),
    "MaxMarginProjection rbf": MaxMarginProjection(
        n_components=10, kernel="rbf-diagonal", max_iter=10
    ),
    "KernelDiscriminantAnalysis": KernelDiscriminantAnalysis(n_landmarks=60, random_state=0),
    "KernelDiscriminantAnalysis wide": KernelDiscriminantAnalysis(
        gamma=1e-3, n_landmarks=100, random_state=0
    ),
    "KernelDiscriminantAnalysis linear": KernelDiscriminantAnalysis(kernel="linear"),
    "KernelDiscriminantAnalysis poly": KernelDiscriminantAnalysis(
        kernel="poly", n_landmarks=60, random_state=0
    ),
    "standardised, PCA": make_pipeline(
        StandardScaler(),
        PCA(8, whiten=True, random_state=0),
        LowDimSVC(n_centers=20, random_state=0),
    ),
    "ranges": make_pipeline(
        MinMaxScaler((-1, 1), clip=True), RobustScaler(), MaxAbsScaler(), CategorySpace(n_init=0)
    ),
    "gaps": make_pipeline(
        SimpleImputer(), PCA(6, random_state=0), LowDimSVC(mapping="linear", loss="log")
    ),
}


@lru_cache
def fitted(name, n_classes=10, shift=0.0):
    """Return a model fitted to the digits modulo a number of classes; two have names."""
    X, y = rows_and_labels()
    labels = np.array(["even", "odd"])[y % 2] if n_classes == 2 else y % n_classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(MODELS[name]).fit(X + shift, labels)
