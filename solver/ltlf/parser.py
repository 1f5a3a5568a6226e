"""Parser from text to formula, with errors that name the position.

The grammar is LALR and builds formulas while it reads, so parsing itself has no limit of length or depth. The formula
may be at most `MAX_NESTING` operators deep, so later code may traverse it by plain recursion. Parentheses alone do not
count, nor does the length of a chain of `&` or `|`.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Final, cast

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedToken
from lark.lark import PostLex

from lawtrace.environments.errors import FormulaError
from lawtrace.solver.ltlf.conditions import (
    RESULT,
    WORDS,
    AndCondition,
    Comparison,
    Condition,
    FieldPath,
    IsTrue,
    LiteralList,
    LiteralValue,
    NotCondition,
    Operand,
    Operator,
    OrCondition,
    condition_fields,
    condition_parts,
)
from lawtrace.solver.ltlf.quantified import quantify
from lawtrace.solver.ltlf.syntax import (
    BINARY,
    UNARY,
    And,
    Atom,
    Bottom,
    ForAll,
    Formula,
    Or,
    RuleFormula,
    Top,
    atoms_of,
    body_of,
    children,
)

MAX_NESTING: Final = 100

_UNARY: Final = {word: node for node in UNARY for word in node.spellings}
_BINARY: Final = {word: node for node in BINARY for word in node.spellings}


@lru_cache(maxsize=4096)
def parse(text: str) -> RuleFormula:
    """Parse a rule formula in symbols (`G(a -> F b)`) or words (`ALWAYS (a IMPLIES EVENTUALLY b)`).

    Raises:
        FormulaError: with the line, the column, what was expected, and the line of text with a caret under it.
    """
    try:
        formula = _grammar()(text)
    except UnexpectedToken as error:
        token = cast("Token", error.token)
        expected = set(cast("Sequence[str]", error.accepts or error.expected))
        raise _located(text, _unexpected(token, expected), token) from None
    except UnexpectedCharacters as error:
        character = text[error.pos_in_stream]
        message = f"`{character}` does not begin anything that a formula is made of"
        raise _located(text, message, Token("", character, line=error.line, column=error.column)) from None
    except _RejectedToken as error:
        raise _located(text, error.message, error.token) from None
    if _nesting_depth(body_of(formula)) > MAX_NESTING:
        raise FormulaError(f"the formula nests its operators more than {MAX_NESTING} deep: split it into rules")
    return formula


def parse_formula(text: str) -> Formula:
    """Like `parse`, but refuses quantified rules with a FormulaError."""
    formula = parse(text)
    if isinstance(formula, ForAll):
        raise FormulaError(f"`{formula}` is quantified where a plain formula is expected")
    return formula


class _RejectedToken(Exception):
    """A part that the grammar allows and a constructor rejects, at a token. Becomes a FormulaError with its
    position."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


class _Builder(Transformer[Token, RuleFormula]):
    """One method for each rule of the grammar; lark calls it with the values of its parts."""

    def quantified(self, parts: list[Token | Formula]) -> RuleFormula:
        variable, body = cast("tuple[Token, Formula]", tuple(parts))
        try:
            return quantify(str(variable), body)
        except FormulaError as error:
            raise _RejectedToken(str(error), variable) from None

    def unary(self, parts: list[Token | Formula]) -> Formula:
        if len(parts) == 1:
            return cast("Formula", parts[0])
        token, operand = cast("tuple[Token, Formula]", tuple(parts))
        try:
            return _UNARY[str(token)](operand)
        except FormulaError as error:
            raise _RejectedToken(str(error), token) from None

    def binary(self, parts: list[Token | Formula]) -> Formula:
        left, token, right = cast("tuple[Formula, Token, Formula]", tuple(parts))
        try:
            return _BINARY[str(token)](left, right)
        except FormulaError as error:
            raise _RejectedToken(str(error), token) from None

    def conjunction(self, parts: list[Formula]) -> Formula:
        return And(*parts)

    def disjunction(self, parts: list[Formula]) -> Formula:
        return Or(*parts)

    def top(self, _: list[Token]) -> Formula:
        return Top()

    def bottom(self, _: list[Token]) -> Formula:
        return Bottom()

    def atom(self, parts: "list[Token | Condition | None]") -> Formula:
        tool, condition = cast("tuple[Token, Condition | None]", tuple(parts))
        try:
            return Atom(str(tool), condition)
        except FormulaError as error:
            raise _RejectedToken(str(error), tool) from None

    def attempted(self, parts: list[Atom]) -> Formula:
        return Atom(parts[0].tool, parts[0].condition, attempted=True)

    def all_of(self, parts: list[Condition]) -> Condition:
        return AndCondition(tuple(parts))

    def condition(self, parts: list[Condition]) -> Condition:
        return OrCondition(tuple(parts))

    def no(self, parts: list[Condition]) -> Condition:
        return NotCondition(parts[0])

    def is_true(self, parts: list[FieldPath]) -> Condition:
        return IsTrue(parts[0])

    def said(self, parts: list[Token]) -> Condition:
        """A bare string: every word of it occurs in the message."""
        words = re.findall(r"\w+", str(self.literal(parts).value).lower())
        found = [Comparison(LiteralValue(word), "in", FieldPath((WORDS,))) for word in words]
        match found:
            case []:
                raise _RejectedToken("a string that stands alone needs a word to look for", parts[0])
            case [alone]:
                return alone
            case _:
                return self.all_of([*found])

    def comparison(self, parts: list[Operand | Token]) -> Condition:
        left, operator, right = cast("tuple[Operand, Token, Operand]", tuple(parts))
        return Comparison(left, cast("Operator", str(operator)), right)

    def field(self, steps: list[Token]) -> FieldPath:
        try:
            return FieldPath(tuple(int(step) if step.type == "INDEX" else str(step) for step in steps))
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


