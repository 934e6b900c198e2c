"""The systems of supred in the comparison."""

from typing import Any

import supred
from supred.app.comparison.method import Facts, Method, Settings


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


def _category_settings(facts: Facts) -> Settings:
    """Return kernel and whitening; width and ridge are chosen by leave-one-out."""
    kernels = ["rbf"]
    if facts.n_features >= facts.n_classes:  # linear axes need as many features as classes
        kernels.append("linear")
    return [{"kernel": kernel, "whiten": whiten} for kernel in kernels for whiten in (True, False)]


def _discriminant_settings(facts: Facts) -> Settings:
    return [{}] + [
        {"gamma": round(2 * facts.gamma * factor, 12), "alpha": alpha}
        for alpha in (1e-3, 1e-2)
        for factor in (1, 4, 0.25)
    ]


SYSTEMS = (
    Method(
        "RBFNetClassifier",
        lambda setting, facts: supred.RBFNetClassifier(
            facts.n_components, n_jobs=-1, random_state=facts.seed, **setting
        ),
        # It tunes itself, on validation rows of its own.
        basis=lambda fitted: len(fitted.centers_),
    ),
    Method(
        "LowDimSVC",
        _low_dim,
        # Width and ridge are chosen by leave-one-out.
        lambda facts: [{"C": C} for C in (1.0, 10.0, 100.0, 0.1)],
        lambda fitted: fitted.n_basis_,
    ),
    Method(
        "CategorySpace",
        # Few landmarks and one start cost no accuracy to speak of, and little time.
        lambda setting, facts: supred.CategorySpace(
            n_landmarks=500, n_init=0, random_state=facts.seed, **setting
        ),
        _category_settings,
        lambda fitted: fitted.kernel_.n_landmarks if fitted.kernel == "rbf" else None,
    ),
    Method(
        "ClassConstrainedEmbedding",
        lambda setting, facts: supred.ClassConstrainedEmbedding(
            facts.n_components, random_state=facts.seed, **setting
        ),
        lambda facts: [
            {},
            {"n_neighbors": min(20, facts.n_rows - 1)},
            {"coordinates": "spectral", "beta": 0.1},
            {"coordinates": "spectral", "beta": 0.1, "classifier": "linear"},
        ],
        lambda fitted: len(fitted.embedding_),
        growth=1.5,
        uses_unlabelled=True,
    ),
    Method(
        "MaxMarginProjection",
        lambda setting, facts: supred.MaxMarginProjection(
            None if facts.n_components is None else facts.dimensions, tol=1e-4, **setting
        ),
        lambda facts: [{"C": C} for C in (1.0, 0.1, 10.0, 0.01)],
        slow=True,
    ),
    Method(
        "KernelDiscriminantAnalysis",
        lambda setting, facts: supred.KernelDiscriminantAnalysis(
            None if facts.n_components is None else min(facts.dimensions, facts.n_classes - 1),
            random_state=facts.seed,
            **setting,
        ),
        _discriminant_settings,
        lambda fitted: fitted.kernel_.n_landmarks,
        usual=False,
    ),
)
