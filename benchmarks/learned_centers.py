"""Learned centres and the softmax loss, measured beside what they must reach.

The parts: gradients, z_step, few_dimensions, calibration, sets (six tables against fixed centres
and a tuned SVC) and mnist_60k (with a race against SVC, which takes minutes). ``--quick`` runs one
small draw of each but the last.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks._report import Row, at_most, print_rows, spread
from supred import LowDimSVC
from supred.datasets import load_mnist, load_uci
from supred.low_dim_svm.log_loss import class_scores, pull_softmax, row_losses
from supred.rbf_net import descent as refine

Arrays = tuple[np.ndarray, ...]
# Multiples of the "scale" rule among which widths are chosen, on validation rows.
GAMMA_FACTORS = (1.0, 4.0)


class Table(NamedTuple):
    """One of the six sets and the number of fixed centres; a fifth of it is learned."""

    name: str
    n_centers: int
    n_train: int


TABLES = (
    Table("digits", 250, 1200),
    Table("satellite", 500, 4290),
    Table("segmentation", 250, 1540),
    Table("ann-thyroid", 250, 4800),
    Table("vehicle", 250, 564),
    Table("MNIST", 1000, 10_000),
)


def percent_wrong(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    return 100 * float(np.mean(model.predict(X) != y))


def learned(n_centers: int, seed: int, **options: Any) -> LowDimSVC:
    settings: dict[str, Any] = {"loss": "log", "random_state": seed, "n_jobs": 2, **options}
    return LowDimSVC(centers="learned", n_centers=n_centers, **settings)


# --- the mathematics --------------------------------------------------------------------------


def gradients() -> Iterator[Row]:
    rng = np.random.RandomState(0)
    X = rng.normal(size=(50, 6))
    one_hot = np.eye(4)[rng.randint(4, size=50)]
    weights = rng.uniform(0.5, 2.0, 50)
    losses: dict[str, tuple[refine.RowLoss, np.ndarray]] = {
        "hinge": (refine.hinge_slopes, 2 * one_hot - 1),
        "log": (refine.log_slopes, one_hot),
    }
    for name, (row_loss, targets) in losses.items():
        shapes = ((8, 6), (8,), (6,), (8, 3), (3,), (4, 3), (4,))
        net = refine.Network(*(0.5 * rng.normal(size=shape) for shape in shapes))
        gradient = refine.mean_loss(net, X, targets, weights, row_loss)[1]
        worst = 0.0
        for value, slope in zip(net.parts(), gradient.parts(), strict=True):
            numeric = np.empty_like(value)
            for index in np.ndindex(value.shape):
                kept, ends = value[index], []
                for moved in (kept + 1e-6, kept - 1e-6):
                    value[index] = moved
                    ends.append(refine.mean_loss(net, X, targets, weights, row_loss)[0])
                value[index] = kept
                numeric[index] = (ends[0] - ends[1]) / 2e-6
            worst = max(worst, float(np.abs(slope - numeric).max() / np.abs(numeric).max()))
        yield Row(
            f"gradients of the learned parameters against finite differences, {name}",
            f"{worst:.1e}",
            required="<= 1e-05",
            reached=worst <= 1e-5,
        )


def z_step() -> Iterator[Row]:
    rng = np.random.RandomState(0)
    worst = 0.0
    for c in (0.01, 1.0, 100.0):
        F, codes = rng.normal(size=(40, 3)), rng.randint(5, size=40)
        coef, intercept = 3 * rng.normal(size=(5, 3)), rng.normal(size=5)

        def cost(z: np.ndarray, f: np.ndarray, k: int) -> float:
            scores = class_scores(z[None], coef, intercept)  # noqa: B023
            loss = row_losses(scores, np.array([k]))[0]
            return float(0.5 * np.square(z - f).sum() + c * loss)  # noqa: B023

        Z = pull_softmax(F, codes, coef, intercept, c)
        for f, k, z in zip(F, codes, Z, strict=True):
            reference = minimize(cost, f, (f, k), method="BFGS", options={"gtol": 1e-10}).fun
            worst = max(worst, (cost(z, f, k) - reference) / reference)
    yield Row(
        "objective of the log-loss Z step over that of BFGS, minus 1, largest of 120 rows",
        f"{worst:.1e}",
        required="<= 1e-08",
        reached=worst <= 1e-8,
    )


# --- MNIST ------------------------------------------------------------------------------------


def mnist_60k(data: Arrays, quick: bool) -> Iterator[Row]:
    X, y, X_test, y_test = data
    seconds: dict[int, list[float]] = {}
    limits = {100: (3.0, "7.9"), 250: (2.2, "5.4"), 500: (1.8, "4.3")}
    for M, (limit, fixed) in limits.items():
        for loss in ("log", "hinge"):
            errors, times = [], []
            for seed in range(1 if quick else 3):
                began = perf_counter()
                model = learned(M, seed, loss=loss).fit(X, y)
                times.append(perf_counter() - began)
                errors.append(percent_wrong(model, X_test, y_test))
            text = f"MNIST 60 000 rows, learned, M = {M}, {loss} ({np.mean(times):.0f} s): error %"
            if loss == "log":
                seconds[M] = times
                yield at_most(text, errors, limit, f"fixed {fixed}")
            else:
                yield Row(text, spread(errors), f"fixed {fixed}")
    if quick:
        return
    began = perf_counter()
    svc = SVC(C=10, gamma=1 / 32).fit(X, y)
    svc_seconds = perf_counter() - began
    yield Row(
        f"SVC(C=10), {svc.n_support_.sum()} support vectors, {svc_seconds:.0f} s: error %",
        f"{percent_wrong(svc, X_test, y_test):.2f}",
    )
    for M, times in seconds.items():
        ratio = float(np.mean(times)) / svc_seconds
        yield Row(
            f"fit time over SVC's, M = {M}",
            f"{ratio:.2f}",
            required="<= 1/3",
            reached=ratio <= 1 / 3,
        )


def few_dimensions(data: Arrays, quick: bool) -> Iterator[Row]:
    X, y, X_test, y_test = data
    n_rows, steps = (4000, 300) if quick else (10_000, 4000)
    # few rows and steps only guard against a fall
    slack = 5.0 if quick else 0.0
    transform_seconds = 0.0
    for L, limit in ((2, 9.0), (3, 5.0)):
        errors = []
        for seed in range(1 if quick else 3):
            rows = np.random.RandomState(seed).permutation(len(y))[:n_rows]
            model = learned(250, seed, n_components=L, refine_steps=steps).fit(X[rows], y[rows])
            errors.append(percent_wrong(model, X_test, y_test))
            if L == 2:
                began = perf_counter()
                model.transform(X_test)
                transform_seconds = perf_counter() - began
        published = "UMAP + 5-NN 6.6" if L == 2 else "-"
        text = f"MNIST {n_rows} rows, L = {L}, learned, M = 250, log: error %"
        yield at_most(text, errors, limit + slack, published)
    if not quick:
        rows = np.random.RandomState(0).permutation(len(y))[:n_rows]
        yield from umap_beside(X[rows], y[rows], X_test, y_test, transform_seconds)


def umap_beside(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, ours: float
) -> Iterator[Row]:
    try:
        from umap import UMAP
    except ImportError:
        yield Row("transform of 10 000 rows beside supervised UMAP's", "umap-learn not installed")
        return
    began = perf_counter()
    peer = UMAP(n_components=2, random_state=0).fit(X, y)
    fitted = perf_counter()
    Z_test = peer.transform(X_test)
    theirs = perf_counter() - fitted
    nearest = KNeighborsClassifier(5).fit(peer.embedding_, y)
    wrong = 100 * float(np.mean(nearest.predict(Z_test) != y_test))
    yield Row(f"supervised UMAP + 5-NN, fit {fitted - began:.0f} s: error %", f"{wrong:.2f}")
    ratio = theirs / ours
    yield Row(
        f"transform of 10 000 rows: UMAP {theirs:.1f} s over ours {ours:.2f} s",
        f"{ratio:.0f}",
        required=">= 50",
        reached=ratio >= 50,
    )


# --- tables -----------------------------------------------------------------------------------


def load_table(name: str, data_dir: str | None) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16.0, y
    return load_uci(name, data_dir)


def draws(table: Table, data_dir: str | None, mnist: Arrays, n_draws: int) -> Iterator[Arrays]:
    """Yield training rows, labels, test rows, labels; features scaled by the training rows."""
    if table.name == "MNIST":
        X, y, X_test, y_test = mnist
        for seed in range(n_draws):
            rows = np.random.RandomState(seed).permutation(len(y))[: table.n_train]
            yield X[rows], y[rows], X_test, y_test
        return
    X, y = load_table(table.name, data_dir)
    splitter = StratifiedShuffleSplit(n_draws, train_size=table.n_train, random_state=0)
    for train, test in splitter.split(X, y):
        if table.name == "digits":
            yield X[train], y[train], X[test], y[test]
            continue
        scaler = StandardScaler().fit(X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def best_width(
    make: Callable[..., LowDimSVC], X: np.ndarray, y: np.ndarray, seed: int
) -> LowDimSVC:
    """Choose gamma by the error on a quarter of the training rows, then fit on all of them."""
    X_fit, X_val, y_fit, y_val = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=seed
    )
    scale = 0.5 / float(X.var(axis=0, dtype=float).sum())
    errors = [
        percent_wrong(make(gamma=factor * scale).fit(X_fit, y_fit), X_val, y_val)
        for factor in GAMMA_FACTORS
    ]
    return make(gamma=GAMMA_FACTORS[int(np.argmin(errors))] * scale).fit(X, y)


def tuned_svc(X: np.ndarray, y: np.ndarray) -> SVC:
    """Choose C and gamma by cross-validation, on 3000 rows at the most."""
    some = np.random.RandomState(0).permutation(len(y))[:3000]
    scale = 1.0 / float(X.var(axis=0, dtype=float).sum())
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [scale / 4, scale, 4 * scale]}
    search = GridSearchCV(SVC(), grid, cv=3, refit=False, n_jobs=2).fit(X[some], y[some])
    return SVC(**search.best_params_).fit(X, y)


def sets(data_dir: str | None, mnist: Arrays, quick: bool, names: list[str]) -> Iterator[Row]:
    as_fixed, as_svc = [], []
    steps = 600 if quick else 4000
    for table in TABLES:
        if table.name not in names:
            continue
        errors: dict[str, list[float]] = {"fixed": [], "learned": [], "svc": []}
        support = []
        M = table.n_centers // 5
        for seed, (X, y, X_test, y_test) in enumerate(
            draws(table, data_dir, mnist, 1 if quick else 3)
        ):

            def fixed(seed: int = seed, M: int = table.n_centers, **options: Any) -> LowDimSVC:
                return LowDimSVC(n_centers=M, loss="log", random_state=seed, n_jobs=2, **options)

            def small(seed: int = seed, M: int = M, **options: Any) -> LowDimSVC:
                return learned(M, seed, refine_steps=steps, **options)

            svc = tuned_svc(X, y)
            support.append(int(svc.n_support_.sum()))
            models = {
                "fixed": fixed().fit(X, y) if quick else best_width(fixed, X, y, seed),
                "learned": small().fit(X, y) if quick else best_width(small, X, y, seed),
                "svc": svc,
            }
            for name, model in models.items():
                errors[name].append(percent_wrong(model, X_test, y_test))
        means = {name: float(np.mean(values)) for name, values in errors.items()}
        # the standard error of an error on the test rows, all draws together
        n_tested = len(y_test) * len(support)
        sure = {k: np.sqrt(max(e * (100 - e), 1.0) / n_tested) for k, e in means.items()}
        good = means["learned"] <= means["fixed"] + sure["fixed"]
        as_fixed.append(good)
        yield Row(
            f"{table.name}: learned, M = {M}, error %",
            spread(errors["learned"]),
            f"fixed, M = {table.n_centers}: {spread(errors['fixed'])}",
            f"<= {means['fixed'] + sure['fixed']:.2f}",
        )
        yield Row(f"    as accurate as fixed centres, within {sure['fixed']:.2f}", str(good))
        few = bool(np.mean(support) >= 5 * M)
        good = bool(means["learned"] <= means["svc"] + sure["svc"] and few)
        as_svc.append(good)
        yield Row(
            f"    tuned SVC ({np.mean(support):.0f} support vectors): error %",
            spread(errors["svc"]),
            f"{M / np.mean(support):.2f} of its vectors",
            "both" if good else ("fewer only" if few else "neither or not few"),
        )
    wanted = (5, 4) if len(as_fixed) == len(TABLES) else (0, 0)
    yield Row(
        "as accurate as five times as many fixed centres",
        f"{sum(as_fixed)} of {len(as_fixed)}",
        required=f">= {wanted[0]}",
        reached=sum(as_fixed) >= wanted[0],
    )
    yield Row(
        "as accurate as tuned SVC with a fifth of its vectors",
        f"{sum(as_svc)} of {len(as_svc)}",
        required=f">= {wanted[1]}",
        reached=sum(as_svc) >= wanted[1],
    )


def calibration_error(model: Any, X: np.ndarray, y: np.ndarray, n_bins: int = 15) -> float:
    """Return the expected calibration error in per cent, over bins of equal width."""
    p = model.predict_proba(X)
    sure, right = p.max(axis=1), model.classes_[p.argmax(axis=1)] == y
    place = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    gaps = [
        np.mean(place == k) * abs(right[place == k].mean() - sure[place == k].mean())
        for k in np.unique(place)
    ]
    return 100 * float(sum(gaps))


def calibration(data_dir: str | None, mnist: Arrays, quick: bool) -> Iterator[Row]:
    for name in ("satellite",) if quick else ("satellite", "MNIST"):
        table = next(table for table in TABLES if table.name == name)
        gaps = []
        for seed, (X, y, X_test, y_test) in enumerate(
            draws(table, data_dir, mnist, 1 if quick else 3)
        ):
            model = learned(100, seed, refine_steps=600 if quick else 4000).fit(X, y)
            gaps.append(calibration_error(model, X_test, y_test))
        # one short fit scatters
        limit = 3.0 if quick else 2.0
        yield at_most(f"{name}, {table.n_train} rows: expected calibration error %", gaps, limit)


def main(arguments: list[str] | None = None) -> int:
    names = ["gradients", "z_step", "few_dimensions", "calibration", "sets", "mnist_60k"]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks learned_centers", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="one small draw, no race")
    parser.add_argument("--data", help="folder with mnist.npz and uci (default: SUPRED_DATA)")
    parser.add_argument("--only", choices=names, help="run one part")
    parser.add_argument("--table", choices=[table.name for table in TABLES], help="one of the sets")
    options = parser.parse_args(arguments)
    chosen = [options.only] if options.only else names
    if options.quick and not options.only:
        chosen.remove("mnist_60k")
    tables = ["digits", "vehicle"] if options.quick else [table.name for table in TABLES]
    tables = [options.table] if options.table else tables
    needs_mnist = {"few_dimensions", "mnist_60k"} & set(chosen) or (
        not options.quick and "calibration" in chosen
    )
    if "sets" in chosen and "MNIST" in tables:
        needs_mnist = True
    mnist = load_mnist(options.data) if needs_mnist else ()
    warnings.simplefilter("ignore")
    reached = True
    for part in chosen:
        rows = {
            "gradients": gradients,
            "z_step": z_step,
            "few_dimensions": lambda: few_dimensions(mnist, options.quick),
            "calibration": lambda: calibration(options.data, mnist, options.quick),
            "sets": lambda: sets(options.data, mnist, options.quick, tables),
            "mnist_60k": lambda: mnist_60k(mnist, options.quick),
        }[part]()
        reached &= print_rows(f"learned centres: {part}", rows)
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
