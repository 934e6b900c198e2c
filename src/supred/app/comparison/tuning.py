"""The choice of a method's setting, on folds of the training rows."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from supred.app.comparison.clock import INNER_FOLDS, Tuning
from supred.app.comparison.method import Method
from supred.app.comparison.prepared import PreparedRows, make_folds
from supred.app.comparison.scores import error_of


class Choice(NamedTuple):
    """The setting that was best, and how many were tried."""

    place: int
    n_tried: int


def choose_setting(
    method: Method, rows: PreparedRows, train: np.ndarray, tuning: Tuning, metric: str
) -> Choice:
    """Return the best setting on folds of the training rows; the first one without any time.

    Parameters
    ----------
    method : Method
    rows : PreparedRows
    train : ndarray of int
        Training rows; no others are looked at.
    tuning : Tuning
        Settings are tried in order until the time is up; one at work then does not count.
    metric : {"error", "balanced"}
    """
    class_index = rows.class_index
    n_settings = len(method.settings(rows.split(train, train[:1]).facts))
    n_inner = min(INNER_FOLDS, int(np.bincount(class_index[train]).max()))
    if tuning.seconds <= 0 or n_settings == 1 or n_inner < 2:
        return Choice(0, 1)
    began = perf_counter()
    present = np.unique(class_index[train], return_inverse=True)[1]
    inner = make_folds(present, n_inner, rows.seed)[: tuning.n_checks]
    best, best_error, n_tried = 0, np.inf, 0
    for place in range(n_settings):
        start = perf_counter()
        errors = []
        for learn, check in inner:
            split = rows.split(train[learn], train[check])
            predicted = split.fit(method, place, class_index[train[learn]]).predict(split.X_test)
            errors.append(error_of(class_index[train[check]], predicted, metric))
            if perf_counter() - began > tuning.seconds:
                return Choice(best, max(n_tried, 1))
        n_tried += 1
        if np.mean(errors) < best_error:
            best, best_error = place, float(np.mean(errors))
        cost = perf_counter() - start
        if perf_counter() - began + cost > tuning.seconds:  # no time for one more
            break
    return Choice(best, n_tried)
