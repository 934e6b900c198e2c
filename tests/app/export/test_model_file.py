"""Files of models: no code in them, and a clear word on what is not one."""

import numpy as np
import pytest
from scipy import sparse
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
from supred.app.export.conversion import finite_form_of
from supred.app.export.model_file import (
    ModelFileError,
    TableModel,
    load_model,
    load_table_model,
    save_model,
)
from supred.app.tables.table import Table
from supred.base.container import read_container, write_container
from tests.app.export.conftest import COLUMNS
from tests.app.export.models import MODELS as EXPORTED
from tests.app.export.models import fitted, rows_and_labels


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
            save_model(TableModel.fit(estimator, Table("table", COLUMNS, X, y=y)), path)
    fitted = TableModel.fit(MaxMarginProjection(), Table("table", COLUMNS, X, y=y))
    fitted.estimator = Ridge().fit(X, y)
    with pytest.raises(ModelFileError, match="a Ridge cannot be saved"):
        save_model(fitted, path)
    assert not path.exists()


@pytest.mark.parametrize("classifier", ["flow", "knn", "linear", "center"])
def test_an_embedding_of_unlabelled_rows_goes_through(data, tmp_path, classifier):
    X, y = data
    partly = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    estimator = ClassConstrainedEmbedding(classifier=classifier, random_state=0)
    model = TableModel.fit(estimator, Table("table", COLUMNS, X, y=partly))
    save_model(model, tmp_path / "m.supred")
    loaded = load_model(tmp_path / "m.supred")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.estimator.suggest(2), model.estimator.suggest(2))


def test_sparse_rows_go_through(data, tmp_path):
    X, y = data
    rows = sparse.csr_matrix(X)
    for estimator in (LowDimSVC(n_centers=15, random_state=0), CategorySpace(kernel="rbf")):
        model = TableModel.fit(estimator, Table("table", COLUMNS, rows, y=y))
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


@pytest.mark.parametrize("nothing", ["passthrough", None])
def test_a_pipeline_may_begin_with_a_step_that_does_nothing(data, tmp_path, nothing):
    X, y = data
    model = Pipeline([("same", nothing), ("svm", LowDimSVC(n_centers=10, random_state=0))])
    back = saved_and_loaded(model.fit(X, y), tmp_path / "m.supred")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    table = load_table_model(tmp_path / "m.supred")
    assert [column.name for column in table.columns] == ["x0", "x1", "x2", "x3"]
    np.testing.assert_array_equal(finite_form_of(back).evaluate(X).labels, model.predict(X))


def test_the_path_of_a_checkpoint_is_kept_as_text(data, tmp_path):
    model = LowDimSVC(n_centers=10, checkpoint=tmp_path / "state", random_state=0).fit(*data)
    back = saved_and_loaded(model, tmp_path / "m.supred")
    assert back.checkpoint == str(tmp_path / "state")


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


def test_arguments_that_are_no_path_or_size(data, tmp_path):
    """A number is not taken for an open file, which would be closed; nor a file called damaged."""
    X, y = data
    path, model = tmp_path / "m", LowDimSVC(n_centers=5, random_state=0).fit(X, y)
    for wrong in (1, None, b"m"):
        with pytest.raises(TypeError, match=r"path=.* is a .*, not a path"):
            load_model(wrong)
        with pytest.raises(TypeError, match=r"path=.* is a .*, not a path"):
            save_model(model, wrong)
    with pytest.raises(ValueError, match="overwrite=2 is not known"):
        save_model(model, path, overwrite=2)
    save_model(model, path)
    for size in ("x", None, -1, float("nan")):
        with pytest.raises(ValueError, match=r"max_bytes=.* is out of range"):
            load_model(path, max_bytes=size)
    assert load_model(path, max_bytes=1e9).score(X, y) == model.score(X, y)
