"""Arguments that are not what they should be: an error that names them."""

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold

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
    [(ClassConstrainedEmbedding, "class_prior"), (LowDimSVC, "centers"), (LowDimSVC, "init")],
)
def test_what_is_no_array(made, name, value):
    with pytest.raises(ValueError, match=f"{name} cannot be read as numbers"):
        made(**{name: value}).fit(X, y)


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
