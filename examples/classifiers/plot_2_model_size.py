"""
How small can the model be?
===========================

With ``n_centers="auto"`` a network is made smaller step by step, and the smallest is kept whose
validation error is within one standard error of the least.
"""

# %%
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from supred import RBFNetClassifier
from supred.plotting import TradeOffDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = RBFNetClassifier(n_centers="auto", random_state=0).fit(X_train, y_train)

# %%
# The sizes on the way, and what was chosen. Validation rows decide, so the chosen one's error is
# somewhat too good.
TradeOffDisplay.from_path(model)
for n_centers, error, size in zip(
    model.path_["n_centers"], model.path_["validation_error"], model.path_["bytes"], strict=True
):
    print(f"{n_centers:4d} centres, {size / 1000:6.1f} kB: validation error {error:.1%}")

# %%
# On rows that no choice was made on:
print(f"{len(model.centers_)} centres: test error {1 - model.score(X_test, y_test):.1%}")

# %%
# A model that is fitted already can be made smaller too. `prune` returns a new one.
for n_centers in (40, 20, 10):
    smaller = model.prune(X_train, y_train, n_centers=min(n_centers, len(model.centers_)))
    print(
        f"pruned to {len(smaller.centers_)} centres, {smaller.model_size_.bytes / 1000:.1f} kB: "
        f"test error {1 - smaller.score(X_test, y_test):.1%}"
    )
