"""What the displays draw: positions, marks, labels."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supred import CategorySpace, ClassConstrainedEmbedding, LowDimSVC
from supred.plotting import (
    CategoryAxesDisplay,
    LatentSpaceDisplay,
    TradeOffDisplay,
    TrainingTraceDisplay,
)
from supred.plotting.style import class_style


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def model(iris):
    X, y = iris
    return make_pipeline(StandardScaler(), LowDimSVC(2, n_centers=20, random_state=0)).fit(
        X[::2], y[::2]
    )


def groups(ax):
    """The drawn points of each legend entry."""
    found = {}
    for drawn in ax.collections:
        if isinstance(drawn, PathCollection):
            found.setdefault(drawn.get_label(), []).append(drawn)
    return found


def points(ax, label):
    return np.vstack([np.asarray(d.get_offsets()) for d in groups(ax)[label]])


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_latent_space_shows_each_class_where_it_lies(iris, model):
    X, y = iris
    display = LatentSpaceDisplay.from_estimator(model, X=X, y=y)
    Z = model.transform(X)
    for k, label in enumerate(model.classes_):
        np.testing.assert_allclose(points(display.ax_, label), Z[y == label])
        face = groups(display.ax_)[label][0].get_facecolor()[0]
        assert to_hex(face).upper() == class_style(k).color
    np.testing.assert_allclose(points(display.ax_, "misclassified"), Z[model.predict(X) != y])
    assert legend_texts(display.ax_) == [*model.classes_, "misclassified"]
    assert display.figure_ is display.ax_.figure


def test_latent_space_shades_what_predict_says(iris, model):
    X, y = iris
    display = LatentSpaceDisplay.from_estimator(model, X=X, y=y)
    mesh = [c for c in display.ax_.collections if isinstance(c, QuadMesh)]
    assert len(mesh) == 1
    regions = display.regions
    x, up, codes = regions.x, regions.y, regions.class_index
    Z = model.transform(X)
    column = np.abs(x[None, :] - Z[:, :1]).argmin(axis=1)
    row = np.abs(up[None, :] - Z[:, 1:]).argmin(axis=1)
    agree = model.classes_[codes[row, column]] == model.predict(X)
    assert agree.mean() > 0.97  # the nearest point of the grid may lie beyond a border


@pytest.mark.parametrize(
    ("estimator", "shaded"),
    [
        (make_pipeline(PCA(2), KNeighborsClassifier()), True),
        (ClassConstrainedEmbedding(2, n_neighbors=40), True),
        (LinearDiscriminantAnalysis(n_components=2), False),  # decides outside its coordinates
        (LowDimSVC(3, n_centers=10, random_state=0), False),
    ],
)
def test_regions_only_where_the_latent_space_decides(iris, estimator, shaded):
    X, y = iris
    display = LatentSpaceDisplay.from_estimator(estimator.fit(X, y), X=X, y=y)
    assert (display.regions is not None) == shaded


def test_held_out_rows_are_marked_apart(iris, model):
    X, y = iris
    held_out = np.arange(len(y)) % 2 == 1
    display = LatentSpaceDisplay.from_estimator(model, X=X, y=y, held_out=held_out)
    Z = model.transform(X)
    np.testing.assert_allclose(points(display.ax_, "setosa"), Z[held_out & (y == "setosa")])
    pale = [
        d for d in display.ax_.collections
        if isinstance(d, PathCollection) and d.get_alpha() == 0.3 and len(d.get_offsets())
    ]  # fmt: skip
    assert sum(len(d.get_offsets()) for d in pale) == (~held_out).sum()
    assert {"training row", "held-out row"} <= set(legend_texts(display.ax_))


def test_one_dimension_and_a_pair_and_three():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    one = LatentSpaceDisplay.from_predictions(Z=Z[:, :1], y=y)
    np.testing.assert_array_equal(points(one.ax_, "1")[:, 0], Z[y == 1, 0])
    assert list(one.ax_.get_yticks()) == []
    single = LatentSpaceDisplay.from_predictions(Z=Z, y=y, dimensions=[2])
    np.testing.assert_array_equal(points(single.ax_, "1")[:, 0], Z[y == 1, 2])
    pair = LatentSpaceDisplay.from_predictions(Z=Z, y=y, dimensions=(3, 1))
    np.testing.assert_array_equal(points(pair.ax_, "2"), Z[y == 2][:, [3, 1]])
    assert pair.ax_.get_xlabel() == "latent dimension 4"
    deep = LatentSpaceDisplay.from_predictions(Z=Z, y=y, dimensions=(0, 1, 3))
    assert deep.ax_.name == "3d"
    assert deep.ax_.get_zlabel() == "latent dimension 4"
    drawn = groups(deep.ax_)["0"][0]._offsets3d
    np.testing.assert_array_equal(np.array(drawn[2]), Z[y == 0, 3])


def test_sixty_classes_and_many_rows(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(100_000) % 60
    Z = 5 * rng.normal(size=(60, 2))[y] + rng.normal(size=(len(y), 2))
    display = LatentSpaceDisplay.from_predictions(Z=Z, y=y, y_pred=y)
    assert len(legend_texts(display.ax_)) == 60
    written = [t.get_text() for t in display.ax_.texts]
    assert written == [str(k) for k in range(60)]
    display.figure_.savefig(tmp_path / "many.svg")
    assert (tmp_path / "many.svg").stat().st_size < 3e6  # the rows are a bitmap in it


@pytest.mark.filterwarnings("error:Glyph:UserWarning")
def test_names_are_shown_as_they_are():
    names = ["$5 to $10", r"$\nonsense{$", "_hidden"]
    y = np.repeat(names, 5)
    Z = np.random.default_rng(0).normal(size=(15, 3))
    displays = [
        LatentSpaceDisplay.from_predictions(Z=Z, y=y),
        CategoryAxesDisplay.from_predictions(Z=Z, y=y, all_classes=names),
        TradeOffDisplay(names=names, errors=[0.1, 0.2, 0.3], costs=[3, 2, 1]).plot(),
    ]
    for display in displays:
        display.figure_.canvas.draw()  # a formula that makes no sense would raise here
    for display in displays[:2]:
        told = [text.replace("\\$", "$").strip("\u200b") for text in legend_texts(display.ax_)]
        assert sorted(told) == sorted(names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": (0, 7)}, r"dimensions=\(0, 7\) must be a list of one to three of the 2"),
        ({"dimensions": 5}, "dimensions=5 must be a list"),
        ({"dimensions": (0.0, 1.5)}, r"dimensions=\(0.0, 1.5\) must be"),
        ({"ax": 3}, "ax=3 is not matplotlib Axes"),
        ({"dimensions": (0, 1, 0, 1)}, "one to three"),
        ({"held_out": [0, 1]}, "held_out must hold True or False for each of the 3 rows"),
    ],
)
def test_latent_space_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        LatentSpaceDisplay.from_predictions(Z=np.eye(3)[:, :2], y=[0, 1, 2], **options)


def test_latent_space_needs_matching_rows_axes_and_a_transform(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"Z has shape \(3, 3\) and y 2 labels"):
        LatentSpaceDisplay.from_predictions(Z=np.eye(3), y=[0, 1])
    import matplotlib.pyplot as plt

    with pytest.raises(ValueError, match="projection='3d'"):
        LatentSpaceDisplay(Z=np.eye(3), y=np.arange(3)).plot(
            ax=plt.subplots()[1], dimensions=(0, 1, 2)
        )
    with pytest.raises(ValueError, match="KNeighborsClassifier has no transform"):
        LatentSpaceDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X=X, y=y)


def test_training_trace_draws_the_history(model):
    display = TrainingTraceDisplay.from_estimator(model, title="iris")
    history = model[-1].history_
    lines = {line.get_label(): line for ax in display.axes_ for line in ax.get_lines()}
    np.testing.assert_allclose(lines["nested objective"].get_ydata(), history["nested_objective"])
    np.testing.assert_allclose(lines["train error"].get_ydata(), 100 * history["train_error"])
    np.testing.assert_allclose(lines["mu"].get_ydata(), history["mu"])
    assert "validation error" not in lines  # there was no validation part
    assert lines["iterate kept"].get_xdata()[0] == model[-1].best_iter_
    assert display.ax_.get_title() == "iris"


def test_training_trace_divides_the_place_it_is_given(model):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    display = TrainingTraceDisplay.from_estimator(model, ax=axes[1])
    figure.canvas.draw()
    left = axes[0].get_position().x1
    assert len(display.axes_) == 3
    assert all(panel.get_position().x0 > left for panel in display.axes_)


def test_training_trace_refuses(iris):
    X, _ = iris
    with pytest.raises(ValueError, match="PCA has no trace of iterations"):
        TrainingTraceDisplay.from_estimator(PCA(2).fit(X))
    with pytest.raises(ValueError, match=r"no column to draw: found \['seconds'\]"):
        TrainingTraceDisplay(history={"seconds": [0.0, 1.0]}).plot()


def test_trade_off_of_estimators(iris, model):
    X, y = iris
    near = KNeighborsClassifier().fit(X[::2], y[::2])
    display = TradeOffDisplay.from_estimators(
        {"ours": model, "neighbours": near}, X=X[1::2], y=y[1::2]
    )
    assert display.costs[0] == model[-1].model_size_.bytes
    np.testing.assert_allclose(display.errors[1], 1 - near.score(X[1::2], y[1::2]))
    assert [t.get_text() for t in display.ax_.texts] == ["ours", "neighbours"]
    assert display.ax_.get_xscale() == "log"
    timed = TradeOffDisplay.from_estimators({"ours": model}, X=X, y=y, against="seconds")
    assert timed.ax_.get_xlabel() == "prediction time (s)"


def test_trade_off_front_against_brute_force():
    rng = np.random.default_rng(0)
    errors, costs = rng.integers(0, 6, 12) / 10, rng.integers(1, 6, 12)
    names = [str(k) for k in range(12)]
    front = TradeOffDisplay(names=names, errors=errors, costs=costs).plot().front_
    beaten = [
        any(
            errors[j] <= errors[k] and costs[j] <= costs[k]
            and (errors[j] < errors[k] or costs[j] < costs[k])
            for j in range(12)
        )
        for k in range(12)
    ]  # fmt: skip
    kept = {(errors[k], costs[k]) for k in range(12) if not beaten[k]}
    assert {(errors[k], costs[k]) for k in front} == kept


def test_trade_off_refuses():
    with pytest.raises(ValueError, match=r"costs has no entry for \['b'\]"):
        TradeOffDisplay.from_predictions(y=[0], predictions={"b": [0]}, costs={})
    with pytest.raises(ValueError, match="against='watts' is not known; use one of"):
        TradeOffDisplay(names=["a"], errors=[0.1], costs=[1], against="watts").plot()
    with pytest.raises(ValueError, match="costs must be positive"):
        TradeOffDisplay(names=["a"], errors=[0.1], costs=[0]).plot()
    with pytest.raises(ValueError, match="of one length, got 2, 1 and 1"):
        TradeOffDisplay(names=["a", "b"], errors=[0.1], costs=[1]).plot()


def test_category_axes_shows_three_classes_on_their_axes(iris):
    X, y = iris
    space = CategorySpace(kernel="linear", random_state=0).fit(X, y)
    chosen = ["virginica", "setosa", "versicolor"]
    display = CategoryAxesDisplay.from_estimator(space, X=X, y=y, classes=chosen)
    Z = space.transform(X)
    drawn = np.array(groups(display.ax_)["virginica"][0]._offsets3d)
    np.testing.assert_allclose(drawn[0], Z[y == "virginica", 2])
    assert display.ax_.get_xlabel() == "axis of virginica"
    assert [t.get_text() for t in display.ax_.texts] == chosen


def test_category_axes_of_a_pair_are_its_coordinates(iris):
    X, y = iris
    space = CategorySpace(kernel="linear", random_state=0).fit(X, y)
    display = CategoryAxesDisplay.from_estimator(space, X=X, y=y, classes=["virginica", "setosa"])
    drawn = groups(display.ax_)["setosa"][0].get_offsets()
    np.testing.assert_allclose(drawn, space.transform(X)[y == "setosa"][:, [2, 0]])
    assert display.ax_.get_ylabel() == "axis of setosa"


def test_category_axes_map_more_classes_where_their_means_lie_furthest_apart():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 10)
    Z = 3.0 * np.eye(6)[y] * np.array([1.0, 1, 1, 1, 5, 5]) + 0.1 * rng.normal(size=(60, 6))
    display = CategoryAxesDisplay.from_predictions(Z=Z, y=y, all_classes=np.arange(6))
    np.testing.assert_allclose(display.axes.T @ display.axes, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(display.Z, Z @ display.axes)

    def spread(plane):
        means = np.array([(Z @ plane)[y == k].mean(axis=0) for k in range(6)])
        return means.var(axis=0).sum()

    others = (np.linalg.qr(rng.normal(size=(6, 2)))[0] for _ in range(200))
    assert spread(display.axes) > max(spread(plane) for plane in others)
    assert [t.get_text() for t in display.ax_.texts if t.get_text()] == list("012345")


def test_category_axes_refuses():
    Z, y = np.eye(4), np.arange(4)
    options = {"Z": Z, "y": y, "all_classes": y}
    with pytest.raises(ValueError, match="must be two or more different ones of"):
        CategoryAxesDisplay.from_predictions(**options, classes=[1, 1])
    with pytest.raises(ValueError, match="must be two or more different ones of"):
        CategoryAxesDisplay.from_predictions(**options, classes=[0, 1, 9])
    with pytest.raises(
        ValueError, match=r"one column for each of the 3 classes, got shape \(4, 4\)"
    ):
        CategoryAxesDisplay.from_predictions(Z=Z, y=y, all_classes=[0, 1, 2])


@pytest.mark.parametrize("display", [LatentSpaceDisplay, CategoryAxesDisplay])
def test_several_labels_per_row_cannot_be_shown(display):
    labels = np.arange(30) % 3
    X = np.random.default_rng(0).normal(size=(30, 3)) + labels[:, None]
    model = CategorySpace().fit(X, np.eye(3)[labels])
    for y, message in ((np.eye(3)[labels], r"y has the shape \(30, 3\)"), (labels, "predict")):
        with pytest.raises(ValueError, match=f"{message}.*a picture shows one class per row"):
            display.from_estimator(model, X=X, y=y)


# --- arguments that are not what they should be ---------------------------------------------


def test_labels_of_a_column_are_compared_row_by_row(iris):
    X, y = iris
    model = LinearDiscriminantAnalysis().fit(X, y)
    for display in (
        TradeOffDisplay.from_estimators({"lda": model}, X=X, y=y[:, None]),
        TradeOffDisplay.from_predictions(
            y=y, predictions={"lda": model.predict(X)[:, None]}, costs={"lda": 1.0}
        ),
    ):
        assert display.errors == [np.mean(model.predict(X) != y)]


def test_bad_arguments_are_named(iris):
    X, y = iris
    model = CategorySpace(random_state=0).fit(X, y)
    Z, names = model.transform(X), model.classes_
    axes, space = CategoryAxesDisplay.from_predictions, LatentSpaceDisplay.from_predictions
    methods = TradeOffDisplay.from_predictions
    calls = [
        ("estimators={}", lambda: TradeOffDisplay.from_estimators({}, X=X, y=y)),
        ("has no predict", lambda: TradeOffDisplay.from_estimators({"a": 1}, X=X, y=y)),
        ("y has the shape", lambda: TradeOffDisplay.from_estimators({"a": model}, X=X, y=y[:5])),
        ("predictions=''", lambda: methods(y=y, predictions="", costs={"a": 1.0})),
        ("costs=None", lambda: methods(y=y, predictions={"a": y}, costs=None)),
        (r"predictions\['a'\]", lambda: methods(y=y, predictions={"a": y[:2]}, costs={"a": 1.0})),
        ("no axes of classes", lambda: CategoryAxesDisplay.from_estimator(None, X=X, y=y)),
        ("y has the shape", lambda: axes(Z=Z, y=y[:5], all_classes=names)),
        ("y_pred has the shape", lambda: axes(Z=Z, y=y, y_pred=[], all_classes=names)),
        ("all_classes=None", lambda: axes(Z=Z, y=y, all_classes=None)),
        ("classes=-1", lambda: axes(Z=Z, y=y, all_classes=names, classes=-1)),
        ("y_pred has the shape", lambda: space(Z=Z, y=y, y_pred=y[:5])),
    ]
    for message, call in calls:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="y holds labels that cannot be sorted"):
        LatentSpaceDisplay.from_estimator(model, X=X, y=[None] * len(y))
