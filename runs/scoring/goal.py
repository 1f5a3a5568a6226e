"""Whether an attempt reaches an end of its task, and in what it differs from the nearest one.

The rows that were asked about equal the end, tables that only compliance tools write are free, and all else is
unchanged, but for what a duty of the law demands. Say a bill for a list of disclosures is asked for and none is due:
the patient has a right to the list, so who declines the bill may send the list, too. A payment that nobody asked for is
no such change, even if a rule lets one read the payee's file only for a payment. Where an end changes a row, say closes
the file of an incident, what compliance calls write about another row of the table was not asked for, unless a rule
needs it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import SPEAKERS, Event, Json
from lawtrace.schemas.task_rows import End
from lawtrace.schemas.verdict_rows import StateDifference
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule, RuleKind
from lawtrace.solver.traces import stated_reasons

DUTIES: Final[tuple[RuleKind, ...]] = ("duty after", "deadline")
"""The kinds of rules that demand a call, rather than allow one under conditions."""

Compared = tuple[tuple[StateDifference, ...], End]
"""An end, and how the final state differs from it."""


def compare_with_ends(
    environment: Environment,
    rules: Sequence[Rule],
    initial: State,
    ends: Sequence[tuple[End, State]],
    events: Sequence[Event],
    final: State,
) -> list[Compared]:
    """The differences of the final state from each end; `rules`: those by which the attempt is judged."""
    surplus = (*_about_other_rows(environment, rules, initial, ends, events),)
    found = _compare(environment, initial, ends, final, surplus)
    if any(not differences and not end.under for differences, end in found):
        return found
    dropped: set[int] = set()
    for number in _demanded(environment, rules, events):
        fewer = _without(environment, initial, events, {*dropped, number})
        closer = found if fewer is None else _compare(environment, initial, ends, fewer, surplus)
        if min(len(each) for each, _ in closer) < min(len(each) for each, _ in found):
            found = closer
            dropped.add(number)
    return [*found, *_refused_by_right(environment, rules, initial, found, events)]


def _compare(
    environment: Environment,
    initial: State,
    ends: Sequence[tuple[End, State]],
    final: State,
    surplus: tuple[StateDifference, ...],
) -> list[Compared]:
    return [((*compare_states(environment, initial, state, final), *surplus), end) for end, state in ends]


def _about_other_rows(
    environment: Environment,
    rules: Sequence[Rule],
    initial: State,
    ends: Sequence[tuple[End, State]],
    events: Sequence[Event],
) -> Iterator[StateDifference]:
    """What compliance calls wrote, without need by a rule, about other rows than those of a table that ends change."""
    changed, asked = set[str](), set[Value]()
    for table in environment.entities.keys() - environment.compliance_tables:
        key = environment.entities[table].key
        before = {row.values[key]: row.values for row in initial.rows(table)}
        for row in (row.values for _, state in ends for row in state.rows(table)):
            if row != before.get(row[key]):
                asked |= {*row.values()}
                changed |= {table} if row[key] in before else set()
    every = {rule.id: rule for rule in rules}
    for number, event in enumerate(events):
        tool = environment.tools.get(event.tool)
        if tool is None or not (event.completed and tool.compliance and tool.written_tables):
            continue
        named = [
            (one.source.entity.table, event.arguments.get(one.name))
            for one in tool.parameters
            if isinstance(one.source, FromLookup)
        ]
        if any(table in changed and isinstance(key, str) and key not in asked for table, key in named):
            others = [*events[:number], *events[number + 1 :]]
            if _not_kept(every, others) <= _not_kept(every, events):
                yield StateDifference(min(tool.written_tables), "(created)", None, None, dict(event.arguments))


def _refused_by_right(
    environment: Environment,
    rules: Sequence[Rule],
    initial: State,
    compared: Sequence[Compared],
    events: Sequence[Event],
) -> Iterator[Compared]:
    """The ends that are reached as far as they are not refused by a right that the law gives, or on such a ground."""
    refused = any(event.tool == environment.declines for event in events)
    manual = {rule.id: rule for rule in rules if rule.source == "manual" and rule.kind == "refusal"}
    if not refused or _not_kept(manual, events):
        return
    for rule in rules:
        for found in rule.rights_used(events):
            subject = str(found.values[-1][1])
            reason = ", ".join(map(str, stated_reasons(environment, [events[found.position]]).values()))
            for differences, _ in compared:
                left = [one for one in differences if not _is_refused(environment, initial, one, subject)]
                yield tuple(left), End(declined=reason, under=rule.under)


def _is_refused(environment: Environment, initial: State, difference: StateDifference, subject: str) -> bool:
    """Whether what differs is that nothing was done about the subject, but for the refusal."""
    entity, of_refusal = environment.entities[difference.table], environment.tools[str(environment.declines)]
    written = difference.table in of_refusal.written_tables
    if difference.row == "(created)":
        row = difference.expected if difference.actual is None else difference.actual
        return (difference.actual is None or written) and isinstance(row, dict) and subject in row.values()
    before = next((row for row in initial.rows(entity.table) if str(row.values[entity.key]) == difference.row), None)
    if before is None or difference.field is None or subject not in map(str, before.values.values()):
        return False
    value = before.values[difference.field]
    return written or difference.actual == (
        None if value is None else entity.fields[difference.field].type.encode(value)
    )


def _demanded(environment: Environment, rules: Sequence[Rule], events: Sequence[Event]) -> Iterator[int]:
    """The changes that by themselves fulfil a duty which the look-ups and compliance calls alone leave open."""
    changes = {
        number for number, event in enumerate(events) if event.completed and event.tool in environment.changing_tools
    }
    others = [event for number, event in enumerate(events) if number not in changes]
    duties = {rule.id: rule for rule in rules if rule.source == "law" and not rule.under and rule.kind in DUTIES}
    open_duties = _not_kept(duties, others)
    for number in sorted(changes):
        if events[number].tool == environment.declines:
            continue
        concerned = {name: duties[name] for name in open_duties if events[number].tool in duties[name].tools}
        alone = [event for place, event in enumerate(events) if place not in changes or place == number]
        if len(_not_kept(concerned, alone)) < len(concerned):
            yield number


def _not_kept(rules: dict[str, Rule], events: Sequence[Event]) -> set[str]:
    if not rules:
        return set()
    monitor = monitor_of([*rules.values()])
    return {name for name, status in monitor.run(events).final_statuses().items() if status != "kept"}


def _without(environment: Environment, initial: State, events: Sequence[Event], dropped: set[int]) -> State | None:
    """The final state without some of the calls; None if others then end otherwise."""
    session = Session(environment, initial)
    for number, event in enumerate(events):
        if number not in dropped and event.tool not in SPEAKERS and event.outcome != "shielded":
            again = session.call(event.tool, event.arguments).event
            if (again.completed, again.error) != (event.completed, event.error):
                return None
    return session.state


def describe_differences(environment: Environment, differences: Sequence[StateDifference]) -> str:
    """What differs from an end, in words: the first two differences, and how many more there are."""
    said = list(_sentences(environment, differences))
    more = f", and {len(said) - 2} more" if len(said) > 2 else ""
    return f"{'; '.join(said[:2])}{more}"


def _sentences(environment: Environment, differences: Sequence[StateDifference]) -> Iterator[str]:
    surplus = [one for one in differences if one.field is None and one.expected is None]
    for one in differences:
        noun = environment.entities[one.table].singular
        row = f"the {noun} that was made" if one.row == "(created)" else f"{noun} {one.row}"
        if one.field is not None:
            yield f"{row} has {one.field} {_value(one.actual)}, not {_value(one.expected)}"
        elif one.actual is None:
            like = next((other for other in surplus if other.table == one.table and _alike(one, other)), None)
            if like is None:
                yield f"the {noun} ({_fields(one.expected)}) is missing"
            else:
                surplus.remove(like)
                given, wanted = _fields(like.actual, one.expected), _fields(one.expected, like.actual)
                yield f"the {noun} has {given}, not {wanted}"
    for one in surplus:
        yield f"the {environment.entities[one.table].singular} ({_fields(one.actual)}) was not asked for"


def _alike(one: StateDifference, other: StateDifference) -> bool:
    """Whether a surplus row has most of what a missing one should have."""
    wanted, found = one.expected, other.actual
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        return False
    return 2 * sum(found.get(name) == value for name, value in wanted.items()) >= len(wanted)


def _fields(row: Json, other: Json = None) -> str:
    """The fields of a row, or those that differ from another row."""
    if not isinstance(row, dict):
        return _value(row)
    shown = [(name, value) for name, value in row.items() if not isinstance(other, dict) or other.get(name) != value]
    return ", ".join(f"{name} {_value(value)}" for name, value in shown)


def _value(value: Json) -> str:
    return "nothing" if value is None else str(value)
