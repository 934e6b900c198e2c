"""Algorithm 1 and its variants on the linear tables: tolerance, steps, certificates."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.category_space import PLAIN, TABLES
from reproduction.category_space.widths import TOL, conditions
from supred import CategorySpace

MAX_ITER = 2000
ORIGINS = ("class", "global")
RAW = "heuristic, raw features"
STEPS = ("squared", "heuristic", "line search", RAW)


def polar(Y: np.ndarray) -> np.ndarray:
    """Return U V^T of the thin SVD: the W step (22)."""
    left, _, right = np.linalg.svd(Y, full_matrices=False)
    return left @ right


def heuristic_z(a: np.ndarray, eps: float) -> np.ndarray:
    """Return the printed heuristic (26): the slopes less their mean."""
    slopes = a / np.sqrt(np.square(a) + eps)
    return slopes - slopes.mean()


def line_search_z(a: np.ndarray, eps: float) -> np.ndarray:
    """Return the slopes about the m at which they sum to zero (the 1D search of 002:184)."""

    def total(m: float) -> float:
        return float(np.sum((a - m) / np.sqrt(np.square(a - m) + eps)))

    m = brentq(total, a.min() - 1e-9, a.max() + 1e-9)
    return (a - m) / np.sqrt(np.square(a - m) + eps)


def iterate(classes: list[np.ndarray], step: str, seed: int) -> tuple[list[float], str]:
    """Run Algorithm 1 from a random W until ||W - W'||_F <= 1e-8; return objectives and ending.

    `step` is "squared", "heuristic" or "line search"; the last two are of the absolute criterion.
    """
    D, K = classes[0].shape[1], len(classes)
    W = np.linalg.qr(np.random.default_rng(seed).normal(size=(D, K)))[0]
    total = sum(float(np.square(X - X.mean(axis=0)).sum()) for X in classes)
    eps = 1e-6 * total / sum(len(X) for X in classes)
    before, objectives = W, []
    for _ in range(MAX_ITER):
        columns, objective = [], 0.0
        for X, w in zip(classes, W.T, strict=True):
            a = X @ w
            if step == "squared":
                z = a - a.mean()
                objective += 0.5 * float(z @ z)
            else:
                z = (heuristic_z if step == "heuristic" else line_search_z)(a, eps)
                objective += float(np.sqrt(np.square(a - np.median(a)) + eps).sum())
            columns.append(X.T @ z)
        objectives.append(objective)
        new = polar(np.array(columns).T)
        if np.linalg.norm(new - W) <= 1e-8:
            return objectives, "converged"
        if np.linalg.norm(new - before) <= 1e-8:
            return objectives, "cycle"
        before, W = W, new
    return objectives, "max_iter"


def measure(draw: Draw, table: str) -> dict[str, Any]:
    """Run Algorithm 1 from five starts, and judge supred's solution by the certificates."""
    X, y = draw.data.uci(TABLES[table])
    X, _, y, _ = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=draw.seed)
    X, y = X[:1500], y[:1500]
    raw = [X[y == label] for label in np.unique(y)]
    X = StandardScaler().fit_transform(X)
    classes = [X[y == label] for label in np.unique(y)]
    found: dict[str, Any] = {}
    for step in STEPS:
        own = raw if step == RAW else classes
        runs = [iterate(own, step.split(",")[0], seed) for seed in range(5)]
        last = [objectives[-1] for objectives, _ in runs]
        endings = [ending for _, ending in runs]
        found[f"{step}: converged"] = 20.0 * endings.count("converged")
        found[f"{step}: cycle"] = 20.0 * endings.count("cycle")
        found[f"{step}: iterations"] = float(np.mean([len(objectives) for objectives, _ in runs]))
        found[f"{step}: falls"] = float(max(_largest_fall(objectives) for objectives, _ in runs))
        found[f"{step}: best"] = max(last)
        found[f"{step}: spread"] = 100 * (max(last) - min(last)) / max(last)
        found[f"{step}: curve"] = runs[0][0][:200]
    for origin in ORIGINS:
        model = CategorySpace(**PLAIN, origin=origin, tol=1e-8, random_state=draw.seed).fit(X, y)
        center = X.mean(axis=0)
        parts = [part - (part.mean(axis=0) if origin == "class" else center) for part in classes]
        scatters = np.stack([part.T @ part for part in parts])
        rapcsak, second = conditions(scatters, model.components_.T)
        found[f"{origin}: rapcsak"] = 100.0 * (rapcsak <= TOL)
        found[f"{origin}: second order"] = 100.0 * (second <= TOL)
        found[f"{origin}: any"] = 100.0 * (model.certificate(X, y).kind != "none")
        loose = CategorySpace(**PLAIN, origin=origin, random_state=draw.seed).fit(X, y)
        found[f"{origin}: tolerance"] = 100 * abs(loose.objective_ / model.objective_ - 1)
        found[f"{origin}: iterations, 1e-8"] = float(model.n_iter_)
        found[f"{origin}: iterations, 1e-6"] = float(loose.n_iter_)
    return found


def _largest_fall(objectives: list[float]) -> float:
    """Return the largest relative fall of the objective in one iteration, in %."""
    if len(objectives) < 2:
        return 0.0
    return 100 * max(0.0, float(-np.min(np.diff(objectives)) / objectives[-1]))


