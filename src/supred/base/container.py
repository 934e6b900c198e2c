"""A zip file of arrays and one JSON description: values in, values out, never code.

Objects are written as the name of their class and their state (:mod:`supred.base.state`). Only
registered classes are written and made again; a file from elsewhere can name no other. Arrays are
in NumPy's own format without pickle. Models and checkpoints are such files.
"""

import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np
from scipy import sparse

from supred._version import __version__
from supred.base.state import from_state, registered_classes, to_state
from supred.common.files import atomic_write

DESCRIPTION = "description.json"
FORMAT = "supred"
VERSION = 2
# One date for all, so that equal models are equal files.
DATE = (1980, 1, 1, 0, 0, 0)


class ModelFileError(ValueError):
    """A file that cannot be read as what it should be, or a value that cannot be written."""


def write_container(
    path: str | os.PathLike[str],
    kind: str,
    value: Any,
    *,
    overwrite: bool = False,
    compress: bool = True,
) -> None:
    """Write a value made of numbers, strings, lists, dicts, arrays and registered objects.

    Parameters
    ----------
    path : path
        The file appears when it is complete.
    kind : str
        What the file holds, such as "model".
    value : object
    overwrite : bool
        Whether to replace a file that is there.
    compress : bool
        A file that is written again and again need not be small.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from supred.base.container import read_container, write_container
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "x.supred")
    ...     write_container(path, "example", {"a": np.arange(3)})
    ...     read_container(path, "example")
    {'a': array([0, 1, 2])}
    """
    arrays: list[np.ndarray] = []
    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "made_by": f"supred {__version__}",
        "value": _Encoder(arrays).encode(value, kind),
    }
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with (
        atomic_write(path, overwrite=overwrite) as file,
        zipfile.ZipFile(file, "w", method) as archive,
    ):
        text = json.dumps(document, indent=1, allow_nan=True)
        archive.writestr(_entry(DESCRIPTION, method), text)
        for k, array in enumerate(arrays):
            entry = _entry(f"arrays/{k}.npy", method)
            with archive.open(entry, "w", force_zip64=array.nbytes > 2**30) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def read_container(path: str | os.PathLike[str], kind: str) -> Any:
    """Return the value that `write_container` wrote.

    Raises
    ------
    ModelFileError
        If the file is not one of supred's, holds something else, is damaged, or was written
        by a version with another format. The message is one line.
    """
    if os.path.isdir(path):
        raise ModelFileError(f"{path} is a folder; name a file.")
    if not os.path.exists(path):
        raise ModelFileError(f"{path} does not exist.")
    if not zipfile.is_zipfile(path):
        raise ModelFileError(f"{path} is not a file of supred, or it was cut off.")
    try:
        with zipfile.ZipFile(path) as archive:
            if DESCRIPTION not in archive.namelist():
                raise ModelFileError(f"{path} is not a file of supred.")
            document = json.loads(archive.read(DESCRIPTION))
            _check_document(document, path, kind)
            return _Decoder(archive).decode(document["value"])
    except ModelFileError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        NotImplementedError,
        RuntimeError,
        RecursionError,
        OverflowError,
        MemoryError,
    ) as error:
        what = " ".join(str(error).split())[:120]
        raise ModelFileError(
            f"{path} is damaged ({type(error).__name__}: {what}); make it again."
        ) from None


def _check_document(document: Any, path: Any, kind: str) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a file of supred.")
    version = document.get("version")
    if version != VERSION:
        advice = "install a later supred"
        if isinstance(version, int) and version < VERSION:
            advice = f"it was written by {document.get('made_by')}; make it again with this version"
        raise ModelFileError(
            f"{path} has version {version!r} of the format, but supred {__version__} reads version "
            f"{VERSION}; {advice}."
        )
    if document.get("kind") != kind:
        raise ModelFileError(f"{path} holds a {document.get('kind')}, not a {kind}.")


def _entry(name: str, method: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type = method
    return entry


class _Encoder:
    """Turn a value into JSON; arrays are put aside and referred to by number."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.classes = registered_classes()
        self.arrays = arrays

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return {"scalar": self._keep(np.asarray(value), where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sparse.issparse(value):
            rows = value.tocsr()
            parts = [self._keep(a, where) for a in (rows.data, rows.indices, rows.indptr)]
            return {"sparse": parts, "shape": list(rows.shape)}
        if isinstance(value, list):
            return [self.encode(item, where) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item, where) for item in value]}
        if isinstance(value, dict):
            return {
                "dict": [[self.encode(k, where), self.encode(v, where)] for k, v in value.items()]
            }
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None  # a fitted model draws no more numbers
        name = type(value).__name__
        if self.classes.get(name) is type(value):
            try:
                state = sorted(to_state(value).items())
            except ValueError as error:
                raise ModelFileError(str(error)) from None
            return {
                "object": name,
                "state": {key: self.encode(item, f"{name}.{key}") for key, item in state},
            }
        raise ModelFileError(
            f"{where} is a {type(value).__name__}, which cannot be saved as plain data."
        )

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype != object:
            return {"array": self._keep(value, where)}
        # Strings and the like; they keep their types one by one.
        return {"objects": [self.encode(v, where) for v in value.ravel()], "shape": value.shape}

    def _keep(self, array: np.ndarray, where: str) -> int:
        if array.dtype.kind not in "biufcUS":
            raise ModelFileError(f"{where} holds {array.dtype}, which cannot be saved.")
        self.arrays.append(array)
        return len(self.arrays) - 1


class _Decoder:
    """Turn JSON back into values; whatever is not expected is an error."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.classes = registered_classes()
        self.archive = archive

    def decode(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if "array" in value:
            return self._load(value["array"])
        if "scalar" in value:
            return self._load(value["scalar"])[()]
        if "objects" in value:
            result = np.empty(len(value["objects"]), dtype=object)
            result[:] = [self.decode(item) for item in value["objects"]]
            return result.reshape(value["shape"])
        if "sparse" in value:
            data, indices, indptr = (self._load(k) for k in value["sparse"])
            rows = sparse.csr_matrix((data, indices, indptr), shape=tuple(value["shape"]))
            rows.check_format(full_check=True)
            return rows
        if "tuple" in value:
            return tuple(self.decode(item) for item in value["tuple"])
        if "dict" in value:
            return {self.decode(k): self.decode(v) for k, v in value["dict"]}
        return self._object(value)

    def _object(self, value: dict[str, Any]) -> Any:
        made = self.classes.get(value["object"])
        if made is None:
            raise ModelFileError(f"the file names a class {value['object']!r} that is not known.")
        return from_state(made, {key: self.decode(v) for key, v in value["state"].items()})

    def _load(self, number: int) -> np.ndarray:
        with self.archive.open(f"arrays/{int(number)}.npy") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
