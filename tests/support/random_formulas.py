"""Random formulas over the whole rule language, and random traces for them."""

from dataclasses import replace
from random import Random
from typing import Literal, cast

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import CallOutcome, Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms
from lawtrace.solver.logic.conditions import (
    AndCondition,
    Comparison,
    Condition,
    ElementCondition,
    NotCondition,
    Operator,
    OrCondition,
)
from lawtrace.solver.logic.windows import ALWAYS_OPEN, Bound, Span, Unit, Window
from tests.support.equations import Step

VARIABLES = ("x", "y")
DAY = 86_400
ORDERS: tuple[Operator, ...] = ("==", "!=", "<", "<=", ">", ">=")
OUTCOMES: tuple[CallOutcome, ...] = ("completed",) * 8 + ("failed", "shielded")


class RandomFormulas:
    """A seeded source of formulas and traces. Every third draws windows of the calendar, and traces over days."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.calendar = seed % 3 == 2

    # Traces

    def trace(self) -> list[Step]:
        random = self.random
        time = 19_780 * DAY + random.randrange(3 * DAY) if self.calendar else 0
        steps: list[Step] = []
        for _ in range(random.randrange(8)):
            time = self.later(time)
            number = 1 if random.random() < 0.75 else random.randrange(4)
            steps.append(Step(time, tuple(self.event(time) for _ in range(number))))
        return steps

    def later(self, time: int) -> int:
        """The time of the next step."""
        if self.calendar:
            return time + self.random.choice((0, 1, 3600, DAY // 2, DAY, DAY + 1, 3 * DAY, 31 * DAY))
        return time + self.random.choice((0, 0, 1, 1, 2, 5))

    def event(self, time: int) -> Event:
        random = self.random
        arguments: dict[str, Json] = {
            "p": random.choice((0, 0, 1, 1, 2, True, "a", "Ab")),
            "q": random.randrange(3),
            "l": [random.randrange(3) for _ in range(random.randrange(3))],
        }
        if random.random() < 0.1:
            del arguments[random.choice("pql")]
        return Event(random.choice("AAABBBC"), arguments, random.choice(OUTCOMES), time=time)

    @staticmethod
    def values(formula: s.Formula) -> list[Scalar]:
        """The values that quantifiers have to try: those of the events, and what aggregates may make of them."""
        made = any(
            isinstance(aggregate, s.RelationAggregate)
            for node in s.subformulas(formula)
            for aggregate in s.aggregates_of(node)
        )
        return [*(range(-3, 12) if made else range(4)), True, "a", "Ab"]

    # Formulas

    def formula(self) -> s.Formula:
        """A closed formula, safe or not: a rule `forall x: G(...)` or any other."""
        random = self.random
        while True:
            try:
                if random.random() < 0.5:
                    names = VARIABLES[: random.choice((1, 2))]
                    guards = [self.atom(names, name) for name in names]
                    if random.random() < 0.6:
                        guards = [self.pair(names)] if len(names) == 2 else guards[:1]
                    body = self.part(random.choice((1, 2, 3)), names)
                    guard = s.And(*guards) if len(guards) > 1 else guards[0]
                    return s.ForAll(names, s.Always(s.Implies(guard, body)))
                return self.part(random.choice((2, 3, 4)), ())
            except FormulaError:  # the future inside the past, a variable that does not occur, an empty window
                continue

    def part(self, depth: int, names: tuple[str, ...], *, past: bool = False, quantifiers: bool = True) -> s.Formula:
        random = self.random
        if not depth or random.random() < 0.12:
            return self.atom(names) if random.random() < 0.8 else self.test(names)

        def sub(*, only_past: bool = past) -> s.Formula:
            return self.part(depth - 1, names, past=only_past, quantifiers=quantifiers)

        kinds = ["not", "and", "and", "or", "implies", "iff", "past", "past", "past", "since"]
        kinds += [] if past else ["future"] * 5 + ["until"] * 3
        kinds += ["exists", "exists", "forall"] if quantifiers else []
        match random.choice(kinds):
            case "not":
                return s.Not(sub())
            case "and":
                return s.And(sub(), sub())
            case "or":
                return s.Or(sub(), sub())
            case "implies":
                return s.Implies(sub(), sub())
            case "iff":
                return s.Iff(sub(), sub())
            case "past":
                return random.choice((s.Yesterday, s.Once, s.Historically))(sub(only_past=True), self.window())
            case "since":
                return s.Since(sub(only_past=True), sub(only_past=True), self.window())
            case "future":
                return random.choice((s.Next, s.WeakNext, s.Eventually, s.Eventually, s.Always))(sub(), self.window())
            case "until":
                return random.choice((s.Until, s.Release, s.WeakUntil))(sub(), sub(), self.window())
            case kind:
                return self.quantified(kind, depth, names, past=past)

    def quantified(self, kind: str, depth: int, names: tuple[str, ...], *, past: bool) -> s.Formula:
        name = next((name for name in VARIABLES if name not in names), None)
        if name is None:
            return self.atom(names)
        guard, body = self.atom((*names, name), name), self.part(depth - 1, (*names, name), past=past)
        return s.Exists((name,), s.And(guard, body)) if kind == "exists" else s.ForAll((name,), s.Implies(guard, body))

    def window(self) -> Window:
        random = self.random
        if random.random() < 0.4:
            return ALWAYS_OPEN
        unit: Unit = "s"
        if self.calendar:
            unit = random.choice(("h", "d", "calendar day", "calendar month", "business day"))
        low, high = sorted((random.randrange(6), random.randrange(1, 7)))
        lower = Bound(Span(low, unit), random.random() < 0.3) if random.random() < 0.5 else None
        upper = Bound(Span(high + 1, unit), random.random() < 0.3) if random.random() < 0.7 else None
        return Window(lower, upper)

    def pair(self, names: tuple[str, ...]) -> s.Atom:
        """An atom about two variables, each in its own argument."""
        first, second = self.random.sample(names, 2)
        parts = (
            Comparison(terms.FieldPath(("p",)), "==", terms.BoundVariable(first)),
            Comparison(terms.FieldPath(("q",)), "==", terms.BoundVariable(second)),
        )
        return s.Atom(self.random.choice("AB"), AndCondition(parts))

    def atom(self, names: tuple[str, ...], needed: str | None = None) -> s.Atom:
        """An atom about some of the variables; `needed`: it says which values this one has."""
        random = self.random
        if len(names) >= 2 and needed is None and random.random() < 0.5:
            return self.pair(names)
        chosen = [needed] if needed is not None else []
        chosen += [name for name in names if random.random() < 0.5 and name != needed]
        parts: list[Condition] = []
        for name in chosen[:2]:
            variable = terms.BoundVariable(name)
            spread = random.random() < 0.15
            parts.append(
                Comparison(variable, "in", terms.FieldPath(("l",)))
                if spread
                else Comparison(terms.FieldPath((random.choice("pq"),)), "==", variable)
            )
        if random.random() < 0.3:
            parts.append(self.condition(names))
        condition = None if not parts else parts[0] if len(parts) == 1 else AndCondition(tuple(parts))
        return s.Atom(random.choice("AB"), condition, attempted=random.random() < 0.1)

    def condition(self, names: tuple[str, ...]) -> Condition:
        random = self.random
        field = terms.FieldPath((random.choice("pq"),))
        match random.randrange(8):
            case 0 if names:
                return Comparison(field, random.choice(ORDERS[1:]), terms.BoundVariable(random.choice(names)))
            case 1:
                quantifier: Literal["any", "all"] = random.choice(("any", "all"))
                inner = Comparison(terms.Element("e"), random.choice(ORDERS), terms.LiteralValue(random.randrange(3)))
                return ElementCondition(quantifier, "e", terms.FieldPath(("l",)), inner)
            case 2:
                texts: tuple[Operator, ...] = ("startswith", "endswith", "contains")
                return Comparison(terms.FunctionCall("lower", (field,)), random.choice(texts), terms.LiteralValue("a"))
            case 3:
                return Comparison(field, "in", terms.LiteralList((terms.LiteralValue(1), terms.LiteralValue("a"))))
            case 4:
                size = terms.FunctionCall(random.choice(("len", "largest", "total")), (terms.FieldPath(("l",)),))
                return Comparison(size, random.choice(ORDERS), field)
            case 5:
                return NotCondition(Comparison(field, random.choice(ORDERS), terms.LiteralValue(random.randrange(3))))
            case 6:
                ones = tuple(
                    Comparison(field, "==", terms.LiteralValue(cast("Scalar", random.choice((0, True, "a")))))
                    for _ in "ab"
                )
                return OrCondition(ones)
            case _:
                return Comparison(field, random.choice(ORDERS), terms.LiteralValue(random.randrange(3)))

    def test(self, names: tuple[str, ...]) -> s.Formula:
        return s.Compare(Comparison(self.term(names), self.random.choice(ORDERS), self.term(names)))

    def term(self, names: tuple[str, ...]) -> terms.Term:
        random = self.random
        share = random.random()
        if names and share < 0.3:
            return terms.BoundVariable(random.choice(names))
        if share < 0.5:
            return terms.LiteralValue(random.randrange(4))
        if share < 0.6:
            return (
                terms.Position()
                if random.random() < 0.5
                else terms.Arithmetic(terms.Now(), "-", self.aggregate(names, moments=True))
            )
        if share < 0.9:
            return self.aggregate(names)
        if share < 0.95:
            formula = self.part(1, (*names, "u"), past=True, quantifiers=False)
            if "u" in s.free_variables(formula):
                count = s.RelationAggregate("count", None, ("u",), formula)
                return count if random.random() < 0.5 else replace(count, function="sum", term=terms.BoundVariable("u"))
        right: terms.Term = terms.BoundVariable(random.choice(names)) if names else terms.LiteralValue(1)
        return terms.Arithmetic(terms.LiteralValue(random.randrange(3)), random.choice("+-*/"), right)  # pyright: ignore[reportArgumentType]

    def aggregate(self, names: tuple[str, ...], *, moments: bool = False) -> terms.Term:
        """An aggregate over events; `moments`: of their times."""
        random = self.random
        functions: tuple[s.AggregateFunction, ...] = ("count", "sum", "min", "max", "avg", "last")
        function = random.choice(("min", "max", "last")) if moments else random.choice(functions)
        distinct = function == "count" and random.random() < 0.4
        term: terms.Term | None = terms.Now() if moments else terms.FieldPath((random.choice("pq"),))
        atom = self.atom(names)
        since = self.atom(tuple(name for name in names if name in atom.variables)) if random.random() < 0.3 else None
        return s.EventAggregate(
            function, None if function == "count" and not distinct else term, atom, self.window(), since, distinct
        )
