"""Memory maps are read block by block, and their pages let go."""

import sys
from pathlib import Path

import numpy as np
import pytest

from supred.rows.files.reading import MemoryMap

SHAPE = (40_000, 100)  # 32 MB


@pytest.fixture
def path(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=float, shape=SHAPE)
    rows[:] = np.arange(SHAPE[0])[:, None]
    rows.flush()
    return tmp_path / "X.npy"


def mapped_bytes():
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssFile"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_pages_do_not_pile_up(path, mode):
    X = np.load(path, mmap_mode=mode)
    before = mapped_bytes()
    total = MemoryMap(X).rows(100).sum(lambda block: block.sum())
    assert total == SHAPE[1] * np.arange(SHAPE[0], dtype=float).sum()
    assert mapped_bytes() - before < X.nbytes / 3
    half = MemoryMap(X[::2])
    np.testing.assert_array_equal(half.read(5, 7)[:, 0], [10, 12])
    assert mapped_bytes() - before < X.nbytes / 3


@pytest.mark.parametrize("mode", ["c", "r+"])
def test_what_was_written_to_the_map_stays(path, mode):
    X = np.load(path, mmap_mode=mode)
    X[3] = -1.0
    rows = MemoryMap(X)
    for _ in range(2):
        np.testing.assert_array_equal(rows.read(2, 5)[:, 0], [2, -1, 4])
    assert X[3, 0] == -1.0


def test_what_is_no_matrix_of_numbers_is_left_to_scikit_learn(path):
    X = np.load(path, mmap_mode="r")
    assert MemoryMap.takes(X)
    for other in (np.zeros((3, 2)), X[0], X[:0], X[:, :0], X[[1, 2]], None):
        assert not MemoryMap.takes(other)
