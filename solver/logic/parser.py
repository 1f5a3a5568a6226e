"""Parser from text to formula, with errors that name the position.

The grammar is LALR and builds formulas while it reads, so parsing itself has no limit of length or depth. The formula
may be at most `MAX_NESTING` operators deep, so later code may traverse it by plain recursion. Parentheses alone do not
count, nor does the length of a chain of `&` or `|`.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import count
from typing import Final, Literal, cast

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken
from lark.exceptions import VisitError
from lark.lark import PostLex

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import (
    WORDS,
    AndCondition,
    Comparison,
    Condition,
    ElementCondition,
    IsTrue,
    NotCondition,
    Operator,
    OrCondition,
    condition_parts,
    conjuncts,
)
from lawtrace.solver.logic.normal_form import rename_variables
from lawtrace.solver.logic.scoping import bind, bind_elements, bind_term, quantify, rename_fields
from lawtrace.solver.logic.terms import (
    RESERVED_IN_CONDITIONS,
    Arithmetic,
    BoundVariable,
    FieldPath,
    FunctionCall,
    LiteralList,
    LiteralValue,
    Now,
    Position,
    SpanLiteral,
    Term,
)
from lawtrace.solver.logic.windows import ALWAYS_OPEN, SECONDS, Bound, Span, Unit, Window

MAX_NESTING: Final = 100

_UNARY: Final = {word: node for node in s.UNARY for word in node.spellings}
_BINARY: Final = {word: node for node in s.BINARY for word in node.spellings}


@dataclass(frozen=True, slots=True)
class Definition:
    """A named notion. ``body``: what it stands for, in which the parameters are parsed as fields."""

    name: str
    parameters: tuple[str, ...]
    body: s.Formula

    def applied(self, condition: Condition | None, elsewhere: frozenset[str] = frozenset()) -> s.Formula:
        """What ``name(q)`` stands for.

        Args:
            condition: the part in parentheses.
            elsewhere: the variables that the formula binds; those that the body binds get other names.

        Raises:
            FormulaError: the condition does not fit.
        """
        given = [str(part.field) if isinstance(part, IsTrue) else None for part in conjuncts(condition)]
        if None in given or len(given) != len(self.parameters):
            wanted = f"({', '.join(self.parameters)})" if self.parameters else ""
            raise FormulaError(f"`{self.name}` is defined as `{self.name}{wanted}`; give it variables in this number")
        own, taken = s.bound_variables(self.body), elsewhere.union(map(str, given))
        fresh = {name: (f"{name}_{number}" for number in count(2)) for name in own & taken}
        others = {name: next(new for new in fresh[name] if new not in own | taken) for name in sorted(fresh)}
        names = dict(zip(self.parameters, map(str, given), strict=True))
        return rename_fields(rename_variables(self.body, others), names)


_definitions: ContextVar[dict[str, Definition]] = ContextVar("_definitions")
_bound: ContextVar[frozenset[str]] = ContextVar("_bound")
_BINDING: Final = re.compile(r"\b(?:forall|FORALL|exists|EXISTS|for)\b([\w\s,]*):")


def define(name: str, parameters: tuple[str, ...], text: str, earlier: tuple[Definition, ...] = ()) -> Definition:
    """A named notion, of a formula with ``parameters`` as variables.

    `earlier`: those that it may use. Raises FormulaError for text that is no formula, or that does not use a parameter.
    """
    body = cast("s.Formula", _read(text, earlier))
    if free := s.free_variables(bind(parameters, body)).symmetric_difference(parameters):
        raise FormulaError(f"`{min(free)}` is a parameter and a variable of `{text}`, or it is none of them")
    return Definition(name, parameters, body)


@lru_cache(maxsize=4096)
def parse(text: str, definitions: tuple[Definition, ...] = ()) -> s.Formula:
    """Parse a rule formula in symbols (`G(a -> F b)`) or words (`ALWAYS (a IMPLIES EVENTUALLY b)`).

    `definitions`: named notions, in whose place the formula has what they stand for.

    Raises:
        FormulaError: with the line, the column, what was expected, and the line of text with a caret under it.
    """
    formula = cast("s.Formula", _read(text, definitions))
    if free := s.free_variables(formula):
        name = min(free)
        place = re.search(rf"\b{name}\b", text)
        before = text[: place.start() if place else 0]
        message = f"`{name}` is not bound: begin with `forall {name}: ...`, or, if it is a field, put it into a call"
        raise located(text, message, before.count("\n") + 1, len(before) - before.rfind("\n"))
    return formula


def parse_condition(text: str) -> Condition:
    """Parse a condition that stands alone, as in the parentheses of a call. Raises FormulaError like `parse`."""
    return cast("Condition", _read(text, (), "condition"))


def parse_value(text: str) -> Term:
    """Parse a value as conditions compare them. Raises FormulaError like `parse`."""
    return cast("Term", _read(text, (), "value"))


def _read(text: str, definitions: tuple[Definition, ...], start: str = "formula") -> s.Formula | Condition | Term:
    known = _definitions.set({definition.name: definition for definition in definitions})
    bound = _bound.set(frozenset(name for found in _BINDING.finditer(text) for name in re.findall(r"\w+", found[1])))
    try:
        formula = _grammar()(text, start)
    except UnexpectedToken as error:
        token = cast("Token", error.token)
        expected = set(cast("Sequence[str]", error.accepts or error.expected))
        if expected == {"CALENDAR"} and (number := re.search(r"-[0-9.]+\s*$", text[: token.start_pos])):
            place = number.start() - (token.start_pos or 0) + cast("int", token.column)
            raise located(text, "a span of time is not negative", cast("int", token.line), place) from None
        remedy = "" if token.type == "$END" else _remedy(text, cast("int", token.start_pos), expected)
        raise _located(text, _unexpected(token, expected) + remedy, token) from None
    except UnexpectedCharacters as error:
        character = text[error.pos_in_stream]
        message = f"`{character}` does not begin anything that a formula is made of"
        message += _remedy(text, cast("int", error.pos_in_stream), error.allowed)
        raise _located(text, message, Token("", character, line=error.line, column=error.column)) from None
    except _RejectedToken as error:
        raise _located(text, error.message, error.token) from None
    except VisitError as error:
        raise cast("FormulaError", error.orig_exc) from None
    finally:
        _definitions.reset(known)
        _bound.reset(bound)
    if start != "value" and _nesting_depth(formula) > MAX_NESTING:
        raise FormulaError(f"the formula nests its operators more than {MAX_NESTING} deep: split it into rules")
    return formula


class _RejectedToken(Exception):
    """A part that the grammar allows and a constructor rejects, at a token. Becomes a FormulaError with its
    position."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


