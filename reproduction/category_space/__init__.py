"""Experiments of the category space."""

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
