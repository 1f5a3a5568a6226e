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
from typing import Final, Generic, Literal, TypeVar, get_args

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
from lawtrace.solver.logic.windows import ALWAYS_OPEN, Bound, Span, Window
from lawtrace.solver.rules import Rule

_Part = TypeVar("_Part", covariant=True)
_Whole = TypeVar("_Whole")

RuleMutationKind = Literal[
    "condition deleted", "window dropped", "window shifted", "comparison", "variable unbound", "tool exchanged",
    "F for O", "O for F",
]  # fmt: skip
RULE_MUTATION_KINDS: Final[tuple[RuleMutationKind, ...]] = get_args(RuleMutationKind)

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
class _Option(Generic[_Part]):
    """A sentence, and what makes the changed part; it raises FormulaError where the result is no formula."""

    sentence: str
    make: Callable[[], _Part]


@dataclass(frozen=True, slots=True)
class _Change(Generic[_Part]):
    """A change of a part of a rule. ``options``: of which the first that is well-typed is taken."""

    kind: RuleMutationKind
    options: Sequence[_Option[_Part]]

    def within(self, put: Callable[[_Part], _Whole]) -> "_Change[_Whole]":
        """The change of what the part is in."""
        options = [_Option(one.sentence, lambda one=one: put(one.make())) for one in self.options]
        return _Change(self.kind, options)


def _one(kind: RuleMutationKind, sentence: str, make: Callable[[], _Part]) -> _Change[_Part]:
    return _Change(kind, [_Option(sentence, make)])


def rule_mutants(environment: Environment, rule: Rule) -> Iterator[RuleMutant]:
    """The mutants of a rule, in the order of the places in its formula."""
    signature = environment_signature(environment)
    seen = {normal_form(rule.parsed)}
    for change in _in_formula(rule.parsed, [*environment.tools]):
        for option in change.options:
            try:
                formula = option.make()
                check_formula(formula, signature)
                normal = normal_form(formula)
                mutated = _with_formula(rule, f"{rule.id}~{len(seen)}", formula)
                if normal in seen or not mutated.encodable:
                    continue
            except FormulaError:
                continue
            seen.add(normal)
            yield RuleMutant(change.kind, option.sentence, mutated)
            break


def _with_formula(rule: Rule, name: str, formula: s.Formula) -> Rule:
    fields = rule.model_dump(exclude={"definitions"}) | {"id": name, "formula": str(formula)}
    return Rule.model_validate(fields)


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
        case s.And(parts) | s.Or(parts):
            for number, part in enumerate(parts):
                others = [*parts[:number], *parts[number + 1 :]]
                yield _one(
                    "condition deleted", f"`{part}` is left out.", lambda others=others: _junction(formula, others)
                )
            for number, part in enumerate(parts):
                for change in _in_formula(part, tools):
                    yield change.within(
                        lambda new, number=number: type(formula)(*parts[:number], new, *parts[number + 1 :])
                    )
        case s.Implies() | s.Iff() | s.Until() | s.Release() | s.WeakUntil() | s.Since():
            for change in _in_formula(formula.left, tools):
                yield change.within(lambda new: replace(formula, left=new))
            for change in _in_formula(formula.right, tools):
                yield change.within(lambda new: replace(formula, right=new))
        case s.Top() | s.Bottom():
            pass
        case _:
            if isinstance(formula, s.Eventually):
                text = f"`{formula}` becomes `O`: it is to have happened before."
                yield _one("F for O", text, lambda: s.Once(formula.operand, formula.window))
            elif isinstance(formula, s.Once):
                text = f"`{formula}` becomes `F`: it is to happen later."
                yield _one("O for F", text, lambda: s.Eventually(formula.operand, formula.window))
            for change in _in_formula(s.children(formula)[0], tools):
                yield change.within(lambda new: s.map_children(formula, lambda _: new))


def _junction(formula: s.And | s.Or, parts: Sequence[s.Formula]) -> s.Formula:
    return type(formula)(*parts) if len(parts) > 1 else parts[0]


def _in_atom(atom: s.Atom, tools: Sequence[str]) -> Iterator[_Change[s.Atom]]:
    if atom.tool in tools:
        place = tools.index(atom.tool)
        options = [
            _Option(f"`{atom}` becomes a call of `{other}`.", lambda other=other: replace(atom, tool=other))
            for other in (*tools[place + 1 :], *tools[:place])
        ]
        yield _Change("tool exchanged", options)
    if atom.condition is not None:
        if not isinstance(atom.condition, AndCondition):
            yield _deleted(atom.condition, atom).within(lambda _: replace(atom, condition=None))
        for change in _in_condition(atom.condition, atom, tools):
            yield change.within(lambda condition: replace(atom, condition=condition))


