"""What predictions do not use of a model file is checked when it is loaded, too."""

import io
import json
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    LowDimSVC,
    LowDimSVCCV,
    RBFNetClassifier,
)
from supred.app.export.table_model import TableModel
from supred.app.tables.table import Column, Table
from supred.base.container import DESCRIPTION
from supred.export import ModelFileError, load_model, save_model

MODELS = {
    "svm": LowDimSVC(n_centers=5, max_iter=2, random_state=0),
    "network": RBFNetClassifier(n_centers=3, max_iter=3, random_state=0),
    "map": RBFNetClassifier(1, n_centers=3, max_iter=3, random_state=0),
    "start": RBFNetClassifier(n_centers=2, metric=2, max_iter=1, loss="hinge", random_state=0),
    "axes": CategorySpace(kernel="linear", random_state=0),
    "graph": ClassConstrainedEmbedding(random_state=0),
    "linear": ClassConstrainedEmbedding(classifier="linear", random_state=0),
    "distances": ClassConstrainedEmbedding(affinity="precomputed", random_state=0),
    "search": LowDimSVCCV(n_centers=5, max_iter=1, cv=2, Cs=(1.0,), random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LowDimSVC(mapping="linear", max_iter=2)),
}
NUMBER = {"dict": [["noise", 0.5], ["width", []]]}
EDITS = [
    ("svm", "history_", {"dict": [["mu", 0]]}),
    ("svm", "history_", []),
    ("svm", "best_iter_", []),
    ("svm", "best_iter_", 10**40),
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
            few = isinstance(model, ClassConstrainedEmbedding)
            labels = np.where(np.arange(len(y)) % 3, y, -1) if few else y
            rows = pairwise_distances(X) if name == "distances" else X
            save_model(model.fit(rows, labels), folder / name)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_models_as_they_are_can_be_loaded(saved, name):
    load_model(saved / name)


@pytest.mark.parametrize(("name", "part", "value"), EDITS)
def test_parts_that_do_not_fit_are_refused(saved, tmp_path, name, part, value):
    """Else a method that uses them fails with an error of Python's own."""
    document, entries = opened(saved / name)
    assert part in document["value"]["state"]
    document["value"]["state"][part] = value
    written(tmp_path / "edited", document, entries)
    with pytest.raises(ModelFileError, match="edited is damaged"):
        load_model(tmp_path / "edited")


@pytest.mark.parametrize("value", ["x", [1], 0.5, {"dict": []}])
def test_a_size_that_cannot_be_told_is_refused(saved, tmp_path, value):
    """`supred info` would end with an error of Python's own."""
    document, entries = opened(saved / "pipeline")
    mapping = document["value"]["state"]["parts"][-1]["state"]["mapping_"]["state"]
    assert mapping["_n_features"] == 4
    mapping["_n_features"] = value
    written(tmp_path / "edited", document, entries)
    with pytest.raises(ModelFileError, match="edited is damaged"):
        load_model(tmp_path / "edited")


def test_a_history_that_no_picture_holds_is_refused(saved, tmp_path):
    document, entries = opened(saved / "svm")
    columns = dict(document["value"]["state"]["history_"]["dict"])
    number = columns["mu"]["array"]
    length = len(np.load(io.BytesIO(entries[f"arrays/{number}.npy"])))
    columns["mu"].pop("double", None)
    entries[f"arrays/{number}.npy"] = packed(np.full(length, 1e300))
    written(tmp_path / "edited", document, entries)
    with pytest.raises(ModelFileError, match="what it says of history_"):
        load_model(tmp_path / "edited")


@pytest.mark.parametrize("exponent", [10**40, 3])
def test_the_best_of_a_search_is_the_search(saved, tmp_path, exponent):
    document, entries = opened(saved / "search")
    document["value"]["state"]["best_estimator_"]["state"]["_unit_exponent"] = exponent
    written(tmp_path / "edited", document, entries)
    with pytest.raises(ModelFileError, match="edited is damaged"):
        load_model(tmp_path / "edited")


@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("network", ("stages_", "gammas"), lambda gammas: gammas[0]),
        ("network", ("_scales",), lambda scales: scales * 1e-300),
        ("axes", ("_inverse_components",), lambda values: values * 0 + 1e300),
        ("graph", ("embedding_",), lambda Z: Z * 0 + 1e154),
        ("graph", ("_distances",), lambda distances: distances.astype(np.float16)),
    ],
)
def test_numbers_that_other_methods_cannot_use_are_refused(saved, tmp_path, name, part, change):
    document, entries = opened(saved / name)
    place = document["value"]["state"][part[0]]
    for key in part[1:]:
        while "state" not in place:
            place = place[0] if isinstance(place, list) else place["tuple"]
        place = place["state"][key]
    place = place["tuple"][0] if "tuple" in place else place
    number = place["sparse"][0] if "sparse" in place else place["array"]
    place.pop("double", None)
    values = np.load(io.BytesIO(entries[f"arrays/{number}.npy"]))
    entries[f"arrays/{number}.npy"] = packed(change(values.astype(float)))
    written(tmp_path / "edited", document, entries)
    with pytest.raises(ModelFileError, match="edited is damaged"):
        load_model(tmp_path / "edited")


