import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from reproduction import protocols
from reproduction.protocols import LeastSquaresLDA, Rows


def digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    return Rows(X[:300], y[:300], X[300:500], y[300:500], X[500:900], y[500:900])


def test_drawn_parts_do_not_overlap():
    X = np.arange(100.0)[:, None]
    rows = protocols.draw_rows((X, np.zeros(100), X[:5] + 1000, np.zeros(5)), 30, 20, seed=1)
    assert not set(rows.X[:, 0]) & set(rows.X_val[:, 0])
    assert (len(rows.y), len(rows.y_val), len(rows.y_test)) == (30, 20, 5)


def test_balanced_parts_have_as_many_rows_of_each_class():
    X, y = np.arange(400.0)[:, None], np.repeat([0, 1], [300, 100])
    rows = protocols.draw_rows((X, y, X[:5], y[:5]), 40, 60, seed=1, balanced=True)
    assert np.bincount(rows.y).tolist() == [20, 20]
    assert np.bincount(rows.y_val).tolist() == [30, 30]
    assert not set(rows.X[:, 0]) & set(rows.X_val[:, 0])


def test_choices_do_not_see_the_test_rows():
    rows = digits()
    other = Rows(*vars(rows).values())
    shuffled = Rows(rows.X, rows.y, rows.X_val, rows.y_val, rows.X_test[:0], np.zeros(0, dtype=int))
    candidates = [KNeighborsClassifier(k) for k in (1, 50)]
    first = protocols.choose_on_validation(candidates, other)
    second = protocols.choose_on_validation(candidates, shuffled)
    assert first.n_neighbors == second.n_neighbors == 1


def test_gaussian_svms_are_those_of_libsvm():
    rows = digits()
    wrong, n_basis, gamma = protocols.gaussian_svm(rows, (1e-7, 0.1), (10.0,))
    assert gamma == 0.1
    peer = OneVsRestClassifier(SVC(C=10.0, gamma=0.1)).fit(rows.X, rows.y)
    assert wrong == protocols.error_on_test(peer, rows)
    assert n_basis == sum(len(svm.support_) for svm in peer.estimators_)


def test_low_dim_svm_takes_the_best_candidate_of_the_validation_rows():
    rows = digits()
    model = protocols.low_dim_svm(rows, 9, gammas=(1e-7, 0.05), n_centers=200)
    assert model.gamma == 0.05
    assert protocols.error_on_test(model, rows) < 20


def test_least_squares_lda_spans_fishers_directions():
    rows = digits()
    keep = rows.X.std(axis=0) > 0
    X = rows.X[:, keep]
    ours = LeastSquaresLDA().fit(X, rows.y).transform(X)
    theirs = LinearDiscriminantAnalysis().fit(X, rows.y).transform(X)
    ours, theirs = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    residual = theirs - ours @ np.linalg.lstsq(ours, theirs, rcond=None)[0]
    assert np.linalg.norm(residual) < 1e-6 * np.linalg.norm(theirs)
