"""Where the alternation starts: one point per class in the latent space.

With random coordinates each one-vs-rest SVM sees noise, finds w = 0, and nothing ever moves.
One code per class avoids this. From L = K - 1 dimensions on the codes are the corners of a
regular simplex; below that, points spread over the sphere, confusable classes side by side.
"""

import numpy as np
from scipy.optimize import minimize, quadratic_assignment


def simplex_codes(n_classes: int, n_components: int) -> np.ndarray:
    """Return the corners of a regular simplex, centred, at distance 1 from the origin.

    Dimensions beyond K - 1 are zero.

    Parameters
    ----------
    n_classes : int
        K.
    n_components : int
        L, at least K - 1.

    Examples
    --------
    >>> from supred.low_dim_svm.starts import simplex_codes
    >>> simplex_codes(2, 1).ravel()
    array([-1.,  1.])
    """
    if n_components < n_classes - 1:
        raise ValueError(
            f"a simplex of {n_classes} classes needs {n_classes - 1} dimensions; "
            f"n_components={n_components}."
        )
    # Corner k is built from the k before it: the Helmert basis of the vectors that sum to zero.
    codes = np.zeros((n_classes, n_components))
    for j in range(n_classes - 1):
        codes[: j + 1, j] = -1.0 / np.sqrt((j + 1) * (j + 2))
        codes[j + 1, j] = (j + 1) / np.sqrt((j + 1) * (j + 2))
    return codes / np.linalg.norm(codes[0])


def spread_points(n_points: int, n_components: int, rng: np.random.RandomState) -> np.ndarray:
    """Spread points over the unit sphere by repulsion (evenly on a line for one dimension)."""
    if n_components == 1:
        return np.linspace(-1.0, 1.0, n_points)[:, None]
    if n_components == 2:
        angles = 2 * np.pi * np.arange(n_points) / n_points
        return np.column_stack([np.cos(angles), np.sin(angles)])
    pairs = np.triu_indices(n_points, 1)

    def energy(flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum of inverse squared distances of the normalised points, with its gradient."""
        free = flat.reshape(n_points, n_components)
        norms = np.linalg.norm(free, axis=1, keepdims=True)
        points = free / norms
        difference = points[pairs[0]] - points[pairs[1]]
        squared = np.maximum((difference**2).sum(axis=1), 1e-12)
        force = -2.0 * difference / squared[:, None] ** 2
        gradient = np.zeros_like(points)
        np.add.at(gradient, pairs[0], force)
        np.add.at(gradient, pairs[1], -force)
        tangent = gradient - points * (points * gradient).sum(axis=1, keepdims=True)
        return float((1.0 / squared).sum()), (tangent / norms).ravel()

    best = min(
        (
            minimize(energy, rng.normal(size=n_points * n_components), jac=True, method="L-BFGS-B")
            for _ in range(3)
        ),
        key=lambda result: result.fun,
    )
    points = best.x.reshape(n_points, n_components)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def sphere_codes(
    n_classes: int,
    n_components: int,
    confusion: np.ndarray | None,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Place the classes on spread points so that confusable classes are neighbours.

    Parameters
    ----------
    n_classes, n_components : int
    confusion : ndarray of shape (n_classes, n_classes), optional
        How much of class j looks like class k; the placement minimises
        ``sum_jk confusion_jk ||code_j - code_k||^2``.
    rng : RandomState

    Returns
    -------
    codes : ndarray of shape (n_classes, n_components)
    """
    points = spread_points(n_classes, n_components, rng)
    if confusion is None or n_classes < 3:
        return points
    likeness = confusion + confusion.T
    np.fill_diagonal(likeness, 0.0)
    distances = np.square(points[:, None] - points).sum(axis=2)
    seed = int(rng.randint(2**31 - 1))
    # 2-opt finds local optima; a few starts are cheap for the number of classes of a picture.
    starts = [
        quadratic_assignment(
            likeness, distances, method="2opt", options={"rng": np.random.default_rng(seed + start)}
        )
        for start in range(20 if n_classes <= 30 else 3)
    ]
    return points[min(starts, key=lambda result: result.fun).col_ind]


def random_codes(n_classes: int, n_components: int, rng: np.random.RandomState) -> np.ndarray:
    """Return one random point of about unit length per class."""
    return rng.normal(size=(n_classes, n_components)) / np.sqrt(n_components)


def class_confusion(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return how much of class j's mean score goes to class k, never negative.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Outputs of a regression to one-hot targets.
    codes : ndarray of shape (n_rows,)
        Index of each row's class.
    weights : ndarray of shape (n_rows,)
    """
    n_classes = scores.shape[1]
    confusion = np.empty((n_classes, n_classes))
    positive = np.maximum(scores, 0.0)
    for k in range(n_classes):
        rows = codes == k
        confusion[k] = np.average(positive[rows], axis=0, weights=weights[rows])
    return confusion
