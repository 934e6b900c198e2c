"""Loaders of the papers' data.

Each looks in the folder given as `data_dir` or by the environment variable ``SUPRED_DATA``,
which holds ``mnist.npz``, ``newsgroups_pc_mac.json.gz`` and ``uci/NAME.csv`` (a header row,
numeric features, last column ``label``). What is not there is fetched from its public source by
scikit-learn, which keeps it in its cache and verifies checksums. If that fails too, a
DataNotFoundError says in one sentence what is missing and where to get it.
"""

import gzip
import json
import os
import socket
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from supred.common.arguments import check_flag, check_one_per_row, one_line
from supred.common.files import check_path

# Name: rows, features, classes, number of the table on OpenML (None: no such table there).
UCI_TABLES: dict[str, tuple[int, int, int, int | None]] = {
    "ann-thyroid": (7200, 21, 3, None),
    "iris": (150, 4, 3, None),
    "new-thyroid": (215, 5, 3, 40682),
    "satellite": (6435, 36, 6, None),
    "seeds": (210, 7, 3, 1499),
    "segmentation": (2310, 19, 7, 36),
    "vehicle": (846, 18, 4, 54),
    "vertebral-3c": (310, 6, 3, 1523),
    "wine": (178, 13, 3, None),
}
UCI_NAMES = tuple(UCI_TABLES)
# Seconds to wait for a server that does not answer.
TIMEOUT = 20.0
NEWSGROUPS = {"pc": "comp.sys.ibm.pc.hardware", "mac": "comp.sys.mac.hardware"}


class DataNotFoundError(FileNotFoundError):
    """A data set is not where the loader looked.

    See Also
    --------
    load_mnist, load_uci, load_newsgroups_pc_mac

    Examples
    --------
    >>> from supred.datasets import DataNotFoundError, load_mnist
    >>> try:
    ...     load_mnist("no-such-folder", download=False)
    ... except DataNotFoundError as error:
    ...     "no-such-folder" in str(error)
    True
    """


