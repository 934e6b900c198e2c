"""Damaged, edited and hostile model files: refused with one line, or harmless."""

import io
import json
import pickle
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from supred import CategorySpace, LowDimSVC
from supred.app.export.conversion import finite_form_of
from supred.app.export.model_file import ModelFileError, load_model, load_table_model
from supred.app.export.precision import precise
from supred.base.container import DESCRIPTION
from supred.export import (
    ExportError,
    quantisation_errors,
    save_model,
    to_c,
    to_javascript,
    to_onnx,
)


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


def estimator_of(document):
    return document["value"]["state"]["estimator"]


def set_class(document):
    document["value"]["state"]["estimator"] = {"object": "subprocess.Popen", "state": {}}


def set_dunder(document):
    estimator_of(document)["state"]["__class__"] = "x"


def set_attribute(document):
    estimator_of(document)["state"]["_project"] = 1


def drop_estimator(document):
    del document["value"]["state"]["estimator"]


def wrong_estimator(document):
    document["value"]["state"]["estimator"] = {
        "object": "Column",
        "state": {"name": "a", "kind": "number"},
    }


def set_state(**changes):
    def change(document):
        estimator_of(document)["state"].update(changes)

    return change


def set_table(**changes):
    def change(document):
        document["value"]["state"].update(changes)

    return change


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
        # before models kept the kind of their SVMs
        (lambda d: d.update(version=3), "version 3 of the format, .* make it again"),
        (set_dunder, "damaged"),
        (set_attribute, "has no attribute '_project'"),
        (drop_estimator, "damaged"),
        (wrong_estimator, "it holds no model"),
        (lambda d: d.update(version=True), "version True of the format"),
        (set_state(n_features_in_=2**62), "the number of features"),
        (set_state(n_features_in_=True), "the number of features"),
        (set_state(n_features_in_=5), "damaged"),
        (set_state(classes_=[0, 1]), "classes"),
        (set_state(_unit_exponent=100_000), "the unit of the rows"),
        (set_state(_n_features_out=7), "latent coordinates of another shape"),
        (set_state(_n_features_out=2**63), "latent coordinates of another shape"),
        (set_table(target=3), "target"),
        (set_table(notes=[{"dict": []}]), "notes"),
        (set_table(columns=[]), "damaged"),
        (set_table(sparse=1), "sparse"),
        (set_table(learnt={"dict": []}), "damaged"),
    ],
)
def test_foreign_descriptions(saved, change, message):
    edit(saved, change)
    with pytest.raises(ModelFileError, match=message) as raised:
        load_model(saved)
    assert "\n" not in str(raised.value)


def with_arrays(path, change):
    """Write the file again with other arrays."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name in parts:
        if name.endswith(".npy"):
            buffer = io.BytesIO()
            np.save(buffer, change(np.load(io.BytesIO(parts[name]))), allow_pickle=False)
            parts[name] = buffer.getvalue()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: np.full(a.shape, np.nan) if a.dtype.kind == "f" else a,
        lambda a: np.full(a.shape, np.inf) if a.dtype.kind == "f" else a,
        lambda a: np.full(a.shape, 1e300) if a.dtype.kind == "f" else a,
        lambda a: a[..., :-1] if a.ndim else a,
        lambda a: a.T,
        lambda a: a.astype(str),
        lambda a: a.astype(complex),
        lambda a: np.zeros_like(a) if a.dtype.kind == "i" else a,
    ],
)
def test_arrays_of_another_kind(saved, change):
    with_arrays(saved, change)
    with pytest.raises(ModelFileError, match="damaged") as raised:
        load_model(saved)
    assert "\n" not in str(raised.value)


def array_of_zeros(shape, n_bytes):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return header.getvalue() + bytes(n_bytes)


def test_bombs_are_refused_before_they_are_unpacked(saved):
    with zipfile.ZipFile(saved) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    bombs = {
        "max_bytes": {"arrays/0.npy": array_of_zeros((4 * 10**7,), 32 * 10**7)},
        "an array of shape": {"arrays/0.npy": array_of_zeros((10**12,), 0)},
        "description of more than 4 MB": {DESCRIPTION: b"[" * (5 * 2**20)},
        "damaged": {DESCRIPTION: b"[" * 10**6},
    }
    for message, changed in bombs.items():
        with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**parts, **changed}.items():
                archive.writestr(name, content)
        tracemalloc.start()
        with pytest.raises(ModelFileError, match=message):
            load_model(saved)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6


def test_labels_beyond_number_do_not_become_objects(saved):
    with zipfile.ZipFile(saved) as archive:
        document = json.loads(archive.read(DESCRIPTION))
    number = estimator_of(document)["state"]["classes_"]["array"]
    order = iter(range(100))
    with_arrays(saved, lambda a: np.arange(3e6, dtype="i4") if next(order) == number else a)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="what it says of classes"):
        load_model(saved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6


def peak_of(action):
    """Return the most bytes that are taken."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def with_classes(classes):
    """A model of so many classes that all score zero."""
    model = LowDimSVC(n_centers=15, multi_class="ovr", random_state=0).fit(
        *load_iris(return_X_y=True)
    )
    model.classes_, model.intercept_ = classes, np.zeros(len(classes))
    model.coef_ = np.zeros((len(classes), model.coef_.shape[1]))
    return model


