"""The methods that are compared: how each is made, which settings are tried, what it keeps."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import supred
from supred.numerics.kernels import scale_gamma

Settings = list[dict[str, Any]]


@dataclass(frozen=True)
class Facts:
    """What the choice of settings may look at: prepared training rows, never held-out ones.

    Attributes
    ----------
    n_rows, n_features, n_classes : int
    gamma : float
        One over twice the total variance.
    n_components : int or None
        Latent dimensions that the user asks for.
    seed : int
    """

    n_rows: int
    n_features: int
    n_classes: int
    gamma: float
    n_components: int | None
    seed: int

    @classmethod
    def of(cls, X: Any, codes: np.ndarray, n_components: int | None, seed: int) -> "Facts":
        """Look at prepared rows and the indices of their classes."""
        gamma = scale_gamma(X, np.ones(X.shape[0]))
        n_classes = len(np.unique(codes))
        return cls(X.shape[0], X.shape[1], n_classes, gamma, n_components, seed)

    @property
    def dimensions(self) -> int:
        """Latent dimensions: those asked for, else one less than classes, if there are as many."""
        return min(self.n_components or max(self.n_classes - 1, 1), self.n_features)


@dataclass(frozen=True)
class Method:
    """A method that can be compared.

    Attributes
    ----------
    name : str
    make : function of a setting and the facts
        Returns an unfitted estimator.
    settings : function of the facts
        Settings to try, the one to begin with first. Each must be able to become JSON.
    basis : function of a fitted estimator
        Number of basis functions, None where the word has no meaning.
    arrays : function of a fitted estimator
        The arrays that prediction needs.
    latent : function of a fitted estimator and rows
        Latent coordinates; None where there are none.
    decide : function of a fitted estimator and latent coordinates
        Classes of latent coordinates; None where they cannot be told.
    needs : str
        A module without which the method cannot run.
    usual : bool
        Whether it is run when the user names no methods.
    """

    name: str
    make: Callable[[dict[str, Any], Facts], Any]
    settings: Callable[[Facts], Settings]
    basis: Callable[[Any], int | None]
    arrays: Callable[[Any], Sequence[np.ndarray]]
    latent: Callable[[Any, Any], np.ndarray] | None = None
    decide: Callable[[Any, np.ndarray], np.ndarray] | None = None
    needs: str = ""
    usual: bool = True

    @property
    def missing(self) -> str:
        """Why the method cannot run here, empty if it can."""
        if self.needs and importlib.util.find_spec(self.needs) is None:
            return f"{self.needs} is not installed"
        return ""


def _transform(model: Any, X: Any) -> np.ndarray:
    return np.asarray(model.transform(X))


def _own_arrays(model: Any) -> Sequence[np.ndarray]:
    return model._model_arrays()


def _own_decide(model: Any, Z: np.ndarray) -> np.ndarray:
    return model.classify_latent(Z)


def _svc_arrays(model: SVC) -> Sequence[np.ndarray]:
    return [np.asarray(model.support_vectors_), np.asarray(model.dual_coef_), model.intercept_]


def _grid(*settings: dict[str, Any]) -> Settings:
    return list(settings)


# LowDimSVC: centres enough for most tables; wide and narrow Gaussians, weak and strong ridge.
def _low_dim_settings(facts: Facts) -> Settings:
    return [
        {"gamma": round(facts.gamma * factor, 12), "alpha": alpha, "C": C}
        for factor, alpha, C in (
            (1, 1e-3, 1.0),
            (1, 1e-2, 10.0),
            (4, 1e-3, 1.0),
            (4, 1e-2, 10.0),
            (0.25, 1e-3, 10.0),
            (1, 1e-1, 1.0),
            (1, 1e-3, 100.0),
            (4, 1e-1, 1.0),
        )
    ]


def _low_dim(setting: dict[str, Any], facts: Facts) -> Any:
    # One-vs-rest SVMs want a dimension for each class but one; the log-loss gets by with fewer.
    few = facts.n_components is not None and facts.n_components < facts.n_classes - 1
    return supred.LowDimSVC(
        facts.n_components,
        n_centers=min(300, facts.n_rows),
        loss="log" if few else "hinge",
        random_state=facts.seed,
        **setting,
    )


# CategorySpace: a narrow kernel first, whose angles are safe; whitened it is sharper, but with
# a wide kernel all angles can come out alike.
def _category_settings(facts: Facts) -> Settings:
    settings: Settings = [
        {"kernel": "rbf", "gamma": round(facts.gamma * factor, 12), "whiten": whiten}
        for factor, whiten in ((16, False), (8, True), (2, True), (4, False), (32, True))
    ]
    if facts.n_features >= facts.n_classes:  # linear axes need as many features as classes
        settings.insert(2, {"kernel": "linear", "whiten": True})
        settings.append({"kernel": "linear", "whiten": False})
    return settings


def _embedding_settings(facts: Facts) -> Settings:
    most = facts.n_rows - 1
    return [
        {"beta": beta, "n_neighbors": min(neighbors, most), "classifier": classifier}
        for beta, neighbors, classifier in (
            (0.1, 12, "knn"),
            (0.1, 6, "knn"),
            (1.0, 12, "knn"),
            (0.1, 12, "linear"),
        )
    ]


def _lda_decide(model: Any, Z: np.ndarray) -> np.ndarray:
    # In its own coordinates every class has the unit covariance: the nearest mean, by priors.
    means = model.transform(model.means_)[:, : Z.shape[1]]
    scores = Z @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(model.priors_)
    return model.classes_[np.argmax(scores, axis=1)]


def _lda(setting: dict[str, Any], facts: Facts) -> Any:
    most = min(facts.n_classes - 1, facts.n_features)
    wanted = None if facts.n_components is None else min(facts.n_components, most)
    return LinearDiscriminantAnalysis(n_components=wanted, **setting)


def _pca_svc(setting: dict[str, Any], facts: Facts) -> Any:
    pca = PCA(min(setting["n_components"], facts.n_rows), random_state=facts.seed)
    svc = SVC(C=setting["C"], gamma=setting["gamma"])
    return Pipeline([("pca", pca), ("svc", svc)])


def _pca_settings(facts: Facts) -> Settings:
    few = facts.dimensions
    wider = [few] if facts.n_components else [few, min(2 * few + 1, facts.n_features)]
    return [
        {"n_components": n, "C": C, "gamma": "scale"} for C in (1.0, 10.0, 100.0) for n in wider
    ]


def _svc_settings(facts: Facts) -> Settings:
    wide = 2 * facts.gamma
    pairs = ((1.0, 1), (10.0, 1), (10.0, 4), (10.0, 0.25), (100.0, 1), (1.0, 4), (100.0, 0.25))
    return [{"C": C, "gamma": round(wide * factor, 12)} for C, factor in pairs]


def _nca(setting: dict[str, Any], facts: Facts) -> Any:
    nca = NeighborhoodComponentsAnalysis(facts.dimensions, max_iter=50, random_state=facts.seed)
    neighbors = KNeighborsClassifier(min(setting["n_neighbors"], facts.n_rows))
    return Pipeline([("nca", nca), ("knn", neighbors)])


def _umap(setting: dict[str, Any], facts: Facts) -> Any:
    from supred.app.comparison.umap_classifier import UmapClassifier

    return UmapClassifier(facts.dimensions, random_state=facts.seed, **setting)


def _first_step(model: Any, X: Any) -> np.ndarray:
    return np.asarray(model[:-1].transform(X))


def _last_step(model: Any, Z: np.ndarray) -> np.ndarray:
    return model[-1].predict(Z)


def _nca_arrays(model: Any) -> Sequence[np.ndarray]:
    # The neighbours are the projected training rows and their classes.
    neighbors, components = model[-1], model[0].components_
    rows = np.empty((neighbors.n_samples_fit_, components.shape[0]))
    return [components, rows, np.empty(neighbors.n_samples_fit_, dtype=np.int64)]


def _no_basis(model: Any) -> int | None:
    return None


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "LowDimSVC",
            _low_dim,
            _low_dim_settings,
            lambda model: model.n_basis_,
            _own_arrays,
            _transform,
            _own_decide,
        ),
        Method(
            "CategorySpace",
            # Few landmarks and one start cost no accuracy to speak of, and little time.
            lambda setting, facts: supred.CategorySpace(
                n_landmarks=500, n_init=0, random_state=facts.seed, **setting
            ),
            _category_settings,
            lambda model: model.kernel_.n_landmarks if model.kernel == "rbf" else None,
            _own_arrays,
            _transform,
            _own_decide,
        ),
        Method(
            "ClassConstrainedEmbedding",
            lambda setting, facts: supred.ClassConstrainedEmbedding(
                facts.n_components, random_state=facts.seed, **setting
            ),
            _embedding_settings,
            lambda model: len(model.embedding_),
            _own_arrays,
            _transform,
            _own_decide,
        ),
        Method(
            "MaxMarginProjection",
            lambda setting, facts: supred.MaxMarginProjection(
                None if facts.n_components is None else facts.dimensions, tol=1e-4, **setting
            ),
            lambda facts: _grid({"C": 1.0}, {"C": 0.1}, {"C": 10.0}, {"C": 0.01}),
            _no_basis,
            _own_arrays,
            _transform,
            _own_decide,
        ),
        Method(
            "KernelDiscriminantAnalysis",
            lambda setting, facts: supred.KernelDiscriminantAnalysis(
                None if facts.n_components is None else min(facts.dimensions, facts.n_classes - 1),
                random_state=facts.seed,
                **setting,
            ),
            lambda facts: [
                {"gamma": round(2 * facts.gamma * factor, 12), "alpha": alpha}
                for alpha in (1e-3, 1e-2)
                for factor in (1, 4, 0.25)
            ],
            lambda model: model.kernel_.n_landmarks,
            _own_arrays,
            _transform,
            _own_decide,
            usual=False,
        ),
        Method(
            "LDA",
            _lda,
            lambda facts: _grid({"solver": "svd"}, {"solver": "eigen", "shrinkage": "auto"}),
            _no_basis,
            lambda model: [model.coef_, model.intercept_],
            _transform,
            _lda_decide,
        ),
        Method(
            "NCA",
            _nca,
            lambda facts: _grid({"n_neighbors": 3}, {"n_neighbors": 1}, {"n_neighbors": 7}),
            lambda model: model[-1].n_samples_fit_,
            _nca_arrays,
            _first_step,
            _last_step,
        ),
        Method(
            "PCA + SVC",
            _pca_svc,
            _pca_settings,
            lambda model: int(model[-1].n_support_.sum()),
            lambda model: [model[0].components_, model[0].mean_, *_svc_arrays(model[-1])],
            _first_step,
            _last_step,
        ),
        Method(
            "SVC",
            lambda setting, facts: SVC(**setting),
            _svc_settings,
            lambda model: int(model.n_support_.sum()),
            _svc_arrays,
        ),
        Method(
            "UMAP",
            _umap,
            lambda facts: _grid({"n_neighbors": 15}, {"n_neighbors": 5}),
            lambda model: model.n_rows_,
            lambda model: model.kept_arrays(),
            _transform,
            lambda model, Z: model.classifier_.predict(Z),
            needs="umap",
        ),
    )
}

# Quick ones first: what they leave of their share of the time goes to the slow ones.
RUN_ORDER = (
    "LDA",
    "SVC",
    "LowDimSVC",
    "PCA + SVC",
    "KernelDiscriminantAnalysis",
    "ClassConstrainedEmbedding",
    "CategorySpace",
    "MaxMarginProjection",
    "NCA",
    "UMAP",
)
