"""Where the alternation starts: the first coordinates of the rows.

By default one code per class: from L = K - 1 dimensions on the corners of a regular simplex; below
that, points spread over the sphere, confusable classes side by side. The paper draws the
coordinates of each row at random, which works for two classes and for one-vs-one SVMs; with many
classes one-vs-rest, each SVM sees few positive rows in noise and may find w = 0, so that the z step
moves nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize, quadratic_assignment

from supred.common.arguments import LARGEST_PARAMETER, as_numbers
from supred.common.arrays import cast, on_host, place_of, positive_part
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.problem import Problem
from supred.low_dim_svm.visit import (
    BlockRows,
    Coordinates,
    Projection,
    class_weights_of,
    start_visit,
    weighted_coordinates,
)
from supred.rows.blocks import rows_of
from supred.rows.values import RowValues

# Spread of the noise that init="random-codes" adds to the class codes of unit length.
CODE_NOISE = 0.1
# Up to so many classes are spread and placed by the best of several searches over all pairs; for
# more, whose pairs would take minutes, one search by products of matrices must do.
FEW_CLASSES = 50
# Swaps that such a search may make.
MOST_SWAPS = 2000


@dataclass(frozen=True)
class Start:
    """Where the rows are at first: at the codes of their classes, or each at its own place.

    Attributes
    ----------
    codes : ndarray of shape (n_classes, n_components) or None
    Z : ndarray of shape (n_rows, n_components) or None
        One of the two is None.
    """

    codes: np.ndarray | None
    Z: np.ndarray | None = None

    @property
    def n_components(self) -> int:
        """Number of coordinates."""
        given = self.Z if self.codes is None else self.codes
        assert given is not None
        return given.shape[1]

    def merged(self, coordinates: Coordinates, class_weights: np.ndarray) -> RowValues:
        """Return the blocks that the first g step sees: one row per class where that will do."""
        if self.codes is None:
            return coordinates.blocks
        index = np.arange(len(self.codes))
        together = BlockRows(0, index, class_weights, self.codes)
        return rows_of(self.codes).attach(lambda first, index: together, index)


def place(
    start: Start, mapping: Mapping, rows: RowValues, class_weights: np.ndarray
) -> Coordinates:
    """Put the rows where they start from, with F at their mean everywhere.

    Parameters
    ----------
    start : Start
    mapping : Mapping
        Prepared with the rows.
    rows : RowValues
        A :class:`BlockRows` for each block of the mapping's rows, with coordinates if the start
        has no codes.
    class_weights : ndarray of shape (n_classes,)
    """
    if start.codes is not None:
        center = class_weights @ start.codes / class_weights.sum()
    else:
        center = rows.sum(weighted_coordinates) / class_weights.sum()
    mapping.begin(center)
    blocks, moves = rows.visit(start_visit, start.codes, center, mapping.multiply)
    return Coordinates(blocks, moves)


def choose_start(
    init: Any,
    problem: Problem,
    mapping: Mapping,
    rows: RowValues,
    n_components: int,
    mu: float,
    rng: np.random.RandomState,
) -> Start:
    """Return the coordinates z_n that the alternation starts from.

    Parameters
    ----------
    init : {"auto", "simplex", "sphere", "random", "random-codes"} or array
        As in :class:`supred.LowDimSVC`.
    problem : Problem
    mapping : Mapping
        Prepared with the rows; "sphere" asks it which classes are confusable.
    rows : RowValues
        As in :func:`place`.
    n_components : int
    mu : float
        The first penalty.
    rng : RandomState
    """
    n_classes = problem.n_classes
    if not isinstance(init, str):
        return _given_start(init, problem, n_components)
    if init == "auto":
        init = "simplex" if n_components >= n_classes - 1 else "sphere"
    if init == "simplex":
        return Start(simplex_codes(n_classes, n_components))
    if init == "random":
        return Start(None, random_points(problem.n_rows, n_components, rng))
    if init == "random-codes":
        Z = random_points(n_classes, n_components, rng)[problem.class_index]
        return Start(None, Z + CODE_NOISE * rng.normal(size=Z.shape))
    # A first regression to one-hot codes tells which classes are confusable.
    class_weights = rows.sum(class_weights_of, n_classes)
    one_hot = Start(np.eye(n_classes))
    mapping.regress(place(one_hot, mapping, rows, class_weights), mu)
    _, confusion = rows.visit(class_confusion, mapping.projection(), n_classes)
    return Start(sphere_codes(n_classes, n_components, confusion / class_weights[:, None], rng))


def _given_start(init: Any, problem: Problem, n_components: int) -> Start:
    given = as_numbers("init", init, "give an array of coordinates, or the name of a start")
    if not np.abs(given).max(initial=0.0) <= LARGEST_PARAMETER:  # NaN is not
        raise ValueError(
            f"init holds NaN, or numbers beyond {LARGEST_PARAMETER:g}; give coordinates near 1."
        )
    if given.shape == (problem.n_classes, n_components):
        return Start(given)
    if given.shape == (problem.n_given, n_components):
        return Start(None, given if problem.given is None else given[problem.given])
    raise ValueError(
        f"init has shape {np.shape(init)}; give an array of shape "
        f"({problem.n_classes}, {n_components}) with one code per class, or ({problem.n_given}, "
        f"{n_components}) with the coordinates of each training row."
    )


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

    def energy(flat: np.ndarray) -> tuple[float, np.ndarray]:
        """Sum of inverse squared distances of the normalised points, with its gradient."""
        free = flat.reshape(n_points, n_components)
        norms = np.linalg.norm(free, axis=1, keepdims=True)
        points = free / norms
        squared = np.maximum(2.0 - 2.0 * (points @ points.T), 1e-12)
        np.fill_diagonal(squared, np.inf)
        push = squared**-2
        gradient = 2.0 * (push @ points - push.sum(axis=1, keepdims=True) * points)
        tangent = gradient - points * (points * gradient).sum(axis=1, keepdims=True)
        return float((0.5 / squared).sum()), (tangent / norms).ravel()

    few = n_points <= FEW_CLASSES
    best = min(
        (
            minimize(
                energy,
                rng.normal(size=n_points * n_components),
                jac=True,
                method="L-BFGS-B",
                options={} if few else {"maxiter": 200},
            )
            for _ in range(3 if few else 1)
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
    # Mirror images are as good, and rounding must not choose among them.
    likeness = np.round(likeness / max(likeness.max(), 1e-300), 10)
    distances = np.square(points[:, None] - points).sum(axis=2)
    seed = int(rng.randint(2**31 - 1))
    if n_classes > FEW_CLASSES:
        return points[placed_by_swaps(likeness, distances)]
    # 2-opt finds local optima; a few starts are cheap for the number of classes of a picture.
    starts = [
        quadratic_assignment(
            likeness, distances, method="2opt", options={"rng": np.random.default_rng(seed + start)}
        )
        for start in range(20 if n_classes <= 30 else 3)
    ]
    return points[min(starts, key=lambda result: result.fun).col_ind]


def placed_by_swaps(likeness: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return for each class the number of its point: a local optimum under swaps of two classes.

    Each step is the best of all swaps, whose gains one matrix holds.

    Parameters
    ----------
    likeness, distances : ndarrays of shape (n_classes, n_classes)
        Symmetric, with a diagonal of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.low_dim_svm.starts import placed_by_swaps
    >>> distances = np.square(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> alike = np.zeros((4, 4))
    >>> alike[[0, 2, 2, 1, 1, 3], [2, 0, 1, 2, 3, 1]] = 1.0  # in the order 0, 2, 1, 3
    >>> order = placed_by_swaps(alike, distances)
    >>> float((alike * distances[np.ix_(order, order)]).sum())
    6.0
    """
    order = quadratic_assignment(
        likeness, distances, method="faq", options={"rng": np.random.default_rng(0)}
    ).col_ind
    placed = distances[np.ix_(order, order)]
    products = likeness @ placed
    for _ in range(MOST_SWAPS):
        own = products.diagonal()
        gains = own[:, None] + own - products - products.T - 2.0 * likeness * placed
        pair = np.array(np.unravel_index(gains.argmax(), gains.shape))
        if gains[*pair] <= 1e-9 * max(own.max(), 1.0):  # rounding
            break
        order[pair] = order[pair[::-1]]
        before, placed = placed, distances[np.ix_(order, order)]
        products += likeness[:, pair] @ (placed - before)[pair]
        products[:, pair] = likeness @ placed[:, pair]
    return order


def random_points(n_points: int, n_components: int, rng: np.random.RandomState) -> np.ndarray:
    """Return random points of about unit length."""
    return rng.normal(size=(n_points, n_components)) / np.sqrt(n_components)


def class_confusion(
    block: Any, rows: BlockRows, project: Projection, n_classes: int
) -> tuple[BlockRows, np.ndarray]:
    """Return how much score, never negative, rows of class j give to class k, times their weight.

    Parameters
    ----------
    block : array
        What `project` takes.
    rows : BlockRows
    project : callable
        A regression to one-hot targets.
    n_classes : int
    """
    positive = rows.weights[:, None] * positive_part(project(block))
    members = rows.class_index[:, None] == place_of(positive).arange(n_classes)
    return rows, on_host(cast(members.T, float) @ positive)
