"""What a comparison of methods found."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class MethodResult:
    """One method's line of the table, and what the pictures need."""

    name: str  # "LowDimSVC", "SVC", ...
    status: str  # "done", "failed" or "skipped"
    reason: str = ""  # why it failed or was skipped
    fold_errors: list[float] = field(default_factory=list)  # held-out error of each fold, a share
    n_components: int | None = None
    n_basis: int | None = None
    model_bytes: int | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None  # for all held-out rows of a fold, mean
    parameters: dict[str, Any] = field(default_factory=dict)  # chosen by tuning, JSON-able
    predicted: np.ndarray | None = None  # (n_rows,) class index of each row, while held out
    latent: np.ndarray | None = None  # (n_rows, <= 3) coordinates by a model fitted on all rows
    # 2-D only: x grid (nx,), y grid (ny,), class index (ny, nx)
    regions: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    history: dict[str, list[float]] | None = None  # as history_ of the estimators
    n_settings: int | None = None  # settings tried in the fold that tried fewest
    n_settings_all: int | None = None  # settings that would be tried with time enough


@dataclass
class Comparison:
    """All methods on one table, on the same folds."""

    title: str
    target: str
    classes: list[str]
    features: list[str]
    y: np.ndarray  # (n_rows,) class index
    row_names: list[str]  # what hover shows: a row number or an identifier
    preprocessing: list[str]  # sentences: what was done to the data
    methods: list[MethodResult]
    seed: int
    versions: dict[str, str]
    command: str
    advice: str = ""
    n_folds: int = 0
    interrupted: bool = False  # stopped by the user; what was finished is kept
