"""The low-dimensional SVM with its parameters chosen on held-out rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.validation import check_is_fitted

from supred.base.all_or_nothing import all_or_nothing
from supred.base.progress import progress_bar
from supred.base.validation import check_weights
from supred.common.arguments import (
    LARGEST_PARAMETER,
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_real,
    random_generator,
)
from supred.common.splits import given_splits
from supred.low_dim_svm.alternation import Result
from supred.low_dim_svm.classifier import LowDimSVC
from supred.low_dim_svm.mappings.centers import width_factor
from supred.low_dim_svm.mappings.choice import choose_centers, gamma_of
from supred.low_dim_svm.model import LowDimModel
from supred.low_dim_svm.race import FEWEST_TO_RACE, Verdicts, judge_all, race
from supred.low_dim_svm.search_fold import Candidate, Fold, Judged
from supred.low_dim_svm.settings import Settings
from supred.low_dim_svm.width_and_ridge import GAMMA_FACTORS, leave_one_out_scores, worth_a_fit
from supred.numerics.leave_one_out import LeaveOneOutScore

# Default candidates for C; of equal ones the first is taken.
CS = (1.0, 0.1, 10.0)


class LowDimSVCCV(LowDimModel):
    """Low-dimensional SVM that chooses gamma, alpha and C on folds or on one held-out part.

    The result is that of a search over :class:`LowDimSVC`, but the expensive parts are
    shared: centres, basis functions and their products are computed once per fold, number of
    centres and gamma, never once per (alpha, C), and one eigendecomposition serves every alpha.

    Parameters
    ----------
    n_components : int or sequence of int, optional
        Number of latent dimensions, or candidates for it; by default the number of classes minus
        one. The paper's recipe is from there up; more than that needs ``init="random"`` or
        "random-codes", since the simplex leaves further dimensions empty.
    gammas : sequence of "scale" or float, optional
        Candidates for gamma; by default a quarter, one, four and sixteen times the "scale" rule.
        Not used with ``mapping="linear"``.
    alphas : sequence of float, optional
        Candidates for alpha; by default the best for each gamma by closed-form leave-one-out, a
        tenth of it and ten times it.
    Cs : sequence of float, default=(1.0, 0.1, 10.0)
        Candidates for C.
    n_centers : int or sequence of int, optional
        Number of centres, or candidates for it.
    cv : int, float, splitter or iterable of (train, test), optional
        Number of stratified folds (5 by default), the share of rows to hold out once (a float
        between 0 and 1), or splits as in scikit-learn.
    search : {"race", "exhaustive"}, default="race"
        A race of ten candidates or more drops losers early: the best third by the closed-form
        leave-one-out error of the start, which looks at gamma and alpha, is tried on the first
        fold, the best third of these on the second, and the last three on every fold.
        "exhaustive" judges every candidate on every fold.
    refit : bool, default=True
        Fit the best setting on all rows at the end; needed to predict.
    mapping : {"rbf", "linear"}, default="rbf"
    centers, multi_class, loss, init, mu, mu_factor, inner_tol, max_iter, tol, early_stopping, \
            validation_fraction, n_iter_no_change, class_weight, cache_size, random_state
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
        The best setting: gamma, alpha, C, and n_centers and n_components if they were searched.
    best_score_ : float
        Its mean accuracy on the held-out rows.
    best_index_ : int
        Its place in `cv_results_`.
    best_estimator_ : LowDimSVC
        The best setting, fitted on all rows (if `refit`).
    cv_results_ : dict of arrays
        As scikit-learn's GridSearchCV has it. ``mean_fit_time`` leaves out the shared parts. A
        race adds ``leave_one_out_score``, the accuracy of its first round, and ``n_folds``, on
        how many folds a candidate was judged; the score is NaN on the others.
    n_splits_ : int
    classes_ : ndarray
    coef_, intercept_, mapping_, centers_, gamma_, history_, n_iter_, best_iter_, \
            stopping_reason_, model_size_, flops_per_row_
        Those of `best_estimator_`: the search has all that a fitted :class:`LowDimSVC` has.

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

    _takes_devices = False

    _fitted_attributes = (
        *LowDimModel._fitted_attributes,
        "best_params_",
        "best_score_",
        "best_index_",
        "best_estimator_",
        "cv_results_",
        "n_splits_",
    )

    def __init__(
        self,
        n_components: Any = None,
        *,
        gammas: Any = None,
        alphas: Any = None,
        Cs: Any = CS,
        n_centers: Any = None,
        cv: Any = None,
        search: str = "race",
        refit: bool = True,
        mapping: str = "rbf",
        centers: Any = "kmeans",
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
        self.search = search
        self.refit = refit
        self.mapping = mapping
        self.centers = centers
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
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
        given = X
        self._forget()
        X, classes, class_index = self._validate_rows_and_labels(X, y, in_memory=True)
        check_choice("mapping", self.mapping, ("rbf", "linear"))
        check_choice("search", self.search, ("race", "exhaustive"))
        check_flag("refit", self.refit)
        check_n_jobs(self.n_jobs)
        settings = Settings.among(
            {**self.get_params(deep=False), **self._searched(), "n_jobs": None}
        )
        weights = check_weights(sample_weight, None, class_index, classes)
        # Every fit draws from the same seed, as a grid search with an int random_state does.
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = random_generator(seed).randint(2**31 - 1)
        candidates, first = self._candidates(X, class_index, weights, int(seed))
        splits = self._splits(X, class_index, int(seed))
        with progress_bar(
            len(candidates) * len(splits), type(self).__name__, shown=bool(self.verbose)
        ) as step:

            def judge(
                train: np.ndarray, test: np.ndarray, chosen: Sequence[int]
            ) -> Iterator[Judged]:
                fold = Fold.of(X, class_index, weights, classes, train, test, settings, int(seed))
                for found in fold.evaluate([candidates[k] for k in chosen], self.n_jobs):
                    step(f"accuracy {found.accuracy:.4f}")
                    yield found

            if self.search == "exhaustive" or len(candidates) < FEWEST_TO_RACE:
                verdicts = judge_all(len(candidates), splits, judge)
            else:
                verdicts = race(first, splits, judge)
        self.classes_, self.n_splits_ = classes, len(splits)
        self._report(candidates, verdicts)
        if self.refit:
            own = self.get_params(deep=False)
            shared = {name: own[name] for name in LowDimSVC._get_param_names() if name in own}
            shared |= {**self._searched(), **self.best_params_, "random_state": int(seed)}
            best = LowDimSVC(**{**shared, "n_jobs": None, "verbose": 0})
            self.best_estimator_ = best.fit(given, classes[class_index], sample_weight=weights)
            self._keep(
                Result(
                    best.mapping_,
                    best.coef_,
                    best.intercept_,
                    best.history_,
                    best.best_iter_,
                    best.n_iter_,
                    best.stopping_reason_,
                ),
                classes,
            )
        return self

    def _searched(self) -> dict[str, Any]:
        """Return those parameters of LowDimSVC that have candidates, as it takes them."""
        return {
            name: None
            for name in ("n_centers", "n_components")
            if not _is_single(getattr(self, name))
        }

    def _candidates(
        self, X: Any, class_index: np.ndarray, weights: np.ndarray, seed: int
    ) -> tuple[list[Candidate], list[LeaveOneOutScore]]:
        """Return the settings to try, each with the leave-one-out score of its start."""
        scale = gamma_of("scale", X, weights) if self.mapping == "rbf" else 1.0
        gammas: Sequence[float] = [1.0]
        if self.mapping == "rbf" and self.gammas is not None:
            given = _sequence("gammas", self.gammas)
            gammas = _numbers(
                "gammas", [scale if isinstance(g, str) and g == "scale" else g for g in given]
            )
        alphas = None if self.alphas is None else _numbers("alphas", self.alphas)
        ridges = None if alphas is None else [2.0 * alpha / self.mu for alpha in alphas]
        Cs = _numbers("Cs", self.Cs)
        sizes = _whole_numbers("n_centers", self.n_centers)
        uses_centers = self.mapping == "rbf" and isinstance(self.centers, str)
        if len(sizes) > 1 and not (uses_centers and self.centers != "all"):
            raise ValueError(
                f"n_centers={self.n_centers!r} has no effect: mapping={self.mapping!r} with "
                f"centers={self.centers!r} does not use it."
            )
        candidates, scores = [], []
        for size in sizes:
            rng, centers = random_generator(seed), None
            if self.mapping == "rbf":
                centers = choose_centers(self.centers, size, X, weights, rng)
                if self.gammas is None:
                    wider = scale * width_factor(len(centers), float(weights.sum()))
                    # rows that are all but equal have a scale that no gamma may have
                    gammas = [min(factor * wider, LARGEST_PARAMETER) for factor in GAMMA_FACTORS]
            used = np.flatnonzero(weights > 0)
            tried = leave_one_out_scores(
                X[used], class_index[used], weights[used], centers, rng, gammas, ridges
            )
            tried = tried if alphas is not None else worth_a_fit(tried)
            for k, found in enumerate(tried):
                alpha = alphas[k % len(alphas)] if alphas else 0.5 * self.mu * found.ridge
                for n_components in _whole_numbers("n_components", self.n_components):
                    for C in Cs:
                        candidates.append(Candidate(size, found.gamma, n_components, alpha, C))
                        scores.append(found.score)
        return candidates, scores

    def _splits(
        self, X: Any, class_index: np.ndarray, seed: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        if isinstance(self.cv, float):
            check_real("cv", self.cv, low=0, high=1, low_inclusive=False, high_inclusive=False)
            splitter = StratifiedShuffleSplit(n_splits=1, test_size=self.cv, random_state=seed)
            return list(splitter.split(X, class_index))
        return given_splits(self.cv, X, class_index)

    def _report(self, candidates: list[Candidate], verdicts: Verdicts) -> None:
        """Fill `cv_results_` and choose the best setting."""
        searched = ["alpha", "C"]
        if self.mapping == "rbf":
            searched.insert(0, "gamma")
        searched = [*self._searched(), *searched]
        settings = [{name: getattr(c, name) for name in searched} for c in candidates]
        results: dict[str, Any] = {"params": settings}
        for name in searched:
            results[f"param_{name}"] = np.ma.array([setting[name] for setting in settings])
        scores, n_folds = np.ma.masked_invalid(verdicts.scores), verdicts.n_folds
        for column in range(scores.shape[1]):
            results[f"split{column}_test_score"] = verdicts.scores[:, column]
        mean = scores.mean(axis=1).filled(np.nan)
        results["mean_test_score"] = mean
        results["std_test_score"] = scores.std(axis=1).filled(np.nan)
        first = np.zeros(len(mean))
        if verdicts.first_scores is not None:
            first = results["leave_one_out_score"] = verdicts.first_scores
            results["n_folds"] = n_folds
        # Rounded as scikit-learn does: equal accuracies must not differ by the last digit. Those
        # that went further in a race come first.
        merits = np.where(n_folds > 0, np.nan_to_num(mean), first).round(12)
        order = np.column_stack([-n_folds, -merits, -first.round(12)])
        _, places = np.unique(order, axis=0, return_inverse=True)
        ranks = rankdata(places.ravel(), method="min").astype(np.int32)
        results["rank_test_score"] = ranks
        for name, values in zip(("fit", "score"), verdicts.seconds, strict=True):
            spent = np.ma.masked_invalid(values)
            results[f"mean_{name}_time"] = spent.mean(axis=1).filled(np.nan)
            results[f"std_{name}_time"] = spent.std(axis=1).filled(np.nan)
        self.cv_results_ = results
        self.best_index_ = int(np.argmin(ranks))
        self.best_params_ = settings[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model; scikit-learn's `check_is_fitted` asks."""
        if hasattr(self, "best_params_") and not hasattr(self, "mapping_"):
            raise NotFittedError(
                "LowDimSVCCV was fitted with refit=False: it has best_params_ but no model to "
                "predict with; set refit=True, or fit LowDimSVC(**best_params_)."
            )
        return hasattr(self, "mapping_")

    def _project(self, X: Any) -> np.ndarray:
        if not hasattr(self, "mapping_"):
            check_is_fitted(self)
        return super()._project(X)


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, int | np.integer)


def _sequence(name: str, values: Any) -> Sequence[Any]:
    """Return candidates as a tuple of one or more."""
    if (
        isinstance(values, str | bytes)
        or not isinstance(values, Iterable)
        or getattr(values, "ndim", 1) == 0
    ):
        raise ValueError(f"{name}={values!r}: give a sequence of candidates.")
    result = tuple(values)
    if not result:
        raise ValueError(f"{name} is empty; give at least one candidate.")
    return result


def _numbers(name: str, values: Any) -> Sequence[float]:
    """Return positive candidates."""
    return [
        check_real(f"{name}[{i}]", value, low=0, low_inclusive=False)
        for i, value in enumerate(_sequence(name, values))
    ]


def _whole_numbers(name: str, values: Any) -> Sequence[int | None]:
    """Return candidates for a parameter that may also be one number or None."""
    if _is_single(values):
        return [values]
    return [
        check_integer(f"{name}[{i}]", value, low=1)
        for i, value in enumerate(_sequence(name, values))
    ]
