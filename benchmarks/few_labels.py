"""Few labels: ClassConstrainedEmbedding beside Poisson learning and scikit-learn's methods.

``python -m benchmarks few_labels`` labels a few rows of each class of a table and prints the
accuracy on the unlabelled rows and on new ones, for 1, 2, 5 and 10 labels per class and ten draws
of them, the same for every method. Methods that take a graph get the same one. Real tables are
read from the folder in the environment variable SUPRED_DATA and left out without it; Poisson
learning and PoissonMBO (package graphlearning, in the extra `bench`) are left out where it is not
installed. ``--quick`` takes three draws of the small tables, ``--only`` and ``--methods`` a part
of the whole, which takes about an hour. Ends with code 1 if a figure is not reached.

The settings of the flow were chosen on other rows of MNIST and on other draws of digits.
"""

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from benchmarks._report import Row, print_rows, spread
from supred import ClassConstrainedEmbedding
from supred.class_embedding.graph import symmetric_weights
from supred.class_embedding.neighbors import GivenDistances
from supred.datasets import make_classes_on_swiss_roll
from supred.datasets.real import DataNotFoundError, load_mnist, load_uci

N_NEIGHBORS = 10
OURS, PRIOR = "ClassConstrainedEmbedding", "ClassConstrainedEmbedding, uniform prior"
POISSON, MBO = "Poisson learning", "PoissonMBO, uniform prior"
SPREADING, SELF = "LabelSpreading", "SelfTrainingClassifier"
# Asked on 10 000 rows of MNIST, by labels per class: without priors, with them, and by how many
# points new rows may be worse.
ASKED = {1: (76.0, 82.0, 1.5), 2: (81.0, 86.0, 1.5), 5: (87.0, 90.0, 1.0), 10: (88.0, 90.0, 1.0)}


@dataclass(frozen=True)
class Table:
    """Rows to embed, new rows, and the graphs of both."""

    name: str
    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    truth: np.ndarray
    graph: Any
    new_graph: Any
    weights: Any

    @classmethod
    def of(cls, name: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, truth: Any) -> "Table":
        """Search the neighbours of all rows."""
        search = KNeighborsTransformer(n_neighbors=N_NEIGHBORS, mode="distance").fit(X)
        graph = search.kneighbors_graph(mode="distance")
        distances = GivenDistances(N_NEIGHBORS).among_rows(graph)
        new_graph = search.kneighbors_graph(new, mode="distance")
        weights = symmetric_weights(distances, None)
        return cls(name, X, y, new, np.asarray(truth), graph, new_graph, weights)


def tables(quick: bool, only: str | None) -> Iterator[Table]:
    """Yield the tables that are there, or one of them; neighbours are searched for these alone."""
    for name in ("MNIST", "digits", "satellite", "segmentation", "swiss roll"):
        if only not in (None, name) or (quick and name == "MNIST"):
            continue
        try:
            yield Table.of(name, *_rows(name))
        except DataNotFoundError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def _rows(name: str) -> tuple[Any, ...]:
    """Return rows and labels, and new rows and theirs."""
    if name == "MNIST":
        X, y, _, _ = load_mnist()
        # Settings were chosen on the rows before and after these.
        order = np.random.RandomState(7).permutation(60_000)[10_000:22_000]
        X, y = X[order], y[order].astype(int)
        return X[:10_000], y[:10_000], X[10_000:], y[10_000:]
    if name == "swiss roll":
        X, y = make_classes_on_swiss_roll(2000, random_state=5)
        return X[:1000], y[:1000], X[1000:], y[1000:]
    if name == "digits":
        return _split(*load_digits(return_X_y=True))
    X, y = load_uci(name)
    return _split(StandardScaler().fit_transform(X), np.unique(y, return_inverse=True)[1])


