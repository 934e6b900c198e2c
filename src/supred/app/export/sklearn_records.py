"""Pipelines, scikit-learn's transformers and searches as records that a file can hold.

Only what is listed here is written and made again. scikit-learn's objects are kept by their
parameters and public fitted attributes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

import supred
from supred.base.container import ModelFileError
from supred.base.state import register

ESTIMATORS = (
    "RBFNetClassifier",
    "LowDimSVC",
    "LowDimSVCCV",
    "CategorySpace",
    "MaxMarginProjection",
    "ClassConstrainedEmbedding",
    "KernelDiscriminantAnalysis",
)
_COMMON = ("n_features_in_", "feature_names_in_")
# scikit-learn's transformers and what they learn.
_TRANSFORMERS: dict[Any, tuple[str, ...]] = {
    StandardScaler: ("mean_", "var_", "scale_", "n_samples_seen_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_", "n_samples_seen_"),
    MaxAbsScaler: ("scale_", "max_abs_", "n_samples_seen_"),
    RobustScaler: ("center_", "scale_"),
    Normalizer: (),
    FunctionTransformer: (),
    SimpleImputer: ("statistics_",),
    VarianceThreshold: ("variances_",),
    PCA: (
        "components_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "mean_",
        "n_components_",
        "n_samples_",
        "noise_variance_",
    ),
    TruncatedSVD: (
        "components_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
    ),
}
_BY_NAME = {made.__name__: made for made in _TRANSFORMERS}
_SEARCHES = {
    GridSearchCV: ("param_grid", "scoring", "n_jobs", "refit", "cv", "verbose"),
    RandomizedSearchCV: ("param_distributions", "n_iter", "scoring", "n_jobs", "refit", "cv"),
}
_SEARCH_RESULTS = ("best_params_", "best_score_", "best_index_", "cv_results_", "n_splits_")


@register
@dataclass(frozen=True)
class SavedTransformer:
    """A transformer of scikit-learn: its class, parameters and fitted attributes."""

    name: str
    parameters: dict[str, Any]
    fitted: dict[str, Any]


@register
@dataclass(frozen=True)
class SavedPipeline:
    """A Pipeline: names and parts of its steps."""

    names: list[str]
    parts: list[Any]


@register
@dataclass(frozen=True)
class SavedSearch:
    """A search of scikit-learn: its class, parameters, results and best model."""

    name: str
    parameters: dict[str, Any]
    results: dict[str, Any]
    best: Any


def to_record(model: Any) -> Any:
    """Return a fitted model as an estimator of supred or a record of this module.

    Raises
    ------
    ModelFileError
        If the model, or a part of it, is of a kind that cannot be saved.
    """
    kind = type(model)
    if kind.__name__ in ESTIMATORS and kind is getattr(supred, kind.__name__):
        check_is_fitted(model)
        return model
    if kind is Pipeline:
        check_is_fitted(model)
        parts = [
            step if step in (None, "passthrough") else to_record(step) for _, step in model.steps
        ]
        return SavedPipeline([name for name, _ in model.steps], parts)
    if kind in _SEARCHES:
        return _saved_search(model)
    if kind in _TRANSFORMERS:
        return _saved_transformer(model)
    raise ModelFileError(
        f"a {kind.__name__} cannot be saved; estimators of supred can, Pipelines that end in one "
        f"and begin with {', '.join(_BY_NAME)}, and GridSearchCV and RandomizedSearchCV of these."
    )


def from_record(value: Any) -> Any:
    """Return the fitted model that `to_record` took apart."""
    if isinstance(value, SavedPipeline):
        if not all(isinstance(name, str) for name in value.names):
            raise ValueError("names of steps that are no texts")
        parts = [
            part if part in (None, "passthrough") else from_record(part) for part in value.parts
        ]
        return Pipeline(list(zip(value.names, parts, strict=True)))
    if isinstance(value, SavedTransformer):
        return _restored_transformer(value)
    if isinstance(value, SavedSearch):
        return _restored_search(value)
    if type(value).__name__ in ESTIMATORS:
        return value
    raise ValueError("it holds no model")


def _saved_transformer(transformer: Any) -> SavedTransformer:
    kind = type(transformer)
    check_is_fitted(transformer)
    parameters = transformer.get_params(deep=False)
    if kind is FunctionTransformer and not (
        parameters["func"] is None and parameters["inverse_func"] is None
    ):
        raise ModelFileError("a FunctionTransformer of your own function cannot be saved.")
    if kind is SimpleImputer and parameters["add_indicator"]:
        raise ModelFileError("a SimpleImputer with add_indicator=True cannot be saved.")
    names = (*_COMMON, *_TRANSFORMERS[kind])
    fitted = {name: getattr(transformer, name) for name in names if hasattr(transformer, name)}
    return SavedTransformer(kind.__name__, parameters, fitted)


def _restored_transformer(value: SavedTransformer) -> Any:
    kind = _BY_NAME[value.name]
    made = kind(**value.parameters)
    known = {*_COMMON, *_TRANSFORMERS[kind]}
    if not value.fitted.keys() <= known:
        raise ValueError(f"{value.name} has other attributes")
    if kind is SimpleImputer:
        # One row of the fillings teaches it all that it had learnt.
        made.fit(np.asarray(value.fitted["statistics_"])[None])
    for name, attribute in value.fitted.items():
        setattr(made, name, attribute)
    return made


def _saved_search(search: Any) -> SavedSearch:
    name = type(search).__name__
    check_is_fitted(search)
    if not hasattr(search, "best_estimator_"):
        raise ModelFileError(f"this {name} kept no model; search with refit=True.")
    for argument, kinds in (("scoring", str), ("cv", int), ("refit", bool)):
        value = getattr(search, argument)
        if value is not None and not isinstance(value, kinds):
            raise ModelFileError(
                f"this {name} has {argument}={value!r}, which cannot be saved; save its "
                "best_estimator_."
            )
    parameters = {part: getattr(search, part) for part in _SEARCHES[type(search)]}
    results = {part: getattr(search, part) for part in _SEARCH_RESULTS}
    return SavedSearch(name, parameters, results, to_record(search.best_estimator_))


def _restored_search(value: SavedSearch) -> Any:
    kind = next(made for made in _SEARCHES if made.__name__ == value.name)
    best = from_record(value.best)
    made = kind(clone(best), **value.parameters)
    if value.results.keys() != set(_SEARCH_RESULTS):
        raise ValueError(f"{value.name} has other results")
    for name, result in value.results.items():
        setattr(made, name, result)
    made.best_estimator_ = best
    made.multimetric_ = False
    made.scorer_ = check_scoring(best, made.scoring)
    return made
