"""
What can I do with few labels?
==============================

`ClassConstrainedEmbedding` lets labels flow over a graph of all rows, the unlabelled ones too.
Beside it: scikit-learn's `LabelSpreading`, and an `SVC` that sees the labelled rows alone.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from supred import ClassConstrainedEmbedding

X, y = load_digits(return_X_y=True)
counts = (1, 2, 5, 10, 20)
methods = ("ClassConstrainedEmbedding", "LabelSpreading", "SVC on the labelled rows")
draws = 5

# %%
# Some rows of each class are labelled; -1 marks the others. The accuracy is that on the
# unlabelled rows, over five draws of the labels.
accuracy = {name: np.zeros((draws, len(counts))) for name in methods}
for seed in range(draws):
    rng = np.random.default_rng(seed)
    order = [rng.permutation(np.flatnonzero(y == digit)) for digit in range(10)]
    for column, count in enumerate(counts):
        rows = np.concatenate([some[:count] for some in order])
        known = np.full(len(y), -1)
        known[rows] = y[rows]
        hidden = known == -1
        flow = ClassConstrainedEmbedding(random_state=0).fit(X, known)
        spread = LabelSpreading(kernel="knn", n_neighbors=10).fit(X, known)
        alone = SVC(C=10).fit(X[rows], y[rows])
        answers = (flow.transduction_, spread.transduction_, alone.predict(X))
        for name, answer in zip(methods, answers, strict=True):
            accuracy[name][seed, column] = np.mean(answer[hidden] == y[hidden])

figure, ax = plt.subplots(figsize=(7, 4.5))
for name, color in zip(methods, ("#0072b2", "#d55e00", "#999999"), strict=True):
    means, spreads = accuracy[name].mean(axis=0), accuracy[name].std(axis=0)
    ax.errorbar(
        counts, 100 * means, yerr=100 * spreads, marker="o", capsize=3, color=color, label=name
    )
    print(f"{name:26s}" + "".join(f"{100 * value:7.1f}" for value in means))
ax.set(
    xscale="log",
    xticks=counts,
    xticklabels=counts,
    xlabel="labels per class",
    ylabel="right among the unlabelled, %",
    title="Digits, mean and spread of five draws",
)
ax.minorticks_off()
ax.legend()
figure.tight_layout()

# %%
# The spread at the left is wide: which row stands for its class matters as much as the method. The
# next example lets the model ask. New rows, which were not in the graph, are classified by
# `predict`.
