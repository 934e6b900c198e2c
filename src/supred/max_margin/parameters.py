"""The parameters of MaxMarginProjection: their checks and what they stand for."""

from typing import Any

from supred.common.arguments import check_choice, check_integer, check_real

DEFAULT_TOL = {"linear": 1e-6, "rbf-diagonal": 1e-3}
# Fitted attributes that not every kernel and gamma sets.
KERNEL_ATTRIBUTES = (
    "components_",
    "coef_",
    "lower_bound_",
    "gap_",
    "feature_scales_",
    "gamma_",
    "gamma_scores_",
    "support_vectors_",
    "dual_coef_",
    "_features",
    "_roots",
)


def check_parameters(model: Any, n_features: int) -> None:
    """Raise a ValueError that names the first parameter that is out of range."""
    if model.n_components is not None:
        check_integer(
            "n_components",
            model.n_components,
            low=1,
            high=n_features,
            why="the number of features",
        )
    check_real("C", model.C, low=0, low_inclusive=False, high_inclusive=False)
    check_choice("tasks", model.tasks, ("ovr", "ovo"))
    check_choice("solver", model.solver, ("lbfgs", "alternating"))
    check_choice("kernel", model.kernel, ("linear", "rbf-diagonal"))
    if isinstance(model.gamma, str):
        check_choice("gamma", model.gamma, ("scale", "cv"))
    else:
        check_real("gamma", model.gamma, low=0, low_inclusive=False, high_inclusive=False)
    if isinstance(model.cv, int):
        check_integer("cv", model.cv, low=2)
    check_integer("max_iter", model.max_iter, low=1)
    if model.tol is not None:
        check_real("tol", model.tol, low=0, low_inclusive=False)


def forget_fit(model: Any) -> None:
    """Remove what an earlier fit left and a fit with another kernel would not set."""
    for name in KERNEL_ATTRIBUTES:
        vars(model).pop(name, None)


def n_components_of(model: Any, n_features: int) -> int:
    """Return the number of latent dimensions."""
    if model.n_components is not None:
        return int(model.n_components)
    if model.kernel != "linear":
        return n_features
    n_groups = model.n_tasks_ if model.multitask_ else len(model.classes_)
    return max(1, min(n_groups - 1, n_features))


def tol_of(model: Any) -> float:
    """Return the tolerance of the solver."""
    return DEFAULT_TOL[model.kernel] if model.tol is None else float(model.tol)
