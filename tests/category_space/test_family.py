"""Category space in its forms, under the checks that every estimator inherits."""

from supred import CategorySpace
from tests.family import EstimatorFamily

NO_PRIOR = "the angle with an axis knows nothing of how much weight a class has"


ALL_ROWS = "all rows are landmarks; TestLandmarks has a fixed number of them"


def plain(*args, **parameters):
    """Return the paper's form: orthonormal axes in the features, smallest angle."""
    options = {"kernel": "linear", "whiten": False, "classifier": "angle"} | parameters
    return CategorySpace(*args, **options)


class TestLinear(EstimatorFamily):
    expected_failures = {
        "check_class_weight_classifiers": NO_PRIOR,
    }

    def make(self, **parameters):
        return plain(n_init=1, max_iter=300, random_state=0).set_params(**parameters)


class TestWhitened(TestLinear):
    def make(self, **parameters):
        # Whitening so few rows leaves one axis to be told from differences in the last digits.
        return super().make(whiten=True, tol=1e-12, max_iter=500).set_params(**parameters)


class TestAbsolute(TestLinear):
    def make(self, **parameters):
        return super().make(criterion="absolute").set_params(**parameters)


class TestClassOrigin(TestLinear):
    expected_failures = TestLinear.expected_failures | {
        "check_classifiers_train": "these axes do not know where the classes lie",
        "check_sample_weight_equivalence_on_dense_data": "it has a class without any spread",
        "check_sample_weight_equivalence_on_sparse_data": "it has a class without any spread",
    }
    not_applicable = {
        "test_a_class_with_one_row": "it has no spread about its mean; test_bad_input has it",
        "test_two_classes": "these axes do not know where the classes lie, so angles say little",
        "test_forty_classes": "these axes do not know where the classes lie, so angles say little",
    }

    def make(self, **parameters):
        return super().make(origin="class").set_params(**parameters)


class TestDefaults(EstimatorFamily):
    expected_failures = {"check_class_weight_classifiers": NO_PRIOR}
    not_applicable = {"test_the_model_does_not_grow_with_the_rows": ALL_ROWS}

    def make(self, **parameters):
        return CategorySpace(random_state=0).set_params(**parameters)


class TestWhitenedLinear(EstimatorFamily):
    def make(self, **parameters):
        return CategorySpace(kernel="linear", random_state=0).set_params(**parameters)


class TestKernel(EstimatorFamily):
    expected_failures = {"check_class_weight_classifiers": NO_PRIOR}
    not_applicable = {"test_the_model_does_not_grow_with_the_rows": ALL_ROWS}

    def make(self, **parameters):
        return plain(kernel="rbf", n_init=1, random_state=0).set_params(**parameters)


class TestLandmarks(TestKernel):
    not_applicable = {}

    def make_for_many_classes(self):
        return self.make(n_landmarks=120)

    def make(self, **parameters):
        return super().make(n_landmarks=20).set_params(**parameters)