_Part = Token | s.Formula | Condition | Term | Window | Bound | Span | tuple[Token, ...] | None


class _Builder(Transformer[Token, s.Formula]):
    """One method for each rule of the grammar; lark calls it with the values of its parts."""

    def quantified(self, parts: list[_Part]) -> s.Formula:
        word, names, _, body = cast("tuple[Token, tuple[Token, ...], Token, s.Formula]", tuple(parts))
        quantifier = "forall" if str(word).lower() == "forall" else "exists"
        with _rejected_at(names[0]):
            return quantify(quantifier, tuple(map(str, names)), body)

    def variables(self, names: list[Token]) -> tuple[Token, ...]:
        for name in names:
            with _rejected_at(name):
                BoundVariable(str(name))
        return tuple(names)

    def unary(self, parts: list[_Part]) -> s.Formula:
        if len(parts) == 1:
            return cast("s.Formula", parts[0])
        token, *rest = parts
        node = _UNARY[str(token)]
        operand = cast("s.Formula", rest[-1])
        with _rejected_at(cast("Token", token)):
            if node is s.Not:
                return s.Not(operand)
            return cast("type[s.Always]", node)(operand, cast("Window | None", rest[0]) or ALWAYS_OPEN)

    def binary(self, parts: list[_Part]) -> s.Formula:
        left, token, *rest = parts
        node = _BINARY[str(token)]
        ends = cast("s.Formula", left), cast("s.Formula", rest[-1])
        with _rejected_at(cast("Token", token)):
            if len(rest) == 1:
                return node(*ends)
            return cast("type[s.Until]", node)(*ends, cast("Window | None", rest[0]) or ALWAYS_OPEN)

    def conjunction(self, parts: list[s.Formula]) -> s.Formula:
        return s.And(*parts)

    def disjunction(self, parts: list[s.Formula]) -> s.Formula:
        return s.Or(*parts)

    def top(self, _: list[Token]) -> s.Formula:
        return s.Top()

    def bottom(self, _: list[Token]) -> s.Formula:
        return s.Bottom()

    def atom(self, parts: list[_Part]) -> s.Formula:
        tool, condition = cast("tuple[Token, Condition | None]", tuple(parts))
        if str(tool) in s.RESERVED:
            raise _RejectedToken(f"`{tool}` is an operator; a tool of that name is written in backquotes", tool)
        defined = _definitions.get().get(str(tool))
        with _rejected_at(tool):
            return (
                s.Atom(str(tool).strip("`"), condition) if defined is None else defined.applied(condition, _bound.get())
            )

    def attempted(self, parts: list[s.Formula]) -> s.Formula:
        atom = _atom(parts[0])
        return s.Atom(atom.tool, atom.condition, attempted=True)

    def says(self, parts: list[Token]) -> s.Formula:
        speaker, text = parts
        if speaker not in SPEAKERS:
            raise _RejectedToken(f"messages are said by `user` or `agent`, not by `{speaker}`", speaker)
        with _rejected_at(text):
            return s.Atom(str(speaker), IsTrue(FieldPath((s.SAYS, str(self.literal([text]).content)))))

    def window(self, parts: list[_Part]) -> Window:
        bracket, *bounds = cast("tuple[Token, *tuple[tuple[Token | None, Span] | None, ...]]", tuple(parts))
        ends = [bound for bound in bounds if bound is not None]
        lower: Bound | None = None
        upper: Bound | None = None
        for index, (sign, span) in enumerate(ends):
            mark = str(sign) if sign is not None else ">=" if index == 0 and len(ends) > 1 else "<="
            if mark in ("==", "!=") or (mark[0] == ">" and lower is not None) or (mark[0] == "<" and upper is not None):
                token = cast("Token", sign)
                raise _RejectedToken("a window has one end with `>` or `>=`, and one with `<` or `<=`", token)
            bound = Bound(span, strict="=" not in mark)
            lower, upper = (bound, upper) if mark[0] == ">" else (lower, bound)
        with _rejected_at(bracket):
            return Window(lower, upper)

    def bound(self, parts: list[_Part]) -> tuple[Token | None, Span]:
        return cast("tuple[Token | None, Span]", tuple(parts))

    def span(self, parts: list[Token]) -> Span:
        try:
            if len(parts) == 1:
                digits = re.match("[0-9]+", str(parts[0]))
                amount = digits.group() if digits else ""
                unit = str(parts[0])[len(amount) :]
                if unit not in SECONDS:
                    raise FormulaError(
                        f"`{unit}` is not a unit of time: write {', '.join(SECONDS)}, or `calendar days`"
                    )
                return Span(int(amount), cast("Unit", unit))
            kind, unit = str(parts[1]).split()
            return Span(int(str(parts[0])), cast("Unit", f"{kind} {unit.removesuffix('s')}"))
        except (FormulaError, ValueError) as error:
            message = str(error) if isinstance(error, FormulaError) else "a span of time is a whole number of units"
            raise _RejectedToken(message, parts[0]) from None

    def test(self, parts: list[_Part]) -> s.Formula:
        return s.Compare(cast("Comparison", self.comparison(parts)))

    def variable(self, parts: list[Token]) -> Term:
        with _rejected_at(parts[0]):
            return BoundVariable(str(parts[0]))

    def position(self, _: list[Token]) -> Term:
        return Position()

    def now(self, _: list[Token]) -> Term:
        return Now()

    def span_literal(self, parts: list[Token]) -> Term:
        return SpanLiteral(self.span(parts))

    def arithmetic(self, parts: list[_Part]) -> Term:
        left, sign, right = cast("tuple[Term, Token, Term]", tuple(parts))
        return Arithmetic(left, cast("Literal['+', '-', '*', '/']", str(sign)), right)

    value_sum = value_product = sum = product = arithmetic

    def counted(self, parts: list[_Part]) -> Term:
        return _event_aggregate("count", None, parts[1:])

    def counted_values(self, parts: list[_Part]) -> Term:
        return replace(_event_aggregate("count", cast("Term", parts[1]), parts[2:]), distinct=True)

    def aggregated(self, parts: list[_Part]) -> Term:
        return _event_aggregate(cast("s.AggregateFunction", str(parts[0])), cast("Term", parts[1]), parts[2:])

    def counted_assignments(self, parts: list[_Part]) -> Term:
        return _relation_aggregate(cast("Token", parts[0]), None, parts[1:])

    def aggregated_assignments(self, parts: list[_Part]) -> Term:
        return _relation_aggregate(cast("Token", parts[0]), cast("Term", parts[1]), parts[2:])

    def all_of(self, parts: list[Condition]) -> Condition:
        return parts[0] if len(parts) == 1 else AndCondition(tuple(parts))

    def listed(self, parts: list[Condition]) -> Condition:
        if len(parts) == 1:
            return parts[0]
        return self.all_of([part for one in parts for part in conjuncts(one)])

    def one_of(self, parts: list[Condition]) -> Condition:
        return parts[0] if len(parts) == 1 else OrCondition(tuple(parts))

    def no(self, parts: list[Condition]) -> Condition:
        return NotCondition(parts[0])

    def is_true(self, parts: list[FieldPath]) -> Condition:
        return IsTrue(parts[0])

    def element_condition(self, parts: list[_Part]) -> Condition:
        word, name, _, elements, part = cast("tuple[Token, Token, Token, Term, Condition]", tuple(parts))
        with _rejected_at(name):
            inner = bind_elements(str(name), part)
            return ElementCondition("any" if str(word) == "any" else "all", str(name), elements, inner)

    def said(self, parts: list[Token]) -> Condition:
        """A bare string: every word of it occurs in the message."""
        words = re.findall(r"\w+", str(self.literal(parts).content).lower())
        if not words:
            raise _RejectedToken("a string that stands alone needs a word to look for", parts[0])
        return self.all_of([Comparison(LiteralValue(word), "in", FieldPath((WORDS,))) for word in words])

    def comparison(self, parts: list[_Part]) -> Condition:
        left, operator, right = cast("tuple[Term, Token, Term]", tuple(parts))
        if operator == "matches":
            try:
                re.compile(str(right.content) if isinstance(right, LiteralValue) else "(")
            except (re.error, OverflowError, RecursionError) as error:
                why = error if isinstance(right, LiteralValue) else "it has to be a literal"
                raise _RejectedToken(f"`matches` needs a regular expression in quotes: {why}", operator) from None
        return Comparison(left, cast("Operator", str(operator)), right)

    def call(self, parts: list[_Part]) -> Term:
        name, *arguments = parts
        with _rejected_at(cast("Token", name)):
            return FunctionCall(str(name), tuple(cast("Term", part) for part in arguments if part is not None))

    def field(self, steps: list[Token]) -> Term:
        if [str(step) for step in steps] == ["now"]:
            return Now()
        if (word := str(steps[0])) in ("True", "False", "null", "None"):
            instead = f"write `{word.lower()}`" if word[0] in "TF" else "a comparison with a missing value is false"
            raise _RejectedToken(f"`{word}` is no value: {instead}; in backquotes it is the name of a field", steps[0])
        try:
            return FieldPath(tuple(map(_step_of, steps)))
        except (FormulaError, ValueError) as error:  # a reserved word, an index of thousands of digits
            raise _RejectedToken(str(error), steps[0]) from None

    def list_of(self, items: list[LiteralValue | None]) -> LiteralList:
        return LiteralList(tuple(item for item in items if item is not None))

    def literal(self, parts: list[Token]) -> LiteralValue:
        token = parts[0]
        try:
            return LiteralValue(json.loads(str(token)))
        except (FormulaError, ValueError):  # a bad escape, a number beyond all bounds
            raise _RejectedToken("this literal cannot be read as a JSON value", token) from None

    constant = literal


