"""Separation: a trace that two rules or rule sets judge differently and that breaks nothing else, or a proof that
there is none.

    proofs      equal normal forms or automata; no trace of representative events is judged differently
    sessions    drawn around the two rule sets until one is judged differently (`lawtrace.solver.separation.sessions`)
    repair      calls are added and changed, and the start state is varied, until the context is kept, too: a rule that
                is not kept is chosen, and what may make it kept is tried (as WalkSAT does)
    shrinking   calls, pauses and changes of the start state that the difference does not need are taken back

A *separating trace* is executed in the simulator to the end of its session. All draws have fixed seeds, and budgets
count draws and executions.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Row, State
from lawtrace.environments.spec.tools import FromLookup
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.guard.tools import read_tools
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.entailment import visibly_entails
from lawtrace.solver.logic.normal_form import conjunction, normal_form
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.rule_status import OUTCOMES, RuleStatus
from lawtrace.solver.planner.search_state import initial_search_state
from lawtrace.solver.rule_transforms import same_rule
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import counts_steps
from lawtrace.solver.search.problem import Found, Impossible
from lawtrace.solver.search.rule_search import SEARCH_STEPS, find_trace
from lawtrace.solver.separation.sessions import NO_BINDINGS, Bindings, Desk, RuleValues, Script

MOST_CALLS: Final = 8
"""How many calls a drawn session has at most, without look-ups."""
PATIENCE: Final = 30
"""After how many executions without progress a repair starts again from the best trace so far."""


@dataclass(frozen=True, slots=True)
class SeparationBudget:
    """What a separation may use.

    Attributes:
        first_sessions: how many sessions are drawn before proofs are tried.
        sessions: how many sessions are drawn.
        starts: from how many separating sessions a repair begins.
        repairs: how many changes of a session are tried in one repair.
    """

    first_sessions: int = 100
    sessions: int = 600
    starts: int = 8
    repairs: int = 200


@dataclass(frozen=True, slots=True)
class Equal:
    """Both judge every trace alike. ``proof``: what shows it."""

    proof: Literal["form", "automata", "event search"]

    @property
    def in_world(self) -> bool:
        """Whether it holds for the declared tools only: for arguments and results of their types."""
        return self.proof == "event search"


@dataclass(frozen=True, slots=True)
class Separated:
    """A trace that they judge differently.

    Attributes:
        initial: the start state.
        changed: what differs in it from a state that ``populate`` draws: table, key and field.
        events: what happens.
        end: when the session ends, in seconds since 1970.
        first: what the first does with the trace.
        second: what the second does.
        not_kept: the rules of the context that could not be kept, with what becomes of them.
    """

    initial: State
    changed: tuple[tuple[str, str, str], ...]
    events: tuple[Event, ...]
    end: int
    first: TraceOutcome
    second: TraceOutcome
    not_kept: Mapping[str, TraceOutcome]


@dataclass(frozen=True, slots=True)
class NotSeparated:
    """Neither a difference nor a proof was found. ``why``: what was tried, as a sentence."""

    why: str


Separation = Equal | Separated | NotSeparated


class _Judge:
    """Judges sessions by monitors that are made once."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._monitors: Final = {rule.id: Monitor({rule.id: rule.compiled}) for rule in rules}
        self._tools: Final = {rule.id: None if counts_steps(rule) else rule.tools for rule in rules}
        self._idle: Final = {name: monitor.status(name) for name, monitor in self._monitors.items()}

    def status(self, rule: str, events: Sequence[Event], end: int) -> RuleStatus:
        monitor = self._monitors[rule]
        monitor.clear()
        return monitor.run(events).status(rule, end)

    def not_kept(
        self,
        events: Sequence[Event],
        end: int,
        *,
        skipped: Collection[str] = (),
        first: Collection[str] = (),
        most: int | None = None,
    ) -> dict[str, RuleStatus] | None:
        """The rules that are not kept, without those skipped; None if more than `most` are broken. `first`: those that
        are judged first.
        """
        called = {event.tool for event in events}
        found: dict[str, RuleStatus] = {}
        broken = 0
        for rule in dict.fromkeys((*first, *self._monitors)):
            if rule in skipped:
                continue
            tools = self._tools[rule]
            concerned = tools is None or not tools.isdisjoint(called)
            status = self.status(rule, events, end) if concerned else self._idle[rule]
            if status.ending != "kept":
                found[rule] = status
                broken += status.ending == "broken"
                if most is not None and broken > most:
                    return None
        return found

    def outcome(self, events: Sequence[Event], end: int) -> TraceOutcome:
        """What the rules together do with a session."""
        outcomes = {OUTCOMES[status.ending] for status in (self.not_kept(events, end) or {}).values()}
        return "broken" if "broken" in outcomes else "undetermined" if outcomes else "kept"


