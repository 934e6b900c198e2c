"""Arguments that are not what they should be: an error that names them."""

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    KernelDiscriminantAnalysis,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
    RBFNetClassifier,
)
from tests.base.test_limits import ALL, X, having, y

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]


@pytest.mark.parametrize("n_jobs", ["x", np.inf, 1.5, 0, True, 10**12])
@pytest.mark.parametrize("made", having("n_jobs"))
def test_n_jobs_is_a_whole_number(made, n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.* is out of range; use None"):
        made(n_jobs=n_jobs).fit(X, y)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_early_stopping_is_true_or_false(made):
    with pytest.raises(ValueError, match=r"early_stopping=.*; use True or False"):
        made(early_stopping=np.array([True, False])).fit(X, y)


@pytest.mark.parametrize("made", ALL)
def test_weights_are_numbers(made):
    with pytest.raises(ValueError, match="sample_weight cannot be read as numbers"):
        made().fit(X, y, sample_weight=["heavy"] * 30)


@pytest.mark.parametrize("made", having("n_components"))
def test_a_latent_space_of_four_billion_dimensions(made):
    with pytest.raises(ValueError, match=r"n_components.*=4294967296 is out of range"):
        made(n_components=2**32).fit(X, y)


def test_a_regressor_is_no_classifier():
    with pytest.raises(ValueError, match=r"classifier=Ridge\(\) is not a classifier"):
        ClassConstrainedEmbedding(classifier=Ridge()).fit(X, y)


@pytest.mark.parametrize("made", ALL)
def test_weights_are_not_complex(made):
    with pytest.raises(ValueError, match=r"sample_weight cannot be read as numbers \(they are com"):
        made().fit(X, y, sample_weight=np.ones(30) + 0j)


@pytest.mark.parametrize("made", ALL)
def test_labels_of_several_types(made):
    with pytest.raises(TypeError):
        made().fit(X, np.array(["a", 1, 2.5], dtype=object)[y])


@pytest.mark.parametrize("made", ALL)
def test_infinite_labels(made):
    with pytest.raises(ValueError, match="Input y contains infinity"):
        made().fit(X, np.where(np.arange(30) == 3, np.inf, y))


@pytest.mark.parametrize("value", [np.array([1.0, 2.0]), np.array([])])
@pytest.mark.parametrize(
    ("made", "name"),
    [
        *((CategorySpace, name) for name in ("alpha", "n_init", "tol", "n_landmarks")),
        *((CategorySpace, name) for name in ("certify", "whiten")),
        *((KernelDiscriminantAnalysis, name) for name in ("alpha", "n_landmarks")),
    ],
)
def test_an_array_for_one_number(made, name, value):
    with pytest.raises(ValueError, match=f"{name}=array.* is (out of range|not known)"):
        made(**{name: value}).fit(X, y)


@pytest.mark.parametrize("value", [{"a": 1}, object(), b"auto", 1j, 10**400])
@pytest.mark.parametrize(
    ("made", "name"),
    [(ClassConstrainedEmbedding, "class_prior"), (LowDimSVC, "init")],
)
def test_what_is_no_array(made, name, value):
    with pytest.raises(ValueError, match=f"{name} cannot be read as numbers"):
        made(**{name: value}).fit(X, y)


@pytest.mark.parametrize("value", [{"a": 1}, object(), b"auto", 1j, 10**400])
@pytest.mark.parametrize("mapping", ["rbf", "linear"])
def test_centers_that_are_no_array(mapping, value):
    with pytest.raises(ValueError, match=r"centers=.* is not known; use .* one row per centre"):
        LowDimSVC(mapping=mapping, centers=value).fit(X, y)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (RBFNetClassifier, "refit"),
        (RBFNetClassifier, "warm_start"),
        (MaxMarginProjection, "certify"),
        (CategorySpace, "whiten"),
    ],
)
def test_flags_are_true_or_false(made, name):
    with pytest.raises(ValueError, match=f"{name}=<NA> is not known; use True or False"):
        made(**{name: pandas.NA}).fit(X, y)


@pytest.mark.parametrize(
    ("made", "name"), [(ClassConstrainedEmbedding, "beta"), (KernelDiscriminantAnalysis, "gamma")]
)
def test_parameters_that_cannot_be_divided_by(made, name):
    with pytest.raises(ValueError, match=rf"{name}=5e-324 is out of range; use .* \[1e-100, "):
        made(**{name: 5e-324}).fit(X, y)


@pytest.mark.parametrize("cv", [pandas.NA, "x", b"x", 2.5])
def test_folds_are_checked_though_they_are_not_needed(cv):
    with pytest.raises(ValueError, match=r"cv=.* is out of range"):
        MaxMarginProjection(cv=cv).fit(X, y)


def test_folds_may_be_a_generator():
    model = MaxMarginProjection(C="auto", cv=StratifiedKFold(3).split(X, y)).fit(X, y)
    assert model.C_ > 0


