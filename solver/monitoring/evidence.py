"""Why a rule is violated at a step: the events that decide it, and what each is for the rule.

The violated instance, with its values in place of the variables, is evaluated once more over the recorded trace, and
the truth of each of its subformulas at each step is kept. From the truth of the whole at the step follows which
subformulas decide it, and from them the events. Monitors keep nothing for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Evidence, ExplainedViolation, Role, Scalar, format_value
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import all_of, condition_variables, conjuncts
from lawtrace.solver.logic.normal_form import normal_form, original_names, readable
from lawtrace.solver.logic.parser import Definition
from lawtrace.solver.logic.scoping import bind, instantiate
from lawtrace.solver.logic.terms import Missing, Value
from lawtrace.solver.logic.windows import ALWAYS_OPEN, Window
from lawtrace.solver.monitoring.evaluation import Evaluator
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.monitoring.pending import Status, current
from lawtrace.solver.monitoring.rule_status import Violation
from lawtrace.solver.monitoring.step_context import from_key

MAX_LISTED: Final = 50
"""How many events of an aggregate are listed."""


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded step of a trace."""

    position: int
    time: int
    events: tuple[Event, ...]


def steps_of(events: Iterable[Event]) -> list[Step]:
    """A step for each event that reached its tool. An event without a time has that of the last one."""
    steps: list[Step] = []
    time = 0
    for position, event in enumerate(events):
        time = time if event.time is None else event.time
        if event.outcome != "shielded":
            steps.append(Step(position, time, (event,)))
    return steps


def explain(
    rule: FirstOrderRule,
    violation: Violation,
    steps: Sequence[Step],
    notions: Sequence[Definition] = (),
    *,
    complete: bool = True,
    end: int | None = None,
) -> ExplainedViolation:
    """The evidence for a violation.

    Args:
        steps: the recorded trace.
        notions: the definitions by whose names it calls what is missing.
        complete: whether the end of the steps decides what is open, at the time `end` if that is given.
    """
    values = dict(violation.values)
    names = _names(notions, values)
    found: list[Evidence] = []
    for formula in rule.instances(violation.position, values):
        instance = _Instance(formula, steps, names, complete=complete, end=end)
        if instance.truth(formula, violation.position) is not False:
            found += instance.explain(formula, violation.position)
    here = [step for step in steps if step.position == violation.position]
    time = next((step.time for step in here if any(event.time is not None for event in step.events)), None)
    return ExplainedViolation(violation.position, time, values, violation.certain, tuple(dict.fromkeys(found)))


def _names(notions: Sequence[Definition], values: Mapping[str, Scalar]) -> dict[str, str]:
    """What definitions stand for, applied to the values of a violation, and their names: `identified("K-1")`."""
    names: dict[str, str] = {}
    for notion in notions:
        for variables in permutations(values, len(notion.parameters)):
            given = [values[variable] for variable in variables]
            body = instantiate(bind(notion.parameters, notion.body), dict(zip(notion.parameters, given, strict=True)))
            arguments = f"({', '.join(map(format_value, given))})" if given else ""
            names.setdefault(_text(normal_form(body)), notion.name + arguments)
    return names


