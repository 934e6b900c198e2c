"""What a fitted network answers: latent coordinates, scores, centres and reasons."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from supred.base.streamed_classifier import StreamedClassifier
from supred.common.arguments import check_flag, check_integer
from supred.common.arrays import place_of, type_name
from supred.rbf_net.explanation import Explanation, explain_rows
from supred.rbf_net.fitted import Fitted, GaussianNetwork, project_through
from supred.rbf_net.verdict import class_scores
from supred.rows.blocks import RowSource


class NetworkModel(StreamedClassifier):
    """The fitted attributes of `RBFNetClassifier`, where they are described, and their use."""

    classes_: np.ndarray
    stages_: tuple[GaussianNetwork, ...]

    _fitted_attributes = (
        *StreamedClassifier._fitted_attributes,
        "stages_",
        "coef_",
        "intercept_",
        "feature_importances_",
        "chosen_",
        "choices_",
        "history_",
        "n_iter_",
        "stopping_reason_",
        "validation_error_",
        "path_",
        "_scales",
    )

    def explain(self, X: Any, *, n_loudest: int = 5, latent: bool = False) -> Explanation:
        """Return what the decisions about rows rest on: slopes by feature, and loud centres.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        n_loudest : int, default=5
            Centres to name for each row.
        latent : bool, default=False
            Whether to return the slopes of each latent coordinate, too.

        Returns
        -------
        explanation : Explanation
            Exact derivatives.
        """
        check_is_fitted(self)
        check_integer("n_loudest", n_loudest, low=1)
        check_flag("latent", latent)
        if isinstance(X, RowSource):
            raise TypeError(f"explain needs an array, not {X!r}; X.read(start, stop) returns one.")
        X = self._validate_rows(X, reset=False, accept_sparse=False)
        return explain_rows(
            self.stages_,
            self.coef_,
            self.intercept_,
            self.classes_,
            X,
            n_loudest=n_loudest,
            latent=latent,
        )

    def _project(self, X: Any) -> np.ndarray:
        return project_through(self.stages_, X)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        values = Z @ place_of(Z).put(self.coef_.T.astype(type_name(Z), copy=False))
        values += place_of(Z).put(self.intercept_.astype(type_name(Z), copy=False))
        return values[:, 0] if len(self.classes_) == 2 else values

    def _class_scores(self, Z: np.ndarray) -> np.ndarray:
        put = place_of(Z).put
        return class_scores(Z @ put(self.coef_.T) + put(self.intercept_))

    def _model_arrays(self) -> list[np.ndarray]:
        arrays = [array for stage in self.stages_ for array in stage.arrays()]
        return [*arrays, self.coef_, self.intercept_]

    @property
    def centers_(self) -> np.ndarray:
        """Centres of the Gaussians, where the features are."""
        check_is_fitted(self)
        return self.stages_[0].centers_among_features()

    @property
    def metric_(self) -> np.ndarray:
        """The scales of the features, or the matrix A."""
        check_is_fitted(self)
        return self.stages_[0].metric

    @property
    def gamma_(self) -> np.ndarray:
        """Width of each Gaussian."""
        check_is_fitted(self)
        return self.stages_[0].gammas

    @property
    def flops_per_row_(self) -> int:
        """Additions and multiplications (and exponentials) to predict one dense row."""
        check_is_fitted(self)
        scores = [0] * (len(self.stages_) - 1) + [len(self.coef_)]
        return sum(
            stage.shape(n_scores).flops_per_row
            for stage, n_scores in zip(self.stages_, scores, strict=True)
        )

    def _fitted(self) -> Fitted:
        """Return what was found, to go on from."""
        return Fitted(
            self.stages_,
            self._scales,
            self.coef_,
            self.intercept_,
            self.feature_importances_,
            self.chosen_,
        )

    def _keep(self, fitted: Fitted) -> Self:
        """Copy what was found into the attributes: the one place that does."""
        self.stages_ = fitted.stages
        self._fitted_loss = self.loss
        self._scales = fitted.scales
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.feature_importances_ = fitted.importances
        self.chosen_ = fitted.chosen
        self.choices_ = fitted.choices
        self.history_ = {name: np.array(values) for name, values in fitted.history.items()}
        self.n_iter_ = fitted.n_iter
        self.stopping_reason_ = fitted.stopping_reason
        self.validation_error_ = fitted.validation_error
        if fitted.path is not None:
            self.path_ = fitted.path
        elif hasattr(self, "path_"):
            del self.path_
        self._n_features_out = fitted.stages[-1].W.shape[1]
        self.check_finite()
        return self
