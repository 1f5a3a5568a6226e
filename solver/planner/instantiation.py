"""Arguments for a tool sequence: each with an origin, so that every call completes and stays on the plan.

The product says which product states can still accept. Arguments are sampled
(`lawtrace.solver.planner.argument_choices`), the simulator runs the call, and the product state afterwards must accept
the rest of the sequence. If it does not, other arguments are sampled. Rules without a table (time, objects, sums) are
followed by monitors: a call after which one of them is broken is sampled anew, too. Where samples do not suffice, Z3
chooses all arguments, and the calls are replayed with them.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, cast

from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.planner.product import Product, ProductState
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.smt.call_encoding import rename
from lawtrace.solver.search.smt.sequence_encoding import SolvedSequence
from lawtrace.solver.traces import PlannedCall, Trace

ARGUMENT_REDRAWS = 24
"""How often the arguments of a call are sampled if it is refused or leaves the plan."""
RULE_REDRAWS = 4
"""How often they are sampled if the call breaks a rule about time, sums or several objects. A rule about one object is
broken by some of a few objects, so all redraws may be used."""
STEPS_BACK = 8
"""How often a walk goes back to an earlier call whose object a rule compares with that of a call that breaks it."""


class Walk:
    """A tool sequence whose first calls have arguments."""

    def __init__(
        self, product: Product, tools: tuple[str, ...], initial: SearchState, rules: Sequence[Rule], random: Random
    ) -> None:
        """`rules`: those that the product does not decide."""
        self._product = product
        self._environment = product.environment
        self._chooser = product.system.argument_chooser
        self._random = random
        self._tools = tools
        self._search_states: list[SearchState] = [initial]
        self._choices: list[CallChoice] = []
        self._rules = _RulesSoFar(rules)
        self._broken = 0
        start = product.initial_state(self._search_states[0])
        self._product_states: list[ProductState] = [] if start is None else [start]
        self.can_start = start is not None and product.accepts_sequence(start.node, tools)
        """Whether the plan accepts the sequence from this initial state."""

    @property
    def initial(self) -> State:
        return self._search_states[0].state

    @property
    def broke_a_rule(self) -> bool:
        """Whether the samples of the last call broke a rule, of which only an evaluation of the whole trace decides."""
        return self._broken > 0 and self._rules.judge_whole_traces

    @property
    def calls_made(self) -> int:
        return len(self._choices)

    def sample(self) -> Trace | None:
        """The trace with sampled arguments; None if samples do not suffice."""
        if not self.can_start:
            return None
        steps_back = 0
        while len(self._choices) < len(self._tools):
            if self._add(self._environment.tools[self._tools[len(self._choices)]]):
                continue
            concerned = [n for n, name in enumerate(self._tools[: len(self._choices)]) if self._rules.concern(name)]
            if not self._broken or self._rules.judge_whole_traces or not concerned or steps_back == STEPS_BACK:
                return None
            # First the last of these calls gets other arguments, then the one before it as well, and so on.
            steps_back += 1
            self._undo(concerned[max(0, len(concerned) - steps_back)])
        return self._trace()

    def replay(self, solved: SolvedSequence) -> Trace | None:
        """The trace with these arguments; None if a call does not complete as planned, or a rule is not kept.

        That happens where the encoding left something open.
        """
        renamed: dict[Value, Value] = {}
        for name, arguments, created in zip(self._tools, solved.arguments, solved.created, strict=True):
            tool = self._environment.tools[name]
            said = {parameter: rename(value, renamed) for parameter, value in arguments.items()}
            choice = self._chooser.with_values(self._search_states[-1], tool, said)
            if choice is None or not self._run(choice):
                return None
            result = cast("Mapping[str, Json]", self._search_states[-1].events[-1].result)
            # The encoding reserves a row for each call that could create one, so its keys may differ.
            renamed |= {key: result[place] for place, key in created.items()}
        return self._trace()

    @property
    def wished(self) -> list[Mapping[str, Value]]:
        """The arguments of the calls so far, and samples for the others, as a wish for the solver."""
        further = (self._environment.tools[name] for name in self._tools[len(self._choices) :])
        return [
            *(choice.values for choice in self._choices),
            *(self._chooser.sample_blindly(tool, self.initial, self._random) for tool in further),
        ]

    def _add(self, tool: Tool) -> bool:
        """Choose the arguments of the next call and run it. False if no sample makes it complete as planned."""
        self._broken = 0
        failed: list[Mapping[str, Value]] = []
        for _ in range(ARGUMENT_REDRAWS):
            choice = self._chooser.sample(self._search_states[-1], tool, self._random)
            if choice is None:
                return False
            if choice.values in failed and not self._rules.judge_whole_traces:
                continue
            if self._run(choice):
                return True
            failed.append(choice.values)
            if self._broken >= self._rules.redraws:
                return False
        return False

    def _run(self, choice: CallChoice) -> bool:
        """Run the next call. If it leaves the plan or breaks a rule, nothing changes."""
        after = apply_call(self._environment, self._search_states[-1], choice)
        reached = None if after is None else self._product.next_state(self._product_states[-1], after)
        made = len(self._choices) + 1
        if after is None or reached is None or not self._product.accepts_sequence(reached.node, self._tools[made:]):
            return False
        if not self._rules.allow(after.events, last=made == len(self._tools)):
            self._broken += 1
            return False
        self._search_states.append(after)
        self._product_states.append(reached)
        self._choices.append(choice)
        return True

    def _undo(self, calls: int) -> None:
        """Keep only so many calls."""
        del self._search_states[calls + 1 :], self._product_states[calls + 1 :], self._choices[calls:]

    def _trace(self) -> Trace:
        last = self._search_states[-1]
        calls = zip(last.events, self._choices, strict=True)
        planned = tuple(PlannedCall(event, dict(choice.origins)) for event, choice in calls)
        return Trace(self._search_states[0].state, planned, last.state)


class _RulesSoFar:
    """Monitors of some rules along one trace. The last events may be replaced."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._compiled = {rule.id: rule.compiled for rule in rules}
        self._named = frozenset[str]().union(*(rule.tools for rule in rules))
        """The tools after whose calls the rules are judged; those of other tools follow with the next of these."""
        one_object = all(isinstance(compiled, Automaton) for compiled in self._compiled.values())
        self.judge_whole_traces: Final = not one_object
        self.redraws: Final = ARGUMENT_REDRAWS if one_object else RULE_REDRAWS
        self._fed: tuple[Event, ...] = ()
        self._monitor: Monitor | None = None  # made with the first call: many walks cannot even start

    def concern(self, tool: str) -> bool:
        """Whether a rule names the tool."""
        return tool in self._named

    def allow(self, events: tuple[Event, ...], *, last: bool) -> bool:
        """Whether the rules can still be kept after these events; if they are the last ones, whether they are kept."""
        if not (last or events[-1].tool in self._named):
            return True
        if self._monitor is None or len(self._fed) >= len(events) or events[: len(self._fed)] != self._fed:
            self._monitor, self._fed = Monitor(self._compiled), ()
        self._monitor.run(events[len(self._fed) :])
        self._fed = events
        if last:
            return self._monitor.all_kept()
        return "violated" not in self._monitor.verdicts()