def test_labels_in_a_sparse_matrix():
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse|1d array"):
        RBFNetClassifier(max_iter=5).fit(X, sparse.csr_matrix(y))


@pytest.mark.parametrize("made", [made for made in ALL if made is not LowDimSVCCV])
def test_too_few_weights_are_called_so(made):
    with pytest.raises(ValueError, match="sample_weight has 29 values for 30 rows"):
        made().fit(X, y, sample_weight=np.ones(29))


@pytest.mark.parametrize("made", having("random_state"))
def test_random_state_is_named(made):
    with pytest.raises(ValueError, match="random_state=-1 is not known; use None"):
        made(random_state=-1).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(30, -1.0), "sample_weight holds a negative value"),
        (np.full(30, np.inf), "sample_weight holds a value that is not finite"),
        (np.zeros(30), "all weights are zero; there is nothing to score"),
        (np.ones(3), "sample_weight has 3 values for 30 rows"),
        (["a"] * 30, "sample_weight cannot be read as numbers"),
    ],
)
@pytest.mark.parametrize("made", ALL)
def test_scores_of_bad_weights(made, weights, message):
    model = made().fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.score(X, y, sample_weight=weights)
    assert model.score(X, y, sample_weight=np.full(30, 1e308)) == pytest.approx(model.score(X, y))


@pytest.mark.parametrize("made", ALL)
def test_a_time_that_is_missing_is_no_class(made):
    labels = np.array(["2020", "2021", "2022"], dtype="datetime64[D]")[y]
    labels[3] = "NaT"
    if made is ClassConstrainedEmbedding:  # there it is a row without label
        assert len(made().fit(X, labels).classes_) == 3
        return
    with pytest.raises(ValueError, match=r"y has 1 missing label\(s\), the first in row 3"):
        made().fit(X, labels)


@pytest.mark.parametrize("made", ALL)
def test_labels_of_any_size(made):
    with pytest.raises(ValueError, match="Unknown label type"):
        made().fit(X, y * 1e300)


@pytest.mark.parametrize("made", [LowDimSVC, RBFNetClassifier])
def test_validation_rows_are_named(made):
    for rows, labels in ((X * np.nan, y), (X[:, :2], y), (X, y + 0.5)):
        with pytest.raises(ValueError, match=r"X_val|y_val"):
            made().fit(X, y, X_val=rows, y_val=labels)


class OddRegressor(Ridge):
    """Predicts what a function makes of what it should predict."""

    def __init__(self, odd=None):
        super().__init__()
        self.odd = odd

    def predict(self, X):
        return self.odd(super().predict(X))


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (lambda Z: Z * np.nan, "predicts NaN, or numbers beyond"),
        (lambda Z: Z * 1e200, "predicts NaN, or numbers beyond"),
        (lambda Z: Z[:-1], r"of shape \(29, 2\); it must predict 2 number"),
        (lambda Z: Z[:, 0], r"of shape \(30, 1\); it must predict 2 number"),
        (lambda Z: None, r"of object of shape \(\)"),
        (lambda Z: Z.astype(str), "predicts an array of <U"),
    ],
)
def test_a_regressor_that_predicts_something_else(odd, message):
    with pytest.raises(ValueError, match=message):
        LowDimSVC(mapping=OddRegressor(odd)).fit(X, y)


class OddClassifier(KNeighborsClassifier):
    """Predicts what a function makes of what it should predict."""

    def __init__(self, odd=None):
        super().__init__(3)
        self.odd = odd

    def predict(self, X):
        return self.odd(super().predict(X))


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (lambda labels: labels * np.nan, "has 20 missing label"),
        (lambda labels: None, "has 1 missing label"),
        (lambda labels: labels[:-1], "has 19 values for 20 rows"),
        (lambda labels: labels + 5, r"holds label\(s\) \[5"),
    ],
)
def test_a_classifier_that_predicts_something_else(odd, message):
    some = np.where(np.arange(30) < 10, y, -1)
    with pytest.raises(ValueError, match=f"what classifier=OddClassifier.* predicts {message}"):
        ClassConstrainedEmbedding(classifier=OddClassifier(odd)).fit(X, some)


@pytest.mark.parametrize("size", [1e31, np.inf, np.nan])
def test_a_start_far_away(size):
    with pytest.raises(ValueError, match="init holds NaN, or numbers beyond 1e\\+30"):
        LowDimSVC(init=np.full((30, 2), size)).fit(X, y)


@pytest.mark.parametrize("made", [CategorySpace, KernelDiscriminantAnalysis])
def test_a_kernel_that_is_none(made):
    with pytest.raises(ValueError, match="kernel: what the callable returned cannot be read"):
        made(kernel=lambda A, B: "a").fit(X, y)
    with pytest.raises(ValueError, match="the kernel matrix is zero"):
        made(kernel="precomputed").fit(np.zeros((30, 30)), y)
