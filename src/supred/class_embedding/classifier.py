"""Class constrained embedding: a graph embedding that uses labels where there are any."""

import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from supred.base.dask_input import refuse
from supred.base.latent_classifier import LatentClassifier
from supred.class_embedding.components import describe_parts
from supred.class_embedding.embedding import (
    ClassEmbedding,
    class_ties,
    embed_with_classes,
)
from supred.class_embedding.extension import extend_one_by_one, extend_together
from supred.class_embedding.graph import (
    auto_epsilon,
    either_way,
    extension_weights,
    has_copy,
    heat_weights,
    index_rows,
)
from supred.class_embedding.parameters import as_columns, check_parameters
from supred.class_embedding.partial_labels import encode_partial_labels, split_labels, tie_weights
from supred.class_embedding.row_classifier import ClassifierChoice, Decider, classifier_has
from supred.class_embedding.tie_search import choose_beta
from supred.common.arguments import check_integer


class ClassConstrainedEmbedding(LatentClassifier):
    """Laplacian eigenmaps with a node for each class, for data of which a part is labelled.

    The rows form a neighbour graph; each class is one more node, tied to the labelled rows of
    that class. Rows that are joined lie close together in the embedding, so the classes draw
    their rows together while the graph keeps its shape. A classifier works in the embedding.

    The embedding is of the rows given to `fit`, labelled or not. New rows are put between
    their neighbours.

    Parameters
    ----------
    n_components : int or None, default=None
        Dimensions of the embedding; None is the number of classes minus one.
    n_neighbors : int, default=12
        Neighbours of each row; two rows are joined if either is a neighbour of the other.
        Smaller than the number of rows.
    epsilon : "auto" or float, default="auto"
        Width of the heat weights exp(-||x_i - x_j||^2 / epsilon). "auto" is ten times the mean
        squared distance of a row to its nearest row that is not a copy of it.
    beta : "auto" or float, default=0.1
        Weight of the neighbour graph against the ties to the classes. With a large value the
        labels have no influence. "auto" chooses among 0.01, 0.03, 0.1, 0.3 and 1 by leaving
        some of the labelled rows out.
    affinity : {"nearest_neighbors", "precomputed"}, default="nearest_neighbors"
        With "precomputed", `X` holds distances to the rows of the training data: a sparse
        graph as :class:`sklearn.neighbors.KNeighborsTransformer` makes, all of whose entries
        are used, or a dense matrix, of which the `n_neighbors` smallest of each row are.
    classifier : {"knn", "linear", "center"} or estimator, default="knn"
        What decides in the embedding: the 3 nearest labelled rows, linear least squares with
        intercept and ridge, the nearest class node, or any scikit-learn classifier.
    alpha : float, default=1e-3
        Ridge penalty of the linear classifier.
    eigen_solver : {"auto", "dense", "lanczos", "shift-invert"}, default="auto"
        "auto" is dense up to 600 nodes, Lanczos up to 10 000, and beyond that shift-invert
        where the graph can be factorised with little fill, else Lanczos.
    tol : float, default=0.0
        Relative accuracy of the eigenvalues; 0 is machine precision.
    max_iter : int or None, default=None
        Restarts of the Lanczos method.
    random_state : int, RandomState instance or None, default=None
        Which labelled rows ``beta="auto"`` leaves out; nothing else is random.
    n_jobs : int or None, default=None
        Processes for the neighbour search and for ``beta="auto"``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    embedding_ : ndarray of shape (n_rows, n_components)
        Coordinates of the training rows. Their mean, weighted by the degrees in the graph, is
        zero and their mean square one, the class nodes included.
    class_centers_ : ndarray of shape (n_classes, n_components)
        Coordinates of the class nodes.
    transduction_ : ndarray of shape (n_rows,)
        A label for every training row: the given one, or the classifier's.
    eigenvalues_ : ndarray of shape (n_components,)
        In falling order, at most 1.
    beta_, epsilon_ : float
        The values used.
    parts_ : ndarray of shape (n_rows,)
        Connected part of the graph, class nodes included, each row lies in; 0 is the largest.
    stranded_rows_ : ndarray of int
        Rows with no path to any labelled row. Each was placed at its nearest row that has one,
        or at the origin, the weighted mean, with ``affinity="precomputed"``.
    classifier_ : estimator
        Fitted on the labelled rows' coordinates.
    eigen_solver_ : str
        The method used; "parts" if the parts of the graph gave all coordinates.
    n_iter_ : int
        Products with the matrix or its shifted inverse.
    history_ : dict of ndarrays
        beta and seconds, one entry for each beta that was tried and a last one for the embedding
        itself; with them the error (on labelled rows left out, if any beta was tried) and the
        residual of the eigenvectors, NaN where there is none.
    stopping_reason_ : str
        Why the eigensolver stopped.

    Warns
    -----
    UserWarning
        If the graph falls into several parts. It names rows that are cut off. Parts with
        labelled rows are told apart by the first coordinates, in the order of their first
        classes; rows without a path to a labelled row are placed as `stranded_rows_` says.
        If all distances of a precomputed graph are equal.

    References
    ----------
    J. A. Costa and A. O. Hero, "Classification constrained dimensionality reduction", ICASSP
    2005.

    Examples
    --------
    >>> import numpy as np
    >>> from supred import ClassConstrainedEmbedding
    >>> from supred.datasets import make_classes_on_swiss_roll
    >>> X, y = make_classes_on_swiss_roll(1000, random_state=0)
    >>> y_some = np.where(np.arange(1000) < 200, y, -1)
    >>> model = ClassConstrainedEmbedding(classifier="linear", n_components=2).fit(X, y_some)
    >>> model.embedding_.shape
    (1000, 2)
    >>> bool(np.mean(model.transduction_[200:] == y[200:]) > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 12,
        epsilon: Any = "auto",
        beta: Any = 0.1,
        affinity: str = "nearest_neighbors",
        classifier: Any = "knn",
        alpha: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.epsilon = epsilon
        self.beta = beta
        self.affinity = affinity
        self.classifier = classifier
        self.alpha = alpha
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ClassConstrainedEmbedding":
        """Embed the rows and train the classifier on the labelled ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Labelled and unlabelled rows; distances with ``affinity="precomputed"``.
        y : array-like of shape (n_rows,)
            Labels; -1, None or NaN for an unlabelled row.
        sample_weight : array-like of shape (n_rows,) or None
            Weight of each labelled row's tie to its class, passed on to a classifier that
            takes weights. With weight 0 a row counts as unlabelled.

        Returns
        -------
        self : ClassConstrainedEmbedding
        """
        check_parameters(self)
        self._choice.check()
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
        names = getattr(X, "index", None) if hasattr(X, "iloc") else None
        # A copy: the rows are kept, and the caller may change theirs.
        refuse(self, X)
        X = validate_data(self, X, ensure_min_samples=2, copy=True, **self._input_options)
        check_consistent_length(X, y)
        self.classes_, codes = encode_partial_labels(y)
        weights, codes = tie_weights(sample_weight, codes, self.classes_)
        n_components = self.n_components or len(self.classes_) - 1
        n_rows = X.shape[0]
        check_integer("n_components", n_components, low=1, high=n_rows - 1, why=f"{n_rows} rows")

        given = self.affinity == "precomputed"
        self._index, graph = index_rows(X, self.n_neighbors, given=given, n_jobs=self.n_jobs)
        self.epsilon_ = auto_epsilon(graph) if self.epsilon == "auto" else float(self.epsilon)
        W = either_way(heat_weights(graph, self.epsilon_))
        self.beta_, history = self._choose_beta(W, codes, weights, n_components)

        start = time.perf_counter()
        result = embed_with_classes(
            W,
            class_ties(codes, weights, len(self.classes_)),
            self.beta_,
            n_components,
            method=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        spent = time.perf_counter() - start
        last = {"beta": self.beta_, "seconds": spent, "residual": result.residual}
        self.history_ = as_columns([*history, last])
        self.stopping_reason_ = result.stopping
        self._keep(result, names)
        labelled = codes >= 0
        self.classifier_ = self._choice.train(
            self.embedding_[labelled],
            self.classes_[codes[labelled]],
            weights[labelled],
            (self.class_centers_, self.classes_),
        )
        self.transduction_ = self.classes_[codes]
        if not labelled.all():
            self.transduction_[~labelled] = self.classifier_.predict(self.embedding_[~labelled])
        return self

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
        X = validate_data(self, X, reset=False, **self._input_options)
        to_training, among_new = self._index.of_batch(X)
        alone = extension_weights(self._index.of_rows(X), self.epsilon_)
        single = extend_one_by_one(alone, self.embedding_)
        copies = has_copy(to_training)
        result = extend_together(
            either_way(heat_weights(among_new, self.epsilon_)),
            heat_weights(to_training, self.epsilon_),
            self.embedding_,
            given=np.where(copies[:, None], single, np.nan),
        )
        if result.stopping != "converged":
            warnings.warn(
                "The coordinates of the batch did not converge (the relative residual is "
                f"{result.history[-1]:.1e}); transform does not iterate.",
                ConvergenceWarning,
                stacklevel=2,
            )
        Z = np.where(result.reached[:, None], result.coordinates, single)
        return Z.astype(X.dtype, copy=False)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`: the classifier applied to `transform`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return self.classify_latent(self._latent(X))

    def classify_latent(self, Z: np.ndarray) -> np.ndarray:
        """Return the class of each point of the latent space.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_components)

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        return self.classifier_.predict(np.asarray(Z, dtype=float))

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
            check_consistent_length(labelled, sample_weight)
            sample_weight = np.asarray(sample_weight)[labelled]
        predicted = self.predict(X)
        check_consistent_length(predicted, labelled)
        return float(accuracy_score(labels, predicted[labelled], sample_weight=sample_weight))

    @available_if(classifier_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the classifier's scores, where it has any ("linear" has).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        scores : ndarray of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        return self._decide(self._latent(X))

    @available_if(classifier_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the classifier's probabilities, where it has any ("knn" and "center" have).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        Z = self._latent(X)
        return self.classifier_.predict_proba(Z.astype(float, copy=False))

    @property
    def _choice(self) -> ClassifierChoice:
        return ClassifierChoice(self.classifier, self.alpha)

    def _choose_beta(
        self, W: sparse.csr_array, codes: np.ndarray, weights: np.ndarray, n_components: int
    ) -> tuple[float, list[dict[str, float]]]:
        """Return beta and the record of its search."""
        if self.beta != "auto":
            return float(self.beta), []
        search = choose_beta(
            W,
            codes,
            weights,
            n_components,
            Decider(self._choice, codes, weights),
            random_state=check_random_state(self.random_state),
            method=self.eigen_solver,
            n_jobs=self.n_jobs,
        )
        return search.beta, search.history

    def _keep(self, result: ClassEmbedding, names: Any) -> None:
        """Keep the embedding, place stranded rows, and say which rows are cut off."""
        self.embedding_ = result.rows
        self.class_centers_ = result.centers
        self.eigenvalues_ = result.eigenvalues
        self.parts_ = result.parts
        self.stranded_rows_ = np.flatnonzero(result.stranded)
        self.eigen_solver_ = result.method
        self.n_iter_ = result.n_iter
        self._n_features_out = result.rows.shape[1]
        if self.stranded_rows_.size:
            self._index.place(self.embedding_, self.stranded_rows_)
        if self.parts_.max() > 0:
            warnings.warn(
                describe_parts(self.parts_, result.stranded, names, self._index.placing),
                UserWarning,
                stacklevel=3,
            )

    def _project(self, X: Any) -> np.ndarray:
        graph = self._index.of_rows(X)
        lonely = np.flatnonzero(np.diff(graph.indptr) == 0)
        if lonely.size:
            warnings.warn(
                f"{lonely.size} row(s) of X have no neighbour among the training rows, the first "
                f"is row {lonely[0]}; they are placed at the origin.",
                UserWarning,
                stacklevel=4,
            )
        Z = extend_one_by_one(extension_weights(graph, self.epsilon_), self.embedding_)
        return Z.astype(X.dtype, copy=False)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        return self.classifier_.decision_function(Z.astype(float, copy=False))

    def _model_arrays(self) -> list[np.ndarray]:
        kept = vars(self.classifier_).values()
        learnt = [value for value in kept if isinstance(value, np.ndarray)]
        return [self.embedding_, *self._index.arrays(), *learnt]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags
