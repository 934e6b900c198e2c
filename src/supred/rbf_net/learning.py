"""What centers="learned" adds to the fit of LowDimSVC."""

import sys
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

from supred.base.latent_classifier import size_of
from supred.low_dim_svm import problem as parts
from supred.low_dim_svm.log_loss import class_scores, row_losses
from supred.low_dim_svm.losses import Loss, Parameters
from supred.low_dim_svm.mappings.basis import RBFMapping
from supred.numerics.decisions import decision_scores, task_signs
from supred.numerics.kernels import scale_gamma
from supred.rbf_net import refinement as solver
from supred.rbf_net import sizes
from supred.rbf_net.mapping import LearnedMapping
from supred.rows.blocks import RowSource, rows_of, select

# Number of centres if none is given.
DEFAULT_LEARNED = 100
# n_centers="auto" starts with this many and takes centres away.
AUTO_LARGEST, AUTO_ROWS_PER_CENTER = 400, 5
# Rows up to this many numbers are merged where they are equal; more take too much memory.
MERGED_NUMBERS = 2**24
# The alternation that gives the start looks at this many rows, and this many per centre.
START_ROWS, START_ROWS_PER_CENTER, START_ROWS_PER_CLASS = 10_000, 20, 50
START_ITERATIONS = 5
# Ridge of the start, per row: weights that cancel each other would be a poor start for descent.
START_RIDGE = 1e-4
# gamma="scale" starts with this many times the rule: narrower Gaussians, each with a task of its
# own, learn faster.
START_GAMMA = 4.0
# The log-loss aims at this much less than certainty; it overfits small tables otherwise.
LABEL_SMOOTHING = 0.1
BATCH_ROWS = 256
LEAST_BATCHES = 4

Triple = tuple[Any, np.ndarray, np.ndarray]


def merge_equal_rows(X: Any, codes: np.ndarray, weights: np.ndarray) -> Triple:
    """Replace rows that are equal, class and all, by one row with the sum of their weights.

    Whatever is drawn from the rows afterwards does not depend on their order or on copies: a
    weight k is then the same as k copies. Very large or very wide X stay as they are.
    """
    if X.shape[0] * X.shape[1] > MERGED_NUMBERS or isinstance(X, RowSource):
        return X, codes, weights
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    keyed = np.column_stack([X, codes.astype(X.dtype)]) + X.dtype.type(0)  # -0 becomes 0
    keyed = np.ascontiguousarray(keyed)
    raw = keyed.view([("", np.void, keyed.itemsize * keyed.shape[1])]).ravel()
    _, first, which = np.unique(raw, return_index=True, return_inverse=True)
    totals = np.bincount(which.ravel(), weights=weights)
    return X[first], codes[first], totals


def check_learned(model: Any, X: Any) -> None:
    """Check that the parameters and the kind of rows go with learned centres."""
    if isinstance(X, RowSource) and X.array is None:
        raise ValueError(
            f"centers='learned' visits rows in random order, which X, a {type(X).__name__}, is too "
            "slow for; give an array or a memory map, or use fixed centres."
        )
    if not (isinstance(model.mapping, str) and model.mapping == "rbf"):
        raise ValueError(
            f"centers='learned' needs mapping='rbf', not mapping={model.mapping!r}, which has no "
            "centres; set mapping='rbf' or leave centers at 'kmeans'."
        )
    if model.checkpoint is not None:
        raise ValueError(
            f"checkpoint={str(model.checkpoint)!r} does not go with centers='learned'; leave it at "
            "None, or use fixed centres."
        )
    if not isinstance(model.init, str) and np.ndim(model.init) == 2:
        n_classes = len(model.classes_)
        if len(model.init) != n_classes:
            raise ValueError(
                f"init has {len(model.init)} rows; with centers='learned' give one code for each "
                f"of the {n_classes} classes."
            )


def learn(
    model: Any,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    held_out: "parts.HeldOut | None",
    rng: np.random.RandomState,
) -> None:
    """Train `model` on the rows: a start by the alternation, then descent on all parameters.

    A model that is to be a smaller form of another one starts from that.
    """
    larger = getattr(model, "_smaller_of", None)
    if larger is None:
        mapping, loss = start(model, X, codes, weights, held_out, rng)
        task = Descent(model, X, codes, weights, held_out, mapping.gaussians.shift)
        task.run(task.network_of(mapping, loss.parameters), rng)
        if is_auto(model):
            sizes.shrink(task, rng)
    else:
        task = Descent(model, X, codes, weights, held_out, larger.centers_.mean(axis=0))
        net = task.network_of(larger.mapping_, (larger.coef_, larger.intercept_))
        task.run(sizes.without_some(task, net, n_centers_of(model, len(net.W))), rng)
        for name in ("history_", "n_iter_", "best_iter_", "_n_features_out"):
            setattr(model, name, getattr(larger, name))
    task.keep()


