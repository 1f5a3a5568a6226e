"""Reads text in the syntax of MonPoly into a tree: words, symbols, errors with their place.

The meaning of the tree is in `lawtrace.runs.audit.monpoly.mfotl`.
"""

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final, cast

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedToken

from lawtrace.runs.audit.monpoly.mfotl_signature import LogSignature
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.parser import located as error_at

UNARY_OPERATORS: Final[Mapping[str, type[s.Always | s.Eventually | s.Historically | s.Next | s.Once | s.Yesterday]]] = (
    MappingProxyType(
        {
            **dict.fromkeys(("ALWAYS", "GLOBALLY", "□"), s.Always),
            **dict.fromkeys(("EVENTUALLY", "SOMETIMES", "FINALLY", "◇", "◊", "⋄"), s.Eventually),
            **dict.fromkeys(("PAST_ALWAYS", "PASTALWAYS", "HISTORICALLY", "■"), s.Historically),
            **dict.fromkeys(("ONCE", "◆", "⧫"), s.Once),
            **dict.fromkeys(("NEXT", "○"), s.Next),
            **dict.fromkeys(("PREV", "PREVIOUS", "●"), s.Yesterday),
        }
    )
)
QUANTIFIERS: Final = MappingProxyType(
    {**dict.fromkeys(("EXISTS", "EX", "∃"), s.Exists), **dict.fromkeys(("FORALL", "FA", "∀"), s.ForAll)}
)
AGGREGATES: Final[Mapping[str, s.AggregateFunction]] = MappingProxyType(
    {"CNT": "count", "SUM": "sum", "MIN": "min", "MAX": "max", "AVG": "avg"}
)
BINARY_OPERATORS: Final[Mapping[str, type[s.Since | s.Until | s.Release] | None]] = MappingProxyType(
    {"SINCE": s.Since, "UNTIL": s.Until, "RELEASE": s.Release, "TRIGGER": None}
)
"""`TRIGGER` has none of its own: it is the dual of `SINCE`."""

_REGULAR: Final = "regular expressions over time points have no counterpart in rules: write it with SINCE and PREV"
_REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("FREX", "PREX", "MATCHF", "MATCHP"), _REGULAR),
        **dict.fromkeys(("LETPAST", "LET_PAST"), "recursive predicates have no counterpart in rules"),
    }
)
_MAX_DEPTH: Final = 200


@cache
def _grammar() -> Lark:
    """The parser, built at first use."""
    return Lark.open(  # pyright: ignore[reportUnknownMemberType] -- its options are not annotated
        "mfotl.lark", rel_to=__file__, start="formula", parser="lalr", lexer="basic", propagate_positions=True
    )


Node = Tree[Token]


def parse_tree(text: str, signature: LogSignature) -> Node:
    lark = _grammar()
    try:
        tokens = _named_terminals(text, list(lark.lex(text)), signature)  # pyright: ignore[reportUnknownMemberType]
        parser = lark.parse_interactive("")  # pyright: ignore[reportUnknownMemberType]
        for token in tokens:
            parser.feed_token(token)
        end = Token.new_borrow_pos("$END", "", tokens[-1]) if tokens else Token("$END", "", 0, 1, 1)
        tree = cast("Node", parser.feed_eof(end))  # pyright: ignore[reportUnknownMemberType]
    except UnexpectedCharacters as error:
        character = text[error.pos_in_stream]
        raise located(text, f"`{character}` does not begin anything that a formula is made of", error) from None
    except UnexpectedToken as error:
        token = cast("Token", error.token)
        found = "the text ends too early" if token.type == "$END" else f"`{token}` does not fit here"
        raise located(text, found, token) from None
    if _depth(tree) > _MAX_DEPTH:
        raise FormulaError(f"the formula nests its operators more than {_MAX_DEPTH} deep: split it")
    return tree


def _named_terminals(text: str, tokens: list[Token], signature: LogSignature) -> list[Token]:
    """The tokens, with names of predicates told from variables.

    After the semicolon of an aggregation, a name in front of a parenthesis may be the last grouping variable.
    """
    defined = {str(name) for word, name in pairwise(tokens) if word == "LET"}
    known = {*signature.predicates, *defined, "tp", "ts", "tpts"}
    named: list[Token] = []
    grouping = False
    for index, token in enumerate(tokens):
        word = str(token)
        if token.type == "NAME" and word in _REFUSED:
            raise located(text, f"`{word}`: {_REFUSED[word]}", token)
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        called = following is not None and following.type == "LPAR"
        kind = token.type
        if kind == "NAME" and called and not (grouping and word not in known):
            kind = "PREDICATE"
        named.append(Token.new_borrow_pos(kind, word, token))
        grouping = kind == "_SEMICOLON" or (grouping and kind in ("NAME", "COMMA"))
    return named


def located(text: str, message: str, place: object) -> FormulaError:
    """The error at a token or a node, with its line of text and a caret."""
    line = cast("int | None", getattr(place, "line", None)) or 1
    column = cast("int | None", getattr(place, "column", None)) or 1
    if isinstance(place, Token) and place.type == "$END":
        lines = text.rstrip().split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    return LocatedError(str(error_at(text, message, line, column)))


class LocatedError(FormulaError):
    """An error that names its place."""


def _depth(tree: Node) -> int:
    deepest = 0
    pending = [(tree, 1)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(child, depth + 1) for child in nodes(node)]
    return deepest


def nodes(tree: Node) -> list[Node]:
    return [child for child in tree.children if isinstance(child, Tree)]


def tokens_of(tree: Node) -> list[Token]:
    return [child for child in tree.children if isinstance(child, Token)]
