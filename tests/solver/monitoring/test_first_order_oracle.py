"""Monitors of the whole rule language agree with the equations, on random formulas and traces.

The seed of a pair makes its formula and its traces, and is part of every failure.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Formula
from lawtrace.solver.logic.terms import is_value
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.monitoring import duties, evaluation, totals
from lawtrace.solver.monitoring.duties import UntilTable
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.relations import SinceTable
from lawtrace.solver.monitoring.step_context import StepContext
from lawtrace.solver.monitoring.totals import EventTotals
from tests.support.equations import Step, holds, value_at_end
from tests.support.random_formulas import RandomFormulas

TRACES = 5
"""How many traces each formula is compared on."""


@dataclass(frozen=True)
class Difference:
    """What monitor and equations disagree on."""

    seed: int
    formula: Formula
    trace: list[Step]
    what: str

    def __str__(self) -> str:
        steps = [
            (step.time, [(event.tool, dict(event.arguments), event.outcome) for event in step.events])
            for step in self.trace
        ]
        return f"seed {self.seed}: {self.what}\n  {self.formula}\n  {steps}"


def differences(seed: int) -> Iterator[Difference]:
    """Compare one formula, if it is safe, on some traces."""
    source = RandomFormulas(seed)
    formula = source.formula()
    try:
        rule = FirstOrderRule(formula)
    except FormulaError:
        return
    if str(parse(str(formula))) != str(formula):
        yield Difference(seed, formula, [], f"prints as {parse(str(formula))}")
    monitor = FirstOrderMonitor(rule)  # one for all traces, cleared before each
    for _ in range(TRACES):
        trace = source.trace()
        for what in _compared(source, rule, monitor, trace):
            yield Difference(seed, formula, trace, what)


def _compared(
    source: RandomFormulas, rule: FirstOrderRule, monitor: FirstOrderMonitor, trace: list[Step]
) -> Iterator[str]:
    monitor.clear()
    values = source.values(rule.formula)
    for step in trace:
        monitor.feed_step(step.time, step.events)
    got, expected = monitor.verdict_at_end(), holds(rule.formula, trace, values)
    if got is not expected:
        yield f"monitor {got}, equations {expected}; {monitor.violations}, owed {monitor.violated_at_end()}"
    if not trace:
        return
    end = source.later(trace[-1].time)
    got, expected = monitor.verdict_at_end(end), value_at_end(rule.formula, trace, values, end)
    if got is not expected:
        yield f"with the end at {end}: monitor {got}, equations {expected}"
    if monitor.violations:
        certain = min(violation.certain for violation in monitor.violations if violation.certain is not None)
        longer = [*trace[: certain + 1]]
        if holds(rule.formula, longer, values):
            yield f"a violation is certain at step {certain}, and the trace up to there satisfies the formula"
        for _ in range(2):
            time = source.later(longer[-1].time)
            longer.append(Step(time, (source.event(time),)))
        if holds(rule.formula, longer, values):
            yield f"a violation is certain at step {certain}, and a continuation satisfies the formula: {longer}"


def check(seeds: range) -> None:
    found = [difference for seed in seeds for difference in differences(seed)]
    assert not found, "\n".join(map(str, found[:3]))


def test_monitors_agree_with_the_equations() -> None:
    check(range(85))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_monitors_agree_with_the_equations_on_many_pairs(part: int) -> None:
    """Some 6,000 formulas and traces."""
    check(range(1000 + part * 300, 1000 + (part + 1) * 300))


def test_most_formulas_are_safe() -> None:
    safe = 0
    for seed in range(100):
        try:
            FirstOrderRule(RandomFormulas(seed).formula())
            safe += 1
        except FormulaError:
            continue
    assert safe > 80


def test_a_violation_of_a_deadline_is_recorded_at_the_first_later_step() -> None:
    rule = FirstOrderRule(parse("forall x: G(A(q == x) -> F[<= 3s] B(q == x))"))
    for seed in range(200):
        source = RandomFormulas(seed * 3)
        trace = source.trace()
        monitor = FirstOrderMonitor(rule)
        for step in trace:
            monitor.feed_step(step.time, step.events)
        assert {(one.position, one.values, one.certain) for one in monitor.violations} == set(_missed(trace)), seed


def test_a_variable_that_ends_in_a_number_is_not_mistaken_for_a_renamed_one() -> None:
    """The second `x` is renamed, inside the scope of a variable whose name looks like a new one."""
    text = "forall x__2: G(A(q == x__2) -> O (exists x: B(p == x)) & O (exists x: B(p == x, q == x__2)))"
    formula = parse(text)
    rule = FirstOrderRule(formula)
    for other in (1, 2):
        trace = [Step(0, (Event("B", {"p": 2, "q": other}),)), Step(1, (Event("A", {"q": 1}),))]
        monitor = FirstOrderMonitor(rule)
        for step in trace:
            monitor.feed_step(step.time, step.events)
        assert monitor.verdict_at_end() is holds(formula, trace, (1, 2)) is (other == 1)
        assert [one.values for one in monitor.violations] == [(("x__2", 1),)][: other - 1]


def _missed(trace: list[Step]) -> Iterator[tuple[int, tuple[tuple[str, Json], ...], int | None]]:
    """Each A without a B of the same q within three seconds, and the first step after that time."""
    for number, step in enumerate(trace):
        for asked in _calls(step, "A"):
            later = [(place, other) for place, other in enumerate(trace) if place >= number]
            if any(other.time <= step.time + 3 and asked in _calls(other, "B") for _, other in later):
                continue
            late = [place for place, other in later if other.time > step.time + 3]
            if late:
                yield number, (("x", asked),), late[0]


def _calls(step: Step, tool: str) -> set[int]:
    events = [event for event in step.events if event.tool == tool and event.completed]
    return {cast("int", event.arguments["q"]) for event in events if "q" in event.arguments}


# Planted bugs. Each changes one thing of the monitors; the generator has to find it.


def _nothing(*_: object) -> None:
    pass


def _ignore_last_second(patch: pytest.MonkeyPatch) -> None:
    def closed(window: Window, earlier: int, later: int) -> bool:
        deadline = window.deadline(earlier)
        return deadline is not None and later >= deadline

    patch.setattr(Window, "closed", closed)


def _ignore_strict(patch: pytest.MonkeyPatch) -> None:
    def opened(window: Window, earlier: int, later: int) -> bool:
        return window.lower is None or later >= window.lower.span.end(earlier)

    patch.setattr(Window, "opened", opened)


def _ignore_calendar(patch: pytest.MonkeyPatch) -> None:
    def unlimited(window: Window) -> bool:
        return window.upper is None and (window.lower is None or not window.lower.span.amount)

    patch.setattr(Window, "unlimited", property(unlimited))


def _last_time(_: Window, times: Sequence[int], __: int) -> int:
    return len(times) - 1


def _newest_is_last(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Window, "newest", _last_time)


def _never_clear_since(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SinceTable, "_compile_left", _nothing)


def _mix_up_keys(patch: pytest.MonkeyPatch) -> None:
    reader = StepContext.reader

    def first_only(context: StepContext, names: Sequence[str]) -> Callable[[], Any]:
        return reader(context, [names[0]] * len(names) if names else ())

    patch.setattr(StepContext, "reader", first_only)


def _register_closed_duties(patch: pytest.MonkeyPatch) -> None:
    close = UntilTable._close  # pyright: ignore[reportPrivateUsage]

    def closing(table: UntilTable, obligation: Any) -> None:
        close(table, obligation)
        obligation.closed = False
        if obligation.value is None:
            table.obligations.setdefault(obligation.key, {})[obligation] = None

    patch.setattr(UntilTable, "_close", closing)


def _true_is_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(evaluation, "to_key", lambda value: value)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    patch.setattr(evaluation, "as_key", lambda value: value if is_value(value) else None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


def _never_forget(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EventTotals, "_forget", _nothing)


def _first_element_only(patch: pytest.MonkeyPatch) -> None:
    spread = evaluation._spread  # pyright: ignore[reportPrivateUsage]
    patch.setattr(evaluation, "_spread", lambda *given: islice(spread(*given), 1))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


def _sum_counts_truth(patch: pytest.MonkeyPatch) -> None:
    real = totals.summarise
    patch.setattr(
        evaluation,
        "summarise",
        lambda function, values: sum(values) if function == "sum" else real(function, values),  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    )


def _duties_wait_in_vain(patch: pytest.MonkeyPatch) -> None:
    real = duties.junction_at_end
    patch.setattr(duties, "junction_at_end", lambda absorbing, parts, end: absorbing or real(absorbing, parts, end))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


@pytest.mark.parametrize(
    ("plant", "seed"),
    [
        (_ignore_last_second, 130),
        (_ignore_strict, 174),
        (_ignore_calendar, 74),
        (_newest_is_last, 17),
        (_never_clear_since, 142),
        (_mix_up_keys, 83),
        (_register_closed_duties, 119),
        (_true_is_one, 21),
        (_never_forget, 1070),
        (_first_element_only, 261),
        (_sum_counts_truth, 702),
        (_duties_wait_in_vain, 10),
    ],
)
def test_planted_bugs_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`seed`: one that is known to find the bug, so that the search is short."""
    plant(monkeypatch)
    assert any(_finds(tried) for tried in (seed, *range(1500)))


