"""A zip file of arrays and one JSON description: values in, values out, never code.

Objects are written as the name of their class and their state (:mod:`supred.base.state`). Only
registered classes are written and made again; a file from elsewhere can name no other. Arrays are
in NumPy's own format without pickle. Models and checkpoints are such files.
"""

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from supred._version import __version__
from supred.base.packed_arrays import KINDS, open_part, read_array
from supred.base.state import from_state, registered_classes, to_state
from supred.common.arguments import all_finite
from supred.common.files import atomic_write, check_opened, check_path

DESCRIPTION = "description.json"
LARGEST_FLOAT = 8
FORMAT = "supred"
VERSION = 4
# One date for all, so that equal models are equal files.
DATE = (1980, 1, 1, 0, 0, 0)
# A file may declare so many bytes of content, and its description so many; Python's objects take
# fifty times the bytes of their JSON.
MAX_BYTES = 256 * 2**20
MAX_DESCRIPTION_BYTES = 4 * 2**20


class ModelFileError(ValueError):
    """A file that cannot be read as what it should be, or a value that cannot be written.

    See Also
    --------
    supred.export.load_model : Raises it for whatever is not a model.

    Examples
    --------
    >>> import os
    >>> from supred.export import ModelFileError, load_model
    >>> try:
    ...     load_model(os.__file__)
    ... except ModelFileError as error:
    ...     "os.py" in str(error)
    True
    """


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
    text = json.dumps(document, indent=1, allow_nan=True)
    if len(text) > MAX_DESCRIPTION_BYTES:
        raise ModelFileError(
            f"the description of this {kind} takes {len(text)} bytes, and no more than "
            f"{MAX_DESCRIPTION_BYTES} are read; use shorter or fewer texts, such as labels."
        )
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with (
        atomic_write(path, overwrite=overwrite) as file,
        zipfile.ZipFile(file, "w", method) as archive,
    ):
        archive.writestr(_entry(DESCRIPTION, method), text)
        for k, array in enumerate(arrays):
            entry = _entry(f"arrays/{k}.npy", method)
            with archive.open(entry, "w", force_zip64=array.nbytes > 2**30) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def read_container(path: str | os.PathLike[str], kind: str, *, max_bytes: int = MAX_BYTES) -> Any:
    """Return the value that `write_container` wrote.

    Parameters
    ----------
    path : path
    kind : str
        What the file must hold.
    max_bytes : int
        A file that declares more bytes of content is refused before any of it is read, one whose
        arrays take more in memory before that is taken.

    Raises
    ------
    ModelFileError
        If the file is not one of supred's, holds something else, is damaged or too large, or was
        written by a version with another format. The message is one line.
    """
    with open_container(path, kind, max_bytes=max_bytes) as (value, decode):
        return decode(value)


@contextmanager
def open_container(
    path: str | os.PathLike[str], kind: str, *, max_bytes: int | None
) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """Yield the encoded value of a file, and the function that decodes it or a part of it.

    Whatever goes wrong in the block is a ModelFileError; parameters are those of
    `read_container`. With ``max_bytes=None`` the file must be as ``compress=False`` writes it:
    it holds no more than its own size.
    """
    check_path(path)
    name = _printed(path)
    if os.path.isdir(path):
        raise ModelFileError(f"{name} is a folder; name a file.")
    if not os.path.exists(path):
        raise ModelFileError(f"{name} does not exist.")
    if not os.path.isfile(path):
        raise ModelFileError(f"{name} is not an ordinary file; copy it to one.")
    n_bytes = os.path.getsize(path)
    check_size(name, n_bytes, max_bytes)
    with one_line(name), ExitStack() as opened:
        file = opened.enter_context(open(path, "rb"))
        if not zipfile.is_zipfile(file):
            raise ModelFileError(f"{name} is not a file of supred, or it was cut off.")
        archive = opened.enter_context(zipfile.ZipFile(file))
        if DESCRIPTION not in archive.namelist():
            raise ModelFileError(f"{name} is not a file of supred.")
        declared = sum(part.file_size for part in archive.infolist())
        check_size(name, declared, max_bytes)
        if max_bytes is None and declared > n_bytes:
            raise ModelFileError(f"{name} declares {declared} bytes of content, but has {n_bytes}.")
        n_described = archive.getinfo(DESCRIPTION).file_size
        if n_described > MAX_DESCRIPTION_BYTES:
            raise ModelFileError(f"{name} has a description of more than 4 MB, which cannot be.")
        with open_part(archive, DESCRIPTION) as part:
            document = json.loads(part.read(n_described))
        _check_document(document, name, kind)
        yield document["value"], _Decoder(archive, name, max_bytes).decode


def _printed(path: Any) -> str:
    """Return the name of a file as a message of one line may show it."""
    return "".join(letter if letter.isprintable() else " " for letter in str(path))


def check_size(path: Any, n_bytes: int, max_bytes: int | None) -> None:
    """Raise a ModelFileError if a file is larger than it may be."""
    if max_bytes is not None and n_bytes > max_bytes:
        raise ModelFileError(
            f"{path} declares {n_bytes} bytes of content, more than max_bytes={max_bytes}; if you "
            "trust it, pass a larger max_bytes."
        )


@contextmanager
def one_line(path: Any) -> Iterator[None]:
    """Turn whatever goes wrong with the content of a file into a ModelFileError of one line.

    What a reader finds in a file that was made to deceive it cannot be foreseen, so every kind
    of error counts.
    """
    try:
        yield
    except ModelFileError:
        raise
    except Exception as error:
        check_opened(error, path)
        what = " ".join(str(error).split())[:120]
        raise ModelFileError(
            f"{_printed(path)} is damaged ({type(error).__name__}: {what}); make it again."
        ) from None


