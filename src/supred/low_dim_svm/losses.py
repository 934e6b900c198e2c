"""Losses of the alternation: each has a g step, a z step and a loss of each row."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from supred.common.arrays import cast, is_foreign, place_of
from supred.low_dim_svm.g_step import (
    FEW_ROWS,
    SVM_TOL,
    Classifier,
    Parameters,
    hinge_g_step,
    hinge_look,
    hinge_slacks,
    log_g_step,
)
from supred.low_dim_svm.z_step import compiled_z_step, hinge_z_step, two_class_z_step
from supred.low_dim_svm.z_step_log import class_scores, log_z_step, row_losses
from supred.numerics.compiled import is_there, worthwhile
from supred.numerics.decisions import linear_scores, scored_in_double, task_signs

if TYPE_CHECKING:
    from supred.rows.values import RowValues

# The z step of so few SVMs, rows times SVMs, takes less time for all classes together.
FEW_SVMS, FEW_NUMBERS = 15, 50_000


class Loss(Protocol):
    """What the alternation asks of a loss.

    It holds nothing of the rows and travels to their blocks. Coordinates Z, F and class indices
    are those of some rows.
    """

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    def g_step(
        self,
        blocks: "RowValues",
        n_components: int,
        start: Parameters | None,
        looks: tuple[Any, ...] = (),
    ) -> Classifier:
        """Fit the classifier g to the coordinates of all rows, beginning at `start`.

        `looks` is the sum of :meth:`look` over the blocks, if it is at hand.
        """

    def look(self, rows: Any, start: Parameters) -> tuple[Any, ...]:
        """Return what a g step that begins at `start` asks of a block first; () for nothing.

        `rows` are the :class:`supred.low_dim_svm.visit.BlockRows` of the block. What is returned
        can be added up, and spares the g step a visit.
        """

    def z_step(
        self, F: np.ndarray, class_index: np.ndarray, classifier: Parameters, mu: float
    ) -> np.ndarray:
        """Return the coordinates that trade the loss against ||z - F||^2."""

    def row_losses(
        self, Z: np.ndarray, class_index: np.ndarray, classifier: Parameters
    ) -> np.ndarray:
        """Return the loss of each row, C included."""

    def scores(self, Z: np.ndarray, classifier: Parameters) -> np.ndarray:
        """Return the scores of the classes."""


@dataclass(frozen=True)
class HingeLoss:
    """One-vs-rest or one-vs-one linear SVMs with the hinge loss.

    Attributes
    ----------
    n_classes : int
    C : float
        Weight of the hinge loss.
    multi_class : {"ovr", "ovo"}
    tol : float
        Relative duality gap of the g step.
    fast : bool
        Use compiled loops where they are there.
    looks : bool
        Have the z step's visits look at the blocks for the g step.
    """

    n_classes: int
    C: float = 1.0
    multi_class: str = "ovr"
    tol: float = SVM_TOL
    fast: bool = False
    looks: bool = False

    @cached_property
    def signs(self) -> np.ndarray:
        """The sign of each class in each SVM, shape (n_classes, n_svms)."""
        return task_signs(np.arange(self.n_classes), self.n_classes, self.multi_class)

    def signs_of(self, class_index: np.ndarray) -> np.ndarray:
        """Return the sign of each row in each SVM, shape (n_rows, n_svms), where the rows are."""
        return place_of(class_index).put(self.signs)[class_index]

    def g_step(
        self,
        blocks: "RowValues",
        n_components: int,
        start: Parameters | None,
        looks: tuple[Any, ...] = (),
    ) -> Classifier:
        """Fit the SVMs to the coordinates of all rows, starting from the last ones."""
        options: dict[str, Any] = {"start": start, "tol": self.tol, "fast": self.fast}
        problem = n_components, self.signs, self.C
        return hinge_g_step(blocks, *problem, first=looks or None, **options)

    def look(self, rows: Any, start: Parameters) -> tuple[Any, ...]:
        """Return what a g step that begins at `start` asks of a block first."""
        if not self.looks or is_foreign(rows.Z):
            return ()
        return hinge_look(rows, start, self.signs, self.C, fast=self.fast)

    def z_step(
        self, F: np.ndarray, class_index: np.ndarray, classifier: Parameters, mu: float
    ) -> np.ndarray:
        """Return argmin over z of ``mu/2 ||z - F||^2 + C sum_k xi_k``, row by row."""
        coef, intercept = classifier
        c = 2.0 * self.C / mu
        if len(coef) == 1:
            y = self.signs_of(class_index)[:, 0]
            return two_class_z_step(F, y, coef[0], float(intercept[0]), c)
        if self.fast and is_there() and not is_foreign(F):
            return compiled_z_step(F, class_index, self.signs, coef, intercept, c)
        few = len(coef) <= FEW_SVMS and len(F) * len(coef) <= FEW_NUMBERS and not is_foreign(F)
        if few or self.signs.all():
            return hinge_z_step(F, self.signs_of(class_index), coef, intercept, c)
        # The rows of a class are seen by the same SVMs, and only these move them.
        Z = F + 0.0
        for signs, number in zip(self.signs, range(self.n_classes), strict=True):
            rows, some = place_of(F).xp.nonzero(class_index == number)[0], np.flatnonzero(signs)
            y = place_of(F).put(np.tile(signs[some], (len(rows), 1)))
            Z[rows] = hinge_z_step(F[rows], y, coef[some], intercept[some], c)
        return Z

    def row_losses(
        self, Z: np.ndarray, class_index: np.ndarray, classifier: Parameters
    ) -> np.ndarray:
        """Return ``C sum_k xi_k`` of each row."""
        return self.C * hinge_slacks(Z, self.signs_of(class_index), classifier).sum(axis=1)

    def scores(self, Z: np.ndarray, classifier: Parameters) -> np.ndarray:
        """Return the scores of the classes."""
        Z = cast(Z, float) if scored_in_double(*classifier) else Z
        return linear_scores(Z, *classifier, self.n_classes, self.multi_class)


@dataclass(frozen=True)
class LogLoss:
    """Multinomial logistic regression on the coordinates.

    Attributes
    ----------
    n_classes : int
    C : float
        Weight of the losses.
    """

    n_classes: int
    C: float = 1.0

    def g_step(
        self,
        blocks: "RowValues",
        n_components: int,
        start: Parameters | None,
        looks: tuple[Any, ...] = (),
    ) -> Classifier:
        """Fit the classifier to the coordinates of all rows, starting from the last one."""
        return log_g_step(blocks, n_components, self.n_classes, self.C, start=start)

    def look(self, rows: Any, start: Parameters) -> tuple[Any, ...]:
        """Return nothing: this g step visits the rows many times anyway."""
        return ()

    def z_step(
        self, F: np.ndarray, class_index: np.ndarray, classifier: Parameters, mu: float
    ) -> np.ndarray:
        """Return argmin over z of ``mu/2 ||z - F||^2 + C l(y; z)``, row by row."""
        return log_z_step(F, class_index, *classifier, self.C / mu)

    def row_losses(
        self, Z: np.ndarray, class_index: np.ndarray, classifier: Parameters
    ) -> np.ndarray:
        """Return ``C l(y; z)`` of each row."""
        return self.C * row_losses(class_scores(Z, *classifier), class_index)

    def scores(self, Z: np.ndarray, classifier: Parameters) -> np.ndarray:
        """Return the scores of the classes, or the one score of two classes."""
        Z = cast(Z, float) if scored_in_double(*classifier) else Z
        return linear_scores(Z, *classifier, self.n_classes, "ovr")


def make_loss(
    loss: str, n_classes: int, *, C: float, multi_class: str = "ovr", n_rows: int = 0
) -> Loss:
    """Return the loss of that name, "hinge" or "log"; for many rows it uses compiled loops."""
    if loss == "log":
        return LogLoss(n_classes, C)
    looks = n_rows > FEW_ROWS
    return HingeLoss(n_classes, C, multi_class, fast=worthwhile(n_rows), looks=looks)
