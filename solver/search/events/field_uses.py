"""What rules do with the fields of calls: which they read, with what they compare them, and which belong together."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from lawtrace.schemas.events import CALLS, SPEAKERS, Json
from lawtrace.solver.logic import conditions as c
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms as t
from lawtrace.solver.logic.normal_form import original_names
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.values import constants

Name = tuple[int, str]
"""A variable of a rule, by the number of the rule."""


@dataclass(slots=True, eq=False)
class Field:
    """What rules do with a field of a tool.

    Attributes:
        tests: conditions on the field alone.
        limits: more values that matter.
        computed: terms that compute with it.
        is_list: whether elements of it are looked for.
        tracked: whether its very value matters.
        readers: the ids of the rules that read it.
        unsure: of these, the rules to which its representative values may not be all that matter.
    """

    tool: str
    path: t.FieldPath
    tests: list[c.Condition] = field(default_factory=list[c.Condition])
    limits: list[Json] = field(default_factory=list[Json])
    computed: list[t.Term] = field(default_factory=list[t.Term])
    is_list: bool = False
    tracked: bool = False
    readers: set[str] = field(default_factory=set[str])
    unsure: set[str] = field(default_factory=set[str])


Member = Field | Name


class Groups:
    """Fields and variables whose values are compared (union-find)."""

    def __init__(self) -> None:
        self._parents: dict[Member, Member] = {}

    def of(self, one: Member) -> Member:
        while (parent := self._parents.get(one, one)) != one:
            one = parent
        return one

    def join(self, members: Iterable[Member]) -> None:
        for one, other in pairwise(members):
            self._parents[self.of(one)] = self.of(other)


class FieldUses:
    """What some rules do with the fields of calls.

    Attributes:
        inexact: the ids of the rules to which representative events may not be all that matter; see
            `lawtrace.solver.search.events.vocabulary`.
        fields: for each tool the fields that rules read.
        groups: fields and variables whose values are compared.
        attempted: the tools of which rules mean calls that did not complete, too.
        words: for user and agent the texts that rules look for.
        names: for each rule, by id, and variable as written its names after renaming.
        variables: the most variables of one quantifier.
        reads_actor: whether rules ask who acts.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.inexact: Final[set[str]] = set()
        self.fields: Final[dict[str, dict[t.FieldPath, Field]]] = {}
        self.groups: Final = Groups()
        self.attempted: Final[set[str]] = set()
        self.words: Final[dict[str, set[str]]] = {}
        self.names: Final[dict[tuple[str, str], list[Name]]] = {}
        self.variables = 0
        self.reads_actor = False
        for number, rule in enumerate(rules):
            compiled = rule.compiled
            for node in s.subformulas(compiled.normal if isinstance(compiled, FirstOrderRule) else rule.parsed):
                self._read(node, rule.id, number)

    def fields_of(self, tool: str) -> Collection[Field]:
        """The fields of a tool that rules read."""
        return self.fields.get(tool, {}).values()

    def _read(self, node: s.Formula, rule: str, number: int) -> None:
        match node:
            case s.Atom(tool, condition, attempted):
                self.fields.setdefault(tool, {})
                if attempted:
                    self.attempted.add(tool)
                if condition is not None:
                    self._read_condition(tool, condition, rule, number)
            case s.Compare(comparison):
                names = [leaf for leaf in c.condition_leaves(comparison) if isinstance(leaf, t.BoundVariable)]
                if len(names) > 1:
                    self.groups.join([self._variable(name, rule, number) for name in names])
                if not _is_exact(comparison):
                    self.inexact.add(rule)
                self._read_aggregates(node, comparison, rule)
            case s.ForAll(variables) | s.Exists(variables):
                self.variables = max(self.variables, len(variables))
            case _:
                pass

    def _read_aggregates(self, node: s.Formula, comparison: c.Comparison, rule: str) -> None:
        limits = [part for leaf in c.condition_leaves(comparison) for part in constants(c.Comparison(leaf, "<", leaf))]
        for aggregate in s.aggregates_of(node):
            if isinstance(aggregate, s.EventAggregate) and aggregate.term is not None:
                for leaf in t.leaves(aggregate.term):
                    if isinstance(leaf, t.FieldPath):
                        added = self._field(aggregate.atom.tool, leaf, rule)
                        added.tracked = True
                        added.unsure.add(rule)
                        added.limits += [*limits, 0, 1]
                        if aggregate.term != leaf:
                            added.computed += [aggregate.term, comparison.left, comparison.right]

    def _field(self, tool: str, path: t.FieldPath, rule: str) -> Field:
        found = self.fields.setdefault(tool, {}).setdefault(path, Field(tool, path))
        if path.path in t.ACTOR_FIELDS:
            self.reads_actor = True
        if tool in SPEAKERS and (path.path in t.ACTOR_FIELDS or path.path[0] == CALLS):
            self.inexact.add(rule)  # of messages not all actors are tried, and not all lists of calls
        found.readers.add(rule)
        return found

    def _variable(self, variable: t.BoundVariable, rule: str, number: int) -> Name:
        name = number, variable.name
        known = self.names.setdefault((rule, original_names(variable.name)), [])
        if name not in known:
            known.append(name)
        return name

    def _read_condition(self, tool: str, condition: c.Condition, rule: str, number: int) -> None:
        if tool in SPEAKERS:
            texts = (text for leaf in c.condition_leaves(condition) for text in _texts(leaf))
            self.words.setdefault(tool, set()).update(texts)
        if isinstance(condition, c.ElementCondition):
            self.inexact.add(rule)
            for leaf in t.leaves(condition.elements):
                if isinstance(leaf, t.FieldPath):
                    self._field(tool, leaf, rule).computed += c.condition_leaves(condition.part)
                    self._field(tool, leaf, rule).unsure.add(rule)
            return
        for part in c.condition_parts(condition):
            self._read_condition(tool, part, rule, number)
        match condition:
            case c.IsTrue(t.FieldPath() as path):
                self._field(tool, path, rule).tests.append(condition)
            case c.Comparison():
                self._read_comparison(tool, condition, rule, number)
            case _:
                pass

    def _read_comparison(self, tool: str, condition: c.Comparison, rule: str, number: int) -> None:
        left, sign, right = condition.left, condition.operator, condition.right
        literals = t.LiteralValue | t.LiteralList | t.SpanLiteral
        parts = [part for part in c.condition_leaves(condition) if not isinstance(part, literals)]
        fields = [self._field(tool, part, rule) for part in parts if isinstance(part, t.FieldPath)]
        if sign == "in" and isinstance(right, t.FieldPath):
            self._field(tool, right, rule).is_list = True
        is_plain = left in t.leaves(left) and right in t.leaves(right)
        if not is_plain or any(not isinstance(part, t.FieldPath | t.BoundVariable) for part in parts):
            self.inexact.add(rule)
            for read in fields:
                read.computed += [left, right]
                read.unsure.add(rule)
        elif len(parts) == 1 and fields:
            fields[0].tests.append(condition)
            if sign in c.TEXTS:
                self.inexact.add(rule)
                fields[0].unsure.update(fields[0].readers if len(fields[0].tests) > 1 else ())
        else:
            is_ordered = sign not in ("==", "!=", "in")
            self.inexact.update([rule] if is_ordered else ())
            for read in fields:
                read.tracked = True
                read.unsure.update([rule] if is_ordered else ())
            names = [self._variable(part, rule, number) for part in parts if isinstance(part, t.BoundVariable)]
            self.groups.join([*fields, *names])


def _is_exact(comparison: c.Comparison) -> bool:
    """Whether the representative events are all that matter to a comparison: of a count, or of equal values."""
    parts = c.condition_leaves(comparison)
    if any(isinstance(part, s.EventAggregate) for part in parts):
        return all(
            part.term is None if isinstance(part, s.EventAggregate) else isinstance(part, t.LiteralValue)
            for part in parts
        )
    plain = all(isinstance(part, t.BoundVariable | t.LiteralValue) for part in parts)
    return plain and comparison.operator in ("==", "!=")


def _texts(leaf: t.Term) -> list[str]:
    match leaf:
        case t.LiteralValue(str() as text):
            return [text]
        case t.LiteralList(items):
            return [item.content for item in items if isinstance(item.content, str)]
        case _:
            return []
