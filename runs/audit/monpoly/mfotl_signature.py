"""Signatures of logs: the predicates of an MFOTL formula, with the names and types of their arguments."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, cast, get_args

from lawtrace.schemas.errors import InputError, describe_read_error
from lawtrace.solver.logic.signature import NUMBER, TEXT, Signature, ToolSignature
from lawtrace.solver.logic.terms import RESERVED_IN_CONDITIONS, RESULT

ArgumentType = Literal["int", "float", "string"]

BUILT_IN: Final = frozenset({"tp", "ts", "tpts"})
"""Predicates of every log: index and timestamp of a time point."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: the names of its arguments, as rules use them, and their types."""

    name: str
    arguments: tuple[str, ...]
    types: tuple[ArgumentType, ...]


@dataclass(frozen=True)
class LogSignature:
    """The predicates of a log, by name."""

    predicates: Mapping[str, Predicate]

    @cached_property
    def tools(self) -> Signature:
        """The predicates as the tools of rules."""
        return {
            name: ToolSignature(
                {
                    argument: TEXT if type_ == "string" else NUMBER
                    for argument, type_ in zip(predicate.arguments, predicate.types, strict=True)
                }
            )
            for name, predicate in self.predicates.items()
        }


def read_signature(path: Path) -> LogSignature:
    """The signature in a file. Raises InputError with file, line and column."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {describe_read_error(error)}") from error
    return parse_signature(text, str(path))


def parse_signature(text: str, place: str = "signature") -> LogSignature:
    """Parse lines such as ``pay(card:string, amount:float)``; names of arguments may be missing: ``pay(string, int)``.

    Raises:
        InputError: the place, the line and the column of what is not part of a signature.
    """
    tokens = _Tokens(text, place)
    predicates: dict[str, Predicate] = {}
    while tokens.kind:
        start = tokens.text
        if start in predicates:
            raise tokens.error(f"the predicate `{start}` is there twice")
        name = tokens.take("name", "the name of a predicate")
        tokens.take("(", "`(`")
        arguments: list[tuple[str | None, ArgumentType]] = []
        while tokens.kind != ")":
            if arguments:
                tokens.take(",", "`,` or `)`")
            arguments.append(_argument(tokens))
        tokens.take(")", "`)`")
        if name not in BUILT_IN:
            names = _argument_names([given for given, _ in arguments])
            predicates[name] = Predicate(name, names, tuple(kind for _, kind in arguments))
    if not predicates:
        raise InputError(f"{place}: declares no predicate; write lines such as `pay(card:string, amount:float)`")
    return LogSignature(predicates)


def _argument(tokens: "_Tokens") -> tuple[str | None, ArgumentType]:
    name: str | None = None
    if tokens.following == ":":
        name = tokens.take("name", "the name of an argument")
        tokens.take(":", "`:`")
    if tokens.kind == "name" and tokens.text not in get_args(ArgumentType):
        raise tokens.error(f"unknown type `{tokens.text}`: there is {', '.join(get_args(ArgumentType))}")
    return name, cast("ArgumentType", tokens.take("name", "a type"))


def _argument_names(given: list[str | None]) -> tuple[str, ...]:
    """Names that rules can use: what is missing, repeated, reserved or not an identifier is replaced."""
    names: list[str] = []
    for number, wish in enumerate(given, 1):
        name = f"x{number}" if wish is None else re.sub(r"\W", "_", wish, flags=re.ASCII)
        if name[0].isdigit():
            name = f"x{name}"
        while name in names or name in RESERVED_IN_CONDITIONS or name == RESULT:
            name += "_"
        names.append(name)
    return tuple(names)


class _Tokens:
    """The tokens of a signature with their positions. `kind` is empty at the end."""

    def __init__(self, text: str, place: str) -> None:
        self._lines = text.split("\n")
        self._place = place
        self._found = list(self._scan())
        self._index = 0

    def _scan(self) -> Iterator[tuple[str, str, int, int]]:
        for number, line in enumerate(self._lines, 1):
            for found in re.finditer(r"#.*|\s+|[^\W\d][\w'\-/.!]*|.", line):
                text = found.group()
                if text[0] != "#" and not text.isspace():
                    kind = "name" if text[0].isalpha() or text[0] == "_" else text
                    yield kind, text, number, found.start() + 1
        yield "", "", len(self._lines), len(self._lines[-1]) + 1

    @property
    def kind(self) -> str:
        return self._found[self._index][0]

    @property
    def text(self) -> str:
        return self._found[self._index][1]

    @property
    def following(self) -> str:
        return self._found[min(self._index + 1, len(self._found) - 1)][0]

    def take(self, kind: str, expected: str) -> str:
        if self.kind != kind:
            raise self.error(
                f"{f'found `{self.text}`' if self.kind else 'the text ends'} where {expected} was expected"
            )
        text = self.text
        self._index += 1
        return text

    def error(self, message: str) -> InputError:
        _, _, line, column = self._found[self._index]
        return InputError(f"{self._place}, line {line}, column {column}: {message}")
