"""Which experiments there are."""

import importlib

from reproduction.base import Experiment

PAPERS = {
    "low_dim_svm": "Low-dimensional SVM (Wang and Carreira-Perpinan 2014): `LowDimSVC`",
    "category_space": "Category space (Smith and Rangarajan 2016): `CategorySpace`",
    "class_constrained_embedding": "Classification constrained dimensionality reduction "
    "(Costa and Hero 2005): `ClassConstrainedEmbedding`",
    "max_margin_projection": "Max-margin dimensionality reduction (Chechik 2008): "
    "`MaxMarginProjection`",
}
# By paper, the modules in its folder; each has EXPERIMENT.
MODULES = {
    "low_dim_svm": (
        "two_spirals",
        "many_spirals",
        "newsgroups",
        "mnist_odd_even",
        "mnist_ten",
        "mnist_dimensions",
        "alternation",
        "speed_up",
    ),
    "category_space": ("linear_table", "kernel_tables", "projections", "certificates"),
    "class_constrained_embedding": ("swiss_roll_table", "embeddings", "few_labels"),
    "max_margin_projection": ("one_pair", "two_tasks", "transfer", "all_pairs"),
}


def all_experiments() -> dict[str, Experiment]:
    """Return the experiments by name, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for paper, modules in MODULES.items():
        for module in modules:
            experiment = importlib.import_module(f"reproduction.{paper}.{module}").EXPERIMENT
            found[experiment.name] = experiment
    return found


def choose(names: list[str]) -> list[Experiment]:
    """Return the named experiments; a paper's key stands for all of its; none means all.

    Raises
    ------
    ValueError
        If a name is not known.
    """
    known = all_experiments()
    if not names:
        return list(known.values())
    chosen: dict[str, Experiment] = {}
    for name in names:
        of_paper = {e.name: e for e in known.values() if e.paper == name.replace("-", "_")}
        if name in known:
            chosen[name] = known[name]
        elif of_paper:
            chosen.update(of_paper)
        else:
            raise ValueError(
                f"there is no experiment {name!r}; `python -m reproduction --list` names them."
            )
    return list(chosen.values())
