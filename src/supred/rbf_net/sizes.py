"""Smaller networks from larger ones: ``n_centers="auto"`` and `RBFNetClassifier.prune`."""

from dataclasses import dataclass

import numpy as np

from supred.common.arrays import HOST, on_host
from supred.rbf_net.choices import Runners, Training
from supred.rbf_net.network import Networks, coordinates, gaussians
from supred.rbf_net.pruning import prune_basis
from supred.rbf_net.training import Report, run_checked, standard_error

# n_centers="auto" starts with this many and takes centres away.
AUTO_LARGEST, AUTO_ROWS_PER_CENTER = 400, 5
# Each network of the path has this share of the centres of the one before, and as many steps to
# settle as this share of a fit's.
SHRINK, SETTLE = 0.7, 0.3
# The path ends when the error is this many standard errors above the best.
GIVE_UP = 3.0
# Rows that tell which centres can be spared.
LEAST_ROWS, ROWS_PER_CENTER = 2000, 10


@dataclass(frozen=True)
class Path:
    """Networks of different sizes.

    Attributes
    ----------
    n_centers, errors : list
        Of each network, the largest first.
    spread : float
        Standard error of the least error.
    numbers : list of int
        Parameters of each network.
    """

    n_centers: list[int]
    errors: list[float]
    spread: float
    numbers: list[int]


def largest_size(n_rows: int) -> int:
    """Return the centres that ``n_centers="auto"`` starts with."""
    return min(max(1, n_rows // AUTO_ROWS_PER_CENTER), AUTO_LARGEST)


def without_some(nets: Networks, training: Training, rows: np.ndarray, n_keep: int) -> Networks:
    """Return one network with the centres that it can spare taken away."""
    step = max(1, len(rows) // max(LEAST_ROWS, ROWS_PER_CENTER * nets.shape.n_centers))
    some = rows[::step]
    u = coordinates(nets, training.table.take(some[None]))
    phi = on_host(gaussians(u, nets.centers, nets.log_gammas)[0])
    nets = nets.to(HOST)
    weights = training.table.weights[some].astype(float)
    found = prune_basis(phi, weights, nets.W[0], nets.coef[0], n_keep)
    parts = nets.parts()
    parts |= {
        "centers": nets.centers[:, found.kept],
        "log_gammas": nets.log_gammas[:, found.kept],
        "W": found.W[None],
        "w0": nets.w0 + found.shift,
    }
    return Networks.of(**parts)


def settle(
    runners: Runners,
    n_keep: int,
    history: dict[str, list[float]],
    report: Report | None = None,
) -> Runners:
    """Return runners of a smaller network, which were trained further."""
    training, part = runners.training, runners.parts[0]
    nets = without_some(runners.state.nets, training, part.train, n_keep)
    smaller = Runners.of_network(training, runners.candidates[0], runners.parts, nets)
    run_checked(smaller, max(1, round(SETTLE * training.n_steps)), history, report, "pruning")
    return smaller


def _error(runners: Runners) -> float:
    """Return the error on held-out rows; infinite for a network that has diverged."""
    diverged = not np.isfinite(on_host(runners.state.nets.flat)).all()
    return np.inf if diverged else runners.verdicts()[0].error


def shrink(
    runners: Runners, history: dict[str, list[float]], report: Report | None = None
) -> tuple[Runners, Path]:
    """Take centres away step by step; keep the smallest network within one standard error.

    The standard error is that of the least validation error on the path.

    Parameters
    ----------
    runners : Runners
        One trained network with a held-out part.
    history : dict of lists
        Is added to.
    report : callable, optional
    """
    held = len(runners.parts[0].held_out)
    tried = [runners]
    errors = [_error(runners)]
    while True:
        best = min(errors)
        spread = standard_error(best, held)
        smaller = int(tried[-1].state.nets.shape.n_centers * SHRINK)
        given_up = np.isinf(errors[-1]) or errors[-1] > best + GIVE_UP * spread
        if smaller < 1 or given_up:
            break
        tried.append(settle(tried[-1], smaller, history, report))
        errors.append(_error(tried[-1]))
    kept = [number for number, error in enumerate(errors) if error <= best + spread][-1]
    shapes = [each.state.nets.shape for each in tried]
    path = Path(
        [shape.n_centers for shape in shapes],
        errors,
        spread,
        [shape.n_numbers for shape in shapes],
    )
    return tried[kept], path
