"""
How do I put the model on a microcontroller?
============================================

`to_c` writes a fitted model as one C99 header without allocations. With ``quantise=True`` large
matrices are kept in bytes. If there is a C compiler, the header is compiled here and its answers
are compared with Python's.
"""

# %%
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from supred import RBFNetClassifier
from supred.export import quantisation_errors, to_c

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = RBFNetClassifier(metric=20, n_centers=100, random_state=0).fit(X_train, y_train)

floats = to_c(model, name="digits")
small = to_c(model, name="digits", quantise=True)
errors = [100 * error for error in quantisation_errors(model, X_test, y_test)]
for name, source, error in zip(("float", "bytes"), (floats, small), errors, strict=True):
    print(
        f"{name}: {source.constant_bytes} bytes of constants, {source.stack_bytes} bytes of "
        f"stack, test error {error:.2f} %"
    )

# %%
# What a program has to call:
print("\n".join(line for line in floats.text.splitlines() if "digits_predict(" in line))

# %%
# Compile it and ask it about the test rows.
PROGRAM = r"""
#include <stdio.h>
#include "digits.h"
int main(void) {
    float row[DIGITS_N_NUMBERS], latent[DIGITS_N_LATENT], scores[DIGITS_N_SCORES];
    for (;;) {
        for (int i = 0; i < DIGITS_N_NUMBERS; i++)
            if (scanf("%f", &row[i]) != 1) return 0;
        puts(digits_label(digits_predict(row, latent, scores)));
    }
}
"""
compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler is None:
    print("There is no C compiler here: this step is left out.")
else:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "digits.h").write_text(small.text, encoding="utf-8")
        Path(folder, "main.c").write_text(PROGRAM, encoding="utf-8")
        command = [compiler, "-std=c99", "-O2", "main.c", "-lm", "-o", "digits"]
        subprocess.run(command, cwd=folder, check=True)
        text = "\n".join(" ".join(map(str, row)) for row in X_test)
        done = subprocess.run(
            [Path(folder, "digits")], input=text, capture_output=True, text=True, check=True
        )
    answers = np.array(done.stdout.split(), dtype=int)
    print(
        f"C and Python agree on {np.mean(answers == model.predict(X_test)):.1%} of "
        f"{len(X_test)} rows; error in C {np.mean(answers != y_test):.2%}"
    )

# %%
figure, ax = plt.subplots(figsize=(7, 2.2))
sizes = {"floats in C": floats.constant_bytes, "bytes in C": small.constant_bytes}
bars = ax.barh(list(sizes), [size / 1000 for size in sizes.values()], color=["#999999", "#0072b2"])
ax.bar_label(
    bars,
    labels=[
        f"{size / 1000:.1f} kB, {error:.2f} % errors"
        for size, error in zip(sizes.values(), errors, strict=True)
    ],
    padding=3,
)
ax.set(xlabel="kilobytes of constants", xlim=(0, 1.6 * max(sizes.values()) / 1000))
ax.spines[["top", "right"]].set_visible(False)
figure.tight_layout()
