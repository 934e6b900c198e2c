import gzip
import json
import re
import socket
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from supred.datasets import DataNotFoundError, load_mnist, load_newsgroups_pc_mac, load_uci


@pytest.fixture
def no_network(monkeypatch):
    """Every public source answers as without a network; tell how often it was asked."""
    asked = []

    def unreachable(*args, **options):
        asked.append(socket.getdefaulttimeout())
        raise URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", unreachable)
    monkeypatch.delenv("SUPRED_DATA", raising=False)
    return asked


@pytest.mark.parametrize(
    ("load", "file"),
    [
        (load_mnist, "mnist.npz"),
        (load_newsgroups_pc_mac, "newsgroups_pc_mac.json.gz"),
        (lambda: load_uci("seeds"), "uci/seeds.csv"),
    ],
)
def test_without_data_one_sentence_says_what_is_missing_and_where_it_goes(no_network, load, file):
    before = socket.getdefaulttimeout()
    with pytest.raises(DataNotFoundError, match=rf"{file}.*no route to host.*SUPRED_DATA") as error:
        load()
    assert "\n" not in str(error.value)
    assert no_network[0] is not None  # a silent server must not stop the program for ever
    assert socket.getdefaulttimeout() == before


def test_download_false_asks_nobody(no_network):
    with pytest.raises(DataNotFoundError, match="was not to be fetched"):
        load_mnist(download=False)
    assert no_network == []


def test_a_table_without_public_copy_is_not_looked_for(no_network):
    with pytest.raises(DataNotFoundError, match=r"ann-thyroid.*archive\.ics\.uci\.edu"):
        load_uci("ann-thyroid")
    assert no_network == []


@pytest.mark.parametrize(
    ("load", "file", "content"),
    [
        (load_mnist, "mnist.npz", b"PK"),
        (
            load_newsgroups_pc_mac,
            "newsgroups_pc_mac.json.gz",
            gzip.compress(b'{"train": 5}', mtime=0),
        ),
        (load_newsgroups_pc_mac, "newsgroups_pc_mac.json.gz", gzip.compress(b"{}", mtime=0)[:-9]),
        (lambda folder: load_uci("iris", folder), "uci/iris.csv", b"a,b,label\n1,2,x\n"),
        (lambda folder: load_uci("iris", folder), "uci/iris.csv", b"\xff\xfe\n\xff"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, load, file, content):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} cannot be read") as error:
        load(tmp_path)
    assert "\n" not in str(error.value)


def test_bundled_tables_need_no_data(no_network):
    X, y = load_uci("wine")
    assert X.shape == (178, 13)
    assert sorted(set(y)) == ["0", "1", "2"]
    assert no_network == []


def test_a_fetched_table_of_another_shape_is_refused(monkeypatch):
    monkeypatch.delenv("SUPRED_DATA", raising=False)
    other = (np.zeros((10, 2)), np.array(["a", "b"] * 5))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: other)
    with pytest.raises(DataNotFoundError, match=r"not the one of the paper.*\(10, 2\)"):
        load_uci("seeds")


def test_a_fetched_mnist_is_split_as_the_official_one(monkeypatch):
    monkeypatch.delenv("SUPRED_DATA", raising=False)
    X = np.zeros((70_000, 784), dtype=np.uint8)
    X[60_000] = 255
    y = (np.arange(70_000) % 10).astype(str)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: (X, y))
    X_train, y_train, X_test, y_test = load_mnist()
    assert X_train.shape == (60_000, 784)
    assert X_train.max() == 0
    assert X_test[0].min() == 1
    assert y_train[:3].tolist() == [0, 1, 2]
    assert len(y_test) == 10_000


def test_newsgroups_of_a_folder(tmp_path):
    rows = {
        "train": [
            {"text": "a", "label": "pc", "id": "1"},
            {"text": "b", "label": "mac", "id": "2"},
        ],
        "test": [{"text": "c", "label": "pc", "id": "3"}],
    }
    with gzip.open(tmp_path / "newsgroups_pc_mac.json.gz", "wt") as file:
        json.dump(rows, file)
    texts, y, texts_test, y_test = load_newsgroups_pc_mac(tmp_path)
    assert texts == ["a", "b"]
    assert y.tolist() == ["pc", "mac"]
    assert texts_test == ["c"]
    assert y_test.tolist() == ["pc"]


def test_newsgroups_by_scikit_learn_have_the_same_labels(monkeypatch):
    from sklearn.utils import Bunch

    monkeypatch.delenv("SUPRED_DATA", raising=False)

    def fetch(subset, categories, **options):
        assert len(categories) == 2
        return Bunch(
            data=[subset, "other"],
            target=np.array([1, 0]),
            target_names=["comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"],
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    texts, y, texts_test, y_test = load_newsgroups_pc_mac()
    assert texts == ["train", "other"]
    assert y.tolist() == y_test.tolist() == ["mac", "pc"]
    assert texts_test == ["test", "other"]


def test_arguments_of_other_types():
    for load in (load_mnist, load_newsgroups_pc_mac):
        with pytest.raises(ValueError, match="download=2 is not known"):
            load(download=2)
        with pytest.raises(TypeError, match="data_dir=5 is a int, not a path"):
            load(5)
    with pytest.raises(ValueError, match=r"name=.* is not known"):
        load_uci(np.ones(2))
