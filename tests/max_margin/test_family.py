"""MaxMarginProjection in its forms, under the checks that every estimator inherits."""

from supred import MaxMarginProjection
from tests.family import EstimatorFamily


class TestIndependent(EstimatorFamily):
    """As many components as tasks: a convex problem."""

    not_applicable = {
        "test_scikit_learn_checks": "its tables have two features, fewer than three components",
    }

    def make(self, **parameters):
        return MaxMarginProjection(n_components=3).set_params(**parameters)

    def make_for_many_classes(self):
        return self.make(n_components=40, tasks="ovr")  # 780 pairs take long


class TestShared(EstimatorFamily):
    """Fewer components than tasks, the default."""

    def make(self, **parameters):
        return MaxMarginProjection().set_params(**parameters)


class TestOneVsOne(EstimatorFamily):
    not_applicable = {
        "test_forty_classes": "forty classes in two dimensions overlap, as they must",
    }

    def make(self, **parameters):
        return MaxMarginProjection(2, tasks="ovo", max_iter=60).set_params(**parameters)


class TestAlternating(EstimatorFamily):
    def make(self, **parameters):
        return MaxMarginProjection(solver="alternating", max_iter=5).set_params(**parameters)

    def make_for_many_classes(self):
        return self.make(tasks="ovr")


class TestRBFDiagonal(EstimatorFamily):
    not_applicable = {
        "test_the_model_does_not_grow_with_the_rows": "kernel SVMs keep their support vectors",
    }

    def make(self, **parameters):
        return MaxMarginProjection(kernel="rbf-diagonal").set_params(**parameters)