@dataclass(frozen=True, order=True, slots=True)
class _Cost:
    """What a separating session lacks, the worst first.

    Attributes:
        unclear: whether one of the two is undetermined.
        broken: how many rules of the context are broken by an event.
        open: how many others are not kept at the end.
        odd: arguments that no result showed, and calls that do not complete.
        calls, changed, pauses: how many of them it has; ``changed``: fields of the start state.
    """

    unclear: bool
    broken: int
    open: int
    odd: int
    calls: int
    changed: int
    pauses: int

    @property
    def is_clean(self) -> bool:
        return not (self.unclear or self.broken or self.open)

    @property
    def main(self) -> tuple[int, ...]:
        return self.unclear, self.broken, self.open, self.odd


@dataclass(frozen=True, slots=True)
class _Candidate:
    script: Script
    cost: _Cost
    not_kept: Mapping[str, RuleStatus]


def separate(
    environment: Environment,
    first: Sequence[Rule],
    second: Sequence[Rule],
    context: Sequence[Rule] = (),
    budget: SeparationBudget | None = None,
) -> Separation:
    """Whether two rule sets, taken as conjunctions, judge a trace differently.

    `context`: rules that a separating trace keeps as far as it can. Rules of the two sets among them do not count.
    """
    return Separator(environment, context).separate(first, second, budget)


class Separator:
    """Answers questions about rule sets in one environment and context."""

    def __init__(self, environment: Environment, context: Sequence[Rule]) -> None:
        self.environment: Final = environment
        self.desk: Final = Desk(environment, context)
        self.judge: Final = _Judge(context)
        self.rules: Final = {rule.id: rule for rule in context}
        self._values: Final[dict[str, RuleValues]] = {}

    def separate(
        self, first: Sequence[Rule], second: Sequence[Rule], budget: SeparationBudget | None = None
    ) -> Separation:
        """See `separate`."""
        return _Question(self, first, second, budget or SeparationBudget()).answer()

    def values_of(self, rule: Rule) -> RuleValues:
        """What a rule of the context compares calls with."""
        if rule.id not in self._values:
            self._values[rule.id] = RuleValues([rule], self.environment.clock.start(self.desk.state(0)))
        return self._values[rule.id]


