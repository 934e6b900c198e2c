"""Tables that the tests of the command line are run on."""

import io
import sys

import numpy as np
import pytest

from supred.app.cli.main import main


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def error_line(self):
        """The one line of a failure: exit code 2, nothing on stdout, one line on stderr."""
        assert self.code == 2, self.err
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "error: " in lines[0]
        return lines[0]


@pytest.fixture
def supred(capsys, monkeypatch):
    """Run the command line in this process."""

    def run(*arguments, stdin=None):
        if stdin is not None:
            data = stdin.encode() if isinstance(stdin, str) else stdin
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def flowers(n_rows=60, seed=0):
    """Three classes of flowers that two numbers tell apart."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 3)) * 0.4 + np.array([[0, 0, 0], [3, 0, 1], [0, 3, 2]])[codes]
    return X, np.array(["rose", "lily", "iris"])[codes]


def write_csv(path, header, rows, separator=","):
    lines = [separator.join(header)] + [separator.join(str(v) for v in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def table(tmp_path):
    """A plain table: three numbers and a species."""
    X, y = flowers()
    rows = [[*(round(v, 4) for v in row), label] for row, label in zip(X, y, strict=True)]
    return write_csv(tmp_path / "flowers.csv", ["width", "length", "height", "species"], rows)


@pytest.fixture
def rough_table(tmp_path):
    """Text, missing values, an identifier and three rare classes of one to three rows."""
    X, y = flowers(90, seed=1)
    rng = np.random.default_rng(1)
    y = y.astype(object)
    y[0], y[1:3], y[3:6] = "orchid", "tulip", "aster"
    colours = np.where(y == "rose", "red", rng.choice(["white", "pink", ""], size=len(y)))
    rows = []
    for k, (row, colour, label) in enumerate(zip(X, colours, y, strict=True)):
        width = "NA" if k % 11 == 0 else round(row[0], 4)
        height = "" if k % 17 == 0 else round(row[2], 4)
        rows.append([f"plant-{k}", width, round(row[1], 4), height, colour, label])
    header = ["id", "width", "length", "height", "colour", "species"]
    return write_csv(tmp_path / "rough.csv", header, rows)


@pytest.fixture
def model(supred, table, tmp_path):
    """A model trained on the plain table."""
    path = tmp_path / "flowers.supred"
    result = supred(
        "fit", table, "--target", "species", "--out", path, "--set", "n_centers=20", "--quiet"
    )
    assert (result.code, result.out, result.err) == (0, "", "")
    return path