def _finds(seed: int) -> bool:
    try:
        return next(differences(seed), None) is not None
    except (KeyError, TypeError, ValueError):  # what a planted bug may end in
        return True


@pytest.mark.slow
def test_memory_is_bounded_by_window_and_live_keys() -> None:
    formula = parse(
        "forall a: G(Pay(account == a) -> O[<= 5min] Check(account == a) & count(Pay(account == a) [<= 1h]) < 50 "
        "& F[<= 10min] Audit(account == a))"
    )
    monitor = FirstOrderMonitor(FirstOrderRule(formula))
    entries: list[int] = []
    for number in range(300_000):
        account = f"A-{number // 3 % 100 + number // 99_000 * 100}"  # 100 live accounts at a time
        event = Event(("Check", "Pay", "Audit")[number % 3], {"account": account}, time=number)
        monitor.feed(event)
        if number % 33_000 == 32_999:
            entries.append(_entries(monitor))
    assert not monitor.violation_count
    assert max(entries) < 1.01 * entries[0], entries  # flat, also when other accounts are live
    assert max(entries) < 100 * 120  # an account has 12 payments an hour


@pytest.mark.parametrize(
    "text",
    [
        "G(A -> F D)",
        "forall x: G(A(q == x) -> F D(q == x))",
        "forall x: G(A(q == x) -> F B(q == x) & F D(q == x))",
        "forall x: G(A(q == x) -> F D(q == x) & F B(q == x))",
        "G(A -> F[> 10s] D)",
        "G(A -> F(B & F D))",
        "G(A -> X F D)",
        "G(A -> !C U D)",
        "G(A -> (F D) U C)",
        "G(F B)",
        "G(A -> F[<= 10s] B | F D)",
    ],
)
def test_duties_that_wait_for_the_same_event_are_kept_once(text: str) -> None:
    monitor = FirstOrderMonitor(FirstOrderRule(parse(text)))
    entries: list[int] = []
    for number in range(1200):
        monitor.feed(Event("AABC"[number % 4], {"q": number % 2}, time=number))
        monitor.violations.clear()
        if number % 400 == 399:
            entries.append(_entries(monitor))
    assert entries[2] <= entries[0] + 8, entries


