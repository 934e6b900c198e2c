"""supred fit --device: the model of the host, or an error that says why not."""

import numpy as np
import pytest

from supred.app.export.model_file import load_model
from supred.common.arrays import place_of
from tests.devices import putter


@pytest.mark.parametrize("stream", [(), ("--stream",)])
@pytest.mark.parametrize("method", ["LowDimSVC", "RBFNetClassifier"])
def test_a_device_gives_the_model_of_the_host(supred, table, tmp_path, stream, method, monkeypatch):
    # torch's arrays on the host stand in for a GPU
    place = place_of(putter("torch-cpu")(np.zeros(1)))
    asked = []

    def named(device):
        asked.append(device)
        return place

    arguments = (
        table,
        "--target",
        "species",
        "--method",
        method,
        "--set",
        "n_centers=20",
        "--folds",
        "0",
        *stream,
    )
    assert supred("fit", *arguments, "--out", tmp_path / "here").code == 0
    for user in ("supred.rows.device", "supred.app.cli.fit"):
        monkeypatch.setattr(f"{user}.place_named", named)
    result = supred("fit", *arguments, "--device", "cuda", "--out", tmp_path / "there")
    assert result.code == 0, result.err
    assert set(asked) == {"cuda"}
    here, there = (load_model(tmp_path / name).estimator for name in ("here", "there"))
    np.testing.assert_allclose(there.coef_, here.coef_, atol=0.01 * np.abs(here.coef_).max())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--device", "gpu"), "--device='gpu' is not known"),
        (("--device", "auto", "--method", "CategorySpace"), "--device auto trains LowDimSVC and"),
        (("--device", "auto", "--scheduler", "local"), "--device and --scheduler cannot be"),
    ],
)
def test_what_cannot_be_says_so(supred, table, tmp_path, arguments, message):
    result = supred("fit", table, "--target", "species", *arguments, "--out", tmp_path / "model")
    assert result.code == 2
    assert message in result.err