def _check_document(document: Any, path: Any, kind: str) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a file of supred.")
    version = document.get("version")
    if type(version) is not int or version != VERSION:  # True is not 1
        advice = "install a later supred"
        if isinstance(version, int) and version < VERSION:
            writer = shown(document.get("made_by"))
            advice = f"it was written by {writer}; make it again with this version"
        raise ModelFileError(
            f"{path} has version {shown(repr(version))} of the format, but supred {__version__} "
            f"reads version {VERSION}; {advice}."
        )
    if document.get("kind") != kind:
        raise ModelFileError(f"{path} holds a {shown(document.get('kind'))}, not a {kind}.")


def shown(value: Any) -> str:
    r"""Return what a file says as a message may show it: one short line that prints.

    Examples
    --------
    >>> from supred.base.container import shown
    >>> shown("model\n\x1b[31m of mine")
    'model [31m of mine'
    """
    printable = (letter if letter.isprintable() else " " for letter in str(value)[:1000])
    return " ".join("".join(printable).split())[:60]


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
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, np.generic):
            return {"scalar": self._keep(np.asarray(value), where)}
        if isinstance(value, np.ma.MaskedArray):
            masked = (value.data, np.ma.getmaskarray(value))
            return {"masked": [self._array(part, where) for part in masked]}
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
                "dict": [
                    [self.encode(k, where), self.encode(v, f"{where}[{k!r}]")]
                    for k, v in value.items()
                ]
            }
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None  # a fitted model draws no more numbers
        name = type(value).__name__
        if self.classes.get(name) is type(value):
            try:
                # What is private last: an error names the parameter, not what is kept of it.
                state = sorted(
                    to_state(value).items(), key=lambda item: (item[0][0] == "_", item[0])
                )
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
        if value.dtype == np.float64:
            # Half the bytes for numbers that were learned in single precision.
            with np.errstate(over="ignore"):
                single = value.astype(np.float32)
            if np.array_equal(single, value, equal_nan=True):
                return {"array": self._keep(single, where), "double": True}
        if value.dtype != object:
            return {"array": self._keep(value, where)}
        # Strings and the like; they keep their types one by one.
        return {"objects": [self.encode(v, where) for v in value.ravel()], "shape": value.shape}

    def _keep(self, array: np.ndarray, where: str) -> int:
        # Long doubles are not the same on every machine.
        kind, n_bytes = array.dtype.kind, array.dtype.itemsize
        if kind not in KINDS or (kind == "f" and n_bytes > LARGEST_FLOAT):
            raise ModelFileError(f"{where} holds {array.dtype}, which cannot be saved.")
        self.arrays.append(array)
        return len(self.arrays) - 1


class _Decoder:
    """Turn JSON back into values; whatever is not expected is an error."""

    def __init__(self, archive: zipfile.ZipFile, path: Any, max_bytes: int | None) -> None:
        self.classes = registered_classes()
        self.archive, self.path, self.max_bytes = archive, path, max_bytes
        self.loaded: set[int] = set()
        self.n_bytes = 0

    def decode(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if "array" in value:
            return self._load(value["array"], double="double" in value)
        if "masked" in value:
            data, mask = (self.decode(part) for part in value["masked"])
            if mask.dtype != bool or mask.shape != data.shape:  # it would be made anew
                raise ValueError(f"a mask of {mask.dtype} of shape {mask.shape}")
            return np.ma.MaskedArray(data, mask)
        if "scalar" in value:
            return self._load(value["scalar"])[()]
        if "objects" in value:
            result = np.empty(len(value["objects"]), dtype=object)
            result[:] = [self.decode(item) for item in value["objects"]]
            return result.reshape(value["shape"])
        if "sparse" in value:
            data, indices, indptr = (self._load(k) for k in value["sparse"])
            if not {indices.dtype, indptr.dtype} <= {np.dtype("i4"), np.dtype("i8")}:
                raise ValueError(f"a sparse array with indices of {indices.dtype}")  # a copy
            rows = sparse.csr_matrix((data, indices, indptr), shape=tuple(value["shape"]))
            rows.check_format(full_check=True)
            if not all_finite(rows):
                raise ModelFileError("a sparse array holds a number that is not finite.")
            return rows
        if "tuple" in value:
            return tuple(self.decode(item) for item in value["tuple"])
        if "dict" in value:
            return {self.decode(k): self.decode(v) for k, v in value["dict"]}
        return self._object(value)

    def _object(self, value: dict[str, Any]) -> Any:
        made = self.classes.get(value["object"])
        if made is None:
            name = shown(repr(value["object"]))
            raise ModelFileError(f"the file names a class {name} that is not known.")
        state = {key: self.decode(v) for key, v in value["state"].items()}
        if hasattr(made, "bytes_to_restore"):
            self._count(made.bytes_to_restore(state))
        return from_state(made, state)

    def _load(self, number: int, *, double: bool = False) -> np.ndarray:
        number = int(number)
        if number in self.loaded:  # each is written once; again and again would take any memory
            raise ValueError(f"the array {number} twice")
        self.loaded.add(number)
        name = f"arrays/{number}.npy"
        self._count(self.archive.getinfo(name).file_size * (2 if double else 1))
        return read_array(self.archive, name, double=double)

    def _count(self, n_bytes: int) -> None:
        """Raise an error if so much more memory is too much."""
        self.n_bytes += n_bytes
        check_size(self.path, self.n_bytes, self.max_bytes)
