"""A comparison of really fitted methods on a bundled table, for the tests of the page."""

import pickle
import platform
import warnings
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import supred
from supred import CategorySpace, LowDimSVC
from supred.app.comparison.result import Comparison, MethodResult
from supred.plotting import decision_regions
from supred.plotting.latent_model import take_apart


def compare_on(name: str) -> Comparison:
    """Fit a few methods on "wine" or "digits", three folds."""
    table: Any = load_wine() if name == "wine" else load_digits()
    some = slice(None, None, 2) if name == "digits" else slice(None)
    X, y = table.data[some].astype(float), table.target[some]
    methods = {
        "LowDimSVC": LowDimSVC(3 if name == "digits" else 2, n_centers=80, random_state=0),
        "CategorySpace": CategorySpace(whiten=True, random_state=0),
        "LDA": LinearDiscriminantAnalysis(n_components=2),
        "PCA + SVC": make_pipeline(PCA(2), SVC()),
        "SVC": SVC(),
    }
    results = [_measure(title, model, X, y) for title, model in methods.items()]
    best = min(results, key=lambda result: np.mean(result.fold_errors))
    results.append(MethodResult("supervised UMAP", "skipped", reason="umap-learn is not installed"))
    return Comparison(
        title=f"Comparison on {name}",
        target="cultivar" if name == "wine" else "digit",
        classes=[str(c) for c in table.target_names],
        features=[str(f) for f in table.feature_names],
        y=y,
        row_names=[str(k) for k in range(len(y))],
        preprocessing=["Features were scaled to mean zero and variance one inside each fold."],
        methods=results,
        seed=0,
        versions={
            "python": platform.python_version(),
            "supred": supred.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
        },
        command=f"supred compare --dataset {name}",
        advice=f"{best.name} is the most accurate.",
    )


def _measure(name: str, model: Any, X: np.ndarray, y: np.ndarray) -> MethodResult:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = cross_val_predict(clone(pipeline), X, y, cv=folds)
        began = perf_counter()
        fitted = pipeline.fit(X, y)
    fit_seconds = perf_counter() - began
    began = perf_counter()
    fitted.predict(X)
    predict_seconds = perf_counter() - began
    latent, regions, n_components = None, None, None
    if name != "SVC":
        project, classify = take_apart(fitted)
        if not hasattr(model, "transform"):  # PCA inside the last step
            inner = take_apart(fitted[-1])
            project, classify = (
                (lambda rows: inner.project(fitted[:-1].transform(rows))),
                inner.classify,
            )
        latent = np.asarray(project(X))
        n_components, latent = latent.shape[1], latent[:, :3]
        if classify is not None and n_components == 2:
            regions = decision_regions(classify, latent, np.unique(y), resolution=150)
    size = getattr(fitted[-1], "model_size_", None)
    history = getattr(fitted[-1], "history_", None)
    return MethodResult(
        name,
        "done",
        fold_errors=[float(np.mean(predicted[test] != y[test])) for _, test in folds.split(X, y)],
        n_components=n_components,
        n_basis=getattr(fitted[-1], "n_basis_", None),
        model_bytes=size.bytes if size is not None else len(pickle.dumps(fitted[-1])),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        parameters={"gamma": 0.0123456, "C": 1.0},
        predicted=predicted,
        latent=latent,
        regions=None if regions is None else tuple(regions),
        history=None if history is None else {k: v.tolist() for k, v in history.items()},
    )