def test_all_steps_that_wait_for_the_same_event_are_counted() -> None:
    monitor = FirstOrderMonitor(FirstOrderRule(parse("forall x: G(A(q == x) -> F B(q == x) & F D(q == x))")))
    for number in range(60):
        monitor.feed(Event("AB"[number % 2], {"q": 1}, time=number))
    assert monitor.undecided_count == monitor.owed_count() == 30
    assert [found.position for found in monitor.violated_at_end()] == list(range(0, 20, 2))
    monitor.feed(Event("D", {"q": 1}, time=60))
    assert monitor.undecided_count == 0
    assert monitor.verdict_at_end() is True
    assert monitor.verdict == "holding"


def _entries(monitor: FirstOrderMonitor) -> int:
    """How many entries the tables of a monitor have, with those of nested containers."""
    counted: set[int] = set()
    pending: list[object] = [monitor]
    total = 0
    while pending:
        found = pending.pop()
        if id(found) in counted or isinstance(found, type | ModuleType | str | int | float):
            continue
        counted.add(id(found))
        if isinstance(found, dict | list | set | deque | tuple):
            entries = cast("Collection[object]", found)
            total += len(entries)
            pending += entries
            pending += cast("dict[object, object]", found).values() if isinstance(found, dict) else ()
        elif isinstance(found, FunctionType):
            pending += [cell.cell_contents for cell in found.__closure__ or () if _filled(cell)]
        elif isinstance(found, MethodType):
            pending.append(found.__self__)
        elif type(found).__module__.startswith("lawtrace.solver.monitoring"):
            names = [name for kind in type(found).__mro__ for name in getattr(kind, "__slots__", ())]
            pending += [getattr(found, name, None) for name in names]
            pending.append(getattr(found, "__dict__", None))
    return total


def _filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
