"""The checks that every estimator of the library inherits.

A test class derives from :class:`EstimatorFamily` and gives a factory::

    class TestLowDimSVC(EstimatorFamily):
        def make(self, **parameters):
            return LowDimSVC(n_centers=8, random_state=0).set_params(**parameters)

A check that cannot hold for an estimator is named in `not_applicable` with the reason, a check
of scikit-learn's in `expected_failures`.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from supred.numerics.decisions import winners

NEWEST_CHECKED = (1, 9)


def read_only(*arrays):
    for array in arrays:
        array.setflags(write=False)
    return arrays if len(arrays) > 1 else arrays[0]


def blobs(n_rows=90, n_features=6, n_classes=3, *, spread=1.5, seed=0):
    """Overlapping classes, read-only, shuffled, labels 0, 1, .."""
    X, y = make_blobs(
        n_samples=n_rows,
        n_features=n_features,
        centers=n_classes,
        cluster_std=spread,
        random_state=seed,
    )
    return read_only(X, y)


class EstimatorFamily:
    """Checks for one estimator; see the module's docstring."""

    # Name of a test below -> why it cannot hold.
    not_applicable: dict[str, str] = {}
    # Name of a check of scikit-learn's -> why it fails.
    expected_failures: dict[str, str] = {}
    is_classifier = True
    # How exactly two ways to the same result must agree.
    rtol = 1e-6
    atol = 1e-6

    def make(self, **parameters):
        """Return an unfitted estimator that is quick on 100 rows, with a fixed random_state."""
        raise NotImplementedError

    def make_deterministic(self, X, **parameters):
        """Return an estimator in which nothing is drawn from the rows (say, centres given)."""
        return self.make(**parameters)

    def make_for_many_classes(self):
        """Return an estimator large enough for forty classes."""
        return self.make()

    @pytest.fixture(autouse=True)
    def _applies(self, request):
        # pytest names a parametrised test "name[parameter]"
        reason = self.not_applicable.get(request.node.name.split("[")[0])
        if reason:
            pytest.skip(reason)

    @pytest.fixture(autouse=True)
    def _quiet(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield

    def assert_same(self, first, second, X):
        """Assert that two fitted estimators give the same coordinates and labels."""
        np.testing.assert_allclose(
            first.transform(X), second.transform(X), rtol=self.rtol, atol=self.atol
        )
        if self.is_classifier:
            np.testing.assert_array_equal(first.predict(X), second.predict(X))

    def assert_usable(self, model, X):
        """Assert that a fitted estimator gives finite coordinates and known labels."""
        assert np.isfinite(model.transform(X)).all()
        if self.is_classifier:
            assert np.isin(model.predict(X), model.classes_).all()

    # --- scikit-learn ---------------------------------------------------------------------

    def test_scikit_learn_checks(self):
        results = check_estimator(
            self.make(),
            expected_failed_checks=self.expected_failures,
            on_skip=None,
            on_fail=None,
        )
        failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
        assert not failed, "\n".join(f"{name}: {error!r}" for name, error in failed.items())
        version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
        if version >= NEWEST_CHECKED:
            xfailed = {r["check_name"] for r in results if r["status"] == "xfail"}
            stale = set(self.expected_failures) - xfailed
            assert not stale, f"these checks pass by now; take them off the list: {stale}"

    def test_clone_and_pickle(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        self.assert_same(model, pickle.loads(pickle.dumps(model)), X)
        copy = clone(model)
        with pytest.raises(NotFittedError):
            copy.transform(X)
        self.assert_same(model, copy.fit(X, y), X)

    def test_unfitted(self):
        X, _ = blobs()
        for method in ("transform", "predict", "decision_function"):
            if hasattr(self.make(), method):
                with pytest.raises(NotFittedError):
                    getattr(self.make(), method)(X)

    # --- rules that tie the methods together ----------------------------------------------

    def test_predict_is_the_classifier_of_transform(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        expected = model.classify_latent(model.transform(X))
        np.testing.assert_array_equal(model.predict(X), expected)
        np.testing.assert_array_equal(
            winners(model.decision_function(X)), np.searchsorted(model.classes_, expected)
        )

    def test_fit_transform_is_fit_then_transform(self):
        X, y = blobs()
        np.testing.assert_allclose(
            self.make().fit_transform(X, y),
            self.make().fit(X, y).transform(X),
            rtol=self.rtol,
            atol=self.atol,
        )

    def test_a_row_does_not_depend_on_the_others(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        together = model.transform(X)
        alone = np.vstack([model.transform(X[i : i + 1]) for i in range(0, 90, 7)])
        np.testing.assert_allclose(alone, together[::7], rtol=self.rtol, atol=self.atol)

    def test_same_random_state_same_result(self):
        X, y = blobs()
        self.assert_same(self.make().fit(X, y), self.make().fit(X, y), X)

    def test_n_jobs_changes_nothing(self):
        if "n_jobs" not in self.make().get_params():
            pytest.skip("it has no n_jobs")
        X, y = blobs()
        one, two = self.make(n_jobs=1).fit(X, y), self.make(n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(one.transform(X), two.transform(X))

    # --- weights --------------------------------------------------------------------------

    def test_a_weight_is_a_number_of_copies(self):
        X, y = blobs()
        times = np.random.RandomState(1).randint(0, 4, size=len(y))
        weighted = self.make_deterministic(X).fit(X, y, sample_weight=times)
        copied = self.make_deterministic(X).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        self.assert_same(weighted, copied, X)

    def test_a_class_weight_is_a_number_of_copies(self):
        if "class_weight" not in self.make().get_params():
            pytest.skip("it has no class_weight")
        X, y = blobs()
        weighted = self.make_deterministic(X, class_weight={0: 3, 2: 2}).fit(X, y)
        times = np.array([3, 1, 2])[y]
        copied = self.make_deterministic(X).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        self.assert_same(weighted, copied, X)

    def test_weights_matter(self):
        X, y = blobs()
        heavy = np.where(np.arange(len(y)) % 2, 20.0, 1.0)
        plain = self.make_deterministic(X).fit(X, y)
        weighted = self.make_deterministic(X).fit(X, y, sample_weight=heavy)
        assert not np.allclose(plain.transform(X), weighted.transform(X), rtol=1e-4)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (lambda y: np.where(np.arange(len(y)) == 3, -1.0, 1.0), "negative"),
            (lambda y: (y != 1).astype(float), "all weights are zero"),
            (lambda y: np.where(np.arange(len(y)) == 3, np.nan, 1.0), "finite"),
        ],
    )
    def test_bad_weights(self, weights, message):
        X, y = blobs()
        with pytest.raises(ValueError, match=message):
            self.make().fit(X, y, sample_weight=weights(y))

    # --- parameters -----------------------------------------------------------------------

    @pytest.mark.parametrize("value", [object(), b"x"])
    def test_what_a_parameter_cannot_be_is_refused_by_its_name(self, value):
        X, y = blobs()
        for name in self.make().get_params(deep=False):
            with pytest.raises(ValueError, match=name):
                self.make(**{name: value}).fit(X, y)

    @pytest.mark.parametrize("value", [np.array(3.0), np.zeros((2, 2))])
    def test_an_array_in_the_place_of_a_parameter_is_refused_by_its_name_or_used(self, value):
        X, y = blobs()
        refusals = {}
        for name in self.make().get_params(deep=False):
            try:
                self.make(**{name: value}).fit(X, y)
            except ValueError as error:
                refusals[name] = str(error)
        assert len(refusals) > 3
        assert all(name in text for name, text in refusals.items()), refusals

    # --- kinds of input -------------------------------------------------------------------

    def test_two_columns_of_one_name_are_refused(self):
        X, y = blobs()
        frame = pd.DataFrame(X, columns=list("abcdea"))
        with pytest.raises(ValueError, match="X has two columns of the name 'a'"):
            self.make().fit(frame, y)

    def test_sparse_is_dense(self):
        X, y = blobs()
        X = np.where(np.abs(X) > 2, X, 0.0)
        dense = self.make().fit(X, y)
        for make_sparse in (sparse.csr_matrix, sparse.csc_array):
            model = self.make().fit(make_sparse(X), y)
            self.assert_same(dense, model, X)
            self.assert_same(dense, model, make_sparse(X))

    def test_single_precision(self):
        X, y = blobs(n_rows=150)
        double = self.make().fit(X, y)
        single = self.make().fit(X.astype(np.float32), y)
        assert single.transform(X.astype(np.float32)).dtype == np.float32
        if self.is_classifier:
            same = single.predict(X.astype(np.float32)) == double.predict(X)
            assert same.mean() >= 0.98

    def test_pandas_in_and_out(self):
        X, y = blobs()
        names = [f"feature {j}" for j in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=names)
        model = self.make().set_output(transform="pandas").fit(frame, pd.Series(y))
        latent = model.transform(frame)
        assert list(latent.columns) == list(model.get_feature_names_out())
        assert latent.shape[0] == len(frame)
        assert list(model.feature_names_in_) == names
        np.testing.assert_allclose(
            latent.to_numpy(), self.make().fit(X, y).transform(X), rtol=self.rtol, atol=self.atol
        )
        with pytest.raises(ValueError, match="feature names"):
            model.transform(frame[names[::-1]])

    def test_labels_of_any_type(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        for names in (np.array(["ash", "beech", "oak"]), np.array(["a", "b", "c"], dtype=object)):
            named = self.make().fit(X, names[y])
            np.testing.assert_allclose(
                named.transform(X), model.transform(X), rtol=self.rtol, atol=self.atol
            )
            if self.is_classifier:
                np.testing.assert_array_equal(named.predict(X), names[model.predict(X)])

    def test_input_is_not_modified(self):
        X, y = blobs()
        weights = np.linspace(0.5, 2.0, len(y))
        X, y, weights = X.copy(), y.copy(), weights.copy()
        before = X.copy(), y.copy(), weights.copy()
        self.make().fit(X, y, sample_weight=weights).transform(X)
        for array, old in zip((X, y, weights), before, strict=True):
            np.testing.assert_array_equal(array, old)

    # --- shapes that peers trip over ------------------------------------------------------

    def test_rows_of_any_scale(self):
        """Rows of extreme size are counted in a unit of their own: no digit changes."""
        X, y = blobs()
        models = []
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for scale in (2.0**-1000, 2.0**-340, 2.0**340, 2.0**1000):
                with pytest.warns(UserWarning, match="is counted in units of 2\\^"):
                    models.append(self.make().fit(X * scale, y))
                self.assert_usable(models[-1], X * scale)
                expected = models[0].transform(X * 2.0**-1000)
                np.testing.assert_array_equal(models[-1].transform(X * scale), expected)
        assert self.make().fit(X, y).row_unit_ == 1.0

    def test_weights_of_any_scale(self):
        X, y = blobs()
        weights = np.linspace(0.5, 2.0, len(y))
        coordinates = []
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for scale in (2.0**-1000, 2.0**-150, 2.0**150, 2.0**1000):
                with pytest.warns(UserWarning, match="sample_weight is counted in units of"):
                    model = self.make().fit(X, y, sample_weight=weights * scale)
                self.assert_usable(model, X)
                coordinates.append(model.transform(X))
        for other in coordinates[1:]:
            np.testing.assert_array_equal(other, coordinates[0])

    def test_rows_far_from_the_training_rows(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for dtype, scale in ((np.float64, 1e25), (np.float64, 1e90), (np.float32, 1e30)):
                assert np.isfinite(model.transform((X * scale).astype(dtype))).all()
            with pytest.raises(ValueError, match="too far from them"):
                model.predict(X * 1e160)

    def test_constant_and_duplicated_features(self):
        X, y = blobs()
        X = np.column_stack([X, np.full(len(y), 7.0), X[:, 0], np.zeros(len(y))])
        self.assert_usable(self.make().fit(X, y), X)

    def test_more_features_than_rows(self):
        X, y = blobs(n_rows=40, n_features=120)
        self.assert_usable(self.make().fit(X, y), X)

    def test_a_class_with_one_row(self):
        X, y = blobs(n_classes=2)
        X = np.vstack([X, X.max(axis=0) + 3])
        y = np.append(y, 2)
        self.assert_usable(self.make().fit(X, y), X)

    def test_two_classes(self):
        X, y = blobs(n_classes=2)
        model = self.make().fit(X, y)
        self.assert_usable(model, X)
        if self.is_classifier:
            assert model.decision_function(X).shape == (len(y),)
            assert model.score(X, y) > 0.9

    def test_forty_classes(self):
        X, y = blobs(n_rows=240, n_features=45, n_classes=40, spread=1.0)
        model = self.make_for_many_classes().fit(X, y)
        self.assert_usable(model, X)
        if self.is_classifier:
            assert model.decision_function(X).shape == (len(y), 40)
            assert model.score(X, y) > 0.8

    def test_the_model_does_not_grow_with_the_rows(self):
        small = self.make().fit(*blobs(n_rows=100))
        large = self.make().fit(*blobs(n_rows=400))
        assert large.model_size_ == small.model_size_
        # the history may be longer; the rows would add 14 kB
        assert len(pickle.dumps(large)) < len(pickle.dumps(small)) + 6000

    # --- bad input ------------------------------------------------------------------------

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_value_that_is_not_finite(self, value):
        X, y = blobs()
        X = X.copy()
        X[5, 2] = value
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            self.make().fit(X, y)

    def test_one_class_only(self):
        X, y = blobs()
        with pytest.raises(ValueError, match="one class"):
            self.make().fit(X, np.zeros_like(y))

    @pytest.mark.parametrize("missing", [None, np.nan])
    def test_a_missing_label(self, missing):
        X, y = blobs()
        labels = np.array(["a", "b", "c"], dtype=object)[y]
        labels[4] = missing
        with pytest.raises(ValueError, match=r"y has 1 missing label\(s\), the first in row 4"):
            self.make().fit(X, labels)

    def test_a_missing_label_in_a_list(self):
        """NumPy would make the string 'nan' of it, and a class of that."""
        X, y = blobs()
        labels = [np.nan if i == 4 else "abc"[k] for i, k in enumerate(y)]
        with pytest.raises(ValueError, match="1 missing label"):
            self.make().fit(X, labels)

    def test_points_that_are_not_of_the_latent_space(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        Z = model.transform(X[:3])
        with pytest.raises(ValueError, match="latent coordinates; give what transform returns"):
            model.classify_latent(np.hstack([Z, Z]))
        with pytest.raises(ValueError, match="Z contains NaN"):
            model.classify_latent(np.full_like(Z, np.nan))

    def test_points_too_far_out_for_scores(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        if hasattr(model, "score_latent"):
            with pytest.raises(ValueError, match=r"Z holds numbers beyond 1e\+140"):
                model.classify_latent(np.full_like(model.transform(X[:2]), 1e200))
            with pytest.raises(ValueError, match=r"Z holds numbers beyond 1e\+33"):
                model.score_latent(np.full((2, model.transform(X).shape[1]), 1e37, dtype="f4"))

    def test_labels_that_only_look_alike(self):
        X, y = blobs()
        large = 2**60 + y
        model = self.make().fit(X, pd.Series(large).astype("Int64"))
        assert model.classes_.tolist() == np.unique(large).tolist()
        with pytest.raises(TypeError, match="cannot be sorted"):
            self.make().fit(X, [1 if k == 0 else str(k) for k in y])

    def test_a_missing_label_to_score(self):
        X, y = blobs()
        labels = np.where(y == 0, "a", "b").astype(object)
        model = self.make().fit(X, labels)
        labels[3] = None
        with pytest.raises(ValueError, match="the first in row 3"):
            model.score(X, labels)

    def test_another_number_of_columns(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        with pytest.raises(ValueError, match="features"):
            model.transform(X[:, :-1])

    def test_what_every_fit_keeps(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        assert model.n_features_in_ == X.shape[1]
        if self.is_classifier:
            np.testing.assert_array_equal(model.classes_, np.unique(y))
        assert model.model_size_.bytes >= model.model_size_.numbers > 0

    # --- fits that are refused ------------------------------------------------------------

    def test_a_refused_fit_leaves_an_estimator_unfitted(self):
        X, y = blobs()
        model = self.make()
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(X[:, :3], y, sample_weight=-np.ones(len(y)))
        with pytest.raises(NotFittedError):
            model.predict(X)

    @pytest.mark.filterwarnings("ignore:.*counted in units")
    def test_a_refused_fit_leaves_the_model_as_it_was(self):
        """Rows of another unit, of fewer columns, with names: nothing of them stays."""
        X, y = blobs()
        model = self.make().fit(X, y)
        before = dict(vars(model))
        named = pd.DataFrame(X[:, :3], columns=list("abc"))
        for rows in (X * 1e30, X[:, :3], named):
            with pytest.raises(ValueError, match="sample_weight"):
                model.fit(rows, y, sample_weight=-np.ones(len(y)))
            assert vars(model).keys() == before.keys()
            assert all(vars(model)[name] is value for name, value in before.items())

    def test_parameters_set_after_a_fit_do_not_change_its_answers(self):
        X, y = blobs()
        model = self.make().fit(X, y)
        expected = model.predict(X)
        others = type(model)().get_params()
        model.set_params(**{k: v for k, v in others.items() if "__" not in k})
        np.testing.assert_array_equal(model.predict(X), expected)