def opened(path):
    """Return the description of a file, and all that is in it."""
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    return json.loads(entries[DESCRIPTION]), entries


def written(path, document, entries):
    """Write a file of a description and what else is in it."""
    entries[DESCRIPTION] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)


def packed(values):
    """Return an array as it is in the file."""
    out = io.BytesIO()
    np.save(out, values, allow_pickle=False)
    return out.getvalue()


def peak_of_refusal(path, message):
    """Return the most bytes that are taken before a file is refused with a message."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=message):
            load_model(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("n_rows", "message"), [(3 * 10**6, "max_bytes"), (60, "are no classes")])
def test_rows_that_train_a_classifier_count_as_memory(saved, tmp_path, n_rows, message):
    document, entries = opened(saved / "linear")
    training = document["value"]["state"]["classifier_"]["state"]
    values = {
        "Z": np.ones((n_rows, 2), "f4"),
        "labels": np.ones(n_rows, "i1") if n_rows > 60 else np.arange(60),
        "weights": np.ones(n_rows, "f4"),
    }
    for name, array in values.items():
        number = training[name]["array"]
        training[name], entries[f"arrays/{number}.npy"] = {"array": number}, packed(array)
    written(tmp_path / "edited", document, entries)
    assert (tmp_path / "edited").stat().st_size < 1e6
    assert peak_of_refusal(tmp_path / "edited", message) < 60e6


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_tree_of_rows_counts_as_memory(saved, tmp_path, form):
    document, entries = opened(saved / "graph")
    index = document["value"]["state"]["_index"]["state"]
    number, n_rows = index["X"]["array"], 6 * 10**6
    index["X"] = {"array": number}
    entries[f"arrays/{number}.npy"] = packed(np.ones((n_rows, 4), "f4"))
    if form == "sparse":  # few features: it would become an array
        index["X"] = {"sparse": [91, 92, 93], "shape": [n_rows, 4]}
        starts = np.minimum(np.arange(n_rows + 1), 1).astype("i4")
        for k, values in enumerate((np.ones(1), np.zeros(1, "i4"), starts)):
            entries[f"arrays/{91 + k}.npy"] = packed(values)
    written(tmp_path / "edited", document, entries)
    assert peak_of_refusal(tmp_path / "edited", "max_bytes") < 110e6


def test_categories_are_no_more_than_the_texts(tmp_path):
    columns = [Column("size", "number"), Column("colour", "text", ("blue", "red"))]
    rows = np.column_stack([np.arange(12.0), np.arange(12) % 2])
    table = Table("table", columns, rows, y=np.arange(12) % 3)
    save_model(TableModel.fit(LowDimSVC(mapping="linear", max_iter=2), table), tmp_path / "m")
    assert len(load_model(tmp_path / "m").predict(rows)) == 12
    document, entries = opened(tmp_path / "m")
    learnt = dict(document["value"]["state"]["learnt"]["dict"])
    learnt["categories"][0].pop("double", None)
    number = learnt["categories"][0]["array"]
    entries[f"arrays/{number}.npy"] = packed(np.arange(3e6))
    written(tmp_path / "edited", document, entries)
    assert peak_of_refusal(tmp_path / "edited", "3000000 categories of 2 texts") < 60e6


def test_letters_of_labels_are_counted(saved, tmp_path):
    """Each becomes an object, of four bytes per letter beyond the first 2^16 of Unicode."""
    document, entries = opened(saved / "svm")
    number = document["value"]["state"]["classes_"]["array"]
    labels = np.full(17 * 2**20 // 100, "\U0001f600" * 100)
    entries[f"arrays/{number}.npy"] = packed(labels)
    written(tmp_path / "edited", document, entries)
    assert peak_of_refusal(tmp_path / "edited", "labels of .* letters") < 1.2 * labels.nbytes
