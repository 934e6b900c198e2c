"""Class constrained embedding: a map of a neighbour graph that uses labels where there are any."""

from typing import Any, Self

import numpy as np
from scipy import sparse

from supred.base.all_or_nothing import all_or_nothing
from supred.base.sources import refuse_out_of_core
from supred.class_embedding.fitted import FittedEmbedding
from supred.class_embedding.fitting import Result, fit_embedding
from supred.class_embedding.problem import Settings, as_columns, check_problem
from supred.class_embedding.row_classifier import Training

# Training a classifier takes so many times the memory of its rows and, if it is linear, targets.
COPIES = 3


class ClassConstrainedEmbedding(FittedEmbedding):
    """A map and a classifier for data of which a part is labelled, be it one row per class.

    The rows form a neighbour graph; each class is one more node, tied to the labelled rows of
    that class. By default membership flows from the class nodes over the graph, and the flow
    gives both the coordinates and the decisions. With ``coordinates="spectral"`` the graph and
    its class nodes are embedded by Laplacian eigenmaps, as in the paper, and a classifier works
    in the embedding.

    The embedding is of the rows given to `fit`, labelled or not. New rows are put between
    their neighbours.

    Parameters
    ----------
    n_components : int or None, default=None
        Dimensions of the embedding; None is the number of classes minus one. With fewer, the
        flow coordinates are those of the largest variance; two of them, for a picture, put the
        class nodes on a circle.
    coordinates : {"auto", "flow", "spectral"}, default="auto"
        "flow": axes of the memberships, at most one fewer than classes.
        "spectral": the leading eigenvectors of the graph with its class nodes. "auto" is the
        flow, and "spectral" if `n_components` asks for more dimensions than the flow has.
    n_neighbors : "auto" or int, default="auto"
        Neighbours of each row; two rows are joined if either is a neighbour of the other.
        Smaller than the number of rows. "auto" is 12 for spectral coordinates and 10 for the
        flow; with 20 or more labels per class the best of 10, 5 and 3 on hidden labels.
    epsilon : {"auto", "local"} or float, default="auto"
        Width of the heat weights exp(-||x_i - x_j||^2 / epsilon). "local" gives each pair of
        rows its own, a quarter of the product of the distances to their farthest neighbours.
        "auto" is "local" for the flow, and for spectral coordinates ten times the mean squared
        distance of a row to its nearest row that is not a copy of it.
    beta : "auto" or float, default="auto"
        Weight of the neighbour graph against the ties to the classes. With a large value the
        flow is that of Poisson learning, and spectral coordinates know nothing of the labels.
        "auto" makes the flow's ties grow with the number of labels; for spectral coordinates it
        chooses among 0.01, 0.03, 0.1, 0.3 and 1 by leaving some of the labelled rows out.
    affinity : {"nearest_neighbors", "precomputed"}, default="nearest_neighbors"
        With "precomputed", `X` holds distances to the rows of the training data: a sparse
        graph as :class:`sklearn.neighbors.KNeighborsTransformer` makes, all of whose entries
        are used, or a dense matrix, of which the `n_neighbors` smallest of each row are.
    classifier : {"auto", "flow", "knn", "linear", "center"} or estimator, default="auto"
        What decides in the embedding: the largest membership ("flow", which needs all flow
        coordinates), the 3 nearest labelled rows, linear least squares with intercept and ridge,
        the nearest class node, or any scikit-learn classifier. "auto" is "flow" where it can
        be, else "knn" (in fewer coordinates than flows, by the labels that the flow gave).
    class_prior : None, "uniform" or array-like of shape (n_classes,), default=None
        Known shares of the classes among the rows of `fit`, in the order of ``classes_``: the
        flow goes on until they are predicted. "uniform" is for classes that are about equally
        frequent, an array for shares that are known.
    alpha : float, default=1e-3
        Ridge penalty of the linear classifier.
    eigen_solver : {"auto", "dense", "lanczos", "shift-invert"}, default="auto"
        For spectral coordinates: "auto" is dense up to 600 nodes, Lanczos up to 10 000, and
        beyond that shift-invert where the graph can be factorised with little fill, else Lanczos.
    tol : float, default=0.0
        Relative accuracy of the eigenvalues, 0 meaning machine precision, or of the flow, 0
        meaning 1e-3.
    max_iter : int or None, default=None
        Restarts of the Lanczos method, or steps of the flow's solver (None: 2000).
    random_state : int, RandomState instance or None, default=None
        Which labels are hidden to choose parameters, and the draws in `suggest`.
    n_jobs : int or None, default=None
        Processes for the neighbour search and for the search of `beta`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coordinates_ : {"flow", "spectral"}
    embedding_ : ndarray of shape (n_rows, n_components)
        Coordinates of the training rows.
    class_centers_ : ndarray of shape (n_classes, n_components)
        Coordinates of the class nodes.
    transduction_ : ndarray of shape (n_rows,)
        A label for every training row: the given one, or the predicted.
    eigenvalues_ : ndarray of shape (n_components,)
        With spectral coordinates, in falling order, at most 1.
    n_neighbors_, beta_ : int and float
        The values used.
    epsilon_ : float or None
        None if each row has its own.
    parts_ : ndarray of shape (n_rows,)
        Connected component of the graph each row lies in, 0 for the largest; with spectral
        coordinates class nodes join components.
    stranded_rows_ : ndarray of int
        Rows with no path to any labelled row. The flow gives them the shares of the classes.
        Spectral coordinates place each at its nearest row that has a path, or at the origin
        with ``affinity="precomputed"``.
    classifier_ : object
        What decides in the embedding.
    eigen_solver_ : str
        "flow", or the method used; "parts" if the components gave all coordinates.
    n_iter_ : int
        Products with the graph or its shifted inverse.
    history_ : dict of ndarrays
        One entry for each value tried on hidden labels, with its error, and a last one with the
        residual and the seconds of the solution; NaN where an entry has no value.
    stopping_reason_ : {"converged", "max_iter", "exact"}
        Why the solver stopped.

    Warns
    -----
    UserWarning
        If rows have no path to a labelled row; with spectral coordinates, if the graph has
        several components. It names rows that are cut off. If all distances of a precomputed
        graph are equal.
    ConvergenceWarning
        If the solver stopped early.

    See Also
    --------
    RBFNetClassifier : For rows that are all labelled.

    References
    ----------
    J. A. Costa and A. O. Hero, "Classification constrained dimensionality reduction", ICASSP
    2005. J. Calder, B. Cook, M. Thorpe, D. Slepcev, "Poisson learning", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from supred import ClassConstrainedEmbedding
    >>> X, y = load_digits(return_X_y=True)
    >>> y_few = np.full(len(y), -1)  # unlabelled
    >>> for k in range(10):
    ...     y_few[np.flatnonzero(y == k)[:2]] = k  # two labels per class
    >>> model = ClassConstrainedEmbedding().fit(X, y_few)
    >>> bool(np.mean(model.transduction_ == y) > 0.9)
    True
    >>> model.suggest(3).shape  # rows to label next
    (3,)
    """

    _fitted_attributes = (
        *FittedEmbedding._fitted_attributes,
        "coordinates_",
        "embedding_",
        "class_centers_",
        "transduction_",
        "eigenvalues_",
        "n_neighbors_",
        "beta_",
        "epsilon_",
        "parts_",
        "stranded_rows_",
        "classifier_",
        "eigen_solver_",
        "n_iter_",
        "history_",
        "stopping_reason_",
        "_fit_parameters",
        "_index",
        "_distances",
        "_ties",
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        coordinates: str = "auto",
        n_neighbors: int | str = "auto",
        epsilon: float | str = "auto",
        beta: float | str = "auto",
        affinity: str = "nearest_neighbors",
        classifier: Any = "auto",
        class_prior: Any = None,
        alpha: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 0.0,
        max_iter: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.coordinates = coordinates
        self.n_neighbors = n_neighbors
        self.epsilon = epsilon
        self.beta = beta
        self.affinity = affinity
        self.classifier = classifier
        self.class_prior = class_prior
        self.alpha = alpha
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ClassConstrainedEmbedding":
        """Embed the rows and find what decides in the embedding.

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
        settings = Settings(**self.get_params(deep=False))
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
        names = getattr(X, "index", None) if hasattr(X, "iloc") else None
        refuse_out_of_core(self, X)
        # A copy: the rows are kept, and the caller may change theirs.
        X = self._validate_rows(X, ensure_min_samples=2, copy=True)
        problem = check_problem(X, y, sample_weight, names, settings)
        return self._keep(fit_embedding(problem, settings))

    def _keep(self, result: Result) -> "ClassConstrainedEmbedding":
        """Copy a result into the fitted attributes."""
        solved = result.solved
        found, graph = solved.coordinates, solved.graph
        self._fit_parameters = self.get_params(deep=False)
        self.classes_ = result.problem.classes
        self.coordinates_ = result.problem.coordinates
        self.embedding_ = found.rows
        self.class_centers_ = found.centers
        self.transduction_ = result.transduction
        self.eigenvalues_ = found.eigenvalues
        self.n_neighbors_ = graph.index.n_neighbors
        self.beta_ = solved.beta
        self.epsilon_ = graph.epsilon
        self.parts_ = found.parts
        self.stranded_rows_ = np.flatnonzero(found.stranded)
        self.classifier_ = result.classifier
        self.eigen_solver_ = found.method
        self.n_iter_ = found.n_iter
        self.history_ = as_columns(solved.history)
        self.stopping_reason_ = found.stopping_reason
        self._n_features_out = found.rows.shape[1]
        self._index, self._distances = graph.index, graph.distances
        self._ties, self._training = graph.ties, result.training
        self.check_finite()
        return self

    def to_state(self) -> dict[str, Any]:
        """Return parameters and fitted attributes: all that a file must hold of the estimator."""
        given = self.classifier, self._fit_parameters["classifier"]
        if not all(isinstance(classifier, str) for classifier in given):
            raise ValueError(
                "classifier is an object of your own, which cannot be saved; use one of the "
                "classifiers known by name."
            )
        state = super().to_state()
        if self._training is not None:
            state["classifier_"] = self._training
        return state

    @classmethod
    def bytes_to_restore(cls, state: dict[str, Any]) -> int:
        """Return the memory that training the classifier again takes."""
        training = state["classifier_"]
        if not isinstance(training, Training):
            return 0
        linear = state["_fit_parameters"]["classifier"] == "linear"
        n_columns = training.Z.shape[1] + len(state["classes_"]) * linear
        return COPIES * 8 * training.Z.shape[0] * n_columns

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the fitted estimator whose state `to_state` returned."""
        made = super().from_state(state)
        settings = Settings(**made._fit_parameters)
        made._training = None
        made._distances = sparse.csr_array(made._distances)
        made._ties = sparse.csr_array(made._ties)
        if isinstance(made.classifier_, Training):
            made._training = made.classifier_
            if not np.isin(made._training.labels, made.classes_).all():
                raise ValueError("labels of training rows that are no classes")
            made.classifier_ = settings.choice.train(
                made._training, made.class_centers_, made.classes_
            )
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags
