"""LowDimSVC in its forms, under the checks that every estimator inherits."""

from sklearn.linear_model import Ridge

from supred import LowDimSVC
from tests.family import EstimatorFamily

DRAWN_CENTERS = "centres are drawn from the rows, so copies of rows change the draw"


class TestLowDimSVC(EstimatorFamily):
    expected_failures = {
        "check_sample_weight_equivalence_on_dense_data": DRAWN_CENTERS,
        "check_sample_weight_equivalence_on_sparse_data": DRAWN_CENTERS,
    }

    def make(self, **parameters):
        return LowDimSVC(n_centers=8, random_state=0).set_params(**parameters)

    def make_for_many_classes(self):
        return self.make(n_centers=120)

    def make_deterministic(self, X, **parameters):
        return self.make(centers=X[::5], **parameters)


class TestOneVsOne(TestLowDimSVC):
    def make(self, **parameters):
        return super().make(multi_class="ovo").set_params(**parameters)


class TestFewDimensions(TestLowDimSVC):
    not_applicable = {
        "test_forty_classes": "forty classes in two dimensions overlap, as they must",
    }

    def make(self, **parameters):
        return super().make(n_components=2).set_params(**parameters)


class TestLogLoss(TestLowDimSVC):
    # scikit-learn's logistic regression stops at a tolerance
    rtol = atol = 1e-4

    def make(self, **parameters):
        return super().make(loss="log", n_components=2).set_params(**parameters)


class TestLinearMapping(EstimatorFamily):
    def make(self, **parameters):
        return LowDimSVC(mapping="linear", random_state=0).set_params(**parameters)


class TestRegressorMapping(EstimatorFamily):
    def make(self, **parameters):
        return LowDimSVC(mapping=Ridge(alpha=0.1, tol=1e-13), random_state=0).set_params(
            **parameters
        )
