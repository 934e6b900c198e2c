"""How numbers and text travel inside the page: packed small, and harmless."""

import base64
import json
import zlib
from typing import Any

import numpy as np

# A browser must not see a tag, an entity or a line end in text that lies in a script element.
_UNSAFE = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def safe_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element whatever text it holds.

    Examples
    --------
    >>> from supred.app.report.packing import safe_json
    >>> safe_json({"class": "</script>"})
    '{"class":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    # A lone surrogate (undecodable bytes of a file) cannot be written as UTF-8.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def quantise(values: np.ndarray, bits: int, low: float, high: float) -> np.ndarray:
    """Return coordinates as whole numbers of steps between two limits.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Values beyond the limits are put on them.
    bits : int
        The greatest number, ``2 ** bits - 1``, marks a row without a finite coordinate.
    low, high : float
        Step 0 stands for `low` and step ``2 ** bits - 2`` for `high`.

    Returns
    -------
    steps : ndarray of uint8 or uint16 of shape (n_rows,)
    """
    finite = np.isfinite(values)
    greatest = 2**bits - 2
    steps = np.full(len(values), greatest + 1, dtype=np.uint8 if bits <= 8 else np.uint16)
    # Halves first: high - low may overflow.
    share = (values[finite] / 2 - low / 2) / (high / 2 - low / 2)
    steps[finite] = np.rint(np.clip(share, 0, 1) * greatest).astype(steps.dtype)
    return steps


def smallest_type(greatest: int) -> Any:
    """Return the narrowest unsigned type that holds a number."""
    return np.uint8 if greatest < 2**8 else np.uint16 if greatest < 2**16 else np.uint32


class ArrayStore:
    """Arrays of unsigned numbers, compressed together, that the page unpacks once.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.app.report.packing import ArrayStore
    >>> store = ArrayStore()
    >>> store.add(np.array([1, 2, 3], dtype=np.uint8))
    {'at': 0, 'length': 3, 'bytes': 1}
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: np.ndarray) -> dict[str, int]:
        """Keep an array and return where the page finds it.

        Its lowest bytes come first, then all second bytes and so on: high bytes are much alike
        and compress well when they lie together.
        """
        width = array.dtype.itemsize
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).ravel()
        planes = little.view(np.uint8).reshape(-1, width).T
        place = {"at": self._size, "length": array.size, "bytes": width}
        self._parts.append(planes.tobytes())
        self._size += planes.size
        return place

    def add_text(self, values: list[str]) -> dict[str, int]:
        """Keep a list of strings, as JSON."""
        text = json.dumps(values).encode("ascii")
        return self.add(np.frombuffer(text, dtype=np.uint8))

    def packed(self) -> str:
        """Return everything, compressed (zlib) and in base64."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")