def _split(X: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    order = np.random.RandomState(1).permutation(len(y))
    first, last = order[: int(0.75 * len(y))], order[int(0.75 * len(y)) :]
    return X[first], y[first], X[last], y[last]


def draw_labels(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Return the labels with `per_class` of each class left, -1 for the others."""
    random = np.random.RandomState(10_000 + seed)  # other draws than those of the choices
    some = np.full(len(y), -1)
    for k in np.unique(y):
        some[random.choice(np.flatnonzero(y == k), per_class, replace=False)] = k
    return some


# Labels of the training rows, and what predicts new ones, if anything does.
Answer = tuple[np.ndarray, Callable[[], np.ndarray] | None]


def ours(table: Table, some: np.ndarray, **parameters: Any) -> Answer:
    model = ClassConstrainedEmbedding(affinity="precomputed", **parameters)
    model.fit(table.graph, some)
    return model.transduction_, lambda: model.predict(table.new_graph)


def poisson(table: Table, some: np.ndarray) -> Answer:
    from graphlearning import ssl

    known = np.flatnonzero(some >= 0)
    return ssl.poisson(table.weights).fit_predict(known, some[known]), None


def poisson_mbo(table: Table, some: np.ndarray) -> Answer:
    from graphlearning import ssl

    known, n_classes = np.flatnonzero(some >= 0), some.max() + 1
    peer = ssl.poisson_mbo(table.weights, np.full(n_classes, 1.0 / n_classes))
    return peer.fit_predict(known, some[known]), None


def spreading(table: Table, some: np.ndarray) -> Answer:
    peer = LabelSpreading(kernel="knn", n_neighbors=N_NEIGHBORS).fit(table.X, some)
    return peer.transduction_, lambda: peer.predict(table.new)


def self_training(table: Table, some: np.ndarray) -> Answer:
    # On raw pixels a fit takes minutes.
    reduce = PCA(min(50, table.X.shape[1]), random_state=0).fit(table.X)
    rows, new = reduce.transform(table.X), reduce.transform(table.new)
    base = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    peer = SelfTrainingClassifier(base, max_iter=3).fit(rows, some)
    return peer.predict(rows), lambda: peer.predict(new)


def methods(wanted: str | None) -> dict[str, Callable[[Table, np.ndarray], Answer]]:
    """Return the methods whose names contain one of the words that `wanted` lists."""
    found: dict[str, Callable[[Table, np.ndarray], Answer]] = {
        OURS: ours,
        PRIOR: lambda table, some: ours(table, some, class_prior="uniform"),
        SPREADING: spreading,
        SELF: self_training,
    }
    if importlib.util.find_spec("graphlearning"):
        found |= {POISSON: poisson, MBO: poisson_mbo}
    else:
        print("graphlearning is not installed: no Poisson learning", file=sys.stderr)
    words = (wanted or "").lower().split(",")
    return {name: how for name, how in found.items() if any(w in name.lower() for w in words)}


def measure(
    table: Table, per_class: int, n_draws: int, wanted: str | None
) -> dict[str, np.ndarray]:
    """Return accuracy % on unlabelled and new rows and seconds, shape (n_draws, 3), by method."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(n_draws):
        some = draw_labels(table.y, per_class, seed)
        hidden = some == -1
        for name, answer in methods(wanted).items():
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels, predict = answer(table, some)
                spent = time.perf_counter() - begin
                later = np.nan if predict is None else 100 * np.mean(predict() == table.truth)
            known = 100 * np.mean(labels[hidden] == table.y[hidden])
            found.setdefault(name, []).append([float(known), float(later), spent])
    return {name: np.array(values) for name, values in found.items()}


def report(table: Table, per_class: int, n_draws: int, wanted: str | None) -> Iterator[Row]:
    found = measure(table, per_class, n_draws, wanted)
    at = f"{table.name}, {per_class} per class"
    mean = {name: values.mean(axis=0) for name, values in found.items()}
    no_prior, with_prior, lag = ASKED[per_class] if table.name == "MNIST" else (None, None, None)
    for name, values in found.items():
        needed = no_prior if name == OURS else with_prior if name == PRIOR else None
        if table.name == "digits" and name == OURS and SPREADING in found:
            needed = mean[SPREADING][0]
        yield Row(
            f"{at}: {name}, unlabelled rows %",
            spread(values[:, 0], 1),
            required="-" if needed is None else f">= {needed:.1f}",
            reached=None if needed is None else bool(mean[name][0] >= needed),
        )
    for name, peer in ((OURS, POISSON), (PRIOR, MBO)):
        if name in found and peer in found:
            difference = found[name][:, 0] - found[peer][:, 0]
            wide = difference.std(ddof=1) / np.sqrt(n_draws)
            yield Row(
                f"{at}: {name} less {peer}, points",
                f"{difference.mean():+.1f} +- {wide:.1f}",
                required=">= 0, within the standard error",
                reached=bool(difference.mean() >= -wide),
            )
            yield Row(
                f"{at}: time of {name} / {peer}",
                f"{mean[name][2] / mean[peer][2]:.2f}",
                required="<= 1",
                reached=bool(mean[name][2] <= mean[peer][2]),
            )
    for name in (OURS, PRIOR, SPREADING, SELF):
        if name in found:
            yield Row(f"{at}: {name}, new rows %", spread(found[name][:, 1], 1))
    if lag is not None and OURS in found:
        below = mean[OURS][0] - mean[OURS][1]
        yield Row(f"{at}: new rows below", f"{below:.1f}", "-", f"<= {lag}", bool(below <= lag))
    if table.name == "digits" and {OURS, SPREADING} <= set(found):
        gain = mean[OURS][1] - mean[SPREADING][1]
        name = f"{at}: new rows above LabelSpreading's"
        yield Row(name, f"{gain:+.1f}", "-", "> 0", bool(gain > 0))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks few_labels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three draws of the small tables")
    parser.add_argument("--only", help="one table: MNIST, digits, satellite, ...")
    parser.add_argument("--draws", type=int, help="how often labels are drawn (default 10)")
    parser.add_argument("--methods", help="parts of names, such as class,poisson")
    options = parser.parse_args(arguments)
    n_draws = options.draws or (3 if options.quick else 10)
    good = True
    for table in tables(options.quick, options.only):
        labels = (25, 50, 100) if table.name == "swiss roll" else tuple(ASKED)
        for per_class in labels[::3] if options.quick else labels:
            rows = report(table, per_class, n_draws, options.methods)
            good &= print_rows(f"{table.name}, {per_class} labels per class", rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
