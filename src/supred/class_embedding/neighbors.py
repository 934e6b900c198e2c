"""Who is near whom: the neighbours of rows, searched for or taken from given distances.

A directed graph of neighbours is a sparse array that stores *squared* distances; a stored zero
is a neighbour at distance zero, an absent entry is no neighbour. Weights are made of it in a
second step (:mod:`supred.class_embedding.graph`), so that one search serves many widths.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from supred.base.state import register
from supred.common.warn import warn_caller
from supred.numerics.kernel_basis import distinct_rows
from supred.rows.blocks import rows_of

# A given distance below this part of the row's largest is a distance of zero: fast distance code
# leaves about 1e-8 of the rows' norm between a row and its own copy.
ROUNDING_OF_DISTANCES = 1e-5
# Up to this many features scikit-learn searches dense rows by a tree. Sparse rows are made dense
# there: the tree is faster, and both forms choose the same one of rows at equal distance.
TREE_FEATURES = 15


@register
@dataclass(frozen=True)
class NeighborIndex:
    """Rows that can be searched for nearest neighbours.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
    n_neighbors : int
    search : NearestNeighbors
        Fitted on `X`.

    Examples
    --------
    >>> import numpy as np
    >>> from supred.class_embedding.neighbors import NeighborIndex
    >>> index = NeighborIndex.of(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1)
    >>> index.among_rows().toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 4., 0.]])
    """

    X: Any
    n_neighbors: int
    search: NearestNeighbors

    # Where rows without a path to a labelled row go.
    placing = "each at its nearest row that has one"

    @classmethod
    def of(cls, X: Any, n_neighbors: int, n_jobs: int | None = None) -> "NeighborIndex":
        """Index the rows of `X`; sparse rows of few features as dense ones."""
        if sparse.issparse(X) and X.shape[1] <= TREE_FEATURES:
            X = X.toarray()
        return cls(X, n_neighbors, NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X))

    def among_rows(self) -> sparse.csr_array:
        """Return the squared distances from each row to its nearest other rows.

        A row with at least `n_neighbors` copies would see nothing but copies. Such copies are
        tied to the first of them, and that one sees its nearest rows that differ from it.
        """
        indices = self.search.kneighbors(None, self.n_neighbors, return_distance=False)
        graph = _graph_of(self.X, self.X, indices)
        distances = graph.data.reshape(indices.shape)
        buried = np.flatnonzero((distances == 0).all(axis=1))
        if buried.size == 0:
            return graph
        return _union(graph, self._past_copies(buried))

    def of_rows(self, X: Any) -> sparse.csr_array:
        """Return the squared distances from each row of `X` to its nearest indexed rows."""
        X = self._same_kind(X)
        indices = self.search.kneighbors(X, self.n_neighbors, return_distance=False)
        return _graph_of(X, self.X, indices)

    def to_state(self) -> dict[str, Any]:
        """Return the rows, of which the search is made again."""
        return {"X": self.X, "n_neighbors": self.n_neighbors}

    @classmethod
    def bytes_to_restore(cls, state: dict[str, Any]) -> int:
        """Return the memory that the tree takes, which there is of rows of few features."""
        n_rows, n_features = state["X"].shape
        if n_features > TREE_FEATURES:
            return 0
        return 8 * n_rows * ((2 if sparse.issparse(state["X"]) else 1) * n_features + 2)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "NeighborIndex":
        """Return the index whose state `to_state` returned."""
        return cls.of(**state)

    def of_batch(self, X: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the neighbours of new rows among indexed and new rows taken together.

        Returns
        -------
        to_indexed : sparse array of shape (n_new, n_rows)
        among_new : sparse array of shape (n_new, n_new)
            Squared distances to the `n_neighbors` nearest rows of both kinds.
        """
        X = self._same_kind(X)
        both: Any = (
            sparse.vstack([self.X, X], format="csr")
            if sparse.issparse(X)
            else np.vstack([self.X, X])
        )
        n_rows, n_new = self.X.shape[0], X.shape[0]
        search = NearestNeighbors(n_neighbors=self.n_neighbors + 1, n_jobs=self.search.n_jobs)
        indices = search.fit(both).kneighbors(X, return_distance=False)
        graph = _graph_of(X, both, indices).tocoo()
        other = graph.col != n_rows + graph.row
        value, head, tail = graph.data[other], graph.row[other], graph.col[other]
        old = tail < n_rows
        return (
            sparse.csr_array((value[old], (head[old], tail[old])), shape=(n_new, n_rows)),
            sparse.csr_array(
                (value[~old], (head[~old], tail[~old] - n_rows)), shape=(n_new, n_new)
            ),
        )

    def _same_kind(self, X: Any) -> Any:
        """Make `X` sparse or dense as the indexed rows are."""
        if sparse.issparse(self.X) and not sparse.issparse(X):
            return sparse.csr_matrix(X)
        if sparse.issparse(X) and not sparse.issparse(self.X):
            return X.toarray()
        return X

    def place(self, Z: np.ndarray, lost: np.ndarray) -> None:
        """Put each of the rows `lost` where its nearest row that is not lost lies in `Z`."""
        others = np.setdiff1d(np.arange(len(Z)), lost)
        search = NearestNeighbors(n_neighbors=1).fit(self.X[others])
        Z[lost] = Z[others[search.kneighbors(self.X[lost], return_distance=False)[:, 0]]]

    def arrays(self) -> list[np.ndarray]:
        """Return what is kept for new rows."""
        if sparse.issparse(self.X):
            return [self.X.data, self.X.indices, self.X.indptr]
        return [self.X]

    def _past_copies(self, rows: np.ndarray) -> sparse.csr_array:
        """Tie copies to the first of them, and that one to the nearest rows that differ."""
        n_rows = self.X.shape[0]
        own, copy_of = distinct_rows(self.X[rows])
        first, sizes = rows[own], np.bincount(copy_of)
        later = np.setdiff1d(np.arange(len(rows)), own)
        triplets = [(np.zeros(len(later)), first[copy_of[later]], rows[later])]
        for size in np.unique(sizes):
            # The copies come first in the list, then the rows wanted.
            chosen = first[sizes == size]
            count = min(int(size) + self.n_neighbors, n_rows)
            found = self.search.kneighbors(self.X[chosen], n_neighbors=count, return_distance=False)
            # Explicitly stored zeros are the copies; only the others are new.
            near = _graph_of(self.X[chosen], self.X, found).tocoo()
            new = near.data > 0
            triplets.append((near.data[new], chosen[near.row[new]], near.col[new]))
        values, heads, tails = (np.concatenate(parts) for parts in zip(*triplets, strict=True))
        return sparse.csr_array((values, (heads, tails)), shape=(n_rows, n_rows))


