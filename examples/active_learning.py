"""Which rows to label: 90 % of the digits with a few labels that the model asks for.

Run ``python examples/active_learning.py``. It begins with one label of each of two classes, asks
for one label after the other with `suggest`, and says how many it took, beside labels of random
rows.
"""

import argparse

import numpy as np
from sklearn.datasets import load_digits

from supred import ClassConstrainedEmbedding

GOAL = 0.9


def labels_needed(X: np.ndarray, y: np.ndarray, seed: int, *, ask: bool) -> int:
    """Return how many labels it took until 90 % of all rows had the right one."""
    random = np.random.RandomState(seed)
    known = np.full(len(y), -1)
    first = random.randint(len(y))
    second = random.choice(np.flatnonzero(y != y[first]))
    known[[first, second]] = y[[first, second]]
    while True:
        model = ClassConstrainedEmbedding(random_state=seed).fit(X, known)
        if np.mean(model.transduction_ == y) >= GOAL:
            return int(np.sum(known >= 0))
        row = model.suggest()[0] if ask else random.choice(np.flatnonzero(known == -1))
        known[row] = y[row]  # here a person would look at the row


def main() -> None:
    """Print the labels needed, by suggestion and at random."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="how often to begin anew")
    n_draws = parser.parse_args().draws
    X, y = load_digits(return_X_y=True)
    for words, ask in (("suggested rows", True), ("random rows", False)):
        needed = [labels_needed(X, y, seed, ask=ask) for seed in range(n_draws)]
        print(f"{GOAL:.0%} of the digits with {words}: {np.mean(needed):.0f} labels", needed)


if __name__ == "__main__":
    main()
