"""The parameters of `RBFNetClassifier` that a fit depends on."""

from dataclasses import dataclass, fields
from typing import Any

from supred.base.checkpoint import check_path
from supred.common.arguments import (
    MOST_COMPONENTS,
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_real,
    check_verbose,
)

# Squares of gradients, in which gamma and alpha are factors, are taken in single precision.
MOST_SQUARED = 1e12
# Parameters have about the size one; larger steps only diverge.
MOST_LEARNING_RATE = 10.0


@dataclass(frozen=True)
class Settings:
    """Parameters, which are described in :class:`supred.RBFNetClassifier`."""

    n_components: int | None
    n_centers: Any
    metric: Any
    noise: Any
    gamma: Any
    loss: str
    alpha: float
    max_iter: int | None
    learning_rate: float
    label_smoothing: float
    early_stopping: bool
    validation_fraction: float
    refit: bool
    random_state: Any
    n_jobs: int | None

    @classmethod
    def among(cls, parameters: dict[str, Any]) -> "Settings":
        """Return the settings among the parameters of the estimator, checked."""
        check_path(parameters["checkpoint"])
        check_verbose(parameters["verbose"])
        settings = cls(**{field.name: parameters[field.name] for field in fields(cls)})
        settings._check_network()
        settings._check_training()
        return settings

    def is_map(self, n_classes: int) -> bool:
        """Whether there are fewer dimensions than the classes need."""
        return self.n_components is not None and self.n_components < n_classes - 1

    def _check_network(self) -> None:
        if self.n_components is not None:
            check_integer("n_components", self.n_components, low=1, high=MOST_COMPONENTS)
        if isinstance(self.n_centers, str):
            check_choice("n_centers", self.n_centers, ("auto",))
        elif self.n_centers is not None:
            check_integer("n_centers", self.n_centers, low=1)
        if isinstance(self.metric, str):
            check_choice("metric", self.metric, ("auto", "diagonal", "full"))
        else:
            check_integer("metric", self.metric, low=1)
        if isinstance(self.noise, str):
            check_choice("noise", self.noise, ("auto",))
        else:
            check_real("noise", self.noise, low=0)
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("auto", "scale"))
        else:
            check_real("gamma", self.gamma, low=0, low_inclusive=False, high=MOST_SQUARED)

    def _check_training(self) -> None:
        check_choice("loss", self.loss, ("log", "hinge"))
        for name in ("early_stopping", "refit"):
            check_flag(name, getattr(self, name))
        check_real("alpha", self.alpha, low=0, high=MOST_SQUARED)
        if self.max_iter is not None:
            check_integer("max_iter", self.max_iter, low=1)
        check_real(
            "learning_rate", self.learning_rate, low=0, low_inclusive=False, high=MOST_LEARNING_RATE
        )
        check_real("label_smoothing", self.label_smoothing, low=0, high=1, high_inclusive=False)
        check_real(
            "validation_fraction",
            self.validation_fraction,
            low=0,
            high=1,
            low_inclusive=False,
            high_inclusive=False,
        )
        check_n_jobs(self.n_jobs)
