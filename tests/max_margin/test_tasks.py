import numpy as np
import pytest
from scipy import sparse

from supred import MaxMarginProjection, stack_tasks
from supred.max_margin.tasks import merge_equal_rows


def make_tasks(as_sparse=False):
    rng = np.random.default_rng(0)
    tasks = []
    for k in range(3):
        X = rng.normal(size=(20 + k, 5))
        y = np.where(X[:, k] > 0, "up", "down")
        tasks.append((sparse.csr_matrix(X) if as_sparse else X, y))
    return tasks


@pytest.mark.parametrize("as_sparse", [False, True])
def test_stacked_tasks_are_those_given(as_sparse):
    tasks = make_tasks(as_sparse)
    X, Y = stack_tasks(tasks)
    assert X.shape == (63, 5)
    assert sparse.issparse(X) == as_sparse
    assert np.count_nonzero(Y) == 63
    for k, (X_k, y_k) in enumerate(tasks):
        own = Y[:, k] != 0
        assert abs(X[own] - X_k).max() == 0
        np.testing.assert_array_equal(Y[own, k] == 1, y_k == "up")


def test_points_of_the_latent_space_have_their_side_in_each_task():
    X, Y = stack_tasks(make_tasks())
    model = MaxMarginProjection(2).fit(X, Y)
    labels = model.classify_latent(model.transform(X))
    assert set(np.unique(labels)) == {-1, 1}
    np.testing.assert_array_equal(labels, model.predict(X))


def test_stacked_tasks_fit_as_each_alone():
    """As many components as tasks: each SVM is that of its own rows."""
    tasks = make_tasks()
    model = MaxMarginProjection(3).fit(*stack_tasks(tasks))
    for k, (X_k, y_k) in enumerate(tasks):
        alone = MaxMarginProjection().fit(X_k, y_k)
        np.testing.assert_allclose(
            model.decision_function(X_k)[:, k], alone.decision_function(X_k), atol=1e-2
        )


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "tasks is empty"),
        (None, "tasks=None is not a list of pairs"),
        (np.ones((2, 5, 2)), r"task 0 is a ndarray, not a pair \(X_k, y_k\)"),
        ([([[1.0], [2.0]], [0, 1]), ([[1.0, 2.0]] * 2, [0, 1])], "task 1 has 2 features, but"),
        ([([[1.0], [2.0], [3.0]], [0, 1, 2])], "task 0 has 3 classes; each task must have two"),
        ([([[1.0], [2.0]], [0, 1, 1])], "task 0 has 2 rows, but 3 labels"),
        ([([[1.0], [2.0]], [1, 1])], "y of task 0 holds one class only"),
    ],
)
def test_bad_tasks(tasks, message):
    with pytest.raises(ValueError, match=message):
        stack_tasks(tasks)


def test_equal_rows_become_one_with_the_sum_of_weights():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [1.0, 0.0], [5.0, 5.0]])
    signs = np.array([[1.0], [1.0], [1.0], [-1.0], [1.0]])
    weights = np.array([[1.0], [2.0], [4.0], [8.0], [0.0]])
    rows, merged_signs, merged_weights = merge_equal_rows(X, signs, weights)
    found = {
        (*row, *sign): weight
        for row, sign, (weight,) in zip(
            rows.tolist(), merged_signs.tolist(), merged_weights.tolist(), strict=True
        )
    }
    assert found == {(1.0, 0.0, 1.0): 5.0, (0.0, 2.0, 1.0): 2.0, (1.0, 0.0, -1.0): 8.0}


def test_weights_of_tasks_that_are_no_numbers():
    X, Y = np.arange(8.0).reshape(4, 2), np.array([[1, -1], [-1, 1], [1, 1], [-1, -1]])
    with pytest.raises(ValueError, match="sample_weight"):
        MaxMarginProjection().fit(X, Y, sample_weight=sparse.csr_matrix(np.ones((4, 2))))
