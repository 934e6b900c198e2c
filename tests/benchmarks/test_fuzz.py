"""The hostile campaign in short, on a fixed seed: `python -m benchmarks fuzz` draws more."""

import pytest

from benchmarks.fuzz import sources
from benchmarks.fuzz._campaign import Failure, run_case

SEED = 21
CASES = {
    "estimators": 100,
    "properties": 60,
    "model_files": 100,
    "tables": 8,
    "command_line": 10,
    "sources": 10,
}
SHARES = 4  # so that processes can divide the work


@pytest.fixture(scope="module", autouse=True)
def _no_cluster_is_left():
    """Close the cluster of the campaign: other tests ask what happens where there is none."""
    yield
    if sources.client.cache_info().currsize:
        sources.client().close()
        sources.client.cache_clear()


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("kind", CASES)
def test_no_case_fails(kind, share):
    failures = [run_case(kind, number, SEED) for number in range(share, CASES[kind], SHARES)]
    found = [f"{f.error} ({f.place})\n{f.recipe}" for f in failures if f is not None]
    assert not found, "\n".join(found)


def test_a_case_that_fails_is_told(monkeypatch):
    monkeypatch.setitem(
        run_case.__globals__["KINDS"], "tables", lambda rng: "raise ValueError('no')"
    )
    failure = run_case("tables", 0, SEED)
    assert isinstance(failure, Failure)
    assert failure.error == "ValueError: no"
