"""What texts mean as labels: whole numbers if all are written so, or classes that are known."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from supred.common.arguments import listed
from supred.rows.files.columns import LONGEST_SHOWN, import_pyarrow

# A label has so many characters at most, and fewer where that would take more than so many bytes
# in all: arrays hold each label in the width of the longest.
LONGEST_LABEL, SHORT_LABEL, MOST_LABEL_BYTES = 1000, 50, 64 * 2**20


def labels_of(texts: Any) -> np.ndarray:
    """Return labels: whole numbers if all texts are written so, else strings, None if missing.

    Parameters
    ----------
    texts : Arrow array
        What :func:`texts_of` returns.

    Examples
    --------
    >>> import pyarrow
    >>> from supred.rows.files.label_texts import labels_of
    >>> labels_of(pyarrow.array(["2", "10", "2"])), labels_of(pyarrow.array(["2", "010"]))
    (array([ 2, 10,  2]), array(['2', '010'], dtype='<U3'))
    """
    return labels_from(*_words_of(texts))


def labels_among(texts: Any, classes: np.ndarray) -> np.ndarray:
    """Return the known labels that texts stand for: as they are written, else as whole numbers.

    Parameters
    ----------
    texts : Arrow array
        What :func:`texts_of` returns, without gaps.
    classes : ndarray
        The known labels.

    Raises
    ------
    ValueError
        If a text is none of them.

    Examples
    --------
    >>> import numpy as np, pyarrow
    >>> from supred.rows.files.label_texts import labels_among
    >>> labels_among(pyarrow.array(["0.0", "1.0"]), np.array(["0.0", "0.5", "1.0"]))
    array(['0.0', '1.0'], dtype='<U3')
    >>> labels_among(pyarrow.array(["2.0", "1.0"]), np.array([1, 2, 3]))
    array([2, 1])
    """
    words, index = _words_of(texts)
    known = {str(label): place for place, label in enumerate(classes.tolist())}
    places = []
    for word in words:
        forms = [word, *(f"{n}{end}" for n in whole_numbers([word]) or () for end in ("", ".0"))]
        found = next((known[form] for form in forms if form in known), None)
        if found is None:
            raise ValueError(
                f"the label {word[:LONGEST_SHOWN]!r} was not seen in training; the model knows "
                f"{listed(list(known))}."
            )
        places.append(found)
    return classes[np.array(places, dtype=int)[index]]


def _words_of(texts: Any) -> tuple[list[str], np.ndarray]:
    """Return the different texts, and which of them each is; -1 if missing."""
    chunks = texts if hasattr(texts, "chunks") else import_pyarrow().chunked_array([texts])
    coded = chunks.dictionary_encode().unify_dictionaries().combine_chunks()
    if hasattr(coded, "chunks"):  # no chunk at all
        return [], np.empty(0, dtype=int)
    return coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy()


def labels_from(words: list[str], codes: np.ndarray) -> np.ndarray:
    """Return the labels of which texts are given once: `codes` are places, -1 a missing label."""
    cut = next((word for word in words if word.endswith("\0")), None)
    if cut is not None:  # two labels would become one
        raise ValueError(
            f"the label {cut[:LONGEST_SHOWN]!r} ends with a NUL character, which arrays of text "
            "do not keep; write the labels without it."
        )
    numbers = whole_numbers(words)
    labels: list[Any] = words if numbers is None else list(numbers)
    if codes.size and codes.min() < 0:
        return np.array([*labels, None], dtype=object)[codes]
    if labels and numbers is None:
        _check_longest(words, len(codes))
    return np.array(labels)[codes] if labels else np.empty(0, dtype=int)


def _check_longest(words: Sequence[str], n_rows: int) -> None:
    """Raise a ValueError if labels would take far more memory than their texts."""
    most = min(LONGEST_LABEL, max(SHORT_LABEL, MOST_LABEL_BYTES // (4 * max(n_rows, 1))))
    longest = max(words, key=len)
    if len(longest) > most:
        raise ValueError(
            f"the label that begins with {longest[:20]!r} has {len(longest)} characters, where at "
            f"most {most} can be used for {n_rows} rows; shorten it, or name another column of "
            "classes."
        )


def whole_numbers(words: Iterable[str]) -> list[int] | None:
    """Return texts as whole numbers if all are written as such, or all as 1.0, else None.

    007, +1 and -0 stay as they are written, so that predictions come out as labels went in.
    """
    words = list(words)
    for ending in ("", r"\.0"):
        if all(re.fullmatch(rf"(0|-?[1-9][0-9]{{0,14}}){ending}", word) for word in words):
            return [int(word.removesuffix(".0")) for word in words]
    return None
