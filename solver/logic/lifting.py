"""Rules whose variables are found elsewhere than where engines look, rewritten so that they can evaluate them.

A table of the past has to find the values of its variables by itself. `O A(p == x, days(h, now) <= 60)` does not find
those of h, but what it says of h needs only the time of the call, which a table can remember:

    O A(c, d)        = exists t: O (A(c) & now == t) & d[t]          d[t]: d with t for `now`
    O A(c, d)        = exists v: O A(c, field == v) & d[v]           for a field that is compared as one value
    O A(any w in l: d)  = exists v: O A(v in l) & d[v]
    O (f & !g)       = exists p: O (f & position == p) & !O (g & position == p)
    O (f | g)        = O f | O g                                     also for `or` in the condition of a call
    O (exists x: f)  = exists x: O f
    f S[w] g         = exists p: O[w] (g & position == p) & !O (!f & position > p)      if f has variables that g lacks

Y and S are rewritten as O is. An aggregate of calls that name x is that of no calls until there was one:

    O (count(A(field == x)) < n)  = O (O A(field == x) & count(A(field == x)) < n) | O (!O A(field == x) & 0 < n)

Elements of a list are found together, and what only a later step finds is told from there:

    A(any w in l: w.f == x & w.g == y)  = A(x in l.f, y in l.g, any w in l: ...)
    a & F[w] g & !F[v] f  = g & exists p: O[w] (a & position == p) & !O (f & here) & !F (f & here)      at the step of g
                            here: O[v] (a & position == p)

Only rules that are not safe as they are written are rewritten; others keep their form.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count, product
from math import prod
from typing import TypeVar

from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms as t
from lawtrace.solver.logic.conditions import (
    AndCondition,
    Comparison,
    Condition,
    ElementCondition,
    NotCondition,
    OrCondition,
    all_of,
    condition_leaves,
    condition_variables,
    conjuncts,
    equation,
    equations,
    map_operands,
)
from lawtrace.solver.logic.normal_form import conjunction, disjunction, disjuncts, exists, is_past, negated, normal_form
from lawtrace.solver.logic.safety import UnsafeFormulaError, check_safety, finds

_MOST = 64
"""How many alternatives a formula may be split into."""
_NONE = frozenset[str]()
_T = TypeVar("_T")


def safe_form(formula: s.Formula) -> s.Formula:
    """The normal form of a rule, rewritten if it is not safe.

    Raises:
        UnsafeFormulaError: that does not make it safe, either.
    """
    normal = normal_form(formula)
    try:
        check_safety(normal)
    except UnsafeFormulaError:
        lifting = _Lifting(normal)
        lifted = lifting.rewritten(normal)
        try:
            check_safety(lifted)
        except UnsafeFormulaError as error:
            lifted = lifting.rewritten(lifting.told_later(normal))
            try:
                check_safety(lifted)
            except UnsafeFormulaError:
                raise error from None
        return lifted
    return normal


class _Stuck(Exception):
    """A part cannot be rewritten."""


_Names = dict[t.Leaf, t.BoundVariable]
"""The variables for values of another step, or of a call in it, by what they stand for."""


class _Lifting:
    def __init__(self, normal: s.Formula) -> None:
        taken = s.bound_variables(normal)
        self._numbers = (number for number in count(1) if not any(name.endswith(str(number)) for name in taken))

    def _fresh(self, name: str) -> t.BoundVariable:
        """A variable for a value of another step; no rule can contain its name."""
        return t.BoundVariable(f"{name}{t.NUMBERED}{next(self._numbers)}")

    def rewritten(self, formula: s.Formula) -> s.Formula:
        match formula:
            case s.Atom():
                with suppress(_Stuck):
                    split = disjunction(_alternatives(formula))
                    return split if not finds(formula, _NONE) and finds(split, _NONE) else formula
                return formula
            case s.Not(operand):
                return negated(self.rewritten(operand))
            case s.And(parts) | s.Or(parts):
                join = conjunction if isinstance(formula, s.And) else disjunction
                return join(map(self.rewritten, parts))
            case s.Since(left, right, window):
                return self._since(s.Since(self.rewritten(left), self.rewritten(right), window))
            case s.Yesterday(operand, window):
                return self._past(
                    s.Yesterday(self.rewritten(operand), window), lambda found: s.Yesterday(found, window)
                )
            case _:
                return s.map_children(formula, self.rewritten)

    def told_later(self, normal: s.Formula) -> s.Formula:
        """A rule about every step, with each violation told from the step that finds its variables."""
        match normal:
            case s.And(parts):
                return conjunction(map(self.told_later, parts))
            case s.Not(s.Until(s.Top(), violation, window)) if window.unlimited:
                told = [one for way in disjuncts(violation) for one in self._ways_told_later(way)]
                return negated(s.Until(s.Top(), disjunction(told), window))
            case _:
                return normal

    def _ways_told_later(self, violation: s.Formula) -> Iterator[s.Formula]:
        variables, body = (violation.variables, violation.body) if isinstance(violation, s.Exists) else ((), violation)
        with suppress(_Stuck):
            for parts in _expanded(body):
                told = self._violation_told_later(parts)
                yield s.Exists(variables, told) if variables else told
            return
        yield violation

    def _violation_told_later(self, parts: Sequence[s.Formula]) -> s.Formula:
        """A violation whose variables only `F g` in it finds, told from the step at which g is true."""
        found, stuck, known = _ordered(parts)
        missing = frozenset[str]().union(*map(s.free_variables, stuck)) - known
        later = (
            part
            for part in stuck
            if isinstance(part, s.Until) and part.left == s.Top() and missing <= s.free_variables(part)
        )
        if not missing or not found or (finder := next(later, None)) is None or not finds(finder.right, _NONE):
            return conjunction(parts)
        began = s.Compare(Comparison(t.Position(), "==", position := self._fresh("value")))
        step = conjunction([*(part for part in found if is_past(part)), began])
        others = (part for part in (*found, *stuck) if part is not finder and (part in stuck or not is_past(part)))
        told = [_seen_from_later(part, step) for part in others]
        before = s.Since(s.Top(), step, finder.window)
        return conjunction([finder.right, s.Exists((position.name,), conjunction([before, *told]))])

    def _since(self, formula: s.Since) -> s.Formula:
        if not finds(formula.right, _NONE):
            return self._past(formula, lambda found: self._since(replace(formula, right=found)))
        if s.free_variables(formula.left) <= s.free_variables(formula.right):
            return formula
        since = self._fresh("value")
        began = conjunction([formula.right, s.Compare(Comparison(t.Position(), "==", since))])
        ended = conjunction([negated(formula.left), s.Compare(Comparison(t.Position(), ">", since))])
        parts = [s.Since(s.Top(), began, formula.window), negated(self.rewritten(s.Since(s.Top(), ended)))]
        return exists(frozenset({since.name}), conjunction(parts))

    def _past(self, formula: s.Since | s.Yesterday, of: Callable[[s.Formula], s.Formula]) -> s.Formula:
        """A formula of the past, with what its operand does not find outside. `of`: the same of another operand."""
        operand = formula.right if isinstance(formula, s.Since) else formula.operand
        if finds(operand, _NONE):
            return formula
        try:
            pieces = [self._piece(parts) for parts in _expanded(operand)]
        except _Stuck:
            return formula
        if not all(finds(found, _NONE) for found, _ in pieces):
            return formula
        joined = [conjunction([of(found), *tests]) for found, tests in pieces]
        own = s.free_variables(formula)
        return disjunction([exists(s.free_variables(part) - own, part) for part in joined])

    def _piece(self, parts: Iterable[s.Formula]) -> tuple[s.Formula, list[s.Formula]]:
        """What a table can find of an alternative, and what is then compared."""
        found, stuck, known = _ordered(parts)
        tests: list[s.Formula] = []
        step: _Names = {}
        for part in stuck:
            match part:
                case s.Compare(comparison):
                    tests.append(self._moved(comparison, step, None))
                case s.Not(operand):
                    here = s.Compare(Comparison(t.Position(), "==", self._named(t.Position(), step)))
                    tests.append(negated(self.rewritten(s.Since(s.Top(), conjunction([operand, here])))))
                case s.Atom(_, condition):
                    known_here = known | {name for name, _, _ in equations(condition)}
                    kept: list[Condition] = []
                    call: _Names = {}
                    for one in conjuncts(condition):
                        if condition_variables(one) <= known_here:
                            kept.append(one)
                        else:
                            tests += self._tests(one, step, call, kept)
                    kept += [Comparison(leaf, "==", variable) for leaf, variable in call.items()]
                    found.append(replace(part, condition=all_of(kept)))
                case _:
                    raise _Stuck
        found += [s.Compare(Comparison(leaf, "==", variable)) for leaf, variable in step.items()]
        return conjunction(found), tests

    def _tests(self, condition: Condition, step: _Names, call: _Names, kept: list[Condition]) -> Iterator[s.Formula]:
        """A condition of a call as comparisons of variables. `kept`: gets what the call has to meet instead."""
        match condition:
            case Comparison():
                yield self._moved(condition, step, call)
            case NotCondition(Comparison() as comparison) if not _reads_call(comparison):
                yield s.Not(self._moved(comparison, step, call))
            case ElementCondition("any", name, t.FieldPath() as elements, part):
                own, element = t.Element(name), self._fresh("value")
                kept.append(Comparison(element, "in", elements))
                for one in conjuncts(map_operands(part, lambda leaf: element if leaf == own else leaf)):
                    yield from self._tests(one, step, call, kept)
            case _:
                raise _Stuck

    def _moved(self, comparison: Comparison, step: _Names, call: _Names | None) -> s.Compare:
        """A comparison with variables for what differs between steps."""

        def moved(leaf: t.Leaf) -> t.Term:
            match leaf:
                case t.Now() | t.Position() | t.Computed():
                    return self._named(leaf, step)
                case t.FieldPath() if call is not None:
                    return self._named(leaf, call)
                case t.FieldPath() | t.Element():
                    raise _Stuck
                case _:
                    return leaf

        left, right = comparison.left, comparison.right
        if (
            _reads_lists(left)
            or _reads_lists(right)
            or (comparison.operator == "in" and not isinstance(right, t.LiteralList | t.FunctionCall))
        ):
            raise _Stuck
        return s.Compare(Comparison(t.map_leaves(left, moved), comparison.operator, t.map_leaves(right, moved)))

    def _named(self, leaf: t.Leaf, names: _Names) -> t.BoundVariable:
        if leaf not in names:
            names[leaf] = self._fresh("then" if isinstance(leaf, t.Now) else "value")
        return names[leaf]


def _seen_from_later(formula: s.Formula, step: s.Formula) -> s.Formula:
    """What is true at a later step iff the formula is true at the one at which `step` is. Raises _Stuck."""
    match formula:
        case s.Not(operand):
            return negated(_seen_from_later(operand, step))
        case s.And(parts) | s.Or(parts):
            join = conjunction if isinstance(formula, s.And) else disjunction
            return join(_seen_from_later(part, step) for part in parts)
        case s.Until(s.Top(), operand, window) if is_past(operand):
            met = conjunction([operand, s.Since(s.Top(), step, window)])
            return disjunction([s.Since(s.Top(), met), s.Until(s.Top(), met)])
        case _ if not is_past(formula):
            raise _Stuck
        case _:
            return s.Since(s.Top(), conjunction([formula, step]))


def _reads_call(comparison: Comparison) -> bool:
    return any(isinstance(leaf, t.FieldPath | t.Element) for leaf in condition_leaves(comparison))


def _reads_lists(term: t.Term) -> bool:
    """Whether it applies a function of lists or objects: no variable has one as its value."""
    if isinstance(term, t.Arithmetic):
        return _reads_lists(term.left) or _reads_lists(term.right)
    if not isinstance(term, t.FunctionCall):
        return False
    return not {"list", "object"}.isdisjoint(t.FUNCTIONS[term.function].accepts) or any(
        map(_reads_lists, term.arguments)
    )


def _ordered(parts: Iterable[s.Formula]) -> tuple[list[s.Formula], list[s.Formula], frozenset[str]]:
    """The parts of a conjunction that find their variables in some order, the others, and the variables found."""
    found, stuck, known = list[s.Formula](), list(parts), _NONE
    while (part := next((part for part in stuck if finds(part, known)), None)) is not None:
        stuck.remove(part)
        found.append(part)
        known |= s.free_variables(part)
    return found, stuck, known


def _expanded(formula: s.Formula) -> list[tuple[s.Formula, ...]]:
    """The alternatives of what finds no values, each as the parts of a conjunction. Raises _Stuck for too many."""
    match formula:
        case _ if finds(formula, _NONE):
            return [(formula,)]
        case s.Or(parts):
            return list(chain.from_iterable(map(_expanded, parts)))
        case s.And(parts):
            found, stuck, _ = _ordered(parts)
            return _combined([[tuple(found)], *map(_expanded, stuck)])
        case s.Exists(_, body):
            return _expanded(body)
        case s.Atom():
            return [(one,) for one in _alternatives(formula)]
        case s.Compare(comparison):
            return _by_occurrence(comparison, positive=True)
        case s.Not(s.Compare(comparison)):
            return _by_occurrence(comparison, positive=False)
        case _:
            return [(formula,)]


def _by_occurrence(comparison: Comparison, *, positive: bool) -> list[tuple[s.Formula, ...]]:
    """A comparison, or its negation, before and after there were calls that name the variables of its aggregates."""
    ways: list[tuple[Comparison | None, list[s.Formula]]] = [(comparison, [])]
    for leaf in condition_leaves(comparison):
        if not isinstance(leaf, s.EventAggregate) or not (variables := s.free_variables(leaf.atom)):
            continue
        naming = [part for part in conjuncts(leaf.atom.condition) if equation(part)]
        once = s.Since(s.Top(), replace(leaf.atom, condition=all_of(naming)))
        if s.free_variables(once) == variables:
            ways = [
                (test, [*parts, happened])
                for one, parts in ways
                for test, happened in ((one, once), (one and _of_no_calls(one, leaf), s.Not(once)))
            ]
    if len(ways) > _MOST:
        raise _Stuck
    tests = ((s.Bottom() if one is None else s.Compare(one), parts) for one, parts in ways)
    each = ((test if positive else negated(test), parts) for test, parts in tests)
    return [(*parts, test) for test, parts in each if test != s.Bottom()]


def _of_no_calls(comparison: Comparison, aggregate: s.EventAggregate) -> Comparison | None:
    """A comparison where an aggregate is of no calls; None if it is then false."""
    if aggregate.function not in ("count", "sum"):
        return None

    def changed(leaf: t.Leaf) -> t.Leaf:
        return t.LiteralValue(0) if leaf == aggregate else leaf

    left, right = t.map_leaves(comparison.left, changed), t.map_leaves(comparison.right, changed)
    return Comparison(left, comparison.operator, right)


def _alternatives(call: s.Atom) -> list[s.Atom]:
    """A call, without `or` around variables that its condition does not find."""
    own = {name for name, _, _ in equations(call.condition)}
    parts = [_choices(one) if condition_variables(one) - own else [(one,)] for one in conjuncts(call.condition)]
    return [
        replace(call, condition=all_of([*one, *chain.from_iterable(map(_elements_found, one))]))
        for one in _combined(parts)
    ]


def _elements_found(condition: Condition) -> Iterator[Condition]:
    """What variables that are parts of one element of a list have to be, each by itself."""
    match condition:
        case ElementCondition("any", name, t.FieldPath(path), part):
            for one in conjuncts(part):
                match one:
                    case Comparison(t.Element(element, steps), "==", t.BoundVariable() as variable) | Comparison(
                        t.BoundVariable() as variable, "==", t.Element(element, steps)
                    ) if element == name and all(isinstance(step, str) for step in steps):
                        yield Comparison(variable, "in", t.FieldPath((*path, *steps)))
                    case _:
                        pass
        case _:
            pass


def _choices(condition: Condition, *, positive: bool = True) -> list[tuple[Condition, ...]]:
    """The alternatives of a condition, or of its negation, each as the parts of a conjunction."""
    match condition:
        case NotCondition(part):
            return _choices(part, positive=not positive)
        case AndCondition(parts) | OrCondition(parts):
            each = [_choices(part, positive=positive) for part in parts]
            if isinstance(condition, AndCondition) == positive:
                return _combined(each)
            return list(chain.from_iterable(each))
        case ElementCondition("any", _, _, part) if positive:
            return [(replace(condition, part=all_of(one)),) for one in _choices(part)]
        case _:
            return [(condition if positive else NotCondition(condition),)]


def _combined(choices: Sequence[Sequence[tuple[_T, ...]]]) -> list[tuple[_T, ...]]:
    """One alternative of each. Raises _Stuck for too many."""
    if prod(map(len, choices)) > _MOST:
        raise _Stuck
    return [tuple(chain.from_iterable(one)) for one in product(*choices)]
