"""A fitted estimator with the table it was made for."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from supred.app.export.sklearn_records import from_record, to_record
from supred.app.tables.preparation import Preparation, learnt_numbers, restored
from supred.app.tables.table import Column, Plan, Table
from supred.base.state import register
from supred.rows.device import on_device
from supred.rows.files.columns import check_width


@register
@dataclass
class TableModel:
    """A fitted estimator with the table it was made for.

    Attributes
    ----------
    estimator : estimator
        Fitted on prepared rows.
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
    >>> from supred.app.export.table_model import TableModel
    >>> from supred.app.tables.table import Column, Table
    >>> X, y = load_iris(return_X_y=True)
    >>> table = Table("iris", [Column(name, "number") for name in ("a", "b", "c", "d")], X, y=y)
    >>> model = TableModel.fit(LowDimSVC(n_centers=20, random_state=0), table)
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
        table: Table,
        preparation: Preparation | None = None,
        *,
        partly_labelled: bool = False,
        device: str = "cpu",
    ) -> "TableModel":
        """Fit the preparation, then the estimator on the prepared rows.

        Parameters
        ----------
        estimator : unfitted estimator
        table : Table
            With labels.
        preparation : Preparation, optional
        partly_labelled : bool
            Fit to the table's rows without a label, too.
        device : str
            Where the estimator computes, as in :func:`supred.on_device`.
        """
        preparation = preparation or Preparation()
        transformer = preparation.pipeline(table.columns, sparse=table.is_sparse)
        X, y = table.with_unlabelled() if partly_labelled else (table.X, table.labels)
        estimator.fit(on_device(transformer.fit_transform(X), device), y)
        return cls.of(estimator, table, preparation, transformer)

    @classmethod
    def of(
        cls,
        estimator: Any,
        table: Table | Plan,
        preparation: Preparation,
        transformer: Any,
        notes: Sequence[str] = (),
    ) -> "TableModel":
        """Return a fitted estimator and transformer with what is known of their table.

        Parameters
        ----------
        estimator, preparation, transformer
            As the attributes.
        table : Table or Plan
            What they were fitted to.
        notes : sequence of str
            What to say before what was done to the table.
        """
        return cls(
            estimator,
            table.columns,
            table.target,
            preparation,
            transformer,
            table.ignored,
            [*notes, *preparation.sentences(table)],
            table.is_sparse,
        )

    def to_state(self) -> dict[str, Any]:
        """Return what a file keeps: what the preparation learnt in the place of the transformer."""
        state = {part.name: getattr(self, part.name) for part in fields(self)}
        learnt = learnt_numbers(state.pop("transformer"))
        columns = _packed(state.pop("columns"))
        return {**state, **columns, "estimator": to_record(self.estimator), "learnt": learnt}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "TableModel":
        """Return the model whose state `to_state` returned."""
        learnt, estimator = state.pop("learnt"), from_record(state.pop("estimator"))
        columns = _unpacked(state.pop("names"), state.pop("lengths"), state.pop("texts"))
        transformer = restored(state["preparation"], columns, learnt, sparse=state["sparse"])
        return cls(**state, columns=columns, estimator=estimator, transformer=transformer)

    @property
    def method(self) -> Any:
        """The estimator of supred, also where a Pipeline or a search holds it."""
        return innermost(self.estimator)

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

    @classmethod
    def around(cls, estimator: Any) -> "TableModel":
        """Return a fitted estimator or Pipeline with a table of numbers that are not prepared.

        Parameters
        ----------
        estimator : fitted estimator
            Its columns are ``feature_names_in_``, or x0, x1 and so on.
        """
        check_width(outermost(estimator).n_features_in_, "the model")
        columns = [Column(name, "number") for name in feature_names(estimator)]
        preparation = Preparation(impute="none", encode="none", scale="none")
        transformer = preparation.pipeline(columns).fit(np.zeros((1, len(columns))))
        return cls(estimator, columns, "label", preparation, transformer)


def _packed(columns: Sequence[Column]) -> dict[str, Any]:
    """Return columns as few values: all names in one array, and the texts of those that hold text.

    A table may have very many columns, and the description of a file is short.
    """
    check_width(len(columns), "the table of the model")
    names = [column.name.encode() for column in columns]
    return {
        "names": np.frombuffer(b"".join(names), dtype=np.uint8),
        "lengths": np.array([len(name) for name in names], dtype=np.int32),
        "texts": {k: column.values for k, column in enumerate(columns) if column.kind == "text"},
    }


def _unpacked(names: np.ndarray, lengths: np.ndarray, texts: dict[int, Any]) -> list[Column]:
    """Return the columns that `_packed` made few values of."""
    check_width(lengths.size, "the table of the model")
    if not all(isinstance(values, tuple) for values in texts.values()):
        raise ValueError("texts of a column that are no tuple")
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    content = names.tobytes()
    if (lengths < 0).any() or sum(lengths.tolist()) != len(content):
        raise ValueError("names of columns of another length")
    parts = [content[end - n : end] for end, n in zip(ends, lengths.tolist(), strict=True)]
    return [
        Column(part.decode(), "text" if k in texts else "number", tuple(texts.get(k, ())))
        for k, part in enumerate(parts)
    ]


def feature_names(fitted: Any) -> list[str]:
    """Return the names of a fitted estimator's columns; x0, x1 and so on where it has none."""
    first = outermost(fitted)
    numbered = [f"x{j}" for j in range(first.n_features_in_)]
    return [str(name) for name in getattr(first, "feature_names_in_", numbered)]


def outermost(model: Any) -> Any:
    """Return what sees the rows first: a Pipeline may begin with steps that do nothing."""
    if isinstance(model, Pipeline):
        return outermost(next(s for _, s in model.steps if s not in (None, "passthrough")))
    if isinstance(model, GridSearchCV | RandomizedSearchCV):
        return outermost(model.best_estimator_)
    return model


def innermost(model: Any) -> Any:
    """Return the estimator of supred that a Pipeline or a search of scikit-learn holds."""
    if isinstance(model, Pipeline):
        return innermost(model.steps[-1][1])
    if isinstance(model, GridSearchCV | RandomizedSearchCV):
        return innermost(model.best_estimator_)
    return model
