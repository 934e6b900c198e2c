"""
Which row should I label next?
==============================

`suggest` names the unlabelled rows whose labels would help most. Beside it, labels of random rows.
"""

# %%
# Begin with one label of each of two classes; the others have to be found.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from supred import ClassConstrainedEmbedding

X, y = load_digits(return_X_y=True)
N_LABELS, DRAWS = 30, 2


def learn(seed, *, ask):
    """Return the share of right labels after 2, 4, 6, ... labels."""
    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    first = rng.integers(len(y))
    second = rng.choice(np.flatnonzero(y != y[first]))
    known[[first, second]] = y[[first, second]]
    shares = []
    while (known >= 0).sum() <= N_LABELS:
        model = ClassConstrainedEmbedding(random_state=0).fit(X, known)
        shares.append(np.mean(model.transduction_ == y))
        hidden = np.flatnonzero(known == -1)
        rows = model.suggest(2) if ask else rng.choice(hidden, 2, replace=False)
        known[rows] = y[rows]  # here a person would look at the rows
    return shares


figure, ax = plt.subplots(figsize=(7, 4.5))
for words, ask, color in (("suggested", True, "#0072b2"), ("random", False, "#999999")):
    shares = 100 * np.array([learn(seed, ask=ask) for seed in range(DRAWS)])
    labels = np.arange(2, N_LABELS + 1, 2)
    ax.plot(labels, shares.T, color=color, alpha=0.35, linewidth=1)
    ax.plot(labels, shares.mean(axis=0), color=color, linewidth=2.5, label=f"{words} rows")
    print(f"{words:9s} rows: {shares[:, -1].mean():.1f} % right with {N_LABELS} labels")
ax.axhline(90, color="black", linewidth=0.6, linestyle=":")
ax.set(xlabel="labels", ylabel="right among all 1797 digits, %", title="Ask, or label at random?")
ax.legend()
figure.tight_layout()
