"""Separation: a trace that two rules or rule sets judge differently and that breaks nothing else, or a proof that
there is none.

    sessions    drawn from what must happen to break a rule of one set and to keep one of the other
                (`lawtrace.solver.separation.demands`, `lawtrace.solver.separation.sessions`)
    repair      calls are added, changed and left out, and the start state is varied, until the other set and the
                context are kept: a rule that is not is chosen, and what may make it kept is tried (as WalkSAT does)
    proofs      that rules imply each other, alone or with the context (`lawtrace.solver.search.rule_search`)
    shrinking   calls, times and changes of the start state that the difference does not need are taken back

A *separating trace* is executed in the simulator to the end of its session; where the tools have schemas only, its
results are made up (`lawtrace.solver.separation.free_sessions`). All draws have fixed seeds, and a step of
the budget is a session that is drawn or executed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from random import Random
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Row
from lawtrace.environments.spec.tools import FromLookup
from lawtrace.schemas.events import SPEAKERS, Event, Json, scalars
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.guard.tools import read_tools
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.signature import Signature, simulated_signature
from lawtrace.solver.monitoring.rule_status import RuleStatus
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.core import minimal_core
from lawtrace.solver.search.problem import Budget, Found, Proof, Unknown
from lawtrace.solver.search.products.call_scopes import free_scope
from lawtrace.solver.search.products.prover import Prover
from lawtrace.solver.separation.answers import (
    BY_TYPES,
    Judge,
    SeparatingTrace,
    Separation,
    have_equal_form,
    prove_equal,
)
from lawtrace.solver.separation.demands import Demand, demands, forbidden, needed_calls
from lawtrace.solver.separation.free_sessions import FreeSampler
from lawtrace.solver.separation.sessions import RuleValues, Script, SessionSampler

STEPS: Final = 6_000
"""How many sessions are drawn and executed for one question."""
FIRST_STEPS: Final = 200
"""After how many steps proofs are tried."""
MOST_CALLS: Final = 8
"""How many calls a drawn session has at most, without look-ups."""
REPAIRS, BEST = 60, 8
"""How many changes of a session are tried in one repair, and of how many sessions this is tried again."""
DRAWS: Final = 30
"""How often the demands of two rules are drawn until none excludes another."""
APART, LATER, AGAIN = 0.3, 0.4, 0.1
"""How often the variables of two rules have different values, and a call about others is added; how often a call that
is drawn waits for the bound of a window; and how often one of the best sessions is repaired again."""
PATIENCE: Final = 20
"""After how many executions without progress a repair starts again from the best trace so far."""


@dataclass(frozen=True, order=True, slots=True)
class _Cost:
    """What a session lacks that is to keep one of two rule sets and the context, the worst first.

    Attributes:
        alike: how many rules of the one to be kept are not.
        broken: how many rules of the context are broken by an event.
        open: how many others are not kept at the end.
        odd: arguments that no result showed, and calls that do not complete.
    """

    alike: int
    broken: int
    open: int
    odd: int

    @property
    def main(self) -> tuple[int, int, int]:
        return self.alike, self.broken, self.open

    @property
    def is_clean(self) -> bool:
        return not any(self.main)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A session that breaks one rule set, and is to keep the other and the context.

    Attributes:
        kept: which is to be kept, 0 or 1.
        alike: its rules that are not kept.
        others: the rules of the context that are not.
    """

    script: Script
    kept: int
    cost: _Cost
    alike: Mapping[str, RuleStatus]
    others: Mapping[str, RuleStatus]

    @property
    def not_kept(self) -> Mapping[str, RuleStatus]:
        return {**self.alike, **self.others}


