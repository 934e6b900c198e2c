"""Give the latent coordinates of each row of a table, by a saved model."""

import argparse

from supred.app.cli import _options, _use_model

HELP = "give the latent coordinates of each row, by a saved model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _use_model.add_rows_to_answer(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    model, Z = _use_model.apply(options, "transform")
    names = [str(name) for name in model.estimator.get_feature_names_out()]
    if options.json:
        import json

        document = {"names": names, "coordinates": Z.tolist()}
        _options.write_text(options, json.dumps(document, ensure_ascii=False) + "\n")
        return 0
    lines = [_options.csv_line(names)]
    # repr is the shortest text that reads back as the same number
    lines += [_options.csv_line([repr(float(value)) for value in row]) for row in Z]
    _options.write_text(options, "".join(lines))
    return 0
