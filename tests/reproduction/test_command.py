import subprocess
import sys

import pytest

from reproduction import command
from reproduction.base import Experiment, Part
from reproduction.low_dim_svm import speed_up
from reproduction.registry import MODULES, PAPERS, all_experiments, choose


def test_every_experiment_is_declared_soundly():
    experiments = all_experiments()
    assert len(experiments) == sum(len(modules) for modules in MODULES.values())
    for experiment in experiments.values():
        assert experiment.paper in PAPERS
        parts = [part.name for part in experiment.parts]
        assert len(set(parts)) == len(parts)
        assert {row.part for row in experiment.rows} <= set(parts)
        labels = [row.label for row in experiment.rows]
        assert len(set(labels)) == len(labels)
        for part in experiment.parts:
            assert 0 <= experiment.n_draws(part, True) <= experiment.n_draws(part, False)


def test_a_paper_stands_for_its_experiments():
    names = [experiment.name for experiment in choose(["max-margin-projection"])]
    assert names[:3] == ["one-pair", "two-tasks", "transfer"]
    assert len(choose(None)) == len(all_experiments())


def test_unknown_names_and_folders_are_refused(capsys, tmp_path):
    assert command.main(["--only", "nothing"]) == 2
    assert "there is no experiment 'nothing'" in capsys.readouterr().err
    assert command.main(["--only", "embeddings", "--data", str(tmp_path / "no")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_list(capsys):
    assert command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in all_experiments())


def test_a_run_without_data(capsys, tmp_path, monkeypatch):
    """The synthetic experiment runs, the other says what is missing."""
    import sklearn.datasets

    def unreachable(**options):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    monkeypatch.delenv("SUPRED_DATA", raising=False)
    arguments = ["--only", "embeddings", "two-tasks", "--quick", "--out", str(tmp_path)]
    assert command.main(arguments) == 0
    shown = capsys.readouterr()
    assert "| class constrained: error % of the best line | - |" in shown.out
    assert "left out: mnist.npz is needed" in shown.err
    assert (tmp_path / "embeddings.png").is_file()
    assert not (tmp_path / "two-tasks.png").exists()
    # Nothing at all could be measured: that is not success.
    assert command.main(["--only", "two-tasks", "--out", str(tmp_path)]) == 1


def test_the_page_is_made_of_finished_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "PAGE", tmp_path / "docs" / "reproduction.md")
    monkeypatch.setattr(command, "RECORDS", tmp_path / "records")
    options = ["--only", "embeddings", "--out", str(tmp_path / "out")]
    assert command.main([*options, "--quick"]) == 0
    assert command.main([*options, "--page"]) == 0
    page = command.PAGE.read_text()
    assert "images/reproduction/embeddings.png" in page
    assert (tmp_path / "docs" / "images" / "reproduction" / "embeddings.png").is_file()
    assert list(command.records()) == ["embeddings"]
    # Experiments without a record are on the page too.
    assert page.count("Not measured yet.") == len(all_experiments()) - 1


def test_an_interruption_is_told(capsys, tmp_path, monkeypatch):
    def interrupt(draw):
        raise KeyboardInterrupt

    broken = Experiment("x", "low_dim_svm", "t", "u", "p", [Part("a", interrupt)], [], (1, 1))
    monkeypatch.setattr("reproduction.registry.choose", lambda names: [broken])
    assert command.main(["--out", str(tmp_path)]) == 130
    assert "goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["reproduction.command"])
def test_the_command_waits_for_nothing_heavy(module):
    code = (
        f"import sys, {module}; "
        "print([m for m in ('numpy', 'sklearn', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_how_busy_others_keep_the_machine(tmp_path, monkeypatch):
    counters = tmp_path / "stat"
    monkeypatch.setattr(speed_up, "COUNTERS", counters)
    assert speed_up.busy_share() == 0.0
    counters.write_text("cpu  100 0 50 1000 10 0 0 0 0 0\ncpu0 1 2 3\n")
    later = "cpu  130 0 60 1150 20 0 0 0 0 0\n"  # 200 passed, 160 of them idle or waiting
    monkeypatch.setattr(speed_up, "sleep", lambda seconds: counters.write_text(later))
    assert speed_up.busy_share() == pytest.approx(0.2)


def test_times_are_not_measured_on_a_busy_machine(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(speed_up, "busy_share", lambda: 0.9)
    assert command.main(["--only", "speed-up", "--out", str(tmp_path)]) == 1
    assert "the machine is busy" in capsys.readouterr().err
    assert not list((tmp_path / "draws").rglob("*.json"))
