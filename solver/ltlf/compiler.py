"""Formula to minimal automaton.

Boolean operators at the top of a formula are applied to the automata of their operands, minimised after each step;
everything below a temporal operator goes through progression. So a conjunction of rules costs the product of small
minimal automata and not one large normal form.
"""

from dataclasses import replace
from functools import lru_cache, reduce

from solver.ltlf.alphabet import Alphabet, World
from solver.ltlf.automaton import Automaton
from solver.ltlf.language import complement, product
from solver.ltlf.progression import progress
from solver.ltlf.syntax import And, Formula, Iff, Implies, Not, Or, is_propositional

__all__ = ["compile_formula"]


@lru_cache(maxsize=4096)
def compile_formula(formula: Formula, letters: World = "calls") -> Automaton:
    """The minimal automaton that accepts the traces on which the formula holds.

    Args:
        formula: any formula of `solver.ltlf.syntax`.
        letters: the world the automaton lives in: ``calls`` where each step is one call of one tool, ``free`` where
            any set of atoms can be true in a step. See `solver.ltlf.alphabet`.

    Raises:
        FormulaError: the formula needs too many letters or states; the message says which and what to do.
    """
    return replace(_compiled(formula, letters), formula=formula)


def _compiled(formula: Formula, world: World) -> Automaton:
    if is_propositional(formula):
        return progress(formula, Alphabet.of([formula], world))
    match formula:
        case Not(f):
            return complement(compile_formula(f, world))
        case And(operands):
            return reduce(lambda one, other: product(one, other, _and), [compile_formula(f, world) for f in operands])
        case Or(operands):
            return reduce(lambda one, other: product(one, other, _or), [compile_formula(f, world) for f in operands])
        case Implies(f, g):
            return product(compile_formula(f, world), compile_formula(g, world), _implies)
        case Iff(f, g):
            return product(compile_formula(f, world), compile_formula(g, world), _iff)
        case _:
            return progress(formula, Alphabet.of([formula], world))


def _and(one: bool, other: bool) -> bool:
    return one and other


def _or(one: bool, other: bool) -> bool:
    return one or other


def _implies(one: bool, other: bool) -> bool:
    return not one or other


def _iff(one: bool, other: bool) -> bool:
    return one == other
