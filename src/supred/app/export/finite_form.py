"""The finite form of a fitted model: all that is needed to use it, as a list of steps."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from supred.app.export.steps import Affine, Gaussians, Polynomials, Scale, Step
from supred.app.tables.table import Column
from supred.numerics.decisions import winners

# A shift up to this many times the spread of the rows may come after a product.
LARGEST_MOVE = 2.0


class ExportError(ValueError):
    """A model that cannot be exported; the message says what to use instead.

    See Also
    --------
    supred.export.to_c : One of those that raise it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import ClassConstrainedEmbedding
    >>> from supred.export import ExportError, to_c
    >>> try:
    ...     to_c(ClassConstrainedEmbedding().fit(*load_iris(return_X_y=True)))
    ... except ExportError as error:
    ...     "ClassConstrainedEmbedding" in str(error)
    True
    """


@dataclass(frozen=True, eq=False)
class Inputs:
    """The columns of a row, numbers first.

    Attributes
    ----------
    numbers : tuple of str
        Names of the numbers.
    texts : tuple of str
        Names of the text columns.
    categories : tuple of tuples of str
        Known values of each text column. Each value becomes a column of 0 and 1 behind the
        numbers; an unknown value gives zeros.
    columns : tuple of Column
        The columns of a table, in its order.
    """

    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    categories: tuple[tuple[str, ...], ...] = ()
    columns: tuple[Column, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of columns that the first step sees."""
        return len(self.numbers) + sum(len(values) for values in self.categories)

    def split(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the numbers and the texts of an array or a DataFrame with these columns.

        Of a table with text columns, `X` is what `Table.X` is.
        """
        if not self.texts:
            if hasattr(X, "iloc"):
                X = X[list(self.numbers)] if set(self.numbers) <= set(X.columns) else X
            rows = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
            return rows, None
        # The position -1, of a text that is not known, finds the last: no text.
        texts = [
            np.array([*column.values, None], dtype=object)[X[:, k].astype(int)]
            for k, column in enumerate(self.columns)
            if column.kind == "text"
        ]
        numbers = [k for k, column in enumerate(self.columns) if column.kind == "number"]
        return X[:, numbers], np.column_stack(texts)

    def encode(self, numbers: np.ndarray, texts: np.ndarray | None = None) -> np.ndarray:
        """Return numbers and encoded texts side by side.

        Parameters
        ----------
        numbers : ndarray of shape (n_rows, n_numbers)
        texts : ndarray of str of shape (n_rows, n_texts), needed if there are text columns
        """
        parts = [np.asarray(numbers, dtype=float)]
        if texts is not None:
            for column, values in zip(np.asarray(texts).T, self.categories, strict=True):
                parts.append((column[:, None] == np.array(values, dtype=object)).astype(float))
        return np.hstack(parts)


@dataclass(frozen=True, eq=False)
class Outputs:
    """What an exported model answers for some rows.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,), or (n_rows, n_tasks) with ``decision="tasks"``
    scores : ndarray of shape (n_rows, n_scores)
        As `decision_function`; two classes have one column.
    probabilities : ndarray of shape (n_rows, n_classes) or None
    latent : ndarray of shape (n_rows, n_components)
    """

    labels: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    latent: np.ndarray


@dataclass(frozen=True, eq=False)
class FiniteForm:
    """Steps from a row to its latent coordinates, and from these to the scores.

    Attributes
    ----------
    method : str
        Name of the estimator, for people who read the exported file.
    inputs : Inputs
    to_latent, to_scores : tuples of steps
    classes : ndarray
        The labels, in the order of the scores.
    decision : {"largest", "sign", "tasks"}
        The class of the largest score; the second of two classes where the only score is
        positive; or one decision, -1 or 1, per score.
    temperature : float or None
        The probabilities are the softmax of the scores divided by this; None if the model has
        no probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supred import LowDimSVC
    >>> from supred.app.export.conversion import finite_form_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LowDimSVC(n_centers=9, multi_class="ovr", random_state=0).fit(X, y)
    >>> form = finite_form_of(model)
    >>> [type(step).__name__ for step in form.to_latent + form.to_scores]
    ['Scale', 'Gaussians', 'Affine', 'Affine']
    >>> form.evaluate(X[:2]).labels
    array([0, 0])
    """

    method: str
    inputs: Inputs
    to_latent: tuple[Step, ...]
    to_scores: tuple[Step, ...]
    classes: np.ndarray
    decision: str
    temperature: float | None = None

    @property
    def n_latent(self) -> int:
        """Number of latent coordinates."""
        return run(self.to_latent, np.zeros((1, self.inputs.n_columns))).shape[1]

    @property
    def n_scores(self) -> int:
        """Number of scores: one for two classes, else one per class or task."""
        return run(self.to_scores, np.zeros((1, self.n_latent))).shape[1]

    def evaluate(self, numbers: np.ndarray, texts: np.ndarray | None = None) -> Outputs:
        """Return labels, scores, probabilities and latent coordinates of some rows."""
        latent = run(self.to_latent, self.inputs.encode(numbers, texts))
        scores = run(self.to_scores, latent)
        probabilities = None
        if self.temperature is not None:
            full = np.hstack([0 * scores, scores]) if self.decision == "sign" else scores
            probabilities = softmax(full / self.temperature, axis=1)
        if self.decision == "tasks":
            labels = np.where(scores > 0, 1, -1)
        else:
            labels = self.classes[winners(scores[:, 0] if self.decision == "sign" else scores)]
        return Outputs(labels, scores, probabilities, latent)

    def check_texts(self, language: str, *, errors: str = "strict", end: str | None = None) -> None:
        """Raise an ExportError if a label, name or value cannot be written in a language.

        Parameters
        ----------
        language : str
            For the message.
        errors : {"strict", "surrogateescape"}
            With the latter, bytes of a file that were no UTF-8 are written as they were.
        end : str, optional
            A character that would end the text.
        """
        parts = {
            "the label": [str(label) for label in self.classes.tolist()],
            "the column": [*self.inputs.numbers, *self.inputs.texts],
            "the value": [value for values in self.inputs.categories for value in values],
        }
        for what, texts in parts.items():
            for text in texts:
                if not _is_encodable(text, errors) or (end is not None and end in text):
                    raise ExportError(
                        f"{what} {text[:60]!a} holds a character that {language} cannot hold; "
                        "train again with another name, or use to_javascript."
                    )

    def numbers(self) -> int:
        """Return how many numbers the steps hold."""
        return sum(array.size for array in self.arrays())

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that the steps hold."""
        steps = self.to_latent + self.to_scores
        return [array for step in steps for array in arrays_of(step).values()]


