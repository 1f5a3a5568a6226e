"""Linear and integer programming over a cover: the one place that speaks to scipy's solver, which has no types."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

NODES = 20
"""The nodes of the integer program's search. Counted, never timed, so that a machine's speed changes nothing."""


def row_prices(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each row is worth where columns are to cover all rows as cheaply as shares of columns can.

    ``matrix[row, column]`` is 1 where the column covers the row; every row has a column. All prices together are the
    least number of columns, shares counted; no column's rows are worth more than 1.
    """
    rows, columns = matrix.shape
    solved = linprog(np.ones(columns), A_ub=-matrix, b_ub=-np.ones(rows), method="highs")
    return np.maximum(-np.asarray(solved.ineqlin.marginals, dtype=np.float64), 0.0)


def fewest_columns(matrix: NDArray[np.float64]) -> list[int] | None:
    """As few columns that cover all rows as a short search finds; None if it finds none."""
    columns = matrix.shape[1]
    solved = milp(
        np.ones(columns),
        constraints=LinearConstraint(matrix, 1.0, math.inf),
        integrality=np.ones(columns),
        bounds=Bounds(0, 1),
        options={"node_limit": NODES},
    )
    return None if solved.x is None else [int(number) for number in np.flatnonzero(solved.x > 0.5)]
