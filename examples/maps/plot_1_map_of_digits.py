"""
How do I draw a map of my classes?
==================================

`RBFNetClassifier` with two latent dimensions lays the classes out side by side, and
`MapDisplay` draws rows that it has not seen.
"""

# %%
# Keep rows aside before anything is learned: only these show where new rows will lie.
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from supred import RBFNetClassifier
from supred.plotting import MapDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = RBFNetClassifier(n_components=2, random_state=0).fit(X_train, y_train)

# %%
# The colour of the ground is what the model would say there. A marker on the ground of another
# class is an error; the share of these is written below the map.
MapDisplay.from_estimator(model, X=X_test, y=y_test, title="450 digits that were held out")

# %%
# The two coordinates are ordinary features: `transform` gives them for new rows, one by one or
# a million at a time.
print(model.transform(X_test[:3]).round(2))
print(f"test error {1 - model.score(X_test, y_test):.1%}")

# %%
# Two dimensions may cost something. The default has as many as there are classes, minus one.
full = RBFNetClassifier(random_state=0).fit(X_train, y_train)
print(
    f"test error with {full.transform(X_test).shape[1]} dimensions "
    f"{1 - full.score(X_test, y_test):.1%}"
)
