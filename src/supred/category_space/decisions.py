"""Rules that give a class to coordinates along the axes: angles, or linear scores."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from supred.common.warn import warn_caller
from supred.numerics.gaussian_classes import GaussianClasses

# Scores that differ by less, relatively to their range, are those of equal rows.
EQUAL = 1e-12


@dataclass(frozen=True)
class AxisRule:
    """A classifier of coordinates in category space.

    Attributes
    ----------
    kind : {"axes", "lines", "means", "linear"}
        Cosine of the angle with each axis; its absolute value, where the sign of an axis means
        nothing; cosine of the angle with each class mean; or linear scores.
    coef : ndarray of shape (n_classes, n_classes) or None
        Weights of the linear scores, or the directions of the class means.
    intercept : ndarray of shape (n_classes,) or None

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.decisions import AxisRule
    >>> AxisRule("lines").scores(np.array([[-3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    kind: str
    coef: np.ndarray | None = None
    intercept: np.ndarray | None = None

    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Return one score per class, the larger the nearer."""
        if self.kind == "linear" and self.coef is not None:
            return np.asarray(Z @ self.coef.T + self.intercept)
        cosines = unit_rows(Z)
        if self.kind == "means" and self.coef is not None:
            return np.asarray(cosines @ self.coef.T)
        return np.abs(cosines) if self.kind == "lines" else cosines

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the rule keeps."""
        return [array for array in (self.coef, self.intercept) if array is not None]


def unit_rows(Z: np.ndarray) -> np.ndarray:
    """Return the rows divided by their lengths; rows of zeros stay."""
    sizes = np.abs(Z).max(axis=1, keepdims=True, initial=0.0)
    directions = Z / np.where(sizes > 0, sizes, 1.0)  # whose squares neither over- nor underflow
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(directions / np.where(lengths > 0, lengths, 1.0))


def angle_rule(class_means: np.ndarray, *, has_kernel: bool, whitened: bool) -> AxisRule:
    """Return the rule of the smallest angle.

    In the whitened features of a kernel all rows share a long part, the more the wider the
    kernel is: the axes are then less telling than the class means.
    """
    if not has_kernel:
        return AxisRule("axes")
    return AxisRule("means", unit_rows(class_means)) if whitened else AxisRule("lines")


def check_rule(rule: AxisRule, class_means: np.ndarray, classes: np.ndarray) -> None:
    """Warn where angles tell no two classes apart: the means of all get the same class."""
    found = rule.scores(class_means).argmax(axis=1)
    if rule.kind != "linear" and (found == found[0]).all():
        warn_caller(
            "CategorySpace cannot tell the classes apart by angles: the means of all get the class "
            f"{classes.tolist()[found[0]]!r}, because seen from zero they lie in one direction. "
            "Use classifier='linear', subtract the mean of the features (kernel='linear' with "
            "origin='global' does) or, with kernel='rbf', raise gamma.",
        )


def linear_rule(
    Z: np.ndarray, members: np.ndarray, weights: np.ndarray, *, exclusive: bool
) -> AxisRule:
    """Return linear discriminants of the coordinates.

    Classes are Gaussians with one covariance; of several labels each is told from its absence in
    the same way, on the coordinates along all axes, with the threshold that gives the label to
    as many training rows as have it: the threshold of the Gaussians misses rare labels.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_classes)
    members : ndarray of bool, shape (n_rows, n_classes)
    weights : ndarray of shape (n_rows,)
    exclusive : bool
        Whether each row belongs to one class.
    """
    if exclusive:
        return AxisRule("linear", *_scores_of(Z, members.argmax(axis=1), weights))
    pairs = [_scores_of(Z, column.astype(int), weights) for column in members.T]
    coef = np.array([coef[1] - coef[0] for coef, _ in pairs])
    thresholds = [
        upper_quantile(Z @ w, weights, float(weights @ column))
        for w, column in zip(coef, members.T, strict=True)
    ]
    return AxisRule("linear", coef, -np.array(thresholds))


def upper_quantile(values: np.ndarray, weights: np.ndarray, total: float) -> float:
    """Return the threshold above which the values have the given total weight.

    It lies half way between two different values: equal rows are on one side, be it as copies or
    as one row of their weight.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.category_space.decisions import upper_quantile
    >>> upper_quantile(np.array([1.0, 4.0, 2.0]), np.array([1.0, 1.0, 2.0]), 3.0)
    1.5
    """
    order = np.argsort(-values, kind="stable")
    above = np.cumsum(weights[order])
    last = int(np.searchsorted(above, total * (1 - 1e-12)))
    least = float(values[order[last]])
    lower = values < least - EQUAL * float(np.ptp(values))
    return 0.5 * (least + float(values[lower].max())) if lower.any() else least


def _scores_of(
    Z: np.ndarray, class_index: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights S^-1 m_k and intercepts log prior_k - 1/2 m_k^T S^-1 m_k."""
    totals = np.bincount(class_index, weights=weights)
    shares = (class_index[:, None] == np.arange(len(totals))) * weights[:, None]
    means = shares.T @ Z / totals[:, None]
    classes = GaussianClasses.of_rows(Z, class_index, weights, means)
    coef = cho_solve((classes.factor, True), means.T).T
    return coef, np.log(classes.priors) - 0.5 * np.sum(coef * means, axis=1)
