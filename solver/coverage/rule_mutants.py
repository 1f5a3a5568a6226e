"""Rule mutants: a rule with one change, as a formalizer might have read the provision.

    condition deleted    an operand of `&` or `|`, or a condition of a call, is left out
    window dropped       a window has no bounds any more
    window shifted       a bound of a window, or a span of time, is one unit longer or shorter
    comparison           `<` for `<=`, `>` for `>=`, `!=` for `==`, and the reverse, also in windows
    variable unbound     a call is not compared with a variable any more
    tool exchanged       a call of another tool: the next one in the declaration that the types allow
    F for O, O for F     what is to happen later is to have happened before, and the reverse

Definitions are expanded. Each mutant passes the type check, has a monitor, and differs from the rule and from earlier
mutants in normal form.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Literal, TypeVar

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms as t
from lawtrace.solver.logic.conditions import (
    AndCondition,
    Comparison,
    Condition,
    ElementCondition,
    NotCondition,
    Operator,
    OrCondition,
    equation,
)
from lawtrace.solver.logic.normal_form import normal_form
from lawtrace.solver.logic.signature import environment_signature
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.logic.windows import ALWAYS_OPEN, Bound, Window
from lawtrace.solver.rules import Rule

_Part = TypeVar("_Part", covariant=True)
_Whole = TypeVar("_Whole")
_Other = TypeVar("_Other")

RuleMutationKind = Literal[
    "condition deleted", "window dropped", "window shifted", "comparison", "variable unbound", "tool exchanged",
    "F for O", "O for F",
]  # fmt: skip

_OTHER_SIGN: Final[dict[Operator, Operator]] = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class RuleMutant:
    """A rule with one change.

    Attributes:
        kind: the kind of change.
        change: what changed, as a sentence.
        rule: the changed rule; its id is that of the original with a number.
    """

    kind: RuleMutationKind
    change: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class _Change(Generic[_Part]):
    """A change of a part of a rule.

    Attributes:
        sentence: what changes.
        make: makes the changed part; it raises FormulaError where the result is no formula.
        place: equal for changes of which only the first that is well-typed is taken.
    """

    kind: RuleMutationKind
    sentence: str
    make: Callable[[], _Part]
    place: object = None

    def within(self, put: Callable[[_Part], _Whole]) -> "_Change[_Whole]":
        """The change of what the part is in."""
        return _Change(self.kind, self.sentence, lambda: put(self.make()), self.place)


def rule_mutants(environment: Environment, rule: Rule) -> Iterator[RuleMutant]:
    """The mutants of a rule, in the order of the places in its formula."""
    signature = environment_signature(environment)
    seen, last = {normal_form(rule.parsed)}, object()
    for change in _in_formula(rule.parsed, [*environment.tools]):
        if change.place is last:
            continue
        try:
            formula = change.make()
            check_formula(formula, signature)
            normal = normal_form(formula)
            fields = rule.model_dump(exclude={"definitions"}) | {
                "id": f"{rule.id}~{len(seen)}",
                "formula": str(formula),
            }
            mutated = Rule.model_validate(fields)
            if normal in seen or not mutated.encodable:
                continue
        except FormulaError:
            continue
        seen.add(normal)
        last = change.place or last
        yield RuleMutant(change.kind, change.sentence, mutated)


def _in_parts(
    parts: Sequence[_Whole],
    changes: Callable[[_Whole], Iterator[_Change[_Whole]]],
    put: Callable[[Sequence[_Whole]], _Other],
) -> Iterator[_Change[_Other]]:
    """The changes of what has some parts. `put`: makes it of its parts."""
    for number, part in enumerate(parts):
        for change in changes(part):
            yield change.within(lambda new, number=number: put([*parts[:number], new, *parts[number + 1 :]]))


def _in_formula(formula: s.Formula, tools: Sequence[str]) -> Iterator[_Change[s.Formula]]:
    """The changes of a formula and of its parts. `tools`: in the order of the declaration."""
    if isinstance(formula, s.FUTURE + s.PAST):
        for change in _in_window(formula.window, formula.spellings[0]):
            yield change.within(lambda window: replace(formula, window=window))
    match formula:
        case s.Atom():
            yield from _in_atom(formula, tools)
        case s.Compare(comparison):
            yield from (change.within(s.Compare) for change in _in_comparison(comparison, tools))
            return
        case s.And(parts) | s.Or(parts):
            for number, part in enumerate(parts):
                left = [*parts[:number], *parts[number + 1 :]]
                shorter = type(formula)(*left) if len(left) > 1 else left[0]
                yield _Change("condition deleted", f"`{part}` is left out.", lambda shorter=shorter: shorter)
        case s.Eventually(operand, window):
            text = f"`{formula}` becomes `O`: it is to have happened before."
            yield _Change("F for O", text, lambda: s.Once(operand, window))
        case s.Once(operand, window):
            text = f"`{formula}` becomes `F`: it is to happen later."
            yield _Change("O for F", text, lambda: s.Eventually(operand, window))
        case _:
            pass

    def put(parts: Sequence[s.Formula]) -> s.Formula:
        rest = iter(parts)
        return s.map_children(formula, lambda _: next(rest))

    yield from _in_parts(s.children(formula), partial(_in_formula, tools=tools), put)


def _in_atom(atom: s.Atom, tools: Sequence[str]) -> Iterator[_Change[s.Atom]]:
    if atom.tool in tools:
        number, place = tools.index(atom.tool), object()
        for other in (*tools[number + 1 :], *tools[:number]):
            text = f"`{atom}` becomes a call of `{other}`."
            yield _Change("tool exchanged", text, lambda other=other: replace(atom, tool=other), place)
    if atom.condition is not None:
        if not isinstance(atom.condition, AndCondition):
            yield _deleted(atom.condition, atom).within(lambda _: replace(atom, condition=None))
        for change in _in_condition(atom.condition, atom, tools):
            yield change.within(lambda condition: replace(atom, condition=condition))


def _deleted(part: Condition, atom: s.Atom) -> _Change[None]:
    """A condition of a call is left out."""
    kind: RuleMutationKind = "condition deleted" if equation(part) is None else "variable unbound"
    return _Change(kind, f"`{part}` is left out of `{atom}`.", lambda: None)


def _in_condition(condition: Condition, atom: s.Atom, tools: Sequence[str]) -> Iterator[_Change[Condition]]:
    match condition:
        case Comparison():
            yield from _in_comparison(condition, tools)
        case NotCondition(part) | ElementCondition(part=part):
            for change in _in_condition(part, atom, tools):
                yield change.within(lambda new: replace(condition, part=new))
        case AndCondition(parts) | OrCondition(parts):
            make = partial(_joined, of=condition)
            for number, part in enumerate(parts):
                yield _deleted(part, atom).within(
                    lambda _, number=number: make([*parts[:number], *parts[number + 1 :]])
                )
            yield from _in_parts(parts, partial(_in_condition, atom=atom, tools=tools), make)
        case _:
            pass


def _joined(parts: Sequence[Condition], of: AndCondition | OrCondition) -> Condition:
    return type(of)(tuple(parts)) if len(parts) > 1 else parts[0]


def _in_comparison(comparison: Comparison, tools: Sequence[str]) -> Iterator[_Change[Comparison]]:
    sign = _OTHER_SIGN.get(comparison.operator)
    if sign is not None and equation(comparison) is None:
        text = f"`{comparison}` has `{sign}` for `{comparison.operator}`."
        yield _Change("comparison", text, lambda: replace(comparison, operator=sign))
    left, sign, right = comparison.left, comparison.operator, comparison.right
    yield from _in_parts((left, right), partial(_in_term, tools=tools), lambda new: Comparison(new[0], sign, new[1]))


def _in_term(term: t.Term, tools: Sequence[str]) -> Iterator[_Change[t.Term]]:
    changes = partial(_in_term, tools=tools)
    match term:
        case t.SpanLiteral(span):
            for longer in (1, -1):
                text = f"`{term}` is one unit {'longer' if longer > 0 else 'shorter'}."
                yield _Change(
                    "window shifted",
                    text,
                    lambda longer=longer: t.SpanLiteral(replace(span, amount=span.amount + longer)),
                )
        case t.Arithmetic(left, sign, right):
            yield from _in_parts((left, right), changes, lambda new: t.Arithmetic(new[0], sign, new[1]))
        case t.FunctionCall(name, arguments):
            yield from _in_parts(arguments, changes, lambda new: t.FunctionCall(name, tuple(new)))
        case s.EventAggregate(_, _, atom, window, since):
            for change in _in_window(window, term.function):
                yield change.within(lambda new: replace(term, window=new))
            for change in _in_atom(atom, tools):
                yield change.within(lambda new: replace(term, atom=new))
            if since is not None:
                yield _Change("condition deleted", f"`since {since}` is left out.", lambda: replace(term, since=None))
                for change in _in_atom(since, tools):
                    yield change.within(lambda new: replace(term, since=new))
        case s.RelationAggregate(formula=formula):
            for change in _in_formula(formula, tools):
                yield change.within(lambda new: replace(term, formula=new))
        case _:
            pass


def _in_window(window: Window, of: str) -> Iterator[_Change[Window]]:
    """The changes of a window. `of`: what has it."""
    if window.unlimited:
        return
    yield _Change("window dropped", f"`{of}{window}` has no window.", lambda: ALWAYS_OPEN)
    for name, bound in (("lower", window.lower), ("upper", window.upper)):
        if bound is None:
            continue
        border = f"{'inside' if bound.strict else 'outside'} of the window"
        for how, units in (("one unit longer", 1), ("one unit shorter", -1), (border, 0)):
            kind: RuleMutationKind = "window shifted" if units else "comparison"
            make = partial(_with_bound, window, name, bound, units)
            yield _Change(kind, f"the bound of {bound.span} in `{of}{window}` is {how}.", make)


def _with_bound(window: Window, name: str, bound: Bound, units: int) -> Window:
    span = replace(bound.span, amount=bound.span.amount + units)
    return replace(window, **{name: Bound(span, bound.strict == bool(units))})
