"""One visit to a block of rows: all that an iteration does where the rows are.

    Phi = phi(block);   F = Phi W + w0;   z = z_step(F);   return Phi^T S (z - F), other sums

The z step of a row is the one minimiser of a convex problem in F(x), the classifier and mu, so z
can be made again wherever the row is. It stays with the block, and so do labels and weights; what
travels are parameters and sums.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from supred.common.arrays import cast, is_foreign, on_host, place_of
from supred.low_dim_svm.g_step import Parameters
from supred.low_dim_svm.losses import Loss
from supred.numerics.decisions import winners
from supred.rows.values import RowValues

# Makes F of a block of basis functions, or of whatever rows the mapping is given.
Projection = Callable[[Any], np.ndarray]
# Makes Phi^T T of such a block and of T.
Multiply = Callable[[Any, np.ndarray], np.ndarray]
# Where at most this part of a block's rows has moved, they are copied out of it.
MOST_COPIED = 0.4


@dataclass(frozen=True)
class BlockRows:
    """What lives with a block of rows.

    Attributes
    ----------
    first : int
        Number of the first row.
    class_index : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    Z : ndarray of shape (n_rows, n_components)
        The coordinates, once there are any.
    """

    first: int
    class_index: np.ndarray
    weights: np.ndarray
    Z: np.ndarray = field(default_factory=partial(np.empty, (0, 0)))


@dataclass
class Worth:
    """What an iterate is worth, summed over rows.

    Attributes
    ----------
    loss : float
        sum_n s_n loss(F(x_n)).
    wrong : float
        Weight of the rows that are misclassified.
    """

    loss: float
    wrong: float

    def __iadd__(self, other: "Worth") -> "Worth":
        self.loss += other.loss
        self.wrong += other.wrong
        return self


@dataclass
class Moves:
    """How far coordinates are from F, summed over rows.

    Attributes
    ----------
    products : ndarray of shape (n_basis, n_components) or None
        Phi^T S (Z - F); None for a mapping without basis functions.
    total : ndarray of shape (n_components,)
        sum_n s_n (z_n - F(x_n)).
    squares : float
        sum_n s_n ||z_n - F(x_n)||^2.
    """

    products: np.ndarray | None
    total: np.ndarray
    squares: float

    def __iadd__(self, other: "Moves") -> "Moves":
        if self.products is not None:
            self.products += other.products
        self.total += other.total
        self.squares += other.squares
        return self


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of all rows, which stay in their blocks, and how far they are from F.

    `looks` is what the visit that made them saw for the g step, see :class:`Loss`.
    """

    blocks: RowValues
    moves: Moves
    looks: tuple[Any, ...] = ()

    def whole(self) -> np.ndarray:
        """Return the coordinates of all rows, for mappings that cannot do without."""
        return self.blocks.collect(_coordinates)


def _coordinates(rows: BlockRows) -> np.ndarray:
    return rows.Z


def class_weights_of(rows: BlockRows, n_classes: int) -> np.ndarray:
    """Return the weight of each class in a block."""
    index, weights = on_host(rows.class_index), on_host(rows.weights)
    return np.bincount(index, weights=weights, minlength=n_classes)


def weighted_coordinates(rows: BlockRows) -> np.ndarray:
    """Return ``sum_n s_n z_n`` of a block."""
    return on_host(rows.weights @ rows.Z)


def z_visit(
    block: Any,
    rows: BlockRows,
    project: Projection,
    multiply: Multiply | None,
    loss: Loss,
    classifier: Parameters,
    mu: float,
) -> tuple[BlockRows, tuple[Worth, Moves, tuple[Any, ...]]]:
    """Visit a block: F, what it is worth, the z step and its sums, a look for the g step.

    Parameters
    ----------
    block : array
        What `project` takes, as a rule basis functions.
    rows : BlockRows
    project : callable
        F of the last iterate.
    multiply : callable or None
        ``multiply(block, way)`` returns Phi^T way.
    loss : Loss
    classifier : tuple of ndarrays
        g of the last iterate.
    mu : float
        The penalty of the z step.
    """
    F = cast(project(block), float)
    Z = loss.z_step(F, rows.class_index, classifier, mu)
    moved = replace(rows, Z=Z)
    sums = _worth(F, rows, loss, classifier), moves_of(block, moved, F, multiply)
    return moved, (*sums, loss.look(moved, classifier))


def worth_visit(
    block: Any, rows: BlockRows, project: Projection, loss: Loss, classifier: Parameters
) -> tuple[BlockRows, Worth]:
    """Visit a block for what the iterate is worth there, and nothing else."""
    return rows, _worth(cast(project(block), float), rows, loss, classifier)


def start_visit(
    block: Any,
    rows: BlockRows,
    codes: np.ndarray | None,
    center: np.ndarray,
    multiply: Multiply | None,
) -> tuple[BlockRows, Moves]:
    """Put each row at the code of its class, unless it has coordinates; F is `center`."""
    put = place_of(rows.class_index).put
    moved = rows if codes is None else replace(rows, Z=put(codes)[rows.class_index])
    return moved, moves_of(block, moved, put(center), multiply)


def _worth(F: np.ndarray, rows: BlockRows, loss: Loss, classifier: Parameters) -> Worth:
    wrong = winners(loss.scores(F, classifier)) != rows.class_index
    losses = loss.row_losses(F, rows.class_index, classifier)
    return Worth(float(rows.weights @ losses), float(rows.weights[wrong].sum()))


def moves_of(
    block: Any,
    rows: BlockRows,
    F: np.ndarray,
    multiply: Multiply | None,
) -> Moves:
    """Return the sums of s (Z - F); rows that did not move cost nothing."""
    way = rows.Z - F
    squares = float(rows.weights @ (way * way).sum(axis=1))
    way *= rows.weights[:, None]
    products = None
    if multiply is not None:
        some = np.arange(len(way)) if is_foreign(way) else np.flatnonzero(way.any(axis=1))
        few = len(some) <= MOST_COPIED * len(way)
        products = multiply(block[some], way[some]) if few else multiply(block, way)
    return Moves(products, on_host(way.sum(axis=0)), squares)
