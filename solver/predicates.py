"""Observed predicates of a rule set: the conditions on each tool, and the fields that rules read.

A search distinguishes two calls of one tool only if a rule or the environment could distinguish them.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import WrongFormat, WrongType
from lawtrace.schemas.events import Event
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import Comparison, Condition, comparisons_in, condition_fields
from lawtrace.solver.logic.terms import RESULT, FieldPath, LiteralValue, leaves


class ObservedPredicates:
    """What a set of automata observes of calls.

    Attributes:
        conditions: for each tool the conditions on it. A set of satisfied conditions is a bit mask in this order.
    """

    def __init__(self, automata: Sequence[Automaton]) -> None:
        conditions: dict[str, dict[Condition, None]] = {}
        self._fields: dict[str, set[FieldPath]] = {}
        self._constants: dict[str, dict[FieldPath, set[float]]] = {}
        for automaton in automata:
            for atom in automaton.atoms:
                if atom.condition is not None:
                    conditions.setdefault(atom.tool, {})[atom.condition] = None
                    for place, constant in _numeric_bounds(atom.condition):
                        self._constants.setdefault(atom.tool, {}).setdefault(place, set()).add(constant)
        for tool, of_tool in conditions.items():
            for condition in of_tool:
                self._fields.setdefault(tool, set()).update(condition_fields(condition))
        self.conditions = {tool: tuple(sorted(conditions[tool], key=str)) for tool in sorted(conditions)}

        limits = {tool: sorted((str(f), sorted(c)) for f, c in of.items()) for tool, of in self._constants.items()}
        self._distinguished = tuple(self.conditions.items()), str(sorted(limits.items()))

    def __eq__(self, other: object) -> bool:
        """Whether both distinguish the same calls."""
        return isinstance(other, ObservedPredicates) and self._distinguished == other._distinguished

    def __hash__(self) -> int:
        return hash(self._distinguished)

    def satisfied(self, event: Event) -> int:
        """Which of the conditions on its tool a call satisfies, as a bit mask."""
        conditions = self.conditions.get(event.tool, ())
        return sum(1 << number for number, condition in enumerate(conditions) if condition.holds(event))

    def observes_argument(self, tool: str, argument: str) -> bool:
        """Whether a rule observes that argument of the tool."""
        return any(place.path[0] == argument for place in self._fields.get(tool, ()))

    def observes_result(self, tool: str) -> bool:
        return any(place.path[0] == RESULT for place in self._fields.get(tool, ()))

    def regions(self, tool: Tool, argument: str, domain: Amount) -> tuple[Amount, ...]:
        """The range cut at the numbers that rules compare the argument with; a rule treats all values of a region
        alike.
        """
        value_type = tool.parameter(argument).type
        cuts: set[int] = set()
        for constant in self._constants.get(tool.name, {}).get(FieldPath((argument,)), ()):
            try:
                exact = value_type.decode(constant)
            except (WrongType, WrongFormat):
                continue
            cuts |= {exact, exact + 1}
        ends = sorted({domain.lowest, *(cut for cut in cuts if domain.lowest < cut <= domain.highest)})
        return tuple(
            Amount(low, ends[bisect_left(ends, low) + 1] - 1 if low != ends[-1] else domain.highest) for low in ends
        )


def fields_read(formula: s.Formula) -> Iterator[tuple[str, FieldPath]]:
    """The fields of calls that a formula reads, each with its tool; those of aggregates included."""
    for node in s.subformulas(formula):
        if isinstance(node, s.Atom) and node.condition is not None:
            yield from ((node.tool, place) for place in condition_fields(node.condition))
        for aggregate in s.aggregates_of(node):
            if isinstance(aggregate, s.EventAggregate) and aggregate.term is not None:
                read = (leaf for leaf in leaves(aggregate.term) if isinstance(leaf, FieldPath))
                yield from ((aggregate.atom.tool, place) for place in read)


def _numeric_bounds(condition: Condition) -> Iterator[tuple[FieldPath, float]]:
    """The numbers that fields are compared with."""
    for comparison in comparisons_in(condition):
        match comparison:
            case Comparison(FieldPath() as place, _, LiteralValue(int() | float() as value)) | Comparison(
                LiteralValue(int() | float() as value), _, FieldPath() as place
            ) if not isinstance(value, bool):
                yield place, value
            case _:
                pass