def _is_encodable(text: str, errors: str) -> bool:
    """Tell whether a text can be written as UTF-8."""
    try:
        text.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True


def run(steps: Sequence[Step], rows: np.ndarray) -> np.ndarray:
    """Return what `steps` make of the rows."""
    for step in steps:
        rows = step.apply(rows)
    return rows


def simplified(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return equivalent steps of which there are fewer, with fewer numbers.

    Shifts of features far from zero stay in front, where they are: such a feature would lose its
    digits in single precision if its mean were subtracted after a product.
    """
    result: list[Step] = []
    for step in steps:
        result.append(step)
        while len(result) > 1 and (joined := _joined(*result[-2:])) is not None:
            result[-2:] = joined
            if len(joined) == 2:
                break
        if len(result) > 2 and (affine := _with_shift(*result[-3:])) is not None:
            result[-3:-1] = [affine]
    return tuple(
        step
        for step in result
        if not (isinstance(step, Scale) and step.only_shifts and not step.shift.any())
    )


def _with_shift(first: Step, second: Step, third: Step) -> Affine | None:
    """Return one map in the place of a shift and a linear map, if no digits are lost by that.

    The centres of the Gaussians that follow tell how far rows lie apart, so how large the offset
    may be. Without a shift, features that are zero need not be looked at.
    """
    if not (isinstance(first, Scale) and isinstance(second, Affine)):
        return None
    if not (first.only_shifts and isinstance(third, Gaussians)):
        return None
    # shifts are multiplied before they are squared: either may be extreme, their product is not
    moved = np.linalg.norm(first.shift[:, None] * second.matrix)
    spread = np.linalg.norm(third.centers) / np.sqrt(len(third.centers))
    if moved > LARGEST_MOVE * spread:
        return None
    return Affine(second.matrix, second.offset - first.shift @ second.matrix)


def _joined(first: Step, second: Step) -> list[Step] | None:
    """Return one or two steps in the place of two, None if they stay as they are."""
    if isinstance(first, Scale) and isinstance(second, Scale):
        return [Scale(first.shift + second.shift / first.scale, first.scale * second.scale)]
    if isinstance(first, Scale) and isinstance(second, Affine) and not first.only_shifts:
        ones = np.ones_like(first.scale)
        return [
            Scale(first.shift, ones),
            Affine(first.scale[:, None] * second.matrix, second.offset),
        ]
    if isinstance(first, Affine) and isinstance(second, Scale):
        return [Affine(first.matrix * second.scale, (first.offset - second.shift) * second.scale)]
    if isinstance(first, Affine) and isinstance(second, Affine):
        matrix = first.matrix @ second.matrix
        if matrix.size <= first.matrix.size + second.matrix.size:
            return [Affine(matrix, first.offset @ second.matrix + second.offset)]
    return None


def in_single(form: FiniteForm) -> FiniteForm:
    """Return the form with all numbers rounded to single precision.

    What a shift loses by rounding is made up for by the step after it.
    """
    return replace(form, to_latent=rounded(form.to_latent), to_scores=rounded(form.to_scores))


def rounded(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return steps with all numbers rounded to single precision."""
    result: list[Step] = []
    lost = np.zeros(0)
    for step in steps:
        if isinstance(step, Affine) and lost.size:
            step = Affine(step.matrix, step.offset - lost @ step.matrix)
        elif isinstance(step, Gaussians) and lost.size:
            step = Gaussians(step.centers + lost, step.gammas)
        lost = np.zeros(0)
        if isinstance(step, Scale):
            lost = (step.shift - single(step.shift)) * step.scale
        if isinstance(step, Polynomials):
            single(np.array([step.gamma, step.coef0]))  # refused if they are too large for it
        changes: dict[str, Any] = {
            name: single(array)
            for name, array in arrays_of(step).items()
            if array.dtype.kind == "f"
        }
        result.append(replace(step, **changes))
    return tuple(result)


def arrays_of(step: Step) -> dict[str, np.ndarray]:
    """Return the arrays that a step holds, by name."""
    values = {part.name: getattr(step, part.name) for part in fields(step)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def single(values: np.ndarray) -> np.ndarray:
    """Return the nearest numbers of single precision, as doubles."""
    largest = np.abs(values).max(initial=0)
    if largest > np.finfo(np.float32).max:
        raise ExportError(
            f"the model holds the number {largest:.3g}, which single precision cannot hold; "
            "scale the features before fit, for instance with StandardScaler."
        )
    return values.astype(np.float32).astype(float)
