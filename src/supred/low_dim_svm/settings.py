"""The parameters of the low-dimensional SVM, checked."""

from dataclasses import dataclass, fields
from typing import Any

from sklearn.base import is_regressor

from supred.common.arguments import (
    MOST_COMPONENTS,
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_real,
    check_verbose,
)
from supred.low_dim_svm.alternation import COARSE_TOL, Schedule
from supred.low_dim_svm.mappings.centers import are_many

# Most iterations by default, and how many will do where there are so many centres per row that
# more of them only fit the training rows: one-vs-one SVMs gain from a few while the training error
# is above the last number, and more than the few rows below are wrong.
MAX_ITER = 50
ENOUGH, LITTLE_ERROR = {"ovr": 1, "ovo": 4}, 0.01
FEW_WRONG = 3
# So few classes get one-vs-one SVMs by default: they keep apart classes that lie between others.
FEW_CLASSES = 6
# A smaller C leaves no digit of the losses; smaller penalties none of what they are added to.
LEAST_C, LEAST_ALPHA, LEAST_MU = 1e-30, 1e-60, 1e-15


@dataclass(frozen=True)
class Settings:
    """What to train: the parameters of :class:`supred.LowDimSVC` of the same names, checked.

    The search makes one for each candidate by `dataclasses.replace`.

    Examples
    --------
    >>> from supred.low_dim_svm.settings import Settings
    >>> Settings(C=10.0).schedule(n_rows=900, n_classes=3, n_centers=300).enough
    4
    >>> Settings(C=-1)
    Traceback (most recent call last):
    ValueError: C=-1 is out of range; use a number in [1e-30, 1e+30].
    """

    n_components: int | None = None
    mapping: Any = "rbf"
    centers: Any = "kmeans"
    n_centers: int | None = None
    gamma: Any = "auto"
    alpha: Any = "auto"
    C: float = 1.0
    multi_class: str = "auto"
    loss: str = "hinge"
    init: Any = "auto"
    mu: float = 2.0
    mu_factor: float = 1.5
    inner_tol: float | None = None
    max_iter: int | str = "auto"
    tol: float = 1e-2
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    cache_size: float | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self._check_mapping()
        self._check_loss()
        self._check_schedule()

    @classmethod
    def among(cls, parameters: dict[str, Any]) -> "Settings":
        """Return the settings that are found among the parameters of an estimator."""
        check_verbose(parameters["verbose"])
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in parameters.items() if name in names})

    def schedule(
        self, n_rows: float, n_classes: int, n_centers: int, *, validated: bool = False
    ) -> Schedule:
        """Return how mu grows and when the alternation ends.

        A row of weight k counts as k rows.
        Few iterations are enough for many centres and a start at the corners of a simplex, unless
        held-out rows or a small `tol` are to tell when it ends.
        """
        few = (
            self.max_iter == "auto"
            and are_many(n_centers, n_rows)
            and isinstance(self.init, str)
            and self.init in ("auto", "simplex")
            and self.dimensions(n_classes) >= n_classes - 1
            and not validated
            and self.inner_tol is None
            and self.tol >= COARSE_TOL
        )
        kind = svms_of(self.multi_class, n_classes, self.loss)
        return Schedule(
            mu=self.mu,
            mu_factor=self.mu_factor,
            inner_tol=self.inner_tol,
            max_iter=MAX_ITER if isinstance(self.max_iter, str) else self.max_iter,
            enough=ENOUGH[kind] if few else None,
            little_error=max(LITTLE_ERROR, FEW_WRONG / n_rows) if few else None,
            tol=self.tol,
            patience=self.n_iter_no_change,
        )

    def dimensions(self, n_classes: int) -> int:
        """Return the number of latent dimensions, by default one less than classes."""
        return n_classes - 1 if self.n_components is None else int(self.n_components)

    def _check_mapping(self) -> None:
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1, high=MOST_COMPONENTS)
        if isinstance(self.mapping, str):
            check_choice("mapping", self.mapping, ("rbf", "linear"))
        elif not (hasattr(self.mapping, "fit") and is_regressor(self.mapping)):
            raise ValueError(
                f"mapping={self.mapping!r} is not known; use 'rbf', 'linear' or a regressor."
            )
        if isinstance(self.centers, str):
            if self.centers == "learned":
                raise ValueError(
                    "centers='learned' is not known; RBFNetClassifier learns its centres."
                )
            check_choice("centers", self.centers, ("kmeans", "random", "all"))
        elif not (hasattr(self.centers, "shape") or isinstance(self.centers, list | tuple)):
            raise ValueError(
                f"centers={self.centers!r} is not known; use 'kmeans', 'random', 'all' or an array "
                "with one row per centre."
            )
        if self.n_centers is not None:
            check_integer("n_centers", self.n_centers, low=1)
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("auto", "scale"))
        else:
            check_real("gamma", self.gamma, low=0, low_inclusive=False)
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("auto",))
        else:
            check_real("alpha", self.alpha, low=LEAST_ALPHA)
        if self.cache_size is not None:
            check_real("cache_size", self.cache_size, low=0)

    def _check_loss(self) -> None:
        check_real("C", self.C, low=LEAST_C)
        check_choice("multi_class", self.multi_class, ("auto", "ovr", "ovo"))
        check_choice("loss", self.loss, ("hinge", "log"))
        if self.loss == "log" and self.multi_class == "ovo":
            raise ValueError(
                f"multi_class={self.multi_class!r} cannot be combined with loss='log', which is "
                "one classifier for all classes; leave multi_class at 'auto'."
            )
        check_n_jobs(self.n_jobs)

    def _check_schedule(self) -> None:
        if isinstance(self.init, str):
            starts = ("auto", "simplex", "sphere", "random", "random-codes")
            check_choice("init", self.init, starts)
        check_real("mu", self.mu, low=LEAST_MU)
        check_real("mu_factor", self.mu_factor, low=1)
        if self.inner_tol is not None:
            check_real("inner_tol", self.inner_tol, low=0, low_inclusive=False)
        check_real("tol", self.tol, low=0)
        if isinstance(self.max_iter, str):
            check_choice("max_iter", self.max_iter, ("auto",))
        else:
            check_integer("max_iter", self.max_iter, low=0)
        check_flag("early_stopping", self.early_stopping)
        check_integer("n_iter_no_change", self.n_iter_no_change, low=1)
        check_real(
            "validation_fraction",
            self.validation_fraction,
            low=0,
            high=1,
            low_inclusive=False,
            high_inclusive=False,
        )


def svms_of(multi_class: str, n_classes: int, loss: str) -> str:
    """Return "ovr" or "ovo": what "auto" stands for, and the others as they are.

    Examples
    --------
    >>> from supred.low_dim_svm.settings import svms_of
    >>> svms_of("auto", 3, "hinge"), svms_of("auto", 10, "hinge")
    ('ovo', 'ovr')
    """
    if multi_class != "auto":
        return multi_class
    return "ovo" if 2 < n_classes <= FEW_CLASSES and loss == "hinge" else "ovr"
