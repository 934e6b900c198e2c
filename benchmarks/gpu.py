"""Fits and predictions on a GPU: seconds, errors and memory. Needs torch, CUDA and MNIST.

``--quick`` takes few rows and steps, and a CPU where there is no GPU: it shows that all runs.
"""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks._report import Row, print_rows

# Rows, steps and centres of the full run and of a quick one.
STEPS, PLAIN_STEPS = (16_000, 60), (1_000, 20)
PREDICTED = (10_000_000, 2_000)
CENTERS = (2_500, 100)
MANY = (8_000_000, 4_000)
FROM_HOST = (2_000_000, 4_000)
# Largest turn, change of size and shift of a digit, the best of four choices on 10 000 of the
# training rows, and rows that are deformed at once.
TURN, SIZE, SHIFT, AT_ONCE = 0.1, 0.08, 0.05, 100_000


@dataclass(frozen=True)
class Digits:
    """MNIST where the fits are, pixels from 0 to 1 in single precision; labels on the host."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows, any device")
    parser.add_argument("--only", nargs="+", choices=sorted(CHECKS), help="some of the checks")
    options = parser.parse_args(arguments)
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        print("scikit-learn's array API support needs SCIPY_ARRAY_API=1 in the environment.")
        return 2
    import sklearn
    import torch

    if not options.quick and not torch.cuda.is_available():
        print("there is no CUDA device; --quick runs on a CPU.")
        return 2
    device = "cuda" if torch.cuda.is_available() else "cpu"
    digits = load_digits(device, 3_000 if options.quick else None)
    reached = True
    with sklearn.config_context(array_api_dispatch=True):
        warm_up(digits)
        for name in options.only or CHECKS:
            name_of_device = torch.cuda.get_device_name() if device == "cuda" else "CPU"
            rows = CHECKS[name](digits, options.quick)
            reached &= print_rows(f"{name} ({name_of_device})", rows)
    return 0 if reached or options.quick else 1


def load_digits(device: str, n_rows: int | None) -> Digits:
    import torch

    from supred.datasets.real import load_mnist

    X, y, X_test, y_test = load_mnist()

    def put(values: np.ndarray) -> Any:
        return torch.asarray(values.astype(np.float32), device=device)

    return Digits(put(X[:n_rows]), y[:n_rows], put(X_test), y_test)


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns and the seconds until the device has done it."""
    import torch

    def wait() -> None:
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    wait()
    began = perf_counter()
    result = function()
    wait()
    return result, perf_counter() - began


def warm_up(digits: Digits) -> None:
    """Let the libraries set themselves up."""
    from supred import RBFNetClassifier

    some = slice(None, 1000)
    model = RBFNetClassifier(n_centers=20, metric=10, noise=1.0, gamma="scale", max_iter=20)
    model.fit(digits.X[some], digits.y[some]).predict(digits.X[some])


