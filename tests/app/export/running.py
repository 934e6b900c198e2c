"""Run exported models by ONNX Runtime, gcc and node."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "export" / "main.c"
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]

MAIN_JS = """\
import { predict } from "./model.mjs";
import fs from "node:fs";
const rows = JSON.parse(fs.readFileSync(0, "utf-8"));
console.log(JSON.stringify(rows.map((row) => predict(row))));
"""


@dataclass
class Answers:
    """What a program answered: labels as text, scores, latent coordinates, probabilities."""

    labels: list
    scores: np.ndarray
    latent: np.ndarray
    probabilities: np.ndarray | None = None


def run_onnx(model, numbers, texts=None):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString())
    numbers = np.asarray(numbers, dtype=np.float32)
    inputs = {"rows": numbers}
    if texts is not None:
        inputs = {"numbers": numbers, "texts": np.asarray(texts, dtype=object)}
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, inputs), strict=True))
    labels = [_text(label) for label in found["label"].tolist()]
    return Answers(labels, found["scores"], found["latent"], found.get("probabilities"))


def run_c(source, folder, numbers, texts=None):
    """Compile the example of the documentation with the header, and run it."""
    (folder / "model.h").write_text(source.text, encoding="utf-8")
    program = folder / "model"
    subprocess.run(
        ["gcc", *FLAGS, f"-I{folder}", str(EXAMPLE), "-lm", "-o", str(program)], check=True
    )
    rows = [["" if np.isnan(v) else f"{v:.9g}" for v in row] for row in numbers]
    if texts is not None:
        rows = [[*row, *text] for row, text in zip(rows, texts, strict=True)]
    given = "".join(",".join(row) + "\n" for row in rows)
    done = subprocess.run([program], input=given, capture_output=True, encoding="utf-8", check=True)
    lines = [line.split(",") for line in done.stdout.splitlines()]
    numbers = np.array([line[1:] for line in lines], dtype=float)
    n_scores = int(source.text.split("_N_SCORES ")[1].split()[0])
    return Answers([line[0] for line in lines], numbers[:, :n_scores], numbers[:, n_scores:])


def run_javascript(text, folder, numbers, texts=None):
    (folder / "model.mjs").write_text(text, encoding="utf-8")
    (folder / "main.mjs").write_text(MAIN_JS)
    rows = [[None if np.isnan(v) else v for v in row] for row in np.asarray(numbers).tolist()]
    if texts is not None:
        rows = [[*row, *text] for row, text in zip(rows, texts, strict=True)]
    done = subprocess.run(
        ["node", "main.mjs"],
        input=json.dumps(rows),
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=folder,
    )
    found = json.loads(done.stdout)
    scores, latent = ([answer[key] for answer in found] for key in ("scores", "latent"))
    probabilities = None
    if found[0]["probabilities"] is not None:
        probabilities = np.array([answer["probabilities"] for answer in found])
    labels = [_text(answer["label"]) for answer in found]
    return Answers(labels, np.array(scores), np.array(latent), probabilities)


def _text(label):
    return str(label) if not isinstance(label, list) else label
