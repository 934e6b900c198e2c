import warnings

import numpy as np
import pytest

from supred.class_embedding.partial_labels import encode_partial_labels


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([3, -1, 7, 3], [3, 7], [0, -1, 1, 0]),
        ([3.0, np.nan, 7.0, -1.0], [3, 7], [0, -1, 1, -1]),
        ([3, None, 7, -1], [3, 7], [0, -1, 1, -1]),
        (np.array(["b", "a", None, np.nan], dtype=object), ["a", "b"], [1, 0, -1, -1]),
        (["b", "a", np.nan, None, -1], ["a", "b"], [1, 0, -1, -1, -1]),
        (["b", "a", np.nan], ["a", "b"], [1, 0, -1]),
        (["b", "a", -1], ["a", "b"], [1, 0, -1]),
        (["b", "-1", "b"], ["-1", "b"], [1, 0, 1]),
        (("b", None, "a"), ["a", "b"], [1, -1, 0]),
        (np.array(["b", "-1", "b"]), ["-1", "b"], [1, 0, 1]),
        (np.array([3, 255], dtype=np.uint8), [3, 255], [0, 1]),
        ([True, False, True], [False, True], [1, 0, 1]),
    ],
)
def test_unlabelled_rows_are_told_from_labelled(y, classes, codes):
    found, index = encode_partial_labels(y)
    assert found.tolist() == classes
    assert index.tolist() == codes


def test_missing_labels_of_pandas():
    pd = pytest.importorskip("pandas")
    for dtype in ("string", "category", "object"):
        y = pd.Series(["b", None, "a", pd.NA], dtype=dtype)
        classes, codes = encode_partial_labels(y)
        assert classes.tolist() == ["a", "b"]
        assert codes.tolist() == [1, -1, 0, -1]
    classes, codes = encode_partial_labels(pd.Series([4, None, 5], dtype="Int64"))
    assert classes.tolist() == [4, 5]
    assert codes.tolist() == [0, -1, 1]


@pytest.mark.parametrize("y", [[-1, -1, -1], [None, None], [np.nan, np.nan]])
def test_no_label_at_all(y):
    with pytest.raises(ValueError, match=r"y has no labelled row.*SpectralEmbedding"):
        encode_partial_labels(y)


def test_one_class():
    with pytest.raises(ValueError, match=r"y holds one class only \(\[2\]\)"):
        encode_partial_labels([2, 2, 2])


def test_minus_one_as_a_class_is_pointed_out():
    with pytest.raises(ValueError, match="if -1 is one of your classes, give it another name"):
        encode_partial_labels([-1, 1, -1, 1])


def test_a_continuous_target():
    with pytest.raises(ValueError, match="Unknown label type"):
        encode_partial_labels([0.5, 1.5, -1.0])


def test_numbers_among_strings_are_not_made_strings():
    for y in ([1, "a", None, "1"], np.array([1, "a", None, "1"], dtype=object)):
        with pytest.raises(TypeError, match="cannot be sorted"):
            encode_partial_labels(y)


def test_large_labels_beside_missing_ones():
    pd = pytest.importorskip("pandas")
    y = pd.Series([2**60, 2**60 + 1, None], dtype="Int64")
    assert encode_partial_labels(y)[0].tolist() == [2**60, 2**60 + 1]


@pytest.mark.parametrize("missing", [-1, None, np.nan])
def test_marks_that_numpy_made_strings_of_are_told(missing):
    with pytest.warns(UserWarning, match=f"'{missing}' is a class like all others"):
        classes, _ = encode_partial_labels(np.array(["a", "b", str(missing)]))
    assert len(classes) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_partial_labels(np.array(["-1", "1"]))
        encode_partial_labels(np.array(["a", "b", missing], dtype=object))
        encode_partial_labels(["a", "b", missing])
