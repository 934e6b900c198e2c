"""Steps of what comes before an estimator: scikit-learn's transformers and prepared tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from supred.app.export.finite_form import ExportError, Inputs
from supred.app.export.steps import Affine, Clip, Fill, Scale, Step
from supred.app.tables.preparation import learnt_numbers
from supred.app.tables.table import Column

KNOWN = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer and PCA"


def steps_of_transformer(transformer: Any, name: str) -> list[Step]:
    """Return the steps of a fitted transformer of scikit-learn.

    Parameters
    ----------
    transformer : fitted transformer or "passthrough"
    name : str
        Its name in the Pipeline, for the error message.
    """
    if transformer is None or transformer == "passthrough":
        return []
    kind = type(transformer)
    if kind is StandardScaler:
        return [_scale(transformer.n_features_in_, transformer.mean_, transformer.scale_)]
    if kind is RobustScaler:
        return [_scale(transformer.n_features_in_, transformer.center_, transformer.scale_)]
    if kind is MaxAbsScaler:
        return [_scale(transformer.n_features_in_, None, transformer.scale_)]
    if kind is MinMaxScaler:
        # scikit-learn computes x * scale_ + min_
        steps: list[Step] = [Scale(-transformer.min_ / transformer.scale_, transformer.scale_)]
        if transformer.clip:
            steps.append(Clip(*(float(end) for end in transformer.feature_range)))
        return steps
    if kind is PCA:
        scales = np.ones(transformer.n_components_)
        if transformer.whiten:
            smallest = np.finfo(transformer.explained_variance_.dtype).eps
            scales = 1 / np.sqrt(np.maximum(transformer.explained_variance_, smallest))
        zeros = np.zeros(len(scales))
        n_features = transformer.n_features_in_
        matrix = transformer.components_.T.astype(float) * scales
        return [_scale(n_features, transformer.mean_, None), Affine(matrix, zeros)]
    if kind is SimpleImputer:
        return [_fill(transformer, name)]
    if kind is FunctionTransformer and transformer.func is None:
        return []
    raise ExportError(
        f"the step {name!r} of the Pipeline is a {kind.__name__}, which cannot be exported; "
        f"{KNOWN} can. Apply it before the Pipeline, or leave it out."
    )


def table_inputs_and_steps(
    columns: Sequence[Column], transformer: Any
) -> tuple[Inputs, list[Step]]:
    """Return the columns of a prepared table, numbers first, and the steps that prepare them.

    Parameters
    ----------
    columns : sequence of Column
    transformer : fitted transformer
        Made by ``Preparation.pipeline(columns)``.
    """
    learnt = learnt_numbers(transformer)
    texts = [column for column in columns if column.kind == "text"]
    categories = tuple(
        tuple(column.values[int(place)] for place in places)
        for column, places in zip(texts, learnt.get("categories", []), strict=False)
    )
    inputs = Inputs(
        tuple(column.name for column in columns if column.kind == "number"),
        tuple(column.name for column in texts) if categories else (),
        categories,
        tuple(columns),
    )
    # The encoded texts, behind the numbers, have no gaps and are not scaled.
    n_encoded = inputs.n_columns - len(inputs.numbers)
    steps: list[Step] = []
    if "fill" in learnt:
        steps.append(Fill(np.append(np.asarray(learnt["fill"], dtype=float), np.zeros(n_encoded))))
    if "scale" in learnt:
        scale = np.append(1 / np.asarray(learnt["scale"], dtype=float), np.ones(n_encoded))
        mean = np.zeros(inputs.n_columns)
        if "mean" in learnt:
            mean[: len(inputs.numbers)] = learnt["mean"]
        steps.append(Scale(mean, scale))
    return inputs, steps


def _scale(n_features: int, shift: np.ndarray | None, divisor: np.ndarray | None) -> Scale:
    return Scale(
        np.zeros(n_features) if shift is None else np.asarray(shift, dtype=float),
        np.ones(n_features) if divisor is None else 1 / np.asarray(divisor, dtype=float),
    )


def _fill(imputer: SimpleImputer, name: str) -> Fill:
    values = np.asarray(imputer.statistics_, dtype=float)
    missing = imputer.missing_values
    looks_for_nan = isinstance(missing, float) and np.isnan(missing)
    if imputer.add_indicator or np.isnan(values).any() or not looks_for_nan:
        raise ExportError(
            f"the step {name!r} is a SimpleImputer that adds indicators, drops empty columns or "
            "looks for a value other than NaN, which cannot be exported; use its defaults."
        )
    return Fill(values)