def figure(values: Values, path: Path) -> None:
    """Draw the objective over the iterations of the first draw, relative to its largest value."""
    fig, axes = pictures.panels(2, 4, size=(3.1, 2.6))
    for ax, (table, found) in zip(axes.flat, values.items(), strict=False):
        for k, step in enumerate(STEPS):
            curve = np.array(found[0][f"{step}: curve"])
            ax.plot(curve / curve.max(), color=pictures.COLORS[k], lw=1, label=step)
        ax.set_title(table, fontsize=9)
        ax.set(xscale="symlog", xlabel="iteration", ylabel="objective / largest")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=7)
    pictures.save(fig, path)


def why_share(m: Means, key: str) -> str:
    """Tell the share of each set."""
    return ", ".join(f"{table} {m[table, key]:.0f} %" for table in TABLES)


EXPERIMENT = Experiment(
    name="category-algorithm",
    paper="category_space",
    title="Algorithm 1, its heuristic step and the certificates (linear)",
    unit="five random starts; standardised training parts",
    protocol="Algorithm 1 as printed (z about the class mean, polar decomposition, ||W - W'||_F <= "
    "1e-8) from five random W; the absolute criterion by the printed heuristic (26) and with the "
    "one-dimensional search that makes z sum to zero; at most 2000 iterations, 1500 rows. Below, "
    "supred's solution (6 starts, tolerance 1e-8) judged by Rapcsak's condition, by the second "
    "order condition on the tangent space, and by any certificate (the dual one is ours).",
    covers=(
        ("002:321-340", "Algorithm 1"),
        ("002:237-287", "the analysis in the Euclidean setting"),
    ),
    parts=[Part(table, partial(measure, table=table)) for table in TABLES],
    rows=[
        Row(f"{table}: {label}", table, key, digits=digits)
        for table in TABLES
        for label, key, digits in (
            ("squared, starts that converge, %", "squared: converged", 0),
            ("squared, iterations", "squared: iterations", 0),
            ("squared, spread over the starts, %", "squared: spread", 2),
            ("heuristic, starts that converge, %", "heuristic: converged", 0),
            ("heuristic, starts that cycle, %", "heuristic: cycle", 0),
            ("heuristic, largest fall of the objective, %", "heuristic: falls", 2),
            ("heuristic on raw features, starts that converge, %", f"{RAW}: converged", 0),
            ("heuristic on raw features, starts that cycle, %", f"{RAW}: cycle", 0),
            ("line search, starts that converge, %", "line search: converged", 0),
            ("line search, largest fall of the objective, %", "line search: falls", 2),
            ("class origin: Rapcsak's condition, % of draws", "class: rapcsak", 0),
            ("class origin: second order condition, % of draws", "class: second order", 0),
            ("class origin: some certificate, % of draws", "class: any", 0),
            ("global origin: Rapcsak's condition, % of draws", "global: rapcsak", 0),
            ("global origin: second order condition, % of draws", "global: second order", 0),
            ("global origin: some certificate, % of draws", "global: any", 0),
            ("class origin: iterations at 1e-8", "class: iterations, 1e-8", 0),
            ("class origin: iterations at 1e-6 (default)", "class: iterations, 1e-6", 0),
            (
                "class origin: objective at 1e-6 against 1e-8, difference in %",
                "class: tolerance",
                6,
            ),
        )
    ],
    draws=(1, 10),
    claims=[
        Claim(
            "Algorithm 1 converges without step sizes to a tolerance of 1e-8.",
            lambda m: all(m[t, "squared: converged"] > 90 for t in TABLES),
            "002:339, 002:393, 002:417",
            lambda m: (
                "Starts that converge: "
                + why_share(m, "squared: converged")
                + ". The objective never falls. supred measures the distance to a stationary point "
                "instead, which a slow iteration cannot feign; the default 1e-6 loses "
                f"{max(m[t, 'class: tolerance'] for t in TABLES):.1g} % of the objective at most."
            ),
        ),
        Claim(
            "The heuristic step (26) is a valid solution for the absolute criterion.",
            lambda m: all(
                m[t, f"{step}: converged"] > 90 for t in TABLES for step in ("heuristic", RAW)
            ),
            "002:176-184, 002:235",
            lambda m: (
                "Starts that converge: "
                + why_share(m, "heuristic: converged")
                + "; on raw features "
                + why_share(m, f"{RAW}: converged")
                + " converge and "
                + why_share(m, f"{RAW}: cycle")
                + " cycle"
                + "; with the one-dimensional search "
                + why_share(m, "line search: converged")
                + " converge. The mean is subtracted after the slopes are taken: not a majoriser."
            ),
        ),
        Claim(
            "Rapcsak's condition recognises a global minimum when it is reached (linear).",
            lambda m: np.mean([m[t, f"{o}: rapcsak"] for t in TABLES for o in ORIGINS]) > 50,
            "002:25, 002:287",
            lambda m: (
                "It holds in "
                + why_share(m, "class: rapcsak")
                + " of the draws (class origin), although some certificate proves "
                + why_share(m, "class: any")
                + " optimal: it is sufficient, and needs every axis to be the leading eigenvector "
                "of its own class's scatter. With narrow kernels it does hold (category-widths)."
            ),
        ),
        Claim(
            "The second order necessary condition (47) holds at the solution.",
            lambda m: all(m[t, f"{o}: second order"] > 90 for t in TABLES for o in ORIGINS),
            "002:279-287",
            lambda m: "Class origin: " + why_share(m, "class: second order") + " of the draws.",
        ),
    ],
    figure=figure,
)