def network(digits: Digits, quick: bool) -> list[Row]:
    """RBFNetClassifier, M = 500, rank 40: a fit, beside a plain loop in torch; predictions."""
    import torch

    from supred import RBFNetClassifier

    n_steps, n_plain = STEPS[quick], PLAIN_STEPS[quick]
    settings: dict[str, Any] = {"metric": 40, "noise": 1.0, "gamma": "scale", "random_state": 0}
    model = RBFNetClassifier(n_centers=500, max_iter=n_steps, early_stopping=False, **settings)
    _, seconds = timed(lambda: model.fit(digits.X, digits.y))
    error = 100 * (1 - model.score(digits.X_test, digits.y_test))
    plain_loop(digits, 20)
    plain = n_steps / n_plain * timed(lambda: plain_loop(digits, n_plain))[1]
    rows = [
        Row(
            f"RBFNetClassifier, {n_steps} steps: time",
            f"{seconds:.1f} s",
            f"{plain:.0f} s",
            "<= 15 s",
            seconds <= 15,
        ),
        Row("its test error", f"{error:.2f} %"),
    ]
    checked = RBFNetClassifier(n_centers=500, max_iter=n_steps, **settings)
    _, seconds = timed(lambda: checked.fit(digits.X, digits.y))
    error = 100 * (1 - checked.score(digits.X_test, digits.y_test))
    rows += [
        Row(
            f"with a held-out part and a refit ({checked.n_iter_} steps): time", f"{seconds:.1f} s"
        ),
        Row("its test error", f"{error:.2f} %"),
    ]
    n_rows = PREDICTED[quick]
    many = digits.X.repeat(-(-n_rows // len(digits.X)), 1)[:n_rows]
    model.predict(many[:10_000])
    if many.is_cuda:
        torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated() if many.is_cuda else 0
    _, seconds = timed(lambda: model.predict(many))
    rows.append(
        Row(f"prediction of {n_rows} rows", f"{seconds:.2f} s", "-", "<= 1 s", seconds <= 1)
    )
    if many.is_cuda:
        extra = (torch.cuda.max_memory_allocated() - before) / 2**30
        rows.append(Row("memory beside the rows", f"{extra:.1f} GB"))
    return rows


def plain_loop(digits: Digits, n_steps: int) -> None:
    """Train the same network by torch's automatic gradients and its Adam."""
    import torch

    device, rank, n_centers = digits.X.device, 40, 500
    y = torch.asarray(digits.y.astype(np.int64), device=device)
    shapes = ((784, rank), (n_centers, rank), (n_centers,), (n_centers, 9), (9, 10), (10,))
    parts = [(0.1 * torch.randn(shape, device=device)).requires_grad_() for shape in shapes]
    A, centers, log_gammas, W, V, b = parts
    descent = torch.optim.Adam(parts, lr=1e-3)
    for _ in range(n_steps):
        chosen = torch.randint(len(y), (256,), device=device)
        rows = digits.X[chosen]
        u = (rows + torch.randn_like(rows)) @ A
        distances = (u * u).sum(1)[:, None] - 2 * u @ centers.T + (centers * centers).sum(1)
        scores = torch.exp(-torch.exp(log_gammas) * distances) @ W @ V + b
        loss = torch.nn.functional.cross_entropy(scores, y[chosen], label_smoothing=0.05)
        descent.zero_grad()
        loss.backward()
        descent.step()


def machine(digits: Digits, quick: bool) -> list[Row]:
    """LowDimSVC, defaults: a fit on the GPU beside the same on the CPU."""
    from supred import LowDimSVC

    model = LowDimSVC(n_centers=CENTERS[quick], random_state=0)
    _, first = timed(lambda: model.fit(digits.X, digits.y))
    _, seconds = timed(lambda: model.fit(digits.X, digits.y))
    labels = model.predict(digits.X_test).cpu().numpy()
    error = 100 * float(np.mean(labels != digits.y_test))
    X, X_test = digits.X.cpu().numpy(), digits.X_test.cpu().numpy()
    _, on_cpu = timed(lambda: model.fit(X, digits.y))
    theirs = model.predict(X_test)
    their_error = 100 * float(np.mean(theirs != digits.y_test))
    equal = 100 * float(np.mean(theirs == labels))
    return [
        Row(
            f"LowDimSVC, {len(X)} rows: time (first fit {first:.1f} s; CPU beside)",
            f"{seconds:.2f} s",
            f"{on_cpu:.1f} s",
            "<= 1.5 s",
            seconds <= 1.5,
        ),
        Row(
            "its test error (CPU beside)",
            f"{error:.2f} %",
            f"{their_error:.2f} %",
            "+- 0.1",
            abs(error - their_error) <= 0.1,
        ),
        Row("labels equal to those of the CPU", f"{equal:.2f} %", "-", "99.9 %", equal >= 99.9),
    ]


def many_rows(digits: Digits, quick: bool) -> list[Row]:
    """LowDimSVC on deformed digits, which are made on the GPU."""
    import torch

    from supred import LowDimSVC

    X, y = deformed(digits, MANY[quick])
    model = LowDimSVC(n_centers=CENTERS[quick], random_state=0, verbose=1)
    _, seconds = timed(lambda: model.fit(X, y))
    error = 100 * (1 - model.score(digits.X_test, digits.y_test))
    rows = [
        Row(
            f"LowDimSVC, {len(y)} rows, {model.n_iter_} iterations, {model.stopping_reason_}: time",
            f"{seconds:.1f} s",
            "-",
            "<= 30 s",
            seconds <= 30,
        ),
        Row("its test error", f"{error:.2f} %", "-", "<= 1.6 %", error <= 1.6),
    ]
    if X.is_cuda:
        rows.append(Row("most memory", f"{torch.cuda.max_memory_allocated() / 2**30:.0f} GB"))
    return rows


def from_host(digits: Digits, quick: bool) -> list[Row]:
    """LowDimSVC on rows that stay on the host, beside the same rows on the GPU."""
    import torch

    from supred import LowDimSVC, on_device

    X, y = deformed(digits, FROM_HOST[quick])
    settings: dict[str, Any] = {"n_centers": CENTERS[quick], "random_state": 0, "max_iter": 5}
    on_gpu = LowDimSVC(**settings)
    _, beside = timed(lambda: on_gpu.fit(X, y))
    device, on_host = X.device, X.cpu().numpy()
    model = LowDimSVC(**settings, cache_size=0)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated() if device.type == "cuda" else 0
    _, seconds = timed(lambda: model.fit(on_device(on_host, device), y))
    equal = model.predict(digits.X_test) == on_gpu.predict(digits.X_test)
    rows = [
        Row(f"{len(y)} rows from the host: time", f"{seconds:.1f} s", f"{beside:.1f} s"),
        Row(
            "labels equal to those of rows on the GPU",
            f"{100 * float(equal.double().mean()):.2f} %",
        ),
    ]
    if device.type == "cuda":
        extra = (torch.cuda.max_memory_allocated() - before) / 2**30
        rows.append(Row("memory on the GPU", f"{extra:.1f} GB", f"{on_host.nbytes / 2**30:.1f} GB"))
    return rows


def deformed(digits: Digits, n_rows: int) -> tuple[Any, np.ndarray]:
    """Return digits that are turned, stretched and shifted at random, and their labels."""
    import torch
    from torch.nn.functional import affine_grid, grid_sample

    device = digits.X.device
    random = torch.Generator(device).manual_seed(0)
    made = torch.empty((n_rows, digits.X.shape[1]), device=device)
    numbers = np.arange(n_rows) % len(digits.X)
    for start in range(0, n_rows, AT_ONCE):
        part = torch.asarray(numbers[start : start + AT_ONCE], device=device)
        drawn = 2 * torch.rand((len(part), 5), device=device, generator=random) - 1
        turn, size = TURN * drawn[:, 0], 1 + SIZE * drawn[:, 1:3]
        cos, sin, shift = torch.cos(turn), torch.sin(turn), SHIFT * drawn[:, 3:]
        rows = (size[:, 0] * cos, -sin, shift[:, 0]), (sin, size[:, 1] * cos, shift[:, 1])
        maps = torch.stack([torch.stack(row, dim=1) for row in rows], dim=1)
        pictures = digits.X[part].reshape(-1, 1, 28, 28)
        grid = affine_grid(maps, list(pictures.shape), align_corners=False)
        found = grid_sample(pictures, grid, align_corners=False)
        made[start : start + AT_ONCE] = found.reshape(len(part), -1)
    return made, digits.y[numbers]


CHECKS: dict[str, Callable[[Digits, bool], list[Row]]] = {
    "network": network,
    "machine": machine,
    "many_rows": many_rows,
    "from_host": from_host,
}


if __name__ == "__main__":
    sys.exit(main())
