"""`supred fit --scheduler`: the same model file, made by the workers of a cluster."""

import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from supred.app.cli.main import main
from supred.app.export.model_file import load_model
from supred.app.tables.assemble import training_plan
from supred.app.tables.cluster import ClusterSource
from supred.app.tables.reading import open_files

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


def flowers(n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 3)) * 0.8 + np.array([[0, 0, 0], [3, 0, 1], [0, 3, 2]])[codes]
    frame = pd.DataFrame(X.round(4), columns=["width", "length", "height"])
    frame["species"] = np.array(["rose", "lily", "iris"])[codes]
    return frame


def run(capsys, *arguments):
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


OPTIONS = ("--target", "species", "--set", "n_centers=30", "--set", "loss=log")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_files_give_the_model_of_one_table(capsys, tmp_path, address, kind):
    frame = flowers()
    frame.to_csv(tmp_path / "all.csv", index=False)
    files = [tmp_path / f"part{k}.{kind}" for k in range(3)]
    for k, file in enumerate(files):
        part = frame.iloc[80 * k : 80 * (k + 1)]
        part.to_csv(file, index=False) if kind == "csv" else part.to_parquet(file)
    code, _, err = run(
        capsys, "fit", tmp_path / "all.csv", *OPTIONS, "--out", tmp_path / "one.supred"
    )
    assert code == 0, err
    out = tmp_path / "two.supred"
    code, text, err = run(
        capsys, "fit", *files, *OPTIONS, "--scheduler", address, "--out", out, "--json"
    )
    assert code == 0, err
    told = json.loads(text)
    assert told["rows"] == 240
    assert told["classes"] == ["iris", "lily", "rose"]
    one, two = load_model(tmp_path / "one.supred"), load_model(out)
    X = frame[["width", "length", "height"]].to_numpy()
    np.testing.assert_allclose(two.transform(X), one.transform(X), rtol=0, atol=1e-6)
    code, text, err = run(capsys, "evaluate", out, tmp_path / "all.csv", "--json")
    assert code == 0, err
    assert json.loads(text)["error"] == pytest.approx(told["training_error"])


def test_gaps_text_and_rows_without_a_label(capsys, tmp_path, address):
    frame = flowers()
    frame.loc[::7, "width"] = np.nan
    frame["colour"] = "red"
    frame.loc[5, "species"] = None
    path, out = tmp_path / "rough.csv", tmp_path / "rough.supred"
    frame.to_csv(path, index=False)
    fit = ("fit", path, *OPTIONS, "--scheduler", address, "--out", out)
    code, _, err = run(capsys, *fit, "--encode", "none")
    assert code == 2
    assert "1 row(s) have no value of the target 'species'" in err
    code, _, err = run(capsys, *fit, "--encode", "none", "--drop-unlabelled")
    assert code == 2
    assert "'colour' holds text" in err
    assert "--encode onehot" in err
    code, _, err = run(capsys, *fit, "--encode", "drop", "--drop-unlabelled", "--impute", "mean")
    assert code == 0, err
    assert "239 rows, 4 columns, 3 classes" in err
    assert "replaced by the column's mean of the training rows: 'width' (35)" in err
    code, text, err = run(capsys, "predict", out, path)
    assert code == 0, err
    assert len(text.splitlines()) == 241


def test_errors_are_one_line(capsys, tmp_path, address):
    path = tmp_path / "flowers.csv"
    flowers().to_csv(path, index=False)
    out = tmp_path / "x.supred"
    for arguments, words in [
        ((path, "--scheduler", "tcp://127.0.0.1:1"), "no connection"),
        ((path, "--scheduler", "tls://127.0.0.1:1"), "no connection"),
        ((path, path), "several need --stream or --scheduler"),
        ((tmp_path / "none.csv", "--scheduler", address), "is not a file"),
        (("--dataset", "iris", "--scheduler", address), "name CSV, TSV or Parquet files"),
        ((path, "--scheduler", address, "--method", "CategorySpace"), "RBFNetClassifier only"),
    ]:
        options = [o for o in OPTIONS if o.startswith("--t") or o == "species"]
        code, _, err = run(capsys, "fit", *arguments, *options, "--out", out)
        assert code == 2, err
        assert len([line for line in err.splitlines() if "error:" in line]) == 1
        assert words in err
    assert not out.exists()


