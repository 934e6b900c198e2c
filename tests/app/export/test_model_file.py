"""Files of models: no code in them, and a clear word on what is not one."""

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from supred import (
    CategorySpace,
    ClassConstrainedEmbedding,
    LowDimSVC,
    LowDimSVCCV,
    MaxMarginProjection,
)
from supred.app.export.model_file import ModelFileError, TableModel, load_model, save_model
from supred.app.tables.table import Column
from supred.base.container import DESCRIPTION, read_container, write_container
from tests.app.export.models import MODELS as EXPORTED
from tests.app.export.models import fitted, rows_and_labels

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
        (set_dunder, "damaged"),
        (set_attribute, "has no attribute '_project'"),
        (drop_estimator, "damaged"),
        (wrong_estimator, "it holds no model"),
        (lambda d: d.update(version=True), "version True of the format"),
        (set_state(n_features_in_=2**62), "the number of features"),
        (set_state(n_features_in_=True), "the number of features"),
        (set_state(n_features_in_=5), "damaged"),
        (set_state(classes_=[0, 1]), "classes"),
        (set_state(_n_features_out=7), "latent coordinates of another shape"),
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
    with pytest.raises(ModelFileError, match="a Ridge cannot be saved"):
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


def saved_and_loaded(model, path):
    save_model(model, path)
    first = path.read_bytes()
    save_model(model, path, overwrite=True)
    assert path.read_bytes() == first  # equal models are equal files
    return load_model(path)


@pytest.mark.parametrize("name", EXPORTED)
def test_every_estimator_and_pipeline(name, tmp_path):
    X = rows_and_labels()[0]
    model = fitted(name)
    back = saved_and_loaded(model, tmp_path / "m.supred")
    assert type(back) is type(model)
    np.testing.assert_array_equal(back.transform(X), model.transform(X))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))


def test_pipelines_keep_names_and_steps(data, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(data[0], columns=list("abcd")), data[1]
    model = Pipeline(
        [
            ("fill", SimpleImputer(strategy="median")),
            ("same", "passthrough"),
            ("drop", VarianceThreshold()),
            ("length", Normalizer()),
            ("svd", TruncatedSVD(3, random_state=0)),
            ("inner", make_pipeline(FunctionTransformer(), RobustScaler())),
            ("net", CategorySpace(n_init=0)),
        ]
    ).fit(X, y)
    back = saved_and_loaded(model, tmp_path / "m.supred")
    assert [name for name, _ in back.steps] == [name for name, _ in model.steps]
    assert back.feature_names_in_.tolist() == list("abcd")
    rows = X.copy()
    rows.iloc[::5, 1] = np.nan
    np.testing.assert_array_equal(back.transform(rows), model.transform(rows))


def test_searches(data, tmp_path):
    X, y = data
    searches = [
        GridSearchCV(
            make_pipeline(StandardScaler(), LowDimSVC(n_centers=10, random_state=0)),
            {"lowdimsvc__C": [0.1, 1.0]},
            cv=2,
            scoring="balanced_accuracy",
        ),
        RandomizedSearchCV(CategorySpace(n_init=0), {"whiten": [True, False]}, n_iter=1, cv=2),
        LowDimSVCCV(n_centers=10, alphas=[1e-3], Cs=[0.1, 1.0], cv=2, random_state=0),
    ]
    for number, search in enumerate(searches):
        search.fit(X, y)
        back = saved_and_loaded(search, tmp_path / f"{number}.supred")
        assert type(back) is type(search)
        assert back.best_params_ == search.best_params_
        assert back.best_score_ == search.best_score_
        assert back.score(X, y) == search.score(X, y)
        np.testing.assert_array_equal(back.predict(X), search.predict(X))
        for name, column in search.cv_results_.items():
            assert list(back.cv_results_[name]) == list(column)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            LogisticRegression(max_iter=5000),
            "a LogisticRegression cannot be saved; estimators of supred can",
        ),
        (make_pipeline(KernelPCA(4), CategorySpace(n_init=0)), "a KernelPCA cannot be saved"),
        (
            make_pipeline(FunctionTransformer(np.abs), CategorySpace(n_init=0)),
            "FunctionTransformer of your own function",
        ),
        (
            make_pipeline(SimpleImputer(add_indicator=True), CategorySpace(n_init=0)),
            "add_indicator=True",
        ),
        (GridSearchCV(CategorySpace(n_init=0), {"n_init": [0]}, refit=False), "refit=True"),
        (
            GridSearchCV(CategorySpace(n_init=0), {"n_init": [0]}, cv=KFold(2, shuffle=True)),
            "save its best_estimator_",
        ),
    ],
)
def test_what_cannot_be_saved(model, message, data, tmp_path):
    with pytest.raises(ModelFileError, match=message) as raised:
        save_model(model.fit(*data), tmp_path / "m")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "m").exists()


def test_numbers_of_single_precision_take_half(tmp_path):
    rng = np.random.default_rng(0)
    single = rng.normal(size=5000).astype(np.float32)
    values = {"single": single.astype(float), "double": rng.normal(size=10)}
    write_container(tmp_path / "v", "values", values)
    back = read_container(tmp_path / "v", "values")
    for name, array in values.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == np.float64
    assert (tmp_path / "v").stat().st_size < 4.2 * 5000


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
