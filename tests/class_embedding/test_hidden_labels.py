import numpy as np
import pytest
from scipy import sparse

from supred.class_embedding.hidden_labels import choose_beta, hide_in_folds

BETAS = (0.2, 1.0, 10.0)


def ring(n_rows):
    W = np.roll(np.eye(n_rows), 1, axis=1)
    return sparse.csr_array(W + W.T)


def search(codes, decide, **options):
    return choose_beta(
        ring(len(codes)),
        codes,
        np.ones(len(codes)),
        1,
        decide,
        betas=BETAS,
        n_folds=4,
        random_state=np.random.RandomState(0),
        **options,
    )


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
    asked = []

    def decide(embedding, learn, test):
        assert not set(learn) & set(test)
        assert (codes[learn] >= 0).all()
        asked.append(embedding.eigenvalues[0])
        wrong = {0.2: 2, 1.0: 0, 10.0: 1}[BETAS[(len(asked) - 1) // 4]]
        answer = codes[test].copy()
        answer[:wrong] = 1 - answer[:wrong]
        return answer

    beta, history = search(codes, decide)
    assert beta == 1.0
    np.testing.assert_allclose([entry["error"] for entry in history], [8 / 32, 0, 4 / 32])
    assert [entry["beta"] for entry in history] == list(BETAS)
    assert len(set(np.round(asked, 6))) > 3  # each trial had its own embedding


def test_of_equal_betas_the_middle_one_is_taken():
    codes = np.repeat([0, 1], 10)
    assert search(codes, lambda embedding, learn, test: codes[test])[0] == 1.0


def test_hidden_rows_have_no_tie():
    """With all ties of a class hidden its node has no place."""
    codes = np.array([0, 0, 1, 1, -1, -1])
    seen = []

    def decide(embedding, learn, test):
        seen.append((len(learn), len(test)))
        return codes[test]

    search(codes, decide)
    assert all(learn + test == 4 and test >= 1 for learn, test in seen)


@pytest.mark.parametrize("codes", [[0, 1, -1, -1], [0, 1, 2, -1]])
def test_without_two_labels_of_a_class_the_default_is_taken(codes):
    assert search(np.array(codes), None) == (0.1, [])


def test_labels_that_reach_too_little_count_as_wrong():
    """Rows without edges: with two labels hidden, four nodes are left for four dimensions."""
    codes = np.array([0, 1, 0, 1, -1, -1])
    _, history = choose_beta(
        sparse.csr_array((6, 6)),
        codes,
        np.ones(6),
        4,
        lambda embedding, learn, test: codes[test],
        random_state=np.random.RandomState(0),
        n_folds=2,
    )
    assert [entry["error"] for entry in history] == [1.0] * 5
