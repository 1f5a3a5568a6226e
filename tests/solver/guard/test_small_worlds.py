"""Guards in small worlds, against an independent search: no false refusal, no dead end, advice that helps."""

from itertools import product
from random import Random

import pytest

from lawtrace.solver.guard.decisions import Allow, Refuse, Step
from lawtrace.solver.guard.guard import Guard
from tests.support.guard_worlds import NEVER_TOGETHER, UNTIMED, WORLDS, A, B, C, World


def decide(world: World, guard: Guard, happened: tuple[int, ...], number: int) -> list[int]:
    """Offer a call, and compare the decision with what it may become so that all duties can still be met."""
    time = world.trace((*happened, number))[-1].time
    decision = guard.before(world.call(number), time=time)
    assert not (isinstance(decision, Refuse) and decision.finding.undecided), (world.formulas, happened, number)
    possible = [other for other in world.calls(number) if world.alive((*happened, other))]
    assert isinstance(decision, Allow) == bool(possible), (world.formulas, world.trace(happened), number, decision)
    return possible


def compare(world: World, numbers: tuple[int, ...]) -> None:
    """Offer calls in order, and compare each decision. After a refusal, go back to the time before it."""
    guard = world.guard()
    happened: tuple[int, ...] = ()
    for number in numbers:
        if not world.alive(happened, world.letters[number][3]):
            continue  # by then a deadline has passed, whatever is called
        before = guard.snapshot()
        possible = decide(world, guard, happened, number)
        if possible:
            happened = (*happened, number if number in possible else possible[0])
            guard.after(world.call(number), world.letters[happened[-1]][2])
        else:
            guard = Guard.restore(before, world.rules, world.tools)
    assert world.alive(happened)


@pytest.mark.parametrize("name", WORLDS)
def test_a_call_is_refused_if_and_only_if_afterwards_not_all_duties_can_be_met(name: str) -> None:
    world = WORLDS[name]
    sequences = list(product(range(len(world.letters)), repeat=world.length))
    for numbers in Random(name).sample(sequences, min(8, len(sequences))):
        compare(world, numbers)


def has_advice(world: World, happened: tuple[int, ...], number: int, most: int) -> bool:
    """Whether some events, at most so many, come first in a trace with the call that keeps all rules."""
    return any(
        world.alive((*happened, *first, other))
        for size in range(1, most + 1)
        for first in product(range(len(world.letters)), repeat=size)
        for other in world.calls(number)
    )


def follow(guard: Guard, steps: tuple[Step, ...], time: int) -> int:
    """Carry out the steps of advice, each of which the guard has to allow. Returns the time after them."""
    for step in steps:
        time += step.wait
        if step.call is not None:
            assert isinstance(guard.before(step.call, time=time), Allow), step
            guard.after(step.call, dict(step.result))
    return time


def check_advice(world: World, numbers: tuple[int, ...], most: int) -> None:
    """Offer calls in order. After a refusal, follow its advice and offer the call again, then go back."""
    guard = world.guard(advice=True)
    happened: tuple[int, ...] = ()
    for number in numbers:
        if not world.alive(happened, world.letters[number][3]):
            continue
        before, now = guard.snapshot(), world.trace((*happened, number))[-1].time or 0
        decision = guard.before(world.call(number), time=now)
        if isinstance(decision, Allow):
            happened = (*happened, next(other for other in world.calls(number) if world.alive((*happened, other))))
            guard.after(world.call(number), world.letters[happened[-1]][2])
            continue
        case = world.formulas, world.trace(happened), number, [str(step) for step in decision.first]
        assert decision.first or not has_advice(world, happened, number, most), case
        guard.load(before)
        if decision.first:
            assert isinstance(guard.before(world.call(number), time=follow(guard, decision.first, now)), Allow), case
            guard.load(before)


@pytest.mark.parametrize("name", WORLDS)
def test_after_the_steps_of_advice_a_refused_call_is_allowed_and_there_is_advice_if_two_steps_do(name: str) -> None:
    world = WORLDS[name]
    sequences = list(product(range(len(world.letters)), repeat=min(world.length, 3)))
    for numbers in Random(name).sample(sequences, min(4, len(sequences))):
        check_advice(world, numbers, 2 if len(world.letters) <= 6 else 1)


def compare_all(world: World, length: int) -> None:
    """All sequences. A refused call changes nothing, so each trace is reached once and every call offered there."""
    waiting: list[tuple[tuple[int, ...], bytes | str]] = [((), world.guard().snapshot())]
    while waiting:
        happened, snapshot = waiting.pop()
        for number in range(len(world.letters)):
            if not world.alive(happened, world.letters[number][3]):
                continue  # by then a deadline has passed, whatever is called
            guard = Guard.restore(snapshot, world.rules, world.tools)
            possible = decide(world, guard, happened, number)
            if number in possible and len(happened) + 1 < length:
                guard.after(world.call(number), world.letters[number][2])
                waiting.append(((*happened, number), guard.snapshot()))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WORLDS if not name.startswith("untimed")])
def test_this_is_so_for_all_sequences(name: str) -> None:
    compare_all(WORLDS[name], WORLDS[name].length)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(UNTIMED)))
def test_this_is_so_for_all_sequences_of_seven_calls(number: int) -> None:
    compare_all(World(UNTIMED[number], [A, B, C], 7, 3), 7)


@pytest.mark.parametrize("formulas", NEVER_TOGETHER)
def test_duties_of_these_suites_can_each_be_met_but_not_all_together(formulas: tuple[str, ...]) -> None:
    together = World(formulas, [A, B, C], 3, 3)
    alone = [World((formula,), [A, B, C], 3, 3) for formula in formulas]
    traces = [trace for size in range(4) for trace in product(range(3), repeat=size)]
    assert any(
        not together.alive(trace) and together.alive(trace[:-1]) and all(world.alive(trace) for world in alone)
        for trace in traces
        if trace
    )
