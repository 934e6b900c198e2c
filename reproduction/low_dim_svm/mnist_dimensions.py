"""MNIST: the error over the number of latent dimensions."""

from functools import lru_cache, partial
from pathlib import Path

from reproduction import pictures
from reproduction.base import Claim, Draw, Experiment, Part, Row, Values
from reproduction.protocols import Rows, draw_rows, error_on_test, low_dim_svm
from supred.low_dim_svm.classifier import LowDimSVC

DIMENSIONS = tuple(range(1, 21))


CS = {True: (1.0,), False: (0.1, 1.0, 10.0)}


def rows_of(draw: Draw) -> Rows:
    """Return as many validation as training rows, and the official test rows."""
    size = 3000 if draw.quick else 10_000
    return draw_rows(draw.data.mnist(), size, size, draw.seed)


def fit(rows: Rows, L: int, Cs: tuple[float, ...], draw: Draw) -> LowDimSVC:
    """Fit with L dimensions, C by the validation rows where there is a choice."""
    n_centers = 500 if draw.quick else 2500
    return low_dim_svm(rows, L, gammas=(1 / 32,), Cs=Cs, n_centers=n_centers, seed=draw.seed)


@lru_cache(maxsize=3)
def chosen_C(draw: Draw) -> float:
    """Return the C that the validation rows choose with K - 1 = 9 dimensions."""
    Cs = CS[draw.quick]
    return Cs[0] if len(Cs) == 1 else float(fit(rows_of(draw), 9, Cs, draw).C)


def measure(draw: Draw, L: int) -> dict[str, float]:
    """Return the test error with L dimensions."""
    rows = rows_of(draw)
    return {"error": error_on_test(fit(rows, L, (chosen_C(draw),), draw), rows)}


def figure(values: Values, draw: Draw, path: Path) -> None:
    """Draw the error over L."""
    fig, axes = pictures.panels(1, 1, size=(5.5, 3.8))
    lines = {"ours": [[v["error"] for v in values.get(f"L = {L}", [])] for L in DIMENSIONS]}
    pictures.curves(
        axes[0, 0], DIMENSIONS, lines, xlabel="latent dimensions L", ylabel="test error %"
    )
    axes[0, 0].set(yscale="log", xticks=DIMENSIONS[::2])
    ticks = [3, 5, 10, 20, 50]
    axes[0, 0].set_yticks(ticks, [str(tick) for tick in ticks])
    axes[0, 0].axvline(9, color="0.6", linewidth=0.8, linestyle="--")
    axes[0, 0].annotate("K - 1", (9, axes[0, 0].get_ylim()[1] * 0.8), fontsize=8)
    axes[0, 0].minorticks_off()
    pictures.save(fig, path)


EXPERIMENT = Experiment(
    name="mnist-dimensions",
    paper="low_dim_svm",
    title="MNIST: error over L = 1..20",
    unit="test error %",
    protocol="10 000 training and 10 000 validation rows, M = 2500, sigma = 4; C by the "
    "validation rows at L = 9, then the same for all L. The paper shows a curve.",
    quick_note="3000 + 3000 rows, M = 500, C = 1.",
    parts=[Part(f"L = {L}", partial(measure, L=L)) for L in DIMENSIONS],
    rows=[Row(f"L = {L}", f"L = {L}") for L in DIMENSIONS],
    draws=(1, 3),
    claims=[
        Claim(
            "The error falls steeply with L and hardly at all beyond K - 1 = 9.",
            lambda m: (
                m["L = 2", "error"] > 2 * m["L = 9", "error"]
                and m["L = 9", "error"] - min(m[f"L = {L}", "error"] for L in range(10, 21)) < 0.7
            ),
            "The start puts the classes at the corners of a simplex, which has K - 1 dimensions; "
            "further ones stay empty.",
        ),
    ],
    figure=figure,
)
