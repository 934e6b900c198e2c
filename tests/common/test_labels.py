"""Labels of any make: none becomes another one on its way."""

import numpy as np
import pandas as pd
import pytest

from supred import ClassConstrainedEmbedding, KernelDiscriminantAnalysis, LowDimSVC
from supred.common.labels import (
    check_classes,
    check_no_label_missing,
    encode_labels,
    index_among,
)
from tests.family import blobs

LARGE = [2**60, 2**60 + 1, 2**60 + 2]


@pytest.mark.parametrize(
    "labels",
    [
        pd.DataFrame({"label": pd.Series(LARGE, dtype="Int64")}),
        pd.DataFrame({"label": pd.Series(LARGE, dtype="int64[pyarrow]")}),
        pd.Series(LARGE, dtype="Int64").astype("category"),
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_large_numbers_of_pandas_stay_apart(labels):
    classes, index = encode_labels(labels)
    assert classes.tolist() == LARGE
    assert index.tolist() == [0, 1, 2]


def test_large_numbers_beside_numbers_with_a_point_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        encode_labels([1.0, 2**60, 2**60 + 1])


def test_labels_that_end_in_nul_stay_apart():
    assert encode_labels(["a", "a\0", "a"])[0].tolist() == ["a", "a\0"]
    assert check_classes(["a", "a\0"]).tolist() == ["a", "a\0"]


def test_categories_keep_their_type():
    classes, _ = encode_labels(pd.Series([True, False, True]).astype("category"))
    assert classes.tolist() == [False, True]
    assert classes.dtype == bool


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1 has none")
def test_strings_of_any_length():
    classes, index = encode_labels(np.array(["b", "a"], dtype=np.dtypes.StringDType()))
    assert classes.tolist() == ["a", "b"]
    assert index.tolist() == [1, 0]
    strings = np.array(["b", None], dtype=np.dtypes.StringDType(na_object=None))
    with pytest.raises(ValueError, match="the first in row 1"):
        encode_labels(strings)


@pytest.mark.parametrize("n_classes", [3, 40])  # few are compared one by one, many are sorted
def test_numbers_are_no_strings(n_classes):
    numbers = np.arange(n_classes)
    with pytest.raises(ValueError, match="not among the classes"):
        index_among(numbers.astype(str), numbers)
    with pytest.raises(ValueError, match="not among the classes"):
        index_among(numbers, np.sort(numbers.astype(str)))


def test_labels_beside_rows_of_a_memory_map(tmp_path):
    X, y = blobs()
    np.save(tmp_path / "X.npy", X)
    rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = LowDimSVC(mapping="linear", random_state=0)
    assert model.fit(rows, pd.Series(2**60 + y, dtype="Int64")).classes_.tolist() == LARGE
    with pytest.raises(TypeError, match="cannot be sorted"):
        model.fit(rows, [1 if k == 0 else str(k) for k in y])


def test_masked_labels_are_missing():
    X, y = blobs()
    masked = np.ma.masked_array(y, mask=np.arange(len(y)) == 3)
    model = KernelDiscriminantAnalysis().fit(X, y)
    for ask in (model.fit, model.score):
        with pytest.raises(ValueError, match="y has 1 missing label"):
            ask(X, masked)
    expected = ClassConstrainedEmbedding().fit(X, np.where(masked.mask, -1, y))
    found = ClassConstrainedEmbedding().fit(X, masked)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


def test_masked_numbers_are_not_known():
    X, y = blobs()
    mask = np.arange(len(y)) == 3
    rows, weights = np.ma.masked_array(X), np.ma.masked_array(np.ones(len(y)), mask=mask)
    model = KernelDiscriminantAnalysis().fit(rows, y)  # nothing is masked
    rows[3, 1] = np.ma.masked
    for ask in (model.transform, model.classify_latent, lambda X: model.fit(X, y)):
        with pytest.raises(ValueError, match=r"has 1 masked value\(s\)"):
            ask(rows[:, :2] if ask == model.classify_latent else rows)
    for other in (model, ClassConstrainedEmbedding()):
        with pytest.raises(ValueError, match="sample_weight has 1 masked"):
            other.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([1, 2, 1], dtype=object), "int"),
        ([2**80, -(2**90), 1], "int"),
        (np.array([b"a", b"b", b"a"], dtype="V3"), "void"),
    ],
)
def test_objects_that_are_no_strings_are_refused_by_their_type(labels, kind):
    with pytest.raises(ValueError, match=f"Unknown label type: y is .* objects of type {kind}; "):
        encode_labels(labels)


def test_the_row_of_a_missing_label_is_named_in_a_matrix_too():
    Y = np.zeros((5, 3))
    Y[3, 1] = np.nan
    for labels in (Y, pd.DataFrame(Y), Y[:, 1], Y[:, 1].tolist()):
        with pytest.raises(ValueError, match=r"y has 1 missing label.*the first in row 3;"):
            check_no_label_missing(labels)
