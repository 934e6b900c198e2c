import numpy as np
import pytest
from scipy import sparse

from supred.class_embedding.hidden_labels import BETAS, choose_beta, hide_in_folds
from supred.class_embedding.row_classifier import ClassifierChoice, decide_spectrally


def test_every_label_is_hidden_once_and_each_fold_has_its_share():
    codes = np.repeat([0, 1, 2, 3, -1], [20, 40, 1, 3, 50])
    folds = hide_in_folds(codes, 4, np.random.RandomState(0))
    assert (folds[codes == -1] == -1).all()
    assert (folds[codes == 2] == -1).all()  # the only row of its class stays
    assert np.bincount(folds[codes == 0]).tolist() == [5, 5, 5, 5]
    assert np.bincount(folds[codes == 1]).tolist() == [10, 10, 10, 10]
    assert len(set(folds[codes == 3])) == 3


def test_folds_are_numbered_without_gaps():
    folds = hide_in_folds(np.array([0, 0, 1, -1]), 5, np.random.RandomState(0))
    assert sorted(folds) == [-1, -1, 0, 1]


def test_the_beta_with_the_fewest_errors_wins():
    codes = np.repeat([0, 1, 0, 1, -1], 8)

    def transduce(beta, visible):
        assert (visible[32:] == -1).all()
        hidden = np.flatnonzero((visible == -1) & (codes >= 0))
        wrong = {0.01: 2, 0.03: 0, 0.1: 1, 0.3: 1, 1.0: 3}[beta]
        answer = codes.copy()
        answer[hidden[:wrong]] = 1 - answer[hidden[:wrong]]
        return answer

    beta, history = choose_beta(codes, transduce, np.random.RandomState(0))
    assert beta == 0.03
    errors = [entry["error"] for entry in history]
    np.testing.assert_allclose(errors, np.array([2, 0, 1, 1, 3]) * 5 / 32)
    assert [entry["beta"] for entry in history] == list(BETAS)


def test_of_equal_betas_the_middle_one_is_taken():
    codes = np.repeat([0, 1], 10)
    assert choose_beta(codes, lambda beta, visible: codes, np.random.RandomState(0))[0] == 0.1


@pytest.mark.parametrize("codes", [[0, 1, -1, -1], [0, 1, 2, -1]])
def test_without_two_labels_of_a_class_the_default_is_taken(codes):
    assert choose_beta(np.array(codes), None, np.random.RandomState(0)) == (0.1, [])


CHOICES = {"n_classes": 2, "choice": ClassifierChoice("knn", 1e-3), "method": "auto"}


def test_hidden_rows_are_decided_by_the_others():
    """Rows on a ring of two halves: a hidden row has its neighbours' class."""
    W = np.roll(np.eye(24), 1, axis=1)
    codes = np.repeat([0, 1], 12)
    visible = np.where(np.arange(24) % 4 == 2, -1, codes)
    found = decide_spectrally(
        0.1, visible, W=sparse.csr_array(W + W.T), weights=np.ones(24), n_components=1, **CHOICES
    )
    np.testing.assert_array_equal(found, codes)


def test_labels_that_reach_too_little_decide_nothing():
    """Rows without edges: four labels and two class nodes are too few for six dimensions."""
    visible = np.array([0, 1, 0, 1, -1, -1])
    W = sparse.csr_array((6, 6))
    found = decide_spectrally(0.1, visible, W=W, weights=np.ones(6), n_components=6, **CHOICES)
    np.testing.assert_array_equal(found, visible)
