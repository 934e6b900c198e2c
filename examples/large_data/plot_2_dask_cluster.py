"""
Can I train on a cluster?
=========================

Give `fit` a Dask array or dataframe, and it runs where its blocks are. ``Client()`` starts workers
on this machine; ``Client("tcp://10.0.0.1:8786")`` takes those of a cluster.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from supred import LowDimSVC
from supred.plotting import LatentSpaceDisplay

try:
    import dask.array as da
    from dask.distributed import Client
except ImportError:
    Client = None
    print("Dask is not installed: the rows stay in memory.")

X, y = load_digits(return_X_y=True)
X = X / 16
model = LowDimSVC(2, loss="log", n_centers=150, random_state=0)

# %%
# Blocks of 300 rows. `predict` and `transform` return Dask arrays, which are computed when you ask
# for them.
if Client is None:
    coordinates, predicted = model.fit(X, y).transform(X), model.predict(X)
else:
    client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
    rows, labels = da.from_array(X, chunks=(300, 64)), da.from_array(y, chunks=300)
    model.fit(rows, labels)
    print(model.predict(rows))
    coordinates, predicted = model.transform(rows).compute(), model.predict(rows).compute()
    client.close()

# %%
# The model is that of a fit in memory, but for rounding.
alone = LowDimSVC(2, loss="log", n_centers=150, random_state=0).fit(X, y)
print(f"largest difference of a coordinate: {np.abs(alone.transform(X) - coordinates).max():.1e}")

figure, ax = plt.subplots(figsize=(7, 5.5))
LatentSpaceDisplay.from_predictions(
    Z=coordinates, y=y, y_pred=predicted, title="Coordinates that two workers computed", ax=ax
)
figure.tight_layout()
