"""The file itself: its size, what is escaped, what it says."""

import json
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from supred.app.comparison.result import (
    ColumnImportance,
    Confusion,
    Difference,
    MethodResult,
)
from supred.app.report import write_report
from supred.app.report.charts import Bar, bar_chart, thinned, trace_chart
from supred.app.report.html import tag, text
from supred.app.report.packing import quantise, safe_json
from supred.app.report.page import report_page
from supred.app.report.sections import summary_table
from supred.plotting.latent_model import Regions, robust_limits
from tests.app.report.pages import EVIL, Page, changed, made_up, restored, unpack, written


def test_the_numbers_survive_the_packing(tmp_path):
    comparison = made_up()
    comparison.methods[0].latent[7] = [1e6, -1e6, 0.0]  # far outside
    data, array = unpack(Page(written(comparison, tmp_path)))
    np.testing.assert_array_equal(array(data["y"]), comparison.y)
    np.testing.assert_array_equal(array(data["held"]), comparison.held_out)
    latents = [comparison.class_map.latent, *(m.latent for m in comparison.methods)]
    for view, latent in zip(data["views"], latents, strict=True):
        for axis, column in zip(view["axes"], latent.T, strict=True):
            low, high = robust_limits(column, comparison.y)
            off = np.abs(restored(axis, array, data["bits"]) - column)
            assert off.max() <= 0.51 * (high - low) / (2 ** data["bits"] - 2)
    for packed, method in zip(data["methods"], comparison.methods, strict=True):
        np.testing.assert_array_equal(
            (array(data["y"]) + array(packed["shift"])) % 4, method.predicted
        )
        matrix = confusion_matrix(comparison.y, method.predicted)
        np.testing.assert_array_equal(array(packed["confusion"]).reshape(4, 4), matrix)
        np.testing.assert_array_equal(array(packed["found"]), np.diag(matrix))
        np.testing.assert_array_equal(array(packed["predictions"]), matrix.sum(axis=0))
    regions = data["views"][0]["regions"]
    np.testing.assert_array_equal(
        array(regions["classes"]), comparison.class_map.regions.class_index.ravel()
    )


@pytest.mark.parametrize("n_classes", [10, 60])
def test_twenty_thousand_points_of_nine_methods_in_a_page(tmp_path, n_classes):
    rng = np.random.default_rng(1)
    names = [f"sample-{k:06d}" for k in rng.permutation(20_000)]
    comparison = made_up(20_000, n_classes=n_classes, n_methods=9, row_names=names)
    source = written(comparison, tmp_path)
    assert len(source.encode()) < 1_500_000
    data, array = unpack(Page(source))
    assert len(array(data["y"])) == 20_000  # all of them
    assert data["bits"] >= 8


def test_of_more_rows_a_part_is_drawn_and_all_are_counted(tmp_path):
    comparison = made_up(3000)
    source = written(comparison, tmp_path, max_points=500)
    data, array = unpack(Page(source))
    assert len(array(data["y"])) == 500
    assert array(data["methods"][0]["confusion"]).sum() == 3000
    assert "A random part of 500 rows is drawn" in source
    again = written(comparison, tmp_path, max_points=500)
    assert again == source


def test_three_hundred_classes(tmp_path):
    comparison = made_up(900, n_classes=300)
    data, array = unpack(Page(written(comparison, tmp_path)))
    np.testing.assert_array_equal(array(data["y"]), comparison.y)
    packed = data["methods"][0]
    assert "confusion" not in packed  # nobody reads so large a matrix
    assert 0 < len(packed["confused"]) <= 8
    predicted = (array(data["y"]) + array(packed["shift"])) % 300
    np.testing.assert_array_equal(predicted, comparison.methods[0].predicted)