def cluster_source(client, *paths):
    return ClusterSource(client, [str(path) for path in paths])


@pytest.fixture
def at_once():
    """A client that does the work itself."""
    return SimpleNamespace(
        nthreads=lambda: {"one": 1},
        map=lambda function, *lists, pure: list(map(function, *lists)),
        gather=lambda found: found,
    )


def test_labels_of_files_that_hold_whole_and_real_numbers(tmp_path, at_once):
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "y": [1, 2]}), paths[0])
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "y": [2.0, None]}), paths[1])
    for source in (open_files([str(path) for path in paths])[0], cluster_source(at_once, *paths)):
        plan = training_plan(source, target="y", drop_unlabelled=True)
        assert plan.y.tolist() == [1, 2, 2]
    parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "y": [True, False]}), paths[1])
    for source in (open_files([str(path) for path in paths])[0], cluster_source(at_once, *paths)):
        with pytest.raises(ValueError, match=r"holds whole numbers in .*, but booleans in"):
            training_plan(source, target="y")


@pytest.mark.parametrize("kind", ["text", "coded", "bytes", "lists", "numbers"])
def test_small_files_that_would_take_much_memory(tmp_path, at_once, kind):
    n = 40_000
    columns = {
        "text": lambda: {"a": pyarrow.array(["a" * 5000] * n)},
        "coded": lambda: {"a": pyarrow.array(["a" * 5000] * n).dictionary_encode()},
        "bytes": lambda: {"a": pyarrow.array([b"a" * 5000] * n)},
        "lists": lambda: {"a": pyarrow.array([[0] * 500] * n)},
        "numbers": lambda: {f"x{k}": np.zeros(n) for k in range(300)},
    }
    path = tmp_path / "t.parquet"
    table = pyarrow.table(columns[kind]() | {"y": ["a", "b"] * (n // 2)})
    parquet.write_table(table, path, compression="zstd")
    del table
    most = pyarrow.default_memory_pool().max_memory()
    with pytest.raises(ValueError, match=r"would unpack to|neither numbers nor text"):
        training_plan(cluster_source(at_once, path), target="y")
    assert pyarrow.default_memory_pool().max_memory() <= max(most, 250_000_000)


def test_a_table_of_flags_that_grows_a_group_at_a_time_is_taken(tmp_path, at_once):
    """All of it would be more than 64 MB and a hundred times the file; a worker has a part."""
    n, width = 150_000, 60
    flags = np.sort(np.arange(n) % width)[:, None] == np.arange(width)
    table = pyarrow.table({f"x{k}": flags[:, k].astype(float) for k in range(width)})
    table = table.append_column("y", pyarrow.array(np.arange(n) % 2))
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=15_000)
    assert 8 * n * width > 100 * (tmp_path / "t.parquet").stat().st_size
    source = cluster_source(at_once, tmp_path / "t.parquet")
    assert len(source.pieces) == 10
    assert len(source.pieces[3].read(["x1", "y"])) == 15_000


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_is_written_anew_is_not_mixed_with_what_it_was(tmp_path, at_once, kind):
    path = tmp_path / f"t.{kind}"
    write = {"csv": partial(pd.DataFrame.to_csv, index=False), "parquet": pd.DataFrame.to_parquet}
    write[kind](flowers(), path)
    source = cluster_source(at_once, path)
    plan = training_plan(source, target="species")
    write[kind](flowers(seed=1)[::-1], path)
    with pytest.raises(ValueError, match="was changed after it was opened"):
        source.matrix(plan.columns, plan.labelled).compute(scheduler="sync")


def test_files_without_row_groups(tmp_path, at_once):
    path = tmp_path / "t.parquet"
    with parquet.ParquetWriter(path, pyarrow.schema({"a": pyarrow.int64(), "y": pyarrow.int64()})):
        pass
    with pytest.raises(ValueError, match="has no rows"):
        training_plan(cluster_source(at_once, path), target="y")
