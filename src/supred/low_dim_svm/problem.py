"""What a fit is given: rows, class indices, weights and a held-out part, all checked."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.mappings.basis import MEGABYTE
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.low_dim_svm.visit import BlockRows, Projection
from supred.numerics.decisions import winners
from supred.rows.blocks import RowSource, rows_of, select
from supred.rows.values import RowValues

# Basis functions of held-out rows that are kept from iteration to iteration.
HELD_OUT_BYTES = 2**29
DEFAULT_CACHE = 1000.0  # megabytes
# What basis functions may take of the memory that is free on a device.
DEVICE_CACHE = 0.7


def cache_megabytes(X: Any, cache_size: float | None) -> float:
    """Return how much of the basis functions of rows may be kept, by default what suits them."""
    if cache_size is not None:
        return float(cache_size)
    place = rows_of(X).place
    if not place.is_host:
        return DEVICE_CACHE * place.free_bytes() / MEGABYTE
    return 0.0 if isinstance(X, RowSource) and not X.keeps_blocks else DEFAULT_CACHE


@dataclass
class HeldOut:
    """Rows that are not trained on, with the indices of their classes.

    Attributes
    ----------
    X : rows
    class_index, weights : ndarrays of shape (n_rows,)
    cache_size : float
        Megabytes that their basis functions may take.
    """

    X: Any
    class_index: np.ndarray
    weights: np.ndarray
    cache_size: float
    _labels: tuple[Mapping, RowValues] | None = field(default=None, repr=False)

    def error(self, mapping: Mapping, score: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the share of the weight that a mapping and scores of its output get wrong."""
        _, wrong = self._labels_of(mapping).visit(wrong_weight, mapping.projection(), score)
        return wrong / float(self.weights.sum())

    def keep_basis(self, mapping: Mapping) -> None:
        """Make the Gaussians of the rows now, as far as they are kept."""
        if isinstance(mapping, RBFMapping):
            self._labels_of(mapping).visit(nothing)

    def _labels_of(self, mapping: Mapping) -> RowValues:
        """Return the labels with their blocks; the Gaussians stay the same while W changes."""
        if self._labels is None or self._labels[0] is not mapping:
            room = min(HELD_OUT_BYTES, self.cache_size * MEGABYTE)
            rows = mapping.rows_like(self.X, room)
            self._labels = (mapping, rows.attach(BlockRows, self.class_index, self.weights))
        return self._labels[1]


def wrong_weight(
    block: Any,
    rows: BlockRows,
    project: Projection,
    score: Callable[[np.ndarray], np.ndarray],
) -> tuple[BlockRows, float]:
    """Return the weight of the rows of a block that are misclassified."""
    wrong = winners(score(project(block))) != rows.class_index
    return rows, float(rows.weights[wrong].sum())


def nothing(block: Any, rows: BlockRows) -> tuple[BlockRows, int]:
    """Visit a block for its being made."""
    return rows, 0


@dataclass(frozen=True)
class Problem:
    """Rows to train on, and rows to choose the iterate by.

    Attributes
    ----------
    X : {ndarray, sparse matrix, RowSource} of shape (n_rows, n_features)
    class_index : ndarray of shape (n_rows,)
        Index of each row's class.
    weights : ndarray of shape (n_rows,)
        Weights s_n, all positive.
    classes : ndarray of shape (n_classes,)
    n_given : int
        How many rows the user gave.
    cache_size : float
        Megabytes that basis functions may take.
    given : ndarray of int, shape (n_rows,) or None
        Which of the rows that the user gave these are; None for all.
    held_out : HeldOut or None
    """

    X: Any
    class_index: np.ndarray
    weights: np.ndarray
    classes: np.ndarray
    n_given: int
    cache_size: float
    given: np.ndarray | None = None
    held_out: HeldOut | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        class_index: np.ndarray,
        weights: np.ndarray,
        classes: np.ndarray,
        *,
        cache_size: float | None = None,
        held_out: HeldOut | None = None,
    ) -> "Problem":
        """Return the problem of checked rows, class indices and weights.

        Rows of weight zero are left out: nothing may be drawn from them.
        """
        n_rows = len(class_index)
        room = cache_megabytes(X, cache_size)
        every = cls(X, class_index, weights, classes, n_rows, room, None, held_out)
        return every if (weights > 0).all() else every.part(np.flatnonzero(weights > 0))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.class_index)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def part(self, rows: np.ndarray) -> "Problem":
        """Return the problem with some of the rows, given by sorted indices."""
        return replace(
            self,
            X=select(self.X, rows),
            class_index=self.class_index[rows],
            weights=self.weights[rows],
            given=rows if self.given is None else self.given[rows],
        )

    def with_held_out(self, fraction: float, rng: np.random.RandomState) -> "Problem":
        """Split off a stratified held-out part of the rows.

        Parameters
        ----------
        fraction : float
            `validation_fraction`, the share of the rows to hold out.
        rng : RandomState
        """
        counts = np.bincount(self.class_index, minlength=self.n_classes)
        if counts.min() < 2:
            raise ValueError(
                f"early_stopping=True holds out rows of each class, but class(es) "
                f"{self.classes[counts < 2].tolist()} have one row; set early_stopping=False or "
                "give X_val and y_val."
            )
        n_rows = len(self.class_index)
        size = max(self.n_classes, round(fraction * n_rows))
        trained = held = np.arange(0)
        if size <= n_rows - self.n_classes:
            trained, held = train_test_split(
                np.arange(n_rows), test_size=size, stratify=self.class_index, random_state=rng
            )
        if len(np.unique(self.class_index[trained])) < self.n_classes:
            raise ValueError(
                f"validation_fraction={fraction} of {n_rows} rows leaves a class without training "
                "rows; use a smaller one, or give X_val and y_val."
            )
        # In the order of the rows, so that they can be read one after another.
        held.sort()
        part = self.part(held)
        held_out = HeldOut(part.X, part.class_index, part.weights, self.cache_size)
        return replace(self.part(np.sort(trained)), held_out=held_out)
