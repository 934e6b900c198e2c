"""The harness of the benchmarks of speed: records, comparison, page, steps."""

import json
import math
import threading
import time

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import __main__ as runner
from benchmarks._report import Row, print_rows
from benchmarks.performance import (
    _command,
    _harness,
    _page,
    _record,
    _steps,
    g_step,
    linear_mapping,
)
from benchmarks.performance._harness import Benchmark, Contender
from benchmarks.performance._record import Figure, Record
from benchmarks.performance._registry import BENCHMARKS
from supred import LowDimSVC
from tests.family import blobs


def a_record(name="race", value=2.0, **figure):
    return Record(
        name,
        "A race",
        [Figure("time / peer's", value, note="error 1 % | 2 %", **figure)],
        {"ours": {"seconds": {"fit": [1.0, 1.5]}, "error": np.float64(1.0), "load_before": 0.1}},
        {"Steps": {"columns": ["step", "s"], "rows": [["Phi", "1.0"], ["g", "0.5"]]}},
        _record.conditions(2, seeds=[0], data="generated", command="python -m benchmarks race"),
    )


def test_a_record_comes_back_from_its_file(tmp_path):
    path = tmp_path / "folder" / "race.json"
    _record.write([a_record(at_most=3.0), a_record("other", None)], path)
    content = json.loads(path.read_text())
    assert content["race"]["figures"][0]["reached"] is True
    assert content["race"]["runs"]["ours"]["seconds"]["fit"] == [1.0, 1.5]
    assert {"cpu", "cores", "threads", "versions", "python"} <= set(content["race"]["conditions"])
    assert {"supred", "numpy", "scikit-learn"} <= set(content["race"]["conditions"]["versions"])
    race, other = _record.read(path)
    assert race == Record.from_dict(content["race"])
    assert race.figures == a_record(at_most=3.0).figures
    assert other.figures[0].value is None


def test_what_json_does_not_know(tmp_path):
    record = a_record(value=math.nan)
    record.runs = {"ours": {"values": np.array([1.0, np.inf]), "count": np.int64(3)}}
    _record.write([record], tmp_path / "race.json")
    (back,) = _record.read(tmp_path / "race.json")
    assert back.figures[0].value is None
    assert back.runs["ours"] == {"values": [1.0, None], "count": 3}


