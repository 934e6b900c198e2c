"""What a fitted low-dimensional SVM answers: latent coordinates, scores and its size."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from supred.base.streamed_classifier import StreamedClassifier
from supred.common.arrays import cast
from supred.low_dim_svm.alternation import Result
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.mappings.basis import BasisMapping
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.low_dim_svm.settings import svms_of
from supred.low_dim_svm.z_step_log import class_scores
from supred.numerics.decisions import linear_scores, scored_in_double


class LowDimModel(StreamedClassifier):
    """A mapping and a linear classifier on it, once they are fitted."""

    _fitted_attributes = (
        *StreamedClassifier._fitted_attributes,
        "mapping_",
        "coef_",
        "intercept_",
        "multi_class_",
        "_scores_in_double",
        "history_",
        "n_iter_",
        "best_iter_",
        "stopping_reason_",
    )

    mapping: Any
    multi_class: str
    loss: str
    classes_: np.ndarray
    mapping_: Mapping
    coef_: np.ndarray
    intercept_: np.ndarray
    multi_class_: str
    _scores_in_double = False

    def _keep(self, result: Result, classes: np.ndarray) -> None:
        """Copy what was found into the fitted attributes; the one place that does."""
        self.classes_ = classes
        self.mapping_ = result.mapping
        self.coef_, self.intercept_ = result.coef, result.intercept
        self._scores_in_double = scored_in_double(result.coef, result.intercept)
        self._fitted_loss = self.loss
        self.multi_class_ = svms_of(self.multi_class, len(classes), self.loss)
        self.history_ = result.history
        self.n_iter_ = result.n_iter
        self.best_iter_ = result.best_iter
        self.stopping_reason_ = result.stopping_reason
        self._n_features_out = result.coef.shape[1]
        self.check_finite()

    def _project(self, X: Any) -> np.ndarray:
        return self.mapping_.project(X)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        Z = cast(Z, float) if self._scores_in_double else Z
        return linear_scores(Z, self.coef_, self.intercept_, len(self.classes_), self.multi_class_)

    def _class_scores(self, Z: np.ndarray) -> np.ndarray:
        Z = cast(Z, float) if self._scores_in_double else Z
        return class_scores(Z, self.coef_, self.intercept_)

    def _model_arrays(self) -> list[np.ndarray]:
        return [*self.mapping_.arrays(), self.coef_, self.intercept_]

    @property
    def centers_(self) -> np.ndarray:
        """Centres of the Gaussians, where the features are."""
        return self._gaussian_mapping().centers

    @property
    def gamma_(self) -> float:
        """Width of the Gaussians that was used."""
        return self._gaussian_mapping().gamma

    def _gaussian_mapping(self) -> RBFMapping:
        check_is_fitted(self)
        if not isinstance(self.mapping_, RBFMapping):
            raise AttributeError(f"mapping={self.mapping!r} has no centres and no gamma.")
        return self.mapping_

    @property
    def alpha_(self) -> float:
        """Weight of the mapping's penalty that was used."""
        check_is_fitted(self)
        if not isinstance(self.mapping_, BasisMapping):
            raise AttributeError(f"mapping={self.mapping!r} has a regularisation of its own.")
        return self.mapping_.alpha

    @property
    def flops_per_row_(self) -> int:
        """Additions and multiplications (and exponentials) to predict one dense row."""
        check_is_fitted(self)
        if not isinstance(self.mapping_, BasisMapping):
            raise AttributeError(f"the operations of mapping={self.mapping!r} are not known.")
        return self.mapping_.flops_per_row() + 2 * self.coef_.size

    @property
    def n_basis_(self) -> int:
        """Number of basis functions of the mapping (0 for a regressor)."""
        return self.mapping_.n_basis if isinstance(self.mapping_, BasisMapping) else 0