class Separator:
    """Answers questions about rule sets in one environment and context.

    The context are rules that a separating trace keeps. Rules of the two sets among them do not count, nor those that
    are under other readings of open questions.
    """

    def __init__(
        self,
        environment: Environment,
        context: Sequence[Rule],
        seed: int = 1,
        progress: Callable[[], None] = lambda: None,
        first_state: int = 0,
    ) -> None:
        """`seed`: of all draws. `progress`: called for each session that is drawn. `first_state`: the number of the
        start state with which the draws begin."""
        self.first_state: Final = first_state
        self.environment: Final = environment
        self.seed: Final = seed
        self.progress: Final = progress
        self.rules: Final = {rule.id: rule for rule in context}
        self.judge: Final = Judge(self.rules)
        self.prover: Final = Prover(scope := free_scope(environment, messages=True), scope)
        self.tools: Final = read_tools(environment)
        self.signature: Final = simulated_signature(environment)
        self.values: Final[dict[str, RuleValues]] = {}

    @cached_property
    def sampler(self) -> SessionSampler:
        """What draws sessions that the simulator can carry out."""
        return SessionSampler(self.environment, [*self.rules.values()])

    def skipped(self, both: Sequence[Rule]) -> set[str]:
        """The rules of the context that do not count: those of the two sets, and those under other readings."""
        apart = (name for name, rule in self.rules.items() if any(_exclude_each_other(rule, one) for one in both))
        return {*(rule.id for rule in both), *apart}

    def separate(self, first: Sequence[Rule], second: Sequence[Rule], budget: Budget | None = None) -> Separation:
        """Whether two rule sets, taken as conjunctions, judge a trace differently."""
        budget = budget or Budget(STEPS)
        sets = [{f"{side}/{rule.id}": rule for rule in rules} for side, rules in enumerate((first, second))]
        nothing: Signature = {}
        for signature, by in ((nothing, ""), (self.signature, BY_TYPES)):
            if have_equal_form(sets, signature):
                return Proof(shown=f"Their normal forms imply each other.{by}")
        skipped = self.skipped([*first, *second])
        context = {name: rule for name, rule in self.rules.items() if name not in skipped}
        question = _Question(self, sets, context, budget)
        for steps, kept in ((min(FIRST_STEPS, budget.steps), {}), (budget.steps, context)):
            found = question.look(steps)
            if found is not None:
                return Found(found)
            if proof := prove_equal(sets, kept, self.prover, self.tools, self.signature):
                return proof
        return Unknown(question.why)


