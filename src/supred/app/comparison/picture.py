"""A method's own latent space, as a picture shows it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import OneHotEncoder

from supred.app.tables.table import Column
from supred.plotting.latent_model import decision_regions, take_apart

GRID = 150
SHOWN = 3


def picture_of(
    fitted: Any,
    X_train: Any,
    X_test: Any,
    class_index: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> dict[str, Any]:
    """Return latent dimensions, coordinates and regions, as fields of a `MethodResult`.

    Of more than three dimensions the three directions are shown that separate the classes of
    the training rows best.

    Parameters
    ----------
    fitted : fitted classifier
    X_train, X_test : {ndarray, sparse matrix}
        Prepared rows.
    class_index : ndarray of int of shape (n_rows,)
    train, test : ndarray of int
        Which rows these are.
    """
    if not hasattr(fitted, "transform") and not hasattr(fitted, "steps"):
        return {}
    project, classify = take_apart(fitted)
    parts = [np.asarray(project(X), dtype=float) for X in (X_train, X_test)]
    n_components = parts[0].shape[1]
    if n_components > SHOWN:
        best = LinearDiscriminantAnalysis().fit(parts[0], class_index[train])
        parts = [best.transform(Z)[:, :SHOWN] for Z in parts]
    latent = np.empty((len(class_index), parts[0].shape[1]))
    latent[train], latent[test] = parts
    if not np.isfinite(latent).all():
        return {}
    regions = None
    # A classifier that also looks at other dimensions has no regions in these two.
    if (
        n_components == 2
        and classify is not None
        and np.array_equal(classify(parts[1]), fitted.predict(X_test))
    ):
        classes = np.arange(class_index.max() + 1)
        regions = decision_regions(classify, latent, classes, y=class_index, resolution=GRID)
    return {"n_components": n_components, "latent": latent, "regions": regions}


def source_columns(transformer: Any, columns: Sequence[Column]) -> list[str]:
    """Return the table's column behind each feature that a fitted preparation makes."""
    if not isinstance(transformer, ColumnTransformer):
        return [column.name for column in columns]
    found: list[str] = []
    for _, step, places in transformer.transformers_:
        names = [columns[k].name for k in places]
        if isinstance(step, OneHotEncoder):
            for name, values in zip(names, step.categories_, strict=True):
                found += [name] * len(values)
        elif step != "drop":
            found += names
    return found
