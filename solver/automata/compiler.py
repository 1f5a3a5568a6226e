"""Formula to minimal automaton.

Boolean operators at the top of a formula are applied to the automata of their operands, minimised after each step;
everything below a temporal operator goes through progression. So a conjunction of rules costs the product of small
minimal automata and not one large normal form.

The automaton of a quantified formula is the automaton of its body; each value runs through it separately.
"""

from dataclasses import replace
from functools import lru_cache, reduce

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.operations import complement, product
from lawtrace.solver.automata.progression import compile_by_progression
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.core import in_core


@lru_cache(maxsize=4096)
def compile_formula(formula: s.Formula) -> Automaton:
    """The minimal automaton that accepts the traces on which the formula holds, which may be quantified.

    Raises:
        FormulaError: the formula needs too many letters or states (the message says which and what to do).
    """
    if not s.is_untimed(formula):
        raise FormulaError(f"`{formula}` has no automaton: it is about time, several variables or aggregates")
    return replace(_compiled(formula), formula=formula)


def _compiled(formula: s.Formula) -> Automaton:
    if s.is_propositional(formula):
        return compile_by_progression(formula, Alphabet.of([formula]))
    match formula:
        case s.ForAll(_, body):
            return compile_formula(body)
        case s.Not(f):
            return complement(compile_formula(f))
        case s.And(operands) | s.Or(operands):
            join = all if isinstance(formula, s.And) else any
            parts = [compile_formula(f) for f in operands]
            return reduce(lambda one, other: product(one, other, lambda left, right: join((left, right))), parts)
        case s.Implies() | s.Iff():
            return _compiled(in_core(formula))
        case _:
            return compile_by_progression(formula, Alphabet.of([formula]))
