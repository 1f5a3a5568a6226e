"""Orders that a goal leaves open, and whether a verdict depends on one that no text demands.

A goal says what is to be changed, not in which order. So for each order of the changes the calls of the reference are
arranged anew: the changes in that order, every other call anywhere before or after them. If one arrangement keeps every
rule, an agent that takes this order and does all that the reference does can comply. If none does, and the rules in the
way are grounded in the texts (`lawtrace.solver.lint.rule_grounds`), the law demands another order: that is what a task
tests. If only rules without a ground are in the way, the verdict rests on what the agent could not know.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product

from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace, completed_replay, literal_calls

MOST_ORDERS = 24
MOST_ARRANGEMENTS = 400
"""How many arrangements are tried for each order."""


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """An order of the changes in which only rules without a ground are in the way.

    Attributes:
        changes: the tools in that order.
        rules: the rules that the best arrangement breaks.
        proved: whether all arrangements were tried.
    """

    changes: tuple[str, ...]
    rules: tuple[str, ...]
    proved: bool

    def __str__(self) -> str:
        order = ", ".join(self.changes)
        tried = "whatever the place of the other calls" if self.proved else f"in {MOST_ARRANGEMENTS} arrangements"
        return (
            f"the goal leaves the order open, and in the order {order} the calls of the reference break "
            f"{', '.join(self.rules)} {tried}, which no text states in full"
        )


def find_open_order(
    environment: Environment, rules: Sequence[Rule], ungrounded: Collection[str], trace: Trace
) -> OpenOrder | None:
    """The first order of a goal's changes that only the rules without a ground exclude; None if there is none.

    ``ungrounded``: the ids of these rules. Orders in which a call is refused or another state is reached do not count.
    """
    if not ungrounded:
        return None
    changes = _changes(environment, trace)
    for order in islice(permutations(changes), 1, MOST_ORDERS):
        arrangements = _arrangements(trace, order)
        in_the_way: list[frozenset[str]] = []
        for arrangement in islice(arrangements, MOST_ARRANGEMENTS):
            broken = _broken(environment, rules, trace, arrangement)
            if broken is not None and broken <= set(ungrounded):
                in_the_way.append(broken)
                if not broken:
                    break
        if in_the_way and all(in_the_way):
            tools = tuple(trace.calls[change].event.tool for change in order)
            fewest = min(in_the_way, key=lambda broken: (len(broken), sorted(broken)))
            return OpenOrder(tools, tuple(sorted(fewest)), proved=next(arrangements, None) is None)
    return None


def _changes(environment: Environment, trace: Trace) -> tuple[int, ...]:
    """The indices of the calls that make the changes of the goal."""
    ordinary = [n for n, call in enumerate(trace.calls) if call.event.tool not in environment.compliance_tools]
    needed = goal_calls(environment, trace.initial, literal_calls(environment, trace.calls))
    return tuple(ordinary[n] for n in needed if trace.calls[ordinary[n]].event.tool in environment.changing_tools)


def _arrangements(trace: Trace, order: Sequence[int]) -> Iterator[list[int]]:
    """The calls with the changes in this order and each other call in any gap, those first that move least.

    Calls in one gap keep their order. A call comes after those whose results it reads.
    """
    others = [number for number in range(len(trace.calls)) if number not in order]
    place = {change: gap for gap, change in enumerate(order)}

    def preferred(number: int) -> int:
        later = [place[change] for change in order if change > number]
        return min(later) if later else len(order)

    gaps = [sorted(range(len(order) + 1), key=lambda gap, n=number: abs(gap - preferred(n))) for number in others]
    for chosen in product(*gaps):
        gap_of = dict(zip(others, chosen, strict=True))
        arranged = sorted(
            range(len(trace.calls)), key=lambda n: (2 * place[n] + 1, n) if n in place else (2 * gap_of[n], n)
        )
        position = {number: at for at, number in enumerate(arranged)}
        if all(position[source] < position[number] for number in arranged for source in trace.calls[number].sources):
            yield arranged


def _broken(
    environment: Environment, rules: Sequence[Rule], trace: Trace, arrangement: Sequence[int]
) -> frozenset[str] | None:
    """The rules that the calls break in this arrangement; None if they do not lead to the same state."""
    position = {number: at for at, number in enumerate(arrangement)}
    calls = [trace.calls[number].renumbered(position) for number in arrangement]
    session = completed_replay(environment, trace.initial, calls)
    if session is None or compare_states(environment, trace.initial, trace.final, session.state):
        return None
    verdicts = judge_rules(rules, session.events, (), end=session.end)
    return frozenset(verdict.rule for verdict in verdicts if not verdict.kept)
