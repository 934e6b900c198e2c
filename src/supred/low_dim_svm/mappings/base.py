"""What the alternation asks of a mapping F."""

from typing import Any, Protocol

import numpy as np

from supred.low_dim_svm.visit import Coordinates, Multiply, Projection
from supred.rows.blocks import Rows


class Mapping(Protocol):
    """A mapping F from features to latent coordinates that can be fitted again and again.

    Nothing here assumes that the regression has a closed form: a mapping that is nonlinear in
    its parameters improves them in `regress`, from where they are.
    """

    def prepare(self, X: Any, weights: np.ndarray) -> None:
        """Look at the training rows once; all that does not depend on Z is computed here."""

    @property
    def rows(self) -> Rows:
        """The training rows as `projection` takes them; what lives with rows is attached here."""

    def rows_like(self, X: Any, cache_bytes: float) -> Rows:
        """Return other rows as `projection` takes them, of which some are kept when made."""

    def projection(self) -> Projection:
        """Return F as a function of a block of `rows`, which may travel to the block."""

    @property
    def multiply(self) -> Multiply | None:
        """Phi^T T as a function of a block of `rows` and of T; None if there is no Phi."""

    def begin(self, center: np.ndarray) -> None:
        """Let F be `center` everywhere."""

    def regress(self, coordinates: Coordinates, mu: float) -> float:
        """Fit F to coordinates of the training rows: the f step.

        It minimises ``mu/2 sum_n s_n ||z_n - F(x_n)||^2`` plus the mapping's own `penalty`, and
        returns what is left of ``sum_n s_n ||z_n - F(x_n)||^2``.
        """

    def project(self, X: Any) -> np.ndarray:
        """Return F of any rows, shape (n_rows, n_components)."""

    def penalty(self) -> float:
        """Return the mapping's term of the objective, ``alpha ||W||^2`` for a linear one."""

    def snapshot(self) -> Any:
        """Return the parameters, to be given to `restore` later."""

    def restore(self, snapshot: Any) -> None:
        """Go back to parameters that `snapshot` returned."""

    def training_state(self) -> dict[str, Any]:
        """Return all that training has changed, as arrays, numbers and tuples of them."""

    def resume_training(self, state: dict[str, Any]) -> None:
        """Go on from what `training_state` returned, with the same rows prepared."""

    def forget_training(self) -> None:
        """Drop all that only the training needs."""

    def arrays(self) -> list[np.ndarray]:
        """Return the arrays that `project` needs, of which the model's size is made."""
