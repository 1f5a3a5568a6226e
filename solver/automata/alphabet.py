"""Alphabets: which sets of atoms can be true together in one step.

A letter is a bit mask over the atoms of the alphabet: bit b is set iff atom number b is true in that step. In one step
exactly one call happens, so at most the atoms of one tool are true. With c for "the call completed" and p for "its
arguments and result satisfy the condition" (p is true where there is no condition), an atom `Tool(...)` is c and p, and
`attempted(Tool(...))` is p. All combinations of c and of the conditions on one tool are taken as possible, even if two
conditions exclude each other. In the letter 0 no atom is true.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.conditions import bound_fields, condition_fields
from lawtrace.solver.logic.syntax import Atom, Formula, atoms_of
from lawtrace.solver.logic.terms import NO_BINDINGS, FieldPath, elements_of, is_value

MAX_LETTERS: Final = 4096
"""Guards against exponential alphabets."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Atoms in their order, and the letters over them.

    Attributes:
        atoms: sorted by their text; atom number b is bit ``1 << b`` of a letter.
        letters: the possible letters, ascending, 0 first.
        columns: for each letter its index in `letters`, which is its column in a transition table.
    """

    atoms: tuple[Atom, ...]
    letters: tuple[int, ...] = field(init=False, repr=False, compare=False)
    columns: dict[int, int] = field(init=False, repr=False, compare=False)
    by_tool: dict[str, tuple[tuple[int, Atom], ...]] = field(init=False, repr=False, compare=False)
    variables: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The variable of the quantified rule that the atoms come from, if there is one."""
    bound_fields: dict[str, tuple[tuple[FieldPath, bool, bool], ...]] = field(init=False, repr=False, compare=False)
    """For each tool the fields that are compared with the variable of a quantified rule: path, whether the elements of
    the field are compared, and whether values in a call that did not complete count."""

    def __post_init__(self) -> None:
        by_tool: dict[str, list[tuple[int, Atom]]] = {}
        for number, atom in enumerate(self.atoms):
            by_tool.setdefault(atom.tool, []).append((1 << number, atom))
        letters = tuple(sorted(_checked_letters(by_tool)))
        object.__setattr__(self, "letters", letters)
        object.__setattr__(self, "columns", {letter: column for column, letter in enumerate(letters)})
        object.__setattr__(self, "by_tool", {tool: tuple(bits) for tool, bits in by_tool.items()})
        object.__setattr__(self, "variables", tuple({name for atom in self.atoms for name in atom.variables}))
        met = {tool: _bound_fields_of(bits) for tool, bits in by_tool.items()}
        object.__setattr__(self, "bound_fields", {tool: fields for tool, fields in met.items() if fields})

    @classmethod
    def of(cls, formulas: Iterable[Formula]) -> "Alphabet":
        """The alphabet of all atoms in the formulas."""
        return cls(atoms_of(formulas))

    def letter(self, true: Collection[Atom]) -> int:
        """The letter of a step in which these atoms are true; atoms outside the alphabet are ignored."""
        return sum(1 << number for number, atom in enumerate(self.atoms) if atom in true)

    def true_atoms(self, letter: int) -> frozenset[Atom]:
        """The atoms that are true in a step with this letter."""
        return frozenset(atom for number, atom in enumerate(self.atoms) if letter >> number & 1)

    def text(self, letter: int) -> str:
        """The letter in readable form: its true atoms, or a dash."""
        return " & ".join(str(atom) for number, atom in enumerate(self.atoms) if letter >> number & 1) or "-"

    def event_letter(self, event: Event, of: Scalar | None = None) -> int:
        """The letter of a step in which exactly this event happens.

        `of`: the value of the variable; None stands for all values that do not occur in the event.
        """
        letter = 0
        bindings = NO_BINDINGS if of is None else dict.fromkeys(self.variables, of)
        for bit, atom in self.by_tool.get(event.tool, ()):
            if atom.matches(event, bindings):
                letter |= bit
        return letter

    def occurring_values(self, event: Event) -> list[Scalar]:
        """The values that occur for the variable in an event, possibly repeated."""
        values: list[Scalar] = []
        for met, spread, attempted in self.bound_fields.get(event.tool, ()):
            if attempted or event.completed:
                found = met.value(event)
                candidates = elements_of(found) if spread else (found,)
                values += [value for value in candidates if is_value(value)]
        return values

    def tool_letter(self, tool: str, *, completed: bool = True) -> int | None:
        """The letter of a completed (or attempted) call of a tool if the name alone decides it, else None."""
        bits = self.by_tool.get(tool, ())
        if any(atom.condition is not None for _, atom in bits):
            return None
        return sum(bit for bit, atom in bits if completed or atom.attempted)

    def union(self, other: "Alphabet") -> "Alphabet":
        """The alphabet of the atoms of both."""
        if self == other:
            return self
        return Alphabet(tuple(sorted({*self.atoms, *other.atoms}, key=str)))

    def columns_for(self, part: "Alphabet") -> tuple[int, ...]:
        """For each letter of this alphabet, the column of its restriction to a smaller alphabet."""
        places = [(1 << self.atoms.index(atom), 1 << number) for number, atom in enumerate(part.atoms)]
        return tuple(part.columns[sum(there for here, there in places if letter & here)] for letter in self.letters)


def _call_letters(tools: Iterable[list[tuple[int, Atom]]]) -> Iterator[int]:
    """The letters: for each tool, whether the call completed and which conditions it satisfies."""
    yield 0
    for bits in tools:
        conditions = list(dict.fromkeys(atom.condition for _, atom in bits if atom.condition is not None))
        for completed, *met in product((True, False), *[(True, False)] * len(conditions)):
            truth = dict(zip(conditions, met, strict=True))
            yield sum(
                bit
                for bit, atom in bits
                if (completed or atom.attempted) and (atom.condition is None or truth[atom.condition])
            )


def _checked_letters(by_tool: Mapping[str, list[tuple[int, Atom]]]) -> set[int]:
    """The distinct letters. Stops early, so that an exponential alphabet is rejected quickly."""
    found: set[int] = set()
    for tried, letter in enumerate(_call_letters(by_tool.values())):
        found.add(letter)
        if tried > 4 * MAX_LETTERS or len(found) > MAX_LETTERS:
            raise FormulaError(
                f"the atoms of this formula make more than {MAX_LETTERS} different steps: {_most_conditions(by_tool)}; "
                "compare it fewer times in one rule, or split the formula into rules"
            )
    return found


def _most_conditions(by_tool: Mapping[str, list[tuple[int, Atom]]]) -> str:
    """Which tool has the most conditions, and what most of them read."""
    conditions = {tool: {one.condition for _, one in bits if one.condition} for tool, bits in by_tool.items()}
    tool = max(conditions, key=lambda one: len(conditions[one]))
    read = Counter(str(path) for one in conditions[tool] for path in condition_fields(one))
    name, number = min(read.items(), key=lambda one: (-one[1], one[0]), default=("", 0))
    return f"{tool} has {len(conditions[tool])} conditions" + (f", {number} of them on `{name}`" if number else "")


def _bound_fields_of(bits: Iterable[tuple[int, Atom]]) -> tuple[tuple[FieldPath, bool, bool], ...]:
    """See `Alphabet.bound_fields`. A field counts in an attempted call if some atom on it is ``attempted``."""
    found: dict[tuple[FieldPath, bool], bool] = {}
    for _, atom in bits:
        for met in () if atom.condition is None else bound_fields(atom.condition):
            found[met] = found.get(met, False) or atom.attempted
    return tuple((met, spread, attempted) for (met, spread), attempted in found.items())
