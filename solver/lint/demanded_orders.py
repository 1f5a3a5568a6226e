"""The orders that a rule demands of two tools, and the grounds that a reader has for them.

    !((!A) U B), (!B) W A, G(B -> O A), G(B -> Y (... S A))      A before B
    G(B -> F A), G(B -> ... U A)                                 A after B

``A`` is the call that the rule demands, ``B`` the occasion. Prohibitions (*not after*) demand no order, nor does
``O A | F A``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lawtrace.solver.logic.syntax import (
    FUTURE,
    PAST,
    Always,
    And,
    Atom,
    Eventually,
    Exists,
    ForAll,
    Formula,
    Implies,
    Next,
    Not,
    Once,
    Or,
    Release,
    Since,
    Until,
    WeakNext,
    WeakUntil,
    Yesterday,
    children,
)
from lawtrace.solver.logic.windows import ALWAYS_OPEN

Direction = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class DemandedOrder:
    """A call that must come before, or after, each call of an occasion.

    Attributes:
        demanded: the calls of which one will do.
        direction: where it stands.
        occasion: the calls that it is demanded for.
        timed: whether the rule says how long before or after.
    """

    demanded: tuple[Atom, ...]
    direction: Direction
    occasion: tuple[Atom, ...]
    timed: bool = False

    def __str__(self) -> str:
        return f"{' | '.join(map(str, self.demanded))} {self.direction} {' | '.join(map(str, self.occasion))}"


def demanded_orders(formula: Formula) -> tuple[DemandedOrder, ...]:
    """The orders that a formula demands, each once."""
    return tuple(dict.fromkeys(_demands(formula, True, ())))


def _demands(formula: Formula, positive: bool, occasion: tuple[Atom, ...]) -> Iterator[DemandedOrder]:
    match formula:
        case Not(Until(left, right)) if positive:
            yield from _ordered(Not(left), "before", _present(right))
        case WeakUntil(left, right) if positive and not occasion:
            yield from _ordered(right, "before", _present(Not(left)))
        case Release(left, right) if positive and not occasion:
            yield from _ordered(left, "before", _present(Not(right)))
        case Not(part):
            yield from _demands(part, not positive, occasion)
        case ForAll(_, part) | Exists(_, part) | Always(part):
            yield from _demands(part, positive, occasion)
        case Implies(left, right) if positive:
            yield from _demands(right, True, _present(left) or occasion)
        case Or(parts) if positive:
            denied = tuple(atom for part in parts if isinstance(part, Not) for atom in _present(part.operand))
            yield from _alternatives([*_demands_of_each(parts, denied or occasion)])
        case And(parts):
            for part in parts:
                yield from _demands(part, positive, occasion)
        case Once(part, window) | Yesterday(part, window) | Since(_, part, window) if positive:
            yield from _ordered(part, "before", occasion, timed=window != ALWAYS_OPEN)
        case Eventually(part, window) | Next(part, window) | WeakNext(part, window) if positive:
            yield from _ordered(part, "after", occasion, timed=window != ALWAYS_OPEN)
        case Until(_, part, window) if positive:
            yield from _ordered(part, "after", occasion, timed=window != ALWAYS_OPEN)
        case _:
            pass


def _demands_of_each(parts: Iterable[Formula], occasion: tuple[Atom, ...]) -> Iterator[DemandedOrder]:
    for part in parts:
        yield from _demands(part, True, occasion)


def _alternatives(orders: Sequence[DemandedOrder]) -> Iterator[DemandedOrder]:
    """Of alternatives one will do; a call that may come before or after is in no order."""
    for occasion in dict.fromkeys(order.occasion for order in orders):
        found = [order for order in orders if order.occasion == occasion]
        by_direction: dict[Direction, list[Atom]] = {"before": [], "after": []}
        for order in found:
            by_direction[order.direction] += order.demanded
        if all(by_direction.values()):
            continue
        for direction, atoms in by_direction.items():
            if atoms:
                timed = any(order.timed for order in found)
                yield DemandedOrder(tuple(dict.fromkeys(atoms)), direction, occasion, timed)


def _ordered(
    part: Formula, direction: Direction, occasion: tuple[Atom, ...], *, timed: bool = False
) -> Iterator[DemandedOrder]:
    if isinstance(part, And):
        for operand in part.operands:
            yield from _ordered(operand, direction, occasion, timed=timed)
        return
    own = {atom.tool for atom in occasion}
    demanded = tuple(dict.fromkeys(atom for atom in _atoms(part, True) if atom.tool not in own))
    if occasion and demanded:
        yield DemandedOrder(demanded, direction, occasion, timed)


def _present(formula: Formula) -> tuple[Atom, ...]:
    """The atoms that the formula asks for at its own step."""
    return tuple(dict.fromkeys(_atoms(formula, True, present=True)))


def _atoms(formula: Formula, positive: bool, *, present: bool = False) -> Iterator[Atom]:
    """The atoms that are not negated."""
    if isinstance(formula, Atom):
        if positive:
            yield formula
    elif not (present and isinstance(formula, (*PAST, *FUTURE))):
        parts = (formula.right,) if isinstance(formula, Since | Until) else children(formula)
        for part in parts:
            yield from _atoms(part, positive != isinstance(formula, Not), present=present)