class _Question:
    """One question of a `Separator`."""

    def __init__(
        self, separator: Separator, sets: Sequence[Mapping[str, Rule]], context: Mapping[str, Rule], budget: Budget
    ) -> None:
        self._separator: Final = separator
        self._environment: Final = separator.environment
        rules = [rule for several in (*sets, context) for rule in several.values()]
        free = None if separator.environment.simulated else FreeSampler(rules, separator.tools)
        self._sampler: Final = free or separator.sampler
        self._formulas: Final = [[*map(_at_each_step, rules.values())] or [s.Top()] for rules in sets]
        self._judges: Final = [Judge(rules) for rules in sets]
        self._rules: Final = {**separator.rules, **sets[0], **sets[1]}
        both = [*sets[0].values(), *sets[1].values()]
        self._skipped: Final = separator.rules.keys() - context.keys()
        self._budget: Final = budget
        self._start: Final = separator.environment.clock.start(self._sampler.state(0))
        self._values: Final = RuleValues(both, self._environment, self._start)
        known = {*separator.environment.tools, *(() if free is None else SPEAKERS)}
        self._tools: Final = [name for name in self._values.tools if name in known]
        self._named: Final = [atom for atom in s.atoms_of([rule.parsed for rule in both]) if atom.variables]
        self._random: Final = Random(f"{separator.environment.name}/separation/{separator.seed}")
        self._drawn = separator.first_state
        self._near = list[_Candidate]()
        self._starts: Final[set[tuple[object, ...]]] = set()

    @property
    def why(self) -> str:
        """Why there is no answer."""
        if not self._near:
            return "no session that was tried is judged differently, and equality was not proved"
        missed = ", ".join(self._near[0].not_kept)
        return f"the sessions found that are judged differently do not keep other rules: {missed}"

    # Sessions

    def look(self, steps: int) -> SeparatingTrace | None:
        """Draw sessions that break one rule set; repair them, until one keeps the other and the context."""
        while self._budget.steps - self._budget.left < steps and self._budget.spend():
            again = bool(self._near) and self._random.random() < AGAIN
            found = self._random.choice(self._near) if again else self._draw()
            if found is None:
                continue
            found = self._shrunk(found)
            start = (found.kept, *(call.tool for call in found.script.calls), *found.not_kept)
            if start in self._starts and not again and self._random.random() < 0.7:
                continue
            self._starts.add(start)
            found = self._repaired(found)
            if not found.cost.alike:
                self._near = sorted([*self._near, found], key=lambda one: one.cost)[:BEST]
            if found.cost.is_clean:
                script = self._shrunk(found).script
                events, end = script.execute(self._environment)
                return SeparatingTrace(script.initial, tuple(events), end, *self._outcomes(events, end))
        return None

    def _draw(self) -> _Candidate | None:
        """A drawn session that is judged differently, else one that both break; None if it is neither."""
        sampler, random, number = self._sampler, self._random, self._drawn
        self._drawn += 1
        self._separator.progress()
        drawn = sampler.state(number)
        initial = sampler.varied(drawn, self._values, random) if random.random() < 0.2 else drawn
        apart = bool(self._named) and random.random() < APART
        if random.random() < 0.3:
            tools = self._tools if random.random() < 0.6 else [*self._environment.tools]
            groups = [(0, [s.Atom(random.choice(tools))]) for _ in range(random.randint(1, MOST_CALLS))]
        else:
            groups = self._demanded(number % 2, apart=apart)
        script, bound, before = Script(drawn, initial), dict[str, Json](), 0
        for step, group in groups:
            place, length = before if step < 0 else len(script.calls), len(script.calls)
            script = sampler.meet(script, place, group, self._values, random, bound, self._budget) or script
            if not script.calls:
                return None
            before += len(script.calls) - length if step < 0 else 0
        if apart:
            other = random.choice(self._named)
            goal = other if random.random() < 0.5 else s.Atom(other.tool)
            script = sampler.meet(script, 0, [goal], self._values, random, {}, self._budget) or script
        if self._values.windows and random.random() < LATER:
            script = sampler.later(script, self._values, random) or script
        outcomes = self._outcomes(*script.execute(self._environment))
        if "broken" not in outcomes:
            return None
        alike = outcomes[0] == outcomes[1]
        return self._assess(script, number % 2 if alike else 1 - outcomes.index("broken"))

    def _demanded(self, kept: int, *, apart: bool) -> list[tuple[int, list[s.Atom]]]:
        """Calls that may keep a rule of one set and break one of the other, by step: first those of the step that
        breaks it, then what comes before, and what comes after.

        `apart`: whether the variables of the rules have different values.
        """
        random, found = self._random, list[list[Demand]]()
        for _ in range(DRAWS):
            formulas = [random.choice(self._formulas[side]) for side in (1 - kept, kept)]
            found = [[*demands(formula, bool(side), random)] for side, formula in enumerate(formulas)]
            every = [one for one in found[0] if not apart or not s.free_variables(one.formula)] + found[1]
            if not any(one.excludes(other) for one in every for other in every):
                break
        groups: dict[tuple[int, str | s.Formula], list[s.Atom]] = {}
        for own, others in (found, found[::-1]):
            for one, atoms in needed_calls(own, () if apart else others):
                group = groups.setdefault((one.step, atoms[0].tool if not one.step else one.formula), [])
                group += [atom for atom in atoms if atom not in group]
        return [(step, groups[step, name]) for step, name in sorted(groups, key=lambda key: (key[0] != 0, key[0]))]

    def _outcomes(self, events: Sequence[Event], end: int) -> tuple[TraceOutcome, TraceOutcome]:
        return self._judges[0].outcome(events, end), self._judges[1].outcome(events, end)

    def _assess(self, script: Script, kept: int, than: _Candidate | None = None, allowed: int = 0) -> _Candidate | None:
        """A session with what it lacks; None if it does not break the rule set that it is to break.

        `than`: a candidate than which it may break only so many rules more as are `allowed`.
        """
        self._budget.spend()
        events, end = script.execute(self._environment)
        if self._judges[1 - kept].outcome(events, end) != "broken":
            return None
        alike = self._judges[kept].not_kept(events, end) or {}
        most = inf if than is None else than.cost.broken + allowed
        others = self._separator.judge.not_kept(
            events, end, skipped=self._skipped, first=() if than is None else than.others, most=most
        )
        if others is None:
            return None
        broken = sum(status.ending == "broken" for status in others.values())
        cost = _Cost(len(alike), broken, len(others) - broken, count_odd(self._environment, events))
        return _Candidate(script, kept, cost, alike, others)

    # Repair

    def _repaired(self, found: _Candidate) -> _Candidate:
        """The candidate with changes after which fewer rules are not kept, as far as some are found."""
        now, patience = found, PATIENCE
        for _ in range(REPAIRS):
            if now.cost.is_clean or self._budget.left < 0:
                break
            if not patience:
                now, patience = found, PATIENCE
            patience -= 1
            rule = self._random.choice([*now.not_kept])
            script = self._changed(now, rule)
            other = None if script is None else self._assess(script, now.kept, found, allowed=2)
            if other is None or (rule in other.not_kept and other.cost.main > now.cost.main):
                continue
            now = other
            if now.cost < found.cost:
                found, patience = now, PATIENCE
        return found

    def _changed(self, found: _Candidate, name: str) -> Script | None:
        """A change that may make a rule kept; None if what was drawn is not possible."""
        sampler, random, script = self._sampler, self._random, found.script
        rule, status = self._rules[name], found.not_kept[name]
        values, calls = self._values_of(name), script.calls
        last, move = len(calls), random.random()
        where = status.violations[0].position if status.violations else status.first_irreparable
        where = last if where is None else min(where, last)
        bound, (events, _) = _bound_values(rule, status), script.execute(self._environment)
        if move < 0.2 and values.fields and isinstance(sampler, SessionSampler):
            shown = [*map(str, scalars([event.result for event in events]))]
            fields = {name: random.choice([[], [*bound.values()], values.met(name, events)]) for name in values.fields}
            return replace(script, initial=sampler.with_other_field(script.initial, values, random, shown, fields))
        if move < 0.3 and calls:
            number = random.choice([min(where, last - 1), random.randrange(last)])
            return replace(script, calls=(*calls[:number], *calls[number + 1 :]))
        drawn = [*demands(_at_each_step(rule), True, random)]
        if move < 0.45 and where < last:
            without = replace(script, calls=(*calls[:where], *calls[where + 1 :]))
            goals = [s.Atom(calls[where].tool), *forbidden(drawn, events[where].tool)]
            return sampler.meet(without, where, goals, values, random, bound, self._budget)
        if move < 0.55 and values.windows:
            return sampler.later(script, values, random)
        before = random.choice([where, where, random.randint(0, where)])
        after = random.choice([last, last, random.randint(min(where + 1, last), last)])
        needed = needed_calls(drawn)
        for step, goals in sorted(((demand.step, goals) for demand, goals in needed), key=lambda one: one[0]):
            if step == 0 or any(goals[0].matches(event, bound) for event in events):
                continue
            made = sampler.meet(script, before if step < 0 else after, goals, values, random, bound, self._budget)
            if made is not None:
                added = len(made.calls) - len(script.calls)
                before, after, script = before + (added if step < 0 else 0), after + added, made
        return None if script is found.script else script

    def _values_of(self, name: str) -> RuleValues:
        """What a rule compares calls with."""
        known = self._separator.values
        if name in self._separator.rules:
            known[name] = known.get(name) or RuleValues([self._rules[name]], self._environment, self._start)
            return known[name]
        return self._values

    # Shrinking

    def _shrunk(self, found: _Candidate) -> _Candidate:
        """The candidate without calls, times and changes of the start state that it does not need."""

        def unneeded(_: _Part, rest: Sequence[_Part]) -> bool:
            nonlocal found
            other = self._assess(_reduced(whole, rest), found.kept, found)
            if other is None or other.cost > found.cost:
                return False
            found = other
            return True

        single = False  # rows of the start state first, then their fields
        while True:
            whole = found.script
            minimal_core([*_parts(whole, single=single)], unneeded)
            if single and found.script is whole:
                return found
            single = True


