"""Experiments of the category space."""

from typing import Any

# The paper's form of the estimator: no whitening, smallest angle.
PLAIN: dict[str, Any] = {"kernel": "linear", "whiten": False, "classifier": "angle"}
PLAIN_KERNEL: dict[str, Any] = {**PLAIN, "kernel": "rbf"}

# The eight sets of the tables, as they are named there, and the files that hold them.
TABLES = {
    "Vehicle": "vehicle",
    "Wine": "wine",
    "Iris": "iris",
    "Seeds": "seeds",
    "thyroid": "ann-thyroid",
    "Satellite": "satellite",
    "Segmentation": "segmentation",
    "Vertebral": "vertebral-3c",
}
LARGE = ("Satellite", "thyroid")
# The three-class sets of the figures, in their order.
THREE_CLASSES = ("Vertebral", "thyroid", "Wine", "Iris", "Seeds")
