"""The low-dimensional SVM with its parameters chosen on held-out rows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import check_random_state

from supred.base.latent_classifier import LatentClassifier
from supred.base.progress import progress_bar
from supred.base.validation import check_weights
from supred.common.arguments import check_choice, check_real
from supred.low_dim_svm import problem as parts
from supred.low_dim_svm.classifier import LowDimSVC
from supred.low_dim_svm.search_fold import Candidate, Fold

# Default candidates: multiples of the "scale" rule for gamma, values of alpha and of C.
GAMMA_FACTORS = (0.25, 1.0, 4.0)
ALPHAS = (1e-3, 1e-2, 1e-1)
CS = (0.1, 1.0, 10.0)


# What the refitted best estimator shares with the search.
_FROM_BEST = (
    "coef_",
    "intercept_",
    "mapping_",
    "history_",
    "n_iter_",
    "best_iter_",
    "stopping_reason_",
)


class LowDimSVCCV(LatentClassifier):
    """Low-dimensional SVM that chooses gamma, alpha and C on folds or on one held-out part.

    The result is that of a grid search over :class:`LowDimSVC`, but the expensive parts are
    shared: centres, basis functions and their products are computed once per fold, number of
    centres and gamma, never once per (alpha, C), and one eigendecomposition serves every alpha.
    With ``centers="learned"`` nothing can be shared; each candidate is a fit of its own.

    Parameters
    ----------
    n_components : int, optional
        Number of latent dimensions; by default the number of classes minus one.
    gammas : sequence of "scale" or float, optional
        Candidates for gamma; by default a quarter, one and four times the "scale" rule. Not
        used with ``mapping="linear"``.
    alphas : sequence of float, default=(1e-3, 1e-2, 1e-1)
        Candidates for alpha.
    Cs : sequence of float, default=(0.1, 1.0, 10.0)
        Candidates for C.
    n_centers : int, "auto" or sequence of int, optional
        Number of centres, or candidates for it; "auto" as in :class:`LowDimSVC`.
    cv : int, float, splitter or iterable of (train, test), optional
        Number of stratified folds (5 by default), the share of rows to hold out once (a float
        between 0 and 1), or splits as in scikit-learn.
    refit : bool, default=True
        Fit the best setting on all rows at the end; needed to predict.
    mapping : {"rbf", "linear"}, default="rbf"
    centers, multi_class, loss, init, mu, mu_factor, max_iter, tol, early_stopping, \
            validation_fraction, n_iter_no_change, refine_steps, learning_rate, class_weight, \
            cache_size, random_state
        As in :class:`LowDimSVC`.
    n_jobs : int, optional
        Number of processes that share the values of alpha and C, as joblib has it: None is this
        one alone, -1 as many as there are cores. What is common to them is made once and mapped
        into the memory of all. Inside another parallel loop there is one process.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    best_params_ : dict
        The best setting: gamma, alpha, C, and n_centers if it was searched.
    best_score_ : float
        Its mean accuracy on the held-out rows.
    best_index_ : int
        Its place in `cv_results_`.
    best_estimator_ : LowDimSVC
        The best setting, fitted on all rows (if `refit`).
    cv_results_ : dict of arrays
        As scikit-learn's GridSearchCV has it. ``mean_fit_time`` leaves out the shared parts.
    n_splits_ : int
    classes_ : ndarray
    coef_, intercept_, mapping_, history_, n_iter_, best_iter_, stopping_reason_
        Those of `best_estimator_`.

    See Also
    --------
    LowDimSVC : The estimator without a search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowDimSVCCV(n_centers=20, Cs=(1.0,), cv=3, random_state=0).fit(X, y)
    >>> sorted(model.best_params_)
    ['C', 'alpha', 'gamma']
    >>> bool(model.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        gammas: Any = None,
        alphas: Any = ALPHAS,
        Cs: Any = CS,
        n_centers: Any = None,
        cv: Any = None,
        refit: bool = True,
        mapping: str = "rbf",
        centers: Any = "kmeans",
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
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.gammas = gammas
        self.alphas = alphas
        self.Cs = Cs
        self.n_centers = n_centers
        self.cv = cv
        self.refit = refit
        self.mapping = mapping
        self.centers = centers
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LowDimSVCCV":
        """Try all settings on held-out rows and fit the best one on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            Used in fitting and in scoring.

        Returns
        -------
        self : LowDimSVCCV
        """
        X, classes, codes = self._validate_rows_and_labels(X, y)
        check_choice("mapping", self.mapping, ("rbf", "linear"))
        if self.n_jobs == 0:
            raise ValueError(
                "n_jobs=0 is out of range; use None, a number of processes, or -1 for all cores."
            )
        weights = check_weights(sample_weight, None, codes, classes)
        candidates = self._candidates(X, weights)
        # Every fit draws from the same seed, as a grid search with an int random_state does.
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        base = self._base_estimator(int(seed))
        splits = list(self._splits(X, codes, int(seed)))
        if not splits:
            raise ValueError(f"cv={self.cv!r} gives no split; give at least one.")
        scores = np.empty((len(candidates), len(splits)))
        times = np.empty((2, len(candidates), len(splits)))
        total = len(candidates) * len(splits)
        with progress_bar(total, type(self).__name__, shown=bool(self.verbose)) as bar:
            for column, (train, test) in enumerate(splits):
                fold = Fold(base, X, codes, weights, classes, train, test)
                for row, (score, *seconds) in enumerate(fold.evaluate(candidates, self.n_jobs)):
                    scores[row, column], times[:, row, column] = score, seconds
                    bar.step(f"accuracy {score:.4f}")
        self.classes_ = classes
        self.n_splits_ = len(splits)
        self._n_features_out = parts.n_components_of(self, len(classes))
        self._report(candidates, scores, times)
        if self.refit:
            best = clone(base).set_params(**self.best_params_, verbose=0)
            self.best_estimator_ = best.fit(X, classes[codes], sample_weight=weights)
            for name in _FROM_BEST:
                setattr(self, name, getattr(best, name))
        return self

    def _base_estimator(self, seed: int) -> LowDimSVC:
        """Return a LowDimSVC with all parameters that are not searched."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in LowDimSVC().get_params(deep=False) if name in own}
        shared.update(random_state=seed, verbose=0)
        if not _is_single(self.n_centers):
            shared["n_centers"] = None
        return LowDimSVC(**shared)

    def _candidates(self, X: Any, weights: np.ndarray) -> list[Candidate]:
        alphas = _numbers("alphas", self.alphas)
        Cs = _numbers("Cs", self.Cs)
        gammas: list[float | None] = [None]
        if self.mapping == "rbf":
            if self.gammas is None:
                scale = parts.gamma_of("scale", X, weights)
                gammas = [factor * scale for factor in GAMMA_FACTORS]
            else:
                if isinstance(self.gammas, str) or not isinstance(self.gammas, Iterable):
                    raise ValueError(f"gammas={self.gammas!r}: give a sequence of candidates.")
                numbers = [
                    parts.gamma_of(gamma, X, weights) if isinstance(gamma, str) else gamma
                    for gamma in self.gammas
                ]
                gammas = list(_numbers("gammas", numbers))
        if _is_single(self.n_centers):
            sizes = [self.n_centers]
        elif isinstance(self.n_centers, str) or not isinstance(self.n_centers, Iterable):
            raise ValueError(f"n_centers={self.n_centers!r}: give a whole number or a sequence.")
        else:
            sizes = list(self.n_centers)
            if not sizes:
                raise ValueError("n_centers is an empty sequence; give at least one candidate.")
            if self.mapping != "rbf" or not isinstance(self.centers, str) or self.centers == "all":
                raise ValueError(
                    f"n_centers={self.n_centers!r} is searched in vain: mapping="
                    f"{self.mapping!r} with centers={self.centers!r} does not use it."
                )
        return [
            Candidate(size, gamma, alpha, C)
            for size in sizes
            for gamma in gammas
            for alpha in alphas
            for C in Cs
        ]

    def _splits(
        self, X: Any, codes: np.ndarray, seed: int
    ) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        if isinstance(self.cv, float):
            check_real("cv", self.cv, low=0, high=1, low_inclusive=False, high_inclusive=False)
            splitter = StratifiedShuffleSplit(n_splits=1, test_size=self.cv, random_state=seed)
        else:
            splitter = check_cv(self.cv, codes, classifier=True)
        return splitter.split(X, codes)

    def _report(self, candidates: list[Candidate], scores: np.ndarray, times: np.ndarray) -> None:
        """Fill `cv_results_` and choose the best setting."""
        searched = ["alpha", "C"]
        if self.mapping == "rbf":
            searched.insert(0, "gamma")
        if not _is_single(self.n_centers):
            searched.insert(0, "n_centers")
        settings = [{name: getattr(c, name) for name in searched} for c in candidates]
        results: dict[str, Any] = {"params": settings}
        for name in searched:
            results[f"param_{name}"] = np.ma.array([setting[name] for setting in settings])
        for column in range(scores.shape[1]):
            results[f"split{column}_test_score"] = scores[:, column]
        mean = scores.mean(axis=1)
        results["mean_test_score"] = mean
        results["std_test_score"] = scores.std(axis=1)
        # Rounded as scikit-learn does: equal accuracies must not differ by the last digit.
        ranks = rankdata(-mean.round(12), method="min").astype(np.int32)
        results["rank_test_score"] = ranks
        for name, values in zip(("fit", "score"), times, strict=True):
            results[f"mean_{name}_time"] = values.mean(axis=1)
            results[f"std_{name}_time"] = values.std(axis=1)
        self.cv_results_ = results
        self.best_index_ = int(np.argmin(ranks))
        self.best_params_ = settings[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    def _project(self, X: Any) -> np.ndarray:
        if not self.refit:
            raise AttributeError("LowDimSVCCV was fitted with refit=False and cannot predict.")
        return self.best_estimator_._project(X)

    def _decide(self, Z: np.ndarray) -> np.ndarray:
        return self.best_estimator_._decide(Z)

    def _model_arrays(self) -> list[np.ndarray]:
        return self.best_estimator_._model_arrays()


def _is_single(n_centers: Any) -> bool:
    if isinstance(n_centers, str):
        return n_centers == "auto"
    return n_centers is None or isinstance(n_centers, int | np.integer)


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    """Return positive candidates as a tuple."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name}={values!r}: give a sequence of candidates.")
    result = tuple(
        check_real(f"{name}[{i}]", value, low=0, low_inclusive=False)
        for i, value in enumerate(values)
    )
    if not result:
        raise ValueError(f"{name} is empty; give at least one candidate.")
    return result
