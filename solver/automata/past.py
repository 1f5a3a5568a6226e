"""Evaluation of past formulas with one register bit each, without automata.

With p(i) for `t, i |= p`, the equations of `lawtrace.solver.logic.syntax` unroll to

    (Y f)(i)   =  f(i-1)                          and  false at 0
    (f S g)(i) =  g(i) or f(i) and (f S g)(i-1)   and  g(0) at 0

so a register holds the value of f for Y, and of the formula itself for S, from the previous step. Before the first step
it is false. (Havelund and Rosu, TACAS 2002.)
"""

from collections.abc import Iterable
from typing import Final

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.logic.core import in_core
from lawtrace.solver.logic.syntax import And, Atom, Bottom, Formula, Not, Or, Since, Top, Yesterday, children


class PastTracker:
    """Follows the truth of some past formulas along a trace. All state is in the registers that `step` returns."""

    def __init__(self, roots: Iterable[Formula], alphabet: Alphabet) -> None:
        """`roots`: formulas whose main operator is Y or S."""
        self._parts: Final[dict[Formula, Formula]] = {}
        """Each subformula, operands first, as it is written and in the core."""
        for root in roots:
            self._add(root)
        self._bits: Final = {atom: 1 << number for number, atom in enumerate(alphabet.atoms)}
        remembered = [part for part, core in self._parts.items() if isinstance(core, Yesterday | Since)]
        self._registers: Final[dict[Formula, int]] = {part: 1 << number for number, part in enumerate(remembered)}

    def _add(self, formula: Formula) -> None:
        if formula not in self._parts:
            core = in_core(formula)
            for part in children(core):
                self._add(part)
            self._parts[formula] = core

    def step(self, registers: int, letter: int) -> tuple[frozenset[Formula], int]:
        """The past formulas that are true in this step, with their subformulas, and the registers for the next."""
        true: set[Formula] = set()
        after = 0
        for part, core in self._parts.items():
            before = bool(registers & self._registers.get(part, 0))
            if self._now(core, before, true, letter):
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
            case Yesterday():
                return before
            case Since(f, g):
                return g in true or (before and f in true)
            case _:
                raise FormulaError(f"`{part}` has no automaton")
