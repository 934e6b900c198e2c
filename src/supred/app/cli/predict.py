"""Predict the class of each row of a table with a saved model."""

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any, TextIO

import numpy as np

from supred.app.cli import _stream
from supred.app.cli._input import check_outputs, read_model_and_table
from supred.app.export.table_model import TableModel
from supred.common.arguments import one_line
from supred.common.files import atomic_write

# What a model says of the rows of a block, by kind.
Answers = dict[str, np.ndarray]
# kind of answer -> the estimator's method
METHODS = {
    "predicted": "predict",
    "probabilities": "predict_proba",
    "scores": "decision_function",
    "coordinates": "transform",
}


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    more = {
        "probabilities": options.proba,
        "scores": options.scores,
        "coordinates": options.coordinates,
    }
    write_answers(options, ["predicted", *(kind for kind, wanted in more.items() if wanted)])
    return 0


def write_answers(options: argparse.Namespace, wanted: Iterable[str]) -> None:
    """Write what the model says of each row, block by block.

    An output file that may not be written is an error before anything is computed.

    Parameters
    ----------
    options : Namespace
    wanted : iterable of {"predicted", "probabilities", "scores", "coordinates"}
    """
    if options.out is not None:
        check_outputs(options, [options.out])
    blocks: Iterable[Any]
    if options.stream:
        model, rows = _stream.read(options)
        blocks = rows.blocks()
    else:
        model, table = read_model_and_table(options)
        blocks = [model.transformer.transform(table.X)]
    methods = [(kind, _method(model.estimator, kind)) for kind in wanted]
    answers = ({kind: ask(X) for kind, ask in methods} for X in blocks)
    if options.out is None:
        _write_text(options, model, answers, sys.stdout)
        return
    with atomic_write(options.out, overwrite=options.force) as file:
        if str(options.out).lower().endswith((".parquet", ".pq")) and not options.json:
            _write_parquet(model, answers, file)
        else:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            _write_text(options, model, answers, text)
            text.detach()  # the file must stay open until it gets its name


def _method(estimator: Any, kind: str) -> Callable[[Any], np.ndarray]:
    """Return the method of an estimator that answers with `kind`."""
    try:
        return getattr(estimator, METHODS[kind])
    except AttributeError as error:
        raise ValueError(f"the model gives no {kind}: {one_line(error)}") from None


def _columns(model: TableModel, answers: Answers) -> Answers:
    """Return the answers of a block as named columns."""
    classes = [str(label) for label in model.classes.tolist()]
    result: Answers = {}
    others = {kind: values for kind, values in answers.items() if kind != "predicted"}
    for kind, values in others.items():
        if kind == "coordinates":
            names = [str(name) for name in model.method.get_feature_names_out()]
        else:
            width = 1 if values.ndim == 1 else values.shape[1]
            words = classes[1:] if width == 1 else classes
            if width != len(words):  # of pairs of classes
                words = [str(k + 1) for k in range(width)]
            one = kind.replace("ies", "y").rstrip("s")
            names = [f"{one} of {word}" for word in words]
        result |= dict(zip(names, values.reshape(len(values), -1).T, strict=True))
    if "predicted" in answers:
        taken = model.target in result  # a column of its own all the same
        name = f"predicted {model.target}" if taken else model.target
        result = {name: answers["predicted"], **result}
    return result


def _write_text(
    options: argparse.Namespace,
    model: TableModel,
    blocks: Iterable[Answers],
    file: TextIO,
) -> None:
    """Write CSV, or JSON with --json."""
    if options.json:
        found = list(blocks)
        document = {kind: np.concatenate([b[kind] for b in found]).tolist() for kind in found[0]}
        names = model.method.get_feature_names_out().tolist()
        about = {"target": model.target, "classes": model.classes.tolist(), "names": names}
        file.write(json.dumps({**about, **document}, ensure_ascii=False) + "\n")
        return
    # A float is written as the shortest text that reads back as the same number.
    # The module csv leaves letters unquoted that a reader takes for ends of fields or lines.
    words = [model.target, *map(str, model.classes.tolist())]
    odd = any(letter in word for word in words for letter in "\r\t;\ufeff")
    writer = csv.writer(
        file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    )
    for k, block in enumerate(blocks):
        columns = _columns(model, block)
        if k == 0:
            writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _write_parquet(model: TableModel, blocks: Iterable[Answers], file: IO[bytes]) -> None:
    import pyarrow
    from pyarrow import parquet

    writer = None
    for block in blocks:
        table = pyarrow.table(_columns(model, block))
        writer = writer or parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
