"""The checks that every estimator inherits, for RBFNetClassifier."""

from supred import RBFNetClassifier
from tests.family import EstimatorFamily


class TestRBFNetClassifier(EstimatorFamily):
    # the descent is in single precision
    rtol = 1e-4
    atol = 1e-4

    def make(self, **parameters):
        # one metric: the size of a model depends on which is chosen
        settings = {"n_centers": 8, "metric": "full", "max_iter": 60, "random_state": 0}
        return RBFNetClassifier(**{**settings, **parameters})

    def make_for_many_classes(self):
        return RBFNetClassifier(n_centers=80, max_iter=200, random_state=0)


class TestMap(TestRBFNetClassifier):
    def make(self, **parameters):
        settings = {
            "n_components": 1,
            "n_centers": 8,
            "metric": "diagonal",
            "max_iter": 60,
            "random_state": 0,
        }
        return RBFNetClassifier(**{**settings, **parameters})

    def make_for_many_classes(self):
        return RBFNetClassifier(2, n_centers=80, max_iter=600, random_state=0)
