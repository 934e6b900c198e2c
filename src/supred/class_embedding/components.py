"""Connected parts of a graph with class nodes: their eigenvectors, and how to speak of them.

A graph with p parts has p eigenvectors of eigenvalue 1. One combination of them is constant; the
others tell the parts apart.
"""

from typing import Any

import numpy as np

from supred.common.arguments import listed
from supred.numerics.eigen import eigh

# How many rows a message names.
NAMED = 10


def part_vectors(parts: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Return the eigenvectors of eigenvalue 1: D^(1/2) times the indicator of each part.

    The parts are in the order of their first node, that is, of their first class.
    """
    _, first, index = np.unique(parts, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    vectors = np.zeros((len(parts), len(first)))
    vectors[np.arange(len(parts)), place[index]] = np.sqrt(degrees)
    return vectors / np.linalg.norm(vectors, axis=0)


def part_contrasts(indicators: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Return the eigenvectors of eigenvalue 1 without the constant: they tell parts apart.

    Which basis of this space to take, the graph does not say. The one here is the limit that is
    reached when each part is tied to the next, in the order of their first classes, and the
    weight of these ties goes to zero. Along the first coordinate the parts lie in that order,
    no two of them at one place.

    Parameters
    ----------
    indicators : ndarray of shape (n_nodes, n_parts)
        From :func:`part_vectors`.
    degrees : ndarray of shape (n_nodes,)

    Returns
    -------
    contrasts : ndarray of shape (n_nodes, n_parts - 1)
        Orthonormal, and orthogonal to D^(1/2) times the constant.
    """
    n_parts = indicators.shape[1]
    beside = np.arange(n_parts - 1)
    chain = np.zeros((n_parts, n_parts))  # the Laplacian of a path
    chain[beside, beside + 1] = chain[beside + 1, beside] = -1.0
    chain[np.diag_indices(n_parts)] = -chain.sum(axis=1)
    volumes = (np.sqrt(degrees) @ indicators) ** 2
    # Relative to their mean, which leaves the vectors as they are.
    scale = np.sqrt(volumes.mean() / volumes)
    _, turned = eigh(chain * np.outer(scale, scale))
    return indicators @ turned[:, 1:]


def number_by_size(parts: np.ndarray) -> np.ndarray:
    """Return the parts numbered anew, the largest first."""
    _, index, counts = np.unique(parts, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-counts, kind="stable"))[index]


def describe_parts(parts: np.ndarray, stranded: np.ndarray, names: Any, rule: str) -> str:
    """Say into how many parts the graph falls, which rows are cut off and where they are put.

    Parameters
    ----------
    parts : ndarray of shape (n_rows,)
        From :func:`number_by_size`.
    stranded : ndarray of bool, shape (n_rows,)
        Rows with no path to a labelled row.
    names : sequence or None
        What to call the rows; their numbers if None.
    rule : str
        Where stranded rows are placed.
    """
    text = [f"The neighbour graph with its class nodes falls into {parts.max() + 1} parts."]
    apart = np.flatnonzero((parts > 0) & ~stranded)
    if apart.size:
        text.append(
            f"Cut off from the largest part: {_names(apart, names)}, with labelled rows among "
            "them. The first coordinates tell these parts apart, in the order of their classes."
        )
    if stranded.any():
        text.append(
            f"With no path to a labelled row: {_names(np.flatnonzero(stranded), names)}; "
            f"placed {rule}."
        )
    text.append("See parts_ and stranded_rows_; a larger n_neighbors or epsilon joins parts.")
    return " ".join(text)


def describe_stranded(components: np.ndarray, stranded: np.ndarray, names: Any) -> str:
    """Say which rows no flow reaches, and what they get.

    Parameters
    ----------
    components : ndarray of shape (n_rows,)
    stranded : ndarray of bool, shape (n_rows,)
        Rows of components without a labelled row.
    names : sequence or None
        What to call the rows; their numbers if None.
    """
    count = len(np.unique(components[stranded]))
    return (
        f"{count} component(s) of the neighbour graph have no labelled row: "
        f"{_names(np.flatnonzero(stranded), names)}. Their rows get the shares of the classes; "
        "label one of them (see stranded_rows_ and suggest) or raise n_neighbors."
    )


def _names(rows: np.ndarray, names: Any) -> str:
    called = rows.tolist() if names is None else [names[row] for row in rows]
    return f"row(s) {listed(called, NAMED)}"
