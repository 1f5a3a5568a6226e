"""A bank of sessions on which rule sets are compared. The simulator has carried out each of them.

    reference    a lawful session: of a released task, or searched for, with something that a request can be about
    mutant       a reference with one change (`lawtrace.solver.coverage.mutants`), or with a pause, up to a date or the
                 end of a period with which the rules compare times, or of any length; no result is made up
    breach       breaks one of the rules, and none of the others where such a session was found
    random       calls that are drawn

What is drawn depends on the environment, the rules and the seed only, so the same sessions judge every rule set.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal

from lawtrace.environments.runtime.simulation import call_duration
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import SPEAKERS, Event, message_event
from lawtrace.solver.coverage.mutants import Mutant, calls_of, step_name
from lawtrace.solver.coverage.mutations import execute_mutant, mutants_of
from lawtrace.solver.coverage.timed_mutants import time_of
from lawtrace.solver.logic.conditions import subconditions
from lawtrace.solver.logic.syntax import Atom, atoms_of
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.values import constants
from lawtrace.solver.search.problem import Budget, Found
from lawtrace.solver.separation.separation import Separator, count_odd
from lawtrace.solver.separation.sessions import RuleValues, Script, SessionSampler
from lawtrace.solver.traces import PlannedCall, Trace

SEARCH_STEPS: Final = 300
"""How many sessions are drawn and executed in the search for one lawful or unlawful session."""
MOST_CALLS: Final = 8
"""How many calls a random session has at most, without look-ups."""
MOST_PAUSES: Final = 4
"""Before how many times each call of a reference is delayed."""
SEARCHES: Final = 4
"""How often a lawful session is searched for one tool, until all its arguments are shown by results or may be said."""
TWO_TOOLS: Final = 0.3
"""How often a reference has calls of a second tool."""
OTHER_TOOL: Final = 0.3
"""How often a call is of any tool, not of one that the rules name."""

SessionKind = Literal["reference", "mutant", "breach", "random"]


@dataclass(frozen=True, slots=True)
class BankSession:
    """A session to the end. ``about``: the change of a mutant, the rule of a breach; ``end``: seconds since 1970."""

    kind: SessionKind
    about: str
    events: tuple[Event, ...]
    end: int


def make_sessions(
    environment: Environment,
    rules: Sequence[Rule],
    context: Sequence[Rule],
    *,
    count: int,
    seed: int,
    traces: Sequence[Trace] = (),
    progress: Callable[[], None] = lambda: None,
) -> tuple[BankSession, ...]:
    """The sessions for a comparison with some rules, each once.

    Args:
        rules: whose tools, limits and periods the sessions are about; all of the law.
        context: rules that references keep, and those of the law among them breaches, if possible.
        count: of references; of random sessions there are ten times as many.
        traces: references; without any, they are searched for.
        progress: called for each reference, breach and random session.
    """
    bank = _Bank(environment, rules, context, seed)
    chosen = Random(f"{environment.name}/bank/{seed}").sample([*traces], min(count, len(traces)))
    found: dict[str, BankSession] = {}
    for one in bank.sessions(chosen, count, progress):
        found.setdefault(f"{one.events} {one.end}", one)
    return tuple(found.values())


class _Bank:
    def __init__(self, environment: Environment, rules: Sequence[Rule], context: Sequence[Rule], seed: int) -> None:
        self._environment: Final = environment
        self._rules: Final = rules
        self._context: Final = context
        self._seed: Final = seed
        self._sampler: Final = SessionSampler(environment, context)
        self._values: Final = RuleValues(rules, environment, environment.clock.start(self._sampler.state(0)))
        self._tools: Final = [tool for tool in self._values.tools if tool in environment.tools]
        self._messages: Final = [*dict.fromkeys(_messages(rules))]

    def sessions(self, traces: Sequence[Trace], count: int, progress: Callable[[], None]) -> Iterator[BankSession]:
        for number in range(len(traces) or count):
            trace = traces[number] if traces else self._lawful(number)
            if trace is not None:
                yield from self._with_mutants(trace, number)
            progress()
        law = [rule for rule in self._context if rule.source == "law"]
        separator = Separator(self._environment, law, self._seed)
        for rule in self._rules:
            found = separator.separate([rule], [], Budget(SEARCH_STEPS))
            if not isinstance(found, Found):
                alone = Separator(self._environment, (), self._seed)
                found = alone.separate([rule], [], Budget(SEARCH_STEPS))
            if isinstance(found, Found):
                yield BankSession("breach", f"breaks {rule.id}", found.trace.events, found.trace.end)
            progress()
        for number in range(10 * count):
            yield self._drawn(Random(f"{self._environment.name}/bank/{self._seed}/random/{number}"), number)
            progress()

    def _tool(self, random: Random) -> str:
        any_tool = not self._tools or random.random() < OTHER_TOOL
        return random.choice([*self._environment.tools] if any_tool else self._tools)

    def _lawful(self, number: int) -> Trace | None:
        """A session that keeps the context and does what a request can be about; None if the search finds none."""
        random = Random(f"{self._environment.name}/bank/{self._seed}/lawful/{number}")
        asked = [tool for tool in RequestWriter(self._environment).changes if tool in self._tools]
        asked = asked or self._tools or [*self._environment.tools]
        first = asked[number % len(asked)]
        second = self._tool(random) if random.random() < TWO_TOOLS else first
        both, one = f"G !{Atom(first)} | G !{Atom(second)}", f"G !{Atom(first)}"
        for tried, formula in enumerate((both, *[one] * SEARCHES)):
            seed = self._seed * 1_000 + number + 100_000 * tried
            separator = Separator(self._environment, self._context, seed, first_state=2 * number + tried)
            found = separator.separate([], [Rule(id="(not called)", formula=formula)], Budget(SEARCH_STEPS))
            if isinstance(found, Found) and not count_odd(self._environment, found.trace.events):
                events = (PlannedCall(event, {}) for event in found.trace.events)  # whose arguments have no origin
                return Trace(found.trace.initial, tuple(events), found.trace.initial)
        return None

    def _with_mutants(self, trace: Trace, number: int) -> Iterator[BankSession]:
        pauses = {place: seconds for place, seconds in enumerate(self._pauses(trace.events)) if seconds}
        as_made = Mutant("late", f"reference {number + 1}", calls_of(trace))
        for mutant in (as_made, *mutants_of(self._environment, self._rules, trace), *self._delayed(trace, number)):
            if mutant.answers:  # nothing but the simulator says what a call returns
                continue
            waited = {place: pauses.get(place, 0) + mutant.pauses.get(place, 0) for place in range(len(mutant.calls))}
            events, end = execute_mutant(self._environment, trace.initial, replace(mutant, pauses=waited))
            kind: SessionKind = "reference" if mutant is as_made else "mutant"
            yield BankSession(kind, mutant.change, tuple(events), end)

    def _pauses(self, events: Sequence[Event]) -> Iterator[int]:
        """The seconds before each call in which nothing happens."""
        ended: int | None = None
        for event in events:
            yield 0 if ended is None else time_of(event) - ended
            ended = time_of(event) + call_duration(self._environment, event)

    def _delayed(self, trace: Trace, number: int) -> Iterator[Mutant]:
        """Each call just before or after some dates and ends of periods that the rules read, and at any time."""
        script = self._sampler.script(trace.initial, trace.initial, trace.events)
        random = Random(f"{self._environment.name}/bank/{self._seed}/pauses/{number}")
        for place, event in enumerate(trace.events):
            state, now = self._sampler.after(script, place), time_of(event)
            if state is None or now + 1 >= state.end:
                continue
            times = self._values.times(state.events, now, state.end)
            for time in (*random.sample(times, min(MOST_PAUSES, len(times))), random.randrange(now + 1, state.end)):
                wait = time - now
                yield Mutant("late", f"{step_name(trace, place)} {wait} s later", calls_of(trace), pauses={place: wait})

    def _drawn(self, random: Random, number: int) -> BankSession:
        initial = self._sampler.state(number)
        if random.random() < 0.5:
            initial = self._sampler.varied(initial, self._values, random)
        script = Script(initial, initial)
        for _ in range(random.randint(1, MOST_CALLS)):
            goal, place = Atom(self._tool(random)), len(script.calls)
            script = self._sampler.meet(script, place, [goal], self._values, random, {}, Budget(100)) or script
        if random.random() < 0.5:
            script = self._sampler.later(script, self._values, random) or script
        events, end = script.execute(self._environment)
        for speaker, text in self._messages:
            if random.random() < 0.5:
                place, start = random.randint(0, len(events)), self._environment.clock.start(initial)
                time = time_of(events[min(place, len(events) - 1)]) if events else start
                events.insert(place, message_event(speaker, text, time))
        return BankSession("random", f"random session {number + 1}", tuple(events), end)


def _messages(rules: Sequence[Rule]) -> Iterator[tuple[str, str]]:
    """Messages with the words for which the rules look, by speaker."""
    for atom in atoms_of([rule.parsed for rule in rules]):
        if atom.tool in SPEAKERS:
            parts = subconditions(atom.condition) if atom.condition else ()
            yield atom.tool, " ".join(str(value) for part in parts for value in constants(part)) or "Hello."
