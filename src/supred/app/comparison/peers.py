"""What a user would try beside supred: scikit-learn's classifiers, and UMAP if it is installed."""

from typing import Any

from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from supred.app.comparison.method import Facts, Method, Settings

# The floor of every comparison: always the largest class.
MAJORITY = "MajorityClass"


def _lda(setting: dict[str, Any], facts: Facts) -> Any:
    most = min(facts.n_classes - 1, facts.n_features)
    if facts.n_components is None or facts.n_components >= most:
        return LinearDiscriminantAnalysis(**setting)
    # LDA's own predictions use all directions; the error of fewer needs a classifier on them.
    project = LinearDiscriminantAnalysis(n_components=facts.n_components, **setting)
    return Pipeline([("project", project), ("classify", LinearDiscriminantAnalysis())])


def _boosting_settings(facts: Facts) -> Settings:
    few = {"min_samples_leaf": 5}
    first: Settings = [{"learning_rate": 0.1}, {"learning_rate": 0.05, **few}]
    if facts.n_rows < 500:  # leaves of 20 rows are too large
        first.reverse()
    return [*first, {"learning_rate": 0.2, "max_leaf_nodes": 8}, {"l2_regularization": 10.0, **few}]


def _boosting(setting: dict[str, Any], facts: Facts) -> Any:
    # One tree per class and iteration: many classes get fewer iterations.
    max_iter = 100 if facts.n_classes <= 10 else max(30, 1000 // facts.n_classes)
    return HistGradientBoostingClassifier(max_iter=max_iter, random_state=facts.seed, **setting)


def _pca_svc(setting: dict[str, Any], facts: Facts) -> Any:
    pca = PCA(min(setting["n_components"], facts.n_rows), random_state=facts.seed)
    return Pipeline([("pca", pca), ("svc", SVC(C=setting["C"]))])


def _pca_settings(facts: Facts) -> Settings:
    few = facts.dimensions
    wider = [few] if facts.n_components else [few, min(2 * few + 1, facts.n_features)]
    return [{"n_components": n, "C": C} for C in (1.0, 10.0, 100.0) for n in wider]


def _svc_settings(facts: Facts) -> Settings:
    pairs = ((10.0, 1), (10.0, 4), (1.0, 1), (100.0, 1), (10.0, 0.25), (100.0, 0.25), (30.0, 4))
    return [{"C": C, "gamma": round(2 * facts.gamma * factor, 12)} for C, factor in pairs]


def _neighbors(setting: dict[str, Any], facts: Facts) -> Any:
    weights = setting.get("weights", "uniform")
    return KNeighborsClassifier(min(setting["n_neighbors"], facts.n_rows), weights=weights)


def _nca(setting: dict[str, Any], facts: Facts) -> Any:
    nca = NeighborhoodComponentsAnalysis(facts.dimensions, max_iter=50, random_state=facts.seed)
    return Pipeline([("nca", nca), ("neighbors", _neighbors(setting, facts))])


def _umap(setting: dict[str, Any], facts: Facts) -> Any:
    from umap import UMAP

    embed = UMAP(
        n_components=facts.dimensions,
        n_neighbors=min(setting["n_neighbors"], facts.n_rows - 1),
        random_state=facts.seed,
        n_jobs=1,
    )
    return Pipeline([("umap", embed), ("neighbors", KNeighborsClassifier(min(3, facts.n_rows)))])


PEERS = (
    Method(MAJORITY, lambda setting, facts: DummyClassifier(strategy="most_frequent")),
    Method(
        "LDA", _lda, lambda facts: [{"solver": "svd"}, {"solver": "eigen", "shrinkage": "auto"}]
    ),
    Method(
        "LogisticRegression",
        lambda setting, facts: LogisticRegression(max_iter=300, **setting),
        lambda facts: [{"C": C} for C in (1.0, 0.1, 10.0, 0.01)],
    ),
    Method(
        "NearestNeighbors",
        _neighbors,
        lambda facts: [
            {"n_neighbors": 5, "weights": "distance"},
            {"n_neighbors": 1},
            {"n_neighbors": 15, "weights": "distance"},
        ],
        lambda fitted: fitted.n_samples_fit_,
        growth=2.0,
    ),
    Method(
        "RandomForest",
        lambda setting, facts: RandomForestClassifier(
            200, n_jobs=-1, random_state=facts.seed, **setting
        ),
        lambda facts: [{"max_features": "sqrt"}, {"max_features": 0.5}, {"min_samples_leaf": 3}],
        growth=1.2,
    ),
    Method(
        "SVC",
        lambda setting, facts: SVC(**setting),
        _svc_settings,
        lambda fitted: int(fitted.n_support_.sum()),
        growth=2.0,
    ),
    Method("HistGradientBoosting", _boosting, _boosting_settings),
    Method(
        "PCA + SVC",
        _pca_svc,
        _pca_settings,
        lambda fitted: int(fitted[-1].n_support_.sum()),
        growth=2.0,
        usual=False,
    ),
    Method(
        "NCA",
        _nca,
        lambda facts: [{"n_neighbors": k} for k in (3, 1, 7)],
        lambda fitted: fitted[-1].n_samples_fit_,
        growth=2.0,
        slow=True,
    ),
    Method(
        "UMAP",
        _umap,
        lambda facts: [{"n_neighbors": 15}, {"n_neighbors": 5}],
        lambda fitted: fitted[-1].n_samples_fit_,
        growth=1.2,
        slow=True,
        needs="umap",
    ),
)
