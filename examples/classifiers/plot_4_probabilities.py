"""
Can I trust the probabilities?
==============================

`RBFNetClassifier` scales its scores on held-out rows, so that of the rows to which it gives 80 %
about 80 % are right. A reliability curve checks it, beside a random forest and naive Bayes.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from supred import RBFNetClassifier

X, y = make_classification(
    6000,
    n_features=12,
    n_informative=6,
    n_redundant=4,
    n_classes=3,
    n_clusters_per_class=2,
    flip_y=0.1,
    random_state=0,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
models = {
    "RBFNetClassifier": RBFNetClassifier(random_state=0),
    "random forest": RandomForestClassifier(random_state=0),
    "naive Bayes": GaussianNB(),
}

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5))
axes[0].plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle="--")
for (name, model), color in zip(models.items(), ("#0072b2", "#999999", "#d55e00"), strict=True):
    probabilities = model.fit(X_train, y_train).predict_proba(X_test)
    sure = probabilities.max(axis=1)
    right = model.classes_[probabilities.argmax(axis=1)] == y_test
    share, mean = calibration_curve(right, sure, n_bins=8, strategy="quantile")
    axes[0].plot(mean, share, marker="o", color=color, label=name)
    axes[1].hist(sure, bins=30, range=(0.3, 1), histtype="step", color=color, label=name)
    weights = np.histogram(sure, np.quantile(sure, np.linspace(0, 1, 9)))[0] / len(sure)
    print(
        f"{name:17s} error {1 - right.mean():.1%}, log-loss "
        f"{log_loss(y_test, probabilities):.3f}, mean distance from the diagonal "
        f"{np.sum(weights[: len(mean)] * abs(share - mean)):.1%}"
    )
axes[0].set(xlabel="probability of the predicted class", ylabel="share that is right")
axes[1].set(xlabel="probability of the predicted class", ylabel="rows")
axes[0].legend()
figure.tight_layout()

# %%
# One factor for all scores is all that is fitted on the held-out rows: it changes no prediction.
# Where a model of yours has no probabilities, scikit-learn's `CalibratedClassifierCV` makes them.
