"""Formula progression: obligations of a trace as canonical values.

A *promise* is a formula of the closure with its value at the end of the trace: a strict promise is then broken, a
lenient one kept. An obligation is a monotone boolean combination of promises in disjunctive normal form, without
clauses that another clause implies: a frozenset of clauses, each clause a bit mask of promises. Without implied clauses
the form is canonical: the clauses are the prime implicants, and a monotone function has exactly one set of these.
Canonical states make the construction terminate with few states; obligations kept as formula trees grow without end on
a third of random formulas.

The past needs one bit each, a *register*. With p(i) for `t, i |= p`, the equations of `lawtrace.solver.logic.syntax`
unroll to

    (Y f)(i)   =  f(i-1)                          and  false at 0
    (f S g)(i) =  g(i) or f(i) and (f S g)(i-1)   and  g(0) at 0

so a register holds the value of f for Y, and of the formula itself for S, from the previous step. (Havelund and Rosu,
TACAS 2002.)
"""

from collections.abc import Collection, Sequence
from typing import Final, Literal, assert_never

from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.alphabet import Alphabet
from lawtrace.solver.automata.automaton import Automaton, build_automaton
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.core import holds_without_events, in_core

Obligation = frozenset[int]

FALSE: Final[Obligation] = frozenset()
TRUE: Final[Obligation] = frozenset({0})

MAX_CLAUSES: Final = 5_000
"""The largest number of clauses that one step may create."""


def promise(node: int, *, lenient: bool) -> Obligation:
    """The obligation that consists of one promise, about the closure's formula number `node`."""
    return frozenset({1 << (2 * node + lenient)})


def any_of(*obligations: Obligation) -> Obligation:
    return _without_implied(frozenset[int]().union(*obligations))


def all_of(one: Obligation, other: Obligation) -> Obligation:
    if not one or other == TRUE:
        return one
    if not other or one == TRUE:
        return other
    if len(one) * len(other) > MAX_CLAUSES:
        raise FormulaError("the formula mixes too many alternatives inside temporal operators: split it into rules")
    return _without_implied({left | right for left in one for right in other})


def accepts_end(obligation: Obligation, strict: int) -> bool:
    """Whether the trace may end here: some clause has no strict promise. `strict` is the mask of all strict
    promises."""
    return any(not clause & strict for clause in obligation)


def _without_implied(clauses: Collection[int]) -> Obligation:
    """The clauses that contain no other clause; these imply the others."""
    if len(clauses) < 2:
        return frozenset(clauses)
    kept: list[int] = []
    for clause in sorted(clauses, key=int.bit_count):
        if not any(smaller & clause == smaller for smaller in kept):
            kept.append(clause)
    return frozenset(kept)


MAX_TOTAL_CLAUSES: Final = 50_000
"""The largest total number of clauses in the obligations of one formula: a few seconds of work."""

_Kind = Literal["constant", "atom", "and", "or", "next", "until", "release", "yesterday", "since", "never since"]
_Node = tuple[_Kind, int, int]
"""A formula of the closure: its kind and two numbers.

constant: its truth; atom: number of the atom, and its required truth; next: operand, and whether it is lenient;
yesterday: operand, and its truth at the first step; the others: their operands. `!(f S g)` is "never since" of !f and
!g."""

_State = tuple[Obligation, int]
"""The obligation and the registers of the past."""


def compile_by_progression(formula: s.Formula, alphabet: Alphabet) -> Automaton:
    """The minimal automaton of a formula, by progression of its obligations."""
    progression = _Progression(formula, alphabet)
    return build_automaton(alphabet, progression.start, progression.row, progression.accepts)


