"""Which criterion to maximise over which axes: the solver of a category problem."""

from dataclasses import dataclass
from functools import partial

from supred.category_space.ascent import (
    SMOOTHING,
    AscentOptions,
    CategorySolution,
    best_of,
    solve_absolute,
    solve_squared,
    start_from_rows,
)
from supred.category_space.criteria import margin_pull
from supred.category_space.oblique import solve_oblique
from supred.category_space.problem import CategoryProblem
from supred.numerics.class_scatter import RowScatters


@dataclass(frozen=True)
class Criterion:
    """What to maximise.

    Attributes
    ----------
    name : {"squared", "absolute"}
    free_origin : bool
        Whether the absolute criterion finds the origin of each class.
    heuristic : bool
        Whether its auxiliary step is the paper's heuristic, eq. 26, and not the exact one.
    margin : float
        Margin about the origin of the squared criterion, in units of the rms distance of the rows
        to their mean; 0 means none.
    overlap_penalty : float or None
        Of axes that need not be orthogonal, in units of the mean leading eigenvalue of the
        classes; None asks for orthogonal axes.
    """

    name: str = "squared"
    free_origin: bool = False
    heuristic: bool = False
    margin: float = 0.0
    overlap_penalty: float | None = None

    @property
    def needs_rows(self) -> bool:
        """Whether the scatters alone do not do."""
        return self.name == "absolute" or self.margin > 0


def solve(
    problem: CategoryProblem, criterion: Criterion, options: AscentOptions
) -> CategorySolution:
    """Maximise a criterion; all but the squared one start from its axes.

    Parameters
    ----------
    problem : CategoryProblem
    criterion : Criterion
    options : AscentOptions
    """
    draw = None
    # Whitened wide rows are always dense: their starts can stay uniform.
    if problem.wide and problem.whitener is None and isinstance(problem.scatters, RowScatters):
        draw = partial(start_from_rows, problem.scatters.classes)
    solution = solve_squared(problem.scatters, options, draw=draw)
    if criterion.overlap_penalty is not None:
        return solve_oblique(problem.scatters, criterion.overlap_penalty, solution.axes, options)
    if not criterion.needs_rows or problem.class_rows is None:
        return solution
    unit = problem.rms_distance or 1.0
    eps = SMOOTHING * unit
    if criterion.name == "squared":
        rho = criterion.margin * unit
        pull = partial(margin_pull, problem.class_rows, margin=rho, eps=eps)
        return best_of(pull, solution.axes, options, momentum=False, draw=draw)
    return solve_absolute(
        problem.class_rows,
        eps,
        solution.axes,
        options,
        free_origin=criterion.free_origin,
        heuristic=criterion.heuristic,
        draw=draw,
    )
