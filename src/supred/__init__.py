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
    "CategorySpace": "supred.estimators.category_space",
    "ClassConstrainedEmbedding": "supred.estimators.class_constrained_embedding",
    "KernelDiscriminantAnalysis": "supred.estimators.kernel_discriminant",
    "LowDimSVC": "supred.estimators.low_dim_svc",
    "LowDimSVCCV": "supred.estimators.low_dim_svc_cv",
    "MaxMarginProjection": "supred.estimators.max_margin_projection",
    "RowBlocks": "supred.row_files.row_blocks",
    "stack_tasks": "supred.estimators._tasks",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'supred' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
