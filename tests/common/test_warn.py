"""Warnings show the line of the user's code, however deep in the library they arise."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import CategorySpace, LowDimSVC, RBFNetClassifier
from tests.family import blobs

X, y = blobs()


@pytest.mark.parametrize(
    ("model", "rows", "category"),
    [
        (LowDimSVC(max_iter=1, random_state=0), X, ConvergenceWarning),
        (CategorySpace(max_iter=1, tol=0.0, random_state=0), X, ConvergenceWarning),
        (RBFNetClassifier(max_iter=5, random_state=0), X * 1e30, UserWarning),
        (
            make_pipeline(StandardScaler(), LowDimSVC(max_iter=1, random_state=0)),
            X,
            ConvergenceWarning,
        ),
    ],
)
def test_a_warning_shows_the_callers_line(model, rows, category):
    with pytest.warns(category) as found:
        model.fit(rows, y)
    assert found[0].filename == __file__


def test_one_of_weights_too():
    with pytest.warns(UserWarning, match="sample_weight is counted in units") as found:
        CategorySpace(random_state=0).fit(X, y, sample_weight=np.full(len(y), 1e100))
    assert found[0].filename == __file__
