"""Supervised dimensionality reduction for classification.

The public names are imported on first use, so that ``import supred`` and the command line do
not wait for scikit-learn.

Examples
--------
>>> import supred
>>> "LowDimSVC" in dir(supred)
True
"""

import importlib
from typing import Any

from supred._version import __version__

# public name -> module that defines it
_PUBLIC = {
    "CategorySpace": "supred.category_space.classifier",
    "ClassConstrainedEmbedding": "supred.class_embedding.classifier",
    "KernelDiscriminantAnalysis": "supred.discriminant.classifier",
    "LowDimSVC": "supred.low_dim_svm.classifier",
    "LowDimSVCCV": "supred.low_dim_svm.search",
    "MaxMarginProjection": "supred.max_margin.classifier",
    "RBFNetClassifier": "supred.rbf_net.classifier",
    "RowBlocks": "supred.rows.files.row_blocks",
    "on_device": "supred.rows.device",
    "stack_tasks": "supred.max_margin.tasks",
}

# modules with public names of their own
_MODULES = ("export",)

__all__ = ["__version__", *_PUBLIC, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"supred.{name}")
    raise AttributeError(f"module 'supred' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
