"""
Is the map better than supervised UMAP's?
=========================================

Supervised UMAP makes beautiful pictures of its training rows. What counts is where rows land
whose labels it was not given. Here both methods see the same training digits, and the same
held-out digits are placed by `transform`.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from supred import RBFNetClassifier
from supred.plotting import LatentSpaceDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

network = RBFNetClassifier(n_components=2, random_state=0).fit(X_train, y_train)
placed = {"RBFNetClassifier": (network.transform(X_train), network.transform(X_test))}

try:
    import umap
except ImportError:
    print("umap-learn is not installed: the second map is left out.")
else:
    other = umap.UMAP(random_state=0, n_jobs=1).fit(X_train, y_train)
    placed["supervised UMAP"] = (other.embedding_, other.transform(X_test))

# %%
# The same measure for both: five nearest training rows on the map vote.
figure, axes = plt.subplots(1, len(placed), figsize=(6 * len(placed), 5), squeeze=False)
for ax, (name, (Z_train, Z_test)) in zip(axes[0], placed.items(), strict=True):
    predicted = KNeighborsClassifier(5).fit(Z_train, y_train).predict(Z_test)
    error = np.mean(predicted != y_test)
    LatentSpaceDisplay.from_predictions(
        Z=Z_test, y=y_test, y_pred=predicted, title=f"{name}: {error:.1%} errors", ax=ax
    )
figure.tight_layout()

# %%
# Circled rows are wrong. UMAP keeps the neighbourhoods of the features as well, which is what
# you want if structure inside a class matters more than the borders between classes. Its
# transform of new rows does not use their neighbours' labels, and it has no classifier of its own.
# This is one split of a small table; ``python -m benchmarks rbf_net`` repeats it on MNIST.
