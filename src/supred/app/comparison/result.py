"""What a comparison of methods found."""

import importlib.metadata
import os
import platform
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supred._version import __version__
from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Table
from supred.base.state import register
from supred.plotting.latent_model import Regions


@register
@dataclass(frozen=True)
class MethodResult:
    """One method's line of the table, and what the pictures need."""

    name: str  # "LowDimSVC", "SVC", ...
    status: str  # "done", "failed" or "skipped"
    reason: str = ""  # why it failed or was skipped
    fold_errors: list[float] = field(default_factory=list)  # held-out error of each fold, a share
    fold_balanced_errors: list[float] = field(default_factory=list)  # mean over the classes
    n_components: int | None = None
    n_basis: int | None = None
    model_bytes: int | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None  # for all held-out rows of a fold, mean
    parameters: dict[str, Any] = field(default_factory=dict)  # chosen by tuning, JSON-able
    predicted: np.ndarray | None = None  # (n_rows,) class index of each row, while held out
    latent: np.ndarray | None = None  # (n_rows, <= 3) by the model of the first fold
    regions: Regions | None = None  # of a two-dimensional latent space
    history: dict[str, list[float]] | None = None  # as history_ of the estimators
    n_settings: int | None = None  # settings tried in the fold that tried fewest
    n_settings_all: int | None = None  # settings that would be tried with enough time

    @property
    def tuning(self) -> str:
        """How far the method was tuned: "tuned", "partly tuned", "untuned", or "not run"."""
        if self.status != "done":
            return "not run"
        tried, wanted = self.n_settings or 1, self.n_settings_all or 1
        return "tuned" if tried >= wanted else "untuned" if tried <= 1 else "partly tuned"


@register
@dataclass(frozen=True)
class ClassMap:
    """All rows in two dimensions, by a network that did not see the held-out ones."""

    latent: np.ndarray  # (n_rows, 2)
    held_out: np.ndarray  # (n_rows,) bool; the network was fitted to the other rows
    predicted: np.ndarray  # (n_rows,) class index, by the map's own classifier
    error: float  # of that classifier on the held-out rows
    neighbor_error: float  # of 5 nearest neighbours on the map, on the held-out rows
    regions: Regions | None = None
    weights: dict[str, float] = field(default_factory=dict)  # of the columns in the learned metric
    fit_seconds: float = 0.0
    n_new: int = 0  # the last rows have no class of their own: new rows, placed by the map
    model: dict[str, Any] | None = None  # the network as data, as `model_of_map` returns it


@register
@dataclass(frozen=True)
class Structure:
    """Whether the columns tell anything about the classes: a label-permutation check."""

    p_value: float
    n_rows: int
    n_permutations: int


@register
@dataclass(frozen=True)
class ColumnImportance:
    """How much the held-out error rises when a column is shuffled."""

    column: str
    rise: float  # mean over folds and shuffles, a share
    spread: float  # standard deviation


@register
@dataclass(frozen=True)
class Difference:
    """A column in which two confused classes differ."""

    column: str
    first: float  # mean over the first class
    second: float
    confused: float  # mean over the rows that were taken for the other class
    effect: float  # difference of the means in standard deviations


@register
@dataclass(frozen=True)
class Confusion:
    """Two classes that are taken for each other."""

    first: int  # class index
    second: int
    n_first: int  # rows of the first taken for the second
    n_second: int  # rows of the second taken for the first
    differences: list[Difference] = field(default_factory=list)


@register
@dataclass(frozen=True)
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
    metric: str = "error"  # what the methods are tuned and ranked by; "error" or "balanced"
    verdict: list[str] = field(default_factory=list)  # sentences
    n_folds: int = 0
    n_repeats: int = 1  # how often the rows were divided into folds; predictions are of the first
    interrupted: bool = False  # stopped by the user; what was finished is kept
    held_out: np.ndarray | None = None  # (n_rows,) bool: rows of the first fold
    class_map: ClassMap | None = None
    structure: Structure | None = None
    importances: list[ColumnImportance] = field(default_factory=list)  # the largest rise first
    confusions: list[Confusion] = field(default_factory=list)  # of the best method

    @classmethod
    def of(
        cls,
        table: Table,
        preparation: Preparation,
        classes: np.ndarray,
        class_index: np.ndarray,
        **found: Any,
    ) -> "Comparison":
        """Return what was found on a table, with what the table says of itself."""
        return cls(
            title=os.path.basename(table.title) or table.title,
            target=table.target,
            classes=[str(label) for label in classes.tolist()],
            features=[column.name for column in table.columns],
            y=class_index,
            row_names=table.row_names,
            preprocessing=preparation.sentences(table),
            versions=versions(),
            **found,
        )


def versions() -> dict[str, str]:
    """Return the versions of what took part."""
    found = {"supred": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "umap-learn"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