def _deleted(part: Condition, atom: s.Atom) -> _Change[None]:
    """A condition of a call is left out."""
    kind: RuleMutationKind = "condition deleted" if equation(part) is None else "variable unbound"
    return _one(kind, f"`{part}` is left out of `{atom}`.", lambda: None)


def _in_condition(condition: Condition, atom: s.Atom, tools: Sequence[str]) -> Iterator[_Change[Condition]]:
    match condition:
        case Comparison():
            for change in _in_comparison(condition, tools):
                yield change.within(lambda new: new)
        case NotCondition(part):
            for change in _in_condition(part, atom, tools):
                yield change.within(lambda new: NotCondition(new))
        case ElementCondition(part=part):
            for change in _in_condition(part, atom, tools):
                yield change.within(lambda new: replace(condition, part=new))
        case AndCondition(parts) | OrCondition(parts):
            for number, part in enumerate(parts):
                others = [*parts[:number], *parts[number + 1 :]]
                yield _deleted(part, atom).within(
                    lambda _, others=others: type(condition)(tuple(others)) if len(others) > 1 else others[0]
                )
            for number, part in enumerate(parts):
                for change in _in_condition(part, atom, tools):
                    yield change.within(
                        lambda new, number=number: type(condition)((*parts[:number], new, *parts[number + 1 :]))
                    )
        case _:
            pass


def _in_comparison(comparison: Comparison, tools: Sequence[str]) -> Iterator[_Change[Comparison]]:
    sign = _OTHER_SIGN.get(comparison.operator)
    if sign is not None and equation(comparison) is None:
        text = f"`{comparison}` has `{sign}` for `{comparison.operator}`."
        yield _one("comparison", text, lambda: replace(comparison, operator=sign))
    for change in _in_term(comparison.left, tools):
        yield change.within(lambda term: replace(comparison, left=term))
    for change in _in_term(comparison.right, tools):
        yield change.within(lambda term: replace(comparison, right=term))


def _in_term(term: t.Term, tools: Sequence[str]) -> Iterator[_Change[t.Term]]:
    match term:
        case t.SpanLiteral(span):
            for longer in (1, -1):
                text = f"`{term}` is one unit {'longer' if longer > 0 else 'shorter'}."
                yield _one("window shifted", text, lambda longer=longer: t.SpanLiteral(_shifted(span, longer)))
        case t.Arithmetic():
            for change in _in_term(term.left, tools):
                yield change.within(lambda new: replace(term, left=new))
            for change in _in_term(term.right, tools):
                yield change.within(lambda new: replace(term, right=new))
        case t.FunctionCall(_, arguments):
            for number, argument in enumerate(arguments):
                for change in _in_term(argument, tools):
                    yield change.within(
                        lambda new, number=number: replace(
                            term, arguments=(*arguments[:number], new, *arguments[number + 1 :])
                        )
                    )
        case s.EventAggregate(_, _, atom, window, since):
            for change in _in_window(window, term.function):
                yield change.within(lambda new: replace(term, window=new))
            for change in _in_atom(atom, tools):
                yield change.within(lambda new: replace(term, atom=new))
            if since is not None:
                yield _one("condition deleted", f"`since {since}` is left out.", lambda: replace(term, since=None))
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
    yield _one("window dropped", f"`{of}{window}` has no window.", lambda: ALWAYS_OPEN)
    for name, bound in (("lower", window.lower), ("upper", window.upper)):
        if bound is None:
            continue
        where = f"the bound of {bound.span} in `{of}{window}` is"
        others: list[tuple[RuleMutationKind, str, int, bool]] = [
            ("window shifted", "one unit longer", 1, bound.strict),
            ("window shifted", "one unit shorter", -1, bound.strict),
            ("comparison", f"{'inside' if bound.strict else 'outside'} of the window", 0, not bound.strict),
        ]
        for kind, how, units, strict in others:
            yield _one(
                kind,
                f"{where} {how}.",
                lambda name=name, bound=bound, units=units, strict=strict: replace(
                    window, **{name: Bound(_shifted(bound.span, units), strict)}
                ),
            )


def _shifted(span: Span, units: int) -> Span:
    return replace(span, amount=span.amount + units)