def test_confusions_take_no_memory_for_pairs_of_classes():
    comparison = made_up(n_classes=5000)
    tracemalloc.start()
    report_page(comparison)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_a_class_named_script_does_nothing(tmp_path):
    plain = Page(written(made_up(), tmp_path))
    comparison = made_up(
        title=EVIL,
        target=EVIL,
        classes=[EVIL, "a & b", '"quoted" onload=alert(1)', "line\u2028break\u2029"],
        features=[EVIL, "<img src=x onerror=alert(1)>"],
        row_names=[EVIL] * 200,
        preprocessing=[EVIL],
        versions={EVIL: EVIL},
        command=f"supred compare {EVIL}",
        verdict=["$script ${script} " + EVIL, EVIL],
        importances=[ColumnImportance(EVIL, 0.1, 0.01)],
        confusions=[Confusion(0, 1, 3, 2, [Difference(EVIL, 1.0, 2.0, 1.5, 3.0)])],
    )
    comparison = changed(comparison, 0, name=EVIL, parameters={EVIL: EVIL})
    comparison = changed(comparison, 1, status="failed", reason=EVIL)
    source = written(comparison, tmp_path)
    page = Page(source)
    assert len(page.scripts) == 3
    assert page.scripts[2] == plain.scripts[2]
    assert not any(tag == "img" for tag, _ in page.elements)
    assert not any(name.startswith("on") for _, found in page.elements for name in found)
    assert not any(c in page.scripts[0] for c in "<>&\u2028\u2029")
    data, _ = unpack(page)
    assert data["classes"] == comparison.classes
    assert data["methods"][0]["name"] == EVIL
    texts = " ".join(page.texts)
    assert texts.count(EVIL) >= 8  # shown as it is
    assert "$script ${script}" in texts


@pytest.mark.parametrize(
    "change",
    [
        {"n_folds": EVIL},
        {"seed": EVIL},
        {"n_settings": EVIL, "n_settings_all": EVIL, "parameters": {"C": EVIL}},
        {"n_basis": EVIL},
        {"model_bytes": EVIL},
        {"fit_seconds": EVIL},
        {"fold_errors": [EVIL]},
    ],
)
def test_text_in_place_of_a_number_does_nothing(tmp_path, change):
    # As an edited file of results could hold it.
    comparison = made_up()
    own = {"n_folds", "seed"} & set(change)
    comparison = replace(comparison, **change) if own else changed(comparison, 0, **change)
    try:
        page = Page(written(comparison, tmp_path))
    except (ValueError, TypeError):
        return
    assert len(page.scripts) == 3
    assert "alert" not in "".join(name for name, _ in page.elements)


def test_what_is_not_markup_is_escaped():
    assert tag("p", EVIL, title=EVIL) == f'<p title="{text(EVIL)}">{text(EVIL)}</p>'
    assert "<script" not in tag("p", EVIL, title=EVIL)
    assert tag("p", tag("b", "x"), None, hidden=None) == "<p><b>x</b></p>"


def test_a_name_does_not_turn_the_sentence_after_it_around():
    assert text("always answering '\u202ea' has 66.7 %") == (
        "always answering &#x27;\\u202ea&#x27; has 66.7 %"
    )


def test_undecodable_text_is_written(tmp_path):
    broken = b"caf\xe9".decode("utf-8", "surrogateescape")
    source = written(made_up(title=broken, classes=[broken, "b", "c", "d"]), tmp_path)
    assert "caf?" in source


def test_no_reference_leaves_the_file(tmp_path):
    source = written(made_up(), tmp_path)
    page = Page(source)
    assert not re.search(r"https?://|//[a-z]+\.|url\(|@import|fetch\(|XMLHttp|WebSocket", source)
    for name, attributes in page.elements:
        assert name not in ("link", "iframe", "object", "embed", "img")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_page_tells_how_it_was_made(tmp_path):
    comparison = made_up(
        verdict=["Take method 0.", "It is tuned."],
        n_folds=5,
        interrupted=True,
        importances=[ColumnImportance("b", 0.123, 0.02)],
        confusions=[Confusion(0, 1, 3, 2, [Difference("a", 1.25, 2.0, 1.5, 3.0)])],
    )
    comparison = changed(comparison, 0, parameters={"C": 10.0}, n_settings=3, n_settings_all=12)
    comparison.methods.append(MethodResult("late", "skipped", reason="no time was left"))
    texts = " ".join(Page(written(comparison, tmp_path)).texts)
    for told in (
        "Made up",
        "200 rows, 2 features, 4 classes of",
        "Take method 0.",
        "Nothing was scaled.",
        comparison.command,
        "not run: no time was left",
        "partly tuned",
        "Error of the map on the held-out rows: ",
        "12.5 %",
        "5 nearest neighbours on the map: 25.0 %",
        "rise of the error, in points",
        "class 0 and class 1",
        "1.25",
        "(50 to 50 rows each), 5 folds",
        "The comparison was interrupted",
        "3 of 12 settings were tried in the time given",
        "±",
    ):
        assert told in texts


def test_a_page_without_any_result(tmp_path):
    texts = " ".join(Page(written(made_up(methods=[]), tmp_path)).texts)
    assert "Error of the map" in texts  # the map alone
    assert "Confusion" not in texts
    failed = [MethodResult("a", "failed", reason="it broke")]
    assert "it broke" in written(made_up(methods=failed), tmp_path)


