"""Files of models: no code in them, and a clear word on what is not one."""

import json
import pickle
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

from supred import CategorySpace, ClassConstrainedEmbedding, LowDimSVC, MaxMarginProjection
from supred.app.export.model_file import ModelFileError, TableModel, load_model, save_model
from supred.app.tables.table import Column
from supred.base.container import DESCRIPTION, read_container, write_container

COLUMNS = [Column(name, "number") for name in "abcd"]


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    X.setflags(write=False)
    return X, y


@pytest.fixture
def saved(data, tmp_path):
    path = tmp_path / "m.supred"
    save_model(TableModel.fit(LowDimSVC(n_centers=15, random_state=0), *data, COLUMNS), path)
    return path


def edit(path, change):
    """Write the file again with a changed description."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts[DESCRIPTION])
    change(document)
    parts[DESCRIPTION] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_pickle_is_refused_and_not_run(tmp_path, saved):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    path = tmp_path / "bomb.supred"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ModelFileError, match="is not a file of supred"):
        load_model(path)
    # Hidden in an array of objects inside a file that is otherwise right.
    with zipfile.ZipFile(saved) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    np.save(tmp_path / "evil.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    parts["arrays/0.npy"] = (tmp_path / "evil.npy").read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)
    assert not (tmp_path / "ran").exists()


def set_class(document):
    document["value"]["dict"][0][1] = {"object": "subprocess.Popen", "state": {}}


def set_dunder(document):
    document["value"]["dict"][0][1] = {"object": "LowDimSVC", "state": {"__class__": "x"}}


def set_attribute(document):
    for pair in document["value"]["dict"]:
        if pair[0] == "estimator":
            pair[1]["state"]["_project"] = 1


def drop_estimator(document):
    document["value"]["dict"] = [p for p in document["value"]["dict"] if p[0] != "estimator"]


def wrong_estimator(document):
    for pair in document["value"]["dict"]:
        if pair[0] == "estimator":
            pair[1] = {"object": "Column", "state": {"name": "a", "kind": "number"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "is not a file of supred"),
        (lambda d: d.update(version=99), "version 99 of the format"),
        (lambda d: d.update(version="new"), "version 'new' of the format"),
        (lambda d: d.update(kind="comparison"), "holds a comparison, not a model"),
        (lambda d: d.update(value=7), "damaged"),
        (lambda d: d.pop("value"), "damaged"),
        (set_class, "'subprocess.Popen' that is not known"),
        (lambda d: d.update(version=1), "version 1 of the format, .* make it again"),
        (set_dunder, "damaged"),
        (set_attribute, "has no attribute '_project'"),
        (drop_estimator, "damaged"),
        (wrong_estimator, "damaged"),
    ],
)
def test_foreign_descriptions(saved, change, message):
    edit(saved, change)
    with pytest.raises(ModelFileError, match=message) as raised:
        load_model(saved)
    assert "\n" not in str(raised.value)


def test_damage_anywhere_is_found_or_harmless(saved, data):
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    expected = load_model(saved).predict(data[0])
    found = 0
    for place in rng.choice(len(content), size=150, replace=False):
        broken = bytearray(content)
        broken[place] ^= 0xFF
        saved.write_bytes(broken)
        try:
            model = load_model(saved)
        except ModelFileError:  # and no other error
            found += 1
        else:  # a byte that nobody reads, such as a date
            np.testing.assert_array_equal(model.predict(data[0]), expected)
    assert found > 75


def test_a_file_that_was_cut_off(saved):
    content = saved.read_bytes()
    for length in (0, 1, 100, len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"cut off|damaged"):
            load_model(saved)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="does not exist"):
        load_model(tmp_path / "no")
    with pytest.raises(ModelFileError, match="is a folder"):
        load_model(tmp_path)
    np.savez(tmp_path / "arrays.npz", X=np.eye(2))
    with pytest.raises(ModelFileError, match="is not a file of supred"):
        load_model(tmp_path / "arrays.npz")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError, match="is not a file of supred"):
        load_model(tmp_path / "t.csv")


def test_parts_of_the_users_own_cannot_be_saved(data, tmp_path):
    X, y = data
    path = tmp_path / "m"
    models = {
        "LowDimSVC.mapping": LowDimSVC(mapping=Ridge(), random_state=0),
        "CategorySpace.kernel|LandmarkKernel.name": CategorySpace(
            kernel=lambda A, B: A @ B.T, random_state=0
        ),
    }
    for where, estimator in models.items():
        with pytest.raises(ModelFileError, match=where):
            save_model(TableModel.fit(estimator, X, y, COLUMNS), path)
    fitted = TableModel.fit(MaxMarginProjection(), X, y, COLUMNS)
    fitted.estimator = Ridge().fit(X, y)
    with pytest.raises(ModelFileError, match="Ridge cannot be saved"):
        save_model(fitted, path)
    assert not path.exists()


@pytest.mark.parametrize("classifier", ["flow", "knn", "linear", "center"])
def test_an_embedding_of_unlabelled_rows_goes_through(data, tmp_path, classifier):
    X, y = data
    partly = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    estimator = ClassConstrainedEmbedding(classifier=classifier, random_state=0)
    model = TableModel.fit(estimator, X, partly, COLUMNS)
    save_model(model, tmp_path / "m.supred")
    loaded = load_model(tmp_path / "m.supred")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.estimator.suggest(2), model.estimator.suggest(2))


def test_sparse_rows_go_through(data, tmp_path):
    X, y = data
    rows = sparse.csr_matrix(X)
    for estimator in (LowDimSVC(n_centers=15, random_state=0), CategorySpace(kernel="rbf")):
        model = TableModel.fit(estimator, rows, y, COLUMNS)
        path = tmp_path / type(estimator).__name__
        save_model(model, path)
        np.testing.assert_array_equal(load_model(path).transform(rows), model.transform(rows))


def test_values_of_every_kind_come_back(tmp_path):
    value = {
        "none": None,
        "tuple": (1, 2.5, "x", True),
        3: [np.float32(1.5), np.int64(4)],
        "text": np.array(["é", "b"]),
        "objects": np.array([["a", None], [1, 2.0]], dtype=object),
        "empty": np.zeros((0, 3)),
        "nan": float("nan"),
        "matrix": sparse.csr_matrix(np.eye(3)),
    }
    write_container(tmp_path / "v", "values", value)
    back = read_container(tmp_path / "v", "values")
    assert back["tuple"] == value["tuple"]
    assert back[3] == [1.5, 4]
    assert back[3][0].dtype == np.float32
    np.testing.assert_array_equal(back["text"], value["text"])
    assert back["objects"].tolist() == [["a", None], [1, 2.0]]
    assert back["empty"].shape == (0, 3)
    assert np.isnan(back["nan"])
    np.testing.assert_array_equal(back["matrix"].toarray(), np.eye(3))
