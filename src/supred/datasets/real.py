"""Loaders of the papers' data from a folder of the user's.

The folder is given as `data_dir` or by the environment variable ``SUPRED_DATA``. It holds
``mnist.npz`` and ``uci/NAME.csv`` (a header row, numeric features, last column ``label``).
"""

import os
from pathlib import Path

import numpy as np

UCI_NAMES = (
    "ann-thyroid",
    "iris",
    "new-thyroid",
    "satellite",
    "seeds",
    "segmentation",
    "vehicle",
    "vertebral-3c",
    "wine",
)


class DataNotFoundError(FileNotFoundError):
    """A data set is not where the loader looked."""


def data_path(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a data file, or raise a DataNotFoundError that says what is missing.

    Parameters
    ----------
    name : str
        File name inside the data folder.
    data_dir : path, optional
        The data folder; the environment variable ``SUPRED_DATA`` if not given.
    """
    folder = data_dir if data_dir is not None else os.environ.get("SUPRED_DATA")
    if not folder:
        raise DataNotFoundError(
            f"{name} is needed, but no data folder is known; "
            "set the environment variable SUPRED_DATA to a folder that holds it."
        )
    path = Path(folder) / name
    if not path.is_file():
        raise DataNotFoundError(f"{name} is not in {folder}; put it there.")
    return path


def load_mnist(
    data_dir: str | os.PathLike[str] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Load MNIST's official training and test parts, pixels in [0, 1] in single precision.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarrays
        60 000 and 10 000 rows of 784 pixels, labels 0 to 9.
    """
    with np.load(data_path("mnist.npz", data_dir)) as file:
        X_train = file["x_train"].reshape(-1, 784) / np.float32(255)
        X_test = file["x_test"].reshape(-1, 784) / np.float32(255)
        return X_train, file["y_train"], X_test, file["y_test"]


def load_uci(
    name: str, data_dir: str | os.PathLike[str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Load one of the UCI tables named in ``UCI_NAMES``.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Labels as they stand in the file, as strings.
    """
    if name not in UCI_NAMES:
        raise ValueError(f"name={name!r} is not known; use one of {', '.join(UCI_NAMES)}.")
    table = np.loadtxt(data_path(f"uci/{name}.csv", data_dir), delimiter=",", skiprows=1, dtype=str)
    return table[:, :-1].astype(float), table[:, -1]
