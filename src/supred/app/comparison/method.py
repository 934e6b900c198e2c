"""What a method of the comparison is: how it is made and which settings are tried."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.numerics.kernels import scale_gamma

Settings = list[dict[str, Any]]


@dataclass(frozen=True)
class Facts:
    """What the choice of settings may look at: prepared training rows, never held-out ones.

    Attributes
    ----------
    n_rows, n_features, n_classes : int
    gamma : float
        One over twice the total variance.
    n_components : int or None
        Latent dimensions that the user asks for.
    seed : int
    """

    n_rows: int
    n_features: int
    n_classes: int
    gamma: float
    n_components: int | None
    seed: int

    @classmethod
    def of(cls, X: Any, class_index: np.ndarray, n_components: int | None, seed: int) -> "Facts":
        """Look at prepared rows and the indices of their classes."""
        gamma = float(scale_gamma(X, np.ones(X.shape[0])))
        n_classes = len(np.unique(class_index))
        return cls(X.shape[0], X.shape[1], n_classes, gamma, n_components, seed)

    @property
    def dimensions(self) -> int:
        """Latent dimensions: those asked for, else one less than classes, if there are as many."""
        return min(self.n_components or max(self.n_classes - 1, 1), self.n_features)


@dataclass(frozen=True)
class Method:
    """A method that can be compared.

    Attributes
    ----------
    name : str
    make : function of a setting and the facts
        Returns an unfitted estimator.
    settings : function of the facts
        Settings to try, the one to begin with first. Each must be able to become JSON. A method
        that is not tuned, or that tunes itself, has one.
    basis : function of a fitted estimator
        Number of basis functions, None where the word has no meaning.
    growth : float
        The time of a fit grows as this power of the number of rows.
    slow : bool
        Run after all others, for a small share of the time.
    needs : str
        A module without which the method cannot run.
    uses_unlabelled : bool
        Whether it learns from rows without a label, whose class index is -1.
    usual : bool
        Whether it is run when the user names no methods.
    """

    name: str
    make: Callable[[dict[str, Any], Facts], Any]
    settings: Callable[[Facts], Settings] = lambda facts: [{}]
    basis: Callable[[Any], int | None] = lambda fitted: None
    growth: float = 1.0
    slow: bool = False
    needs: str = ""
    uses_unlabelled: bool = False
    usual: bool = True

    @property
    def missing(self) -> str:
        """Why the method cannot run here, empty if it can."""
        if self.needs and importlib.util.find_spec(self.needs) is None:
            return f"{self.needs} is not installed"
        return ""
