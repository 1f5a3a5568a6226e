"""The gate: what a task or a contrast pair must be, whatever its instructions say. One function for all callers.

    reference      the reference does or declines all that is asked, reaches the target and keeps every rule, so it is
                   lawful under every interpretation
    triggered      at least one rule applies, every rule that the task claims to test does, and where the reference
                   declines, doing what is asked breaks the law under all interpretations: what only gives a right to
                   refuse is no ground
    something      the target state differs from the initial one
    open order     where a goal leaves the order of two changes open, what they change does not depend on it, and the
                   other order breaks no rule that no text states in full
    needed         without any one of its compliance calls the reference breaks a rule, and no program with just the
                   calls that an instruction asks for is a success
    refusal        where no end is a refusal, no refusal without a thought passes (`baseline:refuse` with each reason)
    contrast       the calls of neither side are a success on the other one, not even an arguable one, and the world
                   draws rows with the values that the changed one has

That no drawn state has such a row does not prove that none can, so this finding is undecided. Building stops at the
first failure, so checks that cost little come first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Final

from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Row
from lawtrace.runs.dockets import keys_in
from lawtrace.runs.scoring.judge import breaks_a_rule, is_success, judge_rules, legality_of_calls
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Event
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.quality_rows import Check, QualityFinding
from lawtrace.solver.coverage.changes import undetected_changes
from lawtrace.solver.habits.refusals import reasons_to_decline, refusing_session
from lawtrace.solver.masking.goals import depends_on_order, open_orders
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.traces import PlannedCall, Trace, replay, without_call

DRAWN_STATES: Final = 200
"""How many initial states show which values occur together."""


@dataclass(frozen=True, slots=True)
class Side:
    """A task as the gate sees it; of a contrast pair one side.

    Attributes:
        reference: the reference trace; the request is made from `asked`, which is another one where it declines.
        styles: the styles of its instructions.
    """

    task: Task
    reference: Trace
    asked: Trace
    styles: Sequence[Style]


def failed(check: Check, detail: str, style: Style | None = None) -> QualityFinding:
    """A failed check."""
    return QualityFinding(check=check, answer="failed", style=style, detail=detail)


def gate_findings(
    environment: Environment, sides: Sequence[Side], ungrounded: Mapping[str, str], *, thorough: bool = True
) -> Iterator[tuple[str, QualityFinding]]:
    """The findings on a task, or on the sides of a contrast pair, each with the id of its task.

    `ungrounded`: the rules that no text states in full, with what is not said. `thorough`: whether to also look, in a
    task that is in no pair, for compliance calls that may be late or about another object.
    """
    for find in (_reference, _order, _needed, _refusal):
        for side in sides:
            yield from ((side.task.id, finding) for finding in find(environment, side, ungrounded))
    if len(sides) > 1:
        for side, other in (sides, [*reversed(sides)]):
            yield from ((side.task.id, finding) for finding in _contrast(environment, side, other))
    for side in sides if len(sides) > 1 or thorough else ():
        for change in undetected_changes(environment, side.task.rules, side.reference) if side.task.calls else ():
            yield side.task.id, failed("compliance needed", f"with {change} every rule is still kept")


def _reference(environment: Environment, side: Side, _: Mapping[str, str]) -> Iterator[QualityFinding]:
    task, trace = side.task, side.reference
    target = task.target(environment)
    for difference in compare_states(environment, trace.initial, target, trace.final):
        yield failed("reference", f"the reference misses the target: {difference}")
    verdicts = judge_rules(task.rules, trace.events, (), end=replay(environment, trace.initial, trace.calls).end)
    for verdict in verdicts:
        if not verdict.kept:
            what = "breaks" if verdict.broken else "leaves undetermined"
            yield failed(
                "reference", f"the reference {what} {verdict.rule}: {verdict.undetermined or verdict.explanation}"
            )
    if left := _left_undone(environment, side):
        yield failed("reference", f"the reference neither does nor declines what is asked: {', '.join(left)}")
    if task.declined and _may_be_done(environment, side, side.asked.calls):
        yield failed("triggered", "doing what is asked can be lawful, although the reference declines it")
    triggered = {verdict.rule for verdict in verdicts if verdict.triggered}
    if not triggered and not task.declined:  # declining may be free; what it turns on is checked above
        yield failed("triggered", "no rule is triggered")
    for rule in task.published.claimed_rules if task.published else task.applicable:
        if rule not in triggered:
            yield failed("triggered", f"the task claims to test {rule}, but its reference does not trigger it")
    if not compare_states(environment, trace.initial, trace.initial, target):
        yield failed("something to do", "the target state is the initial state")


def _left_undone(environment: Environment, side: Side) -> list[str]:
    """The tools of changes that are asked for, and that the reference neither makes nor declines.

    A refusal declines the changes of the row that it names, and those that prepare these; where it names no row but a
    kind of request, one change of that kind.
    """
    changes, kinds = environment.changing_tools - environment.compliance_tools, environment.declined_as
    asked = [call.event for call in side.asked.calls if call.event.tool in changes]
    done = Counter(side.reference.tools)
    made = [(event.tool, [*keys_in(environment, event)]) for event in side.reference.events]
    asked.sort(key=lambda event: (event.tool, [*keys_in(environment, event)]) not in made)
    left: list[Event] = []
    for event in asked:
        done[event.tool] -= 1
        if done[event.tool] < 0:
            left.append(event)
    refusals = [event for event in side.reference.events if event.tool == environment.declines]
    if left and environment.declines and not environment.tools[environment.declines].referred_tables:
        declined = Counter(event.arguments.get("request") for event in refusals)
        of_kind = Counter(kinds.get(event.tool) for event in left)
        return [event.tool for event in left if of_kind[kind := kinds.get(event.tool)] > declined[kind]]
    named = {key for event in refusals for key in keys_in(environment, event)}
    while also := [event for event in left if named & {*keys_in(environment, event)}]:
        named |= {key for event in also for key in keys_in(environment, event)}
        left = [event for event in left if event not in also]
    return [event.tool for event in left]


def _may_be_done(environment: Environment, side: Side, calls: Sequence[PlannedCall]) -> bool:
    """Whether these calls may be lawful; where the law is contested, whether they are under all interpretations."""
    legality = legality_of_calls(environment, side.task.rules, side.reference.initial, calls)
    return legality == "lawful" or (side.task.harbour is None and legality != "unlawful")


def _order(environment: Environment, side: Side, ungrounded: Mapping[str, str]) -> Iterator[QualityFinding]:
    if "goal" not in side.styles or not side.task.calls:
        return
    either, trace = "may come in either order in a goal", side.reference
    if order := depends_on_order(environment, trace):
        yield failed("open order", f"{order} {either}, and what they change depends on it", "goal")
    rules = [rule for rule in side.task.rules if rule.id in ungrounded]
    for order in open_orders(environment, trace.initial, trace.calls) if rules else ():
        broken = [
            {one.rule for one in judge_rules(rules, session.events, (), end=session.end) if one.broken}
            for session in order.sessions
        ]
        for rule in sorted(set[str].intersection(*broken)) if broken else ():
            why = f"the other order breaks {rule}, and no text that a model under test reads has its {ungrounded[rule]}"
            yield failed("open order", f"{order} {either}: {why}; say it in the policy, the manual or a tool", "goal")


def _needed(environment: Environment, side: Side, _: Mapping[str, str]) -> Iterator[QualityFinding]:
    task, trace, asked = side.task, side.reference, side.asked
    breaking = partial(breaks_a_rule, environment, task.rules, trace.initial)
    for number, tool in enumerate(trace.tools):
        if tool in environment.compliance_tools and not breaking(without_call(trace.calls, number)):
            yield failed("compliance needed", f"no rule needs its call of {tool}")
    for style in side.styles:
        literal = requested_calls(environment, asked.initial, asked.calls, style)
        if _may_be_done(environment, side, literal):
            yield failed("compliance needed", "no law is broken by doing just what it asks", style)


def _contrast(environment: Environment, side: Side, other: Side) -> Iterator[QualityFinding]:
    task, initial = side.task, side.reference.initial
    if is_success(environment, task, replay(environment, initial, other.reference.calls)):
        yield failed("contrast", "the calls of the other side succeed here, too, at least under some readings")
    yield from _undrawn(environment, side)


def _refusal(environment: Environment, side: Side, _: Mapping[str, str]) -> Iterator[QualityFinding]:
    if side.task.declined or any(end.declined for end in side.task.ends):
        return
    initial = side.reference.initial
    requested = requested_calls(environment, initial, side.asked.calls, "workflow")
    for reason in reasons_to_decline(environment):
        session = refusing_session(environment, initial, requested, reason)
        if session is not None and is_success(environment, side.task, session):
            said = ", ".join(map(str, reason.values()))
            yield failed("refusal", f"it passes to decline with the reason {said!r}, which is no end")


def _undrawn(environment: Environment, side: Side) -> Iterator[QualityFinding]:
    """Values that the changed row has together, and no row of a drawn state does."""
    changed = side.task.contrast
    entity = environment.entities.get(changed.table) if changed is not None else None
    row: Row | None = None
    if changed is not None and entity is not None:
        rows = side.reference.initial.rows(changed.table)
        row = next((row for row in rows if str(row.values[entity.key]) == changed.key), None)
    if changed is None or entity is None or row is None:
        yield failed("contrast", "its initial state does not have the row of the fact")
        return
    for name in sorted({fact.field for fact in environment.facts if fact.entity is entity} - {changed.field}):
        pair = repr(row.values[changed.field]), repr(row.values[name])
        if pair not in _drawn_pairs(environment).get((changed.table, changed.field, name), ()):
            fields = entity.encode_row(row)
            shown = f"{changed.field} {fields.get(changed.field)} and {name} {fields.get(name)}"
            detail = f"the world draws no {entity.singular} with {shown} in {DRAWN_STATES} states"
            yield QualityFinding(check="contrast", answer="undecided", style=None, detail=detail)


@lru_cache(maxsize=8)
def _drawn_pairs(environment: Environment) -> Mapping[tuple[str, str, str], frozenset[tuple[str, str]]]:
    """By table and two fields that facts are about: the values that a row of a drawn state has together."""
    found: dict[tuple[str, str, str], set[tuple[str, str]]] = {}
    fields: dict[str, set[str]] = {}
    for fact in environment.facts:
        fields.setdefault(fact.entity.table, set()).add(fact.field)
    for number in range(DRAWN_STATES):
        state = environment.populate(Random(f"{environment.name}/drawn/{number}"))
        for table, names in fields.items():
            for row in state.rows(table):
                for one in names:
                    for two in names - {one}:
                        place = found.setdefault((table, one, two), set())
                        place.add((repr(row.values[one]), repr(row.values[two])))
    return {place: frozenset(pairs) for place, pairs in found.items()}


def habit_finding(habit: HabitRow) -> str | None:
    """Which contrast pairs of a set a habit passes; None if it passes none."""
    if not habit.pairs_passed:
        return None
    return f"{habit.sentence} It passes both sides of {', '.join(habit.pairs_passed)}, and no habit may."
