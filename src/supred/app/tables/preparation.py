"""Text to numbers, gaps filled, numbers on one scale: a scikit-learn pipeline made of options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from supred.app.tables.builtin import ENCODE, IMPUTE, SCALE
from supred.app.tables.table import Column, Plan, Table, TableError
from supred.common.arguments import check_choice, listed

# Columns that a sentence names.
LISTED = 8
# One column per text may take this many bytes, or make a table this many times as wide.
LEAST_ENCODED, MOST_WIDER = 256 * 2**20, 200


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
    >>> from supred.app.tables.preparation import Preparation
    >>> from supred.app.tables.table import Column
    >>> steps = Preparation(scale="none").pipeline([Column("a", "number")])
    >>> steps.fit_transform(np.array([[1.0], [np.nan], [3.0]])).ravel()
    array([1., 2., 3.])
    """

    impute: str = "median"
    encode: str = "onehot"
    scale: str = "standard"

    def __post_init__(self) -> None:
        check_choice("impute", self.impute, IMPUTE)
        check_choice("encode", self.encode, ENCODE)
        check_choice("scale", self.scale, SCALE)

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
            Positions of the texts of each text column, where they are known.
        """
        numbers = self._number_steps(sparse)
        places = {
            kind: [k for k, column in enumerate(columns) if column.kind == kind]
            for kind in ("number", "text")
        }
        if not places["text"]:
            return numbers
        parts: list[Any] = []
        if places["number"]:
            parts.append(("numbers", numbers, places["number"]))
        if self.encode == "onehot":
            # A value that was not there in training gives zeros in all columns.
            encoder = OneHotEncoder(
                categories=categories, handle_unknown="ignore", sparse_output=False
            )
            parts.append(("text", encoder, places["text"]))
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

    def check(self, table: Table | Plan) -> None:
        """Raise a TableError if the table needs a step that is switched off."""
        title, columns, missing = table.title, table.columns, table.n_missing
        if missing and self.impute == "none":
            name = next(iter(missing))
            raise TableError(
                f"{title}: {missing[name]} number(s) are missing in the column {name!r}; "
                "fill them in, or train with --impute median."
            )
        text = [column.name for column in columns if column.kind == "text"]
        if text and self.encode == "none":
            raise TableError(
                f"{title}: the column {text[0]!r} holds text; pass --encode onehot or drop."
            )
        if len(text) == len(columns) and self.encode == "drop":
            raise TableError(f"{title}: all columns hold text, nothing is left to learn from.")

    def check_size(self, table: Table | Plan) -> None:
        """Raise a TableError if one column per text would be far more than the table has."""
        width = sum(len(column.values) for column in table.columns)
        n_rows = table.n_rows_in_all
        too_wide = width > MOST_WIDER * len(table.columns) and width * n_rows * 8 > LEAST_ENCODED
        if self.encode == "onehot" and too_wide:
            widest = max(table.columns, key=lambda column: len(column.values))
            raise TableError(
                f"{table.title}: the text columns hold {width} different values, which would "
                f"become as many columns; leave out the widest (--exclude {widest.name}, "
                f"{len(widest.values)} values) or all of them (--encode drop)."
            )

    def sentences(self, table: Table | Plan) -> list[str]:
        """Say in words what is done to this table."""
        result = list(table.notes)
        named = [f"{name!r} ({count})" for name, count in table.n_missing.items()]
        if named:
            filling = (
                "zero"
                if self.impute == "zero"
                else f"the column's {self.impute} of the training rows"
            )
            result.append(f"Missing numbers were replaced by {filling}: {listed(named, LISTED)}.")
        text = [column for column in table.columns if column.kind == "text"]
        if text and self.encode == "onehot":
            counts = [f"{column.name!r} ({len(column.values)} values)" for column in text]
            result.append(
                f"Text columns became one column of 0 and 1 per value: {listed(counts, LISTED)}. "
                "An empty field is a value of its own."
            )
        elif text:
            names = [repr(column.name) for column in text]
            result.append(f"Text columns were left out: {listed(names, LISTED)}.")
        if self.scale == "standard":
            result.append(
                "Numbers were divided by their standard deviation over the training rows."
                if table.is_sparse
                else "Numbers were brought to mean 0 and standard deviation 1 over the training "
                "rows."
            )
        return result


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
        result["categories"] = [np.asarray(values, dtype=float) for values in text.categories_]
    return result


def restored(
    preparation: Preparation, columns: Sequence[Column], learnt: dict[str, Any], *, sparse: bool
) -> Any:
    """Return the fitted transformer that learnt these numbers.

    It is fitted to a table of one row, made so that every step learns what it had learnt.
    """
    categories = [np.asarray(values, dtype=float) for values in learnt.get("categories", [])]
    texts = [column for column in columns if column.kind == "text"]
    for column, values in zip(texts, categories, strict=False):
        if len(values) > len(column.values) + 1:  # each becomes a column, and the file is small
            raise ValueError(f"{len(values)} categories of {len(column.values)} texts")
    transformer = preparation.pipeline(columns, sparse=sparse, categories=categories or "auto")
    row = np.zeros(len(columns))
    numbers_at = [k for k, column in enumerate(columns) if column.kind == "number"]
    texts_at = [k for k, column in enumerate(columns) if column.kind == "text"]
    row[numbers_at] = learnt.get("fill", 0.0)
    row[texts_at] = [values[0] for values in categories] or -1
    transformer.fit(row[None])
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