def data_path(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a data file, or raise a DataNotFoundError that says what is missing.

    Parameters
    ----------
    name : str
        File name inside the data folder.
    data_dir : path, optional
        The data folder; the environment variable ``SUPRED_DATA`` if not given.
    """
    if data_dir is not None:
        check_path(data_dir, "data_dir")
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
    data_dir: str | os.PathLike[str] | None = None, *, download: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Load MNIST's official training and test parts, pixels in [0, 1] in single precision.

    Parameters
    ----------
    data_dir : path, optional
        Folder with ``mnist.npz``; the environment variable ``SUPRED_DATA`` if not given.
    download : bool, default=True
        Fetch "mnist_784" from OpenML if the file is not there.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarrays
        60 000 and 10 000 rows of 784 pixels, labels 0 to 9.

    See Also
    --------
    load_uci : Small tables.

    Examples
    --------
    >>> from supred.datasets import load_mnist
    >>> X_train, y_train, X_test, y_test = load_mnist()  # doctest: +SKIP
    """
    check_flag("download", download)
    try:
        path = data_path("mnist.npz", data_dir)
    except DataNotFoundError as missing:
        X, y = _fetch(
            lambda: _openml(data_id=554),
            missing,
            download,
            "mnist.npz (x_train, y_train, x_test, y_test as uint8; for instance the file of that "
            "name that Keras uses)",
        )
        if X.shape != (70_000, 784):
            raise DataNotFoundError(
                f"OpenML's mnist_784 has shape {X.shape}, not (70000, 784); put mnist.npz into "
                "the folder in SUPRED_DATA."
            ) from missing
        X, y = X.astype(np.float32) / np.float32(255), y.astype(int).astype(np.uint8)
        return X[:60_000], y[:60_000], X[60_000:], y[60_000:]
    with _reading(path), np.load(path) as file:
        found = []
        for part in ("train", "test"):
            X, y = file[f"x_{part}"].reshape(-1, 784) / np.float32(255), file[f"y_{part}"]
            check_one_per_row(f"y_{part}", y, len(X))
            found += [X, y]
    X_train, y_train, X_test, y_test = found
    return X_train, y_train, X_test, y_test


def load_newsgroups_pc_mac(
    data_dir: str | os.PathLike[str] | None = None, *, download: bool = True
) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Load two of the 20 newsgroups, PC and Mac hardware, in the official split by date.

    Parameters
    ----------
    data_dir : path, optional
        Folder with ``newsgroups_pc_mac.json.gz``; the environment variable ``SUPRED_DATA`` if
        not given.
    download : bool, default=True
        Fetch 20 Newsgroups by scikit-learn if the file is not there.

    Returns
    -------
    texts_train, y_train, texts_test, y_test
        Lists of raw texts with headers, and arrays of the labels "mac" and "pc".

    See Also
    --------
    load_uci : Tables of numbers.

    Examples
    --------
    >>> from supred.datasets import load_newsgroups_pc_mac
    >>> texts_train, y_train, texts_test, y_test = load_newsgroups_pc_mac()  # doctest: +SKIP
    """
    check_flag("download", download)
    try:
        path = data_path("newsgroups_pc_mac.json.gz", data_dir)
    except DataNotFoundError as missing:
        return _fetch(
            _twenty_newsgroups,
            missing,
            download,
            "newsgroups_pc_mac.json.gz (the groups comp.sys.ibm.pc.hardware and "
            "comp.sys.mac.hardware of http://qwone.com/~jason/20Newsgroups, by-date version)",
        )

    def columns(rows: list[dict[str, str]]) -> tuple[list[str], np.ndarray]:
        return [row["text"] for row in rows], np.array([row["label"] for row in rows])

    with _reading(path), gzip.open(path, "rt", encoding="utf-8") as file:
        parts = json.load(file)
        return *columns(parts["train"]), *columns(parts["test"])


def load_uci(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, download: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Load one of the UCI tables named in ``UCI_NAMES``.

    Parameters
    ----------
    name : str
    data_dir : path, optional
        Folder with ``uci/NAME.csv``; the environment variable ``SUPRED_DATA`` if not given.
        Without a file, iris and wine are scikit-learn's.
    download : bool, default=True
        Fetch the table from OpenML if it is not there.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Labels as they stand in the file, as strings.

    See Also
    --------
    load_mnist : Images of digits.

    Examples
    --------
    >>> from supred.datasets import load_uci
    >>> X, y = load_uci("iris", download=False)
    >>> X.shape
    (150, 4)
    """
    if not isinstance(name, str) or name not in UCI_NAMES:
        raise ValueError(f"name={name!r} is not known; use one of {', '.join(UCI_NAMES)}.")
    n_rows, n_features, n_classes, number = UCI_TABLES[name]
    check_flag("download", download)
    try:
        path = data_path(f"uci/{name}.csv", data_dir)
    except DataNotFoundError as missing:
        if name in ("iris", "wine"):
            from sklearn.datasets import load_iris, load_wine

            X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
            return X, y.astype(str)
        what = (
            f"uci/{name}.csv ({n_rows} rows of {n_features} features, last column label; from "
            "https://archive.ics.uci.edu)"
        )
        fetch = None if number is None else lambda: _openml(data_id=number)
        X, y = _fetch(fetch, missing, download, what)
        if X.shape != (n_rows, n_features) or len(np.unique(y)) != n_classes:
            raise DataNotFoundError(
                f"OpenML's table {number} is not the one of the paper (its shape is {X.shape}); "
                f"put {what} into the folder in SUPRED_DATA."
            ) from missing
        return X.astype(float), y.astype(str)
    with _reading(path):
        table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str, ndmin=2)
        if table.shape != (n_rows, n_features + 1):
            raise ValueError(f"its shape is {table.shape}, not {(n_rows, n_features + 1)}")
        return table[:, :-1].astype(float), table[:, -1]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say which file is damaged, whatever its reader raises."""
    try:
        yield
    except (OSError, EOFError, ValueError, LookupError, TypeError, BadZipFile, zlib.error) as error:
        raise ValueError(
            f"{path} cannot be read as that data set ({one_line(error)}); put the file there anew."
        ) from error


def _openml(data_id: int | None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    # The "liac-arff" parser needs no pandas.
    options = {"as_frame": False, "parser": "liac-arff", "n_retries": 1, "delay": 0.5}
    return fetch_openml(data_id=data_id, return_X_y=True, **options)


def _twenty_newsgroups() -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    from sklearn.datasets import fetch_20newsgroups

    short = {group: label for label, group in NEWSGROUPS.items()}

    def columns(part: str) -> tuple[list[str], np.ndarray]:
        bunch = fetch_20newsgroups(subset=part, categories=list(short), n_retries=1, delay=0.5)
        return list(bunch.data), np.array([short[bunch.target_names[k]] for k in bunch.target])

    return *columns("train"), *columns("test")


def _fetch(
    fetch: Callable[[], Any] | None, missing: DataNotFoundError, download: bool, what: str
) -> Any:
    """Fetch from the public source; whatever goes wrong becomes one sentence."""
    reason = "it was not to be fetched"
    if fetch is None:
        reason = "no copy of it is known that could be fetched"
    elif download:
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(TIMEOUT)  # a silent server must not stop the run
        try:
            return fetch()
        except (OSError, ValueError, KeyError) as error:
            reason = f"fetching it failed ({type(error).__name__}: {one_line(error)})"
        finally:
            socket.setdefaulttimeout(before)
    raise DataNotFoundError(
        f"{missing.args[0].rstrip('.').split(';')[0]}, and {reason}; put {what} into the folder "
        "that SUPRED_DATA or --data names."
    ) from missing
