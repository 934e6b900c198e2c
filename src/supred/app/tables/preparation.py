"""Text to numbers, gaps filled, numbers on one scale: a scikit-learn pipeline made of options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from supred.app.tables.table import Column, Table, TableError

IMPUTE = ("median", "mean", "zero", "none")
ENCODE = ("onehot", "drop", "none")
SCALE = ("standard", "none")


@dataclass(frozen=True)
class Preparation:
    """What to do to a table before a method sees it.

    Attributes
    ----------
    impute : {"median", "mean", "zero", "none"}
        What stands in for a missing number; "none" makes a missing number an error.
    encode : {"onehot", "drop", "none"}
        Text columns: one column of 0 and 1 per value, left out, or an error.
    scale : {"standard", "none"}
        Numbers to mean 0 and standard deviation 1, or as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.app.tables import Column, Preparation
    >>> steps = Preparation(scale="none").pipeline([Column("a", "number")])
    >>> steps.fit_transform(np.array([[1.0], [np.nan], [3.0]])).ravel()
    array([1., 2., 3.])
    """

    impute: str = "median"
    encode: str = "onehot"
    scale: str = "standard"

    def pipeline(
        self, columns: Sequence[Column], *, sparse: bool = False, categories: Any = "auto"
    ) -> Any:
        """Return the unfitted transformer for columns of these kinds.

        Parameters
        ----------
        columns : sequence of Column
        sparse : bool
            Rows are sparse: they are scaled, not centred.
        categories : "auto" or list of arrays
            Values of each text column, where they are known.
        """
        numbers = self._number_steps(sparse)
        names = {kind: [c.name for c in columns if c.kind == kind] for kind in ("number", "text")}
        if not names["text"]:
            return numbers
        parts: list[Any] = []
        if names["number"]:
            parts.append(("numbers", numbers, names["number"]))
        if self.encode == "onehot":
            # A value that was not there in training gives zeros in all columns.
            encoder = OneHotEncoder(
                categories=categories, handle_unknown="ignore", sparse_output=False
            )
            parts.append(("text", encoder, names["text"]))
        return ColumnTransformer(parts, remainder="drop", sparse_threshold=0.0)

    def _number_steps(self, sparse: bool) -> Pipeline:
        steps: list[Any] = []
        if self.impute == "zero":
            filler = SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True)
            steps.append(("impute", filler))
        elif self.impute != "none":
            steps.append(("impute", SimpleImputer(strategy=self.impute, keep_empty_features=True)))
        if self.scale == "standard":
            steps.append(("scale", StandardScaler(with_mean=not sparse)))
        return Pipeline(steps or [("as they are", FunctionTransformer())])

    def check(self, table: Table) -> None:
        """Raise a TableError if the table needs a step that is switched off."""
        missing = missing_numbers(table)
        if missing and self.impute == "none":
            name = next(iter(missing))
            raise TableError(
                f"{table.title}: {missing[name]} number(s) are missing in the column {name!r}; "
                "fill them in or pass --impute median."
            )
        text = [column.name for column in table.columns if column.kind == "text"]
        if text and self.encode == "none":
            raise TableError(
                f"{table.title}: the column {text[0]!r} holds text; pass --encode onehot or drop."
            )
        if len(text) == len(table.columns) and self.encode == "drop":
            raise TableError(
                f"{table.title}: all columns hold text, nothing is left to learn from."
            )

    def sentences(self, table: Table) -> list[str]:
        """Say in words what is done to this table."""
        result = list(table.notes)
        named = [f"{name!r} ({count})" for name, count in missing_numbers(table).items()]
        if named:
            result.append(
                f"Missing numbers were replaced by {self._filling} of the training rows: "
                f"{_some(named)}."
                if self.impute != "zero"
                else f"Missing numbers were replaced by zero: {_some(named)}."
            )
        text = [column.name for column in table.columns if column.kind == "text"]
        if text and self.encode == "onehot":
            counts = [f"{name!r} ({table.X[name].nunique()} values)" for name in text]
            result.append(
                f"Text columns became one column of 0 and 1 per value: {_some(counts)}. "
                "An empty field is a value of its own."
            )
        elif text:
            result.append(f"Text columns were left out: {_some([repr(name) for name in text])}.")
        if self.scale == "standard":
            result.append(
                "Numbers were divided by their standard deviation over the training rows."
                if hasattr(table.X, "tocsr")
                else "Numbers were brought to mean 0 and standard deviation 1 over the training "
                "rows."
            )
        return result

    @property
    def _filling(self) -> str:
        return f"the column's {self.impute}"


def missing_numbers(table: Table) -> dict[str, int]:
    """Return how many numbers are missing in each column that lacks some."""
    X = table.X
    if hasattr(X, "tocsr"):
        return {}
    result = {}
    for k, column in enumerate(table.columns):
        if column.kind == "number":
            values = X[column.name].to_numpy() if hasattr(X, "iloc") else X[:, k]
            count = int(np.isnan(values).sum())
            if count:
                result[column.name] = count
    return result


def _some(items: list[str], most: int = 8) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def learnt_numbers(transformer: Any) -> dict[str, Any]:
    """Return what a fitted transformer of :meth:`Preparation.pipeline` learnt.

    Public attributes only, so that any version of scikit-learn can make it anew from them.
    """
    numbers, text = _parts(transformer)
    result: dict[str, Any] = {}
    for name, step in [] if numbers is None else numbers.steps:
        if name == "impute":
            result["fill"] = step.statistics_
        elif name == "scale":
            result["scale"] = step.scale_
            if step.with_mean:
                result["mean"] = step.mean_
    if text is not None:
        result["categories"] = [[str(value) for value in values] for values in text.categories_]
    return result


def restored(
    preparation: Preparation, columns: Sequence[Column], learnt: dict[str, Any], *, sparse: bool
) -> Any:
    """Return the fitted transformer that learnt these numbers.

    It is fitted to a table of one row, made so that every step learns what it had learnt.
    """
    from supred.app.tables.table import frame_of

    categories = [np.array(values, dtype=object) for values in learnt.get("categories", [])]
    transformer = preparation.pipeline(columns, sparse=sparse, categories=categories or "auto")
    n_numbers = sum(column.kind == "number" for column in columns)
    fill = iter(np.asarray(learnt.get("fill", np.zeros(n_numbers)), dtype=float))
    first = iter([values[0] for values in categories])
    row: list[Any] = []
    for column in columns:
        if column.kind == "number":
            row.append(np.array([next(fill)]))
        else:
            row.append([next(first, "")])
    transformer.fit(frame_of(list(columns), row))
    numbers, _ = _parts(transformer)
    for name, step in [] if numbers is None else numbers.steps:
        if name == "scale":
            step.scale_ = np.asarray(learnt["scale"], dtype=float)
            step.var_ = step.scale_**2
            if step.with_mean:
                step.mean_ = np.asarray(learnt["mean"], dtype=float)
    return transformer


def _parts(transformer: Any) -> tuple[Any, Any]:
    """Return the fitted steps for numbers and for text, None where there is no such column."""
    if isinstance(transformer, ColumnTransformer):
        found = transformer.named_transformers_
        return found.get("numbers"), found.get("text")
    return transformer, None
