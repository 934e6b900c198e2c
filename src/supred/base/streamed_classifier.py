"""What the estimators share whose rows may come from files, memory maps and clusters."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if

from supred.base.dask_input import unpacked
from supred.base.latent_classifier import LatentClassifier
from supred.base.sources import as_source, source_labels
from supred.base.validation import check_weights
from supred.common.labels import index_among
from supred.rows.blocks import RowSource


class GivenRows(NamedTuple):
    """Validation rows that the user gave, checked."""

    X: Any
    class_index: np.ndarray
    weights: np.ndarray


def _has_probabilities(fitted: Any) -> bool:
    if getattr(fitted, "_fitted_loss", fitted.loss) == "log":
        return True
    raise AttributeError(
        "predict_proba needs loss='log'; with the hinge loss use scikit-learn's "
        "CalibratedClassifierCV."
    )


class StreamedClassifier(LatentClassifier):
    """A latent classifier with a hinge or log loss that takes out-of-core rows.

    A subclass answers `_class_scores`, too: one score per class, whose softmax are the
    probabilities.
    """

    _takes_sources = True
    _takes_devices = True

    loss: str

    _fitted_attributes = (*LatentClassifier._fitted_attributes, "_fitted_loss")

    @abstractmethod
    def _class_scores(self, Z: np.ndarray) -> np.ndarray:
        """Return one score per class of latent coordinates, shape (n_rows, n_classes)."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, RowBlocks} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Not needed if `X` is a `RowBlocks` with a target.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        score : float
        """
        if isinstance(X, RowSource):
            y = source_labels(X, y)
            sample_weight = X.weights() if sample_weight is None else sample_weight
        return super().score(X, y, sample_weight)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class (``loss="log"`` only).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        return self._answer(X, "_probabilities")

    def _probabilities(self, Z: np.ndarray) -> np.ndarray:
        return softmax(self._class_scores(Z), axis=1)

    def _check_validation(
        self, X_val: Any, y_val: Any, sample_weight_val: Any, classes: np.ndarray
    ) -> GivenRows | None:
        """Return the validation rows that the user gave, checked; None if there are none."""
        X_val, y_val, sample_weight_val = unpacked(
            X_val, ("y_val", y_val), ("sample_weight_val", sample_weight_val)
        )
        source = as_source(X_val)
        if source is not None:
            y_val = source_labels(source, y_val, name="y_val")
            sample_weight_val = source.weights() if sample_weight_val is None else sample_weight_val
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val belong together: give both or neither.")
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val needs X_val and y_val.")
            return None
        try:
            if source is not None and source.shape[0] == 0:
                raise ValueError("they have no rows; give some, or neither of the two.")
            if source is not None:
                X_val = self._validate_source(source, reset=False)
            else:
                X_val, y_val = self._validate_rows(X_val, y_val, reset=False)
        except ValueError as error:
            raise ValueError(f"X_val and y_val: {error}") from error
        class_index = index_among(y_val, classes, name="y_val")
        weights = check_weights(
            sample_weight_val, None, class_index, classes, name="sample_weight_val"
        )
        return GivenRows(X_val, class_index, weights)