def _step_of(step: Token) -> str | int:
    if step.type == "INDEX":
        return int(step)
    if step.type == "NAME" and step in RESERVED_IN_CONDITIONS:
        raise FormulaError(f"`{step}` cannot name an argument or a field; in backquotes it can")
    return str(step).strip("`")


def _event_aggregate(function: s.AggregateFunction, term: Term | None, parts: Sequence[_Part]) -> s.EventAggregate:
    atom, window, since = cast("tuple[s.Formula, Window | None, s.Formula | None]", tuple(parts))
    started = None if since is None else _atom(since)
    return s.EventAggregate(function, term, _atom(atom), window or ALWAYS_OPEN, started)


def _atom(part: s.Formula) -> s.Atom:
    """A call. Raises FormulaError if a definition stands for something else."""
    if not isinstance(part, s.Atom):
        raise FormulaError(f"`{part}`: only one call can stand here")
    return part


def _relation_aggregate(word: Token, term: Term | None, parts: Sequence[_Part]) -> s.RelationAggregate:
    names, formula = cast("tuple[tuple[Token, ...], s.Formula]", tuple(parts))
    variables = tuple(map(str, names))
    with _rejected_at(word):
        if str(word) == "last":
            raise FormulaError("`last` is about events: write `last(x of Tool(...))`")
        function = cast("s.AggregateFunction", str(word))
        value = None if term is None else bind_term(variables, term)
        return s.RelationAggregate(function, value, variables, bind(variables, formula))


