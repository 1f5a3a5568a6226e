"""Questions about the rules of a set, over all calls of some tools.

    search = RuleSearch(rules, tools, prover)
    search.ask(search.violation("record-bill"), others)    # a trace that breaks it and keeps the others, or a proof

Which engine answers is decided here. Rules that have automata are asked about first, in products: a proof covers traces
of any length. Where rules with time, several variables or aggregates take part, representative events are searched,
from the empty trace on. That excludes all traces if the search ends and representatives are all that matter. That a
rule implies another may also be seen from their form. Rules are added lazily: while the trace found breaks some, they
are added and the search begins again. So each question is about a few rules and their tools.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import complement
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.entailment import visibly_entails
from lawtrace.solver.logic.normal_form import normal_form
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.core import minimal_core, without_needless
from lawtrace.solver.search.events.component import CompiledComponent, Component
from lawtrace.solver.search.events.event_search import decide
from lawtrace.solver.search.problem import Answer, Budget, Found, Impossible, Obstacle, Proof, Unknown
from lawtrace.solver.search.products import product_search as products
from lawtrace.solver.search.products.call_scopes import AbstractCall
from lawtrace.solver.search.products.prover import Prover

SEARCH_STEPS: Final = 3_000
"""How many steps a search may take that can only find a trace."""
EXHAUSTIVE_STEPS: Final = 30_000
"""How many if it can also exclude all traces."""
MAX_SHARE: Final = 3
"""The part of the budget of a rule set that one question may use."""
MOST_CALLS: Final = 4
"""The length of the traces that a search with times excludes: each call one edge of a window after the one before."""

Steps = Sequence[AbstractCall] | Sequence[Event]
RuleAnswer = Found[Steps] | Proof[Steps] | Unknown


@dataclass(frozen=True, slots=True)
class Goal:
    """What a trace is to reach.

    Attributes:
        rule: what is kept where it is reached.
        component: accepts the traces that reach it; None if there is no automaton.
        broken: the rule that is broken there, if that is the goal.
    """

    rule: Rule
    component: products.Component | None
    broken: str | None = None


class RuleSearch:
    """The rules of one set, in the forms that engines need.

    Attributes:
        rules: by id.
        bodies: the formula of each rule that has an automaton; of a quantified one its body for one value
            (`lawtrace.solver.search.products.product_search`).
        timed: the ids of the other rules.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        tools: Mapping[str, ToolSchema],
        prover: Callable[[], Prover],
        progress: Callable[[], None] = lambda: None,
        steps: int | None = None,
        budget: Budget | None = None,
    ) -> None:
        """`prover`: makes what searches products, when it is needed. `progress`: called before a search for events.
        `steps`: how many such a search may take; else many. `budget`: of all such searches together; none by default.
        """
        untimed = [rule for rule in rules if isinstance(rule.compiled, Automaton)]
        bodies = products.instance_bodies([rule.parsed for rule in untimed])
        self.rules: Final = {rule.id: rule for rule in rules}
        self.bodies: Final = {rule.id: body for rule, body in zip(untimed, bodies, strict=True)}
        self.timed: Final = tuple(rule.id for rule in rules if rule.id not in self.bodies)
        self._components: Final[dict[str, products.Component]] = {}
        self._violations: Final[dict[str, Goal]] = {}
        self._tools: Final = tools
        self._steps: Final = steps
        self._budget: Final = budget
        self._share: Budget | None = None
        self._make_prover: Final = prover
        self._progress: Final = progress
        self._compliant: Final[list[Sequence[Event]]] = []
        self._monitors: Final[dict[int, tuple[Rule, Monitor]]] = {}

    @cached_property
    def prover(self) -> Prover:
        """What searches products."""
        return self._make_prover()

    # Goals

    def violation(self, rule: str) -> Goal:
        """That a rule is broken."""
        if rule not in self._violations:
            body, broken = self.bodies.get(rule), s.Not(self.rules[rule].parsed)
            component = None if body is None else products.Component(complement(compile_formula(body)))
            self._violations[rule] = Goal(_as_rule(broken), component, rule)
        return self._violations[rule]

    # Answers

    def ask(self, goal: Goal, kept: Collection[str], *, free: bool = False) -> RuleAnswer:
        """A trace that keeps some rules and reaches the goal, or a proof.

        `free`: whether products go through any calls, not only those that meet the environment's preconditions.
        """
        in_order = [rule for rule in self.rules if rule in kept]
        if self._budget is not None:
            self._share = Budget(self._budget.steps // MAX_SHARE, self._budget)
        if goal.component is not None:
            automata = {rule: self._component(rule) for rule in in_order if rule in self.bodies}
            prove = self.prover.prove_free if free else self.prover.prove
            answer = prove(goal.component, automata)
            if isinstance(answer, Proof) or len(automata) == len(in_order):
                return answer
        for rule in in_order:
            if goal.broken is not None and visibly_entails(self._normal[rule], self._normal[goal.broken]):
                return self._needed([rule], goal, "The form of the rules shows it.", None)
        return self._search_lazily(goal, in_order)

    def known_trace(self, goal: Goal) -> Sequence[Event] | None:
        """A trace that keeps all rules and reaches the goal, if one has been found before."""
        return next((events for events in self._compliant if self._is_kept(goal.rule, events)), None)

    def _is_kept(self, rule: Rule, events: Sequence[Event]) -> bool:
        """Whether a trace keeps a rule. Each rule has one monitor, which is made when it is needed."""
        if id(rule) not in self._monitors:
            self._monitors[id(rule)] = rule, Monitor({rule.id: rule.compiled})
        _, monitor = self._monitors[id(rule)]
        monitor.clear()
        return monitor.run(events).all_kept()

    def _component(self, rule: str) -> products.Component:
        """The automaton of a rule, made when it is needed."""
        if rule not in self._components:
            self._components[rule] = products.Component(compile_formula(products.overapproximation(self.bodies[rule])))
        return self._components[rule]

    def _search_lazily(self, goal: Goal, kept: Sequence[str]) -> RuleAnswer:
        rules, added = [self.rules[rule] for rule in kept], list[Rule]()
        while isinstance(answer := self._search([*added, goal.rule]), Found):
            trace = answer.trace
            missed = [rule for rule in rules if rule not in added and not self._is_kept(rule, trace)]
            if not missed:
                events = self._shortened(trace, [*rules, goal.rule])
                if len(kept) == len(self.rules):
                    self._compliant.append(events)
                return Found(events)
            added += missed[: 1 + len(added) // 4]
        if isinstance(answer, Unknown):
            return answer
        names = [rule.id for rule in added]
        if any(rule.is_timed for rule in (*added, goal.rule)):
            shown = "The search found no exception; longer traces were not searched."
            return self._needed(names, goal, shown, MOST_CALLS)
        return self._needed(names, goal, "The search found no exception.", None)

    def _needed(self, rules: Sequence[str], goal: Goal, shown: str, calls: int | None) -> Proof[Steps]:
        """The proof with all unnecessary rules removed, the last ones first."""
        without: dict[str, Steps] = {}

        def excludes(rule: str, others: Sequence[str]) -> bool:
            kept = [*(self.rules[other] for other in reversed(others)), goal.rule]
            answer = self._search(kept)
            if isinstance(answer, Found):
                without[rule] = self._shortened(answer.trace, kept)
            return isinstance(answer, Impossible)

        core = minimal_core([rule for rule in reversed(self.rules) if rule in rules], excludes)[::-1]
        shown_without = {rule: without[rule] for rule in core if rule in without}
        return Proof(tuple(Obstacle("rule", rule) for rule in core), calls, shown=shown, without=shown_without)

    def _search(self, rules: Sequence[Rule]) -> Answer[Sequence[Event]]:
        self._progress()
        return find_trace(self._tools, rules, self._steps, self._share)

    def _shortened(self, events: Sequence[Event], rules: Sequence[Rule]) -> Sequence[Event]:
        """The trace without events that the rules do not need."""
        return without_needless(events, lambda fewer: all(self._is_kept(rule, fewer) for rule in rules))

    @cached_property
    def _normal(self) -> Mapping[str, s.Formula]:
        return {name: normal_form(rule.parsed) for name, rule in self.rules.items()}


@lru_cache(maxsize=1024)  # a goal asked for twice is the same component, so that the prover recognises it
def occurrence(plain: s.Formula | None, formula: s.Formula) -> Goal:
    """That something occurs at some step. `plain`: the same for automata, if there is one."""
    component = None if plain is None else products.Component(compile_formula(s.Eventually(plain)))
    return Goal(_as_rule(s.Eventually(formula)), component)


def find_trace(
    tools: Mapping[str, ToolSchema], rules: Sequence[Rule], steps: int | None = None, within: Budget | None = None
) -> Answer[Sequence[Event]]:
    """A trace of events of some tools that keeps all rules.

    `steps`: how many the search may take; else many. `within`: of which each takes one for each rule.
    """
    try:
        component = Component(CompiledComponent(rules, tools))
    except FormulaError:  # the negation of a rule may have no monitor
        return Unknown("a rule has no monitor")
    component.advance_time(DEFAULT_START)
    steps = steps or (SEARCH_STEPS if component.vocabulary.inexact else EXHAUSTIVE_STEPS)
    return decide(component, (), DEFAULT_START, Budget(steps, within, cost=len(rules)))


def _as_rule(formula: s.Formula) -> Rule:
    return Rule(id="goal", formula=str(formula))
