"""A matrix in files, read block by block."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arguments import check_choice, check_flag, check_integer, check_unmasked
from supred.common.files import atomic_write
from supred.common.labels import is_missing
from supred.common.threads import Turn
from supred.rows.blocks import LocalRows, Rows, rows_of
from supred.rows.files.columns import Column, converted
from supred.rows.files.labels import labels_in, weights_in
from supred.rows.files.locating import (
    READERS,
    SUFFIXES,
    PathLike,
    check_same_columns,
    files_of,
    index,
    open_reader,
)
from supred.rows.files.reading import ReadSource, as_csr, join
from supred.rows.files.svmlight import SvmlightReader, settle_features

ColumnLike = str | int | Column


class RowBlocks(ReadSource):
    """Rows in one or several files, which are read block by block and never held as a whole.

    `LowDimSVC` takes it in the place of `X`, in `fit`, `transform`, `predict`,
    `decision_function` and `score`. Binary files (NPY, Parquet) are read quickly; text (CSV,
    svmlight) is parsed again in each pass over the rows, of which a fit makes about two an
    iteration: turn large text into NPY first, or set `cache`.

    Parameters
    ----------
    path : path, or list of paths
        A file, a folder with files of one format (in the order of their names), a pattern such
        as ``"part-*.npy"``, or a list of files.
    target : str or int, optional
        Column that holds the labels; `fit` and `score` then need no `y`. Rows of svmlight files
        always come with a label.
    sample_weight : str or int, optional
        Column that holds the weights of the rows for `fit` and `score`.
    columns : list of str, int or Column, optional
        Columns that hold the features; by default all others. A `Column` of kind "text" stands
        for the positions of its texts in its `values`.
    format : {"npy", "parquet", "csv", "tsv", "svmlight"}, optional
        By default inferred from the files' names.
    header : bool, default=True
        Whether the first line of CSV and TSV files names the columns.
    transform : callable, optional
        What to make of each block of features, such as ``scaler.transform`` of a fitted
        `StandardScaler`. It may fill in missing values and change the number of features.
    block_rows : int, optional
        Most rows to read at a time. By default the blocks are those of an array of the same
        shape, and a fit comes out the same to the last digit.
    dtype : {float32, float64}, optional
        Precision to work in. By default files in single precision stay so, and the rest is
        double.
    n_features : int, optional
        Number of features of svmlight files, which do not state it; by default the largest index
        that occurs, up to 100 000. For files of other rows give the number of the training.
    zero_based : bool or "auto", default="auto"
        Whether the features of svmlight files count from 0 or from 1. With "auto" they count from
        0 if the index 0 occurs, else from 1; if `n_features` is given and both are possible, that
        is an error. The attribute is True or False once `shape` is known.
    cache : bool, default=False
        Keep the rows in memory once they are read, and let an estimator keep what it makes of
        them as it does for an array (see `cache_size` of `LowDimSVC`). Without it nothing of
        the size of the rows is kept.

    Attributes
    ----------
    shape : tuple (n_rows, n_features)
    feature_names : ndarray of str, or None
        Names of the columns that hold the features, where the files have them.
    files : list of Path

    See Also
    --------
    LowDimSVC : Fits and predicts from it.
    RBFNetClassifier : Fits and predicts from it.

    Notes
    -----
    Files must have the same columns. Text is read strictly: UTF-8, as many fields in each row as
    in the first. True and false are the numbers 1 and 0; an empty field, NA, N/A, NaN, null,
    none and ? are missing; labels that are all written as whole numbers are whole numbers, and
    strings otherwise. Numbers that are not finite and labels that are missing are found as the
    rows are read; the error names the file and the row.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from supred import LowDimSVC, RowBlocks
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> X = rng.normal(size=(500, 4)) + 3 * y[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(pathlib.Path(folder, "rows.npy"), np.column_stack([X, y]))
    ...     rows = RowBlocks(pathlib.Path(folder, "rows.npy"), target=-1)
    ...     model = LowDimSVC(n_centers=20, random_state=0).fit(rows)
    ...     rows.shape, model.predict(rows).shape, bool(model.score(rows) > 0.95)
    ((500, 4), (500,), True)
    """

    def __init__(
        self,
        path: PathLike | Sequence[PathLike],
        *,
        target: str | int | None = None,
        sample_weight: str | int | None = None,
        columns: Sequence[ColumnLike] | None = None,
        format: str | None = None,
        header: bool = True,
        transform: Callable[[Any], Any] | None = None,
        block_rows: int | None = None,
        dtype: Any = None,
        n_features: int | None = None,
        zero_based: bool | str = "auto",
        cache: bool = False,
    ) -> None:
        if format is not None:
            check_choice("format", format, tuple(READERS))
        check_flag("header", header)
        check_flag("cache", cache)
        if transform is not None and not callable(transform):
            raise ValueError(f"transform={transform!r} is not a function; give one, or None.")
        self.dtype = np.dtype(float) if dtype is None else _precision(dtype)
        if block_rows is not None:
            self.block_rows = check_integer("block_rows", block_rows, low=1)
        self.files = files_of(path, format)
        kinds = {format or SUFFIXES[file.suffix.lower()] for file in self.files}
        if len(kinds) > 1:
            raise ValueError(f"path holds files of several formats ({sorted(kinds)}); use one.")
        self.format = kinds.pop()
        self.target, self.sample_weight = target, sample_weight
        self.transform = transform
        self.cache = bool(cache)
        self.keeps_blocks = self.cache
        self._kept: Any = None
        self._transformed = False
        self._readers = [open_reader(file, self.format, header=header) for file in self.files]
        self.is_sparse = self._readers[0].is_sparse
        self._starts: np.ndarray | None = None
        self._reading = self._readers[0]  # the one that was used last
        self._turn = Turn()  # readers keep what they read last: one thread at a time
        if self.is_sparse:
            self._settle_sparse(columns, n_features, zero_based)
        else:
            for name, given in (("n_features", n_features), ("zero_based", zero_based)):
                if given not in (None, "auto"):
                    raise ValueError(f"{name} is for svmlight files only.")
            self._settle_columns(columns)
        if dtype is None:
            self.dtype = np.result_type(*(reader.dtype for reader in self._readers))

    def __repr__(self) -> str:
        first = repr(str(self.files[0]))
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"RowBlocks({first}{more})"

    def _settle_columns(self, columns: Sequence[ColumnLike] | None) -> None:
        """Find the columns in each file."""
        check_same_columns(self._readers)
        first = self._readers[0]
        names = first.column_names
        apart = [
            index(first, column, name)
            for column, name in ((self.target, "target"), (self.sample_weight, "sample_weight"))
            if column is not None
        ]
        if len(set(apart)) < len(apart):
            raise ValueError(
                f"sample_weight={self.sample_weight!r} is the target, too; name another column."
            )
        if columns is not None and (isinstance(columns, str) or not np.iterable(columns)):
            raise ValueError(f"columns={columns!r}: give a list of columns.")
        if columns is None:
            columns = [name for k, name in enumerate(names) if k not in apart]
        wanted, chosen = [], []
        by_name = {name: place for place, name in enumerate(names)}
        for column in columns:
            name = column.name if isinstance(column, Column) else column
            place = by_name.get(name) if isinstance(name, str) else None
            place = index(first, name, "columns") if place is None else place
            chosen.append(place)
            wanted.append(column if isinstance(column, Column) else Column(names[place], "number"))
        if len(set(chosen)) < len(chosen) or set(chosen) & set(apart):
            raise ValueError(
                f"columns={list(columns)!r} names a column twice, or the target or weight."
            )
        if not wanted:
            raise ValueError(f"{first.title} has no column left for the features.")
        self.n_features = len(wanted)
        if first.names:
            self.feature_names = np.array([column.name for column in wanted], dtype=object)
        for reader in self._readers:
            places = {name: place for place, name in enumerate(reader.column_names)}
            reader.use(wanted, [places[column.name] for column in wanted])

    def _settle_sparse(self, columns: Any, n_features: int | None, zero_based: bool | str) -> None:
        given = {
            "target": self.target, "sample_weight": self.sample_weight, "columns": columns
        }  # fmt: skip
        for name, value in given.items():
            if value is not None:
                raise ValueError(
                    f"{name}={value!r} cannot be combined with svmlight files: each row begins "
                    "with its label."
                )
        if n_features is not None:
            check_integer("n_features", n_features, low=1)
        if zero_based != "auto":
            check_flag("zero_based", zero_based)
        self._given_features, self.zero_based = n_features, zero_based

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features; text files are read once to tell."""
        n_rows = int(self._row_starts()[-1])
        if self.transform is not None and not self._transformed:
            first = self._made(self._read(0, 1))
            if not first.shape[1]:
                raise ValueError("transform leaves no column of the rows; it must return some.")
            if self.feature_names is not None and first.shape[1] != self.n_features:
                self.feature_names = None
            self.n_features = first.shape[1]
            self.is_sparse = sparse.issparse(first)
            self._transformed = True
        return n_rows, self.n_features

    def blocks(self) -> Iterator[Any]:
        """Yield the rows block by block, for instance for a scaler's `partial_fit`."""
        rows = self.rows()
        if isinstance(rows, LocalRows):
            for part in rows.parts():
                # What is kept stays as it is, whatever the caller makes of a block.
                yield rows.block(part).copy() if self.cache else rows.block(part)

    def _row_starts(self) -> np.ndarray:
        """Return the first row of each file, and the number of rows."""
        with self._turn:
            return self._found_starts()

    def _found_starts(self) -> np.ndarray:
        if self._starts is None:
            counts = [reader.n_rows for reader in self._readers]
            if sum(counts) == 0:
                raise ValueError(f"{self.files[0]} has no rows or is empty.")
            svmlight = [reader for reader in self._readers if isinstance(reader, SvmlightReader)]
            if svmlight:
                self.n_features, self.zero_based = settle_features(
                    svmlight, self._given_features, self.zero_based
                )
            self._starts = np.concatenate([[0], np.cumsum(counts)])
        return self._starts

    def rows(self, width: int = 1) -> Rows:
        """Return the rows, in blocks for `width` numbers made of each."""
        if not self.cache:
            return super().rows(width)
        if self._kept is None:
            self._kept = super().rows().whole()
        return rows_of(self._kept, width)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the features to an NPY file, block by block.

        Text files are parsed in each pass of a fit; a large one is best saved once and read
        from there, its `labels` beside it.

        Parameters
        ----------
        path : path
        overwrite : bool, default=False
            Replace a file of that name.
        """
        shape = self.shape
        if self.is_sparse:
            raise ValueError("sparse rows cannot be saved as NPY, which would hold every zero.")
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
        with atomic_write(path, overwrite=overwrite) as file:
            np.lib.format.write_array_header_1_0(file, header)
            for block in self.blocks():
                file.write(np.ascontiguousarray(block).data)

    def read(self, start: int, stop: int) -> Any:
        """Return rows as an array or CSR matrix.

        Parameters
        ----------
        start, stop : int
            First row and the row after the last.
        """
        n_rows = int(self._row_starts()[-1])
        check_integer("start", start, low=0, high=n_rows - 1)
        check_integer("stop", stop, low=start + 1, high=n_rows)
        rows = self._read(start, stop)
        if self.transform is not None:
            made, wanted = self._made(rows), (stop - start, self.shape[1])
            if made.shape != wanted:
                raise ValueError(
                    f"transform made a matrix of shape {made.shape} of {stop - start} rows, where "
                    f"{wanted} is expected; it must return one row for each, with the columns "
                    "that it makes of the first row."
                )
            rows = made
            if sparse.issparse(made) != self.is_sparse:
                rows = sparse.csr_matrix(made) if self.is_sparse else made.toarray()
        return converted(rows, self.dtype)

    def _made(self, rows: Any) -> Any:
        """Return what `transform` makes of rows, if it is a matrix of numbers."""
        made = self.transform(rows) if self.transform is not None else rows
        check_unmasked("what transform made", made)
        try:
            made = as_csr(made) if sparse.issparse(made) else np.asarray(made)
            if made.dtype.kind in "OUS":
                made = made.astype(float)
        except (TypeError, ValueError):
            made = None
        if made is None or made.ndim != 2 or made.dtype.kind not in "fiub":
            found = "no numbers" if made is None else f"shape {made.shape} and type {made.dtype}"
            raise ValueError(
                f"transform made {found} of {rows.shape[0]} rows; it must return a matrix of "
                "numbers, one row for each."
            )
        return made

    def _read(self, start: int, stop: int) -> Any:
        """Return rows as the files have them."""
        starts = self._row_starts()
        pieces = []
        for number, reader in enumerate(self._readers):
            low, high = int(starts[number]), int(starts[number + 1])
            if low < stop and start < high:
                with self._turn:
                    if self._reading is not reader:
                        self._reading.close()  # a process may have only so many open files
                        self._reading = reader
                    pieces.append(reader.read(max(start, low) - low, min(stop, high) - low))
        return join(pieces)

    def where(self, row: int) -> str:
        """Say where a row is."""
        starts = self._row_starts()
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return f"row {row - int(starts[number])} of {self.files[number]}"

    def labels(self) -> np.ndarray | None:
        """Return the labels of all rows, or None without a `target`."""
        if self.target is None and self.format != "svmlight":
            return None
        if self.format == "svmlight":
            self._row_starts()  # one thread makes the first pass, which finds the labels
            labels = np.concatenate([reader.values(0) for reader in self._readers])
        else:
            labels = labels_in(self._readers, self._name(self.target, "target"))
        missing = np.flatnonzero(is_missing(labels))
        if missing.size:
            raise ValueError(
                f"target={self.target!r}: {missing.size} label(s) are missing, the first in "
                f"{self.where(int(missing[0]))}; drop these rows or fill in their labels."
            )
        return labels

    def weights(self) -> np.ndarray | None:
        """Return the weights of all rows, or None without `sample_weight`."""
        if self.sample_weight is None:
            return None
        weights = weights_in(self._readers, self._name(self.sample_weight, "sample_weight"))
        unusable = np.flatnonzero(~np.isfinite(weights))
        if unusable.size:
            raise ValueError(
                f"sample_weight={self.sample_weight!r}: {unusable.size} weight(s) are missing or "
                f"not finite, the first in {self.where(int(unusable[0]))}; drop these rows or fill "
                "in their weights."
            )
        return weights

    def _name(self, column: Any, argument: str) -> str:
        first = self._readers[0]
        return first.column_names[index(first, column, argument)]


def _precision(dtype: Any) -> np.dtype:
    """Return the precision that an argument names."""
    try:
        if np.dtype(dtype) in (np.float32, np.float64):
            return np.dtype(dtype)
    except TypeError:
        pass
    raise ValueError(f"dtype={dtype!r} is not known; use float32 or float64.")
