"""Representative events: for the rules of a component, all events that they tell apart.

The values of a field fall into classes. If rules compare it with literals only, one value is kept for each combination
of truths. If they compare it with variables or other fields, the values that matter are those of open duties, of the
calls in question, the literals, and some that occur nowhere else. An event takes one value for each field.

`Vocabulary.exact` says whether these events are all that matter. They are not where rules compute with fields, read the
clock, or sum: then a search that finds nothing proves nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise, product
from typing import Final

from lawtrace.environments.events import SPEAKERS, Event, Json, message_event
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.solver.guard.values import (
    ABSENT,
    ANYTHING,
    MAX_LIST,
    Absent,
    Candidate,
    Schema,
    admits,
    choices,
    constants,
    derived,
    fresh,
    lists_of,
    part_schema,
    placed,
    values_at,
)
from lawtrace.solver.ltlf import MetricRule
from lawtrace.solver.ltlf.conditions import (
    Comparison,
    Condition,
    ElementCondition,
    IsTrue,
    condition_leaves,
    condition_parts,
)
from lawtrace.solver.ltlf.normal_form import original_names
from lawtrace.solver.ltlf.syntax import (
    Atom,
    Compare,
    EventAggregate,
    Exists,
    ForAll,
    Formula,
    aggregates_of,
    subformulas,
)
from lawtrace.solver.ltlf.terms import (
    RESULT,
    BoundVariable,
    FieldPath,
    LiteralList,
    LiteralValue,
    Scalar,
    SpanLiteral,
    Term,
    is_value,
    leaves,
)
from lawtrace.solver.rules import Rule

MAX_EVENTS: Final = 300
"""How many representative events one tool has at most."""
MAX_DRAFTS: Final = 40
"""How many drafts of events of one tool are tried for one rule."""

Place = tuple[str, FieldPath]
"""A field of a tool."""
Name = tuple[int, str]
"""A variable of a rule, by the number of the rule."""


@dataclass(slots=True)
class _Field:
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


class _Groups:
    """Fields and variables whose values are compared (union-find)."""

    def __init__(self) -> None:
        self._parents: dict[Place | Name, Place | Name] = {}

    def of(self, one: Place | Name) -> Place | Name:
        while (parent := self._parents.get(one, one)) != one:
            one = parent
        return one

    def join(self, one: Place | Name, other: Place | Name) -> None:
        self._parents[self.of(one)] = self.of(other)


@dataclass(frozen=True, slots=True)
class Representatives:
    """Events that stand for others.

    Attributes:
        events: the events.
        exact: whether they are all that matter.
        cut: the fields of which not all lists were made.
    """

    events: list[Event]
    exact: bool
    cut: frozenset[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class Draft:
    """An event, and which value it has in each field that rules read; a message has none."""

    event: Event
    fields: Mapping[FieldPath, Candidate]


class Vocabulary:
    """The representative events of some rules.

    Attributes:
        exact: see the module docstring.
        tools: which the rules name.
    """

    def __init__(self, rules: Sequence[Rule], tools: Mapping[str, ToolSchema]) -> None:
        self.exact = True
        self._schemas: Final = tools
        self._fields: Final[dict[str, dict[FieldPath, _Field]]] = {}
        self._read_by: Final[dict[str, dict[str, dict[FieldPath, None]]]] = {rule.id: {} for rule in rules}
        self._groups: Final = _Groups()
        self._constants: Final[dict[Place | Name, list[Json]]] = {}
        self._attempted: Final[set[str]] = set()
        self._words: Final[dict[str, set[str]]] = {}
        self._names: Final[dict[tuple[str, str], list[Name]]] = {}
        variables = 0
        for number, rule in enumerate(rules):
            compiled = rule.compiled
            formula = compiled.normal if isinstance(compiled, MetricRule) else rule.parsed
            for node in subformulas(formula):
                variables = max(variables, len(node.variables) if isinstance(node, ForAll | Exists) else 0)
                self._read(node, rule.id, number)
        self._fresh: Final = variables + 1
        self.tools: Final = tuple(self._fields)

    def _read(self, node: Formula, rule: str, number: int) -> None:
        match node:
            case Atom(tool, condition, attempted):
                self._fields.setdefault(tool, {})
                self._read_by[rule].setdefault(tool, {})
                if attempted:
                    self._attempted.add(tool)
                if condition is not None:
                    self._read_condition(tool, condition, rule, number)
            case Compare(comparison):
                names = [leaf for leaf in _leaves(comparison) if isinstance(leaf, BoundVariable)]
                for one, other in pairwise(names):
                    self._groups.join(self._variable(one, rule, number), self._variable(other, rule, number))
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
                        self._constants.setdefault((aggregate.atom.tool, leaf), []).extend([*limits, 0, 1])

    def _field(self, tool: str, path: FieldPath, rule: str) -> _Field:
        self._read_by[rule].setdefault(tool, {})[path] = None
        return self._fields.setdefault(tool, {}).setdefault(path, _Field())

    def _variable(self, variable: BoundVariable, rule: str, number: int) -> Name:
        name = number, variable.name
        known = self._names.setdefault((rule, original_names(variable.name)), [])
        if name not in known:
            known.append(name)
        return name

    def _read_condition(self, tool: str, condition: Condition, rule: str, number: int) -> None:
        if tool in SPEAKERS:
            self._words.setdefault(tool, set()).update(
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
            self._groups.join(one, other)

    # Events

    def live_values(
        self, values: Iterable[tuple[str, str, Scalar]], events: Iterable[Event]
    ) -> dict[Place | Name, list[Scalar]]:
        """The values that matter for each group of fields and variables.

        Args:
            values: rule, variable and value of open duties and of violations.
            events: calls in question.
        """
        found: dict[Place | Name, list[Scalar]] = {}

        def add(member: Place | Name, value: Scalar) -> None:
            known = found.setdefault(self._groups.of(member), [])
            if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in known):
                known.append(value)

        for event in events:
            for path, use in self._fields.get(event.tool, {}).items():
                for value in values_at(event, path) if use.tracked else ():
                    add((event.tool, path), value)
        for rule, variable, value in values:
            for name in self._names.get((rule, variable), ()):
                add(name, value)
        return found

    def variable_values(self, live: Mapping[Place | Name, Sequence[Scalar]], rule: str) -> list[Scalar]:
        """The values of the variables of a rule that representative events may have."""
        names = [name for (one, _), several in self._names.items() if one == rule for name in several]
        groups = {self._groups.of(name) for name in names}
        found: list[Scalar] = []
        for group in groups:
            found += [value for value in self._group_values(group, live, ANYTHING) if is_value(value)]
        return found

    def events(
        self, tools: Collection[str], live: Mapping[Place | Name, Sequence[Scalar]], now: int | None
    ) -> Representatives:
        """The representative events of some tools at a time."""
        found: list[Event] = []
        exact, cut = self.exact, set[Place]()
        for tool in (name for name in self._fields if name in tools):
            if tool in SPEAKERS:
                found += self._messages(tool, live, now)
                continue
            schema = self._schemas.get(tool)
            if schema is None:
                continue
            made = self._calls(schema, live, now)
            exact = exact and made.exact
            cut |= made.cut
            found += made.events
        return Representatives(found, exact, frozenset(cut))

    def _calls(
        self,
        schema: ToolSchema,
        live: Mapping[Place | Name, Sequence[Scalar]],
        now: int | None,
        given: Mapping[str, Json] | None = None,
    ) -> Representatives:
        """The representative calls of a tool. `given`: its arguments, if only the result is open."""
        tool = schema.name
        options: list[tuple[FieldPath, list[Candidate]]] = []
        cut: set[Place] = set()
        for path, use in self._fields.get(tool, {}).items():
            if given is not None and path.path[0] != RESULT:
                continue
            candidates, whole = self._candidates(schema, path, use, live, now)
            options.append((path, candidates))
            if not whole:
                cut.add((tool, path))
        events: list[Event] = []
        for number, combination in enumerate(_combinations([candidates for _, candidates in options])):
            if number == MAX_EVENTS:
                return Representatives(events, exact=False, cut=frozenset(cut))
            chosen = {path: value for (path, _), value in zip(options, combination, strict=True)}
            events.append(_event(tool, chosen, now, given))
        if tool in self._attempted and given is None:
            events += [Event(one.tool, one.arguments, "raised", time=now) for one in events]
        return Representatives(events, given is None or not cut, frozenset(cut))

    def reads(self, rule: str, tool: str, fields: Collection[Place]) -> bool:
        """Whether a rule reads one of these fields of a tool."""
        return any((tool, path) in fields for path in self._read_by[rule].get(tool, ()))

    def drafts(
        self,
        tool: str,
        rule: str,
        live: Mapping[Place | Name, Sequence[Scalar]],
        now: int | None,
        given: "Draft | None" = None,
        *,
        strange: bool = False,
    ) -> list["Draft"]:
        """Events of a tool that differ in the fields that a rule reads.

        Args:
            tool: its name.
            rule: the id of the rule.
            live: the values that matter; fields that may have one have no others.
            now: their time.
            given: another event, which they equal in the other fields.
            strange: whether fields may have other values, too.
        """
        read = self._read_by[rule].get(tool)
        if read is None or (given is not None and not given.fields):
            return []
        if tool in SPEAKERS:
            return [Draft(event, {}) for event in self._messages(tool, live, now)]
        schema = self._schemas.get(tool)
        if schema is None:
            return []
        if given is None:
            fields = {
                path: self._few(schema, path, use, live, now, strange=strange)[: None if path in read else 1]
                for path, use in self._fields[tool].items()
            }
        else:
            fields = {path: [value] for path, value in given.fields.items()}
            for path in read:
                few = self._few(schema, path, self._fields[tool][path], live, now, strange=strange)
                fields[path] = [*_nearby(given.fields[path], few), *few]
        some = islice(product(*fields.values()), MAX_DRAFTS)
        chosen = [dict(zip(fields, values, strict=True)) for values in some]
        return [Draft(_event(tool, one, now), one) for one in chosen]

    def _few(
        self,
        schema: ToolSchema,
        path: FieldPath,
        use: _Field,
        live: Mapping[Place | Name, Sequence[Scalar]],
        now: int | None,
        *,
        strange: bool,
    ) -> list[Candidate]:
        """Candidates of a field; if values matter that it may have, only these, or these first."""
        found, _ = self._candidates(schema, path, use, live, now)
        if not use.tracked:
            return found
        known = live.get(self._groups.of((schema.name, path)), ())
        if use.is_list:
            found = [one for one in found if not isinstance(one, list) or len(one) < 2 or len(one) == len(known)]

        def matters(one: Candidate) -> bool:
            return all(part in known for part in one) and one != [] if isinstance(one, list) else one in known

        first = [one for one in found if matters(one)]
        if first and not strange:
            return [*first, *(one for one in found if isinstance(one, Absent) or one == [])]
        return [*first, *(one for one in found if not matters(one))]

    def call_results(self, tool: str, arguments: Mapping[str, Json], now: int) -> Representatives:
        """The call with these arguments and each representative result."""
        event = Event(tool, arguments, time=now)
        read = [use for path, use in self._fields.get(tool, {}).items() if path.path[0] == RESULT]
        if not read:
            return Representatives([event], exact=True)
        schema = self._schemas.get(tool, ToolSchema(tool, "", {}, None, ""))
        found = self._calls(schema, self.live_values((), (event,)), now, arguments)
        return replace(found, exact=found.exact and not any(use.computed for use in read))

    def _candidates(
        self,
        schema: ToolSchema,
        path: FieldPath,
        use: _Field,
        live: Mapping[Place | Name, Sequence[Scalar]],
        now: int | None,
    ) -> tuple[list[Candidate], bool]:
        """Candidates for a field, and whether all lists of the values that matter are among them."""
        whole = True
        first, *rest = path.path
        if first == RESULT:
            declared, optional = part_schema(schema.result or ANYTHING, rest), not schema.result
        else:
            argument, optional = schema.argument(str(first))
            if argument is None:
                return [ABSENT], True
            declared, optional = part_schema(argument, rest), optional or bool(rest)
        items = part_schema(declared, (0,)) if use.is_list else declared
        found: list[Json] = [value for test in use.tests for value in constants(test)]
        if use.tracked:
            found += self._group_values(self._groups.of((schema.name, path)), live, items)
            found += self._constants.get((schema.name, path), [])
        else:
            extra = fresh(items, 1, found)
            found += [] if isinstance(extra, Absent) else [extra]
        found += derived(use.computed, now) if use.computed else []
        found += choices(items) or []
        found = [value for value in _distinct(found) if admits(items, value)]
        if use.is_list:
            if not use.tracked:
                found = [value for value in found if value != "new-1"]
            candidates: list[Candidate] = [*lists_of(found)]
            whole = len(found) <= MAX_LIST
        else:
            candidates = [*found]
        if optional or not candidates:
            candidates = [ABSENT, *candidates]
        if not use.tracked and not use.computed:
            candidates = _told_apart(candidates, path, use.tests)
        return candidates, whole

    def _group_values(
        self, group: Place | Name, live: Mapping[Place | Name, Sequence[Scalar]], schema: Schema
    ) -> list[Json]:
        members = [
            (tool, path)
            for tool, fields in self._fields.items()
            for path, use in fields.items()
            if use.tracked and self._groups.of((tool, path)) == group
        ]
        known: list[Json] = [*live.get(group, ())]
        for tool, path in members:
            known += [value for test in self._fields[tool][path].tests for value in constants(test)]
            known += self._constants.get((tool, path), [])
        for number in range(1, self._fresh + 1):
            extra = fresh(schema, number, known)
            known += [] if isinstance(extra, Absent) else [extra]
        return known

    def _messages(self, speaker: str, live: Mapping[Place | Name, Sequence[Scalar]], now: int | None) -> list[Event]:
        texts = sorted(self._words.get(speaker, ()))
        for path, use in self._fields.get(speaker, {}).items():
            if use.tracked:
                texts += [str(value) for value in live.get(self._groups.of((speaker, path)), ())]
        texts = list(dict.fromkeys(texts))
        some = [combination for size in range(min(len(texts), 2) + 1) for combination in combinations(texts, size)]
        return [message_event(speaker, " ".join(parts), now) for parts in [*some, tuple(texts)][:MAX_EVENTS]]


def _event(
    tool: str, fields: Mapping[FieldPath, Candidate], now: int | None, given: Mapping[str, Json] | None = None
) -> Event:
    """A call with these values of its fields. `given`: its arguments, if only the result is open."""
    content: Json = dict(given or {})
    for path, value in fields.items():
        if not isinstance(value, Absent):
            content = placed(content, path.path, value)
    arguments = dict(content) if isinstance(content, dict) else {}
    result = None if given and RESULT in given else arguments.pop(RESULT, None)
    return Event(tool, arguments, result=result, time=now)


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


def _nearby(given: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """A list with one value more or less, of those in other lists."""
    if not isinstance(given, list):
        return []
    values = _distinct(part for one in candidates if isinstance(one, list) for part in one)
    return [[one for one in given if one != value] if value in given else [*given, value] for value in values]


def _texts(leaf: Term) -> list[str]:
    match leaf:
        case LiteralValue(str() as text):
            return [text]
        case LiteralList(items):
            return [item.content for item in items if isinstance(item.content, str)]
        case _:
            return []


def _distinct(values: Iterable[Json]) -> list[Json]:
    found: list[Json] = []
    for value in values:
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in found):
            found.append(value)
    return found


def _told_apart(candidates: Sequence[Candidate], path: FieldPath, tests: Sequence[Condition]) -> list[Candidate]:
    """One candidate for each combination of truths."""
    found: dict[tuple[bool, ...], Candidate] = {}
    for value in candidates:
        holder = {} if isinstance(value, Absent) else placed({}, path.path, value)
        arguments = holder if isinstance(holder, dict) else {}
        event = Event("", arguments, result=arguments.get(RESULT))
        found.setdefault(tuple(test.holds(event) for test in tests), value)
    return list(found.values())


def _combinations(options: Sequence[Sequence[Candidate]]) -> Iterator[tuple[Candidate, ...]]:
    """All choices of one candidate for each field, those with many first candidates before the others."""
    for size in range(len(options) + 1):
        for chosen in combinations(range(len(options)), size):
            others = [each[1:] if number in chosen else each[:1] for number, each in enumerate(options)]
            yield from product(*others)
