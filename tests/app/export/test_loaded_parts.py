"""What predictions do not use of a model file is checked when it is loaded, too."""

import json
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import CategorySpace, ClassConstrainedEmbedding, LowDimSVC, RBFNetClassifier
from supred.base.container import DESCRIPTION
from supred.export import ModelFileError, load_model, save_model

MODELS = {
    "svm": LowDimSVC(n_centers=5, max_iter=2, random_state=0),
    "network": RBFNetClassifier(n_centers=3, max_iter=3, random_state=0),
    "start": RBFNetClassifier(n_centers=2, metric=2, max_iter=1, loss="hinge", random_state=0),
    "axes": CategorySpace(kernel="linear", random_state=0),
    "graph": ClassConstrainedEmbedding(random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LowDimSVC(mapping="linear", max_iter=2)),
}
NUMBER = {"dict": [["noise", 0.5], ["width", []]]}
EDITS = [
    ("svm", "history_", {"dict": [["mu", 0]]}),
    ("svm", "history_", []),
    ("network", "chosen_", {"dict": [["noise", 0.5]]}),
    ("network", "chosen_", NUMBER),
    ("network", "_scales", {"tuple": []}),
    ("network", "choices_", {"dict": [[1, 2]]}),
    ("axes", "_fit_parameters", {"dict": [[1, 2]]}),
    ("axes", "_fit_parameters", None),
    ("axes", "_inverse_components", 0.5),
    ("axes", "alpha_", "x"),
    ("graph", "beta_", "x"),
    ("graph", "beta_", 10**400),
    ("graph", "n_neighbors_", 0.5),
    ("graph", "epsilon_", -1),
    ("graph", "_ties", [[]]),
    ("pipeline", "names", [0, 1]),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of fitted models, and their rows and labels."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::4], y[::4]
    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few iterations do not converge
        for name, model in MODELS.items():
            labels = np.where(np.arange(len(y)) % 3, y, -1) if name == "graph" else y
            save_model(model.fit(X, labels), folder / name)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_models_as_they_are_can_be_loaded(saved, name):
    load_model(saved / name)


@pytest.mark.parametrize(("name", "part", "value"), EDITS)
def test_parts_that_do_not_fit_are_refused(saved, tmp_path, name, part, value):
    """Else a method that uses them fails with an error of Python's own."""
    with zipfile.ZipFile(saved / name) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    document = json.loads(entries[DESCRIPTION])
    state = document["value"]["state"]
    assert part in state
    state[part] = value
    entries[DESCRIPTION] = json.dumps(document).encode()
    with zipfile.ZipFile(tmp_path / "edited", "w") as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    with pytest.raises(ModelFileError, match="edited is damaged"):
        load_model(tmp_path / "edited")
