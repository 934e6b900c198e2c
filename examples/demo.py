"""RBFNetClassifier and LowDimSVC beside SVC, LDA and NCA on the digits: a table and a map."""

import argparse
import pickle
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from supred import LowDimSVC, RBFNetClassifier
from supred.plotting import MapDisplay


class Line(NamedTuple):
    """One line of the table."""

    method: str
    error: str
    dimensions: str
    basis: str
    size: str
    fit: str
    predict: str


HEAD = Line(
    "method", "test error %", "latent dims", "basis functions", "model bytes", "fit s", "predict ms"
)


def model_bytes(model: Any) -> int:
    """Return the size of what a model needs to predict: its own word, else its pickle."""
    return model.model_size_.bytes if hasattr(model, "model_size_") else len(pickle.dumps(model))


def measure(name: str, model: Any, parts: tuple, dimensions: str, basis: Any) -> Line:
    """Fit on the training part and measure on the test part."""
    X_train, X_test, y_train, y_test = parts
    began = perf_counter()
    model.fit(X_train, y_train)
    fit_seconds = perf_counter() - began
    seconds = []
    for _ in range(5):
        began = perf_counter()
        predicted = model.predict(X_test)
        seconds.append(perf_counter() - began)
    return Line(
        name,
        f"{100 * np.mean(predicted != y_test):.2f}",
        dimensions,
        str(basis(model)),
        f"{model_bytes(model):,}",
        f"{fit_seconds:.2f}",
        f"{1000 * np.median(seconds):.1f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="out", help="folder for the picture (default: out)")
    folder = Path(parser.parse_args().out)
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    parts = tuple(train_test_split(X, y, test_size=0.4, stratify=y, random_state=0))

    network = RBFNetClassifier(random_state=0)
    map_network = RBFNetClassifier(n_components=2, random_state=0)
    fixed = LowDimSVC(n_centers=300, random_state=0)
    nca = make_pipeline(
        NeighborhoodComponentsAnalysis(9, max_iter=50, random_state=0), KNeighborsClassifier(3)
    )
    lines = [
        HEAD,
        measure("RBFNetClassifier", network, parts, "9", lambda m: len(m.centers_)),
        measure("RBFNetClassifier, the map", map_network, parts, "2", lambda m: len(m.centers_)),
        measure("LowDimSVC", fixed, parts, "9", lambda m: m.n_basis_),
        measure("SVC", SVC(C=10), parts, "-", lambda m: len(m.support_)),
        measure("LDA", LinearDiscriminantAnalysis(), parts, "9", lambda m: "-"),
        measure("NCA + 3-NN", nca, parts, "9", lambda m: len(parts[0])),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    print("scikit-learn's digits, 1078 training rows, 719 test rows\n")
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join(cells))

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "map.png"
    display = MapDisplay.from_estimator(
        map_network, X=parts[1], y=parts[3], title="Digits that the network has not seen"
    )
    display.figure_.savefig(path, dpi=110)
    print(f"\nThe test rows on a map: {path}")


if __name__ == "__main__":
    main()
