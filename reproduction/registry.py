"""Which experiments and statements there are."""

import importlib

from reproduction.base import Experiment, Statement

PAPERS = {
    "low_dim_svm": "Low-dimensional SVM (Wang and Carreira-Perpinan 2014): `LowDimSVC`",
    "category_space": "Category space (Smith and Rangarajan 2016): `CategorySpace`",
    "class_constrained_embedding": "Classification constrained dimensionality reduction "
    "(Costa and Hero 2005): `ClassConstrainedEmbedding`",
    "max_margin_projection": "Max-margin dimensionality reduction (Chechik 2008): "
    "`MaxMarginProjection`",
}
# By paper, the modules in its folder; each has EXPERIMENT. Beside them, `statements`.
MODULES = {
    "low_dim_svm": (
        "z_step",
        "two_spirals",
        "many_spirals",
        "inner_loop",
        "newsgroups",
        "mnist_odd_even",
        "mnist_ten",
        "mnist_latent",
        "mnist_dimensions",
        "joint_training",
        "one_vs_one",
        "alternation",
        "speed_up",
    ),
    "category_space": ("linear_table", "kernel_tables", "projections", "widths", "algorithm"),
    "class_constrained_embedding": (
        "embeddings",
        "swiss_roll_table",
        "few_labels",
        "beta_and_mnist",
    ),
    "max_margin_projection": (
        "one_pair",
        "two_tasks",
        "transfer",
        "convergence",
        "rbf_convexity",
        "all_pairs",
    ),
}


def all_experiments() -> dict[str, Experiment]:
    """Return the experiments by name, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for paper, modules in MODULES.items():
        for module in modules:
            experiment = importlib.import_module(f"reproduction.{paper}.{module}").EXPERIMENT
            found[experiment.name] = experiment
    return found


def all_statements() -> list[Statement]:
    """Return what the papers say that no experiment measures."""
    modules = [importlib.import_module(f"reproduction.{paper}.statements") for paper in PAPERS]
    return [statement for module in modules for statement in module.STATEMENTS]


def choose(names: list[str] | None) -> list[Experiment]:
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
        if name not in known and not of_paper:
            raise ValueError(
                f"there is no experiment {name!r}; `python -m reproduction --list` names them."
            )
        chosen.update({name: known[name]} if name in known else of_paper)
    return list(chosen.values())
