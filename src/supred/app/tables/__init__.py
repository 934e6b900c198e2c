"""Tables of users: reading them, and turning them into numbers in a scikit-learn pipeline."""

from supred.app.tables.preparation import Preparation
from supred.app.tables.table import Column, Table, TableError

__all__ = ["Column", "Preparation", "Table", "TableError"]
