"""MaxMarginProjection in its forms, under the checks that every estimator inherits."""

from supred import MaxMarginProjection
from tests.family import EstimatorFamily

NO_SHARING = "with one component per task at least there is nothing that L-BFGS would do"


class TestIndependent(EstimatorFamily):
    """As many components as tasks: a convex problem."""

    def make(self, **parameters):
        return MaxMarginProjection(n_components=3).set_params(**parameters)


class TestShared(EstimatorFamily):
    """Fewer components than tasks, the default."""

    def make(self, **parameters):
        return MaxMarginProjection().set_params(**parameters)


class TestOneVsOne(TestShared):
    def make(self, **parameters):
        return MaxMarginProjection(tasks="ovo", n_components=2).set_params(**parameters)


class TestAlternating(TestShared):
    def make(self, **parameters):
        return MaxMarginProjection(solver="alternating", max_iter=20).set_params(**parameters)


class TestRBFDiagonal(EstimatorFamily):
    def make(self, **parameters):
        return MaxMarginProjection(kernel="rbf-diagonal").set_params(**parameters)
