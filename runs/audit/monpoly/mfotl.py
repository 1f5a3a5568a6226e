"""Import of formulas in the syntax of MonPoly: metric first-order temporal logic (MFOTL) over the predicates of a log.

A predicate is a tool with the arguments that the signature names: `use(d, i)` becomes `use(data == d, id == i)`. The
operators mean what they mean in `lawtrace.solver.logic.syntax`, with these differences in writing:

    [a,b], (a,b], [a,*)         windows; a number without a unit counts units of the log's time, `d h m s` are days,
                                hours, minutes and seconds
    f TRIGGER[w] g              = !(!f S[w] !g)
    s <- SUM a; u, v f          = (exists z: f) & s == sum(a for z: f), where z are the variables of f besides u and v;
                                without u and v only s == sum(a for z: f). CNT is `count`; MIN, MAX and AVG likewise.
    LET p(x) = f IN g           = g with f in place of p
    tp(i), ts(t), tpts(i, t)    = i == position, t == now, both
    _ and names that begin so   any value

A formula is imported as a rule in one of two readings. A *policy* has to be true at every time point: the rule is
`forall x: G f`. Its *violations* are the values for which it is true at some time point: the rule is `forall x: G !f`.
Without being told, a formula is read as a policy if it has no free variables, or is an implication or an equivalence,
or begins with ALWAYS; else it lists violations.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal, cast

from lark import Token, Tree

from lawtrace.runs.audit.monpoly.mfotl_signature import LogSignature
from lawtrace.runs.audit.monpoly.mfotl_syntax import (
    AGGREGATES,
    BINARY_OPERATORS,
    QUANTIFIERS,
    UNARY_OPERATORS,
    LocatedError,
    Node,
    located,
    nodes,
    parse_tree,
    tokens_of,
)
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import AndCondition, Comparison, Condition, Operator
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.terms import (
    RESERVED_IN_CONDITIONS,
    RESULT,
    Arithmetic,
    BoundVariable,
    FieldPath,
    LiteralValue,
    Now,
    Position,
    Term,
)
from lawtrace.solver.logic.windows import ALWAYS_OPEN, SECONDS, Bound, Span, Unit, Window
from lawtrace.solver.monitoring.first_order import FirstOrderRule

Reading = Literal["policy", "violations"]

_CONNECTIVES: Final[Mapping[str, Callable[..., s.Formula]]] = MappingProxyType(
    {
        "top": s.Top,
        "bottom": s.Bottom,
        "negation": s.Not,
        "conjunction": s.And,
        "disjunction": s.Or,
        "implication": s.Implies,
        "equivalence": s.Iff,
    }
)
_COMPARISONS: Final = MappingProxyType({"≤": "<=", "≥": ">=", "≠": "!="})
_UNITS: Final = MappingProxyType({"d": 86_400, "h": 3600, "m": 60, "s": 1})
_MAX_NODES: Final = 20_000
"""How many operators a formula may have after LET is expanded."""


@dataclass(frozen=True, slots=True)
class ImportedFormula:
    """A rule made from an MFOTL formula, and how the formula was read."""

    rule: s.Formula
    reading: Reading


def import_mfotl(
    text: str, signature: LogSignature, *, time_unit: int = 1, reading: Reading | None = None
) -> ImportedFormula:
    """The rule of an MFOTL formula.

    Args:
        text: one formula.
        signature: its predicates.
        time_unit: the unit of the log's timestamps, in seconds.
        reading: how to read it; None to decide by its form, see the module docstring.

    Raises:
        FormulaError: with line and column: not a formula, an unknown predicate, a wrong number of arguments, an
            operator without a counterpart. Without: no order of evaluation finds the values of every variable.
    """
    tree = parse_tree(text, signature)
    translation = _Translation(text, signature, time_unit, tree)
    free = translation.free(tree)
    scope = _Scope().bind([(name, translation.plain_name(name)) for name in free])
    formula = translation.formula(tree, scope)
    if reading is None:
        lists_values = bool(free) and not isinstance(formula, s.Implies | s.Iff | s.Always)
        reading = "violations" if lists_values else "policy"
    body = formula if reading == "policy" else formula.operand if isinstance(formula, s.Not) else s.Not(formula)
    rule = body if _is_about_all_time_points(body) else s.Always(body)
    names = scope.names(free)
    rule = _quantified(s.ForAll, names, rule)
    FirstOrderRule(rule)
    return ImportedFormula(parse(str(rule)), reading)


def _is_about_all_time_points(formula: s.Formula) -> bool:
    while isinstance(formula, s.ForAll):
        formula = formula.body
    return isinstance(formula, s.Always) and formula.window == ALWAYS_OPEN


def _quantified(quantifier: type[s.Exists | s.ForAll], names: Sequence[str], body: s.Formula) -> s.Formula:
    """The quantified formula; variables that do not occur in the body are left out."""
    used = tuple(name for name in names if name in s.free_variables(body))
    return quantifier(used, body) if used else body


@dataclass(frozen=True, slots=True)
class _Definition:
    """A predicate that LET defines: its parameters, its formula, and the definitions before it."""

    parameters: tuple[str, ...]
    body: Node
    definitions: "Mapping[str, _Definition]"


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean at some place of a formula.

    Attributes:
        terms: what variables stand for.
        taken: the names of all variables of the rule that are bound around this place.
        definitions: the predicates of LET.
    """

    terms: Mapping[str, Term] = field(default_factory=dict[str, Term])
    taken: frozenset[str] = frozenset()
    definitions: Mapping[str, _Definition] = field(default_factory=dict[str, _Definition])

    def fresh(self, wish: str) -> str:
        """A name that no variable around this place has."""
        return next(name for name in _numbered(wish) if name not in self.taken)

    def bind(self, wishes: Sequence[tuple[str, str]]) -> "_Scope":
        """The scope inside a quantifier of variables, given with the names that they should have."""
        scope = self
        for name, wish in wishes:
            fresh = scope.fresh(wish)
            scope = replace(scope, terms={**scope.terms, name: BoundVariable(fresh)}, taken=scope.taken | {fresh})
        return scope

    def names(self, variables: Sequence[str]) -> list[str]:
        return [cast("BoundVariable", self.terms[name]).name for name in variables]


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}{number}" if name.endswith("_") else f"{name}_{number}"
        number += 1


