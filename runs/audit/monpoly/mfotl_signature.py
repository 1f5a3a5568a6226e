"""Signatures of logs: the predicates of an MFOTL formula, with the names and types of their arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, cast, get_args

from lawtrace.schemas.errors import InputError, input_errors
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
    """The signature in a file. Raises InputError with file and line."""
    with input_errors(path):
        text = path.read_text(encoding="utf-8-sig")
    return parse_signature(text, str(path))


_NAME: Final = r"[^\W\d][\w'\-/.!]*"
_PREDICATE: Final = re.compile(rf"\s*({_NAME})\s*\(([^()]*)\)\s*")
_ARGUMENT: Final = re.compile(rf"\s*(?:({_NAME})\s*:)?\s*({'|'.join(get_args(ArgumentType))})\s*")


def parse_signature(text: str, place: str = "signature") -> LogSignature:
    """Parse lines such as ``pay(card:string, amount:float)``; names of arguments may be missing: ``pay(string, int)``.

    Raises:
        InputError: the place and the line of what is not part of a signature.
    """
    text = re.sub("#.*", "", text)
    predicates: dict[str, Predicate] = {}
    at = len(text) - len(text.lstrip())
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        found = _PREDICATE.match(text, at)
        arguments = found and [_ARGUMENT.fullmatch(one) for one in found[2].split(",") if found[2].strip()]
        if found is None or arguments is None or None in arguments:
            kinds = ", ".join(get_args(ArgumentType))
            raise InputError(
                f"{place}, line {line}: expected a predicate such as `pay(card:string, amount:float)`, with the types "
                f"{kinds}"
            )
        if found[1] in predicates:
            raise InputError(f"{place}, line {line}: the predicate `{found[1]}` is there twice")
        if found[1] not in BUILT_IN:
            given = [one for one in arguments if one is not None]
            types = cast("tuple[ArgumentType, ...]", tuple(one[2] for one in given))
            predicates[found[1]] = Predicate(found[1], _argument_names([one[1] for one in given]), types)
        at = found.end()
    if not predicates:
        raise InputError(f"{place}: declares no predicate; write lines such as `pay(card:string, amount:float)`")
    return LogSignature(predicates)


def _argument_names(given: Sequence[str | None]) -> tuple[str, ...]:
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
