"""
What if the table does not fit into memory?
===========================================

`RowBlocks` names rows in files (NPY, Parquet, CSV, svmlight), and stands in for ``X`` in `fit`,
`predict` and `score`. Blocks of rows are read as they are needed. The model is that of the fit in
memory.
"""

# %%
# A file of 60 000 rows stands in for a large one here; it is written part by part too.
import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from supred import LowDimSVC, RowBlocks

N_ROWS, N_FEATURES, N_CLASSES = 60_000, 40, 4
rng = np.random.default_rng(0)
means = 1.3 * rng.normal(size=(N_CLASSES, N_FEATURES))
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "rows.npy")
table = np.lib.format.open_memmap(path, "w+", np.float32, (N_ROWS, N_FEATURES + 1))
for start in range(0, N_ROWS, 10_000):
    labels = rng.integers(0, N_CLASSES, 10_000)
    part = table[start : start + 10_000]
    part[:, :-1] = means[labels] + 2.5 * rng.normal(size=(10_000, N_FEATURES))
    part[:, -1] = labels
table.flush()
del table, part
print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
# Fit from the file and from memory, and look at the peak of what NumPy allocates.
rows = RowBlocks(path, target=-1, block_rows=5_000)
settings = {"n_centers": 60, "gamma": "scale", "alpha": 1e-3, "tol": 0.03, "random_state": 0}


def fit_and_peak(*data, **options):
    """Return the fitted model and the peak of memory in MB."""
    tracemalloc.start()
    model = LowDimSVC(**settings, **options).fit(*data)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return model, peak


LowDimSVC(**settings).fit(rows)  # what is imported and compiled at the first fit is not counted
from_file, peak_file = fit_and_peak(rows)
in_memory = np.load(path)
from_memory, peak_memory = fit_and_peak(in_memory[:, :-1].copy(), in_memory[:, -1].astype(int))
peak_memory += in_memory[:, :-1].nbytes / 1e6

same = np.mean(from_file.predict(rows) == from_memory.predict(in_memory[:, :-1].copy()))
print(f"the same answer for {same:.2%} of the rows; error {1 - from_file.score(rows):.1%}")

# %%
figure, ax = plt.subplots(figsize=(7, 2))
bars = ax.barh(
    ["rows in memory", "rows in a file"], [peak_memory, peak_file], color=["#999999", "#0072b2"]
)
ax.bar_label(bars, fmt="%.0f MB", padding=3)
ax.set(xlabel="peak memory of the fit", xlim=(0, 1.25 * max(peak_memory, peak_file)))
ax.spines[["top", "right"]].set_visible(False)
figure.tight_layout()

# %%
# What remains in both is the latent coordinates, a few numbers per row. On the command line it is
# ``supred fit rows.npy --target -1 --stream --out big.supred``, and ``--checkpoint FILE`` lets an
# interrupted fit go on.
del in_memory
folder.cleanup()