_Part = tuple[str, int | tuple[int, str]]
"""A part of a script: a call or its time, or a changed row or field of the start state by its table."""


def _parts(script: Script, *, single: bool) -> Iterator[_Part]:
    """The parts that may be left out: the changes of the start state, the calls from the last one on, their times."""
    for table, rows in script.initial.tables.items():
        for number, (row, drawn) in enumerate(zip(rows, script.drawn.tables[table], strict=True)):
            changed = [name for name, value in row.values.items() if value != drawn.values[name]]
            if single:
                yield from ((table, (number, name)) for name in changed)
            elif changed:
                yield table, number
    yield from (("", number) for number in reversed(range(2 * len(script.calls))) if not number % 2)
    yield from (("", 2 * number + 1) for number, call in enumerate(script.calls) if call.at)


def _reduced(script: Script, parts: Sequence[_Part]) -> Script:
    """The script with some of its parts only."""
    kept, initial = frozenset(parts), script.drawn
    for table, rows in script.initial.tables.items():
        if rows is not script.drawn.tables[table]:
            merged = [
                row
                if (table, number) in kept
                else Row(
                    {name: (row if (table, (number, name)) in kept else drawn).values[name] for name in row.values},
                    row.present,
                )
                for number, (row, drawn) in enumerate(zip(rows, script.drawn.tables[table], strict=True))
            ]
            initial = initial.with_table(table, tuple(merged))
    calls = (
        call if ("", 2 * number + 1) in kept else replace(call, at=0)
        for number, call in enumerate(script.calls)
        if ("", 2 * number) in kept
    )
    return Script(script.drawn, initial, tuple(calls))


