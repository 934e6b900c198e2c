"""The verdict says what the numbers say, and no more."""

from dataclasses import replace

import numpy as np
import pytest

from supred.app.comparison.result import (
    ColumnImportance,
    Comparison,
    Confusion,
    Difference,
    MethodResult,
    Structure,
)
from supred.app.comparison.scores import best_method, confusion_of, estimate, most_confused, ranked
from supred.app.comparison.verdict import (
    bytes_text,
    seconds_text,
    verdict_of,
    within_one_standard_error,
)


def method(name, errors, **fields):
    fields = {"model_bytes": 1000, "predict_seconds": 0.01, **fields}
    return MethodResult(name, "done", fold_errors=errors, fold_balanced_errors=errors, **fields)


BEST = method("A", [0.1, 0.2], model_bytes=10_000)
NEAR = method("B", [0.15, 0.25], model_bytes=1000, predict_seconds=0.1)
FAR = method("C", [0.3, 0.3], model_bytes=10)
FLOOR = method("MajorityClass", [0.0, 0.0], model_bytes=1)


def made(*methods, y=None, **fields):
    y = np.arange(200) % 2 if y is None else y
    classes = [f"k{k}" for k in range(int(y.max()) + 1)]
    names = [str(k) for k in range(len(y))]
    return Comparison(
        "t", "kind", classes, ["a", "b"], y, names, [], list(methods), 0, {}, "", **fields
    )


def said(*methods, **fields):
    return verdict_of(made(*methods, **fields))


def test_the_best_what_is_as_good_the_smallest_and_the_quickest():
    sentences = said(FAR, BEST, NEAR, FLOOR)
    assert sentences[0] == (
        "Most accurate: A, 15.0 % ± 5.0 held-out error; always answering 'k0' has 50.0 %."
    )
    assert sentences[1] == (
        "Within one standard error of it: B (20.0 %). Of these the smallest is B (1 kB, 10 times "
        "smaller than A), the quickest to predict A (10 ms per fold)."
    )
    assert "No other method" in said(BEST, FAR)[1]
    assert said(MethodResult("A", "failed", "why")) == ["No method finished; the table says why."]


def test_the_majority_class_never_wins_and_is_told_where_it_is_as_good():
    assert best_method([FLOOR, BEST]) is BEST
    uneven = np.r_[np.zeros(180, int), np.ones(20, int)]
    assert "always answering 'k0' is as good (10.0 %)" in said(BEST, y=uneven)[0]


def test_the_standard_error_is_never_less_than_that_of_the_rows():
    y = np.arange(100) % 2
    predicted = np.where(np.arange(100) % 10 == 0, 1 - y, y)
    agreeing = method("A", [0.1, 0.1], predicted=predicted)
    assert estimate(agreeing).standard_error == pytest.approx(np.sqrt(11 / 102 * 91 / 102 / 100))
    never_wrong = method("A", [0.0, 0.0], predicted=y)
    assert estimate(never_wrong).standard_error == pytest.approx(0.0099, abs=1e-4)
    assert estimate(BEST).standard_error == pytest.approx(np.std([0.1, 0.2], ddof=1) / np.sqrt(2))
    assert estimate(replace(BEST, status="failed")) is None


def test_order_and_those_within_one_standard_error():
    late = MethodResult("late", "skipped")
    assert ranked([FAR, late, NEAR, BEST]) == [3, 2, 0, 1]
    assert [m.name for m in within_one_standard_error([FAR, late, NEAR, BEST])] == ["A", "B"]


def test_noise_is_called_noise():
    found = {
        "confusions": [Confusion(0, 1, 2, 5)],
        "importances": [ColumnImportance("b", 0.2, 0.05)],
    }
    noise = said(BEST, structure=Structure(0.4, 100, 499), **found)
    assert not any("matters" in s or "confused" in s for s in noise)  # chance has no reasons
    assert noise[0].startswith("No evidence that these columns tell the classes apart")
    assert "p = 0.400" in noise[0]
    real = said(BEST, structure=Structure(0.002, 100, 499))
    assert real[0].startswith("Most accurate")
    assert any("do tell the classes apart" in sentence for sentence in real)