class _Instance:
    """A formula without free variables, with the truth of its subformulas at each step."""

    def __init__(
        self, formula: s.Formula, steps: Sequence[Step], names: Mapping[str, str], *, complete: bool, end: int | None
    ) -> None:
        self.steps = steps
        self.names = names
        self.complete = complete
        self.end = end
        self._index = {step.position: index for index, step in enumerate(steps)}
        self._statuses: dict[tuple[s.Formula, int], Status] = {}
        self._witnesses: dict[tuple[s.Formula, int], list[tuple[dict[str, Scalar], Status]]] = {}
        self._amounts: dict[tuple[str, int], Value] = {}
        self._evaluate(formula)

    def _evaluate(self, formula: s.Formula) -> None:
        evaluator = Evaluator()
        closed = [part for part in s.subformulas(formula) if not s.free_variables(part)]
        checks = [(part, evaluator.compile_check(part, frozenset())) for part in closed]
        generators = [
            (part, tuple(sorted(part.variables)), generate)
            for part in closed
            if isinstance(part, s.Exists) and (generate := evaluator.compile_finder(part.body)) is not None
        ]
        leaves = {str(leaf): leaf for part in closed for leaf in s.aggregates_of(part)}
        amounts = [(name, evaluator.compile_term(leaf)) for name, leaf in leaves.items()]
        evaluator.seal()
        for step in self.steps:
            evaluator.step(step.position, step.time, step.events)
            for part, check in checks:
                self._statuses[part, step.position] = check()
            for part, names, generate in generators:
                read = evaluator.context.reader(names)
                self._witnesses[part, step.position] = [
                    (dict(zip(names, map(from_key, read()), strict=True)), status) for status in generate()
                ]
            for name, amount in amounts:
                self._amounts[name, step.position] = amount()

    def truth(self, formula: s.Formula, position: int) -> bool | None:
        """Whether it is true at a step; None if the future decides."""
        return self._value(self._statuses.get((formula, position), False))

    def _value(self, status: Status) -> bool | None:
        status = current(status)
        if isinstance(status, bool):
            return status
        return status.at_end(self.end) if self.complete else None

    def explain(self, formula: s.Formula, position: int, *, origin: int | None = None) -> list[Evidence]:
        """What makes a formula true, false or open at a step. `origin`: the step at which the rule is violated."""
        origin = position if origin is None else origin
        truth = self.truth(formula, position)
        match formula:
            case s.Atom():
                role: Role = "different" if not truth else "occasion" if position == origin else "happened"
                return [Evidence(role, _text(formula), (position,))]
            case s.Compare():
                return self._explain_comparison(formula, position, truth=truth is True)
            case s.Not(operand):
                return self.explain(operand, position, origin=origin)
            case s.And(parts) | s.Or(parts):
                decisive = (truth, isinstance(formula, s.And)) if truth is None else (truth,)
                return [
                    found
                    for part in parts
                    if self.truth(part, position) in decisive
                    for found in self.explain(part, position, origin=origin)
                ]
            case s.Exists():
                return self._explain_exists(formula, position, origin, truth)
            case s.Since() | s.Yesterday() | s.Until() | s.Next():
                return self._explain_temporal(formula, position, origin, truth)
            case _:
                return []

    def _explain_temporal(
        self, formula: s.Since | s.Yesterday | s.Until | s.Next, position: int, origin: int, truth: bool | None
    ) -> list[Evidence]:
        past = isinstance(formula, s.Since | s.Yesterday)
        operand = formula.right if isinstance(formula, s.Since | s.Until) else formula.operand
        left = formula.left if isinstance(formula, s.Since | s.Until) else s.Top()
        reachable = list(self._reachable(formula, position))
        inside = [step for step in reachable if self._inside(formula.window, step, position)]
        found: list[Evidence] = []
        if truth:
            witness = next((step for step in inside if self.truth(operand, step.position) is True), None)
            return [] if witness is None else self.explain(operand, witness.position, origin=origin)
        start, end = self._bounds(formula.window, position, past=past)
        side = "" if start is not None or end is not None else " before it" if past else " after it"
        if truth is None:
            return [Evidence("due", self._named(operand), (), start, end)]
        broken = next((step for step in reachable if self.truth(left, step.position) is False), None)
        if broken is not None and past:
            held = next((step for step in self._all(formula, position) if self._true(operand, step)), None)
            if held is not None:
                happened = self.explain(operand, held.position, origin=origin)
                return [*happened, Evidence("interruption", _opposite(left), (broken.position,))]
        elif broken is not None:
            found.append(Evidence("interruption", _opposite(left), (broken.position,)))
        if isinstance(formula, s.Next | s.Yesterday) and inside:
            return self.explain(operand, inside[0].position, origin=origin)
        outside = next((step for step in self._all(formula, position) if self._true(operand, step)), None)
        missing = Evidence("missing", self._named(operand) + side, (), start, end)
        if outside is not None and broken is None:
            closed = formula.window.closed(*sorted((self._time(position), outside.time)))
            role: Role = ("too old" if closed else "too recent") if past else ("too late" if closed else "too soon")
            found.append(Evidence(role, _text(operand), (outside.position,)))
        return [missing, *found]

    def _named(self, formula: s.Formula) -> str:
        text = _text(formula)
        if text not in self.names and isinstance(formula, s.Or):
            return " | ".join(map(self._named, formula.operands))
        return self.names.get(text, text)

    def _true(self, formula: s.Formula, step: Step) -> bool:
        return self.truth(formula, step.position) is True

    def _all(self, formula: s.Since | s.Yesterday | s.Until | s.Next, position: int) -> Iterator[Step]:
        """The steps that a temporal operator looks at, the nearest first, whatever its window."""
        index = self._index[position]
        match formula:
            case s.Since():
                yield from reversed(self.steps[: index + 1])
            case s.Until():
                yield from self.steps[index:]
            case s.Yesterday():
                yield from self.steps[max(index - 1, 0) : index]
            case s.Next():
                yield from self.steps[index + 1 : index + 2]

    def _reachable(self, formula: s.Since | s.Yesterday | s.Until | s.Next, position: int) -> Iterator[Step]:
        """Those up to the one at which the left operand fails."""
        left = formula.left if isinstance(formula, s.Since | s.Until) else s.Top()
        for step in self._all(formula, position):
            yield step
            if self.truth(left, step.position) is False:
                return

    def _time(self, position: int) -> int:
        return self.steps[self._index[position]].time

    def _inside(self, window: Window, step: Step, position: int) -> bool:
        return window.contains(*sorted((self._time(position), step.time)))

    def _bounds(self, window: Window, position: int, *, past: bool) -> tuple[int | None, int | None]:
        """The first and the last second of the window of an operator at a step."""
        now = self._time(position)
        if window.unlimited:
            return None, None
        if past:
            return window.earliest(now), window.latest(now)
        return window.opening(now), window.deadline(now)

    def _explain_exists(self, formula: s.Exists, position: int, origin: int, truth: bool | None) -> list[Evidence]:
        if truth is False:
            return [Evidence("missing", self._named(formula.body))]
        for values, status in self._witnesses.get((formula, position), ()):
            if self._value(status) is truth:
                body = instantiate(formula.body, values)
                inner = _Instance(body, self.steps, self.names, complete=self.complete, end=self.end)
                return inner.explain(body, position, origin=origin)
        return [Evidence("happened" if truth else "due", _text(formula.body), (position,) if truth else ())]

    def _explain_comparison(self, formula: s.Compare, position: int, *, truth: bool) -> list[Evidence]:
        text = f"{_text(formula)} is {'true' if truth else 'false'}"
        aggregates = s.aggregates_of(formula)
        if not aggregates:
            return [Evidence("comparison", text)]
        found: list[Evidence] = []
        for leaf in aggregates:
            counted = [
                (step, event)
                for step in self._counted_steps(leaf, position)
                for event in step.events
                if _counts(leaf, event)
            ]
            amount = self._amounts.get((str(leaf), position))
            shown = "there is no value" if isinstance(amount, Missing) else f"the value is {format_value(amount)}"
            if isinstance(leaf, s.EventAggregate) and leaf.term is not None and 1 < len(counted) <= MAX_LISTED:
                shown += f" ({', '.join(format_value(leaf.term.value(event)) for _, event in counted)})"
            window = leaf.window if isinstance(leaf, s.EventAggregate) else ALWAYS_OPEN
            start, end = self._bounds(window, position, past=True)
            steps = tuple(dict.fromkeys(step.position for step, _ in counted))[-MAX_LISTED:]
            found.append(Evidence("counted", f"{text}: {shown}", steps, start, end))
        return found

    def _counted_steps(self, leaf: s.EventAggregate | s.RelationAggregate, position: int) -> list[Step]:
        earlier = self.steps[: self._index[position] + 1]
        if isinstance(leaf, s.RelationAggregate):
            windows = [part.window for part in s.subformulas(leaf.formula) if isinstance(part, s.Since | s.Yesterday)]
            return [step for step in earlier if all(self._inside(window, step, position) for window in windows[-1:])]
        last = -1
        if leaf.since is not None:
            last = max((step.position for step in earlier if any(map(leaf.since.matches, step.events))), default=-1)
        return [step for step in earlier if step.position > last and self._inside(leaf.window, step, position)]


def _counts(leaf: s.EventAggregate | s.RelationAggregate, event: Event) -> bool:
    """Whether an aggregate counts an event; over a relation, whether the event has values for its atoms."""
    if isinstance(leaf, s.EventAggregate):
        return leaf.atom.matches(event)
    return any(could_match(part, event) for part in s.subformulas(leaf.formula) if isinstance(part, s.Atom))


def could_match(atom: s.Atom, event: Event) -> bool:
    """Whether the atom is true of the event for some values of its variables."""
    condition = all_of([part for part in conjuncts(atom.condition) if not condition_variables(part)])
    return replace(atom, condition=condition).matches(event)


def _text(formula: s.Formula) -> str:
    return original_names(str(readable(formula)))


def _opposite(formula: s.Formula) -> str:
    return _text(formula.operand if isinstance(formula, s.Not) else s.Not(formula))
