"""The core of the language: true, false, atoms, comparisons, `!`, `&`, `|`, `exists`, X, U, Y and S.

Every other operator is an abbreviation, by the equations of `lawtrace.solver.logic.syntax`. What people write is kept,
for printing; engines see the core only.

    f -> g   = !f | g           f <-> g  = f & g | !f & !g             forall x: f = !(exists x: !f)
    F[w] f   = true U[w] f      G[w] f   = !(true U[w] !f)             WX[w] f     = !X[w] !f
    O[w] f   = true S[w] f      H[w] f   = !(true S[w] !f)             f R[w] g    = !(!f U[w] !g)
    f W g    = g R (f | g)      f W[w] g = f U[w] g | G[<= end of w] f
"""

from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.windows import Window


def in_core(formula: s.Formula) -> s.Formula:
    """The formula with its outermost operator written in the core, and the negations and operators that this brings.

    The operands stay as they are, so a formula that names one of them twice is not copied.
    """
    match formula:
        case s.Implies(f, g):
            return s.Or(s.Not(f), g)
        case s.Iff(f, g):
            return s.Or(s.And(f, g), s.And(s.Not(f), s.Not(g)))
        case s.ForAll(variables, f):
            return s.Not(s.Exists(variables, s.Not(f)))
        case s.Eventually(f, window):
            return s.Until(s.Top(), f, window)
        case s.Always(f, window):
            return s.Not(s.Until(s.Top(), s.Not(f), window))
        case s.WeakNext(f, window):
            return s.Not(s.Next(s.Not(f), window))
        case s.Once(f, window):
            return s.Since(s.Top(), f, window)
        case s.Historically(f, window):
            return s.Not(s.Since(s.Top(), s.Not(f), window))
        case s.Release(f, g, window):
            return s.Not(s.Until(s.Not(f), s.Not(g), window))
        case s.WeakUntil(f, g, window) if window.unlimited:
            return s.Not(s.Until(s.Not(g), s.Not(s.Or(f, g))))
        case s.WeakUntil(f, g, window):
            return s.Or(s.Until(f, g, window), s.Not(s.Until(s.Top(), s.Not(f), Window(upper=window.upper))))
        case _:
            return formula


def holds_without_events(formula: s.Formula) -> bool:
    """Whether the empty trace satisfies the formula: there, atoms, comparisons, `exists`, X, U, Y and S are false."""
    match formula:
        case s.Top():
            return True
        case s.Not(operand):
            return not holds_without_events(operand)
        case s.And(parts):
            return all(map(holds_without_events, parts))
        case s.Or(parts):
            return any(map(holds_without_events, parts))
        case s.Iff(f, g):  # each side once: nested ones would take exponential time
            return holds_without_events(f) == holds_without_events(g)
        case _:
            core = in_core(formula)
            return core is not formula and holds_without_events(core)
