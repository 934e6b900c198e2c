"""Models in files without pickle: how a table was prepared, and the fitted estimator."""

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import supred
from supred.app.tables.preparation import Preparation, learnt_numbers, restored
from supred.app.tables.table import Column
from supred.base.container import ModelFileError, read_container, write_container
from supred.base.state import register

__all__ = ["ModelFileError", "TableModel", "load_model", "save_model"]

KIND = "model"
METHODS = (
    "RBFNetClassifier",
    "LowDimSVC",
    "CategorySpace",
    "MaxMarginProjection",
    "ClassConstrainedEmbedding",
    "KernelDiscriminantAnalysis",
)


def _register_classes() -> None:
    """Register what a model file may hold; importing a method registers its parts."""
    for name in METHODS:
        register(getattr(supred, name))
    for made in (Preparation, Column):
        register(made)


@dataclass
class TableModel:
    """A fitted estimator with the table it was made for.

    Attributes
    ----------
    estimator : estimator
        One of ``METHODS``, fitted on prepared rows.
    columns : list of Column
        Features, in order.
    target : str
    preparation : Preparation
    transformer : fitted transformer
        Made by ``preparation.pipeline(columns)``.
    ignored : list of str
        Columns that may be in a table and are not looked at.
    notes : list of str
        What was done to the training table.
    sparse : bool
        Whether the model was trained on sparse rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.app.export.model_file import TableModel
    >>> from supred.app.tables.preparation import Preparation
    >>> from supred.app.tables.table import Column
    >>> X, y = load_iris(return_X_y=True)
    >>> columns = [Column(name, "number") for name in ("a", "b", "c", "d")]
    >>> model = TableModel.fit(LowDimSVC(n_centers=20, random_state=0), X, y, columns)
    >>> model.predict(X[:2]).tolist()
    [0, 0]
    """

    estimator: Any
    columns: list[Column]
    target: str
    preparation: Preparation
    transformer: Any
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sparse: bool = False

    @classmethod
    def fit(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        columns: list[Column],
        *,
        target: str = "target",
        preparation: Preparation | None = None,
        ignored: list[str] | None = None,
        notes: list[str] | None = None,
    ) -> "TableModel":
        """Fit the preparation, then the estimator on the prepared rows.

        Parameters
        ----------
        estimator : unfitted estimator
        X, y
            Rows as the table holds them, and labels.
        columns, target, preparation, ignored, notes
            As the attributes.
        """
        preparation = preparation or Preparation()
        sparse = hasattr(X, "tocsr")
        transformer = preparation.pipeline(columns, sparse=sparse)
        estimator.fit(transformer.fit_transform(X), y)
        return cls(
            estimator,
            columns,
            target,
            preparation,
            transformer,
            ignored or [],
            notes or [],
            sparse,
        )

    @property
    def classes(self) -> np.ndarray:
        """The labels that can be predicted."""
        return self.estimator.classes_

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row."""
        return self.estimator.predict(self.transformer.transform(X))

    def transform(self, X: Any) -> np.ndarray:
        """Return the latent coordinates of each row."""
        return self.estimator.transform(self.transformer.transform(X))


def save_model(model: TableModel, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a model to a file of arrays and one JSON description.

    Parameters
    ----------
    model : TableModel
    path : path
        By custom ending in ``.supred``. The file is there when it is complete, or not at all.
    overwrite : bool
        Whether to replace a file of that name; an error otherwise.

    Raises
    ------
    ModelFileError
        If a part of the estimator is the user's own (a kernel function, a regressor), or the
        estimator cannot be made again from plain data.
    """
    name = type(model.estimator).__name__
    if name not in METHODS or type(model.estimator) is not getattr(supred, name):
        raise ModelFileError(f"{name} cannot be saved; one of {', '.join(METHODS)} can.")
    check_is_fitted(model.estimator)
    value = {
        "method": name,
        "target": model.target,
        "columns": model.columns,
        "ignored": model.ignored,
        "notes": model.notes,
        "sparse": model.sparse,
        "preparation": model.preparation,
        "learnt": learnt_numbers(model.transformer),
        "estimator": model.estimator,
    }
    _register_classes()
    write_container(path, KIND, value, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> TableModel:
    """Read a model that `save_model` wrote.

    Nothing in the file is run: it holds arrays and names of known classes only. Still, as with
    any program, do not trust the predictions of a model whose origin you do not know.

    Raises
    ------
    ModelFileError
        If the file is not a model of supred, is damaged or of another version.
    """
    _register_classes()
    value = read_container(path, KIND)
    try:
        columns, preparation = list(value["columns"]), value["preparation"]
        estimator = value["estimator"]
        if type(estimator).__name__ not in METHODS or not isinstance(preparation, Preparation):
            raise ValueError("it holds no estimator")
        check_is_fitted(estimator)
        transformer = restored(preparation, columns, value["learnt"], sparse=value["sparse"])
        return TableModel(
            estimator,
            columns,
            str(value["target"]),
            preparation,
            transformer,
            list(value["ignored"]),
            list(value["notes"]),
            bool(value["sparse"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = " ".join(str(error).split())[:120]
        raise ModelFileError(f"{path} is damaged ({what}); make it again.") from None
