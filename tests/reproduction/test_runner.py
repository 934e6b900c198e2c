"""The runner on small experiments of its own."""

import json
import warnings

import numpy as np
import pytest

from reproduction.base import Claim, Experiment, Part, Row
from reproduction.runner import run_experiments
from reproduction.tables import verdict
from supred.datasets import DataNotFoundError


def make_experiment(measured, *, fail=False, missing=False, figure=None, draws=(2, 3)):
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
            Row("good one", "good", published=10.0),
            Row("other one", "other", published=9.0),
            Row("third", "other", "nothing"),
        ],
        draws=draws,
        claims=[
            Claim("Other is better.", lambda m: m["other", "error"] < m["good", "error"], "Why."),
            Claim("Never measured.", lambda m: m["third", "error"] > 0),
        ],
        figure=figure,
        quick_note="smaller.",
    )


def run(experiment, out, **options):
    options = {"quick": True, "progress": False, **options}
    return run_experiments([experiment], out, **options)[0]


def test_means_spread_verdicts_and_claims(tmp_path):
    measured = []
    outcome = run(make_experiment(measured), tmp_path)
    assert measured == [("good", 0), ("good", 1), ("other", 0)]
    good, other, third = outcome.rows
    assert good.values == [10.0, 11.0]
    assert good.mean == 10.5
    assert good.spread == pytest.approx(np.std([10, 11], ddof=1))
    assert (good.verdict, other.verdict, third.verdict) == ("agrees", "better", "not measured")
    assert [claim.holds for claim in outcome.claims] == [True, None]
    assert outcome.warned == ["UserWarning: slow going"]


def test_results_as_json_and_markdown(tmp_path):
    run(make_experiment([]), tmp_path)
    result = json.loads((tmp_path / "small.json").read_text())
    assert result["seeds"] == {"good": [0, 1], "other": [0]}
    assert set(result["versions"]) >= {"supred", "numpy", "scikit-learn"}
    assert result["values"]["good"][0] == {"error": 10.0, "curve": [0, 1, 2]}
    page = (tmp_path / "reproduction.md").read_text()
    assert "| good one | 10.0 | 10.50 ± 0.71 (n=2) | agrees |" in page
    assert "--quick" in page
    assert (
        "| Low-dimensional SVM (Wang and Carreira-Perpinan 2014) | 2 | 1 | 1 | 0 | 1 | 0 |" in page
    )
    assert "*Other is better.* **Holds.** Why." in page
    assert "**Not tested (not measured).**" in page


def test_a_second_run_measures_nothing_and_says_the_same(tmp_path):
    measured = []
    experiment = make_experiment(measured)
    first = run(experiment, tmp_path)
    page = (tmp_path / "reproduction.md").read_text()
    measured.clear()
    second = run(experiment, tmp_path)
    assert measured == []
    assert second.reused == 3
    assert second.rows == first.rows
    assert second.warned == first.warned
    assert (tmp_path / "reproduction.md").read_text() == page


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

    good = experiment.parts[0]
    experiment = Experiment(**{**vars(experiment), "parts": [good, Part("other", other, (1, 1))]})
    with pytest.raises(KeyboardInterrupt):
        run(experiment, tmp_path)
    assert measured == [("good", 0), ("good", 1)]
    measured.clear()
    outcome = run(experiment, tmp_path)
    assert measured == [("other", 0)]
    assert outcome.reused == 2


def test_other_options_and_a_half_written_file_are_measured_anew(tmp_path):
    measured = []
    experiment = make_experiment(measured)
    run(experiment, tmp_path)
    measured.clear()
    run(experiment, tmp_path, quick=False)
    assert measured == [("good", 0), ("good", 1), ("good", 2), ("other", 0)]
    measured.clear()
    stored = next((tmp_path / "draws" / "small").glob("good-1-*.json"))
    for path in (tmp_path / "draws" / "small").glob("good-1-*.json"):
        path.write_text(stored.read_text()[:20])
    run(experiment, tmp_path)
    assert measured == [("good", 1)]


def test_other_versions_are_measured_anew(tmp_path, monkeypatch):
    measured = []
    experiment = make_experiment(measured)
    run(experiment, tmp_path)
    measured.clear()
    monkeypatch.setattr("reproduction.store.__version__", "99.0")
    run(experiment, tmp_path)
    assert len(measured) == 3


def test_missing_data_is_said_and_the_rest_is_measured(tmp_path, capsys):
    outcome = run(make_experiment([], missing=True), tmp_path)
    assert [row.verdict for row in outcome.rows] == ["agrees", "left out", "left out"]
    assert "left out: x.npz is missing; put it there." in capsys.readouterr().err
    assert "Left out: x.npz is missing" in (tmp_path / "small.md").read_text()


def test_a_broken_part_does_not_take_the_others_along(tmp_path):
    outcome = run(make_experiment([], fail=True), tmp_path)
    assert outcome.failed == {"other": "RuntimeError: it broke"}
    assert outcome.rows[0].verdict == "agrees"
    assert outcome.rows[1].verdict == "failed"


def test_the_figure_is_drawn_when_there_is_something_new(tmp_path):
    drawn = []

    def figure(values, draw, path):
        from reproduction import pictures

        drawn.append(len(values["good"]))
        fig, axes = pictures.panels(1, 1)
        axes[0, 0].plot(values["good"][0]["curve"])
        pictures.save(fig, path)

    experiment = make_experiment([], figure=figure)
    assert run(experiment, tmp_path).figure == run(experiment, tmp_path).figure == "small.png"
    assert drawn == [2]
    run(experiment, tmp_path, quick=False)
    run(experiment, tmp_path)
    assert drawn == [2, 3, 2]
    assert (tmp_path / "small.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("mean", "standard_error", "better", "word"),
    [
        (10.9, 0.0, "lower", "agrees"),
        (11.5, 0.0, "lower", "worse"),
        (11.5, 0.8, "lower", "agrees"),
        (8.5, 0.0, "lower", "better"),
        (8.5, 0.0, "higher", "worse"),
        (8.5, 0.0, "", "differs"),
    ],
)
def test_verdict(mean, standard_error, better, word):
    row = Row("a", "b", published=10.0, better=better, tolerance=1.0)
    assert verdict(row, mean, standard_error) == word
