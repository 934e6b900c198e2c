"""Readers of svmlight files: sparse rows, each of which begins with its label."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from supred.common.arguments import one_line
from supred.rows.files.columns import MOST_COLUMNS
from supred.rows.files.text_readers import Segment, SegmentedReader


class SvmlightReader(SegmentedReader):
    """Sparse rows of an svmlight file.

    Attributes
    ----------
    first_index, last_index : int
        Least and largest index of a feature, known after the first pass.
    shift : int
        What the caller subtracts from the indices: 1 where they count from one.
    """

    is_sparse = True

    def __init__(self, path: Path, title: str | None = None) -> None:
        super().__init__(path, title)
        self.shift = 0
        self.start_over()

    def start_over(self) -> None:
        """Forget what a first pass that was interrupted has noted."""
        self.first_index, self.last_index = 2**62, -1
        self._labels: list[np.ndarray] = []

    def look_at(self, data: bytes, place: Segment) -> int:
        """Note the labels and the range of the indices of a segment."""
        X, y = self._load(data, place.first_line)
        self._labels.append(y)
        if X.nnz:
            self.first_index = min(self.first_index, int(X.indices.min()))
            self.last_index = max(self.last_index, int(X.indices.max()))
        return len(y)

    def parse(self, data: bytes, place: Segment) -> sparse.csr_matrix:
        """Return the rows of a segment."""
        X = self._load(data, place.first_line)[0]
        return sparse.csr_matrix(
            (X.data, X.indices - self.shift, X.indptr), shape=(X.shape[0], self.n_columns)
        )

    def values(self, column: int) -> np.ndarray:
        """Return the labels."""
        _ = self.segments
        return np.concatenate(self._labels) if self._labels else np.empty(0)

    def _load(self, data: bytes, first_line: int) -> Any:
        from sklearn.datasets import load_svmlight_file

        try:
            return load_svmlight_file(io.BytesIO(data), zero_based=True)
        except (ValueError, IndexError, OverflowError) as error:
            reason = one_line(error)
            if "convert" in reason or "literal" in reason:  # Python's own words
                reason = "a line is not of the form LABEL INDEX:NUMBER INDEX:NUMBER ..."
            raise ValueError(
                f"{self.title} is not in svmlight format from line {first_line} on: {reason}"
            ) from None


def settle_features(
    readers: Sequence[SvmlightReader], n_features: int | None, zero_based: bool | str
) -> tuple[int, bool]:
    """Settle how many features files have, and whether they count from zero; return both.

    Parameters
    ----------
    readers : sequence of SvmlightReader
    n_features : int or None
    zero_based : bool or "auto"
        "auto" is from zero if there is an index of zero, else from one, but where `n_features`
        is given only if the other does not fit: rows of one more file must not be shifted.
    """
    lowest = min(readers, key=lambda reader: reader.first_index)
    highest = max(readers, key=lambda reader: reader.last_index)
    first, last = lowest.first_index, highest.last_index
    if zero_based == "auto":
        if n_features is not None and 0 < first <= last < n_features:
            raise ValueError(
                f"{highest.title} has features of index {first} to {last}, which fit n_features="
                f"{n_features} whether they count from 0 or from 1; pass zero_based=True or False, "
                "as it is for the training file."
            )
        zero_based = first == 0
    if first == 0 and not zero_based:
        raise ValueError(
            f"{lowest.title} has a feature of index 0, but zero_based=False; pass zero_based=True."
        )
    found = last + 1 if zero_based else last
    if n_features is None and found > MOST_COLUMNS:
        raise ValueError(
            f"{highest.title} has a feature of index {last}; at most {MOST_COLUMNS} can be used "
            "unless n_features says how many there are."
        )
    if n_features is not None and found > n_features:
        raise ValueError(
            f"{highest.title} has a feature of index {last}, but n_features={n_features}; raise "
            "n_features."
        )
    n_features = n_features or max(found, 1)
    for reader in readers:
        reader.shift, reader.n_columns = 0 if zero_based else 1, n_features
    return n_features, bool(zero_based)
