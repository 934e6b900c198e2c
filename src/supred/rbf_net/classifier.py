"""RBFNetClassifier: few Gaussians in a learned metric, with a low-dimensional latent space."""

import sys
from collections.abc import Callable
from contextlib import closing
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from supred.base.all_or_nothing import all_or_nothing
from supred.base.callbacks import FitCallbacks
from supred.base.compat import CallbackSupportMixin, with_callbacks
from supred.base.dask_input import unpacked
from supred.base.validation import check_weights
from supred.common.arguments import check_flag, check_integer
from supred.common.labels import check_classes
from supred.rbf_net.explanation import Explanation
from supred.rbf_net.fitted import GaussianNetwork
from supred.rbf_net.journal import Journal, make_journal
from supred.rbf_net.model import NetworkModel
from supred.rbf_net.plan import fit_networks
from supred.rbf_net.settings import Settings
from supred.rbf_net.updates import prune_networks, update_networks
from supred.rows.blocks import RowSource, rows_of


class RBFNetClassifier(CallbackSupportMixin, NetworkModel):
    """A network of few Gaussians in a learned metric, with a low-dimensional latent space.

    Rows are taken to a metric that is learned, to Gaussians about centres that are learned, and
    to latent coordinates in which a linear classifier decides::

        u(x)     = A^T (x - shift)
        phi_m(x) = exp(-gamma_m ||u(x) - c_m||^2)
        F(x)     = W^T phi(x) + w0
        scores   = V F(x) + b

    All parameters descend one loss. What suits a table, the kind of metric, noise on the rows
    and the width of the Gaussians at the start, is chosen on validation rows; then the network is
    trained on all rows. With fewer dimensions than the classes need, a second small network lays
    them out: the map.

    Parameters
    ----------
    n_components : int, optional
        Number of latent dimensions; by default the number of classes minus one. Fewer make a
        map: 2 for a picture.
    n_centers : int or "auto", optional
        Number of Gaussians; by default 200 to 500, depending on the number of rows, and at most
        half of them. "auto" looks for the smallest network whose validation error is within one
        standard error of the least.
    metric : {"auto", "diagonal", "full"} or int, default="auto"
        One scale per feature, a matrix of all features, or one of this rank. "auto" chooses by
        validation.
    noise : "auto" or float, default="auto"
        Standard deviation of noise that is added to the rows in training, in units of a
        feature's spread; it regularises. "auto" chooses by validation.
    gamma : {"auto", "scale"} or float, default="auto"
        Width of the Gaussians at the start. "scale" is one over twice the sum of the variances;
        "auto" chooses between that and four times it by validation, or a third of it where rows
        are few.
    loss : {"log", "hinge"}, default="log"
        "log" gives `predict_proba`.
    alpha : float, default=1e-3
        Weight of the squared norms of W and V, divided by the number of rows.
    max_iter : int, optional
        Steps of the training, each on up to 512 rows; by default 300 to 8000, depending on the
        number of rows.
    learning_rate : float, default=0.05
        Largest step, in units of the parameters, 10 at most; it falls to zero along the steps.
    label_smoothing : float, default=0.03
        How much less than certainty the log-loss aims at; the second network of a map aims at
        certainty.
    early_stopping : bool, default=True
        Hold rows out (in folds where they are few) to choose, to stop and to calibrate. False
        trains on all rows at once, with the first of the candidates.
    validation_fraction : float, default=0.1
        Share of the rows to hold out; more of a small table.
    refit : bool, default=True
        Train on all rows, the held-out ones too, once everything is chosen.
    class_weight : dict or "balanced", optional
        Weights of the classes, which multiply the sample weights.
    warm_start : bool, default=False
        Go on from the networks of the last `fit`; there is no race. Latent dimensions, metric and
        number of centres stay what they are ("auto" may take centres away).
    checkpoint : path, optional
        File to which the state of the fit is written along the way. If it is there when `fit`
        begins, with the same data and parameters, the fit goes on from it and ends at the same
        model. It is removed at the end.
    random_state : int, RandomState or None, default=None
    n_jobs : int, optional
        Threads, as joblib counts them: candidates and folds are trained side by side; with Numba
        (``pip install "supred[fast]"``), two threads share the rows of a single network from
        30 000 rows on. The model is the same for any number.
    verbose : int, default=0
        1 prints a line per check.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    stages_ : tuple of GaussianNetwork
        The network, and the second one of a map.
    coef_ : ndarray of shape (n_scores, n_components)
        V, calibrated.
    intercept_ : ndarray of shape (n_scores,)
        b, calibrated.
    centers_ : ndarray of shape (n_centers, n_features)
        For each centre, the point among the features nearest to the mean that has its
        coordinates in the metric.
    metric_ : ndarray of shape (n_features,) or (n_features, rank)
        The scales of the features, or A.
    gamma_ : ndarray of shape (n_centers,)
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the metric, weighted by its variance; sum 1.
    choices_ : dict of ndarrays
        metric, noise, width, steps, validation_error and validation_log_loss of the candidates,
        the winner first. Steps 0: the start with width and ridge by leave-one-out.
    chosen_ : dict
        The metric, noise and width that were used.
    history_ : dict of ndarrays
        step, loss and validation_error at each check.
    n_iter_ : int
        Steps of the network that was kept.
    stopping_reason_ : str
        "max_iter", "validation" or "callback".
    validation_error_ : float
        Error on held-out rows, NaN without.
    path_ : dict of ndarrays
        With ``n_centers="auto"``: n_centers, validation_error, standard_error and bytes of the
        networks that were tried, the smallest first.
    model_size_ : ModelSize
        Numbers and bytes that the model needs to predict.
    flops_per_row_ : int
        Additions and multiplications to predict one row.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    LowDimSVC : Fixed centres, trained by auxiliary coordinates.

    Notes
    -----
    Rows are shifted and scaled inside: all features by one factor, or, where few of them carry
    nearly all of the variance, each by its own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import RBFNetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RBFNetClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.transform(X).shape, model.predict_proba(X).shape
    ((150, 2), (150, 3))
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_centers: Any = None,
        metric: Any = "auto",
        noise: Any = "auto",
        gamma: Any = "auto",
        loss: str = "log",
        alpha: float = 1e-3,
        max_iter: int | None = None,
        learning_rate: float = 0.05,
        label_smoothing: float = 0.03,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        refit: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_centers = n_centers
        self.metric = metric
        self.noise = noise
        self.gamma = gamma
        self.loss = loss
        self.alpha = alpha
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.label_smoothing = label_smoothing
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.class_weight = class_weight
        self.warm_start = warm_start
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
    ) -> "RBFNetClassifier":
        """Choose by validation, and train.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory map, RowBlocks, Dask array or dataframe} of shape \
                (n_rows, n_features)
            Rows that are not in memory are fetched for many steps at once.
        y : array-like or Dask collection of shape (n_rows,)
            Labels of any type; not needed if `X` is a `RowBlocks` with a target.
        sample_weight : array-like of shape (n_rows,), optional
            A weight k is the same as k copies of the row.
        X_val, y_val : array-like or RowBlocks, optional
            Rows and labels to choose and stop by, in place of a held-out part of `X`.
        sample_weight_val : array-like, optional

        Returns
        -------
        self : RBFNetClassifier
        """
        settings = Settings.among(self.get_params(deep=False))
        check_flag("warm_start", self.warm_start)
        previous = self._fitted() if self.warm_start and hasattr(self, "stages_") else None
        X, index, weights, classes = self._checked_rows(X, y, sample_weight, reset=previous is None)
        held_out = self._check_validation(X_val, y_val, sample_weight_val, classes)
        if held_out is not None and isinstance(held_out.X, RowSource):
            held_out = held_out._replace(X=rows_of(held_out.X).whole())
        if previous is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start=True goes on from a model of the classes {self.classes_.tolist()}, "
                f"but y holds {classes.tolist()}; set warm_start=False, or give rows of these."
            )
        self.classes_ = classes
        rows = X, index, weights
        start = [] if previous is None else previous.arrays()
        journal = make_journal(self.get_params(deep=False), classes, rows, held_out, start)
        with closing(FitCallbacks(self, X, y)) as callbacks:
            fitted = fit_networks(
                *rows,
                len(classes),
                settings,
                journal,
                held_out=held_out,
                previous=previous,
                report=partial(self._report, callbacks),
            )
        return self._keep(fitted)

    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "RBFNetClassifier":
        """Train further on new rows.

        Parameters
        ----------
        X, y, sample_weight
            New rows, their labels and weights, best of all classes: the Gaussians lie among the
            rows of the first call, and rows of one class alone make the others forgotten.
        classes : array-like, optional
            All classes that may ever come; needed in the first call if `y` does not hold them
            all. `class_weight` may be a dict. A class that has no row yet is never far from
            being predicted last.

        Returns
        -------
        self : RBFNetClassifier
            The first call is a fit without a race; each further call does more steps. Of a map
            only the second network learns further: the first keeps the latent space in which
            the second lays the classes out. There is no checkpoint.
        """
        settings = Settings.among(self.get_params(deep=False))
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} cannot be combined with partial_fit, which "
                "does not see all rows; use a dict {class: weight}."
            )
        fitted = hasattr(self, "stages_")
        known = None if classes is None else check_classes(classes)
        if fitted:
            if known is not None and not np.array_equal(known, self.classes_):
                raise ValueError(
                    f"classes={known.tolist()} differ from those of the first call, "
                    f"{self.classes_.tolist()}; name all classes there."
                )
            known = self.classes_
        X, index, weights, known = self._checked_rows(
            X, y, sample_weight, classes=known, reset=not fitted
        )
        self.classes_ = known
        with closing(FitCallbacks(self, X, y)) as callbacks:
            tell = partial(self._report, callbacks)
            if fitted:
                result = update_networks(X, index, weights, self._fitted(), settings, report=tell)
            else:
                settings = replace(settings, early_stopping=False)
                result = fit_networks(
                    X, index, weights, len(known), settings, Journal(), report=tell
                )
        return self._keep(result)

    def prune(
        self, X: Any, y: Any, *, n_centers: int, sample_weight: Any = None
    ) -> "RBFNetClassifier":
        """Return a smaller model: take away the centres that it can spare, and train further.

        This model stays as it is. Centres go one by one, each time the one whose loss changes
        the scores least when the others make up for it.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; in general the same rows.
        n_centers : int
            How many centres to leave.

        Returns
        -------
        smaller : RBFNetClassifier
            A new, fitted estimator.
        """
        check_is_fitted(self)
        high = len(self.stages_[0].W)
        check_integer("n_centers", n_centers, low=1, high=high, why="the centres that there are")
        X, index, weights, classes = self._checked_rows(X, y, sample_weight, reset=False)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"prune: y holds the classes {classes.tolist()}, but the model was trained on "
                f"{self.classes_.tolist()}; give rows of the same classes."
            )
        smaller = copy(self).set_params(n_centers=n_centers)
        settings = Settings.among(smaller.get_params(deep=False))
        return smaller._keep(prune_networks(X, index, weights, self._fitted(), settings, n_centers))

    # --- parts of a fit -------------------------------------------------------------------

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, reset: bool = True
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, class indices, weights and classes, all checked."""
        X, y, sample_weight = unpacked(X, ("y", y), ("sample_weight", sample_weight))
        X, found, index = self._validate_rows_and_labels(X, y, classes=classes, reset=reset)
        if sample_weight is None and isinstance(X, RowSource):
            sample_weight = X.weights()
        return X, index, check_weights(sample_weight, self.class_weight, index, found), found

    def _report(
        self,
        callbacks: FitCallbacks,
        phase: str,
        step: int,
        loss: float,
        error: float,
        so_far: Callable[[], dict[str, Any]],
    ) -> bool:
        """Tell of a check: a line on stderr if verbose, and the callbacks; True asks to stop."""
        if self.verbose:
            print(
                f"[{type(self).__name__}] {phase:8s} step {step:6d}  mean loss {loss:.4f}"
                + ("" if np.isnan(error) else f"  validation error {error:.4f}"),
                file=sys.stderr,
            )
        inputs = {"classes_": self.classes_, "n_features_in_": self.n_features_in_}
        return callbacks.iteration(lambda: {**inputs, **so_far()})


__all__ = ["Explanation", "GaussianNetwork", "RBFNetClassifier"]
