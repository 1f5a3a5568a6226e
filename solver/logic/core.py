"""The core of the language: true, false, atoms, comparisons, `!`, `&`, `|`, `exists`, X, U, Y and S.

Every other operator is an abbreviation, by the equations of `lawtrace.solver.logic.syntax`. What people write is kept,
for printing; engines see the core only.

    f -> g   = !f | g           f <-> g  = f & g | !f & !g             forall x: f = !(exists x: !f)
    F[w] f   = true U[w] f      G[w] f   = !(true U[w] !f)             WX[w] f     = !X[w] !f
    O[w] f   = true S[w] f      H[w] f   = !(true S[w] !f)             f R[w] g    = !(!f U[w] !g)
    f W g    = g R (f | g)      f W[w] g = f U[w] g | G[<= end of w] f
"""

from lawtrace.solver.logic.syntax import (
    Always,
    And,
    Eventually,
    Exists,
    ForAll,
    Formula,
    Historically,
    Iff,
    Implies,
    Next,
    Not,
    Once,
    Or,
    Release,
    Since,
    Top,
    Until,
    WeakNext,
    WeakUntil,
)
from lawtrace.solver.logic.windows import Window


def in_core(formula: Formula) -> Formula:
    """The formula with its outermost operator written in the core, and the negations and operators that this brings.

    The operands stay as they are, so a formula that names one of them twice is not copied.
    """
    match formula:
        case Implies(f, g):
            return Or(Not(f), g)
        case Iff(f, g):
            return Or(And(f, g), And(Not(f), Not(g)))
        case ForAll(variables, f):
            return Not(Exists(variables, Not(f)))
        case Eventually(f, window):
            return Until(Top(), f, window)
        case Always(f, window):
            return Not(Until(Top(), Not(f), window))
        case WeakNext(f, window):
            return Not(Next(Not(f), window))
        case Once(f, window):
            return Since(Top(), f, window)
        case Historically(f, window):
            return Not(Since(Top(), Not(f), window))
        case Release(f, g, window):
            return Not(Until(Not(f), Not(g), window))
        case WeakUntil(f, g, window) if window.unlimited:
            return Not(Until(Not(g), Not(Or(f, g))))
        case WeakUntil(f, g, window):
            return Or(Until(f, g, window), Not(Until(Top(), Not(f), Window(upper=window.upper))))
        case _:
            return formula
