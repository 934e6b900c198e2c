"""KernelDiscriminantAnalysis, under the checks that every estimator inherits."""

from supred import KernelDiscriminantAnalysis
from tests.family import EstimatorFamily


class TestKernelDiscriminant(EstimatorFamily):
    expected_failures = {
        "check_class_weight_classifiers": "the class means lie too far apart for the priors",
    }
    not_applicable = {
        "test_the_model_does_not_grow_with_the_rows": "all rows are landmarks; see TestLandmarks",
    }

    def make(self, **parameters):
        return KernelDiscriminantAnalysis(random_state=0).set_params(**parameters)


class TestLandmarks(TestKernelDiscriminant):
    not_applicable = {}

    def make_for_many_classes(self):
        return self.make(n_landmarks=120)

    def make(self, **parameters):
        return super().make(n_landmarks=20).set_params(**parameters)


class TestLinear(TestKernelDiscriminant):
    expected_failures = {}
    not_applicable = {}

    def make(self, **parameters):
        return super().make(kernel="linear").set_params(**parameters)