_Kind = Literal["number", "string", "time"]


class _Translation:
    """Translates the nodes of one formula."""

    def __init__(self, text: str, signature: LogSignature, time_unit: int, tree: Node) -> None:
        self._text = text
        self._signature = signature
        self._time_unit = time_unit
        self._parameters = {name for predicate in signature.predicates.values() for name in predicate.arguments}
        self._kinds = self._kinds_of_variables(tree)
        self._translated = 0

    def plain_name(self, name: str) -> str:
        """An MFOTL variable as a variable of rules: ASCII, and neither a word of the language nor an argument."""
        plain = re.sub(r"_+", "_", re.sub(r"\W", "_", name.removeprefix("?"), flags=re.ASCII))
        plain = plain if plain.strip("_") else "x"
        forbidden = {*s.RESERVED, *RESERVED_IN_CONDITIONS, *_TERM_WORDS, RESULT, *self._parameters}
        return f"{plain}_" if plain in forbidden and not plain.endswith("_") else plain

    def free(self, tree: Node) -> tuple[str, ...]:
        """The free variables, in the order of their first occurrence."""
        match str(tree.data):
            case "variable":
                found = [str(name) for name in tokens_of(tree) if not name.startswith("_")]
            case "let":
                found = list(self.free(nodes(tree)[-1]))
            case "quantified":
                names, body = nodes(tree)
                bound = set(map(str, tokens_of(names)))
                found = [name for name in self.free(body) if name not in bound]
            case "aggregation":
                groups = next((node for node in nodes(tree) if node.data == "names"), None)
                found = [str(tokens_of(tree)[0]), *(map(str, tokens_of(groups)) if groups is not None else ())]
            case _:
                found = [name for node in nodes(tree) for name in self.free(node)]
        return tuple(dict.fromkeys(found))

    def formula(self, tree: Node, scope: _Scope) -> s.Formula:
        self._translated += 1
        if self._translated > _MAX_NODES:
            raise FormulaError(f"the formula has more than {_MAX_NODES} operators once LET is expanded")
        try:
            return self._formula(tree, scope)
        except LocatedError:
            raise
        except FormulaError as error:
            raise self._error(str(error), tree.meta) from None

    def _error(self, message: str, place: object) -> FormulaError:
        return located(self._text, message, place)

    def _formula(self, tree: Node, scope: _Scope) -> s.Formula:
        parts = nodes(tree)
        match str(tree.data):
            case connective if connective in _CONNECTIVES:
                return _CONNECTIVES[connective](*(self.formula(part, scope) for part in parts))
            case "unary":
                operator = UNARY_OPERATORS[str(tokens_of(tree)[0])]
                return operator(self.formula(parts[-1], scope), self._window(tree))
            case "quantified":
                return self._quantified(tree, scope)
            case "let":
                return self._let(tree, scope)
            case "aggregation":
                return self._aggregation(tree, scope)
            case "predicate":
                return self._predicate(tree, scope)
            case "comparison":
                return self._comparison(tree, scope)
            case "matches":
                return self._matches(tree, scope)
            case _:
                return self._binary(tree, scope)

    def _binary(self, tree: Node, scope: _Scope) -> s.Formula:
        parts, window = nodes(tree), self._window(tree)
        left, right = self.formula(parts[0], scope), self.formula(parts[-1], scope)
        operator = BINARY_OPERATORS[str(tokens_of(tree)[0])]
        return s.Not(s.Since(s.Not(left), s.Not(right), window)) if operator is None else operator(left, right, window)

    def _quantified(self, tree: Node, scope: _Scope) -> s.Formula:
        names, body = nodes(tree)
        variables = [name for name in dict.fromkeys(map(str, tokens_of(names))) if not name.startswith("_")]
        inner = scope.bind([(name, self.plain_name(name)) for name in variables])
        quantifier = QUANTIFIERS[str(tokens_of(tree)[0])]
        return _quantified(quantifier, inner.names(variables), self.formula(body, inner))

    # Windows

    def _window(self, tree: Node) -> Window:
        interval = next((node for node in nodes(tree) if node.data == "interval"), None)
        if interval is None:
            return ALWAYS_OPEN
        opening, *_, closing = tokens_of(interval)
        ends = [self._seconds(node) for node in nodes(interval)]
        lower = Bound(_span(ends[0]), strict=opening == "(") if ends[0] or opening == "(" else None
        upper = Bound(_span(ends[1]), strict=closing == ")") if len(ends) > 1 else None
        try:
            return Window(lower, upper)
        except FormulaError as error:
            raise self._error(str(error), opening) from None

    def _seconds(self, bound: Node) -> int:
        (token,) = tokens_of(bound)
        text = str(token)
        if token.type == "SPAN":
            return int(text[:-1]) * _UNITS[text[-1]]
        if not text.isdigit():
            raise self._error(f"`{text}`: the ends of an interval are whole numbers", token)
        return int(text) * self._time_unit

    # Predicates

    def _let(self, tree: Node, scope: _Scope) -> s.Formula:
        name = str(tokens_of(tree)[0])
        *given, body, rest = nodes(tree)
        parameters = tuple(map(str, tokens_of(given[0]))) if given else ()
        if unknown := [free for free in self.free(body) if free not in parameters]:
            raise self._error(f"`{unknown[0]}` is neither a parameter of `{name}` nor bound", tokens_of(tree)[0])
        definition = _Definition(parameters, body, scope.definitions)
        return self.formula(rest, replace(scope, definitions={**scope.definitions, name: definition}))

    def _predicate(self, tree: Node, scope: _Scope) -> s.Formula:
        (token,) = tokens_of(tree)
        name, arguments = str(token), nodes(tree)
        if name in scope.definitions:
            return self._use(tree, scope.definitions[name], scope)
        if name in _BUILT_IN:
            leaves = _BUILT_IN[name]
            self._check_arity(token, len(arguments), len(leaves))
            tests = [
                s.Compare(Comparison(self._term(argument, scope), "==", leaf))
                for argument, leaf in zip(arguments, leaves, strict=True)
            ]
            return tests[0] if len(tests) == 1 else s.And(*tests)
        predicate = self._signature.predicates.get(name)
        if predicate is None:
            raise self._error(f"unknown predicate `{name}`{self._nearest(name)}", token)
        self._check_arity(token, len(arguments), len(predicate.arguments))
        parts: list[Condition] = []
        for argument, place, kind in zip(arguments, predicate.arguments, predicate.types, strict=True):
            if _is_anonymous(argument):
                continue
            expected: _Kind = "string" if kind == "string" else "number"
            actual = self._kind(argument)
            if actual is not None and actual != expected and argument.data != "variable":
                raise self._error(f"the argument `{place}` of `{name}` is a {expected}, not a {actual}", argument.meta)
            parts.append(Comparison(FieldPath((place,)), "==", self._term(argument, scope)))
        condition = None if not parts else parts[0] if len(parts) == 1 else AndCondition(tuple(parts))
        return s.Atom(name, condition)

    def _nearest(self, name: str) -> str:
        known = self._signature.predicates
        if near := get_close_matches(name, known, n=1):
            return f": did you mean `{near[0]}`?"
        return f": the signature has {', '.join(f'`{other}`' for other in sorted(known)[:10])}"

    def _use(self, tree: Node, definition: _Definition, scope: _Scope) -> s.Formula:
        """The formula of a predicate of LET for these arguments."""
        (token,) = tokens_of(tree)
        arguments = nodes(tree)
        self._check_arity(token, len(arguments), len(definition.parameters))
        terms: dict[str, Term] = {}
        made: list[str] = []
        taken = scope.taken
        for name, argument in zip(definition.parameters, arguments, strict=True):
            if _is_anonymous(argument):
                made.append(replace(scope, taken=taken).fresh(self.plain_name(name)))
                taken |= {made[-1]}
                terms[name] = BoundVariable(made[-1])
            else:
                terms[name] = self._term(argument, scope)
        return _quantified(s.Exists, made, self.formula(definition.body, _Scope(terms, taken, definition.definitions)))

    def _check_arity(self, token: Token, given: int, expected: int) -> None:
        if given != expected:
            raise self._error(f"`{token}` has {expected} argument(s) in the signature, not {given}", token)

    # Aggregations

    def _aggregation(self, tree: Node, scope: _Scope) -> s.Formula:
        result, operator = tokens_of(tree)
        if str(operator) not in AGGREGATES:
            raise self._error(f"`{operator}` has no counterpart in rules: there is {', '.join(AGGREGATES)}", operator)
        function = AGGREGATES[str(operator)]
        item, *names, body = nodes(tree)
        groups = list(map(str, tokens_of(names[0]))) if names else []
        inside = self.free(body)
        for name in (*(tokens_of(names[0]) if names else ()), *self.free(item)):
            if str(name) not in inside:
                raise self._error(f"`{name}` does not occur free in the formula that is aggregated", operator)
        ranged = [name for name in inside if name not in groups]
        inner = scope.bind([(name, self.plain_name(name)) for name in ranged])
        formula = self.formula(body, inner)
        value = None if function == "count" else self._term(item, inner)
        total = self._term(Tree("variable", [result]), scope)
        if not ranged:
            return s.And(formula, s.Compare(Comparison(total, "==", LiteralValue(1) if value is None else value)))
        variables = tuple(inner.names(ranged))
        aggregate = s.RelationAggregate(function, value, variables, formula)
        test = s.Compare(Comparison(total, "==", aggregate))
        return s.And(s.Exists(variables, formula), test) if groups else test

    # Terms

    def _comparison(self, tree: Node, scope: _Scope) -> s.Formula:
        one, other = nodes(tree)
        signs = tokens_of(tree)
        sign = _COMPARISONS.get(str(signs[0]), str(signs[0])) if signs else "=="
        kinds = self._kind(one), self._kind(other)
        left, right = self._term(one, scope), self._term(other, scope)
        if set(kinds) == {"time", "number"}:
            left, right = self._as_time(one, left, kinds[0]), self._as_time(other, right, kinds[1])
        elif None not in kinds and kinds[0] != kinds[1]:
            raise self._error(f"a {kinds[0]} is compared with a {kinds[1]}", tree.meta)
        return s.Compare(Comparison(left, cast("Operator", sign), right))

    def _as_time(self, tree: Node, term: Term, kind: _Kind | None) -> Term:
        """A number that is compared with a timestamp, as a date."""
        if kind == "time":
            return term
        if not isinstance(term, LiteralValue) or not isinstance(term.content, int):
            raise self._error(
                "a timestamp is compared with a computed number: compare the difference of two", tree.meta
            )
        try:
            date = datetime.fromtimestamp(term.content * self._time_unit, UTC)
        except (OverflowError, ValueError, OSError):
            raise self._error(f"the timestamp {term.content} is not a date", tree.meta) from None
        return LiteralValue(date.replace(tzinfo=None).isoformat())

    def _matches(self, tree: Node, scope: _Scope) -> s.Formula:
        term, token = nodes(tree)[0], tokens_of(tree)[-1]
        pattern = re.fullmatch(r'r?"(\^?)((?:[\w \-/:@,;=#%&<>!~\']|\\[^\w\s])*)(\$?)"', str(token))
        if pattern is None:
            raise self._error("only plain text between `^` and `$` is read as a pattern", token)
        start, text, end = pattern.groups()
        sign: Operator = "==" if start and end else "startswith" if start else "endswith" if end else "contains"
        plain = re.sub(r"\\(.)", r"\1", text)
        return s.Compare(Comparison(self._term(term, scope), sign, LiteralValue(plain)))

    def _term(self, tree: Node, scope: _Scope) -> Term:
        parts, tokens = nodes(tree), tokens_of(tree)
        match str(tree.data):
            case "variable":
                name = str(tokens[0])
                if name.startswith("_"):
                    raise self._error(
                        f"`{name}` stands for any value and can only be an argument of a predicate", tokens[0]
                    )
                if name not in scope.terms:
                    raise self._error(f"`{name}` is not bound here", tokens[0])
                return scope.terms[name]
            case "number":
                text = str(tokens[0])
                return LiteralValue(int(text) if text.isdigit() else float(text))
            case "string":
                return LiteralValue(self._string(tokens[0]))
            case "minus":
                operand = self._term(parts[0], scope)
                if isinstance(operand, LiteralValue) and isinstance(operand.content, int | float):
                    return LiteralValue(-operand.content)
                return Arithmetic(LiteralValue(0), "-", operand)
            case "call":
                if str(tokens[0]) == "i2f" and len(parts) == 1:
                    return self._term(parts[0], scope)
                raise self._error(f"the function `{tokens[0]}` has no counterpart in rules", tokens[0])
            case _:
                (sign,) = tokens
                if sign.type == "MOD":
                    raise self._error("`MOD` has no counterpart in rules", sign)
                left, right = (self._term(part, scope) for part in parts)
                return Arithmetic(left, cast("Literal['+', '-', '*', '/']", str(sign)), right)

    def _string(self, token: Token) -> str:
        try:
            return json.loads(str(token))
        except ValueError:
            raise self._error("this string has an escape that cannot be read", token) from None

    # Kinds of values

    def _kinds_of_variables(self, tree: Node) -> dict[str, _Kind]:
        """The kind of each variable name that has one kind wherever it is an argument."""
        found: dict[str, set[_Kind]] = {}
        for node in tree.iter_subtrees():
            if node.data == "aggregation":
                found.setdefault(str(tokens_of(node)[0]), set()).add("number")
            if node.data != "predicate":
                continue
            name = str(tokens_of(node)[0])
            predicate = self._signature.predicates.get(name)
            kinds: Sequence[_Kind] = ()
            if name in _BUILT_IN:
                kinds = ["time" if isinstance(leaf, Now) else "number" for leaf in _BUILT_IN[name]]
            elif predicate is not None:
                kinds = ["string" if kind == "string" else "number" for kind in predicate.types]
            for argument, kind in zip(nodes(node), kinds, strict=False):
                if argument.data == "variable":
                    found.setdefault(str(tokens_of(argument)[0]), set()).add(kind)
        return {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}

    def _kind(self, tree: Node) -> _Kind | None:
        match str(tree.data):
            case "variable":
                return self._kinds.get(str(tokens_of(tree)[0]))
            case "string":
                return "string"
            case "sum":
                left, right = map(self._kind, nodes(tree))
                times = (left == "time") + (right == "time")
                return "time" if times == 1 else "number"
            case _:
                return "number"


_TERM_WORDS: Final = frozenset({"now", "position", "count", "sum", "min", "max", "avg", "last", "of", "for", "since"})
_BUILT_IN: Final[Mapping[str, tuple[Term, ...]]] = MappingProxyType(
    {"tp": (Position(),), "ts": (Now(),), "tpts": (Position(), Now())}
)


def _is_anonymous(argument: Node) -> bool:
    return argument.data == "variable" and tokens_of(argument)[0].startswith("_")


def _span(seconds: int) -> Span:
    """The span in the largest unit that fits."""
    unit = next(unit for unit in ("d", "h", "min", "s") if seconds % SECONDS[unit] == 0 and (seconds or unit == "s"))
    return Span(seconds // SECONDS[unit], cast("Unit", unit))
