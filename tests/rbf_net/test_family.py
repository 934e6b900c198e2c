"""LowDimSVC with learned centres, under the checks that every estimator inherits.

Rows that are equal are merged, so that a weight is a number of copies even though centres, the
validation part and the order of the rows are drawn.
"""

from supred import LowDimSVC
from tests.family import EstimatorFamily


class TestLearned(EstimatorFamily):
    def make(self, **parameters):
        model = LowDimSVC(centers="learned", n_centers=6, refine_steps=40, random_state=0)
        return model.set_params(**parameters)

    def make_for_many_classes(self):
        return self.make(n_centers=80, refine_steps=150)


class TestLearnedLogLoss(TestLearned):
    def make(self, **parameters):
        return super().make(loss="log").set_params(**parameters)