class _Question:
    """One question of a `Separator`."""

    def __init__(
        self, separator: Separator, first: Sequence[Rule], second: Sequence[Rule], budget: SeparationBudget
    ) -> None:
        self._separator: Final = separator
        self._environment: Final = separator.environment
        self._desk: Final = separator.desk
        self._sets: Final = (first, second)
        self._judges: Final = (_Judge(first), _Judge(second))
        self._skipped: Final = frozenset(rule.id for rule in (*first, *second))
        self._budget: Final = budget
        start = separator.environment.clock.start(separator.desk.state(0))
        self._values: Final = RuleValues([*first, *second], start)
        self._tools: Final = [name for name in self._values.tools if name in separator.environment.tools]
        self._random: Final = Random(f"{separator.environment.name}/separation")
        self._best: _Candidate | None = None
        self._starts: Final[set[tuple[str, ...]]] = set()
        self._examples: Final[list[Sequence[Event]]] = []
        """Traces of representative events that are judged differently."""

    def answer(self) -> Separation:
        first, second = self._sets
        if self._have_equal_form():
            return Equal("form")
        self._look(range(self._budget.first_sessions))
        if self._best is None:
            if len(first) == len(second) == 1 and _has_table(first[0]) and _has_table(second[0]):  # noqa: SIM102
                if same_rule(first[0], second[0]):
                    return Equal("automata")
            if all([self._implies(first, second), self._implies(second, first)]):
                return Equal("event search")
        if self._best is None or not self._best.cost.is_clean:
            self._look(range(self._budget.first_sessions, self._budget.sessions))
        if self._best is None:
            tried = f"No difference was found in {self._budget.sessions} sessions, and equality was not proved."
            return NotSeparated(tried)
        return self._separated(self._shrunk(self._best))

    # Proofs

    def _have_equal_form(self) -> bool:
        one, other = (conjunction(normal_form(rule.parsed) for rule in rules) for rules in self._sets)
        return visibly_entails(one, other) and visibly_entails(other, one)

    def _implies(self, some: Sequence[Rule], others: Sequence[Rule]) -> bool:
        """Whether no trace of any length keeps some rules and breaks another. Traces that do are remembered."""
        tools, implied = read_tools(self._environment), not any(rule.is_timed for rule in (*some, *others))
        for rule in others:
            goal = Rule(id="goal", formula=str(s.Not(rule.parsed)))
            answer = find_trace(tools, [*some, goal], SEARCH_STEPS)
            implied = implied and isinstance(answer, Impossible)
            if isinstance(answer, Found):
                self._examples.append(answer.trace)
        return implied

    # Sessions

    def _look(self, numbers: range) -> None:
        """Draw sessions; repair those that are judged differently, until one breaks nothing else."""
        for number in numbers:
            script = self._drawn(number) if len(self._starts) < self._budget.starts else None
            found = None if script is None else self._assess(script)
            if found is None:
                continue
            found = self._shrunk(found)
            start = (*(call.tool for call in found.script.calls), *found.not_kept)
            if start in self._starts:
                continue
            self._starts.add(start)
            found = self._repaired(found)
            if self._best is None or found.cost < self._best.cost:
                self._best = found
            if found.cost.is_clean:
                return

    def _drawn(self, number: int) -> Script | None:
        """The beginning of a drawn session that is judged differently; None if all are judged alike."""
        desk, random = self._desk, self._random
        drawn = initial = desk.state(number)
        steps: Sequence[tuple[str, Bindings]]
        if number % 2 and self._examples:
            example = random.choice(self._examples)
            initial = desk.varied(drawn, self._values, random, [*_scalars([event.result for event in example])])
            steps = [(one.tool, {(one.tool, name): value for name, value in one.arguments.items()}) for one in example]
        else:
            initial = desk.varied(drawn, self._values, random) if number % 3 == 2 else drawn
            steps = [(random.choice(self._tools), NO_BINDINGS) for _ in range(random.randint(1, MOST_CALLS))]
        state = initial_search_state(self._environment, initial)
        for tool, bound in steps:
            if tool not in self._environment.tools:  # a message
                continue
            later = desk.wait(state, self._values, random)
            after = desk.call(self._environment.tools[tool], later, self._values, random, bound)
            if after is not None:
                state = after
                if self._outcomes(state.events, max(state.end, state.now)) is not None:
                    return desk.script(drawn, initial, state.events)
        return None

    def _outcomes(self, events: Sequence[Event], end: int) -> tuple[TraceOutcome, TraceOutcome] | None:
        """What the two do with a session; None if it is the same."""
        one, other = self._judges[0].outcome(events, end), self._judges[1].outcome(events, end)
        return None if one == other else (one, other)

    def _assess(
        self, script: Script, than: _Candidate | None = None, repaired: str | None = None, allowed: int = 0
    ) -> _Candidate | None:
        """A session that is judged differently, with what it lacks; None if it is judged alike.

        Args:
            than: a candidate than which it may break only so many rules more as are `allowed`.
            repaired: a rule that must no longer be broken.
        """
        events, end = script.execute(self._environment)
        outcomes = self._outcomes(events, end)
        judge = self._separator.judge
        if outcomes is None or (repaired is not None and judge.status(repaired, events, end).ending == "broken"):
            return None
        most, first = (None, ()) if than is None else (than.cost.broken + allowed, than.not_kept)
        not_kept = judge.not_kept(events, end, skipped=self._skipped, first=first, most=most)
        if not_kept is None:
            return None
        broken = sum(status.ending == "broken" for status in not_kept.values())
        cost = _Cost(
            unclear="undetermined" in outcomes,
            broken=broken,
            open=len(not_kept) - broken,
            odd=_odd(self._environment, events),
            calls=len(events),
            changed=len(_changes(script)),
            pauses=sum(call.pause > 0 for call in script.calls),
        )
        return _Candidate(script, cost, not_kept)

    # Repair

    def _repaired(self, found: _Candidate) -> _Candidate:
        """The candidate with changes after which fewer rules of the context are not kept, as far as some are found."""
        now, patience = found, PATIENCE
        for _ in range(self._budget.repairs):
            if not now.not_kept:
                break
            if not patience:
                now, patience = found, PATIENCE
            patience -= 1
            rule = self._random.choice([*now.not_kept])
            script = self._changed(now, rule)
            other = None if script is None else self._assess(script, than=found, repaired=rule, allowed=2)
            if other is None or (rule in other.not_kept and other.cost.main >= now.cost.main):
                continue
            now = other
            if now.cost.main < found.cost.main:
                found, patience = now, PATIENCE
        return found

    def _changed(self, found: _Candidate, name: str) -> Script | None:
        """A change that may make a rule kept; None if what was drawn is not possible."""
        desk, random, script = self._desk, self._random, found.script
        rule, status = self._separator.rules[name], found.not_kept[name]
        values = self._separator.values_of(rule)
        if values.fields and random.random() < 0.15:
            return replace(script, initial=desk.varied(script.initial, values, random))
        last = len(script.calls)
        where = status.violations[0].position if status.violations else status.first_irreparable
        where = last if where is None else where
        again = where < last and random.random() < 0.2
        if again or random.random() < 0.6:
            place = where if again or status.ending == "broken" else last
        else:
            place = random.randint(0, where if status.ending == "broken" else last)
        state = desk.after(script, place)
        tools = [script.calls[where].tool] if again else [one for one in values.tools if one in self._environment.tools]
        if state is None or not tools:
            return None
        tool = self._environment.tools[random.choice(tools)]
        state = desk.wait(state, values, random)
        after = desk.call(tool, state, values, random, values.bindings(_values_of(rule, status), rule.parsed))
        if after is None:
            return None
        made = desk.script(script.drawn, script.initial, after.events)
        return replace(made, calls=(*made.calls, *script.calls[place + again :]))

    # Shrinking

    def _shrunk(self, found: _Candidate) -> _Candidate:
        """The candidate without calls, pauses and changes of the start state that it does not need."""
        progress = True
        while progress:
            progress = False
            for script in _smaller(found.script):
                other = self._assess(script, than=found)
                if other is not None and other.cost < found.cost:
                    found, progress = other, True
                    break
        return found

    def _separated(self, found: _Candidate) -> Separated:
        events, end = found.script.execute(self._environment)
        outcomes = self._outcomes(events, end)
        assert outcomes is not None
        keys = {table: entity.key for table, entity in self._environment.entities.items()}
        changed = tuple((table, str(row.values[keys[table]]), name) for table, row, name in _changes(found.script))
        not_kept: dict[str, TraceOutcome] = {rule: OUTCOMES[one.ending] for rule, one in found.not_kept.items()}
        return Separated(found.script.initial, changed, tuple(events), end, *outcomes, not_kept)


