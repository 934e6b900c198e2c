"""The parameters of CategorySpace as checked values, and the parts that they choose."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from supred.category_space.ascent import AscentOptions
from supred.category_space.labels import LabelledRows
from supred.category_space.problem import (
    ORIGINS,
    CategoryProblem,
    check_spread,
    kernel_problem,
    linear_problem,
)
from supred.category_space.solver import Criterion
from supred.common.arguments import (
    check_choice,
    check_flag,
    check_integer,
    check_real,
    is_auto,
)
from supred.numerics.kernel_basis import (
    AUTO_ALL,
    AUTO_LANDMARKS,
    LandmarkKernel,
    check_kernel,
    kernel_at_landmarks,
)
from supred.numerics.kernel_choice import choose_kernel

# With n_landmarks="auto" and whitening, which takes the cube of their number: all rows up to the
# first number, else half of them, at most the second number.
LANDMARKS = 300, 500
# Each start is a fit.
MOST_STARTS = 10_000


@dataclass(frozen=True)
class Settings:
    """The parameters of :class:`supred.CategorySpace`, under their names."""

    criterion: str
    kernel: str | Callable[[Any, Any], np.ndarray]
    origin: str
    whiten: bool
    classifier: str
    gamma: float | str
    alpha: float | str
    degree: float
    coef0: float
    n_landmarks: int | str | None
    margin: float
    overlap_penalty: float | None
    auxiliary_step: str
    n_init: int | str
    max_iter: int
    tol: float | str
    class_weight: str | dict[Any, float] | None
    certify: bool
    random_state: Any
    n_jobs: int | None

    def check(self) -> None:
        """Raise a ValueError that names the first parameter that is out of range."""
        check_choice("criterion", self.criterion, ("squared", "absolute"))
        check_choice("origin", self.origin, ("auto", *ORIGINS))
        check_choice("classifier", self.classifier, ("auto", "angle", "linear"))
        check_choice("auxiliary_step", self.auxiliary_step, ("exact", "heuristic"))
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0, self.n_landmarks)
        if not is_auto(self.alpha):
            check_real("alpha", self.alpha, low=0, high_inclusive=False)
        check_real("margin", self.margin, low=0, high_inclusive=False)
        if self.overlap_penalty is not None:
            check_real("overlap_penalty", self.overlap_penalty, low=0, high_inclusive=False)
        if not is_auto(self.n_init):
            check_integer("n_init", self.n_init, low=0, high=MOST_STARTS)
        check_integer("max_iter", self.max_iter, low=1)
        if not is_auto(self.tol):
            check_real("tol", self.tol, low=0)
        for name in ("margin", "overlap_penalty"):
            if getattr(self, name) and self.criterion != "squared":
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs criterion='squared', got "
                    f"criterion={self.criterion!r}."
                )
        if self.margin and self.overlap_penalty is not None:
            raise ValueError(
                f"margin={self.margin!r} cannot be combined with "
                f"overlap_penalty={self.overlap_penalty!r}; use one of them."
            )
        check_flag("certify", self.certify)
        check_flag("whiten", self.whiten)
        if self.certify:
            self.check_certifiable("certify=True")

    def check_certifiable(self, what: str) -> None:
        """Raise a ValueError if no certificate is known for the axes that are asked for."""
        if self.criterion != "squared":
            raise ValueError(
                f"{what} needs criterion='squared', got criterion={self.criterion!r}: "
                "no certificate is known for the absolute criterion."
            )
        if self.margin or self.overlap_penalty is not None:
            raise ValueError(
                f"{what} needs margin=0 and overlap_penalty=None, got margin={self.margin!r} and "
                f"overlap_penalty={self.overlap_penalty!r}: no certificate is known for these."
            )

    def to_maximise(self) -> Criterion:
        """Return the criterion and what the axes may be."""
        return Criterion(
            self.criterion,
            self.origin == "class",
            self.auxiliary_step == "heuristic",
            self.margin,
            self.overlap_penalty,
        )

    def ascent_options(self, seed: int) -> AscentOptions:
        """Return how to look for the axes.

        In whitened or kernel features random starts gain nothing. In both, the classes are the
        same long before the axes stand still, which only a certificate needs.
        """
        linear = self.kernel == "linear"
        n_init = self.n_init
        if n_init == "auto":
            n_init = 5 if linear and not self.whiten else 0
        tol = self.tol
        if tol == "auto":
            tol = 1e-6 if linear or not self.whiten or self.certify else 3e-3
        return AscentOptions(int(n_init), self.max_iter, float(tol), seed, self.n_jobs)

    def is_linear_rule(self, *, exclusive: bool) -> bool:
        """Tell whether linear scores decide, and not angles."""
        if self.classifier == "auto":
            return self.kernel == "linear" or not exclusive
        return self.classifier == "linear" or not exclusive

    def choose_kernel(
        self, rows: LabelledRows, seed: int
    ) -> tuple[LandmarkKernel | None, float | None]:
        """Return the kernel at its landmarks and the ridge of the whitening.

        The kernel is None for the features as they are, the ridge where nothing is whitened.
        """
        shape: dict[str, Any] = {"degree": self.degree, "coef0": self.coef0}
        # Without whitening the ridge serves the choice of the width only.
        needs_ridge = self.whiten or (self.kernel == "rbf" and self.gamma == "auto")
        chosen = choose_kernel(
            rows.X,
            rows.members,
            rows.weights,
            self.kernel,
            gamma=self.gamma,
            alpha=self.alpha if needs_ridge else 0.0,
            exclusive=rows.exclusive,
            **shape,
        )
        ridge = chosen.alpha if self.whiten else None
        if self.kernel == "linear":
            return None, ridge
        kernel = kernel_at_landmarks(
            rows.X,
            rows.weights,
            self.kernel,
            gamma=chosen.gamma,
            n_landmarks=self.n_landmarks,
            auto=LANDMARKS if self.whiten else (AUTO_ALL, AUTO_LANDMARKS),
            seed=seed,
            **shape,
        )
        return kernel, ridge

    def problem(
        self, rows: LabelledRows, kernel: LandmarkKernel | None, alpha: float | None
    ) -> CategoryProblem:
        """Return the problem of the rows of positive weight."""
        basis = None if kernel is None else kernel.basis(rows.X)
        rows = rows.used()
        data = rows.X, rows.members, rows.weights
        origin = self.origin
        if origin == "auto":
            origin = "global" if kernel is None or not rows.exclusive else "zero"
        options: dict[str, Any] = {
            "origin": origin,
            "alpha": alpha,
            "keep_rows": self.to_maximise().needs_rows,
        }
        if kernel is None or basis is None:
            problem = linear_problem(*data, **options)
        else:
            problem = kernel_problem(kernel, basis, *data, **options)
        if self.origin == "class":
            check_spread(problem, rows.members, rows.weights, rows.classes)
        return problem
