"""Evaluation of past formulas with one register bit each, without automata.

With p(i) for `t, i |= p`, the equations of `lawtrace.solver.logic.syntax` unroll to

    (Y f)(i)   =  f(i-1)                          and  false at 0
    (O f)(i)   =  f(i) or (O f)(i-1)              and  f(0) at 0
    (H f)(i)   =  f(i) and (H f)(i-1)             and  f(0) at 0
    (f S g)(i) =  g(i) or f(i) and (f S g)(i-1)   and  g(0) at 0

so a register holds the value of f for Y, and of the formula itself for the others, from the previous step. Before the
first step it is true for H and false for the rest. (Havelund and Rosu, TACAS 2002.)
"""

from collections.abc import Iterable
from typing import Final

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.logic.syntax import (
    PAST,
    Always,
    And,
    Atom,
    Bottom,
    Eventually,
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
    Yesterday,
    subformulas,
)


class PastTracker:
    """Follows the truth of some past formulas along a trace. All state is in the registers that `step` returns."""

    def __init__(self, roots: Iterable[Formula], alphabet: Alphabet) -> None:
        """`roots`: formulas whose main operator is Y, O, H or S."""
        self._ordered: Final = tuple(dict.fromkeys(part for root in roots for part in subformulas(root)))
        self._bits: Final = {atom: 1 << number for number, atom in enumerate(alphabet.atoms)}
        remembered = [part for part in self._ordered if isinstance(part, PAST)]
        self._registers: Final[dict[Formula, int]] = {part: 1 << number for number, part in enumerate(remembered)}
        self.start: Final = sum(bit for part, bit in self._registers.items() if isinstance(part, Historically))

    def step(self, registers: int, letter: int) -> tuple[frozenset[Formula], int]:
        """The past formulas that are true in this step, with their subformulas, and the registers for the next."""
        true: set[Formula] = set()
        after = 0
        for part in self._ordered:  # operands come first
            before = bool(registers & self._registers.get(part, 0))
            if self._now(part, before, true, letter):
                true.add(part)
        for part, bit in self._registers.items():
            if (part.operand if isinstance(part, Yesterday) else part) in true:
                after |= bit
        return frozenset(true), after

    def _now(self, part: Formula, before: bool, true: set[Formula], letter: int) -> bool:
        match part:
            case Top():
                return True
            case Bottom():
                return False
            case Atom():
                return bool(letter & self._bits[part])
            case Not(f):
                return f not in true
            case And(operands):
                return all(f in true for f in operands)
            case Or(operands):
                return any(f in true for f in operands)
            case Implies(f, g):
                return f not in true or g in true
            case Iff(f, g):
                return (f in true) == (g in true)
            case Yesterday():
                return before
            case Once(f):
                return before or f in true
            case Historically(f):
                return before and f in true
            case Since(f, g):
                return g in true or (before and f in true)
            case Next() | WeakNext() | Eventually() | Always() | Until() | Release() | WeakUntil():
                raise AssertionError(f"{part} looks at the future; the syntax keeps it out of past formulas")
            case _:
                raise FormulaError(f"`{part}` has no automaton")
