"""The exchangeable parts of LowDimSVC, chosen from its parameters."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import validate_data

from supred.base.latent_classifier import winners
from supred.base.sources import as_source, check_source, source_labels
from supred.base.validation import check_weights
from supred.common.arguments import check_choice, check_integer, check_real
from supred.low_dim_svm import starts
from supred.low_dim_svm.alternation import Alternation, Schedule
from supred.low_dim_svm.log_loss import LogLoss
from supred.low_dim_svm.losses import HingeLoss, Loss
from supred.low_dim_svm.mappings.base import Mapping
from supred.low_dim_svm.mappings.basis import (
    MEGABYTE,
    BasisMapping,
    LinearMapping,
    RBFMapping,
    combine,
)
from supred.low_dim_svm.mappings.centers import kmeans_centers, random_centers
from supred.low_dim_svm.mappings.regressor import RegressorMapping
from supred.numerics.kernels import scale_gamma
from supred.rows.blocks import Rows, RowSource, rows_of

DEFAULT_CENTERS = 1000
DEFAULT_CACHE = 1000.0  # megabytes
# Spread of the noise that init="random" adds to the class codes of unit length.
RANDOM_NOISE = 0.1
# Basis functions of validation rows that are kept from iteration to iteration.
HELD_OUT_BYTES = 2**29


def check_parameters(model: Any, n_rows: int) -> None:
    """Check the parameters of LowDimSVC that no other part checks."""
    if model.n_components is not None:
        check_integer("n_components", model.n_components, low=1)
    if isinstance(model.mapping, str):
        check_choice("mapping", model.mapping, ("rbf", "linear"))
    elif not (hasattr(model.mapping, "fit") and is_regressor(model.mapping)):
        raise ValueError(
            f"mapping={model.mapping!r} is not known; use 'rbf', 'linear' or a regressor."
        )
    if isinstance(model.centers, str):
        check_choice("centers", model.centers, ("kmeans", "random", "all", "learned"))
    if isinstance(model.n_centers, str):
        if model.n_centers != "auto":
            raise ValueError(
                f"n_centers={model.n_centers!r} is not known; use a whole number or 'auto'."
            )
        if not (isinstance(model.centers, str) and model.centers == "learned"):
            raise ValueError(
                f"n_centers='auto' needs centers='learned', not centers={model.centers!r}; give a "
                "whole number, or search one by LowDimSVCCV."
            )
    elif model.n_centers is not None:
        check_integer(
            "n_centers", model.n_centers, low=1, high=n_rows, why="the number of training rows"
        )
    if isinstance(model.gamma, str):
        check_choice("gamma", model.gamma, ("scale",))
    else:
        check_real("gamma", model.gamma, low=0, low_inclusive=False)
    for name in ("alpha", "C", "mu"):
        check_real(name, getattr(model, name), low=0, low_inclusive=False)
    check_real("mu_factor", model.mu_factor, low=1)
    check_real("tol", model.tol, low=0)
    if model.cache_size is not None:
        check_real("cache_size", model.cache_size, low=0)
    check_integer("max_iter", model.max_iter, low=0)
    check_integer("refine_steps", model.refine_steps, low=1)
    check_real("learning_rate", model.learning_rate, low=0, low_inclusive=False)
    if not isinstance(model.early_stopping, bool | np.bool_) and model.early_stopping != "auto":
        raise ValueError(
            f"early_stopping={model.early_stopping!r} is not known; use True, False or 'auto'."
        )
    check_integer("n_iter_no_change", model.n_iter_no_change, low=1)
    check_real(
        "validation_fraction",
        model.validation_fraction,
        low=0,
        high=1,
        low_inclusive=False,
        high_inclusive=False,
    )
    check_choice("multi_class", model.multi_class, ("ovr", "ovo"))
    check_choice("loss", model.loss, ("hinge", "log"))
    if model.loss == "log" and model.multi_class != "ovr":
        raise ValueError(
            f"multi_class={model.multi_class!r} does not go with loss='log', which is one model "
            "of all classes; leave multi_class at 'ovr'."
        )
    if model.n_jobs == 0:
        raise ValueError("n_jobs=0 is out of range; use None, a number of threads, or -1 for all.")
    if isinstance(model.init, str):
        check_choice("init", model.init, ("auto", "simplex", "sphere", "random"))


def cache_megabytes(model: Any, X: Any) -> float:
    """Return what may be kept of the basis functions of rows."""
    if model.cache_size is not None:
        return float(model.cache_size)
    return 0.0 if isinstance(X, RowSource) and not X.keeps_blocks else DEFAULT_CACHE


def make_loss(model: Any, codes: np.ndarray, n_classes: int, weights: np.ndarray) -> Loss:
    """Return the loss that the parameters ask for."""
    if model.loss == "log":
        return LogLoss(codes, n_classes, weights, C=model.C)
    return HingeLoss(
        codes,
        n_classes,
        weights,
        C=model.C,
        multi_class=model.multi_class,
        n_jobs=model.n_jobs,
    )


def n_components_of(model: Any, n_classes: int) -> int:
    """Return the number of latent dimensions."""
    return int(model.n_components) if model.n_components is not None else n_classes - 1


def schedule_of(model: Any, most: int | None = None) -> Schedule:
    """Return the schedule of mu and of the end, with `most` iterations at the most."""
    return Schedule(
        mu=model.mu,
        mu_factor=model.mu_factor,
        max_iter=model.max_iter if most is None else min(model.max_iter, most),
        tol=model.tol,
        patience=model.n_iter_no_change,
    )


def make_mapping(
    model: Any,
    X: Any,
    weights: np.ndarray,
    rng: np.random.RandomState,
    *,
    many_shifts: bool = False,
) -> Mapping:
    """Return the mapping that the parameters ask for, not yet prepared."""
    options: dict[str, Any] = {
        "cache_size": cache_megabytes(model, X),
        "many_shifts": many_shifts,
    }
    if not isinstance(model.mapping, str):
        return RegressorMapping(seeded(model.mapping, rng))
    if model.mapping == "linear":
        return LinearMapping(model.alpha, **options)
    centers = choose_centers(model, X, weights, rng)
    return RBFMapping(centers, gamma_of(model.gamma, X, weights), model.alpha, **options)


def seeded(regressor: Any, rng: np.random.RandomState) -> Any:
    """Return a copy of the regressor whose open random states are drawn from `rng`."""
    copy = clone(regressor)
    for name, value in sorted(copy.get_params().items()):
        if name.endswith("random_state") and value is None:
            copy.set_params(**{name: rng.randint(2**31 - 1)})
    return copy


def gamma_of(gamma: Any, X: Any, weights: np.ndarray) -> float:
    """Return gamma as a number."""
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale",))
    return scale_gamma(X, weights) if isinstance(gamma, str) else float(gamma)


def choose_centers(
    model: Any,
    X: Any,
    weights: np.ndarray,
    rng: np.random.RandomState,
    *,
    n_centers: int | None = None,
) -> np.ndarray:
    """Return the centres of the Gaussians, in the precision of X."""
    n_rows, n_features = X.shape
    if not isinstance(model.centers, str):
        given = model.centers.toarray() if hasattr(model.centers, "toarray") else model.centers
        centers = np.array(given, dtype=X.dtype)
        if centers.ndim != 2 or centers.shape[1] != n_features or len(centers) < 1:
            raise ValueError(
                f"centers has shape {centers.shape}; "
                f"give an array of shape (n_centers, {n_features}), one row a centre."
            )
        if not np.isfinite(centers).all():
            raise ValueError("centers holds a value that is not finite.")
        return centers
    if model.centers == "all":
        rows = rows_of(X).whole()
        return rows.toarray() if hasattr(rows, "toarray") else np.array(rows)
    if n_centers is None:
        chosen = model.n_centers
        n_centers = min(n_rows, DEFAULT_CENTERS) if chosen is None else int(chosen)
    if n_centers > n_rows:
        raise ValueError(
            f"n_centers={n_centers}, but only {n_rows} rows are left for training after the "
            "validation part and rows of weight zero are taken out; use fewer centres."
        )
    choose = random_centers if model.centers == "random" else kmeans_centers
    return choose(X, weights, n_centers, rng)


def starting_coordinates(
    model: Any,
    mapping: Mapping,
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    n_components: int,
    rng: np.random.RandomState,
    rows_used: np.ndarray | None,
) -> np.ndarray:
    """Return the coordinates z_n that the alternation starts from."""
    init = model.init
    if not isinstance(init, str):
        return _given_start(init, codes, n_classes, n_components, rows_used)
    if init == "auto":
        init = "simplex" if n_components >= n_classes - 1 else "sphere"
    if init == "simplex":
        return starts.simplex_codes(n_classes, n_components)[codes]
    if init == "random":
        Z = starts.random_codes(n_classes, n_components, rng)[codes]
        return Z + RANDOM_NOISE * rng.normal(size=Z.shape)
    # A first regression to one-hot codes tells which classes are confusable.
    mapping.regress(np.eye(n_classes)[codes], model.mu)
    confusion = starts.class_confusion(mapping.project_training(), codes, weights)
    return starts.sphere_codes(n_classes, n_components, confusion, rng)[codes]


def _given_start(
    init: Any,
    codes: np.ndarray,
    n_classes: int,
    n_components: int,
    rows_used: np.ndarray | None,
) -> np.ndarray:
    given = np.array(init, dtype=float)
    if given.shape == (n_classes, n_components):
        given = given[codes]
    elif rows_used is not None and given.shape == (len(rows_used), n_components):
        given = given[rows_used]
    if given.shape != (len(codes), n_components) or not np.isfinite(given).all():
        raise ValueError(
            f"init has shape {np.shape(init)}; give a finite array of shape "
            f"({n_classes}, {n_components}) with one code per class, or ({len(codes)}, "
            f"{n_components}) with the coordinates of each training row "
            "(not together with early_stopping=True)."
        )
    return given


def weighted_error(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Return the share of the weight that is misclassified."""
    return float(weights[winners(scores) != codes].sum() / weights.sum())


