"""Interface to MONA, if installed: an LTLf formula as M2L-Str, and the automaton that MONA builds.

The translation is the first-order semantics of LTLf over positions: an atom is the set of positions at which it is
true. Each formula is passed in a private temporary file, since MONA reads only files.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from lawtrace.solver.logic import syntax as s

MONA = shutil.which("mona")


@dataclass(frozen=True)
class MonaAutomaton:
    """A complete DFA as printed by MONA; a letter is a string of 0 and 1, one character for each atom."""

    initial: int
    accepting: frozenset[int]
    edges: Mapping[int, Sequence[tuple[str, int]]]

    def step(self, state: int, letter: str) -> int:
        return next(
            target
            for guard, target in self.edges[state]
            if all(wanted in ("X", given) for wanted, given in zip(guard, letter, strict=True))
        )


def ask_mona(formula: s.Formula, atoms: Sequence[s.Atom], folder: Path) -> MonaAutomaton:
    """MONA's automaton of the formula over those atoms, non-empty strings only."""
    assert MONA is not None
    # An upper-case set variable for each atom, since MONA reserves some lower-case words.
    declared = ", ".join(_set_of(atom, atoms) for atom in atoms)
    path = folder / "formula.mona"
    path.write_text(f"m2l-str;\nvar2 {declared};\n{_Writer(atoms).at(formula, '0')};\n", encoding="ascii")
    printed = subprocess.run(
        [MONA, "-w", "-n", "-q", str(path)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    edges: dict[int, list[tuple[str, int]]] = {}
    for state, guard, target in re.findall(r"^State (\d+): ([01X]*) -> state (\d+)$", printed, re.MULTILINE):
        edges.setdefault(int(state), []).append((guard, int(target)))
    accepting = re.search(r"^Accepting states: ([\d ]*)$", printed, re.MULTILINE)
    assert accepting is not None, printed
    # MONA's first step reads the truth values of boolean variables; there are none, so the string begins after it.
    return MonaAutomaton(edges[0][0][1], frozenset(map(int, accepting[1].split())), edges)


def _set_of(atom: s.Atom, atoms: Sequence[s.Atom]) -> str:
    return f"P{atoms.index(atom)}"


class _Writer:
    """LTLf at a position, as a formula of M2L-Str. Each quantifier gets a fresh name."""

    def __init__(self, atoms: Sequence[s.Atom]) -> None:
        self._atoms = atoms
        self._names = count()

    def at(self, formula: s.Formula, x: str) -> str:
        match formula:
            case s.Top():
                return "true"
            case s.Bottom():
                return "false"
            case s.Atom():
                return f"({x} in {_set_of(formula, self._atoms)})"
            case s.Not(part):
                return f"~{self.at(part, x)}"
            case s.And(parts):
                return "(" + " & ".join(self.at(part, x) for part in parts) + ")"
            case s.Or(parts):
                return "(" + " | ".join(self.at(part, x) for part in parts) + ")"
            case s.Implies(one, other):
                return f"({self.at(one, x)} => {self.at(other, x)})"
            case s.Iff(one, other):
                return f"({self.at(one, x)} <=> {self.at(other, x)})"
            case s.Next(part):
                y = self._name()
                return f"(ex1 {y}: {self._follows(y, x)} & {self.at(part, y)})"
            case s.WeakNext(part):
                y = self._name()
                return f"(all1 {y}: {self._follows(y, x)} => {self.at(part, y)})"
            case s.Yesterday(part):
                y = self._name()
                return f"(ex1 {y}: {self._follows(x, y)} & {self.at(part, y)})"
            case s.Eventually(part):
                y = self._name()
                return f"(ex1 {y}: {x} <= {y} & {self.at(part, y)})"
            case s.Always(part):
                y = self._name()
                return f"(all1 {y}: {x} <= {y} => {self.at(part, y)})"
            case s.Once(part):
                y = self._name()
                return f"(ex1 {y}: {y} <= {x} & {self.at(part, y)})"
            case s.Historically(part):
                y = self._name()
                return f"(all1 {y}: {y} <= {x} => {self.at(part, y)})"
            case s.Until(one, other):
                y, z = self._name(), self._name()
                before = f"(all1 {z}: ({x} <= {z} & {z} < {y}) => {self.at(one, z)})"
                return f"(ex1 {y}: {x} <= {y} & {self.at(other, y)} & {before})"
            case s.Release(one, other):
                y, z = self._name(), self._name()
                released = f"(ex1 {z}: {x} <= {z} & {z} < {y} & {self.at(one, z)})"
                return f"(all1 {y}: {x} <= {y} => ({self.at(other, y)} | {released}))"
            case s.WeakUntil(one, other):
                return f"({self.at(s.Until(one, other), x)} | {self.at(s.Always(one), x)})"
            case s.Since(one, other):
                y, z = self._name(), self._name()
                after = f"(all1 {z}: ({y} < {z} & {z} <= {x}) => {self.at(one, z)})"
                return f"(ex1 {y}: {y} <= {x} & {self.at(other, y)} & {after})"
            case _:
                raise TypeError(formula)

    def _follows(self, later: str, earlier: str) -> str:
        z = self._name()
        return f"({earlier} < {later} & ~(ex1 {z}: {earlier} < {z} & {z} < {later}))"

    def _name(self) -> str:
        return f"x{next(self._names)}"
