"""The runner on small experiments of its own."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from benchmarks._report import compared_with
from benchmarks.performance._record import read
from reproduction.base import Claim, Data, Experiment, Part, Row
from reproduction.page import counts, describe, page, write_record
from reproduction.runner import collect, draw_figure, measure
from reproduction.store import Store
from supred.datasets import DataNotFoundError


def make_experiment(measured, *, fail=False, missing=False, figure=None):
    """Return an experiment that notes each measurement in `measured`."""

    def good(draw):
        measured.append(("good", draw.seed))
        warnings.warn("slow going", UserWarning, stacklevel=1)
        return {"error": 10.0 + draw.seed, "curve": np.arange(3)}

    def other(draw):
        measured.append(("other", draw.seed))
        if fail:
            raise RuntimeError("it broke")
        if missing:
            raise DataNotFoundError("x.npz is missing; put it there.")
        return {"error": 5.0}

    return Experiment(
        name="small",
        paper="low_dim_svm",
        title="A small experiment",
        unit="error %",
        protocol="As told.",
        parts=[Part("good", good), Part("other", other, draws=(1, 1))],
        rows=[
            Row("good one", "good", published=10.0, spread=0.5),
            Row("other one", "other", published=9.0),
            Row("third", "other", "nothing"),
        ],
        draws=(2, 3),
        covers=(("000:1", "table 9"),),
        claims=[
            Claim(
                "Other is better.",
                lambda m: m["other", "error"] < m["good", "error"],
                "000:2",
                lambda m: f"{m['other', 'error']:.0f}.",
            ),
            Claim("Never measured.", lambda m: m["third", "error"] > 0),
        ],
        figure=figure,
        quick_note="smaller.",
    )


def run(experiment, out, *, quick=True):
    store = Store(out / "draws")
    return measure(experiment, store, Data(), quick=quick, progress=False)


def test_means_spread_verdicts_and_claims(tmp_path):
    measured = []
    outcome = run(make_experiment(measured), tmp_path)
    assert measured == [("good", 0), ("other", 0), ("good", 1)]
    good, other, third = outcome.rows
    assert (good.published, good.measured) == ("10 (0.5)", "10.50 +- 0.71 (n=2)")
    verdicts = ["agrees (quick run)", "better (quick run)", "not measured"]
    assert [row.verdict for row in (good, other, third)] == verdicts
    assert [judged.verdict for judged in outcome.claims] == ["holds (quick run)", "not measured"]
    assert outcome.claims[0].why == "5."
    assert outcome.warned == ["UserWarning: slow going"]


def test_the_record_is_one_of_the_benchmarks_and_makes_the_page(tmp_path):
    experiment = make_experiment([])
    write_record(run(experiment, tmp_path, quick=False), tmp_path)
    (record,) = read(tmp_path / "small.json")
    assert record.runs == {"good": {"error": [10.0, 11.0, 12.0]}, "other": {"error": [5.0]}}
    assert counts(record) == {
        "agrees": 1,
        "better": 1,
        "worse": 0,
        "differs": 0,
        "by quick runs": 0,
        "holds": 1,
        "does not hold": 0,
    }
    text = page([experiment], {"small": record}, "images/")
    assert "| good one | 10 (0.5) | 11.00 +- 1.00 (n=3) | agrees |" in text
    assert "- *Other is better.* (000:2) **Holds.** 5." in text
    assert "**Not measured.**" in text
    assert "\nFull run; 0.0 minutes of processor time." in text
    shorter = replace(record, runs={**record.runs, "good": {"error": [10.0]}})
    assert "Full run, draws missing: 2;" in page([experiment], {"small": shorter}, "")
    assert (
        "| Low-dimensional SVM (Wang and Carreira-Perpinan 2014) | 1 | 1 | 0 | 0 | 0 | 1 | 0 |"
        in text
    )
    assert "Not measured yet." in "\n".join(describe(experiment, None, ""))


def test_a_second_run_measures_nothing_and_says_the_same(tmp_path):
    measured = []
    experiment = make_experiment(measured)
    first = run(experiment, tmp_path)
    measured.clear()
    second = run(experiment, tmp_path)
    assert measured == []
    assert second == first


def test_full_draws_come_before_quick_ones(tmp_path):
    experiment = make_experiment([])
    run(experiment, tmp_path)
    only_good = replace(experiment, parts=experiment.parts[:1])
    run(only_good, tmp_path, quick=False)
    outcome = collect(experiment, Store(tmp_path / "draws"))
    assert outcome.quick == {"other"}
    assert [row.verdict for row in outcome.rows[:2]] == ["agrees", "better (quick run)"]
    assert outcome.claims[0].verdict == "holds (quick run)"
    # Where a quick run is of other data, a claim about both sizes is not judged.
    apart = collect(replace(experiment, quick_compares=False), Store(tmp_path / "draws"))
    assert apart.claims[0].verdict == "not measured"
    shown = "\n".join(describe(experiment, write_record(outcome, tmp_path), ""))
    assert "Full run of 1 of 2 parts, the others quick; 0.0 minutes" in shown


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    measured = []
    experiment = make_experiment(measured)
    interrupted = []

    def other(draw):
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        measured.append(("other", draw.seed))
        return {"error": 5.0}

    experiment = replace(experiment, parts=[experiment.parts[0], Part("other", other, (1, 1))])
    with pytest.raises(KeyboardInterrupt):
        run(experiment, tmp_path)
    assert measured == [("good", 0)]
    measured.clear()
    run(experiment, tmp_path)
    assert measured == [("other", 0), ("good", 1)]


def test_a_half_written_file_is_measured_again(tmp_path):
    measured = []
    experiment = make_experiment(measured)
    run(experiment, tmp_path)
    measured.clear()
    (path,) = (tmp_path / "draws" / "small").glob("good-1-*.json")
    path.write_text(path.read_text()[:20])
    run(experiment, tmp_path)
    assert measured == [("good", 1)]


def test_other_versions_are_measured_again(tmp_path, monkeypatch):
    measured = []
    experiment = make_experiment(measured)
    run(experiment, tmp_path)
    measured.clear()
    monkeypatch.setattr("reproduction.store.versions", lambda: {"supred": "99.0"})
    run(experiment, tmp_path)
    assert len(measured) == 3


def test_missing_data_is_said_and_the_rest_is_measured(tmp_path, capsys):
    outcome = run(make_experiment([], missing=True), tmp_path)
    assert [row.verdict for row in outcome.rows[1:]] == ["not measured", "not measured"]
    assert "left out: x.npz is missing; put it there." in capsys.readouterr().err
    record = write_record(outcome, tmp_path)
    assert "Left out: x.npz is missing" in "\n".join(describe(outcome.experiment, record, ""))


def test_a_broken_part_does_not_take_the_others_along(tmp_path):
    outcome = run(make_experiment([], fail=True), tmp_path)
    assert outcome.failed == {"other": "RuntimeError: it broke"}
    assert outcome.rows[0].verdict == "agrees (quick run)"


def test_the_figure_is_drawn_from_the_values(tmp_path):
    def figure(values, path):
        from reproduction import pictures

        fig, axes = pictures.panels(1, 1)
        axes[0, 0].plot(values["good"][0]["curve"])
        pictures.save(fig, path)

    outcome = run(make_experiment([], figure=figure), tmp_path)
    draw_figure(outcome, tmp_path)
    assert outcome.figure == "small.png"
    assert (tmp_path / "small.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("values", "better", "word"),
    [
        ([10.9], "lower", "agrees"),
        ([11.5], "lower", "worse"),
        ([10.0, 13.0], "lower", "agrees"),
        ([8.5], "lower", "better"),
        ([8.5], "higher", "worse"),
        ([8.5], "", "differs"),
    ],
)
def test_verdict(values, better, word):
    assert compared_with(10.0, values, tolerance=1.0, better=better) == word
