"""Experiments of the category space."""

TABLES = (
    "vehicle",
    "wine",
    "iris",
    "seeds",
    "ann-thyroid",
    "satellite",
    "segmentation",
    "vertebral-3c",
)
LARGE = ("satellite", "ann-thyroid")
# The published figures of these need standardised features.
STANDARDISED = ("wine", "ann-thyroid")
