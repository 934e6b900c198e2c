"""Predict the class of each row of a table with a saved model."""

import argparse

from supred.cli import _options, _use_model

HELP = "predict the class of each row with a saved model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _use_model.add_model(parser)
    _options.add_output(parser, "write CSV to this file, not to standard output")
    _options.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from supred._files import check_output

    if options.out is not None:
        check_output(options.out, overwrite=options.force)
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