def squared_distances(X: Any, Y: Any, indices: np.ndarray) -> np.ndarray:
    """Return ``||x_i - y_j||^2`` for each j in row i of `indices`, from the differences.

    Unlike the expansion into products this gives exactly zero for equal rows, and the same
    answer for a row whatever other rows come with it.
    """

    def of_block(block: Any, indices: np.ndarray) -> np.ndarray:
        result = np.empty(indices.shape)
        for column in range(indices.shape[1]):
            result[:, column] = _squared_norms(block - Y[indices[:, column]])
        return result

    return rows_of(X).map(of_block, indices)


def _squared_norms(rows: Any) -> np.ndarray:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=float).ravel()
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


@register
@dataclass(frozen=True)
class GivenDistances:
    """Neighbours from distances that the user gives, with the methods of NeighborIndex.

    Every stored entry of a sparse graph is a neighbour; of a dense matrix the `n_neighbors`
    nearest are. Nothing has to be kept for new rows, which come with their distances.
    """

    n_neighbors: int

    # Where rows without a path to a labelled row go: no distance to them may be known.
    placing = "at the origin"

    def among_rows(self, D: Any) -> sparse.csr_array:
        """Return the squared distances from each row to its neighbours, itself left out.

        Parameters
        ----------
        D : ndarray or sparse matrix of shape (n_rows, n_rows)
        """
        if D.shape[0] != D.shape[1]:
            raise ValueError(
                "X must be square with affinity='precomputed' (distances between the training "
                f"rows); got shape {D.shape}."
            )
        if not sparse.issparse(D):
            _check_distances(D)
        graph = self._graph(D, itself=False)
        if graph.nnz > 1 and graph.data.min() == graph.data.max() > 0:
            warn_caller(
                f"All distances in X are equal ({np.sqrt(graph.data[0]):g}), so all neighbours "
                'weigh the same. A graph of KNeighborsTransformer needs mode="distance", not '
                '"connectivity".',
            )
        return graph

    def of_rows(self, D: Any) -> sparse.csr_array:
        """Return the squared distances from new rows to their neighbours.

        Parameters
        ----------
        D : ndarray or sparse matrix of shape (n_new, n_rows)
        """
        return self._graph(D, itself=True)

    def of_batch(self, D: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Raise a ValueError: the distances between new rows are not known."""
        raise ValueError(
            "transform_batch needs the distances between the new rows, which X does not hold "
            "with affinity='precomputed'; use transform."
        )

    def place(self, Z: np.ndarray, lost: np.ndarray) -> None:
        """Put the rows `lost` at the origin."""
        Z[lost] = 0.0

    def arrays(self) -> list[np.ndarray]:
        """Return what is kept for new rows."""
        return []

    def _graph(self, D: Any, *, itself: bool) -> sparse.csr_array:
        if sparse.issparse(D):
            graph = D.tocoo()
            heads, tails, values = graph.row, graph.col, graph.data.astype(float)
            kept = itself | (heads != tails)
            heads, tails, values = heads[kept], tails[kept], values[kept]
        else:
            D = np.array(D, dtype=float)
            if not itself:
                np.fill_diagonal(D, np.inf)
            count = min(self.n_neighbors, D.shape[1])
            tails = np.argsort(D, axis=1, kind="stable")[:, :count].ravel()
            heads = np.repeat(np.arange(D.shape[0]), count)
            values = D[heads, tails]
        if values.size == 0:
            return sparse.csr_array(D.shape, dtype=float)
        if values.min() < 0:
            raise ValueError(
                f"X holds a negative value ({values.min():g}) with affinity='precomputed'; "
                "give distances, which are at least 0."
            )
        farthest = np.zeros(D.shape[0])
        np.maximum.at(farthest, heads, values)
        values = np.where(values <= ROUNDING_OF_DISTANCES * farthest[heads], 0.0, values)
        return sparse.csr_array((values**2, (heads, tails)), shape=D.shape)


def _check_distances(D: np.ndarray) -> None:
    """Raise a ValueError for what must be similarities, and warn of distances that differ."""
    itself, largest = np.diagonal(D), D.max(axis=1)
    if itself.min() > D.min() and (itself == largest).all():
        raise ValueError(
            "X holds no distances, as affinity='precomputed' needs them: in each row the largest "
            "number is that of the row itself. Of similarities between 0 and 1 take one minus them."
        )
    difference = np.abs(D - D.T).max()
    if difference > 1e-5 * largest.max():
        warn_caller(
            f"the distances in X differ by up to {difference:.3g} from their transpose; of two "
            "rows, each is taken for a neighbour by its own. Check how X was computed.",
        )


def _graph_of(X: Any, Y: Any, indices: np.ndarray) -> sparse.csr_array:
    """Return the graph that stores the squared distances from row i of X to Y[indices[i]]."""
    n_rows, count = indices.shape
    return sparse.csr_array(
        (
            squared_distances(X, Y, indices).ravel(),
            indices.ravel(),
            np.arange(0, n_rows * count + 1, count),
        ),
        shape=(n_rows, Y.shape[0]),
    )


def _union(first: sparse.csr_array, second: sparse.csr_array) -> sparse.csr_array:
    """Return the union of the entries of two graphs, which agree where both have one."""
    # Adding would double common entries, and `maximum` would lose stored zeros.
    first, second = first.tocoo(), second.tocoo()
    heads = np.concatenate([first.row, second.row])
    tails = np.concatenate([first.col, second.col])
    values = np.concatenate([first.data, second.data])
    _, kept = np.unique(heads * np.int64(first.shape[1]) + tails, return_index=True)
    return sparse.csr_array((values[kept], (heads[kept], tails[kept])), shape=first.shape)
