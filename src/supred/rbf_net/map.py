"""Maps: a second, small network from the latent space of the first to few dimensions.

One layer of Gaussians straight to two dimensions is hard to train and overfits. The first
network, with one dimension less than there are classes, separates them; the second only has to
lay them out.
"""

from dataclasses import dataclass, replace

import numpy as np

from supred.common.arguments import all_finite
from supred.low_dim_svm.starts import sphere_codes
from supred.rbf_net.choices import (
    Candidate,
    Runners,
    Training,
    scores_in_blocks,
)
from supred.rbf_net.network import Networks, latent
from supred.rbf_net.parts import Part
from supred.rbf_net.problem import Scaling, Table, scaling_of
from supred.rbf_net.training import Report, Result, calibrated, problem_of, run_checked
from supred.rbf_net.verdict import Verdict, verdict_of

# Gaussians of the second network: so many per class, and at least.
CENTERS_PER_CLASS, LEAST_CENTERS = 10, 100
# Steps of the second network as a share of the first's, and the least.
STEP_SHARE, LEAST_STEPS = 0.5, 500
WIDTH = 4.0
# The second network sees the latent coordinates of rows with the first one's noise, this many
# times each: those of the rows that the first was trained on are too good.
NOISY_COPIES = 2
# Much noise can smear the classes over each other: less of it then competes on held-out rows.
LESS_NOISE = 0.3
BLOCK_ROWS = 4096


@dataclass(frozen=True)
class MapResult:
    """The second network.

    Attributes
    ----------
    nets : Networks
        One network, scores calibrated.
    scaling : Scaling
        Of the latent coordinates of the first.
    verdict : Verdict or None
    """

    nets: Networks
    scaling: Scaling
    verdict: Verdict | None


def latent_rows(
    nets: Networks, table: Table, rows: np.ndarray, noise: float, seed: int
) -> np.ndarray:
    """Return the latent coordinates of rows with noise, shape (n_rows, n_components).

    They are not finite where a network has diverged, or the noise has no square.
    """
    rng = np.random.default_rng((seed, 5))
    found = []
    for block in np.array_split(rows, max(1, -(-len(rows) // BLOCK_ROWS))):
        values = table.take(block)
        if noise > 0:
            normals = rng.standard_normal(values.shape, dtype=np.float32)
            values = values + table.place.put(np.float32(noise) * normals)
        with np.errstate(over="ignore", invalid="ignore"):
            found.append(latent(nets, values[None])[0])
    return table.place.xp.concatenate(found)


def layout(
    training: Training, nets: Networks, rows: np.ndarray, n_components: int, seed: int
) -> np.ndarray:
    """Return a code per class: on a circle or sphere, confusable classes side by side."""
    table = training.table
    some = rows[:: max(1, len(rows) // 20_000)]
    values = scores_in_blocks(nets, table, some)[0].astype(float)
    values -= values.max(axis=1, keepdims=True)
    shares = np.exp(values)
    shares /= shares.sum(axis=1, keepdims=True)
    index = table.index[some]
    confusion = np.zeros((table.n_classes, table.n_classes))
    present = np.unique(index)
    places = np.searchsorted(present, index)
    confusion[present] = class_confusion_of(shares, places, table.weights[some], len(present))
    rng = np.random.RandomState(seed)
    return sphere_codes(table.n_classes, n_components, confusion, rng)


def class_confusion_of(
    shares: np.ndarray, places: np.ndarray, weights: np.ndarray, n_present: int
) -> np.ndarray:
    """Return the mean shares of the rows of each class that is present."""
    totals = np.zeros((n_present, shares.shape[1]))
    np.add.at(totals, places, shares * weights[:, None])
    return totals / np.bincount(places, weights=weights, minlength=n_present)[:, None]


def train_map(
    training: Training,
    first: Result,
    parts: tuple[Part, ...],
    n_components: int,
    loss: str,
    *,
    history: dict[str, list[float]],
    report: Report | None = None,
) -> MapResult:
    """Train the second network on the latent coordinates of the first.

    The factor that calibrates its scores comes from networks that have not seen the held-out
    rows; the network itself is then trained on all.

    Parameters
    ----------
    training : Training
        Of the first network.
    first : Result
    parts : tuple of Part
    n_components : int
    loss : {"log", "hinge"}
    history : dict of lists
        Is added to.
    report : callable, optional
    """
    everything = np.arange(training.table.n_rows)
    full = first.candidate.noise if first.descends else 0.0
    base = first.validated[0] if first.validated else first.nets
    codes = layout(training, base, everything, n_components, training.seed)

    def second(nets: Networks, rows: np.ndarray, noise: float) -> tuple[Runners, Scaling]:
        copies = NOISY_COPIES if noise > 0 else 1
        Z = training.table.place.xp.concatenate(
            [
                latent_rows(nets, training.table, rows, noise, training.seed + k)
                for k in range(copies)
            ]
        )
        if not all_finite(Z):
            raise ValueError(
                "the first network of the map diverged: its coordinates are not finite; lower "
                "noise, learning_rate or gamma."
            )
        index = np.tile(training.table.index[rows], copies)
        weights = np.tile(training.table.weights[rows], copies).astype(float)
        scaling = scaling_of(Z, weights)
        table = Table(Z, index, weights, training.table.n_classes, scaling)
        n_classes = training.table.n_classes
        inner = replace(
            training,
            table=table,
            held_table=table,
            # Labels are not smoothed: to tell neighbours on a circle apart, the scores of classes
            # on its other side must be far below, which smoothed labels would punish.
            problem=problem_of(table, loss, alpha=0.0, smoothing=0.0),
            codes=codes,
            n_centers=min(max(LEAST_CENTERS, CENTERS_PER_CLASS * n_classes), len(rows)),
        )
        candidate = Candidate(Z.shape[1], 0.0, WIDTH)
        runners = Runners(inner, [candidate], [Part(np.arange(len(Z)), np.arange(0))])
        n_steps = max(LEAST_STEPS, round(STEP_SHARE * training.n_steps))
        run_checked(runners, n_steps, history, report, "map")
        return runners, scaling

    def judged(noise: float) -> Verdict:
        values, held_rows = [], []
        for nets, part in zip(first.validated, parts, strict=True):
            runners, scaling = second(nets, part.train, noise)
            Z = latent_rows(nets, training.held_table, part.held_out, 0.0, 0)
            table = Table(Z, np.zeros(len(Z), int), np.ones(len(Z)), 2, scaling)
            values.append(scores_in_blocks(runners.state.nets, table, np.arange(len(Z)))[0])
            held_rows.append(part.held_out)
        held = np.concatenate(held_rows)
        held_table = training.held_table
        return verdict_of(np.concatenate(values), held_table.index[held], held_table.weights[held])

    noise, verdict = full, None
    if first.validated:
        tried = {level: judged(level) for level in sorted({full, min(full, LESS_NOISE)})}
        noise = min(tried, key=lambda level: (tried[level].error, tried[level].log_loss))
        verdict = tried[noise]
    runners, scaling = second(first.nets, everything, noise)
    nets = runners.state.nets
    if verdict is not None and loss == "log":
        nets = calibrated(nets, verdict.factor)
    return MapResult(nets, scaling, verdict)
