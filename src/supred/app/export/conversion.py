"""From a fitted model to its finite form: one function per estimator.

Only fitted attributes are read: parameters may have been set since.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from supred.app.export.finite_form import ExportError, FiniteForm, Inputs, simplified
from supred.app.export.preparation_steps import steps_of_transformer, table_inputs_and_steps
from supred.app.export.steps import (
    Absolute,
    Affine,
    Gaussians,
    Polynomials,
    Scale,
    Select,
    SquaredDistances,
    Step,
    UnitLength,
    Votes,
)
from supred.app.export.table_model import TableModel, feature_names
from supred.base.container import MAX_BYTES
from supred.common.arguments import all_finite, one_line
from supred.low_dim_svm.mappings.linear import LinearMapping
from supred.low_dim_svm.mappings.rbf import RBFMapping
from supred.numerics.kernel_basis import LandmarkKernel
from supred.numerics.kernels import GaussianCenters

Chain = tuple[list[Step], list[Step]]

SUGGESTION = (
    "RBFNetClassifier, LowDimSVC, CategorySpace, MaxMarginProjection and "
    "KernelDiscriminantAnalysis can be exported"
)


def finite_form_of(model: Any) -> FiniteForm:
    """Return the finite form of a fitted model.

    Parameters
    ----------
    model : estimator, Pipeline, search or TableModel
        A fitted estimator of supred, a scikit-learn Pipeline that ends in one, a search whose
        best model was refitted, or what `load_model` returned.

    Returns
    -------
    FiniteForm

    Raises
    ------
    ExportError
        If the model has no finite form; the message says what to use instead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from supred import CategorySpace
    >>> from supred.app.export.conversion import finite_form_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), CategorySpace(random_state=0)).fit(X, y)
    >>> [type(step).__name__ for step in finite_form_of(model).to_latent]
    ['Scale', 'Gaussians', 'Affine']
    """
    try:
        with np.errstate(all="ignore"):  # numbers of an edited file may overflow
            form = _converted(model)
        if not all(map(all_finite, form.arrays())):
            raise ValueError("a number that is not finite")
        n_scores, n_classes = form.n_scores, len(form.classes)
        if form.decision == "largest" and n_scores != n_classes:
            raise ValueError(f"{n_scores} scores for {n_classes} classes")
    except (ExportError, NotFittedError):
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # A model of an edited file answers, but what its parameters say is not what it holds.
        raise ExportError(not_fitting(model, error)) from error
    return form


def not_fitting(model: Any, error: Exception) -> str:
    """Return what to say of a model that cannot be as `fit` made it."""
    return (
        f"the parts of this {type(model).__name__} do not fit together ({one_line(error)}); "
        "fit it anew, or save it anew if it is from a file that was edited."
    )


def _converted(model: Any) -> FiniteForm:
    estimator, inputs, steps = _taken_apart(model)
    check_is_fitted(estimator)
    convert = _CONVERSIONS.get(type(estimator).__name__)
    if convert is None or not type(estimator).__module__.startswith("supred."):
        raise ExportError(_reason(estimator))
    if estimator.row_unit_ != 1.0:
        raise ExportError(
            f"the model counts rows in units of {estimator.row_unit_:.3g}, which single precision "
            "does not hold; bring the features to a size near 1 and train again."
        )
    to_latent, to_scores = convert(estimator)
    if inputs is None:
        inputs = Inputs(tuple(feature_names(model)))
    decision = "sign" if len(estimator.classes_) == 2 else "largest"
    if getattr(estimator, "multitask_", False):
        decision = "tasks"
    temperature = None
    if hasattr(estimator, "predict_proba"):
        temperature = float(getattr(estimator, "temperature_", 1.0))
    return FiniteForm(
        type(estimator).__name__,
        inputs,
        simplified([*steps, *to_latent]),
        simplified(to_scores),
        np.asarray(estimator.classes_),
        decision,
        temperature,
    )


def _taken_apart(model: Any) -> tuple[Any, Inputs | None, list[Step]]:
    """Return the estimator at the end, the inputs if a table has named them, and what precedes."""
    if isinstance(model, TableModel):
        inputs, steps = table_inputs_and_steps(model.columns, model.transformer)
        estimator, _, inner = _taken_apart(model.estimator)
        return estimator, inputs, [*steps, *inner]
    if hasattr(model, "best_estimator_"):
        return _taken_apart(model.best_estimator_)
    if hasattr(model, "best_params_"):
        raise ExportError(f"this {type(model).__name__} kept no model; search with refit=True.")
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        steps = []
        for name, transformer in model.steps[:-1]:
            steps += steps_of_transformer(transformer, name)
        estimator, _, inner = _taken_apart(model.steps[-1][1])
        return estimator, None, [*steps, *inner]
    return model, None, []


def _reason(estimator: Any) -> str:
    name = type(estimator).__name__
    if name == "ClassConstrainedEmbedding":
        return (
            "a ClassConstrainedEmbedding places a new row among all training rows, so it has no "
            "small finite form; train a RBFNetClassifier or a LowDimSVC on its labels "
            "(transduction_) and export that."
        )
    return f"{name} cannot be exported; {SUGGESTION}, alone or at the end of a Pipeline."


def _rbf_net(model: Any) -> Chain:
    """Return one network after the other, F(x) = W^T phi(A^T (x - shift)) + w0, and V F(x) + b."""
    to_latent: list[Step] = []
    for network in model.stages_:
        metric = _doubles(network.metric)
        if metric.ndim == 1:
            to_latent.append(Scale(_doubles(network.shift), metric))
        else:
            to_latent += [_shift(network.shift), Affine(metric, np.zeros(metric.shape[1]))]
        to_latent += [
            Gaussians(_doubles(network.centers), _doubles(network.gammas)),
            Affine(_doubles(network.W), _doubles(network.w0)),
        ]
    return to_latent, [_linear_scores(model)]


def _low_dim_svm(model: Any) -> Chain:
    """Return F(x) = W^T phi(x) + w0 and scores V F(x) + b."""
    mapping = model.mapping_
    if isinstance(mapping, LinearMapping):
        to_latent: list[Step] = [_shift(mapping.shift)]
    elif isinstance(mapping, RBFMapping):
        centers = mapping.gaussians
        scales = getattr(mapping, "scales", np.ones(centers.centers.shape[1]))
        gammas = np.broadcast_to(_doubles(mapping.gamma), len(centers.centers))
        to_latent = [
            Scale(np.zeros(len(scales)), _doubles(scales)),
            _shift(centers.shift),
            Gaussians(_doubles(centers.centers), gammas),
        ]
    else:
        raise ExportError(
            f"mapping={type(mapping.fitted).__name__}() is a regressor of your own, which has no "
            "finite form here; use mapping='rbf' or mapping='linear', or RBFNetClassifier."
        )
    to_latent.append(Affine(_doubles(mapping.W), _doubles(mapping.w0)))
    to_scores: list[Step] = [_linear_scores(model)]
    if model.multi_class_ == "ovo" and len(model.classes_) > 2:
        to_scores.append(Votes(len(model.classes_)))
    return to_latent, to_scores


def _category_space(model: Any) -> Chain:
    """Return the coordinates on the axes, and the scores of their rule."""
    if model.multilabel_:
        raise ExportError(
            "a CategorySpace fitted to a matrix of labels cannot be exported; fit one per label."
        )
    n_classes = len(model.classes_)
    if hasattr(model, "components_"):
        to_latent = _centred_projection(model)
    else:
        offset = np.zeros(n_classes)
        to_latent = [*_kernel(model.kernel_), Affine(_doubles(model.dual_coef_), offset)]
    rule = model.rule_
    rules: dict[str, Callable[[], list[Step]]] = {
        "axes": lambda: [UnitLength()],
        "lines": lambda: [UnitLength(), Absolute()],
        "means": lambda: [UnitLength(), Affine(_doubles(rule.coef).T, np.zeros(n_classes))],
        "linear": lambda: [Affine(_doubles(rule.coef).T, _doubles(rule.intercept))],
    }
    to_scores = rules[rule.kind]()
    if n_classes == 2:  # one score: that of the second class minus that of the first
        to_scores.append(Affine(np.array([[-1.0], [1.0]]), np.zeros(1)))
    return to_latent, to_scores


def _max_margin(model: Any) -> Chain:
    """Return a projection and linear SVMs, or scaled features and SVMs with Gaussians."""
    if hasattr(model, "components_"):
        components = _doubles(model.components_)
        to_latent: list[Step] = [Affine(components.T, np.zeros(len(components)))]
        to_scores: list[Step] = [_linear_scores(model)]
    else:
        scales = _doubles(model.feature_scales_)
        chosen = model._model.features  # the scale of some may be zero
        support = _doubles(model.support_vectors_)
        to_latent = [Select(chosen), Scale(np.zeros(len(chosen)), np.sqrt(scales[chosen]))]
        to_scores = [
            Gaussians(support, np.ones(len(support))),
            Affine(_doubles(model.dual_coef_).T, _doubles(model.intercept_)),
        ]
    if not model.multitask_ and model._kind == "ovo" and len(model.classes_) > 2:
        to_scores.append(Votes(len(model.classes_)))
    return to_latent, to_scores


def _kernel_discriminant(model: Any) -> Chain:
    """Return the directions of the discriminant, and the logarithm of Gaussian densities there."""
    if hasattr(model, "components_"):
        to_latent = _centred_projection(model)
    else:
        affine = Affine(_doubles(model.dual_coef_), -_doubles(model.offset_))
        to_latent = [*_kernel(model.kernel_), affine]
    gaussians = model.gaussians_
    whitening = np.linalg.inv(_doubles(gaussians.factor)).T
    means, logs = _doubles(gaussians.means) @ whitening, np.log(_doubles(gaussians.priors))
    whiten = Affine(whitening, np.zeros(len(whitening)))
    if len(means) == 2:
        # The squares of the row are equal in both and drop out.
        squares = np.sum(means**2, axis=1)
        offset = logs[1] - logs[0] - 0.5 * (squares[1] - squares[0])
        return to_latent, [whiten, Affine((means[1] - means[0])[:, None], np.array([offset]))]
    # Not a matrix: of very many classes their square is too much.
    halves = Scale(2.0 * logs, np.full(len(means), -0.5))
    return to_latent, [whiten, SquaredDistances(means), halves]


def _kernel(kernel: LandmarkKernel) -> list[Step]:
    landmarks = kernel.landmarks
    if isinstance(landmarks, GaussianCenters):
        gammas = np.full(len(landmarks.centers), float(kernel.gamma))
        return [_shift(landmarks.shift), Gaussians(_doubles(landmarks.centers), gammas)]
    if kernel.name not in ("rbf", "poly"):
        what = "callable" if callable(kernel.name) else repr(kernel.name)
        raise ExportError(
            f"kernel={what} cannot be exported; use kernel='rbf', 'poly' or 'linear'."
        )
    if sparse.issparse(landmarks):
        n_bytes = 8 * prod(landmarks.shape)
        if n_bytes > MAX_BYTES:
            raise ExportError(
                f"the {landmarks.shape[0]} sparse centres of the kernel would take {n_bytes} bytes "
                f"as arrays, more than {MAX_BYTES}; use a smaller n_landmarks or fewer features."
            )
        landmarks = landmarks.toarray()
    rows = _doubles(landmarks)
    if kernel.name == "rbf":
        return [Gaussians(rows, np.full(len(rows), float(kernel.gamma)))]
    if kernel.degree != int(kernel.degree):
        raise ExportError(f"degree={kernel.degree} cannot be exported; use a whole number.")
    return [Polynomials(rows, float(kernel.gamma), float(kernel.coef0), int(kernel.degree))]


def _centred_projection(model: Any) -> list[Step]:
    components = _doubles(model.components_)
    return [_shift(model.center_), Affine(components.T, np.zeros(len(components)))]


def _linear_scores(model: Any) -> Affine:
    return Affine(_doubles(model.coef_).T, _doubles(model.intercept_))


def _shift(shift: np.ndarray) -> Scale:
    return Scale(_doubles(shift), np.ones(len(shift)))


def _doubles(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


_CONVERSIONS: dict[str, Callable[[Any], Chain]] = {
    "RBFNetClassifier": _rbf_net,
    "LowDimSVC": _low_dim_svm,
    "CategorySpace": _category_space,
    "MaxMarginProjection": _max_margin,
    "KernelDiscriminantAnalysis": _kernel_discriminant,
}