def test_what_was_not_tuned_is_marked():
    untuned = replace(BEST, n_settings=1, n_settings_all=4)
    partly = replace(NEAR, n_settings=2, n_settings_all=4)
    late = MethodResult("D", "skipped", "not finished within 3 s; raise --budget")
    absent = MethodResult("UMAP", "skipped", "umap is not installed")
    sentences = said(untuned, partly, FAR, late, absent)
    assert "(untuned)" in sentences[0]
    assert "A (untuned), B (partly tuned), D (not run); with a longer" in sentences[-1]
    assert "UMAP" not in sentences[-1]


def test_classes_that_are_never_found_are_named_with_their_counts():
    y = np.r_[np.zeros(900, int), np.ones(13, int), np.full(87, 2)]
    predicted = np.r_[np.zeros(913, int), np.full(60, 2), np.zeros(27, int)]
    uneven = replace(
        method("A", [0.04, 0.04], predicted=predicted), fold_balanced_errors=[0.4, 0.5]
    )
    fair = replace(method("B", [0.06, 0.06]), fold_balanced_errors=[0.2, 0.2])
    sentences = said(uneven, fair, y=y)
    missed = next(s for s in sentences if "found" in s)
    assert "Never found by A: 'k1' (13 of 13 rows missed)." in missed
    assert "Often missed by A: 'k2' (27 of 87 rows missed)." in missed
    told = next(s for s in sentences if "uneven" in s)
    assert "(13 to 900 rows)" in told
    assert "45.0 % ± 5.0 for A, lowest for B (20.0 %" in told
    ranked_so = said(uneven, fair, y=y, metric="balanced")
    assert ranked_so[0].startswith("Most accurate: B, 20.0 % ± 0.0 balanced held-out error")


def test_confused_classes_and_columns_are_named():
    sentences = said(
        BEST,
        confusions=[Confusion(0, 1, 2, 5)],
        importances=[ColumnImportance("b", 0.2, 0.05), ColumnImportance("a", 0.0, 0.1)],
    )
    assert "Most confused by A: 'k1' taken for 'k0' (5 rows, 2 the other way)." in sentences
    assert any("matters most to A is 'b'" in s and "20.0 ± 5.0 points." in s for s in sentences)
    differences = [Difference(name, 1.0, 2.0, 1.5, 3.0) for name in ("b", "a", "c")]
    sentences = said(
        BEST,
        confusions=[Confusion(0, 1, 2, 5, differences)],
        importances=[ColumnImportance("b", 0.2, 0.05)],
    )
    assert any("the other way); they differ most in 'b' and 'a'." in s for s in sentences)
    assert any(s.startswith("Of 1 columns looked at, the one that matters") for s in sentences)


def test_confusions_against_a_loop():
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(5, size=(2, 300))
    listed = most_confused(confusion_of(y, predicted, 5), 8)
    every = sorted(
        (sum((y == i) & (predicted == j)) for i in range(5) for j in range(5) if i != j),
        reverse=True,
    )
    assert [count for _, _, count in listed] == every[:8]
    assert all(count == sum((y == i) & (predicted == j)) for i, j, count in listed)
    assert most_confused(confusion_of(y, y, 5), 8) == []


def test_numbers_in_words():
    assert [bytes_text(n) for n in (0, 999, 1000, 123_456, 2.5e9)] == [
        "0 B", "999 B", "1 kB", "123 kB", "2.5 GB"
    ]  # fmt: skip
    assert [seconds_text(s) for s in (0.00012, 0.05, 0.5, 12.3, 321.0)] == [
        "0.12 ms", "50 ms", "0.5 s", "12 s", "321 s"
    ]  # fmt: skip
