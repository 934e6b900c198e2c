"""The verdict: a few sentences that a careful statistician would sign."""

from collections.abc import Sequence

import numpy as np

from supred.app.comparison.peers import MAJORITY
from supred.app.comparison.result import Comparison, MethodResult
from supred.app.comparison.scores import best_method, confusion_of, error_of, estimate
from supred.app.comparison.structure import SIGNIFICANT
from supred.common.arguments import listed

# Classes are uneven where the largest has this many times the rows of the smallest.
UNEVEN = 5
# A class is often missed above this share, if that is also several times the error of all rows.
OFTEN_MISSED, TIMES_THE_ERROR = 0.2, 4
LISTED = 6


def verdict_of(comparison: Comparison) -> list[str]:
    """Return the sentences, the most important first.

    Parameters
    ----------
    comparison : Comparison
        Everything but its verdict is read.
    """
    metric = comparison.metric
    best = best_method(comparison.methods, metric)
    if best is None:
        return ["No method finished; the table says why."]
    parts = [
        _structure(comparison, found=False),
        _most_accurate(comparison, best),
        _as_good(comparison.methods, best, metric),
        _uneven(comparison, best),
        _missed_classes(comparison, best),
        _confused(comparison, best),
        _columns(comparison, best),
        _structure(comparison, found=True),
        _not_tuned(comparison.methods),
    ]
    return [sentence for sentence in parts if sentence]


def has_structure(comparison: Comparison) -> bool:
    """Tell whether the permutation check found anything; True where there was none."""
    return comparison.structure is None or comparison.structure.p_value <= SIGNIFICANT


def _structure(comparison: Comparison, *, found: bool) -> str:
    """Say what the permutation check found, if it found structure or none as asked for."""
    check = comparison.structure
    if check is None or has_structure(comparison) != found:
        return ""
    facts = f"p = {check.p_value:.3f}, {check.n_permutations} permutations, {check.n_rows:,} rows"
    if found:
        return (
            "The columns do tell the classes apart: quick methods do better than with shuffled "
            f"labels ({facts})."
        )
    return (
        "No evidence that these columns tell the classes apart: quick methods do no better than "
        f"with shuffled labels ({facts}). What follows may be chance."
    )


def _most_accurate(comparison: Comparison, best: MethodResult) -> str:
    metric = comparison.metric
    kind = "held-out error" if metric == "error" else "balanced held-out error"
    sentence = f"Most accurate: {best.name}, {estimate(best, metric)} {kind}"
    if best.tuning in ("untuned", "partly tuned"):
        sentence += f" ({best.tuning})"
    counts = np.bincount(comparison.y, minlength=len(comparison.classes))
    largest = int(np.argmax(counts))
    floor = error_of(comparison.y, np.full(len(comparison.y), largest), metric)
    found = estimate(best, metric)
    assert found is not None
    answer = f"always answering {_name(comparison, largest)}"
    if found.mean + found.standard_error >= floor:
        return f"{sentence}; {answer} is as good ({100 * floor:.1f} %)."
    return f"{sentence}; {answer} has {100 * floor:.1f} %."


def within_one_standard_error(
    methods: Sequence[MethodResult], metric: str = "error"
) -> list[MethodResult]:
    """Return the most accurate method, then those within one standard error of it."""
    best = best_method(methods, metric)
    bound = estimate(best, metric) if best else None
    if best is None or bound is None:
        return []
    near = [
        (found.mean, method)
        for method in methods
        if method.name not in (best.name, MAJORITY)
        and (found := estimate(method, metric)) is not None
        and found.mean <= bound.mean + bound.standard_error
    ]
    return [best, *(method for _, method in sorted(near, key=lambda item: item[0]))]


def _as_good(methods: Sequence[MethodResult], best: MethodResult, metric: str) -> str:
    near = within_one_standard_error(methods, metric)
    if len(near) == 1:
        return "No other method is within one standard error of it."
    others = ", ".join(
        f"{method.name} ({100 * found.mean:.1f} %)"
        for method in near[1:]
        if (found := estimate(method, metric)) is not None
    )
    sentence = f"Within one standard error of it: {others}."
    sized = [method for method in near if method.model_bytes]
    timed = [method for method in near if method.predict_seconds]
    if not sized or not timed:
        return sentence
    small = min(sized, key=lambda method: method.model_bytes or 0)
    quick = min(timed, key=lambda method: method.predict_seconds or 0.0)
    size = f"{small.name} ({bytes_text(small.model_bytes or 0)}{_times(best, small)})"
    if small is quick:
        return f"{sentence} Of these the smallest and the quickest to predict is {size}."
    speed = f"{quick.name} ({seconds_text(quick.predict_seconds or 0.0)} per fold)"
    return f"{sentence} Of these the smallest is {size}, the quickest to predict {speed}."


def _times(best: MethodResult, small: MethodResult) -> str:
    ratio = (best.model_bytes or 0) / max(small.model_bytes or 1, 1)
    if small is best or ratio < 1.2:
        return ""
    return f", {ratio:.{0 if ratio >= 3 else 1}f} times smaller than {best.name}"


