"""Any scikit-learn regressor as the mapping F."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from supred.common.arguments import largest_magnitude
from supred.common.arrays import is_foreign, place_of
from supred.low_dim_svm.visit import Coordinates, Projection
from supred.rows.blocks import ArrayRows, Rows, RowSource, rows_of

# Squares of what a regressor predicts are finite.
MOST_PREDICTED = 1e100


class RegressorMapping:
    """F is a scikit-learn regressor with several outputs, fitted anew in each f step.

    The regressor keeps its own regularisation; it does not see mu, and the penalised objective
    is not guaranteed to decrease.

    Parameters
    ----------
    regressor : estimator
        A regressor whose `fit` takes a target of several columns.
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def prepare(self, X: Any, weights: np.ndarray) -> None:
        """Keep the training rows until the end of the fit."""
        if isinstance(X, RowSource):
            if X.array is None:
                raise ValueError(
                    f"mapping={self.regressor!r} needs all rows in memory to be fitted, but X is "
                    "read block by block; use mapping='rbf' or 'linear', or give an array."
                )
            X = X.array
        if is_foreign(X):
            raise ValueError(
                f"mapping={self.regressor!r} is fitted to NumPy arrays, but X is an array of "
                f"{place_of(X).name}; give a NumPy array, or use mapping='rbf' or 'linear'."
            )
        self._X, self._weights = X, weights
        self._arguments = {}
        if not (weights == 1).all():
            if not has_fit_parameter(self.regressor, "sample_weight"):
                raise ValueError(
                    f"mapping={self.regressor!r} does not take sample_weight in fit; "
                    "fit without sample weights and class weights, or use another mapping."
                )
            self._arguments = {"sample_weight": weights}

    @property
    def rows(self) -> Rows:
        """The training rows, all of them one block: a regressor may look at many at once."""
        return ArrayRows(self._X, block_rows=self._X.shape[0])

    def rows_like(self, X: Any, cache_bytes: float) -> Rows:
        """Return other rows as they are."""
        return rows_of(X)

    def projection(self) -> Projection:
        """Return the fitted regressor's prediction."""
        return self._predict

    multiply = None

    def begin(self, center: np.ndarray) -> None:
        """Do nothing: the first regression does not depend on what was before."""

    def regress(self, coordinates: Coordinates, mu: float) -> float:
        """Fit a fresh copy of the regressor to Z: the f step."""
        Z = coordinates.whole()
        self._n_components = Z.shape[1]
        target = Z[:, 0] if Z.shape[1] == 1 else Z
        self.fitted = clone(self.regressor).fit(self._X, target, **self._arguments)
        left = np.square(Z - self._predict(self._X)).sum(axis=1)
        return float(self._weights @ left)

    def project(self, X: Any) -> np.ndarray:
        """Return F of any rows."""
        return rows_of(X).map(self._predict) if isinstance(X, RowSource) else self._predict(X)

    def _predict(self, X: Any) -> np.ndarray:
        predicted = np.asarray(self.fitted.predict(X))
        shape = X.shape[0], self._n_components
        if predicted.shape == shape[:1]:
            predicted = predicted[:, None]
        if predicted.shape != shape or predicted.dtype.kind not in "fiub":
            raise ValueError(
                f"mapping={self.fitted!r} predicts an array of {predicted.dtype} of shape "
                f"{predicted.shape}; it must predict {shape[1]} number(s) for each of {shape[0]} "
                "row(s)."
            )
        if not largest_magnitude(predicted) < MOST_PREDICTED:  # NaN is not
            raise ValueError(
                f"mapping={self.fitted!r} predicts NaN, or numbers beyond {MOST_PREDICTED:g}; "
                "use a regressor that is bounded on such rows, or scale the features."
            )
        return predicted

    def penalty(self) -> float:
        """Return 0: the regressor's own regularisation is not known."""
        return 0.0

    def snapshot(self) -> Any:
        """Return the fitted regressor."""
        return self.fitted

    def restore(self, snapshot: Any) -> None:
        """Set the fitted regressor."""
        self.fitted = snapshot

    def training_state(self) -> dict[str, Any]:
        """Return the fitted regressor, which cannot be written to a checkpoint."""
        return {"fitted": self.fitted}

    def resume_training(self, state: dict[str, Any]) -> None:
        """Set the fitted regressor."""
        self.fitted = state["fitted"]

    def forget_training(self) -> None:
        """Drop the training rows."""
        for name in ("_X", "_weights", "_arguments"):
            self.__dict__.pop(name, None)

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that can be found in the fitted regressor."""
        return _arrays_in(self.fitted, set())


def _arrays_in(value: Any, seen: set[int]) -> list[np.ndarray]:
    """Collect the arrays among an object's attributes, each once."""
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return (
            [a for item in value for a in _arrays_in(item, seen)]
            if value.dtype == object
            else [value]
        )
    if isinstance(value, dict):
        return [array for item in value.values() for array in _arrays_in(item, seen)]
    if isinstance(value, list | tuple):
        return [array for item in value for array in _arrays_in(item, seen)]
    if hasattr(value, "__getstate__") and type(value).__module__.startswith("sklearn"):
        return _arrays_in(value.__getstate__(), seen)
    if hasattr(value, "__dict__"):
        return _arrays_in(value.__dict__, seen)
    return []
