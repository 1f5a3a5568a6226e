"""What rules do with the fields of calls: which they read, with what they compare them, and which belong together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from lawtrace.schemas.events import SPEAKERS, Json
from lawtrace.solver.guard.values import constants
from lawtrace.solver.logic.conditions import (
    Comparison,
    Condition,
    ElementCondition,
    IsTrue,
    condition_leaves,
    condition_parts,
)
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.logic.syntax import (
    Atom,
    Compare,
    EventAggregate,
    Exists,
    ForAll,
    Formula,
    aggregates_of,
    subformulas,
)
from lawtrace.solver.logic.terms import (
    BoundVariable,
    FieldPath,
    LiteralList,
    LiteralValue,
    SpanLiteral,
    Term,
    leaves,
)
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.rules import Rule

Place = tuple[str, FieldPath]
"""A field of a tool."""
Name = tuple[int, str]
"""A variable of a rule, by the number of the rule."""


@dataclass(slots=True)
class FieldUse:
    """What rules do with a field.

    Attributes:
        tests: conditions on the field alone.
        computed: terms that compute with it.
        is_list: whether elements of it are looked for.
        tracked: whether its very value matters.
    """

    tests: list[Condition] = field(default_factory=list[Condition])
    computed: list[Term] = field(default_factory=list[Term])
    is_list: bool = False
    tracked: bool = False


class Groups:
    """Fields and variables whose values are compared (union-find)."""

    def __init__(self) -> None:
        self._parents: dict[Place | Name, Place | Name] = {}

    def of(self, one: Place | Name) -> Place | Name:
        while (parent := self._parents.get(one, one)) != one:
            one = parent
        return one

    def join(self, one: Place | Name, other: Place | Name) -> None:
        self._parents[self.of(one)] = self.of(other)


class FieldUses:
    """What some rules do with the fields of calls.

    Attributes:
        exact: whether representative events can be all that matter; see `lawtrace.solver.guard.vocabulary`.
        fields: for each tool the fields that rules read.
        read_by: for each rule, by id, and tool the fields that it reads.
        groups: fields and variables whose values are compared.
        constants: values that matter besides those that conditions name.
        attempted: the tools of which rules mean calls that did not complete, too.
        words: for user and agent the texts that rules look for.
        names: for each rule, by id, and variable as written its names after renaming.
        variables: the most variables of one quantifier.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.exact = True
        self.fields: Final[dict[str, dict[FieldPath, FieldUse]]] = {}
        self.read_by: Final[dict[str, dict[str, dict[FieldPath, None]]]] = {rule.id: {} for rule in rules}
        self.groups: Final = Groups()
        self.constants: Final[dict[Place, list[Json]]] = {}
        self.attempted: Final[set[str]] = set()
        self.words: Final[dict[str, set[str]]] = {}
        self.names: Final[dict[tuple[str, str], list[Name]]] = {}
        self.variables = 0
        for number, rule in enumerate(rules):
            compiled = rule.compiled
            formula = compiled.normal if isinstance(compiled, MetricRule) else rule.parsed
            for node in subformulas(formula):
                quantified = len(node.variables) if isinstance(node, ForAll | Exists) else 0
                self.variables = max(self.variables, quantified)
                self._read(node, rule.id, number)

    def _read(self, node: Formula, rule: str, number: int) -> None:
        match node:
            case Atom(tool, condition, attempted):
                self.fields.setdefault(tool, {})
                self.read_by[rule].setdefault(tool, {})
                if attempted:
                    self.attempted.add(tool)
                if condition is not None:
                    self._read_condition(tool, condition, rule, number)
            case Compare(comparison):
                names = [leaf for leaf in _leaves(comparison) if isinstance(leaf, BoundVariable)]
                for one, other in pairwise(names):
                    self.groups.join(self._variable(one, rule, number), self._variable(other, rule, number))
                self.exact = self.exact and _is_exact(comparison)
                self._read_aggregates(node, comparison, rule)
            case _:
                pass

    def _read_aggregates(self, node: Formula, comparison: Comparison, rule: str) -> None:
        limits = [part for leaf in _leaves(comparison) for part in constants(Comparison(leaf, "<", leaf))]
        for aggregate in aggregates_of(node):
            if not isinstance(aggregate, EventAggregate):
                continue
            if aggregate.term is not None:
                for leaf in leaves(aggregate.term):
                    if isinstance(leaf, FieldPath):
                        self._field(aggregate.atom.tool, leaf, rule).tracked = True
                        self.constants.setdefault((aggregate.atom.tool, leaf), []).extend([*limits, 0, 1])

    def _field(self, tool: str, path: FieldPath, rule: str) -> FieldUse:
        self.read_by[rule].setdefault(tool, {})[path] = None
        return self.fields.setdefault(tool, {}).setdefault(path, FieldUse())

    def _variable(self, variable: BoundVariable, rule: str, number: int) -> Name:
        name = number, variable.name
        known = self.names.setdefault((rule, original_names(variable.name)), [])
        if name not in known:
            known.append(name)
        return name

    def _read_condition(self, tool: str, condition: Condition, rule: str, number: int) -> None:
        if tool in SPEAKERS:
            self.words.setdefault(tool, set()).update(
                text for leaf in condition_leaves(condition) for text in _texts(leaf)
            )
        if isinstance(condition, ElementCondition):
            self.exact = False
            for leaf in leaves(condition.elements):
                if isinstance(leaf, FieldPath):
                    self._field(tool, leaf, rule).computed += condition_leaves(condition.part)
            return
        for part in condition_parts(condition):
            self._read_condition(tool, part, rule, number)
        match condition:
            case IsTrue(FieldPath() as path):
                self._field(tool, path, rule).tests.append(condition)
            case Comparison(left, sign, right):
                self._read_comparison(tool, condition, left, right, rule, number)
                if sign == "in" and isinstance(right, FieldPath):
                    self._field(tool, right, rule).is_list = True
            case _:
                pass

    def _read_comparison(
        self, tool: str, condition: Comparison, left: Term, right: Term, rule: str, number: int
    ) -> None:
        parts = [part for part in _leaves(condition) if not isinstance(part, LiteralValue | LiteralList | SpanLiteral)]
        fields = [part for part in parts if isinstance(part, FieldPath)]
        for path in fields:
            self._field(tool, path, rule)
        if any(side not in (*fields, *leaves(side)) for side in (left, right)) or any(
            not isinstance(part, FieldPath | BoundVariable) for part in parts
        ):
            self.exact = False
            for path in fields:
                self._field(tool, path, rule).computed += [left, right]
            return
        if len(parts) == 1 and fields:
            self._field(tool, fields[0], rule).tests.append(condition)
            if condition.operator in ("startswith", "endswith", "contains"):
                self.exact = False
            return
        if condition.operator not in ("==", "!=", "in"):
            self.exact = False
        members: list[Place | Name] = [(tool, path) for path in fields]
        members += [self._variable(part, rule, number) for part in parts if isinstance(part, BoundVariable)]
        for path in fields:
            self._field(tool, path, rule).tracked = True
        for one, other in pairwise(members):
            self.groups.join(one, other)


def _is_exact(comparison: Comparison) -> bool:
    """Whether the representative events are all that matter to a comparison: of a count, or of equal values."""
    parts = _leaves(comparison)
    if any(isinstance(part, EventAggregate) for part in parts):
        return all(
            part.term is None if isinstance(part, EventAggregate) else isinstance(part, LiteralValue) for part in parts
        )
    plain = all(isinstance(part, BoundVariable | LiteralValue) for part in parts)
    return plain and comparison.operator in ("==", "!=")


def _leaves(condition: Comparison) -> list[Term]:
    return [*leaves(condition.left), *leaves(condition.right)]


def _texts(leaf: Term) -> list[str]:
    match leaf:
        case LiteralValue(str() as text):
            return [text]
        case LiteralList(items):
            return [item.content for item in items if isinstance(item.content, str)]
        case _:
            return []
