"""Where the width of an RBF kernel is a convex problem (the paper's last paragraph)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values

SEPARATIONS = (0.5, 1.0, 2.0, 4.0, 8.0)  # distance of the class means, in standard deviations
TABLES = ("iris", "wine", "seeds")
WIDTHS = np.geomspace(0.01, 100.0, 81)
N_ROWS = 100


def dual_value(scales: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """Return F(s) = max_alpha of the dual with K = exp(-sum_j s_j (x_j - x'_j)^2), C = 10."""
    Z = X * np.sqrt(np.maximum(scales, 0.0))
    squared = np.square(Z).sum(axis=1)
    K = np.exp(-np.maximum(squared[:, None] + squared - 2 * Z @ Z.T, 0.0))
    svm = SVC(C=10.0, kernel="precomputed", tol=1e-6).fit(K, y)
    signed = svm.dual_coef_[0]
    support = svm.support_
    return float(np.abs(signed).sum() - 0.5 * signed @ K[np.ix_(support, support)] @ signed)


def measure(draw: Draw, name: str) -> dict[str, Any]:
    """Return where F is convex: over one width, and over two scales at their minimum."""
    X, y = rows_of(draw, name)
    values = np.array([dual_value(np.full(X.shape[1], s), X, y) for s in WIDTHS])
    least = int(np.argmin(values))
    # Slopes between neighbours; convex where they rise.
    slopes = np.diff(values) / np.diff(WIDTHS)
    rises = np.diff(slopes) >= -1e-6 * np.abs(slopes).max()
    low = high = least - 1  # rises[i] is about WIDTHS[i + 1]
    inside = 0 < least < len(WIDTHS) - 1
    while inside and low > 0 and rises[low - 1]:
        low -= 1
    while inside and high < len(rises) - 1 and rises[high + 1]:
        high += 1
    from_data = 1 / float(np.median(pdist(X, "sqeuclidean")))
    return {
        "convex": 100 * float(np.mean(rises)),
        "minimum": float(inside),
        "region": float(WIDTHS[high + 1] / WIDTHS[low + 1]) if inside and rises[least - 1] else 1.0,
        "identified": float(inside and WIDTHS[low + 1] <= from_data <= WIDTHS[high + 1]),
        "hessian": float(_curved_upwards(X[:, :2], y)),
        "curve": values,
    }


def _curved_upwards(X: np.ndarray, y: np.ndarray) -> bool:
    """Whether the Hessian of F over two scales is positive semidefinite at the minimum."""
    found = minimize(
        lambda logs: dual_value(np.exp(logs), X, y),
        np.zeros(2),
        method="Nelder-Mead",
        options={"maxiter": 80},
    )
    s = np.exp(found.x)
    step = 0.05 * s
    H = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            a, b = step * (np.arange(2) == i), step * (np.arange(2) == j)
            H[i, j] = (
                dual_value(s + a + b, X, y)
                - dual_value(s + a - b, X, y)
                - dual_value(s - a + b, X, y)
                + dual_value(s - a - b, X, y)
            ) / (4 * step[i] * step[j])
    return bool(np.linalg.eigvalsh(H)[0] >= -1e-3 * abs(np.linalg.eigvalsh(H)[1]))


def rows_of(draw: Draw, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two Gaussians whose means lie apart by a number, or two classes of a table."""
    if name in TABLES:
        X, y = draw.data.uci(name)
        keep = np.isin(y, np.unique(y)[1:])
        X, y = StandardScaler().fit_transform(X[keep]), np.where(y[keep] == np.unique(y)[2], 1, -1)
        chosen = np.random.default_rng(draw.seed).permutation(len(y))[:N_ROWS]
        return X[chosen], y[chosen]
    rng = np.random.default_rng(draw.seed)
    y = np.where(np.arange(N_ROWS) % 2, 1, -1)
    X = rng.normal(size=(N_ROWS, 2))
    X[:, 0] += 0.5 * float(name.split()[-1]) * y
    return X, y


def figure(values: Values, path: Path) -> None:
    """Draw F over the width."""
    fig, axes = pictures.panels(1, 2, size=(4.8, 3.6))
    groups = [[name for name in values if (name in TABLES) == chosen] for chosen in (False, True)]
    for ax, names in zip(axes[0], groups, strict=True):
        for k, name in enumerate(names):
            curve = np.array(values[name][0]["curve"])
            ax.plot(WIDTHS, curve / curve.min(), color=pictures.COLORS[k], label=name)
        ax.set(xscale="log", yscale="log", xlabel="scale s", ylabel="F(s) / least")
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    pictures.save(fig, path)


NAMES = (*(f"means apart by {d:g}" for d in SEPARATIONS), *TABLES)


def why_regions(m: Means) -> str:
    """Tell the regions."""
    return "Factor between the ends of the convex region: " + ", ".join(
        f"{name} {m[name, 'region']:.0f}" for name in NAMES
    )


EXPERIMENT = Experiment(
    name="rbf-convexity",
    paper="max_margin_projection",
    title="The width of an RBF kernel: where the problem is convex",
    unit="F(s), the SVM's dual optimum over the scale s",
    protocol="Two Gaussians of 50 rows each whose means lie 0.5 to 8 standard deviations apart, "
    "and two classes of UCI tables; C = 10; s from 0.01 to 100. Convex: the slope of F rises. The "
    "region is the longest one around the minimum. The Hessian is that over the first two "
    "features' scales. Identified: the region holds the scale that the median distance gives.",
    difference="the text gives no data and no conditions ('in the full version'); data chosen here",
    parts=[Part(name, partial(measure, name=name)) for name in NAMES],
    rows=[
        Row(f"{name}: {label}", name, key, digits=digits)
        for name in NAMES
        for label, key, digits in (
            ("widths where F is convex, %", "convex", 0),
            ("draws with a minimum inside", "minimum", 1),
            ("convex region about the minimum, factor of s", "region", 1),
            ("draws whose median distance gives a width in it", "identified", 1),
            ("draws with a positive semidefinite Hessian there", "hessian", 1),
        )
    ],
    draws=(2, 10),
    claims=[
        Claim(
            "Convex over all widths only for well separated problems.",
            lambda m: (
                m["means apart by 8", "convex"] > m["means apart by 0.5", "convex"]
                and m["means apart by 0.5", "convex"] < 99
            ),
            "004:39",
            lambda m: (
                "Share of the widths: "
                + ", ".join(f"{name} {m[name, 'convex']:.0f} %" for name in NAMES)
                + "."
            ),
        ),
        Claim(
            "There is a convex region around the optimum.",
            lambda m: np.mean([m[name, "region"] for name in NAMES if m[name, "minimum"]]) > 1.5,
            "004:39",
            why_regions,
        ),
        Claim(
            "The convex region can often be identified from the data.",
            lambda m: np.mean([m[name, "identified"] for name in NAMES]) > 0.5,
            "004:39",
            lambda m: (
                "Checked as: s = 1 / (median squared distance) lies in the region. Share of the "
                "draws: "
                + ", ".join(f"{name} {100 * m[name, 'identified']:.0f} %" for name in NAMES)
                + "."
            ),
            "the text does not say how; the median distance is chosen here",
        ),
    ],
    figure=figure,
)