def is_uneven(y: np.ndarray) -> bool:
    """Tell whether some classes have many times the rows of others."""
    counts = np.bincount(y)
    counts = counts[counts > 0]
    return bool(counts.max() >= UNEVEN * counts.min())


def _uneven(comparison: Comparison, best: MethodResult) -> str:
    if not is_uneven(comparison.y):
        return ""
    counts = np.bincount(comparison.y, minlength=len(comparison.classes))
    sentence = f"The classes are uneven ({counts.min():,} to {counts.max():,} rows)"
    if comparison.metric == "balanced":
        return f"{sentence}; every class counts the same here."
    fair = best_method(comparison.methods, "balanced")
    found, lowest = estimate(best, "balanced"), fair and estimate(fair, "balanced")
    if found is None or fair is None or lowest is None:
        return f"{sentence}."
    sentence += f": if the small ones matter, look at the balanced error, {found} for {best.name}"
    if fair.name != best.name:
        sentence += f", lowest for {fair.name} ({lowest})"
    return f"{sentence}; --metric balanced tunes and ranks by it."


def _missed_classes(comparison: Comparison, best: MethodResult) -> str:
    if best.predicted is None:
        return ""
    confusion = confusion_of(comparison.y, best.predicted, len(comparison.classes))
    rows, found = confusion.sum(axis=1), confusion.diagonal()
    missed = 1 - found / np.maximum(rows, 1)
    error = error_of(comparison.y, best.predicted, "error")
    often = (missed >= 0.5) | ((missed > OFTEN_MISSED) & (missed > TIMES_THE_ERROR * error))
    groups = []
    for words, chosen in (
        ("Never found", (rows > 0) & (found == 0)),
        ("Often missed", often & (found > 0)),
    ):
        classes = sorted(np.flatnonzero(chosen), key=lambda k: (-missed[k], -rows[k]))
        if classes:
            named = [
                f"{_name(comparison, int(k))} ({rows[k] - found[k]} of {rows[k]} rows missed)"
                for k in classes
            ]
            groups.append(f"{words} by {best.name}: {listed(named, LISTED, 'more classes')}.")
    return " ".join(groups)


def _confused(comparison: Comparison, best: MethodResult) -> str:
    if not comparison.confusions or not has_structure(comparison):
        return ""
    pair = comparison.confusions[0]
    first, second = _name(comparison, pair.first), _name(comparison, pair.second)
    if pair.n_first < pair.n_second:
        first, second = second, first
    most, back = max(pair.n_first, pair.n_second), min(pair.n_first, pair.n_second)
    returned = f", {back} the other way" if back else ""
    columns = " and ".join(f"'{item.column}'" for item in pair.differences[:2])
    why = f"; they differ most in {columns}" if columns else ""
    return (
        f"Most confused by {best.name}: {first} taken for {second} "
        f"({most} {'row' if most == 1 else 'rows'}{returned}){why}."
    )


def _columns(comparison: Comparison, best: MethodResult) -> str:
    matter = [item for item in comparison.importances if item.rise > item.spread]
    if not matter or not has_structure(comparison):
        return ""
    top = matter[0]
    also = ", then " + " and ".join(f"'{item.column}'" for item in matter[1:3])
    looked, n_columns = len(comparison.importances), len(comparison.features)
    which = "The column" if looked >= n_columns else f"Of {looked} columns looked at, the one"
    return (
        f"{which} that matters most to {best.name} is '{top.column}': shuffled, the error "
        f"rises by {100 * top.rise:.1f} ± {100 * top.spread:.1f} points"
        f"{also if len(matter) > 1 else ''}."
    )


def _not_tuned(methods: Sequence[MethodResult]) -> str:
    marked = [
        f"{method.name} ({method.tuning})"
        for method in methods
        if method.tuning in ("untuned", "partly tuned")
    ]
    late = [
        f"{method.name} (not run)"
        for method in methods
        if method.status == "skipped" and "--budget" in method.reason
    ]
    if not marked and not late:
        return ""
    return (
        f"Not fully tuned in the time given: {', '.join([*marked, *late])}; with a longer --budget "
        "they may do better."
    )


def _name(comparison: Comparison, k: int) -> str:
    return f"'{comparison.classes[k]}'"


def bytes_text(count: float) -> str:
    """Return a size to three digits.

    Examples
    --------
    >>> from supred.app.comparison.verdict import bytes_text
    >>> bytes_text(512), bytes_text(20_480), bytes_text(3.5e6)
    ('512 B', '20.5 kB', '3.5 MB')
    """
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB" if count < 999.5 else f"{count:.0f} GB"


def seconds_text(seconds: float) -> str:
    """Return a time to two or three digits."""
    if seconds >= 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds:.2g} s" if seconds >= 0.0995 else f"{1000 * seconds:.2g} ms"
