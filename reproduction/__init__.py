"""The papers' tables and figures as experiments; ``python -m reproduction`` runs them.

One folder per paper, one file per experiment. A file declares an `Experiment`: its data, its
protocol, the published figures and how to measure. `runner` does the rest.
"""
