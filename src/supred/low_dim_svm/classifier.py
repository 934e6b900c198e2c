"""The low-dimensional SVM: a mapping and linear SVMs on it, trained together."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from supred.base.compat import CallbackSupportMixin, with_callbacks
from supred.base.dask_input import unpacked
from supred.base.validation import check_weights
from supred.low_dim_svm import problem as parts
from supred.low_dim_svm.alternation import Alternation, Schedule, alternate
from supred.low_dim_svm.checkpoint import Checkpoint, checkpoint_of
from supred.low_dim_svm.held_out import hold_out, wants_held_out
from supred.low_dim_svm.losses import Loss
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.model import LowDimModel
from supred.rbf_net.learning import check_learned, learn, merge_equal_rows
from supred.rbf_net.sizes import pruned
from supred.rows.blocks import RowSource, select

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
    centers : {"kmeans", "random", "all", "learned"} or array of shape (n_centers, n_features), \
            default="kmeans"
        Centres of the Gaussians: random rows moved by one k-means step, random rows, all rows,
        or the given ones. With "learned" the centres, a width for each and a scale for each
        feature are trained with the rest: a fifth or less of the centres do as well, and
        fitting takes longer.
    n_centers : int or "auto", optional
        Number of centres; by default 1000 (100 if they are learned) or the number of rows if
        that is smaller. With learned centres, "auto" looks for the smallest model whose error
        on the validation part is within one standard error of the least: it starts with up to
        400 and takes away those that can be spared.
    gamma : "scale" or float, default="scale"
        The Gaussians are ``exp(-gamma ||x - c||^2)``, gamma = 1 / (2 sigma^2). "scale"
        makes sigma the root mean square distance of the rows to their mean: gamma is one over
        twice the sum of the features' variances, ``1 / (2 n_features)`` for standardised ones.
        Learned widths start from it.
    alpha : float, default=1e-3
        Weight of ``||W||^2`` of the mapping.
    C : float, default=1.0
        Weight of the hinge losses.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One SVM per class against the rest, or one per pair of classes with a majority vote.
    loss : {"hinge", "log"}, default="hinge"
        "log" puts one multinomial logistic regression in the place of the SVMs: it needs fewer
        dimensions (two or three for a picture of ten classes) and gives `predict_proba`.
    init : {"auto", "simplex", "sphere", "random"} or array, default="auto"
        Where the alternation starts: one code per class at the corners of a simplex, spread
        over the sphere with confusable classes side by side, or random codes with noise (drawn
        per class: coordinates without any class structure would never move). An array of shape
        (n_classes, n_components) gives the codes, one of shape (n_rows, n_components) the
        coordinates of each row. "auto" takes the simplex from ``n_classes - 1`` dimensions on.
    mu : float, default=2.0
        First penalty on the distance between coordinates and mapping.
    mu_factor : float, default=1.5
        Growth of mu per iteration; 1 keeps it fixed.
    max_iter : int, default=50
        Most iterations.
    tol : float, default=1e-2
        The alternation has converged when two iterations in a row change the objective by at
        most this, relatively.
    early_stopping : bool or "auto", default="auto"
        Hold out a stratified part of the training rows, keep the iterate with the least error
        on it, and stop when that error has not fallen for `n_iter_no_change` iterations.
        `X_val` and `y_val` given to `fit` do the same with rows of the user's choice. "auto"
        holds rows out if the centres are learned and there are rows enough.
    validation_fraction : float, default=0.1
        Share of the rows to hold out.
    n_iter_no_change : int, default=5
        Iterations to wait for a smaller validation error.
    refine_steps : int, default=4000
        With learned centres, steps of the descent; each looks at 256 rows.
    learning_rate : float, default=0.1
        With learned centres, the largest step, in units of the spread of a feature for centres
        and of their size for weights. It falls to zero along the steps.
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
        Threads that train SVMs, which go in batches of twenty: more threads pay with many
        classes only. The result does not depend on it.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_svms, n_components)
        Weights w_k of the SVMs in the latent space.
    intercept_ : ndarray of shape (n_svms,)
        Biases b_k.
    mapping_ : object
        The fitted mapping; ``mapping_.project`` is `transform` without checks.
    centers_ : ndarray of shape (n_centers, n_features)
        Centres of the Gaussians (``mapping="rbf"`` only).
    gamma_ : float or ndarray of shape (n_centers,)
        Width that was used (``mapping="rbf"`` only); learned ones are an array.
    refinement_ : dict of ndarrays
        Learned centres only: step, mean loss and validation_error along the descent, and
        best_step, whose parameters were kept: the latest whose validation error is within one
        standard error of the least.
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
        "converged", "validation", "max_iter" or "callback"; "steps" with learned centres.
    path_ : dict of ndarrays
        With ``n_centers="auto"``: n_centers, validation_error, standard_error and bytes of the
        models that were tried, the smallest first; `TradeOffDisplay.from_path` draws it.
    model_size_ : ModelSize
        Numbers and bytes that the model needs to predict.
    flops_per_row_ : int
        Additions and multiplications to predict one row (not for a regressor as the mapping).
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    LowDimSVCCV : Chooses gamma, alpha and C.

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
        n_centers: Any = None,
        gamma: Any = "scale",
        alpha: float = 1e-3,
        C: float = 1.0,
        multi_class: str = "ovr",
        loss: str = "hinge",
        init: Any = "auto",
        mu: float = 2.0,
        mu_factor: float = 1.5,
        max_iter: int = 50,
        tol: float = 1e-2,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        refine_steps: int = 4000,
        learning_rate: float = 0.1,
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
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.refine_steps = refine_steps
        self.learning_rate = learning_rate
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        X, y, sample_weight = unpacked(X, ("y", y), ("sample_weight", sample_weight))
        X_val, y_val, sample_weight_val = unpacked(
            X_val, ("y_val", y_val), ("sample_weight_val", sample_weight_val)
        )
        X, classes, codes = self._validate_rows_and_labels(X, y)
        parts.check_parameters(self, n_rows=X.shape[0])
        if sample_weight is None and isinstance(X, RowSource):
            sample_weight = X.weights()
        weights = check_weights(sample_weight, self.class_weight, codes, classes)
        held_out = parts.check_validation(self, X_val, y_val, sample_weight_val, classes)
        used = weights > 0
        if not used.all():
            X, codes, weights = select(X, used), codes[used], weights[used]
        self.classes_ = classes
        learned = isinstance(self.centers, str) and self.centers == "learned"
        if learned:
            check_learned(self, X)
            X, codes, weights = merge_equal_rows(X, codes, weights)
        checkpoint = checkpoint_of(self, X, codes, weights, held_out)
        rng = (
            check_random_state(self.random_state)
            if checkpoint is None
            else checkpoint.random_state(self.random_state)
        )
        if held_out is None and wants_held_out(self):
            (X, codes, weights), held_out = hold_out(self, X, codes, weights, rng)
        if learned:
            learn(self, X, codes, weights, held_out, rng)
            self._warn()
            return self
        mapping = parts.make_mapping(self, X, weights, rng)
        parts.tell(self, f"{X.shape[0]} rows x {X.shape[1]} features: mapping chosen")
        mapping.prepare(X, weights)
        parts.tell(self, "training rows prepared")
        self._train(
            mapping, X, codes, weights, held_out, rng, rows_used=used, checkpoint=checkpoint
        )
        if checkpoint is not None:
            checkpoint.remove()
        mapping.forget_training()
        self._warn()
        return self

    def _train(
        self,
        mapping: Mapping,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray,
        held_out: "parts.HeldOut | None",
        rng: np.random.RandomState,
        rows_used: np.ndarray | None = None,
        checkpoint: Checkpoint | None = None,
        schedule: Schedule | None = None,
    ) -> Loss:
        """Run the alternation with a prepared mapping, keep its result and return the loss."""
        n_classes = len(self.classes_)
        n_components = parts.n_components_of(self, n_classes)
        loss = parts.make_loss(self, codes, n_classes, weights)
        resume = None if checkpoint is None else checkpoint.state
        Z = (
            parts.starting_coordinates(
                self, mapping, codes, weights, n_classes, n_components, rng, rows_used
            )
            if resume is None
            else resume.Z
        )

        def so_far() -> dict[str, Any]:
            coef, intercept = loss.parameters
            return {
                "classes_": self.classes_,
                "mapping_": mapping,
                "coef_": coef,
                "intercept_": intercept,
                "_n_features_out": n_components,
                "n_features_in_": self.n_features_in_,
            }

        progress = parts.Progress(self, X, self.classes_[codes], so_far)
        record = alternate(
            mapping,
            loss,
            Z,
            weights,
            schedule or parts.schedule_of(self),
            train_error=lambda scores: parts.weighted_error(scores, codes, weights),
            validation_error=held_out.error_of(mapping, loss) if held_out is not None else None,
            on_iteration=progress,
            resume=resume,
            save=None if checkpoint is None else checkpoint.save,
        )
        progress.close()
        self._keep(mapping, loss, record, n_components)
        return loss

    def _keep(self, mapping: Mapping, loss: Loss, record: Alternation, n_components: int) -> None:
        self.mapping_ = mapping
        self.coef_, self.intercept_ = loss.parameters
        self.history_ = {name: np.array(values) for name, values in record.history.items()}
        self.n_iter_ = record.n_iter
        self.best_iter_ = record.best_iter
        self.stopping_reason_ = record.stopped
        self._n_features_out = n_components

    def _warn(self) -> None:
        """Say what did not converge."""
        if self.stopping_reason_ == "max_iter" and self.max_iter > 0:
            advice = "" if wants_held_out(self) else ", or set early_stopping=True"
            warnings.warn(
                f"LowDimSVC did not converge in max_iter={self.max_iter} iterations; "
                f"raise max_iter or tol{advice}.",
                ConvergenceWarning,
                stacklevel=4,
            )
        gap = float(self.history_["gap"][self.best_iter_])
        if gap > LARGEST_GAP:
            warnings.warn(
                f"the SVMs in the latent space are solved to a relative gap of {gap:.2g} only; "
                "bring the class weights, sample weights or the scale of `init` closer together.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def prune(
        self,
        X: Any,
        y: Any,
        *,
        n_centers: int,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> "LowDimSVC":
        """Return a smaller model: take away the centres that it can spare, and refit.

        This model stays as it is. Centres go one by one, each time the one whose loss changes
        the scores least when the others make up for it. Learned centres are then trained
        further from there; with fixed ones, `LowDimSVC` is fitted to those that are left.

        Parameters
        ----------
        X, y, sample_weight, X_val, y_val, sample_weight_val
            As in `fit`; in general the same rows.
        n_centers : int
            How many centres to leave.

        Returns
        -------
        smaller : LowDimSVC
            A new, fitted estimator.
        """
        check_is_fitted(self)
        return pruned(self, X, y, n_centers, sample_weight, X_val, y_val, sample_weight_val)
