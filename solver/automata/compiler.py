"""Formula to minimal automaton.

Boolean operators at the top of a formula are applied to the automata of their operands, minimised after each step;
everything below a temporal operator goes through progression. So a conjunction of rules costs the product of small
minimal automata and not one large normal form.

The automaton of a quantified formula is the automaton of its body; each value runs through it separately.
"""

from dataclasses import replace
from functools import lru_cache, reduce

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.alphabet import Alphabet, AlphabetKind
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.operations import complement, product
from lawtrace.solver.automata.progression import compile_by_progression
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.core import in_core


@lru_cache(maxsize=4096)
def compile_formula(formula: s.Formula, letters: AlphabetKind = "calls") -> Automaton:
    """The minimal automaton that accepts the traces on which the formula holds.

    Args:
        formula: a formula or a quantified one.
        letters: ``calls`` if each step is one call of one tool, ``free`` if any set of atoms can be true in a step. See
            `lawtrace.solver.automata.alphabet`.

    Raises:
        FormulaError: the formula needs too many letters or states (the message says which and what to do), or it is
            quantified and the alphabet is not one of calls.
    """
    if not s.is_untimed(formula):
        raise FormulaError(f"`{formula}` has no automaton: it is about time, several variables or aggregates")
    if not isinstance(formula, s.ForAll):
        return replace(_compiled(formula, letters), formula=formula)
    if letters == "free":
        raise FormulaError(f"`{formula}` is about the values of calls, and a set of atoms has none")
    return replace(compile_formula(formula.body), formula=formula)


def _compiled(formula: s.Formula, kind: AlphabetKind) -> Automaton:
    if s.is_propositional(formula):
        return compile_by_progression(formula, Alphabet.of([formula], kind))
    match formula:
        case s.Not(f):
            return complement(compile_formula(f, kind))
        case s.And(operands) | s.Or(operands):
            join = all if isinstance(formula, s.And) else any
            parts = [compile_formula(f, kind) for f in operands]
            return reduce(lambda one, other: product(one, other, lambda left, right: join((left, right))), parts)
        case s.Implies() | s.Iff():
            return _compiled(in_core(formula), kind)
        case _:
            return compile_by_progression(formula, Alphabet.of([formula], kind))
