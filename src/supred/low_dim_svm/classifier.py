"""The low-dimensional SVM: a mapping and linear SVMs on it, trained together."""

import sys
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from supred.base.all_or_nothing import all_or_nothing
from supred.base.callbacks import FitCallbacks
from supred.base.compat import CallbackSupportMixin, with_callbacks
from supred.base.dask_input import unpacked
from supred.base.validation import check_weights
from supred.common.arguments import random_generator
from supred.common.threads import cores
from supred.common.warn import warn_caller
from supred.low_dim_svm.checkpoint import make_checkpoint
from supred.low_dim_svm.g_step import Parameters
from supred.low_dim_svm.model import LowDimModel
from supred.low_dim_svm.problem import HeldOut, Problem, cache_megabytes
from supred.low_dim_svm.settings import Settings, svms_of
from supred.low_dim_svm.training import prepare_mapping, train
from supred.rows.blocks import RowSource, rows_of

# A larger relative duality gap of the SVMs that were kept is worth a warning.
LARGEST_GAP = 1e-2


class LowDimSVC(CallbackSupportMixin, LowDimModel):
    """Linear SVMs on a few latent dimensions, trained jointly with the mapping to them.

    The mapping F takes a row to `n_components` coordinates; one linear SVM per class (or per
    pair of classes) separates the classes there. Mapping and SVMs minimise one objective,

        alpha ||W||^2 + sum_k [1/2 ||w_k||^2 + C sum_n s_n max(0, 1 - y_nk (w_k . F(x_n) + b_k))],

    by the method of auxiliary coordinates. The model keeps the centres and weights of the
    mapping, not the training rows, and its size does not grow with them.

    Parameters
    ----------
    n_components : int, optional
        Number of latent dimensions L; by default the number of classes minus one. Fewer give a
        smaller model and pictures. From the simplex start, dimensions beyond ``n_classes - 1``
        stay empty; ``init="random"`` fills them.
    mapping : {"rbf", "linear"} or regressor, default="rbf"
        The mapping F: Gaussians about centres, linear, or any scikit-learn regressor whose
        `fit` takes several targets. A regressor is fitted anew in each iteration and keeps its
        own regularisation (`alpha` is not used).
    centers : {"kmeans", "random", "all"} or array of shape (n_centers, n_features), \
            default="kmeans"
        Centres of the Gaussians: random rows moved by one k-means step, random rows, all rows,
        or the given ones. (:class:`RBFNetClassifier` learns them.)
    n_centers : int, optional
        Number of centres; by default 1000, or the number of rows if that is smaller.
    gamma : "auto", "scale" or float, default="auto"
        The Gaussians are ``exp(-gamma ||x - c||^2)``, gamma = 1 / (2 sigma^2). "scale"
        makes sigma the root mean square distance of the rows to their mean: gamma is one over
        twice the sum of the features' variances, ``1 / (2 n_features)`` for standardised ones.
        "auto" chooses among a quarter, two, four and sixteen times that by closed-form
        leave-one-out predictions of the start, a ridge regression to the class codes; twice that,
        scikit-learn's "scale", stays unless another is clearly better. Where rows are more than
        four times as many as centres, 0.6 times what was chosen.
    alpha : "auto" or float, default="auto"
        Weight of ``||W||^2`` of the mapping; "auto" chooses it together with gamma.
    C : float, default=1.0
        Weight of the hinge losses.
    multi_class : {"auto", "ovr", "ovo"}, default="auto"
        One SVM per class against the rest, or one per pair of classes with a majority vote, which
        keeps apart classes that lie between others. "auto" takes pairs for three to six classes.
    loss : {"hinge", "log"}, default="hinge"
        "log" puts one multinomial logistic regression in the place of the SVMs: it needs fewer
        dimensions (two or three for a picture of ten classes) and gives `predict_proba`.
    init : {"auto", "simplex", "sphere", "random", "random-codes"} or array, default="auto"
        Where the alternation starts: one code per class at the corners of a simplex, spread
        over the sphere with confusable classes side by side, random coordinates for each row
        (as in the paper; with many classes better with ``multi_class="ovo"``), or one random
        code per class with noise. An array of shape (n_classes, n_components) gives the codes,
        one of shape (n_rows, n_components) the coordinates of each row. "auto" takes the
        simplex from ``n_classes - 1`` dimensions on.
    mu : float, default=2.0
        First penalty on the distance between coordinates and mapping.
    mu_factor : float, default=1.5
        Growth of mu; 1 keeps it fixed.
    inner_tol : float, optional
        mu grows when an iteration changes the penalised objective by at most this, relatively:
        the paper's inner loop, which takes several times as many iterations. By default mu
        grows after every iteration.
    max_iter : int or "auto", default="auto"
        Most iterations, over all values of mu. "auto" is 50, but fewer where there is a centre
        for every four rows, the classes begin at the corners of a simplex, no validation rows are
        given and ``tol >= 0.01``: there more iterations lower the objective, and the error on
        training rows only. It is 1 with one-vs-rest SVMs, and with one-vs-one SVMs 4, or what it
        takes to a training error of 1 % or of three rows.
    tol : float, default=1e-2
        The alternation has converged when two iterations in a row change the objective by at
        most this, relatively, and coordinates agree with the mapping. From 0.01 on, two
        iterations in a row that leave the training error as it was will do, too, if mu grows in
        every iteration.
    early_stopping : bool, default=False
        Hold out a stratified part of the training rows, keep the iterate with the least error
        on it, and stop when that error has not fallen for `n_iter_no_change` iterations.
        `X_val` and `y_val` given to `fit` do the same with rows of the user's choice.
    validation_fraction : float, default=0.1
        Share of the rows to hold out.
    n_iter_no_change : int, default=5
        Iterations (values of mu with `inner_tol`) to wait for a smaller validation error.
    class_weight : dict or "balanced", optional
        Weights of the classes, which multiply the sample weights.
    cache_size : float, optional
        Megabytes that basis functions of training rows may take during `fit`; what does not fit
        is computed again in each pass. By default 1000 for rows in memory, and nothing for
        memory maps and for `RowBlocks` without ``cache=True``.
    checkpoint : path, optional
        File to which the state of the fit is written after each iteration. If it is there when
        `fit` begins, with the same data and parameters, the fit goes on from its last iteration
        and ends at the same model. It is removed when the fit has come to its end. Not for a
        regressor as the mapping.
    random_state : int, RandomState or None, default=None
        For the choice of centres, the held-out part and the start.
    n_jobs : int, optional
        Cores to use: threads that visit blocks of rows side by side. None takes as many as the
        BLAS may. The model does not depend on it, to the last bit.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_svms, n_components)
        Weights w_k of the SVMs in the latent space.
    multi_class_ : {"ovr", "ovo"}
        Which SVMs they are.
    intercept_ : ndarray of shape (n_svms,)
        Biases b_k.
    mapping_ : object
        The fitted mapping; ``mapping_.project`` is `transform` without checks.
    centers_ : ndarray of shape (n_centers, n_features)
        Centres of the Gaussians (``mapping="rbf"`` only).
    gamma_ : float
        Width that was used (``mapping="rbf"`` only).
    alpha_ : float
        Weight of ``||W||^2`` that was used (not for a regressor as the mapping).
    history_ : dict of ndarrays
        mu, penalized_objective, nested_objective, train_error, validation_error, gap (largest
        relative duality gap of the SVMs) and seconds since the start, one entry per iteration;
        entry 0 is the start. Errors are shares of the total weight.
    n_iter_ : int
        Iterations done.
    best_iter_ : int
        The iteration whose model was kept: least validation error, or least nested objective
        without a validation part.
    stopping_reason_ : str
        "converged", "completed" (the few iterations of "auto"), "validation", "max_iter" or
        "callback".
    model_size_ : ModelSize
        Numbers and bytes that the model needs to predict.
    flops_per_row_ : int
        Additions and multiplications to predict one row (not for a regressor as the mapping).
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    LowDimSVCCV : Chooses gamma, alpha and C.
    RBFNetClassifier : Learns the centres too: smaller models of the same accuracy.

    Notes
    -----
    With ``loss="hinge"`` probabilities are left to scikit-learn:
    ``CalibratedClassifierCV(LowDimSVC())`` gives calibrated ones. Rows in single precision are
    treated in single precision (sums in double), which halves time and memory.

    References
    ----------
    W. Wang and M. A. Carreira-Perpinan, "The role of dimensionality reduction in
    classification", AAAI 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from supred import LowDimSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LowDimSVC(n_centers=20, random_state=0)).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model[:1].transform(X).shape, model.transform(X).shape
    ((150, 4), (150, 2))
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        mapping: Any = "rbf",
        centers: Any = "kmeans",
        n_centers: int | None = None,
        gamma: Any = "auto",
        alpha: Any = "auto",
        C: float = 1.0,
        multi_class: str = "auto",
        loss: str = "hinge",
        init: Any = "auto",
        mu: float = 2.0,
        mu_factor: float = 1.5,
        inner_tol: float | None = None,
        max_iter: Any = "auto",
        tol: float = 1e-2,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        cache_size: float | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.mapping = mapping
        self.centers = centers
        self.n_centers = n_centers
        self.gamma = gamma
        self.alpha = alpha
        self.C = C
        self.multi_class = multi_class
        self.loss = loss
        self.init = init
        self.mu = mu
        self.mu_factor = mu_factor
        self.inner_tol = inner_tol
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> "LowDimSVC":
        """Train the mapping and the SVMs together.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, RowBlocks, Dask array or dataframe} of shape \
                (n_rows, n_features)
            Memory maps and `RowBlocks` are read block by block; the blocks of a Dask collection
            are treated by the workers of the connected Client.
        y : array-like or Dask collection of shape (n_rows,)
            Labels of any type; not needed if `X` is a `RowBlocks` with a target.
        sample_weight : array-like of shape (n_rows,), optional
            A weight k is the same as k copies of the row, given the same centres.
        X_val, y_val : array-like or RowBlocks, optional
            Rows and labels that choose the iterate to keep and the end of the iteration, in
            place of a held-out part of `X`.
        sample_weight_val : array-like, optional
            Weights of `X_val`.

        Returns
        -------
        self : LowDimSVC
        """
        settings = Settings.among(self.get_params(deep=False))
        with cores(settings.n_jobs):
            self._fit(X, y, sample_weight, settings, (X_val, y_val, sample_weight_val))
        self._warn()
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,
        validation: tuple[Any, Any, Any],
    ) -> None:
        """Check the data, prepare the mapping, train, and keep what was found."""
        problem = self._check_data(X, y, sample_weight, settings, validation)
        checkpoint = make_checkpoint(self.checkpoint, self.get_params(deep=False), problem)
        seed = self.random_state
        rng = random_generator(seed) if checkpoint is None else checkpoint.random_state(seed)
        if settings.early_stopping and problem.held_out is None:
            problem = problem.with_held_out(settings.validation_fraction, rng)
        self._tell(f"{problem.X.shape[0]} rows x {problem.X.shape[1]} features: preparing")
        mapping = prepare_mapping(problem, settings, rng)
        # Labels of rows that are elsewhere stay there.
        here = not isinstance(problem.X, RowSource)
        y = problem.classes[problem.class_index] if here else None
        max_iter = None if isinstance(settings.max_iter, str) else settings.max_iter
        callbacks = FitCallbacks(self, problem.X, y, max_iter)
        n_components = settings.dimensions(problem.n_classes)
        multi_class = svms_of(self.multi_class, problem.n_classes, self.loss)

        def on_iteration(iteration: int, values: dict[str, float], iterate: Parameters) -> bool:
            self._tell(iteration_line(iteration, values))
            return callbacks.iteration(
                lambda: {
                    "classes_": problem.classes,
                    "mapping_": mapping,
                    "coef_": iterate[0],
                    "intercept_": iterate[1],
                    "multi_class_": multi_class,
                    "_n_features_out": n_components,
                    "n_features_in_": self.n_features_in_,
                }
            )

        result = train(
            problem,
            mapping,
            settings,
            rng,
            on_iteration=on_iteration,
            resume=None if checkpoint is None else checkpoint.resumed(problem, mapping, settings),
            save=None if checkpoint is None else checkpoint.save,
        )
        callbacks.close()
        if checkpoint is not None:
            checkpoint.remove()
        mapping.forget_training()
        self._keep(result, problem.classes)

    def _check_data(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,
        validation: tuple[Any, Any, Any],
    ) -> Problem:
        """Return the problem that rows, labels and weights pose, all checked."""
        X, y, sample_weight = unpacked(X, ("y", y), ("sample_weight", sample_weight), encode=True)
        X, classes, class_index = self._validate_rows_and_labels(X, y)
        if settings.loss == "log" and not rows_of(X).place.is_host:
            raise ValueError(
                "loss='log' needs rows as NumPy arrays; use loss='hinge', or RBFNetClassifier, "
                "for rows on a device."
            )
        if sample_weight is None and isinstance(X, RowSource):
            sample_weight = X.weights()
        given = self._check_validation(*validation, classes)
        if sample_weight is None and settings.class_weight is None:
            weights = np.broadcast_to(1.0, class_index.shape)  # takes no memory
        else:
            weights = check_weights(sample_weight, settings.class_weight, class_index, classes)
        size = settings.cache_size
        held_out = None if given is None else HeldOut(*given, cache_megabytes(given.X, size))
        return Problem.of(X, class_index, weights, classes, cache_size=size, held_out=held_out)

    def _warn(self) -> None:
        """Say what did not converge."""
        if self.stopping_reason_ == "max_iter" and self.n_iter_ > 0:
            advice = "" if self.early_stopping else ", or set early_stopping=True"
            warn_caller(
                f"LowDimSVC did not converge in max_iter={self.n_iter_} iterations; "
                f"raise max_iter or tol{advice}.",
                ConvergenceWarning,
            )
        gap = float(self.history_["gap"][self.best_iter_])
        if gap > LARGEST_GAP:
            warn_caller(
                f"the SVMs in the latent space are solved to a relative gap of {gap:.2g} only; "
                "bring the class weights, sample weights or the scale of `init` closer together.",
                ConvergenceWarning,
            )

    def _tell(self, text: str) -> None:
        """Print a line on stderr if verbose."""
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", file=sys.stderr)


def iteration_line(iteration: int, values: dict[str, float]) -> str:
    """Return what is printed of an iteration: its number and its entry of the history."""
    validation = values["validation_error"]
    return (
        f"iteration {iteration:3d}  mu {values['mu']:9.3g}  "
        f"objective {values['nested_objective']:11.5g}  "
        f"training error {values['train_error']:.4f}  "
        + ("" if np.isnan(validation) else f"validation error {validation:.4f}  ")
        + f"{values['seconds']:.1f} s"
    )
