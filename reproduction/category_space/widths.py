"""Over the kernel's width: warping to the axes, crowding at the origin, certificates."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Means, Part, Row, Values
from reproduction.category_space import PLAIN_KERNEL, TABLES, THREE_CLASSES
from reproduction.protocols import median_distance
from supred import CategorySpace

FACTORS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # of the median distance
MOST_ROWS = 150
TOL = 1e-6


def conditions(scatters: np.ndarray, W: np.ndarray) -> tuple[float, float]:
    """Return the largest eigenvalues of R - S(w): on all of R^KD, and on the tangent space.

    Both relative to the largest eigenvalue of the R_k. At most zero means: a global minimum
    (Rapcsak), and the second order necessary condition (47). Dense, for few dimensions.
    """
    K, D, _ = scatters.shape
    applied = np.stack([R @ w for R, w in zip(scatters, W.T, strict=True)], axis=1)
    M = W.T @ applied
    M = 0.5 * (M + M.T)
    whole = -np.kron(M, np.eye(D))
    for k, R in enumerate(scatters):
        whole[k * D : (k + 1) * D, k * D : (k + 1) * D] += R
    # Normal directions of W^T W = I at W are W S, S symmetric; the tangent space is the rest.
    normals = []
    for i in range(K):
        for j in range(i, K):
            S = np.zeros((K, K))
            S[i, j] = S[j, i] = 1.0
            normals.append((W @ S).T.ravel())
    basis = np.linalg.qr(np.array(normals).T, mode="complete")[0][:, len(normals) :]
    scale = max(float(np.linalg.eigvalsh(R)[-1]) for R in scatters)
    tangent = np.linalg.eigvalsh(basis.T @ whole @ basis)[-1]
    return float(np.linalg.eigvalsh(whole)[-1]) / scale, float(tangent) / scale


def measure(draw: Draw, table: str) -> dict[str, Any]:
    """Return warping, crowding and the conditions at each width; 2/3 to train."""
    X, y = draw.data.uci(TABLES[table])
    X, new, y, y_new = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=draw.seed)
    X, y, new, y_new = X[:MOST_ROWS], y[:MOST_ROWS], new[:MOST_ROWS], y_new[:MOST_ROWS]
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    values: dict[str, Any] = {}
    for factor in FACTORS:
        gamma = 0.5 / (factor * median_distance(X)) ** 2
        model = CategorySpace(
            **PLAIN_KERNEL,
            gamma=gamma,
            origin="class",
            n_landmarks=None,
            tol=1e-8,
            random_state=0,
        ).fit(X, y)
        # Features with the kernel as their inner product: B = G^(1/2) A^T of eq. 51.
        sizes, vectors = np.linalg.eigh(rbf_kernel(X, gamma=gamma))
        kept = sizes > 1e-10 * sizes[-1]
        Phi = vectors[:, kept] * np.sqrt(sizes[kept])
        W = np.linalg.lstsq(Phi, model.transform(X), rcond=None)[0]
        parts = [Phi[y == label] - Phi[y == label].mean(axis=0) for label in model.classes_]
        rapcsak, second = conditions(np.stack([part.T @ part for part in parts]), W)
        values[f"rapcsak, {factor:g}"] = 100.0 * (rapcsak <= TOL)
        values[f"second order, {factor:g}"] = 100.0 * (second <= TOL)
        values[f"eigenvalue, {factor:g}"] = rapcsak
        for kind, rows, labels in (("training", X, y), ("test", new, y_new)):
            Z = np.abs(model.transform(rows))
            lengths = np.linalg.norm(Z, axis=1)
            own = Z[np.arange(len(Z)), np.searchsorted(model.classes_, labels)]
            cosine = own / np.maximum(lengths, 1e-300)
            angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
            values[f"angle, {kind}, {factor:g}"] = float(np.mean(angle))
            values[f"crowd, {kind}, {factor:g}"] = 100 * float(
                np.mean(lengths < 0.1 * lengths.max())
            )
    return values


def figure(values: Values, path: Path) -> None:
    """Draw what depends on the width."""
    fig, axes = pictures.panels(1, 4, size=(3.6, 3.3))
    panels = {
        "angle, training": "mean angle to the own axis, training rows",
        "crowd, training": "training rows within 0.1 of the origin, %",
        "crowd, test": "test rows within 0.1 of the origin, %",
        "rapcsak": "draws where Rapcsak's condition holds, %",
    }
    for ax, (key, label) in zip(axes[0], panels.items(), strict=True):
        lines = {
            table: [[v[f"{key}, {factor:g}"] for v in found] for factor in FACTORS]
            for table, found in values.items()
        }
        pictures.curves(ax, FACTORS, lines, xlabel="width / median distance", ylabel=label)
        ax.set_xscale("log")
        ax.legend(frameon=False, fontsize=6)
        ax.yaxis.label.set_size(8)
    pictures.save(fig, path)


def claim_count(m: Means, key: str) -> list[int]:
    """Return at each width on how many sets a condition holds in most draws."""
    return [sum(m[t, f"{key}, {f:g}"] > 50 for t in THREE_CLASSES) for f in FACTORS]


def why_counts(m: Means, key: str) -> str:
    """Tell the counts."""
    told = ", ".join(f"{n} at {f:g}" for n, f in zip(claim_count(m, key), FACTORS, strict=True))
    return f"Of five sets it holds on {told} times the median distance."


EXPERIMENT = Experiment(
    name="category-widths",
    paper="category_space",
    title="Over the width: warping, crowding at the origin, and the global-minimum test with "
    "kernels",
    unit="width as a multiple of the median distance",
    protocol="K-CQS with a Gaussian kernel about each class's origin on standardised features, up "
    "to 150 training rows (2/3), tolerance 1e-8. Angle: between a row's projection and its own "
    "class's axis, signs ignored. Crowded: shorter than a tenth of the longest. The conditions are "
    "eigenvalues of R - S(w) in the features of the kernel (eq. 51 to 53, principal components "
    "where G is singular), at most 1e-6 of the largest eigenvalue of the R_k.",
    difference="the text states these observations without figures; widths chosen here",
    covers=(
        ("002:399-401", "warping over the width"),
        ("002:289-319", "the test in feature space"),
    ),
    parts=[Part(table, partial(measure, table=table)) for table in THREE_CLASSES],
    rows=[
        Row(f"{table}, width {factor:g}: {label}", table, f"{key}, {factor:g}", digits=1)
        for table in THREE_CLASSES
        for factor in FACTORS
        for label, key in (
            ("mean angle to the own axis, training rows", "angle, training"),
            ("rows near the origin, training, %", "crowd, training"),
            ("rows near the origin, test, %", "crowd, test"),
            ("Rapcsak's condition holds, % of draws", "rapcsak"),
            ("second order condition holds, % of draws", "second order"),
        )
    ],
    draws=(1, 10),
    claims=[
        Claim(
            "The kernel formulation warps the projected patterns towards their category axes.",
            lambda m: all(
                min(m[t, f"angle, training, {f:g}"] for f in FACTORS) < 20 for t in THREE_CLASSES
            ),
            "002:399, 002:417",
            lambda m: (
                "Least mean angle over the widths (55 degrees is no preference): "
                + ", ".join(
                    f"{t} {min(m[t, f'angle, training, {f:g}'] for f in FACTORS):.0f}"
                    for t in THREE_CLASSES
                )
                + ". The narrower the kernel, the closer; it is a fact about the training rows."
            ),
        ),
        Claim(
            "Patterns cluster near the origin of the category space.",
            lambda m: all(
                max(m[t, f"crowd, training, {f:g}"] for f in FACTORS[:3]) > 20
                for t in THREE_CLASSES
            ),
            "002:419",
            lambda m: (
                "Rows shorter than a tenth of the longest, largest share at narrow widths: "
                + ", ".join(
                    f"{t} {max(m[t, f'crowd, training, {f:g}'] for f in FACTORS[:3]):.0f} %"
                    for t in THREE_CLASSES
                )
                + "."
            ),
        ),
        Claim(
            "The Rapcsak analysis can be applied with a kernel, and recognises global minima.",
            lambda m: max(claim_count(m, "rapcsak")) >= 3,
            "002:287, 002:315",
            lambda m: (
                why_counts(m, "rapcsak")
                + " A narrow kernel makes the classes nearly orthogonal, so that each axis can be "
                "the leading direction of its own class."
            ),
        ),
        Claim(
            "The second order condition on the tangent space (47) holds at the solution.",
            lambda m: min(claim_count(m, "second order")) >= 4,
            "002:279-287",
            lambda m: why_counts(m, "second order"),
        ),
        Claim(
            "Where G is singular, principal component analysis of G makes it positive definite.",
            lambda m: all((t, f"rapcsak, {FACTORS[-1]:g}") in m for t in THREE_CLASSES),
            "002:319",
            "Done so for every width; wide kernels need it.",
        ),
    ],
    figure=figure,
)
