"""Predict the class of each row of a table with a saved model."""

import argparse

from supred.app.cli import _options, _use_model

HELP = "predict the class of each row with a saved model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _use_model.add_rows_to_answer(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    model, predicted = _use_model.apply(options, "predict")
    labels = predicted.tolist()
    if options.json:
        import json

        document = {"target": model.target, "predicted": labels}
        _options.write_text(options, json.dumps(document, ensure_ascii=False) + "\n")
        return 0
    lines = [_options.csv_line([model.target])]
    lines += [_options.csv_line([str(label)]) for label in labels]
    _options.write_text(options, "".join(lines))
    return 0
