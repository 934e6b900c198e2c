"""What is to be embedded: parameters and rows, checked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from supred.class_embedding.eigenvectors import METHODS
from supred.class_embedding.partial_labels import encode_partial_labels, tie_weights
from supred.class_embedding.row_classifier import ClassifierChoice
from supred.class_embedding.shares import ClassShares
from supred.common.arguments import as_numbers, check_choice, check_integer, check_real

COORDINATES = ("auto", "flow", "spectral")
# Neighbours per row: Poisson learning's for the flow, the paper's for the eigenvectors.
N_NEIGHBORS = {"flow": 10, "spectral": 12}


@dataclass(frozen=True)
class Settings:
    """The parameters of the estimator, checked as far as they can be without rows."""

    n_components: int | None
    coordinates: str
    n_neighbors: int | str
    epsilon: float | str
    beta: float | str
    affinity: str
    classifier: Any
    class_prior: Any
    alpha: float
    eigen_solver: str
    tol: float
    max_iter: int | None
    random_state: Any
    n_jobs: int | None

    def __post_init__(self) -> None:
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1)
        check_choice("coordinates", self.coordinates, COORDINATES)
        if isinstance(self.n_neighbors, str):
            check_choice("n_neighbors", self.n_neighbors, ("auto",))
        else:
            check_integer("n_neighbors", self.n_neighbors, low=1)
        for name, value, words in (
            ("epsilon", self.epsilon, ("auto", "local")),
            ("beta", self.beta, ("auto",)),
        ):
            if isinstance(value, str):
                check_choice(name, value, words)
            else:
                check_real(name, value, low=0.0, low_inclusive=False)
        check_choice("affinity", self.affinity, ("nearest_neighbors", "precomputed"))
        check_choice("eigen_solver", self.eigen_solver, ("auto", *METHODS))
        check_real("tol", self.tol, low=0.0)
        if self.max_iter is not None:
            check_integer("max_iter", self.max_iter, low=1)
        if isinstance(self.class_prior, str):
            check_choice("class_prior", self.class_prior, ("uniform",))
        check_real("alpha", self.alpha, low=0.0)
        self.choice.check()

    @property
    def choice(self) -> ClassifierChoice:
        """What is to decide in the embedding."""
        return ClassifierChoice(self.classifier, self.alpha)


@dataclass(frozen=True)
class Problem:
    """Rows and labels, checked, and what the settings come to for them.

    Attributes
    ----------
    X : ndarray or sparse matrix
        Rows, or their distances.
    names : sequence or None
        What messages call the rows; None for their numbers.
    classes : ndarray of shape (n_classes,)
    class_index : ndarray of shape (n_rows,)
        -1 for an unlabelled row.
    weights : ndarray of shape (n_rows,)
        Weight of each row's tie to its class.
    n_components : int
    coordinates : {"flow", "spectral"}
    n_neighbors : int
    shares : ClassShares or None
        Known shares of the classes.
    """

    X: Any
    names: Any
    classes: np.ndarray
    class_index: np.ndarray
    weights: np.ndarray
    n_components: int
    coordinates: str
    n_neighbors: int
    shares: ClassShares | None


def check_problem(X: Any, y: Any, sample_weight: Any, names: Any, settings: Settings) -> Problem:
    """Return the problem of validated rows, and labels and weights as the caller gave them."""
    check_consistent_length(X, y)
    classes, class_index = encode_partial_labels(y)
    weights, class_index = tie_weights(sample_weight, class_index, classes)
    n_rows, flows = X.shape[0], len(classes) - 1
    n_components = settings.n_components or flows
    check_integer("n_components", n_components, low=1, high=n_rows - 1, why=f"{n_rows} rows")
    coordinates = settings.coordinates
    if coordinates == "auto":
        coordinates = "flow" if n_components <= flows else "spectral"
    if coordinates == "flow":
        why = f"{len(classes)} classes have {flows} flow coordinates; or coordinates='spectral'"
        check_integer("n_components", n_components, low=1, high=flows, why=why)
    elif isinstance(settings.classifier, str) and settings.classifier == "flow":
        raise ValueError(
            "classifier='flow' cannot be combined with spectral coordinates; use "
            "coordinates='flow', or classifier='auto'."
        )
    n_neighbors = min(N_NEIGHBORS[coordinates], n_rows - 1)
    if not isinstance(settings.n_neighbors, str):
        n_neighbors = int(settings.n_neighbors)
    # Of a sparse graph of distances all entries are used.
    if n_neighbors >= n_rows and not (settings.affinity == "precomputed" and sparse.issparse(X)):
        raise ValueError(
            f"n_neighbors={n_neighbors} is too large for {n_rows} rows; use at most {n_rows - 1}."
        )
    return Problem(
        X,
        names,
        classes,
        class_index,
        weights,
        n_components,
        coordinates,
        n_neighbors,
        check_prior(settings.class_prior, classes, coordinates),
    )


def check_prior(class_prior: Any, classes: np.ndarray, coordinates: str) -> ClassShares | None:
    """Return the shares of the classes, None if they are not known."""
    if class_prior is None:
        return None
    if coordinates != "flow":
        raise ValueError(
            "class_prior cannot be combined with spectral coordinates, which know no shares; "
            "use coordinates='flow'."
        )
    if isinstance(class_prior, str):
        return ClassShares.of(class_prior, len(classes))
    prior = as_numbers("class_prior", class_prior, "give one share per class")
    if prior.shape != classes.shape:
        raise ValueError(
            f"class_prior has shape {prior.shape}; give one share for each of the "
            f"{len(classes)} classes {classes.tolist()}."
        )
    if not (np.isfinite(prior).all() and (prior > 0).all() and abs(prior.sum() - 1.0) < 1e-6):
        raise ValueError(
            f"class_prior={prior.tolist()} must be positive shares that sum to 1; divide counts "
            "by their sum."
        )
    return ClassShares.of(prior / prior.sum(), len(classes))


def as_columns(entries: list[dict[str, float]]) -> dict[str, np.ndarray]:
    """Return the record of a fit, one array per column, NaN where an entry has no value.

    Examples
    --------
    >>> from supred.class_embedding.problem import as_columns
    >>> as_columns([{"beta": 0.1, "error": 0.5}, {"beta": 0.1, "residual": 0.0}])["error"]
    array([0.5, nan])
    """
    names = dict.fromkeys(name for entry in entries for name in entry)
    return {name: np.array([e.get(name, np.nan) for e in entries], dtype=float) for name in names}
