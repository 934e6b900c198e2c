"""
Do related tasks help each other?
=================================

Many two-way questions with few rows each may share a projection: `MaxMarginProjection`. The first
thing to try, though, is to pool their rows. Which is better depends on how the tasks are
related, so both are shown, beside one SVM per task.
"""

# %%
# Sixteen tasks with 20 rows of 30 features. In one world all ask nearly the same question; in the
# other they use the same three directions but weigh them each in its own way.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from supred import MaxMarginProjection, stack_tasks

N_TASKS, N_ROWS, N_FEATURES = 16, 20, 30


def make_tasks(world, rng):
    """Return training and test tasks: lists of (rows, signs)."""
    basis = np.linalg.qr(rng.normal(size=(N_FEATURES, 3)))[0]
    train, test = [], []
    for _ in range(N_TASKS):
        if world == "one question":
            weights = basis[:, 0] + 0.1 * rng.normal(size=N_FEATURES) / np.sqrt(N_FEATURES)
        else:
            weights = basis @ rng.normal(size=3)
        for tasks, count in ((train, N_ROWS), (test, 300)):
            rows = rng.normal(size=(count, N_FEATURES))
            tasks.append((rows, np.where(rows @ weights > 0, 1, -1)))
    return train, test


def accuracies(train, test):
    """Return the mean accuracy over the tasks, by method."""
    X, Y = stack_tasks(train)
    X_test, Y_test = stack_tasks(test)
    pooled = LogisticRegression().fit(X, Y.sum(axis=1))  # each row belongs to one task
    return {
        "one SVM per task": MaxMarginProjection(N_TASKS).fit(X, Y).score(X_test, Y_test),
        "shared projection": MaxMarginProjection(3).fit(X, Y).score(X_test, Y_test),
        "pooled rows": np.mean(pooled.predict(X_test) == Y_test.sum(axis=1)),
    }


worlds = ("one question", "three shared directions")
results = {
    world: [accuracies(*make_tasks(world, np.random.default_rng(seed))) for seed in range(3)]
    for world in worlds
}

# %%
figure, ax = plt.subplots(figsize=(8, 4))
for place, (method, color) in enumerate(
    {
        "one SVM per task": "#999999",
        "shared projection": "#0072b2",
        "pooled rows": "#d55e00",
    }.items()
):
    values = np.array([[100 * draw[method] for draw in results[world]] for world in worlds])
    bars = ax.bar(
        np.arange(2) + 0.27 * (place - 1),
        values.mean(axis=1),
        0.25,
        yerr=values.std(axis=1),
        capsize=3,
        color=color,
        label=method,
    )
    ax.bar_label(bars, fmt="%.0f", padding=2)
ax.axhline(50, color="black", linewidth=0.6)
ax.set(xticks=range(2), xticklabels=worlds, ylabel="accuracy on new rows, %", ylim=(45, 105))
ax.legend(loc="upper right", ncols=3)
figure.tight_layout()

# %%
# Pool where the answers agree. Share a projection where the directions agree and the answers do
# not: there no one classifier serves all tasks. If neither holds, one SVM per task is right.
