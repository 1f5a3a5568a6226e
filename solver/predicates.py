"""Observed predicates of a rule set: the conditions on each tool, and the values that quantified rules compare.

A search distinguishes two calls of one tool only if a rule or the environment could distinguish them.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lawtrace.environments.events import Event
from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import WrongFormat, WrongType
from lawtrace.solver.ltlf import Automaton, Condition, Scalar
from lawtrace.solver.ltlf.conditions import Comparison, bound_fields, condition_fields, condition_parts
from lawtrace.solver.ltlf.terms import RESULT, FieldPath, LiteralValue

ValueKey = tuple[bool, Scalar]
"""A value as a dictionary key: in Python True == 1, in JSON not."""


def value_key(value: Scalar) -> ValueKey:
    return isinstance(value, bool), value


@dataclass(frozen=True, slots=True)
class InstanceStates:
    """The automaton states of the values of one quantified rule: those seen so far, and one for all others."""

    unseen: int
    seen: Mapping[ValueKey, int] = field(default_factory=dict[ValueKey, int])

    def state_of(self, key: ValueKey) -> int:
        return self.seen.get(key, self.unseen)

    def after(self, automaton: Automaton, event: Event) -> "InstanceStates":
        """The states after one event."""
        shared = automaton.event_letter(event)
        if not shared and not automaton.alphabet.by_tool.get(event.tool):
            row = [states[automaton.alphabet.columns[0]] for states in automaton.table]
            if row == list(range(len(row))):
                return self
        seen = {key: automaton.step(state, shared) for key, state in self.seen.items()}
        for value in automaton.alphabet.occurring_values(event):
            key = value_key(value)
            seen[key] = automaton.step(self.state_of(key), automaton.event_letter(event, value))
        return InstanceStates(automaton.step(self.unseen, shared), seen)


class ObservedPredicates:
    """What a set of automata observes of calls.

    Attributes:
        conditions: for each tool the conditions of unquantified rules. A set of satisfied conditions is a bit mask in
            this order.
        quantified: the automata of quantified rules.
    """

    def __init__(self, automata: Sequence[Automaton]) -> None:
        self.quantified = tuple(automaton for automaton in automata if automaton.is_quantified)
        conditions: dict[str, dict[Condition, None]] = {}
        self._fields: dict[str, set[FieldPath]] = {}
        self._constants: dict[str, dict[FieldPath, set[float]]] = {}
        self._bound: dict[tuple[str, FieldPath], set[int]] = {}
        for automaton in automata:
            for atom in automaton.atoms:
                if atom.condition is not None:
                    self._fields.setdefault(atom.tool, set()).update(condition_fields(atom.condition))
                    for place, through_list in bound_fields(atom.condition):
                        if automaton.is_quantified and not through_list:
                            number = self.quantified.index(automaton)
                            self._bound.setdefault((atom.tool, place), set()).add(number)
                    for place, constant in _numeric_bounds(atom.condition):
                        self._constants.setdefault(atom.tool, {}).setdefault(place, set()).add(constant)
                    if not automaton.is_quantified:
                        conditions.setdefault(atom.tool, {})[atom.condition] = None
        self.conditions = {tool: tuple(sorted(conditions[tool], key=str)) for tool in sorted(conditions)}

    @property
    def cache_key(self) -> tuple[object, ...]:
        """Predicates with equal keys distinguish the same calls."""
        limits = {tool: sorted((str(f), sorted(c)) for f, c in of.items()) for tool, of in self._constants.items()}
        return tuple(self.conditions.items()), self.quantified, str(sorted(limits.items()))

    def satisfied(self, event: Event) -> int:
        """Which of the conditions on its tool a call satisfies, as a bit mask."""
        conditions = self.conditions.get(event.tool, ())
        return sum(1 << number for number, condition in enumerate(conditions) if condition.holds(event))

    def observes_argument(self, tool: str, argument: str) -> bool:
        """Whether a rule observes that argument of the tool."""
        return any(place.path[0] == argument for place in self._fields.get(tool, ()))

    def observes_result(self, tool: str) -> bool:
        return any(place.path[0] == RESULT for place in self._fields.get(tool, ()))

    def quantified_rules_on(self, tool: str, argument: str) -> frozenset[int]:
        """The indices of quantified rules that compare the argument with their variable."""
        return frozenset(self._bound.get((tool, FieldPath((argument,))), ()))

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


def _numeric_bounds(condition: Condition) -> list[tuple[FieldPath, float]]:
    """The numbers that fields are compared with."""
    match condition:
        case Comparison(FieldPath() as place, _, LiteralValue(value)) | Comparison(
            LiteralValue(value), _, FieldPath() as place
        ):
            return [(place, value)] if isinstance(value, int | float) and not isinstance(value, bool) else []
        case _:
            return [limit for part in condition_parts(condition) for limit in _numeric_bounds(part)]