@contextmanager
def _rejected_at(token: Token) -> Generator[None]:
    """Turns a FormulaError inside into one at the token."""
    try:
        yield
    except FormulaError as error:
        raise _RejectedToken(str(error), token) from None


class _WholeWords(PostLex):
    """Makes the lexer accept a name everywhere, so that `a Ub` is two names and never `a U b`."""

    always_accept = ("NAME",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


@cache
def _grammar() -> Callable[[str, str], s.Formula]:
    """The parser, built at first use."""
    lark = Lark.open(  # pyright: ignore[reportUnknownMemberType] -- its options are not annotated
        "grammar.lark",
        rel_to=__file__,
        start=["formula", "condition", "value"],
        parser="lalr",
        lexer="contextual",  # `X` is an operator in a formula and an ordinary name in a condition
        postlex=_WholeWords(),
        transformer=_Builder(),
    )
    return cast("Callable[[str, str], s.Formula]", lark.parse)  # pyright: ignore[reportUnknownMemberType]


def _nesting_depth(formula: s.Formula | Condition) -> int:
    """The depth of nested operators, of formula and condition together."""
    deepest = 0
    pending: list[tuple[s.Formula | Condition, int]] = [(formula, 0)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(node, s.Atom):
            parts = () if node.condition is None else (node.condition,)
        else:
            parts = condition_parts(node) if isinstance(node, Condition) else s.children(node)
        pending.extend((part, depth + 1) for part in parts)
    return deepest


# The wording of expected continuations by terminal: the first match replaces the terminals that it covers.
_TERMS: Final = {
    "NUMBER",
    "STRING",
    "SPAN",
    "NOW",
    "POSITION",
    "COUNT",
    "AGGREGATE",
    "NAME",
    "LPAR",
    "LSQB",
    "YES",
    "NO",
}
_SIGNS: Final = {"PLUS", "MINUS", "STAR", "SLASH", "TEXT"}
_PHRASES: Final = (
    ("BANG", "a formula", {*_TERMS, "QUOTED"}),
    ("_NOT", "a condition", {*_TERMS, "ANY", "ALL"}),
    ("STRING", "a value", _TERMS),
    ("SPAN", "a span of time such as `72h` or `2 calendar months`", {"NUMBER"}),
    ("CALENDAR", "`calendar days`, `calendar months`, `calendar years` or `business days`", set[str]()),
    ("INDEX", "the name of a field", {"NAME"}),
    ("AMPERSAND", "an operator", {*_SIGNS, "COMPARE", "LPAR"}),
    ("COMPARE", "a comparison", {*_SIGNS, "IN"}),
    ("PLUS", "an operator", _SIGNS),
    ("_BOTH", "`and` or `or`", {"LPAR"}),
    ("NAME", "a tool", {"QUOTED"}),
    ("LPAR", "`(`", set[str]()),
    ("RPAR", "`)`", set[str]()),
    ("COMMA", "`,`", set[str]()),
    ("COLON", "`:`", set[str]()),
    ("RSQB", "`]`", set[str]()),
    ("$END", "the end", set[str]()),
)


_UNITS: Final = (
    "`{}` is not a unit of time: write `calendar days`, `calendar months`, `calendar years` or `business days`"
)


def _unexpected(token: Token, expected: set[str]) -> str:
    """The message for an unexpected token, given the terminals that could have followed."""
    in_condition = "_BOTH" in expected  # there, operators of formulas are not expected
    if str(token) in _BINARY and expected & {"$END", "RPAR"} and not in_condition:
        return f"`{token}` does not chain with the operator before it: say with parentheses which comes first"
    if expected == {"CALENDAR"}:
        return f"{_UNITS.format(token)} after a space, or {', '.join(SECONDS)} without one"
    if in_condition:
        expected = expected - {"COMMA", "PLUS", "MINUS", "STAR", "SLASH"}
    phrases: list[str] = []
    for terminal, phrase, covered in _PHRASES:
        if terminal in expected:
            phrases.append(phrase)
            expected = expected - covered
    found = "the text ends" if token.type == "$END" else f"found `{token}`"
    return f"{found} where {' or '.join(phrases) or 'nothing more'} was expected"


_WINDOW: Final = "windows stand in brackets, as in `F[<= 60d]`, and formulas in parentheses"
_QUOTES: Final = "texts stand in double quotes"
_LISTS: Final = 'lists stand in brackets: `x in ["a", "b"]`'
_HABITS: Final = (
    (r"<?=>|<?->|[→↔]", "`->` is implies, `<->` if and only if, `>=` at least", "`->` stands between formulas"),
    (r"<>", "write `!=`", "write `!=`"),
    (r"={1,3}|\bis\b", "equality is `==`", "equality is `==`"),
    (r"&&?|∧|\band\b|\bAND\b", "`&` joins formulas", "within the parentheses of a call `and` joins conditions"),
    (r"\|\|?|∨|\bor\b|\bOR\b", "`|` joins formulas", "within the parentheses of a call `or` joins conditions"),
    (r"\bnot\s+in\b", "", "write `not x in list`"),
    (r"!|[~¬]|\b(not|NOT)\s+\w+", "before a formula write `!`", "before a condition write `not`"),
    (r"'[^'\n]*'?|[“”‘’]", _QUOTES, _QUOTES),
    (r"[≤≥≠]", "write `<=`, `>=` or `!=`", "write `<=`, `>=` or `!=`"),
    (r"\bin\s*[({][^)}\n]*", _LISTS, _LISTS),
    (
        r"\b(forall|exists)\s+\w+",
        "a quantifier inside stands in parentheses, `(exists x: ...)`",
        "`any r in list: ...`",
    ),
    (r"\b[FGXOHYURWS]\s*(within|[{<]=?|\[)\s*(\w+|\{)?", _WINDOW, _WINDOW),
    (r"[0-9]+\s+[a-z]+", "write `60d` for 60 days", "write `60d` for 60 days"),
    (r"\w\[", "", "`.` leads into a value: `result.rows.0.id`"),
    (r"[<>]=?", "", "join two comparisons with `and`"),
)
"""What people and models write by habit, as a pattern that covers the place of the error; what to write instead in a
formula, and in a condition."""


def _remedy(text: str, place: int, expected: set[str]) -> str:
    """What to write instead at the place of an error, if it is known what was meant."""
    in_condition = bool(expected & {"_BOTH", "_NOT"})
    for pattern, formula, condition in _HABITS:
        instead = condition if in_condition else formula
        for found in re.finditer(pattern, text) if instead else ():
            if found.start() <= place < found.end():
                quoted = re.fullmatch(r"'([^'\"]+)'", found.group())
                return f': {instead}, `"{quoted[1]}"`' if quoted else f": {instead}"
    word = re.findall(r"^\w*", text[place:])[0]
    return f": write `{word.upper()}`" if word.upper() in s.RESERVED - {word} and not in_condition else ""


def _located(text: str, message: str, token: Token) -> FormulaError:
    """The error at a token."""
    if token.type == "$END":
        lines = text.rstrip().split("\n")
        return located(text, message, len(lines), len(lines[-1]) + 1)
    return located(text, message, cast("int", token.line), cast("int", token.column))


def located(text: str, message: str, line: int, column: int) -> FormulaError:
    """The error at a line and a column, from 1, and the line of text with a caret under the position."""
    shown = text.split("\n")[line - 1].replace("\t", " ")
    first = max(0, min(column - 1 - _SHOWN // 2, len(shown) - _SHOWN))
    excerpt = shown[first : first + _SHOWN]
    return FormulaError(f"line {line}, column {column}: {message}\n    {excerpt}\n    {' ' * (column - 1 - first)}^")


_SHOWN: Final = 100
"""How many characters of a long line are shown around the position of an error."""