@dataclass
class HeldOut:
    """Validation rows with the indices of their classes."""

    X: Any
    codes: np.ndarray
    weights: np.ndarray
    cache_size: float = DEFAULT_CACHE
    _basis: tuple[BasisMapping, Rows] | None = None

    def error_of(self, mapping: Mapping, loss: Loss) -> Callable[[], float]:
        """Return a function that measures the error of the mapping and classifier as they are."""
        return lambda: weighted_error(loss.scores(self._project(mapping)), self.codes, self.weights)

    def keep_basis(self, mapping: Mapping) -> None:
        """Make the Gaussians of the rows now, as far as they are kept."""
        if isinstance(mapping, RBFMapping):
            self._basis_of(mapping).map(first_column)

    def _project(self, mapping: Mapping) -> np.ndarray:
        """Return F of the rows; the Gaussians stay the same while W changes."""
        if not isinstance(mapping, RBFMapping):
            return mapping.project(self.X)
        return self._basis_of(mapping).map(partial(combine, W=mapping.W, w0=mapping.w0))

    def _basis_of(self, mapping: RBFMapping) -> Rows:
        if self._basis is None or self._basis[0] is not mapping:
            room = min(HELD_OUT_BYTES, self.cache_size * MEGABYTE)
            self._basis = (mapping, mapping.basis_of(self.X, room))
        return self._basis[1]


