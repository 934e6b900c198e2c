"""
Has the training converged?
===========================

`LowDimSVC` alternates three convex steps and keeps a record of each iteration;
`TrainingTraceDisplay` draws it. `stopping_reason_` says in a word why it ended.
"""

# %%
# Three spirals: no straight line parts them, a mapping by Gaussians does.
import matplotlib.pyplot as plt

from supred import LowDimSVC
from supred.datasets import make_spirals
from supred.plotting import LatentSpaceDisplay, TrainingTraceDisplay

X, y = make_spirals(600, n_classes=3, noise=0.06, random_state=0)
model = LowDimSVC(n_centers=150, early_stopping=True, random_state=0).fit(X, y)
print(f"ended by: {model.stopping_reason_}, after {model.n_iter_} iterations")
TrainingTraceDisplay.from_estimator(model)

# %%
# Before and after: the rows, and the two dimensions in which linear SVMs part them.
figure, axes = plt.subplots(1, 2, figsize=(11, 5))
LatentSpaceDisplay.from_predictions(Z=X, y=y, title="the rows", ax=axes[0])
axes[0].set(xlabel="first feature", ylabel="second feature")
LatentSpaceDisplay.from_estimator(model, X=X, y=y, title="latent space", ax=axes[1])
figure.tight_layout()