def _at_each_step(rule: Rule) -> s.Formula:
    """What has to be true at each step, if that is what the rule says, else the rule."""
    body = s.body_of(rule.parsed)
    parts = body.operands if isinstance(body, s.And) else (body,)
    inner = [part.operand for part in parts if isinstance(part, s.Always)]
    return body if len(inner) < len(parts) else s.And(*inner) if len(inner) > 1 else inner[0]


def _exclude_each_other(one: Rule, other: Rule) -> bool:
    """Whether no reading of an open question makes both rules active."""
    return any(not {*readings} & {*other.under.get(question, readings)} for question, readings in one.under.items())


def _bound_values(rule: Rule, status: RuleStatus) -> dict[str, Json]:
    """The values of variables for which a rule is not kept."""
    if status.violations:
        return dict(status.violations[0].values)
    return {rule.parsed.variables[0]: status.values[0]} if status.values and isinstance(rule.parsed, s.ForAll) else {}


def count_odd(environment: Environment, events: Sequence[Event]) -> int:
    """How many calls do not complete, and how many arguments name rows that no result showed."""
    shown: set[str] = set()
    odd = 0
    for event in events:
        odd += not event.completed
        tool = environment.tools.get(event.tool)
        for parameter in () if tool is None else tool.parameters:
            if isinstance(parameter.source, FromLookup):
                odd += sum(str(one) not in shown for one in scalars(event.arguments.get(parameter.name)))
        shown.update(map(str, scalars(event.result)))
    return odd
