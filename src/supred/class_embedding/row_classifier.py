"""The classifier that decides in an embedding."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import has_fit_parameter

from supred.base.state import register
from supred.class_embedding.embedding import TooFewNodesError, class_ties, embed_with_classes
from supred.common.arguments import check_choice

CLASSIFIERS = ("auto", "flow", "knn", "linear", "center")
N_NEAREST = 3
# Eigenvectors to this relative accuracy give the same decisions.
COARSE = 1e-6


@register
@dataclass(frozen=True)
class Training:
    """Coordinates and labels that a classifier was trained on."""

    Z: np.ndarray
    labels: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class ClassifierChoice:
    """Which classifier to train in an embedding.

    Attributes
    ----------
    kind : {"auto", "flow", "knn", "linear", "center"} or estimator
        "auto" and "flow" are the nearest rows where the flow does not decide.
    alpha : float
        Ridge penalty of the linear classifier.
    """

    kind: Any
    alpha: float

    def check(self) -> None:
        """Raise a ValueError if this is not a classifier."""
        if isinstance(self.kind, str):
            check_choice("classifier", self.kind, CLASSIFIERS)
        elif isinstance(self.kind, type):
            raise ValueError(
                f"classifier={self.kind.__name__} is a class; give an instance, such as "
                f"{self.kind.__name__}()."
            )
        elif not (hasattr(self.kind, "fit") and is_classifier(self.kind)):
            raise ValueError(
                f"classifier={self.kind!r} is not a classifier; "
                f"use one of {', '.join(map(repr, CLASSIFIERS))} or a scikit-learn classifier."
            )

    def new(self, n_rows: int = N_NEAREST) -> Any:
        """Return an unfitted classifier for `n_rows` labelled rows."""
        if not isinstance(self.kind, str):
            return clone(self.kind)
        if self.kind == "linear":
            return RidgeClassifier(alpha=self.alpha, solver="svd")  # coordinates may be collinear
        return KNeighborsClassifier(1 if self.kind == "center" else min(N_NEAREST, n_rows))

    def train(self, training: Training, centers: np.ndarray, classes: np.ndarray) -> Any:
        """Return a classifier fitted on labelled rows, or on the class nodes.

        Parameters
        ----------
        training : Training
            The weights are passed on where the classifier takes any.
        centers : ndarray of shape (n_classes, n_components)
            Coordinates of the class nodes, NaN for a class without ties.
        classes : ndarray of shape (n_classes,)
            Their labels.
        """
        classifier = self.new(len(training.labels))
        if isinstance(self.kind, str) and self.kind == "center":
            present = ~np.isnan(centers).any(axis=1)
            return classifier.fit(centers[present], classes[present])
        if has_fit_parameter(classifier, "sample_weight"):
            return classifier.fit(training.Z, training.labels, sample_weight=training.weights)
        return classifier.fit(training.Z, training.labels)


def decide_spectrally(
    beta: float,
    class_index: np.ndarray,
    *,
    W: sparse.csr_array,
    weights: np.ndarray,
    n_classes: int,
    n_components: int,
    choice: ClassifierChoice,
    method: str,
) -> np.ndarray:
    """Embed a graph and return the class index of every row.

    Parameters
    ----------
    beta : float
    class_index : ndarray of shape (n_rows,)
        -1 for rows to decide on; they stay -1 where labels reach too little of the graph.
    W : sparse array of shape (n_rows, n_rows)
        Symmetric weights of the neighbour graph.
    weights : ndarray of shape (n_rows,)
        Weight of each row's tie.
    n_classes, n_components : int
    choice : ClassifierChoice
    method : str
        See :func:`supred.class_embedding.eigenvectors.leading_eigenvectors`.
    """
    C = class_ties(class_index, weights, n_classes)
    try:
        found = embed_with_classes(W, C, beta, n_components, method=method, tol=COARSE)
    except TooFewNodesError:
        return class_index
    rows = np.nan_to_num(found.rows)  # stranded rows at the origin
    known = class_index >= 0
    training = Training(rows[known], class_index[known], weights[known])
    classifier = choice.train(training, found.centers, np.arange(n_classes))
    result = np.array(class_index)
    if not known.all():
        result[~known] = classifier.predict(rows[~known])
    return result
