"""What a fitted embedding answers: about new rows, about its own, and which to label next."""

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from supred.base.latent_classifier import LatentClassifier
from supred.base.validation import accuracy, row_weights
from supred.class_embedding.extension import extend_batch
from supred.class_embedding.flow_coordinates import FlowClassifier
from supred.class_embedding.graph import extension_weights, reach_of, symmetric_weights
from supred.class_embedding.hidden_labels import error_by_hiding
from supred.class_embedding.neighbors import GivenDistances, NeighborIndex
from supred.class_embedding.partial_labels import split_labels
from supred.class_embedding.row_classifier import ClassifierChoice, Training
from supred.class_embedding.suggestion import flow_probabilities, suggest_rows
from supred.common.arguments import check_integer, random_generator
from supred.common.warn import warn_caller
from supred.rows.cluster.collections import is_dask


def _classifier_has(name: str) -> Callable[[Any], bool]:
    """Return a function that tells whether an estimator's classifier has a method."""

    def has(self: "FittedEmbedding") -> bool:
        fitted = getattr(self, "classifier_", None)
        if fitted is None and isinstance(self.classifier, str):
            return self.classifier in ("auto", "flow") or hasattr(
                ClassifierChoice(self.classifier, 0.0).new(), name
            )
        return hasattr(self.classifier if fitted is None else fitted, name)

    return has


class FittedEmbedding(LatentClassifier):
    """The methods of a fitted embedding; `fit` and the parameters are its subclass's."""

    classifier: Any
    random_state: Any
    embedding_: np.ndarray
    n_neighbors_: int
    beta_: float
    epsilon_: float | None
    classifier_: Any
    _fit_parameters: dict[str, Any]  # others may be set since
    _index: NeighborIndex | GivenDistances
    _distances: sparse.csr_array
    _ties: sparse.csr_array
    _training: Training | None

    def suggest(self, n_rows: int = 1) -> np.ndarray:
        """Return the unlabelled training rows whose labels would help most.

        A row helps where many rows around it are undecided and far from all labels; rows are
        chosen one after the other, so that they are spread over the graph.

        Parameters
        ----------
        n_rows : int, default=1

        Returns
        -------
        rows : ndarray of int, shape (n_rows,)
            The best first.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from supred import ClassConstrainedEmbedding
        >>> X, y = load_iris(return_X_y=True)
        >>> y_few = np.full(150, -1)
        >>> y_few[[0, 50, 100]] = [0, 1, 2]
        >>> row = ClassConstrainedEmbedding(random_state=0).fit(X, y_few).suggest()[0]
        >>> y_few[row] = y[row]
        """
        check_is_fitted(self)
        unlabelled = len(self.embedding_) - self._ties.nnz
        if unlabelled == 0:
            raise ValueError("All training rows are labelled, so there is no row to suggest.")
        check_integer("n_rows", n_rows, low=1, high=unlabelled, why=f"{unlabelled} unlabelled rows")
        W = symmetric_weights(self._distances, self.epsilon_)
        return suggest_rows(
            W,
            self._ties,
            self.beta_,
            flow_probabilities(W, self._ties, self.beta_),
            n_rows,
            random_generator(self._fit_parameters["random_state"]),
        )

    def leave_labels_out(self, n_folds: int = 5) -> tuple[float, float]:
        """Return how often labels are not found once they are hidden: an estimate of the error.

        Labels are hidden in turn, a part of each class at a time, and the rows are embedded again
        on the same graph with the same parameters. A class's only label is never hidden.

        Parameters
        ----------
        n_folds : int, default=5
            Parts in which labels are hidden.

        Returns
        -------
        error : float
            Share of the hidden labels that were not found.
        standard_error : float
            As of so many independent rows, with one error and one success added.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from supred import ClassConstrainedEmbedding
        >>> X, y = load_iris(return_X_y=True)
        >>> y_few = np.where(np.arange(150) % 10 == 0, y, -1)
        >>> error, _ = ClassConstrainedEmbedding(random_state=0).fit(X, y_few).leave_labels_out()
        >>> error < 0.2
        True
        """
        check_is_fitted(self)
        check_integer("n_folds", n_folds, low=2)
        ties = self._ties.tocoo()
        class_index, weights = np.full(len(self.embedding_), -1), np.zeros(len(self.embedding_))
        class_index[ties.col], weights[ties.col] = ties.row, ties.data
        graph = np.sqrt(self._distances)
        own = {"affinity": "precomputed", "n_neighbors": self.n_neighbors_}
        fresh = clone(copy(self).set_params(**{**self._fit_parameters, **own}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to warn of, fit has said
            return error_by_hiding(
                class_index,
                n_folds,
                lambda visible: fresh.fit(graph, visible, weights).transduction_,
                random_generator(self._fit_parameters["random_state"]),
            )

    def transform_batch(self, X: Any) -> np.ndarray:
        """Return coordinates of new rows that are also each other's neighbours.

        The coordinates solve (D_u - W_uu) Y = W_ut Z: each new row lies at the weighted mean of
        its neighbours, new ones and training rows. This is closer than `transform` to embedding
        all rows anew, and a row's coordinates depend on the other rows of `X`. New rows without
        a path to a training row get what `transform` gives them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        Z : ndarray of shape (n_rows, n_components)
        """
        check_is_fitted(self)
        X = self._validate_rows(X, reset=False)
        reach = reach_of(self._distances)
        Z = extend_batch(self._index, X, self.embedding_, self.epsilon_, reach)
        return Z.astype(X.dtype, copy=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows of `X` that are labelled.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Rows with -1, None or NaN are left out.
        sample_weight : array-like of shape (n_rows,), optional
        """
        labels, labelled = split_labels(y)
        if sample_weight is not None:
            sample_weight = row_weights(sample_weight, len(labelled))[labelled]
        predicted: Any = self.predict(X)
        predicted = predicted.compute() if is_dask(X) else predicted
        check_consistent_length(predicted, labelled)
        return accuracy(labels, predicted[labelled], sample_weight)

    # What the base class has, where the classifier in the embedding has scores.
    decision_function = available_if(_classifier_has("decision_function"))(
        LatentClassifier.decision_function
    )
    score_latent = available_if(_classifier_has("decision_function"))(LatentClassifier.score_latent)

    @available_if(_classifier_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the classifier's probabilities, where it has any ("linear" has none).

        Those of the flow are calibrated on hidden labels where there are at least 20 per class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        return self._answer(X, "_probabilities")

    def _project(self, X: Any) -> np.ndarray:
        graph = self._index.of_rows(X)
        lonely = np.flatnonzero(np.diff(graph.indptr) == 0)
        if lonely.size:
            warn_caller(
                f"{lonely.size} row(s) of X have no neighbour among the training rows, the first "
                f"is row {lonely[0]}; they are placed at the origin.",
            )
        weights = extension_weights(graph, self.epsilon_, reach_of(self._distances))
        Z = weights @ self.embedding_
        return Z.astype(X.dtype, copy=False)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        return self.classifier_.decision_function(Z.astype(float, copy=False))

    def _classify(self, Z: np.ndarray) -> np.ndarray:
        return self.classifier_.predict(Z.astype(float, copy=False))

    def _probabilities(self, Z: np.ndarray) -> np.ndarray:
        return self.classifier_.predict_proba(Z.astype(float, copy=False))

    def _model_arrays(self) -> list[np.ndarray]:
        learnt = [] if self._training is None else [self._training.Z]
        if isinstance(self.classifier_, FlowClassifier):
            learnt = [self.classifier_.axes]
        return [self.embedding_, *self._index.arrays(), *learnt]
