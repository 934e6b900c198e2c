"""What several experiments share: splits, choices on validation rows, baselines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import PredefinedSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from supred import LowDimSVC, LowDimSVCCV


@dataclass(frozen=True)
class Rows:
    """Training, validation and test rows; choices are made on the validation rows."""

    X: np.ndarray
    y: np.ndarray
    X_val: np.ndarray
    y_val: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def mapped(self, transform: Callable[[np.ndarray], np.ndarray]) -> "Rows":
        """Return the rows with other features."""
        return Rows(
            transform(self.X),
            self.y,
            transform(self.X_val),
            self.y_val,
            transform(self.X_test),
            self.y_test,
        )


def percent_wrong(predicted: np.ndarray, y: np.ndarray) -> float:
    """Return the error in %."""
    return 100 * float(np.mean(predicted != y))


def draw_rows(
    data: tuple[np.ndarray, ...], n_train: int, n_val: int, seed: int, *, balanced: bool = False
) -> Rows:
    """Draw training and validation rows from an official training part; test rows as given.

    With `balanced` both parts have as many rows of each class.
    """
    X, y, X_test, y_test = data
    order = np.random.RandomState(seed).permutation(len(y))
    if balanced:
        of_class = [order[y[order] == label] for label in np.unique(y)]
        n, m = n_train // len(of_class), n_val // len(of_class)
        train = np.concatenate([rows[:n] for rows in of_class])
        val = np.concatenate([rows[n : n + m] for rows in of_class])
    else:
        train, val = order[:n_train], order[n_train : n_train + n_val]
    return Rows(X[train], y[train], X[val], y[val], X_test, y_test)


def choose_on_validation(candidates: Iterable[Any], rows: Rows) -> Any:
    """Fit the candidates on the training rows, return the one with least validation error."""
    best, least = None, np.inf
    models = [clone(candidate).fit(rows.X, rows.y) for candidate in candidates]
    if len(models) == 1:
        return models[0]
    for model in models:
        wrong = percent_wrong(model.predict(rows.X_val), rows.y_val)
        if wrong < least:
            best, least = model, wrong
    return best


def error_on_test(model: Any, rows: Rows) -> float:
    """Return the error in % of a fitted model on the test rows."""
    return percent_wrong(model.predict(rows.X_test), rows.y_test)


def linear_svm_error(rows: Rows, Cs: Sequence[float]) -> float:
    """Return the test error of one-vs-all linear SVMs (hinge), C by the validation rows.

    Features are divided by their overall root mean square, so that one grid of C serves
    whatever projection comes before.
    """
    scale = np.sqrt(np.mean(np.square(rows.X - rows.X.mean(axis=0)))) or 1.0
    center = rows.X.mean(axis=0)
    scaled = rows.mapped(lambda X: (X - center) / scale)
    candidates = [LinearSVC(C=C, loss="hinge", max_iter=2000, random_state=0) for C in Cs]
    return error_on_test(choose_on_validation(candidates, scaled), scaled)


def gaussian_svm(
    rows: Rows, gammas: Sequence[float], Cs: Sequence[float]
) -> tuple[float, int, float]:
    """Return test error, number of basis functions and gamma of one-vs-all Gaussian SVMs.

    gamma and C are chosen by the validation rows. Kernel matrices are computed once a gamma.
    """
    best: tuple[float, Any, float] = (np.inf, None, 0.0)
    # With one candidate there is nothing to choose.
    n_val = 0 if len(gammas) * len(Cs) == 1 else len(rows.y_val)
    for gamma in gammas:
        gram = _kernel(rows.X, rows.X, gamma)
        gram_val = _kernel(rows.X_val[:n_val], rows.X, gamma) if n_val else None
        for C in Cs:
            svms = OneVsRestClassifier(SVC(C=C, kernel="precomputed", cache_size=500))
            svms.fit(gram, rows.y)
            wrong = 0.0 if gram_val is None else percent_wrong(svms.predict(gram_val), rows.y_val)
            if wrong < best[0]:
                best = (wrong, svms, gamma)
    _, svms, gamma = best
    wrong = percent_wrong(svms.predict(_kernel(rows.X_test, rows.X, gamma)), rows.y_test)
    return wrong, int(sum(svm.n_support_.sum() for svm in svms.estimators_)), gamma


def _kernel(X: np.ndarray, centers: np.ndarray, gamma: float) -> np.ndarray:
    return rbf_kernel(X, centers, gamma=gamma).astype(np.float64)


def low_dim_svm(
    rows: Rows,
    n_components: int,
    *,
    gammas: Sequence[float] | None = None,
    alphas: Sequence[float] = (1e-3,),
    Cs: Sequence[float] = (1.0,),
    seed: int = 0,
    **options: Any,
) -> LowDimSVC:
    """Return LowDimSVC fitted on the training rows, its parameters chosen by the validation rows.

    The validation rows also choose the iterate to keep, as in the paper. ``init="random"`` is the
    paper's start: random coordinates of each row.
    """
    # From a tolerance of 0.01 on an unchanged training error would end the alternation, too.
    options = {"random_state": seed, "tol": 0.0099, **options}
    chosen: dict[str, Any] = {"alpha": alphas[0], "C": Cs[0]}
    if gammas is not None:
        chosen["gamma"] = gammas[0]
    if len(alphas) * len(Cs) * len(gammas or (1,)) > 1:
        fold = np.repeat([-1, 0], [len(rows.y), len(rows.y_val)])
        search = LowDimSVCCV(
            n_components,
            gammas=gammas,
            alphas=alphas,
            Cs=Cs,
            cv=PredefinedSplit(fold),
            refit=False,
            **options,
        )
        search.fit(np.vstack([rows.X, rows.X_val]), np.concatenate([rows.y, rows.y_val]))
        chosen = {name: search.best_params_[name] for name in chosen}
    model = LowDimSVC(n_components, **chosen, **options)
    return model.fit(rows.X, rows.y, X_val=rows.X_val, y_val=rows.y_val)


def iteration_zero(model: LowDimSVC, rows: Rows) -> LowDimSVC:
    """Return the same model before any alternation: regression to the start, then the SVMs.

    From the codes of the classes that is the ideal filter of the paper.
    """
    return clone(model).set_params(max_iter=0).fit(rows.X, rows.y)


def nearest_error(rows: Rows, ks: Sequence[int] = (1,)) -> float:
    """Return the test error of nearest neighbours, their number by the validation rows."""
    return error_on_test(choose_on_validation([KNeighborsClassifier(k) for k in ks], rows), rows)


def best_projection(rows: Rows, candidates: Iterable[Any]) -> tuple[Any, float]:
    """Choose a projection by the validation error of 1-NN after it; return it and its error."""
    best: tuple[float, Any] = (np.inf, None)
    for candidate in candidates:
        fitted = candidate.fit(rows.X, rows.y)
        judge = KNeighborsClassifier(1).fit(fitted.transform(rows.X), rows.y)
        wrong = percent_wrong(judge.predict(fitted.transform(rows.X_val)), rows.y_val)
        if wrong < best[0]:
            best = (wrong, fitted)
    return best[1], nearest_error(rows.mapped(best[1].transform))


def median_distance(X: np.ndarray, most: int = 1000) -> float:
    """Return the median distance between (up to `most`) rows."""
    from scipy.spatial.distance import pdist

    step = max(1, len(X) // most)
    return float(np.median(pdist(X[::step])))


class LeastSquaresLDA(TransformerMixin, BaseEstimator):
    """Least squares regression on class indicators; its outputs are the coordinates."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "LeastSquaresLDA":
        """Regress the indicators on the rows."""
        from sklearn.linear_model import LinearRegression

        indicators = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
        self.regression_ = LinearRegression().fit(X, indicators)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the regression's outputs."""
        return self.regression_.predict(X)
