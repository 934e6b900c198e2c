"""Random calls of the command line."""

import numpy as np

from benchmarks.fuzz._draws import PARAMETERS, pick

TABLE = "a,b,y\\n1,2,u\\n2,1,v\\n1.5,2.5,u\\n2.5,0.5,v\\n0,3,u\\n3,0,v\\n"
COMMANDS = ("fit", "predict", "transform", "evaluate", "info", "report", "compare", "map", "export")
WORDS = (
    "table.csv", "missing.csv", ".", "model.supred", "--target", "y", "a", "--out", "out.supred",
    "--force", "--json", "--quiet", "--stream", "--seed", "0", "-1", "--components", "2", "99",
    "--method", *PARAMETERS, "--set", "C=10", "n_jobs=foo", "C=", "=", "gamma=scale", "--exclude",
    "zz", "--kind", "csv", "--to", "c", "js", "--budget", "1s", "0s", "--checkpoint", "state",
)  # fmt: skip


def recipe(rng: np.random.Generator) -> str:
    """Return the lines of a case: a good call or any words, after a model was made."""
    words = [pick(rng, COMMANDS), *(pick(rng, WORDS) for _ in range(int(rng.integers(0, 8))))]
    if rng.random() < 0.5:
        method = pick(rng, list(PARAMETERS))
        words = ["fit", "table.csv", "--target", "y", "--method", method, "--out", "out.supred"]
        words += [pick(rng, WORDS) for _ in range(int(rng.integers(0, 3)))]
    if words[0] == "compare" and "--budget" not in words:
        words += ["--budget", "1s"]
    arguments = ", ".join(repr(word) for word in words)
    return (
        "from pathlib import Path\nfrom benchmarks.fuzz import commands\n"
        f"Path('table.csv').write_text('{TABLE}')\n"
        f"commands.check_call({arguments})\n"
    )