class _WholeWords(PostLex):
    """Makes the lexer accept a name everywhere, so that `a Ub` is two names and never `a U b`."""

    always_accept = ("NAME",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


@cache
def _grammar() -> Callable[[str], RuleFormula]:
    """The parser, built at first use."""
    lark = Lark.open(  # pyright: ignore[reportUnknownMemberType] -- its options are not annotated
        "grammar.lark",
        rel_to=__file__,
        start="rule",
        parser="lalr",
        lexer="contextual",  # `X` is an operator in a formula and an ordinary name in a condition
        postlex=_WholeWords(),
        transformer=_Builder(),
    )
    return cast("Callable[[str], RuleFormula]", lark.parse)  # pyright: ignore[reportUnknownMemberType]


def _nesting_depth(formula: Formula) -> int:
    """The depth of nested operators, of formula and condition together."""
    deepest = 0
    pending: list[tuple[Formula | Condition, int]] = [(formula, 0)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(node, Atom):
            parts = () if node.condition is None else (node.condition,)
        elif isinstance(node, IsTrue | Comparison | NotCondition | AndCondition | OrCondition):
            parts = condition_parts(node)
        else:
            parts = children(node)
        pending.extend((part, depth + 1) for part in parts)
    return deepest


# The wording of expected continuations by terminal: the first match replaces the terminals that it covers.
_PHRASES: Final = (
    ("BANG", "a formula", {"NAME", "LPAR"}),
    ("_NOT", "a condition", {"NAME", "LPAR", "NUMBER", "LSQB"}),
    ("NUMBER", "a value", {"NAME", "LSQB"}),
    ("INDEX", "the name of a field", {"NAME"}),
    ("AMPERSAND", "an operator", set[str]()),
    ("COMPARE", "a comparison", set[str]()),
    ("_BOTH", "`and` or `or`", set[str]()),
    ("NAME", "a tool", set[str]()),
    ("LPAR", "`(`", set[str]()),
    ("RPAR", "`)`", set[str]()),
    ("COMMA", "`,`", set[str]()),
    ("COLON", "`:`", set[str]()),
    ("RSQB", "`]`", set[str]()),
    ("$END", "the end", set[str]()),
)


def _unexpected(token: Token, expected: set[str]) -> str:
    """The message for an unexpected token, given the terminals that could have followed."""
    in_condition = "_BOTH" in expected  # there, operators of formulas are not expected
    if str(token) in _BINARY and expected & {"$END", "RPAR"} and not in_condition:
        return f"`{token}` does not chain with the operator before it: say with parentheses which comes first"
    phrases: list[str] = []
    for terminal, phrase, covered in _PHRASES:
        if terminal in expected:
            phrases.append(phrase)
            expected = expected - covered
    found = "the text ends" if token.type == "$END" else f"found `{token}`"
    return f"{found} where {' or '.join(phrases) or 'nothing more'} was expected"


def _located(text: str, message: str, token: Token) -> FormulaError:
    """The error at a token: line and column from 1, and the line of text with a caret under the position."""
    if token.type == "$END":
        lines = text.rstrip().split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    else:
        line, column = cast("int", token.line), cast("int", token.column)
    shown = text.split("\n")[line - 1].replace("\t", " ")
    first = max(0, column - 1 - _SHOWN // 2)
    excerpt = shown[first : first + _SHOWN]
    return FormulaError(f"line {line}, column {column}: {message}\n    {excerpt}\n    {' ' * (column - 1 - first)}^")


_SHOWN: Final = 100
"""How many characters of a long line are shown around the position of an error."""


def check_names(
    formula: RuleFormula,
    tools: Mapping[str, Collection[str]],
    results: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Check that the formula names existing tools, arguments and results. An unknown name would never be true.

    Args:
        formula: any formula.
        tools: the parameter names of each tool.
        results: the result fields of each tool. Result paths of tools that it lacks are not checked, nor are steps
            after the first field.

    Raises:
        FormulaError: the unknown name, its atom, and the nearest name that exists.
    """
    for atom in atoms_of([formula]):
        if atom.tool not in tools:
            raise FormulaError(f"unknown tool `{atom.tool}` in `{formula}`{_nearest(atom.tool, tools)}")
        if clash := atom.variables & set(tools[atom.tool]):
            raise FormulaError(
                f"`{min(clash)}` is the variable of `{formula}` and an argument of `{atom.tool}`: "
                "give the variable another name"
            )
        fields = frozenset[FieldPath]() if atom.condition is None else condition_fields(atom.condition)
        for field in sorted(fields, key=str):
            first, *steps = map(str, field.path)
            if first != RESULT and first not in tools[atom.tool]:
                raise FormulaError(
                    f"`{atom.tool}` has no argument `{first}` in `{atom}`{_nearest(first, tools[atom.tool])}"
                )
            if first == RESULT and steps and results is not None and atom.tool in results:
                known = results[atom.tool]
                if steps[0] not in known:
                    raise FormulaError(
                        f"the result of `{atom.tool}` has no field `{steps[0]}` in `{atom}`{_nearest(steps[0], known)}"
                    )


def _nearest(name: str, known: Collection[str]) -> str:
    """The remedy: the nearest existing name, else all of them."""
    if near := get_close_matches(name, known, n=1):
        return f": did you mean `{near[0]}`?"
    return f": there is {', '.join(f'`{other}`' for other in sorted(known))}" if known else ": there is none at all"
