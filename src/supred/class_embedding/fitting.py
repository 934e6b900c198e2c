"""From a problem to a result: the graph, then the flow or the eigenvectors, then the classifier."""

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from supred.class_embedding.components import describe_parts, describe_stranded, number_by_size
from supred.class_embedding.embedding import Coordinates, class_ties, embed_with_classes
from supred.class_embedding.flow_coordinates import FlowClassifier, circle_axes, flow_axes
from supred.class_embedding.graph import auto_epsilon, nearest_of, symmetric_weights
from supred.class_embedding.hidden_labels import (
    NEIGHBORS,
    choose_beta,
    choose_by_hidden_labels,
    enough_to_hide,
)
from supred.class_embedding.neighbors import GivenDistances, NeighborIndex
from supred.class_embedding.problem import Problem, Settings
from supred.class_embedding.propagation import auto_flow_beta, flow_from_classes
from supred.class_embedding.row_classifier import Training, decide_spectrally
from supred.class_embedding.shares import ClassShares, match_shares
from supred.common.arguments import check_one_per_row, random_generator
from supred.common.labels import index_among
from supred.common.warn import warn_caller

# The flow's residual where tol=0 asks eigenvectors for machine precision.
FLOW_TOL, FLOW_MAX_ITER = 1e-3, 2000


@dataclass(frozen=True)
class Graph:
    """The neighbours of the rows, and what their edges weigh.

    Attributes
    ----------
    index : NeighborIndex or GivenDistances
        Finds the neighbours of new rows.
    distances : sparse array of shape (n_rows, n_rows)
        Squared distances to neighbours, one direction.
    epsilon : float or None
        Width of the weights; None for a width of its own for each row.
    ties : sparse array of shape (n_classes, n_rows)
        Weights between classes and labelled rows.
    """

    index: NeighborIndex | GivenDistances
    distances: sparse.csr_array
    epsilon: float | None
    ties: sparse.csr_array

    def weights(self) -> sparse.csr_array:
        """Return the symmetric weights of the edges."""
        return symmetric_weights(self.distances, self.epsilon)


@dataclass(frozen=True)
class Solved:
    """Coordinates on a graph, and what was chosen for them.

    Attributes
    ----------
    graph : Graph
    coordinates : Coordinates
    class_index : ndarray of shape (n_rows,)
        The class that each row is given by the flow; the known labels with eigenvectors, -1 for
        none.
    flow : FlowClassifier or None
        Reads memberships off the coordinates, where there are enough of these.
    beta : float
    history : list of dict
    """

    graph: Graph
    coordinates: Coordinates
    class_index: np.ndarray
    flow: FlowClassifier | None
    beta: float
    history: list[dict[str, float]]


@dataclass(frozen=True)
class Result:
    """A fitted embedding: what the estimator copies."""

    problem: Problem
    solved: Solved
    classifier: Any
    training: Training | None
    transduction: np.ndarray


def fit_embedding(problem: Problem, settings: Settings) -> Result:
    """Return the embedding of a problem and its classifier."""
    graph = neighbor_graph(problem, settings)
    solve = follow_flow if problem.coordinates == "flow" else embed_spectrally
    solved = solve(problem, graph, settings)
    rows, class_index = solved.coordinates.rows, solved.class_index
    kind = settings.classifier if isinstance(settings.classifier, str) else None
    labelled = problem.class_index >= 0
    training = None
    classifier: Any
    if solved.flow is not None and kind in ("auto", "flow"):
        classifier = solved.flow
    elif kind == "flow":
        raise ValueError(
            f"classifier='flow' needs all {len(problem.classes) - 1} flow coordinates, but "
            f"n_components={problem.n_components}; use n_components=None or classifier='auto'."
        )
    else:
        # Fewer coordinates than flows lose memberships, but not the labels found by the flow.
        known = class_index >= 0 if kind == "auto" else labelled
        training = Training(
            rows[known],
            problem.classes[class_index[known]],
            np.where(labelled, problem.weights, 1.0)[known],
        )
        centers = solved.coordinates.centers
        classifier = settings.choice.train(training, centers, problem.classes)
    transduction = problem.classes[class_index]
    unknown = ~labelled if kind not in ("auto", "flow") else class_index < 0
    if unknown.any():
        found, name = classifier.predict(rows[unknown]), f"what classifier={classifier!r} predicts"
        index = index_among(found, problem.classes, name=name)
        check_one_per_row(name, index, int(unknown.sum()))
        transduction[unknown] = problem.classes[index]
    return Result(problem, solved, classifier, training, transduction)


