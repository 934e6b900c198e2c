"""
Which columns matter?
=====================

For the model as a whole `feature_importances_` is the share of each feature in the learned metric;
for one decision `explain` gives the exact slopes of the winning score. Shuffling a column of
held-out rows is the check that does not depend on the model.
"""

# %%
# A table with a known answer: of twenty columns, six tell something about the class.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import RBFNetClassifier

X, y = make_classification(
    1500,
    n_features=20,
    n_informative=6,
    n_redundant=0,
    n_classes=3,
    class_sep=1.5,
    shuffle=False,
    random_state=0,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = RBFNetClassifier(metric="diagonal", random_state=0).fit(X_train, y_train)
shuffled = permutation_importance(model, X_test, y_test, n_repeats=5, random_state=0)

figure, axes = plt.subplots(2, 1, figsize=(9, 5), sharex=True)
colors = np.where(np.arange(20) < 6, "#d55e00", "#999999")
axes[0].bar(range(20), model.feature_importances_, color=colors)
axes[0].set_ylabel("share in the metric")
axes[1].bar(
    range(20), 100 * shuffled.importances_mean, color=colors, yerr=100 * shuffled.importances_std
)
axes[1].set(
    ylabel="points of accuracy lost\nwhen shuffled",
    xlabel="column (orange: informative)",
    xticks=range(20),
)
figure.tight_layout()

# %%
# One decision of a real table: which measurements made this tumour benign or malignant, and would a
# larger value make the model surer (to the right) or less sure (to the left)?
table = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    table.data, table.target, stratify=table.target, random_state=0
)
pipeline = make_pipeline(StandardScaler(), RBFNetClassifier(random_state=0)).fit(X_train, y_train)
row = pipeline[0].transform(X_test.iloc[:1])
slopes = pipeline[-1].explain(row).score_slopes[0]
largest = np.argsort(-abs(slopes))[:8][::-1]
answer = table.target_names[pipeline.predict(X_test.iloc[:1])[0]]

figure, ax = plt.subplots(figsize=(8, 3.5))
ax.barh([table.feature_names[j] for j in largest], slopes[largest], color="#0072b2")
ax.axvline(0, color="black", linewidth=0.8)
ax.set(title=f'Slopes of the score of "{answer}"', xlabel="per standard deviation of the feature")
figure.tight_layout()

# %%
# Slopes are local: they hold near this row. And neither picture says that a column is the cause.