def start(
    model: Any,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    held_out: "parts.HeldOut | None",
    rng: np.random.RandomState,
) -> tuple[RBFMapping, Loss]:
    """Run a short alternation with fixed centres on some of the rows."""
    n_centers = n_centers_of(model, len(codes))
    centers = parts.choose_centers(model, X, weights, rng, n_centers=n_centers)
    gamma = parts.gamma_of(model.gamma, X, weights)
    gamma *= START_GAMMA if isinstance(model.gamma, str) else 1.0
    some = _rows_to_start_with(codes, n_centers, rng)
    X, codes, weights = select(X, some), codes[some], weights[some]
    ridge = max(model.alpha, START_RIDGE * float(weights.sum()))
    mapping = RBFMapping(centers, gamma, ridge, cache_size=parts.cache_megabytes(model, X))
    mapping.prepare(X, weights)
    schedule = parts.schedule_of(model, most=START_ITERATIONS)
    loss = model._train(mapping, X, codes, weights, held_out, rng, schedule=schedule)
    mapping.forget_training()
    return mapping, loss


def n_centers_of(model: Any, n_rows: int) -> int:
    """Return the number of centres to learn, no more than there are different rows."""
    if is_auto(model):
        return min(max(1, n_rows // AUTO_ROWS_PER_CENTER), AUTO_LARGEST)
    return min(n_rows, DEFAULT_LEARNED if model.n_centers is None else int(model.n_centers))


def is_auto(model: Any) -> bool:
    """Tell whether the number of centres is to be found."""
    return isinstance(model.n_centers, str)


def _rows_to_start_with(
    codes: np.ndarray, n_centers: int, rng: np.random.RandomState
) -> np.ndarray:
    """Return indices of some rows, of each class a few at least."""
    order = rng.permutation(len(codes))
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[order[: max(START_ROWS, START_ROWS_PER_CENTER * n_centers)]] = True
    for k in range(codes.max() + 1):
        chosen[order[codes[order] == k][:START_ROWS_PER_CLASS]] = True
    return np.flatnonzero(chosen)


class Descent:
    """The descent on all parameters of one model, and what comes of it."""

    def __init__(
        self,
        model: Any,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray,
        held_out: "parts.HeldOut | None",
        shift: np.ndarray,
    ) -> None:
        self.model, self.X, self.codes, self.weights = model, X, codes, weights
        self.held_out = held_out
        self.shift = shift  # rows are moved towards zero by it before they lose digits
        self.n_classes = len(model.classes_)
        self.row_loss = solver.log_slopes if model.loss == "log" else solver.hinge_slopes
        self.result: solver.Refinement | None = None

    def network_of(self, mapping: Any, classifier: Parameters) -> solver.Network:
        """Return mapping and classifier as parameters of the descent."""
        coef, intercept = classifier
        centers = mapping.centers
        gammas = np.broadcast_to(mapping.gamma, mapping.n_basis)
        scales = getattr(mapping, "scales", np.ones(centers.shape[1]))
        return solver.Network(
            centers - self.shift,
            np.log(gammas),
            np.log(scales),
            mapping.W,
            mapping.w0,
            coef,
            intercept,
        ).astype(np.float32)

    def run(
        self, net: solver.Network, rng: np.random.RandomState, *, share: float = 1.0
    ) -> solver.Refinement:
        """Descend from `net` by a share of the steps; the result is kept here, too."""
        model = self.model
        total = model.C * float(self.weights.sum())
        variance = 0.5 / scale_gamma(self.X, self.weights)
        source = rows_of(self.X)
        size = min(BATCH_ROWS, max(1, len(self.codes) // LEAST_BATCHES))
        self.result = solver.refine(
            net,
            solver.Batches(
                lambda chosen: self.rows(source.take(chosen)),
                self.targets(),
                self.weights.astype(np.float32),
                size,
            ),
            self.row_loss,
            rng,
            decay_W=2.0 * model.alpha / total,
            decay_coef=1.0 / total,
            center_scale=float(np.sqrt(variance / self.X.shape[1])),
            learning_rate=model.learning_rate,
            n_steps=max(1, round(share * model.refine_steps)),
            merit=self.merit if self.held_out is not None else None,
            tolerance=self.standard_error if self.held_out is not None else None,
            on_check=self.tell if model.verbose else None,
        )
        return self.result

    def rows(self, block: Any) -> np.ndarray:
        """Return rows as the descent wants them: dense, shifted, in single precision."""
        dense = block.toarray() if sparse.issparse(block) else block
        return (dense - self.shift).astype(np.float32, copy=False)

    def targets(self) -> np.ndarray:
        """Return what the losses compare scores with."""
        if self.model.loss != "log":
            signs = task_signs(self.codes, self.n_classes, self.model.multi_class)
            return signs.astype(np.float32)
        sure = np.eye(self.n_classes, dtype=np.float32)[self.codes]
        one_hot = (1.0 - LABEL_SMOOTHING) * sure + LABEL_SMOOTHING / self.n_classes
        return one_hot[:, 1:] if self.n_classes == 2 else one_hot

    def values(self, net: solver.Network, X: Any) -> np.ndarray:
        """Return the classifier's values of any rows."""
        return rows_of(X, len(net.W)).map(lambda block: solver.scores_of(net, self.rows(block)))

    def merit(self, net: solver.Network) -> float:
        """Return the validation error."""
        held_out = self.held_out
        assert held_out is not None
        values = self.values(net, held_out.X)
        scores = decision_scores(values, self.n_classes, self.model.multi_class)
        return parts.weighted_error(scores, held_out.codes, held_out.weights)

    def standard_error(self, error: float) -> float:
        """Return the standard error of an error on the validation part."""
        assert self.held_out is not None
        weights = self.held_out.weights
        # rows that count more than others make the error less sure
        n_effective = float(weights.sum() ** 2 / np.square(weights).sum())
        return float(np.sqrt(max(error * (1.0 - error), 1.0 / n_effective) / n_effective))

    def tell(self, step: int, history: dict[str, list[float]]) -> bool:
        """Print a line."""
        validation = history["merit"][-1]
        print(
            f"[{type(self.model).__name__}] step {step:5d}  mean loss {history['loss'][-1]:.4f}"
            + ("" if np.isnan(validation) else f"  validation error {validation:.4f}"),
            file=sys.stderr,
        )
        return False

    def some_features(self, net: solver.Network) -> tuple[np.ndarray, np.ndarray]:
        """Return the Gaussians of some training rows, and the weights of these."""
        step = max(1, len(self.codes) // max(START_ROWS, START_ROWS_PER_CENTER * len(net.W)))
        rows = self.rows(rows_of(self.X).take(np.arange(len(self.codes))[::step]))
        return solver.features_of(net, rows), self.weights[::step]

    def mapping_of(self, net: solver.Network) -> LearnedMapping:
        """Return the mapping with the parameters of the descent."""
        mapping = LearnedMapping(
            (net.centers + self.shift).astype(self.X.dtype),
            np.exp(net.log_gammas),
            np.exp(net.log_scales),
            self.model.alpha,
        )
        mapping.restore((net.W, net.w0))
        return mapping

    def n_bytes(self, net: solver.Network) -> int:
        """Return the size of the model with these parameters."""
        net = net.astype(float)
        return size_of(*self.mapping_of(net).arrays(), net.coef, net.intercept).bytes

    def keep(self) -> None:
        """Give the model what was found."""
        assert self.result is not None
        model, net = self.model, self.result.network.astype(float)
        mapping = self.mapping_of(net)
        model.mapping_ = mapping
        model.coef_, model.intercept_ = net.coef, net.intercept
        if self.held_out is not None and model.loss == "log":
            factor = calibration_factor(
                class_scores(mapping.project(self.held_out.X), net.coef, net.intercept),
                self.held_out,
            )
            model.coef_, model.intercept_ = factor * net.coef, factor * net.intercept
        history = self.result.history
        model.refinement_ = {
            "step": np.array(history["step"]),
            "loss": np.array(history["loss"]),
            "validation_error": np.array(history["merit"]),
            "best_step": np.array(self.result.best_step),
        }
        model.stopping_reason_ = self.result.stopped


def calibration_factor(scores: np.ndarray, held_out: "parts.HeldOut") -> float:
    """Return the factor of all scores with the least log-loss on the validation part.

    Scores that were learned until they fit the training rows well are too large, those of
    smoothed labels too small: their probabilities are too sure of themselves, or not sure enough.
    One factor changes no prediction.
    """

    def cost(log_factor: float) -> float:
        losses = row_losses(np.exp(log_factor) * scores, held_out.codes)
        return float(held_out.weights @ losses)

    found = minimize_scalar(cost, bounds=(-4.0, 3.0), method="bounded")
    return float(np.exp(found.x)) if found.fun < cost(0.0) else 1.0