def test_a_file_that_is_no_record(tmp_path):
    assert _record.read(tmp_path / "missing.json") == []
    path = tmp_path / "bad.json"
    for text in ("{", "[1]", '{"race": {"figures": [{"nonsense": 1}]}}'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json holds no benchmark record"):
            _record.read(path)


@pytest.mark.parametrize(
    ("figure", "reached", "asked"),
    [
        (Figure("a", 2.0, at_most=2.0), True, "at most 2"),
        (Figure("a", 2.1, at_most=2.0), False, "at most 2"),
        (Figure("a", 15.0, at_least=15), True, "at least 15"),
        (Figure("a", math.nan, at_least=15), False, "at least 15"),
        (Figure("a", 3.0), None, ""),
        (Figure("a", None, at_most=1.0), None, "at most 1"),
    ],
)
def test_the_verdict_of_a_figure(figure, reached, asked):
    assert figure.reached is reached
    assert figure.asked == asked
    assert Record("r", "t", [figure]).reached is (reached is not False)


@pytest.mark.parametrize(
    ("old", "new", "options", "n_faults"),
    [
        (1.0, 1.9, {"at_most": 1.0}, 0),
        (1.0, 2.1, {"at_most": 1.0}, 1),
        (1.0, 0.1, {"at_most": 1.0}, 0),
        (20.0, 11.0, {"at_least": 15}, 0),
        (20.0, 9.0, {"at_least": 15}, 1),
        (20.0, 900.0, {"at_least": 15}, 0),
        (20.0, 9.0, {"better": "more"}, 1),
        (20.0, 41.0, {"better": "less"}, 1),
        (40, 90, {"unit": "calls"}, 1),
        (1.0, 9.0, {"unit": "%"}, 0),  # errors have their own limits
        (1.0, 9.0, {"unit": "s"}, 0),  # seconds are never compared
        (None, 9.0, {}, 0),
        (2.0, None, {}, 1),
        (2.0, math.nan, {}, 1),
    ],
)
def test_comparison_with_the_last_record(old, new, options, n_faults):
    faults = _record.compare([a_record(value=new, **options)], [a_record(value=old, **options)])
    assert len(faults) == n_faults


def test_what_did_not_run_or_is_new_is_no_fault():
    assert _record.compare([a_record("race")], [a_record("not run", 0.001)]) == []
    assert _record.compare([a_record("new", 1e9)], []) == []


def fake_benchmark(values, **options):
    """A benchmark whose contenders tell given seconds, one a round."""
    told = {name: iter(seconds) for name, seconds in values.items()}

    def contender(name):
        return Contender(lambda data, threads: {"seconds": {"fit": next(told[name])}, "error": 1.0})

    return Benchmark(
        "race",
        "A race",
        lambda quick: None,
        {name: contender(name) for name in values},
        lambda runs, quick: [
            Figure("ours / peer's", _harness.ratio(runs["ours"], runs["peer"], quick=quick))
        ],
        **options,
    )


def in_this_process(monkeypatch, *benchmarks):
    """Let the harness run its contenders here, of the given benchmarks one after the other."""
    waiting = iter(benchmarks)
    monkeypatch.setattr(
        _harness,
        "_in_subprocess",
        lambda name, contender, threads, quick: _harness.run_here(
            next(waiting), contender, threads, quick
        ),
    )


def test_quick_rounds_take_turns_and_the_median_ratio_counts(monkeypatch):
    order = []

    def contender(name, seconds):
        def run(data, threads):
            order.append(name)
            return {"seconds": {"fit": seconds[sum(item == name for item in order) - 1]}}

        return Contender(run)

    benchmark = Benchmark(
        "race",
        "A race",
        lambda quick: None,
        {"ours": contender("ours", [1.0, 8.0, 1.0]), "peer": contender("peer", [2.0, 2.0, 4.0])},
        lambda runs, quick: [],
    )
    runs = _harness.run_here(benchmark, "all", 1, quick=True)
    assert order == ["ours", "peer", "peer", "ours", "ours", "peer"]
    assert _harness.ratio(runs["ours"], runs["peer"], quick=True) == 0.5
    with pytest.raises(ValueError, match="race has no contender 'nobody'; use one of ours, peer"):
        _harness.run_here(benchmark, "nobody", 1, quick=True)


def test_quick_tries_again_before_it_fails(monkeypatch, tmp_path, capsys):
    last = tmp_path / "quick.json"
    monkeypatch.setattr(_command, "QUICK", last)
    record = a_record(value=1.0)
    record.figures = [Figure("ours / peer's", 1.0)]
    _record.write([record], last)
    slow = {"ours": [9.0] * 3, "peer": [1.0] * 3}
    fair = {"ours": [1.1] * 3, "peer": [1.0] * 3}
    for first, second, code in ((slow, fair, 0), (slow, slow, 1)):
        runs = [fake_benchmark(first), fake_benchmark(second)]
        in_this_process(monkeypatch, *runs)
        assert _command.quick([runs[0]], 1, None) == code
    told = capsys.readouterr().out
    assert "once more" in told
    assert "WORSE: race: ours / peer's: 9 x, was 1 x (worse by 9.0 x, allowed 2 x)" in told


def test_a_full_run_fails_where_a_figure_falls_short(monkeypatch, tmp_path):
    path = tmp_path / "record.json"
    for limit, code in ((1.0, 0), (0.1, 1)):
        benchmark = fake_benchmark({"ours": [1.0] * 3, "peer": [2.0] * 3})
        wanted = Figure("ours / peer's", 0.5, at_most=limit)
        benchmark = Benchmark(
            benchmark.name,
            benchmark.title,
            benchmark.load,
            benchmark.contenders,
            lambda runs, quick, wanted=wanted: [wanted],
        )
        in_this_process(monkeypatch, *[benchmark] * 2)
        assert _command.full([benchmark], 1, path) == code
        assert _record.read(path)[0].runs["peer"]["seconds"]["fit"] == [2.0] * 3


def test_a_contender_whose_package_is_missing_is_skipped():
    def run(data, threads):
        raise ImportError("No module named 'umap'")

    found = _harness._measure_once(Contender(run, package="umap-learn"), None, 1)
    assert found["skipped"] == "pip install umap-learn (No module named 'umap')"
    with pytest.raises(ImportError):
        _harness._measure_once(Contender(run), None, 1)


def test_contenders_get_the_threads_they_are_told():
    environment = _harness.environment(3)
    assert {environment[name] for name in _harness.THREAD_VARIABLES} == {"3"}


def test_a_real_benchmark_in_its_own_process(tmp_path):
    record = _harness.measure(BENCHMARKS["single_row"], threads=1, quick=True)
    ratios = [figure for figure in record.figures if figure.unit == "x"]
    assert len(ratios) == 2
    assert all(figure.value > 0 for figure in ratios)
    # the checks of scikit-learn alone are some hundreds of calls
    assert record.figures[-1].value < 100
    assert max(record.runs["both in turn"]["differences"].values()) < 1e-3
    _record.write([record], tmp_path / "quick.json")
    assert _record.compare([record], _record.read(tmp_path / "quick.json")) == []


def test_the_page_is_made_of_the_records(tmp_path):
    _record.write([a_record("race", 2.0, at_most=3.0)], tmp_path / "race.json")
    _record.write([a_record("lost", 4.0, at_most=3.0)], tmp_path / "lost.json")
    rows = [{"rows": 50_000, "seconds per row": 1.5e-5}, {"rows": 400_000, "peak": True}]
    (tmp_path / "scaling.json").write_text(json.dumps({"rows": rows, "threads": 2}))
    other = a_record("out_of_memory", 900.0, at_most=1500, unit="MB")
    other.title = "Files beyond memory: a million rows"
    other.conditions = {"threads": "all"}  # what it does not tell is left out
    other.runs = {"file": {"seconds": 3.0}, "sizes": [1, 2]}
    _record.write([other], tmp_path / "out_of_memory.json")
    target = tmp_path / "page.md"
    _page.write_page(target, tmp_path, order=("race", "lost", "missing"))
    text = target.read_text()
    assert "| race | time / peer's | at most 3 | 2 x | reached |" in text
    assert "| lost | time / peer's | at most 3 | 4 x | NOT REACHED |" in text
    assert "error 1 % \\| 2 %" in text  # a bar would end the cell
    assert "| Phi | 1.0 |" in text
    assert "load average before 0.1 to 0.1" in text
    assert "### Scaling in the number of rows" in text
    assert "| 50000 | 1.5e-05 |" in text
    assert "threads: 2." in text
    assert "| out_of_memory | time / peer's | at most 1500 | 900 MB | reached |" in text
    assert "### Files beyond memory: a million rows" in text
    assert "all threads. Again: `python -m benchmarks out_of_memory`." in text
    assert "<!--" not in text
    assert "What was found and changed" in text


def test_a_template_without_a_mark(tmp_path):
    template = tmp_path / "page.md"
    template.write_text("# Performance\n<!-- figures -->\n")
    with pytest.raises(ValueError, match=r"page\.md has no mark <!-- machine -->"):
        _page.page(tmp_path, template, ())


def test_the_page_in_the_docs_is_that_of_the_records(tmp_path):
    _page.write_page(tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text() == _page.PAGE.read_text(encoding="utf-8"), (
        "docs/performance.md is out of date; run `python -m benchmarks performance --page`"
    )


def test_every_step_of_a_fit_is_timed_once():
    X, y = blobs()
    with _steps.clocked() as watch:
        began = time.perf_counter()
        model = LowDimSVC(n_centers=8, random_state=0).fit(X, y)
        took = time.perf_counter() - began
    assert set(watch.seconds) == set(_steps.STEPS)
    assert all(seconds > 0 for seconds in watch.seconds.values())
    assert sum(watch.seconds.values()) <= took
    assert watch.calls["start"] == 1
    assert watch.calls["g"] == watch.calls["F, z, Phi^T Z"] == watch.calls["f"] == model.n_iter_ + 1
    calls = dict(watch.calls)
    LowDimSVC(n_centers=8, random_state=0).fit(X, y)
    assert watch.calls == calls  # the clocks were taken off


def test_own_time_is_without_the_steps_inside():
    now = iter([0.0, 1.0, 4.0, 10.0])
    watch = _steps.Stopwatch(lambda: next(now))
    inner = watch.timed("inner", lambda: None)
    watch.timed("outer", inner)()
    assert watch.seconds == {"inner": 3.0, "outer": 7.0}


def test_a_stopwatch_leaves_other_threads_alone():
    watch = _steps.Stopwatch()
    thread = threading.Thread(target=watch.timed("step", lambda: None))
    thread.start()
    thread.join()
    assert watch.seconds == {}


def test_a_step_that_is_not_there_any_more():
    with pytest.raises(AttributeError, match="change STEPS"):
        _steps.find("supred.low_dim_svm.mappings.rbf:RBFMapping.gone")


def test_flops_of_a_fit():
    flops = _steps.flops_of_fit(60_000, 784, 2500, 9, n_iter=10)
    assert flops["Phi and Phi^T Phi"] == 2 * 60_000 * 2500 * 784 + 60_000 * 2500**2
    assert flops["f"] == pytest.approx(4 * 2500**3 / 3 + 11 * 4 * 2500**2 * 9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_rows_of_the_g_step_are_the_same_each_time():
    X, y = blobs(n_rows=200)
    Z = g_step.coordinates(X, y, n_centers=10)
    np.testing.assert_array_equal(Z, g_step.coordinates(X, y, n_centers=10))
    assert Z.shape == (200, 2)
    # within a fraction of the dual bound: the optimum is one
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    best = g_step.optimum(Z, signs, 1.0)
    task = g_step.Task(Z, signs, (1.0,), {1.0: best})
    assert 0 <= g_step.ours(task, 1)["excess"]["C=1"] <= g_step.WITHIN
    peer = g_step.fastest(Z, signs[:, 0], 1.0, float(best[0]), limit=10.0)
    assert peer["reached"]
    assert -1e-9 <= peer["excess"] <= g_step.WITHIN


def test_the_vote_of_neighbors_is_scikit_learns():
    X, y = blobs(n_rows=300, spread=4.0)
    labels = np.array(["b", "a", "c"])[y]
    errors = linear_mapping.neighbor_errors(X[:200], labels[:200], X[200:], labels[200:])
    for k, error in errors.items():
        peer = KNeighborsClassifier(k).fit(X[:200], labels[:200])
        assert error == pytest.approx(100 * (1 - peer.score(X[200:], labels[200:])))


def test_the_linear_mapping_is_chosen_on_the_validation_rows_alone():
    tried = [
        {"max_iter": 5, "alpha": 1, "validation_error": 9.0, "error": 1.0},
        {"max_iter": 5, "alpha": 2, "validation_error": 8.0, "error": 7.0},
        {"max_iter": 50, "alpha": 3, "validation_error": 1.0, "error": 1.0},
    ]
    assert linear_mapping.chosen(tried, 5)["alpha"] == 2


def test_accuracy_leaves_speed_out_and_bench_keeps_records(monkeypatch, tmp_path, capsys):
    ran = []

    def load(name):
        def main(arguments):
            if arguments == ["--help"]:
                print("usage: [--record FILE]" if name == "scaling" else "usage:")
                raise SystemExit(0)
            ran.append((name, tuple(arguments)))
            print_rows(f"table of {name}", [Row("time / plain", "1.2", required="<= 1.5")])
            return 0

        return main

    known = ["dask_overhead", "low_dim_svm", "performance", "scaling"]
    monkeypatch.setattr(runner, "names", lambda: known)
    monkeypatch.setattr(runner, "load", load)
    monkeypatch.setattr(runner, "RECORDS", tmp_path)
    assert runner.main(["accuracy"]) == 0
    assert [name for name, _ in ran] == list(runner.ACCURACY)
    assert {arguments for _, arguments in ran} == {("--quick",)}
    assert not set(runner.ACCURACY) & set(runner.SPEED)
    ran.clear()
    assert runner.main(["bench"]) == 0
    assert ran == [
        ("performance", ()),
        ("scaling", ("--record", str(tmp_path / "scaling.json"))),
        ("dask_overhead", ()),
        ("performance", ("--page",)),
    ]
    # what writes no record itself is kept as it was printed
    (path,) = tmp_path.iterdir()
    assert path.name == "dask_overhead.json"
    text = _page.page(tmp_path, _page.TEMPLATE, ())
    assert "### table of dask_overhead" in text
    assert "| time / plain | 1.2 | <= 1.5 |" in text
    assert runner.main(["nonsense"]) == 2
    assert "performance" in capsys.readouterr().out


def test_the_command_line_refuses_what_it_does_not_know(capsys):
    for arguments in (["--only", "nonsense"], ["--threads", "0"]):
        with pytest.raises(SystemExit) as stopped:
            _command.main(arguments)
        assert stopped.value.code == 2
    assert "use 1 or more" in capsys.readouterr().err
