"""
Can the axes of a picture have names?
=====================================

On most maps the axes mean nothing. `CategorySpace` gives every class an axis of its own, at right
angles to the others, and each row one coordinate per class.
"""

# %%
from textwrap import fill

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import CategorySpace
from supred.plotting import CategoryAxesDisplay

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

model = make_pipeline(StandardScaler(), CategorySpace(random_state=0)).fit(X_train, y_train)
print(f"test error {1 - model.score(X_test, y_test):.1%}")
CategoryAxesDisplay.from_estimator(model, X=X_test, y=y_test, title="Wines that were held out")

# %%
# In the plain form of the paper an axis is a direction in the features, so it can be read: these
# are the measurements that say most about a cultivar.
plain = make_pipeline(
    StandardScaler(), CategorySpace(kernel="linear", whiten=False, random_state=0)
).fit(X_train, y_train)
axes = plain[-1].components_
for name, axis in zip(plain.classes_, axes, strict=True):
    largest = abs(axis).argsort()[::-1][:3]
    print(f"{name}: " + ", ".join(f"{X.columns[j]} {axis[j]:+.2f}" for j in largest))

# %%
# And the model can say how good its axes are among all that are orthonormal.
scaled = plain[0].transform(X_train)
print(fill(plain[-1].certificate(scaled, y_train).summary(), 80))
