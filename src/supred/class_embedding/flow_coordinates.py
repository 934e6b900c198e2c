"""Coordinates and decisions that follow the flow from the class nodes.

Memberships v of K classes sum to one, so they lie in a space of K - 1 dimensions, in which the
class nodes are the corners of a regular simplex. The coordinates are the principal axes of that
space: with all of them the memberships, and so the decisions, can be read off again. Two of them
for a picture are chosen otherwise, so that no two classes lie in one place.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert
from scipy.special import softmax

from supred.base.state import register
from supred.class_embedding.embedding import fix_signs
from supred.numerics.eigen import eigh


@register
@dataclass(frozen=True)
class FlowClassifier:
    """Decides by the largest membership, read off the flow coordinates.

    Attributes
    ----------
    axes : ndarray of shape (n_classes, n_classes - 1)
        Orthonormal columns, each of which sums to zero; row k is the place of class node k.
    classes_ : ndarray of shape (n_classes,)
    temperature : float
        Memberships are divided by it before the softmax that makes probabilities of them.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.class_embedding.flow_coordinates import FlowClassifier
    >>> axes = np.array([[-1.0], [1.0]]) / np.sqrt(2)
    >>> FlowClassifier(axes, np.array(["no", "yes"]), 0.2).predict(np.array([[-0.3], [0.2]]))
    array(['no', 'yes'], dtype='<U3')
    """

    axes: np.ndarray
    classes_: np.ndarray
    temperature: float

    def memberships(self, Z: np.ndarray) -> np.ndarray:
        """Return v, shape (n_rows, n_classes); rows sum to one."""
        return np.asarray(Z @ self.axes.T + 1.0 / len(self.classes_))

    def decision_function(self, Z: np.ndarray) -> np.ndarray:
        """Return the memberships; for two classes the difference between them."""
        v = self.memberships(Z)
        return v if v.shape[1] > 2 else v[:, 1] - v[:, 0]

    def predict(self, Z: np.ndarray) -> np.ndarray:
        """Return the class with the largest membership."""
        return np.asarray(self.classes_[self.memberships(Z).argmax(axis=1)])

    def predict_proba(self, Z: np.ndarray) -> np.ndarray:
        """Return the softmax of the memberships over the temperature."""
        return np.asarray(softmax(self.memberships(Z) / self.temperature, axis=1))


def flow_axes(v: np.ndarray) -> np.ndarray:
    """Return the principal axes of memberships, in falling order of variance.

    Parameters
    ----------
    v : ndarray of shape (n_rows, n_classes)
        Rows sum to one.

    Returns
    -------
    axes : ndarray of shape (n_classes, n_classes - 1)
        Coordinates are ``(v - 1 / n_classes) @ axes``.
    """
    contrasts = helmert(v.shape[1]).T  # (n_classes, n_classes - 1), orthonormal, without the mean
    _, turned = eigh(np.cov((v @ contrasts).T).reshape(len(contrasts) - 1, -1))
    axes = contrasts @ turned[:, ::-1]
    return np.asarray(axes * fix_signs(axes, v @ axes))


def circle_axes(v: np.ndarray) -> np.ndarray:
    """Return two axes in which the class nodes lie on a circle, at even distances.

    A plane cannot hold the corners of a simplex apart: the two principal axes show a few of them
    and put the others together. Here all are apart, and classes that share memberships are side
    by side: they come in the order of their angle in the plane of the first two eigenvectors of
    their normalised overlap v^T v that are not constant.

    Parameters
    ----------
    v : ndarray of shape (n_rows, n_classes)
        Memberships; at least four classes.

    Returns
    -------
    axes : ndarray of shape (n_classes, 2)
        Orthonormal columns, each of which sums to zero.
    """
    n_classes = v.shape[1]
    overlap = np.maximum(v, 0.0).T @ np.maximum(v, 0.0)
    np.fill_diagonal(overlap, 0.0)
    overlap += np.finfo(float).eps * max(overlap.max(), 1.0)  # classes that share nothing
    scale = 1.0 / np.sqrt(overlap.sum(axis=1))
    _, vectors = eigh(overlap * np.outer(scale, scale))
    place = np.argsort(np.argsort(np.arctan2(vectors[:, -3], vectors[:, -2])))
    place = (place - place[0]) % n_classes  # the first class first,
    if place[1] > n_classes / 2:  # and the second in the first half
        place = -place % n_classes
    angles = 2.0 * np.pi * place / n_classes
    return np.sqrt(2.0 / n_classes) * np.column_stack([np.cos(angles), np.sin(angles)])