def first_column(block: np.ndarray) -> np.ndarray:
    """Return the first number of each row of a block."""
    return block[:, :1].copy()


def check_validation(
    model: Any, X_val: Any, y_val: Any, sample_weight_val: Any, classes: np.ndarray
) -> HeldOut | None:
    """Check validation rows that the user gave; None if there are none."""
    source = as_source(X_val)
    if source is not None:
        y_val = source_labels(source, y_val, name="y_val")
        sample_weight_val = source.weights() if sample_weight_val is None else sample_weight_val
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val belong together: give both or neither.")
    if X_val is None:
        if sample_weight_val is not None:
            raise ValueError("sample_weight_val needs X_val and y_val.")
        return None
    if source is not None:
        check_source(model, source, reset=False)
        X_val = source
    else:
        X_val, y_val = validate_data(model, X_val, y_val, reset=False, **model._input_options)
    unknown = ~np.isin(y_val, classes)
    if unknown.any():
        raise ValueError(
            f"y_val holds label(s) {np.unique(y_val[unknown]).tolist()} that are not in y."
        )
    codes = np.searchsorted(classes, y_val)
    present = np.unique(codes)
    weights = check_weights(
        sample_weight_val,
        None,
        np.searchsorted(present, codes),
        classes[present],
        name="sample_weight_val",
    )
    return HeldOut(X_val, codes, weights, cache_megabytes(model, X_val))


def tell(model: Any, text: str) -> None:
    """Print a line on stderr if the model is verbose."""
    if model.verbose:
        print(f"[{type(model).__name__}] {text}", file=sys.stderr)


class Progress:
    """Tell of each iteration: a line on stderr if verbose, and scikit-learn's callbacks."""

    def __init__(
        self, model: Any, X: Any, y: np.ndarray, so_far: Callable[[], dict[str, Any]]
    ) -> None:
        self.model, self.X, self.y = model, X, y
        self.so_far = so_far  # what a callback needs to predict with the model as it is
        self.context = None
        if hasattr(model, "_init_callback_context"):  # scikit-learn 1.9 and later
            self.context = model._init_callback_context(max_subtasks=model.max_iter + 1)
            self.context.call_on_fit_task_begin(estimator=model, X=X, y=y)

    def __call__(self, iteration: int, record: Alternation) -> bool:
        """Report an iteration; True asks the alternation to stop."""
        if self.model.verbose:
            values = {name: column[-1] for name, column in record.history.items()}
            validation = values["validation_error"]
            print(
                f"[{type(self.model).__name__}] iteration {iteration:3d}  mu {values['mu']:9.3g}  "
                f"objective {values['nested_objective']:11.5g}  "
                f"training error {values['train_error']:.4f}  "
                + ("" if np.isnan(validation) else f"validation error {validation:.4f}  ")
                + f"{values['seconds']:.1f} s",
                file=sys.stderr,
            )
        if self.context is None:
            return False
        step = self.context.subcontext(task_name="iteration")
        told = {"estimator": self.model, "X": self.X, "y": self.y}
        step.call_on_fit_task_begin(**told)
        return bool(step.call_on_fit_task_end(**told, reconstruction_attributes=self.so_far))

    def close(self) -> None:
        """Say that the fit has come to its end."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.model, X=self.X, y=self.y)
