"""Several methods on one table, on the same folds, under one time budget."""

from supred.app.comparison.result import Comparison, MethodResult

__all__ = ["Comparison", "MethodResult"]