class _Closure:
    """The formulas that can occur in progressing one formula: negation-free, numbered, operands first."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.nodes: Final[list[_Node]] = []
        self._numbers: Final[dict[_Node, int]] = {}
        self._known: Final[dict[tuple[s.Formula, bool], int]] = {}
        self._atoms: Final = {atom: number for number, atom in enumerate(alphabet.atoms)}

    def add(self, kind: _Kind, one: int, other: int = 0) -> int:
        number = self._numbers.setdefault((kind, one, other), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append((kind, one, other))
        return number

    def of(self, formula: s.Formula, truth: bool = True) -> int:
        """The number of the formula, or of its negation if `truth` is False."""
        key = (formula, truth)  # an equivalence needs each side twice; without the cache nested ones grow exponentially
        if key not in self._known:
            self._known[key] = self._number(formula, truth)
        return self._known[key]

    def _number(self, formula: s.Formula, truth: bool) -> int:
        conjoin: Literal["and", "or"] = "and" if truth else "or"
        disjoin: Literal["and", "or"] = "or" if truth else "and"
        match formula:
            case s.Top():
                return self.add("constant", truth)
            case s.Bottom():
                return self.add("constant", not truth)
            case s.Atom():
                return self.add("atom", self._atoms[formula], truth)
            case s.Not(f):
                return self.of(f, not truth)
            case s.And(operands):
                return self._joined(conjoin, [self.of(f, truth) for f in operands])
            case s.Or(operands):
                return self._joined(disjoin, [self.of(f, truth) for f in operands])
            case s.Next(f):
                return self.add("next", self.of(f, truth), not truth)
            case s.Until(f, g):
                return self.add("until" if truth else "release", self.of(f, truth), self.of(g, truth))
            case s.Yesterday(f):
                return self.add("yesterday", self.of(f, truth), not truth)
            case s.Since(f, g):
                return self.add("since" if truth else "never since", self.of(f, truth), self.of(g, truth))
            case s.Compare() | s.Exists() | s.ForAll():
                raise FormulaError(f"`{formula}` has no automaton")
            case _:
                return self.of(in_core(formula), truth)

    def _joined(self, kind: Literal["and", "or"], parts: list[int]) -> int:
        """All parts, joined in pairs, and these again: so a long list is not deeply nested."""
        while len(parts) > 1:
            last = parts[-1:] if len(parts) % 2 else []
            parts = [*(self.add(kind, *pair) for pair in zip(parts[::2], parts[1::2], strict=False)), *last]
        return parts[0]


class _Progression:
    """The automaton of one formula before minimisation: start, rows and acceptance."""

    def __init__(self, formula: s.Formula, alphabet: Alphabet) -> None:
        closure = _Closure(alphabet)
        root = closure.of(formula)
        self._nodes: Final = closure.nodes
        self._letters: Final = alphabet.letters
        self._strict: Final = sum(1 << 2 * number for number in range(len(closure.nodes)))
        self._registers: Final = {
            number: (1 << number, one if kind == "yesterday" else number)
            for number, (kind, one, _) in enumerate(closure.nodes)
            if kind in ("yesterday", "since", "never since")
        }
        """For each formula about the past its register, and the formula whose value goes there."""
        self._reads: Final = _what_is_read(closure.nodes)
        self._left: Final[dict[tuple[int, int, int], Obligation]] = {}
        self._progressed: Final[dict[tuple[int, int, int], Obligation]] = {}
        self._owed = 0
        # At the start, the whole formula is promised. The promise is lenient if the empty trace satisfies the formula.
        start = promise(root, lenient=holds_without_events(formula))
        before = sum(bit for number, (bit, _) in self._registers.items() if _true_before(closure.nodes[number]))
        self.start: Final[_State] = (start, before)

    def accepts(self, state: _State) -> bool:
        return accepts_end(state[0], self._strict)

    def row(self, state: _State) -> list[_State]:
        self._owed += len(state[0])
        if self._owed > MAX_TOTAL_CLAUSES:
            raise FormulaError("the formula mixes too many alternatives inside temporal operators: split it into rules")
        return [self._step(state, letter) for letter in self._letters]

    def _step(self, state: _State, letter: int) -> _State:
        """The progressed obligation: each promise is replaced by the progression of its formula."""
        obligation, registers = state
        after = any_of(*(self._clause_after((clause, letter, registers)) for clause in obligation))
        if after in (TRUE, FALSE):  # without an obligation, the registers do not matter
            return after, 0
        kept = (bit for bit, kept in self._registers.values() if self._leaves(kept, letter, registers) == TRUE)
        return after, sum(kept)

    def _clause_after(self, step: tuple[int, int, int]) -> Obligation:
        """The progression of one clause, cached because states share clauses."""
        if step not in self._progressed:
            clause, letter, registers = step
            after = TRUE
            while clause and after:
                promised = clause & -clause
                clause ^= promised
                after = all_of(after, self._leaves((promised.bit_length() - 1) // 2, letter, registers))
            self._progressed[step] = after
        return self._progressed[step]

    def _leaves(self, number: int, letter: int, registers: int) -> Obligation:
        """The obligation that a closure formula leaves after a letter; of the past, none is left. It is cached by what
        the formula reads, which is the same for many letters and registers."""
        atoms, past = self._reads[number]
        key = number, letter & atoms, registers & past
        if key not in self._left:
            self._left[key] = self._computed(*key)
        return self._left[key]

    def _computed(self, number: int, letter: int, registers: int) -> Obligation:
        kind, one, other = self._nodes[number]
        before = TRUE if registers >> number & 1 else FALSE
        match kind:
            case "constant":
                return TRUE if one else FALSE
            case "atom":
                return TRUE if letter >> one & 1 == other else FALSE
            case "next":
                return self._promised(one, lenient=bool(other))
            case "yesterday":
                return before
            case _:
                first, second = (self._leaves(operand, letter, registers) for operand in (one, other))
        match kind:
            case "and":
                return all_of(first, second)
            case "or":
                return any_of(first, second)
            case "until":
                return any_of(second, all_of(first, promise(number, lenient=False)))
            case "release":
                return all_of(second, any_of(first, promise(number, lenient=True)))
            case "since":
                return any_of(second, all_of(first, before))
            case "never since":
                return all_of(second, any_of(first, before))
            case _:
                assert_never(kind)

    def _promised(self, number: int, *, lenient: bool) -> Obligation:
        """A promise, unless it can be settled at once: WX true is always kept, X false never."""
        kind, truth, _ = self._nodes[number]
        if kind == "constant" and bool(truth) == lenient:
            return TRUE if lenient else FALSE
        return promise(number, lenient=lenient)


def _what_is_read(nodes: Sequence[_Node]) -> list[tuple[int, int]]:
    """For each formula of the closure the masks of the atoms and of the registers that it depends on."""
    found: list[tuple[int, int]] = []
    for number, (kind, one, other) in enumerate(nodes):
        atoms = past = 0
        match kind:
            case "constant" | "next":
                pass
            case "atom":
                atoms = 1 << one
            case "yesterday":
                past = 1 << number
            case _:
                parts = found[one], found[other]
                atoms = parts[0][0] | parts[1][0]
                past = parts[0][1] | parts[1][1] | (1 << number if "since" in kind else 0)
        found.append((atoms, past))
    return found


def _true_before(node: _Node) -> bool:
    """What the register of a formula about the past holds before the first step."""
    kind, _, other = node
    return kind == "never since" or (kind == "yesterday" and bool(other))
