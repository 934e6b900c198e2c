"""
What happens to rows of a class that was never seen?
====================================================

A classifier has to answer, even if the right answer is not among its classes. The map shows where
such rows land; how unsure the model is of them, and how far they are from the training rows, tells
most of them apart.
"""

# %%
# Train on the digits 0 to 7. New rows are held-out ones of these, the digits 8 and 9, and pixels
# in random order, which are no digits at all.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from supred import RBFNetClassifier
from supred.plotting import MapDisplay

X, y = load_digits(return_X_y=True)
known = y < 8
X_train, X_test, y_train, y_test = train_test_split(
    X[known], y[known], stratify=y[known], random_state=0
)
rng = np.random.default_rng(0)
shuffled = rng.permuted(X_test[:100], axis=1)
new = {"8 and 9": X[~known], "shuffled pixels": shuffled}

model = RBFNetClassifier(n_components=2, random_state=0).fit(X_train, y_train)

# %%
# Stars are the new rows. Shuffled pixels stay in the middle, where no class is. Most of the 8s and
# 9s lie on the way to the classes that they resemble, and some arrive: a 9 that looks like a 3 is
# a 3 to a model that knows no 9.
figure, axes = plt.subplots(1, 2, figsize=(13, 5.5))
for ax, (name, rows) in zip(axes, new.items(), strict=True):
    MapDisplay.from_estimator(model, X=X_test, y=y_test, X_new=rows, title=name, ax=ax)
figure.tight_layout()

# %%
# Two ways to be suspicious: how sure the model is, and how far the nearest training row is, in the
# features. An area of 1 tells all strange rows from known ones, 0.5 is a coin.
neighbors = NearestNeighbors(n_neighbors=1).fit(X_train)


def suspicion(rows):
    """Return what is high for strange rows: doubt, and distance."""
    distance, _ = neighbors.kneighbors(rows)
    return {"doubt": 1 - model.predict_proba(rows).max(axis=1), "distance": distance[:, 0]}


for name, rows in new.items():
    strange = np.repeat([0, 1], [len(X_test), len(rows)])
    for measure in ("doubt", "distance"):
        values = np.concatenate([suspicion(X_test)[measure], suspicion(rows)[measure]])
        print(f"{name}: {measure} has an area of {roc_auc_score(strange, values):.2f}")

# %%
# Both are good alarms on these digits; that is one table and no promise. A map is made to part the
# known classes and throws away directions in which they do not differ, which may be the ones in
# which a stranger does: the distance in the features sees these, the map cannot.