def _has_table(rule: Rule) -> bool:
    return isinstance(rule.compiled, Automaton)


def _values_of(rule: Rule, status: RuleStatus) -> dict[str, Json]:
    """The values of variables for which a rule is not kept."""
    if status.violations:
        return dict(status.violations[0].values)
    return {rule.parsed.variables[0]: status.values[0]} if status.values and isinstance(rule.parsed, s.ForAll) else {}


def _smaller(script: Script) -> Iterator[Script]:
    """The script with one call or pause less, or with a field of the start state as it was drawn."""
    calls = script.calls
    if script.initial is not script.drawn:
        yield replace(script, initial=script.drawn)
    for number, call in reversed([*enumerate(calls)]):
        yield replace(script, calls=(*calls[:number], *calls[number + 1 :]))
        if call.pause and number + 1 < len(calls):
            later = replace(calls[number + 1], pause=calls[number + 1].pause + call.pause + 1)
            yield replace(script, calls=(*calls[:number], later, *calls[number + 2 :]))
        if call.pause:
            yield replace(script, calls=(*calls[:number], replace(call, pause=0), *calls[number + 1 :]))
    for table, changed, name in _changes(script):
        rows = tuple(
            Row({**row.values, name: drawn.values[name]}, row.present) if row is changed else row
            for row, drawn in zip(script.initial.tables[table], script.drawn.tables[table], strict=True)
        )
        yield replace(script, initial=script.initial.with_table(table, rows))


def _changes(script: Script) -> list[tuple[str, Row, str]]:
    """The fields of the start state that differ from the drawn one: table, row and field."""
    return [
        (table, row, name)
        for table, rows in script.initial.tables.items()
        if rows is not script.drawn.tables[table]
        for row, drawn in zip(rows, script.drawn.tables[table], strict=True)
        for name, value in row.values.items()
        if value != drawn.values[name]
    ]


def _odd(environment: Environment, events: Sequence[Event]) -> int:
    """How many calls do not complete, and how many arguments name rows that no result showed."""
    shown: set[str] = set()
    odd = 0
    for event in events:
        odd += not event.completed
        for parameter in environment.tools[event.tool].parameters:
            if isinstance(parameter.source, FromLookup):
                odd += sum(str(one) not in shown for one in _scalars(event.arguments.get(parameter.name)))
        shown.update(map(str, _scalars(event.result)))
    return odd


def _scalars(value: Json) -> Iterator[Json]:
    match value:
        case dict():
            for part in value.values():
                yield from _scalars(part)
        case list():
            for part in value:
                yield from _scalars(part)
        case None:
            pass
        case _:
            yield value