def test_summary_is_ordered_and_best_is_marked():
    comparison = changed(made_up(n_methods=3), 0, fold_errors=[0.5, 0.3])
    comparison.methods[1] = MethodResult("late", "skipped", reason="no time")
    table = summary_table(comparison)
    assert [int(k) for k in re.findall(r'data-pick="(\d)"', table)] == [2, 0, 1]
    best = re.search(r'<tr class="best">(.*?)</tr>', table)[1]
    assert "method 2" in best
    assert "16.00\u00a0% <small>± 4.00</small>" in best  # mean of 0.12 and 0.2


def test_quantised_coordinates_that_are_not_finite():
    values = np.array([np.nan, 1.0, np.inf, 3.0, 2.0, 9.0])
    assert quantise(values, 8, 1.0, 3.0).tolist() == [255, 0, 255, 254, 127, 254]
    assert quantise(np.full(2, np.nan), 12, 0.0, 1.0).tolist() == [4095, 4095]
    huge = np.array([-1.7e308, 0.0, 1.7e308])
    assert quantise(huge, 8, huge[0], huge[2]).tolist() == [0, 127, 254]


def test_thinned_lines_keep_their_peaks():
    values = np.sin(np.arange(10_000) / 300.0)
    values[1234], values[5678], values[7] = 50.0, -50.0, np.nan
    kept = thinned(values)
    assert len(kept) <= 302
    assert {0, 1234, 5678, 9999} <= set(kept)
    assert thinned(np.array([1.0, np.nan, 2.0])).tolist() == [0, 2]


def test_charts_have_a_text_for_readers_who_do_not_see_them():
    bars = [Bar("method 0", 15.0, 1.0, "15.0"), Bar("method 1", 99.0, 0.0, "99.0")]
    assert "error: method 0 15.0; method 1 99.0" in bar_chart(bars, "error")
    assert "objective from 3 to 1.5" in trace_chart({"objective": [3.0, 2.0, 1.5]})
    assert "keeps no trace" in trace_chart(None)
    assert "keeps no trace" in trace_chart({"seconds": [1.0]})


@pytest.mark.parametrize("logarithmic", [False, True])
def test_bars_stay_inside_whatever_their_lengths(logarithmic):
    bars = [Bar(f"m{k}", v, 0.1, f"{v}") for k, v in enumerate((2.0, 1.5, 3.0, 90.0))]
    chart = bar_chart(bars, "error (%)", logarithmic=logarithmic)
    ends = [
        float(x) + float(width)
        for x, width in re.findall(
            r'<rect class="fill" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart
        )
    ]
    assert len(ends) == 4
    assert max(ends) <= 440
    assert ends[3] == max(ends)
    assert ends[1] < ends[0] < ends[2]


def test_charts_of_a_single_value_and_of_no_error():
    one = bar_chart([Bar("m", 0.0, 0.0, "0")], "error (%)")
    for chart in (one, trace_chart({"mu": [2.0], "train_error": [0.0]})):
        assert "nan" not in chart
        assert "inf" not in chart


def test_safe_json_reads_back():
    value = {"a": [1.5, None, "<&>\u2028\u2029\U0001f40d\\"]}
    text = safe_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_names": ["a"]}, "row_names has 1 entries for 200 rows"),
        ({"y": np.full(200, 9)}, "y holds 9 to 9; class indices go from 0 to 3"),
        ({"y": np.zeros(200)}, "y must hold 200 class indices, got float64"),
    ],
)
def test_parts_that_do_not_fit_are_refused(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        write_report(made_up(**change), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_methods_that_do_not_fit_are_refused(tmp_path):
    def refuse(message, **changes):
        comparison = changed(made_up(), 1, **changes)
        with pytest.raises(ValueError, match=message):
            write_report(comparison, tmp_path / "report.html")

    refuse(r"latent of method 1 has shape \(200, 4\)", latent=np.zeros((200, 4)))
    refuse(r"latent of method 1 has shape \(3, 2\)", latent=np.zeros((3, 2)))
    refuse("predicted of method 1 must hold 200", predicted=np.zeros(3, dtype=int))
    grid = np.arange(3.0)
    refuse("regions of method 1", regions=Regions(grid, grid, np.zeros((2, 3), dtype=int)))
    with pytest.raises(ValueError, match="max_points=0 must be at least 1"):
        write_report(made_up(), tmp_path / "report.html", max_points=0)


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(made_up(), path)
    assert path.read_text() == "the old one"
    with pytest.raises(OSError, match="exists"):
        write_report(made_up(), path, overwrite=False)
