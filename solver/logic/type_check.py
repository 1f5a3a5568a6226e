"""Type check of formulas: the names of tools, arguments and results, and the kinds of what is compared.

A comparison with an unknown name or with values of two kinds is false at every event, so a rule with one says something
else than it seems to. What a declaration leaves open is not reported.

    x == y, x != y                     one kind; a text may be compared with a time if it can be a date
    x < y  (<= > >=)                   numbers, texts or times
    x in y                             y is a list, of elements of the kind of x, or an object and x a text
    x startswith y  (endswith, contains, matches)    texts
    any f in x: c, all f in x: c       x is a list, or an object, whose names of fields f stands for
    x + y, x - y, x * y, x / y         numbers; sums and differences also of times
    sum(x of A), min, max, avg         x is a number (of min and max also a time)

A variable has the kind of what it is equated with. Errors point at the place in the text of the formula.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final

from lawtrace.environments.spec.types import INTEGER, Calendar, Choice
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms
from lawtrace.solver.logic.conditions import TEXTS, Comparison, Condition, ElementCondition, IsTrue, condition_parts
from lawtrace.solver.logic.lifting import safe_form
from lawtrace.solver.logic.parser import located
from lawtrace.solver.logic.safety import UnsafeFormulaError
from lawtrace.solver.logic.signature import ANYTHING, COUNT, NUMBER, TEXT, TIME, Declared, Signature
from lawtrace.solver.logic.terms import NAMES


def check_formula(formula: s.Formula, signature: Signature, text: str = "") -> None:
    """Check that the formula names what exists, compares what can be compared, and is safe.

    Args:
        formula: any formula.
        signature: the tools that it may name.
        text: what it was parsed from, to show the place of an error.

    Raises:
        FormulaError: the name or the comparison, its place, and the remedy.
    """
    try:
        _check_names(formula, signature)
        checks = list(_comparisons(formula, {}, signature))
        for check in checks:
            check.learn()
        for check in checks:
            check.run()
        if not s.is_untimed(formula):
            _check_safety(formula)
    except _Fault as fault:
        raise _located(text, fault) from None


def find_undeclared_values(formula: s.Formula, signature: Signature) -> Iterator[str]:
    """The texts that a formula compares with what is declared to be one of other texts, a sentence each."""
    checks = list(_comparisons(formula, {}, signature))
    for check in checks:
        check.learn()
    for check in checks:
        yield from check.undeclared()


class _Fault(Exception):
    """A message, and the parts of the formula that lead to its place, from the outside to the inside.

    `tool`: what to point at if none of them is found, because the formula is printed in another way.
    """

    def __init__(self, message: str, *parts: object, tool: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.parts = tuple(map(str, parts))
        self.tool = tool


def _check_safety(formula: s.Formula) -> None:
    try:
        safe_form(formula)
    except UnsafeFormulaError as error:
        call, variable = error.place
        raise _Fault(str(error), call, tool=variable) from error


# Names


def _check_names(formula: s.Formula, signature: Signature) -> None:
    for atom in s.atoms_of([formula]):
        if atom.tool not in signature:
            raise _Fault(f"unknown tool `{atom.tool}`{_nearest(atom.tool, signature)}", atom, atom.tool)
        tool = signature[atom.tool]
        if clash := atom.variables & set(tool.arguments):
            raise _Fault(
                f"`{min(clash)}` is a variable and an argument of `{atom.tool}`: give the variable another name",
                min(clash),
            )


def _nearest(name: str, known: Collection[str]) -> str:
    """The remedy: the nearest existing name, else all of them."""
    if near := get_close_matches(name, known, n=1):
        return f": did you mean `{near[0]}`?"
    return f": there is {', '.join(f'`{other}`' for other in sorted(known))}" if known else ": there is none at all"


# Kinds


@dataclass(slots=True)
class Variable:
    """The kind of a variable, once a comparison gives it, and the comparison."""

    declared: Declared = ANYTHING
    given: str = ""


Scope = Mapping[str, Variable]


def _comparisons(formula: s.Formula, scope: Scope, signature: Signature) -> "Iterator[_Check]":
    """Every comparison of a formula with what its names mean there."""
    match formula:
        case s.Atom(_, condition):
            if condition is not None:
                yield from _in_condition(condition, TermContext(formula, scope, signature))
        case s.ForAll(variables, body) | s.Exists(variables, body):
            inner = {**scope, **{name: Variable() for name in variables}}
            yield from _comparisons(body, inner, signature)
        case s.Compare(comparison):
            context = TermContext(None, scope, signature)
            for aggregate in s.aggregates_of(formula):
                if isinstance(aggregate, s.RelationAggregate):
                    inner = {**scope, **{name: Variable() for name in aggregate.variables}}
                    context.inner[str(aggregate)] = TermContext(None, inner, signature)
                    yield from _comparisons(aggregate.formula, inner, signature)
                else:
                    for part in (aggregate.atom, aggregate.since):
                        yield from () if part is None else _comparisons(part, scope, signature)
            yield _Check(comparison, context)
        case _:
            for part in s.children(formula):
                yield from _comparisons(part, scope, signature)


def _in_condition(condition: Condition, context: "TermContext") -> "Iterator[_Check]":
    yield _Check(condition, context)
    inner = context
    if isinstance(condition, ElementCondition):
        elements = {**context.elements, condition.name: condition.elements}
        inner = TermContext(context.atom, context.scope, context.signature, elements)
    for part in condition_parts(condition):
        yield from _in_condition(part, inner)


@dataclass(frozen=True, slots=True)
class TermContext:
    """What names mean in a comparison: the call, the variables, the named elements of lists."""

    atom: s.Atom | None
    scope: Scope
    signature: Signature
    elements: Mapping[str, terms.Term] = field(default_factory=dict[str, terms.Term])
    inner: "dict[str, TermContext]" = field(default_factory=dict[str, "TermContext"])

    def fault(self, message: str, *parts: object) -> _Fault:
        if self.atom is None:
            return _Fault(message, *parts)
        place = "" if str(self.atom) in message else f" (in `{self.atom}`)"
        return _Fault(f"{message}{place}", self.atom, *parts, tool=self.atom.tool)

    def known(self, term: terms.Term) -> Declared:
        """What is known of the value of a term; nothing if it never has one."""
        try:
            return self.of(term)
        except _Fault:
            return ANYTHING

    def of(self, term: terms.Term) -> Declared:
        """What is known of the value of a term. Raises _Fault if it never has one."""
        match term:
            case terms.FieldPath(path):
                return self._field(term, path)
            case terms.Element(name, path):
                of_list = self.of(self.elements[name]) if name in self.elements else ANYTHING
                return self._steps(_elements(of_list), path, term, 1)
            case terms.LiteralValue(content):
                date = not isinstance(content, str) or terms.parse_date(content) is not terms.MISSING
                return Declared(terms.kind_of(content), date=date, present=True)
            case terms.LiteralList(items):
                kinds: set[terms.Kind | None] = {terms.kind_of(item.content) for item in items}
                return Declared("list", Declared(kinds.pop()) if len(kinds) == 1 else ANYTHING)
            case terms.SpanLiteral() | terms.Position():
                return COUNT
            case terms.Now():
                return replace(TIME, present=True)
            case terms.BoundVariable(name):
                return self.scope[name].declared if name in self.scope else ANYTHING
            case terms.Arithmetic():
                return self._arithmetic(term)
            case terms.FunctionCall():
                return self._call(term)
            case s.EventAggregate(_, inner, atom):
                return self._aggregate(term, inner, TermContext(atom, self.scope, self.signature))
            case s.RelationAggregate(_, inner):
                return self._aggregate(term, inner, self.inner[str(term)])
            case _:
                return ANYTHING

    def _field(self, term: terms.FieldPath, path: tuple[str | int, ...]) -> Declared:
        if self.atom is None:
            return ANYTHING
        tool, first = self.signature[self.atom.tool], str(path[0])
        if path in terms.ACTOR_FIELDS:
            return TEXT
        if first == terms.BY and first not in tool.arguments:
            raise self.fault(f"`{term}`: who acts is `by.principal`, `by.role` or `by.session`", term)
        if first == terms.RESULT:
            return self._steps(tool.result, path[1:], term, 1)
        if first not in tool.arguments:
            nearest = _nearest(first, tool.arguments)
            raise self.fault(f"`{self.atom.tool}` has no argument `{first}` in `{self.atom}`{nearest}", term)
        return self._steps(tool.arguments[first], path[1:], term, 1)

    def _steps(self, value: Declared, steps: Sequence[str | int], term: terms.Term, taken: int) -> Declared:
        for number, step in enumerate(steps, taken):
            done = _beginning(term, number)
            match value.kind:
                case None:
                    return ANYTHING
                case "list" if isinstance(step, int):
                    value = replace(value.elements or ANYTHING, present=False)
                case "list":
                    of_rows = self._member(value.elements or ANYTHING, str(step), f"a row of `{done}`", term)
                    value = Declared("list", of_rows, present=True)
                case "object":
                    value = self._member(value, str(step), f"`{done}`", term)
                case kind:
                    raise self.fault(f"`{done}` is {NAMES[kind]} and has no part `{step}`", term)
        return value

    def _member(self, row: Declared, name: str, what: str, term: terms.Term) -> Declared:
        if row.kind not in (None, "object"):
            raise self.fault(f"{what}: {NAMES[row.kind]} has no field `{name}`", term)
        if row.fields is None:
            return ANYTHING
        if name not in row.fields:
            if row.others is not None:
                return row.others
            where = ""
            if self.atom is not None and what == f"`{terms.RESULT}`":
                what, where = f"the result of `{self.atom.tool}`", f" in `{self.atom}`"
            raise self.fault(f"{what} has no field `{name}`{where}{_nearest(name, row.fields)}", term)
        return row.fields[name]

    def _arithmetic(self, term: terms.Arithmetic) -> Declared:
        left, right = self.of(term.left), self.of(term.right)
        kinds = left.kind, right.kind
        for side, declared, other in ((term.left, left, right), (term.right, right, left)):
            as_date = declared.kind == "string" and declared.date and term.operator in "+-"
            if declared.kind in (None, "number", "time") or (as_date and other.kind in (None, "time")):
                continue
            raise self.fault(
                f"`{term}` calculates with `{side}`, {NAMES[declared.kind]}{_REMEDIES[declared.kind]}", term
            )
        if "time" not in kinds:
            return NUMBER if kinds == ("number", "number") else ANYTHING
        fits = term.operator == "-" if kinds[1] != "number" else term.operator in "+-"
        if kinds == ("number", "time"):
            fits = term.operator == "+"
        if not fits and None not in kinds:
            raise self.fault(f"`{term}`: of times there are differences, and sums with a number of seconds", term)
        if kinds[0] != "number" and kinds[1] in ("time", "string"):
            return NUMBER
        return TIME if "number" in kinds else ANYTHING

    def _call(self, term: terms.FunctionCall) -> Declared:
        accepted, gives = terms.FUNCTIONS[term.function].accepts, terms.FUNCTIONS[term.function].gives
        is_whole, present = term.function in ("len", "days", "years"), term.function in ("len", "lower", "days")
        for argument in term.arguments:
            found = self.of(argument)
            is_time = found.kind == "time" or isinstance(found.type, Calendar)
            present = present and found.present and (is_time or term.function != "days")
            if found.kind is not None and found.kind not in accepted:
                raise self.fault(f"`{term}`: `{argument}` is {NAMES[found.kind]}, not {_either(accepted)}", term)
            inner = found.elements.kind if found.elements is not None else None
            if accepted == ("list",) and inner not in (None, "number"):
                raise self.fault(f"`{term}`: `{argument}` is a list, but not of numbers", term)
        return Declared(gives, present=present, type=INTEGER if is_whole else None)

    def _aggregate(
        self, term: s.EventAggregate | s.RelationAggregate, inner: terms.Term | None, context: "TermContext"
    ) -> Declared:
        if inner is None or (isinstance(term, s.EventAggregate) and term.distinct):
            if inner is not None:
                context.of(inner)
            return NUMBER
        found = context.of(inner)
        if term.function == "last":
            return found
        accepted = ("number", "time") if term.function in ("min", "max") else ("number",)
        if found.kind is not None and found.kind not in accepted:
            hint = ": count them instead, `count(distinct ...)`" if term.function == "sum" else ""
            raise _Fault(f"`{term.function}` needs numbers, and `{inner}` is {NAMES[found.kind]}{hint}", term, inner)
        return found if found.kind == "time" else NUMBER


@dataclass(frozen=True, slots=True)
class _Check:
    """A comparison, or another condition, in its context."""

    condition: Condition
    context: TermContext

    def learn(self) -> None:
        """Take over the kinds of variables."""
        condition, context = self.condition, self.context
        if not isinstance(condition, Comparison) or condition.operator not in ("==", "in"):
            return
        left, right = condition.left, condition.right
        found = [(left, self._element(right))] if condition.operator == "in" else [(left, right), (right, left)]
        for side, other in found:
            if not isinstance(side, terms.BoundVariable) or side.name not in context.scope:
                continue
            declared = other if isinstance(other, Declared) else context.of(other)
            variable = context.scope[side.name]
            place = f"`{condition}`" if context.atom is None else f"`{context.atom}`"
            if variable.declared.kind is None:
                variable.declared, variable.given = declared, place
            elif declared.kind is not None and _clash(variable.declared, declared, exact=False):
                raise context.fault(
                    f"the variable `{side.name}` is {NAMES[variable.declared.kind]} in {variable.given} and "
                    f"{NAMES[declared.kind]} in {place}: use two variables",
                    condition,
                )

    def _element(self, term: terms.Term) -> Declared:
        return _elements(self.context.of(term))

    def run(self) -> None:
        condition, context = self.condition, self.context
        match condition:
            case IsTrue(only):
                kind = context.of(only).kind
                if kind not in (None, "boolean"):
                    raise context.fault(
                        f"`{only}` stands alone and is {NAMES[kind]}, not true or false: compare it with something",
                        only,
                    )
            case ElementCondition(word, name, elements, _):
                kind = context.of(elements).kind
                if kind not in (None, "list", "object"):
                    found = f"`{elements}` is {NAMES[kind]}"
                    raise context.fault(
                        f"`{word} {name} in {elements}` needs a list or an object, and {found}", elements
                    )
            case Comparison():
                self._compare(condition, context.of(condition.left), context.of(condition.right))
            case _:
                pass

    def undeclared(self) -> Iterator[str]:
        """The texts that are none of the declared values."""
        condition, context = self.condition, self.context
        if not isinstance(condition, Comparison) or condition.operator not in ("==", "!=", "in"):
            return
        for term, other, other_side in (
            (condition.left, context.known(condition.right), condition.right),
            (condition.right, context.known(condition.left), condition.left),
        ):
            items = term.items if isinstance(term, terms.LiteralList) else (term,)
            declared = _elements(other) if condition.operator == "in" and term is condition.left else other
            if not isinstance(declared.type, Choice):
                continue
            options = [*map(str, declared.type.options)]
            for one in items:
                if isinstance(one, terms.LiteralValue) and one.content not in options:
                    yield f"`{condition}`: {one} is no value of `{other_side}`{_nearest(str(one.content), options)}"

    def _compare(self, condition: Comparison, left: Declared, right: Declared) -> None:
        sign, fault = condition.operator, self.context.fault
        if sign == "in":
            if right.kind not in (None, "list", "object"):
                remedy = f": write `{condition.right} contains ...`" if right.kind == "string" else ""
                found = f"`{condition.right}` is {NAMES[right.kind]}{remedy}"
                raise fault(f"`{condition}`: `in` needs a list or an object, and {found}", condition)
            element = _elements(right)
            if _clash(left, element, exact=True):
                inside = "a list of which each element" if right.kind == "list" else "an object, of which each name"
                raise fault(
                    f"`{condition}` looks for {NAMES[left.kind or 'null']} in {inside} is "
                    f"{NAMES[element.kind or 'null']}",
                    condition,
                )
            return
        if sign in TEXTS:
            for side, declared in ((condition.left, left), (condition.right, right)):
                if declared.kind not in (None, "string"):
                    remedy = f": write `... in {side}`" if declared.kind == "list" else ""
                    raise fault(
                        f"`{condition}`: `{sign}` is about texts, and `{side}` is {NAMES[declared.kind]}{remedy}",
                        condition,
                    )
            return
        if _clash(left, right, exact=False):
            raise fault(self._of_two_kinds(condition, left, right), condition)
        for side, declared in ((condition.left, left), (condition.right, right)):
            if sign not in ("==", "!=") and declared.kind not in (None, "number", "string", "time"):
                raise fault(f"`{condition}` orders by `{side}`, {NAMES[declared.kind]}: use `==` or `!=`", condition)

    @staticmethod
    def _of_two_kinds(condition: Comparison, left: Declared, right: Declared) -> str:
        one, other = NAMES[left.kind or "null"], NAMES[right.kind or "null"]
        message = f"`{condition}` compares {one} with {other} and is never true"
        kinds = {left.kind, right.kind}
        if kinds == {"string", "number"}:
            return f"{message}: write the number without quotes, or `number(...)` around the text"
        if kinds == {"number", "time"}:
            return f"{message}: write `date(...)` around a number of seconds since 1970, or a difference of two times"
        if kinds == {"string", "time"}:
            return f'{message}: the text is not a date such as "2026-03-31"'
        return f"{message}: compare values of one kind"


def _elements(declared: Declared) -> Declared:
    """What is known of the elements of a list, or of the names of the fields of an object."""
    return TEXT if declared.kind == "object" else declared.elements or ANYTHING


def _beginning(term: terms.Term, taken: int) -> str:
    """The text of the first names of a path."""
    path = (
        (term.name, *term.path)
        if isinstance(term, terms.Element)
        else term.path
        if isinstance(term, terms.FieldPath)
        else ()
    )
    return terms.path_text(path[:taken])


def _clash(left: Declared, right: Declared, *, exact: bool) -> bool:
    """Whether no value of the one equals one of the other. `exact`: a text is not read as a date."""
    if None in (left.kind, right.kind) or left.kind == right.kind:
        return False
    if {left.kind, right.kind} == {"string", "time"} and not exact:
        return not (left.date and right.date)
    return True


_REMEDIES: Final[Mapping[terms.Kind, str]] = {
    "boolean": ": compare it with `true` or `false`",
    "string": ": `number(...)` reads the number that a text spells, `date(...)` the time",
    "list": ": `len(...)` and `total(...)` make a number of a list",
    "null": "",
    "object": ": name one of its fields",
}


def _either(kinds: Sequence[terms.Kind]) -> str:
    return " or ".join(NAMES[kind] for kind in kinds)


# Places

_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|`[^`\n]+`|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\w*|\w+|<->|->|[=!<>]=|[^\s\w()]'
)


def _located(text: str, fault: _Fault) -> FormulaError:
    """The error at the innermost part that occurs in the text as it is printed."""
    tokens = [(match.start(), _plain(match.group())) for match in _TOKEN.finditer(text)]
    first, last = _narrowed([token for _, token in tokens], fault.parts) or (0, 0)
    if not last:
        first, last = _narrowed([token for _, token in tokens], (fault.tool,)) or (0, 0)
    if not last:
        return FormulaError(fault.message)
    before = text[: tokens[first][0]]
    return located(text, fault.message, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _narrowed(tokens: Sequence[str], parts: Sequence[str]) -> tuple[int, int] | None:
    """The range of the last part that is found, each inside the one before."""
    first, last, found = 0, len(tokens), False
    for part in parts:
        wanted = [_plain(match.group()) for match in _TOKEN.finditer(part)]
        for start in range(first, last - len(wanted) + 1):
            if wanted and tokens[start : start + len(wanted)] == wanted:
                first, last, found = start, start + len(wanted), True
                break
    return (first, last) if found else None


def _plain(token: str) -> str:
    """A token without differences that printing makes."""
    if token == "and":  # noqa: S105 -- of a formula
        return ","
    if re.fullmatch(r"\d+(\.\d+)?([eE][-+]?\d+)?", token):
        return str(float(token))
    return token.strip("`")