def test_long_labels_are_not_copied_again_and_again(tmp_path):
    classes = np.arange(10_000).astype("U500")
    save_model(with_classes(classes), tmp_path / "m.supred")
    assert peak_of(lambda: load_model(tmp_path / "m.supred")) < 2 * classes.nbytes


def test_the_precision_of_many_classes_is_measured_at_fewer_rows():
    form = finite_form_of(with_classes(np.arange(100_000)))
    assert peak_of(lambda: precise(form)) < 150e6


def test_sparse_rows_of_very_many_features_stay_sparse(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "m.supred"
    save_model(CategorySpace(random_state=0).fit(sparse.csr_array(X * np.eye(150, 4)), y), path)

    def widen(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if key == "n_features_in_":
                node[key] = 10**7
            elif key == "shape":
                node[key] = [value[0], 10**7]
            elif isinstance(value, dict | list):
                widen(value)

    edit(path, widen)
    model = load_model(path)

    def refused():
        with pytest.raises(ValueError, match="the model has 10000000 columns; at most 100000"):
            load_table_model(path)
        for export in (to_c, to_javascript, to_onnx):
            with pytest.raises(ExportError, match="sparse centres of the kernel would take"):
                export(model)

    assert peak_of(refused) < 50e6


def test_max_bytes(saved):
    with pytest.raises(ModelFileError, match="more than max_bytes=100; if you trust it"):
        load_model(saved, max_bytes=100)
    assert load_model(saved, max_bytes=10**6).target == "target"


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


def test_an_array_is_read_once(saved):
    """Named again and again it would take any memory."""

    def name_twice(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key == "array":
                    node[key] = 0
                else:
                    name_twice(value)
        elif isinstance(node, list):
            for value in node:
                name_twice(value)

    edit(saved, name_twice)
    with pytest.raises(ModelFileError, match="the array 0 twice"):
        load_model(saved)


def test_an_edited_parameter_changes_no_answer(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model.supred"
    fitted = LowDimSVC(mapping="linear", random_state=0).fit(X, y)
    save_model(fitted, path)
    edit(path, lambda document: set_mapping(document["value"]))
    model = load_model(path)
    assert model.mapping == "rbf"
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
    assert to_c(model).text == to_c(fitted).text


def test_a_model_whose_parts_do_not_fit_together_is_not_exported(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = LowDimSVC(mapping="linear", random_state=0).fit(X, y)
    monkeypatch.delattr(model.mapping_, "shift")
    for export in (to_c, to_javascript, to_onnx):
        with pytest.raises(ExportError, match=r"do not fit together .*; fit it anew"):
            export(model)


@pytest.mark.parametrize("classes", [np.array(1), np.arange(5)])
def test_a_model_of_other_classes_than_scores_is_not_exported(classes):
    model = LowDimSVC(n_centers=15, random_state=0).fit(*load_iris(return_X_y=True))
    model.classes_ = classes
    for export in (to_c, to_javascript, to_onnx):
        with pytest.raises(ExportError, match="do not fit together"):
            export(model)


def test_a_model_whose_numbers_overflow_together_is_not_exported():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(PCA(2), LowDimSVC(mapping="linear", random_state=0)).fit(X, y)
    model[0].components_ = np.full((2, 4), 1e200)
    model[1].mapping_.W = np.full_like(model[1].mapping_.W, 1e200)
    for export in (to_c, to_javascript, to_onnx):
        with pytest.raises(ExportError, match=r"do not fit together \(a number that is not finite"):
            export(model)


def set_mapping(node):
    """Let a linear mapping be called a mapping of Gaussians."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key == "mapping" and value == "linear":
            node[key] = "rbf"
        elif isinstance(value, dict | list):
            set_mapping(value)


@pytest.mark.parametrize("size", [1e160, np.inf, np.nan])
def test_rows_without_scores_have_no_error_of_quantisation(size):
    X, y = load_iris(return_X_y=True)
    model = CategorySpace(kernel="poly", random_state=0).fit(X, y)
    X[3] *= size
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="X: the scores of row 3 are not finite"):
            quantisation_errors(model, X, y)
