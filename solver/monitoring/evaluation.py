"""Evaluation of formulas with time and several variables, one step at a time.

A formula in normal form (`lawtrace.solver.logic.normal_form`) is compiled to two kinds of functions. A *check* says
whether a subformula is true at the present step, for given values of its variables. A *generator* finds the values for
which it is true. Both read the past from tables that are brought up to date at each step, and answer True, False, or a
`Pending` object if the future decides:

- S and Y keep a table: for each combination of values the times at which the right operand was true. A window with
  an end lets them forget.
- Aggregates keep totals for each combination of values.
- U and X hand out a `Pending` for each combination of values that asks, and look for it in the steps to come.

A conjunction is evaluated from left to right in an order in which each part finds all values that it needs, or makes
them: rules are *safe* (`lawtrace.solver.logic.safety`). So each value that is tried comes from an event.

A part that can only be true in a step with a call of certain tools is looked at in these steps only.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms
from lawtrace.solver.logic.conditions import Condition, all_of, compare, condition_variables, conjuncts, equation
from lawtrace.solver.logic.safety import finds
from lawtrace.solver.monitoring.duties import NextTable, UntilTable
from lawtrace.solver.monitoring.pending import Pending, Status, junction, negation
from lawtrace.solver.monitoring.relations import SinceTable
from lawtrace.solver.monitoring.step_context import Check, Generator, Key, StepContext, as_key, from_key, to_key
from lawtrace.solver.monitoring.totals import EventTotals, RelationTotals, summarise
from lawtrace.solver.monitoring.undo import Track, untracked

_Update = tuple[Callable[[], None], frozenset[str] | None]
"""Work of a table or of pending values in steps with calls of some tools; None for every step."""


class Evaluator:
    """Compiled subformulas of one rule, their tables and their pending values.

    `step` must be called once for each step; between two calls, the checks that `compile_check` returned tell the truth
    of the step.
    """

    def __init__(self, track: Track = untracked) -> None:
        self.track: Final = track
        self.context: Final = track(StepContext)()
        self._updates: list[_Update] = []
        self._expiries: list[UntilTable] = []
        self._totals: Final[list[EventTotals]] = []
        self._by_tool: dict[str, tuple[Callable[[], None], ...]] = {}
        self._always: tuple[Callable[[], None], ...] = ()
        self._past: Final[dict[s.Formula, SinceTable]] = {}
        self._future: Final[dict[s.Formula, UntilTable | NextTable]] = {}

    # Stepping

    def seal(self) -> None:
        """Finish compiling: decide which work belongs to which tools."""
        named = frozenset[str]().union(*(tools or frozenset() for _, tools in self._updates))
        for tool in named:
            self._by_tool[tool] = tuple(run for run, tools in self._updates if tools is None or tool in tools)
        self._always = tuple(run for run, tools in self._updates if tools is None)

    def clear(self) -> None:
        """Forget all steps; what is compiled stays."""
        self.context.clear()
        for table in (*self._past.values(), *self._future.values(), *self._totals):
            table.clear()

    def advance_time(self, time: int) -> None:
        """Close the duties whose deadline is before this time, as the next step would."""
        self.context.time = max(time, self.context.time)
        for table in self._expiries:
            table.expire()

    def fingerprint(self) -> Hashable:
        """Equal if the tables of the past are."""
        return tuple(table.fingerprint() for table in (*self._past.values(), *self._totals))

    def times(self) -> set[int]:
        """The times that windows may still ask for."""
        tables = (*self._past.values(), *self._totals, *self._future.values())
        return {time for table in tables for time in table.times()}

    def add_update(self, run: Callable[[], None], tools: frozenset[str] | None) -> None:
        """Do something in each step, after the tables are up to date; `tools`: only in steps with calls of these."""
        self._updates.append((run, tools))

    def step(self, position: int, time: int, events: Sequence[Event]) -> None:
        """Begin the next step. Positions ascend."""
        context = self.context
        context.position = position
        context.time = time
        if len(events) == 1:
            tool = events[0].tool
            context.events = {tool: [events[0]]}
            runs = self._by_tool.get(tool, self._always)
        else:
            context.events = {}
            for event in events:
                context.events.setdefault(event.tool, []).append(event)
            called = context.events.keys()
            runs = tuple(run for run, tools in self._updates if tools is None or not called.isdisjoint(tools))
        for table in self._expiries:
            if table.deadlines and table.deadlines[0].deadline < time:
                table.expire()
        for run in runs:
            run()

    # Compiling

    def compile_check(self, formula: s.Formula, bound: frozenset[str]) -> Check:
        """A function that says whether the formula is true now, for the present values of the bound variables."""
        match formula:
            case s.Top():
                return lambda: True
            case s.Bottom():
                return lambda: False
            case s.Not(operand):
                check = self.compile_check(operand, bound)
                return lambda: negation(check())
            case s.Or(parts):
                return _checking_all(True, [self.compile_check(part, bound) for part in parts])
            case s.And(parts):
                return _checking_all(False, [self.compile_check(part, bound) for part in sorted(parts, key=_cost)])
            case s.Compare():
                left, right = self.compile_term(formula.comparison.left), self.compile_term(formula.comparison.right)
                sign = formula.comparison.operator
                return lambda: compare(left(), sign, right())
            case s.Since() | s.Yesterday() | s.Until() | s.Next():
                return self._table(formula).check
            case s.Atom() | s.Exists():
                return _any_of(self.compile_generator(formula, bound))
            case _:
                raise TypeError(formula)

    def compile_generator(self, formula: s.Formula, bound: frozenset[str]) -> Generator:
        """A function that binds the other variables of the formula to each combination of values that makes it true, or
        may make it true, and yields the status for it.
        """
        free = s.free_variables(formula)
        if free <= bound and not isinstance(formula, s.Atom | s.Exists):
            return _one_status(self.compile_check(formula, bound))
        match formula:
            case s.Atom():
                return self._atom(formula, bound)
            case s.Compare():
                return self._assignment(formula, bound)
            case s.Exists(variables, body):
                projected: Generator | None = None
                if isinstance(body, s.Since):
                    projected = self._past_table(body).projected(tuple(sorted(free)), bound)
                return projected or self.compile_generator(body, bound - frozenset(variables))
            case s.And(parts):
                stages: list[Generator] = []
                for part in _ordered(parts, bound):
                    stages.append(self.compile_generator(part, bound))
                    bound |= s.free_variables(part)
                return _joined(stages)
            case s.Or(parts):
                return _chained([self.compile_generator(part, bound) for part in parts])
            case s.Since() | s.Yesterday():
                return self._past_table(formula).generator(bound)
            case _:
                raise TypeError(formula)

    def compile_finder(self, formula: s.Formula) -> Generator | None:
        """A generator that starts from no value; None if the formula does not find the values of its variables."""
        return self.compile_generator(formula, frozenset()) if finds(formula, frozenset()) else None

    # Leaves

    def _atom(self, atom: s.Atom, bound: frozenset[str]) -> Generator:
        """The calls in this step that satisfy the atom, and the values that they give to its variables."""
        context = self.context
        made: dict[str, tuple[terms.FieldPath, bool]] = {}
        filters: list[tuple[terms.FieldPath, int]] = []
        rest: list[Condition] = []
        for part in conjuncts(atom.condition):
            equated = equation(part)
            if equated is None:
                rest.append(part)
                continue
            name, place, spread = equated
            if name not in bound and name not in made:
                made[name] = (place, spread)
            elif name in bound and not spread:
                filters.append((place, context.number(name)))
            else:
                rest.append(part)
        remaining = frozenset[str]().union(*map(condition_variables, rest))
        condition = all_of(rest)
        bindings = context.bindings(sorted(remaining))
        single = [(context.number(name), _reader(place)) for name, (place, spread) in made.items() if not spread]
        spread_over = [(context.number(name), _reader(place)) for name, (place, spread) in made.items() if spread]
        checks = [(number, _reader(place)) for place, number in filters]
        tool, attempted, values = atom.tool, atom.attempted, context.values

        def generate() -> Iterator[Status]:
            for event in context.events.get(tool, ()):
                if event.outcome != "completed" and (not attempted or event.outcome == "shielded"):
                    continue
                if checks and any(values[number] != as_key(read(event)) for number, read in checks):
                    continue
                fits = True
                for number, read in single:
                    value = read(event)
                    if isinstance(value, str):
                        values[number] = value
                    elif terms.is_value(value):
                        values[number] = to_key(value)
                    else:
                        fits = False
                        break
                if not fits:
                    continue
                if not spread_over:
                    if condition is None or condition.holds(event, bindings()):
                        yield True
                    continue
                for _ in _spread(event, spread_over, values):
                    if condition is None or condition.holds(event, bindings()):
                        yield True

        return generate

    def _assignment(self, formula: s.Compare, bound: frozenset[str]) -> Generator:
        """`x == term` gives the variable the value of the term."""
        sides = (formula.comparison.left, formula.comparison.right)
        for one, other in (sides, sides[::-1]):
            if not isinstance(one, terms.BoundVariable) or one.name in bound or formula.comparison.operator != "==":
                continue
            if s.term_variables(other) <= bound:
                return _assigning(self.context, one.name, self.compile_term(other))
        raise TypeError(formula)

    def compile_term(self, term: terms.Term) -> Callable[[], terms.Value]:
        """A function for the value of a term at this step."""
        context = self.context
        if isinstance(term, terms.BoundVariable):
            number, values = context.number(term.name), context.values
            return lambda: from_key(values[number])
        parts = terms.leaves(term)
        bindings = context.bindings(sorted(s.term_variables(term)))
        computed = {str(leaf): self._aggregate(leaf) for leaf in parts if isinstance(leaf, terms.Computed)}
        if (
            not s.term_variables(term)
            and not computed
            and not any(isinstance(leaf, terms.Now | terms.Position) for leaf in parts)
        ):
            constant = term.value(Event("", {}))
            return lambda: constant
        if isinstance(term, terms.Computed):
            return computed[str(term)]

        def value() -> terms.Value:
            found: dict[str, Json] = {**bindings(), str(terms.Position()): context.position}
            for name, aggregate in computed.items():
                amount = aggregate()
                if not isinstance(amount, terms.Missing):
                    found[name] = amount
            return term.value(Event("", {}, time=context.time), found)

        return value

    def _aggregate(self, leaf: terms.Computed) -> Callable[[], terms.Value]:
        if isinstance(leaf, s.EventAggregate):
            totals = self.track(EventTotals)(self, leaf)
            self._totals.append(totals)
            self.add_update(totals.update, totals.tools)
            return totals.value
        if not isinstance(leaf, s.RelationAggregate):
            raise TypeError(leaf)
        if isinstance(leaf.formula, s.Since):
            table = self._past_table(leaf.formula)
            if RelationTotals.suits(leaf, table):
                return self.track(RelationTotals)(self, leaf, table).value
        generate = self.compile_generator(leaf.formula, s.free_variables(leaf.formula) - frozenset(leaf.variables))
        read = self.context.reader(leaf.variables)
        term = None if leaf.term is None else self.compile_term(leaf.term)

        def value() -> terms.Value:
            found: dict[Key, terms.Value] = {}
            for _ in generate():
                if (key := read()) not in found:
                    found[key] = None if term is None else term()
            return summarise(leaf.function, list(found.values()))

        return value

    def _past_table(self, formula: s.Since | s.Yesterday) -> SinceTable:
        if formula not in self._past:
            self._past[formula] = table = self.track(SinceTable)(self, formula)
            self.add_update(table.update, table.tools)
        return self._past[formula]

    def _table(self, formula: s.Since | s.Yesterday | s.Until | s.Next) -> SinceTable | UntilTable | NextTable:
        if isinstance(formula, s.Since | s.Yesterday):
            return self._past_table(formula)
        if formula not in self._future:
            if isinstance(formula, s.Until):
                table = self.track(UntilTable)(self, formula)
            else:
                table = self.track(NextTable)(self, formula)
            self._future[formula] = table
            self.add_update(table.update, table.tools)
            if isinstance(table, UntilTable):
                self._expiries.append(table)
        return self._future[formula]


_FUTURE: Final = 1000


def _ordered(parts: Sequence[s.Formula], bound: frozenset[str]) -> list[s.Formula]:
    """The parts of a conjunction in an order of evaluation: checks as soon as they are possible, the cheap ones
    first, and what waits for the future last, so that it is asked for few values.
    """
    waiting = list(parts)
    ordered: list[s.Formula] = []
    while waiting:
        checks = [part for part in waiting if s.free_variables(part) <= bound]
        finders = [part for part in waiting if part not in checks and finds(part, bound)]
        prompt = [part for part in checks if _cost(part) < _FUTURE]
        chosen = min(prompt or finders or checks, key=_cost)
        waiting.remove(chosen)
        ordered.append(chosen)
        bound |= s.free_variables(chosen)
    return ordered


def _cost(formula: s.Formula) -> int:
    """What a check costs, roughly; `_FUTURE` and more if it may have to wait."""
    match formula:
        case s.Top() | s.Bottom() | s.Compare() | s.Atom():
            return 0
        case s.Not(operand) | s.Exists(_, operand):
            return _cost(operand) + 1
        case s.Since() | s.Yesterday():
            return 1
        case s.Until() | s.Next():
            return _FUTURE
        case s.And(parts) | s.Or(parts):
            return max(map(_cost, parts)) + 1
        case _:
            return 1


def _reader(place: terms.FieldPath) -> Callable[[Event], terms.Value]:
    if len(place.path) == 1 and place.path[0] != terms.RESULT:
        name = str(place.path[0])
        return lambda event: event.arguments.get(name)
    return place.value


def _spread(
    event: Event, over: Sequence[tuple[int, Callable[[Event], terms.Value]]], values: list[Hashable]
) -> Iterator[None]:
    (number, read), *others = over
    found = read(event)
    for value in terms.elements_of(found):
        if terms.is_value(value):
            values[number] = to_key(value)
            if others:
                yield from _spread(event, others, values)
            else:
                yield None


def _assigning(context: StepContext, variable: str, value: Callable[[], terms.Value]) -> Generator:
    number, values = context.number(variable), context.values

    def generate() -> Iterator[Status]:
        found = value()
        if terms.is_value(found):
            values[number] = to_key(found)
            yield True

    return generate


def _checking_all(absorbing: bool, checks: Sequence[Check]) -> Check:
    def check() -> Status:
        pending: list[Status] = []
        for part in checks:
            status = part()
            if status is absorbing:
                return absorbing
            if isinstance(status, Pending):
                pending.append(status)
        return junction(absorbing, pending)

    return check


def _any_of(generate: Generator) -> Check:
    def check() -> Status:
        pending: list[Status] = []
        for status in generate():
            if status is True:
                return True
            pending.append(status)
        return junction(True, pending)

    return check


def _one_status(check: Check) -> Generator:
    def generate() -> Iterator[Status]:
        status = check()
        if status is not False:
            yield status

    return generate


def _joined(stages: Sequence[Generator]) -> Generator:
    if len(stages) == 1:
        return stages[0]
    first, rest = stages[0], _joined(stages[1:])

    def generate() -> Iterator[Status]:
        for status in first():
            for other in rest():
                yield other if status is True else junction(False, [status, other])

    return generate


def _chained(branches: Sequence[Generator]) -> Generator:
    def generate() -> Iterator[Status]:
        for branch in branches:
            yield from branch()

    return generate