def neighbor_graph(problem: Problem, settings: Settings) -> Graph:
    """Return the graph of nearest neighbours with its ties to the classes."""
    index: NeighborIndex | GivenDistances
    if settings.affinity == "precomputed":
        index = GivenDistances(problem.n_neighbors)
        distances = index.among_rows(problem.X)
    else:
        index = NeighborIndex.of(problem.X, problem.n_neighbors, settings.n_jobs)
        distances = index.among_rows()
    epsilon: float | None
    if settings.epsilon == "auto":
        epsilon = None if problem.coordinates == "flow" else auto_epsilon(distances)
    else:
        epsilon = None if settings.epsilon == "local" else float(settings.epsilon)
    ties = class_ties(problem.class_index, problem.weights, len(problem.classes))
    return Graph(index, distances, epsilon, ties)


def follow_flow(problem: Problem, graph: Graph, settings: Settings) -> Solved:
    """Let memberships flow from the class nodes, and take their principal axes as coordinates."""
    begin = time.perf_counter()
    graph, temperature, history = choose_neighbors(problem, graph, settings)
    W = graph.weights()
    beta = auto_flow_beta(W, graph.ties) if settings.beta == "auto" else float(settings.beta)
    max_iter = settings.max_iter or FLOW_MAX_ITER
    flow = flow_from_classes(W, graph.ties, beta, tol=settings.tol or FLOW_TOL, max_iter=max_iter)
    v, n_iter = flow.values, flow.n_iter
    if problem.shares is not None or not enough_to_hide(problem.class_index):
        shares = problem.shares or ClassShares.of(None, v.shape[1])
        v, n_more = match_shares(W, graph.ties, v, ~flow.stranded, shares)
        n_iter += n_more
    if problem.shares is not None:
        v[flow.stranded] = problem.shares.prior
    if flow.stopping_reason == "max_iter":
        warn_caller(
            f"The flow from the class nodes did not converge in {max_iter} steps (the relative "
            f"residual is {flow.residual:.1e}); raise max_iter or tol.",
            ConvergenceWarning,
        )
    if flow.stranded.any():
        message = describe_stranded(flow.components, flow.stranded, problem.names)
        warn_caller(message)
    count, n_flows = problem.n_components, v.shape[1] - 1
    axes = circle_axes(v) if count == 2 < n_flows else flow_axes(v)[:, :count]
    rows = (v - 1.0 / v.shape[1]) @ axes
    labelled = problem.class_index >= 0
    spent = time.perf_counter() - begin
    last = {"beta": beta, "seconds": spent, "residual": flow.residual}
    coordinates = Coordinates(
        rows,
        axes,
        None,
        number_by_size(flow.components),
        flow.stranded,
        "flow",
        flow.stopping_reason,
        flow.residual,
        n_iter,
    )
    return Solved(
        graph,
        coordinates,
        np.where(labelled, problem.class_index, v.argmax(axis=1)),
        FlowClassifier(axes, problem.classes, temperature) if count == n_flows else None,
        beta,
        [*history, last],
    )


def choose_neighbors(
    problem: Problem, graph: Graph, settings: Settings
) -> tuple[Graph, float, list[dict[str, float]]]:
    """Return the graph with the number of neighbours that hidden labels favour."""
    most = problem.n_neighbors
    search = settings.n_neighbors == "auto" and isinstance(graph.index, NeighborIndex)
    held_out = choose_by_hidden_labels(
        graph.distances,
        problem.class_index,
        problem.weights,
        graph.epsilon,
        settings.beta,
        (search and tuple(count for count in NEIGHBORS if count <= most)) or (most,),
        random_generator(settings.random_state),
    )
    if isinstance(graph.index, NeighborIndex) and held_out.n_neighbors < most:
        graph = replace(
            graph,
            index=replace(graph.index, n_neighbors=held_out.n_neighbors),
            distances=nearest_of(graph.distances, held_out.n_neighbors),
        )
    return graph, held_out.temperature, held_out.history


def embed_spectrally(problem: Problem, graph: Graph, settings: Settings) -> Solved:
    """Embed rows and class nodes by the eigenvectors of their graph, as the paper does."""
    W = graph.weights()
    beta = settings.beta
    history: list[dict[str, float]] = []
    if isinstance(beta, str):
        decide = partial(
            decide_spectrally,
            W=W,
            weights=problem.weights,
            n_classes=len(problem.classes),
            n_components=problem.n_components,
            choice=settings.choice,
            method=settings.eigen_solver,
        )
        random_state = random_generator(settings.random_state)
        beta, history = choose_beta(problem.class_index, decide, random_state, settings.n_jobs)
    begin = time.perf_counter()
    found = embed_with_classes(
        W,
        graph.ties,
        float(beta),
        problem.n_components,
        method=settings.eigen_solver,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    spent = time.perf_counter() - begin
    if found.stranded.any():
        graph.index.place(found.rows, np.flatnonzero(found.stranded))
    if found.parts.max() > 0:
        message = describe_parts(found.parts, found.stranded, problem.names, graph.index.placing)
        warn_caller(message)
    last = {"beta": float(beta), "seconds": spent, "residual": found.residual}
    return Solved(graph, found, problem.class_index, None, float(beta), [*history, last])
