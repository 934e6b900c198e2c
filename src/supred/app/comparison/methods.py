"""The methods that are compared, in the order of the table and in the order in which they run."""

from collections.abc import Sequence

from supred.app.comparison.method import Method
from supred.app.comparison.peers import PEERS
from supred.app.comparison.systems import SYSTEMS
from supred.app.tables.table import TableError

METHODS: dict[str, Method] = {method.name: method for method in (*SYSTEMS, *PEERS)}

# The strong and quick first, so that a short budget still has a good answer; the slow last.
RUN_ORDER = (
    "MajorityClass",
    "LDA",
    "LogisticRegression",
    "RandomForest",
    "SVC",
    "RBFNetClassifier",
    "HistGradientBoosting",
    "NearestNeighbors",
    "LowDimSVC",
    "CategorySpace",
    "ClassConstrainedEmbedding",
    "KernelDiscriminantAnalysis",
    "PCA + SVC",
    "MaxMarginProjection",
    "NCA",
    "UMAP",
)


def check_methods(methods: Sequence[str] | None) -> list[str]:
    """Return the names of the methods to run, or raise a TableError that lists what there is.

    Examples
    --------
    >>> from supred.app.comparison.methods import check_methods
    >>> check_methods(["svc", "lda"])
    ['SVC', 'LDA']
    """
    if not methods:
        return [name for name, method in METHODS.items() if method.usual]
    known = {name.lower().replace(" ", ""): name for name in METHODS}
    wanted = [name.lower().replace(" ", "") for name in methods]
    for name, key in zip(methods, wanted, strict=True):
        if key not in known:
            raise TableError(f"the method {name!r} is not known; use one of {', '.join(METHODS)}.")
    return [known[key] for key in wanted]
